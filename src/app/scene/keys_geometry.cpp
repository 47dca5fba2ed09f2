#include <algorithm>
#include <iterator>

#include "app/scene/shared_keys.hpp"

namespace recoil::app {
namespace {

constexpr Key units[] = {
    {.pattern = "/units",
     .types = object,
     .fallback = "{}",
     .doc = "In which the numbers of the file are written; those of a scene are for its meshes and results, "
            "too, see [Units](scene.md#units)."},
    {.pattern = "/units/length",
     .types = text,
     .implied = "m",
     .doc = "m, dm, cm, mm, um, nm, km, in or ft."},
    {.pattern = "/units/mass", .types = text, .implied = "kg", .doc = "kg, g, mg or t."},
    {.pattern = "/units/time", .types = text, .implied = "s", .doc = "s, ms, us, ns, min or h."},
};

constexpr Key root[] = {
    {.pattern = "/common",
     .types = text,
     .doc = "Another scene, relative to this file, which this one is merged onto (RFC 7396: objects merge "
            "key by key, lists and scalars are replaced whole, null deletes). May be nested. Relative paths "
            "in it are resolved against the folder of the scene that is run."},
    {.pattern = "/patch",
     .types = list,
     .items = anything,
     .doc = "JSON Patch (RFC 6902), applied after `common`."},
    {.pattern = "/root_path",
     .types = text,
     .implied = "folder of the scene",
     .doc = "Folder (or a file in it) that relative paths start from."},
    {.pattern = "/gravity",
     .types = list,
     .items = number,
     .length = {2, 3},
     .fallback = "[0, 0, 0]",
     .unit = "m/s^2",
     .doc = "Acceleration with its natural sign; adds to `boundary_conditions/rhs`."},
};

constexpr Key geometry[] = {
    {.pattern = "/geometry",
     .types = one_or_list,
     .items = object,
     .length = {1, 1 << 30},
     .required = true,
     .doc = "Bodies and obstacles. All deformable bodies form one mesh, without welding."},
    {.pattern = "/geometry/*/name",
     .types = text,
     .implied = "`body<k>`, k = place in the list from 0",
     .doc = "Unique name, used in materials, friction pairs, studies, messages and output."},
    {.pattern = "/geometry/*/type",
     .types = text,
     .fallback = "\"mesh\"",
     .choices = "[\"mesh\", \"mesh_array\", \"plane\"]",
     .reason = "mesh sequences and `ground` are not built; write a `plane`",
     .doc =
         "A mesh, copies of it on a lattice (`array`), or an infinite plane obstacle (`point`, `normal`)."},
    {.pattern = "/geometry/*/mesh",
     .types = path,
     .doc = "Mesh file: Gmsh 2.2 or 4.1 (.msh), OBJ (2D triangles, surfaces), MEDIT (.mesh), STL (surfaces). "
            "Surfaces are "
            "obstacles or, where they are closed, filled with `particles`."},
    {.pattern = "/geometry/*/unit",
     .types = text,
     .implied = "that of the scene",
     .doc = "Unit of length of the mesh file, \"mm\" say."},
    {.pattern = "/geometry/*/repair",
     .types = number | boolean,
     .fallback = "false",
     .range = from_to(0, 0.1),
     .doc =
         "Surfaces (obstacles, and what particles fill): mends the file before anything else and reports it, "
         "see "
         "[Repair](#repair-of-surfaces). true: vertices nearer than 1e-6 of the diagonal are one; a number: "
         "nearer than that share of it."},
    {.pattern = "/geometry/*/generator",
     .types = object,
     .doc = "Built-in mesh instead of `mesh`, centred at the origin."},
    {.pattern = "/geometry/*/generator/type",
     .types = text,
     .required = true,
     .choices = "[\"box\", \"rectangle\", \"ball\", \"disk\", \"cylinder\", \"plate\"]",
     .doc = "Shape."},
    {.pattern = "/geometry/*/generator/size",
     .types = list,
     .items = number,
     .length = {2, 3},
     .range = positive,
     .unit = "m",
     .doc = "box: x, y, z; rectangle: x, y; plate: x, y, thickness."},
    {.pattern = "/geometry/*/generator/radius",
     .types = number,
     .range = positive,
     .unit = "m",
     .doc = "ball, disk, cylinder."},
    {.pattern = "/geometry/*/generator/height",
     .types = number,
     .range = positive,
     .unit = "m",
     .doc = "cylinder, along z."},
    {.pattern = "/geometry/*/generator/divisions",
     .types = one_or_list,
     .items = integer,
     .length = {1, 3},
     .required = true,
     .range = from_to(1, 10000),
     .doc = "box, rectangle, plate: cells per axis, or one number for all; ball and disk: cells along the "
            "radius; cylinder: along the radius, along the axis."},
    {.pattern = "/geometry/*/enabled", .types = boolean, .fallback = "true", .doc = "false skips the entry."},
    {.pattern = "/geometry/*/is_obstacle",
     .types = boolean,
     .fallback = "false",
     .doc = "A surface with prescribed motion instead of a deformable body."},
    {.pattern = "/geometry/*/extract",
     .types = text,
     .fallback = "\"volume\"",
     .choices = "[\"volume\", \"surface\", \"edges\", \"points\"]",
     .doc = "Part of an obstacle's mesh that is kept (`volume` means its surface); deformable bodies: only "
            "`volume`."},
    {.pattern = "/geometry/*/point",
     .types = list,
     .items = number,
     .length = {2, 3},
     .unit = "m",
     .doc = "`plane`: a point of it."},
    {.pattern = "/geometry/*/normal",
     .types = list,
     .items = number,
     .length = {2, 3},
     .doc = "`plane`: normal, away from the solid side."},
    {.pattern = "/geometry/*/transformation",
     .types = object,
     .fallback = "{}",
     .doc = "p' = R S p + t: scale, then rotation about the origin of the file, then translation. In 2D "
            "third entries are dropped."},
    {.pattern = "/geometry/*/transformation/translation",
     .types = list,
     .items = number,
     .length = {0, 3},
     .fallback = "[0, 0, 0]",
     .unit = "m",
     .doc = "Applied last; missing entries are 0."},
    {.pattern = "/geometry/*/transformation/scale",
     .types = number | list,
     .items = number,
     .length = {0, 3},
     .fallback = "1",
     .doc = "One factor or one per axis; missing entries of a list are 0, an empty list means 1."},
    {.pattern = "/geometry/*/transformation/dimensions",
     .types = number | list,
     .items = number,
     .length = {0, 3},
     .unit = "m",
     .doc = "Size of the unrotated mesh per axis, instead of `scale`; missing entries are 0. A single number "
            "has no effect (as in PolyFEM)."},
    {.pattern = "/geometry/*/transformation/rotation",
     .types = one_or_list,
     .items = number,
     .length = {0, 4},
     .fallback = "[]",
     .unit = "deg",
     .doc = "2D: one number, counter-clockwise. 3D: as `rotation_mode` says."},
    {.pattern = "/geometry/*/transformation/rotation_mode",
     .types = text,
     .fallback = "\"xyz\"",
     .doc = "Axis letters: rotations about the fixed axes in the order written, entry 0 always being the x "
            "angle; `axis_angle` [angle, ax, ay, az]; `rotation_vector`; `quaternion` [x, y, z, w]. Case "
            "does not matter."},
    {.pattern = "/geometry/*/n_refs",
     .types = integer,
     .fallback = "0",
     .range = from_to(0, 12),
     .doc = "Levels of uniform refinement (obstacles: polylines only)."},
    {.pattern = "/geometry/*/array", .types = object, .doc = "Copies on a lattice, with `type: mesh_array`."},
    {.pattern = "/geometry/*/array/size",
     .types = list,
     .items = integer,
     .length = {2, 3},
     .required = true,
     .range = from_to(1, 100000),
     .doc = "Copies per axis."},
    {.pattern = "/geometry/*/array/offset",
     .types = number,
     .required = true,
     .unit = "m",
     .doc = "Distance between copies."},
    {.pattern = "/geometry/*/array/relative",
     .types = boolean,
     .fallback = "false",
     .doc = "`offset` in units of the extents of the transformed bounding box."},
    {.pattern = "/geometry/*/advanced", .types = object, .fallback = "{}", .doc = ""},
    {.pattern = "/geometry/*/advanced/normalize_mesh",
     .types = boolean,
     .fallback = "false",
     .doc = "Before the transformation, moves and scales the mesh into the unit cube, proportions kept."},
};

#define SELECTION "/geometry/*/{volume_selection,surface_selection,point_selection}"
constexpr Key selection[] = {
    {.pattern = SELECTION,
     .types = integer | path | one_or_list,
     .items = object,
     .doc = "Ids of elements, boundary facets and boundary vertices: one id for all, a file, or a list of "
            "shapes of which the first that matches gives the id. Facets and elements are tested by their "
            "barycentre, in transformed, refined, undeformed coordinates. Without selection: volume ids, and "
            "those "
            "of boundary facets, are the physical tags of a Gmsh file (of an element in several groups the "
            "lowest, "
            "with a warning; see [Physical groups](#physical-groups)), vertices have no id. Facet ids of "
            "deformable bodies "
            "must be positive to carry a boundary condition. An entry that selects nothing is refused where "
            "a condition, a load or a material uses its id and no other entry gives it, and a warning "
            "otherwise. An obstacle takes one integer: its id."},
    {.pattern = SELECTION "/*/id",
     .types = integer,
     .doc = "The id that this entry gives; alone: everywhere."},
    {.pattern = SELECTION "/*/box",
     .types = list,
     .items = list,
     .length = {2, 2},
     .doc = "Axis-aligned box [[min], [max]]."},
    {.pattern = SELECTION "/*/box/*",
     .types = list,
     .items = number,
     .length = {2, 3},
     .unit = "m",
     .doc = "A corner."},
    {.pattern = SELECTION "/*/threshold",
     .types = number,
     .range = non_negative,
     .doc = "Sides of the bounding box get the ids 1 left, 2 bottom, 3 right, 4 top, 5 back, 6 front, 7 "
            "rest, plus `id_offset`."},
    {.pattern = SELECTION "/*/id_offset",
     .types = integer,
     .doc = "With `threshold`: added to the ids. Alone in `volume_selection` or `surface_selection`: added "
            "to the "
            "ids of the file."},
    {.pattern = SELECTION "/*/group",
     .types = integer | text,
     .doc = "Number or name of a physical group of a Gmsh file: its facets or elements."},
    {.pattern = SELECTION "/*/center",
     .types = list,
     .items = number,
     .length = {2, 3},
     .unit = "m",
     .doc = "Sphere (with `radius`)."},
    {.pattern = SELECTION "/*/radius",
     .types = number,
     .range = positive,
     .unit = "m",
     .doc = "Sphere or cylinder."},
    {.pattern = SELECTION "/*/{p1,p2}",
     .types = list,
     .items = number,
     .length = {2, 3},
     .unit = "m",
     .doc = "Ends of a cylinder's axis (with `radius`)."},
    {.pattern = SELECTION "/*/axis",
     .types = integer | text,
     .choices = "[\"x\", \"y\", \"z\", \"+x\", \"+y\", \"+z\", \"-x\", \"-y\", \"-z\", 1, 2, 3, -1, -2, -3]",
     .doc = "Coordinate >= `position` along this axis; with a minus sign <= `position`."},
    {.pattern = SELECTION "/*/position", .types = number, .unit = "m", .doc = "See `axis`."},
    {.pattern = SELECTION "/*/normal",
     .types = list,
     .items = number,
     .length = {2, 3},
     .doc = "Half-space on the side of the normal (with `point`)."},
    {.pattern = SELECTION "/*/point",
     .types = list,
     .items = number,
     .length = {2, 3},
     .unit = "m",
     .doc = "See `normal`."},
    {.pattern = SELECTION "/*/file",
     .types = path,
     .doc = "One id per facet or element, or rows `id v0 v1 ..`."},
    {.pattern = SELECTION "/*/relative",
     .types = boolean,
     .fallback = "false",
     .doc = "Coordinates in units of the bounding box of this geometry, a radius in units of its diagonal."},
    {.pattern = SELECTION "/*/boundary_only",
     .types = boolean,
     .fallback = "true",
     .doc = "false: inner vertices take part in `point_selection`, too; facets are always those of the "
            "boundary."},
};
#undef SELECTION

} // namespace

std::span<const Key> unit_keys() { return units; }

std::vector<KeySection> geometry_sections() {
  static const std::vector<Key> root_and_units = [] {
    std::vector<Key> rows(std::begin(root), std::end(root));
    std::ranges::copy(unit_keys(), std::back_inserter(rows));
    return rows;
  }();
  return {{"root", root_and_units}, {"geometry", geometry}, {"selections", selection}};
}

} // namespace recoil::app
