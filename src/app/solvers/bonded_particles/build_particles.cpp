#include <algorithm>

#include <fmt/format.h>

#include "app/solvers/bonded_particles/build_particles.hpp"
#include "recoil/app/scene/build.hpp"
#include "recoil/app/scene/item.hpp"
#include "recoil/app/solvers/bonded_particles/particle_scene.hpp"
#include "recoil/base/suggest.hpp"

namespace recoil::app {
namespace {

Packing packing_of(const std::string& name) {
  if (name == "fcc") return Packing::fcc;
  if (name == "deposited") return Packing::deposited;
  return name == "random" ? Packing::random : Packing::hcp;
}

void read_file_body(const Item& entry, const Item& item, ParticleBody& body) {
  for (const char* name :
       {"packing", "rotation", "inside", "seed", "distribution", "porosity", "friction", "down"})
    if (item.has(name)) item[name].fail("is for packings; particles from a `file` lie where it says");
  for (const char* name : {"mesh", "generator", "array"})
    if (entry.has(name))
      entry[name].fail("is left over: the particles of this body come from a file; keep one of them");
  if (entry["advanced"]["normalize_mesh"].flag())
    entry["advanced"]["normalize_mesh"].fail("is for meshes; write a `scale` for particles from a file");
  check_sphere_transformation(entry);
  body.file = item["file"].text();
  if (item.has("bonds")) body.bonds = item["bonds"].text();
  if (!item.has("radius")) return;
  if (item["radius"].size() > 1) item["radius"].fail("particles of a file without radii have one radius");
  body.radius_in_file = item["radius"].numbers().front();
}

void read_sieves(const Item& item, particles::RadiusDistribution& radii) {
  for (const char* name : {"openings", "passing"})
    if (!item.has(name))
      item.fail("sieves need `openings` and `passing`; `" + std::string(name) + "` is missing");
  const std::vector<double> openings = item["openings"].numbers(), passing = item["passing"].numbers();
  if (openings.size() != passing.size())
    item["passing"].fail("has " + std::to_string(passing.size()) + " values for " +
                         std::to_string(openings.size()) + " `openings`; write one for each");
  for (std::size_t k = 1; k < openings.size(); ++k)
    if (!(openings[k] > openings[k - 1])) item["openings"].fail("must ascend; write the smallest first");
  if (!std::ranges::is_sorted(passing) || passing.front() != 0 || passing.back() != 1)
    item["passing"].fail("must ascend from 0, nothing passes the smallest sieve, to 1, all of the mass");
  for (std::size_t k = 0; k < openings.size(); ++k) radii.sieves.push_back({openings[k], passing[k]});
  radii.min = openings.front() / 2;
  radii.max = openings.back() / 2;
}

void read_distribution(const Item& entry, ParticleBody& body) {
  using Kind = particles::RadiusDistribution::Kind;
  const Item item = entry["distribution"];
  const std::string type = item["type"].text();
  const bool by_moments = type == "normal" || type == "log_normal";
  for (const char* name : {"mean", "sd"}) {
    if (item.has(name) != by_moments)
      by_moments ? item.fail("needs `mean` and `sd` of the radii; `" + std::string(name) + "` is missing")
                 : item[name].fail("is of \"normal\" and \"log_normal\"; leave it out");
  }
  for (const char* name : {"openings", "passing"})
    if (item.has(name) && type != "sieves") item[name].fail("is of \"sieves\"; leave it out");
  if (type == "sieves") {
    if (entry.has("radius")) entry["radius"].fail("follows from the sieves; leave it out");
    body.radii.kind = Kind::sieves;
    return read_sieves(item, body.radii);
  }
  if (!by_moments) return;
  if (!entry.has("radius") || entry["radius"].size() < 2)
    entry.fail("needs `radius` with the smallest and the largest radius of the distribution");
  body.radii.kind = type == "normal" ? Kind::normal : Kind::log_normal;
  body.radii.mean = item["mean"].number();
  body.radii.sd = item["sd"].number();
}

void read_deposition(const Item& item, ParticleBody& body) {
  for (const char* name : {"friction", "down"})
    if (item.has(name) && body.packing != Packing::deposited)
      item[name].fail("is of spheres that settle; take packing \"deposited\", or leave it out");
  if (item.has("friction")) body.friction = item["friction"].number();
  if (!item.has("down")) return;
  body.down = item["down"].vector();
  if (*body.down == Eigen::Vector3d::Zero())
    item["down"].fail("must be a direction, is [0, 0, 0]; write [0, 0, -1], say");
}

void read_packed_body(const Item& item, ParticleBody& body) {
  if (item.has("packing")) body.packing = packing_of(item["packing"].text());
  for (const char* name : {"distribution", "porosity", "seed"})
    if (item.has(name) && body.is_lattice())
      item[name].fail("is of random packings; take packing \"random\" or \"deposited\", or leave it out");
  if (item.has("porosity")) body.porosity = item["porosity"].number();
  if (item.has("distribution")) read_distribution(item, body);
  const bool by_sieves = body.radii.kind == particles::RadiusDistribution::Kind::sieves;
  if (!item.has("radius") && !by_sieves)
    item.fail("needs the `radius` of the particles, or a `file` of them");
  if (item.has("bonds")) item["bonds"].fail("is for particles from a `file`, which is missing");
  const std::vector<double> radii =
      by_sieves ? std::vector{body.radii.min, body.radii.max} : item["radius"].numbers();
  body.min_radius = radii.front();
  body.max_radius = radii.back();
  if (body.is_lattice() && radii.size() > 1)
    item["radius"].fail("the particles of a lattice have one radius; take packing \"random\" for a range");
  if (body.min_radius > body.max_radius) item["radius"].fail("write the smaller radius first");
  if (item.has("rotation")) body.rotation = item["rotation"].vector();
  if (item.has("inside")) body.whole_spheres = item["inside"].text() == "sphere";
  if (!body.is_lattice() && (!body.whole_spheres || body.rotation != Eigen::Vector3d::Zero()))
    item.fail("`inside` and `rotation` are for lattices; random packings keep whole spheres inside");
  if (item.has("seed")) body.seed = item["seed"].integer();
  read_deposition(item, body);
}

ParticleBody build_body(const Item& entry) {
  const Item item = entry["particles"];
  ParticleBody body;
  body.body = entry["name"].text();
  body.where = item.where();
  body.bonded = !item.has("bonded") || item["bonded"].flag();
  for (const char* name : {"bonds", "bond_tolerance"})
    if (!body.bonded && item.has(name))
      item[name].fail("is of bonds, and \"bonded\": false leaves none; keep one of them");
  if (item.has("bond_tolerance")) body.bond_tolerance = item["bond_tolerance"].number();
  if (item.has("file"))
    read_file_body(entry, item, body);
  else
    read_packed_body(item, body);
  return body;
}

double constant(const Item& entry, const char* name) {
  if (!entry.has(name))
    entry.fail("BondedParticles needs `E`, `nu` and `rho`; `" + std::string(name) + "` is missing");
  const Item item = entry[name];
  const auto value = item.is_object() ? std::nullopt : constant_of(item.expression());
  if (!value) item.fail("must be a number: bonds of a body have one material");
  return *value;
}

BondMaterialEntry build_bonds(const Item& entry) {
  BondMaterialEntry material;
  material.where = entry.where();
  if (entry.has("body")) material.bodies = entry["body"].texts();
  material.E = constant(entry, "E");
  material.nu = constant(entry, "nu");
  if (!(material.nu < 0.5)) entry["nu"].fail("must be below 0.5, as of every solid; take 0.499, say");
  material.rho = constant(entry, "rho");
  if (entry.has("tensile_strength")) material.tensile_strength = entry["tensile_strength"].number();
  if (entry.has("shear_strength")) material.shear_strength = entry["shear_strength"].number();
  material.friction_angle = entry["friction_angle"].number();
  if (material.friction_angle > 0 && !material.shear_strength)
    entry["friction_angle"].fail("adds to `shear_strength`, which is missing");
  if (entry["strength_terms"].text() == "separate" && !material.tensile_strength && !material.shear_strength)
    entry["strength_terms"].fail("is of `tensile_strength` and `shear_strength`, of which none is given");
  material.separate_terms = entry["strength_terms"].text() == "separate";
  if (entry.has("weibull_modulus")) {
    if (!material.tensile_strength && !material.shear_strength)
      entry["weibull_modulus"].fail("is of `tensile_strength` and `shear_strength`, of which none is given");
    material.weibull_modulus = entry["weibull_modulus"].number();
  }
  if (entry.has("strength_seed")) {
    if (!material.weibull_modulus)
      entry["strength_seed"].fail("is of `weibull_modulus`, which is missing: nothing is random");
    material.strength_seed = entry["strength_seed"].integer();
  }
  if (entry.has("strength_radius")) {
    if (!material.tensile_strength && !material.shear_strength)
      entry["strength_radius"].fail("is of `tensile_strength` and `shear_strength`, of which none is given");
    material.strength_radius = entry["strength_radius"].number();
  }
  material.section = entry["section"].number();
  material.damping_time = entry["damping_time"].number();
  if (entry.has("stress_corrosion")) {
    const Item corrosion = entry["stress_corrosion"];
    for (const char* name : {"rate", "exponent"})
      if (!corrosion.has(name))
        corrosion.fail("needs `rate` and `exponent`; `" + std::string(name) + "` is missing");
    if (!material.tensile_strength)
      corrosion.fail(
          "needs the `tensile_strength` of the material, at which bonds fail and which is missing; strengths "
          "of single bonds in a file replace it");
    material.stress_corrosion = {corrosion["rate"].number(), corrosion["exponent"].number(),
                                 corrosion.has("threshold") ? corrosion["threshold"].number() : 0};
  }
  if (entry.has("shear_correction")) material.form.shear_correction = entry["shear_correction"].number();
  if (entry.has("shear_energy") && entry["shear_energy"].text() == "angle")
    material.form.shear_energy = potentials::ShearEnergy::angle;
  material.form.half_turns = entry.has("bend_twist") && entry["bend_twist"].text() == "paper_half_angle";
  material.macroscopic = entry.has("moduli") && entry["moduli"].text() == "macro";
  return material;
}

/// Refuses macroscopic moduli for bodies of which they are not known.
void check_macroscopic(const Item& moduli, const ParticleBody& body) {
  if (body.is_simple_lattice()) return;
  if (!body.is_lattice())
    moduli.fail("the macroscopic modulus of a " +
                std::string(body.file.empty() ? "random packing" : "body from a file") + " like '" +
                body.body +
                "' is not known beforehand; write \"bonds\" and scale `E` by the modulus that a quasi-static "
                "pull of the body shows, or take packing \"hcp\" or \"fcc\"");
  moduli.fail("is known of lattices bonded to nearest neighbours alone; give body '" + body.body +
              "' a bond_tolerance below 0.41, or write \"bonds\"");
}

void build_bond_materials(const Item& given, Scene& scene) {
  const std::vector<Item> entries = given.is_object() ? std::vector{given} : given.items();
  for (const Item& entry : entries) {
    particles_of(scene).materials.push_back(build_bonds(entry));
    for (const std::string& body : particles_of(scene).materials.back().bodies)
      check_body(scene, body, entry["body"].where());
  }
  for (const ParticleBody& body : particles_of(scene).bodies) {
    const BondMaterialEntry* material = find_bond_material(scene, body.body);
    if (material == nullptr)
      throw InputError(scene.file.string() + " (/materials)",
                       "body '" + body.body + "' has no material of type BondedParticles");
    if (material->macroscopic)
      check_macroscopic(entries[material - particles_of(scene).materials.data()]["moduli"], body);
  }
}

/// Formulas of t alone.
std::vector<Expression> of_time(const Item& list) {
  std::vector<Expression> result = list.expressions();
  for (const Expression& component : result)
    if (component.depends_on_position())
      list.fail("'" + component.text() + "' depends on x, y or z; write formulas of t");
  return result;
}

void build_forces(const Item& list, Scene& scene) {
  for (const Item& entry : list.items())
    particles_of(scene).forces.push_back({entry["id"].integers(), of_time(entry["value"]), entry.where()});
}

/// The other entry that moves what has this id; empty where there is none.
std::string mover_of(const Scene& scene, int id) {
  for (const DirichletEntry& motion : scene.boundary_conditions.obstacle_displacements)
    if (std::ranges::count(motion.ids, id) > 0) return motion.where;
  for (const ServoEntry& servo : particles_of(scene).servos)
    if (servo.id == id) return servo.where;
  return "";
}

void build_servos(const Item& list, Scene& scene) {
  for (const Item& entry : list.items()) {
    if (!scene.contact.enabled) entry.fail("planes act by contact; set contact/enabled to true");
    ServoEntry servo{entry["id"].integer(), entry["force"].expression(), entry["max_speed"].number(),
                     entry.where()};
    if (servo.force.depends_on_position()) entry["force"].fail("depends on x, y or z; write a formula of t");
    const auto planes = std::ranges::count(scene.planes, std::optional(servo.id), &PlaneObstacle::id);
    if (planes == 0)
      entry["id"].fail(fmt::format("no plane has the id {}; an obstacle of \"type\": \"plane\" gets one from "
                                   "an integer `surface_selection`, and meshes move by "
                                   "`obstacle_displacements` alone",
                                   servo.id));
    if (planes > 1)
      entry["id"].fail("belongs to several planes, each of which has a way of its own; give them different "
                       "ids in `surface_selection`");
    if (const std::string other = mover_of(scene, servo.id); !other.empty())
      entry["id"].fail("is moved by " + other + " already; leave one of both out");
    for (int step = 1; step <= scene.time.steps; ++step) servo.force_at(scene.time.time_of_step(step));
    particles_of(scene).servos.push_back(std::move(servo));
  }
}

/// What planes that hold a force cannot be combined with.
void check_servos(const Item& root, const Scene& scene) {
  if (particles_of(scene).servos.empty()) return;
  const ParticleSolverSpec& solver = particles_of(scene).solver;
  const Item keys = root["solver"]["bonded_particles"];
  if (solver.integrator == solvers::ParticleIntegrator::leapfrog && scene.time.kind == TimeKind::dynamic)
    keys["integrator"].fail(
        "has no boundary_conditions/servo_planes, whose ways are unknowns of implicit steps; "
        "take \"be_reflect\" or \"mid_reflectT\", or move the planes by "
        "`obstacle_displacements`");
  if (solver.restitution < 1)
    keys["restitution"].fail(
        "adds forces that boundary_conditions/servo_planes do not count; leave it out: steps "
        "of \"be_reflect\" and friction damp");
  if (solver.sudden_breaking == solvers::SuddenBreaking::leapfrog)
    keys["sudden_breaking"].fail(
        "leapfrog has no boundary_conditions/servo_planes; take \"shorter_steps\", or "
        "leave this out");
}

void build_turns(const Item& list, Scene& scene) {
  const auto entries = list.items();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const DirichletEntry& entry = scene.boundary_conditions.dirichlet[i];
    if (!entry.node_file.empty() || entry.nodal)
      entries[i].fail("files of values belong to finite elements; write formulas for ids");
    PrescribedTurn& turn = particles_of(scene).turns.emplace_back();
    const Item rotation = entries[i]["rotation"];
    if (!rotation.is_text())
      turn.value = of_time(rotation);
    else if (rotation.text() != "free")
      rotation.fail("must be three numbers or formulas, or \"free\", is " + rotation.dump());
    turn.free = rotation.is_text();
    turn.interpolation = build_factors(entries[i], 3, "rotation_interpolation");
    if (turn.free && !turn.interpolation.empty())
      entries[i]["rotation_interpolation"].fail("is a factor on `rotation`, which is \"free\"; leave it out");
  }
}

/// Forms of values that bonded particles do not have, and values without an effect on them.
void check_values(const Item& root, const Scene& scene) {
  for (const char* list : {"velocity", "solution"})
    for (const Item& entry : root["initial_conditions"][list].items())
      if (entry["value"].is_object())
        entry["value"].fail("files of values belong to finite elements; write formulas");
  if (scene.time.kind == TimeKind::quasistatic)
    for (const char* list : {"velocity", "angular_velocity"})
      if (const Item given = root["initial_conditions"][list]; given.size() > 0)
        given.fail("has no effect without inertia; leave it out, or set time/quasistatic to false");
  if (const Item motions = root["boundary_conditions"]["obstacle_displacements"];
      !scene.contact.enabled && motions.size() > 0)
    motions.fail("is not there for bonded particles without contact; set contact/enabled to true");
}

/// Restitution without collisions.
void check_restitution(const Item& solver, const Scene& scene) {
  if (scene.time.kind == TimeKind::quasistatic)
    solver["restitution"].fail("is of collisions, and nothing moves at rest; leave it out, or set "
                               "time/quasistatic to false");
  const solvers::ParticleIntegrator integrator = particles_of(scene).solver.integrator;
  if (integrator == solvers::ParticleIntegrator::paper_literal)
    solver["restitution"].fail(
        "is not there with \"paper_literal\"; take \"be_reflect\", \"mid_reflectT\" or "
        "\"leapfrog\", or leave it out");
}

bool has_friction(const Scene& scene) {
  return scene.contact.friction_coefficient != 0 || !scene.contact.friction_pairs.empty();
}

/// Springs along contacts without what they need.
void check_tangential_law(const Item& root, const Scene& scene) {
  if (particles_of(scene).solver.tangential_law != potentials::TangentialLaw::mindlin) return;
  const Item key = root["solver"]["bonded_particles"]["tangential_law"];
  if (!scene.contact.enabled) key.fail("is of contact; set contact/enabled to true, or leave it out");
  if (particles_of(scene).solver.contact_law != potentials::ContactLaw::hertz)
    key.fail("\"mindlin\" takes its stiffness from the contacts of Hertz' law; write \"contact_law\": "
             "\"hertz\" beside it, or \"coulomb\" here");
  if (!has_friction(scene))
    key.fail("has no effect without friction, at whose limit its springs yield; give "
             "contact/friction_coefficient, or leave it out");
  if (scene.contact.friction_iterations == 0)
    key.fail("has no effect where solver/contact/friction_iterations of 0 switches friction off; write 1 "
             "there, or leave this out");
}

/// Settings of contact that do not go with the others.
void check_contact(const Item& root, const Scene& scene) {
  check_tangential_law(root, scene);
  if (!scene.contact.enabled) {
    if (particles_of(scene).solver.rolling_friction > 0)
      root["solver"]["bonded_particles"]["rolling_friction"].fail(
          "is of contact; set contact/enabled to true, or leave it out");
    if (particles_of(scene).solver.contact_law)
      root["solver"]["bonded_particles"]["contact_law"].fail(
          "is of contact; set contact/enabled to true, or leave it out");
    if (particles_of(scene).solver.writes_contacts)
      root["output"]["contacts"].fail("is of contact; set contact/enabled to true, or leave it out");
    if (particles_of(scene).solver.restitution < 1)
      root["solver"]["bonded_particles"]["restitution"].fail(
          "is of contact; set contact/enabled to true, or leave it out");
    return;
  }
  const Item solver = root["solver"];
  if (particles_of(scene).solver.restitution < 1) check_restitution(solver["bonded_particles"], scene);
  if (particles_of(scene).solver.contact_law == potentials::ContactLaw::hertz &&
      scene.contact.barrier_stiffness)
    solver["contact"]["barrier_stiffness"].fail(
        "has no effect on \"contact_law\": \"hertz\", whose stiffness follows from `E` and `nu` of the "
        "materials; leave it out");
  const solvers::ParticleIntegrator integrator = particles_of(scene).solver.integrator;
  if (scene.time.kind == TimeKind::dynamic && integrator == solvers::ParticleIntegrator::del_exact)
    solver["bonded_particles"]["integrator"].fail("has no contact; take \"be_reflect\", \"mid_reflectT\" or "
                                                  "\"leapfrog\", or set contact/enabled to false");
  const int iterations = scene.contact.friction_iterations;
  if (integrator == solvers::ParticleIntegrator::leapfrog && scene.time.kind == TimeKind::dynamic &&
      iterations != 0 && iterations != 1)
    solver["contact"]["friction_iterations"].fail("leapfrog lags nothing; write 1, or 0 for no friction");
}

/// Softening that cannot work.
void check_damage(const Item& root, const Scene& scene) {
  if (particles_of(scene).solver.damage_width == 0) return;
  const Item width = root["solver"]["bonded_particles"]["damage_width"];
  const bool may_break = std::ranges::any_of(particles_of(scene).materials,
                                             [](const BondMaterialEntry& entry) {
                                               return entry.tensile_strength || entry.shear_strength;
                                             }) ||
                         // A file of bonds may have strengths: make_particle_solver() knows.
                         std::ranges::any_of(particles_of(scene).bodies,
                                             [](const ParticleBody& body) { return !body.bonds.empty(); });
  if (!may_break)
    width.fail("softens bonds that reach their strength, and no material has one; give it "
               "`tensile_strength` or `shear_strength`, or leave this out");
  if (scene.time.kind == TimeKind::dynamic &&
      particles_of(scene).solver.integrator == solvers::ParticleIntegrator::leapfrog)
    width.fail("is not there with \"integrator\": \"leapfrog\", whose bonds break at once; take "
               "\"be_reflect\" or \"mid_reflectT\", or leave this out");
}

/// Sections that shrink belong to bonds that break at once.
void check_corrosion(const Item& root, const Scene& scene) {
  if (particles_of(scene).solver.damage_width > 0 && corrodes(scene))
    root["solver"]["bonded_particles"]["damage_width"].fail(
        "softens bonds, and a material has a `stress_corrosion`, under which they break at once; leave one "
        "of both out");
}

/// Damping of bonds in steps that know none.
void check_bond_damping(const Item& root, const Scene& scene) {
  const bool damped = std::ranges::any_of(
      particles_of(scene).materials, [](const BondMaterialEntry& entry) { return entry.damping_time > 0; });
  if (damped && scene.time.kind == TimeKind::dynamic &&
      particles_of(scene).solver.integrator == solvers::ParticleIntegrator::del_exact)
    root["solver"]["bonded_particles"]["integrator"].fail(
        "has no damping of bonds, and a material has a `damping_time`; take \"be_reflect\", "
        "\"mid_reflectT\" or \"leapfrog\", or leave it out");
}

bool is_explicit(const Scene& scene) {
  return scene.time.kind == TimeKind::dynamic &&
         particles_of(scene).solver.integrator == solvers::ParticleIntegrator::leapfrog;
}

/// Keys of integrators that the scene does not take: they change nothing, and often stay behind where another
/// integrator is tried.
void check_integrator(const Item& root, Scene& scene) {
  const Item solver = root["solver"]["bonded_particles"];
  const ParticleSolverSpec given = particles_of(scene).solver, initial;
  if (scene.time.kind == TimeKind::quasistatic && given.integrator != initial.integrator)
    solver["integrator"].fail("is of dynamic scenes and has no effect with \"quasistatic\": true; leave it "
                              "out, or set time/quasistatic to false");
  const auto warn = [&](bool written, const Item& item, const char* of) {
    if (written) scene.warnings.push_back(item.where() + ": not looked at, it is of " + of);
  };
  if (!is_explicit(scene) && given.tangential_law == potentials::TangentialLaw::mindlin &&
      given.rolling_friction == 0)
    warn(scene.contact.enabled && scene.contact.epsv != ContactSpec().epsv, root["contact"]["epsv"],
         "friction that is smoothed; springs are not");
  if (!is_explicit(scene))
    return warn(given.explicit_share != initial.explicit_share, solver["explicit_share"],
                "\"integrator\": \"leapfrog\"");
  const char* const of_newton = "implicit steps, which \"leapfrog\" does not take";
  warn(given.tolerance != initial.tolerance, solver["tolerance"], of_newton);
  warn(given.max_iterations != initial.max_iterations, solver["max_iterations"], of_newton);
  warn(given.cascade_share != initial.cascade_share, solver["cascade_share"], of_newton);
  warn(scene.time.max_retries != TimeSpec().max_retries, root["time"]["max_retries"], of_newton);
  warn(scene.contact.enabled && scene.contact.epsv != ContactSpec().epsv, root["contact"]["epsv"],
       "friction that is smoothed; that of \"leapfrog\" is not");
}

/// Grains that flow though they are deposited at rest.
void check_deposits(const Item& root, Scene& scene) {
  if (!scene.contact.enabled || is_explicit(scene) || scene.contact.friction_iterations != 1 ||
      !has_friction(scene))
    return;
  auto body = particles_of(scene).bodies.begin();
  for (const Item& entry : root["geometry"].items()) {
    if (!entry["enabled"].flag() || entry["is_obstacle"].flag()) continue;
    const bool is_loose = body->packing == Packing::deposited && !body->bonded;
    ++body;
    if (!is_loose) continue;
    scene.warnings.push_back(
        entry["particles"]["packing"].where() +
        ": contact begins without forces, and friction is that of the normal forces at the start of a "
        "step: grains flow while these build up. Set solver/contact/friction_iterations to -1, which takes "
        "those at its end, or, for gradients, take shorter steps (docs/bonded_particles.md, Deposited "
        "packings)");
  }
}

/// Ids that nothing of a body or obstacle uses.
void check_selections(const Item& entry) {
  const bool is_obstacle = entry["is_obstacle"].flag();
  if (entry.has("volume_selection"))
    entry["volume_selection"].fail("particles have no volume ids; give materials by `body`");
  if (!is_obstacle && entry.has("surface_selection"))
    entry["surface_selection"].fail("particles have no surface; give ids by `point_selection`");
  if (is_obstacle && entry.has("point_selection"))
    entry["point_selection"].fail("is of particles, this is an obstacle; give its id by `surface_selection`");
}

void check_breaking(const Item& root, const Scene& scene) {
  if (particles_of(scene).solver.max_broken_share < 1 && is_explicit(scene))
    root["solver"]["bonded_particles"]["max_broken_share"].fail(
        "is of implicit steps; leapfrog breaks bonds in sub-steps, which a smaller `explicit_share` "
        "shortens");
}

/// Implicit steps that hand over to leapfrog where many bonds break.
void check_sudden_breaking(const Item& root, const Scene& scene) {
  const ParticleSolverSpec& solver = particles_of(scene).solver;
  if (solver.sudden_breaking != solvers::SuddenBreaking::leapfrog) return;
  const Item key = root["solver"]["bonded_particles"]["sudden_breaking"];
  if (scene.time.kind == TimeKind::quasistatic)
    key.fail("is of steps with inertia; leave out `quasistatic`, or write \"shorter_steps\"");
  if (solver.integrator == solvers::ParticleIntegrator::leapfrog)
    key.fail("is of implicit steps, and \"integrator\" is \"leapfrog\" already; leave it out");
  if (solver.damage_width > 0)
    key.fail("is of bonds that break at once, and `damage_width` softens them; leave one of both out");
  if (solver.max_broken_share >= 1)
    key.fail("needs `max_broken_share`, the share of all bonds above which leapfrog takes a step; write "
             "0.001, say");
}

} // namespace

