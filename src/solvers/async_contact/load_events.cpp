#include <fmt/format.h>

#include "solvers/async_contact/engine.hpp"

namespace recoil::solvers::async_contact {

/// Enters into the ledger an impulse that a load is about to give to a vertex at `q`. False: it is no number.
bool Integrator::Engine::enter_load(LocalIndex vertex, const Eigen::Vector3d& q, Tick t,
                                    const Eigen::Vector3d& impulse) {
  if (!impulse.allFinite()) {
    fail(Outcome::no_value,
         fmt::format("a load on {} has no finite value at {} s", model.name_of(vertex), seconds(t)));
    return false;
  }
  const VertexState& x = vertices[vertex];
  book->load_work += impulse.dot(x.v) + 0.5 * x.inverse_mass * impulse.squaredNorm();
  add(*book, &Ledger::load_impulse, impulse);
  add(*book, &Ledger::load_torque, q.cross(impulse));
  return true;
}

void Integrator::Engine::accelerate(LocalIndex vertex, Tick t) {
  const VertexState& x = vertices[vertex];
  const Eigen::Vector3d impulse =
      seconds(clocks[0].step) / x.inverse_mass * model.acceleration(vertex, seconds(t));
  if (enter_load(vertex, x.q, t, impulse)) kick(vertex, x.q, t, impulse);
}

void Integrator::Engine::load_event(std::int32_t index, Tick t) {
  const SurfaceLoad& load = model.loads[index];
  if (!meet(load.vertices)) return;
  ++counts.elements;
  const double h = seconds(clocks[first_load + index].step);
  const Points<3> x = positions(load.vertices, t);
  const Eigen::Vector3d share = load.force(x, seconds(t)) / 3;
  for (int i = 0; i < 3; ++i)
    if (!enter_load(load.vertices[i], x.col(i), t, h * share)) return;
  kick_all(load.vertices, x, t, h, (-share).eval().replicate<1, 3>().eval(), load_rows, index);
}

} // namespace recoil::solvers::async_contact
