#include "recoil/app/study/evaluation/study_objective.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <type_traits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "recoil/app/study/experiment/known_run_file.hpp"
#include "recoil/app/study/fields/written_values.hpp"
#include "recoil/base/error.hpp"
#include "recoil/inverse/residual_factor.hpp"

namespace recoil::app {

namespace {

/// Gives all ranks what rank `root` has.
template <class Value>
void share(const parallel::Communicator& world, Value& value, int root) {
  std::string text;
  if (world.rank() == root) text = nlohmann::json(value).dump();
  world.broadcast(text, root);
  if (world.rank() != root) value = nlohmann::json::parse(text).get<Value>();
}

template <class Result>
void share_result(const parallel::Communicator& world, Result& result, int root) {
  share(world, result, root);
  if constexpr (HasArray<Result>) world.broadcast(result.*Result::array, root);
}

void share(const parallel::Communicator& world, ExperimentSlots& slots, int root) {
  std::size_t count = slots.size();
  share(world, count, root);
  slots.resize(count);
  for (FieldSlots& field : slots) {
    std::tuple about{field.parameter, field.components, field.is_replicated, field.num_rows, field.names};
    share(world, about, root);
    std::tie(field.parameter, field.components, field.is_replicated, field.num_rows, field.names) = about;
    world.broadcast(field.ids, root);
    world.broadcast(field.start, root);
    world.broadcast(field.sizes, root);
    share(world, field.mesh.dim, root);
    world.broadcast(field.mesh.vertices, root);
    world.broadcast(field.mesh.cells, root);
  }
}

/// What the rows of a parameter's array are of.
const MeshTransfer::Rows& rows_on(const MeshTransfer& transfer, const ParameterSpec& spec) {
  if (spec.per == Per::node) return transfer.nodes;
  return spec.per == Per::element ? transfer.cells : transfer.vertices;
}

} // namespace

StudyObjective::StudyObjective(const Study& study, const StudyFolder& folder, const ExperimentGroups& groups)
    : world_(groups.world()), study_(study), folder_(folder), groups_(groups),
      last_run_(study.experiments.size()), values_(study.experiments.size()), sweep_seconds_(values_.size()),
      costs_(values_.size(), 1.0), runs_(values_.size(), -1),
      first_groups_(distribute(costs_, std::vector<char>(values_.size(), 1), groups.count())),
      kinds_(values_.size()), dropped_(values_.size(), 0) {
  for (std::size_t e = 0; e < dropped_.size(); ++e) dropped_[e] = study.experiments[e].is_candidate ? 1 : 0;
  std::vector<ExperimentSlots> slots(costs_.size());
  groups_.work_on(first_groups_, [&](int e) {
    ExperimentModel& model = host(e).model();
    kinds_[e] = model.check_start();
    for (std::size_t k = 0; k < model.parameters().size(); ++k) slots[e].push_back(model.slots(k));
  });
  for (std::size_t e = 0; e < slots.size(); ++e) {
    const int root = groups.root(first_groups_[e]);
    share(world_, slots[e], root);
    share(world_, kinds_[e], root);
    if (not_squares_.empty()) not_squares_ = kinds_[e].why_not_least_squares;
  }
  space_ = std::make_unique<DesignSpace>(study, std::move(slots));
  prior_ = space_->prior();
  const inverse::DesignVariables variables = space_->variables();
  const auto is_bound = [](double bound) { return std::isfinite(bound); };
  has_bounds_ =
      std::ranges::any_of(variables.lower, is_bound) || std::ranges::any_of(variables.upper, is_bound);
}

void StudyObjective::freeze_stiffness() {
  std::vector<double> stiffness(costs_.size(), 0.0);
  groups_.work_on(first_groups_, [&](int e) {
    const ExperimentFolder folder = folder_.experiment(study_.experiments[e].name);
    stiffness[e] = host(e).model().freeze_stiffness(folder).value_or(0);
  });
  is_frozen_ = true;
  for (std::size_t e = 0; e < stiffness.size(); ++e) {
    share(world_, stiffness[e], groups_.root(first_groups_[e]));
    if (stiffness[e] > 0) frozen_[study_.experiments[e].name] = stiffness[e];
  }
}

void StudyObjective::keep_in(const std::filesystem::path& folder) {
  parallel::collectively(world_, [&] {
    if (world_.rank() == 0) log_ = std::make_unique<EvaluationLog>(folder);
  });
  added_to_ = EvaluationLog::file_of_group(folder, groups_.own());
  summands_ = EvaluationLog::summand_file(folder, groups_.own());
  if (study_.optimizer.warm_start && study_.sweep.store_every == 1) known_runs_ = folder;
  last_run_.assign(last_run_.size(), "");
}

void StudyObjective::remove_known_runs(const std::filesystem::path& folder) const {
  if (world_.rank() != 0 || known_runs_.empty()) return;
  for (int e = 0; e < std::ssize(last_run_); ++e) remove_known_runs_but(folder, e, {});
}

void StudyObjective::add(const Totals& of_this_rank) {
  std::vector<double> numbers{static_cast<double>(of_this_rank.evaluations),
                              static_cast<double>(of_this_rank.gradient_evaluations),
                              of_this_rank.forward_seconds, of_this_rank.sweep_seconds,
                              static_cast<double>(of_this_rank.newton_iterations)};
  world_.sum(numbers);
  totals_.evaluations += static_cast<int>(numbers[0]);
  totals_.gradient_evaluations += static_cast<int>(numbers[1]);
  totals_.forward_seconds += numbers[2];
  totals_.sweep_seconds += numbers[3];
  totals_.newton_iterations += static_cast<GlobalIndex>(numbers[4]);
}

/// The experiment on this group; its meshes are read when it first comes here. Collective over the group.
HostedExperiment& StudyObjective::host(int experiment) {
  const ExperimentFolder folder = folder_.experiment(study_.experiments[experiment].name);
  const auto [hosted, is_new] = hosted_.try_emplace(experiment, groups_, study_, experiment, folder);
  if (is_new && is_frozen_) hosted->second.model().freeze_stiffness(folder);
  hosted->second.keep_runs_in(known_runs_);
  return hosted->second;
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
    HostedExperiment& hosted = host(e);
    hosted.model().write_scene(hosted.values_of(*space_, values), folder);
  };
  groups_.work_on(first_groups_, write, ExperimentGroups::AfterSignal::goes_on);
}

