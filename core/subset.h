// A few positions of a list, drawn without replacement.
// Not for: draws in proportion to anything.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "interrupt.h"
#include "rng.h"
#include "scratch.h"

namespace shadow {

// Floyd's method: each subset is equally likely, at a cost that does not depend on the length of the list.
class Subset {
 public:
  // Fill `picks` with `count` of the positions 0 to size - 1, of which there are at least so many.
  void draw(int64_t size, int64_t count, Rng& rng, std::vector<int64_t>& picks) {
    picks.clear();
    drawn_.clear();
    if (count > kFewest) drawn_.reserve_more(static_cast<size_t>(count));
    for (int64_t last = size - count; last < size; ++last) {
      count_at(last);
      const auto pick = static_cast<int64_t>(rng.below(static_cast<uint64_t>(last) + 1));
      const bool taken =
          count > kFewest ? drawn_.find(pick) >= 0 : std::find(picks.begin(), picks.end(), pick) != picks.end();
      picks.push_back(taken ? last : pick);
      if (count > kFewest) drawn_.add(picks.back());
    }
  }

 private:
  static constexpr int64_t kFewest = 32;  // Up to here a look through all picks is faster than a table.

  NodeIndex<int64_t> drawn_;
};

}  // namespace shadow
