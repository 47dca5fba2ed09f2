#include "solvers/elastodynamics/recorded_steps.hpp"

#include <algorithm>
#include <utility>

#include "recoil/base/error.hpp"
#include "recoil/linalg/nonsymmetric_solve.hpp"

namespace recoil::solvers {

namespace {

/// Flexible GMRES around solves of the symmetric part: looser ones cost more products of the whole.
constexpr double preconditioner_tolerance = 1e-6;
constexpr int max_nonsymmetric_iterations = 300;
/// Solves that take out what makes singular Hessians regular, at most.
constexpr int most_refinements = 8;

struct Moment {
  double time, load_factor;
};

/// The moment of state `id`. The parts of a repeated static solve carry equal shares of the load.
template <int dim>
Moment moment_of(const RecordedRun<dim>& run, GlobalIndex id, double time) {
  if (run.options.dynamics != Dynamics::statics) return {time, 1};
  return {1, id == 0 ? 0.0 : 1.0 * id / (run.num_records - 1)};
}
/// The moment of the start of a step.
template <int dim>
Moment start_of(const RecordedRun<dim>& run, const stepping::StepRecord& record) {
  return moment_of(run, record.predecessors().front(), record.time - record.dt);
}
template <int dim>
Moment end_of(const RecordedRun<dim>& run, const stepping::StepRecord& record) {
  return moment_of(run, record.id, record.time);
}

/// Repeats what the forward step did before its solve: friction lagged at the previous state, or at the
/// converged one.
template <int dim>
void enter_contact(const RecordedRun<dim>& run, const stepping::StepRecord& record, std::span<const double> u,
                   std::span<const double> previous) {
  const ElastodynamicsProblem<dim>& problem = run.problem;
  const ElastodynamicsOptions& options = run.options;
  const auto move_obstacles = [&](const Moment& to) {
    problem.contact->set_obstacle_displacement(problem.obstacle_motion(to.time, to.load_factor));
  };
  problem.clear_friction();
  // Objectives see obstacles at the start of a run as at nominal times, in full.
  if (record.num_predecessors == 0) return move_obstacles({record.time, 1});
  move_obstacles(start_of(run, record));
  problem.start_contact(previous);
  const double length = record.dt > 0 ? record.dt : 1, stiffness = physical_barrier_stiffness(options);
  if (options.friction_iterations > 0) problem.lag_friction(previous, stiffness, length);
  move_obstacles(end_of(run, record));
  if (options.friction_iterations >= 0) return;
  problem.lag_friction(u, stiffness, length, potentials::LaggedAt::end);
}

/// A recorded step, linearised at its states: what the sweeps in both directions share. Converged friction
/// makes K nonsymmetric, K = H + L with the Hessian H of friction and L the derivative of its forces by the
/// positions that frames and normal forces are taken at.
template <int dim>
class LinearizedStep {
public:
  using Potential = potentials::Potential<dim>;
  /// A product with L or with L': Potential::add_unsymmetric_tangent or Potential::add_unsymmetric_product.
  using UnsymmetricProduct = void (Potential::*)(std::span<const double> x, double factor,
                                                 std::span<double> y) const;

  explicit LinearizedStep(const RecordedRun<dim>& run)
      : run_(run), problem_(run.problem), options_(run.options), objective_(run.objective) {
    if (!problem_.contact) return;
    RECOIL_ASSERT(options_.barrier_stiffness && options_.friction_iterations <= 1);
    stiffness_ = physical_barrier_stiffness(options_);
  }

  /// Does what StepEquations::linearize() says.
  void linearize(const stepping::StepRecord& record, const stepping::State& now,
                 const stepping::State& previous);
  const stepping::StepRecord& record() const { return *record_; }
  std::span<const double> u() const { return now_->u.local(); }
  /// Null where no boundary is periodic.
  const fem::PeriodicBoundary<dim>* periodic() const { return problem_.periodic.get(); }
  /// The macroscopic one of the state. Collective.
  Eigen::Matrix<double, dim, dim> displacement_gradient() const { return periodic()->measure(now_->u); }
  Moment start() const { return start_of(run_, *record_); }
  Moment end() const { return end_of(run_, *record_); }

