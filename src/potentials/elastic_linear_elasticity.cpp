#include "potentials/elastic_impl.hpp"
#include "recoil/potentials/laws/linear_elasticity.hpp"

namespace recoil::potentials {

template std::unique_ptr<ElasticPotential<2>>
make_elastic<2, LinearElasticity<2>>(const fem::FunctionSpace<2>&,
                                     std::shared_ptr<const fem::CellGeometry<2>>, int,
                                     std::vector<LocalIndex>, parameters::CellField<2>);
template std::unique_ptr<ElasticPotential<3>>
make_elastic<3, LinearElasticity<3>>(const fem::FunctionSpace<3>&,
                                     std::shared_ptr<const fem::CellGeometry<3>>, int,
                                     std::vector<LocalIndex>, parameters::CellField<2>);

} // namespace recoil::potentials
