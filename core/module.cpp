// The one file that knows Python: checks what it is handed, releases the GIL, gives arrays back without a copy.
// Not for: algorithms.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "attend.h"
#include "closure.h"
#include "collate.h"
#include "drnl.h"
#include "dropout.h"
#include "edge_drop.h"
#include "edges.h"
#include "engine.h"
#include "gather.h"
#include "hops.h"
#include "norm.h"
#include "reverse.h"
#include "saint.h"
#include "spmm.h"

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
  SignalPoll poll;
  Closure closure = std::visit(
      [&](const auto& indices) {
        using Id = std::decay_t<decltype(indices.data()[0])>;
        const Csr<Id> csr{graph.indptr.data(),
                          indices.data(),
                          graph.weight ? graph.weight->data() : nullptr,
                          static_cast<int64_t>(graph.indptr.shape(0)) - 1,
                          static_cast<int64_t>(indices.shape(0)),
                          graph.symmetric};
        const nb::gil_scoped_release release;
        ClosureBuilder<Id> builder(csr, options);
        return builder.build(targets.data(), static_cast<int64_t>(targets.shape(0)), [&poll] { poll(); });
      },
      graph.indices);
  return nb::make_tuple(give(std::move(closure.node_id)), give(std::move(closure.hop_ptr)),
                        give(std::move(closure.indptr)), give(std::move(closure.indices)),
                        give(std::move(closure.edge_pos)), give(std::move(closure.degree)),
                        give(std::move(closure.edge_scale)));
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

// Arrays of numbers whose kind and shape are looked at here: what a caller hands over for reading, and for writing.
using Numbers = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
using Target = nb::ndarray<nb::c_contig, nb::device::cpu>;
using MaybeNumbers = std::optional<Numbers>;
using MaybeTarget = std::optional<Target>;

template <class Value>
bool holds(const nb::dlpack::dtype& dtype) {
  if (dtype.lanes != 1 || dtype.bits != 8 * sizeof(Value)) return false;
  const auto code = static_cast<nb::dlpack::dtype_code>(dtype.code);
  // NumPy has no bfloat16: it comes as its bits.
  if (std::is_same_v<Value, Bfloat16>) {
    return code == nb::dlpack::dtype_code::Bfloat || code == nb::dlpack::dtype_code::UInt;
  }
  return code == nb::dlpack::dtype_code::Float;
}

// Call run with a value of the kind that the array holds.
template <class Run>
void for_kind(const Numbers& array, const char* name, Run&& run) {
  if (holds<float>(array.dtype())) return run(float{});
  if (holds<double>(array.dtype())) return run(double{});
  if (holds<Bfloat16>(array.dtype())) return run(Bfloat16{});
  throw std::invalid_argument(std::string(name) + " must be float32, float64 or bfloat16");
}

// The memory of an array that must be of this kind and shape.
template <class Value, class Array>
auto* memory(const Array& array, const char* name, std::initializer_list<int64_t> shape) {
  bool fits = holds<Value>(array.dtype()) && array.ndim() == shape.size();
  std::string wanted;
  size_t axis = 0;
  for (const int64_t size : shape) {
    fits = fits && static_cast<int64_t>(array.shape(axis)) == size;
    wanted += (axis++ > 0 ? ", " : "") + std::to_string(size);
  }
  if (!fits) throw std::invalid_argument(std::string(name) + " must be of shape (" + wanted + ") and fit the values");
  using Pointer = std::conditional_t<std::is_same_v<Array, Numbers>, const Value*, Value*>;
  return static_cast<Pointer>(array.data());
}

template <class Value, class Array>
auto memory(const std::optional<Array>& array, const char* name, std::initializer_list<int64_t> shape)
    -> decltype(memory<Value>(*array, name, shape)) {
  if (!array) return nullptr;
  return memory<Value>(*array, name, shape);
}

template <class Array>
int64_t size_of(const Array& array, size_t axis, size_t num_axes, const char* name) {
  if (array.ndim() != num_axes) {
    throw std::invalid_argument(std::string(name) + " must have " + std::to_string(num_axes) + " dimensions, got " +
                                std::to_string(array.ndim()));
  }
  return static_cast<int64_t>(array.shape(axis));
}

void check_rows(int64_t count, int64_t most, const char* name) {
  if (count > most) {
    throw std::invalid_argument(std::string(name) + " must have at most " + std::to_string(most) + " rows, got " +
                                std::to_string(count));
  }
}

