#pragma once

#include <span>
#include <vector>

#include "recoil/app/scene/scene.hpp"
#include "recoil/mesh/simplex_mesh.hpp"
#include "recoil/solvers/async_contact/model.hpp"

namespace recoil::app {

/// Gravity less `rhs`: what is constant as the gravity of the model, else an acceleration by rest position
/// and time. `rest`: of the vertices of bodies, which come first. @throws InputError for values that are not
/// finite at the start.
void add_body_force(const Scene& scene, std::span<const Eigen::Vector3d> rest,
                    solvers::async_contact::Model& model);

/// Tractions and pressures on the triangles of bodies to which `surface_selection` gives ids, by the places
/// of their middles. `surfaces`: of bodies, oriented as in their files; `vertices`: of the model, of each
/// vertex of the surfaces one after the other. @throws InputError for a load without a triangle or a finite
/// value at the start.
void add_surface_loads(const Scene& scene, std::span<const mesh::SurfaceMesh> surfaces,
                       std::span<const LocalIndex> vertices, solvers::async_contact::Model& model);

} // namespace recoil::app
