#include "solvers/bdem/recorded_steps.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "recoil/base/error.hpp"
#include "recoil/geometry/rotation_vector.hpp"
#include "recoil/solvers/bdem/softening.hpp"
#include "solvers/bdem/incremental_potential.hpp"
#include "solvers/bdem/particle_manifold.hpp"

namespace recoil::solvers {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using linalg::Vector;
using stepping::State;

namespace {

/// By what values of a bond its damage grows, and how.
std::array<std::pair<const parameters::Quantity*, double>, 4> by_quantities(const DamageGrowth& growth) {
  return {{{&potentials::young_modulus_of_bonds, growth.by_E},
           {&potentials::poisson_ratio_of_bonds, growth.by_nu},
           {&tensile_strength, growth.by_tensile},
           {&shear_strength, growth.by_shear}}};
}

void require_adjoint(const BondedParticles& problem, const BondedParticlesOptions& options) {
  const ParticleIntegrator integrator = options.integrator;
  if (integrator == ParticleIntegrator::del_exact || integrator == ParticleIntegrator::leapfrog)
    throw InputError("<integrator>",
                     "gradients need quasistatic steps, be_reflect or mid_reflectT; others have no adjoint");
  if (problem.friction && problem.friction->acts() && options.friction_iterations != 1)
    throw InputError(
        "<friction_iterations>",
        "gradients of bonded particles need 1, normal forces of friction from the start of a step");
  if (problem.damping && !problem.softens() && options.sudden_breaking != SuddenBreaking::shorter_steps)
    throw InputError("<sudden_breaking>",
                     "gradients with a restitution need \"shorter_steps\", since steps of leapfrog have no "
                     "adjoint, and time steps that resolve collisions");
  if (problem.has_springs())
    throw InputError("<tangential_law>",
                     "\"mindlin\" has no derivative; take \"coulomb\", whose friction has one");
  if (problem.corrodes())
    throw InputError("<stress_corrosion>",
                     "has no derivative: bonds break at once in it; leave it out, or let bonds soften by "
                     "`damage_width`");
  bool mixed = false;
  for (LocalIndex k = 0; k < problem.particles->num_owned(); ++k) {
    const auto flags = problem.prescribed.begin() + 6 * std::ptrdiff_t{k} + 3;
    mixed |= std::count(flags, flags + 3, 0) % 3 != 0;
  }
  if (problem.particles->points->comm->any(mixed))
    throw InputError("<dirichlet_boundary>",
                     "gradients need particles that may turn about all axes or about none");
}

/// A step that is linearised at its states: what the sweeps in both directions share. A particle depends on
/// itself through inertia and loads, and with energies at the middle of a step on others at its start
/// through bonds. With e = q* q~ (q~ the turn of the target, s and t its scalar and its vector part) the
/// equations of a turn are
///
///     -2 I / r t + (bonds) - (loads) = 0,    v = r / dt log(q_p* q)  [- 2 r / dt t where energies are taken
///                                                                     at the middle],
///
/// in which the velocity stands as the first equation leaves it, without forces. Turns a of a body before a
/// rotation b turn it by R(b)' a after.
class LinearizedStep : public virtual stepping::StepMap {
public:
  LinearizedStep(BondedParticles& problem, const BondedParticlesOptions& options)
      : problem_(problem), objective_(problem, options),
        manifold_(problem.particles->tangents, problem.particles->radii),
        is_at_rest_(options.integrator == ParticleIntegrator::quasistatic),
        at_middle_(options.integrator == ParticleIntegrator::mid_reflectT) {
    require_adjoint(problem, options);
  }

  void linearize(const stepping::StepRecord& record, const State& now, const State& previous) override;
  stepping::LinearSolve solve(const Vector& b, Vector& x, double relative_tolerance) override;
  void multiply_stiffness(const Vector& x, Vector& y) override;

