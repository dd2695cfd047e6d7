// A vector whose resize leaves new elements unset: they are all written next.
// Not for: elements that are read before they are written.
#pragma once

#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace shadow {

template <class T>
struct LeaveUnset : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = LeaveUnset<U>;
  };
  template <class U>
  void construct(U* place) noexcept {
    ::new (static_cast<void*>(place)) U;
  }
  template <class U, class... Args>
  void construct(U* place, Args&&... args) {
    ::new (static_cast<void*>(place)) U(std::forward<Args>(args)...);
  }
};
template <class T>
using Unset = std::vector<T, LeaveUnset<T>>;

}  // namespace shadow
