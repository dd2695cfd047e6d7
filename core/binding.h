// What every file of bindings shares: arrays that come in and go out, their sizes, a borrowed graph, Ctrl-C.
// Not for: algorithms, nor for the functions that Python sees (bind_*.cpp).
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "csr.h"
#include "interrupt.h"

namespace nb = nanobind;

namespace shadow {

// An array that Python hands over. It may begin anywhere in memory; the values must not, or they cannot be read in
// place.
template <class... Args>
class Array : public nb::ndarray<nb::c_contig, nb::device::cpu, Args...> {
 public:
  using Plain = nb::ndarray<nb::c_contig, nb::device::cpu, Args...>;
  Array() = default;
  explicit Array(Plain plain) : Plain(std::move(plain)) {}

  auto* data() const {
    const auto address = reinterpret_cast<uintptr_t>(Plain::data());
    if (Plain::size() > 0 && address % Plain::itemsize() != 0) {
      throw std::invalid_argument("an array must begin at a multiple of the size of its values; copy it by np.array");
    }
    return Plain::data();
  }
};

// numpy.ndarray, set when the module is made.
inline PyObject* array_type = nullptr;

// Whether an object is an array of NumPy, or one that other libraries hand over as such. NumPy's single numbers are
// not, though they offer a buffer: that of a date has no strides, which nanobind reads.
inline bool is_array(nb::handle object) noexcept {
  return PyObject_TypeCheck(object.ptr(), reinterpret_cast<PyTypeObject*>(array_type)) ||
         PyObject_HasAttrString(object.ptr(), "__dlpack__");
}

template <class T>
using In1 = Array<const T, nb::ndim<1>>;
template <class T>
using In2 = Array<const T, nb::ndim<2>>;
template <class T>
using Out = nb::ndarray<nb::numpy, T>;

// The product and the sum of sizes that Python gave, or an error where no memory could be so large.
inline size_t times(size_t count, size_t width) {
  if (width != 0 && count > static_cast<size_t>(PTRDIFF_MAX) / width) {
    throw std::length_error("a result of " + std::to_string(count) + " x " + std::to_string(width) +
                            " values must fit in memory");
  }
  return count * width;
}
inline size_t plus(size_t count, size_t more) {
  if (more > static_cast<size_t>(PTRDIFF_MAX) - std::min(count, static_cast<size_t>(PTRDIFF_MAX))) {
    throw std::length_error("a result of " + std::to_string(count) + " + " + std::to_string(more) +
                            " values must fit in memory");
  }
  return count + more;
}

// Column numbers are int32: no matrix of sparse rows is wider.
constexpr int64_t kMostColumns = INT32_MAX;

inline void check_columns(int64_t width) {
  if (width < 0 || width > kMostColumns) {
    throw std::invalid_argument("width must be from 0 to 2^31 - 1 columns, got " + std::to_string(width));
  }
}

// Hand a vector's memory to NumPy.
template <class T, class Allocator>
Out<T> give(std::vector<T, Allocator>&& values, std::vector<size_t> shape = {}) {
  using Vector = std::vector<T, Allocator>;
  auto* owned = new Vector(std::move(values));
  nb::capsule owner(owned, [](void* pointer) noexcept { delete static_cast<Vector*>(pointer); });
  if (shape.empty()) shape.push_back(owned->size());
  return Out<T>(owned->data(), shape.size(), shape.data(), owner);
}

// Memory for a result: left as it is where all of it is written, or zero, which the system has ready.
template <class T>
class Block {
 public:
  explicit Block(size_t count, bool zero = false) {
    const size_t num_bytes = times(std::max<size_t>(count, 1), sizeof(T));
    data_ = static_cast<T*>(zero ? std::calloc(num_bytes, 1) : std::malloc(num_bytes));
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

struct GraphChanges;  // see bind_changes.h

// Borrowed arrays of a graph, and the changes made to it; the object keeps them alive.
struct GraphView {
  In1<int64_t> indptr;
  std::variant<In1<int32_t>, In1<int64_t>> indices;
  std::optional<In1<float>> weight;
  bool symmetric;
  std::shared_ptr<GraphChanges> changes;  // null for a graph as it is stored

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

// The thread of Python's that called has an event `stopping`, which was set.
struct Stopped : std::runtime_error {
  Stopped() : std::runtime_error("the thread was told to stop") {}
};

// Guards every call into the core: its loops (interrupt.h) ask Python a few times a second whether there is a signal.
// Signals reach the main thread alone. Whoever waits for another one can give it a `stopping` event, and set that.
class Interruptible {
 public:
  Interruptible() : question_([this] { ask(); }), asking_(question_) {}

 private:
  void ask() {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(100)) return;
    last_ = now;
    const nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    const nb::object thread = nb::module_::import_("threading").attr("current_thread")();
    if (nb::hasattr(thread, "stopping") && nb::cast<bool>(thread.attr("stopping").attr("is_set")())) throw Stopped();
  }

  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  const Question question_;
  const Asking asking_;
};

// For every function that Python sees.
using Guarded = nb::call_guard<Interruptible>;

// The graph without its changes.
template <class Indices>
auto stored_csr_of(const GraphView& graph, const Indices& indices) {
  using Id = std::decay_t<decltype(indices.data()[0])>;
  return Csr<Id>{graph.indptr.data(),
                 indices.data(),
                 graph.weight ? graph.weight->data() : nullptr,
                 static_cast<int64_t>(graph.indptr.shape(0)) - 1,
                 static_cast<int64_t>(indices.shape(0)),
                 graph.symmetric};
}

// The same for work that reads the arrays as a whole, which changes are not in.
template <class Indices>
auto csr_of(const GraphView& graph, const Indices& indices) {
  if (graph.changes) throw std::invalid_argument("graph must be one without changes for this; compact it first");
  return stored_csr_of(graph, indices);
}

inline void check_threads(int num_threads) {
  if (num_threads < 1 || num_threads > 1024) throw std::invalid_argument("num_threads must be from 1 to 1024");
}

// One function for each file of bindings.
void bind_changes(nb::module_& m);
void bind_scopes(nb::module_& m);
void bind_batches(nb::module_& m);
void bind_rows(nb::module_& m);
void bind_maps(nb::module_& m);
void bind_names(nb::module_& m);
void bind_edges(nb::module_& m);
void bind_saint(nb::module_& m);
void bind_generate(nb::module_& m);

}  // namespace shadow

// Arrays are handed over as nanobind hands over its own.
namespace nanobind::detail {
template <class... Args>
struct type_caster<shadow::Array<Args...>> {
  using Caster = type_caster<typename shadow::Array<Args...>::Plain>;
  NB_TYPE_CASTER(shadow::Array<Args...>, Caster::Name)

  bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
    Caster caster;
    if (!shadow::is_array(source) || !caster.from_python(source, flags, cleanup)) return false;
    value = shadow::Array<Args...>(std::move(caster.value));
    return true;
  }
};
}  // namespace nanobind::detail
