// Bindings: scopes of targets, by every extractor of the core.
// Not for: what is done with scopes afterwards (bind_batches.cpp).
#include <nanobind/stl/vector.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bind_changes.h"
#include "binding.h"
#include "combine.h"
#include "engine.h"
#include "radius.h"
#include "reverse.h"

namespace shadow {
namespace {

// Whether an extractor reads nothing but the lists of nodes that it meets, so that it can read changed ones. Katz needs
// a bound for the whole graph; walks, fires and similarity need arrays beside the lists.
bool reads_lists_alone(const ExtractOptions& options) {
  return std::holds_alternative<NodeOptions>(options) || std::holds_alternative<KhopOptions>(options) ||
         std::holds_alternative<PprOptions>(options) || std::holds_alternative<StochasticPprOptions>(options) ||
         std::holds_alternative<SharedPprOptions>(options) || std::holds_alternative<HeatOptions>(options) ||
         std::holds_alternative<GivenOptions>(options);
}

nb::tuple extract_scopes(const GraphView& graph, const In2<int64_t>& targets, const Request& request) {
  check_threads(request.num_threads);
  if (targets.shape(1) < 1) throw std::invalid_argument("targets must have at least one column");
  if (request.scope.max_nodes < 1) throw std::invalid_argument("max_nodes must be at least 1");
  if (graph.changes && !reads_lists_alone(request.extract)) {
    throw std::invalid_argument("graph must be one without changes for this extractor; compact it first");
  }
  Scopes scopes = std::visit(
      [&](const auto& indices) {
        const nb::gil_scoped_release release;
        const Reading reading(graph.changes.get());
        const auto csr = changed_csr_of(graph, indices);
        return extract(csr, targets.data(), static_cast<int64_t>(targets.shape(0)),
                       static_cast<int64_t>(targets.shape(1)), request);
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

// Walks that hardly ever restart, and mass that is followed down to the last bit of a number, have no end.
bool is_teleport(double teleport) { return teleport >= 1e-3 && teleport < 1; }
bool is_tolerance(double tolerance) { return tolerance == 0 || (tolerance >= 1e-15 && std::isfinite(tolerance)); }

nb::tuple extract_ppr(const GraphView& graph, const In2<int64_t>& targets, int64_t topk, double teleport,
                      double tolerance, double precision, double threshold, bool relative_threshold, bool stochastic,
                      int64_t max_nodes, bool positions, uint64_t seed, int num_threads, int hide, bool bare) {
  const bool valid = topk >= 1 && is_teleport(teleport) && is_tolerance(tolerance) && precision > 0 && threshold >= 0;
  if (!valid) throw std::invalid_argument("options of a PPR extraction are out of range");
  const PprOptions ppr{teleport, topk, tolerance, precision, threshold, relative_threshold};
  const ExtractOptions options = stochastic ? ExtractOptions(StochasticPprOptions{ppr}) : ExtractOptions(ppr);
  Request request = request_of(options, max_nodes, positions, seed, num_threads, hide);
  request.bare = bare;
  return extract_scopes(graph, targets, request);
}

nb::tuple extract_shared_ppr(const GraphView& graph, const In2<int64_t>& targets, const In1<double>& shares,
                             int64_t topk, double teleport, double tolerance, double precision, double threshold,
                             bool relative_threshold, int64_t max_nodes, bool positions, uint64_t seed, int num_threads,
                             int hide) {
  const bool valid = topk >= 1 && is_teleport(teleport) && is_tolerance(tolerance) && precision > 0 && threshold >= 0;
  if (!valid) throw std::invalid_argument("options of a PPR extraction are out of range");
  if (targets.shape(0) != 1 || shares.shape(0) != targets.shape(1)) {
    throw std::invalid_argument("targets must be one row, with a share for each");
  }
  double total = 0;
  for (size_t at = 0; at < shares.shape(0); ++at) {
    count_steps(1);
    const double share = shares.data()[at];
    if (!(share > 0)) throw std::invalid_argument("shares must be positive");
    if (at > 0 && targets.data()[at] <= targets.data()[at - 1]) {
      throw std::invalid_argument("targets must ascend without duplicates");
    }
    total += share;
  }
  if (!(std::abs(total - 1) < 1e-6)) throw std::invalid_argument("shares must be 1 in all");
  const SharedPprOptions options{{teleport, topk, tolerance, precision, threshold, relative_threshold}, shares.data()};
  return extract_scopes(graph, targets, request_of(options, max_nodes, positions, seed, num_threads, hide));
}

using Matrix = Array<nb::ro, nb::ndim<2>>;

// Borrowed features of all nodes; the object keeps them alive.
struct FeatureArrays {
  std::optional<Matrix> matrix;
  std::optional<In1<float>> scale, data;
  std::optional<In1<int64_t>> indptr;
  std::optional<In1<int32_t>> indices;
  FeatureView view;

  static FeatureArrays dense(const Matrix& matrix_in, const std::optional<In1<float>>& scale_in) {
    const auto dtype = matrix_in.dtype();
    const auto is = [&](nb::dlpack::dtype_code code, uint8_t bits) {
      return dtype.code == static_cast<uint8_t>(code) && dtype.bits == bits && dtype.lanes == 1;
    };
    FeatureArrays made;
    made.matrix = matrix_in;
    made.scale = scale_in;
    FeatureView& view = made.view;
    view.num_rows = static_cast<int64_t>(matrix_in.shape(0));
    view.width = static_cast<int64_t>(matrix_in.shape(1));
    view.matrix = matrix_in.data();
    if (is(nb::dlpack::dtype_code::Float, 32)) {
      view.kind = FeatureKind::kFloat;
    } else if (is(nb::dlpack::dtype_code::Float, 16)) {
      view.kind = FeatureKind::kHalf;
    } else if (is(nb::dlpack::dtype_code::Int, 8) && scale_in) {
      view.kind = FeatureKind::kByte;
      if (scale_in->shape(0) != matrix_in.shape(1)) {
        throw std::invalid_argument("scale must have one value per column");
      }
      view.scale = scale_in->data();
    } else {
      throw std::invalid_argument("matrix must be float32, float16, or int8 with a scale");
    }
    return made;
  }

  static FeatureArrays sparse(const In1<int64_t>& indptr_in, const In1<int32_t>& indices_in, const In1<float>& data_in,
                              int64_t width) {
    if (indptr_in.shape(0) == 0) throw std::invalid_argument("indptr must have length N + 1, got 0");
    if (indices_in.shape(0) != data_in.shape(0)) throw std::invalid_argument("indices must be as long as data");
    check_columns(width);
    FeatureArrays made;
    made.indptr = indptr_in;
    made.indices = indices_in;
    made.data = data_in;
    FeatureView& view = made.view;
    view.kind = FeatureKind::kSparse;
    view.num_rows = static_cast<int64_t>(indptr_in.shape(0)) - 1;
    view.width = width;
    view.indptr = indptr_in.data();
    view.indices = indices_in.data();
    view.data = data_in.data();
    view.num_values = static_cast<int64_t>(data_in.shape(0));
    return made;
  }
};

// Whether ptr cuts `length` entries into `count` lists.
bool is_ptr(const In1<int64_t>& ptr, size_t count, size_t length) {
  if (ptr.shape(0) != count + 1) return false;
  const int64_t* const at = ptr.data();
  if (at[0] != 0 || at[count] != static_cast<int64_t>(length)) return false;
  for (size_t item = 0; item < count; ++item) {
    count_steps(1);
    if (at[item] > at[item + 1]) return false;
  }
  return true;
}

nb::tuple extract_similar(const GraphView& graph, const In2<int64_t>& targets, const FeatureArrays& features,
                          int64_t topk, int64_t candidates, double teleport, double precision,
                          const std::optional<In1<int64_t>>& more_ptr, const std::optional<In1<int64_t>>& more_id,
                          int64_t max_nodes, bool positions, uint64_t seed, int num_threads, int hide) {
  const bool valid = topk >= 1 && candidates >= 1 && is_teleport(teleport) && precision > 0;
  if (!valid) throw std::invalid_argument("options of an extraction by similarity are out of range");
  const auto num_nodes = static_cast<int64_t>(graph.indptr.shape(0)) - 1;
  if (features.view.num_rows != num_nodes) {
    throw std::invalid_argument("features must have " + std::to_string(num_nodes) + " rows, one for each node, got " +
                                std::to_string(features.view.num_rows));
  }
  SimilarOptions options;
  options.ppr.teleport = teleport;
  options.ppr.topk = candidates;
  options.ppr.precision = precision;
  options.topk = topk;
  options.features = features.view;
  if (more_ptr) {
    if (!more_id || !is_ptr(*more_ptr, targets.shape(0), more_id->shape(0))) {
      throw std::invalid_argument("more_ptr must ascend from 0 to the length of more_id");
    }
    options.more_ptr = more_ptr->data();
    options.more_id = more_id->data();
  }
  return extract_scopes(graph, targets, request_of(options, max_nodes, positions, seed, num_threads, hide));
}

nb::tuple extract_katz(const GraphView& graph, const In2<int64_t>& targets, int64_t topk, double attenuation,
                       double max_weight, double tolerance, double precision, bool positions, uint64_t seed,
                       int num_threads, int hide) {
  const bool valid = topk >= 1 && attenuation > 0 && std::isfinite(attenuation) && max_weight >= 0 &&
                     is_tolerance(tolerance) && precision > 0;
  if (!valid) throw std::invalid_argument("options of a Katz extraction are out of range");
  const KatzOptions options{attenuation, max_weight, topk, tolerance, precision};
  return extract_scopes(graph, targets, request_of(options, INT32_MAX, positions, seed, num_threads, hide));
}

nb::tuple extract_heat(const GraphView& graph, const In2<int64_t>& targets, int64_t topk, double time, double tolerance,
                       double precision, bool positions, uint64_t seed, int num_threads, int hide) {
  const bool valid = topk >= 1 && time > 0 && time <= 100 && is_tolerance(tolerance) && precision > 0;
  if (!valid) throw std::invalid_argument("options of a heat-kernel extraction are out of range");
  const HeatOptions options{time, topk, tolerance, precision};
  return extract_scopes(graph, targets, request_of(options, INT32_MAX, positions, seed, num_threads, hide));
}

// A bound on the spectral radius of the weighted adjacency, and the largest weight.
nb::tuple spectral_bound(const GraphView& graph, int num_steps, int num_threads) {
  check_threads(num_threads);
  if (num_steps < 1) throw std::invalid_argument("num_steps must be at least 1");
  const Radius radius = std::visit(
      [&](const auto& indices) {
        const auto csr = csr_of(graph, indices);
        const nb::gil_scoped_release release;
        RadiusSearch<std::decay_t<decltype(*csr.indices)>> search(csr);
        return search.run(num_steps, num_threads);
      },
      graph.indices);
  return nb::make_tuple(radius.bound, radius.max_weight);
}

nb::tuple induce(const GraphView& graph, const In2<int64_t>& targets, const In1<int64_t>& ptr,
                 const In1<int64_t>& node_id, const In1<float>& score, int64_t max_nodes, bool positions, uint64_t seed,
                 int num_threads, int64_t topk, int hide) {
  const bool valid = score.shape(0) == node_id.shape(0) && is_ptr(ptr, targets.shape(0), node_id.shape(0));
  if (!valid) throw std::invalid_argument("ptr must ascend from 0 to the length of node_id and score");
  if (topk < 1) throw std::invalid_argument("topk must be at least 1");
  const GivenOptions options{ptr.data(), node_id.data(), score.data(), topk};
  return extract_scopes(graph, targets, request_of(options, max_nodes, positions, seed, num_threads, hide));
}

// Sums of the graph's weights, checked to be there if the graph is weighted.
const double* sums_of(const GraphView& graph, const std::optional<In1<double>>& sums) {
  if (!graph.weight) return nullptr;
  const auto num_edges = static_cast<int64_t>(graph.weight->shape(0));
  if (!sums || static_cast<int64_t>(sums->shape(0)) != num_weight_sums(num_edges)) {
    throw std::invalid_argument("sums must be those of the graph's weights");
  }
  return sums->data();
}

// Reversed lists, checked to be there and of the graph's size unless it is symmetric.
ReverseLists reverse_of(const GraphView& graph, const GraphView* reverse) {
  if (graph.symmetric) return {};
  if (reverse == nullptr) throw std::invalid_argument("reverse must be given for a directed graph");
  const auto size = [](const auto& array) { return array.shape(0); };
  if (graph.indices.index() != reverse->indices.index() || graph.indptr.shape(0) != reverse->indptr.shape(0) ||
      std::visit(size, graph.indices) != std::visit(size, reverse->indices)) {
    throw std::invalid_argument("reverse must have as many nodes and edges as the graph, and ids as wide");
  }
  const auto data = [](const auto& array) { return static_cast<const void*>(array.data()); };
  return {reverse->indptr.data(), std::visit(data, reverse->indices)};
}

nb::tuple extract_rwr(const GraphView& graph, const In2<int64_t>& targets, int64_t topk, double teleport,
                      int64_t num_walks, const std::optional<In1<double>>& sums, bool positions, uint64_t seed,
                      int num_threads, int hide) {
  const bool valid = topk >= 1 && is_teleport(teleport) && num_walks >= 1 && num_walks <= 10'000'000;
  if (!valid) throw std::invalid_argument("options of an extraction by walks are out of range");
  const RwrOptions options{teleport, topk, num_walks, sums_of(graph, sums)};
  return extract_scopes(graph, targets, request_of(options, INT32_MAX, positions, seed, num_threads, hide));
}

nb::tuple extract_simrank(const GraphView& graph, const In2<int64_t>& targets, int64_t topk, double decay,
                          int64_t num_walks, int64_t walk_length, int64_t num_candidates,
                          const std::optional<In1<double>>& sums, const GraphView* reverse, bool positions,
                          uint64_t seed, int num_threads, int hide) {
  const bool valid = topk >= 1 && decay > 0 && decay < 1 && num_walks >= 1 && num_walks <= 10'000 && walk_length >= 1 &&
                     walk_length <= 32 && num_candidates >= 1 && num_candidates <= 2'000'000;
  if (!valid) throw std::invalid_argument("options of an extraction by SimRank are out of range");
  const SimrankOptions options{
      decay, topk, num_walks, walk_length, num_candidates, sums_of(graph, sums), reverse_of(graph, reverse)};
  return extract_scopes(graph, targets, request_of(options, INT32_MAX, positions, seed, num_threads, hide));
}

nb::tuple extract_fire(const GraphView& graph, const In2<int64_t>& targets, double forward, double backward,
                       int64_t max_nodes, const GraphView* reverse, bool positions, uint64_t seed, int num_threads,
                       int hide) {
  const bool valid = forward >= 0 && forward < 1 && backward >= 0 && backward < 1;
  if (!valid) throw std::invalid_argument("options of a fire are out of range");
  const FireOptions options{forward, backward, backward > 0 ? reverse_of(graph, reverse) : ReverseLists{}};
  return extract_scopes(graph, targets, request_of(options, max_nodes, positions, seed, num_threads, hide));
}

// The lists in the other direction: indptr and indices.
nb::tuple reverse_lists(const GraphView& graph) {
  return std::visit(
      [&](const auto& array) {
        const auto csr = csr_of(graph, array);
        Reversed<std::decay_t<decltype(*csr.indices)>> reversed(csr);
        {
          const nb::gil_scoped_release release;
          guarded([&] { reversed.fill(csr); });
        }
        return nb::make_tuple(give(std::move(reversed.indptr)), give(std::move(reversed.indices)));
      },
      graph.indices);
}

Out<double> weight_sums(const GraphView& graph) {
  if (!graph.weight) throw std::invalid_argument("graph must have weights");
  const auto num_edges = static_cast<int64_t>(graph.weight->shape(0));
  std::vector<double> sums(static_cast<size_t>(num_weight_sums(num_edges)));
  std::visit(
      [&](const auto& array) {
        const auto csr = csr_of(graph, array);
        const nb::gil_scoped_release release;
        guarded([&] { sum_weights(csr, sums.data()); });
      },
      graph.indices);
  return give(std::move(sums));
}

// What several extractors say of the same targets, added up; lists of arrays, one of each for each extractor.
nb::tuple combine_lists(const std::vector<In1<int64_t>>& ptr, const std::vector<In1<int64_t>>& node_id,
                        const std::vector<In1<double>>& score, int num_threads) {
  check_threads(num_threads);
  if (ptr.empty() || node_id.size() != ptr.size() || score.size() != ptr.size()) {
    throw std::invalid_argument("ptr, node_id and score must be as many, and at least one");
  }
  std::vector<ScoredLists> parts;
  for (size_t part = 0; part < ptr.size(); ++part) {
    const bool alike = ptr[part].shape(0) == ptr[0].shape(0) && node_id[part].shape(0) == score[part].shape(0);
    if (!alike || ptr[part].shape(0) < 1) throw std::invalid_argument("lists must be of the same targets");
    parts.push_back(
        {ptr[part].data(), node_id[part].data(), score[part].data(), static_cast<int64_t>(node_id[part].shape(0))});
  }
  CombinedLists lists;
  {
    const nb::gil_scoped_release release;
    lists = add_up(parts, static_cast<int64_t>(ptr[0].shape(0)) - 1, num_threads);
  }
  return nb::make_tuple(give(std::move(lists.ptr)), give(std::move(lists.node_id)), give(std::move(lists.score)));
}

}  // namespace

void bind_scopes(nb::module_& m) {
  m.def("extract_node", &extract_node, Guarded(), nb::arg("graph"), nb::arg("targets").noconvert(), nb::kw_only(),
        nb::arg("positions"), nb::arg("seed"), nb::arg("num_threads"), nb::arg("hide") = 0);
  m.def("extract_khop", &extract_khop, Guarded(), nb::arg("graph"), nb::arg("targets").noconvert(), nb::kw_only(),
        nb::arg("num_hops"), nb::arg("fanout"), nb::arg("replace"), nb::arg("max_nodes"), nb::arg("positions"),
        nb::arg("seed"), nb::arg("num_threads"), nb::arg("hide") = 0);
  m.def("extract_ppr", &extract_ppr, Guarded(), nb::arg("graph"), nb::arg("targets").noconvert(), nb::kw_only(),
        nb::arg("topk"), nb::arg("teleport"), nb::arg("tolerance"), nb::arg("precision"), nb::arg("threshold"),
        nb::arg("relative_threshold"), nb::arg("stochastic"), nb::arg("max_nodes"), nb::arg("positions"),
        nb::arg("seed"), nb::arg("num_threads"), nb::arg("hide") = 0, nb::arg("bare") = false);
  m.def("extract_shared_ppr", &extract_shared_ppr, Guarded(), nb::arg("graph"), nb::arg("targets").noconvert(),
        nb::arg("shares").noconvert(), nb::kw_only(), nb::arg("topk"), nb::arg("teleport"), nb::arg("tolerance"),
        nb::arg("precision"), nb::arg("threshold"), nb::arg("relative_threshold"), nb::arg("max_nodes"),
        nb::arg("positions"), nb::arg("seed"), nb::arg("num_threads"), nb::arg("hide") = 0);
  nb::class_<FeatureArrays>(m, "Features")
      .def_static("dense", &FeatureArrays::dense, Guarded(), nb::arg("matrix").noconvert(),
                  nb::arg("scale").noconvert() = nb::none())
      .def_static("sparse", &FeatureArrays::sparse, Guarded(), nb::arg("indptr").noconvert(),
                  nb::arg("indices").noconvert(), nb::arg("data").noconvert(), nb::arg("width"));
  m.def("extract_similar", &extract_similar, Guarded(), nb::arg("graph"), nb::arg("targets").noconvert(), nb::kw_only(),
        nb::arg("features"), nb::arg("topk"), nb::arg("candidates"), nb::arg("teleport"), nb::arg("precision"),
        nb::arg("more_ptr").noconvert().none(), nb::arg("more_id").noconvert().none(), nb::arg("max_nodes"),
        nb::arg("positions"), nb::arg("seed"), nb::arg("num_threads"), nb::arg("hide") = 0);
  m.def("extract_katz", &extract_katz, Guarded(), nb::arg("graph"), nb::arg("targets").noconvert(), nb::kw_only(),
        nb::arg("topk"), nb::arg("attenuation"), nb::arg("max_weight"), nb::arg("tolerance"), nb::arg("precision"),
        nb::arg("positions"), nb::arg("seed"), nb::arg("num_threads"), nb::arg("hide") = 0);
  m.def("extract_heat", &extract_heat, Guarded(), nb::arg("graph"), nb::arg("targets").noconvert(), nb::kw_only(),
        nb::arg("topk"), nb::arg("time"), nb::arg("tolerance"), nb::arg("precision"), nb::arg("positions"),
        nb::arg("seed"), nb::arg("num_threads"), nb::arg("hide") = 0);
  m.def("spectral_bound", &spectral_bound, Guarded(), nb::arg("graph"), nb::kw_only(), nb::arg("num_steps"),
        nb::arg("num_threads"));
  m.def("extract_rwr", &extract_rwr, Guarded(), nb::arg("graph"), nb::arg("targets").noconvert(), nb::kw_only(),
        nb::arg("topk"), nb::arg("teleport"), nb::arg("num_walks"), nb::arg("sums").noconvert().none(),
        nb::arg("positions"), nb::arg("seed"), nb::arg("num_threads"), nb::arg("hide") = 0);
  m.def("extract_simrank", &extract_simrank, Guarded(), nb::arg("graph"), nb::arg("targets").noconvert(), nb::kw_only(),
        nb::arg("topk"), nb::arg("decay"), nb::arg("num_walks"), nb::arg("walk_length"), nb::arg("num_candidates"),
        nb::arg("sums").noconvert().none(), nb::arg("reverse").none(), nb::arg("positions"), nb::arg("seed"),
        nb::arg("num_threads"), nb::arg("hide") = 0);
  m.def("extract_fire", &extract_fire, Guarded(), nb::arg("graph"), nb::arg("targets").noconvert(), nb::kw_only(),
        nb::arg("forward"), nb::arg("backward"), nb::arg("max_nodes"), nb::arg("reverse").none(), nb::arg("positions"),
        nb::arg("seed"), nb::arg("num_threads"), nb::arg("hide") = 0);
  m.def("reverse_lists", &reverse_lists, Guarded(), nb::arg("graph"));
  m.def("weight_sums", &weight_sums, Guarded(), nb::arg("graph"));
  m.def("combine_lists", &combine_lists, Guarded(), nb::arg("ptr").noconvert(), nb::arg("node_id").noconvert(),
        nb::arg("score").noconvert(), nb::kw_only(), nb::arg("num_threads"));
  m.def("induce", &induce, Guarded(), nb::arg("graph"), nb::arg("targets").noconvert(), nb::kw_only(),
        nb::arg("ptr").noconvert(), nb::arg("node_id").noconvert(), nb::arg("score").noconvert(), nb::arg("max_nodes"),
        nb::arg("positions"), nb::arg("seed"), nb::arg("num_threads"), nb::arg("topk") = INT32_MAX,
        nb::arg("hide") = 0);
}

}  // namespace shadow