  void multiply_start(const Vector& du, const Vector& dv, Vector& y) override;
  void add_start_transposed(const Vector& p, Vector& by_u, Vector& by_v) override;
  void multiply_velocity(const Vector& du, const Vector& du_p, const Vector& dv_p, Vector& dv) override;
  void add_velocity_transposed(const Vector& nu, Vector& by_u, Vector& by_previous_u,
                               Vector& by_previous_v) override;

  void add_internal_start(std::span<const double> ds_p, Vector& y) override;
  void add_internal_start_transposed(const Vector& p, std::span<double> by_internal) override;
  void add_internal(std::span<const double> ds_p, const Vector& du, std::span<double> ds) override;
  void add_internal_transposed(std::span<const double> sigma, Vector& by_u,
                               std::span<double> by_previous_internal) override;

protected:
  double time() const { return record_->time; }
  double product_with_gradient(const Vector& p);
  void add_products(const Vector& p, double factor, parameters::PhysicalGradient<3>& gradient) const;
  void set_tangent(const parameters::PhysicalDirection<3>& change, Vector& y) const;
  void add_products_of_internal(std::span<const double> sigma,
                                parameters::PhysicalGradient<3>& gradient) const;
  void add_tangent_of_internal(const parameters::PhysicalDirection<3>& change, std::span<double> ds) const;

private:
  /// How a particle depends on itself.
  struct Block {
    Vector3d t = Vector3d::Zero(); ///< of e
    // Of the equations by the start of the step.
    Matrix3d turn_by_start = Matrix3d::Zero(), turn_by_speed = Matrix3d::Zero();
    // Of the velocity.
    Matrix3d speed_by_turn = Matrix3d::Zero(), speed_by_start = Matrix3d::Zero(),
             speed_by_speed = Matrix3d::Zero();
    Matrix3d moment_by_space = Matrix3d::Zero(); ///< of a moment in space to minus what the equations have
  };
  using Potential = potentials::Potential<3>;
  LocalIndex num_owned() const { return problem_.particles->num_owned(); }
  /// How far the velocity goes with x_n+1 - x_n over dt: with twice as much it takes that of x_n off.
  double pace(LocalIndex particle, int component) const {
    return at_middle_ && problem_.prescribed[6 * std::size_t(particle) + component] == 0 ? 2 : 1;
  }
  /// An internal variable that a step has set anew.
  struct Update {
    std::size_t entry;
    LocalIndex bond;
    potentials::BondEnds by_ends;
  };
  Block block_of(LocalIndex particle) const;
  std::size_t num_bonds() const { return problem_.particles->bonds.size(); }
  double load_factor() const { return objective_.scale() * objective_.share(); }
  /// act(term, what its energy is multiplied by in the equations).
  template <class Act>
  void for_each_term(Act act) const {
    for (const auto& term : problem_.terms) act(*term, objective_.factor_of(*term));
  }
  /// What forces and inertia of a particle push along for each unit of its mass: of shifts, of turns.
  std::array<Vector3d, 2> by_mass(LocalIndex particle) const;

