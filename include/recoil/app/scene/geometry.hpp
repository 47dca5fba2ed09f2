#pragma once

#include <optional>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "recoil/base/units.hpp"
#include "recoil/mesh/geometry_spec.hpp"

namespace recoil::app {

class Item;

/// Infinite plane obstacle (`type: plane`); solid on the side against the normal.
struct PlaneObstacle {
  std::string name;
  Eigen::Vector3d point = Eigen::Vector3d::Zero();
  Eigen::Vector3d normal = Eigen::Vector3d::UnitY(); ///< unit length
  std::optional<int> id;                             ///< by which it moves, with bonded particles
  std::string where;
};

/// What `geometry` of a file says: enabled entries in the order of the file.
struct Geometry {
  std::vector<mesh::GeometrySpec> entries; ///< with a mesh or a generator, obstacles included
  std::vector<PlaneObstacle> planes;
  std::vector<std::string> warnings; ///< accepted, but probably not meant
};

/// Whether an entry gives its shape by other keys, so that it needs neither mesh nor generator.
using HasOwnShape = bool (*)(const Item& entry);

/// The geometry of a resolved file whose `geometry` has the keys of geometry_sections(). Opens no file.
/// @throws InputError with the place of what does not fit together.
Geometry build_geometry(const Item& root, const UnitSystem& units, HasOwnShape has_own_shape = nullptr);

/// One list of selections: an id, a file, or a list of shapes. Adds to `warnings`. @throws InputError.
std::vector<mesh::Selection> build_selections(const Item& item, std::vector<std::string>& warnings);

} // namespace recoil::app
