#pragma once

#include "recoil/app/study/objectives/objective_type.hpp"
#include "recoil/app/study/objectives/observables_on_meshes.hpp"

/// What objectives share that compare boundary facets with something in a file.
namespace recoil::app {

inline Key surface_target_key(const char* doc) {
  return {.pattern = "/objectives/*/target", .types = path, .required = true, .doc = doc};
}

/// Base of them.
template <class Type>
struct SurfaceTarget : ObjectiveOf<Type> {
  /// @param file what `target` is, for messages.
  SurfaceTarget(const Item& entry, const std::string& file)
      : target(target_file(entry, file)), facets(facets_of(entry)) {}
  std::vector<std::filesystem::path> files() const override { return {target}; }
  void check(const ExperimentScene& at) const override { require_surface_ids(at, *this, facets); }

  std::filesystem::path target;
  potentials::FacetSelection facets;
};

} // namespace recoil::app
