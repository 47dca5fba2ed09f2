#include <algorithm>
#include <ranges>
#include <set>

#include "app/study/kinds/scene_checks.hpp"
#include "recoil/app/scene/build.hpp"
#include "recoil/app/study/fields/scene_draft.hpp"
#include "recoil/app/study/kinds/particle_actions.hpp"
#include "recoil/base/suggest.hpp"

namespace recoil::app {
namespace {

void check_friction(const ExperimentScene& at, const ParameterSpec& parameter) {
  const auto deformable = deformable_names(at.scene), obstacles = obstacle_names(at.scene);
  auto all = deformable;
  all.insert(all.end(), obstacles.begin(), obstacles.end());
  for (const std::string& name : parameter.bodies)
    if (!holds(all, name))
      at.fail(parameter.where, "bodies", "there is no body '" + name + "'" + did_you_mean(name, all));
  require_contact(at, parameter);
  if (holds(obstacles, parameter.bodies[0]) && holds(obstacles, parameter.bodies[1]))
    at.fail(parameter.where, "bodies",
            "'" + parameter.bodies[0] + "' and '" + parameter.bodies[1] +
                "' are obstacles, which never touch each other; name a deformable body");
  require_sliding(at, parameter);
}

constexpr auto apply_friction = [](const auto& field, FieldValues values, const auto& to) {
  const auto& bodies = field.spec->bodies;
  to.scene.contact.friction_pairs.push_back({{bodies[0], bodies[1]}, values[0]});
};

/// The last coefficient of a pair counts, and a scene may give one only.
constexpr auto write_friction = [](const auto&, FieldValues, auto& to) {
  nlohmann::json& list = to.json["contact"]["friction_pairs"] = nlohmann::json::array();
  std::set<std::set<std::string>> seen;
  for (const FrictionPair& pair : std::views::reverse(to.scene.contact.friction_pairs))
    if (seen.insert({pair.bodies[0], pair.bodies[1]}).second)
      list.push_back({{"bodies", pair.bodies}, {"coefficient", pair.coefficient}});
};

/// The coefficients of a scene are those of its pairs in their order, then that of all others.
constexpr auto friction_weights = [](const auto& of, const TakeWeight& take) {
  const auto& pairs = of.scene().contact.friction_pairs;
  const auto own = std::find_if(pairs.rbegin(), pairs.rend(), [&](const FrictionPair& pair) {
    return std::ranges::is_permutation(pair.bodies, of.field().spec->bodies);
  });
  take(0, pairs.rend() - own - 1, 1);
};

template <int dim>
ParameterActions<dim> friction_actions() {
  return {.apply = apply_friction, .write = write_friction, .weights = friction_weights};
}

} // namespace

const ParticleActions particle_friction{
    check_friction, apply_friction, write_friction, {parameters::quantities::friction}, friction_weights};

std::vector<ParameterKind> friction_parameters() {
  return {{.name = "friction",
           .takes = {"bodies"},
           .needs = {"bodies"},
           .range = non_negative,
           .doc = "Coulomb coefficient of a pair of bodies.",
           .quantities = {parameters::quantities::friction},
           .check = check_friction,
           .by_dimension = {friction_actions<2>(), friction_actions<3>()},
           .on_particles = &particle_friction}};
}

} // namespace recoil::app
