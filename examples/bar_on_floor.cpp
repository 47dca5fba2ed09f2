// A rubber bar, clamped at one end, sags under its weight until it lies on a floor.
//
// Shows the four things that every static problem is made of, without a scene file:
//
//   mesh      a box of tetrahedra, made on the first rank and distributed
//   law       a Neo-Hookean solid with Lame constants, and the weight as a dead load
//   barrier   the contact of its surface with a plane, which no iterate touches [Li et al. 2020]
//   minimise  the sum of the three by Newton's method, over the displacements of all ranks
//
// What Newton's method has to know of a problem is in Energy: value, gradient, Hessian, and how far a step
// may go. Any other potential of recoil::potentials, or one of yours, is a line more in main().
//
//     mpirun -n 2 bar_on_floor
#include <cstdio>

#include "recoil/fem/collision_surface.hpp"
#include "recoil/fem/dirichlet.hpp"
#include "recoil/fem/element_assembler.hpp"
#include "recoil/linalg/linear_solver.hpp"
#include "recoil/mesh/input/assemble_geometry.hpp"
#include "recoil/newton/minimize.hpp"
#include "recoil/potentials/contact/contact_potentials.hpp"
#include "recoil/potentials/elastic.hpp"
#include "recoil/potentials/laws/lame.hpp"
#include "recoil/potentials/loads.hpp"

using namespace recoil;
using linalg::Vector;
constexpr int dim = 3;
using Contact = potentials::ContactState<dim>;

/// The sum of potentials, each with a factor, as a function of the displacements that are not prescribed.
class Energy final : public newton::Objective {
public:
  Energy(const fem::FunctionSpace<dim>& space, const fem::DirichletDofs<dim>& held, Contact& contact)
      : comm_(space.comm()), held_(held), contact_(contact), matrix_(space.layout(), space.graph()),
        assembler_(space, matrix_), stencils_(space.layout()), solver_(space.layout(), {.dimension = dim}) {
    matrix_.choose_identity_rows(held.flags());
  }
  void add(std::unique_ptr<potentials::Potential<dim>> potential, double factor = 1) {
    potential->begin_step({});
    terms_.push_back({std::move(potential), factor});
  }

  double value(const Vector& u) override {
    double sum = 0;
    for (const Term& term : terms_) {
      term.potential->update(u.local());
      sum += term.factor * term.potential->value(u.local());
    }
    return comm_.sum(sum);
  }
  void gradient(const Vector& u, Vector& g) override {
    g.fill(0);
    for (const Term& term : terms_) {
      term.potential->update(u.local());
      term.potential->add_gradient(u.local(), term.factor, g.write_owned());
    }
    held_.clear(g.write_owned());
  }
  void assemble_hessian(const Vector& u, newton::Projection projection) override {
    matrix_.set_zero();
    assembler_.begin();
    stencils_.begin();
    for (const Term& term : terms_) {
      term.potential->update(u.local());
      term.potential->add_hessian(u.local(), term.factor, projection, {&assembler_, &stencils_});
    }
    assembler_.end();
    stencils_.finish();
    matrix_.set_identity_rows(1);
    use_matrix();
  }
  void shift_hessian(double factor) override {
    matrix_.shift_diagonal(factor);
    use_matrix();
  }
  linalg::LinearResult solve(const Vector& rhs, Vector& d, double relative_tolerance) override {
    return solver_.solve(rhs, d, relative_tolerance, 2000);
  }
  /// The law stops a step before an element turns inside out, contact before anything touches.
  double max_step(const Vector& u, const Vector& d) override {
    double step = 1;
    for (const Term& term : terms_) step = std::min(step, term.potential->max_step(u.local(), d.local()));
    step = comm_.min(step);
    return std::min(step < 1 ? 0.9 * step : 1, contact_.max_step(u.local(), d.local(), {}));
  }

private:
  struct Term {
    std::unique_ptr<potentials::Potential<dim>> potential;
    double factor;
  };
  void use_matrix() {
    solver_.update(
        matrix_, [this] { return linalg::NearNullSpace(matrix_.layout(), 0, {}); }, &stencils_);
  }

