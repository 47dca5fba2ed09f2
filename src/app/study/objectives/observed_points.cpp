#include <algorithm>

#include <Eigen/LU>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "recoil/app/scene/build.hpp"
#include "recoil/app/study/objectives/particle_objectives.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/log.hpp"
#include "recoil/objectives/markers.hpp"
#include "recoil/objectives/objective.hpp"

namespace recoil::app {
namespace {

/// The material point of a body at a rest position. Collective. @throws InputError at `where` on every rank,
/// naming `what`, for a point outside of the body.
template <int dim>
objectives::MaterialPoint<dim> locate_at_rest(const mesh::DistributedMesh<dim>& mesh, const std::string& body,
                                              const std::vector<double>& rest, const std::string& what,
                                              const std::string& where) {
  try {
    return objectives::locate<dim>(mesh, place_in(mesh.body_names, body),
                                   Eigen::Map<const Eigen::Matrix<double, dim, 1>>(rest.data()), what);
  } catch (const InputError& outside) {
    throw InputError(where, outside.what());
  }
}

struct Markers final : ObservedObjectiveOf<Markers> {
  using ObservedObjectiveOf::ObservedObjectiveOf;

  void check(const ExperimentScene& at) const override {
    const auto bodies = deformable_names(at.scene);
    const bool found = std::ranges::any_of(
        at.study.markers, [&](const MarkerSpec& marker) { return holds(bodies, marker.body); });
    if (!found)
      at.fail(where, "type",
              "no marker sits on a body of this experiment; bodies there: '" + bodies.front() +
                  (bodies.size() > 1 ? "' to '" + bodies.back() + "'" : "'"));
  }

  /// Markers on the bodies of the experiment, which move with the material where a shape is a parameter.
  template <int dim>
  ObjectiveMaker<dim> open_in(const ExperimentMesh<dim>& at) const {
    std::vector<std::string> names;
    std::vector<objectives::MaterialPoint<dim>> points;
    for (const MarkerSpec& marker : at.study.markers) {
      if (!holds(at.mesh.body_names, marker.body)) continue;
      names.push_back(marker.name);
      points.push_back(locate_at_rest(at.mesh, marker.body, marker.rest, "marker '" + marker.name + "'",
                                      marker.where.of("rest")));
    }
    return [this, names, points](DiscreteScene<dim>& discrete) {
      auto tracks = objectives::read_marker_tracks<dim>(discrete.space().comm(), target, names);
      std::vector<objectives::Marker<dim>> markers;
      for (std::size_t i = 0; i < names.size(); ++i)
        markers.push_back(
            {points[i], as_observed(*this, discrete.scene().time, std::move(tracks.at(names[i]))), names[i]});
      return objectives::make_markers<dim>(discrete.space(), std::move(markers));
    };
  }

  /// Markers that move rigidly with the particles nearest to them.
  std::unique_ptr<objectives::Objective<3>> make_on(const ParticleScene& at) const override {
    std::vector<std::string> names;
    std::vector<ParticleMarker> markers;
    for (const MarkerSpec& marker : at.study.markers) {
      if (!holds(at.problem.particles->body_names, marker.body)) continue;
      names.push_back(marker.name);
      markers.push_back(find_particle_marker(at, marker));
    }
    auto tracks = objectives::read_marker_tracks<3>(*at.problem.particles->points->comm, target, names);
    for (ParticleMarker& marker : markers)
      marker.track = as_observed(*this, at.scene.time, std::move(tracks.at(marker.name)));
    return make_particle_markers(at.problem, std::move(markers));
  }
};

/// A digital image correlation.
struct DisplacementField final : ObservedObjectiveOf<DisplacementField> {
  explicit DisplacementField(const Item& entry)
      : ObservedObjectiveOf(entry), drops_outside(entry.has("outside") && entry["outside"].text() == "drop") {
    if (entry["body"].size() != 1)
      entry["body"].fail("the points of a displacement field lie in one body, here are " +
                         std::to_string(entry["body"].size()));
  }

