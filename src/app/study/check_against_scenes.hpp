#pragma once

#include "recoil/app/study/read_study.hpp"

namespace recoil::app {

/// One experiment of a study with its scene.
struct ExperimentScene {
  const Study& study;
  const Experiment& experiment;
  int index;
  const Scene& scene;

  /// Refuses `what` in the name of the key of an entry of the study.
  [[noreturn]] void fail(const Places& places, const std::string& key, const std::string& what) const;
  bool has(const ParameterSpec& parameter) const;
  /// A parameter of this kind acts here.
  bool has_parameter(const std::string& kind) const;
};

/// Refuses names that no deformable body of the scene has.
void require_deformable(const ExperimentScene& at, const std::vector<std::string>& bodies,
                        const std::string& where);

/// Refuses a list that has not one component for each of `expected`: "`what` needs 3 components in 3D, has
/// 2".
void require_count(std::size_t given, int expected, int dim, const std::string& where,
                   const std::string& what);

} // namespace recoil::app
