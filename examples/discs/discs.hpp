#pragma once

#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include <Eigen/Geometry>

#include "discs/dense_objective.hpp"
#include "recoil/app/run/run_output.hpp"
#include "recoil/geometry/barrier.hpp"
#include "recoil/newton/minimize.hpp"
#include "recoil/stepping/solver.hpp"

/// Rigid discs above a floor, tied rim to rim by springs: a solver whose positions are no vectors.
namespace recoil::discs {

using Eigen::Matrix2d;
using Eigen::Vector2d;
using linalg::Vector;

enum Parameter { mass, stiffness, barrier, gravity, drag, start_speed, num_parameters };
using Parameters = std::vector<double>;
inline constexpr std::array reference_values{1.3, 40.0, 3.0, 9.81, 0.4, 2.0};
inline const Parameters reference(reference_values.begin(), reference_values.end());

inline constexpr int num_discs = 5;
inline constexpr double radius = 0.4, dhat = 0.25, rest_length = 0.15, time_step = 0.05;

/// Where the spring to the next disc is held. At rest all discs are turned by pi, where angles jump.
inline Vector2d rim(const Vector2d& turn) { return -radius * turn; }
inline Vector2d across(const Vector2d& w) { return {-w[1], w[0]}; }

/// (R^2 x S^1)^n: (x, y, cos a, sin a) per disc, and (dx, dy, da) along the tangent.
class Plane final : public newton::Manifold {
public:
  explicit Plane(const parallel::Communicator& comm)
      : points(even_layout(comm, num_discs, 4)), tangents(even_layout(comm, num_discs, 3)) {}

  std::shared_ptr<const linalg::VectorLayout> tangent_layout(const Vector&) const override {
    return tangents;
  }
  void retract(const Vector& x, const Vector& d, double s, Vector& result) const override {
    const auto from = x.owned(), along = d.owned();
    const auto to = result.write_owned();
    for (std::size_t p = 0, t = 0; p < to.size(); p += 4, t += 3) {
      const double c = std::cos(s * along[t + 2]), sine = std::sin(s * along[t + 2]);
      to[p] = from[p] + s * along[t];
      to[p + 1] = from[p + 1] + s * along[t + 1];
      to[p + 2] = c * from[p + 2] - sine * from[p + 3];
      to[p + 3] = sine * from[p + 2] + c * from[p + 3];
    }
  }
  void difference(const Vector& x, const Vector& y, Vector& d) const override {
    difference(x.local(), y.local(), d.write_local());
  }
  static void difference(std::span<const double> x, std::span<const double> y, std::span<double> d) {
    for (std::size_t p = 0, t = 0; p < x.size(); p += 4, t += 3) {
      d[t] = y[p] - x[p];
      d[t + 1] = y[p + 1] - x[p + 1];
      d[t + 2] =
          std::atan2(x[p + 2] * y[p + 3] - x[p + 3] * y[p + 2], x[p + 2] * y[p + 2] + x[p + 3] * y[p + 3]);
    }
  }
  static VectorXd difference(const VectorXd& x, const VectorXd& y) {
    VectorXd d(x.size() / 4 * 3);
    difference({x.data(), std::size_t(x.size())}, {y.data(), std::size_t(y.size())},
               {d.data(), std::size_t(d.size())});
    return d;
  }

  std::shared_ptr<const linalg::VectorLayout> points, tangents;
};

/// The potentials at positions x of all discs, with derivatives along the tangent and by the parameters.
struct Potentials {
  double elastic = 0, contact = 0, weight = 0, gap = std::numeric_limits<double>::infinity();
  GlobalIndex num_pairs = 0;
  VectorXd gradient = VectorXd::Zero(3 * num_discs);
  MatrixXd hessian = MatrixXd::Zero(3 * num_discs, 3 * num_discs);
  MatrixXd by_parameter = MatrixXd::Zero(3 * num_discs, num_parameters);

