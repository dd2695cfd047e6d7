// Which entries of a neighbour list may be members of a scope: the innermost loop of induction, by vector unit where
// there is one.
// Not for: exact membership; two ids may share a bit.
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

constexpr uint32_t kPlaceFactor = 0x9e3779b1u;
constexpr int64_t kPickPadding = 16;  // picks behind the last that may be written

// Where an id falls among 2^bits places, by Fibonacci hashing.
inline uint32_t place_of(int64_t id, int bits) { return (static_cast<uint32_t>(id) * kPlaceFactor) >> (32 - bits); }

// A set of ids as one bit for each of 2^log_size places, 5 <= log_size <= 31; small enough to stay in the first cache.
struct FilterView {
  const uint32_t* words;
  int log_size;

  bool may_have(int64_t id) const {
    const uint32_t place = place_of(id, log_size);
    return (words[place >> 5] >> (place & 31)) & 1;
  }
};

// Write a Pick for each of ids[0, count) that the filter may have and return their number. Without a branch: every
// entry is written, and stays only if its bit is set.
template <class Id>
int64_t pick(const Id* ids, int64_t count, FilterView filter, int32_t list, Pick* picks) {
  int64_t num_picked = 0;
  for (int64_t entry = 0; entry < count; ++entry) {
    picks[num_picked] = Pick{list, entry};
    num_picked += filter.may_have(ids[entry]);
  }
  return num_picked;
}

// The same for scopes whose lists fit 16 bits, with the id itself in place of its position: list[i] and id[i] of each.
struct ShortPicks {
  uint16_t* list;
  int32_t* id;
};

inline int64_t pick_short_plain(const int32_t* ids, int64_t count, FilterView filter, uint16_t list, ShortPicks picks) {
  int64_t num_picked = 0;
  for (int64_t entry = 0; entry < count; ++entry) {
    picks.list[num_picked] = list;
    picks.id[num_picked] = ids[entry];
    num_picked += filter.may_have(ids[entry]);
  }
  return num_picked;
}

#ifdef SHADOW_HAS_AVX512_PATH

// The same, sixteen ids at a time.
__attribute__((target("avx512f,avx512vl"))) inline int64_t pick_short_avx512(const int32_t* ids, int64_t count,
                                                                             FilterView filter, uint16_t list,
                                                                             ShortPicks picks) {
  const __m512i factor = _mm512_set1_epi32(static_cast<int32_t>(kPlaceFactor));
  const __m512i one = _mm512_set1_epi32(1), bit_of_word = _mm512_set1_epi32(31);
  const __m256i lists = _mm256_set1_epi16(static_cast<int16_t>(list));
  const __m128i shift_count = _mm_cvtsi32_si128(32 - filter.log_size);
  int64_t num_picked = 0;
  for (int64_t entry = 0; entry < count; entry += 16) {
    const auto lanes = static_cast<__mmask16>(count - entry >= 16 ? 0xffff : (1u << (count - entry)) - 1);
    const __m512i block = _mm512_maskz_loadu_epi32(lanes, ids + entry);
    const __m512i place = _mm512_srl_epi32(_mm512_mullo_epi32(block, factor), shift_count);
    const __m512i word = _mm512_i32gather_epi32(_mm512_srli_epi32(place, 5), filter.words, 4);
    const __m512i bit = _mm512_sllv_epi32(one, _mm512_and_si512(place, bit_of_word));
    const __mmask16 hit = _mm512_mask_test_epi32_mask(lanes, word, bit);
    _mm512_storeu_si512(picks.id + num_picked, _mm512_maskz_compress_epi32(hit, block));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(picks.list + num_picked), lists);
    num_picked += __builtin_popcount(hit);
  }
  return num_picked;
}

inline bool has_avx512() {
  static const bool has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
  return has;
}

#endif

inline int64_t pick_short(const int32_t* ids, int64_t count, FilterView filter, uint16_t list, ShortPicks picks) {
#ifdef SHADOW_HAS_AVX512_PATH
  if (has_avx512()) return pick_short_avx512(ids, count, filter, list, picks);
#endif
  return pick_short_plain(ids, count, filter, list, picks);
}

}  // namespace shadow
