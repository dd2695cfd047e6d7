// Subgraphs of GraphSAINT (Zeng et al., ICLR 2020): nodes drawn at random, the edges between them, and counts of both.
// Not for: scopes of single targets (engine.h). Memory here grows with the graph: some bytes for each node and thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "csr.h"
#include "engine.h"
#include "guard.h"
#include "parallel.h"
#include "rng.h"

namespace shadow {

enum class SaintKind { kNode, kEdge, kWalk, kFrontier };

struct SaintOptions {
  SaintKind kind = SaintKind::kWalk;
  int64_t budget = 1;       // draws of a subgraph: nodes, edges, walks, or nodes that a frontier visits
  int64_t walk_length = 0;  // steps of each walk
  int64_t frontier = 1;     // nodes that walk at the same time, the first ones of the budget
};

// Distinct nodes as one bit each: an id is found in O(1), and all of them are listed in order in O(graph / 64).
class NodeBits {
 public:
  explicit NodeBits(int64_t num_nodes) : words_((static_cast<size_t>(num_nodes) + 63) / 64, 0) {}

  void add(int64_t node) { words_[static_cast<size_t>(node) >> 6] |= uint64_t{1} << (node & 63); }
  bool has(int64_t node) const { return (words_[static_cast<size_t>(node) >> 6] >> (node & 63)) & 1; }
  void clear() { std::fill(words_.begin(), words_.end(), 0); }

  // Whether some node is in both sets, which must be of one graph.
  bool meets(const NodeBits& other) const {
    for (size_t word = 0; word < words_.size(); ++word) {
      if ((words_[word] & other.words_[word]) != 0) return true;
    }
    return false;
  }

  template <class Id>
  void list(std::vector<Id>& nodes) const {
    nodes.clear();
    for (size_t word = 0; word < words_.size(); ++word) {
      for (uint64_t left = words_[word]; left != 0; left &= left - 1) {
        nodes.push_back(static_cast<Id>(word * 64 + static_cast<size_t>(__builtin_ctzll(left))));
      }
    }
  }

 private:
  std::vector<uint64_t> words_;
};

// Draws in proportion to given weights, in O(1) each (Walker's alias method): place i stands for two items, of which it
// gives the first with probability share[i]. Items of weight 0 have no place and are never drawn.
template <class Id>
class AliasTable {
 public:
  void build(const std::vector<double>& weight) {
    item_.clear();
    share_.clear();
    double total = 0;
    for (size_t item = 0; item < weight.size(); ++item) {
      if (!(weight[item] > 0)) continue;
      item_.push_back(static_cast<Id>(item));
      share_.push_back(weight[item]);
      total += weight[item];
    }
    other_ = item_;
    const double scale = static_cast<double>(item_.size()) / total;
    std::vector<size_t> low, high;
    for (size_t place = 0; place < share_.size(); ++place) {
      share_[place] *= scale;
      (share_[place] < 1 ? low : high).push_back(place);
    }
    while (!low.empty() && !high.empty()) {
      const size_t poor = low.back(), rich = high.back();
      low.pop_back();
      other_[poor] = item_[rich];
      share_[rich] -= 1 - share_[poor];
      if (share_[rich] < 1) {
        high.pop_back();
        low.push_back(rich);
      }
    }
    // What is left is 1 but for rounding.
    for (const size_t place : low) share_[place] = 1;
  }

  bool empty() const { return item_.empty(); }

  Id draw(Rng& rng) const {
    const auto place = static_cast<size_t>(rng.below(item_.size()));
    return to_unit(rng.next()) < share_[place] ? item_[place] : other_[place];
  }

 private:
  std::vector<Id> item_, other_;
  std::vector<double> share_;
};

// Sums of prefixes of counts that change, so that a draw in proportion to them and a change cost O(log size).
class PrefixTree {
 public:
  void assign(const std::vector<uint64_t>& counts) {
    tree_.assign(counts.size() + 1, 0);
    total_ = 0;
    for (size_t item = 1; item < tree_.size(); ++item) {
      tree_[item] += counts[item - 1];
      total_ += counts[item - 1];
      const size_t above = item + (item & (~item + 1));
      if (above < tree_.size()) tree_[above] += tree_[item];
    }
    top_ = 1;
    while (2 * top_ < tree_.size()) top_ *= 2;
  }

  uint64_t total() const { return total_; }

  // Replace a count; unsigned arithmetic makes a difference below 0 come out right.
  void change(size_t item, uint64_t before, uint64_t after) {
    total_ += after - before;
    for (size_t place = item + 1; place < tree_.size(); place += place & (~place + 1)) tree_[place] += after - before;
  }

