#include "recoil/objectives/forces.hpp"

#include <array>
#include <cmath>
#include <map>
#include <set>

#include "recoil/app/scene/build.hpp"
#include "recoil/app/solvers/bonded_particles/particle_problem.hpp"
#include "recoil/app/solvers/elastodynamics/conventions.hpp"
#include "recoil/app/study/fields/parameter_kind.hpp"
#include "recoil/app/study/objectives/experiment_objectives.hpp"
#include "recoil/app/study/objectives/particle_objectives.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/suggest.hpp"

namespace recoil::app {
namespace {

/// What the barrier is multiplied by in the energy. @pre the scene has contact of a given stiffness.
template <int dim>
double barrier_stiffness(DiscreteScene<dim>& discrete) {
  const double dhat = discrete.solver().problem().contact->parameters().dhat;
  return *discrete.scene().contact.barrier_stiffness / stiffness_unit(discrete.scene(), dhat);
}

struct ContactForceNorm final : ObjectiveOf<ContactForceNorm> {
  explicit ContactForceNorm(const Item&) {}

  void check(const ExperimentScene& at) const override {
    if (!at.scene.contact.enabled)
      at.fail(where, "type",
              "contact_force_norm needs contact: set contact/enabled to true in " + at.scene.file.string());
    const auto* list = time ? std::get_if<objectives::ChosenSteps>(&*time) : nullptr;
    if (at.scene.time.kind == TimeKind::statics && list && list->steps.front() == 0)
      at.fail(
          where, "time",
          "contact_force_norm is known for the solution of a static scene only, step 1, not for its start");
  }

  template <int dim>
  auto make(DiscreteScene<dim>& discrete) const {
    const auto& problem = discrete.solver().problem();
    if (!problem.contact) throw InputError(where.of("type"), "the scene has no contact");
    return objectives::make_contact_force_norm<dim>(
        region_of(*this, discrete), *problem.contact, barrier_stiffness(discrete),
        [motion = &problem.obstacle_motion](double at) { return (*motion)(at, 1); });
  }
};

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

class ReactionForce final : public ObservedObjectiveOf<ReactionForce> {
public:
  explicit ReactionForce(const Item& entry)
      : ObservedObjectiveOf(entry), direction_(entry["direction"].numbers()) {
    if (entry.has("boundary") == entry.has("obstacle"))
      entry.fail(
          "needs one of `boundary` (the id of a boundary with prescribed displacements) and `obstacle` "
          "(the name of an obstacle): whose force is observed");
    if (entry.has("boundary") && entry["boundary"].is_list())
      entry["boundary"].fail("the force is that of one boundary: one id, not a list; is " +
                             entry["boundary"].dump());
    if (entry.has("boundary")) boundary_ = entry["boundary"].integer();
    if (entry.has("obstacle")) obstacle_ = entry["obstacle"].text();
    if (std::ranges::all_of(direction_, [](double component) { return component == 0; }))
      entry["direction"].fail("must not be zero");
  }
  void check_dimension(int dim) const override {
    require_count(direction_.size(), dim, dim, where.of("direction"), "the direction of a force");
  }
  void check(const ExperimentScene& at) const override {
    boundary_ ? check_boundary(at) : check_obstacle(at);
  }

  template <int dim>
  ObjectiveMaker<dim> open_in(const ExperimentMesh<dim>& at) const {
    const objectives::Track<1> track = objectives::read_forces(*at.mesh.comm, target);
    track.is_load_curve ? check_load_curve(at) : check_observed_times(at.scene.time, track);
    return [this, track = as_observed(*this, at.scene.time, track)](DiscreteScene<dim>& discrete) {
      return make(discrete, track);
    };
  }

