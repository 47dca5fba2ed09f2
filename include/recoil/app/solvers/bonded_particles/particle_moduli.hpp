#pragma once

#include <string>
#include <vector>

#include "recoil/app/scene/scene.hpp"
#include "recoil/particles/effective_moduli.hpp"

namespace recoil::app {

/// The elasticity of a body that is a lattice, along the axes of the lattice: poisson_xy is the contraction
/// along y per extension along x.
struct LatticeModuli {
  std::string body;
  particles::LatticeKind kind = particles::LatticeKind::hcp;
  particles::Stiffness stiffness = {}; ///< [Pa]
  double young_x = 0, young_z = 0;     ///< [Pa]
  double poisson_xy = 0, poisson_zx = 0;
  particles::IsotropicModuli means = {}; ///< [Pa]
};

/// The moduli of all bodies of a scene that are lattices with bonds between nearest neighbours, from
/// particles::effective_stiffness times the square of `section`: stretching and shearing of bonds are in
/// proportion to their sections, bending and torsion do not matter. They hold inside of a body; free surfaces
/// are softer. Not collective.
std::vector<LatticeModuli> lattice_moduli(const Scene& scene);

/// Young's modulus of the bonds of a body [Pa]: `E` of its material or, where that is macroscopic, what gives
/// the lattice this modulus along its x axis. Not collective.
double bond_modulus(const Scene& scene, const std::string& body);

/// d bond_modulus() / d `nu` of the material at fixed `E` [Pa]; zero unless that is macroscopic. Not
/// collective.
double bond_modulus_by_poisson(const Scene& scene, const std::string& body);

/// Two lines, without their ends.
std::vector<std::string> describe(const LatticeModuli& moduli);

} // namespace recoil::app
