// Attention along the edges of a batch (GAT): scores, softmax and weighted sum of a row in one go, and its backward.
// Not for: the linear maps that make values and scores.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "edges.h"
#include "lanes.h"
#include "spmm.h"

namespace shadow {

// What both directions read. Rows are [heads, dim]. What is kept of every edge has a row per edge of the first num_rows
// rows, then, with self-edges, one per row. `part` is the softmax before it is multiplied by a weight; 0 for an edge of
// weight 0, which is not there at all.
template <class Value>
struct AttendTask {
  using Number = Sum<Value>;
  const Edges* edges;
  const Number* weight;       // [E], or null for ones
  const Number* self_weight;  // [N], or null for no self-edges
  const Value* value;         // [num_values, heads, dim]
  const Number* from_score;   // [num_values, heads]
  int64_t num_values;
  const Number* to_score;  // [num_rows, heads]
  int64_t num_rows, heads, dim;
  Number slope;
  Number* part;  // [num_kept, heads]

  int64_t width() const { return heads * dim; }
  int64_t num_edges() const { return edges->receivers().ptr[num_rows]; }
  int64_t num_kept() const { return num_edges() + (self_weight == nullptr ? 0 : num_rows); }
  int64_t cost() const { return (num_edges() + num_rows) * width(); }
};

// The entries of a row that are really there: of each its row in what is kept, the node at the other end, that node's
// offset among the values and the weight; and a number per entry and head, in room for whole vectors.
template <class Number>
struct Entries {
  int64_t *kept, *node, *offset;
  Number *weight, *of_head;
};

template <class Number>
class EntryScratch {
 public:
  EntryScratch(int64_t longest, int64_t heads)
      : room_(longest + 1),
        ids_(static_cast<size_t>(3 * room_)),
        weight_(static_cast<size_t>(room_)),
        of_head_(static_cast<size_t>(whole_vectors<Number>(room_ * heads))) {}

  Entries<Number> entries() {
    int64_t* const ids = ids_.data();
    return {ids, ids + room_, ids + 2 * room_, weight_.data(), of_head_.data()};
  }

