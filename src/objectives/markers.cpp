#include "recoil/objectives/markers.hpp"

#include <algorithm>
#include <limits>
#include <sstream>
#include <unordered_map>

#include <Eigen/LU>

#include "recoil/base/error.hpp"
#include "recoil/collide/candidates.hpp"

namespace recoil::objectives {

namespace {

/// How far outside of a cell, in barycentric coordinates, a point may lie and still count as on its boundary.
constexpr double boundary_tolerance = 1e-9;
constexpr GlobalIndex none = std::numeric_limits<GlobalIndex>::max();

template <int dim>
using Point = Eigen::Matrix<double, dim, 1>;

template <int dim>
std::array<double, dim + 1> barycentric(const mesh::DistributedMesh<dim>& mesh, LocalIndex cell,
                                        const Point<dim>& position) {
  const auto& vertices = mesh.cells[cell];
  const auto& origin = mesh.vertices[vertices[0]];
  Eigen::Matrix<double, dim, dim> edges;
  for (std::size_t i = 1; i <= dim; ++i) edges.col(i - 1) = mesh.vertices[vertices[i]] - origin;
  const Point<dim> xi = edges.inverse() * (position - origin);
  std::array<double, dim + 1> lambda;
  lambda[0] = 1 - xi.sum();
  std::copy(xi.begin(), xi.end(), lambda.begin() + 1);
  return lambda;
}

template <int dim>
void add_item(collide::ItemSet<dim>& set, const collide::Box<dim>& box) {
  set.boxes.push_back(box);
  set.labels.push_back({-1, -1, -1});
  set.groups.push_back(0);
}

/// A box around all that counts as inside of a cell: barycentric coordinates that are off by t move a point
/// by at most t times the sum of the edges.
template <int dim>
collide::Box<dim> box_of(const mesh::DistributedMesh<dim>& mesh, LocalIndex cell) {
  collide::Box<dim> box;
  for (const LocalIndex vertex : mesh.cells[cell]) box.extend(mesh.vertices[vertex]);
  const Point<dim> margin = 2 * (dim + 1) * boundary_tolerance * box.sizes();
  return {box.min() - margin, box.max() + margin};
}

/// The owned cell of the body with the smallest id around each position; `none` for the others.
template <int dim>
std::vector<MaterialPoint<dim>> locate_here(const mesh::DistributedMesh<dim>& mesh, std::int32_t body,
                                            std::span<const Point<dim>> rests) {
  std::vector<collide::ItemSet<dim>> sets(2);
  for (const Point<dim>& rest : rests) add_item<dim>(sets[0], {rest, rest});
  std::vector<LocalIndex> cells;
  for (LocalIndex cell = 0; cell < mesh.num_owned_cells; ++cell) {
    if (mesh.cell_body[cell] != body) continue;
    cells.push_back(cell);
    add_item<dim>(sets[1], box_of(mesh, cell));
  }
  // Every rank has all positions: nothing is asked of others.
  const parallel::Communicator alone = mesh.comm->split(mesh.comm->rank());
  const std::vector<collide::SetPair> which{{0, 1}};
  const auto found = collide::find_candidates<dim>(alone, sets, which, {});
  std::vector<MaterialPoint<dim>> points(rests.size(), {none, {}});
  for (const auto& [number, index] : found.pairs.front()) {
    const GlobalIndex id = mesh.cell_ids[cells[index]];
    if (id >= points[number].cell) continue;
    const auto lambda = barycentric<dim>(mesh, cells[index], rests[number]);
    if (*std::ranges::min_element(lambda) >= -boundary_tolerance) points[number] = {id, lambda};
  }
  return points;
}

/// Observed positions or displacements of material points.
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
  Markers(std::string_view name, bool sees_positions, const fem::FunctionSpace<dim>& space,
          std::vector<Marker<dim>> markers)
      : LeastSquaresObjective<dim>(space.comm()), name_(name), sees_positions_(sees_positions),
        space_(&space) {
    if (markers.empty()) throw InputError(std::string(name_) + ": the list of points is empty");
    const mesh::DistributedMesh<dim>& mesh = space.mesh();
    std::unordered_map<GlobalIndex, LocalIndex> owned;
    for (LocalIndex cell = 0; cell < mesh.num_owned_cells; ++cell) owned[mesh.cell_ids[cell]] = cell;
    for (std::size_t m = 0; m < markers.size(); ++m) {
      tracks_.push_back(std::move(markers[m].track));
      names_.push_back(std::move(markers[m].name));
      const MaterialPoint<dim>& point = markers[m].point;
      const auto found = owned.find(point.cell);
      if (found == owned.end()) continue;
      const auto& basis = space.basis(space.order(found->second));
      OwnedMarker marker{m, found->second, point.barycentric, std::vector<double>(basis.num_nodes())};
      basis.values(Eigen::Map<const Point>(point.barycentric.data() + 1), marker.basis);
      markers_.push_back(std::move(marker));
    }
    if (space.comm().sum(GlobalIndex{std::ssize(markers_)}) != std::ssize(tracks_))
      throw InputError(std::string(name_) + ": a point lies in a cell that the mesh does not have");
  }

