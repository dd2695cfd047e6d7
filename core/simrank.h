// Nodes whose walks meet those of a target: SimRank with one node, by sampled walks.
// Not for: all pairs, or values closer than sampling gives them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "csr.h"
#include "interrupt.h"
#include "lists.h"
#include "pick.h"
#include "rng.h"
#include "scope.h"
#include "scratch.h"
#include "walks.h"

namespace shadow {

struct SimrankOptions {
  double decay = 0.6;
  int64_t topk = 200;
  int64_t num_walks = 128;       // of the target, and of every node that is compared with it
  int64_t walk_length = 5;       // most steps after which walks may meet
  int64_t num_candidates = 400;  // nodes that are compared with each target
  const double* sums = nullptr;  // of the edge weights, for a weighted graph
  ReverseLists reverse;          // for a graph that is not symmetric
};

// The walks of one target: where each is after every step, and which of them are at a node after a step.
template <class Id>
class Prints {
 public:
  // A node that walks are at after `step` steps, and how many.
  struct Entry {
    int64_t step;
    Id node;
    int64_t count;
  };

  int64_t draw(const Steps<Id>& steps, Id start, int64_t num_walks, int64_t walk_length, Rng rng) {
    num_walks_ = static_cast<size_t>(num_walks);
    num_words_ = (num_walks_ + 63) / 64;
    num_nodes_ = steps.lists().csr().num_nodes;
    for (log_filter_ = 6; log_filter_ < 31 && (int64_t{1} << log_filter_) < 32 * num_walks;) ++log_filter_;
    filter_.assign(static_cast<size_t>(walk_length) << (log_filter_ - 5), 0);
    numbers_.clear();
    entries_.clear();
    masks_.clear();
    trails_.start(start, num_walks_);
    int64_t num_steps = 0;
    for (int64_t step = 1; step <= walk_length; ++step) {
      num_steps += trails_.step(steps, rng);
      note(step);
    }
    return num_steps;
  }

  // The number of the entry of `node` after `step` steps, or -1. Most nodes are nowhere on the walks, so a filter
  // answers first.
  int32_t find(int64_t step, Id node) const {
    return filter_of(step).may_have(node) ? numbers_.find(place(step, node)) : -1;
  }

  const std::vector<Entry>& entries() const { return entries_; }
  size_t num_words() const { return num_words_; }

  // One bit for each walk that is at the entry.
  const uint64_t* mask(int32_t number) const { return masks_.data() + static_cast<size_t>(number) * num_words_; }

  // Where a walk is after `step` steps.
  Id at(size_t walk, int64_t step) const { return trails_.at(walk, step); }

 private:
  int64_t place(int64_t step, Id node) const { return (step - 1) * num_nodes_ + static_cast<int64_t>(node); }

  FilterView filter_of(int64_t step) const {
    return {filter_.data() + (static_cast<size_t>(step - 1) << (log_filter_ - 5)), log_filter_};
  }

  void note(int64_t step) {
    uint32_t* const filter = filter_.data() + (static_cast<size_t>(step - 1) << (log_filter_ - 5));
    for (size_t walk = 0; walk < num_walks_; ++walk) {
      const Id node = trails_.now()[walk];
      if (node < 0) continue;
      numbers_.reserve_more(1);
      const auto number = static_cast<size_t>(numbers_.add(place(step, node)));
      if (number == entries_.size()) {
        entries_.push_back({step, node, 0});
        masks_.resize(masks_.size() + num_words_, 0);
        const uint32_t bit = place_of(node, log_filter_);
        filter[bit >> 5] |= uint32_t{1} << (bit & 31);
      }
      ++entries_[number].count;
      masks_[number * num_words_ + walk / 64] |= uint64_t{1} << (walk & 63);
    }
  }

  Trails<Id> trails_;
  NodeIndex<int64_t> numbers_;  // of entries, by place
  std::vector<Entry> entries_;
  std::vector<uint64_t> masks_;
  std::vector<uint32_t> filter_;
  size_t num_walks_ = 0, num_words_ = 0;
  int64_t num_nodes_ = 0;
  int log_filter_ = 6;
};

template <class Id>
class Simrank {
 public:
  // Fill `ranking` with the targets, the nodes found to be similar to them and those that walks met by; the score is
  // the mean over the targets. hide_link: as if there were no edge between two targets.
  void rank(const Csr<Id>& csr, const Id* targets, int32_t num_targets, const SimrankOptions& options, uint64_t key,
            bool hide_link, Ranking<Id>& ranking) {
    const Lists<Id> lists(csr, targets, num_targets, hide_link);
    const Lists<Id> reverse(options.reverse.of(csr), targets, num_targets, hide_link);
    const Steps<Id> steps(lists, options.sums);
    nodes_touched_ = edges_touched_ = 0;
    scores_.clear();
    for (int32_t target = 0; target < num_targets; ++target) add_score(targets[target], 1.0);  // with itself
    for (int32_t target = 0; target < num_targets; ++target) {
      compare(steps, reverse, targets[target], options, combine(key, static_cast<uint64_t>(targets[target])));
    }
    ranking.clear();
    for (size_t number = 0; number < scores_.size(); ++number) {
      const double score = scores_[number] / num_targets;
      ranking.all.push_back({-score, static_cast<float>(score), scores_.node(number)});
    }
    ranking.fix_front(static_cast<size_t>(num_targets));
  }

