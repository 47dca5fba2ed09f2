#include "recoil/objectives/min_distance.hpp"

#include <cmath>
#include <string>

#include "objectives/surface_pairs.hpp"
#include "recoil/base/error.hpp"

namespace recoil::objectives {

namespace {

template <int dim>
class MinDistance final : public Observable<dim> {
  using Pair = potentials::ContactPair<dim>;
  using Pairs = SurfacePairs<dim>;

public:
  MinDistance(const surface::Surface<dim>& surface, std::vector<potentials::Plane<dim>> planes,
              const Clearance& clearance, ObstacleMotion obstacles)
      : Observable<dim>(surface.comm(), 1, this->one_point(surface.comm())),
        pairs_(surface, clearance.limit, std::move(planes), of_both(clearance.bodies),
               "min_distance: the limit"),
        p_(clearance.p), obstacles_(std::move(obstacles)) {}

  std::vector<Quantity> depends_on() const override {
    return {quantities::displacement, quantities::vertices, quantities::obstacle_vertices,
            quantities::obstacle_positions};
  }

  /// Where it vanishes its derivative is taken as zero.
  std::vector<double> values(const ObservedState& state) override {
    const Norm norm = move_to(state);
    return this->on_first(std::array{norm.value});
  }

  std::vector<double> tangent(const ObservedState& state, std::span<const double> du, std::span<const double>,
                              const parameters::PhysicalDirection<dim>& dq) override {
    const Norm norm = move_to(state);
    return this->on_first(std::array{pairs_.change(derivative(norm), du, dq)});
  }

  void add_products(const ObservedState& state, std::span<const double> y, std::span<double> du,
                    std::span<double>, parameters::PhysicalGradient<dim>& g) override {
    const Norm norm = move_to(state);
    const auto of_norm = derivative(norm);
    const double factor = this->on_all(y)[0];
    pairs_.add_to_nodes(of_norm, factor, du);
    pairs_.add_to_rest(of_norm, factor, g);
    pairs_.add_to_obstacles(of_norm, factor, g);
  }

private:
  /// (sum m v^p)^(1/p) as unit (sum m (v / unit)^p)^(1/p), unit the largest v: powers underflow.
  struct Norm {
    double unit, sum, value;
  };

  static collide::GroupFilter of_both(const std::array<std::int32_t, 2>& bodies) {
    return [bodies](std::int32_t a, std::int32_t b) {
      return (a == bodies[0] && b == bodies[1]) || (a == bodies[1] && b == bodies[0]);
    };
  }
  double depth(const Pair& pair) const {
    return pairs_.barrier().dhat() - std::sqrt(pair.closest.distance_squared);
  }

  Norm move_to(const ObservedState& state) {
    pairs_.move_to(state.u, obstacles_ ? obstacles_(state.time) : std::vector<double>{});
    Norm norm{};
    for (const Pair& pair : pairs_.pairs())
      if (pair.mollifier.value > 0) norm.unit = std::max(norm.unit, depth(pair));
    norm.unit = pairs_.comm().max(norm.unit);
    if (norm.unit == 0) return norm;
    for (const Pair& pair : pairs_.pairs())
      norm.sum += pair.mollifier.value * std::pow(depth(pair) / norm.unit, p_);
    norm.sum = pairs_.comm().sum(norm.sum);
    norm.value = norm.unit * std::pow(norm.sum, 1 / p_);
    return norm;
  }

  /// dr = unit / p sum^(1/p - 1) d sum.
  typename Pairs::Derivative derivative(const Norm& norm) const {
    const double by_sum = norm.unit > 0 ? norm.unit / p_ * std::pow(norm.sum, 1 / p_ - 1) : 0;
    return pairs_.derivative([&](const Pair& pair) {
      typename Pairs::TermDerivative term{geometry::StencilVector<dim>::Zero()};
      const double distance = std::sqrt(pair.closest.distance_squared);
      if (norm.unit == 0 || distance == 0) return term;
      const double share = depth(pair) / norm.unit;
      term.by_points = -by_sum * pair.mollifier.value * p_ * std::pow(share, p_ - 1) /
                       (2 * distance * norm.unit) * geometry::distance_squared_gradient<dim>(pair.closest);
      if constexpr (dim == 3)
        if (pair.mollifier.is_mollified) {
          const double by_mollifier = by_sum * std::pow(share, p_);
          term.by_points +=
              by_mollifier * pair.mollifier.first * geometry::edge_cross_squared_gradient(pair.points);
          term.by_mollifier_eps = by_mollifier * pair.mollifier.value_by_eps;
        }
      return term;
    });
  }

  Pairs pairs_;
  double p_;
  ObstacleMotion obstacles_;
};

} // namespace

template <int dim>
std::unique_ptr<Objective<dim>> make_min_distance(const surface::Surface<dim>& surface,
                                                  std::vector<potentials::Plane<dim>> planes,
                                                  const Clearance& clearance, ObstacleMotion obstacles) {
  const auto& [bodies, limit, p] = clearance;
  if (!(limit > 0) || !std::isfinite(limit))
    throw InputError("min_distance: limit = " + std::to_string(limit) + " m; it must be positive");
  if (!(p > 1) || !std::isfinite(p))
    throw InputError("min_distance: p = " + std::to_string(p) + "; it must be larger than 1");
  return make_square<dim>("min_distance", std::make_unique<MinDistance<dim>>(
                                              surface, std::move(planes), clearance, std::move(obstacles)));
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template std::unique_ptr<Objective<dim>> make_min_distance(                                                \
      const surface::Surface<dim>&, std::vector<potentials::Plane<dim>>, const Clearance&, ObstacleMotion);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::objectives
