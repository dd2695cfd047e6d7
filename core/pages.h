// Pages of mapped files: how often they had to be waited for, and asking for them ahead.
// Not for: anything a result could depend on.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__unix__) || defined(__APPLE__)
#define SHADOW_HAS_PAGES 1
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#endif

namespace shadow {

// How often this thread (where the system tells threads apart; otherwise this process) has waited for a page from the
// disk.
inline int64_t page_waits() {
#ifdef SHADOW_HAS_PAGES
#ifdef RUSAGE_THREAD
  constexpr auto kWho = RUSAGE_THREAD;
#else
  constexpr auto kWho = RUSAGE_SELF;
#endif
  struct rusage usage;
  return getrusage(kWho, &usage) == 0 ? static_cast<int64_t>(usage.ru_majflt) : 0;
#else
  return 0;
#endif
}

inline uintptr_t page_size() {
#ifdef SHADOW_HAS_PAGES
  static const auto size = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  return size;
#else
  return 4096;
#endif
}

// Tells whether pages had to be waited for lately. It looks at every fourth piece of work, as looking is a call of the
// system. Pages that are asked for in time are not waited for, though they come from the disk as well, so it takes some
// pieces without a wait to forget.
class DiskWatch {
 public:
  void begin() {
    looks_ = number_++ % kLookEvery == 0;
    if (looks_) before_ = page_waits();
  }

  void end() {
    if (!looks_) return;
    if (page_waits() - before_ >= kMany) {
      left_ = kLately;
    } else if (left_ > 0) {
      --left_;
    }
  }

  bool waited() const { return left_ > 0; }

 private:
  static constexpr uint32_t kLookEvery = 4;
  static constexpr int64_t kMany = 8;
  static constexpr int kLately = 8;
  int64_t before_ = 0;
  uint32_t number_ = 0;
  int left_ = 0;
  bool looks_ = false;
};

// Gathers the pages that will be read, in ascending order, and has the system read them all at once. A disk that takes
// half a millisecond for each of two hundred pages has them all in little more than that.
class PageAsker {
 public:
  // Note that these bytes will be read; those that touch the pages noted last are asked for together with them.
  void note(const char* first, int64_t num_bytes) {
    if (num_bytes <= 0) return;
    const auto from = reinterpret_cast<uintptr_t>(first) / kPage * kPage;
    const auto to = reinterpret_cast<uintptr_t>(first) + static_cast<uintptr_t>(num_bytes);
    if (from >= begin_ && from <= end_ && end_ > 0) {
      end_ = to > end_ ? round_up(to) : end_;
      return;
    }
    ask();
    begin_ = from;
    end_ = round_up(to);
  }

  // Ask for what was noted last.
  void ask() {
#ifdef SHADOW_HAS_PAGES
    // A hint: where it is refused, pages are read when they are touched.
    if (end_ > begin_) (void)madvise(reinterpret_cast<void*>(begin_), end_ - begin_, MADV_WILLNEED);
#endif
    begin_ = end_ = 0;
  }

 private:
  const uintptr_t kPage = page_size();
  uintptr_t begin_ = 0, end_ = 0;

  uintptr_t round_up(uintptr_t address) const { return (address + kPage - 1) / kPage * kPage; }
};

}  // namespace shadow
