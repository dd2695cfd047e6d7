// Random walks from a target over the neighbour lists, and the nodes that walks with restart visit most.
// Not for: exact visit probabilities (ppr.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "csr.h"
#include "interrupt.h"
#include "lists.h"
#include "prefetch.h"
#include "rng.h"
#include "scope.h"
#include "scratch.h"

namespace shadow {

// Entries from one stored sum of weights to the next.
constexpr int64_t kWeightBlock = 64;

// Number of sums that an array of `num_edges` weights has: sums[b] is the sum of the first b * kWeightBlock weights.
inline int64_t num_weight_sums(int64_t num_edges) { return num_edges / kWeightBlock + 1; }

// Draws the next node of a walk in proportion to edge weight, in a time that does not grow with the list: from one of
// many entries by a search among the stored sums and a look through one block. All weights were checked when the sums
// were made (reverse.h).
template <class Id>
class Steps {
 public:
  Steps(const Lists<Id>& lists, const double* sums) : lists_(lists), weight_(lists.csr().weight), sums_(sums) {
    if (weight_ != nullptr && sums_ == nullptr) throw std::invalid_argument("sums of weights must be given");
  }

  const Lists<Id>& lists() const { return lists_; }

  // Where the next node stands among the graph's indices, or -1 at a dead end.
  int64_t draw(Id node, Rng& rng) const {
    const OpenRow<Id> open = lists_.row(node);
    const int64_t size = open.size();
    if (size <= 0) return -1;
    if (weight_ == nullptr) return open.row.position + open.at(static_cast<int64_t>(rng.below(to_bound(size))));
    return size <= kWeightBlock ? scan(open, rng) : search(open, rng);
  }

  // The probability of a step from `node` to `neighbour`; 0 if there is none.
  double probability(Id node, Id neighbour) const {
    const OpenRow<Id> open = lists_.row(node);
    if (weight_ == nullptr) return open.size() > 0 ? 1.0 / static_cast<double>(open.size()) : 0;
    const int64_t entry = lists_.csr().entry_of(node, neighbour);
    if (entry < 0 || entry == open.gap) return 0;
    const int64_t first = open.row.position;
    const double total = before(first + open.row.size()) - before(first) - hidden(open);
    const double share = weight_[first + entry] / total;
    return share > 0 ? std::min(share, 1.0) : 0;
  }

 private:
  static uint64_t to_bound(int64_t size) { return static_cast<uint64_t>(size); }

  double hidden(const OpenRow<Id>& open) const {
    return open.gap >= 0 ? static_cast<double>(weight_[open.row.position + open.gap]) : 0;
  }

  // The sum of all weights in front of `position`.
  double before(int64_t position) const {
    const int64_t block = position / kWeightBlock;
    double sum = sums_[block];
    for (int64_t entry = block * kWeightBlock; entry < position; ++entry) sum += weight_[entry];
    return sum;
  }

  int64_t scan(const OpenRow<Id>& open, Rng& rng) const {
    const float* const weight = weight_ + open.row.position;
    const int64_t size = open.size();
    double total = 0;
    for (int64_t number = 0; number < size; ++number) total += weight[open.at(number)];
    if (!(total > 0)) return -1;
    double left = to_unit(rng.next()) * total;
    for (int64_t number = 0; number < size; ++number) {
      left -= weight[open.at(number)];
      if (left < 0) return open.row.position + open.at(number);
    }
    return open.row.position + open.at(size - 1);
  }

  int64_t search(const OpenRow<Id>& open, Rng& rng) const {
    const int64_t first = open.row.position, last = first + open.row.size();
    const double begin = before(first), taken = hidden(open), total = before(last) - begin - taken;
    if (!(total > 0)) return -1;
    double mark = begin + to_unit(rng.next()) * total;
    if (open.gap >= 0 && mark >= before(first + open.gap)) mark += taken;
    int64_t block = first / kWeightBlock;
    for (int64_t size = (last - 1) / kWeightBlock - block; size > 0;) {  // the last block that begins at most at `mark`
      const int64_t half = (size + 1) / 2;
      const bool right = sums_[block + half] <= mark;
      block += right ? half : 0;
      size = right ? size - half : half - 1;
    }
    int64_t entry = std::max(first, block * kWeightBlock);
    double sum = before(entry);
    while (entry < last - 1 && !(mark < (sum += weight_[entry]))) ++entry;
    if (entry != first + open.gap || open.gap < 0) return entry;
    return entry + 1 < last ? entry + 1 : entry - 1;  // Rounding may end on what is hidden; there are others.
  }

  const Lists<Id>& lists_;
  const float* weight_;
  const double* sums_;
};

// Many walks that make their steps together, so that they wait for memory together.
template <class Id>
class Herd {
 public:
  std::vector<Id> at;  // where each walk is; -1 if it has ended

