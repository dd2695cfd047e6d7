// Bindings: scopes of targets, by every extractor of the core.
// Not for: what is done with scopes afterwards (bind_batches.cpp).
#include <cstdint>
#include <stdexcept>
#include <utility>

#include "binding.h"
#include "engine.h"

namespace shadow {
namespace {

nb::tuple extract_scopes(const GraphView& graph, const In2<int64_t>& targets, const Request& request) {
  check_threads(request.num_threads);
  if (targets.shape(1) < 1) throw std::invalid_argument("targets must have at least one column");
  if (request.scope.max_nodes < 1) throw std::invalid_argument("max_nodes must be at least 1");
  SignalPoll poll;
  Scopes scopes = std::visit(
      [&](const auto& indices) {
        const auto csr = csr_of(graph, indices);
        const nb::gil_scoped_release release;
        return extract(csr, targets.data(), static_cast<int64_t>(targets.shape(0)),
                       static_cast<int64_t>(targets.shape(1)), request, [&poll] { poll(); });
      },
      graph.indices);
  return nb::make_tuple(give(std::move(scopes.ptr)), give(std::move(scopes.node_id)), give(std::move(scopes.hop)),
                        give(std::move(scopes.score)), give(std::move(scopes.indptr)), give(std::move(scopes.indices)),
                        give(std::move(scopes.edge_pos)), give(std::move(scopes.nodes_touched)),
                        give(std::move(scopes.edges_touched)));
}

Request request_of(ExtractOptions options, int64_t max_nodes, bool positions, uint64_t seed, int num_threads,
                   int hide = 0) {
  if (hide < 0 || hide > 2) throw std::invalid_argument("hide must be from 0 to 2");
  Request request;
  request.hide = static_cast<Hide>(hide);
  request.extract = std::move(options);
  request.scope = {max_nodes, positions};
  request.seed = seed;
  request.num_threads = num_threads;
  return request;
}

nb::tuple extract_node(const GraphView& graph, const In2<int64_t>& targets, bool positions, uint64_t seed,
                       int num_threads, int hide) {
  return extract_scopes(graph, targets, request_of(NodeOptions{}, INT32_MAX, positions, seed, num_threads, hide));
}

nb::tuple extract_khop(const GraphView& graph, const In2<int64_t>& targets, int64_t num_hops, int64_t fanout,
                       bool replace, int64_t max_nodes, bool positions, uint64_t seed, int num_threads, int hide) {
  if (num_hops < 0) throw std::invalid_argument("num_hops must not be negative");
  const KhopOptions options{num_hops, fanout, replace};
  return extract_scopes(graph, targets, request_of(options, max_nodes, positions, seed, num_threads, hide));
}

nb::tuple extract_ppr(const GraphView& graph, const In2<int64_t>& targets, int64_t topk, double teleport,
                      double tolerance, double precision, double threshold, bool relative_threshold, bool stochastic,
                      int64_t max_nodes, bool positions, uint64_t seed, int num_threads, int hide) {
  const bool valid = topk >= 1 && teleport > 0 && teleport < 1 && tolerance >= 0 && precision > 0 && threshold >= 0;
  if (!valid) throw std::invalid_argument("options of a PPR extraction are out of range");
  const PprOptions ppr{teleport, topk, tolerance, precision, threshold, relative_threshold};
  const ExtractOptions options = stochastic ? ExtractOptions(StochasticPprOptions{ppr}) : ExtractOptions(ppr);
  return extract_scopes(graph, targets, request_of(options, max_nodes, positions, seed, num_threads, hide));
}

nb::tuple induce(const GraphView& graph, const In2<int64_t>& targets, const In1<int64_t>& ptr,
                 const In1<int64_t>& node_id, const In1<float>& score, int64_t max_nodes, bool positions, uint64_t seed,
                 int num_threads) {
  const size_t count = targets.shape(0);
  bool valid = ptr.shape(0) == count + 1 && score.shape(0) == node_id.shape(0) && ptr.data()[0] == 0 &&
               ptr.data()[count] == static_cast<int64_t>(node_id.shape(0));
  for (size_t item = 0; valid && item < count; ++item) valid = ptr.data()[item] <= ptr.data()[item + 1];
  if (!valid) throw std::invalid_argument("ptr must ascend from 0 to the length of node_id and score");
  const GivenOptions options{ptr.data(), node_id.data(), score.data()};
  return extract_scopes(graph, targets, request_of(options, max_nodes, positions, seed, num_threads));
}

}  // namespace

void bind_scopes(nb::module_& m) {
  m.def("extract_node", &extract_node, nb::arg("graph"), nb::arg("targets").noconvert(), nb::kw_only(),
        nb::arg("positions"), nb::arg("seed"), nb::arg("num_threads"), nb::arg("hide") = 0);
  m.def("extract_khop", &extract_khop, nb::arg("graph"), nb::arg("targets").noconvert(), nb::kw_only(),
        nb::arg("num_hops"), nb::arg("fanout"), nb::arg("replace"), nb::arg("max_nodes"), nb::arg("positions"),
        nb::arg("seed"), nb::arg("num_threads"), nb::arg("hide") = 0);
  m.def("extract_ppr", &extract_ppr, nb::arg("graph"), nb::arg("targets").noconvert(), nb::kw_only(), nb::arg("topk"),
        nb::arg("teleport"), nb::arg("tolerance"), nb::arg("precision"), nb::arg("threshold"),
        nb::arg("relative_threshold"), nb::arg("stochastic"), nb::arg("max_nodes"), nb::arg("positions"),
        nb::arg("seed"), nb::arg("num_threads"), nb::arg("hide") = 0);
  m.def("induce", &induce, nb::arg("graph"), nb::arg("targets").noconvert(), nb::kw_only(), nb::arg("ptr").noconvert(),
        nb::arg("node_id").noconvert(), nb::arg("score").noconvert(), nb::arg("max_nodes"), nb::arg("positions"),
        nb::arg("seed"), nb::arg("num_threads"));
}

}  // namespace shadow
