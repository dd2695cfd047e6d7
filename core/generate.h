// Made-up graphs of any size: edge, label, features and split of every node are functions of (model, seed, number), so
// any part can be drawn by itself, by any thread, in any order. Not for: building neighbour lists.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "interrupt.h"
#include "rng.h"

namespace shadow {

// What a made-up graph looks like; of the two models each uses its own part.
struct ModelOptions {
  int64_t num_nodes = 1;
  int64_t num_classes = 1;
  uint64_t seed = 0;
  bool recursive = false;  // R-MAT; otherwise the degree-corrected stochastic block model
  // Block model.
  int64_t num_communities = 1;
  double inside = 0.8;    // share of edges that stay in their community
  double exponent = 2.5;  // of the power law of degrees
  // R-MAT: probabilities of the quadrants; d is the rest.
  double a = 0.57, b = 0.1, c = 0.1;
};

// A bijection of [0, size) that leaves no order: multiplications and shifts modulo the next power of two, repeated
// until the result lies inside.
class Shuffle {
 public:
  Shuffle(uint64_t size, uint64_t key) : size_(size) {
    while ((uint64_t{1} << bits_) < size) ++bits_;
    mask_ = (uint64_t{1} << bits_) - 1;
    shift_ = std::max(1, (bits_ + 1) / 2);
    for (size_t round = 0; round < kRounds; ++round) {
      factor_[round] = combine(key, 2 * round) | 1;
      inverse_[round] = factor_[round];
      // Newton's iteration doubles the number of right bits; an odd number is its own inverse modulo 8.
      for (int step = 0; step < 5; ++step) inverse_[round] *= 2 - factor_[round] * inverse_[round];
      added_[round] = combine(key, 2 * round + 1);
    }
  }

  uint64_t operator()(uint64_t value) const {
    do {
      for (size_t round = 0; round < kRounds; ++round) {
        value = (value * factor_[round] + added_[round]) & mask_;
        value ^= value >> shift_;
      }
    } while (value >= size_);
    return value;
  }

  uint64_t back(uint64_t value) const {
    do {
      for (size_t round = kRounds; round-- > 0;) {
        // Its own inverse, because the shift is at least half the width.
        value ^= value >> shift_;
        value = ((value - added_[round]) * inverse_[round]) & mask_;
      }
    } while (value >= size_);
    return value;
  }

 private:
  static constexpr size_t kRounds = 4;
  uint64_t size_, mask_ = 0;
  int bits_ = 0, shift_ = 1;
  std::array<uint64_t, kRounds> factor_{}, inverse_{}, added_{};
};

// Walker's table: an item in proportion to its weight with one random word.
class AliasTable {
 public:
  explicit AliasTable(const std::vector<double>& weights) : limit_(weights.size()), other_(weights.size()) {
    const size_t count = weights.size();
    double total = 0;
    for (const double weight : weights) total += weight;
    std::vector<double> share(count);
    std::vector<uint32_t> small, large;
    for (size_t item = 0; item < count; ++item) {
      count_steps(1);
      share[item] = weights[item] / total * static_cast<double>(count);
      (share[item] < 1 ? small : large).push_back(static_cast<uint32_t>(item));
    }
    while (!small.empty() && !large.empty()) {
      count_steps(1);
      const uint32_t low = small.back(), high = large.back();
      small.pop_back();
      set(low, share[low], high);
      share[high] -= 1 - share[low];
      if (share[high] < 1) {
        large.pop_back();
        small.push_back(high);
      }
    }
    for (const uint32_t item : small) set(item, 1, item);
    for (const uint32_t item : large) set(item, 1, item);
  }

  int64_t draw(uint64_t word) const {
    const auto slot = static_cast<size_t>(((word >> 32) * limit_.size()) >> 32);
    return (word & 0xffffffffull) < limit_[slot] ? static_cast<int64_t>(slot) : other_[slot];
  }

 private:
  void set(uint32_t item, double share, uint32_t other) {
    // Rounding may have left a share a little below 0.
    limit_[item] = static_cast<uint64_t>(std::max(share, 0.0) * 0x1.0p32);
    other_[item] = other;
  }

  std::vector<uint64_t> limit_;
  std::vector<uint32_t> other_;
};

class GraphModel {
 public:
  static constexpr int64_t kMaxNodes = (int64_t{1} << 31) - 1;
  static constexpr int64_t kMaxClasses = 1 << 16;
  static constexpr int64_t kMaxCommunity = 1 << 24;
  // Share of nodes whose label is drawn at random.
  static constexpr double kLabelNoise = 0.1;