  // Move every walk that has not ended by one step, or end it at a dead end; return the number of steps made.
  int64_t step(const Steps<Id>& steps, Rng& rng) {
    const Csr<Id>& csr = steps.lists().csr();
    int64_t num_steps = 0;
    for (size_t first = 0; first < at.size(); first += kChunk) {
      const size_t last = std::min(first + kChunk, at.size());
      int64_t entry[kChunk];
      count_steps(static_cast<int64_t>(last - first));
      for (size_t walk = first; walk < last; ++walk) csr.prefetch_degree(at[walk]);
      for (size_t walk = first; walk < last; ++walk) {
        const int64_t drawn = at[walk] < 0 ? -1 : steps.draw(at[walk], rng);
        entry[walk - first] = drawn;
        if (drawn >= 0) prefetch(csr.indices + drawn);
      }
      for (size_t walk = first; walk < last; ++walk) {
        const int64_t drawn = entry[walk - first];
        at[walk] = drawn < 0 ? Id{-1} : csr.checked(csr.indices[drawn]);
        num_steps += drawn >= 0;
      }
    }
    return num_steps;
  }

  // Forget the walks for which `ends` holds, in order.
  template <class Ends>
  void drop(Ends&& ends) {
    at.erase(std::remove_if(at.begin(), at.end(), ends), at.end());
  }

 private:
  static constexpr size_t kChunk = 32;
};

// Walks from one node whose ways are kept.
template <class Id>
class Trails {
 public:
  void start(Id node, size_t num_walks) {
    herd_.at.assign(num_walks, node);
    ways_.clear();
  }

  // See Herd.
  int64_t step(const Steps<Id>& steps, Rng& rng) {
    const int64_t num_steps = herd_.step(steps, rng);
    ways_.insert(ways_.end(), herd_.at.begin(), herd_.at.end());
    return num_steps;
  }

  const std::vector<Id>& now() const { return herd_.at; }  // where each walk is; -1 if it has ended

  // Where a walk was after `step` steps, from 1.
  Id at(size_t walk, int64_t step) const { return ways_[static_cast<size_t>(step - 1) * herd_.at.size() + walk]; }

 private:
  Herd<Id> herd_;
  std::vector<Id> ways_;  // step by step
};

struct RwrOptions {
  double teleport = 0.2609;
  int64_t topk = 200;
  int64_t num_walks = 2000;      // from each target
  const double* sums = nullptr;  // of the edge weights, for a weighted graph
};

// Visits of random walks that end with probability `teleport` before every step, and at dead ends.
template <class Id>
class Rwr {
 public:
  // Fill `ranking` with the targets and all nodes that were visited, by visits; of nodes with as many, that which was
  // met after fewer steps, then by the earlier walk. hide_link: as if there were no edge between two targets.
  void rank(const Csr<Id>& csr, const Id* targets, int32_t num_targets, const RwrOptions& options, uint64_t key,
            bool hide_link, Ranking<Id>& ranking) {
    const Lists<Id> lists(csr, targets, num_targets, hide_link);
    const Steps<Id> steps(lists, options.sums);
    start(targets, num_targets, options.num_walks);
    Rng rng{key};
    while (!herd_.at.empty()) {
      herd_.drop([&](Id) { return to_unit(rng.next()) < options.teleport; });
      edges_touched_ += herd_.step(steps, rng);
      herd_.drop([](Id node) { return node < 0; });
      count();
    }
    collect(num_targets, ranking);
  }

  int64_t nodes_touched() const { return static_cast<int64_t>(visits_.size()); }
  int64_t edges_touched() const { return edges_touched_; }

 private:
  void start(const Id* targets, int32_t num_targets, int64_t num_walks) {
    visits_.clear();
    herd_.at.clear();
    edges_touched_ = 0;
    for (int32_t target = 0; target < num_targets; ++target) {
      visits_[visits_.number_of(targets[target])] = num_walks;
      herd_.at.insert(herd_.at.end(), static_cast<size_t>(num_walks), targets[target]);
    }
  }

  void count() {
    constexpr size_t kAhead = 8;
    const std::vector<Id>& at = herd_.at;
    count_steps(static_cast<int64_t>(at.size()));
    for (size_t walk = 0; walk < at.size(); ++walk) {
      if (walk + kAhead < at.size()) visits_.prefetch(at[walk + kAhead]);
      ++visits_[visits_.number_of(at[walk])];
    }
  }

  // The score is the share of all visits.
  void collect(int32_t num_targets, Ranking<Id>& ranking) {
    double total = 0;
    for (const int64_t visits : visits_.values()) total += static_cast<double>(visits);
    ranking.clear();
    for (size_t number = 0; number < visits_.size(); ++number) {
      const auto visits = static_cast<double>(visits_[number]);
      const double later = static_cast<double>(number) * 0x1.0p-31;  // below 1: decides between equal counts
      ranking.all.push_back({later - visits, static_cast<float>(visits / total), visits_.node(number)});
    }
    ranking.fix_front(static_cast<size_t>(num_targets));
  }

  Herd<Id> herd_;
  NodeValues<Id, int64_t> visits_;  // in the order of the first visits; the targets come first
  int64_t edges_touched_ = 0;
};

}  // namespace shadow
