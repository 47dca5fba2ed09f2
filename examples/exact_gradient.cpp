// How high does a thrown ball bounce, and how does that depend on its Young's modulus? Exactly, through
// contact.
//
// Runs a soft disc (2D) that falls on a floor, and goes back through the run with the adjoint method:
//
//   forward    ElastodynamicsSolver takes the steps; all states and step records are kept in memory
//   objective  J, the mean height at the end: a StateDerivatives, its partial derivatives by the states
//   backward   ReverseSweep solves one transposed linear system per step; every term of the problem adds its
//              share to dJ/dlambda and dJ/dmu of each cell, from which the chain rule leads to E
//
// A sweep costs about as much as the run, whatever the number of parameters: the same arrays hold the
// derivative by the modulus of every single cell. The last lines run twice more, with a slightly other E.
//
//     mpirun -n 2 exact_gradient
#include <cstdio>
#include <numeric>

#include "recoil/adjoint/sweeps.hpp"
#include "recoil/fem/collision_surface.hpp"
#include "recoil/mesh/input/assemble_geometry.hpp"
#include "recoil/potentials/laws/lame.hpp"
#include "recoil/potentials/loads.hpp"
#include "recoil/solvers/elastodynamics/solver.hpp"

using namespace recoil;
constexpr int dim = 2;
constexpr double poisson = 0.4, density = 1000, radius = 0.1, height = 0.02, speed = -1;

/// Where the disc is: its elements, which all runs share.
struct Body {
  explicit Body(const parallel::Communicator& comm)
      : mesh(mesh::distribute<dim>(comm, comm.rank() == 0 ? make_disc() : mesh::SimplexMesh())),
        space(mesh, {1}), geometry(std::make_shared<const fem::CellGeometry<dim>>(mesh)) {}

  static mesh::SimplexMesh make_disc() {
    mesh::GeometrySpec disc;
    disc.name = "disc";
    disc.generator = mesh::Generator{mesh::GeneratorShape::disk, {}, radius, 0, {6}};
    return mesh::assemble_geometry(std::span(&disc, 1), dim).deformable;
  }

  mesh::DistributedMesh<dim> mesh;
  fem::FunctionSpace<dim> space;
  std::shared_ptr<const fem::CellGeometry<dim>> geometry;
};

/// Mass, law, weight, and the barrier of a floor.
solvers::ElastodynamicsProblem<dim> make_problem(const Body& body, double young) {
  const auto& cells = body.space.cells_of_order(1);
  const Eigen::Vector2d lame =
      potentials::lame_from_young(young, poisson, potentials::LameModel::solid).values;
  parameters::CellField constants;
  for (std::size_t k = 0; k < cells.size(); ++k) constants.add({lame.data(), 2});

  solvers::ElastodynamicsProblem<dim> problem;
  problem.space = &body.space;
  problem.geometry = body.geometry;
  problem.density = [](LocalIndex, const ExpressionPoint&) { return density; };
  problem.mass = std::make_unique<potentials::MassMatrix<dim>>(body.space, *body.geometry, problem.density,
                                                               potentials::MassLumping::consistent);
  problem.dirichlet =
      std::make_unique<fem::DirichletDofs<dim>>(body.space, std::vector<fem::DirichletCondition>());
  problem.obstacle_motion = [](double, double) { return std::vector<double>(); };
  problem.add_elastic(potentials::make_elastic<dim>(*potentials::find_law("NeoHookean"), body.space,
                                                    body.geometry, 1, cells, constants));
  problem.add_load(potentials::make_body_force<dim>(
      body.space, body.geometry, problem.density,
      {.value = [](LocalIndex, const ExpressionPoint&) { return Eigen::Vector2d(0, -9.81); }}));
  potentials::ContactParameters<dim> contact;
  contact.dhat = 0.004;
  contact.planes = {{{0, -radius - height}, {0, 1}, 1}}; // point, normal, its number behind that of the disc
  problem.add_contact(std::make_unique<potentials::ContactState<dim>>(
      fem::collision_surface<dim>(body.space, mesh::distribute_obstacles<dim>(body.space.comm(), {}),
                                  problem.dirichlet->flags()),
      contact));
  return problem;
}

