// DropEdge: an exact number of edges drawn without replacement; both directions of an undirected edge go together.
// Not for: self-edges, which never go.
#pragma once

#include <cmath>
#include <cstdint>

#include "edges.h"
#include "interrupt.h"
#include "rng.h"

namespace shadow {

// Set keep[e] to 0 for a share of the edges, rounded to whole ones, and to 1 for the others.
inline void draw_kept(const Edges& edges, double share, uint64_t seed, float* keep) {
  const EdgeLists& lists = edges.receivers();
  const bool paired = edges.symmetric();
  const int64_t* const reverse = paired ? edges.senders().edge.get() : nullptr;
  // Of a pair the direction towards the later row is drawn, and its reverse follows.
  const auto drawn = [&](int64_t row, int64_t sender) { return paired ? sender < row : sender != row; };
  int64_t left = 0;
  for (int64_t row = 0; row < edges.num_nodes(); ++row) {
    for (int64_t edge = lists.ptr[row]; edge < lists.ptr[row + 1]; ++edge) left += drawn(row, lists.other[edge]);
  }
  auto wanted = static_cast<int64_t>(std::llround(share * static_cast<double>(left)));
  // Each in turn goes with the probability (still wanted) / (still left): every choice of edges is equally likely.
  Rng rng{seed};
  for (int64_t row = 0; row < edges.num_nodes(); ++row) {
    count_steps(lists.ptr[row + 1] - lists.ptr[row] + 1);
    for (int64_t edge = lists.ptr[row]; edge < lists.ptr[row + 1]; ++edge) {
      if (!drawn(row, lists.other[edge])) {
        if (!paired || lists.other[edge] == row) keep[edge] = 1;
        continue;
      }
      const bool goes = static_cast<int64_t>(rng.below(static_cast<uint64_t>(left))) < wanted;
      --left;
      wanted -= goes;
      keep[edge] = goes ? 0.0f : 1.0f;
      if (paired) keep[reverse[edge]] = keep[edge];
    }
  }
}

}  // namespace shadow
