#include "recoil/app/solvers/bonded_particles/particle_kind.hpp"

#include "app/solvers/bonded_particles/build_particles.hpp"
#include "recoil/app/solvers/bonded_particles/particle_bodies.hpp"
#include "recoil/app/solvers/bonded_particles/particle_problem.hpp"
#include "recoil/app/solvers/bonded_particles/particle_report.hpp"
#include "recoil/app/solvers/bonded_particles/particle_run.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {

namespace {

void require_3d(const parallel::Communicator& comm, LoadedScene& loaded) {
  Scene& scene = loaded.file.scene;
  if (loaded.dim != 3)
    throw InputError(scene.file.string() + " (/geometry)",
                     "bonded particles live in 3D; this geometry is 2D");
  parallel::collectively(comm, [&] { set_dimension(scene, loaded.dim); });
}

SceneReport validate(const parallel::Communicator& comm, LoadedScene& loaded) {
  const Scene& scene = loaded.file.scene;
  const auto solver = make_particle_solver(comm, scene, distribute_bodies(comm, scene, loaded.geometry),
                                           loaded.geometry.obstacles);
  return {solver->description(), describe_bodies(loaded, solver->problem())};
}

} // namespace

const SolverKind bonded_particles{
    .scene = {.name = "bonded_particles",
              .things = "bonded particles",
              .keys = particle_keys,
              .absent = absent_from_particles(),
              .shared = keys_shared_by_particles,
              .options = particle_options(),
              .materials = [] { return std::vector<std::string>{"BondedParticles"}; },
              .has_own_shape = has_particle_file,
              .make = []() -> std::unique_ptr<SolverScene> { return std::make_unique<BondedScene>(); },
              .build = build_particles},
    .bodies = BodyShape::surface,
    .check_geometry = require_3d,
    .validate = validate,
    .make_run = [](const RunStart& start) -> std::unique_ptr<SolverRun> {
      return std::make_unique<ParticleRun>(start);
    }};

} // namespace recoil::app
