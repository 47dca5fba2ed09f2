#include "recoil/newton/manifold.hpp"

#include "recoil/base/error.hpp"

namespace recoil::newton {

void Manifold::move(linalg::Vector& x, double s, const linalg::Vector& d) const {
  linalg::Vector moved(x.shared_layout());
  retract(x, d, s, moved);
  moved.update_ghosts();
  x.copy_from(moved);
}

void Manifold::combine(std::span<const double> weights, std::span<const linalg::Vector* const> points,
                       linalg::Vector& result) const {
  const linalg::Vector& first = *points.front();
  linalg::Vector sum(tangent_layout(first)), d(sum);
  for (std::size_t j = 1; j < points.size(); ++j) {
    difference(first, *points[j], d);
    sum.add(weights[j], d);
  }
  result.copy_from(first);
  move(result, 1, sum);
}

void Euclidean::retract(const linalg::Vector& x, const linalg::Vector& d, double s,
                        linalg::Vector& result) const {
  const auto from = x.owned(), along = d.owned();
  const auto to = result.write_owned();
  RECOIL_ASSERT(from.size() == along.size() && from.size() == to.size());
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = from[i] + s * along[i];
}

void Euclidean::difference(const linalg::Vector& x, const linalg::Vector& y, linalg::Vector& d) const {
  const auto from = x.local(), to = y.local();
  const auto along = d.write_local();
  RECOIL_ASSERT(from.size() == along.size() && from.size() == to.size());
  for (std::size_t i = 0; i < to.size(); ++i) along[i] = to[i] - from[i];
}

void Euclidean::combine(std::span<const double> weights, std::span<const linalg::Vector* const> points,
                        linalg::Vector& result) const {
  result.fill(0);
  for (std::size_t j = 0; j < points.size(); ++j) result.add(weights[j], *points[j]);
}

} // namespace recoil::newton