  /// Points of the body, which move with the material where a shape is a parameter.
  template <int dim>
  ObjectiveMaker<dim> open_in(const ExperimentMesh<dim>& at) const {
    auto seen = objectives::read_displacement_field<dim>(*at.mesh.comm, target);
    std::vector<Eigen::Matrix<double, dim, 1>> rests;
    for (const auto& point : seen) rests.push_back(point.rest);
    const auto places =
        objectives::locate_all<dim>(at.mesh, place_in(at.mesh.body_names, bodies.front()), rests);
    std::vector<objectives::Marker<dim>> points;
    std::vector<std::size_t> outside;
    for (std::size_t i = 0; i < seen.size(); ++i)
      if (places[i])
        points.push_back({*places[i], as_observed(*this, at.scene.time, std::move(seen[i].track)),
                          fmt::format("({:g})", fmt::join(rests[i], ", "))});
      else
        outside.push_back(i);
    if (!outside.empty()) {
      const auto& first = rests[outside.front()];
      report_outside(outside.size(), seen.size(), std::vector<double>(first.begin(), first.end()));
    }
    return [points](DiscreteScene<dim>& discrete) {
      return objectives::make_displacement_field<dim>(discrete.space(), points);
    };
  }

  /// @throws InputError unless such points are dropped.
  void report_outside(std::size_t count, std::size_t all, const std::vector<double>& first) const {
    const std::string what = fmt::format("{} of {} points lie outside of body '{}', the first one at ({})",
                                         count, all, bodies.front(), fmt::join(first, ", "));
    if (!drops_outside || count == all)
      throw InputError(where.of("target"),
                       what + (count == all ? "; positions are those at rest in the scene, in metres unless "
                                              "the header has a unit"
                                            : "; mend them, or leave them out with \"outside\": \"drop\""));
    log_warning(fmt::format("{}: {}; they are left out", where.entry, what));
  }

  bool drops_outside;
};

/// J = (e - y(time))^2 / sd(time)^2 with the engineering strain e = |F d| - 1, F = I + sum_a u_a grad phi_a'
/// at a material point: the relative change of length that a strain gauge along the unit vector d of the rest
/// shape measures. With n = F d / |F d| and H = F - I
///
///     de/du_a = n (grad phi_a . d),    de/dX_b = -H' n (grad xi^b . d)
///
/// where the second moves the vertices X_b at fixed barycentric coordinates of the point and fixed d:
/// gradients on the moved shape are (I + G)^-T grad, G = sum_b dX_b grad xi^b'.
template <int dim>
class StrainGauge final : public objectives::LeastSquaresObjective<dim> {
  using Point = Eigen::Matrix<double, dim, 1>;

public:
  /// Collective.
  StrainGauge(const fem::FunctionSpace<dim>& space, const objectives::MaterialPoint<dim>& point,
              const Point& direction, objectives::Track<1> track)
      : objectives::LeastSquaresObjective<dim>(space.comm()), space_(&space),
        direction_(direction.normalized()), track_(std::move(track)) {
    const mesh::DistributedMesh<dim>& mesh = space.mesh();
    cell_ = place_in(std::span(mesh.cell_ids).first(mesh.num_owned_cells), point.cell);
    if (cell_ < 0) return;
    const auto& vertices = mesh.cells[cell_];
    const auto X = [&](std::size_t b) -> const Point& { return mesh.vertices[vertices[b]]; };
    Eigen::Matrix<double, dim, dim> edges;
    for (std::size_t i = 1; i <= dim; ++i) edges.col(i - 1) = X(i) - X(0);
    const Point along = edges.inverse() * direction_; // d xi / d s
    along_barycentric_ << -along.sum(), along;
    const auto& basis = space.basis(space.order(cell_));
    Eigen::Matrix<double, Eigen::Dynamic, dim, Eigen::RowMajor> gradients(basis.num_nodes(), dim);
    basis.gradients(Eigen::Map<const Point>(point.barycentric.data() + 1),
                    std::span<double>(gradients.data(), gradients.size()));
    along_basis_ = gradients * along;
    gradients_ = gradients * edges.inverse();
  }

