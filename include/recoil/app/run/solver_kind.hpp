#pragma once

#include <memory>
#include <string>
#include <vector>

#include "recoil/app/run/interrupts.hpp"
#include "recoil/app/run/load_scene.hpp"
#include "recoil/app/run/run_output.hpp"
#include "recoil/app/scene/scene_format.hpp"
#include "recoil/checkpoint/run_folder.hpp"

namespace recoil::app {

/// One run of a solver and what is written of it. All members but the accessors are collective.
class SolverRun {
public:
  virtual ~SolverRun() = default;
  virtual stepping::Solver& solver() = 0;
  /// The output for where the solver's states lie now.
  virtual RunOutput& output() = 0;
  /// What is simulated, for the log, a line each.
  virtual std::vector<std::string> describe() { return {}; }
  /// Called before the first step; tables that are written beside the trajectory begin here, or go on.
  virtual void begin() {}
  /// Called before every nominal step. It may move what the solver holds to other ranks; the output() of
  /// before must live until the step is done.
  virtual void before_step() {}
  /// Called when a nominal step is complete.
  virtual void after_step() {}
};

/// What a run is made from; all must outlive it.
struct RunStart {
  const parallel::Communicator& comm;
  LoadedScene& loaded; ///< loses its meshes to the run if that has no use for them later
  const checkpoint::RunFolder& folder;
  bool continues; ///< from the newest restart point of the folder
  const Interrupts& interrupts;
};

/// What `recoil validate` tells of a scene that could be run.
struct SceneReport {
  std::string size;                ///< of the whole, "8 vertices, 6 cells"
  std::vector<std::string> bodies; ///< a line each
};

/// A solver as commands see it: how its scenes are read and its runs are made. Each solver has a room of its
/// own, `app/solvers/<name>`, with one of these.
struct SolverKind {
  SceneKind scene;
  BodyShape bodies = BodyShape::cells;
  /// What a body of a scene is made of, where bodies differ; nullptr: all are as above.
  BodyShape (*shape)(const Scene& scene, const std::string& body) = nullptr;
  /// Whether large meshes may come as LoadedGeometry::slices.
  bool takes_slices = false;
  /// Compares a scene with its meshes and completes it (set_dimension()). Collective. @throws InputError on
  /// every rank.
  void (*check_geometry)(const parallel::Communicator& comm, LoadedScene& loaded);
  /// Builds the problem as a run does, up to the check of the initial state. Collective. @throws InputError
  /// on every rank. The report is that of the first rank.
  SceneReport (*validate)(const parallel::Communicator& comm, LoadedScene& loaded);
  /// A run in the initial state; one that continues gets its state later. Collective. @throws InputError on
  /// every rank, Error where it is interrupted.
  std::unique_ptr<SolverRun> (*make_run)(const RunStart& start);
};

/// The solvers that a program has.
class SolverKinds {
public:
  /// The first one is that of scenes that name none. All must outlive this.
  explicit SolverKinds(std::vector<const SolverKind*> kinds);

  const SceneFormat& format() const { return *format_; }
  /// @pre the scene was read in this format().
  const SolverKind& of(const Scene& scene) const;

private:
  std::vector<const SolverKind*> kinds_;
  std::unique_ptr<const SceneFormat> format_;
};

} // namespace recoil::app
