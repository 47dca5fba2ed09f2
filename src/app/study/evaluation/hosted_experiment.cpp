#include "recoil/app/study/evaluation/hosted_experiment.hpp"
#include "recoil/app/solvers/list/all_solvers.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

#include <Eigen/Core>
#include <fmt/format.h>

#include "recoil/app/study/experiment/known_run_file.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/log.hpp"
#include "recoil/base/option_names.hpp"
#include "recoil/inverse/residual_factor.hpp"

namespace recoil::app {

namespace {

std::unique_ptr<ExperimentModel> load_model(const ExperimentGroups& group, const Study& study, int experiment,
                                            const ExperimentFolder& folder) {
  LoadedScene scene = load_scene(group.comm(), folder.scene(), all_solvers());
  set_output_for_sweep(study, scene.file.scene);
  return ExperimentModel::create(group.comm(), study, experiment, std::move(scene), group.interrupts());
}

} // namespace

HostedExperiment::HostedExperiment(const ExperimentGroups& group, const Study& study, int experiment,
                                   const ExperimentFolder& folder)
    : comm_(group.comm()), model_(load_model(group, study, experiment, folder)),
      objective_(*model_, {study.sweep.store_every, model_->sweep_settings()}),
      sd_factors_(sd_factors_of_terms(study, experiment)), parts_(sd_factors_in(study, experiment)) {
  objective_.start_near([this](auto& problem) { return find_known_run(problem); });
}

inverse::KnownRun HostedExperiment::find_known_run(const inverse::ForwardProblem& problem) const {
  const std::filesystem::path path = known_runs_ / near_;
  std::error_code error;
  if (near_.empty() || !comm_.all(std::filesystem::exists(path, error))) return {};
  try {
    return model_->read_known_run(path, problem);
  } catch (const FileError& unreadable) {
    log_warning(fmt::format("{}: a run starts without a known one: {}", model_->name(), unreadable.what()));
    return {};
  }
}

ParameterValues HostedExperiment::values_of(const DesignSpace& space, std::span<const double> values) {
  const std::size_t count = model_->parameters().size();
  for (std::size_t k = numbers_.size(); k < count; ++k)
    numbers_.push_back(space.numbers(model_->experiment(), k, model_->local_slots(k)));
  ParameterValues result(count);
  for (std::size_t k = 0; k < count; ++k)
    for (const std::size_t number : numbers_[k]) result[k].push_back(values[number]);
  return result;
}

ExperimentPath HostedExperiment::follow_path(const DesignSpace& space, std::span<const double> from,
                                             std::span<const double> values) {
  const ShapePath path = model_->follow_shape_path(values_of(space, from), values_of(space, values));
  ExperimentPath result;
  result.rest_intersections = path.rest_intersections;
  if (!path.obstruction.empty())
    result.failure =
        path.obstruction + " on the straight path from the rest shape of the iterate before to this one";
  return result;
}

ExperimentValue HostedExperiment::run(const DesignSpace& space, std::span<const double> values) {
  const inverse::ObjectiveValue found = objective_.value(values_of(space, values));
  ExperimentValue result;
  result.newton_iterations = stepping::count_of(found.effort, stepping::newton_iterations_name);
  result.failure = name_options(found.failure);
  if (!result.failure.empty()) return result;
  result.objective = found.objective;
  result.terms = found.terms;
  if (!known_runs_.empty()) {
    result.run = known_run_file(model_->experiment(), name_of_numbers(values));
    result.near = near_;
    const auto [problem, run] = objective_.known_run();
    model_->write_known_run(known_runs_ / result.run, *problem, run);
    if (comm_.rank() == 0)
      remove_known_runs_but(known_runs_, model_->experiment(), {result.run, result.near});
  }
  return result;
}

ExperimentGradient HostedExperiment::sweep(const DesignSpace& space, std::span<const double> values) {
  const inverse::ObjectiveGradient found = objective_.gradient(values_of(space, values));
  if (!found.failure.empty()) return {{}, name_options(found.failure)};
  return {sum_over_group(space, found.values), ""};
}

/// Derivatives by the values of DesignSpace from those by the values of the experiment.
std::vector<double> HostedExperiment::sum_over_group(const DesignSpace& space,
                                                     const ParameterValues& gradient) const {
  std::vector<double> by_values(space.num_values(), 0.0);
  for (std::size_t k = 0; k < gradient.size(); ++k) {
    if (model_->is_replicated(k) && comm_.rank() != 0) continue;
    for (std::size_t i = 0; i < model_->owned_size(k); ++i) by_values[numbers_[k][i]] += gradient[k][i];
  }
  comm_.sum(by_values);
  return by_values;
}

HostedExperiment::Directions HostedExperiment::directions(const DesignSpace& space,
                                                          std::span<const double> x) {
  const std::size_t n = space.num_variables();
  Directions result;
  std::vector<double> dx(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    dx[i] = 1;
    auto direction = values_of(space, space.change_of_values(x, dx));
    dx[i] = 0;
    const bool changes = std::ranges::any_of(direction, [](const std::vector<double>& changes_of_one) {
      return std::ranges::any_of(changes_of_one, [](double change) { return change != 0; });
    });
    if (!comm_.any(changes)) continue;
    result.changes.push_back(std::move(direction));
    result.variables.push_back(i);
  }
  return result;
}

ExperimentFactor HostedExperiment::factorise(const DesignSpace& space, std::span<const double> x) {
  const std::size_t n = space.num_variables();
  auto [changes, variables] = directions(space, x);
  const ParameterValues q = values_of(space, space.values(x));
  const inverse::ResidualChanges found = objective_.jacobian(q, changes);
  if (!found.failure.empty()) return {{}, name_options(found.failure)};
  variables.push_back(n); // the residuals themselves
  ExperimentFactor result;
  for (const RowsOfFactor& part : divide(found.columns, objective_.residuals(q))) {
    const Eigen::MatrixXd own = inverse::triangular_factor(comm_, part.columns, part.residuals);
    Eigen::MatrixXd factor = Eigen::MatrixXd::Zero(n + 1, n + 1);
    for (std::size_t k = 0; k < variables.size(); ++k) factor.col(variables[k]).head(own.rows()) = own.col(k);
    result.columns.insert(result.columns.end(), factor.data(), factor.data() + factor.size());
  }
  return result;
}

/// The rows of the parts of the data, in the order of sd_factors_in().
std::vector<HostedExperiment::RowsOfFactor> HostedExperiment::divide(std::vector<std::vector<double>> columns,
                                                                     std::vector<double> residuals) {
  if (parts_.size() == 1) return {{std::move(columns), std::move(residuals)}};
  if (!part_of_row_) {
    part_of_row_.emplace();
    for (const ResidualRows::Row& row : model_->residual_rows().rows)
      part_of_row_->push_back(std::ranges::find(parts_, sd_factors_[row.term]) - parts_.begin());
  }
  std::vector<RowsOfFactor> result(parts_.size());
  for (RowsOfFactor& part : result) part.columns.resize(columns.size());
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    RowsOfFactor& part = result[(*part_of_row_)[i]];
    part.residuals.push_back(residuals[i]);
    for (std::size_t k = 0; k < columns.size(); ++k) part.columns[k].push_back(columns[k][i]);
  }
  return result;
}

