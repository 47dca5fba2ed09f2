#include "app/solvers/async_contact/scripted_motion.hpp"

#include <algorithm>
#include <cmath>

#include "recoil/app/run/finite_values.hpp"

namespace recoil::app {
namespace {

using Eigen::Vector3d;
using solvers::async_contact::Model;
using solvers::async_contact::Script;

/// Velocities that differ by less are one: rounding of displacements makes them differ.
constexpr double alike = 1e-9;

Vector3d displacement(const DirichletEntry& entry, const Vector3d& rest, double time) {
  const ExpressionPoint at{rest[0], rest[1], rest[2], time};
  Vector3d result;
  for (int i = 0; i < 3; ++i)
    result[i] = require_finite(entry.evaluate(i, at), entry.where, "prescribed displacement", i, at);
  return result;
}

bool moves_as_one(const DirichletEntry& entry) {
  return std::ranges::none_of(entry.value, [](const ComponentValue& component) {
    return component.value.depends_on_position() ||
           std::ranges::any_of(component.per_time, &Expression::depends_on_position);
  });
}

/// Velocities from multiples of `step` on, as changes: each row brings what was reached by the rows before,
/// as the clock of the run rounds times, back to what is prescribed.
std::vector<Script::Entry> velocities(const DirichletEntry& entry, const TimeSpec& time, double step,
                                      const Vector3d& rest, const Model& model) {
  const double end = time.steps * time.dt;
  const auto count = static_cast<std::int64_t>(std::ceil(end / step * (1 - 1e-12)));
  const auto clock = [&](std::int64_t k) { return model.tick.to_seconds(model.tick.floor(k * step)); };
  std::vector<Script::Entry> rows;
  Vector3d reached = displacement(entry, rest, time.t0);
  for (std::int64_t k = 0; k < count; ++k) {
    const double begins = clock(k), ends = clock(k + 1);
    const Vector3d target = displacement(entry, rest, time.t0 + (k + 1) * step);
    const Vector3d velocity = (target - reached) / (ends - begins);
    if (rows.empty() || (velocity - rows.back().velocity).norm() >
                            alike * std::max(velocity.norm(), rows.back().velocity.norm()))
      rows.push_back({begins, velocity});
    reached += (ends - begins) * rows.back().velocity;
  }
  return rows;
}

} // namespace

void add_motion(const DirichletEntry& entry, const TimeSpec& time, double step,
                const std::vector<LocalIndex>& vertices, const std::vector<Vector3d>& rest, Model& model) {
  const auto follow = [&](const std::vector<LocalIndex>& list, const Vector3d& from) {
    std::vector<Script::Entry> rows = velocities(entry, time, step, from, model);
    for (const LocalIndex v : list) model.velocities[v] = rows.front().velocity;
    rows.erase(rows.begin());
    if (!rows.empty()) model.scripts.push_back({list, std::move(rows)});
  };
  for (std::size_t i = 0; i < vertices.size(); ++i)
    model.positions[vertices[i]] = rest[i] + displacement(entry, rest[i], time.t0);
  if (vertices.empty()) return;
  if (moves_as_one(entry)) return follow(vertices, rest.front());
  for (std::size_t i = 0; i < vertices.size(); ++i) follow({vertices[i]}, rest[i]);
}

} // namespace recoil::app
