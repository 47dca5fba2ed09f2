#pragma once

#include "recoil/app/study/experiment/experiment_model.hpp"
#include "recoil/particles/particle_set.hpp"
#include "recoil/solvers/bdem/solver.hpp"

namespace recoil::app {

/// An experiment on a scene of bonded particles. Every rank holds all values of its parameters; those per
/// bond belong to the first one.
class ExperimentOnParticles final : public FieldExperiment<3> {
public:
  /// See ExperimentModel::create().
  ExperimentOnParticles(const parallel::Communicator& comm, const Study& study, int experiment,
                        LoadedScene loaded, const Interrupts& interrupts);

  std::unique_ptr<ExperimentProblem> problem_at(const ParameterValues& values) const override;
  int history() const override { return 1; }
  std::string tolerance_keys() const override { return "solver/bonded_particles/tolerance"; }
  FieldSlots slots(std::size_t field) const override;
  ObjectiveKind check_start() const override;
  ResidualRows residual_rows() const override;
  std::vector<ForcePeaks> peaks(std::span<const double> residuals) const override;
  void write_scene(const ParameterValues& values, const std::filesystem::path& folder) const override;
  void write_values(io::Hdf5Writer& file, const std::string& name, std::size_t field,
                    const std::vector<double>& values) const override;
  std::vector<double> read_values(const io::Hdf5Reader& file, const std::string& name,
                                  std::size_t field) const override;

  const Interrupts& interrupts() const { return interrupts_; }
  /// Its objectives, opened on the first particles that a problem of it has, which are those of all.
  /// Collective. @throws InputError on every rank.
  const OpenObjectives<3>& objectives(const particles::DistributedParticles& particles) const;
  /// The scene with values of the parameters.
  std::unique_ptr<Scene> scene_with(const ParameterValues& values) const;
  /// The solver at the start with these values; `scene`, which has them, must outlive it. Collective. @throws
  /// InputError on every rank.
  std::unique_ptr<solvers::BondedParticlesSolver> make_solver(const Scene& scene,
                                                              const ParameterValues& values) const;

private:
  /// The particles with values per bond, on the first rank.
  particles::ParticleSet bodies_with(const ParameterValues& values) const;

  particles::ParticleSet packed_; ///< on the first rank
  mutable std::optional<OpenObjectives<3>> objectives_;
};

} // namespace recoil::app
