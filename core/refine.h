// How fine the search around a target must be: from coarse to fine, until the choice of the best nodes is settled.
// Not for: the search itself (ppr.h, heat.h).
#pragma once

#include <algorithm>
#include <cstdint>

namespace shadow {

// Mass stays where it is while it is below tolerance * degree.
class Refinement {
 public:
  // Lists longer than this are read through evenly spaced entries when the tolerance is ours to choose: the neighbours
  // of such a hub differ too little in score to be worth a visit each.
  static constexpr int64_t kMaxRow = int64_t{1} << 20;

  // precision: the share of the topk-th score that the tolerance may be.
  Refinement(int64_t topk, double precision)
      : precision_(precision), tolerance_(std::min(1e-3, 0.2 / static_cast<double>(topk))) {}

  double tolerance() const { return tolerance_; }

  // More than topk nodes were met, the topk-th with the score `kth`. Return whether what is still to come moves few
  // nodes across the border; otherwise the tolerance is now finer.
  bool is_settled(double kth) {
    const double wanted = std::max(precision_ * kth, kFinest);
    if (!(tolerance_ > 1.25 * wanted)) return true;  // Also where weights of a damaged file leave no numbers.
    tolerance_ = std::max(wanted, 0.1 * tolerance_);
    return false;
  }

  // Fewer nodes were met. Return whether there are no more: `is_whole` tells whether all mass of the component has
  // moved. Otherwise the tolerance is now finer by `factor`.
  bool is_exhausted(bool is_whole, double factor) {
    if (tolerance_ < kUnderflow || (is_whole && tolerance_ <= 1e-6)) return true;
    tolerance_ *= factor;
    return false;
  }

 private:
  static constexpr double kFinest = 1e-9;
  static constexpr double kUnderflow = 1e-280;

  double precision_, tolerance_;
};

}  // namespace shadow
