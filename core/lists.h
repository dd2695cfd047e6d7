// The neighbour lists of a graph as extractors read them: in either direction, without the link of two targets where
// that is hidden. Not for: mass that spreads along lists (met.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "csr.h"

namespace shadow {

// The lists in the other direction, of a graph that is not symmetric; the ids are as wide as those of the graph.
struct ReverseLists {
  const int64_t* indptr = nullptr;
  const void* indices = nullptr;

  template <class Id>
  Csr<Id> of(const Csr<Id>& csr) const {
    if (indptr == nullptr) return csr;
    return {indptr, static_cast<const Id*>(indices), nullptr, csr.num_nodes, csr.num_edges, csr.symmetric};
  }
};

// One list and its entry that is hidden, -1 for none.
template <class Id>
struct OpenRow {
  Row<Id> row;
  int64_t gap;

  int64_t size() const { return row.size() - (gap >= 0); }
  // Where the `number`-th entry that is not hidden stands.
  int64_t at(int64_t number) const { return number + (gap >= 0 && number >= gap); }
  // That entry, as it is in the file: not checked.
  Id entry(int64_t number) const { return row.begin[at(number)]; }
};

template <class Id>
class Lists {
 public:
  // hide_link: as if there were no edge between the first two targets.
  Lists(const Csr<Id>& csr, const Id* targets, int32_t num_targets, bool hide_link) : csr_(csr) {
    for (size_t end = 0; hide_link && num_targets >= 2 && end < 2; ++end) {
      ends_[end] = targets[end];
      gaps_[end] = csr.entry_of(targets[end], targets[1 - end]);
    }
  }

  OpenRow<Id> row(Id node) const {
    const int64_t gap = node == ends_[0] ? gaps_[0] : node == ends_[1] ? gaps_[1] : -1;
    return {csr_.row(node), gap};
  }

  const Csr<Id>& csr() const { return csr_; }

 private:
  Csr<Id> csr_;
  Id ends_[2] = {-1, -1};
  int64_t gaps_[2] = {-1, -1};
};

}  // namespace shadow
