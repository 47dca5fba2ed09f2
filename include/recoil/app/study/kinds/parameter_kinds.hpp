#pragma once

#include <span>
#include <string>
#include <vector>

#include "recoil/app/study/base/experiment_scene.hpp"
#include "recoil/app/study/fields/parameter_kind.hpp"

/// The table of kinds of parameters.
namespace recoil::app {

struct MaterialEntry;

std::span<const ParameterKind> parameter_kinds();
/// nullptr for an unknown name.
const ParameterKind* find_parameter_kind(const std::string& name);

/// The keys that choose cells.
std::vector<std::string> cell_keys();

/// Whether a parameter of this kind acts in the experiment.
bool has_parameter(const ExperimentScene& at, const std::string& kind);

/// Whether a parameter can stand for a constant of elements with this material: its law, its damping, and
/// formulas that the parameter would replace. For elements as they are found on the mesh; what is certain
/// without it, check_study_against_scenes has checked. Quantities other than material constants pass.
/// @throws InputError naming the parameter, the material entry and the body.
void check_replaces_material(const ParameterSpec& parameter, const MaterialEntry& material,
                             const std::string& body);

} // namespace recoil::app
