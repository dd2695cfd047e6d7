// Sums of rows along the edges of a batch, their backward, and the products that the gradients of the factors are.
// Not for: attention, whose factors depend on the nodes (attend.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "edges.h"
#include "lanes.h"
#include "team.h"

namespace shadow {

// Numbers that are read between two chances to end the work: a few dozen milliseconds.
constexpr int64_t kMostNumbersAtOnce = int64_t{1} << 26;

// Call run(part, scratch) for every part of the rows, on all threads if there is enough to do; each thread has a
// scratch of its own. `cost` is the count of numbers that are read; where that is a lot, parts are cut into pieces.
template <class Scratch, class Run>
void for_parts(const Edges& edges, int64_t cost, int num_threads, const Scratch& empty, Run&& run) {
  const int64_t num_pieces = 1 + cost / std::max<int64_t>(edges.num_parts(), 1) / kMostNumbersAtOnce;
  run_team(edges.num_parts() * num_pieces, cost, num_threads, [&](Handout& handout) {
    Scratch scratch = empty;
    for (int64_t item = handout.take(); item >= 0; item = handout.take()) {
      const Part part = edges.part(item / num_pieces);
      const int64_t size = part.last - part.first, piece = item % num_pieces;
      run(Part{part.first + size * piece / num_pieces, part.first + size * (piece + 1) / num_pieces}, scratch);
    }
  });
}

// A sender that is not there is told of by its number, and kAllThere says that there is none such.
constexpr int64_t kAllThere = -1;

inline void check_senders(int64_t missing, int64_t num_rows) {
  if (missing == kAllThere) return;
  throw std::invalid_argument("must hold every sender of the rows that come out, got " + std::to_string(num_rows) +
                              " rows and the sender " + std::to_string(missing));
}

// out[i] = sum over the list of node i of weight[edge] * x[other end], + self_weight[i] * x[i], for i < num_out.
template <class Value>
struct SumTask {
  const Edges* edges;
  const EdgeLists* lists;
  bool cut;                       // an other end that is not a row of x ends the list; otherwise it is a fault
  const Sum<Value>* weight;       // [E], or null for ones
  const Sum<Value>* self_weight;  // [N], or null for no self-edges
  const Value* x;
  int64_t num_x;
  Value* out;
  int64_t num_out;
  int64_t width;
};

// The entries of one row that are really there.
template <class Number>
struct RowScratch {
  std::vector<int64_t> offset;
  std::vector<Number> factor;
};

// List the entries of a row; `count` is how many. Return the sender that is missing, if one is.
template <class Value>
SHADOW_INLINE int64_t list_row(const SumTask<Value>& task, int64_t row, int64_t* offset, Sum<Value>* factor,
                               int64_t& count) {
  const EdgeLists& lists = *task.lists;
  count = 0;
  for (int64_t at = lists.ptr[row]; at < lists.ptr[row + 1]; ++at) {
    const int64_t other = lists.other[at];
    if (other >= task.num_x) {
      if (task.cut) break;
      return other;
    }
    const Sum<Value> weight = task.weight == nullptr ? 1 : task.weight[lists.edge == nullptr ? at : lists.edge[at]];
    offset[count] = other * task.width;
    factor[count] = weight;
    count += weight != 0;
  }
  if (task.self_weight != nullptr && row < task.num_x) {
    offset[count] = row * task.width;
    factor[count] = task.self_weight[row];
    ++count;
  }
  return kAllThere;
}

template <class Value>
SHADOW_CLONED int64_t sum_part(const SumTask<Value>& task, Part part, RowScratch<Sum<Value>>& scratch) {
  int64_t* const offset = scratch.offset.data();
  Sum<Value>* const factor = scratch.factor.data();
  for (int64_t position = part.first; position < part.last; ++position) {
    const int64_t row = task.edges->visited(position);
    if (row >= task.num_out) continue;
    int64_t count;
    const int64_t missing = list_row(task, row, offset, factor, count);
    if (missing != kAllThere) return missing;
    sum_columns(task.x, offset, factor, 1, count, task.width, task.out + row * task.width);
  }
  return kAllThere;
}

template <class Value>
void sum_along_edges(const SumTask<Value>& task, int num_threads) {
  const auto longest = static_cast<size_t>(task.lists->longest) + 1;
  const RowScratch<Sum<Value>> empty{std::vector<int64_t>(longest), std::vector<Sum<Value>>(longest)};
  const int64_t cost = (task.lists->ptr[task.num_out] + task.num_out) * task.width;
  for_parts(*task.edges, cost, num_threads, empty,
            [&](Part part, auto& scratch) { check_senders(sum_part(task, part, scratch), task.num_x); });
}

// out[e] = left[receiver] . right[sender] for the edges of the first num_left rows.
template <class Value>
struct DotTask {
  const Edges* edges;
  const Value* left;
  int64_t num_left;
  const Value* right;
  int64_t num_right;
  int64_t width;
  Sum<Value>* out;
};

template <class Value>
SHADOW_CLONED int64_t dot_part(const DotTask<Value>& task, Part part) {
  const EdgeLists& lists = task.edges->receivers();
  for (int64_t position = part.first; position < part.last; ++position) {
    const int64_t row = task.edges->visited(position);
    if (row >= task.num_left) continue;
    for (int64_t edge = lists.ptr[row]; edge < lists.ptr[row + 1]; ++edge) {
      const int64_t sender = lists.other[edge];
      if (sender >= task.num_right) return sender;
      task.out[edge] = dot(task.left + row * task.width, task.right + sender * task.width, task.width);
    }
  }
  return kAllThere;
}

template <class Value>
void dot_along_edges(const DotTask<Value>& task, int num_threads) {
  struct Nothing {};
  const int64_t cost = task.edges->receivers().ptr[task.num_left] * task.width;
  for_parts(*task.edges, cost, num_threads, Nothing{},
            [&](Part part, Nothing&) { check_senders(dot_part(task, part), task.num_right); });
}

}  // namespace shadow
