#include "app/fracture/write_modes.hpp"

#include <numeric>
#include <utility>

#include <Eigen/LU>

#include "recoil/io/block_layout.hpp"
#include "recoil/io/xdmf.hpp"

namespace recoil::app {

namespace {

namespace fm = solvers::fracture_modes;

/// Writes arrays whose rows lie on the ranks as they do in the mesh.
class ModesWriter {
public:
  ModesWriter(const parallel::Communicator& comm, io::Hdf5Writer& file) : comm_(comm), file_(file) {}

  template <class T>
  void distributed(const io::BlockLayout& layout, const std::string& name, std::span<const T> owned,
                   int columns = 1) {
    const std::vector<T> block = layout.to_blocks<T>(owned, columns);
    file_.write_rows<T>(name, block, columns);
  }
  /// An array that the first rank has; one without rows is left out.
  template <class T>
  void of_first(const std::string& name, const std::vector<T>& rows, int columns = 1) {
    if (!comm_.any(comm_.rank() == 0 && !rows.empty())) return;
    file_.write_rows<T>(name, comm_.rank() == 0 ? std::span<const T>(rows) : std::span<const T>(), columns);
  }

private:
  const parallel::Communicator& comm_;
  io::Hdf5Writer& file_;
};

/// Places of the corners of a cell, by which it is positively oriented.
template <int dim>
std::array<int, dim + 1> orientation(const mesh::DistributedMesh<dim>& mesh, LocalIndex cell) {
  const auto& vertices = mesh.cells[cell];
  Eigen::Matrix<double, dim, dim> edges;
  for (int i = 0; i < dim; ++i) edges.col(i) = mesh.vertices[vertices[i + 1]] - mesh.vertices[vertices[0]];
  std::array<int, dim + 1> places;
  std::iota(places.begin(), places.end(), 0);
  if (edges.determinant() < 0) std::swap(places[dim - 1], places[dim]);
  return places;
}

/// The vertices of owned cells by their input ids.
template <int dim>
std::vector<std::int32_t> oriented_cells(const mesh::DistributedMesh<dim>& mesh) {
  std::vector<std::int32_t> rows;
  for (LocalIndex cell = 0; cell < mesh.num_owned_cells; ++cell)
    for (const int i : orientation(mesh, cell))
      rows.push_back(static_cast<std::int32_t>(mesh.vertex_ids[mesh.cells[cell][i]]));
  return rows;
}

/// Motions of the corners of owned cells in the same order, three numbers each.
template <int dim>
std::vector<double> oriented_corners(const mesh::DistributedMesh<dim>& mesh, const linalg::Vector& corners) {
  std::vector<double> rows;
  for (LocalIndex cell = 0; cell < mesh.num_owned_cells; ++cell)
    for (const int i : orientation(mesh, cell))
      for (int k = 0; k < 3; ++k)
        rows.push_back(k < dim ? corners.local()[(std::size_t(cell) * (dim + 1) + i) * dim + k] : 0);
  return rows;
}

template <int dim>
void write_mesh(ModesWriter& writer, const io::BlockLayout& cells, const FoundModes<dim>& found) {
  const mesh::DistributedMesh<dim>& mesh = found.mesh;
  const auto owned_cells = static_cast<std::size_t>(mesh.num_owned_cells);
  const io::BlockLayout vertices(*mesh.comm, std::span(mesh.vertex_ids).first(mesh.num_owned_vertices));
  std::vector<double> points;
  for (LocalIndex v = 0; v < mesh.num_owned_vertices; ++v) {
    Eigen::Vector3d point = Eigen::Vector3d::Zero();
    point.template head<dim>() = mesh.vertices[v];
    points.insert(points.end(), point.begin(), point.end());
  }
  writer.distributed<double>(vertices, "mesh/vertices", points, 3);
  writer.distributed<std::int32_t>(cells, "mesh/cells", oriented_cells(mesh), dim + 1);
  const std::vector<std::int32_t> pieces(found.pieces.piece_of_local.begin(),
                                         found.pieces.piece_of_local.begin() + owned_cells);
  writer.distributed<std::int32_t>(cells, "mesh/pieces", pieces);
  writer.distributed<std::int32_t>(cells, "mesh/volume_ids",
                                   std::span(mesh.cell_volume_id).first(owned_cells));
  writer.distributed<double>(cells, "mesh/masses", std::span(found.graph.masses).first(owned_cells));
}

/// Rows of three numbers, as drawing programs want vectors.
std::vector<double> rows_in_space(std::span<const double> motion, int dim) {
  std::vector<double> rows(motion.size() / std::size_t(dim) * 3, 0.0);
  for (std::size_t i = 0; i < motion.size(); ++i)
    rows[i / std::size_t(dim) * 3 + i % std::size_t(dim)] = motion[i];
  return rows;
}

void write_found(ModesWriter& writer, const io::BlockLayout& cells, const SearchedModes& modes, int dim) {
  std::vector<double> energies, gaps;
  for (std::size_t k = 0; k < modes.amplitudes.modes.size(); ++k) {
    const fm::FractureMode& mode = modes.amplitudes.modes[k];
    energies.push_back(mode.energy);
    gaps.push_back(mode.gap);
    const std::string name = "modes/u_" + std::to_string(k + 1);
    if (modes.motions.empty())
      writer.distributed<double>(cells, name, mode.field.owned());
    else
      writer.distributed<double>(cells, name, rows_in_space(modes.motions[k].owned(), dim), 3);
  }
  writer.of_first("modes/energies", energies);
  writer.of_first("modes/gaps", gaps);
}

void write_model(ModesWriter& writer, const fm::ImpactModel& model) {
  writer.of_first("pieces/volumes", model.volumes);
  writer.of_first("pieces/masses", model.masses);
  std::vector<std::int32_t> links;
  for (const fm::ImpactModel::Link& link : model.links) links.insert(links.end(), {link.a, link.b});
  writer.of_first("pieces/links", links, 2);
  writer.of_first("pieces/modes", model.modes,
                  static_cast<int>(model.modes.size() / std::size_t(model.num_pieces)));
  writer.of_first("impacts/vertices",
                  std::vector<std::int64_t>(model.vertices.begin(), model.vertices.end()));
  writer.of_first("impacts/responses", model.responses, model.num_pieces);
}

template <int dim>
void write_facets(ModesWriter& writer, const cage::FacetMesh<dim>& mesh) {
  std::vector<double> points;
  for (const auto& vertex : mesh.vertices) points.insert(points.end(), vertex.begin(), vertex.end());
  writer.of_first("surface/vertices", points, dim);
  std::vector<std::int32_t> facets;
  for (const auto& facet : mesh.facets) facets.insert(facets.end(), facet.begin(), facet.end());
  writer.of_first("surface/facets", facets, dim);
}

void write_surface(ModesWriter& writer, const ShapeBody& body) {
  if (body.dim == 2) {
    write_facets(writer, body.outline);
    return;
  }
  write_facets(writer, body.surface.mesh);
  std::vector<double> texture, colors;
  for (const auto& corners : body.surface.attributes.texture)
    for (const Eigen::Vector2d& corner : corners) texture.insert(texture.end(), corner.begin(), corner.end());
  for (const Eigen::Vector3d& color : body.surface.attributes.colors)
    colors.insert(colors.end(), color.begin(), color.end());
  writer.of_first("surface/texture", texture, 6);
  writer.of_first("surface/colors", colors, 3);
}

template <int dim>
void write_drawing(const FracturePaths& paths, const FoundModes<dim>& found) {
  const mesh::DistributedMesh<dim>& mesh = found.mesh;
  const auto array = [](const std::string& name, GlobalIndex rows, int columns, io::ElementType type) {
    return io::XdmfArray{"modes.h5", name, {rows, columns, type}};
  };
  const auto of_cells = [&](const std::string& name, const std::string& dataset, io::ElementType type) {
    return io::XdmfAttribute{name, io::Centre::cell, array(dataset, mesh.num_cells_global, 1, type)};
  };
  const io::XdmfMesh drawn{array("mesh/vertices", mesh.num_vertices_global, 3, io::ElementType::float64),
                           array("mesh/cells", mesh.num_cells_global, dim + 1, io::ElementType::int32),
                           mesh.num_cells_global,
                           dim == 2 ? io::CellShape::triangle : io::CellShape::tetrahedron,
                           {of_cells("piece", "mesh/pieces", io::ElementType::int32)}};
  std::vector<io::XdmfState> states;
  for (std::size_t k = 1; k <= found.modes.amplitudes.modes.size(); ++k) {
    io::XdmfAttribute mode = of_cells("mode", "modes/u_" + std::to_string(k), io::ElementType::float64);
    if (!found.modes.motions.empty()) mode.array.shape.columns = 3;
    states.push_back({"mode " + std::to_string(k), double(k), {mode}});
  }
  parallel::collectively(*mesh.comm, [&] {
    if (mesh.comm->rank() == 0) io::XdmfWriter(paths.xdmf(), drawn, states);
  });
}

} // namespace

template <int dim>
io::FileDigest write_modes(const FracturePaths& paths, const FoundModes<dim>& found) {
  const parallel::Communicator& comm = *found.mesh.comm;
  const io::BlockLayout cells(comm, std::span(found.mesh.cell_ids).first(found.mesh.num_owned_cells));
  const io::FileDigest digest = write_h5(comm, paths.modes(), [&](io::Hdf5Writer& file) {
    ModesWriter writer(comm, file);
    write_mesh(writer, cells, found);
    write_found(writer, cells, found.modes, dim);
    for (std::size_t k = 0; k < found.modes.corners.size(); ++k)
      writer.distributed<double>(cells, "modes/corners_" + std::to_string(k + 1),
                                 oriented_corners(found.mesh, found.modes.corners[k]), 3 * (dim + 1));
    writer.of_first("modes/strain_energies", found.modes.strain_energies);
    write_model(writer, found.pieces.model);
    write_surface(writer, found.body);
  });
  write_drawing(paths, found);
  return digest;
}

template <int dim>
double mean_edge_length(const mesh::DistributedMesh<dim>& mesh) {
  std::array<double, 2> sums{}; // of lengths, of edges
  for (LocalIndex cell = 0; cell < mesh.num_owned_cells; ++cell)
    for (int i = 0; i <= dim; ++i)
      for (int j = 0; j < i; ++j) {
        sums[0] += (mesh.vertices[mesh.cells[cell][i]] - mesh.vertices[mesh.cells[cell][j]]).norm();
        sums[1] += 1;
      }
  mesh.comm->sum(sums);
  return sums[0] / sums[1];
}

template io::FileDigest write_modes(const FracturePaths&, const FoundModes<2>&);
template io::FileDigest write_modes(const FracturePaths&, const FoundModes<3>&);
template double mean_edge_length(const mesh::DistributedMesh<2>&);
template double mean_edge_length(const mesh::DistributedMesh<3>&);

} // namespace recoil::app
