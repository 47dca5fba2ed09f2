#include "app/impact/planned_impacts.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include <Eigen/Geometry>
#include <fmt/format.h>

#include "recoil/base/error.hpp"

namespace recoil::app {

namespace {

template <int dim>
Eigen::AlignedBox<double, dim> box_of(const cage::CellMesh<dim>& mesh) {
  Eigen::AlignedBox<double, dim> box;
  for (const auto& x : mesh.vertices) box.extend(x);
  return box;
}

template <int dim>
std::string text_of(const cage::Point<dim>& x) {
  return dim == 2 ? fmt::format("({:.6g}, {:.6g})", x[0], x[1])
                  : fmt::format("({:.6g}, {:.6g}, {:.6g})", x[0], x[1], x[dim - 1]);
}

template <int dim>
Hit<dim> find_hit(const BreakableShape<dim>& shape, const HitFinder<dim>& finder, const ImpactSpec& spec) {
  if (spec.vertex) {
    if (const auto hit = finder.vertex(*spec.vertex)) return *hit;
    throw InputError(
        spec.where,
        fmt::format("vertex {} is not on the boundary of the mesh of {} vertices; name one of the "
                    "array impacts/vertices in modes.h5, or give a `place`",
                    *spec.vertex, shape.mesh.vertices.size()));
  }
  const cage::Point<dim> place = Eigen::Map<const cage::Point<dim>>(spec.place->data());
  const auto box = box_of(shape.mesh);
  const cage::Point<dim> low = box.min(), high = box.max();
  const auto refuse = [&](const std::string& how_far) {
    throw InputError(spec.where,
                     fmt::format("the place {} is {} from the shape, which lies between {} and {} m; "
                                 "give a point near its surface",
                                 text_of<dim>(place), how_far, text_of<dim>(low), text_of<dim>(high)));
  };
  if (!place.allFinite() || box.exteriorDistance(place) > 1e3 * box.diagonal().norm()) refuse("very far");
  const Hit<dim> hit = finder.nearest(place);
  if (hit.distance > box.diagonal().norm() / 4) refuse(fmt::format("{:.3g} m", hit.distance));
  return hit;
}

/// Points of a surface, equally likely anywhere on it.
template <int dim>
class RandomPlaces {
public:
  explicit RandomPlaces(cage::FacetMesh<dim> surface) : surface_(std::move(surface)) {
    double sum = 0;
    for (const auto& facet : surface_.facets) {
      const cage::Point<dim> edge = surface_.vertices[facet[1]] - surface_.vertices[facet[0]];
      if constexpr (dim == 2)
        sum += edge.norm();
      else
        sum += edge.cross(surface_.vertices[facet[2]] - surface_.vertices[facet[0]]).norm();
      sums_.push_back(sum);
    }
  }
  template <class Uniform>
  cage::Point<dim> next(const Uniform& uniform) const {
    const double at = uniform() * sums_.back();
    const auto last = std::ssize(sums_) - 1;
    const auto& facet =
        surface_.facets[std::min<std::ptrdiff_t>(std::ranges::upper_bound(sums_, at) - sums_.begin(), last)];
    double first = uniform();
    if constexpr (dim == 2)
      return (1 - first) * surface_.vertices[facet[0]] + first * surface_.vertices[facet[1]];
    double second = uniform();
    if (first + second > 1) {
      first = 1 - first;
      second = 1 - second;
    }
    return (1 - first - second) * surface_.vertices[facet[0]] + first * surface_.vertices[facet[1]] +
           second * surface_.vertices[facet[dim - 1]];
  }

private:
  cage::FacetMesh<dim> surface_;
  std::vector<double> sums_; ///< of measures, up to each facet
};

} // namespace

template <int dim>
std::vector<PlannedImpact<dim>> plan_impacts(const BreakableShape<dim>& shape, const ImpactsFile& file) {
  const HitFinder<dim> finder(shape);
  std::vector<PlannedImpact<dim>> planned;
  const auto plan = [&](const ImpactSpec& spec, const Hit<dim>& hit) {
    cage::Point<dim> direction = -hit.normal;
    if (!spec.direction.empty())
      direction = Eigen::Map<const cage::Point<dim>>(spec.direction.data()).stableNormalized();
    planned.push_back({spec, hit, direction});
  };
  for (const ImpactSpec& spec : file.impacts) plan(spec, find_hit(shape, finder, spec));
  if (file.random.count == 0) return planned;
  const RandomPlaces<dim> places(surface_of(shape));
  for (int k = 0; k < file.random.count; ++k) {
    std::seed_seq seeds{static_cast<std::uint32_t>(file.random.seed), static_cast<std::uint32_t>(k)};
    std::mt19937_64 random(seeds);
    const auto uniform = [&random] { return double(random() >> 11) * 0x1p-53; };
    ImpactSpec spec = file.random.like;
    const cage::Point<dim> place = places.next(uniform);
    spec.place.emplace(place.data(), place.data() + dim);
    spec.magnitude = file.random.least_magnitude *
                     std::pow(file.random.largest_magnitude / file.random.least_magnitude, uniform());
    plan(spec, finder.nearest(place));
  }
  return planned;
}

template std::vector<PlannedImpact<2>> plan_impacts(const BreakableShape<2>&, const ImpactsFile&);
template std::vector<PlannedImpact<3>> plan_impacts(const BreakableShape<3>&, const ImpactsFile&);

} // namespace recoil::app
