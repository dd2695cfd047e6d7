// Heat-kernel PageRank around a target: where a walk is after a Poisson number of steps, as far as the best nodes need.
// Not for: the whole vector of a graph.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "csr.h"
#include "levels.h"
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
    double far_share = 0;
    if (options.tolerance > 0) {
      walk(csr, options.tolerance, INT64_MAX);
    } else {
      refine(csr, options);
      const int64_t num_edges = std::max<int64_t>(csr.num_edges - levels_.num_hidden(), 1);
      far_share = csr.symmetric ? left_ / static_cast<double>(num_edges) : 0;
    }
    levels_.collect(ranking, [far_share](const LevelMass& mass) { return mass.score + far_share * mass.degree; });
  }

  int64_t nodes_touched() const { return levels_.nodes_touched(); }
  int64_t edges_touched() const { return levels_.edges_touched(); }

 private:
  // Of a longer list, evenly spaced entries are visited when the tolerance is ours to choose.
  static constexpr int64_t kMaxRow = int64_t{1} << 20;
  static constexpr double kFinest = 1e-9;
  static constexpr double kUnderflow = 1e-280;
  static constexpr size_t kAhead = 4;

  // Walks are as long as numbers can tell.
  void set_steps(double time) {
    if (time == time_) return;
    time_ = time;
    at_.clear();
    for (double steps = 0; steps <= time || at_.back() > kUnderflow; ++steps) {
      at_.push_back(std::exp(steps * std::log(time) - time - std::lgamma(steps + 1)));
    }
    beyond_.assign(at_.size(), 0);
    for (size_t step = at_.size() - 1; step > 0; --step) beyond_[step - 1] = beyond_[step] + at_[step];
  }

  // Coarse to fine, each time from the targets, since what is finer costs so much more than what was coarser. Settled
  // when the tolerance is a small share of the topk-th score. Where fewer than topk nodes were met it goes on until the
  // component ends.
  void refine(const Csr<Id>& csr, const HeatOptions& options) {
    double tolerance = std::min(1e-3, 0.2 / static_cast<double>(options.topk));
    for (;;) {
      const bool has_walked_all = walk(csr, tolerance, kMaxRow);
      if (levels_.size() > options.topk) {
        const double kth = levels_.best(options.topk, [](const LevelMass& mass) { return mass.score; });
        const double wanted = std::max(options.precision * kth, kFinest);
        if (!(tolerance > 1.25 * wanted)) return;  // Also where weights of a damaged file leave no numbers.
        tolerance = std::max(wanted, 0.1 * tolerance);
      } else {
        if (tolerance < kUnderflow || (has_walked_all && tolerance <= 1e-6)) return;
        tolerance *= std::min(0.1, 1e6 * tolerance);
      }
      levels_.restart();
    }
  }

  // Walk on from every node whose mass, for all the steps that may follow, is above tolerance * degree. Return whether
  // each node met was walked on from; left_ is the mass that was not, as far as steps may follow.
  bool walk(const Csr<Id>& csr, double tolerance, int64_t max_row) {
    int64_t num_sent = 0;
    left_ = 0;
    for (size_t step = 0; step < at_.size() && !levels_.frontier().empty(); ++step) {
      const std::vector<int32_t>& frontier = levels_.frontier();
      for (size_t at = 0; at < frontier.size(); ++at) {
        if (at + kAhead < frontier.size()) levels_.prefetch_list(csr, frontier[at + kAhead]);
        LevelMass& mass = levels_[frontier[at]];
        mass.score += at_[step] * mass.now;
        const double following = beyond_[step] * mass.now;
        // A node without neighbours holds no list to pay for, so it is weighed as if it had one entry.
        if (following > tolerance * std::max(mass.degree, 1.0f)) {
          num_sent += !mass.has_sent;
          mass.has_sent = true;
          send(csr, static_cast<size_t>(frontier[at]), mass.now, max_row);
        } else {
          left_ += following;
        }
      }
      levels_.step();
    }
    return num_sent == levels_.size();
  }

  // To the neighbours of a node in proportion to the edge weights; from a dead end home to the targets.
  void send(const Csr<Id>& csr, size_t number, double amount, int64_t max_row) {
    const double total = levels_.total_weight(csr, number, max_row);
    if (total > 0 && std::isfinite(total)) {
      levels_.spread(csr, number, amount / total, max_row);
    } else {
      levels_.send_home(amount);
    }
  }

  Levels<Id> levels_;
  double time_ = -1, left_ = 0;
  std::vector<double> at_, beyond_;  // by number of steps: the probability of as many, and of more
};

}  // namespace shadow
