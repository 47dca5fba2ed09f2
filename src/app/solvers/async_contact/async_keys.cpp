#include "app/solvers/async_contact/build_async.hpp"
#include "recoil/app/scene/bound_member.hpp"
#include "recoil/app/solvers/async_contact/async_scene.hpp"
#include "recoil/potentials/laws/law.hpp"

namespace recoil::app {
namespace {

constexpr Range share_of_step{0, 0.5, true, false};

constexpr Key asynchronous[] = {
    {.pattern = "/solver/asynchronous", .types = object, .fallback = "{}", .doc = ""},
    {.pattern = "/solver/asynchronous/certificates",
     .member = &bound<&AsyncScene::solver, &AsyncSpec::certificates>,
     .doc =
         "How it is known that contact need not be integrated yet: slabs between primitives under bounds of "
         "the velocities (`windows`), or under the velocities themselves (`slabs`, the reference). Both give "
         "the same motion, bit for bit; `windows` is faster."},
    {.pattern = "/solver/asynchronous/element_share",
     .member = &bound<&AsyncScene::solver, &AsyncSpec::element_share>,
     .range = share_of_step,
     .doc =
         "Step of each triangle, hinge and spring as a share of the greatest stable one. Steps are fixed for "
         "the run."},
    {.pattern = "/solver/asynchronous/layer_share",
     .member = &bound<&AsyncScene::solver, &AsyncSpec::layer_share>,
     .range = share_of_step,
     .doc =
         "The same for layers of contact. The energy of impacts wanders by about this share: 0.01 keeps it "
         "within half a percent."},
    {.pattern = "/solver/asynchronous/gravity_step",
     .member = &bound<&AsyncScene::solver, &AsyncSpec::gravity_step>,
     .range = positive,
     .unit = "s",
     .doc = "Step of gravity and of all other loads."},
    {.pattern = "/solver/asynchronous/motion_step",
     .member = &bound<&AsyncScene::solver, &AsyncSpec::motion_step>,
     .implied = "`time/dt`",
     .range = positive,
     .unit = "s",
     .doc = "Prescribed vertices and obstacles move in straight lines between multiples of it."},
    {.pattern = "/solver/asynchronous/max_layers",
     .member = &bound<&AsyncScene::solver, &AsyncSpec::max_layers>,
     .range = from_to(1, 16383),
     .doc = "Contact that needs more layers ends the run: bodies are pressed together without a way out."},
    {.pattern = "/solver/asynchronous/max_stretch",
     .member = &bound<&AsyncScene::solver, &AsyncSpec::max_stretch>,
     .range = {1, 100, true, false},
     .doc =
         "A triangle that is stretched beyond this factor ends the run: its step is not stable far beyond."},
    {.pattern = "/solver/asynchronous/staggered",
     .member = &bound<&AsyncScene::solver, &AsyncSpec::staggered>,
     .doc =
         "Whether the clocks of forces begin at times drawn from their numbers, so that equal elements are "
         "not integrated in one burst."},
    {.pattern = "/solver/asynchronous/aligned",
     .member = &bound<&AsyncScene::solver, &AsyncSpec::aligned>,
     .doc = "Layers keep to the multiples of their step. False lets them begin when they become active, an "
            "experiment in which energy drifts."},
    {.pattern = "/geometry/*/spheres",
     .types = object,
     .doc = "Asynchronous contact: a body of spheres in place of a shell; the entry has no `mesh` then. Its "
            "`transformation` applies to the centres and, as one factor, to the radii. Discs of a plane are "
            "spheres whose centres, velocities and gravity lie in it."},
    {.pattern = "/geometry/*/spheres/file",
     .types = path,
     .doc = "CSV file of the spheres (`x`, `y`, `z`, `radius`)."},
    {.pattern = "/geometry/*/spheres/centers",
     .types = list,
     .items = list,
     .length = {1, 1 << 30},
     .doc = "Centres of the spheres, in place of `file`."},
    {.pattern = "/geometry/*/spheres/centers/*",
     .types = list,
     .items = number,
     .length = {3, 3},
     .unit = "m",
     .doc = "A centre."},
    {.pattern = "/geometry/*/spheres/radius",
     .types = number,
     .range = positive,
     .unit = "m",
     .doc = "Radius of spheres given by `centers`, or of those of a file without radii."},
    {.pattern = "/geometry/*/spheres/springs",
     .types = list,
     .items = list,
     .implied = "none",
     .doc = "Pairs [i, j] of spheres of the body, counted from 0, with a spring between their centres that "
            "is at "
            "rest at their distance."},
    {.pattern = "/geometry/*/spheres/springs/*",
     .types = list,
     .items = integer,
     .length = {2, 2},
     .range = non_negative,
     .doc = "A pair."},
    {.pattern = "/materials/*/thickness",
     .types = number,
     .range = positive,
     .unit = "m",
     .doc = "`Shell`: h. With `E` and `nu` stretching has the stiffness E h and bending E h^3 / (72 (1 - "
            "nu^2)); "
            "`rho` h is the mass of an area."},
    {.pattern = "/materials/*/stretching_stiffness",
     .types = number,
     .range = non_negative,
     .unit = "N/m",
     .doc = "`Shell`, in place of `E`: Young's modulus times thickness."},
    {.pattern = "/materials/*/bending_stiffness",
     .types = number,
     .range = non_negative,
     .unit = "J",
     .doc = "`Shell`, in place of `E`: k of the energy 3 k |e|^2/(A1 + A2) (theta - theta0)^2 of an edge "
            "between two "
            "triangles, a sixth of the flexural rigidity of the plate."},
    {.pattern = "/materials/*/area_density",
     .types = number,
     .range = positive,
     .unit = "kg/m^2",
     .doc = "`Shell`, in place of `rho` and `thickness`: mass of an area."},
    {.pattern = "/materials/*/stretch_damping",
     .types = number,
     .implied = "`0`",
     .range = non_negative,
     .unit = "N s/m",
     .doc = "`Shell`: as `stretching_stiffness`, of a force that rates of strain cause."},
    {.pattern = "/materials/*/bend_damping",
     .types = number,
     .implied = "`0`",
     .range = non_negative,
     .unit = "J s",
     .doc = "`Shell`: as `bending_stiffness`, of a moment that rates of the angle cause."},
    {.pattern = "/materials/*/yield_angle",
     .types = number,
     .implied = "none: elastic",
     .range = positive,
     .unit = "rad",
     .doc = "`Shell`: edges that are bent beyond this angle from their angle at rest keep what exceeds it."},
    {.pattern = "/materials/*/mass",
     .types = number,
     .range = positive,
     .unit = "kg",
     .doc = "`Spheres`: of each of them, in place of `rho`."},
    {.pattern = "/materials/*/spring_stiffness",
     .types = number,
     .range = positive,
     .unit = "N/m",
     .doc = "`Spheres`: of the `springs` of the body."},
    {.pattern = "/materials/*/spring_damping",
     .types = number,
     .implied = "`0`",
     .range = non_negative,
     .unit = "N s/m",
     .doc = "`Spheres`: force of a spring per rate of its length."},
    {.pattern = "/contact/layer_stiffness",
     .member = &bound<&AsyncScene::solver, &AsyncSpec::layer_stiffness>,
     .range = positive,
     .unit = "N/m",
     .doc =
         "k of the layers l = 1, 2, .. of contact with the energies l^3 k (`dhat`/l - gap)^2 below the gap "
         "`dhat`/l. Together they stop any impact before the gap is zero; a larger k stops it at a larger "
         "gap, "
         "in shorter steps."},
    {.pattern = "/contact/restitution",
     .member = &bound<&AsyncScene::solver, &AsyncSpec::restitution>,
     .range = from_to(0, 1),
     .doc =
         "Share e of the normal velocity that an impact of two bodies leaves: layers push back with e^2 of "
         "their force. 1 keeps the energy."},
    {.pattern = "/contact/anchor_stiffness",
     .member = &bound<&AsyncScene::solver, &AsyncSpec::anchor_stiffness>,
     .range = non_negative,
     .unit = "N/m",
     .doc = "Of a spring along each contact, which sticks below Coulomb's bound and slides at it. 0: "
            "friction is "
            "an impulse against the sliding at each impulse of a layer, which creeps where it should stick."},
};

constexpr const char* steps_are_fixed = "leave it out: clocks of forces have steps of their own";

constexpr AbsentKey absent[] = {
    {"/conventions", "leave it out: there are no others of asynchronous contact"},
    {"/space", "leave it out: shells and solids are of linear elements"},
    {"/space/discr_order",
     "leave it out: shells and solids are of linear elements; a finer mesh is more accurate"},
    {"/geometry/*/n_refs", "leave it out: meshes are not refined; take a finer mesh"},
    {"/geometry/*/{volume_selection,surface_selection,point_selection}/*/boundary_only",
     "leave it out: all vertices take part"},
    {"/materials/*/id", "take `body`"},
    {"/materials/*/{phi,psi}",
     "write `stretch_damping` and `bend_damping` of a Shell; solids have no damping of their own"},
    {"/materials/*/plane", "leave it out: bodies live in 3D"},
    {"/boundary_conditions/{normal_aligned_neumann_boundary,rest_pressure_boundary}",
     "write `pressure_boundary`, which is of the deformed area, or a `neumann_boundary`"},
    {"/initial_conditions/{velocity,solution,acceleration,angular_velocity}/*/id",
     "write `body`: bodies have no volume ids"},
    {"/time/quasistatic",
     "leave it out: steps of asynchronous contact are explicit; damp a motion to let it rest"},
    {"/time/max_retries", steps_are_fixed},
    {"/time/integrator", steps_are_fixed},
    {"/contact/dhat_relative", "write `dhat`, the thickness of the shell, say"},
    {"/contact/friction_pairs",
     "write `friction_coefficient`: asynchronous contact has one coefficient for all pairs"},
    {"/contact/epsv", "leave it out: friction is not smoothed; `anchor_stiffness` lets contacts stick"},
    {"/contact/{use_convergent_formulation,use_area_weighting,use_improved_max_operator,use_physical_barrier,"
     "use_gcp_formulation,alpha_t,beta_t,alpha_n,beta_n,adhesion,periodic}",
     "leave it out: it is of surfaces of finite elements"},
    {"/solver/nonlinear", "leave it out: nothing is iterated"},
    {"/solver/advanced", "leave it out: nothing is iterated"},
    {"/solver/advanced/lump_mass_matrix", "leave it out: masses are lumped"},
    {"/solver/contact",
     "leave it out: its contact has `layer_stiffness`, `restitution` and `anchor_stiffness`"},
    {"/solver/contact/barrier_stiffness", "write `contact/layer_stiffness`"},
    {"/solver/contact/friction_iterations",
     "leave it out: friction is an impulse or an anchor, nothing is iterated"},
    {"/output/fields", "leave it out: trajectories hold positions and velocities"},
    {"/tests", "leave it out: norms are of finite elements"},
};

constexpr OptionKey options[] = {
    {"element_share", "/solver/asynchronous/element_share"},
    {"gravity_step", "/solver/asynchronous/gravity_step"},
    {"layer_share", "/solver/asynchronous/layer_share"},
    {"layer_stiffness", "/contact/layer_stiffness"},
    {"max_layers", "/solver/asynchronous/max_layers"},
    {"max_stretch", "/solver/asynchronous/max_stretch"},
};

} // namespace

std::vector<KeySection> async_keys() { return {{"asynchronous", asynchronous}}; }

std::span<const AbsentKey> absent_from_async() { return absent; }

std::vector<std::string> keys_of_solids() {
  std::vector<std::string> keys;
  for (const potentials::LawInfo& law : potentials::laws())
    for (const potentials::LawConstant& constant : law.constants)
      keys.push_back(std::string("/materials/*/") + constant.name);
  return keys;
}

std::span<const OptionKey> async_options() { return options; }

} // namespace recoil::app
