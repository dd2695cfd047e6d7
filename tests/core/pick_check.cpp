// Compares the vector path of pick.h with the plain one on random blocks of every length; prints "same" if they agree.
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "pick.h"

using namespace shadow;

int main() {
#ifndef SHADOW_HAS_AVX512_PATH
  std::puts("no vector path on this machine");
  return 0;
#else
  if (!has_avx512()) {
    std::puts("no vector path on this machine");
    return 0;
  }
  std::mt19937 random(1);
  const int shift = 32 - 10;
  std::vector<uint16_t> marks((size_t{1} << 10) + kMarkPadding, 0);
  for (int member = 0; member < 200; ++member) marks[random() % 1024] = static_cast<uint16_t>(1 + random() % 0xffff);
  for (int64_t count = 0; count < 300; ++count) {
    std::vector<int32_t> ids(static_cast<size_t>(count));
    for (int32_t& id : ids) id = static_cast<int32_t>(random());
    std::vector<FullPick> plain(static_cast<size_t>(count + kPickPadding)), vector(plain);
    const int64_t num_plain = pick_full_plain(ids.data(), count, marks.data(), shift, 7, plain.data());
    const int64_t num_vector = pick_full_avx512(ids.data(), count, marks.data(), shift, 7, vector.data());
    const auto bytes = static_cast<size_t>(num_plain) * sizeof(FullPick);
    if (num_plain != num_vector || std::memcmp(plain.data(), vector.data(), bytes) != 0) return 1;
  }
  std::puts("same");
  return 0;
#endif
}
