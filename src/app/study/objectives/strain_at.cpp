#include <Eigen/LU>

#include "app/study/objectives/objective_type.hpp"
#include "recoil/base/error.hpp"
#include "recoil/objectives/least_squares.hpp"

namespace recoil::app {
namespace {

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
    const auto owned = std::span(mesh.cell_ids).first(mesh.num_owned_cells);
    const auto found = std::ranges::find(owned, point.cell);
    if (found == owned.end()) return;
    cell_ = static_cast<LocalIndex>(found - owned.begin());
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
  std::size_t num_data(double time) const override {
    return cell_ >= 0 && track_.at(time).inverse_sd[0] != 0 ? 1 : 0;
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

class StrainAt final : public ObjectiveOf<StrainAt> {
public:
  explicit StrainAt(const Item& entry)
      : target_(observations_of(entry)), rest_(entry["rest"].numbers()),
        direction_(entry["direction"].numbers()) {
    if (entry["body"].size() != 1)
      entry["body"].fail("a strain gauge sits on one body, here are " + std::to_string(entry["body"].size()));
    if (std::ranges::all_of(direction_, [](double component) { return component == 0; }))
      entry["direction"].fail("must not be zero");
  }
  std::vector<std::filesystem::path> files() const override { return {target_}; }
  void check_dimension(int dim) const override {
    require_count(rest_.size(), dim, dim, where.of("rest"), "the position of a strain gauge");
    require_count(direction_.size(), dim, dim, where.of("direction"), "the direction of a strain gauge");
  }

  template <int dim>
  ObjectiveMaker<dim> open_in(const ExperimentMesh<dim>& at) const {
    const auto point =
        locate_at_rest(at.mesh, bodies.front(), rest_, "strain gauge '" + name + "'", where.of("rest"));
    return [this, point](DiscreteScene<dim>& discrete) {
      return std::make_unique<StrainGauge<dim>>(
          discrete.space(), point, Eigen::Map<const Eigen::Matrix<double, dim, 1>>(direction_.data()),
          as_observed(*this, discrete.scene().time,
                      objectives::read_track<1>(discrete.space().comm(), target_, {"strain"},
                                                objectives::Measured::strain)));
    };
  }

private:
  std::filesystem::path target_;
  std::vector<double> rest_, direction_;
};

} // namespace

ObjectiveType strain_at_objective() {
  const Key rest_key{
      .pattern = "/objectives/*/rest",
      .types = list,
      .items = number,
      .length = {2, 3},
      .required = true,
      .unit = "m",
      .doc = "Position at rest of a point that moves with the body, before a shape has moved anything."};
  return {
      .name = "strain_at",
      .doc =
          "(e - y)^2 / sd^2, e = |F d| - 1 the engineering strain along `direction` at a point of one body, "
          "y "
          "and sd from a CSV file with the columns `time,strain[,sd]`. Between elements that of the one with "
          "the smallest number counts.",
      .keys = {required(body_key()), time_key(), observations_key(), rest_key, direction_key()},
      .read = StrainAt::read,
      .observes = true};
}

} // namespace recoil::app
