#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "recoil/base/error.hpp"
#include "recoil/inverse/forward_problem.hpp"
#include "support/oscillators.hpp"

namespace recoil::inverse {

/// A run of oscillators, nominal step n in parts[n - 1] parts, or in as many as it is asked to take.
class OscillatorSteps final : public stepping::Solver {
public:
  OscillatorSteps(const oscillators::Model& model, const oscillators::Parameters& q, int bdf_order,
                  const std::vector<int>& parts)
      : model_(model), q_(q), inertia_(bdf_order > 0), parts_(parts), history_(std::max(bdf_order, 1)) {
    const stepping::State first = oscillators::initial_state(model, q, inertia_);
    history_.push(0, first.u, first.v);
  }

  GlobalIndex step() const override { return step_; }
  const stepping::History& history() const override { return history_; }
  double time() const override { return static_cast<double>(step_) * nominal; }
  double start_time() const override { return 0; }
  std::shared_ptr<const linalg::VectorLayout> layout() const override { return model_.layout; }
  stepping::RestartData restart_data() const override { return {step_, history_.size()}; }
  void continue_from(const stepping::RestartData& data, std::vector<stepping::State> states) override {
    ASSERT_EQ(std::ssize(states), data.num_states);
    step_ = data.step;
    history_.clear();
    for (const stepping::State& state : states) history_.push(state.id, state.u, state.v);
  }
  stepping::StepOutcome advance(const OnState& on_state, int sub_steps) override {
    ++steps_taken;
    const int parts = std::max(sub_steps, parts_[static_cast<std::size_t>(step_)]);
    const double dt = nominal / parts;
    if (parts > 1) history_.restart();
    std::vector<stepping::StepRecord> records;
    std::vector<stepping::State> states;
    for (int part = 1; part <= parts; ++part) {
      const double time = static_cast<double>(step_) * nominal + part * dt;
      auto& record =
          records.emplace_back(oscillators::take_step(model_, q_, history_, inertia_, time, dt, parts > 1));
      record.nominal_step = step_ + 1;
      record.completes_nominal = part == parts;
      states.push_back(history_.newest());
      if (!std::isfinite(states.back().u.norm())) return {false, false, "the oscillation is not finite"};
    }
    if (parts > 1) history_.restart();
    ++step_;
    for (std::size_t i = 0; i < records.size(); ++i) on_state(records[i], states[i].u, states[i].v);
    return {true, false, ""};
  }

  int steps_taken = 0;

private:
  static constexpr double nominal = 0.15;
  const oscillators::Model& model_;
  oscillators::Parameters q_;
  bool inertia_;
  const std::vector<int>& parts_;
  stepping::History history_;
  GlobalIndex step_ = 0;
};

/// J = |r|^2 with r = sqrt(w_i) (u + v / 2) and sqrt(w_i) u^2 of all entries at the ends of nominal steps,
/// w_i uneven.
class OscillatorProblem final : public ForwardProblem {
public:
  OscillatorProblem(const oscillators::Model& model, const oscillators::Parameters& q, int bdf_order,
                    const std::vector<int>& parts)
      : model_(model), q_(q), inertia_(bdf_order > 0), num_steps_(std::ssize(parts)),
        steps_(model, q, bdf_order, parts) {}

  OscillatorSteps& solver() override { return steps_; }
  GlobalIndex num_steps() const override { return num_steps_; }
  void observe(const stepping::StepRecord& record, const linalg::Vector& u, const linalg::Vector& v,
               std::span<const double>) override {
    if (!record.completes_nominal) return;
    Rows& rows = rows_[record.nominal_step];
    for (std::size_t i = 0; i < 2; ++i) {
      const double x = u.owned()[i], y = v.owned()[i];
      rows[2 * i] = root(record) * (x + y / 2);
      rows[2 * i + 1] = root(record) * x * x;
    }
  }
  std::vector<double> terms() const override {
    double sum = 0;
    for (const double r : residuals()) sum += r * r;
    return {model_.comm.sum(sum)};
  }
  std::vector<std::string> places_of_terms() const override { return {"the sum"}; }
  std::unique_ptr<AdjointProblem> adjoint(GlobalIndex num_records) override {
    std::vector<double> y = residuals();
    for (double& entry : y) entry *= 2;
    return residual_adjoint(y, num_records);
  }

  bool is_least_squares() const override { return true; }
  std::vector<double> residuals() const override {
    std::vector<double> all;
    for (const auto& [step, rows] : rows_) all.insert(all.end(), rows.begin(), rows.end());
    return all;
  }
  std::unique_ptr<TangentProblem> tangent(const std::vector<ParameterValues>& directions,
                                          GlobalIndex) override {
    return std::make_unique<Tangent>(model_, q_, inertia_, directions);
  }
  std::unique_ptr<AdjointProblem> residual_adjoint(std::span<const double> y, GlobalIndex) override {
    return std::make_unique<Adjoint>(model_, q_, inertia_, std::vector<double>(y.begin(), y.end()));
  }

private:
  /// At one state: two of each entry of this rank.
  using Rows = std::array<double, 4>;

