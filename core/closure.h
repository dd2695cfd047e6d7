// All nodes that some targets hear of within a number of hops, or a few drawn per node, as one graph: what a normal GNN
// computes on. Not for: a scope of its own for each target (khop.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "csr.h"
#include "guard.h"
#include "interrupt.h"
#include "prefetch.h"
#include "rng.h"
#include "scratch.h"
#include "subset.h"
#include "unset.h"

namespace shadow {

struct ClosureOptions {
  int64_t num_hops = 0;
  const int64_t* fanouts = nullptr;  // [num_hops], neighbours drawn per node, -1 for all; null: all at every hop
  bool positions = false;
  uint64_t seed = 0;
};

// See Batch in Python for the meaning of these arrays.
struct Closure {
  Unset<int64_t> node_id, hop_ptr, indptr, indices, edge_pos;
  Unset<float> degree, edge_scale;
};

// Numbers nodes in the order in which they are first met: by a hash table, until so large a part of the graph was met
// that an array with an entry for each of its nodes costs no more.
template <class Id>
class Labels {
 public:
  explicit Labels(int64_t num_nodes) : num_nodes_(num_nodes) {}

  size_t size() const { return by_node_.empty() ? index_.size() : nodes_.size(); }
  Id operator[](size_t label) const { return by_node_.empty() ? index_[label] : nodes_[label]; }

  // Make room for `count` more nodes.
  void make_room(size_t count) {
    if (size() > static_cast<size_t>(std::numeric_limits<int32_t>::max()) - count) {
      throw std::length_error("a closure must have fewer than 2^31 nodes");
    }
    if (!by_node_.empty()) return;
    if ((size() + count) * kNodesPerMet >= static_cast<size_t>(num_nodes_)) return spread();
    index_.reserve_more(count);
  }

  // The label of a node of the graph, given now if it is new.
  int32_t add(Id node) {
    if (by_node_.empty()) return index_.add(node);
    int32_t& label = by_node_[static_cast<size_t>(node)];
    if (label < 0) {
      label = static_cast<int32_t>(nodes_.size());
      nodes_.push_back(node);
    }
    return label;
  }

  // Safe for any id.
  void ask_for(Id node) const {
    if (by_node_.empty()) return index_.prefetch(node);
    if (static_cast<uint64_t>(node) < by_node_.size()) prefetch(by_node_.data() + node);
  }

 private:
  static constexpr size_t kNodesPerMet = 8;  // The table has 32 to 64 bytes a node, the array 4.

  void spread() {
    by_node_.assign(static_cast<size_t>(std::max<int64_t>(num_nodes_, 1)), -1);
    nodes_.reserve(index_.size());
    for (size_t label = 0; label < index_.size(); ++label) {
      by_node_[static_cast<size_t>(index_[label])] = static_cast<int32_t>(label);
      nodes_.push_back(index_[label]);
    }
  }

  const int64_t num_nodes_;
  NodeIndex<Id> index_;
  std::vector<int32_t> by_node_;  // empty as long as the table is used
  std::vector<Id> nodes_;
};

template <class Id>
class ClosureBuilder {
 public:
  ClosureBuilder(const Csr<Id>& csr, const ClosureOptions& options)
      : csr_(csr), options_(options), labels_(csr.num_nodes) {}

  // Go hop by hop against the direction of messages. Rows of the last hop stay empty.
  Closure build(const int64_t* targets, int64_t num_targets) {
    take(targets, num_targets);
    closure_.indptr.push_back(0);
    closure_.hop_ptr.push_back(num_targets);
    for (int64_t hop = 0; hop < options_.num_hops && next_ < labels_.size(); ++hop) {
      const size_t end = labels_.size();
      const int64_t fanout = options_.fanouts == nullptr ? -1 : options_.fanouts[hop];
      guarded([&] { expand_until(end, fanout); });
      if (labels_.size() > end) closure_.hop_ptr.push_back(static_cast<int64_t>(labels_.size()));
    }
    guarded([&] { leave_rest_empty(); });
    closure_.node_id.resize(labels_.size());
    for (size_t label = 0; label < labels_.size(); ++label) closure_.node_id[label] = labels_[label];
    return std::move(closure_);
  }

 private:
  static constexpr size_t kRowsAtOnce = 16;
  static constexpr size_t kStretch = 256;       // entries that room is made for at once
  static constexpr size_t kRadixFrom = 96;      // entries from which sorting byte by byte is faster
  static constexpr size_t kPointersAhead = 24;  // rows whose pointers are asked for
  static constexpr int64_t kEntriesAsked =
      64;  // entries of a whole row that are asked for; the rest follow on their own

  // A row that is being read: its senders are found_[first, last).
  struct Reading {
    Row<Id> row;
    bool draws;
    size_t first, last;
  };
  struct Found {
    Id node;
    uint32_t entry;  // position in the row
  };

  void take(const int64_t* targets, int64_t num_targets) {
    for (int64_t at = 0; at < num_targets; ++at) {
      count_steps(1);
      const Id target = csr_.taken(targets[at], "targets");
      labels_.make_room(1);
      if (labels_.add(target) != at) {
        throw std::invalid_argument("targets must not repeat, got " + std::to_string(targets[at]) + " twice");
      }
    }
  }

  // Rows, their entries and the labels of these lie far apart in memory. Some rows go through each step together, so
  // that what the next step reads is on its way.
  void expand_until(size_t end, int64_t fanout) {
    while (next_ < end) {
      const size_t count = std::min(kRowsAtOnce, end - next_);
      reading_.clear();
      found_.clear();
      picks_.clear();
      for (size_t at = 0; at < count; ++at) begin_row(next_ + at, fanout);
      size_t pick = 0;
      for (Reading& reading : reading_) find_senders(reading, fanout, pick);
      for (const Reading& reading : reading_) write(reading);
      count_steps(static_cast<int64_t>(count));
      next_ += count;
    }
  }

