#include <algorithm>

#include "potentials/contact/area_products.hpp"
#include "potentials/contact/stencil_fields.hpp"
#include "recoil/potentials/contact/contact.hpp"

namespace recoil::potentials {

namespace {

template <int dim>
void add_field(const std::vector<Eigen::Matrix<double, dim, 1>>& field, double factor,
               std::vector<Eigen::Matrix<double, dim, 1>>& result) {
  for (std::size_t v = 0; v < field.size(); ++v) result[v] += factor * field[v];
}

/// The derivative that comes from the thresholds of the mollifiers, which are made of rest edges, by the rest
/// positions of `vertices`.
template <int dim>
void add_mollifier_products(const Barrier<dim>& barrier, const std::vector<ContactPair<dim>>& pairs,
                            double factor, const ContactVertices<dim>& vertices,
                            const std::vector<Eigen::Matrix<double, dim, 1>>& p,
                            std::vector<Eigen::Matrix<double, dim, 1>>& field) {
  if constexpr (dim == 3)
    for (const ContactPair<dim>& pair : pairs) {
      if (!pair.mollifier.is_mollified) continue;
      geometry::StencilPoints<3> rest;
      for (int i = 0; i < 4; ++i) rest.col(i) = vertices.rest(pair.vertices[i]);
      const double by_eps = factor * barrier.mollifier_eps_product(pair, stencil_vector<3>(pair, p));
      add_at_stencil<3>(pair, by_eps * geometry::edge_edge_mollifier_eps_gradient(rest), field);
    }
}

} // namespace

/// p at the owned surface vertices, zero on obstacles.
template <int dim>
std::vector<typename Contact<dim>::Point> Contact<dim>::at_owned(const linalg::Vector& p) const {
  const std::vector<double> still(obstacle_displacement_.size(), 0.0);
  return owned(surface_->displacements(p.local(), still));
}

template <int dim>
std::vector<typename Contact<dim>::Point> Contact<dim>::hessian_product(double stiffness, double scale,
                                                                        const linalg::Vector& p) const {
  const std::vector<Point> values = at_owned(p);
  std::vector<Point> result =
      sum_at_owners(*vertices_, barrier_.hessian_product(*pairs_, stiffness, newton::Projection::none,
                                                         vertices_->gather(values)));
  if (const auto& vertices = friction_.vertices())
    add_field<dim>(
        sum_at_owners(*vertices, friction_.hessian_product(friction_positions_, vertices->gather(values))),
        scale, result);
  return result;
}

template <int dim>
std::vector<typename Contact<dim>::Point> Contact<dim>::lag_product(double scale,
                                                                    const linalg::Vector& p) const {
  std::vector<Point> result(surface_->num_owned(), Point::Zero());
  const auto& vertices = friction_.vertices();
  if (!vertices) return result;
  const std::vector<Point> values = vertices->gather(at_owned(p));
  add_field<dim>(sum_at_owners(*vertices, friction_.lag_product(barrier_, friction_positions_, values)),
                 scale, result);
  return result;
}

template <int dim>
std::vector<typename Contact<dim>::Point> Contact<dim>::start_product(double scale,
                                                                      const linalg::Vector& p) const {
  std::vector<Point> result(surface_->num_owned(), Point::Zero());
  const auto& vertices = friction_.vertices();
  if (!vertices) return result;
  const std::vector<Point> values = vertices->gather(at_owned(p));
  // What moves the end forth moves the start back.
  add_field<dim>(sum_at_owners(*vertices, friction_.hessian_product(friction_positions_, values)), -scale,
                 result);
  return result;
}

template <int dim>
std::vector<typename Contact<dim>::Point> Contact<dim>::previous_product(double scale,
                                                                         const linalg::Vector& p) const {
  std::vector<Point> result = lag_product(scale, p);
  add_field<dim>(start_product(scale, p), 1, result);
  return result;
}

template <int dim>
std::vector<parameters::Quantity> Contact<dim>::quantities() const {
  namespace by = parameters::quantities;
  std::vector<parameters::Quantity> result{by::vertices, by::obstacle_vertices};
  if (parameters_.friction) result.push_back(by::friction);
  return result;
}

template <int dim>
void Contact<dim>::add_parameter_products(double stiffness, double scale, const linalg::Vector& p,
                                          parameters::PhysicalGradient<dim>& g) const {
  const std::vector<Point> values = at_owned(p);
  std::vector<Point> rest(surface_->num_owned(), Point::Zero());
  fem::AreaSum areas{std::vector<double>(rest.size(), 0.0), {}};
  auto* by_vertex = g.rest_positions();
  if (by_vertex) add_barrier_shape_products(stiffness, values, rest, areas);
  if (friction_.vertices()) add_friction_parameter_products(scale, values, rest, areas, g);
  if (!by_vertex) return;
  std::vector<Point> field = surface_->area_gradient(areas);
  add_field<dim>(rest, 1, field);
  surface_->add_to_rest(field, *by_vertex, g.vectors(parameters::quantities::obstacle_vertices));
}

/// Adds to the derivatives by rest positions of the owned surface vertices and by areas.
template <int dim>
void Contact<dim>::add_barrier_shape_products(double stiffness, const std::vector<Point>& p,
                                              std::vector<Point>& rest, fem::AreaSum& areas) const {
  const std::vector<Point> values = vertices_->gather(p);
  // Vertices are at X + u, so that their positions change with X as they do with u.
  std::vector<Point> field = barrier_.hessian_product(*pairs_, stiffness, newton::Projection::none, values);
  add_mollifier_products<dim>(barrier_, *pairs_, stiffness, *vertices_, values, field);
  add_field<dim>(sum_at_owners(*vertices_, std::move(field)), 1, rest);
  if (!barrier_.form().area_weights) return;
  AreaProducts<dim> products(*vertices_);
  for (const ContactPair<dim>& pair : *pairs_)
    products.add(pair, stiffness * barrier_.gradient_per_weight(pair).dot(stencil_vector<dim>(pair, values)));
  products.add_to_owners(surface_->comm(), areas);
}

template <int dim>
void Contact<dim>::add_friction_parameter_products(double scale, const std::vector<Point>& p,
                                                   std::vector<Point>& rest, fem::AreaSum& areas,
                                                   parameters::PhysicalGradient<dim>& g) const {
  const ContactVertices<dim>& vertices = *friction_.vertices();
  const std::vector<Point> values = vertices.gather(p);
  const std::vector<ContactPair<dim>>& pairs = friction_.lagged_pairs();
  const std::vector<double> forces = friction_.unit_force_products(barrier_, friction_positions_, values);
  auto& by_coefficient = g.numbers(parameters::quantities::friction);
  for (std::size_t k = 0; k < pairs.size(); ++k)
    by_coefficient[parameters_.friction.entry(pairs[k].bodies[0], pairs[k].bodies[1])] +=
        scale * pairs[k].weight * forces[k];
  if (!g.rest_positions()) return;
  // Sliding does not change with the rest positions; the lagged positions do, as they do with u.
  add_field<dim>(sum_at_owners(vertices, friction_.lag_product(barrier_, friction_positions_, values)), scale,
                 rest);
  if (!barrier_.form().area_weights) return;
  AreaProducts<dim> products(vertices);
  for (std::size_t k = 0; k < pairs.size(); ++k)
    products.add(pairs[k], scale * friction_.coefficient(pairs[k]) * forces[k]);
  products.add_to_owners(surface_->comm(), areas);
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template std::vector<Eigen::Matrix<double, dim, 1>> Contact<dim>::hessian_product(                         \
      double, double, const linalg::Vector&) const;                                                          \
  template std::vector<Eigen::Matrix<double, dim, 1>> Contact<dim>::lag_product(                             \
      double, const linalg::Vector&) const;                                                                  \
  template std::vector<Eigen::Matrix<double, dim, 1>> Contact<dim>::start_product(                           \
      double, const linalg::Vector&) const;                                                                  \
  template std::vector<Eigen::Matrix<double, dim, 1>> Contact<dim>::previous_product(                        \
      double, const linalg::Vector&) const;                                                                  \
  template void Contact<dim>::add_parameter_products(double, double, const linalg::Vector&,                  \
                                                     parameters::PhysicalGradient<dim>&) const;
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::potentials
