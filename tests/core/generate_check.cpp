// Checks the parts of generate.h that Python does not see: prints "good" if the shuffle is a bijection with its inverse
// at every size, and the alias table draws in proportion to the weights.
#include <cmath>
#include <cstdio>
#include <vector>

#include "generate.h"

using namespace shadow;

static bool shuffle_is_good(uint64_t size, uint64_t key) {
  const Shuffle shuffle(size, key);
  std::vector<bool> seen(size);
  for (uint64_t value = 0; value < size; ++value) {
    const uint64_t other = shuffle(value);
    if (other >= size || seen[other] || shuffle.back(other) != value) return false;
    seen[other] = true;
  }
  return true;
}

static bool table_is_good(const std::vector<double>& weights) {
  const AliasTable table(weights);
  const int num_draws = 400000;
  double total = 0;
  for (const double weight : weights) total += weight;
  std::vector<double> count(weights.size());
  for (uint64_t draw = 0; draw < num_draws; ++draw) ++count[static_cast<size_t>(table.draw(combine(7, draw)))];
  for (size_t item = 0; item < weights.size(); ++item) {
    const double expected = num_draws * weights[item] / total;
    if (std::abs(count[item] - expected) > 5 * std::sqrt(expected) + 1) return false;
  }
  return true;
}

int main() {
  bool good = true;
  for (uint64_t size = 1; size < 70; ++size) good = good && shuffle_is_good(size, size) && shuffle_is_good(size, 0);
  for (const uint64_t size : {1000, 4095, 4096, 4097, 100000}) good = good && shuffle_is_good(size, 3);
  good = good && table_is_good({1}) && table_is_good({1, 1, 1}) && table_is_good({5, 1, 0, 2, 0.001, 80});
  std::puts(good ? "good" : "bad");
  return 0;
}
