// Scopes of many targets at once: spread over threads, joined in the order of the targets.
// Not for: anything that Python sees (bind_*.cpp).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <variant>
#include <vector>

#include "csr.h"
#include "fire.h"
#include "guard.h"
#include "heat.h"
#include "interrupt.h"
#include "katz.h"
#include "khop.h"
#include "pages.h"
#include "parallel.h"
#include "ppr.h"
#include "rng.h"
#include "scope.h"
#include "similar.h"
#include "simrank.h"
#include "unset.h"
#include "walks.h"

namespace shadow {

struct NodeOptions {};

struct StochasticPprOptions {
  PprOptions ppr;
};

// One scope of several targets with a share of the restarts each; topk is of the scope, not of each target.
struct SharedPprOptions {
  PprOptions ppr;
  const double* shares;  // one for each target, 1 in all; no target twice
};

// Nodes that were chosen elsewhere, best first: scope b is offered node_id[ptr[b], ptr[b + 1]).
struct GivenOptions {
  const int64_t* ptr;
  const int64_t* node_id;
  const float* score;
  int64_t topk;  // most nodes for each target
};

// The nodes with the highest PPR, as many as ppr.topk says, ranked anew by how alike their features are to the
// target's.
struct SimilarOptions {
  PprOptions ppr;
  int64_t topk = 200;  // most nodes of a scope for each target
  FeatureView features;
  const int64_t* more_ptr = nullptr;  // not null: more_id[more_ptr[b], more_ptr[b + 1]) are candidates too
  const int64_t* more_id = nullptr;
};

using ExtractOptions =
    std::variant<NodeOptions, KhopOptions, PprOptions, StochasticPprOptions, SharedPprOptions, KatzOptions, HeatOptions,
                 RwrOptions, SimrankOptions, FireOptions, SimilarOptions, GivenOptions>;

// What is done with the edges between the two targets of a pair.
enum class Hide {
  kNone,
  kBefore,  // the scope is chosen and induced as if they were not there
  kAfter,   // the scope is chosen with them and induced without
};

struct Request {
  ExtractOptions extract;
  Hide hide = Hide::kNone;
  bool bare = false;  // list the best nodes, joined or not, without edges
  ScopeOptions scope;
  uint64_t seed = 0;
  int num_threads = 1;
};

// Ragged arrays of all scopes; see Subgraphs in Python for their meaning.
struct Scopes {
  Unset<int64_t> ptr, node_id, indptr, edge_pos, nodes_touched, edges_touched;
  Unset<int32_t> hop, indices;
  Unset<float> score;
};

// Everything one worker needs, reused from target to target.
template <class Id>
struct Worker {
  Ppr<Id> ppr;
  Katz<Id> katz;
  Heat<Id> heat;
  Khop<Id> khop;
  Rwr<Id> rwr;
  Simrank<Id> simrank;
  Fire<Id> fire;
  Ranking<Id> ranking;
  ScopeBuilder<Id> builder;
  DiskWatch watch;
  std::vector<Id> targets;
  NodeIndex<Id> target_numbers;
  Similarity similarity;
  NodeIndex<Id> candidates;
  std::vector<int64_t> rows;
  std::vector<float> alike;
  int64_t nodes_touched = 0, edges_touched = 0;

