#pragma once

#include "recoil/solvers/async_contact/ledger.hpp"

namespace recoil::solvers::async_contact {

/// Calls `act` with each number of a ledger, in one order.
template <class Sums, class Action>
void visit_sums(Sums& ledger, const Action& act) {
  const auto visit = [&](auto& sums) {
    for (auto* sum : {&sums.wall_impulse, &sums.wall_torque, &sums.gravity_impulse, &sums.gravity_torque,
                      &sums.friction_torque, &sums.load_impulse, &sums.load_torque})
      for (int i = 0; i < 3; ++i) act((*sum)[i]);
  };
  visit(ledger);
  visit(ledger.excess);
  for (auto* sum : {&ledger.wall_work, &ledger.restitution, &ledger.friction, &ledger.stretch_damping,
                    &ledger.bend_damping, &ledger.spring_damping, &ledger.plasticity, &ledger.load_work})
    act(*sum);
}

/// Adds a term to a sum of impulses [Kahan 1965].
inline void add(Ledger& ledger, Eigen::Vector3d ImpulseSums::*which, const Eigen::Vector3d& term) {
  Eigen::Vector3d &sum = ledger.*which, &excess = ledger.excess.*which;
  const Eigen::Vector3d rest = term - excess, next = sum + rest;
  excess = (next - sum) - rest;
  sum = next;
}

/// Adds what another ledger has.
inline void add(Ledger& ledger, const Ledger& other) {
  for (const auto which :
       {&ImpulseSums::wall_impulse, &ImpulseSums::wall_torque, &ImpulseSums::gravity_impulse,
        &ImpulseSums::gravity_torque, &ImpulseSums::friction_torque, &ImpulseSums::load_impulse,
        &ImpulseSums::load_torque}) {
    add(ledger, which, other.*which);
    ledger.excess.*which += other.excess.*which;
  }
  for (const auto which :
       {&Ledger::wall_work, &Ledger::restitution, &Ledger::friction, &Ledger::stretch_damping,
        &Ledger::bend_damping, &Ledger::spring_damping, &Ledger::plasticity, &Ledger::load_work})
    ledger.*which += other.*which;
}

} // namespace recoil::solvers::async_contact