  /// Null without inertia; not of a step.
  const potentials::MassMatrix<dim>* mass() const {
    return options_.dynamics == Dynamics::dynamic ? problem_.mass.get() : nullptr;
  }
  void multiply_mass(const linalg::Vector& x, linalg::Vector& y) const;
  /// Solves [M + B^2 (H + L)] x = b, or with L' where `product` is of it, on the free entries.
  stepping::LinearSolve solve(const linalg::Vector& b, linalg::Vector& x, double relative_tolerance,
                              UnsymmetricProduct product);
  /// G on the free entries, zero on prescribed ones.
  linalg::Vector gradient();
  /// act(potential, factor) for each term of the physical energy.
  template <class Act>
  void for_each_term(Act act) const {
    for (const Term<dim>& term : problem_.terms) act(*term.potential, factor_of(*term.potential));
  }
  /// y = the sum of what add(potential, factor, y) adds on owned entries for each term.
  template <class Add>
  void sum_terms(linalg::Vector& y, Add add) const {
    y.fill(0);
    for_each_term(
        [&](const Potential& potential, double factor) { add(potential, factor, y.write_owned()); });
    y.update_ghosts();
  }

private:
  /// In the physical energy of the step.
  double factor_of(const Potential& potential) const {
    return &potential == problem_.barrier ? stiffness_ : 1;
  }
  linalg::LinearResult solve_symmetric(const linalg::Vector& b, linalg::Vector& x, double relative_tolerance);
  linalg::LinearResult solve_nonsymmetric(const linalg::Vector& b, linalg::Vector& x,
                                          double relative_tolerance, UnsymmetricProduct product);

