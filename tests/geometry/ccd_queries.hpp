#pragma once

#include <random>
#include <string>

#include "recoil/geometry/stencil.hpp"

namespace recoil::test {

template <int dim>
struct CcdQuery {
  geometry::StencilKind kind;
  geometry::StencilPoints<dim> start, displacement;
};

/// Queries in general position: independent uniform points and displacements; pairs that are sure to meet at
/// a random time and place; pairs at 1e-9..0.1 of their size from each other that slide and close in, near
/// the origin or 1e3 away from it.
template <int dim>
CcdQuery<dim> random_query(std::mt19937_64& generator);

/// Degenerate queries: points on a coarse grid (parallel, collinear, coplanar, zero size, common points of
/// the two primitives), all motion in one plane or on one line, pure translation along an edge, parallel
/// edges that meet, needles.
template <int dim>
CcdQuery<dim> degenerate_query(std::mt19937_64& generator);

struct CcdSummary {
  long queries = 0, hits = 0, limited = 0, undecided = 0, late = 0, thin = 0;
  long ratios = 0; ///< impacts after time 0
  double ratio_sum = 0.0, smallest_ratio = 1.0;

  double mean_ratio() const { return ratios ? ratio_sum / static_cast<double>(ratios) : 1.0; }
  std::string line(const char* name) const;
};

/// Runs additive_ccd on random queries against the roots of the coplanarity polynomial. `late`: the returned
/// time is not below the true one; `thin`: less than the promised gap is left at the returned time (checked
/// on every 256th query, in quadruple precision).
template <int dim>
CcdSummary check_random_queries(long count, unsigned seed);

/// The same on degenerate queries against marching; `undecided` counts those that it could not finish.
template <int dim>
CcdSummary check_degenerate_queries(long count, unsigned seed);

} // namespace recoil::test