  std::string_view name() const override { return "strain_at"; }
  std::vector<objectives::Quantity> depends_on() const override {
    return {objectives::quantities::displacement, objectives::quantities::vertices};
  }
  void check_time(double time) const override { track_.at(time); }
  bool has_deviations() const override { return track_.has_sd; }
  std::vector<double> observation_times() const override { return track_.observation_times(); }

  /// One row, on the owner of the cell.
  std::size_t num_residuals() const override { return cell_ >= 0 ? 1 : 0; }
  objectives::ObservationNames observation_names() const override { return {{}, {"strain"}}; }
  std::vector<objectives::ResidualLabel> residual_labels(double time) const override {
    return std::vector(
        num_residuals(),
        objectives::ResidualLabel{0, 0, time, track_.at(time).inverse_sd[0] != 0, track_.line_at(time)});
  }

  std::vector<double> residuals(const objectives::ObservedState& state) override {
    const auto target = track_.at(state.time);
    if (cell_ < 0) return {};
    return {(deformed_direction(state.u).norm() - 1 - target.position[0]) * target.inverse_sd[0]};
  }

  std::vector<double> residual_tangent(const objectives::ObservedState& state, std::span<const double> du,
                                       std::span<const double>,
                                       const parameters::PhysicalDirection<dim>& dq) override {
    const double inverse_sd = track_.at(state.time).inverse_sd[0];
    if (cell_ < 0) return {};
    const Point n = deformed_direction(state.u).normalized();
    double change = n.dot(along(du));
    if (const auto* moved = dq.rest_positions())
      for_each_vertex(state, n, [&](LocalIndex v, const Point& share) { change += share.dot((*moved)[v]); });
    return {change * inverse_sd};
  }

  void add_residual_products(const objectives::ObservedState& state, std::span<const double> y,
                             std::span<double> du, std::span<double>,
                             parameters::PhysicalGradient<dim>& g) override {
    const double inverse_sd = track_.at(state.time).inverse_sd[0];
    linalg::Vector by_node(space_->layout());
    if (cell_ >= 0) {
      const double by_strain = y[0] * inverse_sd;
      const Point n = deformed_direction(state.u).normalized();
      const std::span<double> field = by_node.write_local();
      const auto nodes = space_->cell_nodes(cell_);
      for (std::size_t a = 0; a < nodes.size(); ++a)
        fem::node_block<dim>(field, nodes[a]) += by_strain * along_basis_[a] * n;
      if (auto* by_vertex = g.rest_positions())
        for_each_vertex(state, n,
                        [&](LocalIndex v, const Point& share) { (*by_vertex)[v] += by_strain * share; });
    }
    objectives::add_to_owned(by_node, du);
  }

private:
  /// act(vertex, de/dX) for the vertices of the cell.
  template <class Act>
  void for_each_vertex(const objectives::ObservedState& state, const Point& n, Act act) const {
    const auto nodes = space_->cell_nodes(cell_);
    Eigen::Matrix<double, dim, dim> H = Eigen::Matrix<double, dim, dim>::Zero();
    for (std::size_t a = 0; a < nodes.size(); ++a)
      H += fem::node_block<dim>(state.u, nodes[a]) * gradients_.row(a);
    const auto& vertices = space_->mesh().cells[cell_];
    for (std::size_t b = 0; b <= dim; ++b) act(vertices[b], -along_barycentric_[b] * H.transpose() * n);
  }
  /// The derivative of a nodal field along d.
  Point along(std::span<const double> field) const {
    Point sum = Point::Zero();
    const auto nodes = space_->cell_nodes(cell_);
    for (std::size_t a = 0; a < nodes.size(); ++a)
      sum += along_basis_[a] * fem::node_block<dim>(field, nodes[a]);
    return sum;
  }
  /// F d.
  Point deformed_direction(std::span<const double> u) const { return direction_ + along(u); }

