#pragma once

#include "recoil/app/scene/document.hpp"

namespace recoil::app {

/// Puts numbers in the place of the names of physical groups of Gmsh files: in the ids of materials and
/// initial conditions (volumes), of boundary conditions (facets), and in the `group` of selections. Reads the
/// meshes, only where there is a name. @pre the document is resolved. Not collective.
/// @throws InputError where no mesh of the scene has a group of this name, or two have it by other numbers.
void number_groups(Document& document);

} // namespace recoil::app
