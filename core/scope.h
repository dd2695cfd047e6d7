// From ranked nodes to a finished scope: connected, induced, ordered by hop, then rank.
// Not for: scoring nodes (ppr.h, khop.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "csr.h"
#include "induce.h"
#include "interrupt.h"
#include "scratch.h"

namespace shadow {

// What an extractor asks of every scope.
struct ScopeOptions {
  int64_t max_nodes = std::numeric_limits<int32_t>::max();  // hard cap, targets included
  bool positions = false;                                   // report where each edge stands in the graph
  bool hide_link = false;                                   // leave out edges between the first target and others
};

// Finished scopes of one worker, one after the other.
struct Arena {
  std::vector<int64_t> node_id;
  std::vector<int32_t> hop;
  std::vector<float> score;
  std::vector<int32_t> row_size;  // entries of each node's row in indices
  std::vector<int32_t> indices;   // positions within the scope, ascending in each row
  std::vector<int64_t> edge_pos;

  void clear() {
    for (auto* ids : {&node_id, &edge_pos}) ids->clear();
    for (auto* counts : {&hop, &row_size, &indices}) counts->clear();
    score.clear();
  }
  void swap(Arena& other) { std::swap(*this, other); }
};

template <class Id>
struct Candidate {
  double key;  // rank: smaller is better
  float score;
  Id node;
};

template <class Id>
bool better(const Candidate<Id>& a, const Candidate<Id>& b) {
  count_steps(1);
  return a.key != b.key ? a.key < b.key : a.node < b.node;
}

// Candidates whose best `sorted` are in order; the rest is sorted only as far as it is asked for.
template <class Id>
class Ranking {
 public:
  std::vector<Candidate<Id>> all;

  void clear() {
    all.clear();
    sorted_ = 0;
  }

  // The first `count`, as a rule the targets, stay where they are.
  void fix_front(size_t count) { sorted_ = count; }

  // Start over with these nodes, which stay in the order of their numbers.
  void assign(const NodeIndex<Id>& nodes) {
    all.clear();
    for (size_t number = 0; number < nodes.size(); ++number) all.push_back({0, 0, nodes[number]});
    fix_front(all.size());
  }

  // Put the best min(count, size) in order and return that number. The border is found among the keys alone, which are
  // small and quick to compare.
  int64_t prefix(int64_t count) {
    const size_t wanted = std::min(static_cast<size_t>(count), all.size());
    if (wanted > sorted_) {
      const auto first = all.begin() + static_cast<std::ptrdiff_t>(sorted_);
      keys_.clear();
      count_steps(static_cast<int64_t>(all.size()));
      for (auto item = first; item != all.end(); ++item) keys_.push_back(item->key);
      const auto border = keys_.begin() + static_cast<std::ptrdiff_t>(wanted - sorted_ - 1);
      std::nth_element(keys_.begin(), border, keys_.end());
      const double last_key = *border;
      const auto last = std::partition(first, all.end(), [&](const auto& item) { return item.key <= last_key; });
      std::sort(first, last, better<Id>);
      sorted_ = static_cast<size_t>(last - all.begin());
    }
    return static_cast<int64_t>(wanted);
  }

  // Forget all but the best `count`; of these only the first `front` stay in order, and the rest may be ranked anew.
  void keep_best(int64_t count, size_t front) {
    const size_t wanted = std::max(std::min(static_cast<size_t>(count), all.size()), front);
    if (wanted < all.size() && wanted > sorted_) {
      const auto first = all.begin() + static_cast<std::ptrdiff_t>(sorted_);
      std::nth_element(first, all.begin() + static_cast<std::ptrdiff_t>(wanted), all.end(), better<Id>);
    }
    all.resize(wanted);
    sorted_ = front;
  }

 private:
  std::vector<double> keys_;
  size_t sorted_ = 0;
};

template <class Id>
class ScopeBuilder {
 public:
  // Append to `out` the scope of the best-ranked nodes that are joined to a target. Grown one by one from the targets,
  // each time by the best-ranked neighbour: where the best max_nodes are connected, they are the scope; otherwise a
  // node with no path to a target gives way to the next in rank.
  void build(const Csr<Id>& csr, Ranking<Id>& ranking, int32_t num_targets, const ScopeOptions& options, Arena& out) {
    const int64_t limit = std::max<int64_t>(options.max_nodes, num_targets);
    nodes_.clear();
    int64_t considered = ranking.prefix(limit);
    for (;;) {
      induce(csr, ranking, considered, options.positions, options.hide_link ? num_targets : 0);
      measure_hops(num_targets, nullptr);
      const bool exhausted = considered == static_cast<int64_t>(ranking.all.size());
      if (considered <= limit && (num_reached_ == considered || exhausted)) break;
      if (considered > limit && (grow(num_targets, limit) || exhausted)) {
        measure_hops(num_targets, accepted_.data());
        break;
      }
      considered = ranking.prefix(considered + 2 * (considered - num_reached_) + 8);
    }
    finish(ranking, csr.symmetric, options.positions, out);
  }

