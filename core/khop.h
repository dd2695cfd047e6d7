// Nodes within a number of hops, all of them or a few drawn per node.
// Not for: distances inside the finished scope (scope.h measures them there).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "csr.h"
#include "interrupt.h"
#include "lists.h"
#include "rng.h"
#include "scope.h"
#include "scratch.h"
#include "subset.h"

namespace shadow {

struct KhopOptions {
  int64_t num_hops = 2;
  int64_t fanout = -1;  // neighbours kept per node and hop; -1 for all
  bool replace = false;
};

template <class Id>
class Khop {
 public:
  // Fill `ranking` with the targets and what is met within num_hops, in order of arrival; at most max_nodes.
  // hide_link: as if there were no edge between two targets.
  void rank(const Csr<Id>& csr, const Id* targets, int32_t num_targets, const KhopOptions& options, int64_t max_nodes,
            uint64_t key, bool hide_link, Ranking<Id>& ranking) {
    const Lists<Id> lists(csr, targets, num_targets, hide_link);
    const auto limit = static_cast<size_t>(std::max<int64_t>(max_nodes, num_targets));
    found_.start(targets, num_targets);
    edges_touched_ = 0;
    Rng rng{key};
    size_t begin = 0;
    for (int64_t hop = 0; hop < options.num_hops && begin < found_.size(); ++hop) {
      const size_t end = found_.size();
      for (size_t position = begin; position < end && found_.size() < limit; ++position) {
        expand(csr, lists.row(found_[position]), options, limit, rng);
      }
      begin = end;
    }
    ranking.assign(found_);
  }

  int64_t nodes_touched() const { return static_cast<int64_t>(found_.size()); }
  int64_t edges_touched() const { return edges_touched_; }

 private:
  void expand(const Csr<Id>& csr, const OpenRow<Id>& open, const KhopOptions& options, size_t limit, Rng& rng) {
    const int64_t size = open.size();
    count_steps(1);
    if (options.fanout < 0 || size <= options.fanout) {
      edges_touched_ += size;
      for (int64_t number = 0; number < size && found_.size() < limit; ++number) {
        count_at(number);
        found_.reserve_more(1);
        found_.add(csr.checked(open.entry(number)));
      }
      return;
    }
    edges_touched_ += options.fanout;
    draw(size, options, rng);
    found_.reserve_more(picks_.size());
    for (size_t pick = 0; pick < picks_.size() && found_.size() < limit; ++pick) {
      found_.add(csr.checked(open.entry(picks_[pick])));
    }
  }

  // Positions in a list of `size` > fanout entries, with replacement or without.
  void draw(int64_t size, const KhopOptions& options, Rng& rng) {
    if (options.replace) {
      picks_.clear();
      for (int64_t pick = 0; pick < options.fanout; ++pick) {
        picks_.push_back(static_cast<int64_t>(rng.below(static_cast<uint64_t>(size))));
      }
      return;
    }
    subset_.draw(size, options.fanout, rng, picks_);
  }

  NodeIndex<Id> found_;
  Subset subset_;
  std::vector<int64_t> picks_;
  int64_t edges_touched_ = 0;
};

}  // namespace shadow