  std::unique_ptr<objectives::Objective<3>> make_on(const ParticleScene& at) const override {
    const auto& particles = *at.problem.particles;
    const parallel::Communicator& comm = *particles.points->comm;
    objectives::Track<1> track = objectives::read_forces(comm, target);
    ParticleSupport support{Eigen::Map<const Eigen::Vector3d>(direction_.data()).normalized()};
    if (boundary_)
      support.particles = particles_with_id(comm, at.scene, particles, "", *boundary_, where.of("boundary"));
    else
      support.obstacle =
          std::int32_t(particles.body_names.size()) + place_in(obstacle_names(at.scene), *obstacle_);
    objectives::Travel travel;
    if (track.is_load_curve) {
      if (boundary_) require_fixed_motion(at);
      travel = travel_of(at, support);
      check_reach(at.scene.time, track, travel);
    }
    return make_particle_reaction(at.problem, std::move(support),
                                  as_observed(*this, at.scene.time, std::move(track)), std::move(travel));
  }

private:
  /// As check_load_curve().
  void require_fixed_motion(const ParticleScene& at) const {
    for (const ParameterSpec& parameter : at.study.parameters)
      if (parameter.acts_in(experiment) && parameter.kind->moves_supports) refuse_moving_curve(parameter);
  }
  double travel_of_particles(const ParticleScene& at, const ParticleSupport& support, double time) const {
    const auto& particles = *at.problem.particles;
    const parallel::Communicator& comm = *particles.points->comm;
    std::vector<double> u(7 * particles.ids.size(), 0.0);
    parallel::collectively(comm, [&] {
      if (at.problem.move_prescribed) at.problem.move_prescribed(time, u);
    });
    std::array<double, 2> sum{};
    bool is_free = false;
    for (const LocalIndex k : support.particles) {
      for (int i = 0; i < 3; ++i)
        is_free |= support.direction[i] != 0 && at.problem.prescribed[6 * std::size_t(k) + i] == 0;
      const Eigen::Map<const Eigen::Vector3d> place(u.data() + 7 * std::size_t(k));
      for (int i = 0; i < 3; ++i)
        if (support.direction[i] != 0)
          sum[0] += support.direction[i] * (place[i] - particles.positions[k][i]);
      sum[1] += 1;
    }
    if (comm.any(is_free)) refuse_free_support();
    comm.sum(sum);
    return sum[0] / sum[1];
  }
  /// The mean over the vertices of its triangles, or that of a plane.
  double travel_of_obstacle(const ParticleScene& at, const ParticleSupport& support, double time) const {
    const potentials::SphereObstacles& obstacles = at.problem.contact->obstacles();
    const auto plane = std::ranges::find(obstacles.planes, support.obstacle, &potentials::Plane<3>::body);
    if (plane != obstacles.planes.end())
      return obstacles.place_planes
                 ? support.direction.dot(obstacles.place_planes(time)[plane - obstacles.planes.begin()] -
                                         plane->point)
                 : 0;
    if (!obstacles.place) return 0;
    const std::vector<Eigen::Vector3d> places = obstacles.place(time);
    std::set<LocalIndex> vertices;
    for (std::size_t t = 0; t < obstacles.triangles.size(); ++t)
      if (obstacles.bodies[t] == support.obstacle)
        vertices.insert(obstacles.triangles[t].begin(), obstacles.triangles[t].end());
    double sum = 0;
    for (const LocalIndex v : vertices) sum += support.direction.dot(places[v] - obstacles.vertices[v]);
    return sum / double(vertices.size());
  }
  objectives::Travel travel_of(const ParticleScene& at, const ParticleSupport& support) const {
    std::map<double, double> at_states;
    for (const double t : observed_state_times(at.scene.time))
      at_states[t] = boundary_ ? travel_of_particles(at, support, t) : travel_of_obstacle(at, support, t);
    return between_states(std::move(at_states));
  }

  template <int dim>
  auto make(DiscreteScene<dim>& discrete, const objectives::Track<1>& track) const {
    objectives::Reaction<dim> reaction;
    reaction.direction = Eigen::Map<const Eigen::Matrix<double, dim, 1>>(direction_.data()).normalized();
    reaction.enter_step = [&solver = discrete.solver()](const objectives::ObservedState& state) {
      RECOIL_ASSERT(state.record != nullptr);
      solver.enter_step(*state.record, state.u, state.previous_u);
    };
    boundary_ ? add_boundary(discrete, reaction) : add_obstacle(discrete, reaction);
    objectives::Travel travel;
    if (track.is_load_curve) {
      travel = travel_of(discrete, reaction);
      check_reach(discrete.scene().time, track, travel);
    }
    return objectives::make_reaction_force<dim>(discrete.space(), std::move(reaction), track,
                                                std::move(travel));
  }

