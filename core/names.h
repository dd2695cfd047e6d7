// Names of nodes: their order without regard to upper and lower case, look-ups in it, and the names nearest to a text.
// Not for: letters beyond ASCII, whose case counts; texts that are not names of nodes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "csr.h"
#include "guard.h"
#include "interrupt.h"

namespace shadow {

// Some bytes of UTF-8 that somebody else owns.
struct Text {
  const uint8_t* begin;
  int64_t size;
};

inline uint8_t folded(uint8_t letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<uint8_t>(letter + ('a' - 'A')) : letter;
}

// Less, equal or greater than 0: by the letters without their case, a text before those that continue it.
inline int compare_folded(Text left, Text right) {
  const int64_t shorter = std::min(left.size, right.size);
  for (int64_t at = 0; at < shorter; ++at) {
    const int difference = folded(left.begin[at]) - folded(right.begin[at]);
    if (difference != 0) return difference;
  }
  return left.size < right.size ? -1 : left.size > right.size;
}

// The same, with the case as the second criterion: 0 only for equal texts.
inline int compare_texts(Text left, Text right) {
  const int difference = compare_folded(left, right);
  if (difference != 0) return difference;
  for (int64_t at = 0; at < left.size; ++at) {
    if (left.begin[at] != right.begin[at]) return left.begin[at] - right.begin[at];
  }
  return 0;
}

// Borrowed names, mapped from files that may lie.
struct Names {
  const int64_t* ptr;
  const uint8_t* text;
  int64_t count, num_bytes;

  Text at(int64_t name) const {
    const int64_t begin = ptr[name], end = ptr[name + 1];
    if (begin < 0 || end < begin || end > num_bytes) {
      throw CorruptGraph("the offsets of name " + std::to_string(name) + " are not a range of the text");
    }
    return {text + begin, end - begin};
  }
};

// Names in ascending order; equal names by id.
template <class Id>
struct NameOrder {
  Names names;
  const Id* order;

  int64_t id(int64_t place) const {
    const auto name = static_cast<int64_t>(order[place]);
    if (name < 0 || name >= names.count) {
      throw CorruptGraph("node_name_order holds " + std::to_string(name) + ", not a node");
    }
    return name;
  }

  Text at(int64_t place) const { return names.at(id(place)); }

  // The first place where `is_before` no longer holds.
  template <class IsBefore>
  int64_t first_not(IsBefore&& is_before) const {
    int64_t low = 0, high = names.count;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (is_before(at(middle))) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  // The first place of a name that is not before `text`.
  int64_t lower(Text text) const {
    return first_not([text](Text name) { return compare_texts(name, text) < 0; });
  }

  int64_t upper(Text text) const {
    return first_not([text](Text name) { return compare_texts(name, text) <= 0; });
  }

  // The places of the names that begin with a text, in either case.
  std::pair<int64_t, int64_t> with_prefix(Text prefix) const {
    const auto cut = [prefix](Text name) { return Text{name.begin, std::min(name.size, prefix.size)}; };
    return {first_not([&](Text name) { return compare_folded(cut(name), prefix) < 0; }),
            first_not([&](Text name) { return compare_folded(cut(name), prefix) <= 0; })};
  }

  // The first place that does not come after the one before it; -1 if there is none.
  int64_t first_fault() const {
    for (int64_t place = 1; place < names.count; ++place) {
      const Text before = at(place - 1), here = at(place);
      count_steps(1 + std::min(before.size, here.size) / 8);
      const int difference = compare_texts(before, here);
      if (difference > 0 || (difference == 0 && id(place - 1) >= id(place))) return place;
    }
    if (names.count == 1) id(0);
    return -1;
  }
};

// A name and its first letters after those that all names share.
struct NameKey {
  uint64_t letters;
  int64_t name;
};

// Letters without case that all names begin with.
inline int64_t shared_letters(const Names& names) {
  if (names.count == 0) return 0;
  const Text first = names.at(0);
  int64_t shared = first.size;
  for (int64_t name = 1; name < names.count && shared > 0; ++name) {
    const Text other = names.at(name);
    count_steps(1 + shared / 8);
    shared = std::min(shared, other.size);
    int64_t at = 0;
    while (at < shared && folded(first.begin[at]) == folded(other.begin[at])) ++at;
    shared = at;
  }
  return shared;
}

inline NameKey key_of(const Names& names, int64_t name, int64_t shared) {
  const Text text = names.at(name);
  uint64_t letters = 0;
  for (int64_t at = shared; at < shared + 8; ++at) {
    letters = letters << 8 | (at < text.size ? folded(text.begin[at]) : 0);
  }
  return {letters, name};
}

// Sort `keys` with the help of `other`, of the same size; the result is in `keys`. Runs are merged, which reads and
// writes in bounds even if the names change meanwhile.
inline void sort_keys(const Names& names, std::vector<NameKey>& keys, std::vector<NameKey>& other) {
  const auto before = [&](const NameKey& left, const NameKey& right) {
    if (left.letters != right.letters) return left.letters < right.letters;
    const Text left_text = names.at(left.name), right_text = names.at(right.name);
    count_steps(4 + std::min(left_text.size, right_text.size) / 8);
    const int difference = compare_texts(left_text, right_text);
    return difference != 0 ? difference < 0 : left.name < right.name;
  };
  const size_t count = keys.size();
  for (size_t width = 1; width < count; width *= 2) {
    for (size_t start = 0; start < count; start += 2 * width) {
      const size_t middle = std::min(start + width, count), end = std::min(start + 2 * width, count);
      size_t left = start, right = middle;
      for (size_t out = start; out < end; ++out) {
        count_at(static_cast<int64_t>(out));
        const bool take_left = left < middle && (right == end || !before(keys[right], keys[left]));
        other[out] = keys[take_left ? left++ : right++];
      }
    }
    std::swap(keys, other);
  }
}

// The edits of a letter that turn one text into another, in either case; limit + 1 where there are more. `row` is
// scratch.
inline int64_t edits(Text left, Text right, int64_t limit, std::vector<int64_t>& row) {
  if (std::max(left.size, right.size) - std::min(left.size, right.size) > limit) return limit + 1;
  for (int64_t at = 0; at <= right.size; ++at) row[static_cast<size_t>(at)] = at;
  for (int64_t i = 1; i <= left.size; ++i) {
    // Further from the diagonal there are more edits than the limit.
    const int64_t first = std::max<int64_t>(1, i - limit), last = std::min(right.size, i + limit);
    int64_t diagonal = row[static_cast<size_t>(first - 1)], least = limit + 1;
    row[static_cast<size_t>(first - 1)] = first == 1 ? i : limit + 1;
    for (int64_t j = first; j <= last; ++j) {
      const auto at = static_cast<size_t>(j);
      const int64_t above = j == i + limit ? limit + 1 : row[at];
      const int64_t same = diagonal + (folded(left.begin[i - 1]) != folded(right.begin[j - 1]));
      diagonal = row[at];
      row[at] = std::min({same, above + 1, row[at - 1] + 1});
      least = std::min(least, row[at]);
    }
    if (least > limit) return limit + 1;
  }
  return std::min(row[static_cast<size_t>(right.size)], limit + 1);
}

}  // namespace shadow
