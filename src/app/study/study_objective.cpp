#include "app/study/study_objective.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include <Eigen/QR>
#include <fmt/format.h>

#include "app/study/scene_as_run.hpp"
#include "recoil/base/log.hpp"
#include "recoil/inverse/residual_factor.hpp"

namespace recoil::app {

namespace {

/// Gives all ranks what rank `root` has.
void share(const parallel::Communicator& world, FieldSlots& field, int root) {
  std::vector<GlobalIndex> numbers{field.parameter, field.components, field.is_replicated, field.num_rows,
                                   std::ssize(field.names)};
  world.broadcast(numbers, root);
  field.parameter = static_cast<int>(numbers[0]);
  field.components = static_cast<int>(numbers[1]);
  field.is_replicated = numbers[2] != 0;
  field.num_rows = numbers[3];
  field.names.resize(numbers[4]);
  for (std::string& name : field.names) world.broadcast(name, root);
  world.broadcast(field.ids, root);
  world.broadcast(field.start, root);
  world.broadcast(field.sizes, root);
}

void share(const parallel::Communicator& world, ExperimentSlots& slots, int root) {
  std::vector<GlobalIndex> count{std::ssize(slots)};
  world.broadcast(count, root);
  slots.resize(count[0]);
  for (FieldSlots& field : slots) share(world, field, root);
}

template <class Result>
void share(const parallel::Communicator& world, Result& result, int root) {
  std::string text;
  if (world.rank() == root) text = nlohmann::json(result).dump();
  world.broadcast(text, root);
  if (world.rank() != root) result = nlohmann::json::parse(text).get<Result>();
}

} // namespace

std::vector<int> deal_out(const std::vector<double>& costs, const std::vector<char>& is_wanted, int groups) {
  std::vector<std::size_t> order(costs.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t e) { return costs[e]; });
  std::vector<double> load(groups, 0.0);
  std::vector<int> group_of(costs.size(), -1);
  for (const std::size_t e : order) {
    if (is_wanted[e] == 0) continue;
    const auto least = std::ranges::min_element(load);
    *least += costs[e];
    group_of[e] = static_cast<int>(least - load.begin());
  }
  return group_of;
}

std::vector<int> StudyObjective::deal_out_all() const {
  return deal_out(costs_, std::vector<char>(costs_.size(), 1), groups_.count());
}

StudyObjective::StudyObjective(const parallel::Communicator& world, const Study& study,
                               const StudyFolder& folder, ExperimentGroups& groups)
    : world_(world), study_(study), folder_(folder), groups_(groups), values_(study.experiments.size()),
      sweep_seconds_(values_.size()), costs_(values_.size(), 1.0), runs_(values_.size(), -1),
      dropped_(values_.size(), 0), data_(values_.size(), 0) {
  first_groups_ = deal_out_all();
  const std::vector<int>& group_of = first_groups_;
  std::vector<ExperimentSlots> slots(costs_.size());
  std::vector<std::string> why_not(costs_.size());
  std::vector<char> is_chi_squared(costs_.size(), 0);
  work_on(group_of, [&](int e) {
    Hosted& hosted = host(e);
    const ObjectiveKind kind = hosted.job->check_start();
    why_not[e] = kind.why_not_least_squares;
    is_chi_squared[e] = kind.is_chi_squared ? 1 : 0;
    data_[e] = kind.num_data;
    for (std::size_t k = 0; k < hosted.job->model().parameters().size(); ++k)
      slots[e].push_back(hosted.job->model().slots(k));
  });
  for (std::size_t e = 0; e < slots.size(); ++e) {
    const int root = groups.root(group_of[e]);
    share(world_, slots[e], root);
    share(world_, why_not[e], root);
    share(world_, is_chi_squared[e], root);
    share(world_, data_[e], root);
    if (not_squares_.empty()) not_squares_ = why_not[e];
    is_chi_squared_ = is_chi_squared_ && is_chi_squared[e] != 0;
  }
  space_ = std::make_unique<DesignSpace>(study, std::move(slots));
  priors_ = space_->priors();
}

