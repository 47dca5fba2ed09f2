#pragma once

#include <filesystem>
#include <vector>

#include "app/study/parameters/parameter_field.hpp"

namespace recoil::app {

/// The files that start values come from: also the fit.h5 beside a fit.json.
std::vector<std::filesystem::path> files_of_start(const StartFile& start);

/// The values that a field starts from, slot by slot, ghosts included: those of the study or of a file, where
/// an array has a row per element or vertex of all bodies in file order, or per step or body. Collective.
/// @throws InputError on every rank, at `initial`, for a file that cannot be read, an array of another size,
/// a parameter that a fit.json does not have, and values that are not finite, not possible or out of the
/// bounds.
template <int dim>
std::vector<double> read_start_values(const ParameterField<dim>& field,
                                      const mesh::DistributedMesh<dim>& mesh);

} // namespace recoil::app