  int64_t nodes_touched() const { return nodes_touched_; }
  int64_t edges_touched() const { return edges_touched_; }

 private:
  // What is known of a node beside one target.
  struct Near {
    double guess;     // of its similarity, from the walks that led to it
    double score;     // similarity, or what it carries if that is more
    double carried;   // of the similarity of the node that is compared just now
    int64_t meeting;  // the last that went through it
  };

  // Walks back to candidates, for each of these.
  static constexpr int64_t kProbesPerCandidate = 8;
  static constexpr size_t kNone = SIZE_MAX;

  // Add the scores of all nodes near one target.
  void compare(const Steps<Id>& steps, const Lists<Id>& reverse, Id target, const SimrankOptions& options,
               uint64_t key) {
    nears_.clear();
    num_meetings_ = 0;
    nears_.number_of(target);  // number 0
    edges_touched_ += prints_.draw(steps, target, options.num_walks, options.walk_length, Rng{key});
    probe(steps, reverse, options, Rng{combine(key, kProbeWord)});
    choose(options.num_candidates);
    met_.assign(static_cast<size_t>(options.num_walks) * prints_.num_words(), 0);
    for (const int32_t candidate : candidates_) {
      const uint64_t own_key = combine(key, static_cast<uint64_t>(nears_.node(static_cast<size_t>(candidate))));
      meet(steps, static_cast<size_t>(candidate), options, Rng{combine(own_key, kMeetWord)});
    }
    nodes_touched_ += static_cast<int64_t>(nears_.size());
    for (size_t number = 1; number < nears_.size(); ++number) {
      if (nears_[number].score > 0) add_score(nears_.node(number), nears_[number].score);
    }
  }

  // Walk back from where the target's walks are after k steps: the node reached by k steps against the lists has a walk
  // that meets the target's. Nodes after fewer steps and with more walks get more of the probes.
  void probe(const Steps<Id>& steps, const Lists<Id>& reverse, const SimrankOptions& options, Rng rng) {
    seen_.clear();
    double total = 0;
    for (const auto& entry : prints_.entries()) total += worth(entry, options);
    for (const auto& entry : prints_.entries()) {
      const double share = worth(entry, options) / total;
      const auto num_probes = static_cast<int64_t>(
          std::ceil(share * static_cast<double>(kProbesPerCandidate) * static_cast<double>(options.num_candidates)));
      const double first_guess = worth(entry, options) / static_cast<double>(options.num_walks);
      const OpenRow<Id> open = reverse.row(entry.node);
      if (entry.step == 1 && open.size() <= num_probes) {
        edges_touched_ += open.size();
        for (int64_t number = 0; number < open.size(); ++number) {
          count_steps(1);
          const Id node = reverse.csr().checked(open.entry(number));
          propose(node, first_guess * steps.probability(node, entry.node));
        }
        continue;
      }
      for (int64_t number = 0; number < num_probes; ++number) walk_back(steps, reverse, entry, first_guess, rng);
    }
  }

  static double worth(const typename Prints<Id>::Entry& entry, const SimrankOptions& options) {
    return std::pow(options.decay, static_cast<double>(entry.step)) * static_cast<double>(entry.count);
  }

  // One walk back; its way counts by its probability, once however often it is walked.
  void walk_back(const Steps<Id>& steps, const Lists<Id>& reverse, const typename Prints<Id>::Entry& entry,
                 double guess, Rng& rng) {
    Id node = entry.node;
    auto way = static_cast<uint64_t>(entry.step);
    count_steps(entry.step);
    for (int64_t step = 0; step < entry.step; ++step) {
      const OpenRow<Id> open = reverse.row(node);
      way = combine(way, static_cast<uint64_t>(node));
      if (open.size() <= 0) return;
      const auto number = static_cast<int64_t>(rng.below(static_cast<uint64_t>(open.size())));
      const Id next = reverse.csr().checked(open.entry(number));
      guess *= steps.probability(next, node);
      node = next;
      ++edges_touched_;
    }
    seen_.reserve_more(1);
    const size_t before = seen_.size();
    seen_.add(static_cast<int64_t>(combine(way, static_cast<uint64_t>(node)) >> 2));
    if (seen_.size() > before) propose(node, guess);
  }

  void propose(Id node, double guess) { nears_[nears_.number_of(node)].guess += guess; }

