// Turns a bus error (a mapped file that was cut while open) into an exception instead of the death of the process.
// Not for: any other signal, or faults outside a guard: those go to the rescuer if there is one (bind_maps.cpp), else
// to whoever handled SIGBUS before.
#pragma once

#include <stdexcept>

#if defined(__unix__) || defined(__APPLE__)
#define SHADOW_HAS_SIGBUS 1
#include <csetjmp>
#include <csignal>
#include <mutex>
#endif

namespace shadow {

struct FileChanged : std::runtime_error {
  FileChanged() : std::runtime_error("a file of the graph was cut or removed while it was open") {}
};

#ifdef SHADOW_HAS_SIGBUS

namespace detail {

inline thread_local sigjmp_buf* volatile landing = nullptr;
inline struct sigaction previous_action;
// Makes an address readable that belongs to a cut file and returns whether it could; for faults outside a guard.
inline bool (*volatile rescue)(const void* address) = nullptr;

inline void on_bus_error(int signal_number, siginfo_t* info, void* context) {
  if (landing != nullptr) siglongjmp(*landing, 1);
  if (rescue != nullptr && rescue(info->si_addr)) return;
  if (previous_action.sa_flags & SA_SIGINFO) {
    previous_action.sa_sigaction(signal_number, info, context);
  } else if (previous_action.sa_handler != SIG_DFL && previous_action.sa_handler != SIG_IGN) {
    previous_action.sa_handler(signal_number);
  } else {
    // Returning faults again, this time with the default action.
    sigaction(SIGBUS, &previous_action, nullptr);
  }
}

inline void install_handler() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action = {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &previous_action);
  });
}

}  // namespace detail

// Run `body`; throw FileChanged if it touches a page that its file no longer has. The jump skips destructors, so
// `body` may own nothing while it reads mapped memory: its state lives outside and is thrown away by the caller.
template <class Body>
void guarded(Body&& body) {
  detail::install_handler();
  sigjmp_buf buffer;
  sigjmp_buf* const outer = detail::landing;
  if (sigsetjmp(buffer, 0) != 0) {
    detail::landing = outer;
    throw FileChanged();
  }
  detail::landing = &buffer;
  try {
    body();
  } catch (...) {
    detail::landing = outer;
    throw;
  }
  detail::landing = outer;
}

// While it lives, a fault of this thread is nobody's here: it goes to whoever handled SIGBUS before.
class Unguarded {
 public:
  Unguarded() : landing_(detail::landing) { detail::landing = nullptr; }
  ~Unguarded() { detail::landing = landing_; }
  Unguarded(const Unguarded&) = delete;
  Unguarded& operator=(const Unguarded&) = delete;

 private:
  sigjmp_buf* const landing_;
};

#else

template <class Body>
void guarded(Body&& body) {
  body();
}

struct Unguarded {
  Unguarded() {}
};

#endif

}  // namespace shadow
