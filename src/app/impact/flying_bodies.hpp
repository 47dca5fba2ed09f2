#pragma once

#include <filesystem>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/impact/impacts_file.hpp"
#include "recoil/app/breakable/breakable_shape.hpp"

namespace recoil::app {

/// Writes the fragments as bodies for `recoil simulate`, body_<fragment>.msh, with scene.json beside them;
/// tells what it wrote. Fragments without a piece of the body have none. @throws FileError.
template <int dim>
nlohmann::ordered_json write_flying_bodies(const BreakableShape<dim>& shape, const BrokenBody<dim>& broken,
                                           const std::vector<FragmentMotion<dim>>& motions,
                                           const BodiesSpec& spec, const std::filesystem::path& folder);

} // namespace recoil::app
