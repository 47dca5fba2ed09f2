#include "recoil/app/study/objectives/observables_on_particles.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "app/study/objectives/match_meshes.hpp"
#include "app/study/objectives/particle_forces.hpp"
#include "recoil/app/scene/build.hpp"
#include "recoil/app/solvers/bonded_particles/particle_problem.hpp"
#include "recoil/geometry/quaternion.hpp"

namespace recoil::app {
namespace {

using Eigen::Vector3d;
using objectives::Observable;
using objectives::ObservedState;
using particles::DistributedParticles;

Eigen::Map<const Vector3d> place_of(std::span<const double> u, std::size_t k) {
  return Eigen::Map<const Vector3d>(u.data() + 7 * k);
}
Eigen::Matrix3d turn_of(std::span<const double> u, std::size_t k) {
  return geometry::rotation_matrix(Eigen::Map<const geometry::Quaternion>(u.data() + 7 * k + 3));
}
/// r times the turn of a particle in its own axes, among such numbers.
template <class Number>
auto spin_of(std::span<Number> z, std::size_t k) {
  return shift_of(z.subspan(3), k);
}

/// Where the point at `rest` would be found: on the particle of a body that is nearest.
struct Nearest {
  double distance = std::numeric_limits<double>::infinity();
  GlobalIndex particle = std::numeric_limits<GlobalIndex>::max();
  Vector3d centre = Vector3d::Zero();
  double radius = 0;

  bool is_close() const { return distance <= 3 * radius; }
  objectives::MaterialPoint<3> point_at(const Vector3d& rest) const {
    const Vector3d arm = rest - centre;
    return {particle, {arm[0], arm[1], arm[2], 0}};
  }
};

/// Of each of several points; of equally near particles the one with the smallest id. Collective.
std::vector<Nearest> find_nearest(const DistributedParticles& particles, const std::string& body,
                                  std::span<const Vector3d> rests) {
  const parallel::Communicator& comm = *particles.points->comm;
  const std::int32_t number = place_in(particles.body_names, body);
  std::vector<double> distances;
  std::vector<GlobalIndex> ids;
  std::vector<LocalIndex> here;
  for (const Vector3d& rest : rests) {
    Nearest nearest;
    here.push_back(-1);
    for (LocalIndex k = 0; k < particles.num_owned(); ++k) {
      const double distance = (particles.positions[k] - rest).norm();
      if (particles.body[k] != number || distance >= nearest.distance) continue;
      nearest.distance = distance;
      here.back() = k;
    }
    distances.push_back(nearest.distance);
    ids.push_back(here.back() < 0 ? nearest.particle : particles.ids[here.back()]);
  }
  std::vector<Nearest> all(rests.size());
  const std::vector<double> all_distances = comm.all_gather(distances);
  const std::vector<GlobalIndex> all_ids = comm.all_gather_parts(ids);
  for (std::size_t i = 0; i < all_ids.size(); ++i) {
    Nearest& nearest = all[i % all.size()];
    if (std::pair(all_distances[i], all_ids[i]) < std::pair(nearest.distance, nearest.particle)) {
      nearest.distance = all_distances[i];
      nearest.particle = all_ids[i];
    }
  }
  std::vector<double> about(4 * all.size(), 0.0);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (ids[i] == all[i].particle && here[i] >= 0) {
      std::ranges::copy(particles.positions[here[i]], &about[4 * i]);
      about[4 * i + 3] = particles.radii[here[i]];
    }
  comm.sum(about);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].centre = Eigen::Map<const Vector3d>(&about[4 * i]);
    all[i].radius = about[4 * i + 3];
  }
  return all;
}

/// Means of points that move rigidly with particles, all on the first rank.
class PointsOnParticles final : public Observable<3> {
public:
  /// A point on an owned particle.
  struct Point {
    std::size_t group, particle;
    Vector3d arm;
    double share; ///< in the mean of its group
  };

  PointsOnParticles(const DistributedParticles& particles, std::size_t num_groups, std::vector<Point> points,
                    bool sees_positions)
      : Observable(*particles.points->comm, 3, count(particles.points->comm->rank() == 0 ? num_groups : 0)),
        particles_(particles), num_groups_(num_groups), points_(std::move(points)),
        sees_positions_(sees_positions) {}

