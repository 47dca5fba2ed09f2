#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "recoil/app/study/evaluation/study_objective.hpp"
#include "recoil/base/error.hpp"
#include "recoil/inverse/residual_factor.hpp"

/// What StudyObjective makes of the factors of its experiments where standard deviations of data are known
/// but for factors of their own.
namespace recoil::app {

/// Of the data by values_.
double StudyObjective::deviance() const {
  std::vector<double> squares(study_.sd_factors.size(), 0.0);
  std::vector<std::size_t> next(values_.size(), 0);
  double sum = 0;
  for (const auto& spec : study_.objectives) {
    if (dropped_[spec->experiment] != 0) continue;
    const double term = values_[spec->experiment].terms[next[spec->experiment]++];
    (spec->sd_factor ? squares[*spec->sd_factor] : sum) += term;
  }
  const std::vector<GlobalIndex> data = data_of_factors();
  for (std::size_t k = 0; k < squares.size(); ++k) {
    if (!(squares[k] > 0))
      throw Error(
          ExitCode::no_solution,
          fmt::format("the data of sd_factor '{}' are met exactly: there is no noise whose size could "
                      "be estimated; state their `sd` in place of the factor",
                      study_.sd_factors[k]));
    sum += inverse::concentrated_deviance(squares[k], static_cast<double>(data[k]));
  }
  return sum;
}

void StudyObjective::estimate_sd_factors() {
  require_sd_factors(study_, kinds_);
  if (!has_few_variables())
    for (const auto& spec : study_.objectives)
      if (spec->sd_factor)
        throw InputError(
            spec->where.of("sd_factor"),
            fmt::format("factors of standard deviations are estimated with at most {} values, the "
                        "study has {}: state the `sd`, or fit fewer values",
                        most_factored(), space_->num_variables()));
  estimates_factors_ = uses_residuals_ = true;
}

std::vector<GlobalIndex> StudyObjective::data_of_factors_in(std::size_t experiment) const {
  std::vector<char> others(dropped_.size(), 1);
  others[experiment] = 0;
  return data_of_sd_factors(study_, kinds_, others);
}

StudyFactors StudyObjective::factors(std::span<const double> x, std::span<const double> sd_factors) {
  factor(x);
  return weigh(x, sd_factors);
}

/// Of experiment_columns_, at their x.
StudyFactors StudyObjective::weigh(std::span<const double> x, std::span<const double> sd_factors) const {
  const Eigen::Index width = space_->num_variables() + 1;
  const Eigen::Index of_data = width * std::ssize(experiment_columns_);
  Eigen::MatrixXd rows = Eigen::MatrixXd::Zero(of_data + prior_.num_rows(), width);
  StudyFactors result;
  result.experiments.resize(experiment_columns_.size());
  for (int e = 0; e < std::ssize(experiment_columns_); ++e)
    if (dropped_[e] == 0)
      result.experiments[e] = rows.middleRows(e * width, width) =
          weighed_part(e, experiment_columns_[e], sd_factors);
  rows.bottomRows(prior_.num_rows()) = prior_factor(x);
  result.all = inverse::triangular_factor(rows);
  result.data = prior_.num_rows() > 0 ? inverse::triangular_factor(rows.topRows(of_data)) : result.all;
  return result;
}

/// The factor of an experiment from those of its parts, each over its factor on standard deviations.
Eigen::MatrixXd StudyObjective::weighed_part(int experiment, std::span<const double> columns,
                                             std::span<const double> sd_factors) const {
  const Eigen::Index width = space_->num_variables() + 1;
  const std::vector<int> parts = sd_factors_in(study_, experiment);
  Eigen::MatrixXd rows(width * std::ssize(parts), width);
  for (Eigen::Index p = 0; p < std::ssize(parts); ++p) {
    const int k = parts[p];
    const double s = k == no_sd_factor || sd_factors.empty() ? 1 : sd_factors[k];
    rows.middleRows(p * width, width) =
        Eigen::Map<const Eigen::MatrixXd>(columns.data() + p * width * width, width, width) / s;
  }
  return parts.size() == 1 ? rows : inverse::triangular_factor(rows);
}

/// The data that share a factor on their standard deviations, from experiment_columns_.
std::vector<inverse::DeviationGroup> StudyObjective::groups_of_factors() const {
  const Eigen::Index width = space_->num_variables() + 1;
  const std::vector<GlobalIndex> data = data_of_factors();
  std::vector<inverse::DeviationGroup> groups;
  for (int k = 0; k < std::ssize(study_.sd_factors); ++k) {
    Eigen::MatrixXd rows = Eigen::MatrixXd::Zero(width * (std::ssize(experiment_columns_) + 1), width);
    for (int e = 0; e < std::ssize(experiment_columns_); ++e) {
      const std::vector<int> parts = sd_factors_in(study_, e);
      const auto part = std::ranges::find(parts, k) - parts.begin();
      if (part == std::ssize(parts) || dropped_[e] != 0) continue;
      rows.middleRows(e * width, width) = Eigen::Map<const Eigen::MatrixXd>(
          experiment_columns_[e].data() + part * width * width, width, width);
    }
    groups.push_back({inverse::triangular_factor(rows), static_cast<double>(data[k])});
  }
  return groups;
}

/// Otherwise variables could meet the data exactly, with a factor of zero: there would be no maximum of the
/// likelihood.
void StudyObjective::require_more_data_than_variables(std::span<const inverse::DeviationGroup> groups) const {
  const inverse::DesignVariables variables = space_->variables();
  for (std::size_t k = 0; k < groups.size(); ++k) {
    int count = 0;
    for (std::size_t i = 0; i < variables.start.size(); ++i)
      count += variables.lower[i] < variables.upper[i] &&
               !groups[k].factor.col(static_cast<Eigen::Index>(i)).isZero(0);
    if (groups[k].data > count) continue;
    const auto spec = std::ranges::find_if(
        study_.objectives, [&](const auto& one) { return one->sd_factor == static_cast<int>(k); });
    throw InputError(
        (*spec)->where.of("sd_factor"),
        fmt::format(
            "'{}' has {:g} data, which {} fitted values change: these could meet them exactly, whatever "
            "their standard deviations are; share a factor with other data, or state the `sd`",
            study_.sd_factors[k], groups[k].data, count));
  }
}

inverse::DeviationFactors StudyObjective::sd_factors(std::span<const double> x) {
  factor(x);
  const Eigen::Index width = space_->num_variables() + 1;
  const inverse::DesignVariables variables = space_->variables();
  std::vector<bool> at_bound;
  for (std::size_t i = 0; i < x.size(); ++i)
    at_bound.push_back(x[i] <= variables.lower[i] || x[i] >= variables.upper[i]);
  std::vector<Eigen::MatrixXd> known{prior_factor(x)};
  for (int e = 0; e < std::ssize(experiment_columns_); ++e)
    if (dropped_[e] == 0 && sd_factors_in(study_, e).front() == no_sd_factor)
      known.emplace_back(Eigen::Map<const Eigen::MatrixXd>(experiment_columns_[e].data(), width, width));
  Eigen::Index count = 0;
  for (const Eigen::MatrixXd& one : known) count += one.rows();
  Eigen::MatrixXd rows(count, width);
  count = 0;
  for (const Eigen::MatrixXd& one : known) {
    rows.middleRows(count, one.rows()) = one;
    count += one.rows();
  }
  return inverse::estimate_deviation_factors(groups_of_factors(), rows, at_bound);
}

Eigen::MatrixXd StudyObjective::prior_factor(std::span<const double> x) const {
  const Eigen::Index width = space_->num_variables() + 1;
  Eigen::MatrixXd rows = Eigen::MatrixXd::Zero(prior_.num_rows(), width);
  const auto put = [&](Eigen::Index column, const std::vector<double>& entries) {
    rows.col(column) = Eigen::Map<const Eigen::VectorXd>(entries.data(), std::ssize(entries));
  };
  for (Eigen::Index i = 0; i + 1 < width; ++i) {
    const Eigen::VectorXd unit = Eigen::VectorXd::Unit(width - 1, i);
    put(i, prior_.whiten(std::span(unit.data(), unit.size())));
  }
  put(width - 1, prior_.residuals(x));
  return rows;
}

} // namespace recoil::app
