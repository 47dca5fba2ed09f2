#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "recoil/app/study/kinds/parameter_kinds.hpp"

/// What checks of parameters ask of scenes without their meshes, as far as it can be known.
namespace recoil::app {

const mesh::GeometrySpec* find_geometry(const Scene& scene, const std::string& name);
/// Names of obstacles that have a mesh and so can move.
std::vector<std::string> mesh_obstacle_names(const Scene& scene);

/// Materials that elements of a body, with one of these volume ids (none: any), may have.
std::vector<const MaterialEntry*> possible_materials(const Scene& scene, const mesh::GeometrySpec& body,
                                                     const std::vector<int>& regions);

/// Whether a region of the scene may hold elements of one of the bodies (none: any deformable) with one of
/// the volume ids (none: any).
bool may_overlap(const Region& region, const Scene& scene, const std::vector<std::string>& bodies,
                 const std::vector<int>& regions);

/// What moves an obstacle: the first obstacle displacement with its id, else the first Dirichlet value;
/// nullptr if it rests.
const DirichletEntry* find_motion_of(const Scene& scene, const mesh::GeometrySpec& obstacle);

bool depends_on_position(const MaterialValue& value);
bool is_zero(const MaterialValue& value);
/// Gravity or `rhs` act somewhere, some time.
bool has_body_force(const Scene& scene);
bool has_damping(const Scene& scene);

/// A formula or list of a scene that makes a value differ from place to place, or from time to time.
struct Varying {
  std::string formula, where;
};
/// First formula of constrained components that depends on position (of time: on t, or is a list per time).
std::vector<Varying> position_dependence(const DirichletEntry& entry);
std::vector<Varying> time_dependence(const DirichletEntry& entry);
std::vector<Varying> time_dependence(const PressureEntry& entry);
/// The formulas among values that may be values per element, too.
std::vector<Expression> formulas_of(const std::vector<MaterialValue>& values);
std::vector<Varying> position_dependence(const std::vector<Expression>& value, const std::string& where);
std::vector<Varying> time_dependence(const std::vector<Expression>& value, const std::string& where);
/// Formulas that may act on some deformable bodies and depend on where their vertices are.
std::vector<Varying> position_dependence(const Scene& scene, const std::vector<std::string>& moved);

/// What the checks of several kinds of parameters share; all throw InputError at the parameter. First: a
/// formula for a message.
std::string quoted(const Varying& varying);
/// The deformable bodies of a scene that a parameter acts on.
std::vector<const mesh::GeometrySpec*> bodies_of(const ExperimentScene& at, const ParameterSpec& parameter);
/// Bodies are deformable, and volume ids that can be known are there.
void require_bodies_and_regions(const ExperimentScene& at, const ParameterSpec& parameter);
/// Refuses a Poisson's ratio that starts at 0.5, or may become that, where `whose` has to be below it.
void refuse_incompressible(const ParameterSpec& parameter, const std::string& whose);
void require_contact(const ExperimentScene& at, const ParameterSpec& parameter);
/// That what is lagged against sliding is lagged at all.
void require_sliding(const ExperimentScene& at, const ParameterSpec& parameter);
/// Whether a parameter turns a body at the start.
bool may_turn(const ExperimentScene& at, const ParameterSpec& other, const std::string& body);
/// `how`: in what the scene varies, and what to write instead.
void refuse_replaced(const ExperimentScene& at, const ParameterSpec& parameter,
                     const std::vector<Varying>& varying, const std::string& how);

} // namespace recoil::app
