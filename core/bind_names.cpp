// Bindings: names of nodes, sorted and looked up.
// Not for: the names of classes and columns, which are few.
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include "binding.h"
#include "guard.h"
#include "names.h"

namespace shadow {
namespace {

using Bytes = In1<uint8_t>;
using Order = std::variant<In1<int32_t>, In1<int64_t>>;

Names names_of(const In1<int64_t>& ptr, const Bytes& text) {
  if (ptr.shape(0) == 0) throw std::invalid_argument("ptr must have length N + 1, got 0");
  return {ptr.data(), text.data(), static_cast<int64_t>(ptr.shape(0)) - 1, static_cast<int64_t>(text.shape(0))};
}

Text text_of(const Bytes& text) { return {text.data(), static_cast<int64_t>(text.shape(0))}; }

// Run work(order) for the width of the ids, without the lock of Python.
template <class Work>
void with_order(const Names& names, const Order& order, Work&& work) {
  const size_t length = std::visit([](const auto& array) { return array.shape(0); }, order);
  if (length != static_cast<size_t>(names.count)) throw std::invalid_argument("order must have one id for each name");
  std::visit(
      [&](const auto& array) {
        using Id = std::decay_t<decltype(array.data()[0])>;
        const NameOrder<std::remove_const_t<Id>> made{names, array.data()};
        const nb::gil_scoped_release release;
        guarded([&] { work(made); });
      },
      order);
}

template <class Id>
nb::object given(const std::vector<NameKey>& keys) {
  Block<Id> order(keys.size());
  std::transform(keys.begin(), keys.end(), order.data(), [](const NameKey& key) { return static_cast<Id>(key.name); });
  return nb::cast(order.give({keys.size()}));
}

nb::object sort_names(const In1<int64_t>& ptr, const Bytes& text) {
  const Names names = names_of(ptr, text);
  const auto count = static_cast<size_t>(names.count);
  std::vector<NameKey> keys(count), other(count);
  {
    const nb::gil_scoped_release release;
    guarded([&] {
      const int64_t shared = shared_letters(names);
      for_steps(names.count, [&](int64_t name) { keys[static_cast<size_t>(name)] = key_of(names, name, shared); });
      sort_keys(names, keys, other);
    });
  }
  return names.count <= INT32_MAX ? given<int32_t>(keys) : given<int64_t>(keys);
}

// The id of each text, -1 for an unknown one, and the number of nodes of that name.
nb::tuple find_names(const In1<int64_t>& ptr, const Bytes& text, const Order& order, const In1<int64_t>& query_ptr,
                     const Bytes& query_text) {
  const Names queries = names_of(query_ptr, query_text);
  const auto count = static_cast<size_t>(queries.count);
  Block<int64_t> ids(count), counts(count);
  with_order(names_of(ptr, text), order, [&](const auto& names) {
    for (int64_t query = 0; query < queries.count; ++query) {
      count_steps(64);
      const Text wanted = queries.at(query);
      const int64_t place = names.lower(wanted);
      const bool found = place < names.names.count && compare_texts(names.at(place), wanted) == 0;
      ids.data()[query] = found ? names.id(place) : -1;
      const bool twice = found && place + 1 < names.names.count && compare_texts(names.at(place + 1), wanted) == 0;
      counts.data()[query] = !found ? 0 : twice ? names.upper(wanted) - place : 1;
    }
  });
  return nb::make_tuple(ids.give({count}), counts.give({count}));
}

nb::tuple prefix_range(const In1<int64_t>& ptr, const Bytes& text, const Order& order, const Bytes& prefix) {
  std::pair<int64_t, int64_t> found;
  with_order(names_of(ptr, text), order, [&](const auto& names) { found = names.with_prefix(text_of(prefix)); });
  return nb::make_tuple(found.first, found.second);
}

int64_t name_order_fault(const In1<int64_t>& ptr, const Bytes& text, const Order& order) {
  int64_t found = -1;
  with_order(names_of(ptr, text), order, [&](const auto& names) { found = names.first_fault(); });
  return found;
}

// The ids of the names with the fewest edits, the fewest first, then by id.
Out<int64_t> nearest_names(const In1<int64_t>& ptr, const Bytes& text, const Bytes& query, int64_t most,
                           int64_t limit) {
  constexpr int64_t kMost = 1000, kLongest = 1000;
  const Names names = names_of(ptr, text);
  const Text wanted = text_of(query);
  if (most < 1 || most > kMost) throw std::invalid_argument("most must be from 1 to 1000");
  if (limit < 0 || limit > kLongest) throw std::invalid_argument("limit must be from 0 to 1000");
  if (wanted.size > kLongest) throw std::invalid_argument("query must have at most 1000 bytes");
  std::vector<int64_t> row(static_cast<size_t>(wanted.size) + 1);
  std::vector<std::pair<int64_t, int64_t>> best;
  best.reserve(static_cast<size_t>(most) + 1);
  {
    const nb::gil_scoped_release release;
    guarded([&] {
      for (int64_t name = 0; name < names.count; ++name) {
        const Text other = names.at(name);
        const auto full = static_cast<int64_t>(best.size()) == most;
        const int64_t allowed = full ? std::min(limit, best.back().first - 1) : limit;
        count_steps(1 + (allowed < 0 ? 0 : std::min(other.size, wanted.size + allowed) * (allowed + 1) / 4));
        if (allowed < 0) break;
        const int64_t distance = edits(other, wanted, allowed, row);
        if (distance > allowed) continue;
        const std::pair<int64_t, int64_t> entry{distance, name};
        best.insert(std::upper_bound(best.begin(), best.end(), entry), entry);
        if (static_cast<int64_t>(best.size()) > most) best.pop_back();
      }
    });
  }
  std::vector<int64_t> ids(best.size());
  std::transform(best.begin(), best.end(), ids.begin(), [](const auto& entry) { return entry.second; });
  return give(std::move(ids));
}

}  // namespace

void bind_names(nb::module_& m) {
  m.def("sort_names", &sort_names, Guarded(), nb::arg("ptr").noconvert(), nb::arg("text").noconvert(),
        "Sort names without regard to case, then with it, then by id.");
  m.def("find_names", &find_names, Guarded(), nb::arg("ptr").noconvert(), nb::arg("text").noconvert(),
        nb::arg("order").noconvert(), nb::arg("query_ptr").noconvert(), nb::arg("query_text").noconvert(),
        "Return the first id of each name, -1 for unknown ones, and how many nodes have the name.");
  m.def("prefix_range", &prefix_range, Guarded(), nb::arg("ptr").noconvert(), nb::arg("text").noconvert(),
        nb::arg("order").noconvert(), nb::arg("prefix").noconvert(),
        "Return the places in the order whose names begin with a text, in either case: from first to below last.");
  m.def("name_order_fault", &name_order_fault, Guarded(), nb::arg("ptr").noconvert(), nb::arg("text").noconvert(),
        nb::arg("order").noconvert(), "Return the first place of an order that is not after the one before; or -1.");
  m.def("nearest_names", &nearest_names, Guarded(), nb::arg("ptr").noconvert(), nb::arg("text").noconvert(),
        nb::arg("query").noconvert(), nb::arg("most"), nb::arg("limit"),
        "Return the ids of the names that are few edits of a letter away from a text, the nearest first.");
}

}  // namespace shadow
