// Personalised PageRank around a target by local pushes, as far as the choice of the best nodes needs.
// Not for: the whole PPR vector of a graph.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "csr.h"
#include "met.h"
#include "scope.h"

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
  // Push from the targets (each with the same share of the restarts) and fill `ranking` with the touched nodes: targets
  // first, the others with their estimated scores as far as they pass the threshold. hide_link: as if there were no
  // edge between two targets.
  void rank(const Csr<Id>& csr, const Id* targets, int32_t num_targets, const PprOptions& options, bool hide_link,
            Ranking<Id>& ranking) {
    start(csr, targets, num_targets, hide_link);
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

  // Lists longer than this are pushed through evenly spaced entries when the tolerance is ours to choose: the
  // neighbours of such a hub differ too little in score to be worth a visit each.
  static constexpr int64_t kMaxRow = int64_t{1} << 20;
  static constexpr double kFinest = 1e-9;
  static constexpr double kUnderflow = 1e-280;

  void start(const Csr<Id>& csr, const Id* targets, int32_t num_targets, bool hide_link) {
    met_.start(csr, targets, num_targets, hide_link);
    num_targets_ = num_targets;
    num_pushed_ = 0;
    for (Mass& mass : met_.masses()) {
      mass.residual = 1.0 / num_targets;
      mass.flags = kTarget;
    }
  }

  // Coarse to fine. The tolerance is settled when it is a small share of the topk-th score: what is still to be pushed
  // then moves few nodes across the border. Where fewer than topk nodes were met it goes on until the component ends.
  void refine(const Csr<Id>& csr, const PprOptions& options) {
    self_share_ = options.teleport;
    double tolerance = std::min(1e-3, 0.2 / static_cast<double>(options.topk));
    for (;;) {
      push(csr, tolerance, options.teleport, kMaxRow);
      set_far_share(csr, options.teleport);
      if (static_cast<int64_t>(met_.size()) > options.topk) {
        const double wanted = std::max(options.precision * kth_estimate(options.topk), kFinest);
        if (tolerance <= 1.25 * wanted) return;
        tolerance = std::max(wanted, 0.1 * tolerance);
      } else {
        const bool whole_component = num_pushed_ == static_cast<int64_t>(met_.size());
        if (tolerance < kUnderflow || (whole_component && tolerance <= 1e-6)) return;
        tolerance *= 0.1;
      }
    }
  }

  // Residual that is not yet pushed stops where it is with probability `teleport`; the rest walks on and, in an
  // undirected graph, ends up spread like degrees. Without that share, high-degree nodes at the border are missed.
  void set_far_share(const Csr<Id>& csr, double teleport) {
    double residual = 0;
    for (const Mass& mass : met_.masses()) residual += mass.residual;
    const int64_t num_edges = std::max<int64_t>(csr.num_edges - met_.num_hidden(), 1);
    far_share_ = csr.symmetric ? (1 - teleport) * residual / static_cast<double>(num_edges) : 0;
  }

  double estimate(const Mass& mass) const {
    return mass.score + self_share_ * mass.residual + far_share_ * mass.degree;
  }

  // The topk-th score without the far share: that shrinks as a graph grows, and work per target is not to depend on it.
  double kth_estimate(int64_t topk) {
    estimates_.clear();
    for (const Mass& mass : met_.masses()) estimates_.push_back(mass.score + self_share_ * mass.residual);
    const auto kth = estimates_.begin() + static_cast<std::ptrdiff_t>(topk - 1);
    std::nth_element(estimates_.begin(), kth, estimates_.end(), std::greater<double>());
    return *kth;
  }

  // Push every node whose residual is above tolerance * degree, first come, first served, until none is left.
  void push(const Csr<Id>& csr, double tolerance, double teleport, int64_t max_row = INT64_MAX) {
    tail_ = 0;
    for (size_t number = 0; number < met_.size(); ++number) {
      make_room(1);
      enqueue(static_cast<int32_t>(number), tolerance);
    }
    for (size_t head = 0; head < tail_; ++head) {
      if (head == kCompact) {  // Keep the queue's memory near its length.
        std::copy(queue_.begin() + kCompact, queue_.begin() + static_cast<std::ptrdiff_t>(tail_), queue_.begin());
        tail_ -= kCompact;
        head = 0;
      }
      if (head + 4 < tail_) met_.prefetch_list(csr, queue_[head + 4]);
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

  void make_room(size_t count) {
    if (tail_ + count > queue_.size()) queue_.resize(2 * (tail_ + count));
  }

  // Queue a node if it is due and not queued yet, again without a branch: the entry counts only if it is both.
  void enqueue(int32_t number, double tolerance) {
    Mass& mass = met_[static_cast<size_t>(number)];
    // A node without neighbours holds no list to pay for, so it is weighed as if it had one entry.
    const uint32_t due = (mass.residual > tolerance * std::max(mass.degree, 1.0f)) & ~mass.flags & kQueued;
    mass.flags |= due;
    queue_[tail_] = number;
    tail_ += due;
  }

  // Send `amount` to the neighbours of a node in proportion to the edge weights; from a dead end it restarts.
  void spread_mass(const Csr<Id>& csr, size_t number, double amount, double tolerance, int64_t max_row) {
    const double total = met_.total_weight(csr, number, INT64_MAX);
    const auto room = [this](size_t count) { make_room(count); };
    const auto receive = [this, tolerance](int32_t neighbour, double part) {
      met_[static_cast<size_t>(neighbour)].residual += part;
      enqueue(neighbour, tolerance);
    };
    if (total > 0) {
      met_.spread(csr, number, amount / total, max_row, room, receive);
      return;
    }
    room(static_cast<size_t>(num_targets_));
    for (int32_t target = 0; target < num_targets_; ++target) receive(target, amount / num_targets_);
  }

  void collect(const PprOptions& options, Ranking<Id>& ranking) {
    const auto num_targets = static_cast<size_t>(num_targets_);
    ranking.clear();
    const auto add = [&](size_t number, double score) {
      ranking.all.push_back({-score, static_cast<float>(score), met_.node(number)});
    };
    for (size_t number = 0; number < num_targets; ++number) add(number, estimate(met_[number]));
    ranking.fix_front();
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
  std::vector<int32_t> queue_;  // the first tail_ entries
  size_t tail_ = 0;
  std::vector<double> estimates_;
  int32_t num_targets_ = 0;
  int64_t num_pushed_ = 0;
  double self_share_ = 0, far_share_ = 0;
};

}  // namespace shadow
