// From ranked nodes to a finished scope: connected, induced, ordered by hop, then rank.
// Not for: scoring nodes (ppr.h, khop.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <vector>

#include "csr.h"
#include "induce.h"

namespace shadow {

// What an extractor asks of every scope.
struct ScopeOptions {
  int64_t max_nodes = std::numeric_limits<int32_t>::max();  // hard cap, targets included
  bool positions = false;                                   // report where each edge stands in the graph
};

// Finished scopes of one worker, one after the other.
struct Arena {
  std::vector<int64_t> node_id;
  std::vector<int32_t> hop;
  std::vector<float> score;
  std::vector<int32_t> row_size;  // entries of each node's row in indices
  std::vector<int32_t> indices;   // positions within the scope, ascending in each row
  std::vector<int64_t> edge_pos;
};

template <class Id>
struct Candidate {
  double key;  // rank: smaller is better
  float score;
  Id node;
};

template <class Id>
bool better(const Candidate<Id>& a, const Candidate<Id>& b) {
  return a.key != b.key ? a.key < b.key : a.node < b.node;
}

// Candidates whose best `sorted` are in order; the rest is sorted only as far as it is asked for.
template <class Id>
class Ranking {
 public:
  std::vector<Candidate<Id>> all;

  // Start over; the targets come first and stay there.
  void clear() {
    all.clear();
    sorted_ = 0;
  }
  void fix_front() { sorted_ = all.size(); }

  // Put the best min(count, size) in order and return that number. The border is found among the keys alone, which are
  // small and quick to compare.
  int64_t prefix(int64_t count) {
    const size_t wanted = std::min(static_cast<size_t>(count), all.size());
    if (wanted > sorted_) {
      const auto first = all.begin() + static_cast<std::ptrdiff_t>(sorted_);
      keys_.clear();
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
    int64_t considered = ranking.prefix(limit);
    for (;;) {
      induce(csr, ranking, considered, options.positions);
      measure_hops(num_targets, nullptr);
      const bool exhausted = considered == static_cast<int64_t>(ranking.all.size());
      if (considered <= limit && (num_reached_ == considered || exhausted)) break;
      if (considered > limit && (grow(num_targets, limit) || exhausted)) {
        measure_hops(num_targets, accepted_.data());
        break;
      }
      considered = ranking.prefix(considered + 2 * (considered - num_reached_) + 8);
    }
    finish(ranking, out, options.positions);
  }

 private:
  static constexpr int64_t kMaxLabel = std::numeric_limits<int32_t>::max();

  int32_t count() const { return static_cast<int32_t>(nodes_.size()); }

  void induce(const Csr<Id>& csr, const Ranking<Id>& ranking, int64_t considered, bool positions) {
    if (considered > kMaxLabel) throw std::length_error("a scope has more than 2^31 nodes; set a cap on nodes");
    nodes_.clear();
    for (size_t label = 0; label < static_cast<size_t>(considered); ++label) {
      nodes_.push_back(ranking.all[label].node);
    }
    inducer_.find_edges(csr, nodes_.data(), count(), positions);
    if (static_cast<int64_t>(inducer_.edges().size()) > kMaxLabel) {
      throw std::length_error("a scope has more than 2^31 edges; set a cap on nodes");
    }
    group_by_row();
  }

  void group_by_row() {
    const auto& edges = inducer_.edges();
    row_begin_.assign(nodes_.size() + 1, 0);
    for (const LocalEdge& edge : edges) ++row_begin_[static_cast<size_t>(edge.row) + 1];
    for (size_t row = 0; row < nodes_.size(); ++row) row_begin_[row + 1] += row_begin_[row];
    fill_.assign(row_begin_.begin(), row_begin_.end() - 1);
    by_row_.resize(edges.size());
    for (size_t edge = 0; edge < edges.size(); ++edge) {
      by_row_[static_cast<size_t>(fill_[static_cast<size_t>(edges[edge].row)]++)] = static_cast<int32_t>(edge);
    }
  }

  template <class Visit>
  void for_neighbours(int32_t label, Visit&& visit) const {
    const auto row = static_cast<size_t>(label);
    for (int64_t entry = row_begin_[row]; entry < row_begin_[row + 1]; ++entry) {
      visit(inducer_.edges()[static_cast<size_t>(by_row_[static_cast<size_t>(entry)])].column);
    }
  }

  // Distances from the nearest target, against message direction, through accepted nodes only (all if null); -1 for
  // nodes that are not reached.
  void measure_hops(int32_t num_targets, const uint8_t* accepted) {
    hop_.assign(nodes_.size(), -1);
    queue_.clear();
    for (int32_t target = 0; target < num_targets; ++target) {
      hop_[static_cast<size_t>(target)] = 0;
      queue_.push_back(target);
    }
    for (size_t head = 0; head < queue_.size(); ++head) {
      const int32_t label = queue_[head];
      const int32_t next_hop = hop_[static_cast<size_t>(label)] + 1;
      for_neighbours(label, [&](int32_t other) {
        const auto at = static_cast<size_t>(other);
        if (hop_[at] >= 0 || (accepted != nullptr && !accepted[at])) return;
        hop_[at] = next_hop;
        queue_.push_back(other);
      });
    }
    num_reached_ = static_cast<int64_t>(queue_.size());
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
      for_neighbours(label, offer);
    }
    return num_accepted == limit;
  }

