#include "recoil/app/study/objectives/particle_objectives.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "recoil/app/solvers/bonded_particles/particle_problem.hpp"
#include "recoil/base/error.hpp"
#include "recoil/geometry/quaternion.hpp"

namespace recoil::app {
namespace {

using Eigen::Vector3d;
using objectives::ObservedState;

Eigen::Map<const Vector3d> place_of_particle(std::span<const double> u, std::size_t k) {
  return Eigen::Map<const Vector3d>(u.data() + 7 * k);
}
Eigen::Matrix3d turn_of_particle(std::span<const double> u, std::size_t k) {
  return geometry::rotation_matrix(Eigen::Map<const geometry::Quaternion>(u.data() + 7 * k + 3));
}

/// All residuals are those of the first rank.
class ParticleMarkers final : public objectives::LeastSquaresObjective<3> {
public:
  ParticleMarkers(const solvers::BondedParticles& problem, std::vector<ParticleMarker> markers)
      : LeastSquaresObjective(*problem.particles->points->comm), problem_(problem),
        markers_(std::move(markers)) {}

  std::string_view name() const override { return "markers"; }
  std::vector<objectives::Quantity> depends_on() const override {
    return {objectives::quantities::displacement};
  }
  void check_time(double time) const override {
    for (const ParticleMarker& marker : markers_) marker.track.at(time);
  }
  bool has_deviations() const override {
    return std::ranges::all_of(markers_, [](const ParticleMarker& marker) { return marker.track.has_sd; });
  }

  std::size_t num_residuals() const override { return comm().rank() == 0 ? 3 * markers_.size() : 0; }
  objectives::ObservationNames observation_names() const override {
    objectives::ObservationNames names{{}, {"x", "y", "z"}};
    for (const ParticleMarker& marker : markers_) names.points.push_back(marker.name);
    return names;
  }
  std::vector<objectives::ResidualLabel> residual_labels(double time) const override {
    std::vector<objectives::ResidualLabel> labels;
    for (std::size_t m = 0; m < markers_.size() && comm().rank() == 0; ++m) {
      const Vector3d inverse_sd = markers_[m].track.at(time).inverse_sd;
      for (int i = 0; i < 3; ++i)
        labels.push_back({std::int32_t(m), i, time, inverse_sd[i] != 0, markers_[m].track.line_at(time)});
    }
    return labels;
  }

  std::vector<double> residuals(const ObservedState& state) override {
    return rows_of(state.time, true, [&](const ParticleMarker::Point& point) -> Vector3d {
      return place_of_particle(state.u, point.particle) +
             turn_of_particle(state.u, point.particle) * point.arm;
    });
  }

  /// dx = dp + R (w x a), w the turn in the axes of the particle.
  std::vector<double> residual_tangent(const ObservedState& state, std::span<const double> du,
                                       std::span<const double>,
                                       const parameters::PhysicalDirection<3>&) override {
    return rows_of(state.time, false, [&](const ParticleMarker::Point& point) -> Vector3d {
      const Eigen::Map<const Vector3d> shift(du.data() + 6 * point.particle),
          turn(du.data() + 6 * point.particle + 3);
      return shift + turn_of_particle(state.u, point.particle) * turn.cross(point.arm) / radius(point);
    });
  }

