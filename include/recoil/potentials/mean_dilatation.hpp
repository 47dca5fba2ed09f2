#pragma once

#include "recoil/potentials/elastic.hpp"

namespace recoil::potentials {

/// The elastic energy sum_q w_q W(Fbar_q) of a law whose change of volume is nearly the mean of each cell
/// [Simo, Taylor & Pister 1985; de Souza Neto et al. 1996]: with J = det F and its mean Jbar = sum_q w_q J_q
/// / sum_q w_q,
///
///     Fbar = (Jbar / J)^(m/dim) F,    of laws of linear theory  Fbar = F + m (Jbar - J)/dim I  with J = 1 +
///     tr(F - I).
///
/// On cells of order 2 nearly incompressible bodies then hardly lock up to nu = 0.4999. m = 0.95: the rest of
/// J, which takes part with the square of 0.05 of the bulk modulus, keeps fields from being soft whose
/// dilatation has the mean zero in every cell. Everything else is as in make_elastic(), of which stresses are
/// those at Fbar.
/// @param order 2: linear cells have one J anyway, and one pressure is too few for higher orders.
template <int dim>
std::unique_ptr<ElasticPotential<dim>>
make_mean_dilatation(const LawInfo& law, const fem::FunctionSpace<dim>& space,
                     std::shared_ptr<const fem::CellGeometry<dim>> geometry, int order,
                     std::vector<LocalIndex> cells, parameters::CellField constants);

} // namespace recoil::potentials
