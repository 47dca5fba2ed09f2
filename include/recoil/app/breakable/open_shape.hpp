#pragma once

#include "recoil/app/breakable/breakable_shape.hpp"
#include "recoil/app/fracture/modes_file.hpp"

namespace recoil::app {

/// The shape of a folder of modes, ready for impacts. Not collective. @param where of messages.
/// @throws InputError for a surface that encloses nothing. @pre the file is of this dimension.
template <int dim>
BreakableShape<dim> open_shape(ModesFile file, const std::string& where);

} // namespace recoil::app
