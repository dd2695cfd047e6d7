// Cosine similarity of many nodes' features to those of a target, read where they lie in the matrix.
// Not for: which nodes are compared (engine.h).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "csr.h"
#include "gather.h"
#include "interrupt.h"
#include "lanes.h"
#include "scratch.h"

namespace shadow {

enum class FeatureKind { kFloat, kHalf, kByte, kSparse };

// Borrowed features of all nodes: a dense matrix, or CSR rows.
struct FeatureView {
  FeatureKind kind = FeatureKind::kFloat;
  int64_t num_rows = 0, width = 0;
  const void* matrix = nullptr;     // dense
  const float* scale = nullptr;     // of each column of bytes
  const int64_t* indptr = nullptr;  // CSR
  const int32_t* indices = nullptr;
  const float* data = nullptr;
  int64_t num_values = 0;
};

// A value of a dense matrix as float32.
struct FloatValue {
  using Stored = float;
  const float* scale;
  SHADOW_INLINE float operator()(float value, int64_t) const { return value; }
};
struct HalfValue {
  using Stored = uint16_t;
  const float* scale;
  SHADOW_INLINE float operator()(uint16_t value, int64_t) const { return widen_half(value); }
};
struct ByteValue {
  using Stored = int8_t;
  const float* scale;
  SHADOW_INLINE float operator()(int8_t value, int64_t column) const {
    return static_cast<float>(value) * scale[column];
  }
};

// Of each row: its product with the query, and with itself. In float64, where no square of a float32 overflows. The
// lanes are summed in a fixed order, so that the same row gives the same bits in any company.
template <class Value>
SHADOW_CLONED void multiply_rows(const typename Value::Stored* matrix, int64_t width, const int64_t* rows,
                                 int64_t count, Value value_of, const float* query, double* product, double* square) {
  constexpr int64_t kLanes = 8;
  const int64_t row_bytes = width * static_cast<int64_t>(sizeof(typename Value::Stored));
  for (int64_t item = 0; item < count; ++item) {
    if (item + kItemsAhead < count) {
      const char* const next = reinterpret_cast<const char*>(matrix + rows[item + kItemsAhead] * width);
      for (int64_t line = 0; line < row_bytes && line < 512; line += 64) prefetch(next + line);
    }
    const typename Value::Stored* const row = matrix + rows[item] * width;
    count_steps(1 + width / kLanes);
    double products[kLanes] = {}, squares[kLanes] = {};
    int64_t column = 0;
    for (; column + kLanes <= width; column += kLanes) {
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        const double value = value_of(row[column + lane], column + lane);
        products[lane] += value * query[column + lane];
        squares[lane] += value * value;
      }
    }
    for (; column < width; ++column) {
      const double value = value_of(row[column], column);
      products[0] += value * query[column];
      squares[0] += value * value;
    }
    product[item] = square[item] = 0;
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      product[item] += products[lane];
      square[item] += squares[lane];
    }
  }
}

// A rank by similarity, then by another score where that is the same: both from 0 to 1, smaller ranks are better. The
// similarity is taken in steps of 2^-24 and the other to about 2^-22 of itself: together they fill a float64 exactly.
inline double rank_of(float similarity, float other) {
  uint32_t bits;  // of positive floats, in their order
  std::memcpy(&bits, &other, sizeof bits);
  return -(std::nearbyint(static_cast<double>(similarity) * 0x1.0p24) * 0x1.0p29 + static_cast<double>(bits >> 1));
}

// Where each column of the targets' features stands among those that are kept: where it is in the matrix or, of very
// wide sparse rows, in the order in which they were met. Memory then depends on the values of the targets alone.
class KeptColumns {
 public:
  void start(const FeatureView& features) {
    met_.clear();
    hashes_ = features.kind == FeatureKind::kSparse && features.width > kMostDirect;
    width_ = static_cast<size_t>(features.width);
  }

  // Keep a column.
  void keep(int32_t column) {
    if (!hashes_) return;
    met_.reserve_more(1);
    met_.add(column);
  }

  // The place of a column, or size() for one that is not kept.
  size_t place(int32_t column) const {
    if (!hashes_) return static_cast<size_t>(column);
    const int32_t number = met_.find(column);
    return number < 0 ? met_.size() : static_cast<size_t>(number);
  }

  size_t size() const { return hashes_ ? met_.size() : width_; }

 private:
  static constexpr int64_t kMostDirect = int64_t{1} << 20;

  NodeIndex<int32_t> met_;
  bool hashes_ = false;
  size_t width_ = 0;
};

