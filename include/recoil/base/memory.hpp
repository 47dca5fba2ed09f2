#pragma once

#include <string>

/// How much memory there is, so that what cannot fit is refused before it is allocated.
namespace recoil {

struct MemoryLimit {
  double bytes;
  std::string source; ///< "the machine", "the control group of the job", "ulimit -v"
};

/// The least of what the machine has and what the control group of the job allows, shared by `processes` of
/// them on this machine, and what `ulimit -v` leaves to this process. Infinite bytes where none of them can
/// be found out.
MemoryLimit memory_limit(int processes = 1);

/// Peak resident memory of this process so far in MB (1e6 bytes), from getrusage.
double peak_memory_mb();

/// So little is left that a failing library may have wanted more, whatever it calls its failure.
bool memory_is_short();

/// A number of bytes for people: "3.2 GB".
std::string describe_bytes(double bytes);

/// Refuses what cannot fit.
/// @param bytes what it would take, at least
/// @param where,what the two parts of the message: the entry, and what would be made ("makes 1e12 cells and
/// 2e11 vertices")
/// @param remedy how to need less ("take fewer divisions")
/// @throws InputError if `bytes` is more than memory_limit() or not a number.
void require_memory(double bytes, const std::string& where, const std::string& what,
                    const std::string& remedy);

/// The sentence for memory that ran out on a rank.
std::string out_of_memory(int rank);

} // namespace recoil