  std::string_view name() const override { return name_; }
  std::vector<Quantity> depends_on() const override {
    std::vector<Quantity> all{quantities::displacement};
    if (sees_positions_) all.push_back(quantities::vertices);
    return all;
  }
  void check_time(double time) const override {
    for (const Track<dim>& track : tracks_) track.at(time);
  }
  bool has_deviations() const override {
    return std::ranges::all_of(tracks_, [](const Track<dim>& track) { return track.has_sd; });
  }
  std::vector<double> observation_times() const override {
    std::vector<double> all;
    for (const Track<dim>& track : tracks_) {
      const auto times = track.observation_times();
      all.insert(all.end(), times.begin(), times.end());
    }
    std::ranges::sort(all);
    const auto repeated = std::ranges::unique(all);
    all.erase(repeated.begin(), repeated.end());
    return all;
  }

  /// dim rows per marker.
  std::size_t num_residuals() const override { return dim * markers_.size(); }
  ObservationNames observation_names() const override {
    ObservationNames names{names_, {"x", "y", "z"}};
    if (!sees_positions_) names.components = {"ux", "uy", "uz"};
    names.components.resize(dim);
    return names;
  }
  std::vector<ResidualLabel> residual_labels(double time) const override {
    std::vector<ResidualLabel> labels;
    for (const OwnedMarker& marker : markers_) {
      const Track<dim>& track = tracks_[marker.number];
      const Point inverse_sd = track.at(time).inverse_sd;
      for (int i = 0; i < dim; ++i)
        labels.push_back(
            {static_cast<std::int32_t>(marker.number), i, time, inverse_sd[i] != 0, track.line_at(time)});
    }
    return labels;
  }

  std::vector<double> residuals(const ObservedState& state) override {
    check_time(state.time); // on all ranks, not where the marker is
    std::vector<double> rows;
    for (const OwnedMarker& marker : markers_) {
      const auto target = target_of(marker, state);
      Point r = at_nodes(marker, state.u) - target.position;
      if (sees_positions_) r += at_vertices(marker, space_->mesh().vertices);
      r = r.cwiseProduct(target.inverse_sd).eval();
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
      if (const auto* moved = dq.rest_positions(); moved && sees_positions_)
        dr += at_vertices(marker, *moved);
      dr = dr.cwiseProduct(target_of(marker, state).inverse_sd).eval();
      rows.insert(rows.end(), dr.begin(), dr.end());
    }
    return rows;
  }

