#include "solvers/elastodynamics/recorded_tangent_step.hpp"

namespace recoil::solvers {

template <int dim>
stepping::LinearSolve RecordedTangentStep<dim>::solve(const linalg::Vector& b, linalg::Vector& x,
                                                      double relative_tolerance) {
  return step_.solve(b, x, relative_tolerance, &Potential::add_unsymmetric_tangent);
}

/// Potentials multiply by (H + L)': the part that is not symmetric is replaced.
template <int dim>
void RecordedTangentStep<dim>::multiply_stiffness(const linalg::Vector& x, linalg::Vector& y) {
  step_.sum_terms(y, [&](const Potential& potential, double factor, std::span<double> sum) {
    potential.add_hessian_product(step_.u(), x.local(), factor, sum);
    if (!potential.has_unsymmetric_part()) return;
    potential.add_unsymmetric_product(x.local(), -factor, sum);
    potential.add_unsymmetric_tangent(x.local(), factor, sum);
  });
}

template <int dim>
void RecordedTangentStep<dim>::multiply_previous(const linalg::Vector& x, linalg::Vector& y) {
  step_.sum_terms(y, [&](const Potential& potential, double factor, std::span<double> sum) {
    potential.add_previous_tangent(step_.u(), x.local(), factor, sum);
  });
}

template <int dim>
void RecordedTangentStep<dim>::parameter_tangent(std::size_t direction, linalg::Vector& y) {
  if (directions_.loads) directions_.loads(direction, step_.record().time);
  namespace by = parameters::quantities;
  const auto before = step_.start(), after = step_.end();
  directions_.put_obstacles(direction, by::obstacle_positions, after.time, after.load_factor);
  directions_.put_obstacles(direction, by::previous_obstacle_positions, before.time, before.load_factor);
  step_.sum_terms(y, [&](const Potential& potential, double factor, std::span<double> sum) {
    potential.add_parameter_tangent(step_.u(), directions_.changes[direction], factor, sum);
  });
}

template <int dim>
void RecordedTangentStep<dim>::mass_tangent(std::size_t direction, const linalg::Vector& x,
                                            linalg::Vector& y) {
  y.fill(0);
  if (!directions_.changes_mass || step_.mass() == nullptr) return;
  step_.mass()->add_parameter_tangent(x.local(), directions_.changes[direction], 1, y.write_owned());
  y.update_ghosts();
}

template <int dim>
void RecordedTangentStep<dim>::prescribed_tangent(std::size_t direction, linalg::Vector& y) {
  y.fill(0);
  const auto end = step_.end();
  if (directions_.prescribed) directions_.prescribed(direction, end.time, end.load_factor, y);
}

template <int dim>
void RecordedTangentStep<dim>::initial_tangent(std::size_t direction, linalg::Vector& y, linalg::Vector& z) {
  y.fill(0);
  z.fill(0);
  if (directions_.initial) directions_.initial(direction, y, z);
}

template class RecordedTangentStep<2>;
template class RecordedTangentStep<3>;

} // namespace recoil::solvers
