// The whole graph as the core sees it: borrowed CSR arrays, every id checked on the way out.
// Not for: owning memory, Python objects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

#include "changes.h"
#include "often.h"
#include "pages.h"
#include "prefetch.h"

namespace shadow {

// A file that backs the graph holds values that no graph can have.
struct CorruptGraph : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Out of line so that the checks in hot loops stay a compare and a branch never taken.
[[noreturn]] inline void throw_bad_row(int64_t node) {
  throw CorruptGraph("indptr of node " + std::to_string(node) + " is not a range of indices");
}
[[noreturn]] inline void throw_bad_id(int64_t id, int64_t num_nodes) {
  throw CorruptGraph("indices holds " + std::to_string(id) + ", not a node of a graph of " + std::to_string(num_nodes));
}
[[noreturn]] inline void throw_bad_weight(float weight, int64_t row) {
  throw CorruptGraph("edge_weight must be finite and not negative, got " + std::to_string(weight) + " in row " +
                     std::to_string(row));
}
[[noreturn]] inline void throw_bad_argument(const char* name, int64_t id, int64_t num_nodes) {
  const std::string range = "from 0 to " + std::to_string(num_nodes - 1) + ", got " + std::to_string(id);
  throw std::invalid_argument(std::string(name) + " must be node ids " +
                              (num_nodes > 0 ? range : "of the graph, which has no nodes, got " + std::to_string(id)));
}

// A sum of weights, and whether all of them can be a graph's: told at the end, which costs less than at each.
struct WeightSum {
  double total = 0;
  float least = 0;

  void add(float weight) {
    total += weight;
    least = weight < least ? weight : least;
  }
  bool is_good() const { return least >= 0 && total <= std::numeric_limits<double>::max(); }
};

template <class Id>
struct Csr {
  const int64_t* indptr;
  const Id* indices;
  const float* weight;  // null for an unweighted graph
  int64_t num_nodes;
  int64_t num_edges;
  bool symmetric;                        // every edge is there in both directions
  bool asks = false;                     // lists come from the disk: ask for those that will be read soon
  const Changes<Id>* changes = nullptr;  // lists in place of the arrays'; num_nodes and num_edges count them

  int64_t degree(Id node) const { return row(node).size(); }

  SHADOW_OFTEN Row<Id> row(Id node) const {
    return changes == nullptr ? stored_row(node, num_edges) : changed_row(node);
  }

  // Call work(row_of) with a function that returns lists, chosen once for a whole loop.
  template <class Work>
  SHADOW_OFTEN void with_rows(Work&& work) const {
    if (changes == nullptr) {
      work([this](Id node) { return stored_row(node, num_edges); });
    } else {
      work([this](Id node) { return changed_row(node); });
    }
  }

  // The weights of a list; null for an unweighted graph.
  const float* weights_of(const Row<Id>& row) const {
    if (weight == nullptr) return nullptr;
    return row.is_stored() ? weight + row.position : row.own().weight.data();
  }

  // Have the system read a list that will be needed soon, given by where it begins and its length. Of a hub's list,
  // which may not be read as a whole, it is the first part.
  void ask_list(int64_t first, int64_t size) const {
    constexpr int64_t kMost = int64_t{1} << 16;
    PageAsker asker;
    asker.note(reinterpret_cast<const char*>(indices + first),
               (size < kMost ? size : kMost) * static_cast<int64_t>(sizeof(Id)));
    asker.ask();
  }

  void ask_list(Id node) const {
    const Row<Id> list = row(node);
    if (list.is_stored()) ask_list(list.position, list.size());
  }

  // Which entry of the list of `node` is `neighbour`, or -1. Halving without a branch: which half it is, is a coin
  // toss.
  int64_t entry_of(Id node, Id neighbour) const {
    const Row<Id> list = row(node);
    const Id* base = list.begin;
    int64_t size = list.size();
    while (size > 1) {
      const int64_t half = size / 2;
      base += base[half - 1] < neighbour ? half : 0;
      size -= half;
    }
    return size == 1 && *base == neighbour ? base - list.begin : -1;
  }

  bool has(int64_t id) const { return static_cast<uint64_t>(id) < static_cast<uint64_t>(num_nodes); }

  void prefetch_degree(Id node) const {
    if (has(node)) prefetch(indptr + node);
  }

  // Return `id` if it is a node; what is read from a map may have changed since it was verified.
  Id checked(Id id) const {
    if (!has(id)) throw_bad_id(id, num_nodes);
    return id;
  }

  // The weight at a position of `indices`. Like ids, it may have changed since it was verified.
  float weight_at(int64_t position) const { return checked_weight(weight[position], position); }

  float checked_weight(float value, int64_t position) const {
    if (!(value >= 0 && value <= std::numeric_limits<float>::max())) throw_bad_weight(value, position);
    return value;
  }

  // Return a sum of weights of a list; throw if one of them is none. Those of changed lists were checked before.
  double checked(const WeightSum& sum, const Row<Id>& row) const {
    if (!sum.is_good() && row.is_stored()) {
      for (int64_t entry = 0; entry < row.size(); ++entry) weight_at(row.position + entry);
    }
    return sum.total;
  }

  // Return what a caller gave as a node; name: of the argument.
  Id taken(int64_t id, const char* name) const {
    if (!has(id)) throw_bad_argument(name, id, num_nodes);
    return static_cast<Id>(id);
  }

 private:
  SHADOW_OFTEN Row<Id> stored_row(Id node, int64_t stored_edges) const {
    const int64_t first = indptr[node], last = indptr[node + 1];
    if (first < 0 || last < first || last > stored_edges) throw_bad_row(node);
    return {indices + first, indices + last, first};
  }

  // Kept out of the loops that read rows: few graphs have changes.
  SHADOW_RARE Row<Id> changed_row(Id node) const {
    if (const OwnRow<Id>* const own = changes->find(node)) return own->row();
    if (static_cast<int64_t>(node) >= changes->stored_nodes()) return {nullptr, nullptr, 0};
    return stored_row(node, changes->stored_edges());
  }
};

}  // namespace shadow
