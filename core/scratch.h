// Small reusable containers whose cost depends on what they hold, never on the size of the graph.
// Not for: sharing between threads; each worker has its own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "csr.h"
#include "pick.h"

namespace shadow {

// Numbers nodes 0, 1, 2, ... in the order in which they are first seen.
template <class Id>
class NodeIndex {
 public:
  NodeIndex() { resize(kStartBits); }

  void clear() {
    if (slots_.size() > kKeep) *this = NodeIndex();  // Large tables are given back after use.
    for (size_t number = 0; number < size_; ++number) slots_[slot_of_[number]].node = kEmpty;
    size_ = 0;
  }

  // Forget all nodes but these, numbered in their order.
  void start(const Id* nodes, int32_t count) {
    clear();
    reserve_more(static_cast<size_t>(count));
    for (int32_t number = 0; number < count; ++number) add(nodes[number]);
  }

  // Make room for `count` more nodes.
  void reserve_more(size_t count) {
    while ((size_ + count) * kSlotsPerNode > slots_.size()) grow();
  }

  // The number of `node`, given now if it is new. Room must have been made for it. Whether a node is new is close to a
  // coin toss, so there is no branch on it: the entry is written either way, and counts only if it was free.
  int32_t add(Id node) {
    const size_t at = probe(node);
    Slot& slot = slots_[at];
    const bool is_new = slot.node == kEmpty;
    const int32_t number = is_new ? static_cast<int32_t>(size_) : slot.number;
    slot = Slot{node, number};
    slot_of_[size_] = static_cast<uint32_t>(at);
    nodes_[size_] = node;
    size_ += is_new;
    return number;
  }

  // The number of `node`, or -1.
  int32_t find(Id node) const {
    const Slot& slot = slots_[probe(node)];
    return slot.node == kEmpty ? -1 : slot.number;
  }

  void prefetch(Id node) const { shadow::prefetch(slots_.data() + home(node)); }

  size_t size() const { return size_; }
  Id operator[](size_t number) const { return nodes_[number]; }

 private:
  struct Slot {
    Id node;
    int32_t number;
  };
  static constexpr Id kEmpty = -1;
  static constexpr int kStartBits = 10;
  static constexpr size_t kSlotsPerNode = 4;
  static constexpr size_t kKeep = size_t{1} << 22;

  // Fibonacci hashing: the upper bits of the product.
  size_t home(Id node) const { return (static_cast<uint64_t>(node) * 0x9e3779b97f4a7c15ull) >> shift_; }

  size_t probe(Id node) const {
    const size_t mask = slots_.size() - 1;
    size_t slot = home(node);
    while (slots_[slot].node != node && slots_[slot].node != kEmpty) slot = (slot + 1) & mask;
    return slot;
  }

  void resize(int bits) {
    slots_.assign(size_t{1} << bits, Slot{kEmpty, 0});
    shift_ = 64 - bits;
    slot_of_.resize(slots_.size() / kSlotsPerNode + 1);
    nodes_.resize(slots_.size() / kSlotsPerNode + 1);
  }

  void grow() {
    if (shift_ <= 64 - 32) throw std::length_error("a scope touches more than 2^30 nodes");
    resize(64 - shift_ + 1);
    for (size_t number = 0; number < size_; ++number) {
      const size_t slot = probe(nodes_[number]);
      slots_[slot] = Slot{nodes_[number], static_cast<int32_t>(number)};
      slot_of_[number] = static_cast<uint32_t>(slot);
    }
  }

  std::vector<Slot> slots_;
  std::vector<uint32_t> slot_of_;  // by number, one spare entry at the end
  std::vector<Id> nodes_;          // likewise
  size_t size_ = 0;
  int shift_ = 64;
};

// A value for each node that was asked for, all zero at first. Nodes are numbered in the order in which they were.
template <class Id, class Value>
class NodeValues {
 public:
  void clear() {
    index_.clear();
    values_.clear();
  }

  size_t number_of(Id node) {
    index_.reserve_more(1);
    const auto number = static_cast<size_t>(index_.add(node));
    if (number == values_.size()) values_.push_back(Value{});
    return number;
  }

  void prefetch(Id node) const { index_.prefetch(node); }

  size_t size() const { return values_.size(); }
  Id node(size_t number) const { return index_[number]; }
  Value& operator[](size_t number) { return values_[number]; }
  const Value& operator[](size_t number) const { return values_[number]; }
  const std::vector<Value>& values() const { return values_; }  // by number

 private:
  NodeIndex<Id> index_;
  std::vector<Value> values_;
};

// Numbers in the order in which they came. Whether one counts is a coin toss, so there is no branch on it: it is
// written either way.
class NumberList {
 public:
  void clear() { size_ = 0; }

  // Make room for `count` more numbers.
  void make_room(size_t count) {
    if (size_ + count > numbers_.size()) numbers_.resize(2 * (size_ + count));
  }