  std::vector<objectives::Quantity> depends_on() const override {
    return {objectives::quantities::displacement};
  }
  std::vector<double> values(const ObservedState& state) override {
    return means([&](const Point& point) -> Vector3d {
      const Vector3d place = place_of(state.u, point.particle) + turn_of(state.u, point.particle) * point.arm;
      return sees_positions_ ? place : Vector3d(place - particles_.positions[point.particle] - point.arm);
    });
  }
  /// dx = dp + R (w x a), w the turn in the axes of the particle.
  std::vector<double> tangent(const ObservedState& state, std::span<const double> du, std::span<const double>,
                              const parameters::PhysicalDirection<3>&) override {
    return means([&](const Point& point) -> Vector3d {
      const Vector3d turn = spin_of(du, point.particle) / particles_.radii[point.particle];
      return shift_of(du, point.particle) + turn_of(state.u, point.particle) * turn.cross(point.arm);
    });
  }
  void add_products(const ObservedState& state, std::span<const double> y, std::span<double> du,
                    std::span<double>, parameters::PhysicalGradient<3>&) override {
    std::vector<double> by_mean(3 * num_groups_, 0.0);
    std::ranges::copy(y, by_mean.begin());
    comm().sum(by_mean);
    for (const Point& point : points_) {
      const Vector3d by_place = point.share * Eigen::Map<const Vector3d>(&by_mean[3 * point.group]),
                     in_own_axes = turn_of(state.u, point.particle).transpose() * by_place;
      shift_of(du, point.particle) += by_place;
      spin_of(du, point.particle) += point.arm.cross(in_own_axes) / particles_.radii[point.particle];
    }
  }

private:
  template <class Value>
  std::vector<double> means(Value value) const {
    std::vector<double> all(3 * num_groups_, 0.0);
    for (const Point& point : points_)
      Eigen::Map<Vector3d>(&all[3 * point.group]) += point.share * value(point);
    comm().sum(all);
    all.resize(num_values());
    return all;
  }

  const DistributedParticles& particles_;
  std::size_t num_groups_;
  std::vector<Point> points_;
  bool sees_positions_; ///< else displacements
};

/// sum w p / m over some particles, with their masses as weights w and m = sum w, or with their volumes and
/// m = 1.
class MomentOfParticles final : public Observable<3> {
public:
  MomentOfParticles(const parallel::Communicator& comm, std::vector<std::size_t> owned,
                    const std::vector<double>& weights, bool is_center)
      : Observable(comm, 3, one_point(comm)), weights_(weights), is_center_(is_center),
        owned_(std::move(owned)) {
    if (!is_center_) return;
    mass_ = 0;
    for (const std::size_t k : owned_) mass_ += weights_[k];
    mass_ = comm.sum(mass_);
  }

  std::vector<objectives::Quantity> depends_on() const override {
    std::vector<objectives::Quantity> all{objectives::quantities::displacement};
    if (is_center_) all.push_back(solvers::particle_mass);
    return all;
  }
  std::vector<double> values(const ObservedState& state) override { return on_first(at(state)); }
  std::vector<double> tangent(const ObservedState& state, std::span<const double> du, std::span<const double>,
                              const parameters::PhysicalDirection<3>& dq) override {
    const auto* dm = is_center_ ? dq.find_numbers(solvers::particle_mass) : nullptr;
    const Vector3d c = dm ? at(state) : Vector3d(Vector3d::Zero());
    return on_first(sum([&](std::size_t k) -> Vector3d {
      Vector3d change = weights_[k] * shift_of(du, k);
      if (dm) change += (*dm)[k] * (place_of(state.u, k) - c);
      return change;
    }));
  }
  void add_products(const ObservedState& state, std::span<const double> y, std::span<double> du,
                    std::span<double>, parameters::PhysicalGradient<3>& g) override {
    const std::vector<double> all = on_all(y);
    const Vector3d by_sum = Eigen::Map<const Vector3d>(all.data()) / mass_;
    auto* by_mass = is_center_ ? &g.numbers(solvers::particle_mass) : nullptr;
    const Vector3d c = by_mass ? at(state) : Vector3d(Vector3d::Zero());
    for (const std::size_t k : owned_) {
      shift_of(du, k) += weights_[k] * by_sum;
      if (by_mass) (*by_mass)[k] += by_sum.dot(place_of(state.u, k) - c);
    }
  }

private:
  template <class Moment>
  Vector3d sum(Moment moment) const {
    Vector3d own = Vector3d::Zero();
    for (const std::size_t k : owned_) own += moment(k);
    comm().sum(std::span<double>(own.data(), 3));
    return own / mass_;
  }
  Vector3d at(const ObservedState& state) const {
    return sum([&](std::size_t k) -> Vector3d { return weights_[k] * place_of(state.u, k); });
  }

