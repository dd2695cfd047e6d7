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
  int64_t entry;
};

constexpr uint32_t kMarkFactor = 0x9e3779b1u;
constexpr size_t kMarkPadding = 4;   // marks behind the last that may be read
constexpr int64_t kPickPadding = 8;  // picks behind the last that may be written

inline uint32_t mark_of(int64_t id, int shift) { return (static_cast<uint32_t>(id) * kMarkFactor) >> shift; }

// Write a Pick for each of ids[0, count) whose mark is not 0 and return their number. Without a branch: every entry is
// written, and stays only if its mark is not 0.
template <class Id>
int64_t pick(const Id* ids, int64_t count, const uint16_t* marks, int shift, int32_t list, Pick* picks) {
  int64_t num_picked = 0;
  for (int64_t entry = 0; entry < count; ++entry) {
    picks[num_picked] = Pick{list, entry};
    num_picked += marks[mark_of(ids[entry], shift)] != 0;
  }
  return num_picked;
}

// The same with all that is known of an entry packed into it: its id, its mark and its list. For scopes whose lists and
// marks fit 16 bits.
struct FullPick {
  uint16_t list;
  uint16_t mark;
  int32_t id;
};

inline int64_t pick_full_plain(const int32_t* ids, int64_t count, const uint16_t* marks, int shift, uint16_t list,
                               FullPick* picks) {
  int64_t num_picked = 0;
  for (int64_t entry = 0; entry < count; ++entry) {
    const uint16_t mark = marks[mark_of(ids[entry], shift)];
    picks[num_picked] = FullPick{list, mark, ids[entry]};
    num_picked += mark != 0;
  }
  return num_picked;
}

#ifdef SHADOW_HAS_AVX512_PATH

// The same, eight ids at a time: a pick is one 64-bit lane, with the id in the upper half.
__attribute__((target("avx512f,avx512vl"))) inline int64_t pick_full_avx512(const int32_t* ids, int64_t count,
                                                                            const uint16_t* marks, int shift,
                                                                            uint16_t list, FullPick* picks) {
  const __m256i factor = _mm256_set1_epi32(static_cast<int32_t>(kMarkFactor));
  const __m256i low_half = _mm256_set1_epi32(0xffff);
  const __m512i lists = _mm512_set1_epi64(list);
  const __m128i shift_count = _mm_cvtsi32_si128(shift);
  int64_t num_picked = 0;
  for (int64_t entry = 0; entry < count; entry += 8) {
    const auto lanes = static_cast<__mmask8>(count - entry >= 8 ? 0xff : (1u << (count - entry)) - 1);
    const __m256i block = _mm256_maskz_loadu_epi32(lanes, ids + entry);
    const __m256i place = _mm256_srl_epi32(_mm256_mullo_epi32(block, factor), shift_count);
    const __m256i mark =
        _mm256_and_si256(_mm256_i32gather_epi32(reinterpret_cast<const int*>(marks), place, 2), low_half);
    const __mmask8 hit = _mm256_mask_test_epi32_mask(lanes, mark, mark);
    const __m512i upper = _mm512_slli_epi64(_mm512_cvtepu32_epi64(block), 32);
    const __m512i middle = _mm512_slli_epi64(_mm512_cvtepu32_epi64(mark), 16);
    const __m512i packed = _mm512_or_si512(_mm512_or_si512(upper, middle), lists);
    _mm512_storeu_si512(picks + num_picked, _mm512_maskz_compress_epi64(hit, packed));
    num_picked += __builtin_popcount(hit);
  }
  return num_picked;
}

inline bool has_avx512() {
  static const bool has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
  return has;
}

#endif

inline int64_t pick_full(const int32_t* ids, int64_t count, const uint16_t* marks, int shift, uint16_t list,
                         FullPick* picks) {
#ifdef SHADOW_HAS_AVX512_PATH
  if (has_avx512()) return pick_full_avx512(ids, count, marks, shift, list, picks);
#endif
  return pick_full_plain(ids, count, marks, shift, list, picks);
}

}  // namespace shadow