  // Room must have been made for it, even if it does not count.
  void add_if(int32_t number, bool counts) {
    numbers_[size_] = number;
    size_ += counts;
  }

  // Forget the first `count`.
  void drop_front(size_t count) {
    std::copy(begin() + static_cast<std::ptrdiff_t>(count), end(), numbers_.begin());
    size_ -= count;
  }

  size_t size() const { return size_; }
  int32_t operator[](size_t at) const { return numbers_[at]; }
  std::vector<int32_t>::const_iterator begin() const { return numbers_.begin(); }
  std::vector<int32_t>::const_iterator end() const { return begin() + static_cast<std::ptrdiff_t>(size_); }

 private:
  std::vector<int32_t> numbers_;  // the first size_ count
  size_t size_ = 0;
};

// The nodes of a scope: built once, then asked for every neighbour of every member. Almost all answers are "not there",
// so a filter of at least 256 bits a node answers first. What it lets through is looked up among at least 32 marks a
// node: the mark at the place of a member is its label + 1, or kShared where that does not fit or two members have the
// same place.
template <class Id>
class Members {
 public:
  void assign(const Id* nodes, int32_t count) {
    nodes_ = nodes;
    wipe(log_size(32, count), log_size(256, count));
    used_.resize(static_cast<size_t>(count));
    for (int32_t label = 0; label < count; ++label) {
      const uint32_t bit = place_of(nodes[label], log_filter_), place = place_of(nodes[label], log_marks_);
      used_[static_cast<size_t>(label)] = bit;
      filter_[bit >> 5] |= uint32_t{1} << (bit & 31);
      uint16_t& mark = marks_[place];
      const bool alone = mark == 0 && label < kShared - 1;
      if (!alone && mark != kShared && mark != 0) share(mark - 1);
      if (!alone) share(label);
      mark = alone ? static_cast<uint16_t>(label + 1) : kShared;
    }
  }

  // Write a Pick for each of ids[0, count) that may be a member; return their number.
  int64_t pick(const Id* ids, int64_t count, int32_t list, Pick* picks) const {
    return shadow::pick(ids, count, FilterView{filter_.data(), log_filter_}, list, picks);
  }

  // Likewise ShortPicks, where ids have 32 bits and `list` 16.
  int64_t pick_short(const int32_t* ids, int64_t count, int32_t list, ShortPicks picks) const {
    return shadow::pick_short(ids, count, FilterView{filter_.data(), log_filter_}, static_cast<uint16_t>(list), picks);
  }

  // The label of `node`, or -1.
  int32_t find(Id node) const {
    const uint16_t mark = marks_[place_of(node, log_marks_)];
    if (mark == kShared) return find_shared(node);
    const int32_t label = mark == 0 ? 0 : mark - 1;
    return ((mark != 0) & (nodes_[label] == node)) ? label : -1;
  }

 private:
  static constexpr uint16_t kShared = 0xffff;

  // Smallest power of two with `each` places a node, but at most 2^31 places.
  static int log_size(int64_t each, int32_t count) {
    int log = 6;
    while (log < 31 && (int64_t{1} << log) < each * static_cast<int64_t>(count)) ++log;
    return log;
  }

  // Empty both tables: one by one where they keep their size. The place of a mark is the upper part of that of a bit.
  void wipe(int log_marks, int log_filter) {
    shared_.clear();
    if (log_marks_ == log_marks && log_filter_ == log_filter) {
      for (const uint32_t bit : used_) {
        filter_[bit >> 5] = 0;
        marks_[bit >> (log_filter - log_marks)] = 0;
      }
    } else {
      marks_.assign(size_t{1} << log_marks, 0);
      filter_.assign((size_t{1} << log_filter) / 32, 0);
      log_marks_ = log_marks;
      log_filter_ = log_filter;
    }
  }

  // Nodes that are the same have the same place, so this is where they meet.
  void share(int32_t label) {
    shared_.reserve_more(1);
    if (shared_.find(nodes_[label]) >= 0) {
      throw std::invalid_argument("node_id must not repeat within a scope, got " + std::to_string(nodes_[label]) +
                                  " twice");
    }
    const auto number = static_cast<size_t>(shared_.add(nodes_[label]));
    if (number >= shared_label_.size()) shared_label_.resize(2 * (number + 1));
    shared_label_[number] = label;
  }

  int32_t find_shared(Id node) const {
    const int32_t number = shared_.find(node);
    return number < 0 ? -1 : shared_label_[static_cast<size_t>(number)];
  }

  const Id* nodes_ = nullptr;
  std::vector<uint16_t> marks_;
  std::vector<uint32_t> filter_;
  std::vector<uint32_t> used_;  // bits of all members
  NodeIndex<Id> shared_;
  std::vector<int32_t> shared_label_;
  int log_marks_ = 0, log_filter_ = 0;
};

}  // namespace shadow
