#pragma once

#include <filesystem>
#include <vector>

#include "recoil/app/scene/scene.hpp"
#include "recoil/solvers/bdem/solver.hpp"

namespace recoil::app {

/// Tables of a run of bonded particles beside its trajectory, CSV files with a `time` in each row:
///
/// broken_bonds.csv: of every bond that broke its number, place, mode, stresses and energy.
///
/// reactions.csv: of every step and entry of `boundary_conditions/dirichlet_boundary` the mean displacement
/// of its particles, and the force and the moment about the mean of their positions that hold or move them.
///
/// obstacle_forces.csv, with contact: of every step and obstacle, planes last, its mean displacement, and the
/// force and the moment of particles on it, about the mean of its corners; of planes about the origin.
///
/// cell_stress.csv, of a cell that repeats: of every step its volume V [m^3], its displacement gradient H = F
/// - I, its first Piola-Kirchhoff stress P = det F sigma F^-T and its mean Cauchy stress sigma = 1/V sum f l'
/// of bonds (solvers::cell_stress()) and contacts (BondedParticlesSolver::contact_force_moments()) [Pa], row
/// by row, both in tension positive.
///
/// contacts.csv, where the scene wants it: of every stored nominal step the pairs that press on each other,
/// with the forces of their springs if they have any.
///
/// fragments.csv, where bonds can break: at the start, in every stored nominal step and in the last one the
/// fragments of more than one particle, largest first, then a row with fragment -1 for all single particles.
class ParticleTables {
public:
  /// All must outlive the tables. Collective.
  ParticleTables(const parallel::Communicator& comm, const Scene& scene,
                 const solvers::BondedParticlesSolver& solver, std::filesystem::path folder);

  /// Begins the tables anew or, after a restart, keeps the rows up to a time. Collective.
  /// @throws FileError on every rank.
  void begin(double last_time) const;
  /// Adds what belongs to the step that the solver has just completed. Collective.
  /// @throws FileError on every rank.
  void add_step() const;

private:
  void add_broken_bonds() const;
  void add_reactions() const;
  void add_obstacle_forces() const;
  void add_fragments() const;
  void add_contacts() const;
  void add_cell_stress() const;
  void add_of_rank(int rank, const char* table, const std::string& text) const;
  void add(const char* table, const std::string& rows) const;

  const parallel::Communicator& comm_;
  const Scene& scene_;
  const solvers::BondedParticlesSolver& solver_;
  std::filesystem::path folder_;
  std::vector<std::vector<LocalIndex>> groups_; ///< prescribed_groups()
  std::vector<std::string> obstacles_;          ///< names, planes last; none without contact
};

} // namespace recoil::app