  // The item whose stretch of [0, total) holds `value`.
  size_t find(uint64_t value) const {
    size_t place = 0;
    for (size_t step = top_; step > 0; step /= 2) {
      if (place + step < tree_.size() && tree_[place + step] <= value) {
        place += step;
        value -= tree_[place];
      }
    }
    return place;
  }

 private:
  std::vector<uint64_t> tree_;
  uint64_t total_ = 0;
  size_t top_ = 1;
};

// Uniform in [0, bound) for any bound; the degrees of a frontier may add up to more than the 2^32 that Rng::below
// takes.
inline uint64_t draw_below(uint64_t bound, Rng& rng) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>((static_cast<Wide>(rng.next()) * bound) >> 64);
}

// The edges between some nodes: row i lists the senders of nodes[i] as positions in nodes.
template <class Id>
struct InducedRows {
  std::vector<Id> nodes;  // ascending
  std::vector<int64_t> indptr;
  Unset<int32_t> indices;   // the first indptr.back() count
  Unset<int64_t> edge_pos;  // likewise; positions in the graph's indices

  int64_t num_nodes() const { return static_cast<int64_t>(nodes.size()); }
  int64_t num_edges() const { return indptr.back(); }
};

// What one thread needs to draw and induce, reused from subgraph to subgraph.
template <class Id>
struct SaintDesk {
  explicit SaintDesk(int64_t num_nodes) : members(num_nodes), label(new int32_t[static_cast<size_t>(num_nodes)]) {}

  NodeBits members;
  std::unique_ptr<int32_t[]> label;  // [num_nodes], set for members alone: most pages are never touched
  InducedRows<Id> rows;
  std::vector<Id> front;
  std::vector<uint64_t> front_degree;
  PrefixTree tree;

  // List the members and the edges between them.
  void induce(const Csr<Id>& csr) {
    members.list(rows.nodes);
    if (rows.nodes.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
      throw std::length_error("a subgraph has more than 2^31 nodes");
    }
    for (size_t number = 0; number < rows.nodes.size(); ++number) {
      label[static_cast<size_t>(rows.nodes[number])] = static_cast<int32_t>(number);
    }
    rows.indptr.assign(1, 0);
    for (const Id node : rows.nodes) induce_row(csr, csr.row(node));
  }

 private:
  // Whether a neighbour is a member is close to a coin toss for the branch predictor, so there is no branch on it: each
  // position is written, and stays only if it is one. Labels are read of members alone.
  void induce_row(const Csr<Id>& csr, const Row<Id>& row) {
    const auto first = static_cast<size_t>(rows.indptr.back()), size = static_cast<size_t>(row.size());
    if (first + size > rows.edge_pos.size()) {
      rows.edge_pos.resize(std::max(first + size, 2 * rows.edge_pos.size()));
      rows.indices.resize(rows.edge_pos.size());
    }
    int64_t* const position = rows.edge_pos.data() + first;
    size_t kept = 0;
    for (size_t entry = 0; entry < size; ++entry) {
      position[kept] = static_cast<int64_t>(entry);
      kept += members.has(csr.checked(row.begin[entry]));
    }
    for (size_t edge = 0; edge < kept; ++edge) {
      const Id sender = row.begin[position[edge]];
      // A file may change between the two reads: then the label would be one that was never set.
      if (!csr.has(sender) || !members.has(sender)) throw_bad_id(sender, csr.num_nodes);
      rows.indices[first + edge] = label[static_cast<size_t>(sender)];
      position[edge] += row.position;
    }
    rows.indptr.push_back(static_cast<int64_t>(first + kept));
  }
};

// Desks that wait for their next use, so that their memory need not be asked for again. One that was in use when
// something went wrong is not brought back.
template <class Id>
class SaintDesks {
 public:
  std::unique_ptr<SaintDesk<Id>> take(const Csr<Id>& csr) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (waiting_.empty()) return std::make_unique<SaintDesk<Id>>(csr.num_nodes);
    std::unique_ptr<SaintDesk<Id>> desk = std::move(waiting_.back());
    waiting_.pop_back();
    return desk;
  }

  void keep(std::unique_ptr<SaintDesk<Id>> desk) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (waiting_.size() < kMostKept) waiting_.push_back(std::move(desk));
  }

 private:
  static constexpr size_t kMostKept = 16;

  std::mutex mutex_;
  std::vector<std::unique_ptr<SaintDesk<Id>>> waiting_;
};

