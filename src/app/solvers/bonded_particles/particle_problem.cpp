#include "recoil/app/solvers/bonded_particles/particle_problem.hpp"

#include <cmath>
#include <limits>
#include <numbers>
#include <set>

#include "recoil/app/run/finite_values.hpp"
#include "recoil/app/run/forward_run.hpp"
#include "recoil/app/solvers/bonded_particles/particle_bodies.hpp"
#include "recoil/app/solvers/bonded_particles/particle_cell.hpp"
#include "recoil/app/solvers/bonded_particles/particle_contact.hpp"
#include "recoil/app/solvers/bonded_particles/particle_moduli.hpp"
#include "recoil/app/solvers/bonded_particles/particle_scene.hpp"
#include "recoil/base/error.hpp"
#include "recoil/mesh/input/select.hpp"
#include "recoil/particles/weibull.hpp"

namespace recoil::app {

namespace {

using Eigen::Vector3d;
using particles::CellMotion;
using particles::DistributedParticles;

constexpr double degree = std::numbers::pi / 180;

/// Ids by the point selections of all bodies, of this rank's particles. Collective.
std::vector<std::int32_t> point_ids(const parallel::Communicator& comm, const Scene& scene,
                                    const DistributedParticles& particles) {
  std::vector<std::int32_t> ids(particles.ids.size(), 0);
  for (std::size_t body = 0; body < particles.body_names.size(); ++body) {
    std::vector<std::size_t> own;
    std::vector<Vector3d> places;
    Eigen::Array3d least = Eigen::Array3d::Constant(std::numeric_limits<double>::max()), most = -least;
    for (std::size_t k = 0; k < ids.size(); ++k) {
      if (particles.body[k] != std::int32_t(body)) continue;
      own.push_back(k);
      places.push_back(particles.positions[k]);
      least = least.min(places.back().array());
      most = most.max(places.back().array());
    }
    for (int i = 0; i < 3; ++i) {
      least[i] = comm.min(least[i]);
      most[i] = comm.max(most[i]);
    }
    const auto& selections = entry_of_body(scene, particles.body_names[body]).point_selection;
    mesh::PointIds found = parallel::collectively(comm, [&] {
      return mesh::select_points(places, selections, {least.matrix(), most.matrix()});
    });
    for (std::size_t s = 0; s < selections.size(); ++s)
      if (!comm.any(found.matched[s] != 0))
        throw InputError(selections[s].where, "selects no particle of body '" + particles.body_names[body] +
                                                  "'; particles are tested by their centres");
    for (std::size_t k = 0; k < own.size(); ++k) ids[own[k]] = found.ids[k];
  }
  return ids;
}

bool holds_id(const std::vector<int>& ids, std::int32_t id) {
  return std::ranges::find(ids, id) != ids.end();
}

/// Particles of this rank with one of some ids. Collective. @throws InputError where there are none.
std::vector<LocalIndex> with_ids(const parallel::Communicator& comm, const std::vector<std::int32_t>& of,
                                 bool all, const std::vector<int>& ids, const std::string& where) {
  std::vector<LocalIndex> found;
  for (LocalIndex k = 0; k < std::ssize(of); ++k)
    if (all ? of[k] > 0 : holds_id(ids, of[k])) found.push_back(k);
  if (!comm.any(!found.empty()))
    throw InputError(where, "no particle has this id; give ids to particles by `point_selection` of a body");
  return found;
}

Vector3d value_at(const std::vector<Expression>& components, double time, const std::string& where) {
  Vector3d value = Vector3d::Zero();
  for (std::size_t i = 0; i < components.size(); ++i) {
    value[Eigen::Index(i)] = components[i]({0, 0, 0, time});
    if (!std::isfinite(value[Eigen::Index(i)]))
      throw InputError(where, "'" + components[i].text() + "' is not finite at t = " + std::to_string(time));
  }
  return value;
}

Vector3d rotation_at(const PrescribedTurn& turn, const std::string& where, double time) {
  Vector3d rotation;
  for (int i = 0; i < 3; ++i)
    rotation[i] = require_finite(turn.evaluate(i, time), where, "prescribed rotation", i,
                                 ExpressionPoint{0, 0, 0, time});
  return rotation;
}

/// A prescribed entry and the particles of this rank that follow it.
struct Held {
  const DirichletEntry* entry;
  const PrescribedTurn* turn;
  std::vector<LocalIndex> particles;
};

void hold(const parallel::Communicator& comm, const Scene& scene, const std::vector<std::int32_t>& ids,
          solvers::BondedParticles& problem) {
  std::vector<Held> held;
  const PrescribedTurn* turn = particles_of(scene).turns.data();
  for (const DirichletEntry& entry : scene.boundary_conditions.dirichlet) {
    held.push_back({&entry, turn++, with_ids(comm, ids, entry.all, entry.ids, entry.where)});
    for (const LocalIndex k : held.back().particles)
      for (int i = 0; i < 3; ++i) {
        problem.prescribed[6 * std::size_t(k) + i] = entry.value[i].constrained ? 1 : 0;
        problem.prescribed[6 * std::size_t(k) + 3 + i] = held.back().turn->free ? 0 : 1;
      }
  }
  if (held.empty()) return;
  const DistributedParticles* particles = problem.particles.get();
  problem.move_prescribed = [held, particles](double time, std::span<double> u) {
    for (const auto& [entry, turn, list] : held) {
      const geometry::Quaternion q = geometry::quaternion_exponential(rotation_at(*turn, entry->where, time));
      for (const LocalIndex k : list) {
        double* point = u.data() + 7 * std::size_t(k);
        const Vector3d& X = particles->positions[k];
        for (int i = 0; i < 3; ++i)
          if (entry->value[i].constrained) {
            const ExpressionPoint at{X[0], X[1], X[2], time};
            point[i] =
                X[i] + require_finite(entry->evaluate(i, at), entry->where, "prescribed displacement", i, at);
          }
        if (!turn->free) std::copy_n(q.data(), 4, point + 3);
      }
    }
  };
}

void load(const parallel::Communicator& comm, const Scene& scene, const std::vector<std::int32_t>& ids,
          solvers::BondedParticles& problem) {
  struct Loaded {
    const ParticleForce* force;
    std::vector<LocalIndex> particles;
    double share;
  };
  std::vector<Loaded> loads;
  for (const ParticleForce& force : particles_of(scene).forces) {
    std::vector<LocalIndex> list = with_ids(comm, ids, false, force.ids, force.where);
    std::erase_if(list, [&](LocalIndex k) { return k >= problem.particles->num_owned(); });
    loads.push_back({&force, list, 1.0 / double(comm.sum(GlobalIndex(list.size())))});
  }
  if (loads.empty()) return;
  problem.add_loads = [loads](double time, std::span<double> forces) {
    for (const auto& [force, list, share] : loads) {
      const Vector3d value = share * value_at(force->value, time, force->where);
      for (const LocalIndex k : list)
        for (int i = 0; i < 3; ++i) forces[6 * std::size_t(k) + i] += value[i];
    }
  };
}

/// By which both strengths of a bond differ from those of its material.
double strength_factor(const BondMaterialEntry& material, GlobalIndex id, double section_radius) {
  double factor = 1;
  if (material.weibull_modulus)
    factor = particles::weibull_factor(*material.weibull_modulus, std::uint64_t(material.strength_seed), id);
  // Stresses ahead of a crack fall as one over the root of the distance.
  if (material.strength_radius) factor *= std::sqrt(*material.strength_radius / section_radius);
  return factor;
}

solvers::BondStrength strength_of(const Scene& scene, const potentials::BondPotential& bonds) {
  constexpr double never = std::numeric_limits<double>::infinity();
  const DistributedParticles& of = bonds.particles();
  solvers::BondStrength strength;
  for (std::size_t bond = 0; bond < of.bonds.size(); ++bond) {
    const auto& [a, b, id] = of.bonds[bond];
    const BondMaterialEntry& material = *find_bond_material(scene, of.body_names[of.body[a]]);
    const double factor = strength_factor(material, id, bonds.material().section_radius[bond]);
    strength.tensile.push_back(factor * material.tensile_strength.value_or(never));
    strength.shear.push_back(factor * material.shear_strength.value_or(never));
    strength.tan_friction.push_back(std::tan(material.friction_angle * degree));
    strength.separate_terms.push_back(material.separate_terms ? 1 : 0);
  }
  // What a file says of a bond is the strength of this bond, flaws and size included.
  for (std::size_t bond = 0; bond < of.bond_constants.size(); ++bond) {
    const particles::BondConstants& own = of.bond_constants[bond];
    if (!std::isnan(own.tensile_strength)) strength.tensile[bond] = own.tensile_strength;
    if (!std::isnan(own.shear_strength)) strength.shear[bond] = own.shear_strength;
  }
  return strength;
}

solvers::StressCorrosion corrosion_of(const Scene& scene, const DistributedParticles& particles) {
  solvers::StressCorrosion corrosion;
  for (const auto& [a, b, id] : particles.bonds) {
    const auto entry = find_bond_material(scene, particles.body_names[particles.body[a]])
                           ->stress_corrosion.value_or(StressCorrosionEntry{});
    corrosion.rate.push_back(entry.rate);
    corrosion.exponent.push_back(entry.exponent);
    corrosion.threshold.push_back(entry.threshold);
  }
  return corrosion;
}

/// Collective: a rank may have no bond with a strength of its own.
bool can_break(const parallel::Communicator& comm, const Scene& scene,
               const DistributedParticles& particles) {
  if (std::ranges::any_of(particles_of(scene).materials, [](const BondMaterialEntry& material) {
        return material.tensile_strength || material.shear_strength;
      }))
    return true;
  return comm.any(std::ranges::any_of(particles.bond_constants, [](const particles::BondConstants& own) {
    return !std::isnan(own.tensile_strength) || !std::isnan(own.shear_strength);
  }));
}

solvers::BondedParticles make_problem(const parallel::Communicator& comm, const Scene& scene,
                                      DistributedParticles&& bodies) {
  solvers::BondedParticles problem;
  problem.particles = std::make_shared<const DistributedParticles>(std::move(bodies));
  const DistributedParticles& particles = *problem.particles;
  std::vector<double> moduli;
  for (const std::string& body : particles.body_names) moduli.push_back(bond_modulus(scene, body));
  potentials::BondMaterial bonds;
  if (std::ranges::any_of(particles_of(scene).materials,
                          [](const BondMaterialEntry& material) { return material.damping_time > 0; }))
    bonds.damping_time.emplace();
  for (const auto& [a, b, id] : particles.bonds) {
    const BondMaterialEntry& material = *find_bond_material(scene, particles.body_names[particles.body[a]]);
    bonds.young_modulus.push_back(moduli[particles.body[a]]);
    bonds.poisson_ratio.push_back(material.nu);
    bonds.section_radius.push_back(material.section * (particles.radii[a] + particles.radii[b]) / 2);
    bonds.form.push_back(material.form);
    if (bonds.damping_time) bonds.damping_time->push_back(material.damping_time);
  }
  for (std::size_t bond = 0; bond < particles.bond_constants.size(); ++bond) {
    const particles::BondConstants& own = particles.bond_constants[bond];
    if (!std::isnan(own.young_modulus)) bonds.young_modulus[bond] = own.young_modulus;
    if (!std::isnan(own.poisson_ratio)) bonds.poisson_ratio[bond] = own.poisson_ratio;
  }
  if (particles.cell)
    problem.cell_motion = std::make_unique<CellMotion>(
        *particles.cell,
        [entry = &*particles_of(scene).periodic](double time) { return deformation_at(*entry, time); },
        free_entries(*particles_of(scene).periodic));
  problem.set_bonds(std::make_unique<potentials::BondPotential>(particles, std::move(bonds)));
  for (std::size_t k = 0; k < particles.ids.size(); ++k)
    problem.mass.push_back(find_bond_material(scene, particles.body_names[particles.body[k]])->rho *
                           particles.volumes[k]);
  for (std::size_t i = 0; i < scene.gravity.size(); ++i) problem.gravity[Eigen::Index(i)] = scene.gravity[i];
  if (corrodes(scene)) problem.corrosion = corrosion_of(scene, particles);
  if (can_break(comm, scene, particles)) problem.strength = strength_of(scene, *problem.bonds);
  problem.damage_width = particles_of(scene).solver.damage_width;
  problem.prescribed.assign(6 * particles.ids.size(), 0);
  const std::vector<std::int32_t> ids = point_ids(comm, scene, particles);
  hold(comm, scene, ids, problem);
  load(comm, scene, ids, problem);
  if (pins_particle(scene)) pin_particle(*particles_of(scene).periodic, problem);
  return problem;
}

solvers::BondedParticlesOptions options_of(const Scene& scene) {
  const ParticleSolverSpec& given = particles_of(scene).solver;
  solvers::BondedParticlesOptions options;
  static_cast<stepping::TimeOptions&>(options) = time_options(scene);
  options.integrator =
      scene.time.kind == TimeKind::quasistatic ? solvers::ParticleIntegrator::quasistatic : given.integrator;
  options.tolerance = given.tolerance;
  options.max_iterations = given.max_iterations;
  options.contact_law = given.contact_law;
  options.cascade_share = given.cascade_share;
  options.cascade_iterations = given.cascade_iterations;
  options.sudden_breaking = given.sudden_breaking;
  options.max_broken_share = given.max_broken_share;
  options.friction_iterations = scene.contact.friction_iterations;
  options.explicit_share = given.explicit_share;
  return options;
}

bool is_in(const Region& region, const std::string& body) {
  return std::ranges::find(region.bodies, body) != region.bodies.end();
}

/// Mass centre of the bodies of a region. Collective.
Vector3d centre_of(const parallel::Communicator& comm, const solvers::BondedParticles& problem,
                   const Region& region) {
  const DistributedParticles& particles = *problem.particles;
  std::array<double, 4> moments{};
  for (LocalIndex k = 0; k < particles.num_owned(); ++k) {
    if (!is_in(region, particles.body_names[particles.body[k]])) continue;
    for (int i = 0; i < 3; ++i) moments[i] += problem.mass[k] * particles.positions[k][i];
    moments[3] += problem.mass[k];
  }
  comm.sum(moments);
  return Vector3d(moments[0], moments[1], moments[2]) / moments[3];
}

/// put(particle of this rank, component, value) for initial values, of which the last one counts. Collective.
template <class Put>
void for_initial_values(const parallel::Communicator& comm, const std::vector<InitialField>& fields,
                        const DistributedParticles& particles, const char* what, Put put) {
  parallel::collectively(comm, [&] {
    for (const InitialField& field : fields)
      for (std::size_t k = 0; k < particles.ids.size(); ++k) {
        if (!is_in(field.region, particles.body_names[particles.body[k]])) continue;
        const Vector3d& X = particles.positions[k];
        const ExpressionPoint at{X[0], X[1], X[2], 0};
        for (std::size_t i = 0; i < field.value.size(); ++i)
          put(k, i, require_finite(field.value[i](at), field.region.where, what, int(i), at));
      }
  });
}

void set_displacement(const Scene& scene, const solvers::BondedParticles& problem,
                      const parallel::Communicator& comm, linalg::Vector& u) {
  const auto values = u.write_local();
  for_initial_values(comm, scene.initial_conditions.solution, *problem.particles, "initial displacement",
                     [&](std::size_t k, std::size_t i, double value) {
                       values[7 * k + i] = problem.particles->positions[k][Eigen::Index(i)] + value;
                     });
}

/// Moves particles as the cell does until a time, with what they are displaced by in it.
void deform(const CellMotion& motion, double time, const solvers::BondedParticles& problem,
            linalg::Vector& u) {
  const auto values = u.write_local();
  for (std::size_t k = 0; k < problem.particles->positions.size(); ++k) {
    const Vector3d& X = problem.particles->positions[k];
    Eigen::Map<Vector3d>(&values[7 * k]) += motion.cell().affine(X, motion.at(time)) - X;
  }
}

void set_velocity(const Scene& scene, const solvers::BondedParticles& problem,
                  const parallel::Communicator& comm, linalg::Vector& v) {
  const DistributedParticles& particles = *problem.particles;
  const auto values = v.write_local();
  for_initial_values(comm, scene.initial_conditions.velocity, particles, "initial velocity",
                     [&](std::size_t k, std::size_t i, double value) { values[6 * k + i] = value; });
  for (const AngularVelocity& spin : scene.initial_conditions.angular_velocity) {
    const Vector3d centre = spin.center ? *spin.center : centre_of(comm, problem, spin.region),
                   w(spin.value[0], spin.value[1], spin.value[2]);
    for (std::size_t k = 0; k < particles.ids.size(); ++k) {
      if (!is_in(spin.region, particles.body_names[particles.body[k]])) continue;
      const Vector3d speed = w.cross(particles.positions[k] - centre);
      for (int i = 0; i < 3; ++i) {
        values[6 * k + i] += speed[i];
        values[6 * k + 3 + i] += particles.radii[k] * w[i];
      }
    }
  }
}

} // namespace

solvers::BondedParticles make_particle_problem(const parallel::Communicator& comm, const Scene& scene,
                                               DistributedParticles&& bodies,
                                               const std::vector<mesh::SurfaceMesh>& obstacles) {
  solvers::BondedParticles problem = make_problem(comm, scene, std::move(bodies));
  add_particle_contact(comm, scene, obstacles, problem);
  return problem;
}

std::unique_ptr<solvers::BondedParticlesSolver>
make_particle_solver(const parallel::Communicator& comm, const Scene& scene, DistributedParticles&& bodies,
                     const std::vector<mesh::SurfaceMesh>& obstacles) {
  auto solver = std::make_unique<solvers::BondedParticlesSolver>(
      make_particle_problem(comm, scene, std::move(bodies), obstacles), options_of(scene));
  linalg::Vector u = solver->history().newest().u, v = solver->history().newest().v;
  set_displacement(scene, solver->problem(), comm, u);
  if (solver->problem().cell_motion)
    deform(*solver->problem().cell_motion, scene.time.t0, solver->problem(), u);
  if (scene.time.kind != TimeKind::quasistatic) set_velocity(scene, solver->problem(), comm, v);
  parallel::collectively(comm, [&] {
    if (solver->problem().move_prescribed) solver->problem().move_prescribed(scene.time.t0, u.write_local());
  });
  solver->start(u, v);
  require_no_overlap(comm, solver->problem(), scene);
  return solver;
}

std::vector<std::vector<LocalIndex>> prescribed_groups(const parallel::Communicator& comm, const Scene& scene,
                                                       const DistributedParticles& particles) {
  const std::vector<std::int32_t> ids = point_ids(comm, scene, particles);
  std::vector<std::vector<LocalIndex>> groups;
  for (const DirichletEntry& entry : scene.boundary_conditions.dirichlet) {
    groups.push_back(with_ids(comm, ids, entry.all, entry.ids, entry.where));
    std::erase_if(groups.back(), [&](LocalIndex k) { return k >= particles.num_owned(); });
  }
  return groups;
}

std::vector<LocalIndex> particles_with_id(const parallel::Communicator& comm, const Scene& scene,
                                          const DistributedParticles& particles, const std::string& body,
                                          int id, const std::string& where) {
  std::vector<std::int32_t> ids = point_ids(comm, scene, particles);
  for (std::size_t k = 0; k < ids.size(); ++k)
    if (!body.empty() && particles.body_names[particles.body[k]] != body) ids[k] = 0;
  std::vector<LocalIndex> found = with_ids(comm, ids, false, {id}, where);
  std::erase_if(found, [&](LocalIndex k) { return k >= particles.num_owned(); });
  return found;
}

std::vector<std::vector<LocalIndex>> loaded_groups(const parallel::Communicator& comm, const Scene& scene,
                                                   const DistributedParticles& particles) {
  const std::vector<std::int32_t> ids = point_ids(comm, scene, particles);
  std::vector<std::vector<LocalIndex>> groups;
  for (const ParticleForce& force : particles_of(scene).forces) {
    groups.push_back(with_ids(comm, ids, false, force.ids, force.where));
    std::erase_if(groups.back(), [&](LocalIndex k) { return k >= particles.num_owned(); });
  }
  return groups;
}

} // namespace recoil::app