  /// The observed force at a displacement has a derivative by it that the objective does not know.
  template <int dim>
  void check_load_curve(const ExperimentMesh<dim>& at) const {
    for (const ParameterSpec& parameter : at.study.parameters) {
      const Enters enters = actions_of<dim>(parameter).enters;
      if (parameter.acts_in(at.experiment) && (enters == Enters::prescribed || enters == Enters::obstacles))
        refuse_moving_curve(parameter);
    }
    if (counts_observations_once(*this, at.scene.time.kind == TimeKind::statics))
      throw InputError(where.of("time"),
                       "a load-displacement curve has no times; take {\"steps\": [..]} with the steps whose "
                       "forces count");
    if (obstacle_ && is_plane(at.scene, *obstacle_))
      throw InputError(where.of("obstacle"), "'" + *obstacle_ +
                                                 "' is a plane, which does not move; give the forces over "
                                                 "`time`, or take an obstacle with a mesh");
  }

  [[noreturn]] void refuse_moving_curve(const ParameterSpec& parameter) const {
    throw InputError(where.of("target"),
                     "forces are given over the displacement, which has no derivative by the parameter '" +
                         parameter.name + "' (" + parameter.kind->name +
                         "); give them over `time`, or leave the parameter out of this experiment");
  }
  [[noreturn]] void refuse_free_support() const {
    throw InputError(where.of("direction"),
                     "forces are given over the displacement, and the displacement of boundary " +
                         std::to_string(*boundary_) + " along this direction is not prescribed");
  }

  /// The force between two states would be that of bodies on a straight way, which contact forbids.
  void check_observed_times(const TimeSpec& time, const objectives::Track<1>& track) const {
    if (!counts_observations_once(*this, time.kind == TimeKind::statics)) return;
    const std::vector<double> states = observed_state_times(time);
    const double slack = 1e-9 * std::max(std::abs(states.front()), std::abs(states.back()));
    for (const double t : track.observation_times()) {
      if (t < states.front() - slack || t > states.back() + slack) continue;
      const double step = (t - time.t0) / time.dt;
      if (std::abs(std::round(step) - step) * time.dt > slack)
        throw InputError(where.of("target"),
                         "there is an observation at " + nlohmann::json(t).dump() +
                             " s, between two states, and forces are known at states only; "
                             "choose steps that end at the observations");
    }
  }

  /// @throws InputError where a state that counts is beyond the curve.
  void check_reach(const TimeSpec& time, const objectives::Track<1>& track,
                   const objectives::Travel& travel) const {
    const auto [first, last] = observed_interval(*this, time);
    for (const double t : observed_state_times(time))
      if (t >= first && t <= last) try {
          track.at(travel(t));
        } catch (const InputError& missing) {
          throw InputError(where.of("target"),
                           std::string(missing.what()) + ", and the support is there at " +
                               nlohmann::json(t).dump() +
                               " s; add observations, or look at other states with `time`");
        }
  }

  /// Where the support is at the states.
  template <int dim>
  objectives::Travel travel_of(DiscreteScene<dim>& discrete,
                               const objectives::Reaction<dim>& reaction) const {
    const TimeSpec& time = discrete.scene().time;
    std::map<double, double> at_states;
    for (const double t : observed_state_times(time))
      at_states[t] = time.kind == TimeKind::statics && t == 0 ? 0
                     : boundary_                              ? travel_of_boundary(discrete, reaction, t)
                                                              : travel_of_obstacle(discrete, reaction, t);
    return between_states(std::move(at_states));
  }
  static objectives::Travel between_states(std::map<double, double> at_states) {
    return [at_states = std::move(at_states)](double t) {
      const auto after = at_states.lower_bound(t);
      if (after == at_states.begin()) return after->second;
      if (after == at_states.end()) return std::prev(after)->second;
      const auto before = std::prev(after);
      const double share = (t - before->first) / (after->first - before->first);
      return (1 - share) * before->second + share * after->second;
    };
  }
  template <int dim>
  double travel_of_boundary(DiscreteScene<dim>& discrete, const objectives::Reaction<dim>& reaction,
                            double time) const {
    const auto& problem = discrete.solver().problem();
    linalg::Vector u(discrete.space().layout());
    problem.dirichlet->set_values(time, 1, u);
    std::array<double, 2> sum{};
    bool is_free = false;
    for (LocalIndex node = 0; node < std::ssize(reaction.nodes); ++node) {
      if (reaction.nodes[node] == 0) continue;
      for (int i = 0; i < dim; ++i)
        is_free |= reaction.direction[i] != 0 && problem.dirichlet->flags()[node * dim + i] == 0;
      sum[0] += reaction.direction.dot(fem::node_block<dim>(u.owned(), node));
      sum[1] += 1;
    }
    if (discrete.space().comm().any(is_free)) refuse_free_support();
    discrete.space().comm().sum(sum);
    return sum[0] / sum[1];
  }
  template <int dim>
  double travel_of_obstacle(DiscreteScene<dim>& discrete, const objectives::Reaction<dim>& reaction,
                            double time) const {
    const mesh::DistributedObstacles<dim>& obstacles = discrete.obstacles();
    const int number = place_in(obstacles.names, *obstacle_);
    const std::vector<double> motion = discrete.solver().problem().obstacle_motion(time, 1);
    std::array<double, 2> sum{};
    for (LocalIndex v = 0; v < obstacles.num_owned_vertices; ++v)
      if (obstacles.vertex_surface[v] == number) {
        sum[0] += reaction.direction.dot(Eigen::Map<const Eigen::Matrix<double, dim, 1>>(&motion[v * dim]));
        sum[1] += 1;
      }
    discrete.space().comm().sum(sum);
    return sum[0] / sum[1];
  }

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
    if (!holds(names, *obstacle_))
      at.fail(where, "obstacle",
              "'" + *obstacle_ + "' is no obstacle of this experiment; there are " +
                  list_names(names, "and"));
  }

