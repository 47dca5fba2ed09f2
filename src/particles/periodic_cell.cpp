#include "recoil/particles/periodic_cell.hpp"

#include <cmath>

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <fmt/format.h>

#include "recoil/base/error.hpp"

namespace recoil::particles {

using Eigen::Matrix3d;
using Eigen::Vector3d;

namespace {

/// How often each edge goes into `way`, along those that repeat, to integers by `round`.
template <class Round>
CellShift periods_in(const PeriodicCell& cell, const Vector3d& way, const Matrix3d& F, Round round) {
  const Vector3d share = Matrix3d(F * cell.edges).inverse() * way;
  CellShift shift{};
  for (int k = 0; k < 3; ++k)
    if (cell.repeats[k]) shift[k] = static_cast<std::int32_t>(round(share[k]));
  return shift;
}

} // namespace

CellShift PeriodicCell::shift_of(const Vector3d& x, const Matrix3d& F) const {
  return periods_in(*this, x - origin, F, [](double share) { return std::floor(share); });
}

CellShift PeriodicCell::nearest(const Vector3d& a, const Vector3d& b, const Matrix3d& F) const {
  return periods_in(*this, a - b, F, [](double share) { return std::round(share); });
}

Vector3d PeriodicCell::widths(const Matrix3d& F) const {
  return Matrix3d(F * edges).inverse().rowwise().norm().cwiseInverse();
}

double PeriodicCell::volume(const Matrix3d& F) const { return (F * edges).determinant(); }

void require_wide(const PeriodicCell& cell, double reach, const std::string& where, const Matrix3d& F) {
  const Vector3d widths = cell.widths(F);
  for (int k = 0; k < 3; ++k)
    if (cell.repeats[k] && widths[k] < 3 * reach)
      throw InputError(where, fmt::format("the cell is {:.6g} m wide along edge {}, where particles reach "
                                          "{:.6g} m: it must be at least three times as wide; take a larger "
                                          "cell, or smaller particles",
                                          widths[k], "xyz"[k], reach));
}

} // namespace recoil::particles