  // Draw the entries of a row if it has more than fanout, and ask for them.
  void begin_row(size_t position, int64_t fanout) {
    if (position + kPointersAhead < labels_.size()) csr_.prefetch_degree(labels_[position + kPointersAhead]);
    const Id node = labels_[position];
    const Row<Id> row = csr_.row(node);
    if (row.size() > std::numeric_limits<uint32_t>::max()) throw std::length_error("a row is longer than 2^32");
    const bool draws = fanout >= 0 && row.size() > fanout;
    if (draws) {
      Rng rng{combine(mix64(options_.seed), static_cast<uint64_t>(node))};
      subset_.draw(row.size(), fanout, rng, drawn_);
      std::sort(drawn_.begin(), drawn_.end());
      for (const int64_t entry : drawn_) prefetch(row.begin + entry);
      picks_.insert(picks_.end(), drawn_.begin(), drawn_.end());
    } else {
      const int64_t asked = std::min(row.size(), kEntriesAsked);
      for (int64_t entry = 0; entry < asked; entry += 16) prefetch(row.begin + entry);
    }
    reading_.push_back({row, draws, 0, 0});
  }

  // Read and check the entries of a row, and ask for their labels.
  void find_senders(Reading& reading, int64_t fanout, size_t& pick) {
    const Row<Id>& row = reading.row;
    const auto count = static_cast<size_t>(reading.draws ? fanout : row.size());
    reading.first = found_.size();
    found_.resize(reading.first + count);
    for (size_t at = 0; at < count; ++at) {
      count_at(static_cast<int64_t>(at));
      const int64_t entry = reading.draws ? picks_[pick++] : static_cast<int64_t>(at);
      const Id node = csr_.checked(row.begin[entry]);
      labels_.ask_for(node);
      found_[reading.first + at] = {node, static_cast<uint32_t>(entry)};
    }
    reading.last = found_.size();
  }

  // Number the senders of a row in the order of their ids and write them in the order of their numbers.
  void write(const Reading& reading) {
    entries_.resize(reading.last - reading.first);
    for (size_t first = reading.first; first < reading.last; first += kStretch) {
      const size_t last = std::min(first + kStretch, reading.last);
      count_steps(static_cast<int64_t>(last - first));
      labels_.make_room(last - first);
      for (size_t at = first; at < last; ++at) {
        const auto label = static_cast<uint64_t>(labels_.add(found_[at].node));
        entries_[at - reading.first] = label << 32 | found_[at].entry;
      }
    }
    sort_entries();
    const size_t first = closure_.indices.size(), count = entries_.size();
    closure_.indices.resize(first + count);
    for (size_t at = 0; at < count; ++at) closure_.indices[first + at] = static_cast<int64_t>(entries_[at] >> 32);
    if (options_.positions) {
      closure_.edge_pos.resize(first + count);
      for (size_t at = 0; at < count; ++at) {
        closure_.edge_pos[first + at] = reading.row.position + static_cast<int64_t>(entries_[at] & 0xffffffffu);
      }
    }
    if (options_.fanouts != nullptr) {
      const float scale = static_cast<float>(reading.row.size()) / static_cast<float>(std::max<size_t>(count, 1));
      closure_.edge_scale.resize(first + count, scale);
    }
    end_row(reading.row);
  }

  // By label. Long rows byte by byte, each pass keeping the order of the one before.
  void sort_entries() {
    if (std::is_sorted(entries_.begin(), entries_.end())) return;
    if (entries_.size() < kRadixFrom) return std::sort(entries_.begin(), entries_.end());
    sorted_.resize(entries_.size());
    for (int shift = 32; (static_cast<uint64_t>(labels_.size()) << 32) >> shift != 0; shift += 8) {
      size_t next[257] = {};
      for (const uint64_t entry : entries_) ++next[((entry >> shift) & 255) + 1];
      for (size_t byte = 0; byte < 256; ++byte) next[byte + 1] += next[byte];
      for (const uint64_t entry : entries_) sorted_[next[(entry >> shift) & 255]++] = entry;
      entries_.swap(sorted_);
    }
  }

  void leave_rest_empty() {
    for (; next_ < labels_.size(); ++next_) {
      count_at(static_cast<int64_t>(next_));
      if (next_ + kPointersAhead < labels_.size()) csr_.prefetch_degree(labels_[next_ + kPointersAhead]);
      end_row(csr_.row(labels_[next_]));
    }
  }

  void end_row(const Row<Id>& row) {
    closure_.indptr.push_back(static_cast<int64_t>(closure_.indices.size()));
    double degree = static_cast<double>(row.size());
    if (csr_.weight != nullptr) {
      count_steps(row.size());
      WeightSum sum;
      for (int64_t entry = row.position; entry < row.position + row.size(); ++entry) sum.add(csr_.weight[entry]);
      degree = csr_.checked(sum, row);
    }
    closure_.degree.push_back(static_cast<float>(degree));
  }

  const Csr<Id>& csr_;
  const ClosureOptions& options_;
  Labels<Id> labels_;
  Closure closure_;
  Subset subset_;
  std::vector<Reading> reading_;
  std::vector<Found> found_;
  std::vector<int64_t> drawn_, picks_;      // of one row; of all rows that are being read and were drawn from
  std::vector<uint64_t> entries_, sorted_;  // of one row: label and position in the row
  size_t next_ = 0;                         // the first node whose row is not written
};

}  // namespace shadow
