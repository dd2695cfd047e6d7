// Which of a block of ids have their mark set: the innermost loop of induction, by vector unit where there is one.
// Not for: exact membership; two ids may share a mark.
#pragma once

#include <cstdint>

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define SHADOW_HAS_AVX512_PATH 1
#include <immintrin.h>
#endif

namespace shadow {

inline uint32_t mark_of(int64_t id, int shift) { return (static_cast<uint32_t>(id) * 0x9e3779b1u) >> shift; }

constexpr size_t kMarkPadding = 4;  // bytes behind the marks that may be read

// Write the positions of those among ids[0, count) whose mark is set to `picked` (room for count + 16) and return their
// number. Without a branch: every position is written, and stays only if its mark is set.
template <class Id>
int32_t pick_plain(const Id* ids, int32_t count, const uint8_t* marks, int shift, int32_t* picked) {
  int32_t num_picked = 0;
  for (int32_t item = 0; item < count; ++item) {
    picked[num_picked] = item;
    num_picked += marks[mark_of(ids[item], shift)];
  }
  return num_picked;
}

#ifdef SHADOW_HAS_AVX512_PATH

// The same, sixteen ids at a time.
__attribute__((target("avx512f"))) inline int32_t pick_avx512(const int32_t* ids, int32_t count, const uint8_t* marks,
                                                              int shift, int32_t* picked) {
  const __m512i factor = _mm512_set1_epi32(static_cast<int32_t>(0x9e3779b1u));
  const __m512i low_byte = _mm512_set1_epi32(0xff);
  const __m128i shift_count = _mm_cvtsi32_si128(shift);
  __m512i positions = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m512i step = _mm512_set1_epi32(16);
  int32_t num_picked = 0;
  for (int32_t item = 0; item < count; item += 16) {
    const auto lanes = static_cast<__mmask16>(count - item >= 16 ? 0xffff : (1u << (count - item)) - 1);
    const __m512i block = _mm512_maskz_loadu_epi32(lanes, ids + item);
    const __m512i place = _mm512_srl_epi32(_mm512_mullo_epi32(block, factor), shift_count);
    const __m512i mark = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), lanes, place, marks, 1);
    const __mmask16 hit = _mm512_mask_test_epi32_mask(lanes, mark, low_byte);
    _mm512_storeu_si512(picked + num_picked, _mm512_maskz_compress_epi32(hit, positions));
    num_picked += __builtin_popcount(hit);
    positions = _mm512_add_epi32(positions, step);
  }
  return num_picked;
}

inline bool has_avx512() {
  static const bool has = __builtin_cpu_supports("avx512f");
  return has;
}

inline int32_t pick(const int32_t* ids, int32_t count, const uint8_t* marks, int shift, int32_t* picked) {
  return has_avx512() ? pick_avx512(ids, count, marks, shift, picked) : pick_plain(ids, count, marks, shift, picked);
}

#else

inline int32_t pick(const int32_t* ids, int32_t count, const uint8_t* marks, int shift, int32_t* picked) {
  return pick_plain(ids, count, marks, shift, picked);
}

#endif

inline int32_t pick(const int64_t* ids, int32_t count, const uint8_t* marks, int shift, int32_t* picked) {
  return pick_plain(ids, count, marks, shift, picked);
}

}  // namespace shadow
