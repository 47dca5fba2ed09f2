#include "recoil/app/solvers/async_contact/async_kind.hpp"

#include <algorithm>
#include <iterator>

#include "app/solvers/async_contact/async_output.hpp"
#include "app/solvers/async_contact/async_report.hpp"
#include "app/solvers/async_contact/build_async.hpp"
#include "recoil/app/run/law_constants.hpp"
#include "recoil/app/solvers/async_contact/async_scene.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/log.hpp"

namespace recoil::app {
namespace {

BodyShape shape_of(const Scene& scene, const std::string& body) {
  const AsyncMaterial* material = find_async_material(scene, body);
  return material && material->kind == AsyncBodyKind::solid ? BodyShape::cells : BodyShape::sheet;
}

std::vector<std::string> material_types() {
  std::vector<std::string> types{"Shell", "Spheres"};
  std::ranges::copy(law_names(), std::back_inserter(types));
  return types;
}

/// The solver of a scene in its initial state. Collective.
AsyncSolver make_solver(const parallel::Communicator& comm, const LoadedScene& loaded) {
  const Scene& scene = loaded.file.scene;
  const auto certificates = async_of(scene).solver.certificates;
  if (comm.size() > 1 && certificates == solvers::async_contact::Certificates::slabs)
    throw InputError(
        scene.file.string() + " (/solver/asynchronous/certificates)",
        "\"slabs\", the reference, is of one rank; write \"windows\", which gives the same motion, "
        "or run on one");
  const AsyncInputs inputs = share_inputs(comm, loaded);
  AsyncModel model = parallel::collectively(comm, [&] { return make_async_model(scene, inputs); });
  for (const std::string& warning : model.warnings) log_warning(warning);
  try {
    return {comm, std::move(model), scene.time, certificates};
  } catch (const InputError& error) {
    throw InputError(scene.file.string() + " (/geometry)", error.what());
  }
}

class AsyncRun final : public SolverRun {
public:
  explicit AsyncRun(const RunStart& start)
      : comm_(start.comm), solver_(make_solver(start.comm, start.loaded)), output_(solver_) {
    if (start.continues) read_size_of_state(start.folder);
  }

  stepping::Solver& solver() override { return solver_; }
  RunOutput& output() override { return output_; }
  std::vector<std::string> describe() override { return describe_model(solver_.model()); }

private:
  void read_size_of_state(const checkpoint::RunFolder& folder) {
    checkpoint::TrajectoryReader reader(comm_, folder.trajectory());
    const GlobalIndex newest = reader.restart_point().states.front();
    output_.expect(reader.shape(newest, AsyncOutput::integrator_field).rows);
  }

  const parallel::Communicator& comm_;
  AsyncSolver solver_;
  AsyncOutput output_;
};

void check_geometry(const parallel::Communicator& comm, LoadedScene& loaded) {
  parallel::collectively(comm, [&] {
    if (loaded.dim != 3)
      throw InputError(
          loaded.file.scene.file.string() + " (/geometry)",
          "bodies of an elastic law are of tetrahedra, and these are of triangles; take meshes of "
          "tetrahedra, or a material of \"type\": \"Shell\"");
    set_dimension(loaded.file.scene, 3);
  });
}

SceneReport validate(const parallel::Communicator& comm, LoadedScene& loaded) {
  const AsyncSolver solver = make_solver(comm, loaded);
  return {solver.description(), describe_model(solver.model())};
}

} // namespace

const SolverKind async_contact{
    .scene = {.name = "asynchronous",
              .things = "asynchronous contact",
              .keys = async_keys,
              .absent = absent_from_async(),
              .shared = keys_of_solids,
              .options = async_options(),
              .materials = material_types,
              .has_own_shape = has_spheres,
              .make = []() -> std::unique_ptr<SolverScene> { return std::make_unique<AsyncScene>(); },
              .build = build_async},
    .bodies = BodyShape::sheet,
    .shape = shape_of,
    .check_geometry = check_geometry,
    .validate = validate,
    .make_run = [](const RunStart& start) -> std::unique_ptr<SolverRun> {
      return std::make_unique<AsyncRun>(start);
    }};

} // namespace recoil::app
