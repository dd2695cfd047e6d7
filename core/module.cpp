// The one file that knows Python: checks what it is handed, releases the GIL, gives arrays back without a copy.
// Not for: algorithms.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/variant.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include "collate.h"
#include "engine.h"
#include "gather.h"

namespace nb = nanobind;
using namespace shadow;

namespace {

template <class T>
using In1 = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using In2 = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<nb::numpy, T>;

// Hand a vector's memory to NumPy.
template <class T, class Allocator>
Out<T> give(std::vector<T, Allocator>&& values, std::vector<size_t> shape = {}) {
  using Vector = std::vector<T, Allocator>;
  auto* owned = new Vector(std::move(values));
  nb::capsule owner(owned, [](void* pointer) noexcept { delete static_cast<Vector*>(pointer); });
  if (shape.empty()) shape.push_back(owned->size());
  return Out<T>(owned->data(), shape.size(), shape.data(), owner);
}

// Memory for a result that is written whole, so it need not be zeroed first.
template <class T>
class Block {
 public:
  explicit Block(size_t count) : data_(static_cast<T*>(std::malloc(std::max<size_t>(count, 1) * sizeof(T)))) {
    if (data_ == nullptr) throw std::bad_alloc();
  }
  ~Block() { std::free(data_); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  T* data() { return data_; }

  // Hand the memory to NumPy.
  Out<T> give(std::vector<size_t> shape) {
    const nb::capsule owner(data_, [](void* pointer) noexcept { std::free(pointer); });
    T* data = std::exchange(data_, nullptr);
    return Out<T>(data, shape.size(), shape.data(), owner);
  }

 private:
  T* data_;
};

// Borrowed arrays of a graph; the object keeps them alive.
struct GraphView {
  In1<int64_t> indptr;
  std::variant<In1<int32_t>, In1<int64_t>> indices;
  std::optional<In1<float>> weight;
  bool symmetric;

