#pragma once

#include <memory>
#include <span>

#include "recoil/mesh/distributed_mesh.hpp"

namespace recoil::mesh_motion {

/// How the vertices inside bodies follow those that are moved.
enum class Extension {
  harmonic, ///< each component for itself
  elastic   ///< as an elastic solid with a Poisson's ratio of 0.3
};

/// The displacement of all vertices of a mesh from that of some, the leaders: d_f = -K_ff^-1 K_fl d_l for the
/// followers, with K the stiffness matrix of linear elements on the mesh as it is when this is made. K is
/// that of Laplace's equation, or of linear elasticity; a cell is stiffer the smaller it is, in inverse
/// proportion to its volume, so that small cells keep their shape [Stein, Tezduyar, Benney 2003]. The map is
/// linear, and both of its products are exact up to the rounding of a linear solve.
template <int dim>
class BoundaryExtension {
public:
  /// @param leads flags of the local vertices, ghosts as on their owners; every body has some. `mesh` must
  /// outlive it. Collective.
  BoundaryExtension(const mesh::DistributedMesh<dim>& mesh, std::span<const char> leads, Extension kind);
  ~BoundaryExtension();

  /// Completes the displacements `d` [m], dim numbers per local vertex, whose leaders are set, ghosts
  /// included. Collective. @throws Error on every rank where the linear solve fails.
  void extend(std::span<double> d) const;
  /// Applies the transpose of extend(): `g` has derivatives by owned vertices and zeros at ghosts; those of
  /// followers go to the leaders that move them, and become zero. Collective. @throws as extend().
  void extend_transposed(std::span<double> g) const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace recoil::mesh_motion
