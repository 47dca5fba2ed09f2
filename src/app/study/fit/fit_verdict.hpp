#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/study/fit/fit_report.hpp"
#include "recoil/app/study/evaluation/residual_report.hpp"

namespace recoil::app {

/// How an optimisation has ended.
enum class Ending {
  converged,       ///< by one of its rules, or where no further step is possible
  iteration_limit, ///< optimizer/max_iterations
  time_limit,      ///< optimizer/time_budget
  stalled          ///< no step makes the objective smaller, though the derivatives promise one
};

/// Something that a user should know of a fit; a member of the list `warnings` of fit.json.
struct FitWarning {
  std::string code, message;
  std::string place; ///< file and line, or place in the study; empty: none
};

/// The warnings of a fit, each of which goes to the log, too. Not collective; the same on all ranks.
class FitWarnings {
public:
  /// Begins with those that the log has already: of the study and its scenes, before anything was run.
  explicit FitWarnings(const std::vector<std::string>& told_of_study);
  void add(FitWarning warning);
  Json describe() const;

private:
  std::vector<FitWarning> warnings_;
};

/// The squares by which a fit is judged.
struct JudgedSquares {
  double chi_squared = 0; ///< of all data, without losses, priors included
  GlobalIndex data = 0;   ///< their number
  /// Data more than ObjectiveResiduals::far off in objectives with a loss, which are not judged.
  double outlier_squares = 0;
  GlobalIndex outliers = 0;
  double values = 0;   ///< numbers that were fitted
  std::string why_not; ///< why nothing can be judged; empty: it can
};

/// The squares of a fit of `values` numbers, from |r|^2 with losses, and what is left of the data.
JudgedSquares judged_squares(const Study& study, const std::vector<ExperimentResiduals>& residuals,
                             const std::vector<double>& per_objective, const FittedDesign& fit,
                             double values);

/// What a fit comes to; the member `verdict` of fit.json.
struct Verdict {
  enum class Is { converged, not_converged, bad_fit };
  Is is = Is::converged;
  std::vector<std::string> reasons; ///< for what is not `converged`; else what was not judged
  std::optional<double> p_value;    ///< of chi^2
  /// The minima that several starts have ended at, as compare_ends(); empty: not compared.
  std::vector<int> starts;
};

/// Least p value of chi^2 of a fit that is not called bad.
constexpr double least_p_value = 1e-3;
/// Largest share of data that a loss may leave aside.
constexpr double most_outliers = 0.1;

/// `not_converged` unless the optimisation has; else `bad_fit` where the p value of chi^2 is below
/// least_p_value, whether residuals are too large or too small, or where too many data were left aside.
/// @param result the file from which another fit may start. Not collective.
Verdict judge(Ending ending, const std::string& reason, const JudgedSquares& squares,
              const std::filesystem::path& result);
/// With what it was judged by.
Json describe(const Verdict& verdict, const JudgedSquares& squares);
/// In one line.
std::string in_words(const Verdict& verdict, const JudgedSquares& squares);

/// Residuals of more than ObjectiveResiduals::far standard deviations, with file and line.
void warn_of_outliers(const Study& study, const std::vector<ExperimentResiduals>& residuals,
                      FitWarnings& warnings);
/// Warns of data without standard deviations next to data with them. @param has_deviations by objective
void warn_of_mixed_deviations(const Study& study, const std::vector<bool>& has_deviations,
                              FitWarnings& warnings);
/// Directions that the data leave open, standard deviations larger than the distance of the bounds or than
/// the value, values at their bounds.
void warn_of_parameters(const Study& study, const DesignSpace& space, std::span<const double> x,
                        const inverse::Uncertainty& uncertainty, FitWarnings& warnings);

/// The end of a descent from one of several starts.
struct FoundMinimum {
  std::vector<double> x;
  double objective = 0; ///< infinite: there is none
  bool is_end = true;   ///< not a limit, nor where it has stalled
};
/// By start the number of the minimum that it has ended at: 1 is the best one, the others follow in the order
/// of the starts; 0 where it has not ended at a minimum. Two are the same where their values differ by less
/// than three standard deviations, or 1 % of their sizes; where the data leave a direction open, if they fit
/// equally well.
std::vector<int> compare_ends(const DesignSpace& space, const std::vector<FoundMinimum>& minima,
                              std::size_t best, const inverse::Uncertainty& uncertainty);
/// A minimum that fits the data as well as the best one, at other values.
void warn_of_minima(const Study& study, const DesignSpace& space, const std::vector<FoundMinimum>& minima,
                    std::size_t best, const inverse::Uncertainty& uncertainty, FitWarnings& warnings);

/// A value as its deviation allows to state it, "4.98 ± 0.06": the deviation to two digits where these are
/// 10 to 35, else to one (Particle Data Group), the value to the same place, but to one digit at least; to
/// six digits without one.
std::string value_with_deviation(double value, std::optional<double> deviation);
/// The table of what was found, a line per value.
std::vector<std::string> fit_table(const Study& study, const Json& result);

} // namespace recoil::app