  template <int dim>
  void add_boundary(DiscreteScene<dim>& discrete, objectives::Reaction<dim>& reaction) const {
    const auto& problem = discrete.solver().problem();
    reaction.nodes = nodes_on_boundary(discrete.space(), *boundary_);
    for (const auto& term : problem.terms)
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
    const std::int32_t number = number_of_obstacle(discrete);
    const auto add = [&](auto potential, double factor) {
      reaction.summands.push_back({potential.get(), -factor});
      reaction.owned.push_back(std::move(potential));
    };
    add(std::make_unique<potentials::BarrierPotential<dim>>(*problem.contact, number),
        barrier_stiffness(discrete));
    add(std::make_unique<potentials::FrictionPotential<dim>>(*problem.contact, number), 1);
  }
  /// As contact counts them: bodies, meshes, planes.
  template <int dim>
  std::int32_t number_of_obstacle(DiscreteScene<dim>& discrete) const {
    const surface::Surface<dim>& surface = discrete.solver().problem().contact->surface();
    if (const int mesh = place_in(discrete.obstacles().names, *obstacle_); mesh >= 0)
      return surface.num_bodies() + mesh;
    const auto& planes = discrete.scene().planes;
    const auto plane = std::ranges::find(planes, *obstacle_, &PlaneObstacle::name);
    return discrete.solver().problem().contact->parameters().planes[plane - planes.begin()].body;
  }

  std::vector<double> direction_;
  std::optional<int> boundary_;
  std::optional<std::string> obstacle_;
};

} // namespace

std::vector<ObjectiveType> forces_objectives() {
  const Key clamp_key{.pattern = "/objectives/*/boundary",
                      .types = integer,
                      .doc = "Id of a boundary with prescribed displacements."},
      obstacle_key{.pattern = "/objectives/*/obstacle", .types = text, .doc = "Name of an obstacle."};
  return {
      {.name = "contact_force_norm",
       .doc = "sum over the nodes of |f|^2, f the force of contact without friction.",
       .keys = {body_key, time_key},
       .read = ContactForceNorm::read},
      {.name = "reaction_force",
       .doc = "(R - y)^2 / sd^2, R the force along `direction` that the clamps of a `boundary`, or an "
              "`obstacle`, exert on the bodies, y and sd from a CSV file with the columns "
              "`time,force[,sd]`, or `displacement,force[,sd]` for the force at the displacement of the "
              "boundary or obstacle along `direction` (the mean over its vertices). That of clamps balances "
              "elastic forces (of bonds), contact, friction, damping and loads at the nodes of the boundary, "
              "or at the particles, not their inertia; that of an obstacle is contact and friction. At the "
              "start of a run there is no damping and friction.",
       .keys = {clamp_key, obstacle_key, direction_key, time_key, observations_key},
       .read = ReactionForce::read,
       .observes = true,
       .sees_particles = true}};
}

} // namespace recoil::app
