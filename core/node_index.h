// Nodes numbered in the order in which they are first seen, in memory that depends on their number alone.
// Not for: sharing between threads that change it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "prefetch.h"

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

}  // namespace shadow
