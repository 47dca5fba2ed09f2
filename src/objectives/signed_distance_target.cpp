#include "recoil/objectives/signed_distance_target.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "objectives/surface_misfit.hpp"
#include "recoil/base/error.hpp"

namespace recoil::objectives {

namespace {

/// The coefficients c of the natural cubic spline through samples at 0, 1, ..: those of the B-splines around
/// -1 to n. (c[i-1] + 4 c[i] + c[i+1]) / 6 are the samples, c[i-1] - 2 c[i] + c[i+1] is zero at both ends.
/// @param c n + 2 entries.
void find_coefficients(const std::vector<double>& samples, std::vector<double>& c) {
  const std::size_t n = samples.size();
  c[1] = samples.front();
  c[n] = samples.back();
  std::vector<double> ratio(n + 1, 0.0);
  for (std::size_t i = 2; i < n; ++i) {
    ratio[i] = 1 / (4 - ratio[i - 1]);
    c[i] = (6 * samples[i - 1] - c[i - 1]) * ratio[i];
  }
  for (std::size_t i = n - 1; i > 1; --i) c[i] -= ratio[i] * c[i + 1];
  c[0] = 2 * c[1] - c[2];
  c[n + 1] = 2 * c[n] - c[n - 1];
}

/// Replaces the values along one axis by coefficients, two more.
/// @param outer, inner numbers of values along the axes before and behind, together.
std::vector<double> along_axis(const std::vector<double>& values, std::size_t outer, std::size_t n,
                               std::size_t inner) {
  std::vector<double> result(outer * (n + 2) * inner), line(n), c(n + 2);
  for (std::size_t before = 0; before < outer; ++before)
    for (std::size_t behind = 0; behind < inner; ++behind) {
      for (std::size_t i = 0; i < n; ++i) line[i] = values[(before * n + i) * inner + behind];
      find_coefficients(line, c);
      for (std::size_t i = 0; i < n + 2; ++i) result[(before * (n + 2) + i) * inner + behind] = c[i];
    }
  return result;
}

/// The four B-splines that are not zero at a place of an axis.
struct AxisWeights {
  std::size_t first; ///< index of their first coefficient
  std::array<double, 4> values, slopes;
};

/// @param s place, 0 at the first of `n` points and 1 at the second.
AxisWeights axis_weights(double s, int n) {
  const double cell = std::clamp(std::floor(s), 0.0, n - 2.0), t = std::clamp(s - cell, 0.0, 1.0), r = 1 - t;
  AxisWeights weights{static_cast<std::size_t>(cell),
                      {r * r * r / 6, (3 * t * t * t - 6 * t * t + 4) / 6,
                       (3 * r * r * r - 6 * r * r + 4) / 6, t * t * t / 6},
                      {-r * r / 2, (3 * t * t - 4 * t) / 2, (4 * r - 3 * r * r) / 2, t * t / 2}};
  const double outside = s - cell - t;
  for (std::size_t k = 0; k < 4; ++k) weights.values[k] += outside * weights.slopes[k];
  return weights;
}

} // namespace

template <int dim>
SignedDistance<dim>::SignedDistance(const std::array<int, dim>& size, const Point& origin,
                                    const Point& spacing, std::vector<double> samples)
    : size_(size), origin_(origin), spacing_(spacing), coefficients_(std::move(samples)) {
  RECOIL_ASSERT(std::ranges::all_of(size, [](int n) { return n >= 2; }));
  std::size_t outer = 1, inner = std::accumulate(size.begin(), size.end(), std::size_t{1}, std::multiplies());
  RECOIL_ASSERT(coefficients_.size() == inner);
  for (const std::size_t n : size) {
    inner /= n;
    coefficients_ = along_axis(coefficients_, outer, n, inner);
    outer *= n + 2;
  }
}

template <int dim>
typename SignedDistance<dim>::Sample SignedDistance<dim>::at(const Point& x) const {
  std::array<AxisWeights, dim> axes;
  for (std::size_t i = 0; i < dim; ++i) axes[i] = axis_weights((x[i] - origin_[i]) / spacing_[i], size_[i]);
  Sample sample{Eigen::Matrix<double, 1, 1>::Zero(), Eigen::Matrix<double, 1, dim>::Zero()};
  constexpr int num_splines = dim == 2 ? 16 : 64;
  for (int spline = 0; spline < num_splines; ++spline) {
    // Two bits per axis.
    const auto of_axis = [&](std::size_t axis) { return static_cast<std::size_t>(spline >> (2 * axis)) & 3; };
    std::size_t index = 0;
    for (std::size_t i = 0; i < dim; ++i) index = index * (size_[i] + 2) + axes[i].first + of_axis(i);
    for (int slope = -1; slope < dim; ++slope) {
      double term = coefficients_[index];
      for (int i = 0; i < dim; ++i) term *= (i == slope ? axes[i].slopes : axes[i].values)[of_axis(i)];
      (slope < 0 ? sample.value[0] : sample.gradient[slope]) += term;
    }
  }
  sample.gradient.array() /= spacing_.transpose().array();
  return sample;
}

template <int dim>
std::unique_ptr<Objective<dim>>
make_signed_distance_target(Region<dim> region, std::shared_ptr<const SignedDistance<dim>> distance,
                            potentials::FacetSelection facets) {
  return make_surface_misfit<dim>("signed_distance_target", region, facets, std::move(distance));
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template class SignedDistance<dim>;                                                                        \
  template std::unique_ptr<Objective<dim>> make_signed_distance_target(                                      \
      Region<dim>, std::shared_ptr<const SignedDistance<dim>>, potentials::FacetSelection);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::objectives
