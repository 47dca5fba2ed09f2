#include "solvers/bdem/incremental_potential.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

#include "recoil/geometry/rotation_vector.hpp"
#include "recoil/solvers/bdem/critical_time_step.hpp"
#include "solvers/bdem/free_cell.hpp"
#include "solvers/bdem/particle_manifold.hpp"

namespace recoil::solvers {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using geometry::Quaternion;
using potentials::BondPotential;

namespace {

constexpr int max_linear_iterations = 2000;
/// Where bodies are crushed the exact Hessian stays indefinite for many iterations in a row.
constexpr int most_projected = 4;
/// Of the solutions for planes that hold a force, on which every direction depends.
constexpr double column_accuracy = 1e-8;
/// Where pieces rub, an exact Hessian whose step is cut shorter than this keeps leading across kinks.
constexpr double shortest_useful_step = 0.1;
/// Touching pairs per particle up to which the hierarchy of the particles at rest, which has none, serves.
constexpr double most_touching = 0.25;

/// q or -q, whichever lies in the hemisphere of `of`.
Quaternion aligned(const Quaternion& q, const Quaternion& of) { return q.dot(of) < 0 ? Quaternion(-q) : q; }

linalg::LinearSolverOptions linear_options(const BondedParticlesOptions& options) {
  linalg::LinearSolverOptions result;
  result.method = options.linear_method;
  result.stiff_name = "contact";
  return result;
}

} // namespace

ParticleIncrementalPotential::ParticleIncrementalPotential(BondedParticles& problem,
                                                           const BondedParticlesOptions& options)
    : problem_(problem), options_(options), matrix_(problem.particles->tangents, problem.particles->graph),
      assembler_(*problem.particles, matrix_),
      linear_solver_(problem.particles->tangents, linear_options(options)) {
  const auto& particles = *problem.particles;
  for (LocalIndex k = 0; k < particles.tangents->num_local(); ++k) {
    const double r = particles.radii[k];
    mass_.insert(mass_.end(), 3, problem.mass[k]);
    mass_.insert(mass_.end(), 3, problem.inertia(k) / (r * r));
  }
  if (problem.contact) contact_matrix_.emplace(particles.tangents);
  matrix_.choose_identity_rows(problem.prescribed);
  problem.bonds->take_at(share() == 1 ? BondPotential::At::end : BondPotential::At::middle);
}

double ParticleIncrementalPotential::share() const {
  return options_.integrator == ParticleIntegrator::mid_reflectT ||
                 options_.integrator == ParticleIntegrator::del_exact
             ? 0.5
             : 1;
}

void ParticleIncrementalPotential::begin_step(const linalg::Vector& previous, const linalg::Vector& target,
                                              double time, double dt) {
  problem_.begin_cell(time, dt);
  previous_ = &previous;
  target_ = &target;
  time_ = time;
  dt_ = dt;
  holds_hierarchy_ = false;
  scale_ = has_inertia() ? dt * dt : 1;
  problem_.bonds->begin_step({time, dt, 1, previous.local()});
  if (problem_.bond_damping) problem_.bond_damping->begin_step({time, dt, 1, previous.local()});
  // Leapfrog, which takes them at the end, may have had the step before.
  problem_.bonds->take_at(share() == 1 ? BondPotential::At::end : BondPotential::At::middle);
  loads_.assign(previous.layout().num_owned * std::size_t{6}, 0.0);
  const std::span<double> all(loads_);
  for (LocalIndex k = 0; k < previous.layout().num_owned; ++k)
    shift_of(all, k) = problem_.mass[k] * problem_.gravity;
  if (problem_.add_loads) problem_.add_loads(time, loads_);
  // Moments turn with the particle during the step.
  for (LocalIndex k = 0; k < previous.layout().num_owned; ++k)
    turn_of(all, k) = geometry::rotation_matrix(particle_at(previous.local(), k).q).transpose() *
                      turn_of(all, k) / problem_.particles->radii[k];
  linear_solver_.begin_sequence(condition(dt));
}

/// The condition of the Hessian against the mass matrix: its largest eigenvalues are those of M + dt^2
/// (dx*/dx)^2 (V'' + D'' / (dx*/dx)), D that of bonds.
double ParticleIncrementalPotential::condition(double dt) const {
  const double reach = 2 * share() * dt / bond_time_scale(problem_, share() * dt);
  return has_inertia() ? 1 + reach * reach : std::numeric_limits<double>::infinity();
}

/// Since the start of the step, in the axes of the particle [rad].
Vector3d ParticleIncrementalPotential::step_turn(const linalg::Vector& x, LocalIndex particle) const {
  const Quaternion from = particle_at(previous_->local(), particle).q,
                   now = particle_at(x.local(), particle).q;
  return geometry::quaternion_logarithm(geometry::product(geometry::conjugate(from), now));
}

double ParticleIncrementalPotential::value(const linalg::Vector& x) {
  const auto& particles = *problem_.particles;
  problem_.update(x.local());
  double sum = 0;
  for (const auto& term : problem_.terms) sum += factor_of(*term) * term->value(x.local());
  for (LocalIndex k = 0; k < x.layout().num_owned; ++k) {
    const potentials::Particle now = particle_at(x.local(), k);
    sum -= scale_ * share() *
           (shift_of(loads(), k).dot(now.p - particle_at(previous_->local(), k).p) +
            turn_of(loads(), k).dot(particles.radii[k] * step_turn(x, k)));
    if (!has_inertia()) continue;
    const potentials::Particle target = particle_at(target_->local(), k);
    sum += problem_.mass[k] / 2 * (now.p - target.p).squaredNorm() +
           2 * problem_.inertia(k) * (now.q - aligned(target.q, now.q)).squaredNorm();
  }
  const double by_planes = problem_.servo ? factor_of(*problem_.barrier) * problem_.servo->work() : 0;
  return x.layout().comm->sum(sum) - by_planes;
}

void ParticleIncrementalPotential::add_forces(const linalg::Vector& x, double factor,
                                              std::span<double> g) const {
  for (const auto& term : problem_.terms) term->add_gradient(x.local(), factor * share_of(*term), g);
  for (LocalIndex k = 0; k < x.layout().num_owned; ++k) {
    shift_of(g, k) -= factor * share() * shift_of(loads(), k);
    turn_of(g, k) -= factor * share() *
                     (geometry::inverse_right_jacobian(step_turn(x, k)).transpose() * turn_of(loads(), k));
  }
}

void ParticleIncrementalPotential::clear_prescribed(std::span<double> g) const {
  for (std::size_t i = 0; i < g.size(); ++i)
    if (problem_.prescribed[i] != 0) g[i] = 0;
}

void ParticleIncrementalPotential::add_inertia(const linalg::Vector& x, std::span<double> g) const {
  for (LocalIndex k = 0; k < x.layout().num_owned; ++k) {
    const potentials::Particle now = particle_at(x.local(), k), target = particle_at(target_->local(), k);
    shift_of(g, k) += problem_.mass[k] * (now.p - target.p);
    turn_of(g, k) -= 2 * problem_.inertia(k) / problem_.particles->radii[k] *
                     (geometry::left_tangent(now.q) * aligned(target.q, now.q));
  }
}

void ParticleIncrementalPotential::gradient(const linalg::Vector& x, linalg::Vector& g) {
  g.fill(0);
  const auto values = g.write_owned();
  problem_.update(x.local());
  add_forces(x, scale_, values);
  if (has_inertia()) add_inertia(x, values);
  clear_prescribed(values);
}

Matrix3d ParticleIncrementalPotential::turning_hessian(const linalg::Vector& x, LocalIndex particle,
                                                       newton::Projection projection) const {
  Matrix3d H = Matrix3d::Zero();
  if (has_inertia()) {
    const Quaternion q = particle_at(x.local(), particle).q;
    const double cosine = q.dot(aligned(particle_at(target_->local(), particle).q, q));
    H.diagonal().setConstant(mass_[6 * std::size_t(particle) + 3] * cosine);
  }
  const Vector3d moment = turn_of(loads(), particle);
  if (projection == newton::Projection::per_element || moment.isZero(0)) return H;
  const Vector3d turn = step_turn(x, particle);
  const Matrix3d by_turn =
      geometry::derivative_of_inverse_transposed(turn, moment) * geometry::inverse_right_jacobian(turn);
  H -= scale_ * share() / (2 * problem_.particles->radii[particle]) * (by_turn + by_turn.transpose());
  return H;
}

void ParticleIncrementalPotential::hold_hierarchy() { holds_hierarchy_ = has_inertia(); }

/// Inertia and bonds of particles that have always been at rest, whatever has broken since.
void ParticleIncrementalPotential::assemble_at_rest(const linalg::Vector& rest) {
  matrix_.set_zero();
  assembler_.begin();
  BondPotential sound(*problem_.particles, problem_.bonds->material());
  sound.take_at(share() == 1 ? BondPotential::At::end : BondPotential::At::middle);
  sound.begin_step({time_, dt_, 1, rest.local()});
  sound.add_hessian(rest.local(), factor_of(*problem_.bonds), newton::Projection::none,
                    {&assembler_, nullptr});
  if (problem_.bond_damping) {
    potentials::BondDampingPotential damping(sound);
    damping.begin_step({time_, dt_, 1, rest.local()});
    damping.add_hessian(rest.local(), factor_of(*problem_.bond_damping), newton::Projection::none,
                        {&assembler_, nullptr});
  }
  for (LocalIndex k = 0; k < rest.layout().num_owned; ++k) {
    const std::size_t first = 6 * std::size_t(k);
    Eigen::Matrix<double, 6, 6> block = Eigen::Matrix<double, 6, 6>::Zero();
    for (std::size_t i = 0; i < 6; ++i) block(i, i) = mass_[first + i];
    assembler_.add_diagonal(k, block.data());
  }
  assembler_.end();
  matrix_.set_identity_rows(1);
}

/// To be called before the matrix is assembled.
void ParticleIncrementalPotential::begin_with_rest() {
  if (!holds_hierarchy_ || !linear_solver_.sequence_begins()) return;
  const auto& particles = *problem_.particles;
  if (problem_.contact && particles.points->comm->sum(double(problem_.contact->touching().size())) >
                              most_touching * double(particles.points->num_global))
    return;
  linalg::Vector rest(particles.points);
  const auto places = rest.write_local();
  for (LocalIndex k = 0; k < particles.points->num_local(); ++k)
    set_particle(places, k, {particles.positions[k], geometry::identity_quaternion()});
  position_ = rest;
  linear_solver_.begin_with_reference(
      matrix_, scale_, [&] { assemble_at_rest(rest); }, [this] { return rigid_motions(); });
}

void ParticleIncrementalPotential::assemble_hessian(const linalg::Vector& x, newton::Projection projection) {
  problem_.update(x.local());
  begin_with_rest();
  matrix_.set_zero();
  assembler_.begin();
  if (contact_matrix_) contact_matrix_->begin();
  const linalg::HessianSink sink{&assembler_, contact_matrix_ ? &*contact_matrix_ : nullptr};
  for (const auto& term : problem_.terms) term->add_hessian(x.local(), factor_of(*term), projection, sink);
  for (LocalIndex k = 0; k < x.layout().num_owned; ++k) {
    Eigen::Matrix<double, 6, 6> block = Eigen::Matrix<double, 6, 6>::Zero();
    if (has_inertia()) block.diagonal().head<3>().setConstant(mass_[6 * std::size_t(k)]);
    block.bottomRightCorner<3, 3>() = turning_hessian(x, k, projection);
    assembler_.add_diagonal(k, block.data());
  }
  assembler_.end();
  if (contact_matrix_) contact_matrix_->finish();
  matrix_.set_identity_rows(1);
  position_ = x;
  columns_.clear();
  if (problem_.servo) problem_.servo->add_columns(linalg::Vector(problem_.particles->tangents), columns_);
  for (linalg::Vector& column : columns_) column.scale(std::sqrt(factor_of(*problem_.barrier)));
  add_columns_of_cell(problem_, x.local(), linalg::Vector(problem_.particles->tangents), columns_);
  for (linalg::Vector& column : columns_) clear_prescribed(column.write_owned());
  renew_solver();
}

/// After the matrix has changed.
void ParticleIncrementalPotential::renew_solver() {
  linear_solver_.update(
      matrix_, [this] { return rigid_motions(); }, contact_matrix());
  solved_columns_.clear();
}

void ParticleIncrementalPotential::shift_hessian(double factor) {
  matrix_.shift_diagonal(factor);
  renew_solver();
}

/// Translations e, and rotations about the centre: a x (p - c), r R' a. Cells do not turn: in them particles
/// do, each about itself.
linalg::NearNullSpace ParticleIncrementalPotential::rigid_motions() const {
  const auto& layout = *problem_.particles->tangents;
  Vector3d centre = Vector3d::Zero();
  for (LocalIndex k = 0; k < layout.num_owned; ++k) centre += particle_at(position_.local(), k).p;
  std::array<double, 3> sums{centre[0], centre[1], centre[2]};
  layout.comm->sum(sums);
  centre = Vector3d(sums[0], sums[1], sums[2]) / double(layout.num_global);
  return {layout, 6, [&](int mode, std::span<double> values) {
            for (LocalIndex k = 0; k < layout.num_owned; ++k) {
              const potentials::Particle at = particle_at(position_.local(), k);
              const Vector3d e = Vector3d::Unit(mode % 3);
              shift_of(values, k) = e;
              if (mode >= 3)
                shift_of(values, k) = problem_.cell_motion ? Vector3d::Zero() : e.cross(at.p - centre);
              turn_of(values, k) = Vector3d::Zero();
              if (mode >= 3)
                turn_of(values, k) =
                    problem_.particles->radii[k] * geometry::rotation_matrix(at.q).transpose() * e;
            }
            clear_prescribed(values);
          }};
}

/// False where a solve fails.
bool ParticleIncrementalPotential::solve_columns() {
  if (solved_columns_.size() == columns_.size()) return true;
  solved_columns_.clear();
  const auto count = Eigen::Index(columns_.size());
  capacitance_ = Eigen::MatrixXd::Identity(count, count);
  for (Eigen::Index j = 0; j < count; ++j) {
    linalg::Vector& solution = solved_columns_.emplace_back(problem_.particles->tangents);
    const linalg::LinearResult result =
        linear_solver_.solve(columns_[j], solution, column_accuracy, max_linear_iterations);
    linear_iterations_ += result.iterations;
    if (result.outcome != linalg::LinearOutcome::converged) {
      solved_columns_.clear();
      return false;
    }
    for (Eigen::Index i = 0; i < count; ++i) capacitance_(i, j) -= columns_[i].dot(solution);
  }
  capacitance_ = (capacitance_ + capacitance_.transpose()).eval() / 2;
  return true;
}

/// With planes that hold a force H = A - B B', by the formula of Sherman, Morrison and Woodbury: H is
/// positive definite where A and I - B' A^-1 B are.
linalg::LinearResult ParticleIncrementalPotential::solve(const linalg::Vector& rhs, linalg::Vector& d,
                                                         double relative_tolerance) {
  double accuracy = relative_tolerance;
  if (!columns_.empty() && solve_columns()) {
    const double least =
        Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(capacitance_, Eigen::EigenvaluesOnly).eigenvalues()[0];
    if (!(least > 0)) {
      d.fill(0);
      return {linalg::LinearOutcome::indefinite, 0, 1};
    }
    accuracy *= least;
  }
  const linalg::LinearResult result = linear_solver_.solve(rhs, d, accuracy, max_linear_iterations);
  linear_iterations_ += result.iterations;
  if (solved_columns_.empty()) return result;
  Eigen::VectorXd products(columns_.size());
  for (std::size_t i = 0; i < columns_.size(); ++i) products[Eigen::Index(i)] = columns_[i].dot(d);
  const Eigen::VectorXd weights = capacitance_.ldlt().solve(products);
  for (std::size_t i = 0; i < columns_.size(); ++i) d.add(weights[Eigen::Index(i)], solved_columns_[i]);
  return result;
}

/// Shifts leave the kinks of friction unseen, across which most of their steps would lead; the projected
/// Hessian knows them.
bool ParticleIncrementalPotential::tries_exact_shifts() const {
  const bool rubs = problem_.friction && problem_.friction->acts();
  return linear_solver_.method() == linalg::LinearMethod::direct && !rubs;
}

int ParticleIncrementalPotential::longest_projected_run() const { return most_projected; }
double ParticleIncrementalPotential::useful_step() const { return shortest_useful_step; }

/// Turns stay below 90 degrees and ways below half of the smallest radius, where the energies are smooth and
/// centre lines keep their direction, and nothing overlaps on the way.
double ParticleIncrementalPotential::max_step(const linalg::Vector& x, const linalg::Vector& d) {
  double largest = 0;
  for (LocalIndex k = 0; k < d.layout().num_owned; ++k) {
    const double r = problem_.particles->radii[k];
    largest = std::max({largest, shift_of(d.owned(), k).norm() / (0.5 * r),
                        turn_of(d.owned(), k).norm() / (std::numbers::pi / 2 * r)});
  }
  largest = d.layout().comm->max(largest);
  const double share = largest > 1 ? 1 / largest : 1;
  if (!problem_.contact) return share;
  std::vector<double> way(d.owned().begin(), d.owned().end());
  for (double& entry : way) entry *= share;
  return share * problem_.barrier->max_share(x.local(), way, problem_.contact->obstacle_share());
}

/// sqrt(g' M^-1 g).
double ParticleIncrementalPotential::gradient_norm(const linalg::Vector& g) {
  double sum = 0;
  for (std::size_t i = 0; i < g.owned().size(); ++i) sum += g.owned()[i] * g.owned()[i] / mass_[i];
  return std::sqrt(g.layout().comm->sum(sum));
}

double ParticleIncrementalPotential::value_resolution(const linalg::Vector& x, double value) {
  const double bonds = scale_ * std::sqrt(x.layout().comm->sum(problem_.bonds->squared_round_off(x.local())));
  return bonds + std::numeric_limits<double>::epsilon() * std::abs(value);
}

void ParticleIncrementalPotential::balance(const linalg::Vector& x, std::span<const double> momentum,
                                           linalg::Vector& r) const {
  r.fill(0);
  const auto values = r.write_owned();
  problem_.bonds->add_transported_gradient(x.local(), scale_, values);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] -= scale_ * share() * loads_[i] + mass_[i] * momentum[i];
  for (LocalIndex k = 0; k < x.layout().num_owned; ++k) {
    const potentials::Particle now = particle_at(x.local(), k), from = particle_at(previous_->local(), k);
    shift_of(values, k) += problem_.mass[k] * (now.p - from.p - problem_.carried(k));
    turn_of(values, k) += 2 * problem_.inertia(k) / problem_.particles->radii[k] *
                          (geometry::left_tangent(aligned(from.q, now.q)) * now.q);
  }
  clear_prescribed(values);
}

void ParticleIncrementalPotential::multiply_balance(const linalg::Vector& x, const linalg::Vector& change,
                                                    linalg::Vector& y) const {
  y.fill(0);
  const auto values = y.write_owned();
  std::vector<double> entries(change.local().begin(), change.local().end());
  const std::span<double> d(entries);
  for (std::size_t i = 0; i < d.size(); ++i)
    if (problem_.prescribed[i] != 0) d[i] = 0;
  problem_.bonds->add_transported_product(x.local(), d, scale_, values);
  for (LocalIndex k = 0; k < x.layout().num_owned; ++k) {
    const potentials::Particle now = particle_at(x.local(), k), from = particle_at(previous_->local(), k);
    shift_of(values, k) += problem_.mass[k] * shift_of(d, k);
    turn_of(values, k) +=
        mass_[6 * std::size_t(k) + 3] * (geometry::left_tangent(aligned(from.q, now.q)) *
                                         (geometry::left_tangent(now.q).transpose() * turn_of(d, k)));
  }
  // Prescribed rows are those of the preconditioner's identity.
  for (std::size_t i = 0; i < values.size(); ++i)
    if (problem_.prescribed[i] != 0) values[i] = change.owned()[i];
}

} // namespace recoil::solvers
