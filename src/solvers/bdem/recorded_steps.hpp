#pragma once

#include <memory>

#include "recoil/solvers/bdem/solver.hpp"
#include "recoil/stepping/differentiable_step.hpp"

namespace recoil::solvers {

/// The steps of a recorded run of bonded particles in which no bond has been severed, for the reverse and for
/// the tangent-linear sweep; on the bonds that are intact now. Everything must outlive them. Collective.
/// @throws InputError for integrators without an adjoint, and where some of the rotations of a particle are
/// prescribed and others not, which depend on the path that Newton's method takes.
std::unique_ptr<stepping::MapReverseStep> make_recorded_step(BondedParticles& problem,
                                                             const BondedParticlesOptions& options,
                                                             stepping::SweepProducts<3>& products);
std::unique_ptr<stepping::MapTangentStep> make_tangent_step(BondedParticles& problem,
                                                            const BondedParticlesOptions& options,
                                                            stepping::SweepDirections<3>& directions);

} // namespace recoil::solvers