  const fem::FunctionSpace<dim>* space_;
  Point direction_;
  objectives::Track<1> track_;
  LocalIndex cell_ = -1;                                 ///< -1: of another rank
  Eigen::Matrix<double, dim + 1, 1> along_barycentric_;  ///< grad xi^b . d
  Eigen::VectorXd along_basis_;                          ///< grad phi_a . d
  Eigen::Matrix<double, Eigen::Dynamic, dim> gradients_; ///< grad phi_a
};

struct StrainAt final : ObservedObjectiveOf<StrainAt> {
  explicit StrainAt(const Item& entry)
      : ObservedObjectiveOf(entry), rest(entry["rest"].numbers()), direction(entry["direction"].numbers()) {
    if (entry["body"].size() != 1)
      entry["body"].fail("a strain gauge sits on one body, here are " + std::to_string(entry["body"].size()));
    if (std::ranges::all_of(direction, [](double component) { return component == 0; }))
      entry["direction"].fail("must not be zero");
  }
  void check_dimension(int dim) const override {
    require_count(rest.size(), dim, dim, where.of("rest"), "the position of a strain gauge");
    require_count(direction.size(), dim, dim, where.of("direction"), "the direction of a strain gauge");
  }

  template <int dim>
  ObjectiveMaker<dim> open_in(const ExperimentMesh<dim>& at) const {
    const auto point =
        locate_at_rest(at.mesh, bodies.front(), rest, "strain gauge '" + name + "'", where.of("rest"));
    return [this, point](DiscreteScene<dim>& discrete) {
      return std::make_unique<StrainGauge<dim>>(
          discrete.space(), point, Eigen::Map<const Eigen::Matrix<double, dim, 1>>(direction.data()),
          as_observed(*this, discrete.scene().time,
                      objectives::read_track<1>(discrete.space().comm(), target, {"strain"},
                                                objectives::Measured::strain)));
    };
  }

  std::vector<double> rest, direction;
};

} // namespace

std::vector<ObjectiveType> observed_points_objectives() {
  const Key outside_key{.pattern = "/objectives/*/outside",
                        .types = text,
                        .implied = "`refuse`",
                        .choices = "[\"refuse\", \"drop\"]",
                        .doc = "Points outside of the body: an error, or left out with a warning."};
  const Key rest_key{
      .pattern = "/objectives/*/rest",
      .types = list,
      .items = number,
      .length = {2, 3},
      .required = true,
      .unit = "m",
      .doc = "Position at rest of a point that moves with the body, before a shape has moved anything."};
  return {
      {.name = "markers",
       .doc = "sum over the markers of |x - y|^2 / sd^2, y and sd from a CSV file.",
       .keys = {time_key, observations_key},
       .read = Markers::read,
       .observes = true,
       .uses_markers = true,
       .keeps_mesh = true,
       .sees_particles = true,
       .sees_place = true},
      {.name = "displacement_field",
       .doc = "sum over the points of |u - y|^2 / sd^2, y the displacements of points of one body, as from "
              "a digital image correlation, and sd from a CSV file with the columns "
              "`time,x,y[,z],ux,uy[,uz][,sd]`. Without `time` each observation counts once, in statics the "
              "final state.",
       .keys = {required(body_key), time_key, observations_key, outside_key},
       .read = DisplacementField::read,
       .observes = true,
       .is_sampled = true,
       .keeps_mesh = true,
       .sees_place = true},
      {.name = "strain_at",
       .doc =
           "(e - y)^2 / sd^2, e = |F d| - 1 the engineering strain along `direction` at a point of one body, "
           "y "
           "and sd from a CSV file with the columns `time,strain[,sd]`. Between elements that of the one "
           "with "
           "the smallest number counts.",
       .keys = {required(body_key), time_key, observations_key, rest_key, direction_key},
       .read = StrainAt::read,
       .observes = true,
       .keeps_mesh = true}};
}

} // namespace recoil::app