  const std::vector<double>& weights_;
  bool is_center_;
  std::vector<std::size_t> owned_;
  double mass_ = 1;
};

/// sqrt(V) (f - f*) of the centres of some particles; of velocities sqrt(2/5 V) r w after it.
class DeviationOfParticles final : public Observable<3> {
public:
  DeviationOfParticles(const DistributedParticles& particles, std::vector<std::size_t> owned,
                       objectives::VectorField field, objectives::ReferenceField reference,
                       std::vector<int> components)
      : Observable(*particles.points->comm, components.size(), count(owned.size())), particles_(particles),
        owned_(std::move(owned)), field_(field), reference_(std::move(reference)),
        components_(std::move(components)) {}

  std::vector<objectives::Quantity> depends_on() const override {
    return {sees_velocity() ? objectives::quantities::velocity : objectives::quantities::displacement};
  }
  std::vector<double> values(const ObservedState& state) override {
    const std::span<const double> reference = reference_(state.time);
    return rows([&](std::size_t k, int i) {
      if (sees_velocity()) return state.v[6 * k + i] - (i < 3 ? reference[3 * k + i] : 0);
      const double rest = field_ == objectives::VectorField::position ? 0 : particles_.positions[k][i];
      return state.u[7 * k + i] - rest - reference[3 * k + i];
    });
  }
  std::vector<double> tangent(const ObservedState&, std::span<const double> du, std::span<const double> dv,
                              const parameters::PhysicalDirection<3>&) override {
    return rows([&](std::size_t k, int i) { return (sees_velocity() ? dv : du)[6 * k + i]; });
  }
  void add_products(const ObservedState&, std::span<const double> y, std::span<double> du,
                    std::span<double> dv, parameters::PhysicalGradient<3>&) override {
    const double* next = y.data();
    for (const std::size_t k : owned_)
      for (const int i : components_) (sees_velocity() ? dv : du)[6 * k + i] += root(k, i) * *next++;
  }

private:
  bool sees_velocity() const { return field_ == objectives::VectorField::velocity; }
  double root(std::size_t k, int i) const { return std::sqrt((i < 3 ? 1 : 0.4) * particles_.volumes[k]); }
  template <class Value>
  std::vector<double> rows(Value value) const {
    std::vector<double> all;
    for (const std::size_t k : owned_)
      for (const int i : components_) all.push_back(root(k, i) * value(k, i));
    return all;
  }

  const DistributedParticles& particles_;
  std::vector<std::size_t> owned_;
  objectives::VectorField field_;
  objectives::ReferenceField reference_;
  std::vector<int> components_; ///< of a velocity, 3 to 5 are those of the spin
};

/// The number of an obstacle as contact counts: bodies, then obstacles of any kind.
std::int32_t number_of_obstacle(const Scene& scene, const DistributedParticles& particles,
                                const std::string& name) {
  return std::int32_t(particles.body_names.size()) + place_in(obstacle_names(scene), name);
}

/// The mean way of the particles of a boundary.
double travel_of_particles(const Scene& scene, const solvers::BondedParticles& problem,
                           const Support<3>& support, double time) {
  const DistributedParticles& particles = *problem.particles;
  const parallel::Communicator& comm = *particles.points->comm;
  std::vector<double> u(7 * particles.ids.size(), 0.0);
  parallel::collectively(comm, [&] {
    if (problem.move_prescribed) problem.move_prescribed(time, u);
  });
  std::array<double, 2> sum{};
  bool is_free = false;
  for (const LocalIndex k :
       particles_with_id(comm, scene, particles, "", *support.boundary, support.where.of("boundary"))) {
    for (int i = 0; i < 3; ++i) {
      if (support.direction[i] == 0) continue;
      is_free |= problem.prescribed[6 * std::size_t(k) + i] == 0;
      sum[0] += support.direction[i] * (place_of(u, k)[i] - particles.positions[k][i]);
    }
    sum[1] += 1;
  }
  require_prescribed(comm, support, is_free);
  comm.sum(sum);
  return sum[0] / sum[1];
}

