#pragma once

#include <filesystem>

#include "app/impact/planned_impacts.hpp"

namespace recoil::app {

/// Applies impacts to one shape, on one rank.
template <int dim>
class Fracturer {
public:
  Fracturer(BreakableShape<dim>& shape, const ImpactsFile& file);

  /// Breaks the shape and writes the folder of the impact, in which pieces.json comes last.
  /// @throws FileError, and InputError as break_body(). Not collective.
  void write(const PlannedImpact<dim>& impact, const std::filesystem::path& folder);

private:
  BreakableShape<dim>* shape_;
  const ImpactsFile* file_;
  solvers::fracture_modes::ImpactSolver solver_;
};

} // namespace recoil::app
