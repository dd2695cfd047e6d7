// Scopes joined to one batch, in subgraph order or in hop order (all targets, then all 1-hop nodes, ...).
// Not for: features and labels, which are looked up by node id afterwards.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "interrupt.h"

namespace shadow {

// Borrowed ragged arrays, as in Subgraphs.
struct ScopesView {
  const int64_t* ptr;      // [B + 1]
  const int32_t* hop;      // [N], ascending within a scope
  const int64_t* indptr;   // [N + 1]
  const int32_t* indices;  // [E], positions within the scope
  int64_t num_scopes, num_nodes, num_edges;
};

// source[i] is the row of the scopes that became row i of the batch; edge_source likewise for edges.
struct Joined {
  std::vector<int64_t> source, place, subgraph, indptr, indices, edge_source, hop_ptr;
};

// The new place of every node: by (hop, scope, position), or unchanged.
inline void place_nodes(const ScopesView& view, bool by_hop, Joined& out) {
  int32_t max_hop = 0;
  for (int64_t node = 0; node < view.num_nodes; ++node) {
    if (view.hop[node] < 0 || view.hop[node] >= view.num_nodes) {
      throw std::invalid_argument("hop must be from 0 to the number of nodes - 1");
    }
    max_hop = std::max(max_hop, view.hop[node]);
  }
  std::vector<int64_t> next(static_cast<size_t>(max_hop) + 2, 0);
  for (int64_t node = 0; node < view.num_nodes; ++node) ++next[static_cast<size_t>(view.hop[node]) + 1];
  for (size_t hop = 1; hop < next.size(); ++hop) next[hop] += next[hop - 1];
  out.hop_ptr.assign(next.begin() + 1, next.end());
  out.place.resize(static_cast<size_t>(view.num_nodes));
  for (int64_t node = 0; node < view.num_nodes; ++node) {
    out.place[static_cast<size_t>(node)] = by_hop ? next[static_cast<size_t>(view.hop[node])]++ : node;
  }
}

inline Joined collate(const ScopesView& view, bool by_hop) {
  Joined out;
  place_nodes(view, by_hop, out);
  const auto num_nodes = static_cast<size_t>(view.num_nodes);
  out.source.resize(num_nodes);
  out.subgraph.resize(num_nodes);
  for (int64_t scope = 0; scope < view.num_scopes; ++scope) {
    if (view.ptr[scope] < 0 || view.ptr[scope + 1] < view.ptr[scope] || view.ptr[scope + 1] > view.num_nodes) {
      throw std::invalid_argument("ptr must ascend from 0 to the number of nodes");
    }
    count_steps(view.ptr[scope + 1] - view.ptr[scope] + 1);
    for (int64_t node = view.ptr[scope]; node < view.ptr[scope + 1]; ++node) {
      const auto place = static_cast<size_t>(out.place[static_cast<size_t>(node)]);
      out.source[place] = node;
      out.subgraph[place] = scope;
    }
  }
  out.indptr.resize(num_nodes + 1);
  out.indices.resize(static_cast<size_t>(view.num_edges));
  out.edge_source.resize(static_cast<size_t>(view.num_edges));
  int64_t edge = 0;
  for_steps(view.num_nodes, [&](int64_t number) {
    const auto row = static_cast<size_t>(number);
    out.indptr[row] = edge;
    const int64_t source = out.source[row], base = view.ptr[out.subgraph[row]];
    const int64_t size = view.ptr[out.subgraph[row] + 1] - base;
    const int64_t first = view.indptr[source], last = view.indptr[source + 1];
    if (first < 0 || last < first || last > view.num_edges || edge + (last - first) > view.num_edges) {
      throw std::invalid_argument("indptr must ascend from 0 to the number of edges");
    }
    for (int64_t from = first; from < last; ++from, ++edge) {
      const int32_t column = view.indices[from];
      if (column < 0 || column >= size) throw std::invalid_argument("indices must be positions within their scope");
      out.indices[static_cast<size_t>(edge)] = out.place[static_cast<size_t>(base + column)];
      out.edge_source[static_cast<size_t>(edge)] = from;
    }
  });
  out.indptr[num_nodes] = edge;
  if (edge != view.num_edges) throw std::invalid_argument("indptr must end at the number of edges");
  return out;
}

}  // namespace shadow
