// Bindings: GraphSAINT's subgraphs, and the edges among any nodes.
// Not for: scopes.
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "binding.h"
#include "saint.h"

namespace shadow {
namespace {

// A longer walk tells no more about its start.
constexpr int64_t kMostSteps = 1000;

SaintOptions saint_options(const std::string& kind, int64_t budget, int64_t walk_length, int64_t frontier) {
  SaintOptions options{SaintKind::kWalk, budget, walk_length, frontier};
  if (kind == "node") {
    options.kind = SaintKind::kNode;
  } else if (kind == "edge") {
    options.kind = SaintKind::kEdge;
  } else if (kind == "mrw") {
    options.kind = SaintKind::kFrontier;
  } else if (kind != "rw") {
    throw std::invalid_argument("kind must be node, edge, rw or mrw, got " + kind);
  }
  const auto fits = [](int64_t value, int64_t least) { return value >= least && value <= INT32_MAX; };
  if (!fits(budget, 1)) throw std::invalid_argument("budget must be from 1 to 2^31 - 1");
  if (walk_length < 0 || walk_length > kMostSteps) throw std::invalid_argument("walk_length must be from 0 to 1000");
  if (!fits(frontier, 1) || (options.kind == SaintKind::kFrontier && frontier > budget)) {
    throw std::invalid_argument("frontier must be from 1 to budget");
  }
  return options;
}

// Counted in one call.
constexpr int64_t kMostSubgraphs = 1 << 24;

using Counts = Array<int32_t, nb::ndim<1>>;

// Draws GraphSAINT's subgraphs of one graph, whose arrays it keeps alive.
class SaintSampler {
 public:
  SaintSampler(const GraphView& graph, const In1<int64_t>& targets, const std::string& kind, int64_t budget,
               int64_t walk_length, int64_t frontier)
      : graph_(graph) {
    const SaintOptions options = saint_options(kind, budget, walk_length, frontier);
    std::visit(
        [&](const auto& indices) {
          const auto csr = csr_of(graph_, indices);
          using Id = std::decay_t<decltype(*csr.indices)>;
          const nb::gil_scoped_release release;
          saint_ =
              std::make_unique<const Saint<Id>>(csr, targets.data(), static_cast<int64_t>(targets.shape(0)), options);
        },
        graph_.indices);
  }

  // The nodes of a subgraph, ascending.
  Out<int64_t> nodes(uint64_t seed, uint64_t number) const {
    std::vector<int64_t> nodes;
    with_saint([&](const auto& csr, const auto& saint) {
      auto desk = saint.desks().take(csr);
      guarded([&] { saint.draw(csr, seed, number, *desk); });
      desk->members.list(nodes);
      saint.desks().keep(std::move(desk));
    });
    return give(std::move(nodes));
  }

  // Its arrays in hop order, or None if there is no target in it.
  nb::object subgraph(uint64_t seed, uint64_t number) const {
    SaintSubgraph found;
    with_saint([&](const auto& csr, const auto& saint) {
      auto desk = saint.desks().take(csr);
      guarded([&] {
        saint.draw(csr, seed, number, *desk);
        if (saint.has_target(*desk)) desk->induce(csr);
      });
      if (saint.has_target(*desk)) found = in_hop_order(saint, desk->rows);
      saint.desks().keep(std::move(desk));
    });
    if (found.node_id.empty()) return nb::none();
    return nb::make_tuple(give(std::move(found.node_id)), give(std::move(found.hop)), give(std::move(found.hop_ptr)),
                          give(std::move(found.indptr)), give(std::move(found.indices)),
                          give(std::move(found.edge_pos)));
  }