void check_threads(int num_threads) {
  if (num_threads < 1 || num_threads > 1024) throw std::invalid_argument("num_threads must be from 1 to 1024");
}

// Sum rows of x along the edges into out: those of the senders for each receiver, or the other way round.
void sum_edges(const Edges& edges, const Numbers& x, const Target& out, const MaybeNumbers& weight,
               const MaybeNumbers& self_weight, bool by_sender, int num_threads) {
  const int64_t num_x = size_of(x, 0, 2, "x"), width = size_of(x, 1, 2, "x"), num_out = size_of(out, 0, 2, "out");
  check_rows(num_x, edges.num_nodes(), "x");
  check_rows(num_out, by_sender || !self_weight ? edges.num_nodes() : num_x, "out");
  check_threads(num_threads);
  for_kind(x, "x", [&](auto kind) {
    using Value = decltype(kind);
    const SumTask<Value> task{&edges,
                              by_sender ? &edges.senders() : &edges.receivers(),
                              by_sender,
                              memory<Sum<Value>>(weight, "weight", {edges.num_edges()}),
                              memory<Sum<Value>>(self_weight, "self_weight", {edges.num_nodes()}),
                              memory<Value>(x, "x", {num_x, width}),
                              num_x,
                              memory<Value>(out, "out", {num_out, width}),
                              num_out,
                              width};
    const nb::gil_scoped_release release;
    sum_along_edges(task, num_threads);
  });
}

// The product of a row of `left` and one of `right` for every edge of the rows of left.
void dot_edges(const Edges& edges, const Numbers& left, const Numbers& right, const Target& out, int num_threads) {
  const int64_t num_left = size_of(left, 0, 2, "left"), width = size_of(left, 1, 2, "left");
  const int64_t num_right = size_of(right, 0, 2, "right");
  check_rows(num_left, edges.num_nodes(), "left");
  check_rows(num_right, edges.num_nodes(), "right");
  check_threads(num_threads);
  for_kind(left, "left", [&](auto kind) {
    using Value = decltype(kind);
    const DotTask<Value> task{&edges,
                              memory<Value>(left, "left", {num_left, width}),
                              num_left,
                              memory<Value>(right, "right", {num_right, width}),
                              num_right,
                              width,
                              memory<Sum<Value>>(out, "out", {edges.num_edges()})};
    const nb::gil_scoped_release release;
    dot_along_edges(task, num_threads);
  });
}

template <class Value>
AttendTask<Value> attend_task(const Edges& edges, const Numbers& value, const Numbers& from_score,
                              const Numbers& to_score, const MaybeNumbers& weight, const MaybeNumbers& self_weight,
                              double slope, int64_t num_rows) {
  const int64_t num_values = size_of(value, 0, 3, "value"), heads = size_of(value, 1, 3, "value");
  check_rows(num_values, edges.num_nodes(), "value");
  check_rows(num_rows, num_values, "out");
  using Number = Sum<Value>;
  AttendTask<Value> task;
  task.edges = &edges;
  task.weight = memory<Number>(weight, "weight", {edges.num_edges()});
  task.self_weight = memory<Number>(self_weight, "self_weight", {edges.num_nodes()});
  task.value = memory<Value>(value, "value", {num_values, heads, size_of(value, 2, 3, "value")});
  task.from_score = memory<Number>(from_score, "from_score", {num_values, heads});
  task.num_values = num_values;
  task.to_score = memory<Number>(to_score, "to_score", {num_rows, heads});
  task.num_rows = num_rows;
  task.heads = heads;
  task.dim = size_of(value, 2, 3, "value");
  task.slope = static_cast<Number>(slope);
  return task;
}

// The softmax goes into part [edges of the rows, then self-edges if any; heads]: the backward reads it.
void attend_edges(const Edges& edges, const Numbers& value, const Numbers& from_score, const Numbers& to_score,
                  const MaybeNumbers& weight, const MaybeNumbers& self_weight, double slope, const Target& part,
                  const Target& out, int num_threads) {
  const int64_t num_rows = size_of(out, 0, 3, "out");
  check_threads(num_threads);
  for_kind(value, "value", [&](auto kind) {
    using Value = decltype(kind);
    auto task = attend_task<Value>(edges, value, from_score, to_score, weight, self_weight, slope, num_rows);
    task.part = memory<Sum<Value>>(part, "part", {task.num_kept(), task.heads});
    auto* const to = memory<Value>(out, "out", {num_rows, task.heads, task.dim});
    const nb::gil_scoped_release release;
    attend(task, to, num_threads);
  });
}