  void add_residual_products(const ObservedState& state, std::span<const double> y, std::span<double> du,
                             std::span<double>, parameters::PhysicalGradient<3>&) override {
    std::vector<double> rows(3 * markers_.size(), 0.0);
    std::ranges::copy(y, rows.begin());
    comm().sum(rows);
    for (std::size_t m = 0; m < markers_.size(); ++m) {
      const ParticleMarker& marker = markers_[m];
      const Vector3d by_place =
          marker.share * marker.track.at(state.time)
                             .inverse_sd.cwiseProduct(Eigen::Map<const Vector3d>(rows.data() + 3 * m));
      for (const ParticleMarker::Point& point : marker.points) {
        const Vector3d in_own_axes = turn_of_particle(state.u, point.particle).transpose() * by_place;
        Eigen::Map<Vector3d>(du.data() + 6 * point.particle) += by_place;
        Eigen::Map<Vector3d>(du.data() + 6 * point.particle + 3) +=
            point.arm.cross(in_own_axes) / radius(point);
      }
    }
  }

private:
  const parallel::Communicator& comm() const { return *problem_.particles->points->comm; }
  double radius(const ParticleMarker::Point& point) const {
    return problem_.particles->radii[point.particle];
  }
  /// The means of `value` over the points of each marker, less where they were seen if they are `places`, in
  /// standard deviations.
  template <class Value>
  std::vector<double> rows_of(double time, bool places, Value value) const {
    check_time(time); // on all ranks
    std::vector<double> rows(3 * markers_.size(), 0.0);
    for (std::size_t m = 0; m < markers_.size(); ++m)
      for (const ParticleMarker::Point& point : markers_[m].points)
        Eigen::Map<Vector3d>(rows.data() + 3 * m) += markers_[m].share * value(point);
    comm().sum(rows);
    for (std::size_t m = 0; m < markers_.size(); ++m) {
      const auto target = markers_[m].track.at(time);
      Eigen::Map<Vector3d> row(rows.data() + 3 * m);
      if (places) row -= target.position;
      row.array() *= target.inverse_sd.array();
    }
    rows.resize(num_residuals());
    return rows;
  }

  const solvers::BondedParticles& problem_;
  std::vector<ParticleMarker> markers_;
};

/// Its residuals are those of the first rank.
class ParticleCenter final : public objectives::LeastSquaresObjective<3> {
public:
  ParticleCenter(const solvers::BondedParticles& problem, const std::vector<std::string>& bodies,
                 objectives::Track<3> track)
      : LeastSquaresObjective(*problem.particles->points->comm), problem_(problem), track_(std::move(track)) {
    const auto& particles = *problem.particles;
    for (LocalIndex k = 0; k < particles.num_owned(); ++k)
      if (bodies.empty() || holds(bodies, particles.body_names[particles.body[k]])) owned_.push_back(k);
    for (const std::size_t k : owned_) mass_ += problem.mass[k];
    mass_ = comm().sum(mass_);
  }

  std::string_view name() const override { return "center_of_mass"; }
  std::vector<objectives::Quantity> depends_on() const override {
    return {objectives::quantities::displacement, particle_mass};
  }
  void check_time(double time) const override { track_.at(time); }
  bool has_deviations() const override { return track_.has_sd; }

  std::size_t num_residuals() const override { return comm().rank() == 0 ? 3 : 0; }
  objectives::ObservationNames observation_names() const override { return {{}, {"x", "y", "z"}}; }
  std::vector<objectives::ResidualLabel> residual_labels(double time) const override {
    std::vector<objectives::ResidualLabel> labels;
    const Vector3d inverse_sd = track_.at(time).inverse_sd;
    for (int i = 0; i < int(num_residuals()); ++i)
      labels.push_back({0, i, time, inverse_sd[i] != 0, track_.line_at(time)});
    return labels;
  }

