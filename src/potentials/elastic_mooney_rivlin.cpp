#include "potentials/elastic_impl.hpp"
#include "recoil/potentials/laws/mooney_rivlin.hpp"

namespace recoil::potentials {

template std::unique_ptr<ElasticPotential<2>>
make_elastic<2, MooneyRivlin<2>>(const fem::FunctionSpace<2>&, std::shared_ptr<const fem::CellGeometry<2>>,
                                 int, std::vector<LocalIndex>, parameters::CellField<3>);
template std::unique_ptr<ElasticPotential<3>>
make_elastic<3, MooneyRivlin<3>>(const fem::FunctionSpace<3>&, std::shared_ptr<const fem::CellGeometry<3>>,
                                 int, std::vector<LocalIndex>, parameters::CellField<3>);

} // namespace recoil::potentials
