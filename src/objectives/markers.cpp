#include "recoil/objectives/markers.hpp"

#include <algorithm>
#include <unordered_map>

#include "recoil/base/error.hpp"
#include "recoil/objectives/least_squares.hpp"

namespace recoil::objectives {

namespace {

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
  std::size_t num_data(double time) const override {
    std::size_t count = 0;
    for (const OwnedMarker& marker : markers_)
      count += (tracks_[marker.number].at(time).inverse_sd.array() != 0).count();
    return count;
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
  std::vector<OwnedMarker> markers_;
};

} // namespace

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
  template std::unique_ptr<Objective<dim>> make_markers(const fem::FunctionSpace<dim>&,                      \
                                                        std::vector<Marker<dim>>);                           \
  template std::unique_ptr<Objective<dim>> make_displacement_field(const fem::FunctionSpace<dim>&,           \
                                                                   std::vector<Marker<dim>>);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::objectives