  // Append the best-ranked nodes alone, joined or not, without edges; the hop of all but the targets is -1.
  static void list(Ranking<Id>& ranking, int32_t num_targets, const ScopeOptions& options, Arena& out) {
    const auto count = static_cast<size_t>(ranking.prefix(std::max<int64_t>(options.max_nodes, num_targets)));
    for (size_t label = 0; label < count; ++label) {
      out.node_id.push_back(static_cast<int64_t>(ranking.all[label].node));
      out.hop.push_back(label < static_cast<size_t>(num_targets) ? 0 : -1);
      out.score.push_back(ranking.all[label].score);
      out.row_size.push_back(0);
    }
  }

 private:
  static constexpr int64_t kMaxLabel = std::numeric_limits<int32_t>::max();

  int32_t count() const { return static_cast<int32_t>(nodes_.size()); }

  void induce(const Csr<Id>& csr, const Ranking<Id>& ranking, int64_t considered, bool positions, int32_t num_hidden) {
    if (considered > kMaxLabel) throw std::length_error("a scope has more than 2^31 nodes; set a cap on nodes");
    const int32_t num_known = count();
    nodes_.resize(static_cast<size_t>(considered));
    for (auto label = static_cast<size_t>(num_known); label < nodes_.size(); ++label) {
      nodes_[label] = ranking.all[label].node;
      if (csr.asks) csr.ask_list(nodes_[label]);
    }
    inducer_.find_edges(csr, nodes_.data(), count(), positions, num_known);
    if (num_hidden > 1) inducer_.drop_links(num_hidden);  // Targets come first.
    if (static_cast<int64_t>(inducer_.num_edges()) > kMaxLabel / 2) {
      throw std::length_error("a scope has more than 2^30 edges; set a cap on nodes");
    }
    group_by_row(positions);
  }

  // The edges found, row by row: those of row r are columns_[row_begin_[r], row_begin_[r + 1]).
  void group_by_row(bool positions) {
    if (inducer_.is_paired()) {
      group_by_row<true, false>();
    } else if (positions) {
      group_by_row<false, true>();
    } else {
      group_by_row<false, false>();
    }
  }

  template <bool paired, bool positions>
  void group_by_row() {
    const LocalEdge* const edges = inducer_.edges();
    const size_t num_edges = inducer_.num_edges();
    count_steps(static_cast<int64_t>(num_edges));
    row_begin_.assign(nodes_.size() + 1, 0);
    int32_t* const sizes = row_begin_.data() + 1;
    for (size_t edge = 0; edge < num_edges; ++edge) {
      ++sizes[edges[edge].row];
      if (paired) sizes[edges[edge].column] += edges[edge].row != edges[edge].column;
    }
    for (size_t row = 0; row < nodes_.size(); ++row) row_begin_[row + 1] += row_begin_[row];
    count_steps(static_cast<int64_t>(num_edges));
    fill_.assign(row_begin_.begin(), row_begin_.end() - 1);
    columns_.resize(static_cast<size_t>(row_begin_.back()));
    column_pos_.resize(positions ? columns_.size() : 0);
    int32_t *const fill = fill_.data(), *const columns = columns_.data();
    for (size_t edge = 0; edge < num_edges; ++edge) {
      const auto [row, column] = edges[edge];
      const int32_t entry = fill[row]++;
      columns[entry] = column;
      if (positions) column_pos_[static_cast<size_t>(entry)] = inducer_.positions()[edge];
      if (paired && row != column) columns[fill[column]++] = row;
    }
  }

  template <class Visit>
  void for_neighbours(int32_t label, Visit&& visit) const {
    const int32_t* const columns = columns_.data();
    const int32_t last = row_begin_[static_cast<size_t>(label) + 1];
    count_steps(last - row_begin_[static_cast<size_t>(label)]);
    for (int32_t entry = row_begin_[static_cast<size_t>(label)]; entry < last; ++entry) visit(columns[entry], entry);
  }

