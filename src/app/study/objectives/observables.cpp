#include "recoil/app/study/objectives/observables.hpp"

#include <stdexcept>

#include "app/study/objectives/match_meshes.hpp"

namespace recoil::app {

const char* name_of(ObservableKind kind) {
  using enum ObservableKind;
  switch (kind) {
  case points:
    return "points that move with a body";
  case point_ids:
    return "points with an id";
  case strain:
    return "the strain at a point";
  case center_of_mass:
    return "the centre of mass";
  case volume_moment:
    return "the integral of positions";
  case field:
    return "a field over the volume";
  case boundary:
    return "facets of the boundary";
  case support_force:
    return "the force of a support";
  case contact_forces:
    return "forces of contact";
  case elastic_energy:
    return "the elastic energy";
  case cell_stress:
    return "the stress of a cell that repeats";
  case stress:
    return "the stress in elements";
  case rest_shape:
    return "the elements of a rest shape";
  case surfaces:
    return "the surfaces of elements";
  default:
    return "the elastic constants of elements";
  }
}

void lacks_observable() {
  throw std::logic_error("an objective asks for what the solver does not say that it has");
}

template <int dim>
MeshRows<dim> Specimen<dim>::rows() const {
  lacks_observable();
}
template MeshRows<2> Specimen<2>::rows() const;
template MeshRows<3> Specimen<3>::rows() const;

template <int dim>
void require_prescribed(const parallel::Communicator& comm, const Support<dim>& support, bool is_free) {
  if (comm.any(is_free))
    throw InputError(support.where.of("direction"),
                     "forces are given over the displacement, and the displacement of boundary " +
                         std::to_string(*support.boundary) + " along this direction is not prescribed");
}
template void require_prescribed(const parallel::Communicator&, const Support<2>&, bool);
template void require_prescribed(const parallel::Communicator&, const Support<3>&, bool);

} // namespace recoil::app