// A subgraph in hop order: targets, then nodes by their distance to the nearest one, then nodes that reach none, which
// stand one hop farther than the farthest. In each part ids ascend.
struct SaintSubgraph {
  Unset<int64_t> node_id, hop, hop_ptr, indptr, indices, edge_pos;
};

// Draws subgraphs of one graph by number: the n-th depends on (graph, options, targets, seed, n) and nothing else.
template <class Id>
class Saint {
 public:
  // targets: where walks begin, and the nodes that a subgraph is for.
  Saint(const Csr<Id>& csr, const int64_t* targets, int64_t num_targets, const SaintOptions& options)
      : options_(options), is_target_(csr.num_nodes) {
    if (num_targets < 1) throw std::invalid_argument("targets must not be empty");
    for (int64_t number = 0; number < num_targets; ++number) {
      if (!csr.has(targets[number])) {
        throw std::invalid_argument("targets must be node ids from 0 to " + std::to_string(csr.num_nodes - 1) +
                                    ", got " + std::to_string(targets[number]));
      }
      targets_.push_back(static_cast<Id>(targets[number]));
      is_target_.add(targets[number]);
    }
    if (options.kind == SaintKind::kNode) {
      std::vector<double> weight(static_cast<size_t>(csr.num_nodes), 0.0);
      guarded([&] { add_column_norms(csr, weight); });
      table_.build(weight);
    }
    if (options.kind == SaintKind::kEdge) guarded([&] { list_receivers(csr); });
    if ((options.kind == SaintKind::kNode && table_.empty()) ||
        (options.kind == SaintKind::kEdge && receivers_.empty())) {
      throw std::invalid_argument("graph must have edges to draw nodes or edges by them, got none");
    }
  }

  // Make the nodes of a subgraph the members of the desk.
  void draw(const Csr<Id>& csr, uint64_t seed, uint64_t number, SaintDesk<Id>& desk) const {
    desk.members.clear();
    Rng rng{combine(mix64(seed), number)};
    switch (options_.kind) {
      case SaintKind::kNode:
        for (int64_t drawn = 0; drawn < options_.budget; ++drawn) desk.members.add(table_.draw(rng));
        break;
      case SaintKind::kEdge:
        draw_edges(csr, rng, desk);
        break;
      case SaintKind::kWalk:
        draw_walks(csr, rng, desk);
        break;
      case SaintKind::kFrontier:
        draw_frontier(csr, rng, desk);
    }
  }

  bool has_target(const SaintDesk<Id>& desk) const { return desk.members.meets(is_target_); }
  bool is_target(Id node) const { return is_target_.has(node); }
  SaintDesks<Id>& desks() const { return desks_; }

 private:
  // The squared norm of each column of D^-1 A: row u has 1 / degree(u) in the columns of its senders.
  static void add_column_norms(const Csr<Id>& csr, std::vector<double>& weight) {
    for (int64_t node = 0; node < csr.num_nodes; ++node) {
      const Row<Id> row = csr.row(static_cast<Id>(node));
      if (row.size() == 0) continue;
      const double share = 1.0 / static_cast<double>(row.size()), square = share * share;
      for (const Id* entry = row.begin; entry != row.end; ++entry) {
        weight[static_cast<size_t>(csr.checked(*entry))] += square;
      }
    }
  }

  void list_receivers(const Csr<Id>& csr) {
    for (int64_t node = 0; node < csr.num_nodes; ++node) {
      if (csr.degree(static_cast<Id>(node)) > 0) receivers_.push_back(static_cast<Id>(node));
    }
  }

  Id draw_target(Rng& rng) const { return targets_[static_cast<size_t>(rng.below(targets_.size()))]; }

  // One of the senders of `node`, or `node` itself where there is none.
  static Id draw_sender(const Csr<Id>& csr, Id node, Rng& rng) {
    const Row<Id> row = csr.row(node);
    if (row.size() == 0) return node;
    return csr.checked(row.begin[rng.below(static_cast<uint64_t>(row.size()))]);
  }

  // A node with senders, all alike, then one of its senders: the edge {u, v} comes out either by u or by v, which has a
  // probability in proportion to 1 / degree(u) + 1 / degree(v) without a table of edges.
  void draw_edges(const Csr<Id>& csr, Rng& rng, SaintDesk<Id>& desk) const {
    for (int64_t drawn = 0; drawn < options_.budget; ++drawn) {
      const Id receiver = receivers_[static_cast<size_t>(rng.below(receivers_.size()))];
      desk.members.add(receiver);
      desk.members.add(draw_sender(csr, receiver, rng));
    }
  }