double StudyObjective::mesh_quality(std::span<const double> x) {
  const std::vector<double> values = space_->values(x);
  std::vector<double> qualities(costs_.size(), 1.0);
  groups_.work_on(first_groups_, [&](int e) {
    HostedExperiment& hosted = host(e);
    qualities[e] = hosted.model().mesh_quality(hosted.values_of(*space_, values));
  });
  for (std::size_t e = 0; e < qualities.size(); ++e)
    share(world_, qualities[e], groups_.root(first_groups_[e]));
  return std::ranges::min(qualities);
}

StudyObjective::RenewedMeshes StudyObjective::renew_meshes(std::span<const double> x, double wanted,
                                                           const std::filesystem::path& folder) {
  const std::vector<double> values = space_->values(x);
  std::vector<std::tuple<double, double, bool>> qualities(costs_.size());
  groups_.work_on(first_groups_, [&](int e) {
    HostedExperiment& hosted = host(e);
    const RenewedScene scene =
        hosted.model().write_renewed_scene(hosted.values_of(*space_, values), wanted, folder);
    qualities[e] = {scene.quality_before, scene.quality, scene.is_remeshed};
    write_start_values(e, values, scene, folder);
  });
  RenewedMeshes result;
  for (std::size_t e = 0; e < qualities.size(); ++e) {
    share(world_, qualities[e], groups_.root(first_groups_[e]));
    const auto [before, after, is_remeshed] = qualities[e];
    result.quality_before = std::min(result.quality_before, before);
    result.quality = std::min(result.quality, after);
    result.is_remeshed = result.is_remeshed || is_remeshed;
  }
  return result;
}

/// Writes the values of the parameters whose first experiment this is. Collective over its group.
void StudyObjective::write_start_values(int experiment, std::span<const double> values,
                                        const RenewedScene& scene, const std::filesystem::path& folder) {
  const parallel::Communicator& comm = groups_.comm();
  const parallel::Communicator alone = comm.split(comm.rank());
  parallel::collectively(comm, [&] {
    if (comm.rank() != 0) return;
    for (const DesignSpace::Block& block : space_->blocks()) {
      const ParameterSpec& spec = study_.parameters[block.parameter];
      if (spec.experiments.front() != experiment) continue;
      std::vector<double> rows = rows_of_block(block, values);
      if (scene.transfer && !block.is_replicated)
        rows = rows_on(*scene.transfer, spec).carry(rows, block.components);
      write_arrays_aside(alone, start_file(folder, spec), [&](io::Hdf5Writer& file) {
        file.write_rows<double>(spec.name, rows, block.components);
      });
    }
  });
}

