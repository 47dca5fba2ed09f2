#include "recoil/objectives/markers.hpp"

#include <algorithm>
#include <limits>
#include <sstream>
#include <unordered_map>

#include <Eigen/LU>

#include "recoil/base/error.hpp"
#include "recoil/objectives/least_squares.hpp"

namespace recoil::objectives {

namespace {

/// How far outside of a cell, in barycentric coordinates, a point may lie and still count as on its boundary.
constexpr double boundary_tolerance = 1e-9;

template <int dim>
std::array<double, dim + 1> barycentric(const mesh::DistributedMesh<dim>& mesh, LocalIndex cell,
                                        const Eigen::Matrix<double, dim, 1>& position) {
  const auto& vertices = mesh.cells[cell];
  const auto& origin = mesh.vertices[vertices[0]];
  Eigen::Matrix<double, dim, dim> edges;
  for (std::size_t i = 1; i <= dim; ++i) edges.col(i - 1) = mesh.vertices[vertices[i]] - origin;
  const Eigen::Matrix<double, dim, 1> xi = edges.inverse() * (position - origin);
  std::array<double, dim + 1> lambda;
  lambda[0] = 1 - xi.sum();
  std::copy(xi.begin(), xi.end(), lambda.begin() + 1);
  return lambda;
}

template <int dim>
class Markers final : public LeastSquaresObjective<dim> {
  using Point = Eigen::Matrix<double, dim, 1>;

  /// A marker in an owned cell.
  struct OwnedMarker {
    std::size_t number; ///< in tracks_
    LocalIndex cell;
    std::array<double, dim + 1> barycentric;
    std::vector<double> basis; ///< phi_a at the marker
  };

public:
  Markers(const fem::FunctionSpace<dim>& space, std::vector<Marker<dim>> markers)
      : LeastSquaresObjective<dim>(space.comm()), space_(&space) {
    if (markers.empty()) throw InputError("markers: the list of markers is empty");
    const mesh::DistributedMesh<dim>& mesh = space.mesh();
    std::unordered_map<GlobalIndex, LocalIndex> owned;
    for (LocalIndex cell = 0; cell < mesh.num_owned_cells; ++cell) owned[mesh.cell_ids[cell]] = cell;
    for (std::size_t m = 0; m < markers.size(); ++m) {
      tracks_.push_back(std::move(markers[m].track));
      const MaterialPoint<dim>& point = markers[m].point;
      const auto found = owned.find(point.cell);
      if (found == owned.end()) continue;
      const auto& basis = space.basis(space.order(found->second));
      OwnedMarker marker{m, found->second, point.barycentric, std::vector<double>(basis.num_nodes())};
      basis.values(Eigen::Map<const Point>(point.barycentric.data() + 1), marker.basis);
      markers_.push_back(std::move(marker));
    }
    if (space.comm().sum(GlobalIndex{std::ssize(markers_)}) != std::ssize(tracks_))
      throw InputError("markers: a marker lies in a cell that the mesh does not have");
  }

  std::string_view name() const override { return "markers"; }
  std::vector<Quantity> depends_on() const override {
    return {quantities::displacement, quantities::vertices};
  }
  void check_time(double time) const override {
    for (const Track<dim>& track : tracks_) track.at(time);
  }

  /// dim rows per marker.
  std::size_t num_residuals() const override { return dim * markers_.size(); }

  std::vector<double> residuals(const ObservedState& state) override {
    check_time(state.time); // on all ranks, not where the marker is
    std::vector<double> rows;
    for (const OwnedMarker& marker : markers_) {
      const auto target = target_of(marker, state);
      const Point x = at_vertices(marker, space_->mesh().vertices) + at_nodes(marker, state.u);
      const Point r = (x - target.position) / target.sd;
      rows.insert(rows.end(), r.begin(), r.end());
    }
    return rows;
  }

  std::vector<double> residual_tangent(const ObservedState& state, std::span<const double> du,
                                       std::span<const double>,
                                       const parameters::PhysicalDirection<dim>& dq) override {
    check_time(state.time);
    std::vector<double> rows;
    for (const OwnedMarker& marker : markers_) {
      Point dr = at_nodes(marker, du);
      if (const auto* moved = dq.rest_positions()) dr += at_vertices(marker, *moved);
      dr /= target_of(marker, state).sd;
      rows.insert(rows.end(), dr.begin(), dr.end());
    }
    return rows;
  }

