// Subgraphs of GraphSAINT (Zeng et al., ICLR 2020): nodes drawn at random, the edges between them, and counts of both.
// Not for: scopes of single targets (engine.h). Memory here grows with the graph: some bytes for each node and thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "csr.h"
#include "guard.h"
#include "interrupt.h"
#include "parallel.h"
#include "prefetch.h"
#include "rng.h"
#include "unset.h"

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

  // Write the position in the graph's indices of each entry of a row that is in the set; return their number. Whether
  // it is one is close to a coin toss, so there is no branch on it: every position is written, and stays only if it is.
  template <class Id>
  size_t pick(const Row<Id>& row, const int64_t num_nodes, int64_t* const positions) const {
    const uint64_t* const words = words_.data();
    const int64_t size = row.size();
    size_t kept = 0;
    for (int64_t entry = 0; entry < size; ++entry) {
      const auto id = static_cast<uint64_t>(row.begin[entry]);
      if (id >= static_cast<uint64_t>(num_nodes)) throw_bad_id(row.begin[entry], num_nodes);
      positions[kept] = row.position + entry;
      kept += (words[id >> 6] >> (id & 63)) & 1;
    }
    return kept;
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
      count_steps(1);
      if (!(weight[item] > 0)) continue;
      item_.push_back(static_cast<Id>(item));
      share_.push_back(weight[item]);
      total += weight[item];
    }
    other_ = item_;
    const double scale = static_cast<double>(item_.size()) / total;
    std::vector<size_t> low, high;
    for (size_t place = 0; place < share_.size(); ++place) {
      count_steps(1);
      share_[place] *= scale;
      (share_[place] < 1 ? low : high).push_back(place);
    }
    while (!low.empty() && !high.empty()) {
      count_steps(1);
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
    for (size_t number = 0; number < rows.nodes.size(); ++number) {
      fetch_ahead(csr, number);
      induce_row(csr, csr.row(rows.nodes[number]));
    }
  }

 private:
  // Ask for the lists that come soon: they lie far apart, and waiting for each would take longer than reading them.
  void fetch_ahead(const Csr<Id>& csr, size_t number) const {
    constexpr size_t kDegree = 16, kList = 8, kLine = 64 / sizeof(Id);
    if (number + kDegree < rows.nodes.size()) csr.prefetch_degree(rows.nodes[number + kDegree]);
    if (number + kList >= rows.nodes.size()) return;
    const int64_t first = csr.indptr[rows.nodes[number + kList]];
    if (first < 0 || first >= csr.num_edges) return;
    prefetch(csr.indices + first);
    prefetch(csr.indices + std::min(first + static_cast<int64_t>(kLine), csr.num_edges - 1));
  }

  // Labels are read of members alone.
  void induce_row(const Csr<Id>& csr, const Row<Id>& row) {
    const auto first = static_cast<size_t>(rows.indptr.back()), size = static_cast<size_t>(row.size());
    count_steps(row.size() + 1);
    if (first + size > rows.edge_pos.size()) {
      rows.edge_pos.resize(std::max(first + size, 2 * rows.edge_pos.size()));
      rows.indices.resize(rows.edge_pos.size());
    }
    int64_t* const position = rows.edge_pos.data() + first;
    const size_t kept = members.pick(row, csr.num_nodes, position);
    int32_t* const sender_label = rows.indices.data() + first;
    for (size_t edge = 0; edge < kept; ++edge) {
      const Id sender = csr.indices[position[edge]];
      // A file may change between the two reads: then the label would be one that was never set.
      if (!csr.has(sender) || !members.has(sender)) throw_bad_id(sender, csr.num_nodes);
      sender_label[edge] = label[static_cast<size_t>(sender)];
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
      count_steps(1);
      targets_.push_back(csr.taken(targets[number], "targets"));
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
        for (int64_t drawn = 0; drawn < options_.budget; ++drawn) {
          count_steps(1);
          desk.members.add(table_.draw(rng));
        }
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
      count_steps(row.size() + 1);
      if (row.size() == 0) continue;
      const double share = 1.0 / static_cast<double>(row.size()), square = share * share;
      for (const Id* entry = row.begin; entry != row.end; ++entry) {
        weight[static_cast<size_t>(csr.checked(*entry))] += square;
      }
    }
  }

  void list_receivers(const Csr<Id>& csr) {
    for (int64_t node = 0; node < csr.num_nodes; ++node) {
      count_steps(1);
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
      count_steps(1);
      const Id receiver = receivers_[static_cast<size_t>(rng.below(receivers_.size()))];
      desk.members.add(receiver);
      desk.members.add(draw_sender(csr, receiver, rng));
    }
  }

  // All walks take a step, then all take the next: the processor can then wait for many lists at a time.
  void draw_walks(const Csr<Id>& csr, Rng& rng, SaintDesk<Id>& desk) const {
    desk.front.clear();
    for (int64_t walk = 0; walk < options_.budget; ++walk) {
      count_steps(1);
      desk.front.push_back(draw_target(rng));
      desk.members.add(desk.front.back());
    }
    for (int64_t step = 0; step < options_.walk_length; ++step) {
      for (Id& node : desk.front) {
        count_steps(1);
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
      count_steps(1);
      const Id node = draw_target(rng);
      desk.members.add(node);
      desk.front.push_back(node);
      desk.front_degree.push_back(static_cast<uint64_t>(csr.degree(node)));
    }
    desk.tree.assign(desk.front_degree);
    for (int64_t drawn = options_.frontier; drawn < options_.budget && desk.tree.total() > 0; ++drawn) {
      count_steps(1);
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
    count_steps(rows.indptr[node + 1] - rows.indptr[node]);
    for (int64_t edge = rows.indptr[node]; edge < rows.indptr[node + 1]; ++edge) {
      const int32_t sender = rows.indices[static_cast<size_t>(edge)];
      if (hop[static_cast<size_t>(sender)] >= 0) continue;
      hop[static_cast<size_t>(sender)] = hop[node] + 1;
      queue.push_back(sender);
    }
  }
  return queue.empty() ? -1 : hop[static_cast<size_t>(queue.back())];
}

// Copy one row to its new place. Its senders ascend by id, and are to ascend by (hop, id): they are dealt out by hop.
// next has a 0 for each hop, before and after.
template <class Id>
void move_row(const InducedRows<Id>& rows, size_t node, const std::vector<int64_t>& hop,
              const std::vector<int64_t>& place, std::vector<int64_t>& next, SaintSubgraph& out) {
  const auto first = static_cast<size_t>(rows.indptr[node]), last = static_cast<size_t>(rows.indptr[node + 1]);
  count_steps(static_cast<int64_t>(last - first) + 1);
  if (first == last) return;
  const auto hop_of = [&](size_t edge) { return hop[static_cast<size_t>(rows.indices[edge])]; };
  int64_t nearest = hop_of(first), farthest = nearest;
  for (size_t edge = first; edge < last; ++edge) {
    const int64_t distance = hop_of(edge);
    ++next[static_cast<size_t>(distance)];
    nearest = std::min(nearest, distance);
    farthest = std::max(farthest, distance);
  }
  int64_t start = out.indptr[static_cast<size_t>(place[node])];
  for (int64_t distance = nearest; distance <= farthest; ++distance) {
    start += std::exchange(next[static_cast<size_t>(distance)], start);
  }
  for (size_t edge = first; edge < last; ++edge) {
    const auto to = static_cast<size_t>(next[static_cast<size_t>(hop_of(edge))]++);
    out.indices[to] = place[static_cast<size_t>(rows.indices[edge])];
    out.edge_pos[to] = rows.edge_pos[edge];
  }
  std::fill(next.begin() + nearest, next.begin() + farthest + 1, 0);
}

// Copy the edges to rows in the order of place; in each row senders ascend again.
template <class Id>
void move_edges(const InducedRows<Id>& rows, const std::vector<int64_t>& hop, const std::vector<int64_t>& place,
                SaintSubgraph& out) {
  const auto num_nodes = static_cast<size_t>(rows.num_nodes()), num_edges = static_cast<size_t>(rows.num_edges());
  out.indptr.assign(num_nodes + 1, 0);
  for (size_t node = 0; node < num_nodes; ++node) {
    out.indptr[static_cast<size_t>(place[node]) + 1] = rows.indptr[node + 1] - rows.indptr[node];
  }
  std::partial_sum(out.indptr.begin(), out.indptr.end(), out.indptr.begin());
  out.indices.resize(num_edges);
  out.edge_pos.resize(num_edges);
  std::vector<int64_t> next(out.hop_ptr.size(), 0);
  for (size_t node = 0; node < num_nodes; ++node) move_row(rows, node, hop, place, next, out);
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
  move_edges(rows, hop, place, out);
  return out;
}

struct SaintCounts {
  std::vector<int64_t> num_nodes, num_targets;  // of each subgraph; both 0 where there is no target in it
};

// Counts that several threads add to. The graph is cut in stretches of nodes, each with a lock of its own: those of a
// subgraph are in order, so that each lock is taken once and most memory is waited for outside of an atomic
// instruction.
class SharedCounts {
 public:
  SharedCounts(uint32_t* node_count, uint32_t* edge_count, int64_t num_nodes)
      : node_count_(node_count), edge_count_(edge_count), length_(num_nodes / kNumStretches + 1) {}

  // Add 1 for all that a subgraph holds; `turn` lets threads begin at different stretches.
  template <class Id>
  void add(const InducedRows<Id>& rows, int64_t turn) {
    for (int64_t step = 0; step < kNumStretches; ++step) {
      const int64_t stretch = (step + turn) % kNumStretches;
      const size_t first = begin_of(rows.nodes, stretch), last = begin_of(rows.nodes, stretch + 1);
      if (first == last) continue;
      const std::lock_guard<std::mutex> lock(locks_[stretch]);
      for (size_t node = first; node < last; ++node) increment(node_count_ + rows.nodes[node]);
      for (int64_t edge = rows.indptr[first]; edge < rows.indptr[last]; ++edge) {
        increment(edge_count_ + rows.edge_pos[static_cast<size_t>(edge)]);
      }
    }
  }

 private:
  static constexpr int64_t kNumStretches = 32;

  template <class Id>
  size_t begin_of(const std::vector<Id>& nodes, int64_t stretch) const {
    const auto bound = [](Id node, int64_t most) { return static_cast<int64_t>(node) < most; };
    return static_cast<size_t>(std::lower_bound(nodes.begin(), nodes.end(), stretch * length_, bound) - nodes.begin());
  }

  // Not one atomic step, but for lists that overlap, as only those of a damaged graph do, a count that is too low is
  // the worst that can happen.
  static void increment(uint32_t* count) {
    __atomic_store_n(count, __atomic_load_n(count, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
  }

  uint32_t* node_count_;
  uint32_t* edge_count_;
  int64_t length_;
  std::mutex locks_[kNumStretches];
};

// Draw the subgraphs first, first + 1, ... and add 1 to node_count [N] and edge_count [E] for all that each holds. One
// without a target counts for nothing. Sums do not depend on the order, so neither on the threads.
template <class Id>
SaintCounts count_saint(const Csr<Id>& csr, const Saint<Id>& saint, uint64_t seed, uint64_t first, int64_t count,
                        SharedCounts& counts, int num_threads) {
  SaintCounts out;
  out.num_nodes.assign(static_cast<size_t>(count), 0);
  out.num_targets.assign(static_cast<size_t>(count), 0);
  std::vector<std::unique_ptr<SaintDesk<Id>>> desks(static_cast<size_t>(num_threads));
  parallel_for(count, num_threads, [&](int worker, int64_t item) {
    auto& desk = desks[static_cast<size_t>(worker)];
    if (desk == nullptr) desk = saint.desks().take(csr);
    bool useful = false;
    guarded([&] {
      saint.draw(csr, seed, first + static_cast<uint64_t>(item), *desk);
      useful = saint.has_target(*desk);
      if (useful) desk->induce(csr);
    });
    if (!useful) return;
    counts.add(desk->rows, item);
    out.num_nodes[static_cast<size_t>(item)] = desk->rows.num_nodes();
    for (const Id node : desk->rows.nodes) out.num_targets[static_cast<size_t>(item)] += saint.is_target(node);
  });
  for (auto& desk : desks) {
    if (desk != nullptr) saint.desks().keep(std::move(desk));
  }
  return out;
}

}  // namespace shadow