  void add_residual_products(const ObservedState& state, std::span<const double> y, std::span<double> du,
                             std::span<double>, parameters::PhysicalGradient<dim>& g) override {
    check_time(state.time);
    auto* by_vertex = sees_positions_ ? g.rest_positions() : nullptr;
    linalg::Vector by_node(space_->layout());
    const std::span<double> field = by_node.write_local();
    for (std::size_t m = 0; m < markers_.size(); ++m) {
      const OwnedMarker& marker = markers_[m];
      const Point by_position =
          target_of(marker, state).inverse_sd.cwiseProduct(Eigen::Map<const Point>(&y[dim * m]));
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

  std::string_view name_;
  bool sees_positions_; ///< else displacements
  const fem::FunctionSpace<dim>* space_;
  std::vector<Track<dim>> tracks_; ///< of all markers, on every rank
  std::vector<std::string> names_; ///< of all, too
  std::vector<OwnedMarker> markers_;
};

} // namespace

template <int dim>
std::vector<std::optional<MaterialPoint<dim>>>
locate_all(const mesh::DistributedMesh<dim>& mesh, std::int32_t body, std::span<const Point<dim>> rests) {
  auto here = locate_here<dim>(mesh, body, rests);
  std::vector<GlobalIndex> candidates;
  for (const auto& point : here) candidates.push_back(point.cell);
  candidates = mesh.comm->all_gather_parts(candidates);
  std::vector<double> barycentric;
  std::vector<GlobalIndex> cells(rests.size(), none);
  for (std::size_t i = 0; i < candidates.size(); ++i)
    cells[i % rests.size()] = std::min(cells[i % rests.size()], candidates[i]);
  for (std::size_t i = 0; i < rests.size(); ++i) {
    if (here[i].cell != cells[i]) here[i].barycentric = {};
    barycentric.insert(barycentric.end(), here[i].barycentric.begin(), here[i].barycentric.end());
  }
  mesh.comm->sum(barycentric);
  std::vector<std::optional<MaterialPoint<dim>>> points(rests.size());
  for (std::size_t i = 0; i < rests.size(); ++i) {
    if (cells[i] == none) continue;
    points[i] = MaterialPoint<dim>{cells[i], {}};
    std::copy_n(barycentric.begin() + i * (dim + 1), dim + 1, points[i]->barycentric.begin());
  }
  return points;
}

template <int dim>
MaterialPoint<dim> locate(const mesh::DistributedMesh<dim>& mesh, std::int32_t body, const Point<dim>& rest,
                          const std::string& what) {
  const auto point = locate_all<dim>(mesh, body, std::span(&rest, 1)).front();
  if (point) return *point;
  const bool known = body >= 0 && body < std::ssize(mesh.body_names);
  std::ostringstream text;
  text << what << ": its rest position (" << rest.transpose() << ") lies outside of body '"
       << (known ? mesh.body_names[body] : std::to_string(body)) << "'";
  throw InputError(text.str());
}

template <int dim>
std::unique_ptr<Objective<dim>> make_markers(const fem::FunctionSpace<dim>& space,
                                             std::vector<Marker<dim>> markers) {
  return std::make_unique<Markers<dim>>("markers", true, space, std::move(markers));
}

template <int dim>
std::unique_ptr<Objective<dim>> make_displacement_field(const fem::FunctionSpace<dim>& space,
                                                        std::vector<Marker<dim>> points) {
  return std::make_unique<Markers<dim>>("displacement_field", false, space, std::move(points));
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template std::vector<std::optional<MaterialPoint<dim>>> locate_all(                                        \
      const mesh::DistributedMesh<dim>&, std::int32_t, std::span<const Eigen::Matrix<double, dim, 1>>);      \
  template MaterialPoint<dim> locate(const mesh::DistributedMesh<dim>&, std::int32_t,                        \
                                     const Eigen::Matrix<double, dim, 1>&, const std::string&);              \
  template std::unique_ptr<Objective<dim>> make_markers(const fem::FunctionSpace<dim>&,                      \
                                                        std::vector<Marker<dim>>);                           \
  template std::unique_ptr<Objective<dim>> make_displacement_field(const fem::FunctionSpace<dim>&,           \
                                                                   std::vector<Marker<dim>>);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::objectives
