#pragma once

#include <random>
#include <vector>

#include <Eigen/Dense>

#include "linalg/elastic_box.hpp"
#include "recoil/linalg/stencil_matrix.hpp"

namespace recoil::testing {

/// One dense symmetric block on a few nodes, given by some rank.
struct Stencil {
  int rank;
  std::vector<GlobalIndex> nodes;
  Eigen::MatrixXd block;
};

/// Random symmetric blocks on 2 to 4 distinct of `num_nodes` nodes, some of them -1, from random ranks; the
/// same on every rank.
inline std::vector<Stencil> random_stencils(int dim, GlobalIndex num_nodes, int num_ranks, int count,
                                            unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> value(-1, 1);
  const auto pick = [&](GlobalIndex bound) {
    return std::uniform_int_distribution<GlobalIndex>(0, bound - 1)(generator);
  };
  std::vector<Stencil> stencils;
  for (int k = 0; k < count; ++k) {
    Stencil stencil{static_cast<int>(pick(num_ranks)), {}, {}};
    const GlobalIndex size = 2 + pick(3);
    while (static_cast<GlobalIndex>(stencil.nodes.size()) < size) {
      const GlobalIndex node = pick(num_nodes);
      if (std::ranges::find(stencil.nodes, node) == stencil.nodes.end()) stencil.nodes.push_back(node);
    }
    if (pick(4) == 0) stencil.nodes[static_cast<std::size_t>(pick(size))] = -1;
    const Eigen::MatrixXd random =
        Eigen::MatrixXd::NullaryExpr(dim * size, dim * size, [&] { return value(generator); });
    stencil.block = random + random.transpose();
    stencils.push_back(std::move(stencil));
  }
  return stencils;
}

/// Stiff springs along random directions between random node pairs and from nodes to segments or triangles:
/// k g g', as barrier terms have, zero for constrained components. `candidates` are the nodes that may take
/// part, `constrained` tells of (global node, component).
template <class Constrained>
std::vector<Stencil> random_springs(int dim, const std::vector<GlobalIndex>& candidates, int num_ranks,
                                    int count, double stiffness, unsigned seed, Constrained constrained) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> value(-1, 1);
  std::vector<Stencil> stencils;
  for (int k = 0; k < count; ++k) {
    Stencil stencil{static_cast<int>(generator() % static_cast<unsigned>(num_ranks)), {}, {}};
    while (stencil.nodes.size() < static_cast<std::size_t>(dim) + 1) {
      const GlobalIndex node = candidates[generator() % candidates.size()];
      if (std::ranges::find(stencil.nodes, node) == stencil.nodes.end()) stencil.nodes.push_back(node);
    }
    const Eigen::VectorXd normal =
        Eigen::VectorXd::NullaryExpr(dim, [&] { return value(generator); }).normalized();
    Eigen::VectorXd g(dim * (dim + 1));
    for (int a = 0; a <= dim; ++a) {
      g.segment(dim * a, dim) = (a == 0 ? 1.0 : -1.0 / dim) * normal;
      for (int i = 0; i < dim; ++i)
        if (constrained(stencil.nodes[static_cast<std::size_t>(a)], i)) g[dim * a + i] = 0;
    }
    stencil.block = stiffness * std::pow(10.0, value(generator)) * g * g.transpose();
    stencils.push_back(std::move(stencil));
  }
  return stencils;
}

/// Assembles the stencils, each from its rank; blocks are handed over inside larger arrays. Collective.
inline void assemble(const std::vector<Stencil>& stencils, linalg::StencilMatrix& matrix, double scale = 1) {
  matrix.begin();
  for (const Stencil& stencil : stencils) {
    if (stencil.rank != matrix.layout().comm->rank()) continue;
    Eigen::MatrixXd padded = Eigen::MatrixXd::Constant(stencil.block.rows() + 2, stencil.block.cols(), 1e300);
    padded.topRows(stencil.block.rows()) = scale * stencil.block;
    matrix.add(stencil.nodes, padded.data(), static_cast<int>(padded.rows()));
  }
  matrix.finish();
}

/// The sum over all nodes as a dense matrix.
inline Eigen::MatrixXd dense(const std::vector<Stencil>& stencils, int dim, GlobalIndex num_nodes) {
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(dim * num_nodes, dim * num_nodes);
  for (const Stencil& stencil : stencils)
    for (std::size_t a = 0; a < stencil.nodes.size(); ++a)
      for (std::size_t b = 0; b < stencil.nodes.size(); ++b) {
        if (stencil.nodes[a] < 0 || stencil.nodes[b] < 0) continue;
        sum.block(dim * stencil.nodes[a], dim * stencil.nodes[b], dim, dim) += stencil.block.block(
            dim * static_cast<Eigen::Index>(a), dim * static_cast<Eigen::Index>(b), dim, dim);
      }
  return sum;
}

} // namespace recoil::testing
