#include "recoil/app/simulation/particle_moduli.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "recoil/particles/effective_moduli.hpp"

namespace recoil::app {

namespace {

particles::LatticeKind lattice_of(const ParticleBody& body) {
  return body.packing == Packing::fcc ? particles::LatticeKind::fcc : particles::LatticeKind::hcp;
}

const ParticleBody& find_particle_body(const Scene& scene, const std::string& name) {
  return *std::ranges::find(scene.particle_bodies, name, &ParticleBody::body);
}

particles::Stiffness stiffness_of(const ParticleBody& body, const BondMaterialEntry& material, double young) {
  return material.section * material.section * effective_stiffness(lattice_of(body), young, material.nu);
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
  return -of_bonds * particles::young_modulus_by_poisson(lattice_of(body), of_bonds, material.nu, x) /
         (material.E / (material.section * material.section));
}

std::vector<LatticeModuli> lattice_moduli(const Scene& scene) {
  const Eigen::Vector3d x = Eigen::Vector3d::UnitX(), y = Eigen::Vector3d::UnitY(),
                        z = Eigen::Vector3d::UnitZ();
  std::vector<LatticeModuli> all;
  for (const ParticleBody& body : scene.particle_bodies) {
    if (!body.is_simple_lattice()) continue;
    const double of_bonds = bond_modulus(scene, body.body);
    const particles::Stiffness stiffness =
        stiffness_of(body, *find_bond_material(scene, body.body), of_bonds);
    all.push_back({body.body, of_bonds, particles::young_modulus(stiffness, x),
                   particles::young_modulus(stiffness, z), particles::poisson_ratio(stiffness, x, y)});
  }
  return all;
}

std::string describe(const LatticeModuli& moduli) {
  return fmt::format("{}: E of bonds {:.6g} Pa; of the lattice E_x {:.6g} Pa, E_z {:.6g} Pa, nu_xy {:.4g}",
                     moduli.body, moduli.of_bonds, moduli.young_x, moduli.young_z, moduli.poisson_xy);
}

} // namespace recoil::app