  // Append the scope of the targets group[0, width), the `item`-th of its request.
  void extract(Csr<Id> csr, const int64_t* group, int64_t width, int64_t item, const Request& request, Arena& out) {
    csr.asks = watch.waited();
    watch.begin();
    take_targets(csr, group, width);
    const auto count = static_cast<int32_t>(targets.size());
    uint64_t key = mix64(request.seed);
    for (const Id target : targets) key = combine(key, static_cast<uint64_t>(target));
    ScopeOptions scope = request.scope;
    scope.hide_link = request.hide != Hide::kNone;
    const bool hidden = request.hide == Hide::kBefore;
    std::visit(
        [&](const auto& options) {
          using Options = std::decay_t<decltype(options)>;
          if constexpr (std::is_same_v<Options, NodeOptions>) {
            rank_targets();
          } else if constexpr (std::is_same_v<Options, KhopOptions>) {
            khop.rank(csr, targets.data(), count, options, scope.max_nodes, key, hidden, ranking);
            note(khop);
          } else if constexpr (std::is_same_v<Options, PprOptions>) {
            rank_by(ppr, csr, options, hidden, scope);
          } else if constexpr (std::is_same_v<Options, SharedPprOptions>) {
            scope.max_nodes = std::min(scope.max_nodes, options.ppr.topk);
            ppr.rank(csr, targets.data(), count, options.ppr, hidden, ranking, options.shares);
            note(ppr);
          } else if constexpr (std::is_same_v<Options, KatzOptions>) {
            rank_by(katz, csr, options, hidden, scope);
          } else if constexpr (std::is_same_v<Options, HeatOptions>) {
            rank_by(heat, csr, options, hidden, scope);
          } else if constexpr (std::is_same_v<Options, GivenOptions>) {
            rank_given(csr, options, item);
            cap(scope, options.topk);
          } else if constexpr (std::is_same_v<Options, RwrOptions>) {
            rank_by_walks(rwr, csr, options, key, hidden, scope);
          } else if constexpr (std::is_same_v<Options, SimrankOptions>) {
            rank_by_walks(simrank, csr, options, key, hidden, scope);
          } else if constexpr (std::is_same_v<Options, FireOptions>) {
            fire.rank(csr, targets.data(), count, options, scope.max_nodes, key, hidden, ranking);
            note(fire);
          } else if constexpr (std::is_same_v<Options, SimilarOptions>) {
            rank_by_similarity(csr, options, item, hidden, scope);
          } else {
            rank_by(ppr, csr, options.ppr, hidden, scope);
            draw(count, key);
          }
        },
        request.extract);
    const size_t first = out.node_id.size();
    if (request.bare) {
      builder.list(ranking, count, scope, out);
    } else {
      builder.build(csr, ranking, count, scope, out);
    }
    if (is_scored_by_hop(request.extract)) score_by_hop(out, first);
    watch.end();
  }

 private:
  // The distinct targets of one group, checked.
  void take_targets(const Csr<Id>& csr, const int64_t* group, int64_t width) {
    targets.clear();
    target_numbers.clear();
    for (int64_t column = 0; column < width; ++column) {
      count_steps(1);
      const Id target = csr.taken(group[column], "targets");
      target_numbers.reserve_more(1);
      if (static_cast<size_t>(target_numbers.add(target)) == targets.size()) targets.push_back(target);
    }
  }

  // The targets, then the nodes on offer in the order given. A target on offer is there already; any other node must be
  // offered once.
  void rank_given(const Csr<Id>& csr, const GivenOptions& options, int64_t item) {
    rank_targets();
    const int64_t first = options.ptr[item], last = options.ptr[item + 1];
    size_t count = targets.size();
    ranking.all.resize(count + static_cast<size_t>(last - first));
    for (int64_t offer = first; offer < last; ++offer) {
      count_steps(1);
      const Id node = csr.taken(options.node_id[offer], "node_id");
      const int32_t known = target_numbers.find(node);
      const size_t at = known < 0 ? count++ : static_cast<size_t>(known);
      ranking.all[at] = {static_cast<double>(offer), options.score[offer], node};
    }
    ranking.all.resize(count);
    ranking.fix_front(count);  // They came in order.
    nodes_touched = static_cast<int64_t>(ranking.all.size());
  }

  // Each of several targets brings room for topk nodes along; return the room of all.
  int64_t cap(ScopeOptions& scope, int64_t topk) const {
    const int64_t most = std::min<int64_t>(topk, INT32_MAX) * static_cast<int64_t>(targets.size());
    scope.max_nodes = std::min(scope.max_nodes, most);
    return most;
  }

