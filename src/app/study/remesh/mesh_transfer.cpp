#include "recoil/app/study/remesh/remesh_scene.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include <Eigen/LU>
#include <fmt/format.h>
#include <unsupported/Eigen/BVH>

#include "recoil/app/solvers/elastodynamics/discrete_scene.hpp"
#include "recoil/base/error.hpp"
#include "recoil/fem/function_space.hpp"

namespace recoil::app {

namespace {

template <int dim>
using Position = Eigen::Matrix<double, dim, 1>;

/// A cell and where in it a point lies: barycentric coordinates, which add up to one.
template <int dim>
struct Location {
  LocalIndex cell = -1;
  Eigen::Matrix<double, dim + 1, 1> lambda;
};

/// Finds the cells of bodies that points lie in. On a boundary rounding may leave a point outside: then the
/// cell counts that it lies least outside of.
template <int dim>
class CellLocator {
  using Box = Eigen::AlignedBox<double, dim>;
  using Tree = Eigen::KdBVH<double, dim, LocalIndex>;

public:
  explicit CellLocator(const mesh::DistributedMesh<dim>& mesh) : mesh_(mesh) {
    std::vector<std::vector<LocalIndex>> cells(mesh.body_names.size());
    std::vector<std::vector<Box>> boxes(mesh.body_names.size());
    const double margin = 1e-6 * (mesh.max_corner - mesh.min_corner).norm();
    for (LocalIndex cell = 0; cell < mesh.num_cells(); ++cell) {
      Box box;
      for (const LocalIndex vertex : mesh.cells[cell]) box.extend(mesh.vertices[vertex]);
      box.min().array() -= margin;
      box.max().array() += margin;
      cells[mesh.cell_body[cell]].push_back(cell);
      boxes[mesh.cell_body[cell]].push_back(box);
    }
    for (std::size_t body = 0; body < cells.size(); ++body)
      trees_.emplace_back(cells[body].begin(), cells[body].end(), boxes[body].begin(), boxes[body].end());
  }

  Location<dim> find(std::int32_t body, const Position<dim>& point) const {
    Search search{*this, point, {}, -std::numeric_limits<double>::infinity()};
    Eigen::BVIntersect(trees_[body], search);
    if (search.best.cell < 0)
      throw InputError(
          fmt::format("body '{}' has no element where its new mesh has one", mesh_.body_names[body]));
    return search.best;
  }

private:
  struct Search {
    const CellLocator& locator;
    const Position<dim>& point;
    Location<dim> best;
    double inside;
    bool intersectVolume(const Box& box) const { return box.contains(point); }
    bool intersectObject(LocalIndex cell) {
      const auto lambda = locator.barycentric(cell, point);
      if (lambda.minCoeff() > inside) {
        best = {cell, lambda};
        inside = lambda.minCoeff();
      }
      return inside >= 0;
    }
  };

  Eigen::Matrix<double, dim + 1, 1> barycentric(LocalIndex cell, const Position<dim>& point) const {
    const auto& vertices = mesh_.cells[cell];
    Eigen::Matrix<double, dim, dim> edges;
    for (int i = 0; i < dim; ++i)
      edges.col(i) = mesh_.vertices[vertices[i + 1]] - mesh_.vertices[vertices[0]];
    Eigen::Matrix<double, dim + 1, 1> lambda;
    lambda.template tail<dim>() = edges.inverse() * (point - mesh_.vertices[vertices[0]]);
    lambda[0] = 1 - lambda.template tail<dim>().sum();
    return lambda;
  }

  const mesh::DistributedMesh<dim>& mesh_;
  std::vector<Tree> trees_;
};

/// Values of the basis functions of a cell where a point lies, by the canonical numbers of its nodes. Those
/// that rounding has left are removed: at a node of the cell only its own value counts.
template <int dim>
MeshTransfer::Row weights_at(const fem::FunctionSpace<dim>& space, const Location<dim>& at) {
  constexpr double rounding = 1e-9;
  const fem::LagrangeBasis<dim>& basis = space.basis(space.order(at.cell));
  std::vector<double> values(basis.num_nodes());
  basis.values(at.lambda.template tail<dim>(), values);
  MeshTransfer::Row row;
  const auto nodes = space.cell_nodes(at.cell);
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::abs(values[i]) < rounding) continue;
    row.from.push_back(space.canonical_ids()[nodes[i]]);
    row.weights.push_back(values[i]);
    sum += values[i];
  }
  for (double& weight : row.weights) weight /= sum;
  return row;
}

/// A row per node of `to`, in canonical order.
template <int dim>
std::vector<MeshTransfer::Row> node_rows(const CellLocator<dim>& locator, const fem::FunctionSpace<dim>& from,
                                         const fem::FunctionSpace<dim>& to) {
  std::vector<MeshTransfer::Row> rows(to.num_nodes_global());
  for (LocalIndex cell = 0; cell < to.mesh().num_cells(); ++cell)
    for (const LocalIndex node : to.cell_nodes(cell)) {
      MeshTransfer::Row& row = rows[to.canonical_ids()[node]];
      if (row.from.empty())
        row = weights_at(from, locator.find(to.mesh().cell_body[cell], to.node_positions()[node]));
    }
  return rows;
}

} // namespace

std::vector<double> MeshTransfer::Rows::carry(std::span<const double> old, std::size_t columns) const {
  if (old.size() != num_old * columns)
    throw InputError(fmt::format("an array has {} rows, the meshes that are made anew have {}",
                                 old.size() / columns, num_old));
  std::vector<double> result;
  for (const Row& row : rows)
    for (std::size_t column = 0; column < columns; ++column) {
      double sum = 0;
      for (std::size_t i = 0; i < row.from.size(); ++i)
        sum += row.weights[i] * old[row.from[i] * columns + column];
      result.push_back(sum);
    }
  return result;
}

template <int dim>
MeshTransfer make_mesh_transfer(const parallel::Communicator& alone, const Scene& scene,
                                const mesh::SimplexMesh& old, const mesh::SimplexMesh& renewed) {
  const auto from = mesh::distribute<dim>(alone, old), to = mesh::distribute<dim>(alone, renewed);
  const CellLocator<dim> locator(from);
  MeshTransfer transfer;
  transfer.cells = {std::vector<MeshTransfer::Row>(to.num_cells_global), from.num_cells_global};
  for (LocalIndex cell = 0; cell < to.num_cells(); ++cell) {
    Position<dim> centre = Position<dim>::Zero();
    for (const LocalIndex vertex : to.cells[cell]) centre += to.vertices[vertex] / (dim + 1);
    const LocalIndex found = locator.find(to.cell_body[cell], centre).cell;
    transfer.cells.rows[to.cell_ids[cell]] = {{from.cell_ids[found]}, {1.0}};
  }
  const auto carry_nodes = [&](const std::vector<int>& orders) -> MeshTransfer::Rows {
    const fem::FunctionSpace<dim> old_nodes(from, orders), new_nodes(to, orders);
    return {node_rows(locator, old_nodes, new_nodes), old_nodes.num_nodes_global()};
  };
  transfer.vertices = carry_nodes(std::vector<int>(from.body_names.size(), 1));
  transfer.nodes = carry_nodes(body_orders(scene, from.body_names));
  return transfer;
}

template MeshTransfer make_mesh_transfer<2>(const parallel::Communicator&, const Scene&,
                                            const mesh::SimplexMesh&, const mesh::SimplexMesh&);
template MeshTransfer make_mesh_transfer<3>(const parallel::Communicator&, const Scene&,
                                            const mesh::SimplexMesh&, const mesh::SimplexMesh&);

} // namespace recoil::app
