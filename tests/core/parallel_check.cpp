// Checks that threads which are started in the middle of the work share what is left of it; prints a line if they do.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "parallel.h"

using namespace shadow;

int main() {
  constexpr int kCount = 200, kMore = 8;
  std::vector<std::atomic<int>> times(kCount);
  std::vector<std::atomic<int>> by_worker(kMore);
  int asked = 0;
  parallel_for(
      kCount, 2,
      [&](int worker, int64_t item) {
        ++times[static_cast<size_t>(item)];
        ++by_worker[static_cast<size_t>(worker)];
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      },
      16, [&] { return ++asked >= 2 ? kMore : 0; });
  for (const auto& count : times) {
    if (count != 1) return 1;
  }
  for (const auto& count : by_worker) {
    if (count == 0) return 2;
  }
  if (asked != 2) return 3;
  try {
    parallel_for(
        kCount, 1,
        [](int, int64_t item) {
          if (item == 7) throw std::runtime_error("item 7");
        },
        4, [] { return kMore; });
    return 4;
  } catch (const std::runtime_error& error) {
    if (error.what() != std::string("item 7")) return 5;
  }
  std::puts("each once, by more threads, the first error told");
  return 0;
}
