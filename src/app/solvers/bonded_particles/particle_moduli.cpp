#include "recoil/app/solvers/bonded_particles/particle_moduli.hpp"
#include "recoil/app/solvers/bonded_particles/particle_scene.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace recoil::app {

namespace {

particles::LatticeKind lattice_of(const ParticleBody& body) {
  return body.packing == Packing::fcc ? particles::LatticeKind::fcc : particles::LatticeKind::hcp;
}

const ParticleBody& find_particle_body(const Scene& scene, const std::string& name) {
  return *std::ranges::find(particles_of(scene).bodies, name, &ParticleBody::body);
}

particles::Stiffness stiffness_of(const ParticleBody& body, const BondMaterialEntry& material, double young) {
  return material.section * material.section *
         effective_stiffness(lattice_of(body), young, material.nu, material.form.shear_correction);
}

} // namespace

double bond_modulus(const Scene& scene, const std::string& name) {
  const BondMaterialEntry& material = *find_bond_material(scene, name);
  if (!material.macroscopic) return material.E;
  return material.E / particles::young_modulus(stiffness_of(find_particle_body(scene, name), material, 1),
                                               Eigen::Vector3d::UnitX());
}

double bond_modulus_by_poisson(const Scene& scene, const std::string& name) {
  const BondMaterialEntry& material = *find_bond_material(scene, name);
  if (!material.macroscopic) return 0;
  const ParticleBody& body = find_particle_body(scene, name);
  const Eigen::Vector3d x = Eigen::Vector3d::UnitX();
  const double of_bonds = bond_modulus(scene, name);
  return -of_bonds *
         particles::young_modulus_by_poisson(lattice_of(body), of_bonds, material.nu, x,
                                             material.form.shear_correction) /
         (material.E / (material.section * material.section));
}

std::vector<LatticeModuli> lattice_moduli(const Scene& scene) {
  const Eigen::Vector3d x = Eigen::Vector3d::UnitX(), y = Eigen::Vector3d::UnitY(),
                        z = Eigen::Vector3d::UnitZ();
  std::vector<LatticeModuli> all;
  for (const ParticleBody& body : particles_of(scene).bodies) {
    if (!body.is_simple_lattice()) continue;
    const particles::Stiffness stiffness =
        stiffness_of(body, *find_bond_material(scene, body.body), bond_modulus(scene, body.body));
    all.push_back({body.body, lattice_of(body), stiffness, particles::young_modulus(stiffness, x),
                   particles::young_modulus(stiffness, z), particles::poisson_ratio(stiffness, x, y),
                   particles::poisson_ratio(stiffness, z, x), particles::hill_moduli(stiffness)});
  }
  return all;
}

std::vector<std::string> describe(const LatticeModuli& moduli) {
  const particles::Stiffness& C = moduli.stiffness;
  return {
      fmt::format(
          "{} lattice [Pa]: C_11 {:.4g}, C_12 {:.4g}, C_13 {:.4g}, C_33 {:.4g}, C_44 {:.4g}, C_66 {:.4g}",
          moduli.kind == particles::LatticeKind::fcc ? "fcc" : "hcp", C(0, 0), C(0, 1), C(0, 2), C(2, 2),
          C(3, 3), C(5, 5)),
      fmt::format(
          "E_x {:.4g}, E_z {:.4g}, nu_xy {:.3g}, nu_zx {:.3g}; means of all directions K {:.4g}, G {:.4g}",
          moduli.young_x, moduli.young_z, moduli.poisson_xy, moduli.poisson_zx, moduli.means.bulk,
          moduli.means.shear)};
}

} // namespace recoil::app
