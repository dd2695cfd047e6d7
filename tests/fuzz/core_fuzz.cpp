// Fuzz target of libFuzzer for the core: bytes become the arrays of a graph that may lie, targets and options, and every
// way of extraction, the closure, the joining of scopes and the gathering of sparse rows read them. Each ends with a
// result or an exception; the sanitizers see the rest.
//
//   clang++ -std=c++17 -O1 -g -fsanitize=fuzzer,address,undefined -Icore tests/fuzz/core_fuzz.cpp -o core_fuzz
#include <cstdint>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <vector>

#include "closure.h"
#include "collate.h"
#include "engine.h"
#include "gather.h"
#include "reverse.h"

using namespace shadow;

namespace {

// Takes values from the input until it is empty, then zeros.
class Input {
 public:
  Input(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  uint8_t byte() { return at_ < size_ ? data_[at_++] : 0; }
  int64_t below(int64_t limit) { return (byte() + 256 * byte()) % limit; }

  // A small number in most cases, any number otherwise.
  int64_t number(int64_t most) {
    const uint8_t kind = byte();
    if (kind < 230) return kind % (most + 1);
    int64_t value = 0;
    for (int part = 0; part < 8; ++part) value = value << 7 | byte();
    return kind % 2 ? value : -value;
  }

  template <class T>
  std::vector<T> list(size_t count, int64_t most) {
    std::vector<T> values(count);
    for (T& value : values) value = static_cast<T>(number(most));
    return values;
  }

 private:
  const uint8_t* data_;
  size_t size_, at_ = 0;
};

struct TooLong : std::exception {};

ExtractOptions options_of(Input& input, const FeatureView& features, bool weighted) {
  const int64_t topk = 1 + input.below(9);
  PprOptions ppr;
  ppr.teleport = 0.001 + static_cast<double>(input.below(900)) / 1000;
  ppr.topk = topk;
  ppr.tolerance = input.byte() % 2 ? 1e-6 : 0;
  ppr.threshold = input.byte() % 2 ? 0.1 : 0;
  switch (input.byte() % (weighted ? 7 : 10)) {
    case 0:
      return NodeOptions{};
    case 1:
      return KhopOptions{input.below(4), input.below(5) - 1, input.byte() % 2 == 1};
    case 2:
      return ppr;
    case 3:
      return StochasticPprOptions{ppr};
    case 4:
      return KatzOptions{0.01 + static_cast<double>(input.below(20)) / 100, 2.0, topk, 0, 0.01};
    case 5:
      return HeatOptions{0.1 + static_cast<double>(input.below(50)) / 10, topk, 0, 0.15};
    case 6: {
      SimilarOptions similar;
      similar.ppr = ppr;
      similar.topk = topk;
      similar.features = features;
      return similar;
    }
    case 7:
      return RwrOptions{ppr.teleport, topk, 1 + input.below(60), nullptr};
    case 8:
      return SimrankOptions{0.6, topk, 1 + input.below(20), 1 + input.below(5), 1 + input.below(9), nullptr, {}};
    default:
      return FireOptions{0.6, input.byte() % 2 ? 0.5 : 0.0, {}};
  }
}

template <class Id>
void use_graph(Input& input) {
  const auto num_nodes = static_cast<size_t>(1 + input.below(12)), num_edges = static_cast<size_t>(input.below(40));
  const auto indptr = input.list<int64_t>(num_nodes + 1, static_cast<int64_t>(num_edges));
  const auto indices = input.list<Id>(num_edges, static_cast<int64_t>(num_nodes) - 1);
  const bool weighted = input.byte() % 3 == 0;
  std::vector<float> weight(num_edges);
  for (float& each : weight) each = static_cast<float>(input.byte()) / 16;
  if (weighted && input.byte() % 4 == 0 && num_edges > 0) weight[0] = input.byte() % 2 ? -1.0f : 0.0f / weight[0];
  const Csr<Id> csr{indptr.data(), indices.data(), weighted ? weight.data() : nullptr,
                    static_cast<int64_t>(num_nodes), static_cast<int64_t>(num_edges), input.byte() % 2 == 0};
  const int64_t width = 1 + input.below(3), count = input.below(4);
  const auto targets = input.list<int64_t>(static_cast<size_t>(width * count), static_cast<int64_t>(num_nodes) - 1);
  std::vector<float> matrix(num_nodes * 3, 0.5f);
  FeatureView features;
  features.matrix = matrix.data();
  features.kind = FeatureKind::kFloat;
  features.num_rows = static_cast<int64_t>(num_nodes);
  features.width = 3;
  const uint8_t what = input.byte() % 4;
  if (what == 0) {
    Reversed<Id> reversed(csr);
    reversed.fill(csr);
  } else if (what == 1) {
    ClosureOptions options;
    options.num_hops = input.below(4);
    const auto fanouts = input.list<int64_t>(static_cast<size_t>(options.num_hops), 4);
    options.fanouts = input.byte() % 2 ? fanouts.data() : nullptr;
    options.positions = input.byte() % 2 == 0;
    ClosureBuilder<Id> builder(csr, options);
    builder.build(targets.data(), static_cast<int64_t>(targets.size()));
  } else {
    Request request;
    request.extract = options_of(input, features, weighted);
    request.hide = width == 2 ? static_cast<Hide>(input.byte() % 3) : Hide::kNone;
    request.bare = input.byte() % 4 == 0;
    request.scope.max_nodes = 1 + input.below(20);
    request.scope.positions = input.byte() % 2 == 0;
    request.seed = input.byte();
    request.num_threads = 1 + input.byte() % 2;
    const Scopes scopes = extract(csr, targets.data(), count, width, request);
    const ScopesView view{scopes.ptr.data(),          scopes.hop.data(),
                          scopes.indptr.data(),       scopes.indices.data(),
                          count,                      static_cast<int64_t>(scopes.hop.size()),
                          static_cast<int64_t>(scopes.indices.size())};
    if (!request.bare) collate(view, input.byte() % 2 == 0);
  }
}

void use_scopes(Input& input) {
  const auto num_scopes = static_cast<size_t>(input.below(4)), num_nodes = static_cast<size_t>(input.below(9));
  const auto num_edges = static_cast<size_t>(input.below(20));
  auto ptr = input.list<int64_t>(num_scopes + 1, static_cast<int64_t>(num_nodes));
  ptr.back() = static_cast<int64_t>(num_nodes);  // The binding checks both ends.
  ptr.front() = 0;
  if (num_scopes == 0 && num_nodes > 0) return;
  const auto hop = input.list<int32_t>(num_nodes, 3);
  const auto indptr = input.list<int64_t>(num_nodes + 1, static_cast<int64_t>(num_edges));
  const auto indices = input.list<int32_t>(num_edges, 3);
  const ScopesView view{ptr.data(),
                        hop.data(),
                        indptr.data(),
                        indices.data(),
                        static_cast<int64_t>(num_scopes),
                        static_cast<int64_t>(num_nodes),
                        static_cast<int64_t>(num_edges)};
  collate(view, input.byte() % 2 == 0);
}

void use_rows(Input& input) {
  const auto num_rows = static_cast<size_t>(input.below(9)), num_values = static_cast<size_t>(input.below(20));
  const auto indptr = input.list<int64_t>(num_rows + 1, static_cast<int64_t>(num_values));
  const auto indices = input.list<int32_t>(num_values, 5);
  const std::vector<float> data(num_values, 1.0f);
  const auto rows = input.list<int64_t>(static_cast<size_t>(input.below(6)), static_cast<int64_t>(num_rows));
  const int64_t width = 1 + input.below(6);
  std::vector<float> out(rows.size() * static_cast<size_t>(width), 0.0f);
  const SparseRows matrix{indptr.data(), indices.data(), data.data(), static_cast<int64_t>(num_rows),
                          static_cast<int64_t>(num_values), width};
  gather_sparse(matrix, rows.data(), static_cast<int64_t>(rows.size()), out.data(), Ask::kNever);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  int questions = 0;
  const Question question = [&] {
    if (++questions > 300) throw TooLong();
  };
  const Asking asking(question);
  try {
    switch (input.byte() % 5) {
      case 0:
        use_scopes(input);
        break;
      case 1:
        use_rows(input);
        break;
      case 2:
        use_graph<int64_t>(input);
        break;
      default:
        use_graph<int32_t>(input);
    }
  } catch (const std::exception&) {
  }
  return 0;
}
