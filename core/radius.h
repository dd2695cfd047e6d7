// A bound on the spectral radius of a graph's weighted adjacency, above which sums over its walks may be infinite.
// Not for: eigenvectors.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "csr.h"
#include "guard.h"
#include "interrupt.h"
#include "parallel.h"

namespace shadow {

struct Radius {
  double bound;       // the spectral radius is at most this
  double max_weight;  // of an edge
};

// Collatz and Wielandt: for any positive x the radius is at most the largest (A x)_i / x_i. The power method on A plus
// a share of the identity makes that fall towards the radius, for any graph. Two floats for each node of the graph.
template <class Id>
class RadiusSearch {
 public:
  explicit RadiusSearch(const Csr<Id>& csr) : csr_(csr) {
    const int64_t num_blocks = (csr.num_nodes + kBlock - 1) / kBlock;
    most_.resize(static_cast<size_t>(num_blocks));
    heaviest_.resize(static_cast<size_t>(num_blocks));
    x_.assign(static_cast<size_t>(csr.num_nodes), 1.0f);
    product_.resize(static_cast<size_t>(csr.num_nodes));
  }

  // About num_steps passes over the edges at most; fewer once they bring no more.
  Radius run(int num_steps, int num_threads) {
    double bound = multiply(num_threads);  // the largest sum of a row
    const double max_weight = heaviest_.empty() ? 0 : *std::max_element(heaviest_.begin(), heaviest_.end());
    if (!(bound > 0)) return {0, max_weight};
    unit_ = bound;
    multiply(num_threads);
    for (size_t node = 0; node < x_.size(); ++node) x_[node] = product_[node] > 0 ? std::sqrt(product_[node]) : 1.0f;
    for (int step = 0; step < num_steps; ++step) {
      const double found = multiply(num_threads);
      const bool has_settled = step > kFirstSteps && found > (1 - kSettled) * bound;
      bound = std::min(bound, found);
      if (has_settled) break;
      advance(found);
    }
    return {bound * (1 + kRounding), max_weight};
  }

 private:
  static constexpr int64_t kBlock = int64_t{1} << 12;  // rows
  static constexpr int kFirstSteps = 4;
  static constexpr double kSettled = 1e-3, kRounding = 1e-5;
  static constexpr double kShift = 0.25;  // of the identity, in radii

  // product_ = A x_ / unit_; return the largest (A x)_i / x_i.
  double multiply(int num_threads) {
    parallel_for(static_cast<int64_t>(most_.size()), num_threads,
                 [this](int, int64_t block) { guarded([this, block] { multiply_block(block); }); });
    return most_.empty() ? 0 : *std::max_element(most_.begin(), most_.end());
  }

  void multiply_block(int64_t block) {
    const int64_t last = std::min((block + 1) * kBlock, csr_.num_nodes);
    double most = 0;
    float heaviest = 0;
    for (int64_t node = block * kBlock; node < last; ++node) {
      const Row<Id> row = csr_.row(static_cast<Id>(node));
      count_steps(row.size() + 1);
      double sum = 0;
      for (int64_t entry = 0; entry < row.size(); ++entry) {
        const float weight = csr_.weight == nullptr ? 1.0f : csr_.weight_at(row.position + entry);
        heaviest = std::max(heaviest, weight);
        sum += static_cast<double>(weight) * x_[static_cast<size_t>(csr_.checked(row.begin[entry]))];
      }
      product_[static_cast<size_t>(node)] = static_cast<float>(sum / unit_);
      most = std::max(most, sum / x_[static_cast<size_t>(node)]);
    }
    most_[static_cast<size_t>(block)] = most;
    heaviest_[static_cast<size_t>(block)] = heaviest;
  }

  // One step of the power method, scaled so that no value grows; none falls to zero, so that x stays positive.
  void advance(double radius) {
    const double shift = kShift * radius;
    for (size_t node = 0; node < x_.size(); ++node) {
      const double value = (unit_ * product_[node] + shift * x_[node]) / (radius + shift);
      x_[node] = std::max(static_cast<float>(value), std::numeric_limits<float>::min());
    }
  }

  Csr<Id> csr_;
  double unit_ = 1;  // x_ is at most 1, and with the largest sum of a row for a unit product_ is too
  std::vector<float> x_, product_;
  std::vector<double> most_;     // by block of rows: the largest (A x)_i / x_i
  std::vector<float> heaviest_;  // and the largest weight
};

}  // namespace shadow