  void add_residual_products(const ObservedState& state, std::span<const double> y, std::span<double> du,
                             std::span<double>, parameters::PhysicalGradient<dim>& g) override {
    check_time(state.time);
    auto* by_vertex = g.rest_positions();
    linalg::Vector by_node(space_->layout());
    const std::span<double> field = by_node.write_local();
    for (std::size_t m = 0; m < markers_.size(); ++m) {
      const OwnedMarker& marker = markers_[m];
      const Point by_position = Eigen::Map<const Point>(&y[dim * m]) / target_of(marker, state).sd;
      const auto nodes = space_->cell_nodes(marker.cell);
      for (std::size_t a = 0; a < nodes.size(); ++a)
        fem::node_block<dim>(field, nodes[a]) += marker.basis[a] * by_position;
      if (!by_vertex) continue;
      const auto& vertices = space_->mesh().cells[marker.cell];
      for (std::size_t b = 0; b <= dim; ++b) (*by_vertex)[vertices[b]] += marker.barycentric[b] * by_position;
    }
    add_to_owned(by_node, du);
  }

private:
  auto target_of(const OwnedMarker& marker, const ObservedState& state) const {
    return tracks_[marker.number].at(state.time);
  }
  Point at_vertices(const OwnedMarker& marker, const std::vector<Point>& values) const {
    Point sum = Point::Zero();
    const auto& vertices = space_->mesh().cells[marker.cell];
    for (std::size_t b = 0; b <= dim; ++b) sum += marker.barycentric[b] * values[vertices[b]];
    return sum;
  }
  Point at_nodes(const OwnedMarker& marker, std::span<const double> field) const {
    Point sum = Point::Zero();
    const auto nodes = space_->cell_nodes(marker.cell);
    for (std::size_t a = 0; a < nodes.size(); ++a)
      sum += marker.basis[a] * fem::node_block<dim>(field, nodes[a]);
    return sum;
  }

  const fem::FunctionSpace<dim>* space_;
  std::vector<Track<dim>> tracks_; ///< of all markers, on every rank
  std::vector<OwnedMarker> markers_;
};

} // namespace

template <int dim>
MaterialPoint<dim> locate(const mesh::DistributedMesh<dim>& mesh, std::int32_t body,
                          const Eigen::Matrix<double, dim, 1>& rest, const std::string& what) {
  constexpr GlobalIndex none = std::numeric_limits<GlobalIndex>::max();
  MaterialPoint<dim> here{none, {}};
  for (LocalIndex cell = 0; cell < mesh.num_owned_cells; ++cell) {
    if (mesh.cell_body[cell] != body) continue;
    const GlobalIndex id = mesh.cell_ids[cell];
    const auto lambda = barycentric<dim>(mesh, cell, rest);
    if (id < here.cell && *std::min_element(lambda.begin(), lambda.end()) >= -boundary_tolerance)
      here = {id, lambda};
  }
  MaterialPoint<dim> result{mesh.comm->min(here.cell), {}};
  if (result.cell == none) {
    const bool known = body >= 0 && body < std::ssize(mesh.body_names);
    std::ostringstream text;
    text << what << ": its rest position (" << rest.transpose() << ") lies outside of body '"
         << (known ? mesh.body_names[body] : std::to_string(body)) << "'";
    throw InputError(text.str());
  }
  if (here.cell == result.cell) result.barycentric = here.barycentric;
  mesh.comm->sum(result.barycentric);
  return result;
}

template <int dim>
std::unique_ptr<Objective<dim>> make_markers(const fem::FunctionSpace<dim>& space,
                                             std::vector<Marker<dim>> markers) {
  return std::make_unique<Markers<dim>>(space, std::move(markers));
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template MaterialPoint<dim> locate(const mesh::DistributedMesh<dim>&, std::int32_t,                        \
                                     const Eigen::Matrix<double, dim, 1>&, const std::string&);              \
  template std::unique_ptr<Objective<dim>> make_markers(const fem::FunctionSpace<dim>&,                      \
                                                        std::vector<Marker<dim>>);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::objectives
