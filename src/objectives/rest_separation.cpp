#include "recoil/objectives/rest_separation.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "objectives/surface_pairs.hpp"
#include "recoil/base/error.hpp"

namespace recoil::objectives {

namespace {

/// Bodies of the region and obstacles meet.
template <int dim>
collide::GroupFilter bodies_and_obstacles(const Region<dim>& region) {
  return [bodies = region.bodies, first_obstacle = std::ssize(region.mesh().body_names)](std::int32_t a,
                                                                                         std::int32_t b) {
    const auto counts = [&](std::int32_t body) {
      return body >= first_obstacle || std::ranges::binary_search(bodies, body);
    };
    return counts(a) && counts(b);
  };
}

template <int dim>
class RestSeparation final : public Objective<dim> {
  using Pair = potentials::ContactPair<dim>;

public:
  RestSeparation(const Region<dim>& region, std::unique_ptr<const surface::Surface<dim>> surface,
                 std::vector<potentials::Plane<dim>> planes, double distance)
      : surface_(std::move(surface)), pairs_(*surface_, distance, std::move(planes),
                                             bodies_and_obstacles(region), "rest_separation: the distance") {
    pairs_.move_to(std::vector<double>(surface_->num_nodes() * dim, 0.0), {});
    value_ = pairs_.comm().sum(pairs_.barrier().value(pairs_.pairs()));
    std::vector<std::string> first;
    if (pairs_.num_intersections(first) == 0 && std::isfinite(value_)) return;
    throw InputError("rest_separation is infinite: the shapes at rest " +
                     (first.empty() ? std::string("touch") : "intersect: " + first.front()) +
                     "; start from shapes that are apart");
  }

  std::string_view name() const override { return "rest_separation"; }
  std::vector<Quantity> depends_on() const override {
    return {quantities::vertices, quantities::obstacle_vertices};
  }
  double value(const ObservedState&) override { return value_; }

  void add_derivatives(const ObservedState&, double factor, std::span<double>, std::span<double>,
                       parameters::PhysicalGradient<dim>& g) override {
    const potentials::Barrier<dim>& barrier = pairs_.barrier();
    const auto derivative = pairs_.derivative([&](const Pair& pair) {
      typename SurfacePairs<dim>::TermDerivative term{barrier.gradient(pair, pair.weight)};
      if (pair.mollifier.is_mollified)
        term.by_mollifier_eps = pair.weight * pair.mollifier.value_by_eps *
                                barrier.of_squared_distance(pair.closest.distance_squared).value;
      return term;
    });
    pairs_.add_to_rest(derivative, factor, g);
  }

private:
  std::unique_ptr<const surface::Surface<dim>> surface_;
  SurfacePairs<dim> pairs_;
  double value_ = 0;
};

} // namespace

template <int dim>
std::unique_ptr<Objective<dim>>
make_rest_separation(Region<dim> region, std::unique_ptr<const surface::Surface<dim>> surface,
                     std::vector<potentials::Plane<dim>> planes, double distance) {
  if (!(distance > 0) || !std::isfinite(distance))
    throw InputError("rest_separation: distance = " + std::to_string(distance) + " m; it must be positive");
  return std::make_unique<RestSeparation<dim>>(region, std::move(surface), std::move(planes), distance);
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template std::unique_ptr<Objective<dim>> make_rest_separation(                                             \
      Region<dim>, std::unique_ptr<const surface::Surface<dim>>, std::vector<potentials::Plane<dim>>,        \
      double);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::objectives
