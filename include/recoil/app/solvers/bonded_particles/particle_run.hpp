#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "recoil/app/run/solver_kind.hpp"
#include "recoil/app/solvers/bonded_particles/particle_output.hpp"
#include "recoil/app/solvers/bonded_particles/particle_tables.hpp"
#include "recoil/solvers/bdem/particle_work.hpp"

namespace recoil::app {

/// The particles of a run and what is written of them. Where breaking and contact make the work of the ranks
/// uneven, balance() deals the particles out again. Which rank has a particle is stored with every restart
/// point, and whether particles are dealt out again depends on the state alone, so that a run that is
/// continued on as many ranks has the bits of one that was not interrupted. Everything is collective.
class ParticleRun final : public SolverRun {
public:
  /// If the run continues, particles lie as in the newest restart point of the folder, or on another number
  /// of ranks as at rest. @throws InputError or FileError on every rank.
  explicit ParticleRun(const RunStart& start);

  stepping::Solver& solver() override { return *solver_; }
  RunOutput& output() override { return *output_; }
  std::vector<std::string> describe() override;
  void begin() override { tables_->begin(begin_); }
  void after_step() override { tables_->add_step(); }
  /// Deals particles out again where the largest work of a rank exceeds
  /// `solver/bonded_particles/max_imbalance` times the mean and METIS finds something clearly better. The
  /// output() of before stays valid until the next call.
  void before_step() override;

private:
  const Scene& scene() const { return loaded_.file.scene; }
  void read_distribution(const checkpoint::RunFolder& folder);
  std::vector<int> read_owners(const checkpoint::RunFolder& folder, GlobalIndex num_particles,
                               std::span<const GlobalIndex> ids) const;
  void move_to(const std::vector<int>& owners);

  const parallel::Communicator& comm_;
  const LoadedScene& loaded_;
  std::filesystem::path folder_;
  double begin_;                     ///< time of the restart point [s]; -infinity at the beginning of a run
  bool is_on_as_many_ranks_ = false; ///< as when it was interrupted
  ParticleDistribution distribution_;
  std::unique_ptr<solvers::BondedParticlesSolver> solver_;
  std::unique_ptr<ParticleOutput> output_, output_before_;
  std::optional<ParticleTables> tables_;
};

} // namespace recoil::app
