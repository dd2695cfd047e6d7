// The edges of a batch as the sums along them need it: by receiver, by sender, and in an order that keeps rows in
// cache. Not for: the whole graph (csr.h), which is too large to copy.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "interrupt.h"

namespace shadow {

// A list of edges for each node: node i has the entries ptr[i] to ptr[i + 1].
struct EdgeLists {
  std::unique_ptr<int64_t[]> ptr;
  std::unique_ptr<int32_t[]> other;  // the node at the other end; ascending in each list of senders()
  std::unique_ptr<int64_t[]> edge;   // its position among the edges by receiver; null: the position itself
  int64_t longest = 0;
};

// A part of the rows in visiting order: positions first to last.
struct Part {
  int64_t first, last;
};

// Checked copies: what is read later needs no check but against the number of rows that a call has.
class Edges {
 public:
  Edges(const int64_t* indptr, const int64_t* indices, int64_t num_nodes, int64_t num_edges)
      : num_nodes_(num_nodes), num_edges_(num_edges) {
    if (num_nodes > std::numeric_limits<int32_t>::max()) {
      throw std::invalid_argument("indptr must be of fewer than 2^31 nodes, got " + std::to_string(num_nodes));
    }
    copy(indptr, indices);
    plan_visits();
  }

  int64_t num_nodes() const { return num_nodes_; }
  int64_t num_edges() const { return num_edges_; }
  const EdgeLists& receivers() const { return receivers_; }
  int64_t num_parts() const { return static_cast<int64_t>(parts_.size()); }
  Part part(int64_t number) const { return parts_[static_cast<size_t>(number)]; }

  // The row that is visited at this position: those that edges join one after the other.
  int64_t visited(int64_t position) const { return visits_[static_cast<size_t>(position)]; }

  // The same edges by sender, made when first asked for. Receivers ascend, so that those of a prefix of the rows are a
  // prefix of each list.
  const EdgeLists& senders() const {
    std::call_once(turned_, [this] { turn(); });
    return senders_;
  }

  // Whether each edge is there in both directions. Then the lists by sender equal those by receiver, and an entry's
  // `edge` there is the position of its reverse.
  bool symmetric() const {
    const EdgeLists& other = senders();
    return std::equal(receivers_.ptr.get(), receivers_.ptr.get() + num_nodes_ + 1, other.ptr.get()) &&
           std::equal(receivers_.other.get(), receivers_.other.get() + num_edges_, other.other.get());
  }

 private:
  static constexpr int64_t kMostParts = 64;
  static constexpr int64_t kLeastCost = 64;  // edges and rows of a part, so that small work is not cut up

  template <class T>
  static std::unique_ptr<T[]> unset(int64_t count) {
    return std::unique_ptr<T[]>(new T[static_cast<size_t>(count)]);
  }

  void copy(const int64_t* indptr, const int64_t* indices) {
    receivers_.ptr = unset<int64_t>(num_nodes_ + 1);
    receivers_.other = unset<int32_t>(num_edges_);
    int64_t before = 0;
    for_steps(num_nodes_ + 1, [&](int64_t node) {
      const int64_t here = indptr[node];
      if (here < before || here > num_edges_ || (node == 0 && here != 0)) {
        throw std::invalid_argument("indptr must ascend from 0 to " + std::to_string(num_edges_) + ", got " +
                                    std::to_string(here) + " at " + std::to_string(node));
      }
      receivers_.longest = std::max(receivers_.longest, here - before);
      receivers_.ptr[static_cast<size_t>(node)] = here;
      before = here;
    });
    if (before != num_edges_) {
      throw std::invalid_argument("indptr must end at " + std::to_string(num_edges_) + ", got " +
                                  std::to_string(before));
    }
    for_steps(num_edges_, [&](int64_t edge) {
      const int64_t sender = indices[edge];
      if (sender < 0 || sender >= num_nodes_) {
        const std::string range = num_nodes_ > 0 ? "from 0 to " + std::to_string(num_nodes_ - 1) : "none without nodes";
        throw std::invalid_argument("indices must be " + range + ", got " + std::to_string(sender));
      }
      receivers_.other[static_cast<size_t>(edge)] = static_cast<int32_t>(sender);
    });
  }

  // In hop order the rows of a scope lie far apart, and the rows that lie together share no senders. Each row follows
  // the first one that it sends to; in either order of a batch this brings a scope together.
  void plan_visits() {
    const auto count = static_cast<size_t>(num_nodes_);
    std::vector<int32_t> leader(count, -1);
    std::vector<int32_t> next(count + 1, 0);
    for_steps(num_nodes_, [&](int64_t number) {
      const auto row = static_cast<size_t>(number);
      if (leader[row] < 0) leader[row] = static_cast<int32_t>(row);
      for (int64_t at = receivers_.ptr[row]; at < receivers_.ptr[row + 1]; ++at) {
        int32_t& follower = leader[static_cast<size_t>(receivers_.other[static_cast<size_t>(at)])];
        if (follower < 0) follower = leader[row];
      }
      ++next[static_cast<size_t>(leader[row]) + 1];
    });
    for (size_t row = 0; row < count; ++row) next[row + 1] += next[row];
    visits_ = unset<int32_t>(num_nodes_);
    for (size_t row = 0; row < count; ++row) {
      visits_[static_cast<size_t>(next[static_cast<size_t>(leader[row])]++)] = static_cast<int32_t>(row);
    }
    const int64_t share = std::max(kLeastCost, (num_nodes_ + num_edges_) / kMostParts + 1);
    int64_t cost = 0, first = 0;
    for (int64_t position = 0; position < num_nodes_; ++position) {
      const auto row = static_cast<size_t>(visits_[static_cast<size_t>(position)]);
      cost += 1 + receivers_.ptr[row + 1] - receivers_.ptr[row];
      if (cost < share && position + 1 < num_nodes_) continue;
      parts_.push_back({first, position + 1});
      first = position + 1;
      cost = 0;
    }
  }

  void turn() const {
    EdgeLists& out = senders_;
    out.ptr = unset<int64_t>(num_nodes_ + 1);
    out.other = unset<int32_t>(num_edges_);
    out.edge = unset<int64_t>(num_edges_);
    const auto count = static_cast<size_t>(num_nodes_);
    std::vector<int64_t> next(count + 1, 0);
    for_steps(num_edges_,
              [&](int64_t edge) { ++next[static_cast<size_t>(receivers_.other[static_cast<size_t>(edge)]) + 1]; });
    for (size_t node = 0; node < count; ++node) {
      out.longest = std::max(out.longest, next[node + 1]);
      next[node + 1] += next[node];
    }
    std::copy(next.begin(), next.end(), out.ptr.get());
    for_steps(num_nodes_, [&](int64_t number) {
      const auto row = static_cast<size_t>(number);
      for (int64_t edge = receivers_.ptr[row]; edge < receivers_.ptr[row + 1]; ++edge) {
        const auto sender = static_cast<size_t>(receivers_.other[static_cast<size_t>(edge)]);
        const auto at = static_cast<size_t>(next[sender]++);
        out.other[at] = static_cast<int32_t>(row);
        out.edge[at] = edge;
      }
    });
  }

  int64_t num_nodes_, num_edges_;
  EdgeLists receivers_;
  std::unique_ptr<int32_t[]> visits_;  // [N]
  std::vector<Part> parts_;
  mutable std::once_flag turned_;
  mutable EdgeLists senders_;
};

}  // namespace shadow
