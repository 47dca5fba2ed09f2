#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "recoil/objectives/observable.hpp"
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

/// Which vector field is compared.
enum class VectorField { displacement, position, velocity };

/// sqrt(w) (f - f*) at the quadrature points of the rest region, or of boundary facets of it, f the field, f*
/// the reference and w the weights, so that the sum of squares is int |f - f*|^2, by quadrature exact for
/// nodal fields [Huang et al. 2024, section 8]: [m^(dim+2) or m^(dim+1)], of velocities per s^2. Collective.
/// @param name of the objective, for messages.
/// @param facets which boundary facets of the region, `all` = also those without an id; none given = the
/// volume.
/// @param components which of the vector count, 0 to dim - 1; none given = all.
/// @throws InputError on every rank where no facet of the region is selected, and for other components.
template <int dim>
std::unique_ptr<Observable<dim>>
observe_deviation(std::string_view name, const Region<dim>& region, VectorField field,
                  ReferenceField reference, const std::optional<potentials::FacetSelection>& facets = {},
                  std::vector<int> components = {});

} // namespace recoil::objectives
