// Counter-based random numbers: the n-th draw is a function of (key, n), so no draw depends on threads or order.
// Not for: cryptography.
#pragma once

#include <cmath>
#include <cstdint>

namespace shadow {

// The finaliser of SplitMix64: a bijection of 64-bit words that passes avalanche tests.
inline uint64_t mix64(uint64_t z) {
  z += 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

inline uint64_t combine(uint64_t key, uint64_t word) { return mix64(key ^ mix64(word)); }

// Uniform in (0, 1): never 0, so that its logarithm is finite.
inline double to_unit(uint64_t bits) { return (static_cast<double>(bits >> 11) + 0.5) * 0x1.0p-53; }

// Standard exponential for one (key, item).
inline double exponential(uint64_t key, uint64_t item) { return -std::log(to_unit(combine(key, item))); }

struct Rng {
  uint64_t key;
  uint64_t counter = 0;

  uint64_t next() { return combine(key, counter++); }

  // Uniform in [0, bound) by the high half of a product; the bias is below bound / 2^64.
  uint64_t below(uint64_t bound) {
    const uint64_t x = next();
    const uint64_t lo = (x & 0xffffffffull) * bound;
    return ((x >> 32) * bound + (lo >> 32)) >> 32;
  }
};

}  // namespace shadow