  // Count nodes and edges of the subgraphs first, first + 1, ...; return the nodes and targets of each.
  nb::tuple count(uint64_t seed, uint64_t first, int64_t num_subgraphs, const Counts& node_count,
                  const Counts& edge_count, int num_threads) const {
    check_threads(num_threads);
    if (num_subgraphs < 0 || num_subgraphs > kMostSubgraphs) {
      throw std::invalid_argument("num_subgraphs must be in range, from 0 to 2^24");
    }
    const size_t num_edges = std::visit([](const auto& array) { return array.shape(0); }, graph_.indices);
    if (node_count.shape(0) + 1 != graph_.indptr.shape(0) || edge_count.shape(0) != num_edges) {
      throw std::invalid_argument("node_count and edge_count must have one number per node and per edge of the graph");
    }
    SaintCounts counts;
    with_saint([&](const auto& csr, const auto& saint) {
      SharedCounts shared(reinterpret_cast<uint32_t*>(node_count.data()),
                          reinterpret_cast<uint32_t*>(edge_count.data()), csr.num_nodes);
      counts = count_saint(csr, saint, seed, first, num_subgraphs, shared, num_threads);
    });
    return nb::make_tuple(give(std::move(counts.num_nodes)), give(std::move(counts.num_targets)));
  }

 private:
  // Call run(csr, saint) without the GIL.
  template <class Run>
  void with_saint(Run&& run) const {
    std::visit(
        [&](const auto& indices) {
          const auto csr = csr_of(graph_, indices);
          using Id = std::decay_t<decltype(*csr.indices)>;
          const auto& saint = *std::get<std::unique_ptr<const Saint<Id>>>(saint_);
          const nb::gil_scoped_release release;
          run(csr, saint);
        },
        graph_.indices);
  }

  GraphView graph_;
  std::variant<std::unique_ptr<const Saint<int32_t>>, std::unique_ptr<const Saint<int64_t>>> saint_;
};

// The distinct nodes of node_id, ascending, and the edges between them as positions among these.
nb::tuple induce_nodes(const GraphView& graph, const In1<int64_t>& node_id) {
  std::vector<int64_t> nodes, indptr, indices, edge_pos;
  std::visit(
      [&](const auto& array) {
        const auto csr = csr_of(graph, array);
        const nb::gil_scoped_release release;
        SaintDesk<std::decay_t<decltype(*csr.indices)>> desk(csr.num_nodes);
        for (size_t item = 0; item < node_id.shape(0); ++item) {
          count_steps(1);
          desk.members.add(csr.taken(node_id.data()[item], "node_id"));
        }
        guarded([&] { desk.induce(csr); });
        const auto& rows = desk.rows;
        nodes.assign(rows.nodes.begin(), rows.nodes.end());
        indptr = rows.indptr;
        indices.assign(rows.indices.begin(), rows.indices.begin() + rows.num_edges());
        edge_pos.assign(rows.edge_pos.begin(), rows.edge_pos.begin() + rows.num_edges());
      },
      graph.indices);
  return nb::make_tuple(give(std::move(nodes)), give(std::move(indptr)), give(std::move(indices)),
                        give(std::move(edge_pos)));
}

}  // namespace

void bind_saint(nb::module_& m) {
  nb::class_<SaintSampler>(m, "SaintSampler", "Draws GraphSAINT's subgraphs of a graph by (seed, number).")
      .def(nb::init<const GraphView&, const In1<int64_t>&, const std::string&, int64_t, int64_t, int64_t>(), Guarded(),
           nb::arg("graph"), nb::arg("targets").noconvert(), nb::kw_only(), nb::arg("kind"), nb::arg("budget"),
           nb::arg("walk_length"), nb::arg("frontier"))
      .def("nodes", &SaintSampler::nodes, Guarded(), nb::arg("seed"), nb::arg("number"))
      .def("subgraph", &SaintSampler::subgraph, Guarded(), nb::arg("seed"), nb::arg("number"))
      .def("count", &SaintSampler::count, Guarded(), nb::arg("seed"), nb::arg("first"), nb::arg("num_subgraphs"),
           nb::arg("node_count").noconvert(), nb::arg("edge_count").noconvert(), nb::arg("num_threads"));
  m.def("induce_nodes", &induce_nodes, Guarded(), nb::arg("graph"), nb::arg("node_id").noconvert());
}

}  // namespace shadow
