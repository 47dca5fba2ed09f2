#include "recoil/potentials/loads.hpp"

#include <utility>

#include "potentials/shape_products.hpp"

namespace recoil::potentials {

template <int dim>
DeadLoad<dim>::DeadLoad(std::string name, const fem::FunctionSpace<dim>& space,
                        std::unique_ptr<const NodalForces<dim>> forces, bool changes)
    : name_(std::move(name)), forces_(std::move(forces)), changes_(changes),
      force_(std::size_t{dim} * space.num_owned_nodes(), 0.0) {}

template <int dim>
void DeadLoad<dim>::begin_step(const StepContext& context) {
  context_ = context;
  if (assembled_ && !changes_) return;
  force_.assign(force_.size(), 0.0);
  forces_->add(context, force_);
  assembled_ = true;
}

template <int dim>
double DeadLoad<dim>::value(std::span<const double> u) const {
  double work = 0;
  for (std::size_t i = 0; i < force_.size(); ++i) work += force_[i] * u[i];
  return -context_.load_factor * work;
}

template <int dim>
void DeadLoad<dim>::add_gradient(std::span<const double>, double factor, std::span<double> g) const {
  for (std::size_t i = 0; i < force_.size(); ++i) g[i] -= factor * context_.load_factor * force_[i];
}

template <int dim>
void DeadLoad<dim>::add_previous_product(std::span<const double>, std::span<const double> p, double factor,
                                         std::span<double> y) const {
  forces_->add_previous_product(context_, p, -factor * context_.load_factor, y);
}

template <int dim>
void DeadLoad<dim>::add_parameter_products(std::span<const double>, std::span<const double> p, double factor,
                                           parameters::PhysicalGradient<dim>& g) const {
  forces_->add_parameter_products(context_, p, -factor * context_.load_factor, g);
}

template <int dim>
void DeadLoad<dim>::add_previous_tangent(std::span<const double>, std::span<const double> x, double factor,
                                         std::span<double> y) const {
  forces_->add_previous_tangent(context_, x, -factor * context_.load_factor, y);
}

template <int dim>
void DeadLoad<dim>::add_parameter_tangent(std::span<const double>,
                                          const parameters::PhysicalDirection<dim>& dq, double factor,
                                          std::span<double> y) const {
  forces_->add_parameter_tangent(context_, dq, -factor * context_.load_factor, y);
}

namespace {

template <int dim>
class BodyForces final : public NodalForces<dim> {
public:
  BodyForces(const fem::FunctionSpace<dim>& space, std::shared_ptr<const fem::CellGeometry<dim>> geometry,
             Density density, AccelerationField<dim> acceleration)
      : space_(&space), geometry_(std::move(geometry)), density_(std::move(density)),
        acceleration_(std::move(acceleration)) {}

  void add(const StepContext& context, std::span<double> force) const override {
    const auto act = [&](LocalIndex cell, auto nodes, const double* basis, double weight, const auto& at) {
      const double density = density_(cell, at);
      add_to_nodes<dim>(*space_, nodes, basis, weight * density * acceleration_.value(cell, at), force);
    };
    for_mass_points(*space_, *geometry_, context.time, false, act);
  }

  std::vector<parameters::Quantity> quantities() const override {
    return {parameters::quantities::acceleration, parameters::quantities::density,
            parameters::quantities::vertices};
  }

  void add_parameter_products(const StepContext& context, std::span<const double> p, double factor,
                              parameters::PhysicalGradient<dim>& g) const override {
    auto& by_acceleration = g.vectors(parameters::quantities::acceleration);
    auto& by_density = g.numbers(parameters::quantities::density);
    auto* by_vertex = g.rest_positions();
    const auto act = [&](LocalIndex cell, auto nodes, const double* basis, double weight, const auto& at) {
      const double density = density_(cell, at);
      const Eigen::Matrix<double, dim, 1> p_point = interpolate<dim>(nodes, basis, p);
      const double work = factor * weight * acceleration_.value(cell, at).dot(p_point);
      by_acceleration[cell] += factor * weight * density * p_point;
      by_density[cell] += work;
      if (by_vertex)
        add_cell_product<dim>(*space_, *geometry_, cell,
                              density * work * Eigen::Matrix<double, dim, dim>::Identity(), *by_vertex);
    };
    for_mass_points(*space_, *geometry_, context.time, true, act);
  }

  void add_parameter_tangent(const StepContext& context, const parameters::PhysicalDirection<dim>& dq,
                             double factor, std::span<double> y) const override {
    const auto* accelerations = dq.find_vectors(parameters::quantities::acceleration);
    const auto* densities = dq.find_numbers(parameters::quantities::density);
    const auto* vertices = dq.rest_positions();
    if (!accelerations && !densities && !vertices) return;
    const auto act = [&](LocalIndex cell, auto nodes, const double* basis, double weight, const auto& at) {
      const double density = density_(cell, at);
      double mass = densities ? (*densities)[cell] : 0;
      if (vertices) mass += density * cell_gradient<dim>(*space_, *geometry_, cell, *vertices).trace();
      Eigen::Matrix<double, dim, 1> force = mass * acceleration_.value(cell, at);
      if (accelerations) force += density * (*accelerations)[cell];
      add_to_nodes<dim>(*space_, nodes, basis, factor * weight * force, y);
    };
    for_mass_points(*space_, *geometry_, context.time, false, act);
  }

private:
  const fem::FunctionSpace<dim>* space_;
  std::shared_ptr<const fem::CellGeometry<dim>> geometry_;
  Density density_;
  AccelerationField<dim> acceleration_;
};

} // namespace

template <int dim>
std::unique_ptr<DeadLoad<dim>> make_body_force(const fem::FunctionSpace<dim>& space,
                                               std::shared_ptr<const fem::CellGeometry<dim>> geometry,
                                               Density density, AccelerationField<dim> acceleration) {
  const bool changes = acceleration.time_dependent;
  return std::make_unique<DeadLoad<dim>>("body_force", space,
                                         std::make_unique<BodyForces<dim>>(space, std::move(geometry),
                                                                           std::move(density),
                                                                           std::move(acceleration)),
                                         changes);
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template class DeadLoad<dim>;                                                                              \
  template std::unique_ptr<DeadLoad<dim>> make_body_force(const fem::FunctionSpace<dim>&,                    \
                                                          std::shared_ptr<const fem::CellGeometry<dim>>,     \
                                                          Density, AccelerationField<dim>);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::potentials