  explicit GraphModel(const ModelOptions& options)
      : options_(checked(options)),
        shuffle_(static_cast<uint64_t>(options.num_nodes), combine(options.seed, kShuffle)),
        ranks_(options.recursive ? std::vector<double>{1} : rank_weights(options)) {
    if (options.recursive) set_quadrants();
  }

  int64_t num_nodes() const { return options_.num_nodes; }
  int64_t num_classes() const { return options_.num_classes; }

  // Draw the edges first, first + 1, ... (undirected; self-loops and repetitions are among them).
  void edges(int64_t first, int64_t count, int64_t* src, int64_t* dst) const {
    const uint64_t key = combine(options_.seed, kEdges);
    for (int64_t at = 0; at < count; ++at) {
      Rng rng{combine(key, static_cast<uint64_t>(first + at))};
      const auto [one, other] = options_.recursive ? recursive_edge(rng) : block_edge(rng);
      src[at] = static_cast<int64_t>(shuffle_(one));
      dst[at] = static_cast<int64_t>(shuffle_(other));
    }
  }

  // The group of a node before labels are disturbed: what its edges and features depend on.
  int64_t group(int64_t node) const {
    const auto place = static_cast<int64_t>(shuffle_.back(static_cast<uint64_t>(node)));
    if (options_.recursive) return place * options_.num_classes / options_.num_nodes;
    return community(place) % options_.num_classes;
  }

  int64_t label(int64_t node) const {
    Rng rng{combine(combine(options_.seed, kLabels), static_cast<uint64_t>(node))};
    const bool disturbed = to_unit(rng.next()) < kLabelNoise;
    return disturbed ? static_cast<int64_t>(rng.below(static_cast<uint64_t>(options_.num_classes))) : group(node);
  }

  // Centres of the groups, [num_classes, num_columns], about two deviations of the noise from each other.
  std::vector<float> centres(int64_t num_columns) const {
    const uint64_t key = combine(options_.seed, kCentres);
    const double scale = 2 / std::sqrt(2.0 * static_cast<double>(num_columns));
    std::vector<float> out(static_cast<size_t>(options_.num_classes * num_columns));
    for (size_t at = 0; at < out.size(); ++at) {
      count_steps(1);
      out[at] = static_cast<float>(scale * static_cast<double>(bell(combine(key, at))));
    }
    return out;
  }

  // One row of features: the centre of the node's group and noise.
  void features(int64_t node, const float* centres, int64_t num_columns, float* out) const {
    const float* const centre = centres + group(node) * num_columns;
    const uint64_t key = combine(combine(options_.seed, kFeatures), static_cast<uint64_t>(node));
    count_steps(num_columns);
    for (int64_t column = 0; column < num_columns; ++column) {
      out[column] = centre[column] + bell(mix64(key + static_cast<uint64_t>(column)));
    }
  }

  // 0, 1, 2 for a node of the first, second, third share (ends of shares of 2^32), 3 for none.
  uint8_t split(int64_t node, const std::array<uint64_t, 3>& ends) const {
    const uint64_t at = combine(combine(options_.seed, kSplits), static_cast<uint64_t>(node)) >> 32;
    return static_cast<uint8_t>((at >= ends[0]) + (at >= ends[1]) + (at >= ends[2]));
  }

 private:
  enum : uint64_t { kEdges = 1, kShuffle, kLabels, kCentres, kFeatures, kSplits, kLevels };
  static constexpr int kLevelsAtOnce = 4;

  static const ModelOptions& checked(const ModelOptions& options) {
    const auto require = [](bool holds, const char* text) {
      if (!holds) throw std::invalid_argument(text);
    };
    require(options.num_nodes >= 1 && options.num_nodes <= kMaxNodes, "num_nodes must be from 1 to 2^31 - 1");
    require(options.num_classes >= 1 && options.num_classes <= std::min(kMaxClasses, options.num_nodes),
            "num_classes must be from 1 to 65536 and at most num_nodes");
    if (options.recursive) {
      const bool positive = options.a > 0 && options.b > 0 && options.c > 0 && options.a + options.b + options.c < 1;
      require(positive && options.a >= 0.25, "a, b and c must be positive with a sum below 1, and a at least 0.25");
      return options;
    }
    require(options.num_communities >= 1 && options.num_communities <= options.num_nodes,
            "num_communities must be from 1 to num_nodes");
    require(options.num_nodes / options.num_communities < kMaxCommunity, "a community must have less than 2^24 nodes");
    require(options.inside >= 0 && options.inside <= 1, "inside must be from 0 to 1");
    require(options.exponent > 1 && options.exponent <= 100, "exponent must be above 1 and at most 100");
    return options;
  }

