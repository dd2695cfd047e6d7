// Bindings: scopes joined to batches, labels of pairs, neighbourhoods of whole batches and counts of them.
// Not for: choosing scopes (bind_scopes.cpp).
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "binding.h"
#include "closure.h"
#include "collate.h"
#include "drnl.h"
#include "hops.h"

namespace shadow {
namespace {

Out<int64_t> drnl_of(const In1<int64_t>& indptr, const In1<int64_t>& indices, const In2<int64_t>& ends, int max_label,
                     int max_distance) {
  if (indptr.shape(0) == 0) throw std::invalid_argument("indptr must have length N + 1, got 0");
  if (ends.shape(1) != 2) throw std::invalid_argument("ends must have two columns");
  const size_t num_nodes = indptr.shape(0) - 1;
  const PairScopes scopes{indptr.data(),
                          indices.data(),
                          ends.data(),
                          static_cast<int64_t>(num_nodes),
                          static_cast<int64_t>(indices.shape(0)),
                          static_cast<int64_t>(ends.shape(0))};
  Block<int64_t> labels(num_nodes);
  {
    const nb::gil_scoped_release release;
    DrnlLabeller(scopes).label(max_label, max_distance, labels.data());
  }
  return labels.give({num_nodes});
}

nb::tuple collate_scopes(const In1<int64_t>& ptr, const In1<int32_t>& hop, const In1<int64_t>& indptr,
                         const In1<int32_t>& indices, bool by_hop) {
  const auto num_nodes = static_cast<int64_t>(hop.shape(0));
  if (ptr.shape(0) < 1 || ptr.data()[0] != 0 || ptr.data()[ptr.shape(0) - 1] != num_nodes) {
    throw std::invalid_argument("ptr must run from 0 to the number of nodes");
  }
  if (indptr.shape(0) != hop.shape(0) + 1) throw std::invalid_argument("indptr must have one more entry than hop");
  const ScopesView view{ptr.data(),
                        hop.data(),
                        indptr.data(),
                        indices.data(),
                        static_cast<int64_t>(ptr.shape(0)) - 1,
                        num_nodes,
                        static_cast<int64_t>(indices.shape(0))};
  Joined joined;
  {
    const nb::gil_scoped_release release;
    joined = collate(view, by_hop);
  }
  return nb::make_tuple(give(std::move(joined.source)), give(std::move(joined.place)), give(std::move(joined.subgraph)),
                        give(std::move(joined.indptr)), give(std::move(joined.indices)),
                        give(std::move(joined.edge_source)), give(std::move(joined.hop_ptr)));
}

nb::tuple closure_of(const GraphView& graph, const In1<int64_t>& targets, int64_t num_hops,
                     const std::optional<In1<int64_t>>& fanouts, bool positions, uint64_t seed) {
  if (num_hops < 0) throw std::invalid_argument("num_hops must not be negative");
  if (fanouts && static_cast<int64_t>(fanouts->shape(0)) != num_hops) {
    throw std::invalid_argument("fanouts must be " + std::to_string(num_hops) + ", one for each hop");
  }
  const ClosureOptions options{num_hops, fanouts ? fanouts->data() : nullptr, positions, seed};
  Closure closure = std::visit(
      [&](const auto& indices) {
        const auto csr = csr_of(graph, indices);
        const nb::gil_scoped_release release;
        ClosureBuilder<std::decay_t<decltype(*csr.indices)>> builder(csr, options);
        return builder.build(targets.data(), static_cast<int64_t>(targets.shape(0)));
      },
      graph.indices);
  return nb::make_tuple(give(std::move(closure.node_id)), give(std::move(closure.hop_ptr)),
                        give(std::move(closure.indptr)), give(std::move(closure.indices)),
                        give(std::move(closure.edge_pos)), give(std::move(closure.degree)),
                        give(std::move(closure.edge_scale)));
}

// The result has a column for each hop.
constexpr int64_t kMostHops = 1'000'000;

// For each target, nodes within 0 to num_hops hops and the edges that lead to these: two arrays [B, num_hops + 1].
nb::tuple hop_counts(const GraphView& graph, const In1<int64_t>& targets, int64_t num_hops, int num_threads) {
  if (num_hops < 0 || num_hops > kMostHops) throw std::invalid_argument("num_hops must be from 0 to 1,000,000");
  check_threads(num_threads);
  const size_t num_targets = targets.shape(0), width = static_cast<size_t>(num_hops) + 1;
  Block<int64_t> nodes(times(num_targets, width)), edges(times(num_targets, width));
  std::visit(
      [&](const auto& array) {
        const auto csr = csr_of(graph, array);
        const HopCounts out{num_hops, nodes.data(), edges.data()};
        const nb::gil_scoped_release release;
        count_hops(csr, targets.data(), static_cast<int64_t>(num_targets), out, num_threads);
      },
      graph.indices);
  return nb::make_tuple(nodes.give({num_targets, width}), edges.give({num_targets, width}));
}

}  // namespace

void bind_batches(nb::module_& m) {
  m.def("drnl", &drnl_of, Guarded(), nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(),
        nb::arg("ends").noconvert(), nb::arg("max_label"), nb::arg("max_distance"));
  m.def("collate", &collate_scopes, Guarded(), nb::arg("ptr").noconvert(), nb::arg("hop").noconvert(),
        nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("by_hop"));
  m.def("closure", &closure_of, Guarded(), nb::arg("graph"), nb::arg("targets").noconvert(), nb::kw_only(),
        nb::arg("num_hops"), nb::arg("fanouts").noconvert().none(), nb::arg("positions"), nb::arg("seed"));
  m.def("hop_counts", &hop_counts, Guarded(), nb::arg("graph"), nb::arg("targets").noconvert(), nb::kw_only(),
        nb::arg("num_hops"), nb::arg("num_threads"));
}

}  // namespace shadow
