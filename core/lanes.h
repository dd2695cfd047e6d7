// Rows of numbers as vectors: loaded, stored, scaled, added; float32, float64, and bfloat16 that is summed in float32.
// Not for: which rows are added.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

// A function so marked is compiled for newer processors too, and the loader picks the version for the one it runs on.
// What it calls must be inlined into it, or it would run as compiled for the oldest; and it must not throw, since GCC
// takes such a call for one that cannot. ThreadSanitizer would be called by the loader's choice before it is loaded.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12 && \
    !defined(__SANITIZE_THREAD__) && !defined(SHADOW_ONE_PROCESSOR)
#define SHADOW_CLONED __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SHADOW_CLONED
#endif
#define SHADOW_INLINE __attribute__((always_inline)) inline

namespace shadow {

struct Bfloat16 {
  uint16_t bits;
};

// What values of a kind are summed in.
template <class Value>
struct SumOf {
  using Type = Value;
};
template <>
struct SumOf<Bfloat16> {
  using Type = float;
};
template <class Value>
using Sum = typename SumOf<Value>::Type;

SHADOW_INLINE float widen(float value) { return value; }
SHADOW_INLINE double widen(double value) { return value; }
SHADOW_INLINE float widen(Bfloat16 value) {
  const uint32_t bits = static_cast<uint32_t>(value.bits) << 16;
  float wide;
  std::memcpy(&wide, &bits, sizeof wide);
  return wide;
}

SHADOW_INLINE void narrow(float value, float& out) { out = value; }
SHADOW_INLINE void narrow(double value, double& out) { out = value; }
// To the nearest, ties to even; a NaN stays one. Without a branch, so that a loop of it turns into vector code.
SHADOW_INLINE void narrow(float value, Bfloat16& out) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  out.bits = static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u : rounded);
}

// e^x for x <= 0, to about one unit in the last place; NaN stays NaN. A loop of it turns into vector code.
SHADOW_INLINE float exp_below(float x) {
  const float bounded = x < -87.0f ? -87.0f : x;
  const float shifted = bounded * 1.44269504f + 12582912.0f;  // 1.5 * 2^23: the sum is rounded to a whole number
  const float whole = shifted - 12582912.0f;
  const float rest = (bounded - whole * 0.693359375f) - whole * -2.12194440e-4f;
  float power = 1.9875691500e-4f;
  power = power * rest + 1.3981999507e-3f;
  power = power * rest + 8.3334519073e-3f;
  power = power * rest + 4.1665795894e-2f;
  power = power * rest + 1.6666665459e-1f;
  power = power * rest + 5.0000001201e-1f;
  power = power * rest * rest + rest + 1.0f;
  uint32_t bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  const uint32_t scale_bits = (bits + 127u) << 23;  // the low bits of `shifted` are the whole number
  float scale;
  std::memcpy(&scale, &scale_bits, sizeof scale);
  return power * scale;
}
SHADOW_INLINE double exp_below(double x) { return std::exp(x); }

// Vectors of 64 bytes: the compiler makes as many registers of one as the processor needs. Handed on by reference only,
// since how one is returned depends on the processor.
typedef float Floats __attribute__((vector_size(64)));
typedef double Doubles __attribute__((vector_size(64)));
typedef uint32_t Words __attribute__((vector_size(64)));
typedef int32_t SignedWords __attribute__((vector_size(64)));

// A step: the values that are loaded at once, as one or two vectors of the type they are summed in.
template <class Value>
struct Step;

template <>
struct Step<float> {
  static constexpr int64_t kSize = 16;
  static constexpr int kVectors = 1;
  using Vector = Floats;
  static SHADOW_INLINE void load(const float* from, Vector (&to)[1]) { std::memcpy(&to[0], from, 64); }
  static SHADOW_INLINE void store(const Vector (&from)[1], float* to) { std::memcpy(to, &from[0], 64); }
};

template <>
struct Step<double> {
  static constexpr int64_t kSize = 8;
  static constexpr int kVectors = 1;
  using Vector = Doubles;
  static SHADOW_INLINE void load(const double* from, Vector (&to)[1]) { std::memcpy(&to[0], from, 64); }
  static SHADOW_INLINE void store(const Vector (&from)[1], double* to) { std::memcpy(to, &from[0], 64); }
};

// Two bfloat16 lie in a word: one vector for the values at even places and one for those at odd places, so that no
// value has to change its lane.
template <>
struct Step<Bfloat16> {
  static constexpr int64_t kSize = 32;
  static constexpr int kVectors = 2;
  using Vector = Floats;

  static SHADOW_INLINE void load(const Bfloat16* from, Vector (&to)[2]) {
    Words words;
    std::memcpy(&words, from, 64);
    const Words low = words << 16, high = words & 0xffff0000u;
    std::memcpy(&to[0], kLittleEndian ? &low : &high, 64);
    std::memcpy(&to[1], kLittleEndian ? &high : &low, 64);
  }

  static SHADOW_INLINE void store(const Vector (&from)[2], Bfloat16* to) {
    Words low, high;
    round(from[kLittleEndian ? 0 : 1], low);
    round(from[kLittleEndian ? 1 : 0], high);
    const Words words = (high & 0xffff0000u) | (low >> 16);
    std::memcpy(to, &words, 64);
  }

