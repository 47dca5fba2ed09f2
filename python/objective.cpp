#include "objective.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <set>

#include "recoil/app/study/evaluation/opened_study.hpp"
#include "session.hpp"

namespace recoil::python {

namespace {

/// All that hold something of MPI or PETSc. Threads open them without the interpreter's lock.
std::set<StudyFunction*> open_functions;
std::mutex open_functions_guard;

std::vector<std::string> labels_of(const std::string& name, const app::DesignSpace::Block& block) {
  if (block.size() == 1) return {name};
  std::vector<std::string> labels;
  const std::size_t per_name = block.names.empty() ? 0 : block.size() / block.names.size();
  for (std::size_t i = 0; i < block.size(); ++i) {
    std::string label = name + "[";
    if (per_name > 0) label += block.names[i / per_name];
    if (per_name != 1) label += (per_name > 0 ? "," : "") + std::to_string(per_name > 0 ? i % per_name : i);
    labels.push_back(label + "]");
  }
  return labels;
}

/// @throws InputError on every rank unless all of them have the same x, of the right size.
void require_same(const parallel::Communicator& comm, std::span<const double> x, std::size_t size) {
  if (!comm.all(x.size() == size))
    throw InputError("x has " + std::to_string(x.size()) + " entries, the study has " + std::to_string(size) +
                     " variables");
  std::vector<double> of_first(x.begin(), x.end());
  comm.broadcast(of_first);
  if (!comm.all(std::ranges::equal(x, of_first)))
    throw InputError("x is not a number, or differs between the ranks: give finite numbers, the same on all "
                     "ranks (broadcast those of the first one; seed random numbers equally)");
  if (!std::ranges::all_of(x, [](double entry) { return std::isfinite(entry); }))
    throw InputError("x has entries that are not finite");
}

} // namespace

struct StudyFunction::Parts {
  parallel::Communicator comm;
  std::unique_ptr<app::OpenedStudy> study;
};

StudyFunction::StudyFunction(std::uintptr_t comm, const std::string& study, const std::string& text,
                             const std::string& folder)
    : parts_(new Parts{communicator_at(comm), nullptr}) {
  const Call call("study");
  call.run(parts_->comm, [&] {
    parts_->study =
        std::make_unique<app::OpenedStudy>(parts_->comm, app::OpenedStudy::Options{study, text, folder});
    return 0;
  });
  app::StudyObjective& objective = parts_->study->objective();
  const app::DesignSpace& space = objective.space();
  for (const app::DesignSpace::Block& block : space.blocks()) {
    const std::string& name = parts_->study->study().parameters[block.parameter].name;
    parameters_.push_back({name, labels_of(name, block)});
  }
  warnings_ = parts_->study->warnings();
  inverse::DesignVariables variables = space.variables();
  start_ = std::move(variables.start);
  lower_ = std::move(variables.lower);
  upper_ = std::move(variables.upper);
  not_squares_ = objective.why_not_least_squares();
  is_chi_squared_ = not_squares_.empty() && objective.is_chi_squared();
  const std::lock_guard lock(open_functions_guard);
  open_functions.insert(this);
}

StudyFunction::~StudyFunction() { close(); }

void StudyFunction::close() noexcept {
  {
    const std::lock_guard lock(open_functions_guard);
    open_functions.erase(this);
  }
  // Python may let go of it in one thread while another is in MPI.
  if (is_in_call())
    static_cast<void>(parts_.release());
  else
    parts_.reset();
}

void close_all_objectives() noexcept {
  const auto any = [] {
    const std::lock_guard lock(open_functions_guard);
    return open_functions.empty() ? nullptr : *open_functions.begin();
  };
  while (StudyFunction* function = any()) function->close();
}

StudyFunction::Parts& StudyFunction::parts() const {
  if (!parts_) throw Failure(ExitCode::bad_input, "the objective has been closed");
  return *parts_;
}

template <class Work>
auto StudyFunction::evaluate(std::span<const double> x, Work work) {
  Parts& parts = this->parts();
  const Call call("study");
  return call.run(parts.comm, [&] {
    require_same(parts.comm, x, start_.size());
    return work(parts.study->objective());
  });
}

double StudyFunction::value(std::span<const double> x) {
  return evaluate(x, [&](app::StudyObjective&) { return value_at(x); });
}

/// J(x). The experiments are distributed over the groups anew for every value: asked again at the same x,
/// they might run again on others.
double StudyFunction::value_at(std::span<const double> x) {
  if (std::ranges::equal(last_x_, x)) return last_value_;
  last_x_.clear();
  app::StudyObjective& objective = parts_->study->objective();
  last_value_ = objective.value(x);
  failure_ = objective.failure();
  last_x_.assign(x.begin(), x.end());
  return last_value_;
}

/// Runs forward, so that derivatives find the run. @throws Error where there is none.
void StudyFunction::require_value(std::span<const double> x) {
  if (!std::isfinite(value_at(x))) throw Error(ExitCode::no_solution, failure_);
}

static void require_squares(const app::StudyObjective& objective) {
  if (const std::string& why_not = objective.why_not_least_squares(); !why_not.empty())
    throw InputError("the objective is no sum of squares of residuals: " + why_not +
                     "; use value() and gradient()");
}

std::vector<double> StudyFunction::gradient(std::span<const double> x) {
  return evaluate(x, [&](app::StudyObjective& objective) {
    require_value(x);
    return objective.gradient(x);
  });
}

std::vector<double> StudyFunction::residuals(std::span<const double> x) {
  return evaluate(x, [&](app::StudyObjective& objective) {
    require_squares(objective);
    require_value(x);
    return objective.residual_vector(x);
  });
}

std::vector<double> StudyFunction::jacobian(std::span<const double> x) {
  return evaluate(x, [&](app::StudyObjective& objective) {
    require_squares(objective);
    require_value(x);
    const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows =
        objective.residual_jacobian(x);
    return std::vector<double>(rows.data(), rows.data() + rows.size());
  });
}

void StudyFunction::write_scenes(std::span<const double> x, const std::string& folder) {
  evaluate(x, [&](app::StudyObjective& objective) {
    objective.write_scenes(x, folder);
    return 0;
  });
}

std::vector<double> StudyFunction::values(std::span<const double> x) const {
  return parts().study->objective().space().values(x);
}

std::vector<double> StudyFunction::variables(std::span<const double> values) const {
  return parts().study->objective().space().variables_of(values);
}

} // namespace recoil::python
