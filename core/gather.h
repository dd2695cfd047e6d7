// Rows of a matrix picked by index, widened to float32; safe against a file that was cut while mapped.
// Not for: arithmetic on the rows.
#pragma once

#include <cstdint>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "guard.h"
#include "interrupt.h"
#include "scattered.h"

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
    throw std::invalid_argument("row must be from 0 to below " + std::to_string(num_rows) + ", got " +
                                std::to_string(row));
  }
}

// Where a row lies; one that does not exist is left to check_row.
inline Piece row_piece(const char* matrix, int64_t num_rows, int64_t row_bytes, int64_t row) {
  if (row < 0 || row >= num_rows) return {matrix, 0};
  return {matrix + row * row_bytes, row_bytes};
}

// Copy rows of kBytes bytes, or of `row_bytes` where kBytes is 0: a size known to the compiler copies faster.
template <int64_t kBytes>
void gather_sized(const char* matrix, int64_t num_rows, int64_t row_bytes, const int64_t* rows, int64_t count,
                  char* out, Ask ask) {
  const int64_t bytes = kBytes > 0 ? kBytes : row_bytes;
  copy_scattered(
      count, [=](int64_t item) { return row_piece(matrix, num_rows, bytes, rows[item]); },
      [=](int64_t item) {
        check_row(rows[item], num_rows);
        std::memcpy(out + item * bytes, matrix + rows[item] * bytes, static_cast<size_t>(bytes));
      },
      ask);
}

// Copy rows of `row_bytes` bytes each.
inline void gather_bytes(const char* matrix, int64_t num_rows, int64_t row_bytes, const int64_t* rows, int64_t count,
                         char* out, Ask ask) {
  if (row_bytes == 4) return gather_sized<4>(matrix, num_rows, row_bytes, rows, count, out, ask);
  if (row_bytes == 8) return gather_sized<8>(matrix, num_rows, row_bytes, rows, count, out, ask);
  gather_sized<0>(matrix, num_rows, row_bytes, rows, count, out, ask);
}

// Copy stretches of bytes, given by where they start and how long they are, each to its place in `out`.
inline void gather_stretches(const char* bytes, const int64_t* start, const int64_t* length, const int64_t* place,
                             int64_t count, char* out, Ask ask) {
  copy_scattered(
      count, [=](int64_t item) { return Piece{bytes + start[item], length[item]}; },
      [=](int64_t item) {
        count_steps(length[item] / 64);
        std::memcpy(out + place[item], bytes + start[item], static_cast<size_t>(length[item]));
      },
      ask);
}

// Copy rows of `width` values, each through `widen(value, column)`.
template <class T, class Widen>
void gather_wide(const T* matrix, int64_t num_rows, int64_t width, const int64_t* rows, int64_t count, float* out,
                 Ask ask, Widen&& widen) {
  const auto* const bytes = reinterpret_cast<const char*>(matrix);
  const auto row_bytes = width * static_cast<int64_t>(sizeof(T));
  copy_scattered(
      count, [=](int64_t item) { return row_piece(bytes, num_rows, row_bytes, rows[item]); },
      [=](int64_t item) {
        check_row(rows[item], num_rows);
        const T* row = matrix + rows[item] * width;
        float* to = out + item * width;
        for (int64_t column = 0; column < width; ++column) to[column] = widen(row[column], column);
      },
      ask);
}

// A CSR matrix in mapped files.
struct SparseRows {
  const int64_t* indptr;
  const int32_t* indices;
  const float* data;
  int64_t num_rows, num_values, width;
};

// Copy CSR rows into the zeroed dense [count, width] matrix `out`: first where they lie, then their columns, then their
// values, so that each file is read in one sweep if it has to come from the disk.
inline void gather_sparse(const SparseRows& matrix, const int64_t* rows, int64_t count, float* out, Ask ask) {
  const auto* const indptr = reinterpret_cast<const char*>(matrix.indptr);
  std::vector<int64_t> first(static_cast<size_t>(count)), place(static_cast<size_t>(count) + 1, 0);
  copy_scattered(
      count,
      [&](int64_t item) {
        Piece piece = row_piece(indptr, matrix.num_rows, sizeof(int64_t), rows[item]);
        piece.num_bytes *= 2;  // The start of the row and its end.
        return piece;
      },
      [&](int64_t item) {
        check_row(rows[item], matrix.num_rows);
        const int64_t begin = matrix.indptr[rows[item]], end = matrix.indptr[rows[item] + 1];
        if (begin < 0 || end < begin || end > matrix.num_values)
          throw std::invalid_argument("x_indptr is not a range of x_data");
        first[static_cast<size_t>(item)] = begin;
        place[static_cast<size_t>(item) + 1] = end - begin;
      },
      ask);
  std::partial_sum(place.begin(), place.end(), place.begin());
  std::vector<int32_t> columns(static_cast<size_t>(place.back()));
  // Call copy(item, k, value) for the k-th of all values of the rows, as `array` has it.
  const auto sweep = [&](const auto* array, auto&& copy) {
    copy_scattered(
        count,
        [&](int64_t item) {
          const auto size = place[static_cast<size_t>(item) + 1] - place[static_cast<size_t>(item)];
          return Piece{reinterpret_cast<const char*>(array + first[static_cast<size_t>(item)]),
                       size * static_cast<int64_t>(sizeof *array)};
        },
        [&](int64_t item) {
          const auto* value = array + first[static_cast<size_t>(item)];
          for (int64_t k = place[static_cast<size_t>(item)]; k < place[static_cast<size_t>(item) + 1]; ++k)
            copy(item, static_cast<size_t>(k), *value++);
        },
        ask);
  };
  sweep(matrix.indices, [&](int64_t, size_t k, int32_t column) {
    if (column < 0 || column >= matrix.width)
      throw std::invalid_argument("x_indices holds a column outside the matrix");
    columns[k] = column;
  });
  sweep(matrix.data, [&](int64_t item, size_t k, float value) { out[item * matrix.width + columns[k]] = value; });
}

}  // namespace shadow
