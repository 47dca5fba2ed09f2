#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace recoil::python {

/// The variables of a study that belong to one of its parameters.
struct ParameterBlock {
  std::string name;
  std::vector<std::string> labels; ///< of the variables: "E", "E[upper]", "force[3]"
};

/// The objective of a study, with the ranks that evaluate it. All members but the accessors are collective;
/// what they throw is a Failure.
class StudyFunction {
public:
  /// `text` is the JSON text of a study that has no file, `study` then stands for it in messages; `folder`
  /// takes the resolved scenes.
  StudyFunction(std::uintptr_t comm, const std::string& study, const std::string& text,
                const std::string& folder);
  StudyFunction(const StudyFunction&) = delete;
  StudyFunction& operator=(const StudyFunction&) = delete;
  ~StudyFunction();

  /// Frees all that it holds; whatever is called afterwards throws.
  void close() noexcept;

  const std::vector<ParameterBlock>& parameters() const { return parameters_; }
  const std::vector<std::string>& warnings() const { return warnings_; }
  const std::vector<double>& start() const { return start_; }
  const std::vector<double>& lower() const { return lower_; }
  const std::vector<double>& upper() const { return upper_; }
  /// Why it is no sum of squares; empty if it is one.
  const std::string& why_not_least_squares() const { return not_squares_; }
  bool is_chi_squared() const { return is_chi_squared_; }
  /// Why the last value() was infinite.
  const std::string& failure() const { return failure_; }

  double value(std::span<const double> x);
  std::vector<double> gradient(std::span<const double> x);
  std::vector<double> residuals(std::span<const double> x);
  /// Row by row.
  std::vector<double> jacobian(std::span<const double> x);
  void write_scenes(std::span<const double> x, const std::string& folder);

  /// The values of the parameters, in the units of the study, and the variables that give them. Not
  /// collective.
  std::vector<double> values(std::span<const double> x) const;
  std::vector<double> variables(std::span<const double> values) const;

private:
  struct Parts;
  Parts& parts() const;
  double value_at(std::span<const double> x);
  void require_value(std::span<const double> x);
  template <class Work>
  auto evaluate(std::span<const double> x, Work work);

  std::unique_ptr<Parts> parts_;
  std::vector<ParameterBlock> parameters_;
  std::vector<std::string> warnings_;
  std::vector<double> start_, lower_, upper_;
  std::vector<double> last_x_; ///< of the last value(); empty: none
  double last_value_ = 0;
  std::string not_squares_, failure_;
  bool is_chi_squared_ = false;
};

/// For the end of MPI.
void close_all_objectives() noexcept;

} // namespace recoil::python
