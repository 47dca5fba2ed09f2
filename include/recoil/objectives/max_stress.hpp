#pragma once

#include "recoil/objectives/stress.hpp"

namespace recoil::objectives {

/// J = (int |S|^p dX / V)^(1/p) [Pa], V the rest volume of the region: the p-mean, a smooth maximum of |S|
/// [Duysinx and Sigmund 1998, AIAA-98-4906; Le et al. 2010, Struct. Multidisc. Optim. 41:605-620]. With w the
/// quadrature weight where |S| is largest,
///   (w / V)^(1/p) max |S| <= J <= max |S|,
/// and J grows with p towards the upper bound. It has the scale of the stress (twice the stress is twice J)
/// whatever the size of the bodies, and no point lowers it by being stressed more. A
/// Kreisselmeier-Steinhauser function wants a sharpness in 1/Pa; relative to the current maximum it has the
/// kinks of that. Otherwise as make_stress_norm. Collective.
template <int dim>
std::unique_ptr<Objective<dim>> make_max_stress(Region<dim> region, ElasticPotentials<dim> elastic, double p,
                                                StressMeasure measure = StressMeasure::first_piola);

} // namespace recoil::objectives
