#include "recoil/particles/effective_moduli.hpp"

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include <Eigen/Dense>

#include "recoil/base/error.hpp"

namespace recoil::particles {

namespace {

/// A bond of an infinite lattice: unit vector from its first to its second end, and whether these belong to
/// different particles of a cell.
struct CellBond {
  Eigen::Vector3d direction;
  double crosses; ///< 1 if the second end is displaced by u relative to the first, else 0
};

/// The bonds of one cell, six per particle.
std::vector<CellBond> bonds_of_cell(LatticeKind kind) {
  std::vector<CellBond> bonds;
  if (kind == LatticeKind::fcc) {
    for (int axis = 0; axis < 3; ++axis)
      for (const double sign : {-1.0, 1.0}) {
        Eigen::Vector3d direction = Eigen::Vector3d::Zero();
        direction[axis] = 1;
        direction[(axis + 1) % 3] = sign;
        bonds.push_back({direction.normalized(), 0});
      }
    return bonds;
  }
  const auto at = [](double degrees) {
    const double angle = degrees * std::numbers::pi / 180;
    return Eigen::Vector3d(std::cos(angle), std::sin(angle), 0);
  };
  for (int k = 0; k < 3; ++k) {
    for (int particle = 0; particle < 2; ++particle) bonds.push_back({at(60.0 * k), 0});
    // From a layer to the hollows of the layers above and below.
    const Eigen::Vector3d aside = at(30 + 120.0 * k) / std::sqrt(3.0);
    for (const double sign : {-1.0, 1.0})
      bonds.push_back({aside + sign * std::sqrt(2.0 / 3) * Eigen::Vector3d::UnitZ(), 1});
  }
  return bonds;
}

/// eps n as a product with the strain in Voigt notation.
Eigen::Matrix<double, 3, 6> strain_along(const Eigen::Vector3d& n) {
  Eigen::Matrix<double, 3, 6> matrix;
  matrix << n.x(), 0, 0, 0, n.z() / 2, n.y() / 2, //
      0, n.y(), 0, n.z() / 2, 0, n.x() / 2,       //
      0, 0, n.z(), n.y() / 2, n.x() / 2, 0;
  return matrix;
}

/// Stress in Voigt notation of a unit pull along m, and the extension along m of a strain.
Eigen::Vector<double, 6> pull(const Eigen::Vector3d& m) {
  return {m.x() * m.x(), m.y() * m.y(), m.z() * m.z(), m.y() * m.z(), m.x() * m.z(), m.x() * m.y()};
}

Eigen::Vector<double, 6> compliance_along(const Stiffness& stiffness, const Eigen::Vector3d& m) {
  return stiffness.ldlt().solve(pull(m));
}

} // namespace

Stiffness effective_stiffness(LatticeKind kind, double young, double poisson) {
  if (!(young > 0) || !std::isfinite(young))
    throw InputError("bonds",
                     "Young's modulus " + std::to_string(young) + " of the bonds; it must be positive");
  if (!(poisson > -1 && poisson <= 0.5))
    throw InputError("bonds", "Poisson's ratio " + std::to_string(poisson) +
                                  " of the bonds; it must lie above -1 and not above 1/2");
  // Radius 1: the result does not depend on it.
  const double length = 2, section = std::numbers::pi;
  const double stretch = young * section / length, shear = stretch / (2 * (1 + poisson));
  // The unknowns: strain, and u of the second particle of the cell.
  Eigen::Matrix<double, 9, 9> hessian = Eigen::Matrix<double, 9, 9>::Zero();
  const std::vector<CellBond> bonds = bonds_of_cell(kind);
  for (const auto& [n, crosses] : bonds) {
    Eigen::Matrix<double, 3, 9> relative;
    relative << length * strain_along(n), crosses * Eigen::Matrix3d::Identity();
    const Eigen::Matrix<double, 1, 9> along = n.transpose() * relative;
    const Eigen::Matrix<double, 3, 9> across = relative - n * along;
    hessian += stretch * along.transpose() * along + shear * across.transpose() * across;
  }
  const double num_particles = bonds.size() / 6.0;
  hessian /= num_particles * lattice_cell_volume(length / 2);
  // fcc has no u; the least-norm solution leaves it alone.
  const Eigen::Matrix3d inner = hessian.bottomRightCorner<3, 3>();
  const Eigen::Matrix<double, 3, 6> coupling = hessian.bottomLeftCorner<3, 6>();
  const Stiffness relaxed = hessian.topLeftCorner<6, 6>() -
                            coupling.transpose() * inner.completeOrthogonalDecomposition().solve(coupling);
  return (relaxed + relaxed.transpose()) / 2;
}

double young_modulus(const Stiffness& stiffness, const Eigen::Vector3d& along) {
  return 1 / pull(along).dot(compliance_along(stiffness, along));
}

double poisson_ratio(const Stiffness& stiffness, const Eigen::Vector3d& along,
                     const Eigen::Vector3d& across) {
  const Eigen::Vector<double, 6> strain = compliance_along(stiffness, along);
  return -pull(across).dot(strain) / pull(along).dot(strain);
}

} // namespace recoil::particles
