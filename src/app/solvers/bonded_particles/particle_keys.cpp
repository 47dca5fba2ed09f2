#include "app/solvers/bonded_particles/build_particles.hpp"
#include "recoil/app/scene/bound_member.hpp"
#include "recoil/app/solvers/bonded_particles/particle_scene.hpp"
#include "recoil/potentials/laws/law.hpp"

namespace recoil::app {
namespace {

constexpr Key particles[] = {
    {.pattern = "/solver/bonded_particles", .types = object, .fallback = "{}", .doc = ""},
    {.pattern = "/solver/bonded_particles/integrator",
     .member = &bound<&BondedScene::solver, &ParticleSolverSpec::integrator>,
     .doc =
         "Of dynamic scenes. `be_reflect`: backward Euler, first order, damps; `mid_reflectT`: second order; "
         "`del_exact`: the discrete Euler-Lagrange equations, second order, keeps energy and momenta, and "
         "solves nonsymmetric systems; `paper_literal`: backward Euler with the paper's predictor, which "
         "slows "
         "spins down, for comparisons; `leapfrog`: explicit, in sub-steps, second order, keeps energy and "
         "momenta."},
    {.pattern = "/solver/bonded_particles/tolerance",
     .member = &bound<&BondedScene::solver, &ParticleSolverSpec::tolerance>,
     .range = positive,
     .doc = "Newton's method ends when no particle moves by more than this share of the smallest radius."},
    {.pattern = "/solver/bonded_particles/max_iterations",
     .member = &bound<&BondedScene::solver, &ParticleSolverSpec::max_iterations>,
     .range = from_to(1, 2147483647),
     .doc =
         "Newton iterations of one solve before it counts as failed; the step is then repeated as two, four, "
         ".. shorter ones."},
    {.pattern = "/solver/bonded_particles/cascade_share",
     .member = &bound<&BondedScene::solver, &ParticleSolverSpec::cascade_share>,
     .range = {0, 1, true, false},
     .doc = "Of implicit steps. Bonds break together where stress over strength is at least 1 and at least "
            "this share of that of the worst bond; then the others take over what these bore, until none is "
            "overstressed."},
    {.pattern = "/solver/bonded_particles/cascade_iterations",
     .member = &bound<&BondedScene::solver, &ParticleSolverSpec::cascade_iterations>,
     .range = from_to(0, 2147483647),
     .doc = "Of implicit steps: Newton iterations between such a group of bonds and the next one; 0: until "
            "they converge. A step ends converged, with no bond overstressed, in any case."},
    {.pattern = "/solver/bonded_particles/contact_law",
     .member = &bound<&BondedScene::solver, &ParticleSolverSpec::contact_law>,
     .implied = "`\"barrier\"`, of `leapfrog` `\"penalty\"`",
     .doc =
         "Energy of a pair that is closer than `dhat`, with the stiffness of the barrier: the logarithmic "
         "barrier, which lets no pair overlap, or (dhat - gap)^2 / 2; or `\"hertz\"`, spheres that press on "
         "each other with 4/3 E* sqrt(R*) (dhat - gap)^1.5, E* from `E` and `nu` of the materials. Each goes "
         "with any integrator."},
    {.pattern = "/solver/bonded_particles/tangential_law",
     .member = &bound<&BondedScene::solver, &ParticleSolverSpec::tangential_law>,
     .doc = "With contact and friction. `\"coulomb\"`: friction alone, which implicit steps smooth below "
            "`contact/epsv`. `\"mindlin\"`, with `\"contact_law\": \"hertz\"`: a spring along each contact, "
            "8 G* sqrt(R* (dhat - gap)) times the slip since the two touched, which yields where friction "
            "does and keeps its stretch between steps (docs/bonded_particles.md, Mindlin's springs). Goes "
            "with any integrator, and with cells that repeat; not with gradients."},
    {.pattern = "/solver/bonded_particles/restitution",
     .member = &bound<&BondedScene::solver, &ParticleSolverSpec::restitution>,
     .range = {0, 1, true, false},
     .doc = "With contact: speed at which two particles, or one and an obstacle, part after a collision over "
            "that at which they meet, whatever speed, masses and law of contact are. `be_reflect` and "
            "`mid_reflectT` have leapfrog take the steps in which particles collide, so that it does not "
            "depend on the time step either, but with `sudden_breaking` `\"shorter_steps\"` "
            "(docs/bonded_particles.md, Restitution). 1: contact is elastic."},
    {.pattern = "/solver/bonded_particles/damage_width",
     .member = &bound<&BondedScene::solver, &ParticleSolverSpec::damage_width>,
     .range = from_to(0, 1),
     .doc = "Above 0 bonds soften in place of breaking at once: at the end of a step, over a range of stress "
            "over strength of about this width around 1 (docs/bonded_particles.md). Not with `leapfrog`."},
    {.pattern = "/solver/bonded_particles/max_broken_share",
     .member = &bound<&BondedScene::solver, &ParticleSolverSpec::max_broken_share>,
     .range = {0, 1, true, false},
     .doc = "A step is repeated as two, four, .. shorter ones where more than this share of all bonds "
            "breaks at once, before the step is solved again; after `time/max_retries` repetitions it is "
            "taken as it is. 1: never."},
    {.pattern = "/solver/bonded_particles/sudden_breaking",
     .member = &bound<&BondedScene::solver, &ParticleSolverSpec::sudden_breaking>,
     .doc =
         "What takes a step in which bonds break suddenly. `\"shorter_steps\"`: as `max_broken_share` says. "
         "`\"leapfrog\"`: where more than `max_broken_share` of all bonds breaks at once, leapfrog with the "
         "same law of contact, until a step breaks no more than that and an implicit one would lose next to "
         "no energy. `\"impacts\"`: of `be_reflect` and `mid_reflectT` with contact, brittle bonds and steps "
         "of at most 50 critical ones, of bonds without their damping, leapfrog where any bond breaks in a "
         "step that begins with more kinetic than elastic energy; else as `\"shorter_steps\"` "
         "(docs/bonded_particles.md, Impacts)."},
    {.pattern = "/solver/bonded_particles/explicit_share",
     .member = &bound<&BondedScene::solver, &ParticleSolverSpec::explicit_share>,
     .range = {0, 1, true, false},
     .doc = "Sub-steps of `leapfrog` are at most this share of the critical time step, 2 / sqrt(17.9 k_n / "
            "m) of the stiffest bond or, if less, 0.17 of the time that the lightest spheres touch when they "
            "hit each other; bonds break at the end of sub-steps."},
    {.pattern = "/solver/bonded_particles/rolling_friction",
     .member = &bound<&BondedScene::solver, &ParticleSolverSpec::rolling_friction>,
     .range = non_negative,
     .doc =
         "With contact: the largest moment of two spheres that roll on each other, or of one on an obstacle, "
         "over the normal force and their (mean) radius. Spin about the normal of a contact meets none. "
         "Implicit steps smooth it as friction: below `contact/epsv`."},
    {.pattern = "/solver/bonded_particles/max_imbalance",
     .member = &bound<&BondedScene::solver, &ParticleSolverSpec::max_imbalance>,
     .range = at_least(1),
     .doc = "Where breaking and contact make the work of a rank exceed the mean by this factor, `recoil "
            "simulate` deals the particles out again. Never with a number as large as that of the ranks."},
    {.pattern = "/geometry/*/particles",
     .types = object,
     .doc = "Fills the body with particles, or reads these from a file; every body of a scene of bonded "
            "particles needs it. Of a mesh of tetrahedra the surface counts alone; STL, OBJ and .msh files "
            "may hold "
            "a closed surface of triangles."},
    {.pattern = "/geometry/*/particles/file",
     .types = path,
     .doc = "The particles of the body in place of a packing: CSV (`x`, `y`, `z`, `radius`, `volume`), "
            "LAMMPS data file (.lmp, .data, .lammps) or legacy VTK file. The entry has no `mesh` then; its "
            "`transformation` applies to the particles. All in the file are one body."},
    {.pattern = "/geometry/*/particles/bonds",
     .types = path,
     .implied = "those of `file`, else by distance",
     .doc =
         "Bonds of a CSV `file`: CSV file of rows `i,j`, particles counting from 0. Columns `E` [Pa] and "
         "`nu` give bonds moduli of their own in place of those of the material, `tensile_strength` and "
         "`shear_strength` [Pa] strengths, to which no Weibull factor and no `strength_radius` is applied."},
    {.pattern = "/geometry/*/particles/packing",
     .types = text,
     .implied = "`\"hcp\"`",
     .choices = "[\"hcp\", \"fcc\", \"random\", \"deposited\"]",
     .doc =
         "The densest lattices, in the middle of the box around the body, random close packing, or spheres "
         "that rain into the body and settle under gravity (docs/bonded_particles.md)."},
    {.pattern = "/geometry/*/particles/radius",
     .types = one_or_list,
     .items = number,
     .length = {1, 2},
     .range = positive,
     .unit = "m",
     .doc = "Of the particles of a packing, which needs it; `random`, `deposited`: one, or the smallest and "
            "the largest "
            "of a uniform distribution. With `file`: of particles that have none there, before the "
            "transformation."},
    {.pattern = "/geometry/*/particles/distribution",
     .types = object,
     .implied = "uniform between both radii",
     .doc = "How the radii of a random or a deposited packing are distributed."},
    {.pattern = "/geometry/*/particles/distribution/type",
     .types = text,
     .required = true,
     .choices = "[\"uniform\", \"normal\", \"log_normal\", \"sieves\"]",
     .doc =
         "`normal`, `log_normal`: of the number of particles, with `mean` and `sd`, between the two values "
         "of `radius`. `sieves`: by mass, with `openings` and `passing`, in place of `radius`."},
    {.pattern = "/geometry/*/particles/distribution/{mean,sd}",
     .types = number,
     .implied = "none",
     .range = positive,
     .unit = "m",
     .doc = "Mean and standard deviation of the radii, before those beyond `radius` are drawn again."},
    {.pattern = "/geometry/*/particles/distribution/openings",
     .types = list,
     .items = number,
     .length = {2, 1 << 20},
     .implied = "none",
     .range = positive,
     .unit = "m",
     .doc = "Of sieves, ascending: diameters of the spheres that just pass."},
    {.pattern = "/geometry/*/particles/distribution/passing",
     .types = list,
     .items = number,
     .length = {2, 1 << 20},
     .implied = "none",
     .range = from_to(0, 1),
     .doc = "Share of the mass that passes each sieve, from 0 to 1; between two sieves diameters are uniform "
            "by mass."},
    {.pattern = "/geometry/*/particles/porosity",
     .types = number,
     .implied = "as dense as they get",
     .range = {0, 1, true, true},
     .doc =
         "Of random and deposited packings: 1 - (volume of the spheres)/(volume of the body), exactly, by a "
         "common factor near 1 on all radii. Denser ones than jam, and deposited ones that are looser than "
         "friction leaves them, are refused."},
    {.pattern = "/geometry/*/particles/friction",
     .types = number,
     .implied = "`0.5`",
     .range = non_negative,
     .doc =
         "Coefficient of friction between the spheres of a deposited packing while they settle; walls have "
         "none. With a `porosity` that of the beginning, which falls until they have it."},
    {.pattern = "/geometry/*/particles/down",
     .types = list,
     .items = number,
     .length = {3, 3},
     .implied = "direction of `gravity`, else `[0, 0, -1]`",
     .doc = "In which the spheres of a deposited packing settle; its length does not matter."},
    {.pattern = "/output/contacts",
     .member = &bound<&BondedScene::solver, &ParticleSolverSpec::writes_contacts>,
     .doc = "Bonded particles with contact: `contacts.csv` has the pairs that press on each other in every "
            "stored step, trajectories the field `coordination`."},
    {.pattern = "/boundary_conditions/servo_planes",
     .types = one_or_list,
     .items = object,
     .fallback = "[]",
     .doc = "Planes that move along their normals so that they press on particles with a force, as a platen "
            "under load control does."},
    {.pattern = "/boundary_conditions/servo_planes/*/id",
     .types = integer,
     .required = true,
     .doc = "Of a plane by its `surface_selection`, which no other entry moves."},
    {.pattern = "/boundary_conditions/servo_planes/*/force",
     .types = expression,
     .required = true,
     .unit = "N",
     .doc = "With which it presses along its normal, above 0; formula of t, taken at the end of each step."},
    {.pattern = "/boundary_conditions/servo_planes/*/max_speed",
     .types = number,
     .required = true,
     .range = positive,
     .unit = "m/s",
     .doc = "With which it goes where not enough is in its way; of `quasistatic` steps the way in one over "
            "`dt`. It gives way as fast as it is pushed."},
    {.pattern = "/geometry/*/particles/rotation",
     .types = list,
     .items = number,
     .length = {3, 3},
     .implied = "`[0, 0, 0]`",
     .doc =
         "Rotation vector [degrees] from the axes of the lattice (layers along z, rows along x) to those of "
         "the scene."},
    {.pattern = "/geometry/*/particles/inside",
     .types = text,
     .implied = "`\"sphere\"`",
     .choices = "[\"sphere\", \"centre\"]",
     .doc = "Lattices: what has to lie inside of the surface."},
    {.pattern = "/geometry/*/particles/seed",
     .types = integer,
     .implied = "`0`",
     .range = non_negative,
     .doc = "Of random and deposited packings; refused with others."},
    {.pattern = "/geometry/*/particles/bond_tolerance",
     .types = number,
     .implied = "`1e-6`",
     .range = non_negative,
     .doc =
         "Particles are bonded where the gap between them is at most this share of the sum of their radii; "
         "not with bonds from a file."},
    {.pattern = "/geometry/*/particles/bonded",
     .types = boolean,
     .implied = "`true`",
     .doc = "`false`: loose grains, which contact alone keeps apart; bonds of a `file` are not read."},
    {.pattern = "/materials/*/moduli",
     .types = text,
     .implied = "`\"bonds\"`",
     .choices = "[\"bonds\", \"macro\"]",
     .doc = "`BondedParticles`: whose `E` is given, that of the bonds, or, `macro`, that of the body along "
            "the x axis of its lattice, from which that of the bonds follows. `nu` is that of the bonds."},
    {.pattern = "/materials/*/tensile_strength",
     .types = number,
     .implied = "none",
     .range = positive,
     .unit = "Pa",
     .doc = "`BondedParticles`: bonds break in tension and bending where N/S + M r/I exceeds it."},
    {.pattern = "/materials/*/shear_strength",
     .types = number,
     .implied = "none",
     .range = positive,
     .unit = "Pa",
     .doc = "`BondedParticles`: bonds break in shear and torsion where F/S + M r/J exceeds it."},
    {.pattern = "/materials/*/weibull_modulus",
     .types = number,
     .implied = "none",
     .range = at_least(1),
     .doc = "`BondedParticles`: both strengths of each bond are the given ones times a random factor of a "
            "Weibull distribution of this modulus and scale 1."},
    {.pattern = "/materials/*/strength_seed",
     .types = integer,
     .implied = "`0`",
     .range = non_negative,
     .doc = "`BondedParticles`: of these factors."},
    {.pattern = "/materials/*/strength_radius",
     .types = number,
     .implied = "none",
     .range = positive,
     .unit = "m",
     .doc = "`BondedParticles`: both strengths are those of bonds with this radius; a bond of radius r has "
            "them times sqrt(`strength_radius`/r), so that toughness does not depend on the size of the "
            "particles. Without it all bonds have the strengths that are given."},
    {.pattern = "/materials/*/friction_angle",
     .types = number,
     .fallback = "0",
     .range = {0, 90, false, true},
     .doc = "`BondedParticles`: adds the tangent of this angle [degrees] times the compressive stress to "
            "`shear_strength`."},
    {.pattern = "/materials/*/strength_terms",
     .types = text,
     .fallback = "\"sum\"",
     .choices = "[\"sum\", \"separate\"]",
     .doc = "`BondedParticles`: the sums above, or each of their terms alone against the strength."},
    {.pattern = "/materials/*/section",
     .types = number,
     .fallback = "1",
     .range = positive,
     .doc = "`BondedParticles`: radius of the round section of bonds over the mean radius of their ends."},
    {.pattern = "/materials/*/damping_time",
     .types = number,
     .fallback = "0",
     .range = non_negative,
     .unit = "s",
     .doc = "`BondedParticles`: bonds resist the rates of their stretch, shear, bending and twist with this "
            "time times their stiffness against these; modes of the circular frequency w have "
            "w `damping_time`/2 of their critical damping, and rigid motions none. 0: bonds are elastic "
            "(docs/bonded_particles.md, Damping of bonds). Not with `del_exact`."},
    {.pattern = "/materials/*/stress_corrosion",
     .types = object,
     .implied = "none",
     .doc = "`BondedParticles`: the radius of a bond falls under tension, with the rate `rate` "
            "exp(`exponent` sigma/`tensile_strength`), until it breaks (docs/bonded_particles.md, Strength "
            "that falls with time). Not with `damage_width`."},
    {.pattern = "/materials/*/stress_corrosion/rate",
     .types = number,
     .implied = "none",
     .range = positive,
     .unit = "m/s",
     .doc = "Of the radius, extrapolated to no stress."},
    {.pattern = "/materials/*/stress_corrosion/exponent",
     .types = number,
     .implied = "none",
     .range = from_to(0, 1000),
     .doc = "By which its logarithm grows from no stress to the strength."},
    {.pattern = "/materials/*/stress_corrosion/threshold",
     .types = number,
     .implied = "`0`",
     .range = {0, 1, false, true},
     .doc = "Stress over strength up to which nothing happens."},
    {.pattern = "/materials/*/shear_correction",
     .types = number,
     .implied = "`1`",
     .range = positive,
     .doc = "`BondedParticles`: kappa of Timoshenko's beams, in the stiffness kappa G S/l of bonds against "
            "shear; round sections have 6/7 to 0.9."},
    {.pattern = "/materials/*/shear_energy",
     .types = text,
     .implied = "`\"smooth\"`",
     .choices = "[\"smooth\", \"angle\"]",
     .doc =
         "`BondedParticles`: kappa G S l (1 - cos theta) or, `angle`, kappa G S l theta^2/2, with the angle "
         "theta by which a bond is sheared."},
    {.pattern = "/materials/*/bend_twist",
     .types = text,
     .implied = "`\"full\"`",
     .choices = "[\"full\", \"paper_half_angle\"]",
     .doc =
         "`BondedParticles`: from which angle bonds are bent and twisted. `paper_half_angle` takes half of "
         "it, as the paper does, and makes bonds four times as soft and moments of stresses half as large; "
         "for comparisons with the paper."},
    {.pattern = "/boundary_conditions/dirichlet_boundary/*/rotation",
     .types = list | text,
     .items = expression,
     .length = {3, 3},
     .fallback = "[0, 0, 0]",
     .unit = "rad",
     .reason = "\"free\" is the only text allowed",
     .doc = "Bonded particles: rotation vector of the particles, formulas of t, or \"free\"."},
#define TURN_FACTOR "/boundary_conditions/dirichlet_boundary/*/rotation_interpolation"
    {.pattern = TURN_FACTOR,
     .types = one_or_list,
     .items = object | text,
     .length = {0, 3},
     .implied = "factor 1",
     .doc = "Bonded particles: factor f(t) on `rotation`, as `interpolation` is on `value`."},
    {.pattern = TURN_FACTOR "/*/type",
     .types = text,
     .required = true,
     .choices = "[\"none\", \"linear\", \"linear_ramp\", \"piecewise_constant\", \"piecewise_linear\"]",
     .doc = "As of `interpolation`, the next four likewise."},
    {.pattern = TURN_FACTOR "/*/{from,to}", .types = number, .unit = "s", .doc = "`linear_ramp`."},
    {.pattern = TURN_FACTOR "/*/points",
     .types = list,
     .items = number,
     .length = {1, 1 << 30},
     .unit = "s",
     .doc = "Piecewise forms: times."},
    {.pattern = TURN_FACTOR "/*/values",
     .types = list,
     .items = number,
     .length = {1, 1 << 30},
     .doc = "Piecewise forms: factors."},
#undef TURN_FACTOR
    {.pattern = "/boundary_conditions/particle_forces",
     .types = one_or_list,
     .items = object,
     .fallback = "[]",
     .doc = "Forces on bonded particles."},
    {.pattern = "/boundary_conditions/particle_forces/*/id",
     .types = one_or_list,
     .items = integer,
     .required = true,
     .doc = "Ids by `point_selection`."},
    {.pattern = "/boundary_conditions/particle_forces/*/value",
     .types = list,
     .items = expression,
     .length = {3, 3},
     .required = true,
     .unit = "N",
     .doc = "Sum over the particles with these ids, which share it equally; formulas of t."},
};

constexpr const char* newton = "write `tolerance` and `max_iterations` of solver/bonded_particles";
constexpr const char* by_forces = "write `particle_forces` on ids of `point_selection`";

constexpr AbsentKey absent[] = {
    {"/conventions", "leave it out: there are no others of bonded particles"},
    {"/space", "leave it out: nothing is integrated over elements"},
    {"/space/discr_order", "leave it out: particles have no basis functions; smaller ones are finer"},
    {"/geometry/*/n_refs",
     "leave it out: particles are not refined; take a smaller `radius`, or a file of smaller ones"},
    {"/geometry/*/{volume_selection,surface_selection,point_selection}/*/boundary_only",
     "leave it out: all particles of a body take part"},
    {"/materials/*/{id,lambda,mu}", "take `body`, `E`, `nu`, `rho`"},
    {"/materials/*/{phi,psi}", "leave it out: the damping of bonds is `damping_time`"},
    {"/materials/*/plane", "leave it out: bonded particles live in 3D"},
    {"/boundary_conditions/{neumann_boundary,normal_aligned_neumann_boundary,rest_pressure_boundary,"
     "pressure_boundary}",
     by_forces},
    {"/boundary_conditions/rhs", "write `gravity`"},
    {"/boundary_conditions/periodic_boundary/tolerance",
     "leave it out: it is of nodes of meshes, and particles have no partners across the cell"},
    {"/initial_conditions/{velocity,solution,acceleration,angular_velocity}/*/id",
     "write `body`: particles have no volume ids"},
    {"/time/integrator", "write \"solver\": {\"bonded_particles\": {\"integrator\": ..}}"},
    {"/contact/dhat_relative", "write `dhat`, a tenth of a radius, say"},
    {"/contact/{use_convergent_formulation,use_area_weighting,use_improved_max_operator,use_physical_barrier,"
     "use_gcp_formulation,alpha_t,beta_t,alpha_n,beta_n,adhesion,periodic}",
     "leave it out: it is of surfaces of finite elements"},
    {"/solver/nonlinear", newton},
    {"/solver/advanced", newton},
    {"/solver/advanced/lump_mass_matrix", "leave it out: masses are of particles"},
    {"/solver/advanced/lagged_regularization_weight", "leave it out"},
    {"/solver/advanced/lagged_regularization_iterations", "leave it out"},
    {"/solver/contact/initial_barrier_stiffness", "leave it out: the stiffness of particles does not adapt"},
    {"/solver/contact/friction_convergence_tol",
     "write solver/bonded_particles/tolerance: with friction_iterations -1 a step is solved again until no "
     "particle moves by more"},
    {"/output/fields", "leave it out: their trajectories hold orientations, stresses and breaks anyway"},
    {"/tests", "leave it out: norms of particles are not computed"},
};

constexpr OptionKey options[] = {
    {"cascade_share", "/solver/bonded_particles/cascade_share"},
    {"damage_width", "/solver/bonded_particles/damage_width"},
    {"explicit_share", "/solver/bonded_particles/explicit_share"},
    {"integrator", "/solver/bonded_particles/integrator"},
    {"max_broken_share", "/solver/bonded_particles/max_broken_share"},
    {"stress_corrosion", "/materials/*/stress_corrosion"},
    {"sudden_breaking", "/solver/bonded_particles/sudden_breaking"},
    {"tangential_law", "/solver/bonded_particles/tangential_law"},
};

} // namespace

std::vector<KeySection> particle_keys() { return {{"bonded_particles", particles}}; }

std::vector<std::string> keys_shared_by_particles() {
  return {"/boundary_conditions/{periodic_boundary,linear_displacement_offset,fixed_macro_strain}"};
}

std::span<const AbsentKey> absent_from_particles() {
  static const std::vector<AbsentKey> all = [] {
    std::vector<AbsentKey> keys(std::begin(absent), std::end(absent));
    for (const potentials::LawInfo& law : potentials::laws())
      for (const potentials::LawConstant& constant : law.constants)
        if (!law.lame)
          keys.push_back({keep(std::string("/materials/*/") + std::string(constant.name)),
                          "leave it out: bonds have `E`, `nu` and their strengths"});
    return keys;
  }();
  return all;
}

std::span<const OptionKey> particle_options() { return options; }

} // namespace recoil::app