  RecordedRun<dim> run_;
  ElastodynamicsProblem<dim>& problem_;
  const ElastodynamicsOptions& options_;
  IncrementalPotential<dim>& objective_;
  const stepping::StepRecord* record_ = nullptr;
  const stepping::State* now_ = nullptr;
  double stiffness_ = 0; ///< of the barrier, physical
  std::optional<LooseSpace<dim>> loose_;
};

template <int dim>
void LinearizedStep<dim>::linearize(const stepping::StepRecord& record, const stepping::State& now,
                                    const stepping::State& previous) {
  record_ = &record;
  now_ = &now;
  const bool inertia = record.coefficients.order > 0;
  const double B = record.coefficients.scaled_dt(record.dt), scale = inertia ? B * B : 1;
  const Moment moment = end();
  // The Hessian of the inertial term does not depend on where it is centred; here its gradient is zero.
  objective_.begin_step({moment.time, record.dt, moment.load_factor, previous.u.local()},
                        inertia ? problem_.mass.get() : nullptr, now.u, scale);
  if (problem_.contact) {
    enter_contact(run_, record, now.u.local(), previous.u.local());
    objective_.set_stiffness({stiffness_ * scale, stiffness_ * scale, 0});
  }
  loose_.reset();
  if (run_.loose != nullptr) loose_.emplace(run_.loose->at_equilibrium(objective_, now.u));
  objective_.assemble_hessian(now.u, newton::Projection::none);
}

template <int dim>
linalg::Vector LinearizedStep<dim>::gradient() {
  linalg::Vector g(now_->u.shared_layout());
  objective_.gradient(now_->u, g);
  g.scale(1 / objective_.scale());
  return g;
}

template <int dim>
void LinearizedStep<dim>::multiply_mass(const linalg::Vector& x, linalg::Vector& y) const {
  y.fill(0);
  if (mass() != nullptr) mass()->add_product(x.local(), 1, y.write_owned());
  y.update_ghosts();
}

template <int dim>
stepping::LinearSolve LinearizedStep<dim>::solve(const linalg::Vector& b, linalg::Vector& x,
                                                 double relative_tolerance, UnsymmetricProduct product) {
  linalg::Vector rhs = b;
  if (loose_) loose_->balance(rhs);
  problem_.reduce(rhs);
  const bool symmetric = std::ranges::none_of(
      problem_.terms, [](const Term<dim>& term) { return term.potential->has_unsymmetric_part(); });
  const linalg::LinearResult result = symmetric ? solve_symmetric(rhs, x, relative_tolerance)
                                                : solve_nonsymmetric(rhs, x, relative_tolerance, product);
  if (loose_) loose_->project(x);
  return {result.outcome == linalg::LinearOutcome::converged, result.iterations, result.relative_residual};
}

/// Where motions are loose, the solve is that of a Hessian with a small share of its diagonal
/// (IncrementalPotential::leave_out()), and is repeated with what it leaves of b.
template <int dim>
linalg::LinearResult LinearizedStep<dim>::solve_symmetric(const linalg::Vector& b, linalg::Vector& x,
                                                          double relative_tolerance) {
  linalg::LinearResult result = objective_.solve_stationary(b, x, relative_tolerance);
  const double norm = b.norm();
  if (!loose_ || norm == 0) return result;
  linalg::Vector left(b.shared_layout()), more = left;
  for (int k = 0; k < most_refinements && result.outcome == linalg::LinearOutcome::converged; ++k) {
    loose_->project(x);
    objective_.hessian_product(now_->u, x, left);
    left.scale(-1);
    left.add(1, b);
    loose_->balance(left);
    problem_.dirichlet->clear(left.write_owned());
    const double last = std::exchange(result.relative_residual, left.norm() / norm);
    if (result.relative_residual <= relative_tolerance || (k > 0 && result.relative_residual > last / 2))
      break;
    const linalg::LinearResult again = objective_.solve_stationary(left, more, relative_tolerance);
    result.iterations += again.iterations;
    result.outcome = again.outcome;
    x.add(1, more);
  }
  return result;
}

/// Preconditioned by the symmetric part, without L.
template <int dim>
linalg::LinearResult LinearizedStep<dim>::solve_nonsymmetric(const linalg::Vector& b, linalg::Vector& x,
                                                             double relative_tolerance,
                                                             UnsymmetricProduct product) {
  const double scale = objective_.scale();
  linalg::NonsymmetricSystem system;
  system.multiply = [&](const linalg::Vector& in, linalg::Vector& out) {
    objective_.multiply_hessian(in, out);
    const auto add_products = [&](const linalg::Vector& change, linalg::Vector& forces) {
      for_each_term([&](const Potential& potential, double factor) {
        (potential.*product)(change.local(), scale * factor, forces.write_owned());
      });
    };
    if (problem_.periodic) {
      linalg::Vector change = in, forces(out.shared_layout());
      problem_.expand(change);
      add_products(change, forces);
      problem_.reduce(forces);
      out.add(1, forces);
    } else {
      add_products(in, out);
    }
    problem_.dirichlet->clear(out.write_owned());
  };
  system.precondition = [&](const linalg::Vector& in, linalg::Vector& out) {
    objective_.solve_stationary(in, out, preconditioner_tolerance);
    if (!problem_.periodic) return;
    // The system is that of the unknowns alone.
    const auto values = out.write_owned();
    for (std::size_t i = 0; i < values.size(); ++i)
      if (problem_.periodic->constraints().flags()[i] != 0) values[i] = 0;
  };
  const linalg::LinearResult result =
      linalg::solve_nonsymmetric(system, b, x, relative_tolerance, max_nonsymmetric_iterations);
  problem_.expand(x);
  return result;
}

template <int dim>
class RecordedStep final : public stepping::BdfReverseStep {
  using Potential = potentials::Potential<dim>;

public:
  RecordedStep(const RecordedRun<dim>& run, stepping::SweepProducts<dim>& products)
      : step_(run), products_(products) {}

