#pragma once

#include <memory>
#include <string>
#include <vector>

#include "recoil/objectives/observable.hpp"
#include "recoil/objectives/region.hpp"

namespace recoil::objectives {

/// Constants of the laws of all local cells, ghosts included.
struct CellConstants {
  std::vector<std::string> names; ///< of the constants that are compared
  std::vector<int> law;           ///< per cell; cells of different numbers are not compared
  std::vector<double> values;     ///< cell by cell
};

/// J = sum over cells t and their neighbours t' across a face of sum_k (1 - c_k(t') / c_k(t))^2, for the
/// constants c_k of their law; pairs of cells within the region and of one
/// law. Collective.
/// @throws InputError on every rank where a constant in the region is zero or not finite.
template <int dim>
std::unique_ptr<Objective<dim>> make_material_smoothing(Region<dim> region, CellConstants constants);

} // namespace recoil::objectives
