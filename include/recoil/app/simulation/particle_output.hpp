#pragma once

#include <vector>

#include "recoil/app/simulation/trajectory_output.hpp"
#include "recoil/solvers/bdem/solver.hpp"

namespace recoil::app {

/// The output of bonded particles: particles in the order of their ids with radius and body, bonds as
/// segments; of every stored state displacement, orientation, velocities, and of bonds their stresses and
/// whether they are broken; where bonds can break the fragment of each particle, 0 being the largest.
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
  stepping::Entries summary() const override;

private:
  const particles::DistributedParticles& particles() const { return *solver_->problem().particles; }

  solvers::BondedParticlesSolver* solver_;
  std::vector<LocalIndex> counted_; ///< bonds that this rank counts
  io::BlockLayout nodes_, bonds_;
  std::vector<double> broken_, least_distance_, displacement_, orientation_, stresses_, fragment_;
};

} // namespace recoil::app