/// What the log has of a design, and for the rest what work(hosted) gives on the group that has the run of
/// experiment e, if group_of[e] names one, or on any. Complete on every rank.
template <class Result, class Work>
std::vector<Result> StudyObjective::evaluate(std::span<const double> design, std::vector<int>& group_of,
                                             Work work) {
  std::vector<Result> results(costs_.size());
  std::vector<char> known = dropped_;
  std::vector<std::string> near = last_run_;
  parallel::collectively(world_, [&] {
    if (!log_) return;
    const auto x = design.first(space_->num_variables());
    for (int e = 0; e < std::ssize(known); ++e) {
      if (known[e] != 0) continue;
      if (auto found = log_->find<Result>({design, e})) {
        results[e] = std::move(*found);
        known[e] = 1;
      } else if (const auto run = log_->find<ExperimentValue>({x, e})) {
        near[e] = run->near; // if it has to be repeated, then with the same bits
      }
    }
  });
  world_.broadcast(known);
  share(world_, near, 0);
  std::vector<char> wanted(known.size());
  for (std::size_t e = 0; e < known.size(); ++e) wanted[e] = known[e] == 0 && group_of[e] < 0;
  const std::vector<int> distributed = distribute(costs_, wanted, groups_.count());
  for (std::size_t e = 0; e < known.size(); ++e)
    if (wanted[e] != 0 || known[e] != 0) group_of[e] = distributed[e];
  const std::filesystem::path& file = std::is_same_v<Result, ExperimentProduct> ? summands_ : added_to_;
  groups_.work_on(group_of, [&](int e) {
    const Stopwatch watch;
    HostedExperiment& hosted = host(e);
    hosted.start_near(near[e]);
    results[e] = work(hosted);
    results[e].seconds = watch.seconds();
    parallel::collectively(groups_.comm(), [&] {
      if (groups_.comm().rank() == 0 && !file.empty())
        add_evaluation(file, {design, e}, results[e], wall_seconds());
    });
  });
  parallel::collectively(world_, [&] {
    if (log_) log_->read();
  });
  for (std::size_t e = 0; e < results.size(); ++e)
    share_result(world_, results[e], known[e] != 0 ? 0 : groups_.root(group_of[e]));
  return results;
}

void StudyObjective::follow_paths(bool follow) {
  follows_paths_ = follow && std::ranges::any_of(study_.parameters, [](const ParameterSpec& parameter) {
                     return parameter.basis != nullptr;
                   });
  path_start_.clear();
}

/// Whether the rest shapes can be reached from those at path_start_; if not, values_ say why. It depends on
/// both designs, unlike a value, which the log has under one.
bool StudyObjective::can_reach(std::span<const double> x) {
  if (path_start_.empty()) return true;
  const std::vector<double> from = space_->values(path_start_), values = space_->values(x);
  std::vector<double> path(x.begin(), x.end());
  path.insert(path.end(), path_start_.begin(), path_start_.end());
  std::vector<int> group_of(costs_.size(), -1);
  const auto found = evaluate<ExperimentPath>(
      path, group_of, [&](HostedExperiment& one) { return one.follow_path(*space_, from, values); });
  if (std::ranges::all_of(found, [](const ExperimentPath& one) { return one.failure.empty(); })) return true;
  values_.assign(found.size(), {});
  for (std::size_t e = 0; e < found.size(); ++e) values_[e].failure = found[e].failure;
  return false;
}

