// Nodes met around the targets, each with what its owner knows of it, and the sending of mass along their lists.
// Not for: how much is sent, and from where (ppr.h, levels.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "csr.h"
#include "interrupt.h"
#include "prefetch.h"
#include "scratch.h"

namespace shadow {

// Mass: the record of a node, all zero when it is met but for int64_t first, where its list begins, and float degree,
// the entries of its list, exact to seven digits.
template <class Id, class Mass>
class Met {
 public:
  static constexpr size_t kAhead = 4;  // how many nodes before its turn the list of one is asked for

  // Forget everything and meet the targets. hide_link: as if there were no edge between the first two. shares: of each
  // target in what goes home, 1 in all; null for equal ones.
  void start(const Csr<Id>& csr, const Id* targets, int32_t num_targets, bool hide_link,
             const double* shares = nullptr) {
    shares_ = shares;
    index_.start(targets, num_targets);
    masses_.clear();
    num_targets_ = num_targets;
    edges_touched_ = 0;
    num_hidden_ = 0;
    gap_[0] = gap_[1] = -1;
    add_masses(csr);
    if (hide_link && num_targets >= 2) hide(csr, targets);
  }

  // Sum of the weights of a node's list, hidden edges left out. Of a list longer than max_row, evenly spaced entries
  // stand for all.
  double total_weight(const Csr<Id>& csr, size_t number, int64_t max_row) const {
    const Row<Id> row = csr.row(index_[number]);
    const int64_t gap = gap_of(number);
    if (csr.weight == nullptr) return static_cast<double>(row.size() - (gap >= 0));
    const int64_t stride = 1 + (row.size() - 1) / max_row;
    count_steps(row.size() / stride);
    const float* const weight = csr.weights_of(row);
    WeightSum sum;
    for (int64_t entry = 0; entry < row.size(); entry += stride) sum.add(entry == gap ? 0 : weight[entry]);
    return csr.checked(sum, row) * static_cast<double>(stride);
  }

  // Call receive(number, share times the weight of the edge) for each neighbour of a node, and make_room(count) before
  // every few of them. Of a list longer than max_row, evenly spaced entries are served. Hidden edges are passed over.
  template <class MakeRoom, class Receive>
  void spread(const Csr<Id>& csr, size_t number, double share, int64_t max_row, MakeRoom&& make_room,
              Receive&& receive) {
    const Row<Id> row = csr.row(index_[number]);
    const int64_t gap = gap_of(number);
    const int64_t stride = 1 + (row.size() - 1) / max_row;
    const int64_t num_entries = (row.size() + stride - 1) / stride;
    const bool passes_gap = gap >= 0 && gap % stride == 0;
    const int64_t before = passes_gap ? gap / stride : num_entries;
    edges_touched_ += num_entries - passes_gap;
    const auto spread_part = [&](int64_t begin, int64_t end) {
      for (int64_t first = begin; first < end; first += kChunk) {
        spread_chunk(csr, row, stride, first, std::min(first + kChunk, end), share, make_room, receive);
      }
    };
    spread_part(0, before);
    spread_part(before + passes_gap, num_entries);
  }

  // Send `amount` to the neighbours of a node in proportion to the edge weights, whose sum is `total`; from a dead end,
  // or where all weights are 0, home to the targets.
  template <class MakeRoom, class Receive>
  void send(const Csr<Id>& csr, size_t number, double amount, double total, int64_t max_row, MakeRoom&& make_room,
            Receive&& receive) {
    if (total > 0) {
      spread(csr, number, amount / total, max_row, make_room, receive);
    } else {
      share_out(amount, make_room, receive);
    }
  }

  // Send mass to the targets, by their shares.
  template <class MakeRoom, class Receive>
  void share_out(double amount, MakeRoom&& make_room, Receive&& receive) const {
    count_steps(num_targets_);
    make_room(static_cast<size_t>(num_targets_));
    for (int32_t target = 0; target < num_targets_; ++target) receive(target, home_share(target, amount));
  }

  // What a target gets of mass that goes home.
  double home_share(int32_t target, double amount) const {
    return shares_ == nullptr ? amount / num_targets_ : amount * shares_[target];
  }

  // The count-th best value(mass); count is from 1 to the number of nodes met.
  template <class Value>
  double best(int64_t count, Value&& value) {
    values_.clear();
    count_steps(static_cast<int64_t>(masses_.size()));
    for (const Mass& mass : masses_) values_.push_back(value(mass));
    const auto place = values_.begin() + static_cast<std::ptrdiff_t>(count - 1);
    std::nth_element(values_.begin(), place, values_.end(), std::greater<double>());
    return *place;
  }

  // Mass that is not followed any further spreads like degrees in an undirected graph: what each entry of a list gets
  // of `left`. 0 where that is not known.
  double far_share(const Csr<Id>& csr, double left) const {
    return csr.symmetric ? left / static_cast<double>(std::max<int64_t>(csr.num_edges - num_hidden_, 1)) : 0;
  }

  // Ask for the list of a node that will be needed soon, of the disk or of memory.
  void prefetch_list(const Csr<Id>& csr, int32_t number) const {
    const Mass& mass = masses_[static_cast<size_t>(number)];
    if (mass.first < 0) return;  // The list is not stored.
    if (csr.asks) {
      csr.ask_list(mass.first, static_cast<int64_t>(mass.degree));
    } else {
      prefetch(csr.indices + mass.first);
    }
  }

  Id node(size_t number) const { return index_[number]; }
  Mass& operator[](size_t number) { return masses_[number]; }
  std::vector<Mass>& masses() { return masses_; }              // by number; the targets come first
  const std::vector<Mass>& masses() const { return masses_; }  // by number; the targets come first
  size_t size() const { return masses_.size(); }
  size_t num_targets() const { return static_cast<size_t>(num_targets_); }
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
    csr.with_rows([&](auto&& row_of) {
      while (masses_.size() < index_.size()) {
        const Row<Id> row = row_of(index_[masses_.size()]);
        Mass mass{};
        mass.first = row.position;
        mass.degree = static_cast<float>(row.size());
        masses_.push_back(mass);
      }
    });
  }

  // Three short loops instead of one, so that each waits for memory once and not once for every neighbour.
  template <class MakeRoom, class Receive>
  void spread_chunk(const Csr<Id>& csr, const Row<Id>& row, int64_t stride, int64_t first, int64_t last, double share,
                    MakeRoom& make_room, Receive& receive) {
    int32_t numbers[kChunk];
    count_steps(last - first);
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
    // The weights were checked when they were summed (total_weight, radius.h).
    const float* const weight = csr.weights_of(row);
    for (int64_t entry = first; entry < last; ++entry) {
      receive(numbers[entry - first], weight == nullptr ? share : share * weight[entry * stride]);
    }
  }

  NodeIndex<Id> index_;
  std::vector<Mass> masses_;
  std::vector<double> values_;
  const double* shares_ = nullptr;
  int32_t num_targets_ = 0;
  int64_t edges_touched_ = 0, num_hidden_ = 0;
  int64_t gap_[2] = {-1, -1};  // entry of each of two targets' lists that is hidden, or -1
};

}  // namespace shadow
