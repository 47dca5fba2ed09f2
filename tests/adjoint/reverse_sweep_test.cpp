#include <cmath>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "recoil/adjoint/reverse_sweep.hpp"
#include "recoil/parallel/communicator.hpp"
#include "recoil/stepping/history.hpp"

namespace recoil::adjoint {
namespace {

using linalg::Vector;
using stepping::State;
using stepping::StepRecord;

/// Parameters of the model problem.
enum Parameter { mass, stiffness, damping, amplitude, start_u, start_v, num_parameters };
using Parameters = std::array<double, num_parameters>;
constexpr Parameters reference{1.3, 4.0, 0.6, 0.4, 0.7, -0.5};

/// Uncoupled nonlinear oscillators, two to a rank, the first of which is prescribed: with mass m and
/// G(u, u_-) = k (1 + e) (u + u^3) + d (1 + u_-^2) (u - u_-) / dt, e from the number of the entry.
class Model {
public:
  explicit Model(MPI_Comm world) : comm(world) {
    auto made = std::make_shared<linalg::VectorLayout>();
    made->comm = &comm;
    made->num_owned = 2;
    made->offset = 2 * comm.rank();
    made->num_global = 2 * comm.size();
    layout = made;
  }

  static double prescribed(double t) { return 1 + std::sin(3 * t); }
  static bool is_prescribed(std::size_t i) { return i == 0; }
  double factor(std::size_t i) const {
    return 1 + 0.1 * static_cast<double>(layout->offset + static_cast<GlobalIndex>(i));
  }

  parallel::Communicator comm;
  std::shared_ptr<const linalg::VectorLayout> layout;
};

/// G and its derivatives at one entry.
struct Force {
  Force(const Parameters& q, double factor, double u, double previous, double dt)
      : by_k(factor * (u + u * u * u)), by_d(dt > 0 ? (1 + previous * previous) * (u - previous) / dt : 0),
        value(q[stiffness] * by_k + q[damping] * by_d),
        by_u(q[stiffness] * factor * (1 + 3 * u * u) +
             (dt > 0 ? q[damping] * (1 + previous * previous) / dt : 0)),
        by_previous(dt > 0 ? q[damping] * (2 * previous * (u - previous) - (1 + previous * previous)) / dt
                           : 0) {}
  double by_k, by_d, value, by_u, by_previous;
};

struct Recorded {
  std::vector<StepRecord> records;
  std::vector<State> states;
};

/// How long each step is, in units of the nominal one; a run of halves is a repeated step.
struct Plan {
  int bdf_order; ///< 0 = quasi-static
  std::vector<double> steps;
};

double solve_entry(const Parameters& q, double factor, double u, double previous, double u_tilde, double dt,
                   double scale, bool inertia, int iterations) {
  for (int k = 0; k < iterations; ++k) {
    const Force G(q, factor, u, previous, dt);
    const double m = inertia ? q[mass] : 0;
    u -= (m * (u - u_tilde) + scale * G.value) / (m + scale * G.by_u);
  }
  return u;
}

Recorded simulate(const Model& model, const Parameters& q, const Plan& plan, int iterations = 60) {
  constexpr double nominal = 0.15;
  Recorded run;
  stepping::History history(std::max(plan.bdf_order, 1));
  State first{0, Vector(model.layout), Vector(model.layout)};
  for (std::size_t i = 0; i < 2; ++i) {
    first.u.write_owned()[i] =
        Model::is_prescribed(i) ? q[amplitude] * Model::prescribed(0) : q[start_u] * model.factor(i);
    first.v.write_owned()[i] = plan.bdf_order > 0 ? q[start_v] * model.factor(i) : 0;
  }
  history.push(0, first.u, first.v);
  run.records.emplace_back();
  run.states.push_back(first);
  double time = 0;
  for (const double share : plan.steps) {
    const double dt = share * nominal;
    if (run.records.size() > 1 && std::abs(run.records.back().dt - dt) > 1e-12) history.restart();
    const bool inertia = plan.bdf_order > 0;
    const auto c = inertia ? (share < 1 ? stepping::bdf_coefficients(1) : history.next_coefficients())
                           : stepping::StepCoefficients{};
    time += dt;
    const GlobalIndex id = history.newest().id + 1;
    StepRecord record = history.next_record(id, id, time, dt, c);
    Vector u_bar(model.layout), u_tilde(model.layout);
    if (inertia) history.predict(c, dt, u_bar, u_tilde);
    State state{id, Vector(model.layout), Vector(model.layout)};
    const double B = c.scaled_dt(dt);
    for (std::size_t i = 0; i < 2; ++i) {
      const double previous = history.newest().u.owned()[i];
      state.u.write_owned()[i] = Model::is_prescribed(i)
                                     ? q[amplitude] * Model::prescribed(time)
                                     : solve_entry(q, model.factor(i), previous, previous, u_tilde.owned()[i],
                                                   dt, inertia ? B * B : 1, inertia, iterations);
    }
    if (inertia) stepping::update_velocity(c, dt, state.u, u_bar, state.v);
    history.push(id, state.u, state.v);
    run.records.push_back(record);
    run.states.push_back(std::move(state));
  }
  return run;
}

/// J_k = sum over the states of w_i (u^2 / 2 + k u v + u^4), over all entries, w_i uneven.
class Sums final : public StateDerivatives {
public:
  static double weight(GlobalIndex id) { return 0.3 + 0.1 * static_cast<double>(id % 3); }
  std::size_t num_objectives() const override { return 2; }
  void add(std::size_t k, const StepRecord& record, const State& state, Vector& du, Vector& dv) override {
    const double w = weight(record.id), c = static_cast<double>(k);
    auto by_u = du.write_owned(), by_v = dv.write_owned();
    for (std::size_t i = 0; i < 2; ++i) {
      const double u = state.u.owned()[i], v = state.v.owned()[i];
      by_u[i] += w * (u + c * v + 4 * u * u * u);
      by_v[i] += w * c * u;
    }
  }
  static double value(const Model& model, const Recorded& run, std::size_t k) {
    double sum = 0;
    for (const State& state : run.states)
      for (std::size_t i = 0; i < 2; ++i) {
        const double u = state.u.owned()[i], v = state.v.owned()[i];
        sum += weight(state.id) * (u * u / 2 + static_cast<double>(k) * u * v + u * u * u * u);
      }
    return model.comm.sum(sum);
  }
};

class ModelStep final : public stepping::DifferentiableStep {
public:
  ModelStep(const Model& model, const Parameters& q, bool inertia)
      : model_(model), q_(q), inertia_(inertia), gradients(2, Parameters{}) {}

