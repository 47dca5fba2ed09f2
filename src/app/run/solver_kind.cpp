#include "recoil/app/run/solver_kind.hpp"

#include <algorithm>

#include "recoil/base/error.hpp"

namespace recoil::app {

SolverKinds::SolverKinds(std::vector<const SolverKind*> kinds) : kinds_(std::move(kinds)) {
  std::vector<const SceneKind*> scenes;
  for (const SolverKind* kind : kinds_) scenes.push_back(&kind->scene);
  format_ = std::make_unique<const SceneFormat>(std::move(scenes));
}

const SolverKind& SolverKinds::of(const Scene& scene) const {
  const auto is_it = [&](const SolverKind* kind) { return scene.solver == kind->scene.name; };
  const auto found = std::ranges::find_if(kinds_, is_it);
  RECOIL_ASSERT(found != kinds_.end());
  return **found;
}

} // namespace recoil::app
