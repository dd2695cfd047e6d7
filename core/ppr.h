// Personalised PageRank around a target by local pushes, as far as the choice of the best nodes needs.
// Not for: the whole PPR vector of a graph.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "csr.h"
#include "met.h"
#include "refine.h"
#include "scope.h"
#include "scratch.h"

namespace shadow {

struct PprOptions {
  double teleport = 0.2609;
  int64_t topk = 200;
  double tolerance = 0;            // > 0: the plain rule, push while residual > tolerance * degree, rank by score alone
  double precision = 0.15;         // otherwise: refine until the tolerance is this share of the topk-th score
  double threshold = 0;            // least score kept, 0 for all
  bool relative_threshold = true;  // as a share of the score of the second in rank
};

// What a push knows of a node it has touched.
struct Mass {
  double score;
  double residual;
  int64_t first;  // where its list begins
  float degree;   // exact to seven digits: more than a bound on residuals needs
  uint32_t flags;
};

template <class Id>
class Ppr {
 public:
  // Push from the targets (each with its share of the restarts, the same if null) and fill `ranking` with the touched
  // nodes: targets first, the others with their estimated scores as far as they pass the threshold. hide_link: as if
  // there were no edge between two targets.
  void rank(const Csr<Id>& csr, const Id* targets, int32_t num_targets, const PprOptions& options, bool hide_link,
            Ranking<Id>& ranking, const double* shares = nullptr) {
    start(csr, targets, num_targets, hide_link, shares);
    if (options.tolerance > 0) {
      push(csr, options.tolerance, options.teleport);
      self_share_ = far_share_ = 0;
    } else {
      refine(csr, options);
    }
    collect(options, ranking);
  }

  int64_t nodes_touched() const { return static_cast<int64_t>(met_.size()); }
  int64_t edges_touched() const { return met_.edges_touched(); }

 private:
  enum Flag : uint32_t { kQueued = 1, kPushed = 2, kTarget = 4 };

  void start(const Csr<Id>& csr, const Id* targets, int32_t num_targets, bool hide_link, const double* shares) {
    met_.start(csr, targets, num_targets, hide_link, shares);
    num_pushed_ = 0;
    for (int32_t target = 0; target < num_targets; ++target) {
      Mass& mass = met_[static_cast<size_t>(target)];
      mass.residual = met_.home_share(target, 1.0);
      mass.flags = kTarget;
    }
  }

  // Coarse to fine, each time on from where the coarser one has ended.
  void refine(const Csr<Id>& csr, const PprOptions& options) {
    self_share_ = options.teleport;
    for (Refinement search(options.topk, options.precision);;) {
      push(csr, search.tolerance(), options.teleport, Refinement::kMaxRow);
      set_far_share(csr, options.teleport);
      if (static_cast<int64_t>(met_.size()) > options.topk) {
        if (search.is_settled(kth_estimate(options.topk))) return;
      } else {
        if (search.is_exhausted(num_pushed_ == static_cast<int64_t>(met_.size()), 0.1)) return;
      }
    }
  }

  // Residual that is not yet pushed stops where it is with probability `teleport`; the rest walks on and, in an
  // undirected graph, ends up spread like degrees. Without that share, high-degree nodes at the border are missed.
  void set_far_share(const Csr<Id>& csr, double teleport) {
    double residual = 0;
    for (const Mass& mass : met_.masses()) residual += mass.residual;
    far_share_ = met_.far_share(csr, (1 - teleport) * residual);
  }

  double estimate(const Mass& mass) const {
    return mass.score + self_share_ * mass.residual + far_share_ * mass.degree;
  }

  // The topk-th score without the far share: that shrinks as a graph grows, and work per target is not to depend on it.
  double kth_estimate(int64_t topk) {
    return met_.best(topk, [this](const Mass& mass) { return mass.score + self_share_ * mass.residual; });
  }

  // Push every node whose residual is above tolerance * degree, first come, first served, until none is left. Each push
  // takes teleport * tolerance or more of the mass, which is 1 in all: so many pushes are the most, unless weights are
  // changed meanwhile.
  void push(const Csr<Id>& csr, double tolerance, double teleport, int64_t max_row = INT64_MAX) {
    queue_.clear();
    queue_.make_room(met_.size());
    for (size_t number = 0; number < met_.size(); ++number) enqueue(static_cast<int32_t>(number), tolerance);
    double pushes_left = 2 + 1.001 / (teleport * tolerance);
    for (size_t head = 0; head < queue_.size(); ++head) {
      if (--pushes_left < 0) throw CorruptGraph("the push has no end: the files of the graph change while it is read");
      if (head == kCompact) {  // Keep the queue's memory near its length.
        queue_.drop_front(kCompact);
        head = 0;
      }
      if (head + met_.kAhead < queue_.size()) met_.prefetch_list(csr, queue_[head + met_.kAhead]);
      const auto number = static_cast<size_t>(queue_[head]);
      Mass& mass = met_[number];
      num_pushed_ += !(mass.flags & kPushed);
      mass.flags = (mass.flags & ~uint32_t{kQueued}) | kPushed;
      const double residual = mass.residual;
      mass.residual = 0;
      mass.score += teleport * residual;
      spread_mass(csr, number, (1 - teleport) * residual, tolerance, max_row);
    }
  }

  // Queue a node if it is due and not queued yet.
  void enqueue(int32_t number, double tolerance) {
    Mass& mass = met_[static_cast<size_t>(number)];
    // A node without neighbours holds no list to pay for, so it is weighed as if it had one entry.
    const uint32_t due = (mass.residual > tolerance * std::max(mass.degree, 1.0f)) & ~mass.flags & kQueued;
    mass.flags |= due;
    queue_.add_if(number, due);
  }

  // Send `amount` to the neighbours of a node in proportion to the edge weights; from a dead end it restarts.
  void spread_mass(const Csr<Id>& csr, size_t number, double amount, double tolerance, int64_t max_row) {
    met_.send(
        csr, number, amount, met_.total_weight(csr, number, INT64_MAX), max_row,
        [this](size_t count) { queue_.make_room(count); },
        [this, tolerance](int32_t neighbour, double part) {
          met_[static_cast<size_t>(neighbour)].residual += part;
          enqueue(neighbour, tolerance);
        });
  }

  void collect(const PprOptions& options, Ranking<Id>& ranking) {
    const size_t num_targets = met_.num_targets();
    ranking.clear();
    const auto add = [&](size_t number, double score) {
      ranking.all.push_back({-score, static_cast<float>(score), met_.node(number)});
    };
    for (size_t number = 0; number < num_targets; ++number) add(number, estimate(met_[number]));
    ranking.fix_front(num_targets);
    double bar = options.threshold;
    if (options.relative_threshold) {
      double best = 0;
      for (size_t number = num_targets; number < met_.size(); ++number) {
        best = std::max(best, estimate(met_[number]));
      }
      bar *= best;
    }
    for (size_t number = num_targets; number < met_.size(); ++number) {
      const double score = estimate(met_[number]);
      if (score > 0 && score >= bar) add(number, score);
    }
  }

  static constexpr size_t kCompact = size_t{1} << 20;

  Met<Id, Mass> met_;
  NumberList queue_;
  int64_t num_pushed_ = 0;
  double self_share_ = 0, far_share_ = 0;
};

}  // namespace shadow
