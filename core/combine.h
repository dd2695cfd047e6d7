// Several lists of scored nodes for each target, added up to one list, best first.
// Not for: where the lists come from, nor for the edges between their nodes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "interrupt.h"
#include "parallel.h"

namespace shadow {

// The lists of one extractor: ptr [count + 1], node_id and score [size].
struct ScoredLists {
  const int64_t* ptr;
  const int64_t* node_id;
  const double* score;
  int64_t size;
};

struct CombinedLists {
  std::vector<int64_t> ptr, node_id;
  std::vector<float> score;
};

namespace detail {

struct ScoredNode {
  int64_t node;
  double score;
  size_t part;
};

// Gather what the parts say of one target, and leave each node once with the sum of its scores, best first. Scores are
// added in the order of the parts, and equal sums go by node, so that the result is the same everywhere.
inline void add_up_one(const std::vector<ScoredLists>& parts, int64_t target, std::vector<ScoredNode>& nodes) {
  nodes.clear();
  for (size_t part = 0; part < parts.size(); ++part) {
    count_steps(parts[part].ptr[target + 1] - parts[part].ptr[target]);
    for (int64_t k = parts[part].ptr[target]; k < parts[part].ptr[target + 1]; ++k)
      nodes.push_back({parts[part].node_id[k], parts[part].score[k], part});
  }
  std::sort(nodes.begin(), nodes.end(), [](const ScoredNode& one, const ScoredNode& other) {
    count_steps(1);
    return one.node != other.node ? one.node < other.node : one.part < other.part;
  });
  size_t last = 0;
  for (size_t k = 1; k < nodes.size(); ++k) {
    if (nodes[k].node == nodes[last].node) {
      nodes[last].score += nodes[k].score;
    } else {
      nodes[++last] = nodes[k];
    }
  }
  if (!nodes.empty()) nodes.resize(last + 1);
  std::sort(nodes.begin(), nodes.end(), [](const ScoredNode& one, const ScoredNode& other) {
    count_steps(1);
    return one.score != other.score ? one.score > other.score : one.node < other.node;
  });
}

inline void check_lists(const ScoredLists& lists, int64_t count) {
  bool valid = lists.ptr[0] == 0 && lists.ptr[count] == lists.size;
  for (int64_t target = 0; valid && target < count; ++target) valid = lists.ptr[target] <= lists.ptr[target + 1];
  if (!valid) throw std::invalid_argument("ptr must ascend from 0 to the number of nodes");
  for (int64_t k = 0; k < lists.size; ++k) {
    count_steps(1);
    if (!(lists.score[k] >= 0)) throw std::invalid_argument("score must be at least 0");
  }
}

}  // namespace detail

// Add up the lists of `count` targets.
inline CombinedLists add_up(const std::vector<ScoredLists>& parts, int64_t count, int num_threads) {
  for (const ScoredLists& part : parts) detail::check_lists(part, count);
  const auto start_of = [&](int64_t target) {
    int64_t start = 0;
    for (const ScoredLists& part : parts) start += part.ptr[target];
    return start;
  };
  // Each target writes where its list would be if no node were in two of them; then the gaps are closed.
  CombinedLists out;
  out.ptr.assign(static_cast<size_t>(count) + 1, 0);
  out.node_id.resize(static_cast<size_t>(start_of(count)));
  out.score.resize(out.node_id.size());
  std::vector<std::vector<detail::ScoredNode>> nodes(static_cast<size_t>(std::max(num_threads, 1)));
  parallel_for(
      count, num_threads,
      [&](int worker, int64_t target) {
        auto& own = nodes[static_cast<size_t>(worker)];
        detail::add_up_one(parts, target, own);
        auto place = static_cast<size_t>(start_of(target));
        for (const detail::ScoredNode& node : own) {
          out.node_id[place] = node.node;
          // A score too small for a float is still one.
          out.score[place++] = std::max(static_cast<float>(node.score), std::numeric_limits<float>::min());
        }
        out.ptr[static_cast<size_t>(target) + 1] = static_cast<int64_t>(own.size());
      },
      16);
  for (int64_t target = 0; target < count; ++target) {
    const int64_t from = start_of(target), to = out.ptr[static_cast<size_t>(target)];
    const int64_t size = out.ptr[static_cast<size_t>(target) + 1];
    std::copy_n(out.node_id.begin() + from, size, out.node_id.begin() + to);
    std::copy_n(out.score.begin() + from, size, out.score.begin() + to);
    out.ptr[static_cast<size_t>(target) + 1] = to + size;
  }
  out.node_id.resize(static_cast<size_t>(out.ptr.back()));
  out.score.resize(out.node_id.size());
  return out;
}

}  // namespace shadow
