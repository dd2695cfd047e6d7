// Small reusable containers whose cost depends on what they hold, never on the size of the graph.
// Not for: sharing between threads; each worker has its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
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

// The nodes of a scope: built once, then asked for every neighbour of every member. Almost all answers are "not there",
// so a small table, at least 64 entries a node, answers first: the mark at the place of a member is its label + 1, or
// kShared where that does not fit or two members have the same place.
template <class Id>
class Members {
 public:
  void assign(const Id* nodes, int32_t count) {
    nodes_ = nodes;
    int log_marks = 6;
    while (log_marks < 31 && (int64_t{1} << log_marks) < 64 * static_cast<int64_t>(count)) ++log_marks;
    wipe((size_t{1} << log_marks) + kMarkPadding);
    shift_ = 32 - log_marks;
    used_.resize(static_cast<size_t>(count));
    for (int32_t label = 0; label < count; ++label) {
      const uint32_t place = mark_of(nodes[label], shift_);
      used_[static_cast<size_t>(label)] = place;
      uint16_t& mark = marks_[place];
      const bool alone = mark == 0 && label < kShared - 1;
      if (!alone && mark != kShared && mark != 0) share(mark - 1);
      if (!alone) share(label);
      mark = alone ? static_cast<uint16_t>(label + 1) : kShared;
    }
  }

  // Write a Pick for each of ids[0, count) that may be a member; return their number.
  int64_t pick(const Id* ids, int64_t count, int32_t list, Pick* picks) const {
    return shadow::pick(ids, count, marks_.data(), shift_, list, picks);
  }

  // Likewise a FullPick, where fits_full() and ids have 32 bits.
  int64_t pick_full(const int32_t* ids, int64_t count, int32_t list, FullPick* picks) const {
    return shadow::pick_full(ids, count, marks_.data(), shift_, static_cast<uint16_t>(list), picks);
  }
  static bool fits_full(int32_t count) { return sizeof(Id) == sizeof(int32_t) && count < kShared; }

  // The label of a FullPick, or -1.
  int32_t find(const FullPick& pick) const {
    if (pick.mark == kShared) return find_shared(pick.id);
    return nodes_[pick.mark - 1] == pick.id ? pick.mark - 1 : -1;
  }

  // The label of `node`, or -1.
  int32_t find(Id node) const {
    const uint16_t mark = marks_[mark_of(node, shift_)];
    if (mark == kShared) return find_shared(node);
    const int32_t label = mark == 0 ? 0 : mark - 1;
    return (mark != 0) & (nodes_[label] == node) ? label : -1;
  }

 private:
  static constexpr uint16_t kShared = 0xffff;

  // Set all marks to 0: one by one where the table keeps its size.
  void wipe(size_t size) {
    shared_.clear();
    if (marks_.size() != size) {
      marks_.assign(size, 0);
    } else {
      for (const uint32_t place : used_) marks_[place] = 0;
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
  std::vector<uint32_t> used_;  // places of all members
  NodeIndex<Id> shared_;
  std::vector<int32_t> shared_label_;
  int shift_ = 26;
};

}  // namespace shadow
