#include "recoil/particles/effective_moduli.hpp"

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "recoil/base/error.hpp"
#include "recoil/linalg/dense.hpp"

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
  return linalg::solve_definite(stiffness, pull(m));
}

using CellMatrix = Eigen::Matrix<double, 9, 9>;

/// Hessians of the energy of a cell per volume by strain and u of its second particle: of stretching bonds
/// with k_n = 1, of shearing them with k_t = 1, both of radius 1.
struct CellHessians {
  CellMatrix stretching = CellMatrix::Zero(), shearing = CellMatrix::Zero();
};

constexpr double bond_length = 2; ///< of radius 1: the result does not depend on it

CellHessians hessians_of_cell(LatticeKind kind) {
  CellHessians hessians;
  const std::vector<CellBond> bonds = bonds_of_cell(kind);
  for (const auto& [n, crosses] : bonds) {
    Eigen::Matrix<double, 3, 9> relative;
    relative << bond_length * strain_along(n), crosses * Eigen::Matrix3d::Identity();
    const Eigen::Matrix<double, 1, 9> along = n.transpose() * relative;
    const Eigen::Matrix<double, 3, 9> across = relative - n * along;
    hessians.stretching += along.transpose() * along;
    hessians.shearing += across.transpose().lazyProduct(across);
  }
  const double volume = bonds.size() / 6.0 * lattice_cell_volume(bond_length / 2);
  hessians.stretching /= volume;
  hessians.shearing /= volume;
  return hessians;
}

double stretch_stiffness(double young) { return young * std::numbers::pi / bond_length; }

CellMatrix hessian_of_cell(LatticeKind kind, double young, double poisson, double shear_correction) {
  const auto [stretching, shearing] = hessians_of_cell(kind);
  return stretch_stiffness(young) * (stretching + shear_correction * shearing / (2 * (1 + poisson)));
}

/// u of the second particle, negative, by the strain. fcc has no u; the least-norm solution leaves it alone.
Eigen::Matrix<double, 3, 6> relaxation(const CellMatrix& hessian) {
  return linalg::least_norm_solution(hessian.bottomRightCorner<3, 3>(), hessian.bottomLeftCorner<3, 6>());
}

} // namespace

Stiffness effective_stiffness(LatticeKind kind, double young, double poisson, double shear_correction) {
  if (!(young > 0) || !std::isfinite(young))
    throw InputError("bonds",
                     "Young's modulus " + std::to_string(young) + " of the bonds; it must be positive");
  if (!(poisson > -1 && poisson <= 0.5))
    throw InputError("bonds", "Poisson's ratio " + std::to_string(poisson) +
                                  " of the bonds; it must lie above -1 and not above 1/2");
  if (!(shear_correction > 0) || !std::isfinite(shear_correction))
    throw InputError("bonds", "shear correction " + std::to_string(shear_correction) +
                                  " of the bonds; it must be positive");
  const CellMatrix hessian = hessian_of_cell(kind, young, poisson, shear_correction);
  const Stiffness relaxed =
      hessian.topLeftCorner<6, 6>() - hessian.topRightCorner<6, 3>() * relaxation(hessian);
  return (relaxed + relaxed.transpose()) / 2;
}

double young_modulus(const Stiffness& stiffness, const Eigen::Vector3d& along) {
  return 1 / pull(along).dot(compliance_along(stiffness, along));
}

double young_modulus_by_poisson(LatticeKind kind, double young, double poisson, const Eigen::Vector3d& along,
                                double shear_correction) {
  const Eigen::Vector<double, 6> strain =
      compliance_along(effective_stiffness(kind, young, poisson, shear_correction), along);
  // The energy is least in u: only the change of the Hessian itself counts.
  Eigen::Matrix<double, 9, 6> displaced;
  displaced << Eigen::Matrix<double, 6, 6>::Identity(),
      -relaxation(hessian_of_cell(kind, young, poisson, shear_correction));
  const double shear_change =
      -shear_correction * stretch_stiffness(young) / (2 * (1 + poisson) * (1 + poisson));
  const Eigen::Matrix<double, 9, 6> sheared = hessians_of_cell(kind).shearing.lazyProduct(displaced);
  const Stiffness change = shear_change * displaced.transpose().lazyProduct(sheared);
  const double modulus = 1 / pull(along).dot(strain);
  return modulus * modulus * strain.dot(change * strain);
}

IsotropicModuli hill_moduli(const Stiffness& stiffness) {
  const Stiffness C = stiffness, S = linalg::inverse(stiffness);
  const auto normal = [](const Stiffness& T) { return T.topLeftCorner<3, 3>().trace(); };
  const auto coupled = [](const Stiffness& T) { return T(0, 1) + T(0, 2) + T(1, 2); };
  const auto shearing = [](const Stiffness& T) { return T.bottomRightCorner<3, 3>().trace(); };
  const double voigt_bulk = (normal(C) + 2 * coupled(C)) / 9, reuss_bulk = 1 / (normal(S) + 2 * coupled(S));
  const double voigt_shear = (normal(C) - coupled(C) + 3 * shearing(C)) / 15,
               reuss_shear = 15 / (4 * (normal(S) - coupled(S)) + 3 * shearing(S));
  return {(voigt_bulk + reuss_bulk) / 2, (voigt_shear + reuss_shear) / 2};
}

double poisson_ratio(const Stiffness& stiffness, const Eigen::Vector3d& along,
                     const Eigen::Vector3d& across) {
  const Eigen::Vector<double, 6> strain = compliance_along(stiffness, along);
  return -pull(across).dot(strain) / pull(along).dot(strain);
}

} // namespace recoil::particles