/// The mean way of the vertices of the triangles of an obstacle, or that of a plane.
double travel_of_obstacle(const potentials::SphereObstacles& obstacles, std::int32_t number,
                          const Vector3d& direction, double time) {
  const auto plane = std::ranges::find(obstacles.planes, number, &potentials::Plane<3>::body);
  if (plane != obstacles.planes.end())
    return obstacles.place_planes
               ? direction.dot(obstacles.place_planes(time)[plane - obstacles.planes.begin()] - plane->point)
               : 0;
  if (!obstacles.place) return 0;
  const std::vector<Vector3d> places = obstacles.place(time);
  std::set<LocalIndex> vertices;
  for (std::size_t t = 0; t < obstacles.triangles.size(); ++t)
    if (obstacles.bodies[t] == number)
      vertices.insert(obstacles.triangles[t].begin(), obstacles.triangles[t].end());
  double sum = 0;
  for (const LocalIndex v : vertices) sum += direction.dot(places[v] - obstacles.vertices[v]);
  return sum / double(vertices.size());
}

io::BlockLayout rows_of_particles(const DistributedParticles& particles) {
  return {*particles.points->comm, std::span(particles.ids).first(particles.num_owned())};
}

class SpecimenOfParticles final : public Specimen<3> {
public:
  SpecimenOfParticles(const Study& study, int experiment, const Scene& scene,
                      const DistributedParticles& particles)
      : Specimen(*particles.points->comm, study, experiment, scene), particles_(particles) {}

  /// On the nearest particle of the body, of which a point may be three radii away.
  std::vector<std::optional<objectives::MaterialPoint<3>>>
  locate(const std::string& body, std::span<const Point> rests) const override {
    const std::vector<Nearest> all = find_nearest(particles_, body, rests);
    std::vector<std::optional<objectives::MaterialPoint<3>>> points(rests.size());
    for (std::size_t i = 0; i < rests.size(); ++i)
      if (all[i].is_close()) points[i] = all[i].point_at(rests[i]);
    return points;
  }
  objectives::MaterialPoint<3> locate(const std::string& body, const Point& rest,
                                      const std::string& what) const override {
    const Nearest nearest = find_nearest(particles_, body, std::span(&rest, 1)).front();
    if (nearest.is_close()) return nearest.point_at(rest);
    const Vector3d& at = nearest.centre;
    throw InputError(
        fmt::format("{} is {:.3g} m away from the nearest particle of body '{}', which has a radius "
                    "of {:.3g} m; put it into the body, at ({:.6g}, {:.6g}, {:.6g}) say",
                    what, nearest.distance, body, nearest.radius, at[0], at[1], at[2]));
  }
  PointGroup<3> select(const std::string& body, int id, const std::string& where) const override {
    std::vector<GlobalIndex> ids;
    for (const LocalIndex k : particles_with_id(comm(), scene, particles_, body, id, where))
      ids.push_back(particles_.ids[k]);
    PointGroup<3> group;
    for (const GlobalIndex particle : comm().all_gather_parts(ids)) group.push_back({particle, {}});
    return group;
  }
  MeshRows<3> rows() const override {
    std::vector<double> positions;
    for (LocalIndex k = 0; k < particles_.num_owned(); ++k)
      positions.insert(positions.end(), particles_.positions[k].begin(), particles_.positions[k].end());
    std::vector<GlobalIndex> ids, ends;
    for (const auto& bond : particles_.bonds)
      if (particles_.owns(bond)) {
        ids.push_back(bond.id);
        ends.insert(ends.end(), {particles_.ids[bond.a], particles_.ids[bond.b]});
      }
    return rows_of<3>(rows_of_particles(particles_), positions, io::BlockLayout(comm(), ids), ends, 2);
  }
  const char* displacement_array() const override { return "displacement"; }

private:
  const DistributedParticles& particles_;
};

class ObservablesOnParticles final : public Observables<3> {
public:
  ObservablesOnParticles(const Scene& scene, const solvers::BondedParticles& problem)
      : Observables(*problem.particles->points->comm, scene, false), problem_(problem) {}

