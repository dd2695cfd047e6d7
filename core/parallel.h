// Work spread over plain threads, item by item; the first exception (by item) reaches the caller.
// Not for: keeping threads alive. They are made per call, so that forking is safe at any other time.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "interrupt.h"

namespace shadow {

namespace detail {

// Thrown in a thread whose work is to end because the calling thread was told so; it goes no further than that thread.
struct Ended {};

}  // namespace detail

// Call work(worker, item) once for every item in [0, count); worker is in [0, num_threads) and worker 0 is the calling
// thread, which also asks its question (interrupt.h) now and then, and while it waits for the others: an exception from
// there ends the work of all threads in the middle of their items. Items go to a worker `chunk` at a time, the first
// ones singly. After each of its items the calling thread asks wanted(): once it says more than 0, there are that many
// threads instead, and items go singly. Which worker takes an item is a matter of chance; results must not depend on
// it.
template <class Work, class Wanted>
void parallel_for(int64_t count, int num_threads, Work&& work, int64_t chunk, Wanted&& wanted) {
  std::atomic<int64_t> next{0};
  std::atomic<bool> stop{false}, grown{false}, ended{false};
  std::mutex mutex;
  std::condition_variable idle;
  size_t num_idle = 0;
  std::exception_ptr error;
  int64_t error_item = count;
  const int64_t num_single = 2 * static_cast<int64_t>(std::max(num_threads, 1));
  constexpr int64_t kBeforeAll = -1;  // An interruption comes before the error of any item.

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
      if (worker == 0) ask_to_go_on();
      work(worker, turn.item);
    } catch (const detail::Ended&) {
      return false;
    } catch (...) {
      fail(worker == 0 && ended.load(std::memory_order_relaxed) ? kBeforeAll : turn.item);
    }
    ++turn.item;
    return true;
  };
  const Question others_question = [&ended] {
    if (ended.load(std::memory_order_relaxed)) throw detail::Ended();
  };
  const auto run = [&](int worker) {
    {
      const Asking asking(others_question);
      Turn turn;
      while (step(worker, turn)) {
      }
    }
    const std::lock_guard<std::mutex> lock(mutex);
    ++num_idle;
    idle.notify_one();
  };

  const auto ask = [&] {
    try {
      if (!ended.load(std::memory_order_relaxed)) ask_to_go_on();
    } catch (...) {
      fail(kBeforeAll);
    }
  };

  std::vector<std::thread> threads;
  const auto start = [&](int num_workers) {
    const auto most = std::min<int64_t>(num_workers, count);
    try {
      while (static_cast<int64_t>(threads.size()) + 1 < most && !stop.load(std::memory_order_relaxed)) {
        threads.emplace_back(run, static_cast<int>(threads.size()) + 1);
        ask();
      }
    } catch (...) {
      // No more threads to be had: the ones that started, and this one, do all the work.
    }
  };
  const Asking* before = nullptr;
  const Question own_question = [&before, &ended] {
    try {
      before->ask_before();
    } catch (...) {
      ended = true;
      throw;
    }
  };
  const Asking asking(own_question);
  before = &asking;
  start(num_threads);
  Turn turn;
  while (step(0, turn)) {
    const int more = grown.load(std::memory_order_relaxed) ? 0 : wanted();
    if (more > 0) {
      grown = true;
      start(more);
    }
  }
  for (bool all_idle = threads.empty(); !all_idle;) {
    {
      std::unique_lock<std::mutex> lock(mutex);
      all_idle = idle.wait_for(lock, std::chrono::milliseconds(50), [&] { return num_idle == threads.size(); });
    }
    if (!all_idle) ask();
  }
  for (auto& thread : threads) thread.join();
  if (error != nullptr) std::rethrow_exception(error);
}

template <class Work>
void parallel_for(int64_t count, int num_threads, Work&& work, int64_t chunk = 1) {
  parallel_for(count, num_threads, work, chunk, [] { return 0; });
}

}  // namespace shadow
