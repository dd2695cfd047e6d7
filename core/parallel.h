// Work spread over plain threads, item by item; the first exception (by item) reaches the caller.
// Not for: keeping threads alive. They are made per call, so that forking is safe at any other time.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace shadow {

// Call work(worker, item) once for every item in [0, count); worker is in [0, num_threads) and worker 0 is the calling
// thread, which also calls poll() now and then: an exception from poll ends the work. Items go to a worker `chunk` at a
// time, the first ones singly. After each of its items the calling thread asks wanted(): once it says more than 0,
// there are that many threads instead, and items go singly. Which worker takes an item is a matter of chance; results
// must not depend on it.
template <class Work, class Poll, class Wanted>
void parallel_for(int64_t count, int num_threads, Work&& work, Poll&& poll, int64_t chunk, Wanted&& wanted) {
  std::atomic<int64_t> next{0};
  std::atomic<bool> stop{false}, grown{false};
  std::mutex mutex;
  std::exception_ptr error;
  int64_t error_item = count;
  const int64_t num_single = 2 * static_cast<int64_t>(std::max(num_threads, 1));

  const auto fail = [&](int64_t item) {
    const std::lock_guard<std::mutex> lock(mutex);
    stop = true;
    if (error == nullptr || item < error_item) {
      error = std::current_exception();
      error_item = item;
    }
  };
  struct Turn {
    int64_t item = 0, last = 0;
  };
  // Work on one item; false if there is none.
  const auto step = [&](int worker, Turn& turn) {
    if (stop.load(std::memory_order_relaxed)) return false;
    if (turn.item == turn.last) {
      const bool single = next.load(std::memory_order_relaxed) < num_single || grown.load(std::memory_order_relaxed);
      const int64_t size = single ? 1 : chunk;
      turn.item = next.fetch_add(size, std::memory_order_relaxed);
      turn.last = std::min(turn.item + size, count);
      if (turn.item >= count) return false;
    }
    try {
      if (worker == 0) poll();
      work(worker, turn.item);
    } catch (...) {
      fail(turn.item);
    }
    ++turn.item;
    return true;
  };
  const auto run = [&](int worker) {
    Turn turn;
    while (step(worker, turn)) {
    }
  };

  std::vector<std::thread> threads;
  const auto start = [&](int num_workers) {
    const auto most = std::min<int64_t>(num_workers, count);
    try {
      while (static_cast<int64_t>(threads.size()) + 1 < most) {
        threads.emplace_back(run, static_cast<int>(threads.size()) + 1);
      }
    } catch (...) {
      // No more threads to be had: the ones that started, and this one, do all the work.
    }
  };
  start(num_threads);
  Turn turn;
  while (step(0, turn)) {
    const int more = grown.load(std::memory_order_relaxed) ? 0 : wanted();
    if (more > 0) {
      grown = true;
      start(more);
    }
  }
  for (auto& thread : threads) thread.join();
  if (error != nullptr) std::rethrow_exception(error);
}

template <class Work, class Poll>
void parallel_for(int64_t count, int num_threads, Work&& work, Poll&& poll, int64_t chunk = 1) {
  parallel_for(count, num_threads, work, poll, chunk, [] { return 0; });
}

}  // namespace shadow
