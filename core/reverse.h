// What walks need beside a graph's arrays: its lists in the other direction, and sums of its weights.
// Not for: the edges of a batch (edges.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "csr.h"
#include "interrupt.h"
#include "unset.h"
#include "walks.h"

namespace shadow {

// The lists in the other direction, ascending. All memory is taken at the start, so that a fault of the mapped files
// may jump out of fill.
template <class Id>
struct Reversed {
  std::vector<int64_t> indptr;
  Unset<Id> indices;

  explicit Reversed(const Csr<Id>& csr)
      : indptr(static_cast<size_t>(csr.num_nodes) + 1, 0), indices(static_cast<size_t>(csr.num_edges)) {}

  // Count the entries of each list, then walk over all rows and drop each into its place.
  void fill(const Csr<Id>& csr) {
    if (csr.indptr[0] != 0) throw_bad_row(0);
    if (csr.indptr[csr.num_nodes] != csr.num_edges) throw_bad_row(csr.num_nodes - 1);
    for_entries(csr, [&](Id, Id sender) { ++indptr[static_cast<size_t>(sender)]; });
    int64_t sum = 0;
    for (int64_t& count : indptr) sum += std::exchange(count, sum);
    for_entries(csr, [&](Id receiver, Id sender) {
      const int64_t place = indptr[static_cast<size_t>(sender)]++;
      if (place >= csr.num_edges) throw_bad_row(receiver);  // The file has changed since it was counted.
      indices[static_cast<size_t>(place)] = receiver;
    });
    for (size_t node = indptr.size() - 1; node > 0; --node) indptr[node] = indptr[node - 1];  // where each list began
    indptr[0] = 0;
  }

 private:
  template <class Visit>
  static void for_entries(const Csr<Id>& csr, Visit&& visit) {
    for (int64_t node = 0; node < csr.num_nodes; ++node) {
      const Row<Id> row = csr.row(static_cast<Id>(node));
      count_steps(row.size() + 1);
      for (const Id* entry = row.begin; entry != row.end; ++entry) visit(static_cast<Id>(node), csr.checked(*entry));
    }
  }
};

// The sums of the first 0, kWeightBlock, 2 * kWeightBlock, ... weights. `sums` has room for all of them.
template <class Id>
void sum_weights(const Csr<Id>& csr, double* sums) {
  double sum = 0;
  for (int64_t entry = 0; entry < csr.num_edges; ++entry) {
    if (entry % kWeightBlock == 0) {
      count_steps(kWeightBlock);
      sums[entry / kWeightBlock] = sum;
    }
    sum += csr.weight_at(entry);
  }
  if (csr.num_edges % kWeightBlock == 0) sums[csr.num_edges / kWeightBlock] = sum;
}

}  // namespace shadow
