#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <Eigen/Core>

/// What a scene says about its geometry, free of JSON: the app fills these structs, mesh acts on them.
/// Meaning of each field: docs/scene.md.
namespace recoil::mesh {

/// p' = R S p + t; rotation about the origin of the mesh file.
struct Transformation {
  Eigen::Vector3d translation = Eigen::Vector3d::Zero();
  Eigen::Vector3d scale = Eigen::Vector3d::Ones();
  std::optional<Eigen::Vector3d> dimensions; ///< replaces scale: size of the unrotated bounding box
  std::string rotation_mode = "xyz"; ///< axis letters, axis_angle, rotation_vector or quaternion (any case)
  std::vector<double> rotation;      ///< degrees (quaternion: x y z w); empty = none
};

enum class GeneratorShape { box, rectangle, ball, disk, cylinder, plate };

/// Built-in meshes, centred at the origin.
struct Generator {
  GeneratorShape shape = GeneratorShape::box;
  std::vector<double> size;   ///< box, plate: x y z; rectangle: x y
  double radius = 0;          ///< ball, disk, cylinder
  double height = 0;          ///< cylinder, along z
  std::vector<int> divisions; ///< per axis; ball and disk: one number; cylinder: radial, axial
};

struct BoxSelection {
  Eigen::Vector3d min, max;
};
struct SphereSelection {
  Eigen::Vector3d center;
  double radius;
};
struct CylinderSelection {
  Eigen::Vector3d p1, p2;
  double radius;
};
struct AxisSelection {
  int axis;
  double position;
}; ///< axis = +-1, +-2, +-3
struct PlaneSelection {
  Eigen::Vector3d point, normal;
}; ///< half-space on the side of the normal
struct ThresholdSelection {
  double threshold;
  int id_offset;
};                             ///< sides of the bounding box, 1..7
struct EverythingSelection {}; ///< a plain id
struct FileSelection {
  std::filesystem::path path;
}; ///< ids per facet or element, or rows "id v0 v1 .."
struct IdOffsetSelection {
  int id_offset;
}; ///< volumes, facets: added to the stored ids
struct GroupSelection {
  int group;
}; ///< physical tag in a Gmsh file

using SelectionShape =
    std::variant<BoxSelection, SphereSelection, CylinderSelection, AxisSelection, PlaneSelection,
                 ThresholdSelection, EverythingSelection, FileSelection, IdOffsetSelection, GroupSelection>;

/// One entry of a selection list; the first entry that matches gives the id.
struct Selection {
  int id = 0;
  bool relative = false; ///< coordinates in units of the bounding box of this geometry
  bool boundary_only = true;
  SelectionShape shape = EverythingSelection{};
  std::string where; ///< JSON pointer, for messages
};

/// Copies on a lattice (`type: mesh_array`).
struct ArrayCopies {
  std::vector<int> size; ///< nx ny (nz)
  double offset = 1;
  bool relative = false;
};

/// Which part of a mesh an obstacle keeps.
enum class Extract { volume, surface, edges, points };

/// One entry of `geometry`.
struct GeometrySpec {
  std::string name;           ///< unique body name
  std::string where;          ///< JSON pointer, for messages
  std::filesystem::path mesh; ///< empty when generated
  std::optional<Generator> generator;
  double file_scale = 1;        ///< units of the scene per unit of the mesh file
  std::optional<double> repair; ///< of surfaces: vertices nearer than this share of the diagonal are one
  Transformation transformation;
  bool normalize_mesh = false;
  int n_refs = 0;
  std::vector<Selection> volume_selection, surface_selection, point_selection;
  std::optional<ArrayCopies> array;
  bool is_obstacle = false;
  Extract extract = Extract::volume;
  std::optional<int> obstacle_id; ///< integer surface_selection of an obstacle
};

} // namespace recoil::mesh