void StudyObjective::freeze_stiffness() {
  const std::vector<int> group_of = deal_out_all();
  std::vector<double> stiffness(costs_.size(), 0.0);
  work_on(group_of, [&](int e) {
    stiffness[e] = host(e).job->freeze_stiffness(folder_.experiment(study_.experiments[e].name)).value_or(0);
  });
  is_frozen_ = true;
  for (std::size_t e = 0; e < group_of.size(); ++e) {
    std::vector<double> found{stiffness[e]};
    world_.broadcast(found, groups_.root(group_of[e]));
    if (found[0] > 0) frozen_[study_.experiments[e].name] = found[0];
  }
}

void StudyObjective::keep_in(const std::filesystem::path& folder) {
  std::vector<double> earlier(1);
  parallel::collectively(world_, [&] {
    if (world_.rank() != 0) return;
    log_ = std::make_unique<EvaluationLog>(folder);
    earlier[0] = log_->wall_seconds();
  });
  world_.broadcast(earlier);
  earlier_seconds_ = earlier[0];
  if (groups_.comm().rank() == 0)
    writer_ = std::make_unique<EvaluationWriter>(EvaluationLog::file_of_group(folder, groups_.own()));
}

/// The experiment on this group; its meshes are read when it first comes here. Collective over the group.
StudyObjective::Hosted& StudyObjective::host(int experiment) {
  Hosted& hosted = hosted_[experiment];
  if (hosted.job) return hosted;
  const ExperimentFolder folder = folder_.experiment(study_.experiments[experiment].name);
  LoadedScene scene = load_scene(groups_.comm(), folder.scene());
  set_output_for_sweep(study_, scene.file.scene);
  hosted.job =
      GradientJob::create(groups_.comm(), study_, experiment, std::move(scene), groups_.interrupts());
  if (is_frozen_) hosted.job->freeze_stiffness(folder);
  return hosted;
}

/// Does work(e) for the experiments of this group, and makes what a group throws an error of all ranks.
template <class Work>
void StudyObjective::work_on(const std::vector<int>& group_of, Work work, AfterSignal after_signal) {
  int code = 0;
  std::string message;
  try {
    for (int e = 0; e < std::ssize(group_of); ++e)
      if (group_of[e] == groups_.own()) {
        if (after_signal == AfterSignal::stops) groups_.interrupts().stop_if_pending();
        work(e);
      }
  } catch (const LibraryError& error) {
    if (!error.agreed()) throw;
    code = static_cast<int>(error.code());
    message = error.what();
  } catch (const Error& error) {
    code = static_cast<int>(error.code());
    message = error.what();
  }
  parallel::agree(world_, code, message);
}

void StudyObjective::write_scenes(std::span<const double> x, const std::filesystem::path& folder) {
  parallel::collectively(world_, [&] {
    std::error_code error;
    if (world_.rank() != 0 || std::filesystem::is_directory(folder, error)) return;
    if (!std::filesystem::create_directory(folder, error) && error)
      throw FileError(folder.string() + ": cannot be made: " + error.message());
  });
  const std::vector<double> values = space_->values(x);
  const auto write = [&](int e) {
    Hosted& hosted = host(e);
    hosted.job->model().write_scene(values_of(hosted, e, values), folder);
  };
  work_on(first_groups_, write, AfterSignal::goes_on);
}

inverse::ParameterValues StudyObjective::values_of(Hosted& hosted, int experiment,
                                                   std::span<const double> values) {
  const ExperimentModel& model = hosted.job->model();
  const std::size_t count = model.parameters().size();
  if (hosted.numbers.empty())
    for (std::size_t k = 0; k < count; ++k)
      hosted.numbers.push_back(space_->numbers(experiment, k, model.local_slots(k)));
  inverse::ParameterValues result(count);
  for (std::size_t k = 0; k < count; ++k)
    for (const std::size_t number : hosted.numbers[k]) result[k].push_back(values[number]);
  return result;
}

inverse::ReducedObjective& StudyObjective::reduced(int experiment) {
  Hosted& hosted = host(experiment);
  if (!hosted.objective)
    hosted.objective = std::make_unique<inverse::ReducedObjective>(hosted.job->reduced_objective());
  return *hosted.objective;
}