  BondedParticles& problem_;
  ParticleIncrementalPotential objective_;
  ParticleManifold manifold_;
  bool is_at_rest_, at_middle_;
  const stepping::StepRecord* record_ = nullptr;
  const State *now_ = nullptr, *previous_ = nullptr;
  Vector target_;
  std::vector<Block> blocks_;
  std::vector<DamageGrowth> growth_;
  std::vector<Update> updates_;
};

void LinearizedStep::linearize(const stepping::StepRecord& record, const State& now, const State& previous) {
  record_ = &record;
  now_ = &now;
  previous_ = &previous;
  target_ = previous.u;
  manifold_.move(target_, record.dt, previous.v);
  problem_.begin_cell(record.time, record.dt);
  problem_.carry(target_.write_local());
  set_internal(problem_, previous.internal);
  const auto kappa = damage_of(problem_, previous.internal), grown = damage_of(problem_, now.internal);
  growth_ = damage_growth(problem_, kappa, grown, now.u.local());
  updates_.clear();
  for (const DamageGrowth& growth : growth_)
    updates_.push_back({std::size_t(growth.bond), growth.bond, growth.by_ends});
  for (const auto& [bond, by_ends] : separations(problem_, kappa, grown, now.u.local()))
    updates_.push_back({num_bonds() + bond, bond, by_ends});
  objective_.begin_step(previous.u, target_, record.time, record.dt);
  if (problem_.contact)
    restore_contact(*problem_.contact, *problem_.barrier, *problem_.friction, problem_.damping, record.time,
                    record.dt, previous.u.local(), now.u.local());
  objective_.assemble_hessian(now.u, newton::Projection::none);
  blocks_.clear();
  for (LocalIndex k = 0; k < num_owned(); ++k) blocks_.push_back(block_of(k));
}

LinearizedStep::Block LinearizedStep::block_of(LocalIndex particle) const {
  const double r = problem_.particles->radii[particle], dt = record_->dt;
  const auto now = particle_at(now_->u.local(), particle), from = particle_at(previous_->u.local(), particle);
  Block block;
  const Vector3d turn = objective_.step_turn(now_->u, particle),
                 moment = turn_of(objective_.loads(), particle);
  const Matrix3d by_end = geometry::inverse_right_jacobian(turn);
  block.moment_by_space = by_end.transpose() * geometry::rotation_matrix(from.q).transpose() / r;
  block.turn_by_start = load_factor() / r *
                        (geometry::derivative_of_inverse_transposed(turn, moment) * by_end.transpose() -
                         by_end.transpose() * geometry::cross_matrix(moment));
  if (is_at_rest_) return block;
  const Vector3d way = dt / r * turn_of(previous_->v.local(), particle);
  geometry::Quaternion e =
      geometry::product(geometry::conjugate(now.q), particle_at(target_.local(), particle).q);
  if (e[3] < 0) e = -e;
  block.t = e.head<3>();
  const Matrix3d s = e[3] * Matrix3d::Identity(), T = geometry::cross_matrix(block.t),
                 target_by_start =
                     geometry::rotation_matrix(geometry::quaternion_exponential(way)).transpose(),
                 target_by_speed = dt * geometry::right_jacobian(way);
  const double mass = objective_.mass()[6 * std::size_t(particle) + 3];
  block.turn_by_start -= mass * (s + T) * target_by_start;
  block.turn_by_speed = -mass * (s + T) * target_by_speed;
  block.speed_by_turn = by_end / dt;
  block.speed_by_start = -by_end.transpose() / dt;
  if (pace(particle, 3) == 1) return block;
  block.speed_by_turn += (s - T) / dt;
  block.speed_by_start -= (s + T) * target_by_start / dt;
  block.speed_by_speed = -(s + T) * target_by_speed / dt;
  return block;
}

stepping::LinearSolve LinearizedStep::solve(const Vector& b, Vector& x, double relative_tolerance) {
  Vector rhs = b;
  objective_.clear_prescribed(rhs.write_owned());
  const linalg::LinearResult result = objective_.solve(rhs, x, relative_tolerance);
  return {result.outcome == linalg::LinearOutcome::converged, result.iterations, result.relative_residual};
}

double LinearizedStep::product_with_gradient(const Vector& p) {
  Vector g(p.shared_layout());
  objective_.gradient(now_->u, g);
  return p.dot(g);
}

void LinearizedStep::multiply_stiffness(const Vector& x, Vector& y) {
  y.fill(0);
  const auto values = y.write_owned();
  for_each_term([&](const Potential& term, double factor) {
    term.add_hessian_product(now_->u.local(), x.local(), factor, values);
  });
  for (LocalIndex k = 0; k < num_owned(); ++k) {
    if (!is_at_rest_) shift_of(values, k) += problem_.mass[k] * shift_of(x.local(), k);
    turn_of(values, k) +=
        objective_.turning_hessian(now_->u, k, newton::Projection::none) * turn_of(x.local(), k);
  }
  y.update_ghosts();
}

void LinearizedStep::multiply_start(const Vector& du, const Vector& dv, Vector& y) {
  y.fill(0);
  const auto values = y.write_owned();
  for_each_term([&](const Potential& term, double factor) {
    term.add_previous_tangent(now_->u.local(), du.local(), factor, values);
  });
  for (LocalIndex k = 0; k < num_owned(); ++k) {
    if (!is_at_rest_)
      shift_of(values, k) -=
          problem_.mass[k] * (shift_of(du.local(), k) + record_->dt * shift_of(dv.local(), k));
    turn_of(values, k) +=
        blocks_[k].turn_by_start * turn_of(du.local(), k) + blocks_[k].turn_by_speed * turn_of(dv.local(), k);
  }
  y.update_ghosts();
}

void LinearizedStep::add_start_transposed(const Vector& p, Vector& by_u, Vector& by_v) {
  const auto u = by_u.write_owned(), v = by_v.write_owned();
  for_each_term([&](const Potential& term, double factor) {
    term.add_previous_product(now_->u.local(), p.local(), factor, u);
  });
  for (LocalIndex k = 0; k < num_owned(); ++k) {
    if (!is_at_rest_) {
      shift_of(u, k) -= problem_.mass[k] * shift_of(p.local(), k);
      shift_of(v, k) -= problem_.mass[k] * record_->dt * shift_of(p.local(), k);
    }
    turn_of(u, k) += blocks_[k].turn_by_start.transpose() * turn_of(p.local(), k);
    turn_of(v, k) += blocks_[k].turn_by_speed.transpose() * turn_of(p.local(), k);
  }
}

void LinearizedStep::multiply_velocity(const Vector& du, const Vector& du_p, const Vector& dv_p, Vector& dv) {
  dv.fill(0);
  const auto values = dv.write_owned();
  for (LocalIndex k = 0; k < num_owned() && !is_at_rest_; ++k) {
    for (int c = 0; c < 3; ++c)
      shift_of(values, k)[c] =
          pace(k, c) / record_->dt * (shift_of(du.local(), k)[c] - shift_of(du_p.local(), k)[c]) +
          (1 - pace(k, c)) * shift_of(dv_p.local(), k)[c];
    turn_of(values, k) = blocks_[k].speed_by_turn * turn_of(du.local(), k) +
                         blocks_[k].speed_by_start * turn_of(du_p.local(), k) +
                         blocks_[k].speed_by_speed * turn_of(dv_p.local(), k);
  }
  dv.update_ghosts();
}

void LinearizedStep::add_velocity_transposed(const Vector& nu, Vector& by_u, Vector& by_previous_u,
                                             Vector& by_previous_v) {
  const auto u = by_u.write_owned(), u_p = by_previous_u.write_owned(), v_p = by_previous_v.write_owned();
  for (LocalIndex k = 0; k < num_owned() && !is_at_rest_; ++k) {
    for (int c = 0; c < 3; ++c) {
      const double share = pace(k, c) / record_->dt * shift_of(nu.local(), k)[c];
      shift_of(u, k)[c] += share;
      shift_of(u_p, k)[c] -= share;
      shift_of(v_p, k)[c] += (1 - pace(k, c)) * shift_of(nu.local(), k)[c];
    }
    const Vector3d along = turn_of(nu.local(), k);
    turn_of(u, k) += blocks_[k].speed_by_turn.transpose() * along;
    turn_of(u_p, k) += blocks_[k].speed_by_start.transpose() * along;
    turn_of(v_p, k) += blocks_[k].speed_by_speed.transpose() * along;
  }
}

/// The equations see the integrity of bonds and the least distances at the start of the step.
void LinearizedStep::add_internal_start(std::span<const double> ds_p, Vector& y) {
  if (!problem_.softens()) return;
  const auto change = internal_direction(problem_, previous_->internal, ds_p);
  for_each_term([&](const Potential& term, double factor) {
    term.add_parameter_tangent(now_->u.local(), change, factor, y.write_owned());
  });
  y.update_ghosts();
}

void LinearizedStep::add_internal_start_transposed(const Vector& p, std::span<double> by_internal) {
  if (!problem_.softens()) return;
  auto gradient = internal_gradient(problem_);
  for_each_term([&](const Potential& term, double factor) {
    term.add_parameter_products(now_->u.local(), p.local(), factor, gradient);
  });
  add_by_internal(problem_, previous_->internal, gradient, by_internal);
}

void LinearizedStep::add_internal(std::span<const double> ds_p, const Vector& du, std::span<double> ds) {
  std::vector<double> kept(ds_p.begin(), ds_p.end());
  for (const auto& [entry, bond, by_ends] : updates_)
    kept[entry] = by_ends.dot(potentials::unknowns_of_ends(problem_.particles->bonds[bond], du.local()));
  for (std::size_t i = 0; i < kept.size(); ++i) ds[i] += kept[i];
}

void LinearizedStep::add_internal_transposed(std::span<const double> sigma, Vector& by_u,
                                             std::span<double> by_previous_internal) {
  const auto u = by_u.write_owned();
  std::vector<double> kept(sigma.begin(), sigma.end());
  for (const auto& [entry, bond, by_ends] : updates_) {
    potentials::add_to_owned_ends(by_ends, problem_.particles->bonds[bond], num_owned(), sigma[entry], u);
    kept[entry] = 0;
  }
  for (std::size_t i = 0; i < kept.size(); ++i) by_previous_internal[i] += kept[i];
}

void LinearizedStep::add_products_of_internal(std::span<const double> sigma,
                                              parameters::PhysicalGradient<3>& gradient) const {
  for (const DamageGrowth& growth : growth_) {
    if (!problem_.particles->owns(problem_.particles->bonds[growth.bond])) continue;
    for (const auto& [quantity, derivative] : by_quantities(growth))
      gradient.numbers(*quantity)[growth.bond] += derivative * sigma[growth.bond];
  }
}

void LinearizedStep::add_tangent_of_internal(const parameters::PhysicalDirection<3>& change,
                                             std::span<double> ds) const {
  for (const DamageGrowth& growth : growth_)
    for (const auto& [quantity, derivative] : by_quantities(growth))
      if (const std::vector<double>* of_bonds = change.find_numbers(*quantity))
        ds[growth.bond] += derivative * (*of_bonds)[growth.bond];
}

std::array<Vector3d, 2> LinearizedStep::by_mass(LocalIndex particle) const {
  std::array<Vector3d, 2> by{-load_factor() * problem_.gravity, Vector3d::Zero()};
  if (is_at_rest_) return by;
  by[0] += particle_at(now_->u.local(), particle).p - particle_at(target_.local(), particle).p;
  by[1] = -2 * problem_.inertia(particle) / (problem_.mass[particle] * problem_.particles->radii[particle]) *
          blocks_[particle].t;
  return by;
}

void LinearizedStep::add_products(const Vector& p, double factor,
                                  parameters::PhysicalGradient<3>& gradient) const {
  for_each_term([&](const Potential& term, double of_term) {
    term.add_parameter_products(now_->u.local(), p.local(), factor * of_term, gradient);
  });
  std::vector<double>& by_mass_of = gradient.numbers(particle_mass);
  Vector3d& by_gravity = gradient.vectors(gravity_vector)[0];
  auto &by_forces = gradient.vectors(particle_loads), &by_moments = gradient.vectors(particle_moments);
  for (LocalIndex k = 0; k < num_owned(); ++k) {
    const Vector3d shift = factor * shift_of(p.local(), k), turn = factor * turn_of(p.local(), k);
    const auto [by_shift, by_turn] = by_mass(k);
    by_mass_of[k] += shift.dot(by_shift) + turn.dot(by_turn);
    by_gravity -= load_factor() * problem_.mass[k] * shift;
    by_forces[k] -= load_factor() * shift;
    by_moments[k] -= load_factor() * (blocks_[k].moment_by_space.transpose() * turn);
  }
}

void LinearizedStep::set_tangent(const parameters::PhysicalDirection<3>& change, Vector& y) const {
  y.fill(0);
  const auto values = y.write_owned();
  for_each_term([&](const Potential& term, double factor) {
    term.add_parameter_tangent(now_->u.local(), change, factor, values);
  });
  const auto* mass = change.find_numbers(particle_mass);
  const auto *gravity = change.find_vectors(gravity_vector), *forces = change.find_vectors(particle_loads),
             *moments = change.find_vectors(particle_moments);
  for (LocalIndex k = 0; k < num_owned(); ++k) {
    if (gravity) shift_of(values, k) -= load_factor() * problem_.mass[k] * (*gravity)[0];
    if (forces) shift_of(values, k) -= load_factor() * (*forces)[k];
    if (moments) turn_of(values, k) -= load_factor() * (blocks_[k].moment_by_space * (*moments)[k]);
    if (!mass) continue;
    const auto [by_shift, by_turn] = by_mass(k);
    shift_of(values, k) += (*mass)[k] * by_shift;
    turn_of(values, k) += (*mass)[k] * by_turn;
  }
  y.update_ghosts();
}

class ReverseStep final : public LinearizedStep, public stepping::MapReverseStep {
public:
  ReverseStep(BondedParticles& problem, const BondedParticlesOptions& options,
              stepping::SweepProducts<3>& products)
      : LinearizedStep(problem, options), products_(products) {}

