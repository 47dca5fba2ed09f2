#include "solvers/elastodynamics/incremental_potential.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "recoil/base/phases.hpp"
#include "recoil/base/timer.hpp"
#include "recoil/fem/linear_functions.hpp"
#include "solvers/elastodynamics/condensed_stencils.hpp"

namespace recoil::solvers {

namespace {
constexpr int max_linear_iterations = 2000;
/// A step never goes further than this share of the way to inversion.
constexpr double inversion_safety = 0.9;
/// Share of the diagonal that makes singular Hessians regular: far above their rounding errors, far below the
/// smallest curvature of slender bodies.
constexpr double regular_share = 1e-10;
constexpr double close_to_saddle = 1e-1;
/// With a looser tolerance the solution is arbitrary along nearly singular directions, and depends on the
/// rank count.
constexpr double saddle_tolerance = 1e-10;
/// Unknowns beyond which the LDL' factorisation, which has no supernodes, takes longer than the projected
/// iterations that it may spare.
constexpr GlobalIndex most_unknowns_of_saddle = 5000;
/// Iterations of multigrid below what the stopping rule can tell are lost; a factorisation gives more for
/// nothing.
constexpr double last_residual_of_multigrid = 0.1;
constexpr int longest_projected_run_of_multigrid = 4, longest_projected_run_of_factorization = 2;

/// Quadratic functions go through linear ones to aggregates: these make a coarse level that costs little and
/// meets the bends of quadratic cells, which aggregates of their nodes do not.
template <int dim>
std::shared_ptr<const linalg::CoarseSpace> coarse_space(const ElastodynamicsProblem<dim>& problem) {
  if (problem.space->max_order() != 2 || problem.periodic) return nullptr;
  return fem::linear_functions(*problem.space, problem.dirichlet->flags());
}

template <int dim>
std::unique_ptr<linalg::CondensedMatrix> condensed(const ElastodynamicsProblem<dim>& problem,
                                                   const linalg::BlockMatrix& matrix) {
  if (!problem.periodic) return nullptr;
  return std::make_unique<linalg::CondensedMatrix>(matrix, problem.periodic->constraints(), problem.fixed());
}

/// What the squared gradient entries of every owned node are multiplied by.
template <int dim>
std::vector<double> norm_weights(const ElastodynamicsProblem<dim>& problem, GradientNorm norm) {
  std::vector<double> weights = potentials::lumped_volumes(*problem.space, *problem.geometry);
  for (double& weight : weights) weight = norm == GradientNorm::euclidean ? 1 : 1 / weight;
  return weights;
}
} // namespace

template <int dim>
IncrementalPotential<dim>::IncrementalPotential(ElastodynamicsProblem<dim>& problem,
                                                linalg::LinearMethod method, GradientNorm norm)
    : problem_(problem), matrix_(problem.space->layout(), problem.space->graph()),
      assembler_(*problem.space, matrix_), condensed_(condensed(problem, matrix_)),
      linear_solver_(solved_matrix().shared_layout(), {.dimension = dim,
                                                       .method = method,
                                                       .stiff_name = "contact",
                                                       .coarse_space = coarse_space(problem)}),
      norm_weights_(norm_weights(problem, norm)), positions_(problem.space->layout()) {
  matrix_.choose_identity_rows(problem.dirichlet->flags());
  if (!problem.contact) return;
  contact_matrix_ = std::make_unique<linalg::StencilMatrix>(problem.space->layout());
  obstacles_at_rest_.assign(problem.contact->obstacle_displacement().size(), 0.0);
}

template <int dim>
void IncrementalPotential<dim>::begin_step(const potentials::StepContext& context,
                                           const potentials::MassMatrix<dim>* mass,
                                           const linalg::Vector& u_tilde, double scale) {
  static constexpr double one = 1;
  context_ = context;
  scale_ = scale;
  largest_gradient_norm_ = 0;
  linear_solver_.begin_sequence();
  holds_hierarchy_ = false;
  inertia_.reset();
  summands_.clear();
  if (mass != nullptr) summands_.push_back({&inertia_.emplace(*mass, u_tilde), &one, false});
  for (const Term<dim>& term : problem_.terms) {
    const potentials::Potential<dim>* potential = term.potential.get();
    const bool is_barrier = potential == problem_.barrier;
    summands_.push_back({term.potential.get(), is_barrier ? &stiffness_.value : &scale_, term.of_surfaces});
  }
  // Formulas of the scene are evaluated here, and may have no value on some ranks.
  parallel::collectively(problem_.space->comm(), [&] {
    for (const Summand& summand : summands_) summand.potential->begin_step(context);
  });
}

template <int dim>
void IncrementalPotential<dim>::drop_inertia() {
  if (!inertia_) return;
  summands_.erase(summands_.begin());
  inertia_.reset();
}

template <int dim>
void IncrementalPotential<dim>::set_stiffness(const BarrierStiffness& stiffness) {
  stiffness_ = stiffness;
  last_min_distance_ = std::numeric_limits<double>::infinity();
}

template <int dim>
void IncrementalPotential<dim>::update(const linalg::Vector& u) {
  const Stopwatch watch;
  for (const Summand& summand : summands_) summand.potential->update(u.local());
  collision_seconds_ += watch.seconds();
}

template <int dim>
double IncrementalPotential<dim>::value(const linalg::Vector& u) {
  update(u);
  std::array<double, 2> sums{}; // value, magnitude
  for (const Summand& summand : summands_) {
    // +infinity must not meet -infinity or NaN made of it.
    if (!std::isfinite(sums[0])) break;
    const double term = *summand.factor * summand.potential->value(u.local());
    sums[0] += term;
    sums[1] += std::abs(term);
  }
  problem_.space->comm().sum(sums);
  last_value_ = sums[0];
  last_magnitude_ = sums[1];
  return sums[0];
}

template <int dim>
void IncrementalPotential<dim>::gradient_without_contact(const linalg::Vector& u, linalg::Vector& g) {
  g.fill(0);
  auto values = g.write_owned();
  if (inertia_) inertia_->add_gradient(u.local(), 1, values);
  for (const Term<dim>& term : problem_.terms) {
    if (term.accounting == Accounting::dissipation || term.potential.get() == problem_.barrier) continue;
    if (term.of_surfaces) term.potential->update(u.local());
    term.potential->add_gradient(u.local(), scale_, values);
  }
}

template <int dim>
void IncrementalPotential<dim>::gradient(const linalg::Vector& u, linalg::Vector& g) {
  update(u);
  g.fill(0);
  auto values = g.write_owned();
  std::vector<double> term(values.size()), squares;
  for (const Summand& summand : summands_) {
    std::ranges::copy(values, term.begin());
    summand.potential->add_gradient(u.local(), *summand.factor, values);
    for (std::size_t i = 0; i < term.size(); ++i) term[i] = values[i] - term[i];
    squares.push_back(squared_norm(term));
  }
  if (loose_ != nullptr) loose_->balance(g);
  problem_.reduce(g);
  problem_.space->comm().sum(squares);
  largest_term_norm_ = squares.empty() ? 0 : std::sqrt(std::ranges::max(squares));
}

/// This rank's share of the square of gradient_norm().
template <int dim>
double IncrementalPotential<dim>::squared_norm(std::span<const double> g) const {
  double sum = 0;
  for (std::size_t i = 0; i < g.size(); ++i) sum += g[i] * g[i] * norm_weights_[i / dim];
  return sum;
}

/// Without identity rows. The matrix of contact stays where contact is left out.
template <int dim>
void IncrementalPotential<dim>::assemble(const linalg::Vector& u, newton::Projection projection,
                                         bool with_contact) {
  const PhaseScope phase(Phase::assembly);
  with_contact = with_contact && contact_matrix_;
  matrix_.set_zero();
  assembler_.begin();
  if (with_contact) contact_matrix_->begin();
  std::optional<CondensedStencils<dim>> condensed_stencils;
  if (with_contact && condensed_)
    condensed_stencils.emplace(*problem_.periodic, problem_.contact->surface(), *contact_matrix_);
  linalg::StencilSink* stencils = contact_matrix_.get();
  if (condensed_stencils) stencils = &*condensed_stencils;
  for (const Summand& summand : summands_)
    if (with_contact || !summand.is_contact)
      summand.potential->add_hessian(u.local(), *summand.factor, projection, {&assembler_, stencils});
  assembler_.end();
  if (with_contact) contact_matrix_->finish();
  if (loose_ != nullptr) matrix_.shift_diagonal(regular_share);
}

/// Inertia, elasticity and damping alone, of a body that has always been at rest: nothing that time or the
/// states before have a part in.
template <int dim>
void IncrementalPotential<dim>::assemble_at_rest() {
  const PhaseScope phase(Phase::assembly);
  // Laws are stable at rest, where projections cost most: elements have as many zero eigenvalues as rigid
  // body motions.
  constexpr auto projection = newton::Projection::none;
  const linalg::Vector rest(problem_.space->layout());
  matrix_.set_zero();
  assembler_.begin();
  const linalg::HessianSink sink{&assembler_, nullptr};
  if (inertia_) inertia_->add_hessian(rest.local(), 1, projection, sink);
  for (const auto* elastic : problem_.elastic) elastic->add_hessian(rest.local(), scale_, projection, sink);
  potentials::StepContext at_rest = context_;
  at_rest.previous = rest.local();
  for (const Term<dim>& term : problem_.terms) {
    if (term.accounting != Accounting::dissipation || term.of_surfaces) continue;
    term.potential->begin_step(at_rest);
    term.potential->add_hessian(rest.local(), scale_, projection, sink);
    term.potential->begin_step(context_);
  }
  assembler_.end();
  matrix_.set_identity_rows(1);
}

/// Whether the matrix is that of the body at rest now. To be called before it is assembled where there is no
/// contact, else once the terms of contact are.
template <int dim>
bool IncrementalPotential<dim>::begin_with_rest() {
  if (!holds_hierarchy_) return false;
  const auto modes = [this] {
    linalg::Vector rest(problem_.space->layout());
    auto positions = rest.write_owned();
    for (std::size_t i = 0; i < positions.size(); ++i)
      positions[i] = problem_.space->node_positions()[i / dim][i % dim];
    return linalg::rigid_body_modes(rest, problem_.dirichlet->flags());
  };
  return linear_solver_.begin_with_reference(
      matrix_, scale_, [this] { assemble_at_rest(); }, modes, contact_matrix_.get());
}

template <int dim>
void IncrementalPotential<dim>::assemble_hessian(const linalg::Vector& u, newton::Projection projection) {
  if (!problem_.contact) begin_with_rest();
  update(u);
  assemble(u, projection, true);
  if (problem_.contact && begin_with_rest()) assemble(u, projection, true);
  finish_matrix();
  note_positions(u);
}

/// The matrix is that of u.
template <int dim>
void IncrementalPotential<dim>::note_positions(const linalg::Vector& u) {
  hessian_changed();
  if (!linear_solver_.sequence_begins()) return;
  auto positions = positions_.write_owned();
  for (std::size_t i = 0; i < positions.size(); ++i)
    positions[i] = problem_.space->node_positions()[i / dim][i % dim] + u.local()[i];
}

template <int dim>
void IncrementalPotential<dim>::finish_matrix() {
  if (condensed_)
    condensed_->assemble(matrix_);
  else
    matrix_.set_identity_rows(1);
}

template <int dim>
void IncrementalPotential<dim>::hessian_changed() {
  linear_solver_.update(
      solved_matrix(), [this] { return linalg::rigid_body_modes(positions_, problem_.fixed()); },
      contact_matrix_.get());
}

template <int dim>
void IncrementalPotential<dim>::shift_hessian(double factor) {
  (condensed_ ? condensed_->matrix() : matrix_).shift_diagonal(factor);
  hessian_changed();
}

/// Conjugate gradients may take hundreds of iterations until they notice.
template <int dim>
bool IncrementalPotential<dim>::tries_exact_shifts() const {
  return linear_solver_.method() == linalg::LinearMethod::direct;
}

template <int dim>
int IncrementalPotential<dim>::longest_projected_run() const {
  return linear_solver_.method() == linalg::LinearMethod::amg ? longest_projected_run_of_multigrid
                                                              : longest_projected_run_of_factorization;
}

template <int dim>
double IncrementalPotential<dim>::share_of_last_residual() const {
  return linear_solver_.method() == linalg::LinearMethod::amg ? last_residual_of_multigrid : 0;
}

template <int dim>
linalg::LinearResult IncrementalPotential<dim>::solve(const linalg::Vector& rhs, linalg::Vector& d,
                                                      double relative_tolerance) {
  linalg::LinearResult result = linear_solver_.solve(rhs, d, relative_tolerance, max_linear_iterations);
  const double norm = gradient_norm(rhs);
  largest_gradient_norm_ = std::max(largest_gradient_norm_, norm);
  // A symmetric configuration in unstable balance has to stay one: iterations that have come close to a
  // saddle end there, as slower ones would blow up the rounding errors that break the symmetry.
  const linalg::VectorLayout& layout = rhs.layout();
  if (result.outcome == linalg::LinearOutcome::indefinite &&
      norm <= close_to_saddle * largest_gradient_norm_ &&
      layout.num_global * layout.block_size <= most_unknowns_of_saddle)
    result = linear_solver_.solve_indefinite(rhs, d, std::min(relative_tolerance, saddle_tolerance));
  if (loose_ != nullptr) loose_->project(d);
  problem_.expand(d);
  return result;
}

template <int dim>
linalg::LinearResult IncrementalPotential<dim>::solve_stationary(const linalg::Vector& rhs, linalg::Vector& x,
                                                                 double relative_tolerance) {
  const linalg::LinearResult result =
      linear_solver_.solve_stationary(rhs, x, relative_tolerance, max_linear_iterations);
  problem_.expand(x);
  return result;
}

template <int dim>
void IncrementalPotential<dim>::multiply_hessian(const linalg::Vector& x, linalg::Vector& y) const {
  solved_matrix().multiply(x, y);
  if (!contact_matrix_) return;
  linalg::Vector contact(y.shared_layout());
  contact_matrix_->multiply(x, contact);
  y.add(1, contact);
}

template <int dim>
void IncrementalPotential<dim>::hessian_product(const linalg::Vector& u, const linalg::Vector& x,
                                                linalg::Vector& y) const {
  y.fill(0);
  for (const Summand& summand : summands_)
    summand.potential->add_hessian_product(u.local(), x.local(), *summand.factor, y.write_owned());
  problem_.reduce(y);
  y.update_ghosts();
}

template <int dim>
double IncrementalPotential<dim>::max_step(const linalg::Vector& u, const linalg::Vector& d) {
  return max_step(u, d, obstacles_at_rest_);
}

template <int dim>
double IncrementalPotential<dim>::max_step(const linalg::Vector& u, const linalg::Vector& d,
                                           std::span<const double> obstacle_motion, double expected_gap) {
  double step = 1;
  for (const Summand& summand : summands_)
    step = std::min(step, summand.potential->max_step(u.local(), d.local()));
  step = problem_.space->comm().min(step);
  if (step < 1) step *= inversion_safety;
  if (!problem_.contact) return step;
  const Stopwatch watch;
  step = std::min(step, problem_.contact->max_step(u.local(), d.local(), obstacle_motion, expected_gap));
  collision_seconds_ += watch.seconds();
  return step;
}

template <int dim>
bool IncrementalPotential<dim>::accepted(const linalg::Vector& u) {
  if (stiffness_.tiny_distance == 0) return false;
  update(u);
  const double distance = problem_.contact->min_distance(), last = last_min_distance_;
  last_min_distance_ = distance;
  const bool pressed =
      distance < stiffness_.tiny_distance && last < stiffness_.tiny_distance && distance < last;
  if (!pressed || stiffness_.value >= stiffness_.largest) return false;
  stiffness_.value = std::min(2 * stiffness_.value, stiffness_.largest);
  return true;
}

template <int dim>
double IncrementalPotential<dim>::gradient_norm(const linalg::Vector& g) {
  return std::sqrt(problem_.space->comm().sum(squared_norm(g.owned())));
}

template <int dim>
double IncrementalPotential<dim>::value_resolution(const linalg::Vector& u, double value) {
  double squared = 0;
  for (const Term<dim>& term : problem_.terms) squared += term.potential->squared_round_off(u.local());
  const double of_terms = scale_ * std::sqrt(problem_.space->comm().sum(squared));
  // Trials may have been evaluated since the point asked for: its own magnitude counts, not theirs.
  if (value == last_value_) start_magnitude_ = last_magnitude_;
  return std::max(of_terms,
                  std::numeric_limits<double>::epsilon() * std::max(std::abs(value), start_magnitude_));
}

template class IncrementalPotential<2>;
template class IncrementalPotential<3>;

} // namespace recoil::solvers