ExperimentValue StudyObjective::run(int experiment, std::span<const double> values) {
  const Stopwatch watch;
  inverse::ReducedObjective& objective = reduced(experiment);
  const inverse::ObjectiveValue found = objective.value(values_of(host(experiment), experiment, values));
  if (!found.failure.empty()) return {0, {}, found.failure, watch.seconds()};
  return {found.objective, found.terms, "", watch.seconds()};
}

ExperimentGradient StudyObjective::sweep(int experiment, std::span<const double> values) {
  const Stopwatch watch;
  inverse::ReducedObjective& objective = reduced(experiment);
  const Hosted& hosted = host(experiment);
  const inverse::ObjectiveGradient found =
      objective.gradient(values_of(host(experiment), experiment, values));
  ExperimentGradient result{{}, found.failure, 0};
  if (found.failure.empty()) result.by_values = sum_over_group(hosted, found.values);
  result.seconds = watch.seconds();
  return result;
}

/// Derivatives by the values of DesignSpace from those by the values of an experiment.
std::vector<double> StudyObjective::sum_over_group(const Hosted& hosted,
                                                   const inverse::ParameterValues& gradient) const {
  const ExperimentModel& model = hosted.job->model();
  std::vector<double> by_values(space_->num_values(), 0.0);
  for (std::size_t k = 0; k < gradient.size(); ++k) {
    if (model.is_replicated(k) && groups_.comm().rank() != 0) continue;
    const std::size_t width =
        hosted.numbers[k].size() / std::max<std::size_t>(model.local_slots(k).size(), 1);
    for (std::size_t i = 0; i < model.num_owned_slots(k) * width; ++i)
      by_values[hosted.numbers[k][i]] += gradient[k][i];
  }
  groups_.comm().sum(by_values);
  return by_values;
}

/// What the log has of a design, and for the rest what work(e) gives on the group that has the run of
/// experiment e, if `stays` names one, or on any. Complete on every rank.
template <class Result, class Work>
std::vector<Result> StudyObjective::evaluate(std::span<const double> design, std::vector<int>& group_of,
                                             Work work) {
  std::vector<Result> results(costs_.size());
  std::vector<char> known = dropped_;
  parallel::collectively(world_, [&] {
    if (!log_) return;
    for (int e = 0; e < std::ssize(known); ++e)
      if (auto found = known[e] == 0 ? log_->find<Result>(design, e) : std::nullopt; found) {
        results[e] = std::move(*found);
        known[e] = 1;
      }
  });
  world_.broadcast(known);
  std::vector<char> wanted(known.size());
  for (std::size_t e = 0; e < known.size(); ++e) wanted[e] = known[e] == 0 && group_of[e] < 0;
  const std::vector<int> dealt = deal_out(costs_, wanted, groups_.count());
  for (std::size_t e = 0; e < known.size(); ++e)
    if (wanted[e] != 0 || known[e] != 0) group_of[e] = dealt[e];
  work_on(group_of, [&](int e) {
    results[e] = work(e);
    parallel::collectively(groups_.comm(), [&] {
      if (writer_) writer_->add(design, e, results[e], wall_seconds());
    });
  });
  parallel::collectively(world_, [&] {
    if (log_) log_->read();
  });
  for (std::size_t e = 0; e < results.size(); ++e)
    share(world_, results[e], known[e] != 0 ? 0 : groups_.root(group_of[e]));
  return results;
}

double StudyObjective::value(std::span<const double> x) {
  const std::vector<double> values = space_->values(x);
  std::vector<int> group_of(costs_.size(), -1);
  values_ = evaluate<ExperimentValue>(x, group_of, [&](int e) { return run(e, values); });
  const bool here = std::ranges::equal(run_at_, x);
  for (std::size_t e = 0; e < runs_.size(); ++e)
    if (group_of[e] >= 0 || !here) runs_[e] = group_of[e];
  run_at_.assign(x.begin(), x.end());
  double sum = 0;
  for (std::size_t e = 0; e < values_.size(); ++e) {
    const ExperimentValue& value = values_[e];
    costs_[e] = value.seconds + sweep_seconds_[e];
    totals_.forward_seconds += value.seconds;
    sum += value.failure.empty() ? value.objective : std::numeric_limits<double>::infinity();
  }
  ++totals_.evaluations;
  for (const double r : inverse::prior_residuals(x, priors_)) sum += r * r;
  return sum;
}

