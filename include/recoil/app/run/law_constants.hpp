#pragma once

#include <string>
#include <vector>

#include "recoil/app/scene/item.hpp"
#include "recoil/app/scene/scene.hpp"
#include "recoil/potentials/laws/law.hpp"

namespace recoil::app {

/// Names and second names of all laws, as `materials/*/type` has them.
std::vector<std::string> law_names();

/// One of the constants that a law needs, under its name in the scene; terms of lists as `mus_1`, ..
struct GivenConstant {
  std::string name;
  MaterialValue value;
};

/// A value of a material: a file or a formula of x, y, z. @throws InputError for formulas of t.
MaterialValue material_value(const Item& item);

/// The constants of `law` in an entry of `materials`: E [Pa] and nu, or all parameters of the law but terms
/// that its lists leave out, in its order. Of both elastic pairs E and nu win, with a warning in the scene.
/// @throws InputError for what is missing, does not fit together, or belongs to other laws.
std::vector<GivenConstant> law_constants(const Item& entry, const potentials::LawInfo& law, Scene& scene);

} // namespace recoil::app
