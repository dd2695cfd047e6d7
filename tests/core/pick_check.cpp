// Compares the vector path of pick.h with the plain one on random blocks of every length; prints "same" if they agree.
#include <cstdio>
#include <random>
#include <vector>

#include "pick.h"

using namespace shadow;

#ifdef SHADOW_HAS_AVX512_PATH
struct Picks {
  explicit Picks(int64_t count) : list(static_cast<size_t>(count + kPickPadding)), id(list.size()) {}
  ShortPicks view() { return {list.data(), id.data()}; }
  void cut(int64_t count) {
    list.resize(static_cast<size_t>(count));
    id.resize(static_cast<size_t>(count));
  }
  bool operator==(const Picks& other) const { return list == other.list && id == other.id; }

  std::vector<uint16_t> list;
  std::vector<int32_t> id;
};
#endif

int main() {
#ifdef SHADOW_HAS_AVX512_PATH
  if (has_avx512()) {
    std::mt19937 random(1);
    for (int log_size = 5; log_size < 12; ++log_size) {
      std::vector<uint32_t> words((size_t{1} << log_size) / 32);
      for (uint32_t& word : words) word = random() & random();
      const FilterView filter{words.data(), log_size};
      for (int64_t count = 0; count < 300; ++count) {
        std::vector<int32_t> ids(static_cast<size_t>(count));
        for (int32_t& id : ids) id = static_cast<int32_t>(random());
        Picks plain(count), vector(count);
        plain.cut(pick_short_plain(ids.data(), count, filter, 7, plain.view()));
        vector.cut(pick_short_avx512(ids.data(), count, filter, 7, vector.view()));
        if (!(plain == vector)) return 1;
      }
    }
    std::puts("same");
    return 0;
  }
#endif
  std::puts("no vector path on this machine");
  return 0;
}
