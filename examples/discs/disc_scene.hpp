#pragma once

#include "discs/discs.hpp"
#include "recoil/app/scene/scene.hpp"

namespace recoil::discs {

/// `solver/discs`.
struct DiscSpec {
  double mass = reference_values[discs::mass], stiffness = reference_values[discs::stiffness],
         drag = reference_values[discs::drag];

  Parameters parameters() const {
    Parameters q = reference;
    q[discs::mass] = mass;
    q[discs::stiffness] = stiffness;
    q[discs::drag] = drag;
    return q;
  }
};

struct DiscScene : app::SolverSceneOf<DiscScene> {
  DiscSpec spec;

  std::vector<std::filesystem::path> files() const override { return {}; }
};

} // namespace recoil::discs
