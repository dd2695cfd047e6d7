// All edges among a set of nodes, in time that hubs do not decide.
// Not for: choosing the nodes (ppr.h, khop.h) or putting them in order (scope.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "csr.h"
#include "scratch.h"

namespace shadow {

// An edge inside a scope: `column` sends messages to `row`. Labels are positions in the list of nodes.
struct LocalEdge {
  int32_t row;
  int32_t column;
};

template <class Id>
class Inducer {
 public:
  // Find every edge among nodes[0, count), each once, in no particular order. `positions` asks for where each edge
  // stands in the graph's indices. Where the call before was for the first `num_known` of the same nodes, only the
  // edges of the others are looked for and added.
  void find_edges(const Csr<Id>& csr, const Id* nodes, int32_t count, bool positions, int32_t num_known = 0) {
    const int32_t first = csr.symmetric ? num_known : 0;
    if (first == 0) {
      edges_.clear();
      positions_.clear();
    }
    want_positions_ = positions;
    members_.assign(nodes, count);
    mark_hubs(csr, nodes, first, count);
    for (int32_t label = first; label < std::min(count, first + kAhead); ++label) ask_for(csr, nodes, label);
    for (int32_t label = first; label < count; ++label) {
      if (label + kAhead < count) ask_for(csr, nodes, label + kAhead);
      if (!is_hub_[static_cast<size_t>(label)]) scan(csr, nodes, label);
    }
    if (csr.symmetric) {
      search_among_hubs(csr, nodes, first);
    } else {
      search_hub_rows(csr, nodes, count);
    }
  }

  const std::vector<LocalEdge>& edges() const { return edges_; }
  const std::vector<int64_t>& positions() const { return positions_; }

 private:
  // A binary search step costs about as much as scanning this many entries of a list.
  static constexpr int64_t kScansPerStep = 12;

  static constexpr int64_t kBlock = 256;
  static constexpr int32_t kAhead = 4;  // lists between asking for memory and reading it

  // Lists are short and far apart, so the machine's own prefetching does not get going: ask for the first lines.
  void ask_for(const Csr<Id>& csr, const Id* nodes, int32_t label) const {
    if (is_hub_[static_cast<size_t>(label)]) return;
    const Row<Id> row = csr.row(nodes[label]);
    const Id* last = row.begin + std::min<int64_t>(row.size(), 1024 / static_cast<int64_t>(sizeof(Id)));
    for (const Id* line = row.begin; line < last; line += 64 / sizeof(Id)) prefetch(line);
  }

  // A hub's list is longer than it is worth scanning. Where the graph is symmetric the edges between a hub and the rest
  // are found from the other end, so only pairs of hubs need a search; otherwise all members are searched in its list.
  // Nodes before `first` are known already: like hubs, they are not scanned but found from the other end.
  void mark_hubs(const Csr<Id>& csr, const Id* nodes, int32_t first, int32_t count) {
    is_hub_.assign(static_cast<size_t>(count), 0);
    mirrors_.assign(static_cast<size_t>(count), 0);
    std::fill_n(mirrors_.begin(), first, uint8_t{1});
    by_degree_.clear();
    hubs_.clear();
    for (int32_t label = first; label < count; ++label) csr.prefetch_degree(nodes[label]);
    for (int32_t label = first; label < count; ++label) {
      const int64_t degree = csr.degree(nodes[label]);
      if (degree > kScansPerStep * 4) by_degree_.push_back({degree, label});
    }
    std::sort(by_degree_.begin(), by_degree_.end(), [](const ByDegree& a, const ByDegree& b) {
      return a.degree != b.degree ? a.degree > b.degree : a.label < b.label;
    });
    for (const ByDegree& node : by_degree_) {
      const int64_t searches = csr.symmetric ? first + static_cast<int64_t>(hubs_.size()) : count;
      if (node.degree <= searches * steps(node.degree) * kScansPerStep) {
        if (csr.symmetric) break;
        continue;
      }
      is_hub_[static_cast<size_t>(node.label)] = 1;
      mirrors_[static_cast<size_t>(node.label)] = csr.symmetric;
      hubs_.push_back(node.label);
    }
  }