  // candidates_: the best num_candidates guesses but the target, of equal ones those found first.
  void choose(int64_t num_candidates) {
    candidates_.clear();
    for (size_t number = 1; number < nears_.size(); ++number) {
      if (nears_[number].guess > 0) candidates_.push_back(static_cast<int32_t>(number));
    }
    if (static_cast<int64_t>(candidates_.size()) <= num_candidates) return;
    const auto last = candidates_.begin() + static_cast<std::ptrdiff_t>(num_candidates);
    std::nth_element(candidates_.begin(), last, candidates_.end(), [&](int32_t a, int32_t b) {
      const double left = nears_[static_cast<size_t>(a)].guess, right = nears_[static_cast<size_t>(b)].guess;
      return left != right ? left > right : a < b;
    });
    candidates_.erase(last, candidates_.end());
  }

  // Let the walks of a candidate meet all walks of the target: its score is the mean of decay^(steps to the first
  // meeting) over all pairs of walks.
  void meet(const Steps<Id>& steps, size_t candidate, const SimrankOptions& options, Rng rng) {
    const auto num_walks = static_cast<size_t>(options.num_walks);
    trails_.start(nears_.node(candidate), num_walks);
    double factor = 1.0 / (static_cast<double>(num_walks) * static_cast<double>(num_walks)), sum = 0;
    for (int64_t step = 1; step <= options.walk_length; ++step) {
      factor *= options.decay;
      edges_touched_ += trails_.step(steps, rng);
      for (size_t walk = 0; walk < num_walks; ++walk) {
        const Id node = trails_.now()[walk];
        if (node < 0) continue;
        const int32_t entry = prints_.find(step, node);
        if (entry >= 0) sum += meet_at(entry, walk, step, factor);
      }
    }
    nears_[candidate].score = std::max(nears_[candidate].score, sum);
    settle();
  }

  // Return what the walks of the target add that are at the entry and have not met this walk before.
  double meet_at(int32_t entry, size_t walk, int64_t step, double factor) {
    const uint64_t* const mask = prints_.mask(entry);
    uint64_t* const met = met_.data() + walk * prints_.num_words();
    int64_t count = 0;
    size_t partner = kNone;
    for (size_t word = 0; word < prints_.num_words(); ++word) {
      const uint64_t fresh = mask[word] & ~met[word];
      if (fresh == 0) continue;
      partner = partner_of(walk, partner, 64 * word, fresh);
      count += __builtin_popcountll(fresh);
      met[word] |= fresh;
    }
    if (count == 0) return 0;
    count_steps(static_cast<int64_t>(prints_.num_words()) + step);
    met_walks_.push_back(walk);
    ++num_meetings_;
    const double gain = factor * static_cast<double>(count);
    for (int64_t before = 1; before <= step; ++before) {
      carry(trails_.at(walk, before), gain);
      if (before < step) carry(prints_.at(partner, before), gain);
    }
    return gain;
  }

  // Which of the target's walks stands for all that this walk meets: the first at or behind its own number, or else the
  // first of all. So each stands for its share of the meetings. first: the walk of the lowest bit of `fresh`.
  static size_t partner_of(size_t walk, size_t partner, size_t first, uint64_t fresh) {
    if (partner != kNone && partner >= walk) return partner;
    const uint64_t behind = first + 64 <= walk ? 0 : first >= walk ? fresh : fresh >> (walk - first) << (walk - first);
    if (behind != 0) return first + static_cast<size_t>(__builtin_ctzll(behind));
    return partner != kNone ? partner : first + static_cast<size_t>(__builtin_ctzll(fresh));
  }

  // Note that the walks of this meeting came through a node, once if both did.
  void carry(Id node, double gain) {
    const size_t number = nears_.number_of(node);
    Near& near = nears_[number];
    if (near.meeting == num_meetings_) return;
    near.meeting = num_meetings_;
    if (near.carried == 0) carriers_.push_back(number);
    near.carried += gain;
  }

  // A node is worth at least the largest part of another's similarity that comes through it. Forget the rest.
  void settle() {
    for (const size_t number : carriers_) {
      Near& node = nears_[number];
      node.score = std::max(node.score, node.carried);
      node.carried = 0;
    }
    carriers_.clear();
    const size_t num_words = prints_.num_words();
    for (const size_t walk : met_walks_) {
      std::fill_n(met_.begin() + static_cast<std::ptrdiff_t>(walk * num_words), num_words, 0);
    }
    met_walks_.clear();
  }

  void add_score(Id node, double score) { scores_[scores_.number_of(node)] += score; }

  // Words that tell the draws of one target apart.
  static constexpr uint64_t kProbeWord = 0x70726f6265, kMeetWord = 0x6d656574;

  Prints<Id> prints_;
  Trails<Id> trails_;              // of the compared node
  NodeValues<Id, Near> nears_;     // beside the target of the moment
  NodeValues<Id, double> scores_;  // of all targets together
  NodeIndex<int64_t> seen_;        // ways of the walks back
  std::vector<int32_t> candidates_;
  std::vector<uint64_t> met_;  // for each of these walks, the target's walks that it has met
  std::vector<size_t> carriers_, met_walks_;
  int64_t num_meetings_ = 0, nodes_touched_ = 0, edges_touched_ = 0;
};

}  // namespace shadow
