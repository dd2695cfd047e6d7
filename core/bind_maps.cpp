// Bindings: a file that was cut while Python, NumPy or torch read its memory map is an exception, not a dead process.
// Not for: reads inside the core, which jump out of their guard (guard.h). On Linux only: others have no /proc.
#include <string>

#include "binding.h"
#include "guard.h"

#ifdef __linux__
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#endif

namespace shadow {
namespace {

char cut_path[4096] = "";

#ifdef __linux__

PyObject* exception = nullptr;
unsigned long main_thread = 0;

// One line of /proc/self/maps: "start-end rights offset device inode   path".
struct Map {
  uintptr_t start = 0, end = 0;
  bool of_file_to_read = false;
  const char* path = "";
};

// Only what a handler of signals may call: no allocation, no locale.
uintptr_t take_hex(const char*& at) {
  uintptr_t value = 0;
  for (;; ++at) {
    const int digit = *at >= '0' && *at <= '9' ? *at - '0' : *at >= 'a' && *at <= 'f' ? *at - 'a' + 10 : -1;
    if (digit < 0) return value;
    value = value * 16 + static_cast<uintptr_t>(digit);
  }
}

void skip_word(const char*& at) {
  while (*at != '\0' && *at != ' ') ++at;
  while (*at == ' ') ++at;
}

Map parse(const char* at) {
  Map map;
  map.start = take_hex(at);
  if (*at == '-') ++at;
  map.end = take_hex(at);
  if (*at == ' ') ++at;
  const bool only_read = std::strncmp(at, "r--", 3) == 0;
  for (int word = 0; word < 3; ++word) skip_word(at);
  map.of_file_to_read = only_read && *at != '0';
  skip_word(at);
  map.path = at;
  return map;
}

// Find the map of an address; its path stays in `line`.
bool find_map(uintptr_t address, char (&line)[4600], Map& map) {
  const int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char block[4096];
  size_t length = 0;
  bool found = false;
  for (ssize_t size; !found && (size = read(file, block, sizeof(block))) > 0;) {
    for (ssize_t i = 0; !found && i < size; ++i) {
      if (block[i] != '\n') {
        if (length + 1 < sizeof(line)) line[length++] = block[i];
        continue;
      }
      line[length] = '\0';
      length = 0;
      map = parse(line);
      found = map.start <= address && address < map.end;
    }
  }
  close(file);
  return found;
}

// The rest of the map reads as zeros until Python raises the exception, which it does before its next call. All of the
// map is replaced: a copy reads many pages at once.
bool rescue_map(const void* address) {
  char line[4600];
  Map map;
  if (!find_map(reinterpret_cast<uintptr_t>(address), line, map) || !map.of_file_to_read) return false;
  void* const start = reinterpret_cast<void*>(map.start);
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
  if (mmap(start, map.end - map.start, PROT_READ, flags, -1, 0) != start) return false;
  std::strncpy(cut_path, map.path, sizeof(cut_path) - 1);
  const bool of_python = PyGILState_GetThisThreadState() != nullptr;
  const PyGILState_STATE state = PyGILState_Ensure();
  PyThreadState_SetAsyncExc(of_python ? PyThread_get_thread_ident() : main_thread, exception);
  PyGILState_Release(state);
  return true;
}

void survive_cut_maps(nb::object raised, unsigned long thread) {
  if (!PyExceptionClass_Check(raised.ptr())) throw nb::type_error("exception must be a class of exceptions");
  exception = raised.release().ptr();  // Lives as long as the process.
  main_thread = thread;
  detail::install_handler();
  detail::rescue = rescue_map;
}

#else

void survive_cut_maps(const nb::object&, unsigned long) {}

#endif

}  // namespace

void bind_maps(nb::module_& m) {
  m.def("survive_cut_maps", &survive_cut_maps, nb::arg("exception"), nb::arg("main_thread"),
        "Raise an exception in the thread that reads a mapped file's missing page outside the core.");
  m.def(
      "cut_file", [] { return nb::bytes(cut_path, std::char_traits<char>::length(cut_path)); },
      "Return the path of the file that was found cut last, empty before that.");
}

}  // namespace shadow
