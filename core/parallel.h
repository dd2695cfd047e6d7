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
// time. Which worker takes an item is a matter of chance; results must not depend on it.
template <class Work, class Poll>
void parallel_for(int64_t count, int num_threads, Work&& work, Poll&& poll, int64_t chunk = 1) {
  std::atomic<int64_t> next{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::exception_ptr error;
  int64_t error_item = count;

  const auto fail = [&](int64_t item) {
    const std::lock_guard<std::mutex> lock(mutex);
    stop = true;
    if (error == nullptr || item < error_item) {
      error = std::current_exception();
      error_item = item;
    }
  };
  const auto run = [&](int worker) {
    int64_t item = 0, last = 0;
    while (!stop.load(std::memory_order_relaxed)) {
      if (item == last) {
        item = next.fetch_add(chunk, std::memory_order_relaxed);
        last = std::min(item + chunk, count);
        if (item >= count) return;
      }
      try {
        if (worker == 0) poll();
        work(worker, item);
      } catch (...) {
        fail(item);
      }
      ++item;
    }
  };

  std::vector<std::thread> threads;
  const int num_workers = static_cast<int>(std::min<int64_t>(std::max(num_threads, 1), std::max<int64_t>(count, 1)));
  threads.reserve(static_cast<size_t>(num_workers));
  try {
    for (int worker = 1; worker < num_workers; ++worker) threads.emplace_back(run, worker);
  } catch (...) {
    // No more threads to be had: the ones that started, and this one, do all the work.
  }
  run(0);
  for (auto& thread : threads) thread.join();
  if (error != nullptr) std::rethrow_exception(error);
}

}  // namespace shadow
