#pragma once

#include "recoil/app/study/objectives/objective_type.hpp"

/// What target_displacement and target_position take beside their reference. Each option is one source of
/// this folder, named in registry.cpp.
namespace recoil::app {

/// What of the difference counts, as objectives::make_target_displacement() takes it.
struct TargetPart {
  std::optional<potentials::FacetSelection> facets; ///< none: the volume
  std::vector<int> components;                      ///< none: all
};

/// One row of the table of options.
struct TargetOption {
  std::vector<Key> keys; ///< in the order of the documentation
  /// Reads these keys, where they are written.
  void (*read)(const Item& entry, TargetPart& part);
  /// Refuses what cannot be of `dim` dimensions; null: nothing. @throws InputError.
  void (*check_dimension)(const TargetPart& part, const Places& where, int dim) = nullptr;
  /// Refuses what does not fit the scene; null: nothing. @throws InputError.
  void (*check)(const TargetPart& part, const ObjectiveSpec& spec, const ExperimentScene& at) = nullptr;
};

const std::vector<TargetOption>& target_options();

} // namespace recoil::app
