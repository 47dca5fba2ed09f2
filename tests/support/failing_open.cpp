// A library for LD_PRELOAD that makes files fail to open on one rank of a program, as permissions, full
// tables and file systems that are late on one node do; also for root, whom permissions do not stop.
//
//   RECOIL_OPEN_LOG=FILE               appends a line "rank path" for every file that is opened
//   RECOIL_OPEN_UNDER=TEXT             only of paths that hold TEXT
//   RECOIL_OPEN_FAIL="RANK ERRNO NTH TEXT"  from the NTH opening (1, 2, ..) of a path that holds TEXT on,
//   opening
//                                      such a path fails on that rank

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

const char* setting(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

const char* rank() {
  const char* value = setting("OMPI_COMM_WORLD_RANK");
  return *value != '\0' ? value : "0";
}

void note(const char* path) {
  const char* file = setting("RECOIL_OPEN_LOG");
  if (*file == '\0' || std::strstr(path, setting("RECOIL_OPEN_UNDER")) == nullptr) return;
  char line[4200];
  const int length = std::snprintf(line, sizeof line, "%s %s\n", rank(), path);
  const long log = ::syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (log < 0) return;
  if (::write(static_cast<int>(log), line, static_cast<std::size_t>(length)) < 0) std::abort();
  ::close(static_cast<int>(log));
}

/// Whether opening `path` is to fail now; sets errno.
bool fails(const char* path) {
  note(path);
  static std::atomic<int> openings = 0;
  int failing = 0, error = 0, first = 0, text = 0;
  const char* spec = setting("RECOIL_OPEN_FAIL");
  if (std::sscanf(spec, "%d %d %d %n", &failing, &error, &first, &text) < 3) return false;
  if (failing != std::atoi(rank()) || std::strstr(path, spec + text) == nullptr) return false;
  if (++openings < first) return false;
  errno = error;
  return true;
}

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

using Open = int (*)(const char*, int, ...);
using OpenAt = int (*)(int, const char*, int, ...);
using OpenStream = std::FILE* (*)(const char*, const char*);
using OpenFolder = DIR* (*)(const char*);

int open_as(const char* name, const char* path, int flags, mode_t mode) {
  return fails(path) ? -1 : next<Open>(name)(path, flags, mode);
}

int openat_as(const char* name, int folder, const char* path, int flags, mode_t mode) {
  return fails(path) ? -1 : next<OpenAt>(name)(folder, path, flags, mode);
}

mode_t mode_of(int flags, std::va_list arguments) {
  return (flags & O_CREAT) != 0 ? static_cast<mode_t>(va_arg(arguments, int)) : 0;
}

} // namespace

#define RECOIL_WITH_MODE(call)                                                                               \
  std::va_list arguments;                                                                                    \
  va_start(arguments, flags);                                                                                \
  const mode_t mode = mode_of(flags, arguments);                                                             \
  va_end(arguments);                                                                                         \
  return call

extern "C" {

int open(const char* path, int flags, ...) { RECOIL_WITH_MODE(open_as("open", path, flags, mode)); }
int open64(const char* path, int flags, ...) { RECOIL_WITH_MODE(open_as("open64", path, flags, mode)); }
int openat(int folder, const char* path, int flags, ...) {
  RECOIL_WITH_MODE(openat_as("openat", folder, path, flags, mode));
}
int openat64(int folder, const char* path, int flags, ...) {
  RECOIL_WITH_MODE(openat_as("openat64", folder, path, flags, mode));
}
// What calls become under _FORTIFY_SOURCE.
int __open_2(const char* path, int flags) { return open_as("open", path, flags, 0); }
int __open64_2(const char* path, int flags) { return open_as("open64", path, flags, 0); }
int __openat_2(int folder, const char* path, int flags) {
  return openat_as("openat", folder, path, flags, 0);
}
int __openat64_2(int folder, const char* path, int flags) {
  return openat_as("openat64", folder, path, flags, 0);
}

std::FILE* fopen(const char* path, const char* mode) {
  return fails(path) ? nullptr : next<OpenStream>("fopen")(path, mode);
}
std::FILE* fopen64(const char* path, const char* mode) {
  return fails(path) ? nullptr : next<OpenStream>("fopen64")(path, mode);
}
DIR* opendir(const char* path) { return fails(path) ? nullptr : next<OpenFolder>("opendir")(path); }

} // extern "C"
