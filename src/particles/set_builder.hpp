#pragma once

#include <string>
#include <utility>
#include <vector>

#include "particles/readers.hpp"

namespace recoil::particles {

/// A set while it is read: checks what is added, and names bodies in the order in which they appear.
class SetBuilder {
public:
  explicit SetBuilder(const FileCursor& file) : file_(&file) {}

  /// @param volume 0 for that of the sphere. @param at place of the particle in the file, for messages.
  void add_particle(const Eigen::Vector3d& position, double radius, double volume, const std::string& body,
                    std::size_t at);
  std::int64_t num_particles() const { return std::ssize(set_.positions); }
  /// A bond that stands at `at` in `file`, its ends in any order.
  void add_bond(const FileCursor& file, std::int64_t i, std::int64_t j, std::size_t at,
                const BondConstants& constants = {});
  /// Bonds have constants of their own.
  void keep_constants() { keeps_constants_ = true; }
  /// Sorts the bonds. @throws InputError for one that is there twice.
  ParticleSet finish(const FileCursor& bonds_file);

private:
  struct ReadBond {
    std::array<std::int64_t, 2> ends;
    std::size_t at;
    BondConstants constants;
  };
  const FileCursor* file_;
  ParticleSet set_;
  std::vector<ReadBond> bonds_;
  bool keeps_constants_ = false;
  std::vector<std::pair<std::string, std::int32_t>> body_numbers_; ///< by name
};

/// Name of the only body of a file that knows none.
std::string body_of_file(const FileCursor& file);

} // namespace recoil::particles
