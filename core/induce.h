// All edges among a set of nodes, in time that hubs do not decide.
// Not for: choosing the nodes (ppr.h, khop.h) or putting them in order (scope.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "csr.h"
#include "interrupt.h"
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
  // Find every edge among nodes[0, count) in no particular order: each once, but of the two directions of a symmetric
  // graph only one where is_paired(). `positions` asks for where each edge stands in the graph's indices, which is a
  // matter of its direction. Where the call before was for the first `num_known` of the same nodes, only the
  // edges of the others are looked for and added.
  void find_edges(const Csr<Id>& csr, const Id* nodes, int32_t count, bool positions, int32_t num_known = 0) {
    const int32_t first = csr.symmetric ? num_known : 0;
    if (first == 0) num_edges_ = 0;
    want_positions_ = positions;
    is_paired_ = csr.symmetric && !positions;
    members_.assign(nodes, count);
    mark_hubs(csr, nodes, first, count);
    scan(csr, nodes, first, count);
    if (csr.symmetric) {
      search_among_hubs(csr, nodes, first);
    } else {
      search_hub_rows(csr, nodes, count);
    }
  }

  // Drop what was found between the first node and the others of the first `count`, in both directions.
  void drop_links(int32_t count) {
    size_t num_kept = 0;
    for (size_t edge = 0; edge < num_edges_; ++edge) {
      const LocalEdge found = edges_[edge];
      edges_[num_kept] = found;
      if (want_positions_) positions_[num_kept] = positions_[edge];
      num_kept += ((found.row > 0) & (found.column > 0)) | (found.row >= count) | (found.column >= count) |
                  (found.row == found.column);
    }
    num_edges_ = num_kept;
  }

  size_t num_edges() const { return num_edges_; }
  bool is_paired() const { return is_paired_; }
  const LocalEdge* edges() const { return edges_.data(); }
  const int64_t* positions() const { return positions_.data(); }

 private:
  // A binary search step costs about as much as scanning this many entries of a list.
  static constexpr int64_t kScansPerStep = 12;

  static constexpr int32_t kMostShort = 1 << 16;  // labels of ShortPicks
  static constexpr size_t kAhead = 6;             // lists between asking for memory and reading it
  static constexpr int64_t kBatch = 1 << 13;      // entries that are picked from before the picks are looked at

  // Lists are short and far apart, so the machine's own prefetching does not get going: ask for the first lines.
  static void ask_for(const Row<Id>& row) {
    const auto first = reinterpret_cast<uintptr_t>(row.begin);  // A number: the lines may be beyond the array.
    for (uintptr_t line = 0; line < 4; ++line) prefetch(reinterpret_cast<const char*>(first + 64 * line));
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
    csr.with_rows([&](auto&& row_of) {
      for (int32_t label = first; label < count; ++label) {
        const int64_t degree = row_of(nodes[label]).size();
        if (degree > kScansPerStep * 4) by_degree_.push_back({degree, label});
      }
    });
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

  // Pick the entries that may be members from many lists, then look at all of the picks: two long loops that the
  // machine can predict, instead of two short ones a list.
  void scan(const Csr<Id>& csr, const Id* nodes, int32_t first, int32_t count) {
    rows_.resize(static_cast<size_t>(count - first) + 1);
    size_t num_rows = 0;
    csr.with_rows([&](auto&& row_of) {
      for (int32_t label = first; label < count; ++label) {
        rows_[num_rows] = {row_of(nodes[label]), label};
        num_rows += !is_hub_[static_cast<size_t>(label)];
      }
    });
    rows_.resize(num_rows);
    if constexpr (sizeof(Id) == sizeof(int32_t)) {
      if (is_paired_ && count <= kMostShort) {
        short_list_.resize(static_cast<size_t>(kBatch + kPickPadding));
        short_id_.resize(short_list_.size());
        pick_all(
            [&](const ScannedRow& scanned, size_t, int64_t start, int64_t size, int64_t at) {
              return members_.pick_short(scanned.row.begin + start, size, scanned.label,
                                         {short_list_.data() + at, short_id_.data() + at});
            },
            [&](int64_t num_picks) { take_short(num_picks); });
        return;
      }
    }
    picks_.resize(static_cast<size_t>(kBatch + kPickPadding));
    pick_all(
        [&](const ScannedRow& scanned, size_t item, int64_t start, int64_t size, int64_t at) {
          Pick* const picks = picks_.data() + at;
          const int64_t count_new = members_.pick(scanned.row.begin + start, size, static_cast<int32_t>(item), picks);
          for (int64_t pick = 0; start > 0 && pick < count_new; ++pick) picks[pick].entry += start;
          return count_new;
        },
        [&](int64_t num_picks) { take(csr, nodes, num_picks); });
  }

  // Pick from all lists by `pick_some`, and call `take_all` whenever there may be more than kBatch picks next.
  template <class PickSome, class TakeAll>
  void pick_all(PickSome&& pick_some, TakeAll&& take_all) {
    for (size_t ahead = 0; ahead < std::min(kAhead, rows_.size()); ++ahead) ask_for(rows_[ahead].row);
    int64_t num_picks = 0;
    for (size_t item = 0; item < rows_.size(); ++item) {
      if (item + kAhead < rows_.size()) ask_for(rows_[item + kAhead].row);
      for (int64_t start = 0; start < rows_[item].row.size(); start += kBatch) {
        const int64_t size = std::min(kBatch, rows_[item].row.size() - start);
        count_steps(size);
        if (num_picks + size > kBatch) {
          take_all(num_picks);
          num_picks = 0;
        }
        num_picks += pick_some(rows_[item], item, start, size, num_picks);
      }
    }
    take_all(num_picks);
  }

  // Keep the picks that are members, so an id that is no node of the graph goes no further than here.
  void take(const Csr<Id>& csr, const Id* nodes, int64_t num_picks) {
    count_steps(num_picks);
    reserve_more(2 * static_cast<size_t>(num_picks));
    for (int64_t pick = 0; pick < num_picks; ++pick) {
      const auto [item, entry] = picks_[static_cast<size_t>(pick)];
      const ScannedRow& scanned = rows_[static_cast<size_t>(item)];
      const Id neighbour = scanned.row.begin[entry];
      const int32_t other = members_.find(neighbour);
      const bool mirrored = other >= 0 && mirrors_[static_cast<size_t>(other)];
      if (other < 0 || (is_paired_ && other > scanned.label && !mirrored)) continue;
      put(scanned.label, other, scanned.row.position_of(entry));
      if (mirrored) put_mirror(csr, neighbour, nodes[scanned.label], other, scanned.label);
    }
  }

  // The same where edges are kept once for both directions, without a branch again. An edge between two scanned nodes
  // is met from both ends and kept from the later one.
  void take_short(int64_t num_picks) {
    reserve_more(static_cast<size_t>(num_picks) + 1);
    LocalEdge* const edges = edges_.data();
    const uint8_t* const mirrors = mirrors_.data();
    size_t num_edges = num_edges_;
    for (int64_t pick = 0; pick < num_picks; ++pick) {
      const int32_t label = short_list_[static_cast<size_t>(pick)];
      const int32_t other = members_.find(short_id_[static_cast<size_t>(pick)]);
      edges[num_edges] = {label, other};
      const bool once = (other <= label) | (mirrors[std::max(other, 0)] != 0);
      num_edges += (other >= 0) & once;
    }
    num_edges_ = num_edges;
  }

  // Edges between two hubs, and between a hub and a node that was known before. Hubs stand in order of falling degree:
  // the later of a pair has the shorter list.
  void search_among_hubs(const Csr<Id>& csr, const Id* nodes, int32_t num_known) {
    keys_.clear();
    for (int32_t label = 0; label < num_known; ++label) keys_.push_back({nodes[label], label});
    for (const int32_t hub : hubs_) {
      keys_.push_back({nodes[hub], hub});
      search_row(csr, nodes, hub);
    }
  }

  void search_hub_rows(const Csr<Id>& csr, const Id* nodes, int32_t count) {
    keys_.clear();
    for (int32_t label = 0; label < count; ++label) keys_.push_back({nodes[label], label});
    for (const int32_t hub : hubs_) search_row(csr, nodes, hub);
  }

  // Add an edge from each of the keys that is in the list of `hub`. All searches go on side by side, a halving at a
  // time, so that their waits for memory overlap; without a branch, as which half it is, is a coin toss.
  void search_row(const Csr<Id>& csr, const Id* nodes, int32_t hub) {
    const Row<Id> row = csr.row(nodes[hub]);
    if (row.size() == 0) return;
    base_.assign(keys_.size(), row.begin);
    int64_t size = row.size();
    for (; size > 1; size -= size / 2) {
      const int64_t half = size / 2;
      count_steps(static_cast<int64_t>(keys_.size()));
      for (size_t key = 0; key < keys_.size(); ++key) {
        const Id* const base = base_[key];
        base_[key] = base[half - 1] < keys_[key].node ? base + half : base;
      }
    }
    reserve_more(2 * keys_.size());
    for (size_t key = 0; key < keys_.size(); ++key) {
      const auto [node, label] = keys_[key];
      if (*base_[key] != node) continue;
      put(hub, label, row.position_of(base_[key] - row.begin));
      if (csr.symmetric && label != hub) put_mirror(csr, node, nodes[hub], label, hub);
    }
  }

  void reserve_more(size_t count) {
    if (edges_.size() < num_edges_ + count) edges_.resize(2 * (num_edges_ + count));
    if (want_positions_ && positions_.size() < edges_.size()) positions_.resize(edges_.size());
  }

  // Add an edge for which room was made.
  void put(int32_t row, int32_t column, int64_t position) {
    edges_[num_edges_] = {row, column};
    if (want_positions_) positions_[num_edges_] = position;
    ++num_edges_;
  }

  // Put the other direction of an edge; only its position still has to be looked up.
  void put_mirror(const Csr<Id>& csr, Id node, Id neighbour, int32_t row, int32_t column) {
    if (is_paired_) return;
    const int64_t entry = csr.entry_of(node, neighbour);
    if (entry < 0) throw CorruptGraph("an undirected graph holds an edge in one direction only");
    put(row, column, csr.row(node).position_of(entry));
  }

  struct ScannedRow {
    Row<Id> row;
    int32_t label;
  };
  std::vector<ScannedRow> rows_;
  std::vector<Pick> picks_;
  std::vector<uint16_t> short_list_;
  std::vector<int32_t> short_id_;

  struct ByDegree {
    int64_t degree;
    int32_t label;
  };
  struct Key {
    Id node;
    int32_t label;
  };

  bool want_positions_ = false, is_paired_ = false;
  Members<Id> members_;
  std::vector<uint8_t> is_hub_, mirrors_;  // mirrors_: its edges are found from their other end
  std::vector<ByDegree> by_degree_;
  std::vector<int32_t> hubs_;
  std::vector<Key> keys_;
  std::vector<const Id*> base_;     // by key: where its search stands
  std::vector<LocalEdge> edges_;    // the first num_edges_ count
  std::vector<int64_t> positions_;  // likewise
  size_t num_edges_ = 0;
};

}  // namespace shadow