  Potentials(const Parameters& q, const VectorXd& x) {
    for (int i = 0; i < num_discs; ++i) {
      weight += q[mass] * q[gravity] * x[4 * i + 1];
      gradient[3 * i + 1] += q[mass] * q[gravity];
      by_parameter(3 * i + 1, mass) += q[gravity];
      by_parameter(3 * i + 1, gravity) += q[mass];
      add_contact(q, x[4 * i + 1] - radius, Vector2d(0, 1), 0, i, -1);
      for (int j = 0; j < i; ++j) {
        const Vector2d way = x.segment<2>(4 * i) - x.segment<2>(4 * j);
        add_contact(q, way.norm() - 2 * radius, way.normalized(), 1 / way.norm(), i, j);
      }
      if (i + 1 < num_discs) add_spring(q, x, i);
    }
  }

private:
  void add_contact(const Parameters& q, double d, const Vector2d& n, double curvature, int i, int j) {
    gap = std::min(gap, d);
    const auto b = geometry::log_barrier(d, dhat);
    if (d < dhat) ++num_pairs;
    contact += q[barrier] * b.value;
    const Matrix2d block = q[barrier] * (b.second * n * n.transpose() +
                                         b.first * curvature * (Matrix2d::Identity() - n * n.transpose()));
    for (const int a : {i, j}) {
      if (a < 0) continue;
      gradient.segment<2>(3 * a) += (a == i ? 1 : -1) * q[barrier] * b.first * n;
      by_parameter.block<2, 1>(3 * a, barrier) += (a == i ? 1 : -1) * b.first * n;
      for (const int c : {i, j})
        if (c >= 0) hessian.block<2, 2>(3 * a, 3 * c) += (a == c ? 1 : -1) * block;
    }
  }
  /// From the rim of disc i, turned with it, to the opposite side of disc i + 1.
  void add_spring(const Parameters& q, const VectorXd& x, int i) {
    const Vector2d from = rim(x.segment<2>(4 * i + 2)), to = rim(x.segment<2>(4 * i + 6));
    const Vector2d l = x.segment<2>(4 * i) + from - (x.segment<2>(4 * i + 4) - to);
    const double length = l.norm(), stretch = length - rest_length;
    elastic += q[stiffness] * stretch * stretch / 2;
    Eigen::Matrix<double, 2, 6> by_x;
    by_x << Matrix2d::Identity(), across(from), -Matrix2d::Identity(), across(to);
    const Vector2d force = stretch / length * l;
    const Matrix2d second = stretch / length * Matrix2d::Identity() +
                            rest_length / (length * length * length) * l * l.transpose();
    Eigen::Matrix<double, 6, 6> block = by_x.transpose() * second * by_x;
    block(2, 2) -= force.dot(from);
    block(5, 5) -= force.dot(to);
    by_parameter.block<6, 1>(3 * i, stiffness) += by_x.transpose() * force;
    gradient.segment<6>(3 * i) += q[stiffness] * by_x.transpose() * force;
    hessian.block<6, 6>(3 * i, 3 * i) += q[stiffness] * block;
  }
};

/// The diagonal of the mass matrix over the mass.
inline VectorXd unit_mass() {
  return Vector2d::Ones()
      .homogeneous()
      .cwiseProduct(Eigen::Vector3d(1, 1, radius * radius / 2))
      .replicate(num_discs, 1);
}

class DiscSolver final : public stepping::Solver {
public:
  DiscSolver(const parallel::Communicator& comm, Parameters q, int bdf_order = 2)
      : q_(std::move(q)), plane_(std::make_shared<Plane>(comm)), history_(bdf_order, plane_) {
    VectorXd u(4 * num_discs), v(3 * num_discs);
    for (int i = 0; i < num_discs; ++i) {
      u.segment<4>(4 * i) << i, radius + 0.2 + 0.02 * i, -std::cos(0.3 * i), -std::sin(0.3 * i);
      v.segment<3>(3 * i) << q_[start_speed] * speed(i);
    }
    stepping::State first{0, Vector(plane_->points), Vector(plane_->tangents)};
    scatter(u, first.u);
    scatter(v, first.v);
    first.u.update_ghosts();
    first.v.update_ghosts();
    history_.push(0, first.u, first.v);
  }
  static Eigen::Vector3d speed(int i) { return {i % 2 == 0 ? 0.1 : -0.1, 0, 3.0 + i}; }

