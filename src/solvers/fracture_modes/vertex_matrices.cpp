#include "recoil/solvers/fracture_modes/vertex_matrices.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "recoil/fem/cell_geometry.hpp"
#include "recoil/linalg/generalized_eigenpairs.hpp"
#include "recoil/parallel/exchange.hpp"

namespace recoil::solvers::fracture_modes {

namespace {

std::shared_ptr<const linalg::VectorLayout> scalar_layout(const linalg::VectorLayout& of_vectors) {
  auto layout = std::make_shared<linalg::VectorLayout>(of_vectors);
  layout->block_size = 1;
  return layout;
}

/// A number in (-1, 1) that depends on `id` alone [Steele, Lea, Flood 2014, SplitMix].
double hashed(std::uint64_t id) {
  id += 0x9e3779b97f4a7c15u;
  id = (id ^ (id >> 30)) * 0xbf58476d1ce4e5b9u;
  id = (id ^ (id >> 27)) * 0x94d049bb133111ebu;
  return double((id ^ (id >> 31)) >> 11) * 0x1p-52 - 1;
}

template <int dim>
linalg::BlockMatrix assemble(const fem::FunctionSpace<dim>& space,
                             std::shared_ptr<const linalg::VectorLayout> layout, double of_stiffness,
                             double of_mass) {
  const auto& mesh = space.mesh();
  const fem::CellGeometry<dim> geometry(mesh);
  linalg::BlockMatrix matrix(layout, space.graph());
  const auto values = matrix.begin_filling();
  for (LocalIndex cell = 0; cell < mesh.num_cells(); ++cell) {
    Eigen::Matrix<double, dim, dim + 1> gradients;
    gradients.template rightCols<dim>() = geometry.inverse_edges[cell].transpose();
    gradients.col(0) = -gradients.template rightCols<dim>().rowwise().sum();
    const double volume = geometry.weight_factor(cell) / (dim == 2 ? 2 : 6);
    Eigen::Matrix<double, dim + 1, dim + 1> element =
        of_stiffness * volume * gradients.transpose() * gradients;
    element.diagonal().array() += of_mass * volume / (dim + 1);
    const auto nodes = space.cell_nodes(cell);
    for (int i = 0; i <= dim; ++i) {
      if (nodes[i] >= layout->num_owned) continue;
      for (int j = 0; j <= dim; ++j)
        values.template add<1>(nodes[i], matrix.position(nodes[i], nodes[j]), &element(i, j), 1);
    }
  }
  matrix.finish_filling();
  return matrix;
}

} // namespace

template <int dim>
VertexMatrices<dim>::VertexMatrices(const mesh::DistributedMesh<dim>& mesh)
    : space(mesh, std::vector<int>(mesh.body_names.size(), 1)), layout(scalar_layout(*space.layout())),
      stiffness(combination(1, 0)), mass(combination(0, 1)) {}

template <int dim>
linalg::BlockMatrix VertexMatrices<dim>::combination(double a, double b) const {
  return assemble<dim>(space, layout, a, b);
}

template <int dim>
std::vector<double> VertexMatrices<dim>::cell_volumes() const {
  const fem::CellGeometry<dim> geometry(space.mesh());
  std::vector<double> volumes(space.mesh().num_owned_cells);
  for (LocalIndex cell = 0; cell < space.mesh().num_owned_cells; ++cell)
    volumes[cell] = geometry.weight_factor(cell) / (dim == 2 ? 2 : 6);
  return volumes;
}

template <int dim>
std::vector<double> VertexMatrices<dim>::cell_means(const linalg::Vector& field) const {
  std::vector<double> means(space.mesh().num_owned_cells, 0.0);
  for (std::size_t cell = 0; cell < means.size(); ++cell)
    for (const LocalIndex node : space.cell_nodes(cell)) means[cell] += field.local()[node] / (dim + 1);
  return means;
}

namespace {

/// The fields on the ranks that hold the mesh.
template <int dim>
std::vector<std::vector<double>> eigenfields(const VertexMatrices<dim>& matrices, int count) {
  const auto& mesh = matrices.space.mesh();
  // The smallest eigenvalue that is not zero is of the order of (pi / diagonal)^2, or less where there are
  // necks.
  const double shift = 0.1 / (mesh.max_corner - mesh.min_corner).squaredNorm();
  auto pairs = linalg::smallest_eigenpairs(matrices.stiffness, matrices.mass, count, shift);
  std::vector<std::vector<double>> fields;
  for (linalg::Vector& vector : pairs.vectors) {
    double side = 0;
    for (LocalIndex node = 0; node < matrices.layout->num_owned; ++node)
      side += vector.local()[node] * hashed(matrices.space.canonical_ids()[node]);
    if (mesh.comm->sum(side) < 0) vector.scale(-1);
    fields.push_back(matrices.cell_means(vector));
  }
  return fields;
}

/// A row of numbers with its id; travels as bytes.
template <class Value, int size>
struct Identified {
  GlobalIndex id;
  std::array<Value, size> values;
};

/// The cells and vertices of all ranks by ascending id, on the first rank. Collective.
template <int dim>
mesh::SimplexMesh whole_mesh(const mesh::DistributedMesh<dim>& mesh) {
  std::vector<Identified<GlobalIndex, dim + 1>> cells;
  std::vector<Identified<double, dim>> vertices;
  for (LocalIndex cell = 0; cell < mesh.num_owned_cells; ++cell) {
    auto& row = cells.emplace_back();
    row.id = mesh.cell_ids[cell];
    for (int i = 0; i <= dim; ++i) row.values[i] = mesh.vertex_ids[mesh.cells[cell][i]];
  }
  for (LocalIndex vertex = 0; vertex < mesh.num_owned_vertices; ++vertex) {
    auto& row = vertices.emplace_back();
    row.id = mesh.vertex_ids[vertex];
    for (int i = 0; i < dim; ++i) row.values[i] = mesh.vertices[vertex][i];
  }
  cells = parallel::gather(*mesh.comm, 0, std::move(cells));
  vertices = parallel::gather(*mesh.comm, 0, std::move(vertices));
  std::ranges::sort(cells, {}, [](const auto& row) { return row.id; });
  std::ranges::sort(vertices, {}, [](const auto& row) { return row.id; });
  mesh::SimplexMesh whole;
  whole.dim = dim;
  if (cells.empty()) return whole;
  whole.body_names = {"body"};
  for (const auto& row : vertices) {
    auto& vertex = whole.vertices.emplace_back(Eigen::Vector3d::Zero());
    for (int i = 0; i < dim; ++i) vertex[i] = row.values[i];
  }
  for (const auto& row : cells) {
    auto& cell = whole.cells.emplace_back();
    for (int i = 0; i <= dim; ++i) cell[i] = static_cast<std::int32_t>(row.values[i]);
  }
  whole.cell_body.assign(whole.cells.size(), 0);
  whole.cell_volume_id.assign(whole.cells.size(), 0);
  whole.cell_source.assign(whole.cells.size(), 0);
  whole.facet_ids.assign(whole.cells.size(), {});
  whole.vertex_point_id.assign(whole.vertices.size(), 0);
  return whole;
}

/// The fields of the whole mesh as the first rank finds them alone, one row per cell in the order of ids, on
/// every rank. Collective.
template <int dim>
std::vector<std::vector<double>> fields_of_first(const mesh::DistributedMesh<dim>& mesh, int count) {
  const parallel::Communicator& comm = *mesh.comm;
  const mesh::SimplexMesh whole = whole_mesh(mesh);
  const parallel::Communicator first = comm.split(comm.rank() == 0 ? 0 : 1);
  auto fields = parallel::collectively(comm, [&] {
    std::vector<std::vector<double>> by_id;
    if (comm.rank() != 0) return by_id;
    const auto alone = mesh::distribute<dim>(first, whole);
    for (const auto& field : eigenfields(VertexMatrices<dim>(alone), count)) {
      auto& sorted = by_id.emplace_back(field.size());
      for (std::size_t cell = 0; cell < field.size(); ++cell) sorted[alone.cell_ids[cell]] = field[cell];
    }
    return by_id;
  });
  fields.resize(comm.max(GlobalIndex{std::ssize(fields)}));
  for (auto& field : fields) comm.broadcast(field);
  return fields;
}

} // namespace

template <int dim>
std::vector<std::vector<double>> start_fields(const VertexMatrices<dim>& matrices, int count,
                                              GlobalIndex serial_cells) {
  const auto& mesh = matrices.space.mesh();
  if (mesh.num_cells_global > serial_cells) return eigenfields(matrices, count);
  auto fields = fields_of_first(mesh, count);
  for (auto& field : fields) {
    std::vector<double> owned(mesh.num_owned_cells);
    for (std::size_t cell = 0; cell < owned.size(); ++cell) owned[cell] = field[mesh.cell_ids[cell]];
    field = std::move(owned);
  }
  return fields;
}

template struct VertexMatrices<2>;
template struct VertexMatrices<3>;
template std::vector<std::vector<double>> start_fields(const VertexMatrices<2>&, int, GlobalIndex);
template std::vector<std::vector<double>> start_fields(const VertexMatrices<3>&, int, GlobalIndex);

} // namespace recoil::solvers::fracture_modes