  template <class Ranker, class Options>
  void rank_by(Ranker& ranker, const Csr<Id>& csr, Options options, bool hidden, ScopeOptions& scope) {
    options.topk = cap(scope, options.topk);
    ranker.rank(csr, targets.data(), static_cast<int32_t>(targets.size()), options, hidden, ranking);
    note(ranker);
  }

  // Likewise for walks.
  template <class Ranker, class Options>
  void rank_by_walks(Ranker& ranker, const Csr<Id>& csr, const Options& options, uint64_t key, bool hidden,
                     ScopeOptions& scope) {
    cap(scope, options.topk);
    ranker.rank(csr, targets.data(), static_cast<int32_t>(targets.size()), options, key, hidden, ranking);
    note(ranker);
  }

  // Candidates are the best by PPR and those given beside them. Of equally alike ones the better by PPR comes first.
  void rank_by_similarity(const Csr<Id>& csr, const SimilarOptions& options, int64_t item, bool hidden,
                          ScopeOptions& scope) {
    const size_t count = targets.size();
    const int64_t most = std::min<int64_t>(options.topk, INT32_MAX) * static_cast<int64_t>(count);
    const int64_t limit = std::min(scope.max_nodes, most);
    rank_by(ppr, csr, options.ppr, hidden, scope);
    ranking.keep_best(std::min<int64_t>(options.ppr.topk, INT32_MAX) * static_cast<int64_t>(count), count);
    if (options.more_ptr != nullptr) add_candidates(csr, options, item);
    scope.max_nodes = limit;
    rows.resize(ranking.all.size());
    alike.resize(ranking.all.size());
    for (size_t node = 0; node < rows.size(); ++node) rows[node] = static_cast<int64_t>(ranking.all[node].node);
    similarity.set_targets(options.features, rows.data(), static_cast<int64_t>(count));
    similarity.score(options.features, rows.data(), static_cast<int64_t>(rows.size()), alike.data());
    for (size_t node = 0; node < rows.size(); ++node) {
      Candidate<Id>& candidate = ranking.all[node];
      const float alike_score = node < count ? 1.0f : alike[node];
      candidate.key = rank_of(alike_score, std::min(candidate.score, 1.0f));
      candidate.score = alike_score;
    }
  }

  // Append the nodes that are given beside the candidates and are not among them yet.
  void add_candidates(const Csr<Id>& csr, const SimilarOptions& options, int64_t item) {
    const int64_t first = options.more_ptr[item], last = options.more_ptr[item + 1];
    candidates.clear();
    candidates.reserve_more(ranking.all.size() + static_cast<size_t>(last - first));
    for (const Candidate<Id>& candidate : ranking.all) candidates.add(candidate.node);
    for (int64_t more = first; more < last; ++more) {
      count_steps(1);
      const Id node = csr.taken(options.more_id[more], "more_id");
      const size_t known = candidates.size();
      if (static_cast<size_t>(candidates.add(node)) == known) ranking.all.push_back({0, 0, node});
    }
    nodes_touched += last - first;
  }

  void rank_targets() {
    ranking.clear();
    for (const Id target : targets) ranking.all.push_back({0, 1, target});
    ranking.fix_front(targets.size());
    nodes_touched = static_cast<int64_t>(targets.size());
    edges_touched = 0;
  }

  // A draw without replacement in proportion to score is a ranking by exponential waiting times (Efraimidis and
  // Spirakis). The waiting time of a node depends on (seed, targets, node) alone.
  void draw(int32_t num_targets, uint64_t key) {
    for (size_t item = static_cast<size_t>(num_targets); item < ranking.all.size(); ++item) {
      Candidate<Id>& candidate = ranking.all[item];
      candidate.key = exponential(key, static_cast<uint64_t>(candidate.node)) / candidate.score;
    }
  }

