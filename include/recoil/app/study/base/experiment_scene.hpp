#pragma once

#include <set>
#include <string>
#include <vector>

#include "recoil/app/scene/scene.hpp"
#include "recoil/app/study/base/study.hpp"

/// What checks of studies ask of scenes without their meshes, as far as it can be known.
namespace recoil::app {

/// An experiment of a study with its scene.
struct ExperimentScene {
  const Study& study;
  const Experiment& experiment;
  int index;
  const Scene& scene;

  /// Refuses `what` in the name of the key of an entry of the study.
  [[noreturn]] void fail(const Places& places, const std::string& key, const std::string& what) const;
  /// Refuses the quantity of a parameter.
  [[noreturn]] void fail(const ParameterSpec& parameter, const std::string& what) const {
    fail(parameter.where, "quantity", what);
  }
};

/// Refuses names that no deformable body of the scene has.
void require_deformable(const ExperimentScene& at, const std::vector<std::string>& bodies,
                        const std::string& where);

/// Refuses a list of not `expected` components: "`what` needs 3 components in 3D, has 2".
void require_count(std::size_t given, int expected, int dim, const std::string& where,
                   const std::string& what);

/// Ids that selections may give; `complete` unless a file may hold others.
struct KnownIds {
  std::set<int> ids;
  bool complete = true;

  bool may_hold(int id) const { return !complete || ids.contains(id); }
};

/// Ids of the elements of a body.
KnownIds volume_ids(const mesh::GeometrySpec& body);
/// Ids of facets and points of a body, or of all deformable ones.
KnownIds surface_ids(const mesh::GeometrySpec& body);
KnownIds surface_ids(const Scene& scene);

bool is_plane(const Scene& scene, const std::string& name);
bool is_static(const Scene& scene);
/// Friction is part of the steps, be its coefficients zero or not.
bool has_friction(const Scene& scene);
/// "1, 2, 5"; "none".
std::string list_of(const std::set<int>& ids);

} // namespace recoil::app