void attend_edges_backward(const Edges& edges, const Numbers& value, const Numbers& from_score, const Numbers& to_score,
                           const MaybeNumbers& weight, const MaybeNumbers& self_weight, double slope,
                           const Target& part, const Numbers& out_gradient, const Target& value_gradient,
                           const Target& from_gradient, const Target& to_gradient, const MaybeTarget& weight_gradient,
                           const MaybeTarget& self_gradient, int num_threads) {
  const int64_t num_rows = size_of(out_gradient, 0, 3, "out_gradient");
  check_threads(num_threads);
  for_kind(value, "value", [&](auto kind) {
    using Value = decltype(kind);
    using Number = Sum<Value>;
    auto task = attend_task<Value>(edges, value, from_score, to_score, weight, self_weight, slope, num_rows);
    task.part = memory<Number>(part, "part", {task.num_kept(), task.heads});
    Block<Number> sum(static_cast<size_t>(task.num_kept() * task.heads));
    const AttendGradients<Value> gradients{
        memory<Value>(out_gradient, "out_gradient", {num_rows, task.heads, task.dim}),
        memory<Value>(value_gradient, "value_gradient", {task.num_values, task.heads, task.dim}),
        memory<Number>(from_gradient, "from_gradient", {task.num_values, task.heads}),
        memory<Number>(to_gradient, "to_gradient", {num_rows, task.heads}),
        sum.data(),
        memory<Number>(weight_gradient, "weight_gradient", {edges.num_edges()}),
        memory<Number>(self_gradient, "self_gradient", {edges.num_nodes()})};
    const nb::gil_scoped_release release;
    attend_backward(task, gradients, num_threads);
  });
}

Activation activation_of(const std::string& name) {
  if (name == "none") return Activation::kNone;
  if (name == "relu") return Activation::kRelu;
  if (name == "elu") return Activation::kElu;
  throw std::invalid_argument("activation must be none, relu or elu, got " + name);
}

template <class Value>
NormTask<Value> norm_task(const Numbers& x, const MaybeNumbers& bias, const Numbers& scale, int64_t heads,
                          const std::string& activation, const Target& mean, const Target& inverse) {
  const int64_t num_rows = size_of(x, 0, 2, "x"), width = size_of(x, 1, 2, "x");
  if (heads < 1 || width < 1 || width % heads != 0) throw std::invalid_argument("heads must divide the columns of x");
  using Number = Sum<Value>;
  NormTask<Value> task{};
  task.x = memory<Value>(x, "x", {num_rows, width});
  task.bias = memory<Number>(bias, "bias", {width});
  task.scale = memory<Number>(scale, "scale", {width});
  task.num_rows = num_rows;
  task.heads = heads;
  task.dim = width / heads;
  task.activation = activation_of(activation);
  task.mean = memory<Number>(mean, "mean", {num_rows, heads});
  task.inverse = memory<Number>(inverse, "inverse", {num_rows, heads});
  return task;
}

// The mean and 1 / deviation of every row and head are written too: the backward reads them.
void norm_rows_of(const Numbers& x, const MaybeNumbers& bias, const Numbers& scale, const Numbers& offset,
                  const MaybeNumbers& plus, int64_t heads, const std::string& activation, double epsilon,
                  const Target& mean, const Target& inverse, const Target& out, int num_threads) {
  check_threads(num_threads);
  for_kind(x, "x", [&](auto kind) {
    using Value = decltype(kind);
    using Number = Sum<Value>;
    auto task = norm_task<Value>(x, bias, scale, heads, activation, mean, inverse);
    task.offset = memory<Number>(offset, "offset", {task.width()});
    task.plus = memory<Number>(plus, "plus", {task.num_rows, task.width()});
    task.epsilon = static_cast<Number>(epsilon);
    task.out = memory<Number>(out, "out", {task.num_rows, task.width()});
    const nb::gil_scoped_release release;
    norm(task, num_threads);
  });
}