  GlobalIndex step() const override { return step_; }
  double time() const override { return double(step_) * time_step; }
  double start_time() const override { return 0; }
  const stepping::History& history() const override { return history_; }
  std::shared_ptr<const linalg::VectorLayout> layout() const override { return plane_->points; }
  std::shared_ptr<const linalg::VectorLayout> tangent_layout() const override { return plane_->tangents; }
  const Parameters& parameters() const { return q_; }

  stepping::RestartData restart_data() const override {
    const stepping::Balance now = balance();
    stepping::RestartData data{step_, history_.size(), now.energies};
    for (const auto& [name, p] : now.momenta) data.entries.push_back({stepping::momentum_name(name), p});
    return data;
  }
  void continue_from(const stepping::RestartData& data, std::vector<stepping::State> states) override {
    dissipated_ = stepping::value_of<double>(data.entries, "dissipated_drag");
    step_ = data.step;
    history_.clear();
    for (const stepping::State& state : states) history_.push(state.id, state.u, state.v);
  }

  /// Always in one part.
  stepping::StepOutcome advance(const OnState& on_state, int) override {
    const stepping::StepCoefficients c = history_.next_coefficients();
    const double B = c.scaled_dt(time_step);
    Vector u = history_.newest().u, u_bar(plane_->points), u_tilde(plane_->points), v(plane_->tangents);
    history_.predict(c, time_step, u_bar, u_tilde);
    const VectorXd target = gather(u_tilde), previous = gather(u);
    const VectorXd m = q_[mass] * unit_mass();
    DenseObjective objective;
    objective.f = [&](const VectorXd& x) {
      const Potentials now(q_, x);
      const VectorXd d = Plane::difference(target, x), way = Plane::difference(previous, x);
      return now.gap <= 0 ? std::numeric_limits<double>::infinity()
                          : d.cwiseProduct(m).dot(d) / 2 + B * B * (now.elastic + now.contact + now.weight) +
                                B * B * q_[drag] / time_step * way.squaredNorm() / 2;
    };
    objective.df = [&](const VectorXd& x) -> VectorXd {
      return Plane::difference(target, x).cwiseProduct(m) +
             B * B * (Potentials(q_, x).gradient + q_[drag] / time_step * Plane::difference(previous, x));
    };
    objective.ddf = [&](const VectorXd& x) -> MatrixXd {
      MatrixXd hessian = B * B * Potentials(q_, x).hessian;
      hessian.diagonal().array() += m.array() + B * B * q_[drag] / time_step;
      return hessian;
    };
    objective.limit = free_share;
    newton::NewtonOptions options;
    options.gradient_tolerance = 1e-13;
    options.relative_gradient_tolerance = 1e-15;
    result_ = newton::minimize(objective, *plane_, u, options);
    if (!result_.converged()) return {false, false, std::string(newton::name(result_.outcome))};
    history_.update_velocity(c, time_step, u, u_bar, v);
    ++step_;
    total_iterations_ += result_.iterations;
    dissipated_ += q_[drag] / time_step * Plane::difference(previous, gather(u)).squaredNorm();
    const stepping::StepRecord record =
        history_.next_record(history_.newest().id + 1, step_, time(), time_step, c);
    history_.push(record.id, u, v);
    on_state(record, u, v);
    return {true, false, "", 0, "newton " + std::to_string(result_.iterations)};
  }