  const parallel::Communicator& comm_;
  const fem::DirichletDofs<dim>& held_;
  Contact& contact_;
  linalg::BlockMatrix matrix_;
  fem::ElementAssembler<dim> assembler_;
  linalg::StencilMatrix stencils_;
  linalg::LinearSolver solver_;
  std::vector<Term> terms_;
};

/// A bar of 1 m x 0.1 m x 0.1 m along x, the end at -x with the surface id 1.
mesh::SimplexMesh make_bar() {
  mesh::GeometrySpec bar;
  bar.name = "bar";
  bar.generator = mesh::Generator{mesh::GeneratorShape::box, {1, 0.1, 0.1}, 0, 0, {20, 2, 2}};
  mesh::Selection& end = bar.surface_selection.emplace_back();
  end.id = 1;
  end.shape = mesh::AxisSelection{-1, -0.499};
  return mesh::assemble_geometry(std::span(&bar, 1), dim).deformable;
}

int main(int argc, char** argv) {
  const linalg::PetscSession session(&argc, &argv);
  const parallel::Communicator comm(MPI_COMM_WORLD);

  // Mesh: linear elements, their geometry at rest, the clamped end.
  const auto mesh = mesh::distribute<dim>(comm, comm.rank() == 0 ? make_bar() : mesh::SimplexMesh());
  const fem::FunctionSpace<dim> space(mesh, {1});
  const auto geometry = std::make_shared<const fem::CellGeometry<dim>>(mesh);
  fem::DirichletCondition clamp;
  clamp.ids = {1};
  clamp.components = {true, true, true};
  clamp.value = [](int, const ExpressionPoint&) { return 0.0; };
  const fem::DirichletDofs<dim> held(space, {clamp});

  // Barrier: the floor is 0.1 m below the bar.
  potentials::ContactParameters<dim> parameters;
  parameters.dhat = 0.01;
  parameters.planes = {{{0, 0, -0.15}, {0, 0, 1}, 1}}; // point, normal, its number behind that of the bar
  Contact contact(fem::collision_surface<dim>(space, mesh::distribute_obstacles<dim>(comm, {}), held.flags()),
                  parameters);

  // Law: E = 200 kPa, nu = 0.4 in every cell, 1000 kg/m^3.
  const Eigen::Vector2d lame = potentials::lame_from_young(2e5, 0.4, potentials::LameModel::solid).values;
  parameters::CellField constants;
  const auto& cells = space.cells_of_order(1);
  for (std::size_t k = 0; k < cells.size(); ++k) constants.add({lame.data(), 2});
  Energy energy(space, held, contact);
  energy.add(potentials::make_elastic<dim>(*potentials::find_law("NeoHookean"), space, geometry, 1, cells,
                                           constants));
  energy.add(potentials::make_body_force<dim>(
      space, geometry, [](LocalIndex, const ExpressionPoint&) { return 1000.0; },
      {.value = [](LocalIndex, const ExpressionPoint&) { return Eigen::Vector3d(0, 0, -9.81); }}));
  energy.add(std::make_unique<potentials::BarrierPotential<dim>>(contact), 1e7);

  // Minimise, from rest.
  Vector u(space.layout());
  newton::NewtonOptions options;
  options.length_scale = 1; // of the bar [m]
  const newton::NewtonResult result = newton::minimize(energy, newton::Euclidean(), u, options);
  contact.update(u.local());
  const double gap = contact.min_distance();
  const GlobalIndex pairs = contact.num_pairs(), crossings = contact.num_intersections();
  if (comm.rank() == 0)
    std::printf(
        "%s after %d iterations: %d vertices within dhat of the floor, gap %.2f mm, %d intersections\n",
        std::string(newton::name(result.outcome)).c_str(), result.iterations, int(pairs), 1e3 * gap,
        int(crossings));
  return result.converged() && pairs > 0 && crossings == 0 ? 0 : 1;
}
