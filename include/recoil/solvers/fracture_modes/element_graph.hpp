#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <Eigen/Core>

#include "recoil/linalg/vector.hpp"
#include "recoil/mesh/distributed_mesh.hpp"

namespace recoil::solvers::fracture_modes {

/// The weight w_f of a face of area A in the discontinuity energy E_D(u) = sum_f w_f |u_a - u_b|.
enum class FaceWeight {
  tv,            ///< A: the total variation of u, which converges when the mesh is refined
  paper,         ///< sqrt(A) [Sellan et al. 2023, eq. 5 and 12]: depends on the mesh, as E_D ~ h^-(dim-1)/2
  reference_code ///< 2A: the authors' program
};

/// What a body is made of. Functions of a cell get its local number and are asked for owned cells only;
/// absent ones stand for the values given here. Both sides of a face are averaged.
template <int dim>
struct FractureMaterial {
  using Point = Eigen::Matrix<double, dim, 1>;

  FaceWeight weight = FaceWeight::tv;
  /// Density [kg/m^dim], 1.
  std::function<double(LocalIndex cell)> density = {};
  /// Factor of the weight of faces of a cell, 1; large where the body is hard to break.
  std::function<double(LocalIndex cell)> toughness = {};
  /// Factor by the unit normal n of a fault, 1; must be the same for n and -n. Small for planes of cleavage.
  std::function<double(LocalIndex cell, const Point& normal)> fault_factor = {};
  /// Painted cells: no fault passes between two of them.
  std::function<bool(LocalIndex cell)> unbreakable = {};
};

/// A face that two elements share.
struct ElementFace {
  LocalIndex a, b; ///< local elements; a has the smaller input id
  double area;     ///< [m^(dim-1)]
  double weight;   ///< w_f with its factors
  bool breakable;  ///< false between painted elements
  bool counted;    ///< whether this rank adds it to sums: it owns a
  /// The vertices of a and b that are not on the face, by ascending input id from 0: as in a
  /// mesh::DistributedMesh.
  std::int8_t opposite_a, opposite_b;
};

/// The elements of an exploded mesh and the faces between them: element e is free to move apart from its
/// neighbours at the price of E_D. Each rank holds the elements that it owns, as ghosts those that share a
/// face with one of them, and every face of an owned element, in an order that depends on input ids alone.
struct ElementGraph {
  std::shared_ptr<const linalg::VectorLayout>
      layout;                           ///< one number per element: owned cells of the mesh, then ghosts
  std::vector<GlobalIndex> cell_ids;    ///< input ids of local elements
  std::vector<double> masses;           ///< of local elements [kg]
  std::vector<Eigen::Vector3d> centres; ///< of local elements [m]; z = 0 in 2D
  std::vector<ElementFace> faces;

  const parallel::Communicator& comm() const { return *layout->comm; }
};

/// The graph of the elements of `mesh`, which need not outlive it. Collective.
/// @throws InputError on every rank where three elements share a face, an element has no volume, or a factor
/// or density is not positive.
template <int dim>
ElementGraph explode(const mesh::DistributedMesh<dim>& mesh, const FractureMaterial<dim>& material = {});

/// E_D of a field of one number per element whose ghosts are current. Collective.
double discontinuity_energy(const ElementGraph& graph, std::span<const double> field);

/// sum_e m_e x_e y_e over all elements. Collective.
double mass_product(const ElementGraph& graph, std::span<const double> x, std::span<const double> y);

} // namespace recoil::solvers::fracture_modes