  // About normal with mean 0 and deviation 1.15: the sum of four uniform numbers. The factor is a power of two, so that
  // no machine rounds differently.
  static float bell(uint64_t word) {
    const auto sum = static_cast<int32_t>((word & 0xffff) + ((word >> 16) & 0xffff) + ((word >> 32) & 0xffff) +
                                          ((word >> 48) & 0xffff));
    return static_cast<float>(sum - 131070) * 0x1.0p-15f;
  }

  // Communities are equal but for one node: community k has the places from k N / K on.
  int64_t community_begin(int64_t number) const { return number * options_.num_nodes / options_.num_communities; }
  int64_t community(int64_t place) const { return ((place + 1) * options_.num_communities - 1) / options_.num_nodes; }

  // Quantiles of a power law: rank 0 of each community is its hub.
  static std::vector<double> rank_weights(const ModelOptions& options) {
    const auto size = static_cast<size_t>((options.num_nodes - 1) / options.num_communities + 1);
    std::vector<double> weights(size);
    for (size_t rank = 0; rank < size; ++rank) {
      count_steps(1);
      const double quantile = (static_cast<double>(rank) + 0.5) / static_cast<double>(size);
      weights[rank] = std::pow(quantile, -1 / (options.exponent - 1));
    }
    return weights;
  }

  uint64_t place_in(int64_t number, Rng& rng) const {
    const int64_t begin = community_begin(number), size = community_begin(number + 1) - begin;
    int64_t rank = ranks_.draw(rng.next());
    while (rank >= size) rank = ranks_.draw(rng.next());
    return static_cast<uint64_t>(begin + rank);
  }

  std::array<uint64_t, 2> block_edge(Rng& rng) const {
    const auto num_communities = static_cast<uint64_t>(options_.num_communities);
    const auto one = static_cast<int64_t>(rng.below(num_communities));
    const bool stays = to_unit(rng.next()) < options_.inside;
    const int64_t other = stays ? one : static_cast<int64_t>(rng.below(num_communities));
    const uint64_t first = place_in(one, rng);
    return {first, place_in(other, rng)};
  }

  // Each table draws the quadrants of some levels at once. Noise of each level keeps the degrees from clustering at
  // powers of the quadrants' shares.
  void set_quadrants() {
    int left = 0;
    while ((int64_t{1} << left) < options_.num_nodes) ++left;
    for (; left > 0; left -= std::min(left, kLevelsAtOnce)) {
      const int levels = std::min(left, kLevelsAtOnce);
      std::vector<double> shares{1};
      for (int level = left; level > left - levels; --level) {
        const std::array<double, 4> quadrants = quadrants_of(level);
        std::vector<double> finer;
        for (const double share : shares) {
          for (const double quadrant : quadrants) finer.push_back(share * quadrant);
        }
        shares = std::move(finer);
      }
      quadrants_.push_back({levels, AliasTable(shares)});
    }
  }

  std::array<double, 4> quadrants_of(int level) const {
    const double d = 1 - options_.a - options_.b - options_.c, diagonal = options_.a + d;
    const double most = 0.5 * std::min({diagonal / 2, options_.b, options_.c});
    const double unit = to_unit(combine(combine(options_.seed, kLevels), static_cast<uint64_t>(level)));
    const double moved = (2 * unit - 1) * most, kept = 1 - 2 * moved / diagonal;
    return {options_.a * kept, options_.b + moved, options_.c + moved, d * kept};
  }

  std::array<uint64_t, 2> recursive_edge(Rng& rng) const {
    const auto size = static_cast<uint64_t>(options_.num_nodes);
    uint64_t one = 0, other = 0;
    do {
      one = other = 0;
      for (const Levels& levels : quadrants_) {
        // Two bits for each level: the half of the one end and that of the other.
        const auto drawn = static_cast<uint64_t>(levels.table.draw(rng.next()));
        one = (one << levels.count) | halves_[drawn >> 1 & 0x55];
        other = (other << levels.count) | halves_[drawn & 0x55];
      }
    } while (one >= size || other >= size);
    return {one, other};
  }

  // Every second bit of a byte, moved together.
  static std::array<uint8_t, 256> joined_bits() {
    std::array<uint8_t, 256> out{};
    for (size_t value = 0; value < out.size(); ++value) {
      out[value] = static_cast<uint8_t>((value & 1) | (value >> 1 & 2) | (value >> 2 & 4) | (value >> 3 & 8));
    }
    return out;
  }

  struct Levels {
    int count;
    AliasTable table;
  };

  ModelOptions options_;
  Shuffle shuffle_;
  AliasTable ranks_;
  std::vector<Levels> quadrants_;
  std::array<uint8_t, 256> halves_ = joined_bits();
};

}  // namespace shadow
