// Which entries of a neighbour list may be members of a scope: the innermost loop of induction, by vector unit where
// there is one.
// Not for: exact membership; two ids may share a mark.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define SHADOW_HAS_AVX512_PATH 1
#include <immintrin.h>
#endif

namespace shadow {

// An entry that may be a member: `list` is the number of the list it is in, `entry` its position there.
struct Pick {
  int32_t list;
  int32_t entry;
};

constexpr uint32_t kMarkFactor = 0x9e3779b1u;
constexpr size_t kMarkPadding = 4;    // bytes behind the marks that may be read
constexpr int64_t kPickPadding = 16;  // picks behind the last that may be written

inline uint32_t mark_of(int64_t id, int shift) { return (static_cast<uint32_t>(id) * kMarkFactor) >> shift; }

// Write a Pick for each of ids[0, count) whose mark is not 0 and return their number. Without a branch: every entry is
// written, and stays only if its mark is not 0.
template <class Id>
int64_t pick_plain(const Id* ids, int64_t count, const uint16_t* marks, int shift, int32_t list, Pick* picks) {
  int64_t num_picked = 0;
  for (int64_t entry = 0; entry < count; ++entry) {
    picks[num_picked] = Pick{list, static_cast<int32_t>(entry)};
    num_picked += marks[mark_of(ids[entry], shift)] != 0;
  }
  return num_picked;
}

#ifdef SHADOW_HAS_AVX512_PATH

// The same, eight ids at a time.
__attribute__((target("avx512f,avx512vl"))) inline int64_t pick_avx512(const int32_t* ids, int64_t count,
                                                                       const uint16_t* marks, int shift, int32_t list,
                                                                       Pick* picks) {
  const __m256i factor = _mm256_set1_epi32(static_cast<int32_t>(kMarkFactor));
  const __m256i low_half = _mm256_set1_epi32(0xffff);
  const __m128i shift_count = _mm_cvtsi32_si128(shift);
  // A pick as one 64-bit lane: the entry in the upper half, the list in the lower.
  __m512i lanes_of_picks = _mm512_add_epi64(_mm512_slli_epi64(_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7), 32),
                                            _mm512_set1_epi64(static_cast<uint32_t>(list)));
  const __m512i step = _mm512_set1_epi64(int64_t{8} << 32);
  int64_t num_picked = 0;
  for (int64_t entry = 0; entry < count; entry += 8) {
    const auto lanes = static_cast<__mmask8>(count - entry >= 8 ? 0xff : (1u << (count - entry)) - 1);
    const __m256i block = _mm256_maskz_loadu_epi32(lanes, ids + entry);
    const __m256i place = _mm256_srl_epi32(_mm256_mullo_epi32(block, factor), shift_count);
    const __m256i mark = _mm256_i32gather_epi32(reinterpret_cast<const int*>(marks), place, 2);
    const __mmask8 hit = _mm256_mask_test_epi32_mask(lanes, mark, low_half);
    _mm512_storeu_si512(picks + num_picked, _mm512_maskz_compress_epi64(hit, lanes_of_picks));
    num_picked += __builtin_popcount(hit);
    lanes_of_picks = _mm512_add_epi64(lanes_of_picks, step);
  }
  return num_picked;
}

inline bool has_avx512() {
  static const bool has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
  return has;
}

#endif

template <class Id>
int64_t pick(const Id* ids, int64_t count, const uint16_t* marks, int shift, int32_t list, Pick* picks) {
#ifdef SHADOW_HAS_AVX512_PATH
  if constexpr (sizeof(Id) == sizeof(int32_t)) {
    if (has_avx512()) return pick_avx512(ids, count, marks, shift, list, picks);
  }
#endif
  return pick_plain(ids, count, marks, shift, list, picks);
}

}  // namespace shadow
