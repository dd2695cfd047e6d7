// Mass that walks away from the targets one step at a time, for scores that are sums over walks by their length.
// Not for: what a step is worth (katz.h, heat.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "csr.h"
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
  // Put an equal share of one unit of mass on each target. hide_link: as if there were no edge between two targets.
  void start(const Csr<Id>& csr, const Id* targets, int32_t num_targets, bool hide_link) {
    index_.clear();
    masses_.clear();
    num_targets_ = num_targets;
    edges_touched_ = 0;
    num_hidden_ = 0;
    gap_[0] = gap_[1] = -1;
    index_.reserve_more(static_cast<size_t>(num_targets));
    for (int32_t target = 0; target < num_targets; ++target) index_.add(targets[target]);
    add_masses(csr);
    if (hide_link && num_targets == 2) hide(csr, targets);
    restart();
  }

  // Bring all mass back to the targets and forget the scores; the nodes that were met keep their numbers.
  void restart() {
    for (LevelMass& mass : masses_) {
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
      LevelMass& mass = masses_[static_cast<size_t>(number)];
      mass.now = mass.next;
      mass.next = 0;
    }
    num_coming_ = 0;
    ++step_;
  }

  // Sum of the weights of a node's list, hidden edges left out. Of a list longer than max_row, evenly spaced entries
  // stand for all.
  double total_weight(const Csr<Id>& csr, size_t number, int64_t max_row) const {
    const Row<Id> row = csr.row(index_[number]);
    const int64_t gap = gap_of(number);
    if (csr.weight == nullptr) return static_cast<double>(row.size() - (gap >= 0));
    const float* weight = csr.weight + row.position;
    const int64_t stride = 1 + (row.size() - 1) / max_row;
    double total = 0;
    for (int64_t entry = 0; entry < row.size(); entry += stride) total += entry == gap ? 0 : weight[entry];
    return total * static_cast<double>(stride);
  }

  // Send `share` times the weight of its edge to each neighbour of a node. Of a list longer than max_row, evenly spaced
  // entries are served.
  void spread(const Csr<Id>& csr, size_t number, double share, int64_t max_row) {
    const Row<Id> row = csr.row(index_[number]);
    const int64_t gap = gap_of(number);
    const int64_t stride = 1 + (row.size() - 1) / max_row;
    const int64_t num_entries = (row.size() + stride - 1) / stride;
    const bool passes_gap = gap >= 0 && gap % stride == 0;
    const int64_t before = passes_gap ? gap / stride : num_entries;
    edges_touched_ += num_entries - passes_gap;
    spread_part(csr, row, stride, 0, before, share);
    spread_part(csr, row, stride, before + passes_gap, num_entries, share);
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
    for (const LevelMass& mass : masses_) values_.push_back(value(mass));
    const auto place = values_.begin() + static_cast<std::ptrdiff_t>(count - 1);
    std::nth_element(values_.begin(), place, values_.end(), std::greater<double>());
    return *place;
  }

  // Fill `ranking` with the nodes met: targets first, the others if value(mass) is above zero.
  template <class Value>
  void collect(Ranking<Id>& ranking, Value&& value) const {
    const auto num_targets = static_cast<size_t>(num_targets_);
    ranking.clear();
    for (size_t number = 0; number < masses_.size(); ++number) {
      const double score = value(masses_[number]);
      if (number < num_targets || score > 0) {
        // A score too small for a float is still one.
        const double shown = std::max(score, static_cast<double>(std::numeric_limits<float>::min()));
        ranking.all.push_back({-score, static_cast<float>(shown), index_[number]});
      }
      if (number + 1 == num_targets) ranking.fix_front();
    }
  }

  // Ask for the list of a node that will be needed soon.
  void prefetch_list(const Csr<Id>& csr, int32_t number) const {
    prefetch(csr.indices + masses_[static_cast<size_t>(number)].first);
  }

  const std::vector<int32_t>& frontier() const { return frontier_; }
  LevelMass& operator[](int32_t number) { return masses_[static_cast<size_t>(number)]; }
  int64_t size() const { return static_cast<int64_t>(masses_.size()); }
  int64_t num_hidden() const { return num_hidden_; }
  int64_t nodes_touched() const { return static_cast<int64_t>(index_.size()); }
  int64_t edges_touched() const { return edges_touched_; }

 private:
  static constexpr int64_t kChunk = 32;  // entries of a list that are looked up together

  int64_t gap_of(size_t number) const { return number < 2 ? gap_[number] : -1; }

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
      masses_.push_back(LevelMass{0, 0, 0, row.position, static_cast<float>(row.size()), 0, false});
    }
  }

  void make_room(size_t count) {
    if (num_coming_ + count > coming_.size()) coming_.resize(2 * (num_coming_ + count));
  }

  // Whether a node is in the next frontier yet is a coin toss, so there is no branch on it.
  void receive(int32_t number, double amount) {
    LevelMass& mass = masses_[static_cast<size_t>(number)];
    mass.next += amount;
    coming_[num_coming_] = number;
    num_coming_ += mass.step != step_;
    mass.step = step_;
  }

  void spread_part(const Csr<Id>& csr, const Row<Id>& row, int64_t stride, int64_t begin, int64_t end, double share) {
    for (int64_t first = begin; first < end; first += kChunk) {
      spread_chunk(csr, row, stride, first, std::min(first + kChunk, end), share);
    }
  }

  // Three short loops instead of one, so that each waits for memory once and not once for every neighbour.
  void spread_chunk(const Csr<Id>& csr, const Row<Id>& row, int64_t stride, int64_t first, int64_t last, double share) {
    const float* weight = csr.weight == nullptr ? nullptr : csr.weight + row.position;
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
      receive(numbers[entry - first], weight == nullptr ? share : share * weight[entry * stride]);
    }
  }

  NodeIndex<Id> index_;
  std::vector<LevelMass> masses_;  // by number in index_; the targets come first
  std::vector<int32_t> frontier_;  // numbers of the nodes that have mass now
  std::vector<int32_t> coming_;    // those of the next step: the first num_coming_ entries
  std::vector<double> values_;
  size_t num_coming_ = 0;
  int32_t step_ = 1, num_targets_ = 0;
  int64_t edges_touched_ = 0, num_hidden_ = 0;
  int64_t gap_[2] = {-1, -1};  // entry of each of two targets' lists that is hidden, or -1
};

}  // namespace shadow
