// Rows of a matrix picked by index, widened to float32; safe against a file that was cut while mapped.
// Not for: arithmetic on the rows.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

#include "guard.h"
#include "prefetch.h"

namespace shadow {

inline float float_of(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// IEEE half to single, for all values; chosen without a branch so that a loop of it turns into vector code.
inline float widen_half(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t exponent = half & 0x7c00u;
  const uint32_t shifted = static_cast<uint32_t>(half & 0x7fffu) << 13;
  const float tiny = static_cast<float>(half & 0x3ffu) * 0x1.0p-24f;
  uint32_t tiny_bits;
  std::memcpy(&tiny_bits, &tiny, sizeof tiny_bits);
  const uint32_t offset = exponent == 0x7c00u ? 224u << 23 : 112u << 23;
  return float_of(sign | (exponent == 0 ? tiny_bits : shifted + offset));
}

inline void check_row(int64_t row, int64_t num_rows) {
  if (row < 0 || row >= num_rows) {
    throw std::invalid_argument("row must be from 0 to " + std::to_string(num_rows - 1) + ", got " +
                                std::to_string(row));
  }
}

// Rows lie far apart, so each is asked for this many items before it is read.
constexpr int64_t kRowsAhead = 12;

// Ask for the first lines of a row that will be read soon; one that does not exist is left to check_row.
inline void ask_for(const char* matrix, int64_t num_rows, int64_t row_bytes, int64_t row) {
  if (row < 0 || row >= num_rows) return;
  const char* const first = matrix + row * row_bytes;
  for (int64_t line = 0; line < row_bytes && line < 256; line += 64) prefetch(first + line);
}

// Copy rows of kBytes bytes, or of `row_bytes` where kBytes is 0: a size known to the compiler copies faster.
template <int64_t kBytes>
void gather_sized(const char* matrix, int64_t num_rows, int64_t row_bytes, const int64_t* rows, int64_t count,
                  char* out) {
  const int64_t bytes = kBytes > 0 ? kBytes : row_bytes;
  for (int64_t item = 0; item < count; ++item) {
    if (item + kRowsAhead < count) ask_for(matrix, num_rows, bytes, rows[item + kRowsAhead]);
    check_row(rows[item], num_rows);
    std::memcpy(out + item * bytes, matrix + rows[item] * bytes, static_cast<size_t>(bytes));
  }
}

// Copy rows of `row_bytes` bytes each.
inline void gather_bytes(const char* matrix, int64_t num_rows, int64_t row_bytes, const int64_t* rows, int64_t count,
                         char* out) {
  guarded([&] {
    if (row_bytes == 4) return gather_sized<4>(matrix, num_rows, row_bytes, rows, count, out);
    if (row_bytes == 8) return gather_sized<8>(matrix, num_rows, row_bytes, rows, count, out);
    gather_sized<0>(matrix, num_rows, row_bytes, rows, count, out);
  });
}

// Copy stretches of bytes, given by where they start and how long they are, one after the other.
inline void gather_stretches(const char* bytes, const int64_t* start, const int64_t* length, int64_t count, char* out) {
  guarded([&] {
    for (int64_t item = 0; item < count; ++item) {
      std::memcpy(out, bytes + start[item], static_cast<size_t>(length[item]));
      out += length[item];
    }
  });
}

// Copy rows of `width` values, each through `widen(value, column)`.
template <class T, class Widen>
void gather_wide(const T* matrix, int64_t num_rows, int64_t width, const int64_t* rows, int64_t count, float* out,
                 Widen&& widen) {
  guarded([&] {
    const auto row_bytes = width * static_cast<int64_t>(sizeof(T));
    for (int64_t item = 0; item < count; ++item) {
      if (item + kRowsAhead < count) {
        ask_for(reinterpret_cast<const char*>(matrix), num_rows, row_bytes, rows[item + kRowsAhead]);
      }
      check_row(rows[item], num_rows);
      const T* row = matrix + rows[item] * width;
      float* to = out + item * width;
      for (int64_t column = 0; column < width; ++column) to[column] = widen(row[column], column);
    }
  });
}

// Copy CSR rows into the zeroed dense [count, width] matrix `out`.
inline void gather_sparse(const int64_t* indptr, const int32_t* indices, const float* data, int64_t num_rows,
                          int64_t num_values, int64_t width, const int64_t* rows, int64_t count, float* out) {
  guarded([&] {
    for (int64_t item = 0; item < count; ++item) {
      check_row(rows[item], num_rows);
      const int64_t first = indptr[rows[item]], last = indptr[rows[item] + 1];
      if (first < 0 || last < first || last > num_values)
        throw std::invalid_argument("x_indptr is not a range of x_data");
      for (int64_t value = first; value < last; ++value) {
        const int32_t column = indices[value];
        if (column < 0 || column >= width) throw std::invalid_argument("x_indices holds a column outside the matrix");
        out[item * width + column] = data[value];
      }
    }
  });
}

}  // namespace shadow
