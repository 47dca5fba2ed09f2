#include "discs/disc_kind.hpp"

#include "discs/disc_scene.hpp"
#include "recoil/app/scene/bound_member.hpp"
#include "recoil/base/error.hpp"

namespace recoil::discs {
namespace {

using app::bound;

constexpr app::Key in_geometry[] = {
    {.pattern = "/geometry/*/discs",
     .types = app::integer,
     .range = app::from_to(num_discs, num_discs),
     .doc = "Number of discs in a row."},
};

constexpr app::Key in_solver[] = {
    {.pattern = "/solver/discs", .types = app::object, .fallback = "{}", .doc = "Discs."},
    {.pattern = "/solver/discs/mass",
     .member = &bound<&DiscScene::spec, &DiscSpec::mass>,
     .range = app::positive,
     .unit = "kg",
     .doc = "Mass of a disc."},
    {.pattern = "/solver/discs/stiffness",
     .member = &bound<&DiscScene::spec, &DiscSpec::stiffness>,
     .range = app::non_negative,
     .unit = "N/m",
     .doc = "Stiffness of a spring."},
    {.pattern = "/solver/discs/drag",
     .member = &bound<&DiscScene::spec, &DiscSpec::drag>,
     .range = app::non_negative,
     .doc = "Drag of the air."},
};

constexpr app::AbsentKey absent[] = {
    {"/contact", "leave it out: discs have a barrier of their own"},
    {"/materials", "write solver/discs/mass and stiffness"},
    {"/gravity", "leave it out: it is always there"},
    {"/boundary_conditions", "leave it out: nothing holds the discs"},
    {"/initial_conditions", "leave it out: the discs start from their row"},
};

void build(const app::Item& root, app::Scene& scene) {
  for (const app::Item& entry : root["geometry"].items())
    if (!entry.has("discs")) entry.fail("needs `discs`: this is a scene of discs");
  if (!root.has("time") || scene.time.dt != time_step)
    throw InputError(scene.file.string() + " (/time/dt)", "discs take steps of 0.05 s; write that");
}

class DiscRun final : public app::SolverRun {
public:
  explicit DiscRun(const app::RunStart& start)
      : solver_(start.comm, app::part_of<DiscScene>(start.loaded.file.scene).spec.parameters()),
        output_(solver_) {}
  stepping::Solver& solver() override { return solver_; }
  app::RunOutput& output() override { return output_; }

private:
  DiscSolver solver_;
  DiscOutput output_;
};

} // namespace

const app::SolverKind disc_kind{
    .scene = {.name = "discs",
              .things = "discs",
              .keys = []() -> std::vector<app::KeySection> {
                return {{"geometry", in_geometry}, {"solver", in_solver}};
              },
              .absent = absent,
              .materials = [] { return std::vector<std::string>(); },
              .has_own_shape = [](const app::Item& entry) { return entry.has("discs"); },
              .make = []() -> std::unique_ptr<app::SolverScene> { return std::make_unique<DiscScene>(); },
              .build = build},
    .check_geometry =
        [](const parallel::Communicator&, app::LoadedScene& loaded) {
          loaded.dim = 2;
          set_dimension(loaded.file.scene, 2);
        },
    .validate = [](const parallel::Communicator& comm, app::LoadedScene& loaded) -> app::SceneReport {
      const DiscSolver solver(comm, app::part_of<DiscScene>(loaded.file.scene).spec.parameters());
      return {solver.description(), {}};
    },
    .make_run = [](const app::RunStart& start) -> std::unique_ptr<app::SolverRun> {
      return std::make_unique<DiscRun>(start);
    }};

} // namespace recoil::discs
