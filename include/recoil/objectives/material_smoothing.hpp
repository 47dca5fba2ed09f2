#pragma once

#include <array>
#include <memory>
#include <vector>

#include "recoil/objectives/objective.hpp"
#include "recoil/objectives/region.hpp"

namespace recoil::objectives {

/// The constants of the law of one cell, in the law's order.
struct CellConstants {
  int law = 0;   ///< cells of different numbers are not compared
  int count = 0; ///< of `values` that are used
  std::array<double, 3> values{};
};

/// J = sum over cells t and their neighbours t' across a face of sum_k (1 - c_k(t') / c_k(t))^2, for the
/// constants c_k of their law; pairs of cells within the region and of one
/// law. Collective.
/// @param constants one entry per local cell, ghosts included.
/// @throws InputError on every rank where a constant in the region is zero or not finite.
template <int dim>
std::unique_ptr<Objective<dim>> make_material_smoothing(Region<dim> region,
                                                        std::vector<CellConstants> constants);

} // namespace recoil::objectives
