// Bindings: rows of feature matrices, gathered from mapped files.
// Not for: edges.
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "binding.h"
#include "gather.h"

namespace shadow {
namespace {

using Bytes2 = Array<nb::ro, nb::ndim<2>>;

// None leaves it to what is found, true and false are for tests and comparisons.
Ask ask_of(std::optional<bool> ask) { return !ask ? Ask::kWhenWaiting : *ask ? Ask::kAlways : Ask::kNever; }

// float32 rows of a float32, float16 or int8 matrix.
Out<float> gather_float(const Bytes2& matrix, const In1<int64_t>& rows, const std::optional<In1<float>>& scale,
                        std::optional<bool> ask_ahead) {
  const Ask ask = ask_of(ask_ahead);
  const auto num_rows = static_cast<int64_t>(matrix.shape(0)), width = static_cast<int64_t>(matrix.shape(1));
  const auto count = static_cast<int64_t>(rows.shape(0));
  if (scale && static_cast<int64_t>(scale->shape(0)) != width) {
    throw std::invalid_argument("scale must have one value per column");
  }
  Block<float> out(times(rows.shape(0), matrix.shape(1)));
  const auto dtype = matrix.dtype();
  const auto is = [&](nb::dlpack::dtype_code code, uint8_t bits) {
    return dtype.code == static_cast<uint8_t>(code) && dtype.bits == bits && dtype.lanes == 1;
  };
  const nb::gil_scoped_release release;
  if (is(nb::dlpack::dtype_code::Float, 32)) {
    gather_bytes(static_cast<const char*>(matrix.data()), num_rows, width * 4, rows.data(), count,
                 reinterpret_cast<char*>(out.data()), ask);
  } else if (is(nb::dlpack::dtype_code::Float, 16)) {
    gather_wide(static_cast<const uint16_t*>(matrix.data()), num_rows, width, rows.data(), count, out.data(), ask,
                [](uint16_t value, int64_t) { return widen_half(value); });
  } else if (is(nb::dlpack::dtype_code::Int, 8) && scale) {
    const float* step = scale->data();
    gather_wide(static_cast<const int8_t*>(matrix.data()), num_rows, width, rows.data(), count, out.data(), ask,
                [step](int8_t value, int64_t column) { return static_cast<float>(value) * step[column]; });
  } else {
    throw std::invalid_argument("matrix must be float32, float16, or int8 with a scale");
  }
  const nb::gil_scoped_acquire acquire;
  return out.give({static_cast<size_t>(count), static_cast<size_t>(width)});
}

// The same bytes, row by row, for a matrix given as uint8.
Out<uint8_t> gather_raw(const In2<uint8_t>& matrix, const In1<int64_t>& rows, std::optional<bool> ask_ahead) {
  const auto width = static_cast<int64_t>(matrix.shape(1)), count = static_cast<int64_t>(rows.shape(0));
  Block<uint8_t> out(times(rows.shape(0), matrix.shape(1)));
  {
    const nb::gil_scoped_release release;
    gather_bytes(reinterpret_cast<const char*>(matrix.data()), static_cast<int64_t>(matrix.shape(0)), width,
                 rows.data(), count, reinterpret_cast<char*>(out.data()), ask_of(ask_ahead));
  }
  return out.give({static_cast<size_t>(count), static_cast<size_t>(width)});
}

// Stretches of a byte array, joined.
Out<uint8_t> gather_ragged(const In1<uint8_t>& bytes, const In1<int64_t>& start, const In1<int64_t>& length,
                           std::optional<bool> ask_ahead) {
  if (start.shape(0) != length.shape(0)) throw std::invalid_argument("start and length must be equally long");
  const auto num_bytes = static_cast<int64_t>(bytes.shape(0));
  const int64_t *const starts = start.data(), *const lengths = length.data();
  size_t total = 0;
  std::vector<int64_t> place(start.shape(0));
  for (size_t item = 0; item < start.shape(0); ++item) {
    count_steps(1);
    const int64_t first = starts[item], size = lengths[item];
    if (first < 0 || size < 0 || first > num_bytes || size > num_bytes - first) {
      throw std::invalid_argument("a stretch must lie inside the array");
    }
    place[item] = static_cast<int64_t>(total);
    total = plus(total, static_cast<size_t>(size));
  }
  Block<uint8_t> out(total);
  {
    const nb::gil_scoped_release release;
    gather_stretches(reinterpret_cast<const char*>(bytes.data()), starts, lengths, place.data(),
                     static_cast<int64_t>(start.shape(0)), reinterpret_cast<char*>(out.data()), ask_of(ask_ahead));
  }
  return out.give({total});
}

Out<float> gather_csr(const In1<int64_t>& indptr, const In1<int32_t>& indices, const In1<float>& data, int64_t width,
                      const In1<int64_t>& rows, std::optional<bool> ask_ahead) {
  if (indptr.shape(0) < 1 || indices.shape(0) != data.shape(0)) {
    throw std::invalid_argument("indptr, indices and data must be the arrays of a CSR matrix");
  }
  check_columns(width);
  const auto count = static_cast<int64_t>(rows.shape(0));
  Block<float> out(times(rows.shape(0), static_cast<size_t>(width)), true);
  {
    const nb::gil_scoped_release release;
    const SparseRows matrix{indptr.data(),
                            indices.data(),
                            data.data(),
                            static_cast<int64_t>(indptr.shape(0)) - 1,
                            static_cast<int64_t>(data.shape(0)),
                            width};
    gather_sparse(matrix, rows.data(), count, out.data(), ask_of(ask_ahead));
  }
  return out.give({static_cast<size_t>(count), static_cast<size_t>(width)});
}

}  // namespace

void bind_rows(nb::module_& m) {
  m.def("gather_float", &gather_float, Guarded(), nb::arg("matrix").noconvert(), nb::arg("rows").noconvert(),
        nb::arg("scale").noconvert().none(), nb::arg("ask") = nb::none());
  m.def("gather_raw", &gather_raw, Guarded(), nb::arg("matrix").noconvert(), nb::arg("rows").noconvert(),
        nb::arg("ask") = nb::none());
  m.def("gather_ragged", &gather_ragged, Guarded(), nb::arg("bytes").noconvert(), nb::arg("start").noconvert(),
        nb::arg("length").noconvert(), nb::arg("ask") = nb::none());
  m.def("gather_csr", &gather_csr, Guarded(), nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(),
        nb::arg("data").noconvert(), nb::arg("width"), nb::arg("rows").noconvert(), nb::arg("ask") = nb::none());
}

}  // namespace shadow