  GraphView(In1<int64_t> indptr_in, std::variant<In1<int32_t>, In1<int64_t>> indices_in,
            std::optional<In1<float>> weight_in, bool symmetric_in)
      : indptr(std::move(indptr_in)),
        indices(std::move(indices_in)),
        weight(std::move(weight_in)),
        symmetric(symmetric_in) {
    const size_t num_edges = std::visit([](const auto& array) { return array.shape(0); }, indices);
    if (indptr.shape(0) == 0) throw std::invalid_argument("indptr must have length N + 1, got 0");
    if (weight && weight->shape(0) != num_edges) throw std::invalid_argument("weight must be as long as indices");
    const bool narrow = std::holds_alternative<In1<int32_t>>(indices);
    if (narrow && indptr.shape(0) - 1 > static_cast<size_t>(INT32_MAX)) {
      throw std::invalid_argument("indices must be int64 for a graph of more than 2^31 nodes");
    }
  }
};

// Let Ctrl-C through while the GIL is released: asked a few times a second by the calling thread.
class SignalPoll {
 public:
  void operator()() {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(100)) return;
    last_ = now;
    const nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

nb::tuple extract_scopes(const GraphView& graph, const In2<int64_t>& targets, const Request& request) {
  if (request.num_threads < 1 || request.num_threads > 1024) {
    throw std::invalid_argument("num_threads must be from 1 to 1024");
  }
  if (targets.shape(1) < 1) throw std::invalid_argument("targets must have at least one column");
  if (request.scope.max_nodes < 1) throw std::invalid_argument("max_nodes must be at least 1");
  SignalPoll poll;
  Scopes scopes = std::visit(
      [&](const auto& indices) {
        using Id = std::decay_t<decltype(indices.data()[0])>;
        const Csr<Id> csr{graph.indptr.data(),
                          indices.data(),
                          graph.weight ? graph.weight->data() : nullptr,
                          static_cast<int64_t>(graph.indptr.shape(0)) - 1,
                          static_cast<int64_t>(indices.shape(0)),
                          graph.symmetric};
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

Request request_of(ExtractOptions options, int64_t max_nodes, bool positions, uint64_t seed, int num_threads) {
  Request request;
  request.extract = std::move(options);
  request.scope = {max_nodes, positions};
  request.seed = seed;
  request.num_threads = num_threads;
  return request;
}

nb::tuple extract_node(const GraphView& graph, const In2<int64_t>& targets, bool positions, uint64_t seed,
                       int num_threads) {
  return extract_scopes(graph, targets, request_of(NodeOptions{}, INT32_MAX, positions, seed, num_threads));
}

nb::tuple extract_khop(const GraphView& graph, const In2<int64_t>& targets, int64_t num_hops, int64_t fanout,
                       bool replace, int64_t max_nodes, bool positions, uint64_t seed, int num_threads) {
  if (num_hops < 0) throw std::invalid_argument("num_hops must not be negative");
  return extract_scopes(graph, targets,
                        request_of(KhopOptions{num_hops, fanout, replace}, max_nodes, positions, seed, num_threads));
}

nb::tuple extract_ppr(const GraphView& graph, const In2<int64_t>& targets, int64_t topk, double teleport,
                      double tolerance, double precision, double threshold, bool relative_threshold, bool stochastic,
                      int64_t max_nodes, bool positions, uint64_t seed, int num_threads) {
  const bool valid = topk >= 1 && teleport > 0 && teleport < 1 && tolerance >= 0 && precision > 0 && threshold >= 0;
  if (!valid) throw std::invalid_argument("options of a PPR extraction are out of range");
  const PprOptions ppr{teleport, topk, tolerance, precision, threshold, relative_threshold};
  const ExtractOptions options = stochastic ? ExtractOptions(StochasticPprOptions{ppr}) : ExtractOptions(ppr);
  return extract_scopes(graph, targets, request_of(options, max_nodes, positions, seed, num_threads));
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

using Bytes2 = nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// float32 rows of a float32, float16 or int8 matrix.
Out<float> gather_float(const Bytes2& matrix, const In1<int64_t>& rows, const std::optional<In1<float>>& scale) {
  const auto num_rows = static_cast<int64_t>(matrix.shape(0)), width = static_cast<int64_t>(matrix.shape(1));
  const auto count = static_cast<int64_t>(rows.shape(0));
  if (scale && static_cast<int64_t>(scale->shape(0)) != width) {
    throw std::invalid_argument("scale must have one value per column");
  }
  Block<float> out(static_cast<size_t>(count * width));
  const auto dtype = matrix.dtype();
  const auto is = [&](nb::dlpack::dtype_code code, uint8_t bits) {
    return dtype.code == static_cast<uint8_t>(code) && dtype.bits == bits && dtype.lanes == 1;
  };
  const nb::gil_scoped_release release;
  if (is(nb::dlpack::dtype_code::Float, 32)) {
    gather_bytes(static_cast<const char*>(matrix.data()), num_rows, width * 4, rows.data(), count,
                 reinterpret_cast<char*>(out.data()));
  } else if (is(nb::dlpack::dtype_code::Float, 16)) {
    gather_wide(static_cast<const uint16_t*>(matrix.data()), num_rows, width, rows.data(), count, out.data(),
                [](uint16_t value, int64_t) { return widen_half(value); });
  } else if (is(nb::dlpack::dtype_code::Int, 8) && scale) {
    const float* step = scale->data();
    gather_wide(static_cast<const int8_t*>(matrix.data()), num_rows, width, rows.data(), count, out.data(),
                [step](int8_t value, int64_t column) { return static_cast<float>(value) * step[column]; });
  } else {
    throw std::invalid_argument("matrix must be float32, float16, or int8 with a scale");
  }
  const nb::gil_scoped_acquire acquire;
  return out.give({static_cast<size_t>(count), static_cast<size_t>(width)});
}

// The same bytes, row by row, for a matrix given as uint8.
Out<uint8_t> gather_raw(const In2<uint8_t>& matrix, const In1<int64_t>& rows) {
  const auto width = static_cast<int64_t>(matrix.shape(1)), count = static_cast<int64_t>(rows.shape(0));
  Block<uint8_t> out(static_cast<size_t>(count * width));
  {
    const nb::gil_scoped_release release;
    gather_bytes(reinterpret_cast<const char*>(matrix.data()), static_cast<int64_t>(matrix.shape(0)), width,
                 rows.data(), count, reinterpret_cast<char*>(out.data()));
  }
  return out.give({static_cast<size_t>(count), static_cast<size_t>(width)});
}

// Stretches of a byte array, joined.
Out<uint8_t> gather_ragged(const In1<uint8_t>& bytes, const In1<int64_t>& start, const In1<int64_t>& length) {
  if (start.shape(0) != length.shape(0)) throw std::invalid_argument("start and length must be equally long");
  const auto num_bytes = static_cast<int64_t>(bytes.shape(0));
  size_t total = 0;
  for (size_t item = 0; item < start.shape(0); ++item) {
    const int64_t first = start.data()[item], size = length.data()[item];
    if (first < 0 || size < 0 || first > num_bytes || size > num_bytes - first) {
      throw std::invalid_argument("a stretch must lie inside the array");
    }
    total += static_cast<size_t>(size);
  }
  Block<uint8_t> out(total);
  {
    const nb::gil_scoped_release release;
    gather_stretches(reinterpret_cast<const char*>(bytes.data()), start.data(), length.data(),
                     static_cast<int64_t>(start.shape(0)), reinterpret_cast<char*>(out.data()));
  }
  return out.give({total});
}

Out<float> gather_csr(const In1<int64_t>& indptr, const In1<int32_t>& indices, const In1<float>& data, int64_t width,
                      const In1<int64_t>& rows) {
  if (indptr.shape(0) < 1 || indices.shape(0) != data.shape(0) || width < 0) {
    throw std::invalid_argument("indptr, indices and data must be the arrays of a CSR matrix");
  }
  const auto count = static_cast<int64_t>(rows.shape(0));
  std::vector<float> out(static_cast<size_t>(count * width), 0.0f);
  {
    const nb::gil_scoped_release release;
    gather_sparse(indptr.data(), indices.data(), data.data(), static_cast<int64_t>(indptr.shape(0)) - 1,
                  static_cast<int64_t>(data.shape(0)), width, rows.data(), count, out.data());
  }
  return give(std::move(out), {static_cast<size_t>(count), static_cast<size_t>(width)});
}

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "Compiled core of shadow_gnn: scopes, batches and row look-ups on CSR arrays.";
  nb::exception<CorruptGraph>(m, "CorruptGraph", PyExc_RuntimeError);
  nb::exception<FileChanged>(m, "FileChanged", PyExc_RuntimeError);

  nb::class_<GraphView>(m, "GraphView", "Borrowed CSR arrays of a graph.")
      .def(nb::init<In1<int64_t>, std::variant<In1<int32_t>, In1<int64_t>>, std::optional<In1<float>>, bool>(),
           nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("weight").noconvert().none(),
           nb::arg("symmetric"));

  m.def("extract_node", &extract_node, nb::arg("graph"), nb::arg("targets").noconvert(), nb::kw_only(),
        nb::arg("positions"), nb::arg("seed"), nb::arg("num_threads"));
  m.def("extract_khop", &extract_khop, nb::arg("graph"), nb::arg("targets").noconvert(), nb::kw_only(),
        nb::arg("num_hops"), nb::arg("fanout"), nb::arg("replace"), nb::arg("max_nodes"), nb::arg("positions"),
        nb::arg("seed"), nb::arg("num_threads"));
  m.def("extract_ppr", &extract_ppr, nb::arg("graph"), nb::arg("targets").noconvert(), nb::kw_only(), nb::arg("topk"),
        nb::arg("teleport"), nb::arg("tolerance"), nb::arg("precision"), nb::arg("threshold"),
        nb::arg("relative_threshold"), nb::arg("stochastic"), nb::arg("max_nodes"), nb::arg("positions"),
        nb::arg("seed"), nb::arg("num_threads"));
  m.def("induce", &induce, nb::arg("graph"), nb::arg("targets").noconvert(), nb::kw_only(), nb::arg("ptr").noconvert(),
        nb::arg("node_id").noconvert(), nb::arg("score").noconvert(), nb::arg("max_nodes"), nb::arg("positions"),
        nb::arg("seed"), nb::arg("num_threads"));
  m.def("collate", &collate_scopes, nb::arg("ptr").noconvert(), nb::arg("hop").noconvert(),
        nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("by_hop"));
  m.def("gather_float", &gather_float, nb::arg("matrix").noconvert(), nb::arg("rows").noconvert(),
        nb::arg("scale").noconvert().none());
  m.def("gather_raw", &gather_raw, nb::arg("matrix").noconvert(), nb::arg("rows").noconvert());
  m.def("gather_ragged", &gather_ragged, nb::arg("bytes").noconvert(), nb::arg("start").noconvert(),
        nb::arg("length").noconvert());
  m.def("gather_csr", &gather_csr, nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(),
        nb::arg("data").noconvert(), nb::arg("width"), nb::arg("rows").noconvert());
}
