#pragma once

#include <memory>
#include <vector>

#include "recoil/fem/periodic_boundary.hpp"
#include "recoil/objectives/observable.hpp"
#include "recoil/objectives/region.hpp"
#include "recoil/potentials/elastic.hpp"
#include "recoil/potentials/summand.hpp"

namespace recoil::objectives {

/// Which stress an objective measures. For laws of linear theory both are the same.
enum class StressMeasure { first_piola, cauchy };

/// The elastic energies of a problem, which must outlive the objective; together they cover every cell.
template <int dim>
using ElasticPotentials = std::vector<const potentials::ElasticPotential<dim>*>;

/// J = (int |S|^p dX)^(1/p) over the rest region, |.| the Frobenius norm of the first Piola-Kirchhoff or
/// Cauchy stress S [Pa m^(dim/p)] [Huang et al. 2024, section 8, whose formula lacks the exponent 1/p]. S
/// depends on the constants of the law explicitly. Where the stress vanishes everywhere J has a kink; its
/// derivative is then taken as zero, the subgradient of least norm. Collective.
/// @throws InputError unless p > 1, and for a region with cells outside of `elastic`.
template <int dim>
std::unique_ptr<Objective<dim>> make_stress_norm(Region<dim> region, ElasticPotentials<dim> elastic, double p,
                                                 StressMeasure measure = StressMeasure::first_piola);

/// J = int max(|S| - limit, 0)^2 dX [Pa^2 m^dim], with norm, stress and refusals as make_stress_norm.
/// @param limit [Pa], not negative. Collective.
template <int dim>
std::unique_ptr<Objective<dim>> make_stress_bound(Region<dim> region, ElasticPotentials<dim> elastic,
                                                  double limit,
                                                  StressMeasure measure = StressMeasure::first_piola);

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

/// The stored energies of a cell, each with its factor.
template <int dim>
using StoredEnergies = std::vector<potentials::Summand<dim>>;

/// The macroscopic first Piola-Kirchhoff stress [Pa] of a periodic cell, dim x dim numbers, row by row:
///   P_ij = (1/V) sum over nodes a of dE/du_ai X_aj,
/// V the volume of the cell, holes included. It is the derivative of the energy E per volume by the
/// macroscopic displacement gradient [Hill 1972, Proc. R. Soc. A 326:131-147]; where E is elastic alone it is
/// the mean over the cell of the stress. What touches itself across a hole has its share. All must outlive
/// it. Collective.
template <int dim>
std::unique_ptr<Observable<dim>> observe_cell_stress(const fem::FunctionSpace<dim>& space,
                                                     const fem::PeriodicBoundary<dim>& periodic,
                                                     StoredEnergies<dim> energies);

/// int W dX [J]; one number, without tangents. Collective. @throws InputError for a region with cells outside
/// of `elastic`.
template <int dim>
std::unique_ptr<Observable<dim>> observe_elastic_energy(Region<dim> region, ElasticPotentials<dim> elastic);

/// J = int P : grad u dX [J (per unit thickness in 2D)], P the first Piola-Kirchhoff stress. In equilibrium
/// without prescribed displacements other than zero that is the work f.u of the loads f at the end of their
/// way, the compliance of topology optimisation [Bendsoe and Sigmund 2004, section 1.1], and of laws of
/// linear theory twice the elastic energy. Refusals as make_stress_norm. Collective.
template <int dim>
std::unique_ptr<Objective<dim>> make_compliance(Region<dim> region, ElasticPotentials<dim> elastic);

} // namespace recoil::objectives
