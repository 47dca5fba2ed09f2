#include "recoil/app/study/evaluation/bands.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include <nlohmann/json.hpp>

#include "recoil/base/error.hpp"

namespace recoil::app {

namespace {

std::vector<BandRow> own_bands(const ResidualRows& rows, std::span<const double> residuals,
                               const std::vector<std::vector<double>>& changes) {
  std::vector<BandRow> bands;
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    const auto& [term, label, factor] = rows.rows[i];
    const ResidualRows::Term& about = rows.terms[term];
    if (!label.is_observed || about.names.components.empty() || factor == 0) continue;
    // Of the misfit in standard deviations, before a loss.
    const double of_loss = residuals[i] / factor;
    const double misfit = about.loss ? about.loss->misfit(of_loss) : of_loss;
    const double slope = about.loss ? about.loss->slope(misfit) : 1;
    double squares = 0;
    for (const std::vector<double>& change : changes) squares += change[i] * change[i];
    const double sd = 1 / label.inverse_sd;
    bands.push_back({term, about.names.points.empty() ? "" : about.names.points[label.point],
                     about.names.components[label.component], label.time, label.line, label.observed, sd,
                     label.observed + misfit * sd, std::sqrt(squares) / std::abs(factor * slope) * sd});
  }
  return bands;
}

} // namespace

std::vector<BandRow> gather_bands(const parallel::Communicator& comm, const ResidualRows& rows,
                                  std::span<const double> residuals,
                                  const std::vector<std::vector<double>>& changes) {
  RECOIL_ASSERT(rows.rows.size() == residuals.size());
  std::vector<BandRow> all;
  for (const std::string& text :
       comm.all_gather(nlohmann::json(own_bands(rows, residuals, changes)).dump())) {
    const auto of_rank = nlohmann::json::parse(text).get<std::vector<BandRow>>();
    all.insert(all.end(), of_rank.begin(), of_rank.end());
  }
  std::ranges::stable_sort(all, {}, [](const BandRow& row) {
    return std::tuple(row.term, row.point, row.component, row.time, row.line);
  });
  return all;
}

} // namespace recoil::app
