#include "recoil/objectives/rest_separation.hpp"

#include "recoil/app/solvers/elastodynamics/build_contact.hpp"
#include "recoil/app/study/objectives/objective_type.hpp"
#include "recoil/app/study/objectives/observables_on_meshes.hpp"
#include "recoil/fem/collision_surface.hpp"

namespace recoil::app {
namespace {

struct RestSeparation final : ObjectiveOf<RestSeparation> {
  explicit RestSeparation(const Item& entry) : distance(entry["distance"].number()) {}

  template <int dim>
  auto make(const Observables<dim>& at) const {
    DiscreteScene<dim>& discrete = elements_of(at);
    const auto& obstacles = discrete.obstacles();
    auto surface = fem::collision_surface<dim>(discrete.space(), obstacles,
                                               discrete.solver().problem().dirichlet->flags());
    return objectives::make_rest_separation<dim>(
        region_of(at, bodies), std::move(surface),
        build_planes<dim>(discrete.scene(), discrete.mesh().body_names.size() + obstacles.names.size()),
        distance);
  }

  double distance;
};

} // namespace

std::vector<ObjectiveType> rest_separation_objectives() {
  const Key distance_key{.pattern = "/objectives/*/distance",
                         .types = number,
                         .required = true,
                         .range = positive,
                         .unit = "m",
                         .doc =
                             "Within which shapes push each other away. Longer than the shortest edge of "
                             "a surface, parts of it push that are no neighbours but close by themselves."};
  return {{.name = "rest_separation",
           .doc =
               "sum of b(d^2) over pairs of surface primitives that are closer than `distance` at rest, b "
               "the barrier of contact with dhat = `distance`: of the bodies among and with themselves and "
               "with obstacles, as in contact but with equal weights. Shapes that touch are refused.",
           .keys = {body_key, distance_key},
           .read = RestSeparation::read,
           .asks = ObservableKind::surfaces}};
}

} // namespace recoil::app
