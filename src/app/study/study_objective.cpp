#include "app/study/study_objective.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "app/study/scene_as_run.hpp"
#include "recoil/base/log.hpp"

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

void share(const parallel::Communicator& world, ExperimentValue& value, int root) {
  std::vector<double> numbers{value.objective, value.seconds};
  world.broadcast(numbers, root);
  value.objective = numbers[0];
  value.seconds = numbers[1];
  world.broadcast(value.terms, root);
  world.broadcast(value.failure, root);
}

void share(const parallel::Communicator& world, ExperimentGradient& gradient, int root) {
  std::vector<double> numbers{gradient.seconds};
  world.broadcast(numbers, root);
  gradient.seconds = numbers[0];
  world.broadcast(gradient.by_values, root);
  world.broadcast(gradient.failure, root);
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
      gradients_(values_.size()), costs_(values_.size(), 1.0), runs_(values_.size(), -1) {
  const std::vector<int> group_of = deal_out_all();
  std::vector<ExperimentSlots> slots(costs_.size());
  work_on(group_of, [&](int e) {
    Hosted& hosted = host(e);
    hosted.job->check_start();
    for (std::size_t k = 0; k < hosted.job->model().parameters().size(); ++k)
      slots[e].push_back(hosted.job->model().slots(k));
  });
  for (std::size_t e = 0; e < slots.size(); ++e) share(world_, slots[e], groups.root(group_of[e]));
  space_ = std::make_unique<DesignSpace>(study, std::move(slots));
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

/// Keeps what has been evaluated, before other experiments of this group are. Collective over the group.
template <class Result>
void StudyObjective::write_down(std::span<const double> x, int experiment, const Result& result) const {
  parallel::collectively(groups_.comm(), [&] {
    if (writer_) writer_->add(x, experiment, result, wall_seconds());
  });
}

void StudyObjective::read_log() {
  parallel::collectively(world_, [&] {
    if (log_) log_->read();
  });
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
void StudyObjective::work_on(const std::vector<int>& group_of, Work work) {
  int code = 0;
  std::string message;
  try {
    for (int e = 0; e < std::ssize(group_of); ++e)
      if (group_of[e] == groups_.own()) {
        groups_.interrupts().stop_if_pending();
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

ExperimentValue StudyObjective::run(int experiment, std::span<const double> values) {
  const Stopwatch watch;
  Hosted& hosted = host(experiment);
  if (!hosted.objective)
    hosted.objective = std::make_unique<inverse::ReducedObjective>(hosted.job->reduced_objective());
  const inverse::ObjectiveValue found = hosted.objective->value(values_of(hosted, experiment, values));
  return {found.objective, found.terms, found.failure, watch.seconds()};
}

ExperimentGradient StudyObjective::sweep(int experiment, std::span<const double> values) {
  const Stopwatch watch;
  Hosted& hosted = host(experiment);
  if (!hosted.objective)
    hosted.objective = std::make_unique<inverse::ReducedObjective>(hosted.job->reduced_objective());
  const inverse::ObjectiveGradient found = hosted.objective->gradient(values_of(hosted, experiment, values));
  ExperimentGradient result{{}, found.failure, 0};
  if (found.failure.empty()) {
    const ExperimentModel& model = hosted.job->model();
    result.by_values.assign(space_->num_values(), 0.0);
    for (std::size_t k = 0; k < found.values.size(); ++k) {
      if (model.is_replicated(k) && groups_.comm().rank() != 0) continue;
      const std::size_t width =
          hosted.numbers[k].size() / std::max<std::size_t>(model.local_slots(k).size(), 1);
      for (std::size_t i = 0; i < model.num_owned_slots(k) * width; ++i)
        result.by_values[hosted.numbers[k][i]] += found.values[k][i];
    }
    groups_.comm().sum(result.by_values);
  }
  result.seconds = watch.seconds();
  return result;
}

bool StudyObjective::find_value(std::span<const double> x, int experiment) {
  auto found = log_->find_value(x, experiment);
  if (found) values_[experiment] = std::move(*found);
  return found.has_value();
}

bool StudyObjective::find_gradient(std::span<const double> x, int experiment) {
  auto found = log_->find_gradient(x, experiment);
  if (found) gradients_[experiment] = std::move(*found);
  return found.has_value();
}

/// Which experiments the log knows; the first rank then has what it says.
std::vector<char> StudyObjective::find_known(bool (StudyObjective::*find)(std::span<const double>, int),
                                             std::span<const double> x) {
  std::vector<char> known(values_.size(), 0);
  parallel::collectively(world_, [&] {
    if (!log_) return;
    for (int e = 0; e < std::ssize(known); ++e) known[e] = (this->*find)(x, e);
  });
  world_.broadcast(known);
  return known;
}

double StudyObjective::value(std::span<const double> x) {
  const std::vector<double> values = space_->values(x);
  const std::vector<char> known = find_known(&StudyObjective::find_value, x);
  std::vector<char> wanted(known.size());
  std::ranges::transform(known, wanted.begin(), [](char is_known) { return is_known == 0; });
  const std::vector<int> group_of = deal_out(costs_, wanted, groups_.count());
  if (!std::ranges::equal(run_at_, x)) std::ranges::fill(runs_, -1);
  run_at_.assign(x.begin(), x.end());
  work_on(group_of, [&](int e) {
    values_[e] = run(e, values);
    write_down(x, e, values_[e]);
  });
  read_log();
  double sum = 0;
  for (int e = 0; e < std::ssize(values_); ++e) {
    ExperimentValue& value = values_[e];
    share(world_, value, known[e] != 0 ? 0 : groups_.root(group_of[e]));
    if (known[e] == 0) runs_[e] = group_of[e];
    costs_[e] = value.seconds + gradients_[e].seconds;
    totals_.forward_seconds += value.seconds;
    sum += value.failure.empty() ? value.objective : std::numeric_limits<double>::infinity();
  }
  ++totals_.evaluations;
  return sum;
}

std::string StudyObjective::failure() const {
  std::string text;
  for (std::size_t e = 0; e < values_.size(); ++e)
    if (!values_[e].failure.empty())
      text += fmt::format("{}experiment '{}': {}", text.empty() ? "" : "; ", study_.experiments[e].name,
                          values_[e].failure);
  return text;
}

std::vector<double> StudyObjective::gradient(std::span<const double> x) {
  const std::vector<double> values = space_->values(x);
  const std::vector<char> known = find_known(&StudyObjective::find_gradient, x);
  // A run that is still there is swept where it is.
  const bool here = std::ranges::equal(run_at_, x);
  std::vector<char> wanted(known.size());
  for (std::size_t e = 0; e < known.size(); ++e) wanted[e] = known[e] == 0 && !(here && runs_[e] >= 0);
  std::vector<int> group_of = deal_out(costs_, wanted, groups_.count());
  for (std::size_t e = 0; e < known.size(); ++e)
    if (known[e] == 0 && group_of[e] < 0) group_of[e] = runs_[e];
  work_on(group_of, [&](int e) {
    gradients_[e] = sweep(e, values);
    write_down(x, e, gradients_[e]);
  });
  read_log();
  std::vector<double> by_values(space_->num_values(), 0.0);
  std::string failure;
  for (int e = 0; e < std::ssize(gradients_); ++e) {
    ExperimentGradient& gradient = gradients_[e];
    share(world_, gradient, known[e] != 0 ? 0 : groups_.root(group_of[e]));
    if (!gradient.failure.empty())
      failure =
          fmt::format("experiment '{}' has no gradient: {}", study_.experiments[e].name, gradient.failure);
    totals_.sweep_seconds += gradient.seconds;
    for (std::size_t i = 0; i < gradient.by_values.size(); ++i) by_values[i] += gradient.by_values[i];
    gradient.by_values = {};
  }
  if (!failure.empty()) throw Error(ExitCode::no_solution, failure);
  ++totals_.gradient_evaluations;
  return space_->gradient(x, by_values);
}

} // namespace recoil::app