  template <class Ranker>
  void note(const Ranker& ranker) {
    nodes_touched = ranker.nodes_touched();
    edges_touched = ranker.edges_touched();
  }

  static bool is_scored_by_hop(const ExtractOptions& options) {
    return std::holds_alternative<NodeOptions>(options) || std::holds_alternative<KhopOptions>(options) ||
           std::holds_alternative<FireOptions>(options);
  }

  // Where distance is the metric, nearer is better: 1 for a target, 1/2 for its neighbours, and so on.
  static void score_by_hop(Arena& out, size_t first) {
    for (size_t node = first; node < out.score.size(); ++node) {
      out.score[node] = 1.0f / (1.0f + static_cast<float>(out.hop[node]));
    }
  }
};

// Where one thread works: its scratch and the scopes it has finished in this call.
template <class Id>
struct Desk {
  Worker<Id> worker;
  Arena arena;
};

struct Place {
  int worker;
  size_t first_node, first_edge;
  int64_t num_nodes, num_edges, nodes_touched, edges_touched;
};

template <class Id>
Place extract_one(const Csr<Id>& csr, const int64_t* targets, int64_t width, int64_t item, const Request& request,
                  int index, Desk<Id>& desk) {
  Worker<Id>& worker = desk.worker;
  const Arena& arena = desk.arena;
  Place place{index, arena.node_id.size(), arena.indices.size(), 0, 0, 0, 0};
  guarded([&] { worker.extract(csr, targets + item * width, width, item, request, desk.arena); });
  place.num_nodes = static_cast<int64_t>(arena.node_id.size() - place.first_node);
  place.num_edges = static_cast<int64_t>(arena.indices.size() - place.first_edge);
  place.nodes_touched = worker.nodes_touched;
  place.edges_touched = worker.edges_touched;
  return place;
}

template <class T>
void copy_part(const std::vector<T>& from, size_t first, int64_t count, Unset<T>& to, int64_t at) {
  if (count > 0) std::memcpy(to.data() + at, from.data() + first, static_cast<size_t>(count) * sizeof(T));
}

// Copy one scope from its arena to its place in the whole.
inline void copy_scope(const Arena& arena, const Place& place, int64_t node, int64_t edge, bool positions,
                       Scopes& scopes) {
  copy_part(arena.node_id, place.first_node, place.num_nodes, scopes.node_id, node);
  copy_part(arena.hop, place.first_node, place.num_nodes, scopes.hop, node);
  copy_part(arena.score, place.first_node, place.num_nodes, scopes.score, node);
  copy_part(arena.indices, place.first_edge, place.num_edges, scopes.indices, edge);
  if (positions) copy_part(arena.edge_pos, place.first_edge, place.num_edges, scopes.edge_pos, edge);
  for (int64_t local = 0; local < place.num_nodes; ++local) {
    scopes.indptr[static_cast<size_t>(node + local)] = edge;
    edge += arena.row_size[place.first_node + static_cast<size_t>(local)];
  }
}

// Join the workers' arenas in the order of the targets.
template <class Id>
Scopes join(const std::vector<std::unique_ptr<Desk<Id>>>& desks, const std::vector<Place>& places, bool positions,
            int most_threads) {
  Scopes scopes;
  std::vector<int64_t> edge_ptr{0};
  scopes.ptr.push_back(0);
  for (const Place& place : places) {
    scopes.ptr.push_back(scopes.ptr.back() + place.num_nodes);
    edge_ptr.push_back(edge_ptr.back() + place.num_edges);
    scopes.nodes_touched.push_back(place.nodes_touched);
    scopes.edges_touched.push_back(place.edges_touched);
  }
  const auto num_nodes = static_cast<size_t>(scopes.ptr.back()), num_edges = static_cast<size_t>(edge_ptr.back());
  scopes.node_id.resize(num_nodes);
  scopes.hop.resize(num_nodes);
  scopes.score.resize(num_nodes);
  scopes.indptr.resize(num_nodes + 1);
  scopes.indptr.back() = edge_ptr.back();
  scopes.indices.resize(num_edges);
  scopes.edge_pos.resize(positions ? num_edges : 0);
  // A thread costs about as much as copying this many entries.
  constexpr size_t kEntriesPerThread = size_t{1} << 18;
  const auto num_threads = std::min(static_cast<size_t>(most_threads), 1 + num_edges / kEntriesPerThread);
  parallel_for(
      static_cast<int64_t>(places.size()), static_cast<int>(num_threads),
      [&](int, int64_t item) {
        const Place& place = places[static_cast<size_t>(item)];
        copy_scope(desks[static_cast<size_t>(place.worker)]->arena, place, scopes.ptr[static_cast<size_t>(item)],
                   edge_ptr[static_cast<size_t>(item)], positions, scopes);
      },
      64);
  return scopes;
}

// Desks of the calling thread survive between calls, so that their memory need not be asked for again; what is larger
// than usual is given back. After an error they are not kept: what they hold may be half-made.
template <class Id>
class Desks {
 public:
  // There can be `count` of them; each is made when its worker first asks for it.
  explicit Desks(int count) {
    all_.swap(kept());  // A call from within this one, by a signal's handler, finds none and makes its own.
    if (all_.size() < static_cast<size_t>(count)) all_.resize(static_cast<size_t>(count));
  }