void norm_rows_backward_of(const Numbers& x, const MaybeNumbers& bias, const Numbers& scale, int64_t heads,
                           const std::string& activation, const Target& mean, const Target& inverse,
                           const Numbers& out_gradient, const Target& x_gradient, const MaybeTarget& bias_gradient,
                           const Target& scale_gradient, const Target& offset_gradient, int num_threads) {
  check_threads(num_threads);
  for_kind(x, "x", [&](auto kind) {
    using Value = decltype(kind);
    using Number = Sum<Value>;
    const auto task = norm_task<Value>(x, bias, scale, heads, activation, mean, inverse);
    const int64_t num_rows = task.num_rows, width = task.width();
    const NormGradients<Value> gradients{memory<Number>(out_gradient, "out_gradient", {num_rows, width}),
                                         memory<Value>(x_gradient, "x_gradient", {num_rows, width}),
                                         memory<Number>(bias_gradient, "bias_gradient", {width}),
                                         memory<Number>(scale_gradient, "scale_gradient", {width}),
                                         memory<Number>(offset_gradient, "offset_gradient", {width})};
    const nb::gil_scoped_release release;
    norm_backward(task, gradients, num_threads);
  });
}

void drop_numbers(const Numbers& x, const Target& out, double share, uint64_t seed, int num_threads) {
  if (!(share >= 0 && share < 1)) throw std::invalid_argument("share must be from 0 to below 1");
  check_threads(num_threads);
  const int64_t count = size_of(x, 0, 1, "x");
  for_kind(x, "x", [&](auto kind) {
    using Value = decltype(kind);
    const double threshold = std::min(std::nearbyint(share * 0x1.0p32), 0x1.0p32 - 1);
    const DropTask<Value> task{memory<Value>(x, "x", {count}),   memory<Value>(out, "out", {count}),      count, seed,
                               static_cast<uint32_t>(threshold), static_cast<Sum<Value>>(1 / (1 - share))};
    const nb::gil_scoped_release release;
    drop_elements(task, num_threads);
  });
}

// 1 for every edge that stays, 0 for the others.
void draw_kept_edges(const Edges& edges, double share, uint64_t seed, const Target& keep) {
  if (!(share >= 0 && share < 1)) throw std::invalid_argument("share must be from 0 to below 1");
  auto* const out = memory<float>(keep, "keep", {edges.num_edges()});
  const nb::gil_scoped_release release;
  draw_kept(edges, share, seed, out);
}

nb::tuple senders_of(const Edges& edges) {
  const EdgeLists& lists = [&]() -> const EdgeLists& {
    const nb::gil_scoped_release release;
    return edges.senders();
  }();
  const int64_t num_nodes = edges.num_nodes(), num_edges = edges.num_edges();
  return nb::make_tuple(give(std::vector<int64_t>(lists.ptr.get(), lists.ptr.get() + num_nodes + 1)),
                        give(std::vector<int64_t>(lists.other.get(), lists.other.get() + num_edges)),
                        give(std::vector<int64_t>(lists.edge.get(), lists.edge.get() + num_edges)));
}

template <class Indices>
auto csr_of(const GraphView& graph, const Indices& indices) {
  using Id = std::decay_t<decltype(indices.data()[0])>;
  return Csr<Id>{graph.indptr.data(),
                 indices.data(),
                 graph.weight ? graph.weight->data() : nullptr,
                 static_cast<int64_t>(graph.indptr.shape(0)) - 1,
                 static_cast<int64_t>(indices.shape(0)),
                 graph.symmetric};
}

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
  if (!fits(walk_length, 0)) throw std::invalid_argument("walk_length must be from 0 to 2^31 - 1");
  if (!fits(frontier, 1) || (options.kind == SaintKind::kFrontier && frontier > budget)) {
    throw std::invalid_argument("frontier must be from 1 to budget");
  }
  return options;
}

