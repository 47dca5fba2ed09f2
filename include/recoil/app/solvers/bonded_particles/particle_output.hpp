#pragma once

#include <vector>

#include "recoil/app/run/run_output.hpp"
#include "recoil/app/scene/scene.hpp"
#include "recoil/app/solvers/bonded_particles/spring_fields.hpp"
#include "recoil/solvers/bdem/solver.hpp"

namespace recoil::app {

/// How the particles of a run came to lie on the ranks as they do.
struct ParticleDistribution {
  GlobalIndex repartitions = 0; ///< in all, whatever processes the run was in
  double reached = 1;           ///< largest work of a rank over the mean that METIS last found a way to
};

/// The output of bonded particles: particles in the order of their ids with radius and body, bonds as
/// segments; of every stored state displacement, orientation, velocity, angular velocity (in space), of
/// particles that may be dealt out again their `rank`, and of bonds their stresses sigma and tau and whether
/// they are broken. Where bonds can break, in addition, the fragment of each particle, 0 being the largest,
/// and of bonds `broken_at`, the time [s], NaN while they hold, and `broken_by`: 0 not at all, 1 tension, 2
/// shear. Of a cell that repeats bonds have their `ends` and, of the second ones, the `shift` in cells; those
/// across faces are drawn as points at their first ends. Of bonds that soften, `stress_ratio`, the largest so
/// far, and `damage`, the share of their stiffness that they have lost.
class ParticleOutput final : public RunOutput {
public:
  /// All must outlive the output. With a `distribution` restart points have it, and `rank` of each particle.
  /// Collective.
  ParticleOutput(solvers::BondedParticlesSolver& solver, const Scene& scene,
                 const ParticleDistribution* distribution = nullptr);

  const io::BlockLayout& nodes() const override { return nodes_; }
  void write_mesh(checkpoint::TrajectoryWriter& writer) const override;
  void require_mesh_of(checkpoint::TrajectoryReader& reader, GlobalIndex id,
                       const std::string& where) const override;
  std::vector<checkpoint::Field> fields(const linalg::Vector& u) override;
  std::vector<checkpoint::Field> restart_fields() override;
  void restore(const FieldReader& read) override;
  std::vector<double> internal(const FieldReader& read) const override;
  stepping::Entries restart_entries() const override;
  stepping::Entries summary() const override;

private:
  const particles::DistributedParticles& particles() const { return *solver_->problem().particles; }

  std::vector<double> internal_of_bonds(const FieldReader& read) const;
  /// Takes over the bonds that broke in the step that the solver has just taken, or is in.
  void record_breaks();

  solvers::BondedParticlesSolver* solver_;
  const Scene* scene_;
  const ParticleDistribution* distribution_;
  std::vector<LocalIndex> counted_; ///< bonds that this rank counts
  io::BlockLayout nodes_, bonds_;
  std::vector<double> broken_at_, broken_by_; ///< of counted bonds
  std::vector<double> rank_, broken_, least_distance_, displacement_, orientation_, velocity_, spin_, sigma_,
      tau_, fragment_, stress_ratio_, section_share_, damage_, coordination_;
  SpringFields springs_;
};

} // namespace recoil::app
