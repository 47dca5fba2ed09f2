#pragma once

namespace recoil::potentials {

/// Damping of a contact in which as much energy is left whatever presses the two together. Two bodies of the
/// reduced mass m that approach each other at the speed u, held apart by the force N of the energy W, meet
///
///     F = N psi(gamma u sqrt(m/W)),     psi(z) = 1 + z / sqrt(1 + z^2).
///
/// With w = sqrt(W/m), u du = -2 psi(gamma u/w) w dw has neither N nor m in it: the speeds before and after
/// are in a ratio e(gamma) that is the same for every law N(gap), mass and speed. For small z this is the
/// dashpot c = gamma N sqrt(m/W), of Hertz' law that of Tsuji, Tanaka, Ishida 1992 (c as the fourth root of
/// the depth); psi in place of 1 + z keeps the force continuous where contact begins, and never pulls.
/// Coefficient of restitution e of gamma >= 0.
double restitution_of_damping(double gamma);

/// The gamma with this coefficient of restitution, 0 for 1. @pre 0 < restitution <= 1.
double damping_of_restitution(double restitution);

} // namespace recoil::potentials
