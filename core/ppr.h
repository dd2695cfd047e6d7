// Personalised PageRank around a target by local pushes, as far as the choice of the best nodes needs.
// Not for: the whole PPR vector of a graph.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "csr.h"
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
  // Push from the targets (each with the same share of the restarts) and fill `ranking` with the touched nodes: targets
  // first, the others with their estimated scores as far as they pass the threshold. hide_link: as if there were no
  // edge between two targets.
  void rank(const Csr<Id>& csr, const Id* targets, int32_t num_targets, const PprOptions& options, bool hide_link,
            Ranking<Id>& ranking) {
    start(csr, targets, num_targets);
    if (hide_link && num_targets == 2) hide(csr, targets);
    if (options.tolerance > 0) {
      push(csr, options.tolerance, options.teleport);
      self_share_ = far_share_ = 0;
    } else {
      refine(csr, options);
    }
    collect(options, ranking);
  }

  int64_t nodes_touched() const { return static_cast<int64_t>(index_.size()); }
  int64_t edges_touched() const { return edges_touched_; }

 private:
  enum Flag : uint32_t { kQueued = 1, kPushed = 2, kTarget = 4 };

  // Lists longer than this are pushed through evenly spaced entries when the tolerance is ours to choose: the
  // neighbours of such a hub differ too little in score to be worth a visit each.
  static constexpr int64_t kMaxRow = int64_t{1} << 20;
  static constexpr int64_t kChunk = 32;  // entries of a list that are looked up together
  static constexpr double kFinest = 1e-9;
  static constexpr double kUnderflow = 1e-280;

  void start(const Csr<Id>& csr, const Id* targets, int32_t num_targets) {
    index_.clear();
    masses_.clear();
    num_targets_ = num_targets;
    edges_touched_ = 0;
    num_pushed_ = 0;
    num_hidden_ = 0;
    gap_[0] = gap_[1] = -1;
    index_.reserve_more(static_cast<size_t>(num_targets));
    for (int32_t target = 0; target < num_targets; ++target) index_.add(targets[target]);
    add_masses(csr);
    for (Mass& mass : masses_) {
      mass.residual = 1.0 / num_targets;
      mass.flags = kTarget;
    }
  }

  // Find the edges between the two targets in their lists, to pass over them from here on.
  void hide(const Csr<Id>& csr, const Id* targets) {
    for (size_t target = 0; target < 2; ++target) {
      gap_[target] = csr.entry_of(targets[target], targets[1 - target]);
      num_hidden_ += gap_[target] >= 0;
      masses_[target].degree -= gap_[target] >= 0;
    }
  }

  // Give every node that was numbered since the last call its empty mass.
  void add_masses(const Csr<Id>& csr) {
    while (masses_.size() < index_.size()) {
      const Row<Id> row = csr.row(index_[masses_.size()]);
      masses_.push_back(Mass{0, 0, row.position, static_cast<float>(row.size()), 0});
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
      if (static_cast<int64_t>(masses_.size()) > options.topk) {
        const double wanted = std::max(options.precision * kth_estimate(options.topk), kFinest);
        if (tolerance <= 1.25 * wanted) return;
        tolerance = std::max(wanted, 0.1 * tolerance);
      } else {
        const bool whole_component = num_pushed_ == static_cast<int64_t>(masses_.size());
        if (tolerance < kUnderflow || (whole_component && tolerance <= 1e-6)) return;
        tolerance *= 0.1;
      }
    }
  }

  // Residual that is not yet pushed stops where it is with probability `teleport`; the rest walks on and, in an
  // undirected graph, ends up spread like degrees. Without that share, high-degree nodes at the border are missed.
  void set_far_share(const Csr<Id>& csr, double teleport) {
    double residual = 0;
    for (const Mass& mass : masses_) residual += mass.residual;
    const int64_t num_edges = std::max<int64_t>(csr.num_edges - num_hidden_, 1);
    far_share_ = csr.symmetric ? (1 - teleport) * residual / static_cast<double>(num_edges) : 0;
  }

  double estimate(const Mass& mass) const {
    return mass.score + self_share_ * mass.residual + far_share_ * mass.degree;
  }

  // The topk-th score without the far share: that shrinks as a graph grows, and work per target is not to depend on it.
  double kth_estimate(int64_t topk) {
    estimates_.clear();
    for (const Mass& mass : masses_) estimates_.push_back(mass.score + self_share_ * mass.residual);
    const auto kth = estimates_.begin() + static_cast<std::ptrdiff_t>(topk - 1);
    std::nth_element(estimates_.begin(), kth, estimates_.end(), std::greater<double>());
    return *kth;
  }

  // Push every node whose residual is above tolerance * degree, first come, first served, until none is left.
  void push(const Csr<Id>& csr, double tolerance, double teleport, int64_t max_row = INT64_MAX) {
    tail_ = 0;
    for (size_t number = 0; number < masses_.size(); ++number) {
      make_room(1);
      enqueue(static_cast<int32_t>(number), tolerance);
    }
    for (size_t head = 0; head < tail_; ++head) {
      if (head == kCompact) {  // Keep the queue's memory near its length.
        std::copy(queue_.begin() + kCompact, queue_.begin() + static_cast<std::ptrdiff_t>(tail_), queue_.begin());
        tail_ -= kCompact;
        head = 0;
      }
      if (head + 4 < tail_) prefetch(csr.indices + masses_[static_cast<size_t>(queue_[head + 4])].first);
      const auto number = static_cast<size_t>(queue_[head]);
      Mass& mass = masses_[number];
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
    Mass& mass = masses_[static_cast<size_t>(number)];
    // A node without neighbours holds no list to pay for, so it is weighed as if it had one entry.
    const uint32_t due = (mass.residual > tolerance * std::max(mass.degree, 1.0f)) & ~mass.flags & kQueued;
    mass.flags |= due;
    queue_[tail_] = number;
    tail_ += due;
  }

  // Send `amount` to the neighbours of a node in proportion to the edge weights; from a dead end it restarts.
  void spread_mass(const Csr<Id>& csr, size_t number, double amount, double tolerance, int64_t max_row) {
    const Row<Id> row = csr.row(index_[number]);
    const int64_t gap = number < 2 ? gap_[number] : -1;
    const float* weight = csr.weight == nullptr ? nullptr : csr.weight + row.position;
    double total = static_cast<double>(row.size() - (gap >= 0));
    if (weight != nullptr) {
      total = 0;
      for (int64_t entry = 0; entry < row.size(); ++entry) total += entry == gap ? 0 : weight[entry];
    }
    if (!(total > 0)) {
      make_room(static_cast<size_t>(num_targets_));
      for (int32_t target = 0; target < num_targets_; ++target) {
        masses_[static_cast<size_t>(target)].residual += amount / num_targets_;
        enqueue(target, tolerance);
      }
      return;
    }
    const int64_t stride = 1 + (row.size() - 1) / max_row;
    const int64_t num_entries = (row.size() + stride - 1) / stride;
    const bool passes_gap = gap >= 0 && gap % stride == 0;
    const int64_t before = passes_gap ? gap / stride : num_entries, after = before + passes_gap;
    edges_touched_ += num_entries - passes_gap;
    const auto spread = [&](int64_t begin, int64_t end) {
      for (int64_t first = begin; first < end; first += kChunk) {
        spread_chunk(csr, row, weight, stride, first, std::min(first + kChunk, end), amount / total, tolerance);
      }
    };
    spread(0, before);
    spread(after, num_entries);
  }

  // Three short loops instead of one, so that each waits for memory once and not once for every neighbour.
  void spread_chunk(const Csr<Id>& csr, const Row<Id>& row, const float* weight, int64_t stride, int64_t first,
                    int64_t last, double share, double tolerance) {
    int32_t numbers[kChunk];
    for (int64_t entry = first; entry < last; ++entry) {
      const Id neighbour = csr.checked(row.begin[entry * stride]);
      index_.prefetch(neighbour);
      csr.prefetch_degree(neighbour);
    }
    index_.reserve_more(static_cast<size_t>(last - first));
    for (int64_t entry = first; entry < last; ++entry) {
      // Read again from the map, so checked again.
      numbers[entry - first] = index_.add(csr.checked(row.begin[entry * stride]));
    }
    add_masses(csr);
    make_room(static_cast<size_t>(last - first));
    for (int64_t entry = first; entry < last; ++entry) {
      const int32_t number = numbers[entry - first];
      masses_[static_cast<size_t>(number)].residual += weight == nullptr ? share : share * weight[entry * stride];
      enqueue(number, tolerance);
    }
  }

  void collect(const PprOptions& options, Ranking<Id>& ranking) {
    const auto num_targets = static_cast<size_t>(num_targets_);
    ranking.clear();
    const auto add = [&](size_t number, double score) {
      ranking.all.push_back({-score, static_cast<float>(score), index_[number]});
    };
    for (size_t number = 0; number < num_targets; ++number) add(number, estimate(masses_[number]));
    ranking.fix_front();
    double bar = options.threshold;
    if (options.relative_threshold) {
      double best = 0;
      for (size_t number = num_targets; number < masses_.size(); ++number) {
        best = std::max(best, estimate(masses_[number]));
      }
      bar *= best;
    }
    for (size_t number = num_targets; number < masses_.size(); ++number) {
      const double score = estimate(masses_[number]);
      if (score > 0 && score >= bar) add(number, score);
    }
  }

  static constexpr size_t kCompact = size_t{1} << 20;

  NodeIndex<Id> index_;
  std::vector<Mass> masses_;    // by number in index_; the targets come first
  std::vector<int32_t> queue_;  // the first tail_ entries
  size_t tail_ = 0;
  std::vector<double> estimates_;
  int32_t num_targets_ = 0;
  int64_t edges_touched_ = 0, num_pushed_ = 0, num_hidden_ = 0;
  int64_t gap_[2] = {-1, -1};  // entry of each of two targets' lists that is hidden, or -1
  double self_share_ = 0, far_share_ = 0;
};

}  // namespace shadow
