#include "recoil/objectives/markers.hpp"

#include <algorithm>
#include <unordered_map>

#include "recoil/base/error.hpp"

namespace recoil::objectives {

namespace {

/// Observed positions or displacements of material points.
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
  Markers(std::string_view name, bool sees_positions, const fem::FunctionSpace<dim>& space,
          std::vector<Marker<dim>> markers)
      : name_(name), sees_positions_(sees_positions), space_(&space) {
    if (markers.empty()) throw InputError(std::string(name_) + ": the list of points is empty");
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
    auto* by_vertex = sees_positions_ ? g.rest_positions() : nullptr;
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
    for (std::size_t b = 0; sees_positions_ && b <= dim; ++b)
      r += marker.barycentric[b] * space_->mesh().vertices[vertices[b]];
    for (std::size_t a = 0; a < nodes.size(); ++a)
      r += marker.basis[a] * fem::node_block<dim>(state.u, nodes[a]);
    const Point weighted = target.inverse_sd.cwiseProduct(r);
    return {weighted.squaredNorm(), 2 * target.inverse_sd.cwiseProduct(weighted)};
  }

  std::string_view name_;
  bool sees_positions_; ///< else displacements
  const fem::FunctionSpace<dim>* space_;
  std::vector<Track<dim>> tracks_; ///< of all markers, on every rank
  std::vector<LocalMarker> markers_;
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