double StudyObjective::value(std::span<const double> x) {
  if (!can_reach(x)) return std::numeric_limits<double>::infinity();
  const std::vector<double> values = space_->values(x);
  std::vector<int> group_of(costs_.size(), -1);
  values_ =
      evaluate<ExperimentValue>(x, group_of, [&](HostedExperiment& one) { return one.run(*space_, values); });
  const bool here = std::ranges::equal(run_at_, x);
  for (std::size_t e = 0; e < runs_.size(); ++e)
    if (group_of[e] >= 0 || !here) runs_[e] = group_of[e];
  run_at_.assign(x.begin(), x.end());
  const bool is_new = seen_.insert(run_at_).second;
  double sum = 0;
  for (std::size_t e = 0; e < values_.size(); ++e) {
    const ExperimentValue& value = values_[e];
    if (is_new && !value.run.empty()) last_run_[e] = value.run;
    costs_[e] = value.seconds + sweep_seconds_[e];
    if (is_new) {
      totals_.forward_seconds += value.seconds;
      totals_.newton_iterations += value.newton_iterations;
    }
    sum += value.failure.empty() ? value.objective : std::numeric_limits<double>::infinity();
  }
  if (is_new) ++totals_.evaluations;
  if (estimates_factors_ && std::isfinite(sum)) sum = deviance();
  for (const double r : prior_.residuals(x)) sum += r * r;
  return sum;
}

bool StudyObjective::is_chi_squared() const {
  if (estimates_factors_) return true;
  for (std::size_t e = 0; e < kinds_.size(); ++e)
    if (!study_.experiments[e].is_candidate && !kinds_[e].is_chi_squared) return false;
  return true;
}

GlobalIndex StudyObjective::num_data() const {
  GlobalIndex sum = prior_.num_rows();
  for (std::size_t e = 0; e < kinds_.size(); ++e) sum += dropped_[e] == 0 ? kinds_[e].num_data() : 0;
  return sum;
}

std::vector<bool> StudyObjective::has_deviations() const {
  std::vector<bool> result;
  std::vector<std::size_t> next(kinds_.size(), 0);
  for (const auto& spec : study_.objectives)
    result.push_back(kinds_[spec->experiment].has_deviations[next[spec->experiment]++]);
  return result;
}

void StudyObjective::drop_failed() {
  for (std::size_t e = 0; e < values_.size(); ++e) dropped_[e] |= values_[e].failure.empty() ? 0 : 1;
  const std::vector<GlobalIndex> data = data_of_factors();
  for (std::size_t k = 0; estimates_factors_ && k < data.size(); ++k)
    if (data[k] < 2)
      throw Error(ExitCode::no_solution,
                  fmt::format("sd_factor '{}' has no data left: {}", study_.sd_factors[k], failure()));
  if (!holds(dropped_, 0)) throw Error(ExitCode::no_solution, "no experiment has an objective: " + failure());
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
  std::vector<double> seconds;
  for (const Result& result : results) seconds.push_back(result.seconds);
  require_all(what, results);
  count_sweeps(seconds);
  return results;
}

template <class Result>
void StudyObjective::require_all(const char* what, const std::vector<Result>& results) const {
  for (std::size_t e = 0; e < results.size(); ++e)
    if (!results[e].failure.empty())
      throw Error(ExitCode::no_solution, fmt::format("experiment '{}' has no {}: {}",
                                                     study_.experiments[e].name, what, results[e].failure));
}

/// evaluate() of what the runs at x tell without a sweep, with `more` behind x in the log. @throws Error for
/// a failure.
template <class Result, class Work>
std::vector<Result> StudyObjective::look_at(const char* what, std::span<const double> x, Work work,
                                            std::span<const double> more) {
  std::vector<int> group_of(costs_.size(), -1);
  if (std::ranges::equal(run_at_, x)) group_of = runs_;
  std::vector<double> design(x.begin(), x.end());
  design.insert(design.end(), more.begin(), more.end());
  std::vector<Result> results = evaluate<Result>(design, group_of, work);
  require_all(what, results);
  return results;
}

std::vector<ExperimentResiduals> StudyObjective::residuals(std::span<const double> x,
                                                           std::span<const double> sd_factors) {
  const std::vector<double> values = space_->values(x);
  return look_at<ExperimentResiduals>(
      "residuals", x, [&](HostedExperiment& one) { return one.summarise(*space_, values, sd_factors); },
      sd_factors);
}

std::vector<double> StudyObjective::residual_vector(std::span<const double> x) {
  std::vector<double> result;
  for (const auto& rows : look_at<ExperimentRows>(
           "residuals", x, [&](HostedExperiment& one) { return one.find_residuals(*space_, x); }))
    result.insert(result.end(), rows.columns.begin(), rows.columns.end());
  const std::vector<double> of_prior = prior_.residuals(x);
  result.insert(result.end(), of_prior.begin(), of_prior.end());
  return result;
}

