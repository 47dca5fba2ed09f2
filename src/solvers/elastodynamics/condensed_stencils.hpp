#pragma once

#include <algorithm>
#include <vector>

#include <Eigen/Core>

#include "recoil/fem/periodic_boundary.hpp"
#include "recoil/linalg/block_sink.hpp"
#include "recoil/surface/surface.hpp"

namespace recoil::solvers {

/// Hands stencils on to a sink, those on nodes that follow others, or on copies in other cells, as stencils
/// on what these move with: K becomes T' K T.
template <int dim>
class CondensedStencils final : public linalg::StencilSink {
public:
  /// All must outlive it.
  CondensedStencils(const fem::PeriodicBoundary<dim>& periodic, const surface::Surface<dim>& surface,
                    linalg::StencilSink& sink)
      : periodic_(periodic), surface_(surface), sink_(sink) {}

  void add(std::span<const GlobalIndex> nodes, const double* block, int stride) override {
    const GlobalIndex num_blocks = surface_.layout()->num_global;
    if (std::ranges::none_of(nodes, [&](GlobalIndex node) {
          return node >= num_blocks || periodic_.followers_at(node) != nullptr;
        }))
      return sink_.add(nodes, block, stride);
    std::vector<GlobalIndex> onto;
    const auto place = [&](GlobalIndex node) {
      const auto index = std::ranges::find(onto, node) - onto.begin();
      if (index == std::ssize(onto)) onto.push_back(node);
      return index;
    };
    const auto size = Eigen::Index(nodes.size()) * dim;
    std::vector<Weight> weights;
    for (std::size_t a = 0; a < nodes.size(); ++a) {
      if (nodes[a] < 0) continue;
      for (int i = 0; i < dim; ++i) {
        const Eigen::Index row = Eigen::Index(a) * dim + i;
        const auto add_node = [&](GlobalIndex node, double factor) {
          const auto* followers = periodic_.followers_at(node);
          if (followers == nullptr || !(*followers)[i])
            return weights.push_back({row, place(node) * dim + i, factor});
          for (const auto& [entry, weight] : *(*followers)[i])
            weights.push_back({row, place(entry / dim) * dim + entry % dim, factor * weight});
        };
        add_node(nodes[a] % num_blocks, 1);
        if (nodes[a] < num_blocks) continue;
        const surface::Copies<dim>& copies = *surface_.parts().copies;
        const std::array<int, dim>& cell = copies.cells[nodes[a] / num_blocks];
        for (int k = 0; k < dim; ++k) {
          if (cell[k] == 0) continue;
          add_node(copies.ends[k][1], cell[k]);
          add_node(copies.ends[k][0], -cell[k]);
        }
      }
    }
    Eigen::MatrixXd T = Eigen::MatrixXd::Zero(size, std::ssize(onto) * dim);
    for (const auto& [row, column, weight] : weights) T(row, column) += weight;
    const Eigen::Map<const Eigen::MatrixXd, 0, Eigen::OuterStride<>> K(block, size, size,
                                                                       Eigen::OuterStride<>(stride));
    const Eigen::MatrixXd condensed = T.transpose() * K.template selfadjointView<Eigen::Upper>() * T;
    sink_.add(onto, condensed.data(), int(condensed.rows()));
  }

private:
  struct Weight {
    Eigen::Index row, column;
    double weight;
  };
  const fem::PeriodicBoundary<dim>& periodic_;
  const surface::Surface<dim>& surface_;
  linalg::StencilSink& sink_;
};

} // namespace recoil::solvers