GlobalIndex StudyObjective::num_data() const {
  GlobalIndex sum = std::ssize(priors_);
  for (std::size_t e = 0; e < data_.size(); ++e) sum += dropped_[e] == 0 ? data_[e] : 0;
  return sum;
}

void StudyObjective::drop_failed() {
  for (std::size_t e = 0; e < values_.size(); ++e) dropped_[e] |= values_[e].failure.empty() ? 0 : 1;
  if (std::ranges::find(dropped_, 0) == dropped_.end())
    throw Error(ExitCode::no_solution, "no experiment has an objective: " + failure());
}

std::string StudyObjective::failure() const {
  std::string text;
  for (std::size_t e = 0; e < values_.size(); ++e)
    if (!values_[e].failure.empty())
      text += fmt::format("{}experiment '{}': {}", text.empty() ? "" : "; ", study_.experiments[e].name,
                          values_[e].failure);
  return text;
}

/// evaluate() of what needs the runs at x, along a direction if one is given; counts its cost. @throws Error
/// for a failure.
template <class Result, class Work>
std::vector<Result> StudyObjective::differentiate(const char* what, Work work, std::span<const double> x,
                                                  std::span<const double> direction) {
  std::vector<int> group_of(costs_.size(), -1);
  if (std::ranges::equal(run_at_, x)) group_of = runs_;
  std::vector<double> design(x.begin(), x.end());
  design.insert(design.end(), direction.begin(), direction.end());
  std::vector<Result> results = evaluate<Result>(design, group_of, work);
  for (std::size_t e = 0; e < results.size(); ++e) {
    sweep_seconds_[e] = results[e].seconds;
    totals_.sweep_seconds += results[e].seconds;
    if (!results[e].failure.empty())
      throw Error(ExitCode::no_solution, fmt::format("experiment '{}' has no {}: {}",
                                                     study_.experiments[e].name, what, results[e].failure));
  }
  ++totals_.gradient_evaluations;
  return results;
}

/// The factor of [dr/dx r] of one experiment, without the columns of variables that it does not know.
ExperimentFactor StudyObjective::factorise(int experiment, std::span<const double> x) {
  const Stopwatch watch;
  inverse::ReducedObjective& objective = reduced(experiment);
  Hosted& hosted = host(experiment);
  const std::size_t n = space_->num_variables();
  std::vector<inverse::ParameterValues> directions;
  std::vector<std::size_t> variables;
  std::vector<double> dx(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    dx[i] = 1;
    auto direction = values_of(hosted, experiment, space_->change_of_values(x, dx));
    dx[i] = 0;
    const bool changes = std::ranges::any_of(direction, [](const std::vector<double>& changes_of_one) {
      return std::ranges::any_of(changes_of_one, [](double change) { return change != 0; });
    });
    if (!groups_.comm().any(changes)) continue;
    directions.push_back(std::move(direction));
    variables.push_back(i);
  }
  const inverse::ParameterValues q = values_of(hosted, experiment, space_->values(x));
  const inverse::ResidualChanges found = objective.jacobian(q, directions);
  ExperimentFactor result{{}, found.failure, 0};
  if (found.failure.empty()) {
    const std::vector<double> r = objective.residuals(q);
    const Eigen::MatrixXd own = inverse::triangular_factor(groups_.comm(), found.columns, r);
    variables.push_back(n); // the residuals themselves
    Eigen::MatrixXd factor = Eigen::MatrixXd::Zero(n + 1, n + 1);
    for (std::size_t k = 0; k < variables.size(); ++k) factor.col(variables[k]).head(own.rows()) = own.col(k);
    result.columns.assign(factor.data(), factor.data() + factor.size());
  }
  result.seconds = watch.seconds();
  return result;
}

