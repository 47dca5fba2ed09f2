#pragma once

#include <filesystem>
#include <vector>

#include "recoil/app/simulation/trajectory_output.hpp"
#include "recoil/solvers/bdem/solver.hpp"

namespace recoil::app {

/// The output of bonded particles: particles in the order of their ids with radius and body, bonds as
/// segments; of every stored state displacement, orientation, velocities, and of bonds their stresses and
/// whether they are broken.
class ParticleOutput final : public RunOutput {
public:
  /// `solver` must outlive the output. Collective.
  explicit ParticleOutput(solvers::BondedParticlesSolver& solver);

  const io::BlockLayout& nodes() const override { return nodes_; }
  void write_mesh(checkpoint::TrajectoryWriter& writer) const override;
  void require_mesh_of(checkpoint::TrajectoryReader& reader, GlobalIndex id,
                       const std::string& where) const override;
  std::vector<checkpoint::Field> fields(const linalg::Vector& u) override;
  std::vector<checkpoint::Field> restart_fields() override;
  void restore(checkpoint::TrajectoryReader& reader, GlobalIndex id) override;

private:
  const particles::DistributedParticles& particles() const { return *solver_->problem().particles; }

  solvers::BondedParticlesSolver* solver_;
  std::vector<LocalIndex> counted_; ///< bonds that this rank counts
  io::BlockLayout nodes_, bonds_;
  std::vector<double> broken_, least_distance_, displacement_, orientation_, stresses_;
};

/// Adds the bonds that broke in the last step of `solver` to a table with a row per bond: number, time,
/// place, mode, stresses, energy. Collective. @throws FileError on every rank.
void add_broken_bonds(const parallel::Communicator& comm, const std::filesystem::path& table,
                      const solvers::BondedParticlesSolver& solver);

/// Begins the table anew, or after a restart keeps the rows up to a time. Collective.
void begin_broken_bonds(const parallel::Communicator& comm, const std::filesystem::path& table,
                        double last_time);

} // namespace recoil::app
