// What walks need beside a graph's arrays: its lists in the other direction, and sums of its weights.
// Not for: the edges of a batch (edges.h).
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "csr.h"
#include "walks.h"

namespace shadow {

constexpr int64_t kEntriesPerPoll = int64_t{1} << 22;

// The lists in the other direction, ascending. All memory is taken at the start, so that a fault of the mapped files
// may jump out of fill.
template <class Id>
struct Reversed {
  std::vector<int64_t> indptr;
  std::vector<Id> indices;

  explicit Reversed(const Csr<Id>& csr)
      : indptr(static_cast<size_t>(csr.num_nodes) + 1, 0), indices(static_cast<size_t>(csr.num_edges)) {}

  // Count the entries of each list, then walk over all rows and drop each into its place.
  void fill(const Csr<Id>& csr, const std::function<void()>& poll) {
    if (csr.indptr[0] != 0) throw_bad_row(0);
    if (csr.indptr[csr.num_nodes] != csr.num_edges) throw_bad_row(csr.num_nodes - 1);
    for_entries(csr, poll, [&](Id, Id sender) { ++indptr[static_cast<size_t>(sender)]; });
    int64_t sum = 0;
    for (int64_t& count : indptr) sum += std::exchange(count, sum);
    for_entries(csr, poll, [&](Id receiver, Id sender) {
      const int64_t place = indptr[static_cast<size_t>(sender)]++;
      if (place >= csr.num_edges) throw_bad_row(receiver);  // The file has changed since it was counted.
      indices[static_cast<size_t>(place)] = receiver;
    });
    for (size_t node = indptr.size() - 1; node > 0; --node) indptr[node] = indptr[node - 1];  // where each list began
    indptr[0] = 0;
  }

 private:
  template <class Visit>
  static void for_entries(const Csr<Id>& csr, const std::function<void()>& poll, Visit&& visit) {
    int64_t due = kEntriesPerPoll;
    for (int64_t node = 0; node < csr.num_nodes; ++node) {
      const Row<Id> row = csr.row(static_cast<Id>(node));
      for (const Id* entry = row.begin; entry != row.end; ++entry) visit(static_cast<Id>(node), csr.checked(*entry));
      due -= row.size() + 1;
      if (due > 0) continue;
      poll();
      due = kEntriesPerPoll;
    }
  }
};

[[noreturn]] inline void throw_bad_weight(float weight, int64_t entry) {
  throw CorruptGraph("edge_weight of entry " + std::to_string(entry) + " must be positive, got " +
                     std::to_string(weight));
}

// The sums of the first 0, kWeightBlock, 2 * kWeightBlock, ... weights. `sums` has room for all of them.
inline void sum_weights(const float* weight, int64_t num_edges, const std::function<void()>& poll, double* sums) {
  double sum = 0;
  for (int64_t entry = 0; entry < num_edges; ++entry) {
    if (entry % kWeightBlock == 0) sums[entry / kWeightBlock] = sum;
    if (entry % kEntriesPerPoll == kEntriesPerPoll - 1) poll();
    const float value = weight[entry];
    if (!(value >= 0) || std::isinf(value)) throw_bad_weight(value, entry);
    sum += value;
  }
  if (num_edges % kWeightBlock == 0) sums[num_edges / kWeightBlock] = sum;
}

}  // namespace shadow
