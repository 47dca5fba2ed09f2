#pragma once

#include <memory>

#include "recoil/solvers/bdem/solver.hpp"
#include "recoil/solvers/bdem/sweep_products.hpp"
#include "recoil/stepping/differentiable_step.hpp"

namespace recoil::solvers {

/// The steps of a recorded run of bonded particles in which no bond has been severed, for the reverse and for
/// the tangent-linear sweep; on the bonds that are intact now. Everything must outlive them. Collective.
/// @throws InputError for integrators without an adjoint, and where some of the rotations of a particle are
/// prescribed and others not, which depend on the path that Newton's method takes.
std::unique_ptr<stepping::DifferentiableStep> make_recorded_step(BondedParticles& problem,
                                                                 const BondedParticlesOptions& options,
                                                                 BondedSweepProducts& products);
std::unique_ptr<stepping::TangentStep> make_tangent_step(BondedParticles& problem,
                                                         const BondedParticlesOptions& options,
                                                         BondedSweepDirections& directions);

} // namespace recoil::solvers