  // All walks take a step, then all take the next: the processor can then wait for many lists at a time.
  void draw_walks(const Csr<Id>& csr, Rng& rng, SaintDesk<Id>& desk) const {
    desk.front.clear();
    for (int64_t walk = 0; walk < options_.budget; ++walk) {
      desk.front.push_back(draw_target(rng));
      desk.members.add(desk.front.back());
    }
    for (int64_t step = 0; step < options_.walk_length; ++step) {
      for (Id& node : desk.front) {
        node = draw_sender(csr, node, rng);
        desk.members.add(node);
      }
    }
  }

  // Frontier sampling (Ribeiro and Towsley, 2010): of the nodes that walk, one is chosen in proportion to its degree
  // and takes a step. Ends early where none can.
  void draw_frontier(const Csr<Id>& csr, Rng& rng, SaintDesk<Id>& desk) const {
    desk.front.clear();
    desk.front_degree.clear();
    for (int64_t slot = 0; slot < options_.frontier; ++slot) {
      const Id node = draw_target(rng);
      desk.members.add(node);
      desk.front.push_back(node);
      desk.front_degree.push_back(static_cast<uint64_t>(csr.degree(node)));
    }
    desk.tree.assign(desk.front_degree);
    for (int64_t drawn = options_.frontier; drawn < options_.budget && desk.tree.total() > 0; ++drawn) {
      const size_t slot = desk.tree.find(draw_below(desk.tree.total(), rng));
      const Id next = draw_sender(csr, desk.front[slot], rng);
      const auto degree = static_cast<uint64_t>(csr.degree(next));
      desk.members.add(next);
      desk.tree.change(slot, desk.front_degree[slot], degree);
      desk.front[slot] = next;
      desk.front_degree[slot] = degree;
    }
  }

  SaintOptions options_;
  std::vector<Id> targets_;
  NodeBits is_target_;
  AliasTable<Id> table_;
  std::vector<Id> receivers_;
  mutable SaintDesks<Id> desks_;
};

// Hops from the targets against message direction; -1 where none is reached. Return the largest.
template <class Id>
int64_t measure_hops(const Saint<Id>& saint, const InducedRows<Id>& rows, std::vector<int64_t>& hop) {
  hop.assign(rows.nodes.size(), -1);
  std::vector<int32_t> queue;
  for (size_t node = 0; node < rows.nodes.size(); ++node) {
    if (!saint.is_target(rows.nodes[node])) continue;
    hop[node] = 0;
    queue.push_back(static_cast<int32_t>(node));
  }
  for (size_t at = 0; at < queue.size(); ++at) {
    const auto node = static_cast<size_t>(queue[at]);
    for (int64_t edge = rows.indptr[node]; edge < rows.indptr[node + 1]; ++edge) {
      const int32_t sender = rows.indices[static_cast<size_t>(edge)];
      if (hop[static_cast<size_t>(sender)] >= 0) continue;
      hop[static_cast<size_t>(sender)] = hop[node] + 1;
      queue.push_back(sender);
    }
  }
  return queue.empty() ? -1 : hop[static_cast<size_t>(queue.back())];
}

// Copy the edges to rows in the order of place; in each row senders ascend again. Edges are dealt to their senders, and
// from those, in the new order, back to their rows: O(edges), without a sort.
template <class Id>
void move_edges(const InducedRows<Id>& rows, const std::vector<int64_t>& place, SaintSubgraph& out) {
  const auto num_nodes = static_cast<size_t>(rows.num_nodes()), num_edges = static_cast<size_t>(rows.num_edges());
  struct Sent {
    int64_t row, edge_pos;
  };
  std::vector<Sent> sent(num_edges);
  std::vector<int64_t> next(num_nodes + 1, 0);
  out.indptr.assign(num_nodes + 1, 0);
  for (size_t node = 0; node < num_nodes; ++node) {
    out.indptr[static_cast<size_t>(place[node]) + 1] = rows.indptr[node + 1] - rows.indptr[node];
  }
  std::partial_sum(out.indptr.begin(), out.indptr.end(), out.indptr.begin());
  for (size_t edge = 0; edge < num_edges; ++edge) {
    ++next[static_cast<size_t>(place[static_cast<size_t>(rows.indices[edge])]) + 1];
  }
  std::partial_sum(next.begin(), next.end(), next.begin());
  const std::vector<int64_t> sender_ptr = next;
  for (size_t node = 0; node < num_nodes; ++node) {
    for (int64_t edge = rows.indptr[node]; edge < rows.indptr[node + 1]; ++edge) {
      const auto sender = static_cast<size_t>(place[static_cast<size_t>(rows.indices[static_cast<size_t>(edge)])]);
      sent[static_cast<size_t>(next[sender]++)] = {place[node], rows.edge_pos[static_cast<size_t>(edge)]};
    }
  }
  next.assign(out.indptr.begin(), out.indptr.end());
  out.indices.resize(num_edges);
  out.edge_pos.resize(num_edges);
  for (size_t sender = 0; sender < num_nodes; ++sender) {
    for (int64_t at = sender_ptr[sender]; at < sender_ptr[sender + 1]; ++at) {
      const Sent& one = sent[static_cast<size_t>(at)];
      const auto edge = static_cast<size_t>(next[static_cast<size_t>(one.row)]++);
      out.indices[edge] = static_cast<int64_t>(sender);
      out.edge_pos[edge] = one.edge_pos;
    }
  }
}

