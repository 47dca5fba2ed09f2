#include "recoil/app/solvers/elastodynamics/stored_state.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <numeric>

#include <Eigen/Geometry>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "recoil/base/error.hpp"
#include "recoil/base/log.hpp"
#include "recoil/base/lookup.hpp"
#include "recoil/base/suggest.hpp"
#include "recoil/checkpoint/trajectory_reader.hpp"
#include "recoil/io/block_layout.hpp"

namespace recoil::app {

namespace {

constexpr std::size_t cell_width = std::tuple_size_v<checkpoint::DrawnCell>;

/// Nodes outside of the old body by more than this share of its diagonal belong to another shape.
constexpr double farthest_outside = 0.05;
/// Below this share it is rounding.
constexpr double noticed_outside = 1e-6;

/// The mesh of a run and one state of it; the same on every rank.
struct OldState {
  std::vector<std::string> bodies;
  std::vector<double> positions, u, v; ///< dim numbers per node
  std::vector<GlobalIndex> cells;      ///< cell_width per drawn cell, padded with -1
  std::vector<GlobalIndex> body;       ///< of each cell
  double time = 0;
};

[[noreturn]] void refuse(const StoredState& from, const std::string& what) {
  throw InputError(from.where, from.run.string() + ": " + what);
}

nlohmann::json scene_of(const StoredState& from) {
  std::ifstream file(from.run / "scene.json");
  nlohmann::json scene = nlohmann::json::parse(file, nullptr, false);
  if (!scene.is_object() || !scene.contains("geometry"))
    refuse(from, "is no folder of recoil simulate: it has no scene.json with a geometry");
  return scene;
}

void check_scene_of(const StoredState& from, const UnitSystem& units, const nlohmann::json& scene) {
  if (scene.value("solver", nlohmann::json::object()).value("type", "elastodynamics") != "elastodynamics")
    refuse(from, "is a run of another solver; only runs of finite elements hold displacements of nodes");
  UnitSystem own;
  if (const auto given = scene.find("units"); given != scene.end()) {
    own.length = given->value("length", own.length);
    own.mass = given->value("mass", own.mass);
    own.time = given->value("time", own.time);
  }
  if (own != units)
    refuse(from,
           "is a run in " + own.names() + ", this scene is in " + units.names() + "; write the same `units`");
}

/// The names of its bodies, in the order of their numbers.
std::vector<std::string> bodies_of_run(const StoredState& from, const UnitSystem& units) {
  const nlohmann::json scene = scene_of(from);
  std::vector<std::string> bodies;
  try {
    check_scene_of(from, units, scene);
    for (const auto& entry : scene["geometry"])
      if (entry.value("enabled", true) && !entry.value("is_obstacle", false))
        bodies.push_back(entry.value("name", ""));
  } catch (const nlohmann::json::exception&) {
    refuse(from, "its scene.json is no scene as recoil simulate writes it; take a run whose files are whole");
  }
  return bodies;
}

/// The stored state at a time, to a thousandth of the distance of states.
GlobalIndex state_at(const StoredState& from, const checkpoint::TrajectoryReader& reader) {
  std::vector<GlobalIndex> stored;
  for (GlobalIndex id = 0; id < std::ssize(reader.records()); ++id)
    if (reader.is_stored(id)) stored.push_back(id);
  if (stored.empty()) refuse(from, "has no stored state");
  if (!from.time) return stored.back();
  const auto distance = [&](GlobalIndex id) { return std::abs(reader.records()[id].time - *from.time); };
  const GlobalIndex nearest = *std::ranges::min_element(stored, {}, distance);
  const double step =
      stored.size() > 1 ? reader.records()[stored[1]].time - reader.records()[stored[0]].time : 1;
  if (distance(nearest) > 1e-3 * step)
    refuse(from,
           fmt::format(
               "has no stored state at {:.10g}; the nearest is at {:.10g}, they go from {:.10g} to {:.10g}",
               *from.time, reader.records()[nearest].time, reader.records()[stored.front()].time,
               reader.records()[stored.back()].time));
  return nearest;
}

/// Reads what every rank needs, on one of them.
template <int dim>
OldState read_on_one_rank(const StoredState& from, const UnitSystem& units,
                          const parallel::Communicator& alone) {
  OldState old;
  old.bodies = bodies_of_run(from, units);
  checkpoint::TrajectoryReader reader(alone, from.trajectory());
  const GlobalIndex id = state_at(from, reader);
  old.time = reader.records()[id].time;
  const io::ArrayShape shape = reader.shape(id, "u");
  if (shape.columns != dim)
    refuse(from, fmt::format("is a run in {}D, this scene is in {}D", shape.columns, dim));
  std::vector<GlobalIndex> nodes(shape.rows), cells(reader.num_cells());
  std::iota(nodes.begin(), nodes.end(), GlobalIndex{0});
  std::iota(cells.begin(), cells.end(), GlobalIndex{0});
  const io::BlockLayout of_nodes(alone, nodes), of_cells(alone, cells);
  const std::vector<double> coordinates = reader.read_static<double>("coordinates", of_nodes);
  const std::size_t width = coordinates.size() / nodes.size();
  for (std::size_t node = 0; node < nodes.size(); ++node)
    for (std::size_t i = 0; i < dim; ++i) old.positions.push_back(coordinates[node * width + i]);
  old.u = reader.read(id, "u", of_nodes);
  old.v = reader.read(id, "v", of_nodes);
  for (const checkpoint::DrawnCell& cell : reader.read_cells())
    old.cells.insert(old.cells.end(), cell.begin(), cell.end());
  const std::vector<std::int32_t> bodies = reader.read_static<std::int32_t>("body", of_cells);
  old.body.assign(bodies.begin(), bodies.end());
  return old;
}

template <int dim>
OldState read_old_state(const StoredState& from, const UnitSystem& units,
                        const parallel::Communicator& comm) {
  const parallel::Communicator alone = comm.split(comm.rank());
  OldState old;
  parallel::collectively(comm, [&] {
    if (comm.rank() == 0) old = read_on_one_rank<dim>(from, units, alone);
  });
  comm.broadcast(old.bodies);
  comm.broadcast(old.positions);
  comm.broadcast(old.u);
  comm.broadcast(old.v);
  comm.broadcast(old.cells);
  comm.broadcast(old.body);
  return old;
}

/// Where a point lies in the elements of a body.
template <int dim>
struct PlaceInCell {
  std::size_t cell = 0;
  Eigen::Matrix<double, dim + 1, 1> barycentric; ///< between 0 and 1
  double outside = HUGE_VAL;                     ///< distance from the element
};

/// Finds points in the elements of one body, which lie in the bins of a grid.
template <int dim>
class CellGrid {
  using Point = Eigen::Matrix<double, dim, 1>;
  using Box = Eigen::AlignedBox<double, dim>;
  using Bin = std::array<int, dim>;

public:
  CellGrid(const OldState& old, std::size_t body) : old_(old) {
    for (std::size_t cell = 0; cell < old.body.size(); ++cell)
      if (old.body[cell] == GlobalIndex(body)) cells_.push_back(cell);
    for (const std::size_t cell : cells_) box_.extend(box_of(cell));
    const double volume = std::max(box_.volume(), 1e-300);
    size_ = std::pow(volume / double(std::max<std::size_t>(cells_.size(), 1)), 1.0 / dim);
    for (int i = 0; i < dim; ++i) counts_[i] = int(std::clamp(box_.sizes()[i] / size_, 1.0, 1000.0));
    for (const std::size_t cell : cells_) {
      const Box box = box_of(cell);
      for_bins(bin_of(box.min()), bin_of(box.max()), [&](const Bin& bin) { bins_[bin].push_back(cell); });
    }
  }

