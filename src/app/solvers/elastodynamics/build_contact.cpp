#include "recoil/app/solvers/elastodynamics/build_contact.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "recoil/app/solvers/elastodynamics/conventions.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/log.hpp"
#include "recoil/fem/collision_surface.hpp"
#include "recoil/fem/dirichlet.hpp"

namespace recoil::app {

namespace {

template <int dim>
std::vector<double> displacement(const std::vector<const DirichletEntry*>& motions,
                                 const mesh::DistributedObstacles<dim>& obstacles, double time,
                                 double factor) {
  std::vector<double> displacement(obstacles.vertices.size() * dim, 0.0);
  for (std::size_t v = 0; v < obstacles.vertices.size(); ++v) {
    const DirichletEntry* motion = motions[obstacles.vertex_surface[v]];
    if (motion == nullptr) continue;
    const ExpressionPoint point = fem::expression_point<dim>(obstacles.vertices[v], time);
    for (int i = 0; i < dim; ++i) {
      const double value = factor * motion->evaluate(i, point);
      if (!std::isfinite(value))
        throw InputError(motion->where,
                         fmt::format("the motion of obstacle '{}' is not a finite number at t = {:g}",
                                     obstacles.names[obstacles.vertex_surface[v]], time));
      displacement[v * dim + i] = value;
    }
  }
  return displacement;
}

template <int dim>
std::function<std::vector<double>(double, double)>
obstacle_motion(const Scene& scene, const mesh::DistributedObstacles<dim>& obstacles,
                const parallel::Communicator& comm) {
  std::vector<const DirichletEntry*> motions;
  for (std::size_t k = 0; k < obstacles.names.size(); ++k) {
    const DirichletEntry* motion = find_obstacle_motion(scene.boundary_conditions, obstacles.surface_ids[k]);
    if (motion != nullptr && motion->nodal)
      throw InputError(motion->where,
                       "the obstacle '" + obstacles.names[k] +
                           "' has this id, too, and no nodes with values; give it an id and an "
                           "entry of `obstacle_displacements` of its own");
    motions.push_back(motion);
  }
  return [motions, &obstacles, &comm](double time, double factor) {
    return parallel::collectively(comm, [&] { return displacement<dim>(motions, obstacles, time, factor); });
  };
}

/// Per obstacle, whether it moves so that its flat parts stay flat; none if they do not matter.
std::vector<char> stays_flat(const Scene& scene, const std::vector<std::int32_t>& surface_ids) {
  if (!counts_flat_parts_once(scene)) return {};
  const auto keeps_planes = [](const ComponentValue& component) {
    return component.value.is_affine_in_position() &&
           std::ranges::all_of(component.per_time, &Expression::is_affine_in_position);
  };
  std::vector<char> result;
  for (const int id : surface_ids) {
    const DirichletEntry* motion = find_obstacle_motion(scene.boundary_conditions, id);
    result.push_back(motion == nullptr || std::ranges::all_of(motion->value, keeps_planes) ? 1 : 0);
  }
  return result;
}

/// The length of the shortest edge of a surface at rest. Collective.
template <int dim>
double shortest_edge(const surface::Surface<dim>& surface) {
  double shortest = std::numeric_limits<double>::infinity();
  for (const auto& edge : surface.edges()) {
    const auto rest = [&](std::size_t k) {
      return Eigen::Map<const Eigen::Matrix<double, dim, 1>>(surface.vertices()[edge[k]].rest.data());
    };
    shortest = std::min(shortest, (rest(0) - rest(1)).norm());
  }
  return surface.comm().min(shortest);
}

/// Parts of a body whose edges are shorter than a potential of pairs reaches act on each other. Collective.
template <int dim>
void warn_of_short_edges(const surface::Surface<dim>& surface, const UnitSystem& units,
                         const std::string& key, double reach, const std::string& consequence) {
  const double shortest = shortest_edge(surface);
  if (shortest < reach)
    log_warning_once(fmt::format("{} is {:g} {}, more than the shortest edge of the surface ({:g} {}): "
                                 "parts of one body may {}",
                                 key, reach, units.length, shortest, units.length, consequence));
}

/// The geometric contact potential knows pairs of facets and of what bounds them. Collective.
template <int dim>
void refuse_loose_parts(const surface::Surface<dim>& surface) {
  constexpr GlobalIndex none = std::numeric_limits<GlobalIndex>::max();
  GlobalIndex loose = none;
  for (LocalIndex v = 0; v < surface.num_owned(); ++v) {
    const auto& vertex = surface.vertices()[v];
    const mesh::VertexDegrees& degrees = vertex.degrees;
    const bool is_loose =
        dim == 3 ? degrees.faces == 0 || degrees.face_edges < degrees.edges : degrees.edges == 0;
    if (surface.is_obstacle(vertex.body) && is_loose) loose = std::min(loose, GlobalIndex{vertex.body});
  }
  loose = surface.comm().min(loose);
  if (loose != none)
    throw InputError("/contact/use_gcp_formulation",
                     fmt::format("the obstacle '{}' has {}, which this form of contact does not know; remove "
                                 "them, or leave use_gcp_formulation out",
                                 surface.body_name(static_cast<std::int32_t>(loose)),
                                 dim == 3 ? "edges or points without triangles" : "points without edges"));
}

/// Copies of bodies in the cells next to a periodic one rub as the bodies themselves.
potentials::FrictionCoefficients of_copies(potentials::FrictionCoefficients friction,
                                           std::int32_t num_bodies) {
  if (!friction) return friction;
  return {friction.values, [entry = friction.entry, num_bodies](std::int32_t a, std::int32_t b) {
            return entry(a % num_bodies, b % num_bodies);
          }};
}

/// Adhesion over the pairs of another search, with the weights of contact. Collective.
template <int dim>
void add_adhesion(const Scene& scene, solvers::ElastodynamicsProblem<dim>& problem) {
  const ContactSpec& contact = scene.contact;
  const potentials::ContactState<dim>& of_contact = *problem.contact;
  const double dhat = of_contact.parameters().dhat;
  if (contact.adhesion_peak < dhat)
    throw InputError("/contact/adhesion/dhat_p",
                     fmt::format("must be at least the distance below which the barrier pushes, {:g} {} "
                                 "(contact/dhat or contact/dhat_relative); is {:g} {}",
                                 dhat, scene.units.length, contact.adhesion_peak, scene.units.length));
  warn_of_short_edges(of_contact.surface(), scene.units, "contact/adhesion/dhat_a", contact.adhesion_reach,
                      "pull on each other at rest");
  potentials::ContactParameters<dim> parameters{.dhat = contact.adhesion_reach,
                                                .form = of_contact.parameters().form,
                                                .planes = of_contact.parameters().planes,
                                                .friction = {}};
  parameters.form.adhesion_peak = contact.adhesion_peak;
  if (contact.tangential_adhesion) {
    parameters.eps_v = contact.epsa;
    parameters.friction = {{tangential_adhesion_unit(scene) * *contact.tangential_adhesion},
                           [](std::int32_t, std::int32_t) { return std::size_t{0}; }};
  }
  problem.add_adhesion(std::make_unique<potentials::AdhesionPotential<dim>>(
      std::make_shared<potentials::ContactState<dim>>(
          std::make_unique<const surface::Surface<dim>>(of_contact.surface()), std::move(parameters),
          &of_contact),
      *contact.adhesion_strength));
}

} // namespace

template <int dim>
void add_contact(const Scene& scene, const mesh::DistributedObstacles<dim>& obstacles,
                 solvers::ElastodynamicsProblem<dim>& problem) {
  if (!scene.contact.enabled) return;
  const auto& mesh = problem.space->mesh();
  potentials::ContactParameters<dim> parameters;
  parameters.dhat = contact_distance(scene.contact, (mesh.max_corner - mesh.min_corner).norm());
  parameters.form = barrier_form(scene);
  parameters.planes = build_planes<dim>(scene, mesh.body_names.size() + obstacles.names.size());
  parameters.eps_v = scene.contact.epsv;
  parameters.friction = friction_coefficients(scene, mesh.body_names, obstacles.names);
  if (scene.contact.periodic)
    parameters.friction = of_copies(parameters.friction, static_cast<std::int32_t>(mesh.body_names.size()));
  auto surface =
      scene.contact.periodic
          ? fem::periodic_surface<dim>(*problem.space, *problem.periodic, problem.dirichlet->flags())
          : fem::collision_surface<dim>(*problem.space, obstacles, problem.dirichlet->flags(),
                                        stays_flat(scene, obstacles.surface_ids));
  if (parameters.form.geometric)
    refuse_loose_parts(*surface);
  else
    warn_of_short_edges(*surface, scene.units, "contact/dhat", parameters.dhat,
                        dim == 3 && parameters.form.inclusion_exclusion
                            ? "press on each other at rest; use_improved_max_operator may take away more "
                              "than edges push"
                            : "press on each other at rest");
  problem.add_contact(
      std::make_unique<potentials::ContactState<dim>>(std::move(surface), std::move(parameters)));
  if (scene.contact.adhesion_enabled) add_adhesion<dim>(scene, problem);
  problem.obstacle_motion = obstacle_motion<dim>(scene, obstacles, problem.space->comm());
}

template void add_contact(const Scene&, const mesh::DistributedObstacles<2>&,
                          solvers::ElastodynamicsProblem<2>&);
template void add_contact(const Scene&, const mesh::DistributedObstacles<3>&,
                          solvers::ElastodynamicsProblem<3>&);

} // namespace recoil::app
