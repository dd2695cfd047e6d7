// Changes of a graph as Python holds them, and the graph with them as the core reads it.
// Not for: what a change is (changes.h).
#pragma once

#include <memory>
#include <shared_mutex>
#include <utility>
#include <variant>
#include <vector>

#include "binding.h"
#include "changes.h"

namespace shadow {

// Changes of a graph on top of others, or of none. Readers of a graph share the lock, and whoever changes it has it
// alone; neither is waited for with Python's lock held.
struct GraphChanges {
  GraphView stored;
  std::shared_ptr<GraphChanges> under;
  std::variant<Changes<int32_t>, Changes<int64_t>> layer;
  mutable std::shared_mutex lock;

  GraphChanges(const GraphView& graph, std::shared_ptr<GraphChanges> under_in)
      : stored(graph), under(std::move(under_in)), layer(make_layer(graph, under.get())) {}

  template <class Id>
  Changes<Id>& of() {
    return std::get<Changes<Id>>(layer);
  }
  template <class Id>
  const Changes<Id>& of() const {
    return std::get<Changes<Id>>(layer);
  }

 private:
  static std::variant<Changes<int32_t>, Changes<int64_t>> make_layer(const GraphView& graph,
                                                                     const GraphChanges* under) {
    return std::visit(
        [&](const auto& indices) -> std::variant<Changes<int32_t>, Changes<int64_t>> {
          using Id = std::decay_t<decltype(indices.data()[0])>;
          return Changes<Id>(under == nullptr ? nullptr : &under->of<Id>(),
                             static_cast<int64_t>(graph.indptr.shape(0)) - 1, static_cast<int64_t>(indices.shape(0)));
        },
        graph.indices);
  }
};

// Keeps changes as they are while it lives; null for none. The lowest layer is locked first, as by whoever changes one:
// in two orders, threads would wait for each other.
class Reading {
 public:
  explicit Reading(const GraphChanges* changes) {
    std::vector<const GraphChanges*> layers;
    for (; changes != nullptr; changes = changes->under.get()) layers.push_back(changes);
    locks_.reserve(layers.size());
    for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) locks_.emplace_back((*layer)->lock);
  }

 private:
  std::vector<std::shared_lock<std::shared_mutex>> locks_;
};

// The graph with its changes, which must be kept as they are while it is read.
template <class Indices>
auto changed_csr_of(const GraphView& graph, const Indices& indices) {
  auto csr = stored_csr_of(graph, indices);
  using Id = std::decay_t<decltype(indices.data()[0])>;
  if (graph.changes == nullptr) return csr;
  const Changes<Id>& changes = graph.changes->of<Id>();
  if (changes.is_empty()) return csr;
  csr.changes = &changes;
  csr.num_nodes = changes.num_nodes();
  csr.num_edges = changes.num_edges();
  return csr;
}

}  // namespace shadow
