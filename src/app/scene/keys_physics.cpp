#include "app/scene/shared_keys.hpp"
#include "recoil/app/scene/bound_member.hpp"

namespace recoil::app {
namespace {

constexpr Range poisson_range{-1, 0.5, true, false};

constexpr Key materials[] = {
    {.pattern = "/materials",
     .types = one_or_several,
     .items = object,
     .fallback = "[]",
     .doc = "One object: the material of all elements (its `id` is not looked at). A list: by volume id or "
            "body; the last entry that names an element's body or id wins, and none may name one twice. "
            "Every deformable element needs one."},
    {.pattern = "/materials/*/body",
     .types = one_or_list,
     .items = text,
     .doc = "Body names instead of `id`."},
    {.pattern = "/materials/*/type",
     .types = text,
     .required = true,
     .doc = "Constitutive law, one of those that the solver has."},
    {.pattern = "/materials/*/E",
     .types = expression | element_data,
     .range = positive,
     .unit = "Pa",
     .doc = "Young's modulus, with `nu`. Wins over `lambda`, `mu` when both pairs are given."},
    {.pattern = "/materials/*/nu",
     .types = expression | element_data,
     .range = poisson_range,
     .doc =
         "Poisson's ratio; 0.5 itself in plane stress alone, where the thickness gives way (and of shells)."},
    {.pattern = "/materials/*/rho",
     .types = expression | element_data,
     .fallback = "1",
     .range = positive,
     .unit = "kg/m^3",
     .doc = "Density, also in static scenes (it multiplies body forces)."},
};

constexpr const char* per_component = "one value per space dimension";

// In rows of their own: solvers may have one of the pressures and not the other.
constexpr Key pressure_value(const char* pattern) {
  return {.pattern = pattern,
          .types = expression | list,
          .items = expression,
          .length = {1, 1 << 30},
          .required = true,
          .unit = "Pa",
          .doc = "Positive pulls outwards; a pressure from outside is negative. A list holds values per time "
                 "(see `time_reference`)."};
}
constexpr Key pressure_times(const char* pattern) {
  return {.pattern = pattern,
          .types = list,
          .items = number,
          .length = {1, 1 << 30},
          .unit = "s",
          .doc = "Absolute times of the values in a per-time list; every step must be among them, times "
                 "rounded to 1e-3 s (where they lie closer than 2e-3 s, to a thousandth of their distance)."};
}

constexpr Key boundary[] = {
    {.pattern = "/boundary_conditions",
     .types = object,
     .fallback = "{}",
     .doc = "Values are numbers or formulas of the rest position x, y, z and the time t (statics: t = 1)."},
    {.pattern = "/boundary_conditions/rhs",
     .types = list,
     .items = expression | element_data,
     .length = {2, 3},
     .fallback = "[0, 0, 0]",
     .unit = "m/s^2",
     .reason = per_component,
     .doc = "Acceleration with reversed sign: the force density is -rho*rhs, so [0, 9.81] pulls down. See "
            "`gravity`. A component may be one value per element, as a constant of a material."},
    {.pattern = "/boundary_conditions/dirichlet_boundary",
     .types = one_or_list,
     .items = object | path,
     .fallback = "[]",
     .doc = "Total displacement from rest at the end of the step. A file name: rows of a vertex, by its "
            "number from 0 in the meshes of all bodies one after the other, and its displacement [m] at all "
            "times; components `nan` are free. Single points decide over files, files over facets."},
    {.pattern = "/boundary_conditions/obstacle_displacements",
     .types = one_or_list,
     .items = object,
     .fallback = "[]",
     .doc = "The same for obstacles. One without an entry here moves by the `dirichlet_boundary` with its "
            "id, else it rests. With bonded particles planes move, too, without turning: as their `point`."},
#define PRESCRIBED "/boundary_conditions/{dirichlet_boundary,obstacle_displacements}"
    {.pattern = PRESCRIBED "/*/id",
     .types = integer | text | list,
     .items = integer | text,
     .length = {1, 1 << 30},
     .required = true,
     .doc = "Surface id, list of ids, or \"all\" (every boundary facet with a positive id; must be the only "
            "entry). Of bodies also names of physical groups of a Gmsh file."},
    {.pattern = PRESCRIBED "/*/value",
     .types = list | element_data,
     .items = expression | list,
     .length = {2, 3},
     .required = true,
     .unit = "m",
     .reason = per_component,
     .doc =
         "One value per space dimension; each may be a list of values per time (see `time_reference`). Or, "
         "of bodies, {\"file\": \"f.h5\", \"dataset\": \"/u\"}: an array of doubles with a row of d "
         "components per node of all deformable bodies, in the order of `coordinates` in `mesh.h5` of a "
         "trajectory, of which those of the boundary count; `interpolation` is a factor on them."},
    {.pattern = PRESCRIBED "/*/value/*",
     .types = expression | list,
     .items = expression,
     .unit = "m",
     .doc = "A component."},
    {.pattern = PRESCRIBED "/*/dimension",
     .types = list,
     .items = boolean,
     .length = {2, 3},
     .implied = "all true",
     .reason = per_component,
     .doc = "Which components are prescribed (no effect on obstacles)."},
    {.pattern = PRESCRIBED "/*/time_reference",
     .types = list,
     .items = number,
     .length = {1, 1 << 30},
     .unit = "s",
     .doc = "Absolute times of the values in per-time lists; every step must be among them, times rounded to "
            "1e-3 s (where they lie closer than 2e-3 s, to a thousandth of their distance)."},
#undef PRESCRIBED
#define LOADS                                                                                                \
  "/boundary_conditions/"                                                                                    \
  "{neumann_boundary,normal_aligned_neumann_boundary,rest_pressure_boundary,pressure_boundary}"
    {.pattern = LOADS,
     .types = one_or_list,
     .items = object,
     .fallback = "[]",
     .doc =
         "Loads: traction per rest area, dead; traction per rest area along the normal at the start of the "
         "step; pressure per rest area along the rest normal, dead; follower pressure per deformed area, on "
         "closed surfaces, surfaces with a fixed rim and, in steps, surfaces with a rim that moves, where "
         "the nodes of the rim alone have an error of the first power of `dt`."},
    {.pattern = LOADS "/*/id",
     .types = integer | text | list,
     .items = integer | text,
     .length = {1, 1 << 30},
     .required = true,
     .doc = "Surface id or list of ids, or names of physical groups of a Gmsh file."},
#undef LOADS
    {.pattern = "/boundary_conditions/neumann_boundary/*/value",
     .types = list,
     .items = expression,
     .length = {2, 3},
     .required = true,
     .unit = "Pa",
     .reason = per_component,
     .doc = "Natural sign: a positive component pushes along the axis."},
    {.pattern = "/boundary_conditions/normal_aligned_neumann_boundary/*/value",
     .types = expression,
     .required = true,
     .unit = "Pa",
     .doc = "Positive pulls outwards."},
    pressure_value("/boundary_conditions/rest_pressure_boundary/*/value"),
    pressure_times("/boundary_conditions/rest_pressure_boundary/*/time_reference"),
    pressure_value("/boundary_conditions/pressure_boundary/*/value"),
    pressure_times("/boundary_conditions/pressure_boundary/*/time_reference"),
#define FACTOR                                                                                               \
  "/boundary_conditions/"                                                                                    \
  "{dirichlet_boundary,obstacle_displacements,neumann_boundary,normal_aligned_neumann_boundary,"             \
  "rest_pressure_boundary,pressure_boundary}/*/"                                                             \
  "interpolation"
    {.pattern = FACTOR,
     .types = one_or_list,
     .items = object | text,
     .length = {0, 3},
     .implied = "factor 1",
     .doc = "Factor f(t) on the value: one for all components or one per component. A name alone stands for "
            "an object with this `type`."},
    {.pattern = FACTOR "/*/type",
     .types = text,
     .required = true,
     .choices = "[\"none\", \"linear\", \"linear_ramp\", \"piecewise_constant\", \"piecewise_linear\"]",
     .doc = "1; t; min(max(t-from, 0), to-from); through `points` and `values`."},
    {.pattern = FACTOR "/*/from",
     .types = number,
     .implied = "0",
     .unit = "s",
     .doc = "`linear_ramp`: start."},
    {.pattern = FACTOR "/*/to", .types = number, .unit = "s", .doc = "`linear_ramp`: end."},
    {.pattern = FACTOR "/*/points",
     .types = list,
     .items = number,
     .length = {1, 1 << 30},
     .unit = "s",
     .doc = "Piecewise forms: times, ascending."},
    {.pattern = FACTOR "/*/values",
     .types = list,
     .items = number,
     .length = {1, 1 << 30},
     .doc = "Piecewise forms: factors."},
#undef FACTOR
};

constexpr Key initial[] = {
    {.pattern = "/initial_conditions",
     .types = object,
     .fallback = "{}",
     .doc = "Bodies without entry start at rest."},
    {.pattern = "/initial_conditions/{velocity,solution,acceleration}",
     .types = one_or_list,
     .items = object,
     .fallback = "[]",
     .doc = "Nodal values [m/s], [m], [m/s^2]; formulas of the rest position at t = 0. `solution` acts in "
            "transient scenes only; `acceleration` must be zero. A value {\"file\": \"f.h5\", \"dataset\": "
            "\"/v\"} is an array of doubles with a row of d components per node of all deformable bodies, in "
            "the order of `coordinates` in `mesh.h5` of a trajectory; rows of NaN leave a node as it is. At "
            "nodes of several entries the last one counts. Of bonded particles formulas alone, of their "
            "centres."},
    {.pattern = "/initial_conditions/{velocity,solution,acceleration,angular_velocity}/*/id",
     .types = one_or_list,
     .items = integer | text,
     .doc = "Volume ids, or names of physical groups of a Gmsh file."},
    {.pattern = "/initial_conditions/{velocity,solution,acceleration,angular_velocity}/*/body",
     .types = one_or_list,
     .items = text,
     .doc = "Body names instead of `id`."},
    {.pattern = "/initial_conditions/velocity/*/value",
     .types = list | element_data,
     .items = expression,
     .length = {2, 3},
     .required = true,
     .unit = "m/s",
     .reason = per_component,
     .doc = "Velocity."},
    {.pattern = "/initial_conditions/solution/*/value",
     .types = list | element_data,
     .items = expression,
     .length = {2, 3},
     .required = true,
     .unit = "m",
     .reason = per_component,
     .doc = "Displacement."},
    {.pattern = "/initial_conditions/acceleration/*/value",
     .types = list,
     .items = expression,
     .length = {2, 3},
     .required = true,
     .unit = "m/s^2",
     .reason = per_component,
     .doc = "Must be zero: the first step of ImplicitEuler and BDFk is BDF1, which knows the initial "
            "displacement and velocity only. PolyFEM reads the key for ImplicitNewmark alone, which is not "
            "built."},
    {.pattern = "/initial_conditions/angular_velocity",
     .types = one_or_list,
     .items = object,
     .fallback = "[]",
     .doc = "Rigid spin, added to the velocity."},
    {.pattern = "/initial_conditions/angular_velocity/*/value",
     .types = one_or_list,
     .items = number,
     .length = {1, 3},
     .required = true,
     .unit = "rad/s",
     .doc = "One number in 2D, three in 3D."},
    {.pattern = "/initial_conditions/angular_velocity/*/center",
     .types = list,
     .items = number,
     .length = {2, 3},
     .implied = "centre of mass",
     .unit = "m",
     .doc = "Point at rest."},
};

constexpr Key time[] = {
    {.pattern = "/time",
     .types = object,
     .implied = "static: one solve, t = 1",
     .doc = "Exactly two of `tend`, `dt`, `time_steps`. tend and dt: ceil((tend-t0)/dt) steps; tend and "
            "time_steps: dt = (tend-t0)/time_steps. All three only if they agree to 1e-12."},
    {.pattern = "/time/t0", .member = &bound<&Scene::time, &TimeSpec::t0>, .unit = "s", .doc = "Start."},
    {.pattern = "/time/tend", .types = number, .unit = "s", .doc = "End; the last step may pass it."},
    {.pattern = "/time/dt", .types = number, .range = positive, .unit = "s", .doc = "Time step."},
    {.pattern = "/time/time_steps",
     .types = integer,
     .range = from_to(1, 2147483647),
     .doc = "Number of steps."},
    {.pattern = "/time/quasistatic", .types = boolean, .fallback = "false", .doc = "Drops inertia."},
    {.pattern = "/time/max_retries",
     .member = &bound<&Scene::time, &TimeSpec::max_retries>,
     .range = from_to(0, 20),
     .doc = "A step that fails is repeated as 2, 4, .. equal sub-steps of BDF1, this many times before "
            "giving up. Statics: as 2, 4, .. load steps, up to 6 times."},
};

} // namespace

std::vector<KeySection> physics_sections() {
  return {{"materials", materials},
          {"boundary_conditions", boundary},
          {"initial_conditions", initial},
          {"time", time}};
}

} // namespace recoil::app
