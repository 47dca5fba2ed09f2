#pragma once

#include <optional>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "recoil/app/scene/item.hpp"

namespace recoil::app {

/// `boundary_conditions/periodic_boundary`: how a cell repeats, and its macroscopic displacement gradient.
struct PeriodicEntry {
  std::optional<std::vector<int>> axes;              ///< empty: all
  std::vector<std::vector<double>> periods;          ///< [m], one per dimension; empty: those of the box
  double tolerance = 1e-5;                           ///< over the diagonal of the bounding box
  std::vector<std::vector<Expression>> macro_strain; ///< d u_i / d X_j, formulas of t; empty: zero
  std::optional<std::vector<int>> prescribed;        ///< entries of it, row by row; empty: all
  std::string where;

  /// Whether a box repeats along an axis.
  bool repeats_along(int axis) const;
  /// `macro_strain` at a time, dim x dim, zero where there is none. @throws InputError where it has no finite
  /// value.
  Eigen::MatrixXd gradient_at(double time, int dim) const;
  /// The columns of `periods`, dim x dim; nothing where these are of a box. @throws InputError as
  /// check_fit().
  std::optional<Eigen::MatrixXd> edges(int dim) const;
};

/// The entry of a scene; nothing where it is not switched on. @throws InputError.
std::optional<PeriodicEntry> read_periodic(const Item& root);

/// @throws InputError where the entry does not fit the dimension, its periods lie in a plane, or the cell is
/// to deform along an axis along which it does not repeat.
void check_fit(const PeriodicEntry& entry, int dim);

} // namespace recoil::app