  static double root(const stepping::StepRecord& record) {
    return std::sqrt(0.3 + 0.1 * static_cast<double>(record.nominal_step % 3));
  }

  /// Of y' r.
  class Derivatives final : public adjoint::StateDerivatives {
  public:
    explicit Derivatives(std::vector<double> y) : y_(std::move(y)) {}
    std::size_t num_objectives() const override { return 1; }
    void add(std::size_t, const adjoint::StateOfRun& at, adjoint::StatePartials& by) override {
      if (!at.record.completes_nominal) return;
      const double* y = &y_[4 * static_cast<std::size_t>(at.record.nominal_step)];
      for (std::size_t i = 0; i < 2; ++i) {
        by.u.write_owned()[i] += root(at.record) * (y[2 * i] + 2 * at.now.u.owned()[i] * y[2 * i + 1]);
        by.v.write_owned()[i] += root(at.record) * y[2 * i] / 2;
      }
    }

  private:
    std::vector<double> y_;
  };

  class Adjoint final : public AdjointProblem {
  public:
    Adjoint(const oscillators::Model& model, const oscillators::Parameters& q, bool inertia,
            std::vector<double> y)
        : model_(model), step_(model, q, inertia), derivatives_(std::move(y)) {}
    adjoint::StateDerivatives& objective() override { return derivatives_; }
    stepping::DifferentiableStep step() override { return &step_; }
    ParameterValues gradient() override {
      oscillators::Parameters gradient = step_.gradients[0];
      model_.comm.sum(gradient);
      return {std::vector<double>(gradient.begin(), gradient.end())};
    }
    std::vector<GatheredArray> gathered() override { return {{"gradient", step_.gradients[0]}}; }

  private:
    const oscillators::Model& model_;
    oscillators::ModelStep step_;
    Derivatives derivatives_;
  };

  class Tangent final : public TangentProblem, public adjoint::StateTangents {
  public:
    Tangent(const oscillators::Model& model, const oscillators::Parameters& q, bool inertia,
            const std::vector<ParameterValues>& directions)
        : step_(model, q, inertia, parameters_of(directions)), changes_(directions.size()) {}
    stepping::TangentStep step() override { return &step_; }
    adjoint::StateTangents& residuals() override { return *this; }
    std::vector<double> change_of_residuals(std::size_t direction) override { return changes_[direction]; }
    void see(std::size_t direction, const adjoint::StateOfRun& at,
             const adjoint::StateChange& change) override {
      if (!at.record.completes_nominal) return;
      for (std::size_t i = 0; i < 2; ++i) {
        const double du = change.u.owned()[i], dv = change.v.owned()[i];
        changes_[direction].push_back(root(at.record) * (du + dv / 2));
        changes_[direction].push_back(root(at.record) * 2 * at.now.u.owned()[i] * du);
      }
    }

  private:
    static std::vector<oscillators::Parameters>
    parameters_of(const std::vector<ParameterValues>& directions) {
      std::vector<oscillators::Parameters> result(directions.size());
      for (std::size_t k = 0; k < directions.size(); ++k)
        std::ranges::copy(directions[k][0], result[k].begin());
      return result;
    }

    oscillators::ModelStep step_;
    std::vector<std::vector<double>> changes_; ///< per direction
  };

  const oscillators::Model& model_;
  oscillators::Parameters q_;
  bool inertia_;
  GlobalIndex num_steps_;
  OscillatorSteps steps_;
  std::map<GlobalIndex, Rows> rows_; ///< by nominal step
};

class OscillatorModel final : public ForwardModel {
public:
  OscillatorModel(const oscillators::Model& model, int bdf_order, std::vector<int> parts)
      : model_(model), bdf_order_(bdf_order), parts_(std::move(parts)) {}

  std::unique_ptr<ForwardProblem> at(const ParameterValues& values) const override {
    oscillators::Parameters q;
    std::ranges::copy(values[0], q.begin());
    if (q[oscillators::mass] <= 0) throw InputError("a mass must be positive");
    ++problems_made_;
    return std::make_unique<OscillatorProblem>(model_, q, bdf_order_, parts_);
  }
  std::string parameter_name(std::size_t) const override { return "oscillator"; }
  int history() const override { return std::max(bdf_order_, 1); }
  const parallel::Communicator& comm() const override { return model_.comm; }

  int problems_made() const { return problems_made_; }
  /// Of all states of a run.
  std::vector<stepping::StepRecord> records(const oscillators::Parameters& q) const {
    OscillatorSteps steps(model_, q, bdf_order_, parts_);
    std::vector<stepping::StepRecord> records(1);
    while (steps.step() < std::ssize(parts_))
      steps.advance([&](const auto& record, const auto&, const auto&) { records.push_back(record); }, 1);
    return records;
  }

private:
  const oscillators::Model& model_;
  int bdf_order_;
  std::vector<int> parts_;
  mutable int problems_made_ = 0;
};

} // namespace recoil::inverse