ExperimentRows HostedExperiment::find_residuals(const DesignSpace& space, std::span<const double> x) {
  const ParameterValues q = values_of(space, space.values(x));
  const inverse::ObjectiveValue found = objective_.value(q);
  if (!found.failure.empty()) return {{}, name_options(found.failure)};
  return {gather_rows({objective_.residuals(q)}), ""};
}

ExperimentJacobian HostedExperiment::differentiate(const DesignSpace& space, std::span<const double> x) {
  const auto [changes, variables] = directions(space, x);
  const ParameterValues q = values_of(space, space.values(x));
  inverse::ResidualChanges found = objective_.jacobian(q, changes);
  if (!found.failure.empty()) return {{{}, name_options(found.failure)}};
  const std::vector<double> residuals = objective_.residuals(q);
  std::vector<std::vector<double>> columns(space.num_variables(), std::vector<double>(residuals.size(), 0.0));
  for (std::size_t k = 0; k < variables.size(); ++k) columns[variables[k]] = std::move(found.columns[k]);
  columns.push_back(residuals);
  return {{gather_rows(columns), ""}};
}

/// The numbers of this rank behind those of lower ones. Collective.
static std::vector<double> concatenate(const parallel::Communicator& comm, std::span<const double> own) {
  const GlobalIndex first = comm.exclusive_scan(std::ssize(own));
  std::vector<double> all(comm.sum(std::ssize(own)), 0.0);
  std::ranges::copy(own, all.begin() + first);
  comm.sum(all); // every entry is that of one rank, so the sums are exact
  return all;
}