 private:
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  static constexpr bool kLittleEndian = false;
#else
  static constexpr bool kLittleEndian = true;
#endif

  // As narrow() does, with the result in the upper half of each word.
  static SHADOW_INLINE void round(const Vector& value, Words& out) {
    Words bits;
    std::memcpy(&bits, &value, 64);
    const Words is_nan = reinterpret_cast<Words>((bits & 0x7fffffffu) > 0x7f800000u);
    out = (bits + 0x7fffu + ((bits >> 16) & 1u)) & ~is_nan;
    out |= is_nan & 0x7fc00000u;
  }
};

// Four numbers, as heads of an attention go together.
template <class Number>
struct FourOf;
template <>
struct FourOf<float> {
  typedef float Type __attribute__((vector_size(16)));
};
template <>
struct FourOf<double> {
  typedef double Type __attribute__((vector_size(32)));
};
template <class Number>
using Four = typename FourOf<Number>::Type;

// How many numbers are in a vector.
template <class Number>
constexpr int64_t kLanes = 64 / static_cast<int64_t>(sizeof(Number));

// A count rounded up to whole vectors.
template <class Number>
constexpr int64_t whole_vectors(int64_t count) {
  return (count + kLanes<Number> - 1) / kLanes<Number> * kLanes<Number>;
}

// The sum of the lanes of a vector, halves first.
SHADOW_INLINE float across(const Floats& all) {
  const auto eight = __builtin_shufflevector(all, all, 0, 1, 2, 3, 4, 5, 6, 7) +
                     __builtin_shufflevector(all, all, 8, 9, 10, 11, 12, 13, 14, 15);
  const auto four =
      __builtin_shufflevector(eight, eight, 0, 1, 2, 3) + __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
  const auto two = four + __builtin_shufflevector(four, four, 2, 3, 2, 3);
  return two[0] + two[1];
}
SHADOW_INLINE double across(const Doubles& all) {
  const auto four = __builtin_shufflevector(all, all, 0, 1, 2, 3) + __builtin_shufflevector(all, all, 4, 5, 6, 7);
  const auto two = __builtin_shufflevector(four, four, 0, 1) + __builtin_shufflevector(four, four, 2, 3);
  return two[0] + two[1];
}

// out[c] = sum over k of factor[k * stride] * x[offset[k] + c] for kSteps steps of columns; the sums stay in registers.
template <class Value, int kSteps>
SHADOW_INLINE void sum_steps(const Value* x, const int64_t* offset, const Sum<Value>* factor, int64_t stride,
                             int64_t count, Value* out) {
  using S = Step<Value>;
  typename S::Vector sum[kSteps][S::kVectors] = {};
  for (int64_t k = 0; k < count; ++k) {
    const Value* const row = x + offset[k];
    const Sum<Value> scale = factor[k * stride];
#pragma GCC unroll 8
    for (int step = 0; step < kSteps; ++step) {
      typename S::Vector part[S::kVectors];
      S::load(row + step * S::kSize, part);
#pragma GCC unroll 2
      for (int vector = 0; vector < S::kVectors; ++vector) sum[step][vector] += scale * part[vector];
    }
  }
#pragma GCC unroll 8
  for (int step = 0; step < kSteps; ++step) S::store(sum[step], out + step * S::kSize);
}

// The same for any number of columns.
template <class Value>
SHADOW_INLINE void sum_columns(const Value* x, const int64_t* offset, const Sum<Value>* factor, int64_t stride,
                               int64_t count, int64_t width, Value* out) {
  constexpr int64_t kSize = Step<Value>::kSize;
  constexpr int kSteps = 4 / Step<Value>::kVectors;
  int64_t column = 0;
  for (; column + kSteps * kSize <= width; column += kSteps * kSize) {
    sum_steps<Value, kSteps>(x + column, offset, factor, stride, count, out + column);
  }
  for (; column + kSize <= width; column += kSize) {
    sum_steps<Value, 1>(x + column, offset, factor, stride, count, out + column);
  }
  for (; column < width; ++column) {
    Sum<Value> sum = 0;
    for (int64_t k = 0; k < count; ++k) sum += factor[k * stride] * widen(x[offset[k] + column]);
    narrow(sum, out[column]);
  }
}

// sum over c of left[c] * right[c].
template <class Value>
SHADOW_INLINE Sum<Value> dot(const Value* left, const Value* right, int64_t width) {
  using S = Step<Value>;
  typename S::Vector sum[S::kVectors] = {};
  int64_t column = 0;
  for (; column + S::kSize <= width; column += S::kSize) {
    typename S::Vector a[S::kVectors], b[S::kVectors];
    S::load(left + column, a);
    S::load(right + column, b);
#pragma GCC unroll 2
    for (int vector = 0; vector < S::kVectors; ++vector) sum[vector] += a[vector] * b[vector];
  }
  Sum<Value> total = 0;
  if (column > 0) {
    if constexpr (S::kVectors == 2) sum[0] += sum[1];
    total = across(sum[0]);
  }
  for (; column < width; ++column) total += widen(left[column]) * widen(right[column]);
  return total;
}

}  // namespace shadow
