// Long loops that can be ended from outside: each thread counts its steps and asks now and then whether to go on.
// Not for: what ends them; whoever starts the work says that (binding.h asks Python, parallel.h the other threads).
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "guard.h"

namespace shadow {

// A step is an entry of a list that is visited, or as much other work: nanoseconds in memory, a tenth of a millisecond
// from a slow disk. Asking costs as much as some dozen of them.
constexpr int64_t kStepsPerQuestion = 8192;

using Question = std::function<void()>;

namespace detail {

#if defined(__linux__) && defined(__GNUC__)
// Two words for each thread: counting is then one instruction, not a call.
#define SHADOW_NEAR_TLS __attribute__((tls_model("initial-exec")))
#else
#define SHADOW_NEAR_TLS
#endif

inline thread_local int64_t steps_left SHADOW_NEAR_TLS = 0;
inline thread_local const Question* question SHADOW_NEAR_TLS = nullptr;

}  // namespace detail

// Ask now; throws what the question throws. A signal's handler that runs here is not guarded: its faults are its own.
inline void ask_to_go_on() {
  detail::steps_left = kStepsPerQuestion;
  if (detail::question == nullptr) return;
  const Unguarded outside;
  (*detail::question)();
}

// Count steps of a loop, a few at a time or many; throws if the work is to end.
inline void count_steps(int64_t steps) {
  if ((detail::steps_left -= steps) < 0) ask_to_go_on();
}

// Call run(item) for the items 0 to count - 1, each a step or a few: cheaper than counting each of them.
template <class Run>
void for_steps(int64_t count, Run&& run) {
  constexpr int64_t kTogether = 1024;
  for (int64_t item = 0; item < count;) {
    const int64_t last = item + kTogether < count ? item + kTogether : count;
    count_steps(last - item);
    for (; item < last; ++item) run(item);
  }
}

// Count the steps of a loop that has its own end: called at each item, numbered from 0.
inline void count_at(int64_t item) {
  constexpr int64_t kTogether = 1024;
  if (item % kTogether == kTogether - 1) count_steps(kTogether);
}

// While it lives, this thread asks the given question; then again the one from before.
class Asking {
 public:
  explicit Asking(const Question& question)
      : before_(std::exchange(detail::question, &question)), steps_before_(std::exchange(detail::steps_left, 0)) {}
  ~Asking() {
    detail::question = before_;
    detail::steps_left = steps_before_;
  }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

  // What the thread asked before.
  void ask_before() const {
    if (before_ != nullptr) (*before_)();
  }

 private:
  const Question* const before_;
  const int64_t steps_before_;
};

}  // namespace shadow