  // Distances from the nearest target, against message direction, through accepted nodes only (all if null); negative
  // for nodes that are not reached. Whether a neighbour is new is a coin toss, so there is no branch on it.
  void measure_hops(int32_t num_targets, const uint8_t* accepted) {
    hop_.assign(nodes_.size(), -1);
    for (size_t label = 0; accepted != nullptr && label < nodes_.size(); ++label) {
      if (!accepted[label]) hop_[label] = -2;
    }
    queue_.resize(nodes_.size() + 1);
    int32_t *const hops = hop_.data(), *const queue = queue_.data();
    size_t tail = 0;
    for (int32_t target = 0; target < num_targets; ++target) {
      hops[target] = 0;
      queue[tail++] = target;
    }
    // Once all nodes are reached, the rest of the queue, most of it as a rule, has nothing left to find.
    for (size_t head = 0; head < tail && tail < nodes_.size(); ++head) {
      const int32_t next_hop = hops[queue[head]] + 1;
      for_neighbours(queue[head], [&](int32_t other, int32_t) {
        const bool is_new = hops[other] == -1;
        hops[other] = is_new ? next_hop : hops[other];
        queue[tail] = other;
        tail += is_new;
      });
    }
    num_reached_ = static_cast<int64_t>(tail);
  }

  // Accept nodes one by one, always the best-ranked neighbour of those accepted; labels are ranks. Return whether
  // `limit` was reached, so that no node beyond the considered ones could have come before.
  bool grow(int32_t num_targets, int64_t limit) {
    accepted_.assign(nodes_.size(), 0);
    seen_.assign(nodes_.size(), 0);
    heap_.clear();
    const auto offer = [&](int32_t label) {
      if (seen_[static_cast<size_t>(label)]) return;
      seen_[static_cast<size_t>(label)] = 1;
      heap_.push_back(label);
      std::push_heap(heap_.begin(), heap_.end(), std::greater<int32_t>());
    };
    for (int32_t target = 0; target < num_targets; ++target) offer(target);
    int64_t num_accepted = 0;
    while (!heap_.empty() && num_accepted < limit) {
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<int32_t>());
      const int32_t label = heap_.back();
      heap_.pop_back();
      accepted_[static_cast<size_t>(label)] = 1;
      ++num_accepted;
      for_neighbours(label, [&](int32_t other, int32_t) { offer(other); });
    }
    return num_accepted == limit;
  }

  // Order the reached nodes by hop, then rank, and write them with their edges, each row ascending.
  void finish(const Ranking<Id>& ranking, bool symmetric, bool positions, Arena& out) {
    order_by_hop();
    const size_t first = out.node_id.size(), count = order_.size();
    out.node_id.resize(first + count);
    out.hop.resize(first + count);
    out.score.resize(first + count);
    out.row_size.resize(first + count);
    for (size_t node = 0; node < count; ++node) {
      const auto label = static_cast<size_t>(order_[node]);
      out.node_id[first + node] = static_cast<int64_t>(ranking.all[label].node);
      out.hop[first + node] = hop_[label];
      out.score[first + node] = ranking.all[label].score;
    }
    if (symmetric && !positions && count == nodes_.size()) {
      sort_all_by_column();
    } else {
      sort_by_column(positions);
    }
    // The columns of a symmetric scope are its rows.
    if (!symmetric || positions) sort_by_row(positions);
    for (size_t row = 0; row < count; ++row) out.row_size[first + row] = begin_[row + 1] - begin_[row];
    out.indices.insert(out.indices.end(), sorted_.begin(), sorted_.end());
    if (positions) out.edge_pos.insert(out.edge_pos.end(), sorted_pos_.begin(), sorted_pos_.end());
  }

  // order_: labels of the reached nodes by (hop, rank); place_: the new position of each label, -1 if left out.
  void order_by_hop() {
    int32_t max_hop = 0;
    for (const int32_t hop : hop_) max_hop = std::max(max_hop, hop);
    hop_begin_.assign(static_cast<size_t>(max_hop) + 2, 0);
    for (const int32_t hop : hop_) {
      if (hop >= 0) ++hop_begin_[static_cast<size_t>(hop) + 1];
    }
    for (size_t hop = 1; hop < hop_begin_.size(); ++hop) hop_begin_[hop] += hop_begin_[hop - 1];
    order_.resize(static_cast<size_t>(hop_begin_.back()));
    place_.assign(nodes_.size(), -1);
    for (int32_t label = 0; label < count(); ++label) {
      const int32_t hop = hop_[static_cast<size_t>(label)];
      if (hop < 0) continue;
      const int32_t place = hop_begin_[static_cast<size_t>(hop)]++;
      place_[static_cast<size_t>(label)] = place;
      order_[static_cast<size_t>(place)] = label;
    }
  }

