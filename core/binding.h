// What every file of bindings shares: arrays that come in and go out, a borrowed graph, Ctrl-C.
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
#include <new>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "csr.h"

namespace nb = nanobind;

namespace shadow {

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

inline void check_threads(int num_threads) {
  if (num_threads < 1 || num_threads > 1024) throw std::invalid_argument("num_threads must be from 1 to 1024");
}

// One function for each file of bindings.
void bind_scopes(nb::module_& m);
void bind_batches(nb::module_& m);
void bind_rows(nb::module_& m);
void bind_edges(nb::module_& m);
void bind_saint(nb::module_& m);
void bind_generate(nb::module_& m);

}  // namespace shadow