  void linearize(const StepRecord& record, const State& now, const State& previous) override {
    record_ = &record;
    now_ = &now;
    previous_ = &previous;
    EXPECT_EQ(previous.id, record.predecessors().front());
  }
  void multiply_mass(const Vector& x, Vector& y) override {
    y = x;
    y.scale(inertia_ ? q_[mass] : 0);
  }
  stepping::TransposedSolve solve(const Vector& b, Vector& x, double) override {
    const double B = record_->coefficients.scaled_dt(record_->dt);
    for (std::size_t i = 0; i < 2; ++i)
      x.write_owned()[i] =
          Model::is_prescribed(i) ? 0 : b.owned()[i] / ((inertia_ ? q_[mass] : 0) + B * B * force(i).by_u);
    return {true, 1, 0};
  }
  double gradient_product(const Vector& p) override {
    double sum = 0;
    for (std::size_t i = 0; i < 2; ++i)
      if (!Model::is_prescribed(i)) sum += p.owned()[i] * force(i).value;
    return model_.comm.sum(sum);
  }
  void multiply_stiffness(const Vector& x, Vector& y) override {
    for (std::size_t i = 0; i < 2; ++i) y.write_owned()[i] = force(i).by_u * x.owned()[i];
  }
  void multiply_previous(const Vector& x, Vector& y) override {
    for (std::size_t i = 0; i < 2; ++i) y.write_owned()[i] = force(i).by_previous * x.owned()[i];
  }
  bool wants_prescribed_products() const override { return true; }
  void add_parameter_products(std::size_t k, const Vector& p, double factor) override {
    for (std::size_t i = 0; i < 2; ++i) {
      gradients[k][stiffness] += factor * p.owned()[i] * force(i).by_k;
      gradients[k][damping] += factor * p.owned()[i] * force(i).by_d;
    }
  }
  void add_mass_products(std::size_t k, const Vector& p, const Vector& x) override {
    for (std::size_t i = 0; i < 2; ++i) gradients[k][mass] += p.owned()[i] * x.owned()[i];
  }
  void add_prescribed_products(std::size_t k, const Vector& y) override {
    gradients[k][amplitude] += y.owned()[0] * Model::prescribed(record_->time);
  }
  void add_initial_products(std::size_t k, const Vector& y, const Vector& z) override {
    gradients[k][amplitude] += y.owned()[0] * Model::prescribed(0);
    gradients[k][start_u] += y.owned()[1] * model_.factor(1);
    if (!inertia_) return;
    for (std::size_t i = 0; i < 2; ++i) gradients[k][start_v] += z.owned()[i] * model_.factor(i);
  }

private:
  Force force(std::size_t i) const {
    return {q_, model_.factor(i), now_->u.owned()[i], previous_->u.owned()[i], record_->dt};
  }

