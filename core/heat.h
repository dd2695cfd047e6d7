// Heat-kernel PageRank around a target: where a walk is after a Poisson number of steps, as far as the best nodes need.
// Not for: the whole vector of a graph.
#pragma once

#include <math.h>  // lgamma_r is not in std

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "csr.h"
#include "interrupt.h"
#include "levels.h"
#include "refine.h"
#include "scope.h"

namespace shadow {

struct HeatOptions {
  double time = 3;  // mean number of steps
  int64_t topk = 200;
  double tolerance = 0;     // > 0: the plain rule, walk on while that is worth more than tolerance * degree
  double precision = 0.15;  // otherwise: refine until the tolerance is this share of the topk-th score
};

template <class Id>
class Heat {
 public:
  // Walk from the targets (each with the same share) and fill `ranking` with the nodes met: targets first, the others
  // with their estimated scores. hide_link: as if there were no edge between two targets.
  void rank(const Csr<Id>& csr, const Id* targets, int32_t num_targets, const HeatOptions& options, bool hide_link,
            Ranking<Id>& ranking) {
    set_steps(options.time);
    levels_.start(csr, targets, num_targets, hide_link);
    if (options.tolerance > 0) {
      walk(csr, options.tolerance, INT64_MAX);
      levels_.collect(0, ranking);
    } else {
      refine(csr, options);
      levels_.collect(levels_.far_share(csr, left_), ranking);
    }
  }

  int64_t nodes_touched() const { return levels_.nodes_touched(); }
  int64_t edges_touched() const { return levels_.edges_touched(); }

 private:
  static constexpr double kUnderflow = 1e-280;

  // The plain lgamma also writes a sign to a variable that all threads share.
  static double log_factorial(double number) {
#if defined(__GLIBC__) || defined(__APPLE__)
    int sign;
    return ::lgamma_r(number + 1, &sign);
#else
    return std::lgamma(number + 1);
#endif
  }

  // Walks are as long as numbers can tell.
  void set_steps(double time) {
    if (time == time_) return;
    time_ = time;
    at_.clear();
    for (double steps = 0; steps <= time || at_.back() > kUnderflow; ++steps) {
      at_.push_back(std::exp(steps * std::log(time) - time - log_factorial(steps)));
    }
    beyond_.assign(at_.size(), 0);
    for (size_t step = at_.size() - 1; step > 0; --step) beyond_[step - 1] = beyond_[step] + at_[step];
  }

  // Coarse to fine, each time from the targets, since what is finer costs so much more than what was coarser.
  void refine(const Csr<Id>& csr, const HeatOptions& options) {
    for (Refinement search(options.topk, options.precision);; levels_.restart()) {
      const bool has_walked_all = walk(csr, search.tolerance(), Refinement::kMaxRow);
      if (levels_.size() > options.topk) {
        if (search.is_settled(levels_.best(options.topk))) return;
      } else {
        if (search.is_exhausted(has_walked_all, std::min(0.1, 1e6 * search.tolerance()))) return;
      }
    }
  }

  // Walk on from every node whose mass, for all the steps that may follow, is above tolerance * degree. Return whether
  // each node met was walked on from; left_ is the mass that was not, as far as steps may follow.
  bool walk(const Csr<Id>& csr, double tolerance, int64_t max_row) {
    int64_t num_sent = 0;
    left_ = 0;
    for (size_t step = 0; step < at_.size() && !levels_.frontier().empty(); ++step) {
      const std::vector<int32_t>& frontier = levels_.frontier();
      count_steps(static_cast<int64_t>(frontier.size()));
      for (size_t at = 0; at < frontier.size(); ++at) {
        if (at + Levels<Id>::kAhead < frontier.size()) levels_.prefetch_list(csr, frontier[at + Levels<Id>::kAhead]);
        LevelMass& mass = levels_[frontier[at]];
        mass.score += at_[step] * mass.now;
        const double following = beyond_[step] * mass.now;
        // A node without neighbours holds no list to pay for, so it is weighed as if it had one entry.
        if (following > tolerance * std::max(mass.degree, 1.0f)) {
          num_sent += !mass.has_sent;
          mass.has_sent = true;
          levels_.send(csr, static_cast<size_t>(frontier[at]), mass.now, max_row);
        } else {
          left_ += following;
        }
      }
      levels_.step();
    }
    return num_sent == levels_.size();
  }

  Levels<Id> levels_;
  double time_ = -1, left_ = 0;
  std::vector<double> at_, beyond_;  // by number of steps: the probability of as many, and of more
};

}  // namespace shadow
