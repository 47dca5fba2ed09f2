#pragma once

#include <filesystem>

#include "app/impact/impacts_file.hpp"
#include "recoil/app/breakable/breakable_shape.hpp"

namespace recoil::app {

/// How strong a bond between particles in two pieces is, over one within a piece: min(1, fault_share E_k /
/// E_1) with the first mode k that jumps between them by at least 0.05 of its largest jump; 1 where none
/// does.
double strength_between(const solvers::fracture_modes::ImpactModel& model,
                        const std::vector<double>& energies, double fault_share, int a, int b);

/// Writes the shape as bonded particles: particles.csv, bonds.csv, and scene.json of a fall onto a floor.
/// @throws InputError for a radius with which no particle fits, FileError.
void write_bonded_shape(const BreakableShape<3>& shape, const BondsSpec& spec,
                        const std::filesystem::path& folder);

} // namespace recoil::app
