#include "recoil/app/study/evaluation/residual_report.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "recoil/base/error.hpp"
#include "recoil/inverse/fit_statistics.hpp"

namespace recoil::app {

namespace {

constexpr double suspicious = 0.01;

NamedResidual named(const objectives::ObservationNames& names, const objectives::ResidualLabel& label,
                    double residual) {
  return {names.points.empty() ? "" : names.points[label.point], names.components[label.component],
          label.time, residual, label.line};
}

void keep_worst(std::vector<NamedResidual>& worst) {
  std::ranges::stable_sort(worst, std::ranges::greater(),
                           [](const NamedResidual& one) { return std::abs(one.residual); });
  worst.resize(std::min(worst.size(), ObjectiveResiduals::most_worst));
}

void add(ObjectiveResiduals& sum, ObjectiveResiduals&& more) {
  sum.squares += more.squares;
  sum.data += more.data;
  sum.outliers += more.outliers;
  sum.outlier_squares += more.outlier_squares;
  std::ranges::move(more.worst, std::back_inserter(sum.worst));
  keep_worst(sum.worst);
  sum.tested += more.tested;
  if (more.least_runs_p >= sum.least_runs_p) return;
  sum.least_runs_p = more.least_runs_p;
  sum.least_runs = std::move(more.least_runs);
}

/// The residuals of one component of one point by rising time.
struct Series {
  NamedResidual first;
  std::vector<double> residuals;
};

void test(const Series& series, ObjectiveResiduals& of) {
  const inverse::RunsTest found = inverse::runs_test(series.residuals);
  if (found.positive + found.negative < ObjectiveResiduals::fewest_in_series) return;
  if (found.positive == 0 || found.negative == 0) return;
  ++of.tested;
  if (found.p_value >= of.least_runs_p) return;
  of.least_runs_p = found.p_value;
  of.least_runs = series.first;
}

/// What a residual would be without a loss, or with the factor on the standard deviations.
double without_loss(double residual, double factor, const ResidualRows::Term& term) {
  return term.loss ? factor * term.loss->misfit(residual / factor) : residual / term.sd_factor;
}

/// A summary of the residuals of this rank, which has all of a series or nothing.
std::vector<ObjectiveResiduals> summarise_own(const ResidualRows& rows, std::span<const double> residuals) {
  std::vector<ObjectiveResiduals> terms(rows.terms.size());
  std::map<std::tuple<std::size_t, std::int32_t, std::int32_t>, Series> all;
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    const auto& [term, label, factor] = rows.rows[i];
    if (!label.is_observed) continue;
    const ResidualRows::Term& about = rows.terms[term];
    const double r = without_loss(residuals[i], factor, about);
    terms[term].squares += r * r;
    ++terms[term].data;
    if (about.has_deviations && about.counts_once && std::abs(r) > ObjectiveResiduals::far) {
      ++terms[term].outliers;
      terms[term].outlier_squares += r * r;
    }
    const objectives::ObservationNames& names = about.names;
    if (names.components.empty()) continue;
    const auto [series, is_new] = all.try_emplace({term, label.point, label.component});
    if (is_new) series->second.first = named(names, label, r);
    series->second.residuals.push_back(r);
    std::vector<NamedResidual>& worst = terms[term].worst;
    if (worst.size() == ObjectiveResiduals::most_worst && std::abs(r) <= std::abs(worst.back().residual))
      continue;
    worst.push_back(named(names, label, r));
    keep_worst(worst);
  }
  for (const auto& [key, series] : all)
    if (const std::size_t term = std::get<0>(key); rows.terms[term].counts_once) test(series, terms[term]);
  return terms;
}

Json describe(const NamedResidual& one) {
  Json entry;
  if (!one.point.empty()) entry["point"] = one.point;
  entry["component"] = one.component;
  return entry;
}

} // namespace

std::vector<ObjectiveResiduals> summarise_residuals(const parallel::Communicator& comm,
                                                    const ResidualRows& rows,
                                                    std::span<const double> residuals) {
  RECOIL_ASSERT(rows.rows.size() == residuals.size());
  std::vector<ObjectiveResiduals> terms(rows.terms.size());
  for (const std::string& text : comm.all_gather(nlohmann::json(summarise_own(rows, residuals)).dump())) {
    auto of_rank = nlohmann::json::parse(text).get<std::vector<ObjectiveResiduals>>();
    for (std::size_t k = 0; k < terms.size(); ++k) add(terms[k], std::move(of_rank[k]));
  }
  return terms;
}

Json describe_residuals(const Study& study, const std::vector<ExperimentResiduals>& experiments) {
  Json result;
  for_each_objective(study, experiments, [&](const ObjectiveSpec& spec, const ObjectiveResiduals& found) {
    Json& entry = result[spec.name];
    entry["experiment"] = study.experiments[spec.experiment].name;
    entry["chi_squared"] = found.squares;
    entry["data"] = found.data;
    entry["outliers"] = found.outliers;
    entry["runs_p"] = nullptr;
    if (found.tested > 0) {
      entry["runs_p"] = std::min(1.0, found.tested * found.least_runs_p);
      entry["runs_of"] = describe(found.least_runs);
    }
    entry["worst"] = Json::array();
    for (const NamedResidual& one : found.worst) {
      Json& place = entry["worst"].emplace_back(describe(one));
      place["time"] = one.time;
      place["residual"] = one.residual;
      if (one.line > 0) place["line"] = one.line;
    }
  });
  return result;
}

std::string suspicious_residuals(const Study& study, const std::vector<ExperimentResiduals>& experiments) {
  int tested = 0;
  double least = 1;
  std::string where;
  for_each_objective(study, experiments, [&](const ObjectiveSpec& spec, const ObjectiveResiduals& found) {
    tested += found.tested;
    if (found.least_runs_p >= least) return;
    least = found.least_runs_p;
    where = fmt::format("'{}' in experiment '{}'{}, {}", spec.name, study.experiments[spec.experiment].name,
                        found.least_runs.point.empty() ? "" : fmt::format(" at '{}'", found.least_runs.point),
                        found.least_runs.component);
  });
  if (tested == 0 || tested * least >= suspicious) return "";
  return fmt::format(
      "the residuals of {} have their signs in an order that noise hardly has (runs test, p = "
      "{:.2g} for {} series): the model lacks something there, or the noise is not independent",
      where, tested * least, tested);
}

} // namespace recoil::app
