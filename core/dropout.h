// Dropout: which elements stay is a function of (seed, position), so that the backward draws the same again and no mask
// is kept.
// Not for: dropping edges (edge_drop.h).
#pragma once

#include <algorithm>
#include <cstdint>

#include "lanes.h"
#include "rng.h"
#include "team.h"

namespace shadow {

template <class Value>
struct DropTask {
  const Value* x;
  Value* out;
  int64_t count;
  uint64_t seed;
  uint32_t threshold;  // an element goes if its draw, of 2^32, is below
  Sum<Value> scale;
};

constexpr int64_t kDropBlock = 1 << 15;  // elements that share a key

// A 32-bit hash of (key, place) with the key in two places: blocks whose places overlap by chance still differ. The
// multipliers are of a published search for the least bias.
SHADOW_INLINE uint32_t draw(uint32_t place, uint32_t key_low, uint32_t key_high) {
  uint32_t z = place + key_low;
  z = (z ^ (z >> 17)) * 0xed5ad4bbu;
  z = ((z ^ (z >> 11)) + key_high) * 0xac4c1b51u;
  z = (z ^ (z >> 15)) * 0x31848babu;
  return z ^ (z >> 14);
}

template <class Value>
SHADOW_CLONED void drop_block(const DropTask<Value>& task, int64_t block) {
  const uint64_t key = combine(task.seed, static_cast<uint64_t>(block));
  const auto low = static_cast<uint32_t>(key), high = static_cast<uint32_t>(key >> 32);
  const int64_t first = block * kDropBlock;
  const auto count = static_cast<uint32_t>(std::min(kDropBlock, task.count - first));
  const Value* const x = task.x + first;
  Value* const out = task.out + first;
  const uint32_t threshold = task.threshold;
  const Sum<Value> scale = task.scale;
  for (uint32_t place = 0; place < count; ++place) {
    const Sum<Value> scaled = widen(x[place]) * scale;
    narrow(draw(place, low, high) < threshold ? Sum<Value>(0) : scaled, out[place]);
  }
}

template <class Value>
void drop_elements(const DropTask<Value>& task, int num_threads) {
  const int64_t num_blocks = (task.count + kDropBlock - 1) / kDropBlock;
  run_team(num_blocks, task.count, num_threads, [&](Handout& handout) {
    for (int64_t block = handout.take(); block >= 0; block = handout.take()) drop_block(task, block);
  });
}

}  // namespace shadow