  static int64_t steps(int64_t degree) {
    int64_t count = 1;
    while (degree > 1) {
      degree >>= 1;
      ++count;
    }
    return count;
  }

  // Pick the entries that may be members without a branch, then look at those. Only members are kept, so an id that is
  // no node of the graph goes no further than here.
  void scan(const Csr<Id>& csr, const Id* nodes, int32_t label) {
    const Row<Id> row = csr.row(nodes[label]);
    int32_t picked[kBlock + 16];
    for (int64_t first = 0; first < row.size(); first += kBlock) {
      const Id* block = row.begin + first;
      const auto count = static_cast<int32_t>(std::min<int64_t>(kBlock, row.size() - first));
      const int32_t num_picked = members_.pick(block, count, picked);
      for (int32_t pick = 0; pick < num_picked; ++pick) {
        const Id neighbour = block[picked[pick]];
        const int32_t other = members_.find(neighbour);
        if (other < 0) continue;
        add(label, other, row.position + first + picked[pick]);
        if (mirrors_[static_cast<size_t>(other)]) add_mirror(csr, neighbour, nodes[label], other, label);
      }
    }
  }

  // Edges between two hubs, and between a hub and a node that was known before.
  void search_among_hubs(const Csr<Id>& csr, const Id* nodes, int32_t num_known) {
    for (const int32_t hub : hubs_) {
      for (int32_t label = 0; label < num_known; ++label) {
        const int64_t position = position_of(csr, nodes[hub], nodes[label]);
        if (position < 0) continue;
        add(hub, label, position);
        add_mirror(csr, nodes[label], nodes[hub], label, hub);
      }
    }
    // Hubs stand in order of falling degree: the later of a pair has the shorter list.
    for (size_t second = 0; second < hubs_.size(); ++second) {
      for (size_t first = 0; first <= second; ++first) {
        const Id longer = nodes[hubs_[first]], shorter = nodes[hubs_[second]];
        const int64_t position = position_of(csr, shorter, longer);
        if (position < 0) continue;
        add(hubs_[second], hubs_[first], position);
        if (first != second) add_mirror(csr, longer, shorter, hubs_[first], hubs_[second]);
      }
    }
  }

  void search_hub_rows(const Csr<Id>& csr, const Id* nodes, int32_t count) {
    for (const int32_t hub : hubs_) {
      for (int32_t label = 0; label < count; ++label) {
        const int64_t position = position_of(csr, nodes[hub], nodes[label]);
        if (position >= 0) add(hub, label, position);
      }
    }
  }

  // Where `neighbour` stands in the list of `node`, or -1. Halving without a branch: which half it is, is a coin toss.
  static int64_t position_of(const Csr<Id>& csr, Id node, Id neighbour) {
    const Row<Id> row = csr.row(node);
    const Id* base = row.begin;
    int64_t size = row.size();
    while (size > 1) {
      const int64_t half = size / 2;
      base += base[half - 1] < neighbour ? half : 0;
      size -= half;
    }
    return size == 1 && *base == neighbour ? row.position + (base - row.begin) : -1;
  }

  void add(int32_t row, int32_t column, int64_t position) {
    edges_.push_back({row, column});
    if (want_positions_) positions_.push_back(position);
  }

  // Add an edge that is known from its other end; only its position still has to be looked up.
  void add_mirror(const Csr<Id>& csr, Id node, Id neighbour, int32_t row, int32_t column) {
    int64_t position = -1;
    if (want_positions_) {
      position = position_of(csr, node, neighbour);
      if (position < 0) throw CorruptGraph("an undirected graph holds an edge in one direction only");
    }
    add(row, column, position);
  }

  struct ByDegree {
    int64_t degree;
    int32_t label;
  };

  bool want_positions_ = false;
  Members<Id> members_;
  std::vector<uint8_t> is_hub_, mirrors_;  // mirrors_: its edges are found from their other end
  std::vector<ByDegree> by_degree_;
  std::vector<int32_t> hubs_;
  std::vector<LocalEdge> edges_;
  std::vector<int64_t> positions_;
};

}  // namespace shadow
