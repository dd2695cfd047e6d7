// Pieces of a mapped file copied in any order, or in the file's own order once the disk has to be waited for.
// Not for: what is copied, and how (gather.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "guard.h"
#include "interrupt.h"
#include "pages.h"
#include "prefetch.h"

namespace shadow {

// Where a piece lies.
struct Piece {
  const char* first;
  int64_t num_bytes;  // 0 for one that does not exist, which `copy` objects to
};

// When pages are asked for before they are read.
enum class Ask { kWhenWaiting, kAlways, kNever };

// Pieces lie far apart, so each is prefetched this many items before it is read.
constexpr int64_t kItemsAhead = 12;

// Items between two looks at the clock, or at how long pages were waited for. A step (interrupt.h) is a cache line.
constexpr int64_t kMostItems = 2048;

// Copy items in their order until some had to be waited for; return how many are done.
template <class PieceOf, class Copy>
int64_t copy_in_order(int64_t count, PieceOf&& piece_of, Copy&& copy, Ask ask) {
  int64_t done = 0, chunk = 32;  // Few at first: if nothing is in memory, each of them is a wait.
  while (done < count) {
    const int64_t waits = ask == Ask::kNever ? 0 : page_waits();
    const int64_t last = std::min(count, done + chunk);
    count_steps((last - done) * (1 + piece_of(done).num_bytes / 64));
    for (; done < last; ++done) {
      if (done + kItemsAhead < count) {
        const Piece ahead = piece_of(done + kItemsAhead);
        for (int64_t line = 0; line < ahead.num_bytes && line < 256; line += 64) prefetch(ahead.first + line);
      }
      copy(done);
    }
    if (ask != Ask::kNever && page_waits() - waits > chunk / 32) break;
    chunk = std::min<int64_t>(2 * chunk, kMostItems);
  }
  return done;
}

// Copy the items of `order`, whose pieces ascend: while one window of them is copied, the next is on its way.
template <class PieceOf, class Copy>
void copy_asked(const std::vector<int64_t>& order, PieceOf&& piece_of, Copy&& copy) {
  constexpr int64_t kWindow = 4096;
  const auto count = static_cast<int64_t>(order.size());
  PageAsker asker;
  const auto ask = [&](int64_t first) {
    for (int64_t at = first; at < std::min(first + kWindow, count); ++at) {
      const Piece piece = piece_of(order[static_cast<size_t>(at)]);
      asker.note(piece.first, piece.num_bytes);
      count_steps(1 + piece.num_bytes / 64);
    }
    asker.ask();
  };
  ask(0);
  for (int64_t first = 0; first < count; first += kWindow) {
    ask(first + kWindow);
    for (int64_t at = first; at < std::min(first + kWindow, count); ++at) copy(order[static_cast<size_t>(at)]);
  }
}

// Call copy(item) for every item in [0, count), where piece_of(item) says what it will read. What is in memory is
// copied in the order of the items. Once pages have to be waited for, the rest goes in the order of the file, and its
// pages are asked for together beforehand. Neither function may own anything.
template <class PieceOf, class Copy>
void copy_scattered(int64_t count, PieceOf&& piece_of, Copy&& copy, Ask ask = Ask::kWhenWaiting) {
  int64_t done = 0;
  if (ask != Ask::kAlways) guarded([&] { done = copy_in_order(count, piece_of, copy, ask); });
  if (done == count) return;
  std::vector<int64_t> order(static_cast<size_t>(count - done));
  std::iota(order.begin(), order.end(), done);
  std::sort(order.begin(), order.end(), [&](int64_t one, int64_t other) {
    const char *const first = piece_of(one).first, *const second = piece_of(other).first;
    return first != second ? first < second : one < other;
  });
  guarded([&] { copy_asked(order, piece_of, copy); });
}

}  // namespace shadow
