#include "solvers/elastodynamics/recorded_step.hpp"

namespace recoil::solvers {

template <int dim>
void RecordedStep<dim>::linearize(const stepping::StepRecord& record, const stepping::State& now,
                                  const stepping::State& previous) {
  step_.linearize(record, now, previous);
  gradient_ = step_.gradient();
}

template <int dim>
stepping::LinearSolve RecordedStep<dim>::solve(const linalg::Vector& b, linalg::Vector& x,
                                               double relative_tolerance) {
  return step_.solve(b, x, relative_tolerance, &Potential::add_unsymmetric_product);
}

template <int dim>
void RecordedStep<dim>::multiply_stiffness(const linalg::Vector& x, linalg::Vector& y) {
  step_.sum_terms(y, [&](const Potential& potential, double factor, std::span<double> sum) {
    potential.add_hessian_product(step_.u(), x.local(), factor, sum);
  });
}

template <int dim>
void RecordedStep<dim>::multiply_previous(const linalg::Vector& x, linalg::Vector& y) {
  step_.sum_terms(y, [&](const Potential& potential, double factor, std::span<double> sum) {
    potential.add_previous_product(step_.u(), x.local(), factor, sum);
  });
}

template <int dim>
void RecordedStep<dim>::add_parameter_products(std::size_t objective, const linalg::Vector& p,
                                               double factor) {
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

template <int dim>
void RecordedStep<dim>::add_mass_products(std::size_t objective, const linalg::Vector& p,
                                          const linalg::Vector& x) {
  if (products_.wants_mass && step_.mass() != nullptr)
    step_.mass()->add_parameter_products(p.local(), x.local(), 1, products_.gradients[objective]);
}

template <int dim>
void RecordedStep<dim>::add_prescribed_products(std::size_t objective, const linalg::Vector& y) {
  const auto end = step_.end();
  products_.prescribed(objective, end.time, end.load_factor, y);
}

template <int dim>
void RecordedStep<dim>::add_initial_products(std::size_t objective, const linalg::Vector& y,
                                             const linalg::Vector& z) {
  if (products_.initial) products_.initial(objective, y, z);
}

template class RecordedStep<2>;
template class RecordedStep<3>;

} // namespace recoil::solvers
