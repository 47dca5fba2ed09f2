#pragma once

#include <span>
#include <string>
#include <vector>

#include "recoil/potentials/laws/law.hpp"

/// What a parameter of a study may stand for: the table of quantities. The reader, the checks, the JSON
/// Schema and docs/study.md come from it.
namespace recoil::app {

/// Physical quantities that a parameter can stand for.
enum class Quantity {
  young_modulus,
  poisson_ratio,
  lambda,
  mu_lame,
  density,
  damping_shear,
  damping_bulk,
  friction,
  initial_velocity,
  initial_angular_velocity,
  initial_displacement,
  dirichlet_value,
  obstacle_motion,
  traction,
  pressure,
  body_force,
  shape,
  law_constant ///< the first of those that laws bring along; the others are numbered from here on
};

enum class Components {
  one,    ///< a number
  vector, ///< one per space dimension
  spin,   ///< 1 in 2D, 3 in 3D
  basis   ///< as many as the `basis` of a shape has
};

/// Over what a parameter has one value (with all its components) each.
enum class Per { global, body, element, vertex };

/// Where the quantities of a group act, what they need to be used, what they replace.
enum class QuantityGroup { material, density, damping, contact, initial, prescribed, load, shape };

/// One row of the table of quantities. `takes` and `needs` name the keys of a parameter beside those that
/// all have (`name`, `quantity`, `experiment`, `initial`, `bounds`, `scale`, `tie`).
struct QuantityInfo {
  Quantity quantity;
  const char* name;
  const char* unit; ///< nullptr: none
  Components components;
  QuantityGroup group;
  std::vector<std::string> takes, needs;
  std::vector<Per> per; ///< more than one only with the key `per`; the first is the default
  double min, max;      ///< physically possible values
  bool min_open, max_open;
  std::string doc;
  /// The constant of a material that it stands for, by its name in a scene; empty for other quantities.
  std::string constant = {};
  /// The law that brings this constant along, and what it is there; nullptr for other quantities.
  const potentials::LawInfo* law = nullptr;
  const potentials::LawParameter* parameter = nullptr;

  bool is_possible(double value) const;
};

std::span<const QuantityInfo> quantities();
const QuantityInfo& info(Quantity quantity);
/// nullptr for an unknown name.
const QuantityInfo* find_quantity(const std::string& name);

/// Number of components of one value in `dim` dimensions. @pre not Components::basis.
int num_components(Components components, int dim);

const char* name_of(Per per);

} // namespace recoil::app
