// Fails or kills at the n-th file operation below a folder, and lets the clock of the wall jump. Preloaded; at rest until
// faults_arm or faults_clock is called, which a fork does for itself.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { WRITE = 1, FSYNC = 2, RENAME = 4, OPEN = 8, MMAP = 16 };
enum { ONCE = 0, FROM_THEN_ON = 1, KILL = 2 };

static char root[4096];
static int kinds, action, error_number, jumping;
static long chosen, *seen;  // In memory that forks share, so that the parent reads the count of a dead child.

#define NEXT(name, ...)                                                  \
  __extension__({                                                        \
    static __typeof__(&name) found_next;                                 \
    if (!found_next) *(void**)&found_next = dlsym(RTLD_NEXT, #name);     \
    found_next(__VA_ARGS__);                                             \
  })

__attribute__((constructor)) static void begin(void) {
  seen = NEXT(mmap, NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

// Count the operations of some kinds below a folder from here on; fail or kill at one of them, or never if `at` is 0.
void faults_arm(const char* folder, int which, long at, int error, int what) {
  strncpy(root, folder, sizeof(root) - 1);
  chosen = at, error_number = error, action = what;
  *seen = 0;
  kinds = which;
}

long faults_seen(void) { return *seen; }

void faults_clock(unsigned seed) { jumping = seed | 1; }

static int is_inside(const char* path) { return strncmp(path, root, strlen(root)) == 0; }

static int below(const char* path) {
  char folder[4096];
  return path[0] == '/' ? is_inside(path) : getcwd(folder, sizeof(folder)) && is_inside(folder);
}

static int below_handle(int handle) {
  char link[64], path[4096];
  snprintf(link, sizeof(link), "/proc/self/fd/%d", handle);
  const ssize_t length = readlink(link, path, sizeof(path) - 1);
  if (length <= 0) return 0;
  path[length] = '\0';
  return is_inside(path);
}

// Whether this operation fails: 2 for the first that does.
static int fails(void) {
  const long number = __atomic_add_fetch(seen, 1, __ATOMIC_SEQ_CST);
  if (chosen == 0 || number < chosen || (number > chosen && action != FROM_THEN_ON)) return 0;
  if (action == KILL) kill(getpid(), SIGKILL);
  errno = error_number;
  return number == chosen ? 2 : 1;
}

#define FAILS_AT(kind, handle) ((kinds & (kind)) && below_handle(handle) ? fails() : 0)
#define FAILS_ON(kind, path) ((kinds & (kind)) && below(path) ? fails() : 0)

// A disk that gets full takes a part of the first write.
ssize_t write(int handle, const void* data, size_t size) {
  const int how = FAILS_AT(WRITE, handle);
  if (how == 2 && action == FROM_THEN_ON && error_number == ENOSPC && size > 1) return NEXT(write, handle, data, size / 2);
  return how ? -1 : NEXT(write, handle, data, size);
}

ssize_t writev(int handle, const struct iovec* parts, int count) {
  return FAILS_AT(WRITE, handle) ? -1 : NEXT(writev, handle, parts, count);
}

ssize_t pwrite(int handle, const void* data, size_t size, off_t at) {
  return FAILS_AT(WRITE, handle) ? -1 : NEXT(pwrite, handle, data, size, at);
}

ssize_t pwrite64(int handle, const void* data, size_t size, off64_t at) {
  return FAILS_AT(WRITE, handle) ? -1 : NEXT(pwrite64, handle, data, size, at);
}

int ftruncate(int handle, off_t size) { return FAILS_AT(WRITE, handle) ? -1 : NEXT(ftruncate, handle, size); }

int ftruncate64(int handle, off64_t size) { return FAILS_AT(WRITE, handle) ? -1 : NEXT(ftruncate64, handle, size); }

int posix_fallocate(int handle, off_t at, off_t size) {
  return FAILS_AT(WRITE, handle) ? errno : NEXT(posix_fallocate, handle, at, size);
}

int posix_fallocate64(int handle, off64_t at, off64_t size) {
  return FAILS_AT(WRITE, handle) ? errno : NEXT(posix_fallocate64, handle, at, size);
}

int fsync(int handle) { return FAILS_AT(FSYNC, handle) ? -1 : NEXT(fsync, handle); }

int fdatasync(int handle) { return FAILS_AT(FSYNC, handle) ? -1 : NEXT(fdatasync, handle); }

int rename(const char* old, const char* new) { return FAILS_ON(RENAME, new) ? -1 : NEXT(rename, old, new); }

int renameat(int old_folder, const char* old, int new_folder, const char* new) {
  return FAILS_ON(RENAME, new) ? -1 : NEXT(renameat, old_folder, old, new_folder, new);
}

int renameat2(int old_folder, const char* old, int new_folder, const char* new, unsigned flags) {
  return FAILS_ON(RENAME, new) ? -1 : NEXT(renameat2, old_folder, old, new_folder, new, flags);
}

int link(const char* old, const char* new) { return FAILS_ON(RENAME, new) ? -1 : NEXT(link, old, new); }

int linkat(int old_folder, const char* old, int new_folder, const char* new, int flags) {
  return FAILS_ON(RENAME, new) ? -1 : NEXT(linkat, old_folder, old, new_folder, new, flags);
}

int mkdir(const char* path, mode_t mode) { return FAILS_ON(RENAME, path) ? -1 : NEXT(mkdir, path, mode); }

int unlink(const char* path) { return FAILS_ON(RENAME, path) ? -1 : NEXT(unlink, path); }

#define MODE(last)                                  \
  va_list rest;                                     \
  va_start(rest, last);                             \
  const mode_t mode = va_arg(rest, unsigned int);   \
  va_end(rest)

int open(const char* path, int flags, ...) {
  MODE(flags);
  return FAILS_ON(OPEN, path) ? -1 : NEXT(open, path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  MODE(flags);
  return FAILS_ON(OPEN, path) ? -1 : NEXT(open64, path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
  MODE(flags);
  return FAILS_ON(OPEN, path) ? -1 : NEXT(openat, folder, path, flags, mode);
}

int openat64(int folder, const char* path, int flags, ...) {
  MODE(flags);
  return FAILS_ON(OPEN, path) ? -1 : NEXT(openat64, folder, path, flags, mode);
}

void* mmap(void* at, size_t size, int rights, int flags, int handle, off_t from) {
  const int how = handle >= 0 ? FAILS_AT(MMAP, handle) : 0;
  return how ? MAP_FAILED : NEXT(mmap, at, size, rights, flags, handle, from);
}

void* mmap64(void* at, size_t size, int rights, int flags, int handle, off64_t from) {
  const int how = handle >= 0 ? FAILS_AT(MMAP, handle) : 0;
  return how ? MAP_FAILED : NEXT(mmap64, at, size, rights, flags, handle, from);
}

// Seconds between the clock that is seen and the true one: another number at one of four looks, up to 20 years away.
static long jump(void) {
  static long now;
  if (!jumping) return 0;
  jumping = (int)(jumping * 1103515245u + 12345u) | 1;
  const unsigned drawn = (unsigned)jumping >> 8;
  if (drawn % 4 == 0) now = (long)(drawn % 40000) * 31536 - 630720000;
  return now;
}

int clock_gettime(clockid_t which, struct timespec* found) {
  const int code = NEXT(clock_gettime, which, found);
  if (code == 0 && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE)) found->tv_sec += jump();
  return code;
}

int gettimeofday(struct timeval* restrict found, void* restrict zone) {
  const int code = NEXT(gettimeofday, found, zone);
  if (code == 0) found->tv_sec += jump();
  return code;
}

time_t time(time_t* place) {
  const time_t found = NEXT(time, NULL) + jump();
  if (place) *place = found;
  return found;
}