/// A run with all its states, in memory.
struct Run final : adjoint::StateSource {
  Run(const Body& body, double young) : solver(make_problem(body, young), options()) {
    linalg::Vector u(body.space.layout()), v(body.space.layout());
    for (std::size_t i = 1; i < v.local().size(); i += dim) v.write_local()[i] = speed;
    records.push_back({});
    states.push_back({0, u, v});
    solver.start(0, {states[0]}, {});
    while (solver.step() < 40) {
      const auto outcome = solver.advance([&](const auto& record, const auto& u, const auto& v) {
        records.push_back(record);
        states.push_back({record.id, u, v});
      });
      if (!outcome.accepted) throw std::runtime_error(outcome.failure);
    }
  }
  static solvers::ElastodynamicsOptions options() {
    solvers::ElastodynamicsOptions options;
    options.dt = 0.005;
    options.bdf_order = 2;
    options.barrier_stiffness = 1e8; // one that adapts itself would depend on E as well
    options.newton.gradient_tolerance = 1e-8;
    options.newton.length_scale = 2 * radius;
    return options;
  }
  const stepping::State& state(GlobalIndex id) override { return states[std::size_t(id)]; }

  solvers::ElastodynamicsSolver<dim> solver;
  std::vector<stepping::StepRecord> records;
  std::vector<stepping::State> states;
};

/// J = mean over the nodes of u_y in the last state [m].
struct MeanHeight final : adjoint::StateDerivatives {
  MeanHeight(const fem::FunctionSpace<dim>& space, GlobalIndex last) : space(space), last(last) {}

  double value(const Run& run) const {
    double sum = 0;
    const auto u = run.states.back().u.owned();
    for (std::size_t i = 1; i < u.size(); i += dim) sum += u[i];
    return space.comm().sum(sum) / double(space.num_nodes_global());
  }
  std::size_t num_objectives() const override { return 1; }
  void add(std::size_t, const adjoint::StateOfRun& at, adjoint::StatePartials& by) override {
    if (at.record.id != last) return;
    const auto values = by.u.write_owned();
    for (std::size_t i = 1; i < values.size(); i += dim) values[i] += 1.0 / double(space.num_nodes_global());
  }

  const fem::FunctionSpace<dim>& space;
  GlobalIndex last;
};

/// dJ/dE by a reverse sweep through the run. Collective.
double derivative_by_young(const Body& body, Run& run, MeanHeight& objective, double young) {
  std::vector<parameters::Quantity> quantities;
  for (const auto& term : run.solver.problem().terms)
    for (const parameters::Quantity& quantity : term.potential->quantities())
      if (quantity.place == parameters::Place::cell) quantities.push_back(quantity);
  stepping::SweepProducts<dim> products;
  products.wants_mass = false;
  products.gradients.emplace_back(body.space, quantities);

  const auto step = run.solver.recorded_step(std::ssize(run.records), products);
  adjoint::ReverseSweep sweep(run.records, run, objective, step.get(), {.relative_tolerance = 1e-12});
  while (sweep.next() >= 0)
    if (const std::string failure = sweep.advance(); !failure.empty()) throw std::runtime_error(failure);

  const auto over_all = [&](const char* name) {
    const auto& by_cell = products.gradients[0].numbers({name, parameters::Place::cell});
    return body.space.comm().sum(std::accumulate(by_cell.begin(), by_cell.end(), 0.0));
  };
  const Eigen::Matrix2d lame_by_young =
      potentials::lame_from_young(young, poisson, potentials::LameModel::solid).jacobian;
  return over_all("lambda") * lame_by_young(0, 0) + over_all("mu") * lame_by_young(1, 0);
}

int main(int argc, char** argv) {
  const linalg::PetscSession session(&argc, &argv);
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const Body body(comm);
  const double young = 2e5, change = 1e-4 * young;

  Run run(body, young);
  MeanHeight objective(body.space, run.records.back().id);
  const double value = objective.value(run), exact = derivative_by_young(body, run, objective, young);
  const auto value_at = [&](double other) { return objective.value(Run(body, other)); };
  const double difference = (value_at(young + change) - value_at(young - change)) / (2 * change);
  const double error = std::abs(exact / difference - 1);
  if (comm.rank() == 0)
    std::printf("mean displacement %.6f m, dJ/dE = %.6e m/Pa, by differences %.6e; they agree to 1e-5: %s\n",
                value, exact, difference, error < 1e-5 ? "yes" : "no");
  return error < 1e-5 ? 0 : 1;
}
