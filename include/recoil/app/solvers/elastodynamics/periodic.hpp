#pragma once

#include <filesystem>

#include "recoil/app/solvers/elastodynamics/discrete_scene.hpp"
#include "recoil/fem/periodic_boundary.hpp"
#include "recoil/potentials/summand.hpp"

namespace recoil::app {

/// The periodic boundary of a scene that has one, which must outlive it. @throws InputError where the entry
/// does not fit the dimension.
template <int dim>
fem::PeriodicSpec<dim> periodic_spec(const Scene& scene);

/// The energies whose derivative by the macroscopic displacement gradient is the stress of a cell.
/// @param barrier_stiffness what the barrier is multiplied by; without meaning where there is no contact.
template <int dim>
std::vector<potentials::Summand<dim>> stored_energies(const solvers::ElastodynamicsProblem<dim>& problem,
                                                      double barrier_stiffness);

/// homogenized.csv of a run of a periodic cell, beside its trajectory: a row per nominal step with its
/// macroscopic displacement gradient H_ij and first Piola-Kirchhoff stress P_ij [Pa]
/// (objectives::observe_cell_stress). Runs of other scenes have no such table.
template <int dim>
class CellTable {
public:
  /// The scene must outlive the table.
  CellTable(DiscreteScene<dim>& discrete, const std::filesystem::path& folder)
      : discrete_(discrete), file_(folder / "homogenized.csv") {}

  /// Keeps the rows of before up to a time, -infinity at the beginning of a run. Collective.
  /// @throws FileError on every rank.
  void begin(double last_time) const;
  /// Adds what belongs to the state that the solver is just showing. Collective.
  /// @throws FileError on every rank.
  void add_step() const;

private:
  DiscreteScene<dim>& discrete_;
  std::filesystem::path file_;
};

} // namespace recoil::app