  const Model& model_;
  Parameters q_;
  bool inertia_;
  const StepRecord* record_ = nullptr;
  const State *now_ = nullptr, *previous_ = nullptr;

public:
  std::vector<Parameters> gradients; ///< shares of this rank
};

class StoredStates final : public StateSource {
public:
  explicit StoredStates(const Recorded& run) : run_(run) {}
  const State& state(GlobalIndex id) override { return run_.states[static_cast<std::size_t>(id)]; }

private:
  const Recorded& run_;
};

std::vector<Parameters> sweep(const Model& model, const Recorded& run, bool inertia,
                              GlobalIndex restart_at = -1) {
  ModelStep step(model, reference, inertia);
  StoredStates states(run);
  Sums objectives;
  auto whole = std::make_unique<ReverseSweep>(run.records, states, objectives, step, SweepOptions{});
  while (whole->next() >= 0) {
    if (whole->next() == restart_at) {
      auto other = std::make_unique<ReverseSweep>(run.records, states, objectives, step, SweepOptions{});
      other->resume(whole->next(), whole->pending());
      whole = std::move(other);
    }
    EXPECT_EQ(whole->advance(), "");
  }
  for (Parameters& gradient : step.gradients) model.comm.sum(gradient);
  return step.gradients;
}

const std::vector<double> even(9, 1.0);
const std::vector<double> with_sub_steps{1, 1, 1, 0.5, 0.5, 1, 1, 0.25, 0.25, 0.25, 0.25, 1, 1, 1};

class SweepOf : public ::testing::TestWithParam<Plan> {};

TEST_P(SweepOf, AgreesWithDifferences) {
  const Model model(MPI_COMM_WORLD);
  const bool inertia = GetParam().bdf_order > 0;
  const auto gradients = sweep(model, simulate(model, reference, GetParam()), inertia);
  for (std::size_t k = 0; k < 2; ++k)
    for (int parameter = 0; parameter < num_parameters; ++parameter) {
      const bool is_inertial = parameter == mass || parameter == start_v;
      const auto j = static_cast<std::size_t>(parameter);
      double error = 1e300;
      for (const double h : {1e-4, 1e-5, 1e-6}) {
        Parameters plus = reference, minus = reference;
        plus[j] += h;
        minus[j] -= h;
        const double difference = (Sums::value(model, simulate(model, plus, GetParam()), k) -
                                   Sums::value(model, simulate(model, minus, GetParam()), k)) /
                                  (2 * h);
        error = std::min(error, std::abs(difference - gradients[k][j]));
      }
      if (inertia || !is_inertial) {
        EXPECT_GT(std::abs(gradients[k][j]), 1e-3) << "vacuous: parameter " << parameter;
      }
      EXPECT_LE(error, 1e-8 * std::max(1.0, std::abs(gradients[k][j])))
          << "parameter " << parameter << ", objective " << k;
    }
}

TEST_P(SweepOf, GoesOnFromWhatIsPending) {
  const Model model(MPI_COMM_WORLD);
  const bool inertia = GetParam().bdf_order > 0;
  const Recorded run = simulate(model, reference, GetParam());
  const auto whole = sweep(model, run, inertia);
  for (const GlobalIndex at : {GlobalIndex{0}, GlobalIndex{1}, GlobalIndex{5}})
    EXPECT_EQ(sweep(model, run, inertia, at), whole) << "restarted before state " << at;
}

TEST_P(SweepOf, EstimatesWhatExactSolvesWouldChange) {
  const Model model(MPI_COMM_WORLD);
  const bool inertia = GetParam().bdf_order > 0;
  const auto sum = [&](const Recorded& run) {
    return Sums::value(model, run, 0) + Sums::value(model, run, 1);
  };
  const double exact = sum(simulate(model, reference, GetParam()));
  const auto correction = [&](const Recorded& run) {
    ModelStep step(model, reference, inertia);
    StoredStates states(run);
    Sums objectives;
    ReverseSweep sweep(run.records, states, objectives, step, SweepOptions{});
    while (sweep.next() >= 0) EXPECT_EQ(sweep.advance(), "");
    return sweep.totals().objective_correction;
  };
  EXPECT_NEAR(correction(simulate(model, reference, GetParam())), 0, 1e-11 * std::abs(exact));
  const Recorded loose = simulate(model, reference, GetParam(), 2);
  const double error = exact - sum(loose);
  EXPECT_GT(std::abs(error), 1e-9 * std::abs(exact)) << "vacuous";
  EXPECT_NEAR(correction(loose), error, 0.05 * std::abs(error));
}

INSTANTIATE_TEST_SUITE_P(Schemes, SweepOf,
                         ::testing::Values(Plan{0, even}, Plan{1, even}, Plan{2, even}, Plan{3, even},
                                           Plan{6, even}, Plan{0, with_sub_steps}, Plan{2, with_sub_steps},
                                           Plan{3, with_sub_steps}, Plan{4, {1}}));

} // namespace
} // namespace recoil::adjoint
