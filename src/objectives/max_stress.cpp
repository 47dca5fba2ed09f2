#include "recoil/objectives/max_stress.hpp"

#include "objectives/stress_integrals.hpp"

namespace recoil::objectives {

namespace {

/// The rest volume.
template <int dim>
double volume_of(const Region<dim>& region) {
  double sum = 0;
  for (LocalIndex cell = 0; cell < region.mesh().num_owned_cells; ++cell)
    if (region.selects(cell)) sum += region.geometry->weight_factor(cell) / (dim == 2 ? 2 : 6);
  return region.comm().sum(sum);
}

} // namespace

template <int dim>
std::unique_ptr<Objective<dim>> make_max_stress(Region<dim> region, ElasticPotentials<dim> elastic, double p,
                                                StressMeasure measure) {
  const double volume = volume_of(region);
  return make_power_mean<dim>("max_stress", std::move(region), std::move(elastic), p, measure, volume);
}

template std::unique_ptr<Objective<2>> make_max_stress(Region<2>, ElasticPotentials<2>, double,
                                                       StressMeasure);
template std::unique_ptr<Objective<3>> make_max_stress(Region<3>, ElasticPotentials<3>, double,
                                                       StressMeasure);

} // namespace recoil::objectives
