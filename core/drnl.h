// Double-radius labels of the nodes in the scopes of pairs (SEAL).
// Not for: choosing scopes, or one-hot columns of the labels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "interrupt.h"

namespace shadow {

// Joined scopes: row r hears from indices[indptr[r], indptr[r + 1]), and no edge joins two scopes.
struct PairScopes {
  const int64_t* indptr;
  const int64_t* indices;
  const int64_t* ends;  // two rows for each pair
  int64_t num_nodes, num_edges, num_pairs;
};

// With x, y the distances to the two ends, each measured without the other end, and d = x + y, a node has the label
// 1 + min(x, y) + (d / 2) (d / 2 + d % 2 - 1); the ends have 1. Where it would be above max_label, or one end is not
// reached within max_distance, it is 0. Work and memory depend on the scopes alone.
class DrnlLabeller {
 public:
  explicit DrnlLabeller(const PairScopes& scopes) : scopes_(scopes) {
    const auto count = static_cast<size_t>(scopes.num_nodes);
    for (auto& distance : distance_) distance.assign(count, -1);
  }

  void label(int32_t max_label, int32_t max_distance, int64_t* labels) {
    std::fill_n(labels, scopes_.num_nodes, 0);
    for (int64_t pair = 0; pair < scopes_.num_pairs; ++pair) {
      count_steps(1);
      const int64_t first = scopes_.ends[2 * pair], second = scopes_.ends[2 * pair + 1];
      for (const int64_t end : {first, second}) {
        if (!has(end)) throw std::invalid_argument("target_node must be rows of the batch");
      }
      measure(second, first, max_distance, distance_[1]);
      measure(first, second, max_distance, distance_[0]);
      for (const int64_t node : queue_) labels[node] = label_of(node, max_label);
      labels[first] = labels[second] = 1;
    }
  }

 private:
  bool has(int64_t row) const { return static_cast<uint64_t>(row) < static_cast<uint64_t>(scopes_.num_nodes); }

  int64_t label_of(int64_t node, int32_t max_label) const {
    const int64_t x = distance_[0][static_cast<size_t>(node)], y = distance_[1][static_cast<size_t>(node)];
    if (y < 0) return 0;
    const int64_t half = (x + y) / 2, label = 1 + std::min(x, y) + half * (half + (x + y) % 2 - 1);
    return label > max_label ? 0 : label;
  }

  // Breadth first from `start` without `hidden`; queue_ then holds what was reached.
  void measure(int64_t start, int64_t hidden, int32_t max_distance, std::vector<int32_t>& distance) {
    queue_.assign(1, start);
    distance[static_cast<size_t>(start)] = 0;
    for (size_t head = 0; head < queue_.size(); ++head) {
      const int64_t node = queue_[head];
      const int32_t next = distance[static_cast<size_t>(node)] + 1;
      if (next > max_distance) return;
      const int64_t first = scopes_.indptr[node], last = scopes_.indptr[node + 1];
      if (first < 0 || last < first || last > scopes_.num_edges) {
        throw std::invalid_argument("indptr must ascend from 0 to the number of edges");
      }
      count_steps(last - first + 1);
      for (int64_t entry = first; entry < last; ++entry) {
        const int64_t other = scopes_.indices[entry];
        if (!has(other)) throw std::invalid_argument("indices must be rows of the batch");
        if (other == hidden || distance[static_cast<size_t>(other)] >= 0) continue;
        distance[static_cast<size_t>(other)] = next;
        queue_.push_back(other);
      }
    }
  }

  PairScopes scopes_;
  std::vector<int32_t> distance_[2];  // to the first and the second end of its scope; -1 where not reached
  std::vector<int64_t> queue_;
};

}  // namespace shadow
