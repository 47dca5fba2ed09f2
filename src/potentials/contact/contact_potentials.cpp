#include "recoil/potentials/contact/contact_potentials.hpp"

#include "potentials/contact/surface_changes.hpp"

namespace recoil::potentials {

namespace {

namespace by = parameters::quantities;

/// Derivative of the threshold of a mollifier by the rest positions.
geometry::StencilVector<3> mollifier_eps_gradient(const ContactState<3>& state, const ContactPair<3>& pair) {
  geometry::StencilPoints<3> rest;
  for (int i = 0; i < 4; ++i) rest.col(i) = state.vertices()->rest(pair.vertices[i]);
  return geometry::edge_edge_mollifier_eps_gradient(rest);
}

/// The derivative that comes from the thresholds of the mollifiers, which are made of rest edges, by the rest
/// positions of `vertices`.
template <int dim>
void add_mollifier_products(const ContactState<dim>& state, const std::vector<ContactPair<dim>>& pairs,
                            double factor, const std::vector<typename ContactState<dim>::Point>& p,
                            std::vector<typename ContactState<dim>::Point>& field) {
  if constexpr (dim == 3)
    for (const ContactPair<dim>& pair : pairs) {
      if (!pair.mollifier.is_mollified) continue;
      const double by_eps =
          factor * state.barrier().gradient_by_mollifier_eps(pair).dot(stencil_vector<3>(pair, p));
      add_at_stencil<3>(pair, by_eps * mollifier_eps_gradient(state, pair), field);
    }
}

/// The transpose: what a change `rest` of the rest positions of `vertices` adds to the forces through the
/// mollifiers.
template <int dim>
void add_mollifier_tangent(const ContactState<dim>& state, const std::vector<ContactPair<dim>>& pairs,
                           const std::vector<typename ContactState<dim>::Point>& rest,
                           std::vector<typename ContactState<dim>::Point>& field) {
  if constexpr (dim == 3)
    for (const ContactPair<dim>& pair : pairs) {
      if (!pair.mollifier.is_mollified) continue;
      const double eps = mollifier_eps_gradient(state, pair).dot(stencil_vector<3>(pair, rest));
      add_at_stencil<3>(pair, eps * state.barrier().gradient_by_mollifier_eps(pair), field);
    }
}

} // namespace

template <int dim>
std::shared_ptr<const std::vector<ContactPair<dim>>> BarrierPotential<dim>::pairs() const {
  return body_ ? pairs_with(state_->pairs(), *body_) : state_->shared_pairs();
}

template <int dim>
typename BarrierPotential<dim>::Field BarrierPotential<dim>::gradient() const {
  const surface::StencilVertices<dim>& vertices = *state_->vertices();
  return state_->sum_at_owners(vertices, state_->barrier().gradient(*pairs(), vertices.size()));
}

template <int dim>
typename BarrierPotential<dim>::Field BarrierPotential<dim>::hessian_product(const Field& motion,
                                                                             Projection projection) const {
  const surface::StencilVertices<dim>& vertices = *state_->vertices();
  return state_->sum_at_owners(
      vertices, state_->barrier().hessian_product(*pairs(), 1, projection, vertices.gather(motion)));
}

template <int dim>
double BarrierPotential<dim>::value(std::span<const double>) const {
  return state_->barrier().value(*pairs());
}

template <int dim>
void BarrierPotential<dim>::add_gradient(std::span<const double>, double factor, std::span<double> g) const {
  state_->add_to_nodes(gradient(), factor, g);
}

template <int dim>
void BarrierPotential<dim>::add_hessian(std::span<const double>, double factor, Projection projection,
                                        const linalg::HessianSink& H) const {
  state_->barrier().add_hessian(*pairs(), *state_->vertices(), factor, projection, *H.stencils);
}

template <int dim>
void BarrierPotential<dim>::add_hessian_product(std::span<const double>, std::span<const double> p,
                                                double factor, std::span<double> y) const {
  state_->add_to_nodes(hessian_product(state_->at_owned(p), Projection::none), factor, y);
}

template <int dim>
std::vector<parameters::Quantity> BarrierPotential<dim>::quantities() const {
  return {by::vertices, by::obstacle_vertices, by::obstacle_positions};
}

template <int dim>
void BarrierPotential<dim>::add_parameter_products(std::span<const double>, std::span<const double> p,
                                                   double factor,
                                                   parameters::PhysicalGradient<dim>& g) const {
  const bool of_obstacles = g.find_vectors(by::obstacle_positions) != nullptr;
  if (!of_obstacles && !g.rest_positions()) return;
  const surface::StencilVertices<dim>& vertices = *state_->vertices();
  const Barrier<dim>& barrier = state_->barrier();
  const auto own = pairs();
  const std::vector<ContactPair<dim>>& pairs = *own;
  const auto values = vertices.gather(state_->at_owned(p));
  auto field = barrier.hessian_product(pairs, factor, Projection::none, values);
  if (of_obstacles) add_to_array<dim>(state_->sum_at_owners(vertices, field), 1, by::obstacle_positions, g);
  if (!g.rest_positions()) return;
  // Vertices are at X + u, so that their positions change with X as they do with u.
  add_mollifier_products<dim>(*state_, pairs, factor, values, field);
  ShapeProducts<dim> shape(state_->surface());
  add_field(state_->sum_at_owners(vertices, std::move(field)), 1, shape.rest);
  if (barrier.form().area_weights) {
    AreaProducts<dim> products(vertices);
    for (const ContactPair<dim>& pair : pairs)
      products.add(pair, factor * barrier.gradient(pair, 1).dot(stencil_vector<dim>(pair, values)));
    products.add_to_owners(state_->surface().comm(), shape.areas);
  }
  shape.add_to(state_->surface(), g);
}

template <int dim>
void BarrierPotential<dim>::add_parameter_tangent(std::span<const double>,
                                                  const parameters::PhysicalDirection<dim>& dq, double factor,
                                                  std::span<double> y) const {
  const SurfaceChanges<dim> changes(state_->surface(), dq);
  const surface::StencilVertices<dim>& vertices = *state_->vertices();
  const Barrier<dim>& barrier = state_->barrier();
  const auto own = pairs();
  const std::vector<ContactPair<dim>>& pairs = *own;
  // Vertices are at X + u.
  Field motion = changes.rest;
  add_field(changes.obstacles_now, 1, motion);
  auto field = barrier.hessian_product(pairs, 1, Projection::none, vertices.gather(motion));
  if (changes.has_rest) {
    add_mollifier_tangent<dim>(*state_, pairs, vertices.gather(changes.rest), field);
    if (barrier.form().area_weights) {
      const AreaChanges<dim> areas(state_->surface().comm(), vertices, pairs,
                                   state_->surface().area_changes(changes.known_rest));
      for (const ContactPair<dim>& pair : pairs)
        add_at_stencil<dim>(pair, areas.of_weight(pair) * barrier.gradient(pair, 1), field);
    }
  }
  state_->add_to_nodes(state_->sum_at_owners(vertices, std::move(field)), factor, y);
}

/// Sum over ranks of a product with p at the vertices of lagged friction.
template <int dim>
typename FrictionPotential<dim>::Field FrictionPotential<dim>::product(Product product,
                                                                       std::span<const double> p) const {
  const Friction<dim>& friction = this->friction();
  const auto& vertices = friction.vertices();
  if (!vertices) return Field(state_->surface().num_owned(), ContactState<dim>::Point::Zero());
  return state_->sum_at_owners(
      *vertices, (friction.*product)(state_->friction_positions(), vertices->gather(state_->at_owned(p))));
}

template <int dim>
typename FrictionPotential<dim>::Field FrictionPotential<dim>::gradient() const {
  const Friction<dim>& friction = this->friction();
  if (!friction.vertices()) return Field(state_->surface().num_owned(), ContactState<dim>::Point::Zero());
  return state_->sum_at_owners(*friction.vertices(), friction.gradient(state_->friction_positions()));
}

template <int dim>
typename FrictionPotential<dim>::Field FrictionPotential<dim>::end_product(std::span<const double> p) const {
  Field result = product(&Friction<dim>::hessian_product, p);
  if (has_unsymmetric_part()) add_field(product(&Friction<dim>::lag_product, p), 1, result);
  return result;
}

template <int dim>
typename FrictionPotential<dim>::Field
FrictionPotential<dim>::start_product(std::span<const double> p) const {
  Field result(state_->surface().num_owned(), ContactState<dim>::Point::Zero());
  if (!has_unsymmetric_part()) result = product(&Friction<dim>::lag_product, p);
  // What moves the end forth moves the start back.
  add_field(product(&Friction<dim>::hessian_product, p), -1, result);
  return result;
}

template <int dim>
double FrictionPotential<dim>::value(std::span<const double>) const {
  return friction().vertices() ? friction().value(state_->friction_positions()) : 0;
}

template <int dim>
void FrictionPotential<dim>::add_gradient(std::span<const double>, double factor, std::span<double> g) const {
  state_->add_to_nodes(gradient(), factor, g);
}

template <int dim>
void FrictionPotential<dim>::add_hessian(std::span<const double>, double factor, Projection projection,
                                         const linalg::HessianSink& H) const {
  const Friction<dim>& friction = this->friction();
  if (!friction.vertices()) return;
  if (projection == Projection::per_element)
    friction.add_secants(state_->friction_positions(), factor, *H.stencils);
  else
    friction.add_hessian(state_->friction_positions(), factor, *H.stencils);
}

template <int dim>
void FrictionPotential<dim>::add_hessian_product(std::span<const double>, std::span<const double> p,
                                                 double factor, std::span<double> y) const {
  state_->add_to_nodes(end_product(p), factor, y);
}

template <int dim>
bool FrictionPotential<dim>::has_unsymmetric_part() const {
  return state_->parameters().friction && state_->friction_lagged_at() == LaggedAt::end;
}

template <int dim>
void FrictionPotential<dim>::add_unsymmetric_product(std::span<const double> p, double factor,
                                                     std::span<double> y) const {
  if (has_unsymmetric_part()) state_->add_to_nodes(product(&Friction<dim>::lag_product, p), factor, y);
}

template <int dim>
void FrictionPotential<dim>::add_previous_product(std::span<const double>, std::span<const double> p,
                                                  double factor, std::span<double> y) const {
  state_->add_to_nodes(start_product(p), factor, y);
}

template <int dim>
std::vector<parameters::Quantity> FrictionPotential<dim>::quantities() const {
  if (!state_->parameters().friction) return {};
  std::vector<parameters::Quantity> all{coefficients(), by::vertices, by::obstacle_vertices,
                                        by::obstacle_positions, by::previous_obstacle_positions};
  if (is_adhesion()) all.push_back(by::adhesion_strength);
  return all;
}

template <int dim>
void FrictionPotential<dim>::add_parameter_products(std::span<const double>, std::span<const double> p,
                                                    double factor,
                                                    parameters::PhysicalGradient<dim>& g) const {
  const Friction<dim>& friction = this->friction();
  if (!friction.vertices()) return;
  if (g.find_vectors(by::obstacle_positions)) {
    add_to_array<dim>(end_product(p), factor, by::obstacle_positions, g);
    add_to_array<dim>(start_product(p), factor, by::previous_obstacle_positions, g);
  }
  const surface::StencilVertices<dim>& vertices = *friction.vertices();
  const auto values = vertices.gather(state_->at_owned(p));
  const std::vector<ContactPair<dim>>& pairs = friction.lagged_pairs();
  const auto forces = friction.unit_force_products(state_->friction_positions(), values);
  auto& by_coefficient = g.numbers(coefficients());
  const FrictionCoefficients& values_of = state_->parameters().friction;
  for (std::size_t k = 0; k < pairs.size(); ++k)
    by_coefficient[values_of.entry(pairs[k].bodies[0], pairs[k].bodies[1])] +=
        factor * friction.stiffness() * pairs[k].weight * forces[k];
  if (is_adhesion())
    if (auto* by_strength = g.find_numbers(by::adhesion_strength))
      for (std::size_t k = 0; k < pairs.size(); ++k)
        by_strength->front() += factor * friction.coefficient(pairs[k]) * pairs[k].weight * forces[k];
  if (!g.rest_positions()) return;
  // Sliding does not change with the rest positions; the lagged positions do, as they do with u.
  ShapeProducts<dim> shape(state_->surface());
  add_field(product(&Friction<dim>::lag_product, p), factor, shape.rest);
  if (state_->barrier().form().area_weights) {
    AreaProducts<dim> products(vertices);
    for (std::size_t k = 0; k < pairs.size(); ++k)
      products.add(pairs[k], factor * friction.stiffness() * friction.coefficient(pairs[k]) * forces[k]);
    products.add_to_owners(state_->surface().comm(), shape.areas);
  }
  shape.add_to(state_->surface(), g);
}

template <int dim>
void FrictionPotential<dim>::add_unsymmetric_tangent(std::span<const double> x, double factor,
                                                     std::span<double> y) const {
  if (has_unsymmetric_part()) state_->add_to_nodes(product(&Friction<dim>::lag_tangent, x), factor, y);
}

template <int dim>
void FrictionPotential<dim>::add_previous_tangent(std::span<const double>, std::span<const double> x,
                                                  double factor, std::span<double> y) const {
  state_->add_to_nodes(product(&Friction<dim>::hessian_product, x), -factor, y);
  if (!has_unsymmetric_part()) state_->add_to_nodes(product(&Friction<dim>::lag_tangent, x), factor, y);
}

template <int dim>
void FrictionPotential<dim>::add_parameter_tangent(std::span<const double>,
                                                   const parameters::PhysicalDirection<dim>& dq,
                                                   double factor, std::span<double> y) const {
  const Friction<dim>& friction = this->friction();
  if (!friction.vertices()) return;
  const SurfaceChanges<dim> changes(state_->surface(), dq);
  const surface::StencilVertices<dim>& vertices = *friction.vertices();
  const Field& positions = state_->friction_positions();
  // Sliding does not change with the rest positions; the lagged positions do, as they do with u.
  Field sliding = changes.obstacles_now, lagged = changes.rest;
  add_field(changes.obstacles_before, -1, sliding);
  add_field(has_unsymmetric_part() ? changes.obstacles_now : changes.obstacles_before, 1, lagged);
  Field field = friction.hessian_product(positions, vertices.gather(sliding));
  add_field(friction.lag_tangent(positions, vertices.gather(lagged)), 1, field);

  const std::vector<ContactPair<dim>>& pairs = friction.lagged_pairs();
  std::vector<double> strengths(pairs.size(), 0.0); // stiffness times coefficient times weight
  if (const auto* changes_of = dq.find_numbers(coefficients()))
    for (std::size_t k = 0; k < pairs.size(); ++k)
      strengths[k] +=
          friction.stiffness() *
          (*changes_of)[state_->parameters().friction.entry(pairs[k].bodies[0], pairs[k].bodies[1])] *
          pairs[k].weight;
  if (const auto* strength = dq.find_numbers(by::adhesion_strength); strength != nullptr && is_adhesion())
    for (std::size_t k = 0; k < pairs.size(); ++k)
      strengths[k] += strength->front() * friction.coefficient(pairs[k]) * pairs[k].weight;
  if (changes.has_rest && state_->barrier().form().area_weights) {
    const AreaChanges<dim> areas(state_->surface().comm(), vertices, pairs,
                                 state_->surface().area_changes(changes.known_rest));
    for (std::size_t k = 0; k < pairs.size(); ++k)
      strengths[k] += friction.stiffness() * friction.coefficient(pairs[k]) * areas.of_weight(pairs[k]);
  }
  add_field(friction.unit_forces(positions, strengths), 1, field);
  state_->add_to_nodes(state_->sum_at_owners(vertices, std::move(field)), factor, y);
}

template class BarrierPotential<2>;
template class BarrierPotential<3>;
template class FrictionPotential<2>;
template class FrictionPotential<3>;

} // namespace recoil::potentials
