#include "recoil/base/memory.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <limits>

#include <sys/resource.h>
#include <unistd.h>

#include "recoil/base/error.hpp"

namespace recoil {

namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

double machine_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
  return pages > 0 && size > 0 ? double(pages) * double(size) : unlimited;
}

/// The number in a file of the control groups; unlimited if it says "max" or is not there.
double number_in(const std::string& file) {
  std::ifstream stream(file);
  double bytes = 0;
  return stream >> bytes ? bytes : unlimited;
}

/// The least limit from the group at `path` up to the root of its hierarchy.
double group_bytes(const std::string& mount, std::string path, const std::string& file) {
  double bytes = number_in(mount + "/" + file);
  for (; path.size() > 1; path.resize(path.rfind('/')))
    bytes = std::min(bytes, number_in(mount + path + "/" + file));
  return bytes;
}

double control_group_bytes() {
  double bytes = unlimited;
  std::ifstream groups("/proc/self/cgroup");
  // Lines are "number:controllers:path"; version 2 has one line without controllers.
  for (std::string line; std::getline(groups, line);) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1),
                      path = line.substr(second + 1);
    if (controllers.empty())
      bytes = std::min(bytes, group_bytes("/sys/fs/cgroup", path, "memory.max"));
    else if (("," + controllers + ",").find(",memory,") != std::string::npos)
      bytes = std::min(bytes, group_bytes("/sys/fs/cgroup/memory", path, "memory.limit_in_bytes"));
  }
  return bytes;
}

/// What `ulimit -v` leaves besides the addresses in use.
double address_space_bytes() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return unlimited;
  double pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return std::max(0.0, double(limit.rlim_cur) - pages * double(sysconf(_SC_PAGE_SIZE)));
}

} // namespace

MemoryLimit memory_limit(int processes) {
  MemoryLimit limit{machine_bytes() / processes, "the machine"};
  if (const double bytes = control_group_bytes() / processes; bytes < limit.bytes)
    limit = {bytes, "the control group of the job"};
  if (const double bytes = address_space_bytes(); bytes < limit.bytes) limit = {bytes, "`ulimit -v`"};
  return limit;
}

bool memory_is_short() { return memory_limit().bytes < 64e6; }

double peak_memory_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
#ifdef __APPLE__
  constexpr double unit_in_bytes = 1;
#else
  constexpr double unit_in_bytes = 1024;
#endif
  return usage.ru_maxrss * unit_in_bytes / 1e6;
}

std::string describe_bytes(double bytes) {
  constexpr std::array units{"bytes", "kB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  for (; bytes >= 1000 && unit + 1 < units.size(); ++unit) bytes /= 1000;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g %s", bytes, units[unit]);
  return text.data();
}

void require_memory(double bytes, const std::string& where, const std::string& what,
                    const std::string& remedy) {
  const MemoryLimit limit = memory_limit();
  if (bytes <= limit.bytes) return;
  throw InputError(where, what + ", for which about " + describe_bytes(bytes) +
                              " of memory are needed, but " + limit.source + " gives " +
                              describe_bytes(limit.bytes) + "; " + remedy);
}

std::string out_of_memory(int rank) {
  const MemoryLimit limit = memory_limit();
  return "memory ran out on rank " + std::to_string(rank) + " (" + limit.source + " gives " +
         describe_bytes(limit.bytes) +
         "); use more nodes, a coarser mesh, a smaller <dhat>, or a higher limit";
}

} // namespace recoil
