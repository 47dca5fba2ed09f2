#pragma once

#include <vector>

#include "app/study/parameters/parameter_kind.hpp"

namespace recoil::app {

/// Corners of the rest vertices of the flagged vertices over all ranks. Collective.
template <int dim>
Eigen::AlignedBox<double, dim> box_of(const SlotBuilder<dim>& builder, const std::vector<char>& flags);

/// A slot for each vertex of the boundary of the selected bodies that the basis lets move, or for each group
/// of them that moves as one, and what makes the vertices inside follow. Collective. @throws InputError on
/// every rank where no vertex is on a surface, or one has no partner across a period.
template <int dim>
void make_boundary_slots(const SlotBuilder<dim>& builder, ParameterField<dim>& field,
                         const std::vector<char>& selected);

} // namespace recoil::app