  stepping::Entries effort() const override {
    return {{stepping::newton_iterations_name, total_iterations_}};
  }
  stepping::Balance balance() const override {
    const VectorXd u = gather(history_.newest().u), v = gather(history_.newest().v);
    const Potentials now(q_, u);
    const VectorXd p = q_[mass] * unit_mass().cwiseProduct(v);
    Vector2d linear = Vector2d::Zero();
    double angular = 0;
    for (int i = 0; i < num_discs; ++i) {
      linear += p.segment<2>(3 * i);
      angular += across(u.segment<2>(4 * i)).dot(p.segment<2>(3 * i)) + p[3 * i + 2];
    }
    using Momentum = std::array<double, 3>;
    return {{{"kinetic", p.dot(v) / 2},
             {"elastic", now.elastic},
             {"barrier", now.contact},
             {"gravity", now.weight},
             {"dissipated_drag", dissipated_}},
            {{"linear", Momentum{linear[0], linear[1], 0}}, {"angular", Momentum{0, 0, angular}}}};
  }
  stepping::Entries counts() const override {
    const Potentials now(q_, gather(history_.newest().u));
    return {{stepping::newton_count_name, GlobalIndex{result_.iterations}},
            {"active_pairs", now.num_pairs},
            {"min_distance", now.gap}};
  }
  stepping::Entries summary() const override { return {{"discs", GlobalIndex{num_discs}}}; }
  std::string description() const override { return std::to_string(num_discs) + " discs"; }

private:
  /// The share of the motion d before which no disc touches the floor or another one, with a tenth to spare.
  static double free_share(const VectorXd& x, const VectorXd& d) {
    double share = 1;
    for (int i = 0; i < num_discs; ++i) {
      if (d[3 * i + 1] < 0) share = std::min(share, 0.9 * (x[4 * i + 1] - radius) / -d[3 * i + 1]);
      for (int j = 0; j < i; ++j) {
        // The smaller root of |way + s change| = 2 radius.
        const Vector2d way = x.segment<2>(4 * i) - x.segment<2>(4 * j),
                       change = d.segment<2>(3 * i) - d.segment<2>(3 * j);
        const double b = way.dot(change), c = way.squaredNorm() - 4 * radius * radius;
        const double discriminant = b * b - change.squaredNorm() * c;
        if (b < 0 && discriminant > 0) share = std::min(share, 0.9 * c / (std::sqrt(discriminant) - b));
      }
    }
    return share;
  }

  Parameters q_;
  std::shared_ptr<const Plane> plane_;
  stepping::History history_;
  GlobalIndex step_ = 0, total_iterations_ = 0;
  double dissipated_ = 0;
  newton::NewtonResult result_;
};

/// Draws the springs as segments, with the turn of each disc.
class DiscOutput final : public app::RunOutput {
public:
  explicit DiscOutput(const DiscSolver& solver)
      : layout_(*solver.layout()), ids_(owned(layout_, num_discs)), springs_(owned(layout_, num_discs - 1)),
        nodes_(*layout_.comm, ids_), cells_(*layout_.comm, springs_) {}

  const io::BlockLayout& nodes() const override { return nodes_; }
  void write_mesh(checkpoint::TrajectoryWriter& writer) const override {
    std::vector<double> coordinates;
    for (const GlobalIndex id : ids_) coordinates.insert(coordinates.end(), {double(id), radius + 0.2});
    std::vector<GlobalIndex> ends;
    for (const GlobalIndex spring : springs_) ends.insert(ends.end(), {spring, spring + 1});
    const std::vector<io::CellShape> shapes(springs_.size(), io::CellShape::segment);
    writer.write_mesh({&nodes_, 2, coordinates, &cells_, shapes, ends, 2});
  }
  void require_mesh_of(checkpoint::TrajectoryReader& reader, GlobalIndex id,
                       const std::string& where) const override {
    if (reader.shape(id, "u").rows != num_discs) throw InputError(where, "another number of discs");
  }
  std::vector<checkpoint::Field> fields(const Vector& u) override {
    turns_.clear();
    for (std::size_t p = 0; p < u.owned().size(); p += 4)
      turns_.push_back(std::atan2(u.owned()[p + 3], u.owned()[p + 2]));
    return {{"turn", 1, &nodes_, turns_, io::Centre::node, false}};
  }

private:
  static std::vector<GlobalIndex> owned(const linalg::VectorLayout& layout, GlobalIndex count) {
    std::vector<GlobalIndex> ids;
    for (GlobalIndex id = layout.offset; id < std::min(layout.offset + layout.num_owned, count); ++id)
      ids.push_back(id);
    return ids;
  }
  const linalg::VectorLayout& layout_;
  std::vector<GlobalIndex> ids_, springs_;
  io::BlockLayout nodes_, cells_;
  std::vector<double> turns_;
};

} // namespace recoil::discs