  bool is_empty() const { return cells_.empty(); }
  double diagonal() const { return box_.sizes().norm(); }

  /// The element that holds the point, else the one nearest to it among those in the bins around.
  PlaceInCell<dim> find(const Point& point) const {
    const Bin middle = bin_of(point);
    PlaceInCell<dim> best;
    const int rings = *std::ranges::max_element(counts_);
    for (int ring = 0; ring <= rings; ++ring) {
      Bin low = middle, high = middle;
      for (int i = 0; i < dim; ++i) {
        low[i] = std::max(0, middle[i] - ring);
        high[i] = std::min(counts_[i] - 1, middle[i] + ring);
      }
      for_bins(low, high, [&](const Bin& bin) {
        if (const auto found = bins_.find(bin); found != bins_.end())
          for (const std::size_t cell : found->second)
            if (const PlaceInCell<dim> place = place_in_cell(cell, point); place.outside < best.outside)
              best = place;
      });
      // What lies in a bin beyond this ring is farther away than the ring is wide.
      if (best.outside <= ring * size_) break;
    }
    return best;
  }

private:
  Point corner(std::size_t cell, int k) const {
    return Eigen::Map<const Point>(&old_.positions[dim * old_.cells[cell * cell_width + k]]);
  }
  Box box_of(std::size_t cell) const {
    Box box;
    for (int k = 0; k <= dim; ++k) box.extend(corner(cell, k));
    return box;
  }
  Bin bin_of(const Point& point) const {
    Bin bin;
    for (int i = 0; i < dim; ++i)
      bin[i] = int(std::clamp((point[i] - box_.min()[i]) / std::max(box_.sizes()[i], 1e-300) * counts_[i],
                              0.0, counts_[i] - 1.0));
    return bin;
  }
  template <class Act>
  void for_bins(const Bin& low, const Bin& high, const Act& act) const {
    for (Bin bin = low;;) {
      act(bin);
      int i = 0;
      while (i < dim && ++bin[i] > high[i]) {
        bin[i] = low[i];
        ++i;
      }
      if (i == dim) return;
    }
  }
  PlaceInCell<dim> place_in_cell(std::size_t cell, const Point& point) const {
    Eigen::Matrix<double, dim, dim> edges;
    for (int k = 0; k < dim; ++k) edges.col(k) = corner(cell, k + 1) - corner(cell, 0);
    const Point xi = edges.inverse() * (point - corner(cell, 0));
    PlaceInCell<dim> place{cell, {}, 0};
    place.barycentric << 1 - xi.sum(), xi;
    // Outside the nearest point is near that of the coordinates that are left when negative ones are cut.
    place.barycentric = place.barycentric.cwiseMax(0);
    place.barycentric /= place.barycentric.sum();
    Point inside = Point::Zero();
    for (int k = 0; k <= dim; ++k) inside += place.barycentric[k] * corner(cell, k);
    place.outside = (point - inside).norm();
    return place;
  }

