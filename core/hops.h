// How many nodes each target hears of within a number of hops, and how many edges lead to these: 64 targets go through
// the graph together, one bit each, so that a row is read once for all of them. Not for: what the nodes are
// (closure.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "csr.h"
#include "guard.h"
#include "interrupt.h"
#include "parallel.h"
#include "prefetch.h"

namespace shadow {

constexpr int64_t kTargetsAtOnce = 64;

// Where to write: row b has num_hops + 1 entries, for what is within 0, 1, ... hops of target b.
struct HopCounts {
  int64_t num_hops;
  int64_t* nodes;
  int64_t* edges;
};

// The search of up to 64 targets. Memory is 16 bytes for each node of the graph, and what the search holds.
template <class Id>
class HopSearch {
 public:
  explicit HopSearch(const Csr<Id>& csr)
      : csr_(csr), seen_(static_cast<size_t>(csr.num_nodes), 0), next_(static_cast<size_t>(csr.num_nodes), 0) {}

  // Fill the rows of targets[0, count).
  void run(const int64_t* targets, int64_t count, const HopCounts& out) {
    reset();
    for (int64_t bit = 0; bit < count; ++bit) {
      reach(csr_.taken(targets[bit], "targets"), uint64_t{1} << bit);
    }
    std::fill(nodes_, nodes_ + kTargetsAtOnce, 0);
    std::fill(edges_, edges_ + kTargetsAtOnce, 0);
    for (int64_t hop = 0; hop <= out.num_hops; ++hop) {
      guarded([&] { settle(); });
      count_steps(count);
      for (int64_t bit = 0; bit < count; ++bit) {
        out.nodes[bit * (out.num_hops + 1) + hop] = nodes_[bit];
        out.edges[bit * (out.num_hops + 1) + hop] = edges_[bit];
      }
      if (hop < out.num_hops) guarded([&] { expand(); });
    }
  }

 private:
  static constexpr size_t kAhead = 16;

  struct Reached {
    Id node;
    uint64_t by;  // the targets that reach it at this hop for the first time
  };

  void reset() {
    for (const Id node : touched_) next_[static_cast<size_t>(node)] = 0;
    for (const Id node : all_) seen_[static_cast<size_t>(node)] = 0;
    touched_.clear();
    all_.clear();
    frontier_.clear();
  }

  void reach(Id node, uint64_t by) {
    uint64_t& word = next_[static_cast<size_t>(node)];
    if (word == 0) touched_.push_back(node);
    word |= by;
  }

  // Count what was reached for the first time, and make it the frontier.
  void settle() {
    frontier_.clear();
    for (const Id node : touched_) settle_node(node);
    touched_.clear();
  }

  void settle_node(Id node) {
    count_steps(1);
    uint64_t& reached = next_[static_cast<size_t>(node)];
    uint64_t& seen = seen_[static_cast<size_t>(node)];
    const uint64_t by = reached & ~seen;
    reached = 0;
    if (by == 0) return;
    if (seen == 0) all_.push_back(node);
    seen |= by;
    frontier_.push_back({node, by});
    const int64_t degree = csr_.degree(node);
    for (uint64_t rest = by; rest != 0; rest &= rest - 1) {
      const int bit = lowest_bit(rest);
      ++nodes_[bit];
      edges_[bit] += degree;
    }
  }

  static int lowest_bit(uint64_t word) {
#if defined(__GNUC__) || defined(__clang__)
    return __builtin_ctzll(word);
#else
    int bit = 0;
    while (((word >> bit) & 1) == 0) ++bit;
    return bit;
#endif
  }

  void expand() {
    for (size_t at = 0; at < frontier_.size(); ++at) {
      if (at + kAhead < frontier_.size()) csr_.prefetch_degree(frontier_[at + kAhead].node);
      const Row<Id> row = csr_.row(frontier_[at].node);
      count_steps(row.size() + 1);
      for (const Id* entry = row.begin; entry != row.end; ++entry) reach(csr_.checked(*entry), frontier_[at].by);
    }
  }

  const Csr<Id>& csr_;
  std::vector<uint64_t> seen_, next_;  // by node: the targets that reached it before; those that reach it now
  std::vector<Id> touched_, all_;      // nodes with an entry in next_; in seen_
  std::vector<Reached> frontier_;
  int64_t nodes_[kTargetsAtOnce], edges_[kTargetsAtOnce];
};

// Count for all targets, 64 at a time on each thread.
template <class Id>
void count_hops(const Csr<Id>& csr, const int64_t* targets, int64_t num_targets, const HopCounts& out,
                int num_threads) {
  const int64_t num_items = (num_targets + kTargetsAtOnce - 1) / kTargetsAtOnce, width = out.num_hops + 1;
  std::vector<std::unique_ptr<HopSearch<Id>>> searches(static_cast<size_t>(num_threads));
  parallel_for(num_items, num_threads, [&](int worker, int64_t item) {
    auto& search = searches[static_cast<size_t>(worker)];
    if (search == nullptr) search = std::make_unique<HopSearch<Id>>(csr);
    const int64_t first = item * kTargetsAtOnce, count = std::min(kTargetsAtOnce, num_targets - first);
    search->run(targets + first, count, {out.num_hops, out.nodes + first * width, out.edges + first * width});
  });
}

}  // namespace shadow
