#include "recoil/app/solvers/elastodynamics/trajectory_output.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "recoil/app/solvers/elastodynamics/node_layout.hpp"
#include "recoil/base/error.hpp"
#include "recoil/checkpoint/trajectory_reader.hpp"
#include "recoil/fem/reference/lagrange.hpp"
#include "recoil/potentials/laws/stress.hpp"

namespace recoil::app {

namespace {

/// Drawn cells per cell of the given order.
constexpr int pieces(int dim, int order) {
  if (order <= 2) return 1;
  return dim == 2 ? order * order : order * order * order;
}

/// Number of drawn cells before the first cell of each body. Collective.
template <int dim>
std::vector<GlobalIndex> first_drawn_cells(const fem::FunctionSpace<dim>& space,
                                           std::vector<GlobalIndex>& first_cell) {
  const auto& mesh = space.mesh();
  std::vector<double> counts(mesh.body_names.size(), 0);
  for (LocalIndex cell = 0; cell < mesh.num_owned_cells; ++cell) ++counts[mesh.cell_body[cell]];
  space.comm().sum(counts);
  std::vector<GlobalIndex> first_drawn(counts.size(), 0);
  first_cell.assign(counts.size(), 0);
  for (std::size_t body = 1; body < counts.size(); ++body) {
    const GlobalIndex before = counts[body - 1];
    first_cell[body] = first_cell[body - 1] + before;
    first_drawn[body] = first_drawn[body - 1] + before * pieces(dim, space.body_orders()[body - 1]);
  }
  return first_drawn;
}

io::CellShape shape_of(int dim, int order) {
  if (dim == 2) return order == 2 ? io::CellShape::triangle_6 : io::CellShape::triangle;
  return order == 2 ? io::CellShape::tetrahedron_10 : io::CellShape::tetrahedron;
}

} // namespace

template <int dim>
TrajectoryOutput<dim>::TrajectoryOutput(const fem::FunctionSpace<dim>& space,
                                        const fem::CellGeometry<dim>& geometry)
    : space_(&space), geometry_(&geometry), nodes_(node_layout(space)) {
  build_cells();
}

template <int dim>
TrajectoryOutput<dim>::TrajectoryOutput(const solvers::ElastodynamicsSolver<dim>& solver,
                                        std::vector<OutputField> fields)
    : TrajectoryOutput(*solver.problem().space, *solver.problem().geometry) {
  solver_ = &solver;
  fields_ = std::move(fields);
}

template <int dim>
void TrajectoryOutput<dim>::build_cells() {
  const auto& mesh = space_->mesh();
  std::vector<GlobalIndex> first_cell, ids;
  const std::vector<GlobalIndex> first_drawn = first_drawn_cells(*space_, first_cell);
  for (const int order : space_->body_orders())
    if (order == 2) width_ = fem::num_lagrange_nodes(dim, 2);
  for (LocalIndex cell = 0; cell < mesh.num_owned_cells; ++cell) {
    const int order = space_->order(cell);
    const std::size_t body = mesh.cell_body[cell];
    const bool mirrored = geometry_->edge_determinant[cell] < 0;
    const auto nodes = space_->cell_nodes(cell);
    const auto add = [&](std::span<const int> local) {
      for (const int node : local) connectivity_.push_back(space_->canonical_ids()[nodes[node]]);
      connectivity_.resize(connectivity_.size() + width_ - local.size(), -1);
      drawn_cell_.push_back(cell);
      shapes_.push_back(shape_of(dim, order));
    };
    const GlobalIndex first =
        first_drawn[body] + (mesh.cell_ids[cell] - first_cell[body]) * pieces(dim, order);
    for (int piece = 0; piece < pieces(dim, order); ++piece) ids.push_back(first + piece);
    if (order <= 2) {
      add(fem::vtk_nodes(dim, order, mirrored));
      continue;
    }
    for (auto piece : fem::subdivide_cell<dim>(order)) {
      if (mirrored) std::swap(piece[dim - 1], piece[dim]);
      add(piece);
    }
  }
  cells_ = std::make_unique<io::BlockLayout>(space_->comm(), ids);
}

template <int dim>
void TrajectoryOutput<dim>::write_mesh(checkpoint::TrajectoryWriter& writer) const {
  std::vector<double> coordinates;
  for (LocalIndex node = 0; node < space_->num_owned_nodes(); ++node)
    for (int i = 0; i < dim; ++i) coordinates.push_back(space_->node_positions()[node][i]);
  std::vector<std::int32_t> body, volume_id;
  for (const LocalIndex cell : drawn_cell_) {
    body.push_back(space_->mesh().cell_body[cell]);
    volume_id.push_back(space_->mesh().cell_volume_id[cell]);
  }
  checkpoint::DrawnMesh drawn;
  drawn.nodes = &nodes_;
  drawn.dim = dim;
  drawn.coordinates = coordinates;
  drawn.cells = cells_.get();
  drawn.shapes = shapes_;
  drawn.connectivity = connectivity_;
  drawn.width = width_;
  const std::array<checkpoint::StaticArray, 2> arrays{
      checkpoint::StaticArray{"body", 1, cells_.get(), std::span<const std::int32_t>(body), io::Centre::cell},
      checkpoint::StaticArray{"volume_id", 1, cells_.get(), std::span<const std::int32_t>(volume_id),
                              io::Centre::cell}};
  writer.write_mesh(drawn, arrays);
}

template <int dim>
void TrajectoryOutput<dim>::require_mesh_of(checkpoint::TrajectoryReader& reader, GlobalIndex id,
                                            const std::string& where) const {
  const auto refuse = [&](const std::string& difference) {
    throw InputError(
        where, "the meshes of the scene are no longer those that the run was begun with: " + difference +
                   "; put the mesh files and orders of then back, or start again in a new folder");
  };
  const GlobalIndex rows = reader.shape(id, "u").rows;
  if (rows != space_->num_nodes_global())
    refuse(fmt::format("they have {} nodes, there were {}", space_->num_nodes_global(), rows));
  const std::vector<double> written = reader.template read_static<double>("coordinates", nodes_);
  const auto& positions = space_->node_positions();
  const std::size_t count = space_->num_owned_nodes();
  const std::size_t width = count > 0 ? written.size() / count : 0;
  double farthest = 0;
  for (std::size_t node = 0; node < count; ++node)
    for (std::size_t i = 0; i < dim; ++i)
      farthest = std::max(farthest, std::abs(written[node * width + i] - positions[node][i]));
  farthest = space_->comm().max(farthest);
  // Positions inside of cells are computed on the rank that owns them, from vertices in any order.
  const auto& mesh = space_->mesh();
  if (farthest > 1e-10 * (mesh.max_corner - mesh.min_corner).norm())
    refuse(fmt::format("their nodes lie up to {:g} m elsewhere", farthest));
}

template <int dim>
std::vector<double> TrajectoryOutput<dim>::cell_values(std::span<const double> u, OutputField field) const {
  const std::size_t components = field == OutputField::stress ? 9 : 1;
  const auto& mesh = space_->mesh();
  std::vector<double> of_cell(components * mesh.num_owned_cells, 0.0);
  for (const auto* potential : solver_->problem().elastic)
    for (std::size_t k = 0; k < potential->cells().size(); ++k) {
      const LocalIndex cell = potential->cells()[k];
      if (cell >= mesh.num_owned_cells) continue;
      double weight = 0, energy = 0;
      Eigen::Matrix<double, dim, dim> stress = Eigen::Matrix<double, dim, dim>::Zero();
      for (const auto& point : potential->stress(u, k)) {
        weight += point.weight;
        energy += point.weight * point.energy_density;
        stress += point.weight * point.cauchy;
      }
      stress /= weight;
      double* values = of_cell.data() + components * cell;
      switch (field) {
      case OutputField::stress:
        for (int i = 0; i < dim; ++i)
          for (int j = 0; j < dim; ++j) values[3 * i + j] = stress(i, j);
        break;
      case OutputField::von_mises:
        values[0] = potentials::von_mises<dim>(stress);
        break;
      default:
        values[0] = energy / weight;
      }
    }
  std::vector<double> drawn;
  for (const LocalIndex cell : drawn_cell_)
    drawn.insert(drawn.end(), of_cell.begin() + components * cell, of_cell.begin() + components * (cell + 1));
  return drawn;
}

template <int dim>
std::vector<checkpoint::Field> TrajectoryOutput<dim>::fields(const linalg::Vector& u) {
  std::vector<checkpoint::Field> fields;
  values_.clear();
  values_.reserve(fields_.size() + 1);
  const std::span no_force = values_.emplace_back(u.owned().size(), 0.0); // of the initial state
  const auto add = [&](const char* name, int components, OutputField field) {
    values_.push_back(cell_values(u.local(), field));
    fields.push_back({name, components, cells_.get(), values_.back(), io::Centre::cell, false});
  };
  const auto add_force = [&](const char* name, const linalg::Vector* force) {
    fields.push_back(
        {name, dim, &nodes_, force != nullptr ? force->owned() : no_force, io::Centre::node, false});
  };
  for (const OutputField field : fields_) {
    if (field == OutputField::stress) add("stress", 9, field);
    if (field == OutputField::von_mises) add("von_mises", 1, field);
    if (field == OutputField::strain_energy) add("strain_energy", 1, field);
    if (field == OutputField::contact_force) add_force("contact_force", solver_->contact_force());
    if (field == OutputField::friction_force) add_force("friction_force", solver_->friction_force());
    if (field == OutputField::reaction_force) add_force("reaction_force", solver_->support_force());
  }
  return fields;
}

template class TrajectoryOutput<2>;
template class TrajectoryOutput<3>;

} // namespace recoil::app
