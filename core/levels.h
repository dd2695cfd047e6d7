// Mass that walks away from the targets one step at a time, for scores that are sums over walks by their length.
// Not for: what a step is worth (katz.h, heat.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "csr.h"
#include "met.h"
#include "scope.h"

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
  // Put an equal share of one unit of mass on each target. hide_link: as if there were no edge between two targets.
  void start(const Csr<Id>& csr, const Id* targets, int32_t num_targets, bool hide_link) {
    met_.start(csr, targets, num_targets, hide_link);
    num_targets_ = num_targets;
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
    num_coming_ = 0;
    make_room(static_cast<size_t>(num_targets_));
    for (int32_t target = 0; target < num_targets_; ++target) receive(target, 1.0 / num_targets_);
    step();
  }

  // Let the mass that was sent arrive.
  void step() {
    frontier_.assign(coming_.begin(), coming_.begin() + static_cast<std::ptrdiff_t>(num_coming_));
    for (const int32_t number : frontier_) {
      LevelMass& mass = met_[static_cast<size_t>(number)];
      mass.now = mass.next;
      mass.next = 0;
    }
    num_coming_ = 0;
    ++step_;
  }

  // See Met.
  double total_weight(const Csr<Id>& csr, size_t number, int64_t max_row) const {
    return met_.total_weight(csr, number, max_row);
  }

  // Send `share` times the weight of its edge to each neighbour of a node. Of a list longer than max_row, evenly spaced
  // entries are served.
  void spread(const Csr<Id>& csr, size_t number, double share, int64_t max_row) {
    met_.spread(
        csr, number, share, max_row, [this](size_t count) { make_room(count); },
        [this](int32_t neighbour, double amount) { receive(neighbour, amount); });
  }

  // Send mass back to the targets, in equal shares.
  void send_home(double amount) {
    make_room(static_cast<size_t>(num_targets_));
    for (int32_t target = 0; target < num_targets_; ++target) receive(target, amount / num_targets_);
  }

  // The count-th best score by value(mass); count is from 1 to the number of nodes met.
  template <class Value>
  double best(int64_t count, Value&& value) {
    values_.clear();
    for (const LevelMass& mass : met_.masses()) values_.push_back(value(mass));
    const auto place = values_.begin() + static_cast<std::ptrdiff_t>(count - 1);
    std::nth_element(values_.begin(), place, values_.end(), std::greater<double>());
    return *place;
  }

  // Fill `ranking` with the nodes met: targets first, the others if value(mass) is above zero.
  template <class Value>
  void collect(Ranking<Id>& ranking, Value&& value) const {
    const auto num_targets = static_cast<size_t>(num_targets_);
    ranking.clear();
    for (size_t number = 0; number < met_.size(); ++number) {
      const double score = value(met_.masses()[number]);
      if (number < num_targets || score > 0) {
        // A score too small for a float is still one.
        const double shown = std::max(score, static_cast<double>(std::numeric_limits<float>::min()));
        ranking.all.push_back({-score, static_cast<float>(shown), met_.node(number)});
      }
      if (number + 1 == num_targets) ranking.fix_front();
    }
  }

  void prefetch_list(const Csr<Id>& csr, int32_t number) const { met_.prefetch_list(csr, number); }

  const std::vector<int32_t>& frontier() const { return frontier_; }
  LevelMass& operator[](int32_t number) { return met_[static_cast<size_t>(number)]; }
  int64_t size() const { return static_cast<int64_t>(met_.size()); }
  int64_t num_hidden() const { return met_.num_hidden(); }
  int64_t nodes_touched() const { return static_cast<int64_t>(met_.size()); }
  int64_t edges_touched() const { return met_.edges_touched(); }

 private:
  void make_room(size_t count) {
    if (num_coming_ + count > coming_.size()) coming_.resize(2 * (num_coming_ + count));
  }

  // Whether a node is in the next frontier yet is a coin toss, so there is no branch on it.
  void receive(int32_t number, double amount) {
    LevelMass& mass = met_[static_cast<size_t>(number)];
    mass.next += amount;
    coming_[num_coming_] = number;
    num_coming_ += mass.step != step_;
    mass.step = step_;
  }

  Met<Id, LevelMass> met_;
  std::vector<int32_t> frontier_;  // numbers of the nodes that have mass now
  std::vector<int32_t> coming_;    // those of the next step: the first num_coming_ entries
  std::vector<double> values_;
  size_t num_coming_ = 0;
  int32_t step_ = 1, num_targets_ = 0;
};

}  // namespace shadow