  // Order the reached nodes by hop, then rank, and write them with their edges, each row ascending.
  void finish(const Ranking<Id>& ranking, Arena& out, bool positions) {
    order_by_hop();
    const size_t first_node = out.node_id.size();
    for (const int32_t label : order_) {
      const Candidate<Id>& candidate = ranking.all[static_cast<size_t>(label)];
      out.node_id.push_back(static_cast<int64_t>(candidate.node));
      out.hop.push_back(hop_[static_cast<size_t>(label)]);
      out.score.push_back(candidate.score);
    }
    sort_edges();
    out.row_size.resize(first_node + order_.size(), 0);
    for (const int32_t edge : sorted_) {
      const LocalEdge& local = inducer_.edges()[static_cast<size_t>(edge)];
      ++out.row_size[first_node + static_cast<size_t>(place_[static_cast<size_t>(local.row)])];
      out.indices.push_back(place_[static_cast<size_t>(local.column)]);
      if (positions) out.edge_pos.push_back(inducer_.positions()[static_cast<size_t>(edge)]);
    }
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

  // sorted_: edges among reached nodes by (row, column) in the new order: two stable counting sorts, by column and then
  // by row, where walking rows in order is the first of them.
  void sort_edges() {
    const auto& edges = inducer_.edges();
    bucket_.assign(order_.size() + 1, 0);
    for (const LocalEdge& edge : edges) {
      const int32_t row = place_[static_cast<size_t>(edge.row)], column = place_[static_cast<size_t>(edge.column)];
      if (row >= 0 && column >= 0) ++bucket_[static_cast<size_t>(column) + 1];
    }
    for (size_t column = 0; column < order_.size(); ++column) bucket_[column + 1] += bucket_[column];
    by_column_.resize(static_cast<size_t>(bucket_.back()));
    fill_.assign(order_.size() + 1, 0);
    for (size_t edge = 0; edge < edges.size(); ++edge) {
      const int32_t row = place_[static_cast<size_t>(edges[edge].row)];
      const int32_t column = place_[static_cast<size_t>(edges[edge].column)];
      if (row < 0 || column < 0) continue;
      by_column_[static_cast<size_t>(bucket_[static_cast<size_t>(column)]++)] = static_cast<int32_t>(edge);
      ++fill_[static_cast<size_t>(row) + 1];
    }
    for (size_t row = 0; row < order_.size(); ++row) fill_[row + 1] += fill_[row];
    sorted_.resize(by_column_.size());
    for (const int32_t edge : by_column_) {
      const int32_t row = place_[static_cast<size_t>(edges[static_cast<size_t>(edge)].row)];
      sorted_[static_cast<size_t>(fill_[static_cast<size_t>(row)]++)] = edge;
    }
  }

  Inducer<Id> inducer_;
  std::vector<Id> nodes_;
  std::vector<int64_t> row_begin_, fill_, bucket_;
  std::vector<int32_t> by_row_, by_column_, sorted_;
  std::vector<int32_t> hop_, queue_, heap_, order_, place_, hop_begin_;
  std::vector<uint8_t> accepted_, seen_;
  int64_t num_reached_ = 0;
};

}  // namespace shadow
