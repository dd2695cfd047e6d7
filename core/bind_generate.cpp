// Bindings of made-up graphs (generate.h).
// Not for: algorithms.
#include "binding.h"
#include "generate.h"
#include "parallel.h"

namespace shadow {

namespace {

constexpr int64_t kItems = 4096;
constexpr int64_t kMaxColumns = 1 << 20;
constexpr int64_t kMaxEdges = int64_t{1} << 40;
constexpr size_t kMaxCentres = size_t{1} << 28;

void check_range(const GraphModel& model, int64_t first, int64_t count) {
  if (first < 0 || count < 0 || first > model.num_nodes() || count > model.num_nodes() - first) {
    throw std::invalid_argument("first and count must give nodes of the graph");
  }
}

// Call work(begin, end) for stretches of [0, count), without the GIL.
template <class Work>
void in_stretches(int64_t count, int num_threads, Work&& work) {
  check_threads(num_threads);
  const nb::gil_scoped_release release;
  parallel_for((count + kItems - 1) / kItems, num_threads,
               [&](int, int64_t item) { work(item * kItems, std::min(count, (item + 1) * kItems)); });
}

GraphModel model_of(const std::string& kind, int64_t num_nodes, int64_t num_classes, int64_t num_communities,
                    double inside, uint64_t seed) {
  if (kind != "dcsbm" && kind != "rmat") throw std::invalid_argument("kind must be dcsbm or rmat");
  ModelOptions options;
  options.num_nodes = num_nodes;
  options.num_classes = num_classes;
  options.seed = seed;
  options.recursive = kind == "rmat";
  options.num_communities = num_communities;
  options.inside = inside;
  return GraphModel(options);
}

nb::tuple edges(const GraphModel& model, int64_t first, int64_t count, int num_threads) {
  const bool valid = first >= 0 && count >= 0 && first <= kMaxEdges && count <= kMaxEdges;
  if (!valid) throw std::invalid_argument("first and count must be from 0 to 2^40");
  const auto size = static_cast<size_t>(count);
  Block<int64_t> src(size), dst(size);
  in_stretches(count, num_threads, [&](int64_t begin, int64_t end) {
    model.edges(first + begin, end - begin, src.data() + begin, dst.data() + begin);
  });
  return nb::make_tuple(src.give({size}), dst.give({size}));
}

Out<int64_t> labels(const GraphModel& model, int64_t first, int64_t count, int num_threads) {
  check_range(model, first, count);
  Block<int64_t> out(static_cast<size_t>(count));
  in_stretches(count, num_threads, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) out.data()[at] = model.label(first + at);
  });
  return out.give({static_cast<size_t>(count)});
}

Out<float> features(const GraphModel& model, int64_t first, int64_t count, int64_t num_columns, int num_threads) {
  check_range(model, first, count);
  if (num_columns < 1 || num_columns > kMaxColumns) throw std::invalid_argument("num_columns must be from 1 to 2^20");
  if (times(static_cast<size_t>(model.num_classes()), static_cast<size_t>(num_columns)) > kMaxCentres) {
    throw std::invalid_argument("num_classes times num_columns must be at most 2^28");
  }
  const std::vector<float> centres = [&] {
    const nb::gil_scoped_release release;
    return model.centres(num_columns);
  }();
  Block<float> out(times(static_cast<size_t>(count), static_cast<size_t>(num_columns)));
  in_stretches(count, num_threads, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      model.features(first + at, centres.data(), num_columns, out.data() + at * num_columns);
    }
  });
  return out.give({static_cast<size_t>(count), static_cast<size_t>(num_columns)});
}

Out<uint8_t> splits(const GraphModel& model, int64_t first, int64_t count, uint64_t train_end, uint64_t valid_end,
                    uint64_t test_end, int num_threads) {
  check_range(model, first, count);
  const std::array<uint64_t, 3> ends = {train_end, valid_end, test_end};
  Block<uint8_t> out(static_cast<size_t>(count));
  in_stretches(count, num_threads, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) out.data()[at] = model.split(first + at, ends);
  });
  return out.give({static_cast<size_t>(count)});
}

}  // namespace

void bind_generate(nb::module_& m) {
  nb::class_<GraphModel>(m, "GraphModel", "A made-up graph, any part of which can be drawn by itself.")
      .def(
          "__init__",
          [](GraphModel* self, const std::string& kind, int64_t num_nodes, int64_t num_classes, int64_t num_communities,
             double inside, uint64_t seed) {
            new (self) GraphModel(model_of(kind, num_nodes, num_classes, num_communities, inside, seed));
          },
          Guarded(), nb::arg("kind"), nb::kw_only(), nb::arg("num_nodes"), nb::arg("num_classes"),
          nb::arg("num_communities"), nb::arg("inside"), nb::arg("seed"))
      .def("edges", &edges, Guarded(), nb::arg("first"), nb::arg("count"), nb::arg("num_threads"))
      .def("labels", &labels, Guarded(), nb::arg("first"), nb::arg("count"), nb::arg("num_threads"))
      .def("features", &features, Guarded(), nb::arg("first"), nb::arg("count"), nb::arg("num_columns"),
           nb::arg("num_threads"))
      .def("splits", &splits, Guarded(), nb::arg("first"), nb::arg("count"), nb::arg("train_end"), nb::arg("valid_end"),
           nb::arg("test_end"), nb::arg("num_threads"));
}

}  // namespace shadow
