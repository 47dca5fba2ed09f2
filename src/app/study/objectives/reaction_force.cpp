#include "recoil/objectives/reaction_force.hpp"

#include "app/study/objectives/objective_type.hpp"
#include "recoil/app/scene/build.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/suggest.hpp"

namespace recoil::app {
namespace {

/// Owned nodes on the facets with an id.
template <int dim>
std::vector<char> nodes_on_boundary(const fem::FunctionSpace<dim>& space, std::int32_t id) {
  std::vector<char> flags(space.num_owned_nodes(), 0);
  for (const fem::BoundaryFacet& facet : space.boundary_facets()) {
    if (facet.id != id) continue;
    const auto nodes = space.cell_nodes(facet.cell);
    for (const int place : space.basis(space.order(facet.cell)).facet_nodes(facet.facet))
      if (nodes[place] < space.num_owned_nodes()) flags[nodes[place]] = 1;
  }
  return flags;
}

class ReactionForce final : public ObjectiveOf<ReactionForce> {
public:
  explicit ReactionForce(const Item& entry)
      : target_(observations_of(entry)), direction_(entry["direction"].numbers()) {
    if (entry.has("boundary") == entry.has("obstacle"))
      entry.fail(
          "needs one of `boundary` (the id of a boundary with prescribed displacements) and `obstacle` "
          "(the name of an obstacle): whose force is observed");
    if (entry.has("boundary")) boundary_ = entry["boundary"].integer();
    if (entry.has("obstacle")) obstacle_ = entry["obstacle"].text();
    if (std::ranges::all_of(direction_, [](double component) { return component == 0; }))
      entry["direction"].fail("must not be zero");
  }
  std::vector<std::filesystem::path> files() const override { return {target_}; }
  void check_dimension(int dim) const override {
    require_count(direction_.size(), dim, dim, where.of("direction"), "the direction of a force");
  }
  void check(const ExperimentScene& at) const override {
    boundary_ ? check_boundary(at) : check_obstacle(at);
  }

  template <int dim>
  auto make(DiscreteScene<dim>& discrete) const {
    const auto& problem = discrete.solver().problem();
    objectives::Reaction<dim> reaction;
    reaction.direction = Eigen::Map<const Eigen::Matrix<double, dim, 1>>(direction_.data()).normalized();
    if (problem.contact) {
      reaction.contact = problem.contact.get();
      reaction.obstacles = [motion = &problem.obstacle_motion](double at) { return (*motion)(at, 1); };
    }
    boundary_ ? add_boundary(discrete, reaction) : add_obstacle(discrete, reaction);
    return objectives::make_reaction_force<dim>(
        discrete.space(), std::move(reaction),
        as_observed(*this, discrete.scene().time,
                    objectives::read_track<1>(discrete.space().comm(), target_, {"force"},
                                              objectives::Measured::force)));
  }

private:
  void check_boundary(const ExperimentScene& at) const {
    const auto& conditions = at.scene.boundary_conditions.dirichlet;
    if (std::ranges::any_of(conditions, [&](const auto& entry) { return acts_on(entry, *boundary_); }))
      return;
    at.fail(where, "boundary",
            "no displacement is prescribed on boundary " + std::to_string(*boundary_) +
                ", so that nothing there bears a force; name an id of "
                "boundary_conditions/dirichlet_boundary");
  }
  void check_obstacle(const ExperimentScene& at) const {
    if (!at.scene.contact.enabled)
      at.fail(where, "obstacle",
              "obstacles bear forces in contact only: set contact/enabled to true in " +
                  at.scene.file.string());
    const std::vector<std::string> names = obstacle_names(at.scene);
    if (std::ranges::find(names, *obstacle_) == names.end())
      at.fail(where, "obstacle",
              "'" + *obstacle_ + "' is no obstacle of this experiment; there are " +
                  list_names(names, "and"));
  }

  template <int dim>
  void add_boundary(DiscreteScene<dim>& discrete, objectives::Reaction<dim>& reaction) const {
    const auto& problem = discrete.solver().problem();
    reaction.nodes = nodes_on_boundary(discrete.space(), *boundary_);
    for (const auto& term : problem.terms)
      if (term.accounting == solvers::Accounting::energy)
        reaction.summands.push_back({term.potential.get(), term.potential.get() == problem.barrier
                                                               ? barrier_stiffness(discrete)
                                                               : 1.0});
  }

  /// The force of an obstacle on the nodes that are in contact with it.
  template <int dim>
  void add_obstacle(DiscreteScene<dim>& discrete, objectives::Reaction<dim>& reaction) const {
    const auto& problem = discrete.solver().problem();
    if (!problem.contact) throw InputError(where.of("obstacle"), "the scene has no contact");
    reaction.nodes.assign(discrete.space().num_owned_nodes(), 1);
    reaction.owned.push_back(
        std::make_unique<potentials::BarrierPotential<dim>>(*problem.contact, number_of_obstacle(discrete)));
    reaction.summands.push_back({reaction.owned.back().get(), -barrier_stiffness(discrete)});
  }
  /// As contact counts them: bodies, meshes, planes.
  template <int dim>
  std::int32_t number_of_obstacle(DiscreteScene<dim>& discrete) const {
    const fem::CollisionSurface<dim>& surface = discrete.solver().problem().contact->surface();
    const auto& names = discrete.obstacles().names;
    const auto found = std::ranges::find(names, *obstacle_);
    if (found != names.end()) return surface.num_bodies() + static_cast<std::int32_t>(found - names.begin());
    const auto& planes = discrete.scene().planes;
    const auto plane = std::ranges::find(planes, *obstacle_, &PlaneObstacle::name);
    return discrete.solver().problem().contact->parameters().planes[plane - planes.begin()].body;
  }

  std::filesystem::path target_;
  std::vector<double> direction_;
  std::optional<int> boundary_;
  std::optional<std::string> obstacle_;
};

} // namespace

ObjectiveType reaction_force_objective() {
  const Key boundary_key{.pattern = "/objectives/*/boundary",
                         .types = integer,
                         .doc = "Id of a boundary with prescribed displacements."},
      obstacle_key{.pattern = "/objectives/*/obstacle", .types = text, .doc = "Name of an obstacle."};
  return {.name = "reaction_force",
          .doc = "(R - y)^2 / sd^2, R the force along `direction` that the clamps of a `boundary`, or an "
                 "`obstacle`, exert on the bodies, y and sd from a CSV file with the columns "
                 "`time,force[,sd]`. It balances elastic and contact forces; inertia, damping, friction and "
                 "loads on the boundary itself are not part of it.",
          .keys = {boundary_key, obstacle_key, direction_key(), time_key(), observations_key()},
          .read = ReactionForce::read,
          .observes = true};
}

} // namespace recoil::app