  Desk<Id>& of(int worker) {
    auto& desk = all_[static_cast<size_t>(worker)];
    if (desk == nullptr) desk = std::make_unique<Desk<Id>>();
    return *desk;
  }

  void keep() {
    if (all_.size() > kMostKept) all_.resize(kMostKept);
    for (auto& desk : all_) {
      if (desk == nullptr) continue;
      if (desk->arena.indices.capacity() > kMostEntries) desk->arena = Arena();
      desk->arena.clear();
    }
    all_.swap(kept());
  }

  const std::vector<std::unique_ptr<Desk<Id>>>& all() const { return all_; }

 private:
  static constexpr size_t kMostKept = 16;
  static constexpr size_t kMostEntries = size_t{1} << 23;

  static std::vector<std::unique_ptr<Desk<Id>>>& kept() {
    static thread_local std::vector<std::unique_ptr<Desk<Id>>> desks;
    return desks;
  }

  std::vector<std::unique_ptr<Desk<Id>>> all_;
};

// Targets handed to a thread at a time: enough for the hand-over not to count, few enough to end together.
inline int64_t chunk_size(int64_t num_groups, int num_threads) {
  return std::clamp<int64_t>(num_groups / (8 * std::max(num_threads, 1)), 1, 16);
}

// Threads that take turns where most of them wait for the disk; they cost memory, but hardly any time.
inline int threads_for_disk(int num_threads) { return std::max(num_threads, std::min(16 * num_threads, 64)); }

// Extract one scope for each of `num_groups` rows of `targets` ([num_groups, width]).
template <class Id>
Scopes extract(const Csr<Id>& csr, const int64_t* targets, int64_t num_groups, int64_t width, const Request& request) {
  const int num_threads = std::max(request.num_threads, 1);
  Desks<Id> desks(threads_for_disk(num_threads));
  std::vector<Place> places(static_cast<size_t>(num_groups));
  std::atomic<bool> waits{false};
  parallel_for(
      num_groups, num_threads,
      [&](int worker, int64_t group) {
        Desk<Id>& desk = desks.of(worker);
        places[static_cast<size_t>(group)] = extract_one(csr, targets, width, group, request, worker, desk);
        if (desk.worker.watch.waited()) waits.store(true, std::memory_order_relaxed);
      },
      chunk_size(num_groups, num_threads),
      [&] { return waits.load(std::memory_order_relaxed) ? threads_for_disk(num_threads) : 0; });
  Scopes scopes = join(desks.all(), places, request.scope.positions, num_threads);
  desks.keep();
  return scopes;
}

}  // namespace shadow