void build_particles(const Item& root, Scene& scene) {
  if (!root.has("time"))
    throw InputError(scene.file.string(),
                     "needs `time`; write \"quasistatic\": true there for states at rest");
  for (const Item& entry : root["geometry"].items()) {
    if (!entry["enabled"].flag()) continue;
    check_selections(entry);
    if (entry["is_obstacle"].flag()) {
      if (entry.has("particles"))
        entry["particles"].fail("an obstacle has none; leave out `is_obstacle` or `particles`");
      continue;
    }
    if (!entry.has("particles")) entry.fail("needs `particles`: this is a scene of bonded particles");
    particles_of(scene).bodies.push_back(build_body(entry));
  }
  build_bond_materials(root["materials"], scene);
  build_turns(root["boundary_conditions"]["dirichlet_boundary"], scene);
  build_forces(root["boundary_conditions"]["particle_forces"], scene);
  build_servos(root["boundary_conditions"]["servo_planes"], scene);
  check_values(root, scene);
  check_contact(root, scene);
  check_damage(root, scene);
  check_bond_damping(root, scene);
  check_corrosion(root, scene);
  check_breaking(root, scene);
  check_integrator(root, scene);
  check_deposits(root, scene);
  check_sudden_breaking(root, scene);
  check_servos(root, scene);
  build_cell(root, scene);
}

bool has_particle_file(const Item& entry) { return entry.has("particles") && entry["particles"].has("file"); }

} // namespace recoil::app
