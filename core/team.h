// A few milliseconds of work spread over threads that the process already has: those of its OpenMP runtime.
// Not for: long work that must let signals through (parallel.h), and not for linking an OpenMP runtime.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "interrupt.h"

#if defined(__linux__) && defined(__GLIBC__)
#define SHADOW_CAN_JOIN_OPENMP 1
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#endif

namespace shadow {

// Hands out the items 0 to count - 1, each once, and keeps the first exception of any worker. Each item counts as
// `steps` (interrupt.h): the calling thread, which has a question to ask, asks it between two items.
class Handout {
 public:
  Handout(int64_t count, int64_t steps) : count_(count), steps_(steps) {}

  // The next item, or -1 when there is none.
  int64_t take() {
    count_steps(steps_);
    const int64_t item = next_.fetch_add(1, std::memory_order_relaxed);
    return item < count_ ? item : -1;
  }

  // Keep the exception that is being handled, and hand out no more.
  void fail() {
    const std::lock_guard<std::mutex> lock(mutex_);
    next_.store(count_, std::memory_order_relaxed);
    if (error_ == nullptr) error_ = std::current_exception();
  }

  void rethrow() const {
    if (error_ != nullptr) std::rethrow_exception(error_);
  }

 private:
  const int64_t count_, steps_;
  std::atomic<int64_t> next_{0};
  std::mutex mutex_;
  std::exception_ptr error_;
};

#ifdef SHADOW_CAN_JOIN_OPENMP

// The entry of GNU's OpenMP, which LLVM's and Intel's have too: run body(data) on num_threads threads and wait.
using ParallelEntry = void (*)(void (*body)(void*), void* data, unsigned num_threads, unsigned flags);

namespace detail {

inline std::atomic<bool> forked{false};

// Prefer the runtime that torch brought along to that of another library.
inline int find_openmp(dl_phdr_info* info, size_t, void* data) {
  const char* const name = info->dlpi_name;
  const char* const file = std::strrchr(name, '/');
  if (file == nullptr) return 0;
  const bool is_openmp = std::strncmp(file, "/libgomp", 8) == 0 || std::strncmp(file, "/libomp", 7) == 0 ||
                         std::strncmp(file, "/libiomp", 8) == 0;
  if (!is_openmp) return 0;
  const bool of_torch = std::strstr(name, "/torch") != nullptr;
  const char*& found = *static_cast<const char**>(data);
  if (found == nullptr || of_torch) found = name;
  return of_torch ? 1 : 0;
}

inline ParallelEntry look_up_openmp() {
  const char* name = nullptr;
  dl_iterate_phdr(&find_openmp, &name);
  void* const library = name == nullptr ? nullptr : dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  pthread_atfork(nullptr, nullptr, [] { forked = true; });
  return reinterpret_cast<ParallelEntry>(dlsym(library, "GOMP_parallel"));
}

}  // namespace detail

// The OpenMP runtime that is already loaded, or null; its threads do not exist in a forked child.
inline ParallelEntry openmp() {
  static const ParallelEntry entry = detail::look_up_openmp();
  return detail::forked ? nullptr : entry;
}

#endif

// Work on fewer numbers than this is done before another thread has woken up.
constexpr int64_t kLeastShared = 1 << 16;
constexpr int64_t kNumbersPerStep = 8;

// Call work(handout) on up to num_threads threads, this one among them; each takes items until there are none. Which
// worker takes an item is a matter of chance; results must not depend on it. num_numbers is what all items read: where
// that is little, this thread works alone.
//
// Between two matrix products of torch its OpenMP threads do not sleep but spin. Threads of our own would share the
// processor with them; so these very threads do the work where they can be found, and plain ones where not.
template <class Work>
void run_team(int64_t num_items, int64_t num_numbers, int num_threads, Work&& work) {
  Handout handout(num_items, num_numbers / std::max<int64_t>(num_items, 1) / kNumbersPerStep + 1);
  struct Shared {
    Handout& handout;
    Work& work;
  } shared{handout, work};
  const auto body = [](void* data) {
    auto& with = *static_cast<Shared*>(data);
    try {
      with.work(with.handout);
    } catch (...) {
      with.handout.fail();
    }
  };
  const int64_t wanted = num_numbers < kLeastShared ? 1 : num_threads;
  const int num_workers = static_cast<int>(std::min(wanted, num_items));
  if (num_workers <= 1) {
    body(&shared);
    return handout.rethrow();
  }
#ifdef SHADOW_CAN_JOIN_OPENMP
  if (const ParallelEntry parallel = openmp()) {
    parallel(body, &shared, static_cast<unsigned>(num_workers), 0);
    return handout.rethrow();
  }
#endif
  std::vector<std::thread> threads;
  threads.reserve(static_cast<size_t>(num_workers));
  try {
    for (int worker = 1; worker < num_workers; ++worker) threads.emplace_back(body, &shared);
  } catch (...) {
    // No more threads to be had: the ones that started, and this one, do all the work.
  }
  body(&shared);
  for (auto& thread : threads) thread.join();
  handout.rethrow();
}

}  // namespace shadow
