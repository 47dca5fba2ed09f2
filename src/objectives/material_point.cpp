#include "recoil/objectives/material_point.hpp"

#include <algorithm>
#include <limits>
#include <sstream>

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

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template std::vector<std::optional<MaterialPoint<dim>>> locate_all(                                        \
      const mesh::DistributedMesh<dim>&, std::int32_t, std::span<const Eigen::Matrix<double, dim, 1>>);      \
  template MaterialPoint<dim> locate(const mesh::DistributedMesh<dim>&, std::int32_t,                        \
                                     const Eigen::Matrix<double, dim, 1>&, const std::string&);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::objectives
