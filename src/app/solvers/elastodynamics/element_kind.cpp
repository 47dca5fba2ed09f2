#include "recoil/app/solvers/elastodynamics/element_kind.hpp"

#include <fmt/format.h>

#include "app/solvers/elastodynamics/build_elements.hpp"
#include "recoil/app/run/csv_table.hpp"
#include "recoil/app/solvers/elastodynamics/discrete_scene.hpp"
#include "recoil/app/solvers/elastodynamics/periodic.hpp"
#include "recoil/app/solvers/elastodynamics/support_table.hpp"
#include "recoil/app/solvers/elastodynamics/trajectory_output.hpp"
#include "recoil/mesh/input/quality.hpp"

namespace recoil::app {

namespace {

template <int dim>
class ElementRun final : public SolverRun {
public:
  explicit ElementRun(const RunStart& start)
      : discrete_(start.loaded.file.scene, distribute(start)),
        output_(discrete_.solver(), start.loaded.file.scene.output.fields),
        table_(discrete_, start.folder.root()), cell_(discrete_, start.folder.root()),
        begin_(time_of_last_rows(start.comm, start.folder, start.continues)) {
    discrete_.solver().record_support_forces();
    start.interrupts.stop_if_pending();
    if (!start.continues) discrete_.start();
  }
  stepping::Solver& solver() override { return discrete_.solver(); }
  RunOutput& output() override { return output_; }
  void begin() override {
    table_.begin(begin_);
    cell_.begin(begin_);
  }
  void after_step() override {
    table_.add_step();
    cell_.add_step();
  }

private:
  static DistributedGeometry<dim> distribute(const RunStart& start) {
    DistributedGeometry<dim> geometry = distribute_geometry<dim>(start.comm, start.loaded);
    start.interrupts.stop_if_pending();
    return geometry;
  }

  DiscreteScene<dim> discrete_;
  TrajectoryOutput<dim> output_;
  SupportTable<dim> table_;
  CellTable<dim> cell_;
  double begin_; ///< time that the rows of before belong to [s]
};

std::unique_ptr<SolverRun> make_run(const RunStart& start) {
  if (start.loaded.dim == 2) return std::make_unique<ElementRun<2>>(start);
  return std::make_unique<ElementRun<3>>(start);
}

SceneReport describe(const LoadedScene& loaded, const std::vector<mesh::BodyQuality>& bodies) {
  const mesh::SimplexMesh& whole = loaded.geometry.deformable;
  const GlobalIndex vertices = loaded.slices ? loaded.slices->num_vertices : std::ssize(whole.vertices);
  const GlobalIndex cells = loaded.slices ? loaded.slices->num_cells : std::ssize(whole.cells);
  SceneReport report{fmt::format("{} vertices, {} cells", vertices, cells), {}};
  for (const mesh::BodyQuality& body : bodies)
    report.bodies.push_back(fmt::format("{}: order {}, {} cells, volume {:g}, scaled Jacobian {:.3g} at "
                                        "least, {:.3g} on average, edges {:.3g} to "
                                        "{:.3g}",
                                        body.name, order_of_body(loaded.file.scene, body.name), body.cells,
                                        body.volume, body.min_scaled_jacobian, body.mean_scaled_jacobian,
                                        body.min_edge, body.max_edge));
  return report;
}

SceneReport validate(const parallel::Communicator& comm, LoadedScene& loaded) {
  const std::vector<mesh::BodyQuality> bodies = loaded.slices
                                                    ? mesh::body_quality(comm, *loaded.slices)
                                                    : mesh::body_quality(loaded.geometry.deformable);
  SceneReport report = parallel::collectively(
      comm, [&] { return comm.rank() == 0 ? describe(loaded, bodies) : SceneReport(); });
  if (loaded.dim == 2)
    DiscreteScene<2>(loaded.file.scene, distribute_geometry<2>(comm, loaded)).start();
  else
    DiscreteScene<3>(loaded.file.scene, distribute_geometry<3>(comm, loaded)).start();
  return report;
}

} // namespace

namespace {
constexpr OptionKey options[] = {{"periodic_boundary", "/boundary_conditions/periodic_boundary"}};
} // namespace

const SolverKind elastodynamics{
    .scene = {.name = "elastodynamics",
              .things = "finite elements",
              .keys = element_keys,
              .absent = {},
              .options = options,
              .materials = law_names,
              .has_own_shape = nullptr,
              .make = []() -> std::unique_ptr<SolverScene> { return std::make_unique<ElementScene>(); },
              .build = build_elements},
    .bodies = BodyShape::cells,
    .takes_slices = true,
    .check_geometry = check_geometry_of_elements,
    .validate = validate,
    .make_run = make_run};

} // namespace recoil::app