Eigen::MatrixXd StudyObjective::residual_jacobian(std::span<const double> x) {
  const auto results = differentiate<ExperimentJacobian>(
      "Jacobian", [&](HostedExperiment& one) { return one.differentiate(*space_, x); }, x);
  const Eigen::Index n = std::ssize(x);
  Eigen::Index rows = prior_.num_rows();
  for (const ExperimentJacobian& one : results) rows += std::ssize(one.columns) / (n + 1);
  Eigen::MatrixXd jacobian(rows, n);
  Eigen::Index first = 0;
  for (const ExperimentJacobian& one : results) {
    const Eigen::Index count = std::ssize(one.columns) / (n + 1);
    jacobian.middleRows(first, count) = Eigen::Map<const Eigen::MatrixXd>(one.columns.data(), count, n);
    first += count;
  }
  for (Eigen::Index i = 0; i < n; ++i) {
    const Eigen::VectorXd unit = Eigen::VectorXd::Unit(n, i);
    const std::vector<double> column = prior_.whiten(std::span(unit.data(), unit.size()));
    jacobian.col(i).tail(std::ssize(column)) =
        Eigen::Map<const Eigen::VectorXd>(column.data(), std::ssize(column));
  }
  return jacobian;
}

std::vector<ExperimentPeaks> StudyObjective::peaks(std::span<const double> x) {
  const std::vector<double> values = space_->values(x);
  return look_at<ExperimentPeaks>("peaks", x,
                                  [&](HostedExperiment& one) { return one.find_peaks(*space_, values); });
}

/// Notes what sweeps through all experiments have cost.
void StudyObjective::count_sweeps(std::span<const double> seconds) {
  sweep_seconds_.assign(seconds.begin(), seconds.end());
  for (const double of_one : seconds) totals_.sweep_seconds += of_one;
  ++totals_.gradient_evaluations;
}

const Eigen::MatrixXd& StudyObjective::factor(std::span<const double> x) {
  if (std::ranges::equal(factor_at_, x)) return factors_.all;
  auto results = differentiate<ExperimentFactor>(
      "Jacobian", [&](HostedExperiment& one) { return one.factorise(*space_, x); }, x);
  experiment_columns_.clear();
  for (ExperimentFactor& one : results) experiment_columns_.push_back(std::move(one.columns));
  factor_at_.assign(x.begin(), x.end());
  std::vector<double> sd_factors;
  if (estimates_factors_) {
    const std::vector<inverse::DeviationGroup> groups = groups_of_factors();
    require_more_data_than_variables(groups);
    for (const inverse::DeviationGroup& group : groups)
      sd_factors.push_back(group.factor.col(group.factor.cols() - 1).norm() / std::sqrt(group.data));
  }
  factors_ = weigh(x, sd_factors);
  return factors_.all;
}

std::vector<CandidateFactor> StudyObjective::candidate_factors(std::span<const double> x,
                                                               std::span<const double> sd_factors) {
  std::vector<char> others(dropped_.size(), 1);
  for (std::size_t e = 0; e < others.size(); ++e) others[e] = study_.experiments[e].is_candidate ? 0 : 1;
  std::vector<CandidateFactor> candidates;
  if (!holds(others, 0)) return candidates;
  std::swap(others, dropped_);
  const std::vector<double> values = space_->values(x);
  std::vector<int> group_of(costs_.size(), -1);
  const auto runs =
      evaluate<ExperimentValue>(x, group_of, [&](HostedExperiment& one) { return one.run(*space_, values); });
  // Those without a run have no derivative.
  const std::vector<char> all = dropped_;
  for (std::size_t e = 0; e < runs.size(); ++e) dropped_[e] |= runs[e].failure.empty() ? 0 : 1;
  const auto factors = evaluate<ExperimentFactor>(
      x, group_of, [&](HostedExperiment& one) { return one.factorise(*space_, x); });
  std::swap(others, dropped_);
  for (std::size_t e = 0; e < runs.size(); ++e) {
    if (all[e] != 0) continue;
    CandidateFactor& one = candidates.emplace_back();
    one.experiment = static_cast<int>(e);
    one.failure = runs[e].failure.empty() ? factors[e].failure : runs[e].failure;
    if (one.failure.empty()) one.factor = weighed_part(one.experiment, factors[e].columns, sd_factors);
  }
  return candidates;
}