using Counts = nb::ndarray<int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

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
    if (num_threads < 1 || num_threads > 1024) throw std::invalid_argument("num_threads must be from 1 to 1024");
    if (num_subgraphs < 0 || num_subgraphs > INT32_MAX) throw std::invalid_argument("num_subgraphs must be in range");
    const size_t num_edges = std::visit([](const auto& array) { return array.shape(0); }, graph_.indices);
    if (node_count.shape(0) + 1 != graph_.indptr.shape(0) || edge_count.shape(0) != num_edges) {
      throw std::invalid_argument("node_count and edge_count must have one number per node and per edge of the graph");
    }
    SignalPoll poll;
    SaintCounts counts;
    with_saint([&](const auto& csr, const auto& saint) {
      SharedCounts shared(reinterpret_cast<uint32_t*>(node_count.data()),
                          reinterpret_cast<uint32_t*>(edge_count.data()), csr.num_nodes);
      counts = count_saint(csr, saint, seed, first, num_subgraphs, shared, num_threads, [&poll] { poll(); });
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
          if (!csr.has(node_id.data()[item])) {
            throw std::invalid_argument("node_id must be node ids from 0 to " + std::to_string(csr.num_nodes - 1) +
                                        ", got " + std::to_string(node_id.data()[item]));
          }
          desk.members.add(node_id.data()[item]);
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

// For each target, nodes within 0 to num_hops hops and the edges that lead to these: two arrays [B, num_hops + 1].
nb::tuple hop_counts(const GraphView& graph, const In1<int64_t>& targets, int64_t num_hops, int num_threads) {
  if (num_hops < 0 || num_hops > INT32_MAX) throw std::invalid_argument("num_hops must be from 0 to 2^31 - 1");
  if (num_threads < 1 || num_threads > 1024) throw std::invalid_argument("num_threads must be from 1 to 1024");
  const size_t num_targets = targets.shape(0), width = static_cast<size_t>(num_hops) + 1;
  Block<int64_t> nodes(num_targets * width), edges(num_targets * width);
  SignalPoll poll;
  std::visit(
      [&](const auto& array) {
        const auto csr = csr_of(graph, array);
        const HopCounts out{num_hops, nodes.data(), edges.data()};
        const nb::gil_scoped_release release;
        count_hops(csr, targets.data(), static_cast<int64_t>(num_targets), out, num_threads, [&poll] { poll(); });
      },
      graph.indices);
  return nb::make_tuple(nodes.give({num_targets, width}), edges.give({num_targets, width}));
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
  const bool valid = topk >= 1 && teleport >= 1e-3 && teleport < 1 && num_walks >= 1 && num_walks <= 10'000'000;
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
  SignalPoll poll;
  return std::visit(
      [&](const auto& array) {
        const auto csr = csr_of(graph, array);
        Reversed<std::decay_t<decltype(*csr.indices)>> reversed(csr);
        {
          const nb::gil_scoped_release release;
          guarded([&] { reversed.fill(csr, [&poll] { poll(); }); });
        }
        return nb::make_tuple(give(std::move(reversed.indptr)), give(std::move(reversed.indices)));
      },
      graph.indices);
}

Out<double> weight_sums(const GraphView& graph) {
  if (!graph.weight) throw std::invalid_argument("graph must have weights");
  const auto num_edges = static_cast<int64_t>(graph.weight->shape(0));
  std::vector<double> sums(static_cast<size_t>(num_weight_sums(num_edges)));
  SignalPoll poll;
  {
    const nb::gil_scoped_release release;
    guarded([&] { sum_weights(graph.weight->data(), num_edges, [&poll] { poll(); }, sums.data()); });
  }
  return give(std::move(sums));
}

}  // namespace

NB_MODULE(_core, m) {
  m.doc() =
      "Compiled core of shadow_gnn: scopes, batches and row look-ups on CSR arrays, sums along the edges of a batch.";
  // A tensor that is alive when Python ends may hold the edges of its batch; that is no leak worth a message.
  nb::set_leak_warnings(false);
  nb::exception<CorruptGraph>(m, "CorruptGraph", PyExc_RuntimeError);
  nb::exception<FileChanged>(m, "FileChanged", PyExc_RuntimeError);

  nb::class_<GraphView>(m, "GraphView", "Borrowed CSR arrays of a graph.")
      .def(nb::init<In1<int64_t>, std::variant<In1<int32_t>, In1<int64_t>>, std::optional<In1<float>>, bool>(),
           nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("weight").noconvert().none(),
           nb::arg("symmetric"));

  m.def("extract_node", &extract_node, nb::arg("graph"), nb::arg("targets").noconvert(), nb::kw_only(),
        nb::arg("positions"), nb::arg("seed"), nb::arg("num_threads"), nb::arg("hide") = 0);
  m.def("extract_khop", &extract_khop, nb::arg("graph"), nb::arg("targets").noconvert(), nb::kw_only(),
        nb::arg("num_hops"), nb::arg("fanout"), nb::arg("replace"), nb::arg("max_nodes"), nb::arg("positions"),
        nb::arg("seed"), nb::arg("num_threads"), nb::arg("hide") = 0);
  m.def("extract_ppr", &extract_ppr, nb::arg("graph"), nb::arg("targets").noconvert(), nb::kw_only(), nb::arg("topk"),
        nb::arg("teleport"), nb::arg("tolerance"), nb::arg("precision"), nb::arg("threshold"),
        nb::arg("relative_threshold"), nb::arg("stochastic"), nb::arg("max_nodes"), nb::arg("positions"),
        nb::arg("seed"), nb::arg("num_threads"), nb::arg("hide") = 0);
  m.def("extract_rwr", &extract_rwr, nb::arg("graph"), nb::arg("targets").noconvert(), nb::kw_only(), nb::arg("topk"),
        nb::arg("teleport"), nb::arg("num_walks"), nb::arg("sums").noconvert().none(), nb::arg("positions"),
        nb::arg("seed"), nb::arg("num_threads"), nb::arg("hide") = 0);
  m.def("extract_simrank", &extract_simrank, nb::arg("graph"), nb::arg("targets").noconvert(), nb::kw_only(),
        nb::arg("topk"), nb::arg("decay"), nb::arg("num_walks"), nb::arg("walk_length"), nb::arg("num_candidates"),
        nb::arg("sums").noconvert().none(), nb::arg("reverse").none(), nb::arg("positions"), nb::arg("seed"),
        nb::arg("num_threads"), nb::arg("hide") = 0);
  m.def("extract_fire", &extract_fire, nb::arg("graph"), nb::arg("targets").noconvert(), nb::kw_only(),
        nb::arg("forward"), nb::arg("backward"), nb::arg("max_nodes"), nb::arg("reverse").none(), nb::arg("positions"),
        nb::arg("seed"), nb::arg("num_threads"), nb::arg("hide") = 0);
  m.def("reverse_lists", &reverse_lists, nb::arg("graph"));
  m.def("weight_sums", &weight_sums, nb::arg("graph"));
  m.def("drnl", &drnl_of, nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("ends").noconvert(),
        nb::arg("max_label"), nb::arg("max_distance"));
  m.def("induce", &induce, nb::arg("graph"), nb::arg("targets").noconvert(), nb::kw_only(), nb::arg("ptr").noconvert(),
        nb::arg("node_id").noconvert(), nb::arg("score").noconvert(), nb::arg("max_nodes"), nb::arg("positions"),
        nb::arg("seed"), nb::arg("num_threads"));
  m.def("collate", &collate_scopes, nb::arg("ptr").noconvert(), nb::arg("hop").noconvert(),
        nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("by_hop"));
  m.def("closure", &closure_of, nb::arg("graph"), nb::arg("targets").noconvert(), nb::kw_only(), nb::arg("num_hops"),
        nb::arg("fanouts").noconvert().none(), nb::arg("positions"), nb::arg("seed"));
  m.def("hop_counts", &hop_counts, nb::arg("graph"), nb::arg("targets").noconvert(), nb::kw_only(), nb::arg("num_hops"),
        nb::arg("num_threads"));
  m.def("gather_float", &gather_float, nb::arg("matrix").noconvert(), nb::arg("rows").noconvert(),
        nb::arg("scale").noconvert().none());
  m.def("gather_raw", &gather_raw, nb::arg("matrix").noconvert(), nb::arg("rows").noconvert());
  m.def("gather_ragged", &gather_ragged, nb::arg("bytes").noconvert(), nb::arg("start").noconvert(),
        nb::arg("length").noconvert());
  m.def("gather_csr", &gather_csr, nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(),
        nb::arg("data").noconvert(), nb::arg("width"), nb::arg("rows").noconvert());

  nb::class_<Edges>(m, "Edges", "Checked copies of the edges of a batch.")
      .def(
          "__init__",
          [](Edges* self, const In1<int64_t>& indptr, const In1<int64_t>& indices) {
            if (indptr.shape(0) == 0) throw std::invalid_argument("indptr must have length N + 1, got 0");
            const nb::gil_scoped_release release;
            new (self) Edges(indptr.data(), indices.data(), static_cast<int64_t>(indptr.shape(0)) - 1,
                             static_cast<int64_t>(indices.shape(0)));
          },
          nb::arg("indptr").noconvert(), nb::arg("indices").noconvert())
      .def("senders", &senders_of)
      .def_prop_ro("symmetric", &Edges::symmetric);
  m.def("sum_edges", &sum_edges, nb::arg("edges"), nb::arg("x").noconvert(), nb::arg("out").noconvert(),
        nb::arg("weight").noconvert().none(), nb::arg("self_weight").noconvert().none(), nb::arg("by_sender"),
        nb::arg("num_threads"));
  m.def("dot_edges", &dot_edges, nb::arg("edges"), nb::arg("left").noconvert(), nb::arg("right").noconvert(),
        nb::arg("out").noconvert(), nb::arg("num_threads"));
  m.def("attend_edges", &attend_edges, nb::arg("edges"), nb::arg("value").noconvert(),
        nb::arg("from_score").noconvert(), nb::arg("to_score").noconvert(), nb::arg("weight").noconvert().none(),
        nb::arg("self_weight").noconvert().none(), nb::arg("slope"), nb::arg("part").noconvert(),
        nb::arg("out").noconvert(), nb::arg("num_threads"));
  m.def("attend_edges_backward", &attend_edges_backward, nb::arg("edges"), nb::arg("value").noconvert(),
        nb::arg("from_score").noconvert(), nb::arg("to_score").noconvert(), nb::arg("weight").noconvert().none(),
        nb::arg("self_weight").noconvert().none(), nb::arg("slope"), nb::arg("part").noconvert(),
        nb::arg("out_gradient").noconvert(), nb::arg("value_gradient").noconvert(),
        nb::arg("from_gradient").noconvert(), nb::arg("to_gradient").noconvert(),
        nb::arg("weight_gradient").noconvert().none(), nb::arg("self_gradient").noconvert().none(),
        nb::arg("num_threads"));
  m.def("norm_rows", &norm_rows_of, nb::arg("x").noconvert(), nb::arg("bias").noconvert().none(),
        nb::arg("scale").noconvert(), nb::arg("offset").noconvert(), nb::arg("plus").noconvert().none(),
        nb::arg("heads"), nb::arg("activation"), nb::arg("epsilon"), nb::arg("mean").noconvert(),
        nb::arg("inverse").noconvert(), nb::arg("out").noconvert(), nb::arg("num_threads"));
  m.def("norm_rows_backward", &norm_rows_backward_of, nb::arg("x").noconvert(), nb::arg("bias").noconvert().none(),
        nb::arg("scale").noconvert(), nb::arg("heads"), nb::arg("activation"), nb::arg("mean").noconvert(),
        nb::arg("inverse").noconvert(), nb::arg("out_gradient").noconvert(), nb::arg("x_gradient").noconvert(),
        nb::arg("bias_gradient").noconvert().none(), nb::arg("scale_gradient").noconvert(),
        nb::arg("offset_gradient").noconvert(), nb::arg("num_threads"));
  m.def("drop_numbers", &drop_numbers, nb::arg("x").noconvert(), nb::arg("out").noconvert(), nb::arg("share"),
        nb::arg("seed"), nb::arg("num_threads"));
  m.def("draw_kept_edges", &draw_kept_edges, nb::arg("edges"), nb::arg("share"), nb::arg("seed"),
        nb::arg("keep").noconvert());

  nb::class_<SaintSampler>(m, "SaintSampler", "Draws GraphSAINT's subgraphs of a graph by (seed, number).")
      .def(nb::init<const GraphView&, const In1<int64_t>&, const std::string&, int64_t, int64_t, int64_t>(),
           nb::arg("graph"), nb::arg("targets").noconvert(), nb::kw_only(), nb::arg("kind"), nb::arg("budget"),
           nb::arg("walk_length"), nb::arg("frontier"))
      .def("nodes", &SaintSampler::nodes, nb::arg("seed"), nb::arg("number"))
      .def("subgraph", &SaintSampler::subgraph, nb::arg("seed"), nb::arg("number"))
      .def("count", &SaintSampler::count, nb::arg("seed"), nb::arg("first"), nb::arg("num_subgraphs"),
           nb::arg("node_count").noconvert(), nb::arg("edge_count").noconvert(), nb::arg("num_threads"));
  m.def("induce_nodes", &induce_nodes, nb::arg("graph"), nb::arg("node_id").noconvert());
}