// Put what the desk has induced in hop order.
template <class Id>
SaintSubgraph in_hop_order(const Saint<Id>& saint, const InducedRows<Id>& rows) {
  std::vector<int64_t> hop;
  const int64_t farthest = measure_hops(saint, rows, hop);
  bool unreached = false;
  for (int64_t& distance : hop) {
    unreached = unreached || distance < 0;
    if (distance < 0) distance = farthest + 1;
  }
  SaintSubgraph out;
  std::vector<int64_t> next(static_cast<size_t>(farthest + (unreached ? 3 : 2)), 0);
  for (const int64_t distance : hop) ++next[static_cast<size_t>(distance) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  out.hop_ptr.assign(next.begin() + 1, next.end());
  std::vector<int64_t> place(hop.size());
  out.node_id.resize(hop.size());
  out.hop.resize(hop.size());
  for (size_t node = 0; node < hop.size(); ++node) {
    place[node] = next[static_cast<size_t>(hop[node])]++;
    out.node_id[static_cast<size_t>(place[node])] = rows.nodes[node];
    out.hop[static_cast<size_t>(place[node])] = hop[node];
  }
  move_edges(rows, place, out);
  return out;
}

struct SaintCounts {
  std::vector<int64_t> num_nodes, num_targets;  // of each subgraph; both 0 where there is no target in it
};

// Draw the subgraphs first, first + 1, ... and add 1 to node_count [N] and edge_count [E] for all that each holds. One
// without a target counts for nothing. Sums do not depend on the order, so neither on the threads.
template <class Id, class Poll>
SaintCounts count_saint(const Csr<Id>& csr, const Saint<Id>& saint, uint64_t seed, uint64_t first, int64_t count,
                        uint32_t* node_count, uint32_t* edge_count, int num_threads, Poll&& poll) {
  SaintCounts out;
  out.num_nodes.assign(static_cast<size_t>(count), 0);
  out.num_targets.assign(static_cast<size_t>(count), 0);
  std::vector<std::unique_ptr<SaintDesk<Id>>> desks(static_cast<size_t>(num_threads));
  parallel_for(
      count, num_threads,
      [&](int worker, int64_t item) {
        auto& desk = desks[static_cast<size_t>(worker)];
        if (desk == nullptr) desk = saint.desks().take(csr);
        bool useful = false;
        guarded([&] {
          saint.draw(csr, seed, first + static_cast<uint64_t>(item), *desk);
          useful = saint.has_target(*desk);
          if (useful) desk->induce(csr);
        });
        if (!useful) return;
        const InducedRows<Id>& rows = desk->rows;
        int64_t num_targets = 0;
        for (const Id node : rows.nodes) {
          num_targets += saint.is_target(node);
          __atomic_fetch_add(node_count + node, 1u, __ATOMIC_RELAXED);
        }
        for (int64_t edge = 0; edge < rows.num_edges(); ++edge) {
          __atomic_fetch_add(edge_count + rows.edge_pos[static_cast<size_t>(edge)], 1u, __ATOMIC_RELAXED);
        }
        out.num_nodes[static_cast<size_t>(item)] = rows.num_nodes();
        out.num_targets[static_cast<size_t>(item)] = num_targets;
      },
      poll);
  for (auto& desk : desks) {
    if (desk != nullptr) saint.desks().keep(std::move(desk));
  }
  return out;
}

}  // namespace shadow
