#pragma once

#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "recoil/app/run/run_output.hpp"
#include "recoil/particles/distributed_particles.hpp"

namespace recoil::app {

/// Springs of contacts (solvers::springs_of()) in restart points: `springs`, how many each particle is the
/// first of, and `tangential_springs`, a row for each in the order of the particles, as
/// potentials::packed() has it, then rows of zeros, so that few numbers of rows occur. Files do not depend on
/// who owns what. Everything is collective.
class SpringFields {
public:
  /// Adds fields that hold the springs of this rank, valid until the second next call.
  void add(const io::BlockLayout& nodes, const particles::DistributedParticles& particles,
           std::span<const double> springs, std::vector<checkpoint::Field>& fields);
  /// The springs of this rank. @throws FileError on every rank if rows are not as wide as those of add().
  static std::vector<double> read(const FieldReader& read, const io::BlockLayout& nodes);

private:
  struct State {
    std::vector<double> counts, rows;
    std::unique_ptr<const io::BlockLayout> layout;
  };
  /// The writer may hold on to the fields of the newest state.
  std::deque<State> newest_;
};

} // namespace recoil::app
