// Bindings: what layers compute: sums and attention along edges, norms of rows, dropout.
// Not for: files or graphs.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "attend.h"
#include "binding.h"
#include "dropout.h"
#include "edge_drop.h"
#include "edges.h"
#include "norm.h"
#include "spmm.h"

namespace shadow {
namespace {

// Arrays of numbers whose kind and shape are looked at here: what a caller hands over for reading, and for writing.
using Numbers = Array<nb::ro>;
using Target = Array<>;
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
    if (task.num_values == 0) return;  // Of no rows, the heads may be any number.
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
    Block<Number> sum(times(static_cast<size_t>(task.num_kept()), static_cast<size_t>(task.heads)));
    const AttendGradients<Value> gradients{
        memory<Value>(out_gradient, "out_gradient", {num_rows, task.heads, task.dim}),
        memory<Value>(value_gradient, "value_gradient", {task.num_values, task.heads, task.dim}),
        memory<Number>(from_gradient, "from_gradient", {task.num_values, task.heads}),
        memory<Number>(to_gradient, "to_gradient", {num_rows, task.heads}),
        sum.data(),
        memory<Number>(weight_gradient, "weight_gradient", {edges.num_edges()}),
        memory<Number>(self_gradient, "self_gradient", {edges.num_nodes()})};
    if (task.num_values == 0) return;
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

}  // namespace

void bind_edges(nb::module_& m) {
  nb::class_<Edges>(m, "Edges", "Checked copies of the edges of a batch.")
      .def(
          "__init__",
          [](Edges* self, const In1<int64_t>& indptr, const In1<int64_t>& indices) {
            if (indptr.shape(0) == 0) throw std::invalid_argument("indptr must have length N + 1, got 0");
            const nb::gil_scoped_release release;
            new (self) Edges(indptr.data(), indices.data(), static_cast<int64_t>(indptr.shape(0)) - 1,
                             static_cast<int64_t>(indices.shape(0)));
          },
          Guarded(), nb::arg("indptr").noconvert(), nb::arg("indices").noconvert())
      .def("senders", &senders_of, Guarded())
      .def_prop_ro("symmetric", &Edges::symmetric, Guarded());
  m.def("sum_edges", &sum_edges, Guarded(), nb::arg("edges"), nb::arg("x").noconvert(), nb::arg("out").noconvert(),
        nb::arg("weight").noconvert().none(), nb::arg("self_weight").noconvert().none(), nb::arg("by_sender"),
        nb::arg("num_threads"));
  m.def("dot_edges", &dot_edges, Guarded(), nb::arg("edges"), nb::arg("left").noconvert(), nb::arg("right").noconvert(),
        nb::arg("out").noconvert(), nb::arg("num_threads"));
  m.def("attend_edges", &attend_edges, Guarded(), nb::arg("edges"), nb::arg("value").noconvert(),
        nb::arg("from_score").noconvert(), nb::arg("to_score").noconvert(), nb::arg("weight").noconvert().none(),
        nb::arg("self_weight").noconvert().none(), nb::arg("slope"), nb::arg("part").noconvert(),
        nb::arg("out").noconvert(), nb::arg("num_threads"));
  m.def("attend_edges_backward", &attend_edges_backward, Guarded(), nb::arg("edges"), nb::arg("value").noconvert(),
        nb::arg("from_score").noconvert(), nb::arg("to_score").noconvert(), nb::arg("weight").noconvert().none(),
        nb::arg("self_weight").noconvert().none(), nb::arg("slope"), nb::arg("part").noconvert(),
        nb::arg("out_gradient").noconvert(), nb::arg("value_gradient").noconvert(),
        nb::arg("from_gradient").noconvert(), nb::arg("to_gradient").noconvert(),
        nb::arg("weight_gradient").noconvert().none(), nb::arg("self_gradient").noconvert().none(),
        nb::arg("num_threads"));
  m.def("norm_rows", &norm_rows_of, Guarded(), nb::arg("x").noconvert(), nb::arg("bias").noconvert().none(),
        nb::arg("scale").noconvert(), nb::arg("offset").noconvert(), nb::arg("plus").noconvert().none(),
        nb::arg("heads"), nb::arg("activation"), nb::arg("epsilon"), nb::arg("mean").noconvert(),
        nb::arg("inverse").noconvert(), nb::arg("out").noconvert(), nb::arg("num_threads"));
  m.def("norm_rows_backward", &norm_rows_backward_of, Guarded(), nb::arg("x").noconvert(),
        nb::arg("bias").noconvert().none(), nb::arg("scale").noconvert(), nb::arg("heads"), nb::arg("activation"),
        nb::arg("mean").noconvert(), nb::arg("inverse").noconvert(), nb::arg("out_gradient").noconvert(),
        nb::arg("x_gradient").noconvert(), nb::arg("bias_gradient").noconvert().none(),
        nb::arg("scale_gradient").noconvert(), nb::arg("offset_gradient").noconvert(), nb::arg("num_threads"));
  m.def("drop_numbers", &drop_numbers, Guarded(), nb::arg("x").noconvert(), nb::arg("out").noconvert(),
        nb::arg("share"), nb::arg("seed"), nb::arg("num_threads"));
  m.def("draw_kept_edges", &draw_kept_edges, Guarded(), nb::arg("edges"), nb::arg("share"), nb::arg("seed"),
        nb::arg("keep").noconvert());
}

}  // namespace shadow
