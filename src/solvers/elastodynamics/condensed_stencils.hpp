#pragma once

#include <algorithm>
#include <vector>

#include <Eigen/Core>

#include "recoil/fem/periodic_boundary.hpp"
#include "recoil/linalg/block_sink.hpp"

namespace recoil::solvers {

/// Hands stencils on to a sink, those on nodes that follow others as stencils on these: K becomes T' K T.
template <int dim>
class CondensedStencils final : public linalg::StencilSink {
public:
  /// Both must outlive it.
  CondensedStencils(const fem::PeriodicBoundary<dim>& periodic, linalg::StencilSink& sink)
      : periodic_(periodic), sink_(sink) {}

  void add(std::span<const GlobalIndex> nodes, const double* block, int stride) override {
    if (std::ranges::none_of(nodes,
                             [&](GlobalIndex node) { return periodic_.followers_at(node) != nullptr; }))
      return sink_.add(nodes, block, stride);
    std::vector<GlobalIndex> onto;
    const auto place = [&](GlobalIndex node) {
      const auto found = std::ranges::find(onto, node);
      if (found == onto.end()) onto.push_back(node);
      return found - onto.begin();
    };
    const auto size = Eigen::Index(nodes.size()) * dim;
    std::vector<Weight> weights;
    for (std::size_t a = 0; a < nodes.size(); ++a) {
      if (nodes[a] < 0) continue;
      const auto* followers = periodic_.followers_at(nodes[a]);
      for (int i = 0; i < dim; ++i) {
        const Eigen::Index row = Eigen::Index(a) * dim + i;
        if (followers == nullptr || !(*followers)[i]) {
          weights.push_back({row, place(nodes[a]) * dim + i, 1});
          continue;
        }
        for (const auto& [entry, weight] : *(*followers)[i])
          weights.push_back({row, place(entry / dim) * dim + entry % dim, weight});
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
  linalg::StencilSink& sink_;
};

} // namespace recoil::solvers