 private:
  int64_t room_;
  std::vector<int64_t> ids_;
  std::vector<Number> weight_, of_head_;
};

// List the entries of a row and return their number; what is kept of the others, in `kept` [num_kept, heads], becomes
// 0.
template <class Value>
SHADOW_INLINE int64_t list_entries(const AttendTask<Value>& task, int64_t row, const Entries<Sum<Value>>& entries,
                                   Sum<Value>* kept, int64_t& count) {
  using Number = Sum<Value>;
  const EdgeLists& lists = task.edges->receivers();
  const int64_t heads = task.heads, width = task.width(), num_values = task.num_values;
  const int32_t* const senders = lists.other.get();
  const int64_t first = lists.ptr[row], last = lists.ptr[row + 1];
  const int64_t end = last + (task.self_weight == nullptr ? 0 : 1);
  const int64_t self_row = task.num_edges() + row;
  count = 0;
  for (int64_t at = first; at < end; ++at) {
    const bool is_edge = at < last;
    const int64_t node = is_edge ? senders[at] : row;
    if (node >= num_values) return node;
    const Number weight = !is_edge ? task.self_weight[row] : task.weight == nullptr ? 1 : task.weight[at];
    entries.kept[count] = is_edge ? at : self_row;
    entries.node[count] = node;
    entries.offset[count] = node * width;
    entries.weight[count] = weight;
    if (weight == 0) std::fill_n(kept + entries.kept[count] * heads, heads, Number(0));
    count += weight != 0;
  }
  return kAllThere;
}

// The heads go four at a time, and those that are left one by one: `Heads` below is four numbers or one.
template <class Heads, class Number>
SHADOW_INLINE void take(const Number* from, Heads& to) {
  std::memcpy(&to, from, sizeof to);
}
template <class Heads, class Number>
SHADOW_INLINE void put(const Heads& from, Number* to) {
  std::memcpy(to, &from, sizeof from);
}

// Scores of some heads of a row, each minus the largest of its head.
template <class Heads, class Value>
SHADOW_INLINE void score_heads(const AttendTask<Value>& task, int64_t row, int64_t head, int64_t count,
                               const Entries<Sum<Value>>& entries) {
  using Number = Sum<Value>;
  const int64_t heads = task.heads;
  const Heads zero = {};
  Heads to, top = zero - std::numeric_limits<Number>::infinity();
  take(task.to_score + row * heads + head, to);
  for (int64_t k = 0; k < count; ++k) {
    Heads from;
    take(task.from_score + entries.node[k] * heads + head, from);
    const Heads sum = to + from;
    const Heads active = (sum < zero ? zero : sum) + task.slope * (sum < zero ? sum : zero);
    put(active, entries.of_head + k * heads + head);
    top = active > top ? active : top;
  }
  for (int64_t k = 0; k < count; ++k) {
    Heads active;
    take(entries.of_head + k * heads + head, active);
    put<Heads>(active - top, entries.of_head + k * heads + head);
  }
}

// From the powers of the scores: the softmax, which is kept, and its product with the weights.
template <class Heads, class Value>
SHADOW_INLINE void share_heads(const AttendTask<Value>& task, int64_t head, int64_t count,
                               const Entries<Sum<Value>>& entries) {
  const int64_t heads = task.heads;
  Heads total = {};
  for (int64_t k = 0; k < count; ++k) {
    Heads power;
    take(entries.of_head + k * heads + head, power);
    total += power;
  }
  const Heads scale = 1 / total;
  for (int64_t k = 0; k < count; ++k) {
    Heads power;
    take(entries.of_head + k * heads + head, power);
    const Heads part = power * scale;
    put(part, task.part + entries.kept[k] * heads + head);
    put<Heads>(part * entries.weight[k], entries.of_head + k * heads + head);
  }
}

// Leave the softmax of every entry of a row, times its weight, in entries.of_head [entries, heads].
template <class Value>
SHADOW_INLINE void softmax_row(const AttendTask<Value>& task, int64_t row, int64_t count,
                               const Entries<Sum<Value>>& entries) {
  using Number = Sum<Value>;
  int64_t head = 0;
  for (; head + 4 <= task.heads; head += 4) score_heads<Four<Number>>(task, row, head, count, entries);
  for (; head < task.heads; ++head) score_heads<Number>(task, row, head, count, entries);
  Number* const power = entries.of_head;
  const int64_t whole = whole_vectors<Number>(count * task.heads);
  for (int64_t at = count * task.heads; at < whole; ++at) power[at] = 0;
  for (int64_t block = 0; block < whole; block += kLanes<Number>) {
    for (int64_t lane = 0; lane < kLanes<Number>; ++lane) power[block + lane] = exp_below(power[block + lane]);
  }
  for (head = 0; head + 4 <= task.heads; head += 4) share_heads<Four<Number>>(task, head, count, entries);
  for (; head < task.heads; ++head) share_heads<Number>(task, head, count, entries);
}

template <class Value>
SHADOW_CLONED int64_t attend_part(const AttendTask<Value>& task, Value* out, Part part,
                                  EntryScratch<Sum<Value>>& scratch) {
  const int64_t heads = task.heads, dim = task.dim;
  const Entries<Sum<Value>> entries = scratch.entries();
  for (int64_t at = part.first; at < part.last; ++at) {
    const int64_t row = task.edges->visited(at);
    if (row >= task.num_rows) continue;
    int64_t count;
    const int64_t missing = list_entries(task, row, entries, task.part, count);
    if (missing != kAllThere) return missing;
    softmax_row(task, row, count, entries);
    for (int64_t head = 0; head < heads; ++head) {
      sum_columns(task.value + head * dim, entries.offset, entries.of_head + head, heads, count, dim,
                  out + row * task.width() + head * dim);
    }
  }
  return kAllThere;
}

template <class Value>
void attend(const AttendTask<Value>& task, Value* out, int num_threads) {
  const EntryScratch<Sum<Value>> empty(task.edges->receivers().longest, task.heads);
  for_parts(*task.edges, task.cost(), num_threads, empty,
            [&](Part part, auto& scratch) { check_senders(attend_part(task, out, part, scratch), task.num_values); });
}

// Gradients: of what came out [num_rows, heads, dim], and of what went in; `sum` is that of to_score + from_score per
// edge [num_kept, heads]. Those of the weights [E] and [N] may be null.
template <class Value>
struct AttendGradients {
  using Number = Sum<Value>;
  const Value* out;
  Value* value;
  Number* from_score;
  Number* to_score;
  Number* sum;
  Number* weight;
  Number* self_weight;
};

template <class Value>
SHADOW_INLINE void weight_gradients(const AttendTask<Value>& task, const AttendGradients<Value>& gradients, int64_t row,
                                    int64_t count, const Entries<Sum<Value>>& entries) {
  for (int64_t k = 0; k < count; ++k) {
    const int64_t kept = entries.kept[k];
    Sum<Value> total = 0;
    for (int64_t head = 0; head < task.heads; ++head) {
      total += task.part[kept * task.heads + head] * entries.of_head[k * task.heads + head];
    }
    const bool is_edge = kept < task.num_edges();
    if (is_edge && gradients.weight != nullptr) gradients.weight[kept] = total;
    if (!is_edge && gradients.self_weight != nullptr) gradients.self_weight[row] = total;
  }
}

// The gradients of the scores of some heads of a row, from the products q of its entries in entries.of_head.
template <class Heads, class Value>
SHADOW_INLINE void score_gradients(const AttendTask<Value>& task, const AttendGradients<Value>& gradients, int64_t row,
                                   int64_t head, int64_t count, const Entries<Sum<Value>>& entries) {
  const int64_t heads = task.heads;
  const Heads zero = {};
  Heads to, total = zero, to_gradient = zero;
  take(task.to_score + row * heads + head, to);
  for (int64_t k = 0; k < count; ++k) {
    Heads part, product;
    take(task.part + entries.kept[k] * heads + head, part);
    take(entries.of_head + k * heads + head, product);
    total += part * (product * entries.weight[k]);
  }
  for (int64_t k = 0; k < count; ++k) {
    Heads part, product, from;
    take(task.part + entries.kept[k] * heads + head, part);
    take(entries.of_head + k * heads + head, product);
    take(task.from_score + entries.node[k] * heads + head, from);
    const Heads active = part * (product * entries.weight[k] - total);
    const Heads here = to + from > zero ? active : active * task.slope;
    put(here, gradients.sum + entries.kept[k] * heads + head);
    to_gradient += here;
  }
  put(to_gradient, gradients.to_score + row * heads + head);
}

// By receiver: d sum, d to_score, d weight. With p the softmax, w the weight and q = d out . value of an edge,
// d weight = p q and d sum = p (w q - sum over the row of p w q), times the slope where the sum is not positive.
template <class Value>
SHADOW_CLONED int64_t attend_back_part(const AttendTask<Value>& task, const AttendGradients<Value>& gradients,
                                       Part part, EntryScratch<Sum<Value>>& scratch) {
  using Number = Sum<Value>;
  const int64_t heads = task.heads, dim = task.dim;
  const Entries<Number> entries = scratch.entries();
  const bool weights = gradients.weight != nullptr || gradients.self_weight != nullptr;
  for (int64_t at = part.first; at < part.last; ++at) {
    const int64_t row = task.edges->visited(at);
    if (row >= task.num_rows) continue;
    int64_t count;
    const int64_t missing = list_entries(task, row, entries, gradients.sum, count);
    if (missing != kAllThere) return missing;
    const Value* const out = gradients.out + row * task.width();
    for (int64_t k = 0; k < count; ++k) {
      const Value* const value = task.value + entries.offset[k];
      for (int64_t head = 0; head < heads; ++head) {
        entries.of_head[k * heads + head] = dot(out + head * dim, value + head * dim, dim);
      }
    }
    if (weights) weight_gradients(task, gradients, row, count, entries);
    int64_t head = 0;
    for (; head + 4 <= heads; head += 4) {
      score_gradients<Four<Number>>(task, gradients, row, head, count, entries);
    }
    for (; head < heads; ++head) score_gradients<Number>(task, gradients, row, head, count, entries);
  }
  return kAllThere;
}

// The factors of some heads of a sender's entries to entries.of_head, and the gradient of its from_score.
template <class Heads, class Value>
SHADOW_INLINE void sender_factors(const AttendTask<Value>& task, const AttendGradients<Value>& gradients, int64_t node,
                                  int64_t head, int64_t count, const Entries<Sum<Value>>& entries) {
  const int64_t heads = task.heads;
  Heads total = {};
  for (int64_t k = 0; k < count; ++k) {
    Heads part, sum;
    take(task.part + entries.kept[k] * heads + head, part);
    take(gradients.sum + entries.kept[k] * heads + head, sum);
    put<Heads>(part * entries.weight[k], entries.of_head + k * heads + head);
    total += sum;
  }
  put(total, gradients.from_score + node * heads + head);
}

// By sender: d value and d from_score.
template <class Value>
SHADOW_CLONED void attend_back_senders(const AttendTask<Value>& task, const AttendGradients<Value>& gradients,
                                       Part part, EntryScratch<Sum<Value>>& scratch) {
  using Number = Sum<Value>;
  const EdgeLists& lists = task.edges->senders();
  const int64_t heads = task.heads, dim = task.dim, width = task.width();
  const Entries<Number> entries = scratch.entries();
  for (int64_t at = part.first; at < part.last; ++at) {
    const int64_t node = task.edges->visited(at);
    if (node >= task.num_values) continue;
    int64_t count = 0;
    const int64_t last = lists.ptr[node + 1];
    for (int64_t entry = lists.ptr[node]; entry < last; ++entry) {
      const int64_t row = lists.other[entry], edge = lists.edge[entry];
      if (row >= task.num_rows) break;
      entries.kept[count] = edge;
      entries.offset[count] = row * width;
      entries.weight[count] = task.weight == nullptr ? 1 : task.weight[edge];
      count += entries.weight[count] != 0;
    }
    if (task.self_weight != nullptr && node < task.num_rows) {
      entries.kept[count] = task.num_edges() + node;
      entries.offset[count] = node * width;
      entries.weight[count] = task.self_weight[node];
      ++count;
    }
    int64_t head = 0;
    for (; head + 4 <= heads; head += 4) sender_factors<Four<Number>>(task, gradients, node, head, count, entries);
    for (; head < heads; ++head) sender_factors<Number>(task, gradients, node, head, count, entries);
    for (head = 0; head < heads; ++head) {
      sum_columns(gradients.out + head * dim, entries.offset, entries.of_head + head, heads, count, dim,
                  gradients.value + node * width + head * dim);
    }
  }
}

template <class Value>
void attend_backward(const AttendTask<Value>& task, const AttendGradients<Value>& gradients, int num_threads) {
  using Scratch = EntryScratch<Sum<Value>>;
  for_parts(*task.edges, task.cost(), num_threads, Scratch(task.edges->receivers().longest, task.heads),
            [&](Part part, Scratch& scratch) {
              check_senders(attend_back_part(task, gradients, part, scratch), task.num_values);
            });
  for_parts(*task.edges, task.cost(), num_threads, Scratch(task.edges->senders().longest, task.heads),
            [&](Part part, Scratch& scratch) { attend_back_senders(task, gradients, part, scratch); });
}

}  // namespace shadow