/// Places of the rows of all ranks, which stand one rank behind the other, by time, objective, point and
/// component.
static std::vector<std::size_t> order_of_rows(const parallel::Communicator& comm, const ResidualRows& own) {
  using Row = ResidualRows::Row;
  std::vector<std::vector<double>> keys;
  for (double (*const key)(const Row&) :
       {+[](const Row& row) { return row.label.time; },
        +[](const Row& row) { return static_cast<double>(row.term); },
        +[](const Row& row) { return static_cast<double>(row.label.point); },
        +[](const Row& row) { return static_cast<double>(row.label.component); },
        +[](const Row& row) { return static_cast<double>(row.label.line); }}) {
    std::vector<double> of_own;
    std::ranges::transform(own.rows, std::back_inserter(of_own), key);
    keys.push_back(concatenate(comm, of_own));
  }
  std::vector<std::size_t> order(keys[0].size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    for (const std::vector<double>& key : keys)
      if (key[a] != key[b]) return key[a] < key[b];
    return false;
  });
  return order;
}

/// Puts the rows of all ranks into order, one column behind the other.
std::vector<double> HostedExperiment::gather_rows(const std::vector<std::vector<double>>& columns) {
  if (!row_order_) row_order_ = order_of_rows(comm_, model_->residual_rows());
  std::vector<double> result;
  for (const std::vector<double>& column : columns) {
    const std::vector<double> all = concatenate(comm_, column);
    for (const std::size_t row : *row_order_) result.push_back(all[row]);
  }
  return result;
}

ExperimentProduct HostedExperiment::multiply(const DesignSpace& space, std::span<const double> values,
                                             std::span<const double> change) {
  const ParameterValues q = values_of(space, values);
  const inverse::ResidualChanges forward = objective_.jacobian(q, {values_of(space, change)});
  if (!forward.failure.empty()) return {{{}, name_options(forward.failure)}};
  const inverse::ObjectiveGradient back = objective_.jacobian_transposed(q, forward.columns[0]);
  if (!back.failure.empty()) return {{{}, name_options(back.failure)}};
  return {{sum_over_group(space, back.values), ""}};
}

ExperimentBands HostedExperiment::bands(const DesignSpace& space, std::span<const double> x,
                                        const Eigen::MatrixXd& root) {
  std::vector<ParameterValues> directions;
  for (Eigen::Index k = 0; k < root.cols(); ++k) {
    const Eigen::VectorXd dx = root.col(k);
    directions.push_back(values_of(space, space.change_of_values(x, std::span(dx.data(), dx.size()))));
  }
  const ParameterValues q = values_of(space, space.values(x));
  const inverse::ResidualChanges found = objective_.jacobian(q, directions);
  if (!found.failure.empty()) return {{}, name_options(found.failure)};
  return {gather_bands(comm_, model_->residual_rows(), objective_.residuals(q), found.columns), ""};
}

ExperimentPeaks HostedExperiment::find_peaks(const DesignSpace& space, std::span<const double> values) {
  const ParameterValues q = values_of(space, values);
  const inverse::ObjectiveValue found = objective_.value(q);
  if (!found.failure.empty()) return {{}, name_options(found.failure)};
  return {model_->peaks(objective_.residuals(q)), ""};
}

ExperimentResiduals HostedExperiment::summarise(const DesignSpace& space, std::span<const double> values,
                                                std::span<const double> sd_factors) {
  const ParameterValues q = values_of(space, values);
  const inverse::ObjectiveValue found = objective_.value(q);
  if (!found.failure.empty()) return {{}, name_options(found.failure)};
  ResidualRows rows = model_->residual_rows();
  for (std::size_t k = 0; k < rows.terms.size() && !sd_factors.empty(); ++k) {
    if (sd_factors_[k] == no_sd_factor) continue;
    rows.terms[k].sd_factor = sd_factors[sd_factors_[k]];
    rows.terms[k].has_deviations = true;
  }
  return {summarise_residuals(comm_, rows, objective_.residuals(q)), ""};
}

} // namespace recoil::app
