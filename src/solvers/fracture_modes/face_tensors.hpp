#pragma once

#include <vector>

#include "recoil/solvers/fracture_modes/vector_modes.hpp"

namespace recoil::solvers::fracture_modes {

/// The tensors on both sides of faces.
template <int dim>
class FaceTensors {
public:
  using Tensor = Eigen::Matrix<double, dim, dim>;

  /// Collective. @throws InputError on every rank where a tensor is not symmetric positive definite.
  FaceTensors(const ElementGraph& graph, const JumpTensors<dim>& tensors);

  Tensor mean(const ElementFace& face) const { return (of_local_[face.a] + of_local_[face.b]) / 2; }
  /// Whether all are multiples of the identity. Collective.
  bool are_isotropic(const ElementGraph& graph) const;

private:
  std::vector<Tensor> of_local_;
};

} // namespace recoil::solvers::fracture_modes
