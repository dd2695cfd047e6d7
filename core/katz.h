// The Katz index around a target: all walks from it, each attenuated by its length, as far as the best nodes need.
// Not for: whether the sum is finite (radius.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "csr.h"
#include "interrupt.h"
#include "levels.h"
#include "scope.h"

namespace shadow {

struct KatzOptions {
  double attenuation = 0;  // factor of each step; the sum is finite below 1 / spectral radius
  double max_weight = 1;   // no edge weighs more
  int64_t topk = 200;
  double tolerance = 0;     // > 0: the plain rule, walk on while a step brings more than this to each neighbour
  double precision = 0.01;  // otherwise: more than this share of the topk-th score
};

template <class Id>
class Katz {
 public:
  // Walk from the targets (each with the same share) and fill `ranking` with the nodes met: targets first, the others
  // with their estimated scores. hide_link: as if there were no edge between two targets.
  void rank(const Csr<Id>& csr, const Id* targets, int32_t num_targets, const KatzOptions& options, bool hide_link,
            Ranking<Id>& ranking) {
    const bool plain = options.tolerance > 0;
    const int64_t most = plain ? INT64_MAX : kMostPerNode * std::min(options.topk, INT64_MAX / kMostPerNode);
    levels_.start(csr, targets, num_targets, hide_link);
    double left = 0;
    int64_t num_known = 0;
    for (int step = 0; step < kMostSteps; ++step) {
      count_steps(static_cast<int64_t>(levels_.frontier().size()));
      for (const int32_t number : levels_.frontier()) levels_[number].score += levels_[number].now;
      const bool has_grown = levels_.size() > num_known;
      num_known = levels_.size();
      const double tolerance = plain ? options.tolerance : options.precision * border(options.topk, has_grown);
      left += choose(csr, options, tolerance, most - levels_.edges_touched());
      if (due_.empty()) break;
      walk(csr, options.attenuation, plain ? INT64_MAX : kMaxRow);
    }
    const bool known = csr.weight == nullptr && !plain;
    levels_.collect(known ? levels_.far_share(csr, options.attenuation * left) : 0, ranking);
  }

  int64_t nodes_touched() const { return levels_.nodes_touched(); }
  int64_t edges_touched() const { return levels_.edges_touched(); }

 private:
  // Entries of lists that are visited for a target, at most, as a multiple of topk; the list that reaches it is
  // finished.
  static constexpr int64_t kMostPerNode = 128;
  // Of a longer list, evenly spaced entries are visited.
  static constexpr int64_t kMaxRow = int64_t{1} << 14;
  // Walks longer than this are left out: a factor of 0.999 has fallen below 1e-4 by then.
  static constexpr int kMostSteps = 10'000;

  // The topk-th score so far, which can only rise. Where fewer nodes are met, all of them matter: 0 while there are
  // new ones, then the least score.
  double border(int64_t topk, bool has_grown) {
    if (levels_.size() > topk) return levels_.best(topk);
    return has_grown ? 0 : levels_.best(levels_.size());
  }

  // Choose the nodes of the frontier that are walked on from: those that bring each neighbour more than the tolerance,
  // and if their lists are longer than `room`, first those that bring most, then those with the shortest lists. Return
  // the sum of mass times degree over the others.
  double choose(const Csr<Id>& csr, const KatzOptions& options, double tolerance, int64_t room) {
    double wanted = 0, left = 0;
    due_.clear();
    for (const int32_t number : levels_.frontier()) {
      const LevelMass& mass = levels_[number];
      const double gain = gain_of(csr, options, number, tolerance);
      if (gain > tolerance) {
        due_.push_back({gain, number});
        wanted += mass.degree;
      } else {
        left += mass.now * mass.degree;
      }
    }
    if (wanted > static_cast<double>(room)) left += cut(room);
    return left;
  }

  // What a step from a node brings to each neighbour, on average; 0 if it cannot be above the tolerance.
  double gain_of(const Csr<Id>& csr, const KatzOptions& options, int32_t number, double tolerance) {
    const LevelMass& mass = levels_[number];
    const double gain = options.attenuation * mass.now;
    if (!(mass.degree > 0)) return 0;
    if (csr.weight == nullptr) return gain;
    if (!(gain * options.max_weight > tolerance)) return 0;
    return gain * levels_.total_weight(csr, static_cast<size_t>(number), kMaxRow) / mass.degree;
  }

  double cut(int64_t room) {
    std::sort(due_.begin(), due_.end(), [this](const Due& a, const Due& b) {
      if (a.gain != b.gain) return a.gain > b.gain;
      const float a_degree = levels_[a.number].degree, b_degree = levels_[b.number].degree;
      return a_degree != b_degree ? a_degree < b_degree : a.number < b.number;
    });
    size_t kept = 0;
    double used = 0, left = 0;
    for (const Due& due : due_) {
      const LevelMass& mass = levels_[due.number];
      if (used < static_cast<double>(room)) {
        used += std::min<double>(mass.degree, kMaxRow);
        ++kept;
      } else {
        left += mass.now * mass.degree;
      }
    }
    due_.resize(kept);
    return left;
  }

  void walk(const Csr<Id>& csr, double attenuation, int64_t max_row) {
    for (size_t at = 0; at < due_.size(); ++at) {
      if (at + Levels<Id>::kAhead < due_.size()) levels_.prefetch_list(csr, due_[at + Levels<Id>::kAhead].number);
      const int32_t number = due_[at].number;
      levels_.spread(csr, static_cast<size_t>(number), attenuation * levels_[number].now, max_row);
    }
    levels_.step();
  }

  struct Due {
    double gain;
    int32_t number;
  };

  Levels<Id> levels_;
  std::vector<Due> due_;
};

}  // namespace shadow
