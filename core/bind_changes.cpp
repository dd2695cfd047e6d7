// Bindings: changes of a graph, and its lists with them.
// Not for: scopes of a changed graph (bind_scopes.cpp).
#include "bind_changes.h"

#include <nanobind/stl/shared_ptr.h>

#include <cmath>
#include <mutex>
#include <string>
#include <vector>

#include "guard.h"

namespace shadow {
namespace {

std::shared_ptr<GraphChanges> changes_of(const GraphView& graph) {
  if (graph.changes) throw std::invalid_argument("graph must be as it is stored; take the changes above its own");
  return std::make_shared<GraphChanges>(graph, nullptr);
}

std::shared_ptr<GraphChanges> changes_above(std::shared_ptr<GraphChanges> under) {
  const nb::gil_scoped_release release;
  const Reading reading(under.get());
  const GraphView& stored = under->stored;
  return std::make_shared<GraphChanges>(stored, under);
}

GraphView changed_view(std::shared_ptr<GraphChanges> changes) {
  GraphView changed = changes->stored;
  changed.changes = std::move(changes);
  return changed;
}

void add_nodes(GraphChanges& changes, int64_t count) {
  const nb::gil_scoped_release release;
  const std::unique_lock<std::shared_mutex> lock(changes.lock);
  std::visit(
      [&](auto& layer) {
        using Layer = std::decay_t<decltype(layer)>;
        const int64_t most = std::is_same_v<Layer, Changes<int32_t>> ? INT32_MAX : INT64_MAX / 2;
        if (count < 0 || count > most - layer.num_nodes()) {
          throw std::invalid_argument("count must be from 0 to " + std::to_string(most - layer.num_nodes()) + ", got " +
                                      std::to_string(count));
        }
        layer.add_nodes(count);
      },
      changes.layer);
}

void check_edit(int64_t position, float weight, int64_t stored_edges) {
  if (position == Edit<int32_t>::kRemoved) return;
  if (position < stored_edges) {
    throw std::invalid_argument("position must be -1 or at least " + std::to_string(stored_edges) + ", got " +
                                std::to_string(position));
  }
  if (!(weight > 0 && std::isfinite(weight))) {
    throw std::invalid_argument("weight must be positive and finite, got " + std::to_string(weight));
  }
}

void apply(GraphChanges& changes, const In1<int64_t>& receiver, const In1<int64_t>& sender, const In1<float>& weight,
           const In1<int64_t>& position) {
  const size_t count = receiver.shape(0);
  if (sender.shape(0) != count || weight.shape(0) != count || position.shape(0) != count) {
    throw std::invalid_argument("receiver, sender, weight and position must be as many");
  }
  std::visit(
      [&](const auto& indices) {
        using Id = std::decay_t<decltype(indices.data()[0])>;
        const nb::gil_scoped_release release;
        const Reading below(changes.under.get());
        const std::unique_lock<std::shared_mutex> lock(changes.lock);
        Changes<Id>& layer = changes.of<Id>();
        auto csr = stored_csr_of(changes.stored, indices);
        csr.changes = &layer;
        csr.num_nodes = layer.num_nodes();
        csr.num_edges = layer.num_edges();
        std::vector<Edit<Id>> edits(count);
        for (size_t item = 0; item < count; ++item) {
          count_steps(1);
          check_edit(position.data()[item], weight.data()[item], layer.stored_edges());
          edits[item] = {csr.taken(receiver.data()[item], "receiver"), csr.taken(sender.data()[item], "sender"),
                         weight.data()[item], position.data()[item]};
        }
        guarded([&] { layer.apply(csr, edits); });
      },
      changes.stored.indices);
}

// A count of all layers together.
template <class Count>
int64_t counted(const GraphChanges& changes, Count&& count) {
  const nb::gil_scoped_release release;
  const Reading reading(&changes);
  return std::visit([&](const auto& layer) { return count(layer); }, changes.layer);
}

// The lists of nodes from first to stop: where each begins, and their entries, weights and positions.
nb::tuple lists_of(const GraphView& graph, int64_t first, int64_t stop) {
  return std::visit(
      [&](const auto& indices) {
        using Id = std::decay_t<decltype(indices.data()[0])>;
        std::vector<int64_t> begins{0}, positions;
        std::vector<Id> ids;
        std::vector<float> weights;
        {
          const nb::gil_scoped_release release;
          const Reading reading(graph.changes.get());
          const auto csr = changed_csr_of(graph, indices);
          if (first < 0 || stop < first || stop > csr.num_nodes) {
            throw std::invalid_argument("first and stop must be from 0 to " + std::to_string(csr.num_nodes) + ", got " +
                                        std::to_string(first) + " and " + std::to_string(stop));
          }
          guarded([&] {
            for (int64_t node = first; node < stop; ++node) {
              const Row<Id> row = csr.row(static_cast<Id>(node));
              const float* const weight = csr.weights_of(row);
              count_steps(1 + row.size());
              for (int64_t entry = 0; entry < row.size(); ++entry) {
                ids.push_back(csr.checked(row.begin[entry]));
                positions.push_back(row.position_of(entry));
                if (weight != nullptr) weights.push_back(csr.checked_weight(weight[entry], positions.back()));
              }
              begins.push_back(static_cast<int64_t>(ids.size()));
            }
          });
        }
        return nb::make_tuple(give(std::move(begins)), give(std::move(ids)), give(std::move(weights)),
                              give(std::move(positions)));
      },
      graph.indices);
}

}  // namespace

void bind_changes(nb::module_& m) {
  nb::class_<GraphChanges>(m, "Changes", "Lists that replace those of a graph's arrays.")
      .def_static("of", &changes_of, Guarded(), nb::arg("graph"))
      .def("above", &changes_above, Guarded())
      .def("view", &changed_view, Guarded())
      .def("add_nodes", &add_nodes, Guarded(), nb::arg("count"))
      .def("apply", &apply, Guarded(), nb::arg("receiver").noconvert(), nb::arg("sender").noconvert(),
           nb::arg("weight").noconvert(), nb::arg("position").noconvert())
      .def_prop_ro("num_nodes",
                   [](const GraphChanges& changes) {
                     return counted(changes, [](const auto& layer) { return layer.num_nodes(); });
                   })
      .def_prop_ro("num_edges",
                   [](const GraphChanges& changes) {
                     return counted(changes, [](const auto& layer) { return layer.num_edges(); });
                   })
      .def_prop_ro("num_rows", [](const GraphChanges& changes) {
        return counted(changes, [](const auto& layer) { return layer.num_rows(); });
      });
  m.def("lists_of", &lists_of, Guarded(), nb::arg("graph"), nb::arg("first"), nb::arg("stop"));
}

}  // namespace shadow
