#include "recoil/objectives/contact_force_norm.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "recoil/base/error.hpp"

namespace recoil::objectives {

namespace {

template <int dim>
class ContactForceNorm final : public Objective<dim> {
  using Point = Eigen::Matrix<double, dim, 1>;

public:
  ContactForceNorm(Region<dim> region, potentials::ContactState<dim>& contact, double stiffness,
                   ObstacleMotion obstacles)
      : region_(std::move(region)), contact_(&contact), barrier_(contact), stiffness_(stiffness),
        obstacles_(std::move(obstacles)) {}

  std::string_view name() const override { return "contact_force_norm"; }
  std::vector<Quantity> depends_on() const override {
    return {quantities::displacement, quantities::vertices, quantities::obstacle_vertices,
            quantities::obstacle_positions};
  }

  double value(const ObservedState& state) override {
    move_to(state);
    double sum = 0;
    for (const Point& force : forces()) sum += force.squaredNorm();
    return region_.comm().sum(sum);
  }

  void add_derivatives(const ObservedState& state, double factor, std::span<double> du, std::span<double>,
                       parameters::PhysicalGradient<dim>& g) override {
    move_to(state);
    // With f = -k dB/dx at the nodes of the region and p = -2 f: dJ = p' k d(dB/dx).
    linalg::Vector p(region_.space->layout());
    contact_->add_to_nodes(forces(), -2 * factor, p.write_owned());
    p.update_ghosts();
    barrier_.add_hessian_product(state.u, p.local(), stiffness_, du);
    barrier_.add_parameter_products(state.u, p.local(), stiffness_, g);
  }

private:
  void move_to(const ObservedState& state) {
    if (obstacles_) contact_->set_obstacle_displacement(obstacles_(state.time));
    contact_->update(state.u);
  }

  /// At the owned surface vertices; zero on bodies outside of the region and on obstacles.
  std::vector<Point> forces() const {
    std::vector<Point> field = barrier_.gradient();
    for (LocalIndex v = 0; v < std::ssize(field); ++v) {
      const auto& vertex = contact_->surface().vertices()[v];
      const bool selected = contact_->surface().node(v) >= 0 &&
                            std::binary_search(region_.bodies.begin(), region_.bodies.end(), vertex.body);
      field[v] *= selected ? -stiffness_ : 0.0;
    }
    return field;
  }

  Region<dim> region_;
  potentials::ContactState<dim>* contact_;
  potentials::BarrierPotential<dim> barrier_;
  double stiffness_;
  ObstacleMotion obstacles_;
};

} // namespace

template <int dim>
std::unique_ptr<Objective<dim>> make_contact_force_norm(Region<dim> region,
                                                        potentials::ContactState<dim>& contact,
                                                        double stiffness, ObstacleMotion obstacles) {
  if (!(stiffness > 0) || !std::isfinite(stiffness))
    throw InputError("contact_force_norm: barrier stiffness " + std::to_string(stiffness) +
                     "; it must be positive");
  return std::make_unique<ContactForceNorm<dim>>(std::move(region), contact, stiffness, std::move(obstacles));
}

template std::unique_ptr<Objective<2>> make_contact_force_norm(Region<2>, potentials::ContactState<2>&,
                                                               double, ObstacleMotion);
template std::unique_ptr<Objective<3>> make_contact_force_norm(Region<3>, potentials::ContactState<3>&,
                                                               double, ObstacleMotion);

} // namespace recoil::objectives
