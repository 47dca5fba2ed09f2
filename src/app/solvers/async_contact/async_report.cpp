#include "app/solvers/async_contact/async_report.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace recoil::app {
namespace {

using solvers::async_contact::Model;

/// Steps of some forces.
struct Steps {
  double least = std::numeric_limits<double>::infinity(), most = 0, rate = 0; ///< [s], [s], [1/s]

  void add(double step) {
    least = std::min(least, step);
    most = std::max(most, step);
    rate += 1 / step;
  }
};

std::string describe_kind(const AsyncBody& body) {
  switch (body.kind) {
  case AsyncBodyKind::spheres:
    return fmt::format("{}: {} spheres, {} springs", body.name, body.count, body.springs);
  case AsyncBodyKind::solid:
    return fmt::format("{}: solid, {} vertices, {} tetrahedra", body.name, body.count, body.tetrahedra);
  default:
    return fmt::format("{}: shell, {} vertices, {} triangles", body.name, body.count, body.triangles);
  }
}

std::string describe_body(const AsyncModel& of, const AsyncBody& body) {
  double mass = 0;
  LocalIndex held = 0;
  for (LocalIndex v = body.first; v < body.first + body.count; ++v) {
    if (std::isfinite(of.model.masses[v]))
      mass += of.model.masses[v];
    else
      ++held;
  }
  std::string text = describe_kind(body);
  text += fmt::format(", mass {:.6g} kg", mass);
  return held > 0 ? text + fmt::format(", {} prescribed", held) : text;
}

std::string describe_steps(const char* name, const Steps& steps) {
  return fmt::format("steps of {}: {:.3g} to {:.3g} s, {:.3g} a second in all", name, steps.least, steps.most,
                     steps.rate);
}

/// The step of the first layer between two vertices of the least mass, each against the other.
double layer_step(const Model& model) {
  double least = std::numeric_limits<double>::infinity();
  for (const double mass : model.masses) least = std::min(least, mass);
  return model.contact.alpha * 2 / std::sqrt(2 * model.contact.stiffness / (least / 2));
}

} // namespace

std::vector<std::string> describe_model(const AsyncModel& of) {
  std::vector<std::string> lines;
  for (const AsyncBody& body : of.bodies) lines.push_back(describe_body(of, body));
  const auto add = [&](const char* name, const auto& elements) {
    Steps steps;
    for (const auto& element : elements) steps.add(element.step);
    if (!elements.empty()) lines.push_back(describe_steps(name, steps));
  };
  add("triangles", of.model.membranes);
  add("hinges", of.model.hinges);
  add("springs", of.model.springs);
  add("tetrahedra", of.model.solids);
  const Model& model = of.model;
  if (!model.points.empty() || !model.spheres.empty())
    lines.push_back(
        fmt::format("contact: begins at a gap of {:g} m, step of the first layer {:.3g} s at least",
                    2 * model.contact.eta, layer_step(model)));
  return lines;
}

} // namespace recoil::app
