#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <vector>

#include <Eigen/Dense>

#include "recoil/linalg/block_matrix.hpp"
#include "recoil/linalg/near_null_space.hpp"

namespace recoil::testing {

/// Unit square or cube, `divisions` cubes along each edge, each split into dim! simplices around its main
/// diagonal (Kuhn). Nodes are numbered with x fastest; each rank owns a slab of node layers of the last axis
/// (`idle_rank` owns none) and keeps the layers above and below as ghosts. The face x = 0 is clamped.
/// `num_blocks` of these lie on top of each other along the last axis with nodes of their own, not connected.
template <int dim>
struct ElasticBox {
  std::shared_ptr<linalg::VectorLayout> layout;
  std::shared_ptr<linalg::NodeGraph> graph;
  std::vector<char> constrained; ///< one flag per local entry
  int divisions = 1, num_blocks = 1;
  int first_layer = 0, num_layers = 0; ///< owned

  ElasticBox(const parallel::Communicator& comm, int divisions, int idle_rank = -1, int num_blocks = 1);

  /// Local number of the node at `index` (grid coordinates), which must be owned or ghost.
  LocalIndex node(const std::array<int, dim>& index) const {
    const int layer = index[dim - 1];
    int in_layer = index[0];
    if (dim == 3) in_layer += (divisions + 1) * index[1];
    if (layer >= first_layer && layer < first_layer + num_layers)
      return (layer - first_layer) * layer_size() + in_layer;
    const bool below = layer < first_layer;
    const int skipped = below || first_layer == 0 ? 0 : 1;
    return layout->num_owned + skipped * layer_size() + in_layer;
  }
  linalg::Vector positions() const;
  /// For LinearSolver, of the constraints of the moment of the call; the box must outlive it.
  std::function<linalg::NearNullSpace()> modes() const {
    return [this] { return linalg::rigid_body_modes(positions(), constrained); };
  }
  int num_all_layers() const { return num_blocks * (divisions + 1); }
  int layer_size() const { return dim == 3 ? (divisions + 1) * (divisions + 1) : divisions + 1; }
};

struct ElasticParameters {
  double young = 1e6, poisson = 0.3, density = 1000;
  double dt = 0; ///< adds mass / dt^2; 0: static
};

/// Stiffness (times `scale`) plus mass / dt^2 of linear elasticity, with identity rows on the clamped face.
template <int dim>
void assemble(const ElasticBox<dim>& box, const ElasticParameters& parameters, linalg::BlockMatrix& matrix,
              double scale = 1);

/// Weight of a body of density `density` under acceleration 1 along the last axis, zero on clamped entries.
template <int dim>
linalg::Vector weight(const ElasticBox<dim>& box, double density);

template <int dim>
ElasticBox<dim>::ElasticBox(const parallel::Communicator& comm, int n, int idle_rank, int blocks)
    : layout(std::make_shared<linalg::VectorLayout>()), graph(std::make_shared<linalg::NodeGraph>()),
      divisions(n), num_blocks(blocks) {
  const int num_all = num_all_layers();
  const bool idles = idle_rank >= 0 && idle_rank < comm.size();
  const int num_workers = comm.size() - (idles ? 1 : 0);
  const int worker = comm.rank() - (idles && comm.rank() > idle_rank ? 1 : 0);
  first_layer = num_all * worker / num_workers;
  num_layers = idles && comm.rank() == idle_rank ? 0 : num_all * (worker + 1) / num_workers - first_layer;
  layout->comm = &comm;
  layout->block_size = dim;
  layout->num_owned = num_layers * layer_size();
  layout->offset = static_cast<GlobalIndex>(first_layer) * layer_size();
  layout->num_global = static_cast<GlobalIndex>(num_all) * layer_size();
  const auto add_ghosts = [&](int layer) {
    if (num_layers == 0 || layer < 0 || layer >= num_all) return;
    for (int i = 0; i < layer_size(); ++i)
      layout->ghosts.push_back(static_cast<GlobalIndex>(layer) * layer_size() + i);
  };
  add_ghosts(first_layer - 1);
  add_ghosts(first_layer + num_layers);

  const int num_corners = 1 << dim;
  graph->offsets.push_back(0);
  std::array<int, dim> index{}, other{};
  for (LocalIndex row = 0; row < layout->num_owned; ++row) {
    index[0] = row % (n + 1);
    if (dim == 3) index[1] = row / (n + 1) % (n + 1);
    index[dim - 1] = first_layer + row / layer_size();
    std::vector<std::pair<GlobalIndex, LocalIndex>> found;
    for (int sign : {-1, 1})
      for (int corner = sign < 0 ? 1 : 0; corner < num_corners; ++corner) {
        bool inside = true;
        for (int d = 0; d < dim; ++d) {
          other[d] = index[d] + sign * (corner >> d & 1);
          inside = inside && other[d] >= 0 && other[d] < (d == dim - 1 ? num_all : n + 1);
        }
        inside = inside && index[dim - 1] / (n + 1) == other[dim - 1] / (n + 1);
        if (!inside) continue;
        const LocalIndex local = node(other);
        found.emplace_back(layout->global(local), local);
      }
    std::ranges::sort(found);
    for (const auto& entry : found) graph->neighbours.push_back(entry.second);
    graph->offsets.push_back(static_cast<std::int64_t>(graph->neighbours.size()));
  }

  constrained.assign(static_cast<std::size_t>(layout->num_local() * dim), 0);
  const linalg::Vector x = positions();
  for (std::size_t i = 0; i < constrained.size(); i += dim)
    if (x.local()[i] == 0) std::fill_n(constrained.begin() + static_cast<std::ptrdiff_t>(i), dim, 1);
}

template <int dim>
linalg::Vector ElasticBox<dim>::positions() const {
  linalg::Vector result(layout);
  const std::span<double> x = result.write_local();
  for (LocalIndex local = 0; local < layout->num_local(); ++local) {
    const GlobalIndex global = layout->global(local);
    const auto at = static_cast<std::size_t>(local * dim);
    x[at] = static_cast<double>(global % (divisions + 1)) / divisions;
    if (dim == 3) x[at + 1] = static_cast<double>(global / (divisions + 1) % (divisions + 1)) / divisions;
    const GlobalIndex layer = global / layer_size();
    x[at + dim - 1] = static_cast<double>(layer - layer / (divisions + 1)) / divisions;
  }
  return result;
}

/// Calls act(nodes) for every simplex that touches an owned node; `nodes` are dim + 1 local numbers, `kind`
/// counts the simplices of a cube.
template <int dim, class Act>
void for_each_simplex(const ElasticBox<dim>& box, Act act) {
  if (box.num_layers == 0) return;
  const int n = box.divisions;
  const int begin = std::max(0, box.first_layer - 1);
  const int end = std::min(box.num_all_layers() - 1, box.first_layer + box.num_layers);
  std::array<int, dim> cell{}, order{};
  for (int k = begin; k < end; ++k) {
    if (k % (n + 1) == n) continue; // between two blocks
    for (int rest = 0; rest < (dim == 3 ? n * n : n); ++rest) {
      cell[0] = rest % n;
      if (dim == 3) cell[1] = rest / n;
      cell[dim - 1] = k;
      std::iota(order.begin(), order.end(), 0);
      int kind = 0;
      do {
        std::array<LocalIndex, dim + 1> nodes;
        std::array<int, dim> corner = cell;
        nodes[0] = box.node(corner);
        for (int d = 0; d < dim; ++d) {
          ++corner[static_cast<std::size_t>(order[static_cast<std::size_t>(d)])];
          nodes[static_cast<std::size_t>(d) + 1] = box.node(corner);
        }
        act(kind++, nodes);
      } while (std::ranges::next_permutation(order).found);
    }
  }
}

/// Matrix of one simplex of each kind, row-major.
template <int dim>
auto element_matrices(double h, const ElasticParameters& p, double scale) {
  using Element = Eigen::Matrix<double, dim*(dim + 1), dim*(dim + 1), Eigen::RowMajor>;
  const double lambda = p.young * p.poisson / ((1 + p.poisson) * (1 - 2 * p.poisson));
  const double mu = p.young / (2 * (1 + p.poisson));
  std::vector<Element> result;
  std::array<int, dim> order{};
  std::iota(order.begin(), order.end(), 0);
  do {
    Eigen::Matrix<double, dim, dim> edges = Eigen::Matrix<double, dim, dim>::Zero();
    for (int a = 0; a < dim; ++a)
      for (int b = a; b < dim; ++b) edges(order[static_cast<std::size_t>(a)], b) = h;
    const double volume = std::pow(h, dim) / (dim == 3 ? 6 : 2);
    Eigen::Matrix<double, dim + 1, dim> gradients;
    gradients.template bottomRows<dim>() = edges.inverse();
    gradients.row(0) = -gradients.template bottomRows<dim>().colwise().sum();
    Element element = Element::Zero();
    for (int a = 0; a <= dim; ++a)
      for (int b = 0; b <= dim; ++b) {
        const Eigen::Matrix<double, dim, 1> ga = gradients.row(a), gb = gradients.row(b);
        Eigen::Matrix<double, dim, dim> block =
            scale * volume *
            (lambda * ga * gb.transpose() + mu * gb * ga.transpose() +
             mu * ga.dot(gb) * Eigen::Matrix<double, dim, dim>::Identity());
        if (p.dt > 0)
          block.diagonal().array() +=
              p.density * volume / ((dim + 1) * (dim + 2)) * (a == b ? 2 : 1) / (p.dt * p.dt);
        element.template block<dim, dim>(dim * a, dim * b) = block;
      }
    result.push_back(element);
  } while (std::ranges::next_permutation(order).found);
  return result;
}

template <int dim>
void assemble(const ElasticBox<dim>& box, const ElasticParameters& parameters, linalg::BlockMatrix& matrix,
              double scale) {
  constexpr int stride = dim * (dim + 1);
  const auto elements = element_matrices<dim>(1.0 / box.divisions, parameters, scale);
  matrix.set_zero();
  const linalg::BlockMatrix::Values values = matrix.begin_filling();
  for_each_simplex(box, [&](int kind, const std::array<LocalIndex, dim + 1>& nodes) {
    const double* element = elements[static_cast<std::size_t>(kind)].data();
    for (std::size_t a = 0; a <= dim; ++a) {
      if (nodes[a] >= box.layout->num_owned) continue;
      for (std::size_t b = 0; b <= dim; ++b)
        values.add<dim>(nodes[a], matrix.position(nodes[a], nodes[b]), element + dim * (a * stride + b),
                        stride);
    }
  });
  matrix.finish_filling();
  matrix.choose_identity_rows(box.constrained);
  matrix.set_identity_rows(1);
}

template <int dim>
linalg::Vector weight(const ElasticBox<dim>& box, double density) {
  linalg::Vector result(box.layout);
  const std::span<double> b = result.write_local();
  const double share = density * std::pow(1.0 / box.divisions, dim) / (dim == 3 ? 6 : 2) / (dim + 1);
  for_each_simplex(box, [&](int, const std::array<LocalIndex, dim + 1>& nodes) {
    for (const LocalIndex node : nodes) b[static_cast<std::size_t>(dim * node + dim - 1)] += share;
  });
  for (std::size_t i = 0; i < b.size(); ++i)
    if (box.constrained[i]) b[i] = 0;
  result.update_ghosts();
  return result;
}

} // namespace recoil::testing
