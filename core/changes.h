// Lists of nodes that replace those of a graph's arrays: a graph that changes while its files do not.
// Not for: reading the graph under the changes (csr.h), nor for keeping them on disk.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "interrupt.h"
#include "node_index.h"

namespace shadow {

template <class Id>
struct OwnRow;

// The list of a node.
template <class Id>
struct Row {
  const Id* begin;
  const Id* end;
  int64_t position;  // of begin in the graph's indices; negative if the list is not stored there

  int64_t size() const { return end - begin; }
  bool is_stored() const { return position >= 0; }
  // The list as it is kept if it is not stored. The two share a word, as rows are copied in the innermost loops.
  const OwnRow<Id>& own() const { return *reinterpret_cast<const OwnRow<Id>*>(static_cast<intptr_t>(~position)); }
  // Where an entry stands in the graph's indices, or past their end if it was added.
  int64_t position_of(int64_t entry) const {
    return is_stored() ? position + entry : own().position[static_cast<size_t>(entry)];
  }
};

// A list that is not stored in the graph's indices.
template <class Id>
struct OwnRow {
  std::vector<Id> ids;        // ascending
  std::vector<float> weight;  // empty for an unweighted graph
  std::vector<int64_t> position;

  Row<Id> row() const {
    return {ids.data(), ids.data() + ids.size(), ~static_cast<int64_t>(reinterpret_cast<intptr_t>(this))};
  }
};

// One entry of a list that is to be there, or not to be.
template <class Id>
struct Edit {
  static constexpr int64_t kRemoved = -1;

  Id receiver, sender;
  float weight;
  int64_t position;  // kRemoved: the entry is not to be there

  bool precedes(const Edit& other) const {
    return receiver != other.receiver ? receiver < other.receiver : sender < other.sender;
  }
};

template <class Id>
class Changes {
 public:
  // under: changes that these are made upon, null for none. The counts are those of the arrays below all changes.
  Changes(const Changes* under, int64_t stored_nodes, int64_t stored_edges)
      : under_(under),
        stored_nodes_(stored_nodes),
        stored_edges_(stored_edges),
        num_nodes_(under == nullptr ? stored_nodes : under->num_nodes()),
        edges_added_(0) {}

  // The list of a node, or null if it is as it is in the arrays.
  const OwnRow<Id>* find(Id node) const {
    for (const Changes* layer = this; layer != nullptr; layer = layer->under_) {
      if (layer->rows_.empty()) continue;
      const int32_t number = layer->index_.find(node);
      if (number >= 0) return &layer->rows_[static_cast<size_t>(number)];
    }
    return nullptr;
  }

  int64_t num_nodes() const { return num_nodes_; }
  int64_t num_edges() const { return edges_added_ + (under_ == nullptr ? stored_edges_ : under_->num_edges()); }
  int64_t stored_nodes() const { return stored_nodes_; }
  int64_t stored_edges() const { return stored_edges_; }
  int64_t num_rows() const { return static_cast<int64_t>(rows_.size()); }
  bool is_empty() const {
    return rows_.empty() && num_nodes_ == stored_nodes_ && (under_ == nullptr || under_->is_empty());
  }

  // Nodes without edges, with the ids that follow the last one.
  void add_nodes(int64_t count) { num_nodes_ += count; }

  // Apply edits to the graph that these changes and all below make; of several for the same entry, the last counts.
  // All ids must be nodes of it. A list is merged once for all of its edits. Nothing has changed after an error.
  template <class Graph>
  void apply(const Graph& graph, std::vector<Edit<Id>>& edits) {
    std::stable_sort(edits.begin(), edits.end(), [](const auto& a, const auto& b) {
      count_steps(1);
      return a.precedes(b);
    });
    std::vector<OwnRow<Id>> merged;
    std::vector<Id> nodes;
    int64_t added = 0;
    for (size_t first = 0; first < edits.size();) {
      size_t last = first;
      while (last < edits.size() && edits[last].receiver == edits[first].receiver) ++last;
      const Row<Id> row = graph.row(edits[first].receiver);
      count_steps(row.size() + static_cast<int64_t>(last - first));
      merged.push_back(merge(graph, row, edits.data() + first, edits.data() + last));
      nodes.push_back(edits[first].receiver);
      added += static_cast<int64_t>(merged.back().ids.size()) - row.size();
      first = last;
    }
    index_.reserve_more(nodes.size());
    make_room(nodes.size());
    for (size_t item = 0; item < nodes.size(); ++item) {
      const auto number = static_cast<size_t>(index_.add(nodes[item]));
      if (number == rows_.size()) rows_.emplace_back();
      rows_[number] = std::move(merged[item]);
    }
    edges_added_ += added;
  }

 private:
  template <class Graph>
  static OwnRow<Id> merge(const Graph& graph, const Row<Id>& row, const Edit<Id>* edit, const Edit<Id>* end) {
    const bool weighted = graph.weight != nullptr;
    const float* const weight = graph.weights_of(row);
    OwnRow<Id> out;
    const size_t most = static_cast<size_t>(row.size() + (end - edit));
    out.ids.reserve(most);
    out.position.reserve(most);
    if (weighted) out.weight.reserve(most);
    const auto put = [&](Id sender, float value, int64_t position) {
      out.ids.push_back(sender);
      out.position.push_back(position);
      if (weighted) out.weight.push_back(graph.checked_weight(value, position));
    };
    int64_t entry = 0;
    for (; edit != end; ++edit) {
      if (edit + 1 != end && edit[1].sender == edit->sender) continue;
      for (; entry < row.size() && row.begin[entry] < edit->sender; ++entry) {
        put(graph.checked(row.begin[entry]), weighted ? weight[entry] : 1, row.position_of(entry));
      }
      entry += entry < row.size() && row.begin[entry] == edit->sender;
      if (edit->position != Edit<Id>::kRemoved) put(edit->sender, edit->weight, edit->position);
    }
    for (; entry < row.size(); ++entry) {
      put(graph.checked(row.begin[entry]), weighted ? weight[entry] : 1, row.position_of(entry));
    }
    return out;
  }

  // Room grows by a factor: with one for each call, every small update would move all lists that have changed.
  void make_room(size_t count) {
    const size_t needed = rows_.size() + count;
    if (needed > rows_.capacity()) rows_.reserve(std::max(needed, 2 * rows_.capacity()));
  }

  const Changes* under_;
  int64_t stored_nodes_, stored_edges_, num_nodes_, edges_added_;
  NodeIndex<Id> index_;
  std::vector<OwnRow<Id>> rows_;  // by number of the index
};

}  // namespace shadow