  Made points(objectives::PointVector vector, const std::vector<PointGroup<3>>& groups) const override {
    const DistributedParticles& particles = *problem_.particles;
    const std::span owned = std::span(particles.ids).first(particles.num_owned());
    std::vector<PointsOnParticles::Point> points;
    for (std::size_t group = 0; group < groups.size(); ++group)
      for (const auto& [particle, arm] : groups[group]) {
        const auto found = std::ranges::lower_bound(owned, particle);
        if (found == owned.end() || *found != particle) continue;
        points.push_back({group,
                          std::size_t(found - owned.begin()),
                          {arm[0], arm[1], arm[2]},
                          1.0 / double(groups[group].size())});
      }
    return std::make_unique<PointsOnParticles>(particles, groups.size(), std::move(points),
                                               vector == objectives::PointVector::position);
  }
  Made center_of_mass(const char*, const Bodies& bodies) const override {
    return std::make_unique<MomentOfParticles>(comm(), particles_of(bodies), problem_.mass, true);
  }
  Made volume_moment(const Bodies& bodies) const override {
    return std::make_unique<MomentOfParticles>(comm(), particles_of(bodies), problem_.particles->volumes,
                                               false);
  }
  Made deviation(const char*, const Bodies& bodies, objectives::VectorField field,
                 objectives::ReferenceField reference, const std::optional<potentials::FacetSelection>&,
                 std::vector<int> components) const override {
    if (components.empty()) components = {0, 1, 2};
    if (field == objectives::VectorField::velocity) components.insert(components.end(), {3, 4, 5});
    return std::make_unique<DeviationOfParticles>(*problem_.particles, particles_of(bodies), field,
                                                  std::move(reference), std::move(components));
  }
  io::BlockLayout node_rows() const override { return rows_of_particles(*problem_.particles); }
  std::shared_ptr<const linalg::VectorLayout> node_vectors() const override {
    linalg::VectorLayout layout = *problem_.particles->points;
    layout.block_size = 3;
    return std::make_shared<const linalg::VectorLayout>(std::move(layout));
  }
  Made support_force(const Support<3>& support) const override {
    const DistributedParticles& particles = *problem_.particles;
    if (!support.boundary)
      return observe_obstacle_force(problem_, support.direction,
                                    number_of_obstacle(scene(), particles, support.obstacle));
    return observe_holding_force(
        problem_, support.direction,
        particles_with_id(comm(), scene(), particles, "", *support.boundary, support.where.of("boundary")));
  }
  double travel(const Support<3>& support, double time) const override {
    if (support.boundary) return travel_of_particles(scene(), problem_, support, time);
    return travel_of_obstacle(problem_.contact->obstacles(),
                              number_of_obstacle(scene(), *problem_.particles, support.obstacle),
                              support.direction, time);
  }
  Made contact_forces(const ContactForces& forces) const override {
    return observe_particle_contact(problem_, particles_of(forces.bodies));
  }
  Made elastic_energy(const Bodies& bodies) const override {
    return observe_bond_energy(problem_, flags_of(bodies));
  }
  Made cell_stress() const override { return observe_cell_of_bonds(problem_); }

private:
  /// Flags of some bodies by number, and their owned particles.
  std::vector<char> flags_of(const Bodies& bodies) const {
    std::vector<char> flags;
    for (const std::string& name : problem_.particles->body_names)
      flags.push_back(bodies.empty() || holds(bodies, name) ? 1 : 0);
    return flags;
  }
  std::vector<std::size_t> particles_of(const Bodies& bodies) const {
    const std::vector<char> flags = flags_of(bodies);
    std::vector<std::size_t> owned;
    for (LocalIndex k = 0; k < problem_.particles->num_owned(); ++k)
      if (flags[problem_.particles->body[k]] != 0) owned.push_back(k);
    return owned;
  }

  const solvers::BondedParticles& problem_;
};

} // namespace

std::span<const ObservableKind> observables_on_particles() {
  using enum ObservableKind;
  static constexpr std::array all{points,        point_ids,      center_of_mass, volume_moment, field,
                                  support_force, contact_forces, elastic_energy, cell_stress};
  return all;
}

std::unique_ptr<Specimen<3>> make_specimen(const Study& study, int experiment, const Scene& scene,
                                           const DistributedParticles& particles) {
  return std::make_unique<SpecimenOfParticles>(study, experiment, scene, particles);
}

std::unique_ptr<Observables<3>> make_observables(const Scene& scene,
                                                 const solvers::BondedParticles& problem) {
  return std::make_unique<ObservablesOnParticles>(scene, problem);
}

} // namespace recoil::app
