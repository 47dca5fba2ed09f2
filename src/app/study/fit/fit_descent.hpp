#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "app/study/fit/fit_report.hpp"
#include "app/study/fit/fit_verdict.hpp"
#include "recoil/app/study/evaluation/study_objective.hpp"

namespace recoil::app {

/// A descent of a fit.
struct Descent {
  bool has_begun = false;
  std::vector<double> x;
  double initial_objective = 0, objective = std::numeric_limits<double>::infinity();
  std::vector<ExperimentValue> values; ///< at x
  int iterations = 0;
  std::string reason; ///< of the end
  Ending ending = Ending::converged;
  double first_gradient = 0, last_gradient = 0; ///< norms, as the optimiser sees them
  Json matched_peaks;                           ///< where strengths start from such peaks
};

/// Gives all ranks what those of a group know of a descent but for its `values`, from their first rank `root`
/// on. Collective.
void share_descent(const parallel::Communicator& world, Descent& descent, int root);

/// The end of a descent on other meshes, from which another one goes on.
struct FirstPart {
  int iterations = 0;
  double initial_objective = 0, first_gradient = 0;
};

/// Descends from one of the starts of a fit to a minimum. Everything must outlive it; all members are
/// collective over the ranks of the objective.
class Descender {
public:
  /// Looks at an iterate with a bad mesh, and says whether the fit goes on with better ones.
  using Renew = std::function<bool(const linalg::Iterate&)>;

  Descender(const parallel::Communicator& comm, const Study& study, StudyObjective& objective,
            const Interrupts& interrupts, linalg::DescentMethod method)
      : comm_(comm), study_(study), objective_(objective), interrupts_(interrupts), method_(method),
        running_(method) {}

  void go_on_from(const FirstPart& first) { first_part_ = first; }
  void renew_meshes_by(Renew renew) { renew_ = std::move(renew); }

  /// Minimises from `descent.x`, the k-th start of `starts`, and adds iterates to `history`; a start without
  /// a value there ends with an infinite objective, one of several without derivatives where it is then. What
  /// was found until then is in `descent` also where it throws. @throws Error of ExitCode::interrupted,
  /// FileError; of ExitCode::no_solution where the only start has no derivatives.
  void descend(std::size_t k, std::size_t starts, FitHistory& history, Descent& descent);

  /// Whether the meshes ended the descent.
  bool needs_meshes() const { return needs_meshes_; }

private:
  void minimize_from(const std::vector<double>& x);
  bool is_stationary();
  double free_step(const std::vector<double>& x);
  linalg::BoundedMinimum minimize(const inverse::DesignVariables& variables, linalg::DescentMethod method,
                                  const inverse::StopRules& rules);
  std::string show(linalg::Iterate at);
  bool is_chi_squared_of_fields() const;
  bool is_judged_by_noise() const;

  const parallel::Communicator& comm_;
  const Study& study_;
  StudyObjective& objective_;
  const Interrupts& interrupts_;
  linalg::DescentMethod method_, running_; ///< of the study, and of the descent under way
  std::optional<FirstPart> first_part_;
  Renew renew_;
  Descent* descent_ = nullptr; ///< under way
  FitHistory* history_ = nullptr;
  std::int64_t number_ = 1;
  int first_iteration_ = 0; ///< of a method or stage that continues another one's descent
  bool needs_meshes_ = false;
};

} // namespace recoil::app
