#pragma once

#include <span>
#include <string>
#include <vector>

#include "recoil/app/study/base/study_folder.hpp"
#include "recoil/app/study/objectives/experiment_objectives.hpp"

namespace recoil::app {

/// An observation, what stands in its place at some values, and how well that is known.
struct BandRow {
  std::size_t term = 0; ///< index of the objective among those of the experiment
  std::string point, component;
  double time = 0;
  int line = 0;
  double observed = 0, sd = 1; ///< of the datum
  double fitted = 0, deviation = 0;
  NLOHMANN_DEFINE_TYPE_INTRUSIVE(BandRow, term, point, component, time, line, observed, sd, fitted, deviation)
};

/// The rows of an experiment, by objective, point, component and time.
struct ExperimentBands {
  static constexpr const char* what = "bands";
  std::vector<BandRow> rows;
  std::string failure; ///< why there are none; empty if there are
  double seconds = 0;
  NLOHMANN_DEFINE_TYPE_INTRUSIVE(ExperimentBands, rows, failure, seconds)
};

/// The rows of all ranks. @param changes of the residuals along independent directions, each a standard
/// deviation long, this rank's rows. Collective.
std::vector<BandRow> gather_bands(const parallel::Communicator& comm, const ResidualRows& rows,
                                  std::span<const double> residuals,
                                  const std::vector<std::vector<double>>& changes);

} // namespace recoil::app
