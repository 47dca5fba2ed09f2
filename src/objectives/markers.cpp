#include "recoil/objectives/markers.hpp"

#include <algorithm>
#include <limits>
#include <sstream>
#include <unordered_map>

#include <Eigen/LU>

#include "recoil/base/error.hpp"

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
class Markers final : public Objective<dim> {
  using Point = Eigen::Matrix<double, dim, 1>;

  /// A marker in a local cell.
  struct LocalMarker {
    std::size_t number; ///< in tracks_
    LocalIndex cell;
    std::array<double, dim + 1> barycentric;
    std::vector<double> basis; ///< phi_a at the marker
  };

public:
  Markers(const fem::FunctionSpace<dim>& space, std::vector<Marker<dim>> markers) : space_(&space) {
    if (markers.empty()) throw InputError("markers: the list of markers is empty");
    const mesh::DistributedMesh<dim>& mesh = space.mesh();
    std::unordered_map<GlobalIndex, LocalIndex> local;
    for (LocalIndex cell = 0; cell < mesh.num_cells(); ++cell) local[mesh.cell_ids[cell]] = cell;
    GlobalIndex owned = 0;
    for (std::size_t m = 0; m < markers.size(); ++m) {
      tracks_.push_back(std::move(markers[m].track));
      const MaterialPoint<dim>& point = markers[m].point;
      const auto found = local.find(point.cell);
      if (found == local.end()) continue;
      const LocalIndex cell = found->second;
      owned += is_owned(cell) ? 1 : 0;
      const auto& basis = space.basis(space.order(cell));
      LocalMarker marker{m, cell, point.barycentric, std::vector<double>(basis.num_nodes())};
      basis.values(Eigen::Map<const Point>(point.barycentric.data() + 1), marker.basis);
      markers_.push_back(std::move(marker));
    }
    if (space.comm().sum(owned) != std::ssize(tracks_))
      throw InputError("markers: a marker lies in a cell that the mesh does not have");
  }

  std::string_view name() const override { return "markers"; }
  std::vector<Quantity> depends_on() const override {
    return {quantities::displacement, quantities::vertices};
  }
  void check_time(double time) const override {
    for (const Track<dim>& track : tracks_) track.at(time);
  }

  double value(const ObservedState& state) override {
    check_time(state.time);
    double sum = 0;
    for (const LocalMarker& marker : markers_)
      if (is_owned(marker.cell)) sum += evaluate(marker, state).value;
    return space_->comm().sum(sum);
  }

  void add_derivatives(const ObservedState& state, double factor, std::span<double> du, std::span<double>,
                       parameters::PhysicalGradient<dim>& g) override {
    check_time(state.time);
    auto* by_vertex = g.rest_positions();
    for (const LocalMarker& marker : markers_) {
      const Point by_position = factor * evaluate(marker, state).by_position;
      const auto nodes = space_->cell_nodes(marker.cell);
      // Ghost cells complete the sums at owned nodes.
      for (std::size_t a = 0; a < nodes.size(); ++a)
        if (nodes[a] < space_->num_owned_nodes())
          fem::node_block<dim>(du, nodes[a]) += marker.basis[a] * by_position;
      if (!is_owned(marker.cell) || !by_vertex) continue;
      const auto& vertices = space_->mesh().cells[marker.cell];
      for (std::size_t b = 0; b <= dim; ++b) (*by_vertex)[vertices[b]] += marker.barycentric[b] * by_position;
    }
  }

private:
  struct Evaluation {
    double value;
    Point by_position;
  };
  bool is_owned(LocalIndex cell) const { return cell < space_->mesh().num_owned_cells; }

  Evaluation evaluate(const LocalMarker& marker, const ObservedState& state) const {
    const auto target = tracks_[marker.number].at(state.time);
    const auto& vertices = space_->mesh().cells[marker.cell];
    const auto nodes = space_->cell_nodes(marker.cell);
    Point r = -target.position;
    for (std::size_t b = 0; b <= dim; ++b) r += marker.barycentric[b] * space_->mesh().vertices[vertices[b]];
    for (std::size_t a = 0; a < nodes.size(); ++a)
      r += marker.basis[a] * fem::node_block<dim>(state.u, nodes[a]);
    const double precision = 1 / (target.sd * target.sd);
    return {precision * r.squaredNorm(), 2 * precision * r};
  }

  const fem::FunctionSpace<dim>* space_;
  std::vector<Track<dim>> tracks_; ///< of all markers, on every rank
  std::vector<LocalMarker> markers_;
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