  // Walk the rows in their new order and drop each entry into its column: every column comes out ascending. Here all
  // edges stay and come in pairs, so columns are as long as rows.
  void sort_all_by_column() {
    begin_.resize(order_.size() + 1);
    begin_[0] = 0;
    for (size_t place = 0; place < order_.size(); ++place) {
      const auto label = static_cast<size_t>(order_[place]);
      begin_[place + 1] = begin_[place] + row_begin_[label + 1] - row_begin_[label];
    }
    fill_.assign(begin_.begin(), begin_.end() - 1);
    sorted_.resize(columns_.size());
    int32_t *const fill = fill_.data(), *const sorted = sorted_.data();
    const int32_t* const place = place_.data();
    for (size_t row = 0; row < order_.size(); ++row) {
      for_neighbours(order_[row],
                     [&](int32_t other, int32_t) { sorted[fill[place[other]]++] = static_cast<int32_t>(row); });
    }
  }

  // The same in general: entries of nodes that were left out are skipped.
  void sort_by_column(bool positions) {
    begin_.assign(order_.size() + 1, 0);
    for (const int32_t label : order_) {
      for_neighbours(label, [&](int32_t other, int32_t) {
        const int32_t column = place_[static_cast<size_t>(other)];
        if (column >= 0) ++begin_[static_cast<size_t>(column) + 1];
      });
    }
    for (size_t column = 0; column < order_.size(); ++column) begin_[column + 1] += begin_[column];
    fill_.assign(begin_.begin(), begin_.end() - 1);
    sorted_.resize(static_cast<size_t>(begin_.back()));
    sorted_pos_.resize(positions ? sorted_.size() : 0);
    for (size_t row = 0; row < order_.size(); ++row) {
      for_neighbours(order_[row], [&](int32_t other, int32_t entry) {
        const int32_t column = place_[static_cast<size_t>(other)];
        if (column < 0) return;
        const auto at = static_cast<size_t>(fill_[static_cast<size_t>(column)]++);
        sorted_[at] = static_cast<int32_t>(row);
        if (positions) sorted_pos_[at] = column_pos_[static_cast<size_t>(entry)];
      });
    }
  }

  // The same once more from columns to rows, which leaves every row ascending.
  void sort_by_row(bool positions) {
    column_begin_.swap(begin_);
    rows_.swap(sorted_);
    row_pos_.swap(sorted_pos_);
    begin_.assign(order_.size() + 1, 0);
    for (const int32_t row : rows_) ++begin_[static_cast<size_t>(row) + 1];
    for (size_t row = 0; row < order_.size(); ++row) begin_[row + 1] += begin_[row];
    fill_.assign(begin_.begin(), begin_.end() - 1);
    sorted_.resize(rows_.size());
    sorted_pos_.resize(row_pos_.size());
    for (size_t column = 0; column < order_.size(); ++column) {
      count_steps(column_begin_[column + 1] - column_begin_[column]);
      for (int32_t entry = column_begin_[column]; entry < column_begin_[column + 1]; ++entry) {
        const auto at = static_cast<size_t>(fill_[static_cast<size_t>(rows_[static_cast<size_t>(entry)])]++);
        sorted_[at] = static_cast<int32_t>(column);
        if (positions) sorted_pos_[at] = row_pos_[static_cast<size_t>(entry)];
      }
    }
  }

  Inducer<Id> inducer_;
  std::vector<Id> nodes_;
  std::vector<int32_t> row_begin_, columns_, fill_;            // the edges as they were found
  std::vector<int32_t> begin_, sorted_, column_begin_, rows_;  // the edges in the new order
  std::vector<int64_t> column_pos_, sorted_pos_, row_pos_;     // where they stand in the graph
  std::vector<int32_t> hop_, queue_, heap_, order_, place_, hop_begin_;
  std::vector<uint8_t> accepted_, seen_;
  int64_t num_reached_ = 0;
};

}  // namespace shadow