std::vector<ExperimentBands> StudyObjective::bands(std::span<const double> x, const Eigen::MatrixXd& root) {
  return differentiate<ExperimentBands>(
      "bands", [&](HostedExperiment& one) { return one.bands(*space_, x, root); }, x,
      std::span(root.data(), root.size()));
}

inverse::HessianForm StudyObjective::hessian_form() const {
  if (!uses_residuals_) return inverse::HessianForm::none;
  return has_few_variables() ? inverse::HessianForm::matrix : inverse::HessianForm::products;
}

std::vector<double> StudyObjective::data_product(std::span<const double> x, std::span<const double> d) {
  return space_->gradient(x, sum_products(x, d).by_values);
}

/// J'J d by values. An optimisation that continues asks for all products again: the log keeps their sum, and
/// those of the experiments only until it is there.
ProductSum StudyObjective::sum_products(std::span<const double> x, std::span<const double> d) {
  std::vector<double> design(x.begin(), x.end());
  design.insert(design.end(), d.begin(), d.end());
  if (std::optional<ProductSum> known = find_sum(design)) {
    count_sweeps(known->seconds);
    return *known;
  }
  const std::vector<double> values = space_->values(x), change = space_->change_of_values(x, d);
  ProductSum sum{std::vector<double>(space_->num_values(), 0.0), {}};
  for (const auto& product : differentiate<ExperimentProduct>(
           "product with the Hessian",
           [&](HostedExperiment& one) { return one.multiply(*space_, values, change); }, x, d)) {
    sum.seconds.push_back(product.seconds);
    for (std::size_t i = 0; i < product.by_values.size(); ++i) // none of an experiment that was dropped
      sum.by_values[i] += product.by_values[i];
  }
  keep_sum(design, sum);
  return sum;
}

std::optional<ProductSum> StudyObjective::find_sum(std::span<const double> design) const {
  std::optional<ProductSum> sum = parallel::collectively(world_, [&] {
    return log_ ? log_->find<ProductSum>({design, ProductSum::experiment}) : std::nullopt;
  });
  if (!world_.any(sum.has_value())) return {};
  if (!sum) sum.emplace();
  share_result(world_, *sum, 0);
  return sum;
}

void StudyObjective::keep_sum(std::span<const double> design, const ProductSum& sum) {
  parallel::collectively(world_, [&] {
    if (!log_) return;
    add_evaluation(added_to_, {design, ProductSum::experiment}, sum, wall_seconds());
    log_->read();
    log_->drop_summands();
  });
}

std::vector<double> StudyObjective::hessian_product(std::span<const double> x, std::span<const double> d) {
  std::vector<double> result = data_product(x, d);
  const std::vector<double> of_prior = prior_.whiten_transposed(prior_.whiten(d));
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = 2 * (result[i] + of_prior[i]);
  return result;
}

std::vector<double> StudyObjective::precondition(std::span<const double> r) const {
  std::vector<double> z = prior_.precondition(r);
  for (double& entry : z) entry /= 2;
  return z;
}

std::vector<double> StudyObjective::gradient(std::span<const double> x) {
  if (follows_paths_) path_start_.assign(x.begin(), x.end());
  if (hessian_form() == inverse::HessianForm::matrix) {
    const Eigen::VectorXd g = inverse::least_squares_gradient(factor(x));
    return {g.begin(), g.end()};
  }
  const std::vector<double> values = space_->values(x);
  std::vector<double> by_values(space_->num_values(), 0.0);
  for (const auto& gradient : differentiate<ExperimentGradient>(
           "gradient", [&](HostedExperiment& one) { return one.sweep(*space_, values); }, x))
    for (std::size_t i = 0; i < gradient.by_values.size(); ++i) // none of an experiment that was dropped
      by_values[i] += gradient.by_values[i];
  std::vector<double> result = space_->gradient(x, by_values);
  const std::vector<double> of_prior = prior_.whiten_transposed(prior_.residuals(x));
  for (std::size_t i = 0; i < result.size(); ++i) result[i] += 2 * of_prior[i];
  return result;
}

} // namespace recoil::app
