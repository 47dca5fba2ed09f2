#pragma once

#include <array>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "recoil/parallel/communicator.hpp"
#include "recoil/stepping/differentiable_step.hpp"
#include "recoil/stepping/history.hpp"

namespace recoil::oscillators {

using linalg::Vector;
using stepping::State;
using stepping::StepRecord;

/// Parameters of the oscillators.
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

inline double solve_entry(const Parameters& q, double factor, double u, double previous, double u_tilde,
                          double dt, double scale, bool inertia, int iterations) {
  for (int k = 0; k < iterations; ++k) {
    const Force G(q, factor, u, previous, dt);
    const double m = inertia ? q[mass] : 0;
    u -= (m * (u - u_tilde) + scale * G.value) / (m + scale * G.by_u);
  }
  return u;
}

/// Takes a step of length dt from the states of `history` and adds the new one to them; of first order where
/// it is a part of a nominal step.
inline StepRecord take_step(const Model& model, const Parameters& q, stepping::History& history, bool inertia,
                            double time, double dt, bool is_part, int iterations = 60) {
  const auto c = inertia ? (is_part ? stepping::bdf_coefficients(1) : history.next_coefficients())
                         : stepping::StepCoefficients{};
  const GlobalIndex id = history.newest().id + 1;
  const StepRecord record = history.next_record(id, id, time, dt, c);
  Vector u_bar(model.layout), u_tilde(model.layout);
  if (inertia) history.predict(c, dt, u_bar, u_tilde);
  Vector u(model.layout), v(model.layout);
  const double B = c.scaled_dt(dt);
  for (std::size_t i = 0; i < 2; ++i) {
    const double previous = history.newest().u.owned()[i];
    u.write_owned()[i] = Model::is_prescribed(i)
                             ? q[amplitude] * Model::prescribed(time)
                             : solve_entry(q, model.factor(i), previous, previous, u_tilde.owned()[i], dt,
                                           inertia ? B * B : 1, inertia, iterations);
  }
  if (inertia) history.update_velocity(c, dt, u, u_bar, v);
  history.push(id, u, v);
  return record;
}

inline State initial_state(const Model& model, const Parameters& q, bool inertia) {
  State first{0, Vector(model.layout), Vector(model.layout)};
  for (std::size_t i = 0; i < 2; ++i) {
    first.u.write_owned()[i] =
        Model::is_prescribed(i) ? q[amplitude] * Model::prescribed(0) : q[start_u] * model.factor(i);
    first.v.write_owned()[i] = inertia ? q[start_v] * model.factor(i) : 0;
  }
  return first;
}

/// The equations of a step, the derivatives of as many objectives as asked for, and the changes along
/// `directions`. Entries are not coupled: K and K_- are their own transposes.
class ModelStep final : public stepping::BdfReverseStep, public stepping::BdfTangentStep {
public:
  ModelStep(const Model& model, const Parameters& q, bool inertia, std::vector<Parameters> directions = {})
      : model_(model), q_(q), inertia_(inertia), directions_(std::move(directions)),
        gradients(2, Parameters{}) {}

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
  stepping::LinearSolve solve(const Vector& b, Vector& x, double) override {
    const double B = record_->coefficients.scaled_dt(record_->dt);
    for (std::size_t i = 0; i < 2; ++i)
      x.write_owned()[i] =
          Model::is_prescribed(i) ? 0 : b.owned()[i] / ((inertia_ ? q_[mass] : 0) + B * B * force(i).by_u);
    return {converges, 1, 0};
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

  std::size_t num_directions() const override { return directions_.size(); }
  void parameter_tangent(std::size_t k, Vector& y) override {
    const Parameters& dq = directions_[k];
    for (std::size_t i = 0; i < 2; ++i)
      y.write_owned()[i] = dq[stiffness] * force(i).by_k + dq[damping] * force(i).by_d;
  }
  void mass_tangent(std::size_t k, const Vector& x, Vector& y) override {
    y = x;
    y.scale(inertia_ ? directions_[k][mass] : 0);
  }
  void prescribed_tangent(std::size_t k, Vector& y) override {
    y.fill(0);
    y.write_owned()[0] = directions_[k][amplitude] * Model::prescribed(record_->time);
  }
  void initial_tangent(std::size_t k, Vector& y, Vector& z) override {
    const Parameters& dq = directions_[k];
    y.write_owned()[0] = dq[amplitude] * Model::prescribed(0);
    y.write_owned()[1] = dq[start_u] * model_.factor(1);
    for (std::size_t i = 0; i < 2; ++i) z.write_owned()[i] = inertia_ ? dq[start_v] * model_.factor(i) : 0;
  }

private:
  Force force(std::size_t i) const {
    return {q_, model_.factor(i), now_->u.owned()[i], previous_->u.owned()[i], record_->dt};
  }

  const Model& model_;
  Parameters q_;
  bool inertia_;
  std::vector<Parameters> directions_;
  const StepRecord* record_ = nullptr;
  const State *now_ = nullptr, *previous_ = nullptr;

public:
  bool converges = true;             ///< what solves report
  std::vector<Parameters> gradients; ///< shares of this rank
};

} // namespace recoil::oscillators
