// Bias, activation and normalisation of every row in one go, and their backward: each alone would read and write all
// rows again.
// Not for: statistics over rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "lanes.h"
#include "team.h"

namespace shadow {

enum class Activation { kNone, kRelu, kElu };

// Rows of `heads` equal parts, each of which is normalised by itself.
template <class Value>
struct NormTask {
  using Number = Sum<Value>;
  const Value* x;        // [num_rows, heads, dim]
  const Number* bias;    // [heads * dim], or null
  const Number* scale;   // [heads * dim]
  const Number* offset;  // [heads * dim]
  const Number* plus;    // [num_rows, heads * dim] that is added to the result, or null
  int64_t num_rows, heads, dim;
  Activation activation;
  Number epsilon;
  Number* out;      // [num_rows, heads * dim]
  Number* mean;     // [num_rows, heads]
  Number* inverse;  // [num_rows, heads], 1 / deviation

  int64_t width() const { return heads * dim; }
};

template <class Value>
struct NormGradients {
  using Number = Sum<Value>;
  const Number* out;  // [num_rows, heads * dim]
  Value* x;
  Number* bias;    // [heads * dim], or null
  Number* scale;   // [heads * dim]
  Number* offset;  // [heads * dim]
};

// out[c] = activation(x[c] + bias[c])
template <class Value>
SHADOW_INLINE void activate(const Value* x, const Sum<Value>* bias, Activation activation, int64_t count,
                            Sum<Value>* __restrict out) {
  if (bias == nullptr) {
    for (int64_t c = 0; c < count; ++c) out[c] = widen(x[c]);
  } else {
    for (int64_t c = 0; c < count; ++c) out[c] = widen(x[c]) + bias[c];
  }
  if (activation == Activation::kRelu) {
    for (int64_t c = 0; c < count; ++c) out[c] = out[c] < 0 ? 0 : out[c];
  } else if (activation == Activation::kElu) {
    for (int64_t c = 0; c < count; ++c) {
      const Sum<Value> power = exp_below(out[c] < 0 ? out[c] : 0) - 1;
      out[c] = out[c] < 0 ? power : out[c];
    }
  }
}

// Multiply a gradient by the slope of the activation, which is known from what came out of it.
template <class Number>
SHADOW_INLINE void slope_down(const Number* active, Activation activation, int64_t count, Number* __restrict gradient) {
  if (activation == Activation::kRelu) {
    for (int64_t c = 0; c < count; ++c) gradient[c] = active[c] > 0 ? gradient[c] : 0;
  } else if (activation == Activation::kElu) {
    for (int64_t c = 0; c < count; ++c) gradient[c] *= active[c] < 0 ? active[c] + 1 : 1;
  }
}

// sum over c of (left[c] - shift) * (right[c] - shift)
template <class Number>
SHADOW_INLINE Number dot_shifted(const Number* left, const Number* right, Number shift, int64_t count) {
  using S = Step<Number>;
  typename S::Vector sum = {};
  int64_t c = 0;
  for (; c + S::kSize <= count; c += S::kSize) {
    typename S::Vector a[1], b[1];
    S::load(left + c, a);
    S::load(right + c, b);
    sum += (a[0] - shift) * (b[0] - shift);
  }
  Number total = across(sum);
  for (; c < count; ++c) total += (left[c] - shift) * (right[c] - shift);
  return total;
}

// sum over c of x[c]
template <class Number>
SHADOW_INLINE Number total_of(const Number* x, int64_t count) {
  using S = Step<Number>;
  typename S::Vector sum = {};
  int64_t c = 0;
  for (; c + S::kSize <= count; c += S::kSize) {
    typename S::Vector part[1];
    S::load(x + c, part);
    sum += part[0];
  }
  Number total = across(sum);
  for (; c < count; ++c) total += x[c];
  return total;
}

template <class Value>
SHADOW_CLONED void norm_rows(const NormTask<Value>& task, int64_t first, int64_t last, Sum<Value>* __restrict active) {
  using Number = Sum<Value>;
  const int64_t dim = task.dim;
  for (int64_t part = first * task.heads; part < last * task.heads; ++part) {
    const int64_t column = part % task.heads * dim;
    activate(task.x + part * dim, task.bias == nullptr ? nullptr : task.bias + column, task.activation, dim, active);
    const Number mean = total_of(active, dim) / static_cast<Number>(dim);
    const Number variance = dot_shifted(active, active, mean, dim) / static_cast<Number>(dim);
    const Number inverse = 1 / std::sqrt(variance + task.epsilon);
    task.mean[part] = mean;
    task.inverse[part] = inverse;
    const Number* const scale = task.scale + column;
    const Number* const offset = task.offset + column;
    Number* __restrict const out = task.out + part * dim;
    if (task.plus == nullptr) {
      for (int64_t c = 0; c < dim; ++c) out[c] = (active[c] - mean) * inverse * scale[c] + offset[c];
    } else {
      const Number* const plus = task.plus + part * dim;
      for (int64_t c = 0; c < dim; ++c) out[c] = (active[c] - mean) * inverse * scale[c] + offset[c] + plus[c];
    }
  }
}

// With n = (active - mean) * inverse and h = d out * scale, d active = inverse * (h - mean(h) - n * mean(h * n)). The
// gradients of bias, scale and offset are summed over these rows into sums [3, heads * dim].
template <class Value>
SHADOW_CLONED void norm_rows_back(const NormTask<Value>& task, const NormGradients<Value>& gradients, int64_t first,
                                  int64_t last, Sum<Value>* scratch, Sum<Value>* __restrict sums) {
  using Number = Sum<Value>;
  const int64_t dim = task.dim, width = task.width();
  Number* __restrict const active = scratch;
  Number* __restrict const normed = scratch + dim;
  Number* __restrict const scaled = scratch + 2 * dim;
  for (int64_t part = first * task.heads; part < last * task.heads; ++part) {
    const int64_t column = part % task.heads * dim;
    activate(task.x + part * dim, task.bias == nullptr ? nullptr : task.bias + column, task.activation, dim, active);
    const Number mean = task.mean[part], inverse = task.inverse[part];
    const Number* const out = gradients.out + part * dim;
    const Number* const scale = task.scale + column;
    Number* __restrict const for_scale = sums + width + column;
    Number* __restrict const for_offset = sums + 2 * width + column;
    for (int64_t c = 0; c < dim; ++c) {
      normed[c] = (active[c] - mean) * inverse;
      scaled[c] = out[c] * scale[c];
      for_scale[c] += out[c] * normed[c];
      for_offset[c] += out[c];
    }
    const Number shift = total_of(scaled, dim) / static_cast<Number>(dim);
    const Number slope = dot_shifted(scaled, normed, Number(0), dim) / static_cast<Number>(dim);
    for (int64_t c = 0; c < dim; ++c) scaled[c] = inverse * (scaled[c] - shift - normed[c] * slope);
    slope_down(active, task.activation, dim, scaled);
    Value* __restrict const for_x = gradients.x + part * dim;
    for (int64_t c = 0; c < dim; ++c) narrow(scaled[c], for_x[c]);
    if (task.bias != nullptr) {
      Number* __restrict const for_bias = sums + column;
      for (int64_t c = 0; c < dim; ++c) for_bias[c] += scaled[c];
    }
  }
}

// Rows go in blocks that do not depend on the number of threads, and sums over rows are joined block by block: the
// result is the same for any number of threads.
constexpr int64_t kMostRowBlocks = 64;
constexpr int64_t kLeastRowBlock = 16;

struct RowBlocks {
  explicit RowBlocks(int64_t count_of_rows)
      : num_rows(count_of_rows), size(std::max(kLeastRowBlock, (num_rows + kMostRowBlocks - 1) / kMostRowBlocks)) {}
  int64_t count() const { return (num_rows + size - 1) / size; }
  int64_t first(int64_t block) const { return block * size; }
  int64_t last(int64_t block) const { return std::min(num_rows, (block + 1) * size); }
  int64_t num_rows, size;
};

template <class Value>
void norm(const NormTask<Value>& task, int num_threads) {
  const RowBlocks blocks(task.num_rows);
  run_team(blocks.count(), task.num_rows * task.width(), num_threads, [&](Handout& handout) {
    std::vector<Sum<Value>> active(static_cast<size_t>(task.dim));
    for (int64_t block = handout.take(); block >= 0; block = handout.take()) {
      norm_rows(task, blocks.first(block), blocks.last(block), active.data());
    }
  });
}

template <class Value>
void norm_backward(const NormTask<Value>& task, const NormGradients<Value>& gradients, int num_threads) {
  using Number = Sum<Value>;
  const RowBlocks blocks(task.num_rows);
  const auto width = static_cast<size_t>(task.width());
  std::vector<Number> sums(static_cast<size_t>(blocks.count()) * 3 * width, Number(0));
  run_team(blocks.count(), task.num_rows * task.width(), num_threads, [&](Handout& handout) {
    std::vector<Number> scratch(static_cast<size_t>(3 * task.dim));
    for (int64_t block = handout.take(); block >= 0; block = handout.take()) {
      norm_rows_back(task, gradients, blocks.first(block), blocks.last(block), scratch.data(),
                     sums.data() + static_cast<size_t>(block) * 3 * width);
    }
  });
  Number* const results[] = {gradients.bias, gradients.scale, gradients.offset};
  for (size_t kind = 0; kind < 3; ++kind) {
    if (results[kind] == nullptr) continue;
    std::fill_n(results[kind], width, Number(0));
    for (size_t block = 0; block < static_cast<size_t>(blocks.count()); ++block) {
      const Number* const from = sums.data() + (3 * block + kind) * width;
      for (size_t c = 0; c < width; ++c) results[kind][c] += from[c];
    }
  }
}

}  // namespace shadow
