// A hint to the machine about memory that will be read soon.
// Not for: anything a result could depend on.
#pragma once

namespace shadow {

// Safe for any address. Most of the time of an extraction goes into waiting for memory.
inline void prefetch(const void* address) {
#if defined(__GNUC__) || defined(__clang__)
  __builtin_prefetch(address);
#else
  (void)address;
#endif
}

}  // namespace shadow