// How alike nodes are to the targets: the mean over the targets of the cosine of the angle between the features, as
// (1 + cosine) / 2, which is above 0. A node whose features are all zero is as near to everything as at a right angle.
class Similarity {
 public:
  // Compare with these rows from here on.
  void set_targets(const FeatureView& features, const int64_t* rows, int64_t count) {
    columns_.start(features);
    if (features.kind == FeatureKind::kSparse) {
      for (int64_t target = 0; target < count; ++target) {
        visit_sparse(features, rows[target], [&](int32_t column, double) { columns_.keep(column); });
      }
    }
    query_.assign(columns_.size() + 1, 0.0f);  // The last is of all columns that no target has.
    sum_.assign(query_.size(), 0.0);
    for (int64_t target = 0; target < count; ++target) add_unit(features, rows[target], static_cast<double>(count));
    for (size_t column = 0; column < query_.size(); ++column) query_[column] = static_cast<float>(sum_[column]);
  }

  // The similarity of each of `count` rows into `out`.
  void score(const FeatureView& features, const int64_t* rows, int64_t count, float* out) {
    product_.resize(static_cast<size_t>(count));
    square_.resize(static_cast<size_t>(count));
    multiply(features, rows, count);
    for (int64_t item = 0; item < count; ++item) {
      const double square = square_[static_cast<size_t>(item)];
      if (!std::isfinite(square)) throw_not_finite(rows[item]);
      const double cosine = square > 0 ? product_[static_cast<size_t>(item)] / std::sqrt(square) : 0;
      out[item] = static_cast<float>(0.5 + 0.5 * std::min(1.0, std::max(kLeast, cosine)));
    }
  }

 private:
  static constexpr double kLeast = -1 + 1e-7;  // keeps the score above 0

  [[noreturn]] static void throw_not_finite(int64_t row) {
    throw CorruptGraph("features of node " + std::to_string(row) + " are not finite");
  }

  void multiply(const FeatureView& features, const int64_t* rows, int64_t count) {
    if (features.kind == FeatureKind::kSparse) {
      for (int64_t item = 0; item < count; ++item) multiply_sparse(features, rows[item], static_cast<size_t>(item));
    } else {
      visit_dense(features, [&](auto value_of, const auto* matrix) {
        multiply_rows(matrix, features.width, rows, count, value_of, query_.data(), product_.data(), square_.data());
      });
    }
  }

  template <class Visit>
  static void visit_dense(const FeatureView& features, Visit&& visit) {
    if (features.kind == FeatureKind::kFloat) {
      visit(FloatValue{nullptr}, static_cast<const float*>(features.matrix));
    } else if (features.kind == FeatureKind::kHalf) {
      visit(HalfValue{nullptr}, static_cast<const uint16_t*>(features.matrix));
    } else {
      visit(ByteValue{features.scale}, static_cast<const int8_t*>(features.matrix));
    }
  }

  template <class Visit>
  static void visit_sparse(const FeatureView& features, int64_t row, Visit&& visit) {
    const int64_t first = features.indptr[row], last = features.indptr[row + 1];
    if (first < 0 || last < first || last > features.num_values) {
      throw CorruptGraph("x_indptr of node " + std::to_string(row) + " is not a range of x_data");
    }
    count_steps(last - first + 1);
    for (int64_t value = first; value < last; ++value) {
      const int32_t column = features.indices[value];
      if (column < 0 || column >= features.width) throw CorruptGraph("x_indices holds a column outside the matrix");
      visit(column, static_cast<double>(features.data[value]));
    }
  }

  void multiply_sparse(const FeatureView& features, int64_t row, size_t item) {
    double product = 0, square = 0;
    visit_sparse(features, row, [&](int32_t column, double value) {
      product += value * query_[columns_.place(column)];
      square += value * value;
    });
    product_[item] = product;
    square_[item] = square;
  }

  // Add the row, scaled to length 1 / count.
  void add_unit(const FeatureView& features, int64_t row, double count) {
    count_steps(static_cast<int64_t>(query_.size()) / 8);
    row_.assign(query_.size(), 0.0);
    if (features.kind == FeatureKind::kSparse) {
      visit_sparse(features, row, [&](int32_t column, double value) { row_[columns_.place(column)] = value; });
    } else {
      visit_dense(features, [&](auto value_of, const auto* matrix) {
        const auto* const values = matrix + row * features.width;
        for (int64_t column = 0; column < features.width; ++column) {
          row_[static_cast<size_t>(column)] = value_of(values[column], column);
        }
      });
    }
    double square = 0;
    for (const double value : row_) square += value * value;
    if (!std::isfinite(square)) throw_not_finite(row);
    if (square == 0) return;
    const double factor = 1 / (std::sqrt(square) * count);
    for (size_t column = 0; column < row_.size(); ++column) sum_[column] += row_[column] * factor;
  }

  KeptColumns columns_;
  std::vector<float> query_;       // mean of the targets' features, each scaled to length 1
  std::vector<double> sum_, row_;  // the same on the way
  std::vector<double> product_, square_;
};

}  // namespace shadow
