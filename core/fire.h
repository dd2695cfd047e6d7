// Forest fire: from the targets, every node that catches fire passes it on to a random number of neighbours.
// Not for: scores; nodes are ranked in the order in which they burn.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "csr.h"
#include "interrupt.h"
#include "lists.h"
#include "rng.h"
#include "scope.h"
#include "scratch.h"

namespace shadow {

struct FireOptions {
  double forward = 0.7;   // a node passes the fire to k or more of its list with probability forward^k
  double backward = 0.0;  // likewise for the lists in the other direction
  ReverseLists reverse;   // for backward > 0 on a graph that is not symmetric
};

template <class Id>
class Fire {
 public:
  // Fill `ranking` with the targets and what burns, in the order of burning; at most max_nodes. hide_link: as if there
  // were no edge between two targets.
  void rank(const Csr<Id>& csr, const Id* targets, int32_t num_targets, const FireOptions& options, int64_t max_nodes,
            uint64_t key, bool hide_link, Ranking<Id>& ranking) {
    const Lists<Id> lists(csr, targets, num_targets, hide_link);
    const Lists<Id> reverse(options.reverse.of(csr), targets, num_targets, hide_link);
    const auto limit = static_cast<size_t>(std::max<int64_t>(max_nodes, num_targets));
    burnt_.start(targets, num_targets);
    edges_touched_ = 0;
    Rng rng{key};
    for (size_t position = 0; position < burnt_.size() && burnt_.size() < limit; ++position) {
      const Id node = burnt_[position];
      count_steps(1);
      const double forward = geometric(options.forward, rng), backward = geometric(options.backward, rng);
      burn(lists.csr(), lists.row(node), forward, limit, rng);
      if (backward > 0) burn(reverse.csr(), reverse.row(node), backward, limit, rng);
    }
    ranking.assign(burnt_);
  }

  int64_t nodes_touched() const { return static_cast<int64_t>(burnt_.size()); }
  int64_t edges_touched() const { return edges_touched_; }

 private:
  // A number that is at least k with probability share^k: its mean is share / (1 - share).
  static double geometric(double share, Rng& rng) {
    const double unit = to_unit(rng.next());
    return share > 0 ? std::floor(std::log(unit) / std::log(share)) : 0;
  }

  // Set fire to `wanted` neighbours that do not burn yet, or to all of them; each choice is equally likely. A list that
  // is long beside what burns is drawn from until enough are found; a shorter one is looked through.
  void burn(const Csr<Id>& csr, const OpenRow<Id>& open, double wanted, size_t limit, Rng& rng) {
    const int64_t size = open.size(), room = static_cast<int64_t>(limit - burnt_.size());
    auto count = static_cast<int64_t>(std::min(wanted, static_cast<double>(std::min(size, room))));
    if (count <= 0) return;
    burnt_.reserve_more(static_cast<size_t>(count));
    if (size >= 2 * (static_cast<int64_t>(burnt_.size()) + count)) {
      // At least every second draw finds one; a list with the same id many times over ends the tries.
      for (int64_t tries = 64 + 16 * count; count > 0 && tries > 0; --tries) {
        count_at(tries);
        const auto number = static_cast<int64_t>(rng.below(static_cast<uint64_t>(size)));
        count -= ignite(csr.checked(open.entry(number)));
        ++edges_touched_;
      }
    }
    if (count > 0) burn_scanned(csr, open, count, rng);
  }

  // The same by a look through the whole list.
  void burn_scanned(const Csr<Id>& csr, const OpenRow<Id>& open, int64_t count, Rng& rng) {
    waiting_.clear();
    for (int64_t number = 0; number < open.size(); ++number) {
      count_at(number);
      const Id neighbour = csr.checked(open.entry(number));
      if (burnt_.find(neighbour) < 0) waiting_.push_back(neighbour);
    }
    edges_touched_ += open.size();
    const auto most = std::min(static_cast<size_t>(count), waiting_.size());
    for (size_t chosen = 0; chosen < most; ++chosen) {
      std::swap(waiting_[chosen], waiting_[chosen + static_cast<size_t>(rng.below(waiting_.size() - chosen))]);
      ignite(waiting_[chosen]);
    }
  }

  // Return whether the node is new to the fire.
  bool ignite(Id node) {
    const size_t before = burnt_.size();
    burnt_.add(node);
    return burnt_.size() > before;
  }

  NodeIndex<Id> burnt_;
  std::vector<Id> waiting_;
  int64_t edges_touched_ = 0;
};

}  // namespace shadow