  std::vector<double> residuals(const ObservedState& state) override {
    const auto target = track_.at(state.time);
    return on_first((centre(state) - target.position).cwiseProduct(target.inverse_sd));
  }
  std::vector<double> residual_tangent(const ObservedState& state, std::span<const double> du,
                                       std::span<const double>,
                                       const parameters::PhysicalDirection<3>& dq) override {
    const Vector3d c = centre(state);
    const auto* dm = dq.find_numbers(particle_mass);
    const Vector3d dc = sum([&](std::size_t k) -> Vector3d {
      Vector3d moment = problem_.mass[k] * Eigen::Map<const Vector3d>(du.data() + 6 * k);
      if (dm) moment += (*dm)[k] * (place_of_particle(state.u, k) - c);
      return moment;
    });
    return on_first(dc.cwiseProduct(track_.at(state.time).inverse_sd));
  }
  void add_residual_products(const ObservedState& state, std::span<const double> y, std::span<double> du,
                             std::span<double>, parameters::PhysicalGradient<3>& g) override {
    std::array<double, 3> rows{};
    std::ranges::copy(y, rows.begin());
    comm().sum(rows);
    const Vector3d by_centre =
        track_.at(state.time).inverse_sd.cwiseProduct(Eigen::Map<const Vector3d>(rows.data()));
    const Vector3d c = centre(state);
    auto* by_mass = g.find_numbers(particle_mass) ? &g.numbers(particle_mass) : nullptr;
    for (const std::size_t k : owned_) {
      Eigen::Map<Vector3d>(du.data() + 6 * k) += problem_.mass[k] / mass_ * by_centre;
      if (by_mass) (*by_mass)[k] += by_centre.dot(place_of_particle(state.u, k) - c) / mass_;
    }
  }

private:
  const parallel::Communicator& comm() const { return *problem_.particles->points->comm; }
  /// The sum of `moment` of the particles over their mass.
  template <class Moment>
  Vector3d sum(Moment moment) const {
    Vector3d own = Vector3d::Zero();
    for (const std::size_t k : owned_) own += moment(k);
    comm().sum(std::span<double>(own.data(), 3));
    return own / mass_;
  }
  Vector3d centre(const ObservedState& state) const {
    return sum([&](std::size_t k) -> Vector3d { return problem_.mass[k] * place_of_particle(state.u, k); });
  }
  std::vector<double> on_first(const Vector3d& rows) const {
    if (comm().rank() != 0) return {};
    return {rows.begin(), rows.end()};
  }

  const solvers::BondedParticles& problem_;
  objectives::Track<3> track_;
  std::vector<std::size_t> owned_;
  double mass_ = 0; ///< over all ranks [kg]
};

} // namespace

ParticleMarker find_particle_marker(const ParticleScene& at, const MarkerSpec& marker) {
  const auto& particles = *at.problem.particles;
  const parallel::Communicator& comm = *particles.points->comm;
  ParticleMarker result{marker.name, {}, 1, {}};
  if (marker.id) {
    for (const LocalIndex k :
         particles_with_id(comm, at.scene, particles, marker.body, *marker.id, marker.where.of("id")))
      result.points.push_back({std::size_t(k), Vector3d::Zero()});
    result.share = 1.0 / double(comm.sum(GlobalIndex(result.points.size())));
    return result;
  }
  const Vector3d rest = Eigen::Map<const Vector3d>(marker.rest.data());
  double least = std::numeric_limits<double>::infinity();
  std::size_t nearest = 0;
  for (LocalIndex k = 0; k < particles.num_owned(); ++k) {
    const double distance = (particles.positions[k] - rest).norm();
    if (particles.body_names[particles.body[k]] != marker.body || distance >= least) continue;
    least = distance;
    nearest = k;
  }
  const double closest = comm.min(least);
  const GlobalIndex none = std::numeric_limits<GlobalIndex>::max();
  const GlobalIndex id = comm.min(least == closest ? particles.ids[nearest] : none);
  std::array<double, 4> about{};
  if (least == closest && particles.ids[nearest] == id) {
    std::copy_n(particles.positions[nearest].data(), 3, about.begin());
    about[3] = particles.radii[nearest];
    result.points.push_back({nearest, rest - particles.positions[nearest]});
  }
  comm.sum(about);
  if (closest > 3 * about[3])
    throw InputError(
        marker.where.of("rest"),
        fmt::format("marker '{}' is {:.3g} m away from the nearest particle of body '{}', which "
                    "has a radius of {:.3g} m; put it into the body, at ({:.6g}, {:.6g}, {:.6g}) "
                    "say",
                    marker.name, closest, marker.body, about[3], about[0], about[1], about[2]));
  return result;
}

std::unique_ptr<objectives::Objective<3>> make_particle_markers(const solvers::BondedParticles& problem,
                                                                std::vector<ParticleMarker> markers) {
  return std::make_unique<ParticleMarkers>(problem, std::move(markers));
}

std::unique_ptr<objectives::Objective<3>> make_particle_center(const solvers::BondedParticles& problem,
                                                               const std::vector<std::string>& bodies,
                                                               objectives::Track<3> track) {
  return std::make_unique<ParticleCenter>(problem, bodies, std::move(track));
}

} // namespace recoil::app