  const OldState& old_;
  std::vector<std::size_t> cells_;
  Box box_;
  double size_ = 1;
  std::array<int, dim> counts_{};
  std::map<Bin, std::vector<std::size_t>> bins_;
};

/// Values of the shape functions of a drawn cell, of first or second order, in the order of ParaView.
template <int dim>
std::vector<double> shape_values(const Eigen::Matrix<double, dim + 1, 1>& l, bool is_quadratic) {
  if (!is_quadratic) return {l.begin(), l.end()};
  std::vector<double> values;
  for (const double at : l) values.push_back(at * (2 * at - 1));
  using Edge = std::array<int, 2>;
  const std::vector<Edge> edges = dim == 2
                                      ? std::vector<Edge>{{0, 1}, {1, 2}, {0, 2}}
                                      : std::vector<Edge>{{0, 1}, {1, 2}, {0, 2}, {0, 3}, {1, 3}, {2, 3}};
  for (const auto& [a, b] : edges) values.push_back(4 * l[a] * l[b]);
  return values;
}

/// Number of the old body of each owned node, that of the last of its cells that has one; -1 where none has.
template <int dim>
std::vector<int> old_bodies_of_nodes(const OldState& old, const fem::FunctionSpace<dim>& space) {
  const auto& mesh = space.mesh();
  std::vector<int> bodies(space.num_owned_nodes(), -1);
  for (LocalIndex cell = 0; cell < mesh.num_cells(); ++cell) {
    const int body = place_in(old.bodies, mesh.body_names[mesh.cell_body[cell]]);
    for (const LocalIndex node : space.cell_nodes(cell))
      if (node < space.num_owned_nodes() && body >= 0) bodies[node] = body;
  }
  return bodies;
}

} // namespace

template <int dim>
void read_stored_state(const StoredState& from, const UnitSystem& units, const fem::FunctionSpace<dim>& space,
                       linalg::Vector& u, linalg::Vector& v) {
  const parallel::Communicator& comm = space.comm();
  const OldState old = read_old_state<dim>(from, units, comm);
  const std::vector<std::string>& names = space.mesh().body_names;
  if (std::ranges::none_of(names, [&](const std::string& name) { return holds(old.bodies, name); }))
    refuse(from, "has no body of the name of one here; it has " + list_names(old.bodies, "and") +
                     ", here are " + list_names(names, "and"));
  std::vector<CellGrid<dim>> grids;
  for (std::size_t body = 0; body < old.bodies.size(); ++body) grids.emplace_back(old, body);
  const std::vector<int> bodies = old_bodies_of_nodes(old, space);
  const auto to_u = u.write_owned(), to_v = v.write_owned();
  double farthest = 0, share = 0, moved = 0;
  for (std::size_t node = 0; node < bodies.size(); ++node) {
    if (bodies[node] < 0 || grids[bodies[node]].is_empty()) continue;
    const CellGrid<dim>& grid = grids[bodies[node]];
    const PlaceInCell<dim> place = grid.find(space.node_positions()[node]);
    const GlobalIndex* const nodes = &old.cells[place.cell * cell_width];
    const std::vector<double> shape = shape_values<dim>(place.barycentric, nodes[dim + 1] >= 0);
    for (std::size_t i = 0; i < dim; ++i) {
      to_u[node * dim + i] = to_v[node * dim + i] = 0;
      for (std::size_t k = 0; k < shape.size(); ++k) {
        to_u[node * dim + i] += shape[k] * old.u[nodes[k] * dim + i];
        to_v[node * dim + i] += shape[k] * old.v[nodes[k] * dim + i];
      }
    }
    moved += place.outside > noticed_outside * grid.diagonal() ? 1 : 0;
    farthest = std::max(farthest, place.outside);
    share = std::max(share, place.outside / grid.diagonal());
  }
  farthest = comm.max(farthest);
  if (comm.max(share) > farthest_outside)
    refuse(from,
           fmt::format("a node lies {:g} outside of the body of then; only meshes of the same shape at rest, "
                       "coarser or finer, can take over its state",
                       farthest));
  if (moved = comm.sum(moved); moved > 0 && comm.rank() == 0)
    log_warning(
        fmt::format("{}: {:.0f} nodes lie outside of the elements of {}, by up to {:g}; they take the "
                    "values of the nearest point",
                    from.where, moved, from.run.string(), farthest));
}

template void read_stored_state(const StoredState&, const UnitSystem&, const fem::FunctionSpace<2>&,
                                linalg::Vector&, linalg::Vector&);
template void read_stored_state(const StoredState&, const UnitSystem&, const fem::FunctionSpace<3>&,
                                linalg::Vector&, linalg::Vector&);

} // namespace recoil::app
