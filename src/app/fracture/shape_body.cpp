#include "app/fracture/shape_body.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <Eigen/LU>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "recoil/base/error.hpp"
#include "recoil/cage/cage.hpp"
#include "recoil/mesh/input/assemble_geometry.hpp"
#include "recoil/mesh/input/raw_mesh.hpp"
#include "recoil/mesh/input/transform.hpp"

namespace recoil::app {

namespace {

/// Puts vertices of a surface where the entry wants them.
void place(std::vector<Eigen::Vector3d>& vertices, const mesh::GeometrySpec& entry, int dim) {
  if (entry.normalize_mesh) mesh::normalize(vertices, entry.where);
  mesh::transform_vertices(
      mesh::affine_map(entry.transformation, mesh::bounding_box(vertices), dim, entry.where), vertices);
}

template <int dim>
Eigen::Vector3d in_space(const cage::Point<dim>& x) {
  Eigen::Vector3d point = Eigen::Vector3d::Zero();
  point.head<dim>() = x;
  return point;
}

void take_cells(const cage::CellMesh<3>& cells, mesh::RawMesh& raw) {
  raw.tetrahedra = cells.cells;
  raw.tetrahedron_tags.assign(cells.cells.size(), 0);
}

void take_cells(const cage::CellMesh<2>& cells, mesh::RawMesh& raw) {
  raw.triangles = cells.cells;
  raw.triangle_tags.assign(cells.cells.size(), 0);
}

/// The cells around what a surface encloses; notes what was done to the surface.
template <int dim>
mesh::RawMesh cage_of(const cage::FacetMesh<dim>& surface, const CageSpec& spec, const std::string& where,
                      std::vector<std::string>& notes) {
  const auto solid = cage::make_solid<dim>(surface, {.repair_cells = spec.repair_elements}, where);
  if (!solid.repair.empty())
    notes.push_back(where + ": the surface " + solid.repair +
                    "; in its place stands one around the points that it encloses (winding numbers)");
  const auto cage = cage::make_cage<dim>(solid, {.cells = spec.elements}, where);
  notes.push_back(
      fmt::format("{}: cage of {} elements, lattice of {:.4g} m", where, cage.mesh.cells.size(), cage.edge));
  mesh::RawMesh raw;
  for (const auto& vertex : cage.mesh.vertices) raw.vertices.push_back(in_space<dim>(vertex));
  take_cells(cage.mesh, raw);
  return raw;
}

/// A surface is that of a body in 2D if it has polylines and no triangles.
bool is_outline(const std::filesystem::path& file) {
  const mesh::RawMesh raw = mesh::read_mesh(file);
  return raw.triangles.empty() && !raw.edges.empty();
}

mesh::RawMesh read_cage(const Shape& shape, ShapeBody& body) {
  const mesh::GeometrySpec& entry = shape.geometry.entries.front();
  const std::string where = entry.where + ": " + entry.mesh.string();
  body.dim = is_outline(entry.mesh) ? 2 : 3;
  if (body.dim == 3) {
    body.surface = pieces::read_surface(entry.mesh);
    place(body.surface.mesh.vertices, entry, 3);
    return cage_of<3>(body.surface.mesh, *shape.cage, where, body.notes);
  }
  body.outline = pieces::read_outline(entry.mesh);
  std::vector<Eigen::Vector3d> vertices;
  for (const auto& vertex : body.outline.vertices) vertices.push_back(in_space<2>(vertex));
  place(vertices, entry, 2);
  for (std::size_t v = 0; v < vertices.size(); ++v) body.outline.vertices[v] = vertices[v].head<2>();
  return cage_of<2>(body.outline, *shape.cage, where, body.notes);
}

/// The entry whose mesh is that of the cage, which lies where it should.
mesh::AssembledGeometry assemble_cage(const Shape& shape, ShapeBody& body) {
  mesh::GeometrySpec entry = shape.geometry.entries.front();
  mesh::RawMesh cells;
  try {
    cells = read_cage(shape, body);
  } catch (const InputError& error) {
    const std::string message = error.what();
    if (message.starts_with(entry.where)) throw;
    throw InputError(entry.where, message);
  }
  mesh::MeshFiles files;
  entry.mesh += " (cage)";
  files.put(entry.mesh, std::move(cells));
  entry.transformation = {};
  entry.normalize_mesh = false;
  return mesh::assemble_geometry(std::vector<mesh::GeometrySpec>{entry}, body.dim, files);
}

/// @throws InputError unless the tensor of a material is one in `dim` dimensions, symmetric and positive
/// definite.
void check_tensor(const FractureMaterialSpec& material, int dim) {
  if (material.jump_tensor.empty()) return;
  const std::string where = material.where + ": jump_tensor";
  if (std::cmp_not_equal(material.jump_tensor.size(), dim * dim))
    throw InputError(where, fmt::format("needs {0} numbers or {0} rows in {0}D", dim));
  const Eigen::Map<const Eigen::MatrixXd> tensor(material.jump_tensor.data(), dim, dim);
  if (tensor != tensor.transpose())
    throw InputError(where, "must be symmetric: entries on both sides of the diagonal are equal");
  bool is_positive = true;
  for (int i = 1; i <= dim; ++i) is_positive = is_positive && tensor.topLeftCorner(i, i).determinant() > 0;
  if (!is_positive)
    throw InputError(where, "must be positive definite: a jump in any direction costs something");
}

void check_materials(const Shape& shape, const mesh::AssembledGeometry& geometry,
                     std::vector<std::string>& warnings) {
  const mesh::SimplexMesh& mesh = geometry.deformable;
  const std::set<std::int32_t> ids(mesh.cell_volume_id.begin(), mesh.cell_volume_id.end());
  const bool is_piece = std::ranges::any_of(shape.materials, &FractureMaterialSpec::may_be_absent);
  for (const mesh::EmptySelection& selection : geometry.empty_selections)
    if (!is_piece) warnings.push_back(selection.where + ": " + selection.message);
  for (const FractureMaterialSpec& material : shape.materials) {
    for (const int id : material.ids)
      if (!material.may_be_absent && !ids.contains(id))
        throw InputError(material.where,
                         fmt::format("no element has the volume id {}; ids in this shape: {}. A "
                                     "`volume_selection` gives ids{}",
                                     id, fmt::join(ids, ", "),
                                     warnings.empty() ? "" : "; " + warnings.front()));
    if (!material.cleavage.empty() && std::cmp_not_equal(material.cleavage.size(), mesh.dim))
      throw InputError(material.where + ": cleavage",
                       fmt::format("needs {0} numbers in {0}D, has {1}", mesh.dim, material.cleavage.size()));
    check_tensor(material, mesh.dim);
  }
}

ShapeBody load(const Shape& shape) {
  ShapeBody body;
  mesh::AssembledGeometry geometry;
  if (shape.cage) {
    geometry = assemble_cage(shape, body);
  } else {
    mesh::MeshFiles files;
    body.dim = mesh::geometry_dimension(shape.geometry.entries, files);
    geometry = mesh::assemble_geometry(shape.geometry.entries, body.dim, files);
  }
  check_materials(shape, geometry, body.warnings);
  body.mesh = std::move(geometry.deformable);
  return body;
}

/// The last material that holds for elements with an id, or the default.
const FractureMaterialSpec& material_with(const Shape& shape, int id) {
  static const FractureMaterialSpec otherwise;
  const FractureMaterialSpec* found = &otherwise;
  for (const FractureMaterialSpec& material : shape.materials)
    if (material.ids.empty() || std::ranges::count(material.ids, id) > 0) found = &material;
  return *found;
}

} // namespace

ShapeBody load_body(const parallel::Communicator& comm, const Shape& shape) {
  ShapeBody body = parallel::collectively(comm, [&] { return comm.rank() == 0 ? load(shape) : ShapeBody(); });
  std::vector<int> dim{body.dim};
  comm.broadcast(dim);
  body.dim = dim[0];
  return body;
}

template <int dim>
solvers::fracture_modes::FractureMaterial<dim> material_of(const Shape& shape,
                                                           const mesh::DistributedMesh<dim>& mesh) {
  solvers::fracture_modes::FractureMaterial<dim> result;
  result.weight = shape.weight;
  if (shape.materials.empty()) return result;
  const auto of_cell = [&](LocalIndex cell) -> const FractureMaterialSpec& {
    return material_with(shape, mesh.cell_volume_id[cell]);
  };
  result.density = [of_cell](LocalIndex cell) { return of_cell(cell).density; };
  result.toughness = [of_cell](LocalIndex cell) { return of_cell(cell).toughness; };
  result.unbreakable = [of_cell](LocalIndex cell) { return of_cell(cell).unbreakable; };
  result.fault_factor = [of_cell](LocalIndex cell, const Eigen::Matrix<double, dim, 1>& normal) {
    const std::vector<double>& factors = of_cell(cell).cleavage;
    if (factors.empty()) return 1.0;
    return normal.cwiseProduct(Eigen::Map<const Eigen::Matrix<double, dim, 1>>(factors.data())).norm();
  };
  return result;
}

template <int dim>
solvers::fracture_modes::StrainMaterial strain_material_of(const Shape& shape,
                                                           const mesh::DistributedMesh<dim>& mesh) {
  const auto of_cell = [&](LocalIndex cell) -> const FractureMaterialSpec& {
    return material_with(shape, mesh.cell_volume_id[cell]);
  };
  return {.energy = shape.strain,
          .youngs_modulus = [of_cell](LocalIndex cell) { return of_cell(cell).youngs_modulus; },
          .poisson_ratio = [of_cell](LocalIndex cell) { return of_cell(cell).poisson_ratio; }};
}

template <int dim>
solvers::fracture_modes::JumpTensors<dim> jump_tensors_of(const Shape& shape,
                                                          const mesh::DistributedMesh<dim>& mesh) {
  using Tensor = Eigen::Matrix<double, dim, dim>;
  std::vector<Tensor> tensors;
  if (std::ranges::all_of(shape.materials, [](const auto& material) { return material.jump_tensor.empty(); }))
    return tensors;
  for (LocalIndex cell = 0; cell < mesh.num_owned_cells; ++cell) {
    const auto& entries = material_with(shape, mesh.cell_volume_id[cell]).jump_tensor;
    tensors.push_back(entries.empty() ? Tensor(Tensor::Identity())
                                      : Tensor(Eigen::Map<const Tensor>(entries.data())));
  }
  return tensors;
}

template solvers::fracture_modes::StrainMaterial strain_material_of(const Shape&,
                                                                    const mesh::DistributedMesh<2>&);
template solvers::fracture_modes::StrainMaterial strain_material_of(const Shape&,
                                                                    const mesh::DistributedMesh<3>&);
template solvers::fracture_modes::JumpTensors<2> jump_tensors_of(const Shape&,
                                                                 const mesh::DistributedMesh<2>&);
template solvers::fracture_modes::JumpTensors<3> jump_tensors_of(const Shape&,
                                                                 const mesh::DistributedMesh<3>&);
template solvers::fracture_modes::FractureMaterial<2> material_of(const Shape&,
                                                                  const mesh::DistributedMesh<2>&);
template solvers::fracture_modes::FractureMaterial<3> material_of(const Shape&,
                                                                  const mesh::DistributedMesh<3>&);

} // namespace recoil::app
