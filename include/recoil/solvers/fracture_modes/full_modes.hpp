#pragma once

#include <functional>
#include <vector>

#include "recoil/solvers/fracture_modes/vector_modes.hpp"

namespace recoil::solvers::fracture_modes {

/// The strain energy E_psi of linear elements.
enum class StrainEnergy {
  gradient, ///< 1/2 int E |grad u|^2: only translations cost nothing [Sellan et al. 2023, eq. 25]
  elastic   ///< that of linear elasticity, in plane strain in 2D: pieces may rotate, too, so that faults open
            ///< like hinges, with less energy than pieces that only move apart have
};

/// What a body resists a strain with. Functions of a cell get its local number and are asked for owned cells
/// only.
struct StrainMaterial {
  StrainEnergy energy = StrainEnergy::gradient;
  std::function<double(LocalIndex cell)> youngs_modulus = {}; ///< E [Pa], 1
  std::function<double(LocalIndex cell)> poisson_ratio = {};  ///< of elastic bodies, 0.3
  double omega = 1; ///< of E_D in E; E_D [unit of the weights times m]
};

/// A mode of linear elements, each with its own corners: (dim + 1) dim numbers per element, those of corner
/// after corner in the order of DistributedMesh::cells.
struct FullMode {
  linalg::Vector field;     ///< on the elements of the graph, ghosts are current; u' M u = 1
  double energy = 0;        ///< strain_energy + omega discontinuity
  double strain_energy = 0; ///< E_psi
  double discontinuity = 0; ///< E_D
  double gap = 0;           ///< as in VectorMode
  int iterations = 0, start = 0;
};

struct FullModes {
  /// Motions of each component without strain, orthonormal in the mass: translations and, of elastic bodies,
  /// rotations.
  std::vector<linalg::Vector> constants;
  std::vector<FullMode> modes;
};

/// E_psi and E_D of a field as in FullMode whose ghosts are current,
///     E_D(u) = sum_f w_f / sqrt(A_f) (int_f |T_f (u_a - u_b)|^2)^(1/2),
/// w_f and T_f as in vector_discontinuity_energy(), which it is for constant jumps. The integrals of linear
/// jumps j_k at the dim corners of a face are A / (dim (dim + 1)) (|sum j_k|^2 + sum |j_k|^2).
struct FullEnergy {
  double strain = 0, discontinuity = 0;
};
/// Collective. @throws InputError as find_full_modes().
template <int dim>
FullEnergy full_energy(const mesh::DistributedMesh<dim>& mesh, const ElementGraph& graph,
                       const JumpTensors<dim>& tensors, const StrainMaterial& material,
                       const linalg::Vector& field);

/// Starts for find_full_modes(): the `count` smallest eigenpairs of the body that does not break,
/// x' Q x = lambda x' M x with lumped masses, as fields of owned elements, (dim + 1) dim numbers each. Those
/// without strain are among them. Collective.
struct StrainModes {
  std::vector<double> values; ///< lambda, ascending; E_psi of a mode of mass norm 1 is lambda / 2
  std::vector<std::vector<double>> fields;
};
template <int dim>
StrainModes strain_modes(const mesh::DistributedMesh<dim>& mesh, const ElementGraph& graph,
                         const StrainMaterial& material, int count);

/// The modes of E = E_psi + omega E_D, one after the other, orthonormal in the lumped mass m_e / (dim + 1)
/// per corner, by the same search as find_vector_modes() [Sellan et al. 2023, section 3.2]. Where omega is
/// large they are strain modes, where it is small pieces that move without strain, of simplified modes'
/// energy times omega. At omega* = lambda / (2 E_D), lambda of the first strain mode and E_D of the first one
/// that breaks, both cost the same; but modes that do both cost less around it: strain sets in as omega^2
/// from 0 on, and a jump is left up to the largest traction of the strain mode, sqrt(2) pi E / L^(3/2) = 1.8
/// omega* of a bar. For bodies of some hundred elements: each is as dear as dim + 1 of find_vector_modes(),
/// and a factorisation is renewed where penalties change.
/// @param graph that of `mesh`. @param tensors by owned element, or empty.
/// @param starts as strain_modes() gives them. @param cuts one number per owned element each, whose level
/// sets are starts: those of start_fields(), scalar modes.
/// @param observe, from as in find_modes(); the fields of a state have (dim + 1) dim numbers per owned
/// element.
/// Collective. @throws InputError on every rank for tensors and constants out of range.
template <int dim>
FullModes find_full_modes(const mesh::DistributedMesh<dim>& mesh, const ElementGraph& graph,
                          const JumpTensors<dim>& tensors, const StrainMaterial& material,
                          const std::vector<std::vector<double>>& starts,
                          const std::vector<std::vector<double>>& cuts, const VectorModeOptions& options = {},
                          const SearchObserver& observe = {}, const SearchState* from = nullptr);

} // namespace recoil::solvers::fracture_modes
