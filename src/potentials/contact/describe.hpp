#pragma once

#include <span>
#include <string>
#include <vector>

#include "recoil/potentials/contact/contact_vertices.hpp"

namespace recoil::potentials {

/// "vertex 7 of 'ball'", "edge (3, 9) of 'floor'" or "face (..) of ..", for messages. Numbers are those of
/// the nodes over all bodies, or of the vertices over all obstacles. Not collective.
template <int dim>
std::string describe_primitive(const fem::CollisionSurface<dim>& surface,
                               const ContactVertices<dim>& vertices, std::span<const LocalIndex> primitive);

/// How many offenders messages name.
inline constexpr std::size_t num_described = 10;

/// Adds the lines of all ranks to `first`, rank after rank, until there are num_described. Collective.
void add_lines(const parallel::Communicator& comm, const std::string& lines, std::vector<std::string>& first);

/// "(1, 2, 0)".
template <int dim>
std::string describe_place(const Eigen::Matrix<double, dim, 1>& place);

} // namespace recoil::potentials
