// Nodes within a number of hops, all of them or a few drawn per node.
// Not for: distances inside the finished scope (scope.h measures them there).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "csr.h"
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
    found_.clear();
    edges_touched_ = 0;
    Rng rng{key};
    const auto limit = static_cast<size_t>(std::max<int64_t>(max_nodes, num_targets));
    found_.reserve_more(static_cast<size_t>(num_targets));
    for (int32_t target = 0; target < num_targets; ++target) found_.add(targets[target]);
    const bool hides = hide_link && num_targets == 2;
    size_t begin = 0;
    for (int64_t hop = 0; hop < options.num_hops && begin < found_.size(); ++hop) {
      const size_t end = found_.size();
      for (size_t position = begin; position < end && found_.size() < limit; ++position) {
        const int64_t gap = hides && position < 2 ? csr.entry_of(targets[position], targets[1 - position]) : -1;
        expand(csr.row(found_[position]), gap, csr, options, limit, rng);
      }
      begin = end;
    }
    ranking.clear();
    for (size_t number = 0; number < found_.size(); ++number) ranking.all.push_back({0, 0, found_[number]});
    ranking.fix_front();
  }

  int64_t nodes_touched() const { return static_cast<int64_t>(found_.size()); }
  int64_t edges_touched() const { return edges_touched_; }

 private:
  // gap: the entry of the list that is hidden, or -1.
  void expand(const Row<Id>& row, int64_t gap, const Csr<Id>& csr, const KhopOptions& options, size_t limit, Rng& rng) {
    const int64_t size = row.size() - (gap >= 0);
    if (options.fanout < 0 || size <= options.fanout) {
      edges_touched_ += size;
      for (const Id* entry = row.begin; entry != row.end && found_.size() < limit; ++entry) {
        if (entry - row.begin == gap) continue;
        found_.reserve_more(1);
        found_.add(csr.checked(*entry));
      }
      return;
    }
    edges_touched_ += options.fanout;
    draw(size, options, rng);
    found_.reserve_more(picks_.size());
    for (size_t pick = 0; pick < picks_.size() && found_.size() < limit; ++pick) {
      const int64_t entry = picks_[pick] + (gap >= 0 && picks_[pick] >= gap);
      found_.add(csr.checked(row.begin[entry]));
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