  void linearize(const stepping::StepRecord& record, const stepping::State& now,
                 const stepping::State& previous) override {
    step_.linearize(record, now, previous);
    gradient_ = step_.gradient();
  }
  void multiply_mass(const linalg::Vector& x, linalg::Vector& y) override { step_.multiply_mass(x, y); }
  stepping::LinearSolve solve(const linalg::Vector& b, linalg::Vector& x, double tolerance) override {
    return step_.solve(b, x, tolerance, &Potential::add_unsymmetric_product);
  }
  double gradient_product(const linalg::Vector& p) override { return p.dot(gradient_); }
  void multiply_stiffness(const linalg::Vector& x, linalg::Vector& y) override {
    step_.sum_terms(y, [&](const Potential& potential, double factor, std::span<double> sum) {
      potential.add_hessian_product(step_.u(), x.local(), factor, sum);
    });
  }
  void multiply_previous(const linalg::Vector& x, linalg::Vector& y) override {
    step_.sum_terms(y, [&](const Potential& potential, double factor, std::span<double> sum) {
      potential.add_previous_product(step_.u(), x.local(), factor, sum);
    });
  }

  bool wants_prescribed_products() const override {
    return products_.prescribed != nullptr || step_.periodic() != nullptr;
  }
  void add_parameter_products(std::size_t objective, const linalg::Vector& p, double factor) override {
    parameters::PhysicalGradient<dim>& gradient = products_.gradients[objective];
    step_.for_each_term([&](const Potential& potential, double of_term) {
      potential.add_parameter_products(step_.u(), p.local(), factor * of_term, gradient);
    });
    if (products_.loads) products_.loads(objective, step_.record().time);
    namespace by = parameters::quantities;
    const auto before = step_.start(), after = step_.end();
    products_.take_obstacles(objective, by::obstacle_positions, after.time, after.load_factor);
    products_.take_obstacles(objective, by::previous_obstacle_positions, before.time, before.load_factor);
  }
  void add_mass_products(std::size_t objective, const linalg::Vector& p, const linalg::Vector& x) override {
    if (products_.wants_mass && step_.mass() != nullptr)
      step_.mass()->add_parameter_products(p.local(), x.local(), 1, products_.gradients[objective]);
  }
  void add_prescribed_products(std::size_t objective, const linalg::Vector& y) override {
    const auto end = step_.end();
    if (products_.prescribed) products_.prescribed(objective, end.time, end.load_factor, y);
    if (step_.periodic() == nullptr) return;
    if (auto* by_positions = products_.gradients[objective].rest_positions())
      step_.periodic()->add_shape_products(step_.displacement_gradient(), y, *by_positions);
  }
  void add_initial_products(std::size_t objective, const linalg::Vector& y,
                            const linalg::Vector& z) override {
    if (products_.initial) products_.initial(objective, y, z);
  }

private:
  LinearizedStep<dim> step_;
  stepping::SweepProducts<dim>& products_;
  linalg::Vector gradient_; ///< on free entries
};

template <int dim>
class RecordedTangentStep final : public stepping::BdfTangentStep {
  using Potential = potentials::Potential<dim>;

public:
  RecordedTangentStep(const RecordedRun<dim>& run, stepping::SweepDirections<dim>& directions)
      : step_(run), directions_(directions) {}

  void linearize(const stepping::StepRecord& record, const stepping::State& now,
                 const stepping::State& previous) override {
    step_.linearize(record, now, previous);
  }
  void multiply_mass(const linalg::Vector& x, linalg::Vector& y) override { step_.multiply_mass(x, y); }
  stepping::LinearSolve solve(const linalg::Vector& b, linalg::Vector& x, double tolerance) override {
    return step_.solve(b, x, tolerance, &Potential::add_unsymmetric_tangent);
  }
  /// Potentials multiply by (H + L)': the part that is not symmetric is replaced.
  void multiply_stiffness(const linalg::Vector& x, linalg::Vector& y) override {
    step_.sum_terms(y, [&](const Potential& potential, double factor, std::span<double> sum) {
      potential.add_hessian_product(step_.u(), x.local(), factor, sum);
      if (!potential.has_unsymmetric_part()) return;
      potential.add_unsymmetric_product(x.local(), -factor, sum);
      potential.add_unsymmetric_tangent(x.local(), factor, sum);
    });
  }
  void multiply_previous(const linalg::Vector& x, linalg::Vector& y) override {
    step_.sum_terms(y, [&](const Potential& potential, double factor, std::span<double> sum) {
      potential.add_previous_tangent(step_.u(), x.local(), factor, sum);
    });
  }