  double gradient_product(const Vector& p) override { return product_with_gradient(p); }
  bool wants_prescribed_products() const override { return bool(products_.prescribed); }
  void add_parameter_products(std::size_t objective, const Vector& p, double factor) override {
    add_products(p, factor, products_.gradients[objective]);
    if (products_.loads) products_.loads(objective, time());
  }
  void add_internal_products(std::size_t objective, std::span<const double> sigma) override {
    add_products_of_internal(sigma, products_.gradients[objective]);
  }
  void add_prescribed_products(std::size_t objective, const Vector& y) override {
    products_.prescribed(objective, time(), 1, y);
  }
  void add_initial_products(std::size_t objective, const Vector& y, const Vector& z) override {
    if (products_.initial) products_.initial(objective, y, z);
  }

private:
  stepping::SweepProducts<3>& products_;
};

class ForwardStep final : public LinearizedStep, public stepping::MapTangentStep {
public:
  ForwardStep(BondedParticles& problem, const BondedParticlesOptions& options,
              stepping::SweepDirections<3>& directions)
      : LinearizedStep(problem, options), directions_(directions) {}

  std::size_t num_directions() const override { return directions_.changes.size(); }
  void parameter_tangent(std::size_t direction, Vector& y) override {
    if (directions_.loads) directions_.loads(direction, time());
    set_tangent(directions_.changes[direction], y);
  }
  void prescribed_tangent(std::size_t direction, Vector& y) override {
    y.fill(0);
    if (!directions_.prescribed) return;
    directions_.prescribed(direction, time(), 1, y);
    y.update_ghosts();
  }
  void add_internal_tangent(std::size_t direction, std::span<double> ds) override {
    add_tangent_of_internal(directions_.changes[direction], ds);
  }
  void initial_tangent(std::size_t direction, Vector& y, Vector& z) override {
    y.fill(0);
    z.fill(0);
    if (!directions_.initial) return;
    directions_.initial(direction, y, z);
    y.update_ghosts();
    z.update_ghosts();
  }

private:
  stepping::SweepDirections<3>& directions_;
};

} // namespace

std::unique_ptr<stepping::MapReverseStep> make_recorded_step(BondedParticles& problem,
                                                             const BondedParticlesOptions& options,
                                                             stepping::SweepProducts<3>& products) {
  return std::make_unique<ReverseStep>(problem, options, products);
}

std::unique_ptr<stepping::MapTangentStep> make_tangent_step(BondedParticles& problem,
                                                            const BondedParticlesOptions& options,
                                                            stepping::SweepDirections<3>& directions) {
  return std::make_unique<ForwardStep>(problem, options, directions);
}

} // namespace recoil::solvers
