#pragma once

#include "recoil/solvers/async_contact/ledger.hpp"

namespace recoil::solvers::async_contact {

/// Calls `act` with each number of a ledger, in one order.
template <class Sums, class Action>
void visit_sums(Sums& ledger, const Action& act) {
  for (auto* sum : {&ledger.wall_impulse, &ledger.wall_torque, &ledger.gravity_impulse,
                    &ledger.gravity_torque, &ledger.friction_torque})
    for (int i = 0; i < 3; ++i) act((*sum)[i]);
  for (auto* sum : {&ledger.wall_work, &ledger.restitution, &ledger.friction, &ledger.stretch_damping,
                    &ledger.bend_damping, &ledger.spring_damping, &ledger.plasticity})
    act(*sum);
}

} // namespace recoil::solvers::async_contact