  std::size_t num_directions() const override { return directions_.changes.size(); }
  void parameter_tangent(std::size_t direction, linalg::Vector& y) override {
    if (directions_.loads) directions_.loads(direction, step_.record().time);
    namespace by = parameters::quantities;
    const auto before = step_.start(), after = step_.end();
    directions_.put_obstacles(direction, by::obstacle_positions, after.time, after.load_factor);
    directions_.put_obstacles(direction, by::previous_obstacle_positions, before.time, before.load_factor);
    step_.sum_terms(y, [&](const Potential& potential, double factor, std::span<double> sum) {
      potential.add_parameter_tangent(step_.u(), directions_.changes[direction], factor, sum);
    });
  }
  void mass_tangent(std::size_t direction, const linalg::Vector& x, linalg::Vector& y) override {
    y.fill(0);
    if (!directions_.changes_mass || step_.mass() == nullptr) return;
    step_.mass()->add_parameter_tangent(x.local(), directions_.changes[direction], 1, y.write_owned());
    y.update_ghosts();
  }
  void prescribed_tangent(std::size_t direction, linalg::Vector& y) override {
    y.fill(0);
    const auto end = step_.end();
    if (directions_.prescribed) directions_.prescribed(direction, end.time, end.load_factor, y);
    if (step_.periodic() != nullptr)
      if (const auto* change = directions_.changes[direction].rest_positions())
        step_.periodic()->add_shape_tangent(step_.displacement_gradient(), *change, y);
    y.update_ghosts();
  }
  void initial_tangent(std::size_t direction, linalg::Vector& y, linalg::Vector& z) override {
    y.fill(0);
    z.fill(0);
    if (directions_.initial) directions_.initial(direction, y, z);
    y.update_ghosts();
    z.update_ghosts();
  }

private:
  LinearizedStep<dim> step_;
  stepping::SweepDirections<dim>& directions_;
};

} // namespace

template <int dim>
void enter_recorded_step(const RecordedRun<dim>& run, const stepping::StepRecord& record,
                         std::span<const double> u, std::span<const double> previous) {
  const Moment end = end_of(run, record);
  parallel::collectively(run.problem.space->comm(), [&] {
    for (const Term<dim>& term : run.problem.terms)
      term.potential->begin_step(
          {end.time, record.num_predecessors > 0 ? record.dt : run.options.dt, end.load_factor, previous});
  });
  if (run.problem.contact) enter_contact(run, record, u, previous);
}

template <int dim>
std::unique_ptr<stepping::BdfReverseStep> make_recorded_step(const RecordedRun<dim>& run,
                                                             stepping::SweepProducts<dim>& products) {
  return std::make_unique<RecordedStep<dim>>(run, products);
}

template <int dim>
std::unique_ptr<stepping::BdfTangentStep> make_tangent_step(const RecordedRun<dim>& run,
                                                            stepping::SweepDirections<dim>& directions) {
  return std::make_unique<RecordedTangentStep<dim>>(run, directions);
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template void enter_recorded_step(const RecordedRun<dim>&, const stepping::StepRecord&,                    \
                                    std::span<const double>, std::span<const double>);                       \
  template std::unique_ptr<stepping::BdfReverseStep> make_recorded_step(const RecordedRun<dim>&,             \
                                                                        stepping::SweepProducts<dim>&);      \
  template std::unique_ptr<stepping::BdfTangentStep> make_tangent_step(const RecordedRun<dim>&,              \
                                                                       stepping::SweepDirections<dim>&);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::solvers
