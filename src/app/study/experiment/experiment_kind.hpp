#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "recoil/app/run/solver_kind.hpp"
#include "recoil/app/study/base/experiment_scene.hpp"
#include "recoil/app/study/experiment/experiment_model.hpp"
#include "recoil/app/study/objectives/observables.hpp"

namespace recoil::app {

/// What studies know of the scenes of one solver.
struct ExperimentKind {
  const SolverKind* solver;
  /// What objectives can ask its scenes for.
  std::span<const ObservableKind> observables;
  /// Refuse what has no derivative, or does not fit the scene; the first adds warnings. @throws InputError.
  void (*check_scene)(const ExperimentScene& at, std::vector<std::string>& warnings);
  void (*check_parameter)(const ExperimentScene& at, const ParameterSpec& parameter);
  /// Why a scene has no stress of a cell (ObservableKind::cell_stress); nullptr where it has.
  const char* (*lacks_cell_stress)(const Scene& scene);
  /// Makes the model of an experiment, see ExperimentModel::create().
  std::unique_ptr<ExperimentModel> (*create)(const parallel::Communicator& comm, const Study& study,
                                             int experiment, LoadedScene loaded,
                                             const Interrupts& interrupts);
};

inline constexpr const char* lacks_cell =
    "is that of a periodic cell: the scene needs boundary_conditions/periodic_boundary";

/// The solvers whose scenes studies can have, in experiment_kinds.cpp: a list of its own, for which a program
/// may have another one.
std::span<const ExperimentKind> experiment_kinds();

/// The kind of the solver of a scene. @throws InputError where studies do not know it.
const ExperimentKind& experiment_kind(const Scene& scene);

} // namespace recoil::app
