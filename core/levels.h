// Mass that walks away from the targets one step at a time, for scores that are sums over walks by their length.
// Not for: what a step is worth (katz.h, heat.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "csr.h"
#include "met.h"
#include "scope.h"
#include "scratch.h"

namespace shadow {

// What is known of a node that was met.
struct LevelMass {
  double score;   // kept by the owner of the levels
  double now;     // mass that is here after this step
  double next;    // mass that will be here after the next one
  int64_t first;  // where its list begins
  float degree;   // entries of its list, exact to seven digits
  int32_t step;   // the last step whose frontier counts it
  bool has_sent;  // kept by the owner: whether it has been walked on from
};

template <class Id>
class Levels {
 public:
  static constexpr size_t kAhead = Met<Id, LevelMass>::kAhead;

  // Put an equal share of one unit of mass on each target. hide_link: as if there were no edge between two targets.
  void start(const Csr<Id>& csr, const Id* targets, int32_t num_targets, bool hide_link) {
    met_.start(csr, targets, num_targets, hide_link);
    restart();
  }

  // Bring all mass back to the targets and forget the scores; the nodes that were met keep their numbers.
  void restart() {
    for (LevelMass& mass : met_.masses()) {
      mass.score = mass.now = mass.next = 0;
      mass.step = 0;
      mass.has_sent = false;
    }
    step_ = 1;
    coming_.clear();
    met_.share_out(1.0, room(), receiver());
    step();
  }

  // Let the mass that was sent arrive.
  void step() {
    frontier_.assign(coming_.begin(), coming_.end());
    for (const int32_t number : frontier_) {
      LevelMass& mass = met_[static_cast<size_t>(number)];
      mass.now = mass.next;
      mass.next = 0;
    }
    coming_.clear();
    ++step_;
  }

  // See Met.
  double total_weight(const Csr<Id>& csr, size_t number, int64_t max_row) const {
    return met_.total_weight(csr, number, max_row);
  }
  void spread(const Csr<Id>& csr, size_t number, double share, int64_t max_row) {
    met_.spread(csr, number, share, max_row, room(), receiver());
  }
  void send(const Csr<Id>& csr, size_t number, double amount, int64_t max_row) {
    met_.send(csr, number, amount, total_weight(csr, number, max_row), max_row, room(), receiver());
  }
  double far_share(const Csr<Id>& csr, double left) const { return met_.far_share(csr, left); }

  // The count-th best score.
  double best(int64_t count) {
    return met_.best(count, [](const LevelMass& mass) { return mass.score; });
  }

  // Fill `ranking` with the nodes met: targets first, the others if they have a score. far_share is what a node gets
  // beside it for each entry of its list.
  void collect(double far_share, Ranking<Id>& ranking) const {
    ranking.clear();
    for (size_t number = 0; number < met_.size(); ++number) {
      const LevelMass& mass = met_.masses()[number];
      const double score = mass.score + far_share * mass.degree;
      if (number >= met_.num_targets() && !(score > 0)) continue;
      // A score too small for a float is still one.
      const double shown = std::max(score, static_cast<double>(std::numeric_limits<float>::min()));
      ranking.all.push_back({-score, static_cast<float>(shown), met_.node(number)});
    }
    ranking.fix_front(met_.num_targets());
  }

  void prefetch_list(const Csr<Id>& csr, int32_t number) const { met_.prefetch_list(csr, number); }

  const std::vector<int32_t>& frontier() const { return frontier_; }
  LevelMass& operator[](int32_t number) { return met_[static_cast<size_t>(number)]; }
  int64_t size() const { return static_cast<int64_t>(met_.size()); }
  int64_t nodes_touched() const { return static_cast<int64_t>(met_.size()); }
  int64_t edges_touched() const { return met_.edges_touched(); }

 private:
  auto room() {
    return [this](size_t count) { coming_.make_room(count); };
  }

  auto receiver() {
    return [this](int32_t number, double amount) {
      LevelMass& mass = met_[static_cast<size_t>(number)];
      mass.next += amount;
      coming_.add_if(number, mass.step != step_);
      mass.step = step_;
    };
  }

  Met<Id, LevelMass> met_;
  std::vector<int32_t> frontier_;  // numbers of the nodes that have mass now
  NumberList coming_;              // those of the next step
  int32_t step_ = 1;
};

}  // namespace shadow