const Eigen::MatrixXd& StudyObjective::factor(std::span<const double> x) {
  if (std::ranges::equal(factor_at_, x)) return factor_;
  const auto results = differentiate<ExperimentFactor>(
      "Jacobian", [&](int e) { return factorise(e, x); }, x);
  const Eigen::Index width = space_->num_variables() + 1;
  const Eigen::Index of_data = width * std::ssize(results);
  Eigen::MatrixXd rows = Eigen::MatrixXd::Zero(of_data + std::ssize(priors_), width);
  for (Eigen::Index e = 0; e < std::ssize(results); ++e)
    if (dropped_[e] == 0)
      rows.middleRows(e * width, width) =
          Eigen::Map<const Eigen::MatrixXd>(results[e].columns.data(), width, width);
  const std::vector<double> beyond = inverse::prior_residuals(x, priors_);
  for (std::size_t k = 0; k < priors_.size(); ++k) {
    rows(of_data + k, priors_[k].parameter) = 1 / priors_[k].deviation;
    rows(of_data + k, width - 1) = beyond[k];
  }
  factor_ = Eigen::MatrixXd(rows.householderQr().matrixQR().topRows(width).triangularView<Eigen::Upper>());
  factor_at_.assign(x.begin(), x.end());
  return factor_;
}

inverse::HessianForm StudyObjective::hessian_form() const {
  if (!uses_residuals_) return inverse::HessianForm::none;
  return space_->num_variables() <= most_factored ? inverse::HessianForm::matrix
                                                  : inverse::HessianForm::products;
}

std::vector<double> StudyObjective::hessian(std::span<const double> x) {
  const Eigen::Index n = std::ssize(x);
  const Eigen::MatrixXd J = factor(x).leftCols(n), H = 2 * J.transpose() * J;
  return {H.data(), H.data() + H.size()};
}

/// (dr/dq)' (dr/dq) times a change of the values.
ExperimentProduct StudyObjective::multiply(int experiment, std::span<const double> values,
                                           std::span<const double> change) {
  const Stopwatch watch;
  inverse::ReducedObjective& objective = reduced(experiment);
  Hosted& hosted = host(experiment);
  const inverse::ParameterValues q = values_of(hosted, experiment, values);
  const inverse::ResidualChanges forward = objective.jacobian(q, {values_of(hosted, experiment, change)});
  ExperimentProduct result{{}, forward.failure, 0};
  if (result.failure.empty()) {
    const inverse::ObjectiveGradient back = objective.jacobian_transposed(q, forward.columns[0]);
    result.failure = back.failure;
    if (result.failure.empty()) result.by_values = sum_over_group(hosted, back.values);
  }
  result.seconds = watch.seconds();
  return result;
}

std::vector<double> StudyObjective::hessian_product(std::span<const double> x, std::span<const double> d) {
  const std::vector<double> values = space_->values(x), change = space_->change_of_values(x, d);
  std::vector<double> by_values(space_->num_values(), 0.0);
  for (const auto& product : differentiate<ExperimentProduct>(
           "product with the Hessian", [&](int e) { return multiply(e, values, change); }, x, d))
    for (std::size_t i = 0; i < by_values.size(); ++i) by_values[i] += 2 * product.by_values[i];
  std::vector<double> result = space_->gradient(x, by_values);
  for (const inverse::Prior& prior : priors_)
    result[prior.parameter] += 2 * d[prior.parameter] / (prior.deviation * prior.deviation);
  return result;
}

std::vector<double> StudyObjective::gradient(std::span<const double> x) {
  if (hessian_form() == inverse::HessianForm::matrix) {
    const Eigen::Index n = std::ssize(x);
    const Eigen::VectorXd g = 2 * factor(x).leftCols(n).transpose() * factor(x).col(n);
    return {g.begin(), g.end()};
  }
  const std::vector<double> values = space_->values(x);
  std::vector<double> by_values(space_->num_values(), 0.0);
  for (const auto& gradient : differentiate<ExperimentGradient>(
           "gradient", [&](int e) { return sweep(e, values); }, x))
    for (std::size_t i = 0; i < by_values.size(); ++i) by_values[i] += gradient.by_values[i];
  std::vector<double> result = space_->gradient(x, by_values);
  const std::vector<double> beyond = inverse::prior_residuals(x, priors_);
  for (std::size_t k = 0; k < priors_.size(); ++k)
    result[priors_[k].parameter] += 2 * beyond[k] / priors_[k].deviation;
  return result;
}

} // namespace recoil::app
