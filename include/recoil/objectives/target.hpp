#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "recoil/objectives/objective.hpp"
#include "recoil/objectives/region.hpp"
#include "recoil/potentials/loads.hpp"

namespace recoil::objectives {

/// Nodal values of a vector field at a time: dim entries per local node (owned, then ghosts) [m]. The span
/// must stay valid until the next call. The field moves with the mesh: no derivative by rest positions goes
/// through it.
using ReferenceField = std::function<std::span<const double>(double time)>;

/// A reference with the same nodal values at all times. @pre dim entries per local node of the space.
ReferenceField constant_reference(std::vector<double> nodal_values);

/// The values of a function at the nodes, by their rest positions and time.
template <int dim>
ReferenceField nodal_reference(
    const fem::FunctionSpace<dim>& space,
    std::function<Eigen::Matrix<double, dim, 1>(const Eigen::Matrix<double, dim, 1>& rest, double time)>
        value);

/// J = int |u - u*|^2 over the rest region, or over boundary facets of it [m^(dim+2) or m^(dim+1)], by
/// quadrature exact for nodal fields [Huang et al. 2024, section 8]. Collective.
/// @param facets which boundary facets of the region, `all` = also those without an id; none given = the
/// volume.
/// @param components which of the vector count, 0 to dim - 1; none given = all.
/// @throws InputError on every rank where no facet of the region is selected, and for other components.
template <int dim>
std::unique_ptr<Objective<dim>>
make_target_displacement(Region<dim> region, ReferenceField reference,
                         std::optional<potentials::FacetSelection> facets = std::nullopt,
                         std::vector<int> components = {});

/// J = int |X + u - x*|^2, as make_target_displacement with positions. Collective.
template <int dim>
std::unique_ptr<Objective<dim>>
make_target_position(Region<dim> region, ReferenceField reference,
                     std::optional<potentials::FacetSelection> facets = std::nullopt,
                     std::vector<int> components = {});

/// J = int |v - target|^2 dX over the rest region [m^(dim+2)/s^2]. Collective.
template <int dim>
std::unique_ptr<Objective<dim>> make_velocity(Region<dim> region, Eigen::Matrix<double, dim, 1> target);

} // namespace recoil::objectives
