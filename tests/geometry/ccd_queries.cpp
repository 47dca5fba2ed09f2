#include "geometry/ccd_queries.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <Eigen/Geometry>

#include "geometry/ccd_oracle.hpp"
#include "recoil/geometry/additive_ccd.hpp"

namespace recoil::test {

namespace {

using geometry::StencilKind;
using geometry::StencilPoints;
using Generator = std::mt19937_64;

double uniform(Generator& generator, double low, double high) {
  // Not std::uniform_real_distribution: its cost would dominate the test.
  return low + (high - low) * (static_cast<double>(generator() >> 11) * 0x1p-53);
}

template <int dim>
StencilPoints<dim> cube(Generator& generator, double size) {
  StencilPoints<dim> z;
  for (int i = 0; i < 4; ++i)
    for (int k = 0; k < dim; ++k) z(k, i) = uniform(generator, -size, size);
  return z;
}

template <int dim>
StencilKind random_kind(Generator& generator) {
  if (dim == 2) return StencilKind::vertex_edge;
  return generator() & 1 ? StencilKind::vertex_face : StencilKind::edge_edge;
}

/// Moves the first primitive so that a random inner point of it coincides with one of the second; returns the
/// unit normal there.
template <int dim>
Eigen::Matrix<double, dim, 1> bring_together(Generator& generator, StencilKind kind, StencilPoints<dim>& z) {
  Eigen::Matrix<double, dim, 1> shift, normal;
  const double x = uniform(generator, 0.0, 1.0), y = uniform(generator, 0.0, 1.0);
  if constexpr (dim == 2) {
    shift = z.col(1) + x * (z.col(2) - z.col(1)) - z.col(0);
    normal = (z.col(2) - z.col(1)).unitOrthogonal();
  } else if (kind == StencilKind::vertex_face) {
    const double a = std::min(x, y), b = std::abs(x - y);
    shift = z.col(1) + a * (z.col(2) - z.col(1)) + b * (z.col(3) - z.col(1)) - z.col(0);
    normal = (z.col(2) - z.col(1)).cross(z.col(3) - z.col(1)).normalized();
  } else {
    shift = z.col(2) + x * (z.col(3) - z.col(2)) - z.col(0) - y * (z.col(1) - z.col(0));
    normal = (z.col(1) - z.col(0)).cross(z.col(3) - z.col(2)).normalized();
  }
  for (int i = 0; i < num_first_points(kind); ++i) z.col(i) += shift;
  return normal;
}

template <int dim>
void meeting(Generator& generator, CcdQuery<dim>& query) {
  query.displacement = cube<dim>(generator, uniform(generator, 0.05, 2.0));
  bring_together<dim>(generator, query.kind, query.start);
  query.start -= uniform(generator, 0.0, 1.0) * query.displacement;
}

template <int dim>
void close_pair(Generator& generator, CcdQuery<dim>& query) {
  const auto normal = bring_together<dim>(generator, query.kind, query.start);
  const double distance = std::pow(10.0, uniform(generator, -9.0, -1.0));
  query.displacement = cube<dim>(generator, std::pow(10.0, uniform(generator, -6.0, 0.0)));
  const double closing = distance * uniform(generator, 0.0, 3.0);
  for (int i = 0; i < num_first_points(query.kind); ++i) {
    query.start.col(i) += distance * normal;
    query.displacement.col(i) -= closing * normal;
  }
  if (generator() & 1) query.start.array() += uniform(generator, 900.0, 1100.0);
}

template <int dim>
StencilPoints<dim> grid(Generator& generator) {
  StencilPoints<dim> z;
  for (int i = 0; i < 4; ++i)
    for (int k = 0; k < dim; ++k) z(k, i) = static_cast<double>(generator() % 5) - 2.0;
  return z;
}

} // namespace

template <int dim>
CcdQuery<dim> random_query(Generator& generator) {
  CcdQuery<dim> query{random_kind<dim>(generator), cube<dim>(generator, 1.0), {}};
  switch (generator() % 4) {
  case 0:
    query.displacement = cube<dim>(generator, uniform(generator, 0.1, 4.0));
    break;
  case 1:
  case 2:
    meeting<dim>(generator, query);
    break;
  default:
    close_pair<dim>(generator, query);
  }
  return query;
}

template <int dim>
CcdQuery<dim> degenerate_query(Generator& generator) {
  CcdQuery<dim> query{random_kind<dim>(generator), grid<dim>(generator), grid<dim>(generator)};
  if (generator() % 8 == 0) query.kind = StencilKind::vertex_vertex;
  if (dim == 3 && generator() % 8 == 0) query.kind = StencilKind::vertex_edge;
  auto& [kind, z, v] = query;
  switch (generator() % 7) {
  case 0:
    break; // grid
  case 1:  // all in one plane (2D: on one line), generic inside
    z = cube<dim>(generator, 1.0);
    v = cube<dim>(generator, 2.0);
    z.row(dim - 1).setZero();
    v.row(dim - 1).setZero();
    break;
  case 2: // translation of one primitive along an edge of the other
    v.setZero();
    for (int i = 0; i < num_first_points(kind); ++i)
      v.col(i) =
          uniform(generator, -2.0, 2.0) * (z.col(num_points(kind) - 1) - z.col(num_first_points(kind)));
    break;
  case 3: // nearly parallel edges, or a vertex near an edge's line, that move at each other
    z.col(3) = z.col(2) + uniform(generator, -1.5, 1.5) * (z.col(1) - z.col(0));
    z += cube<dim>(generator, std::pow(10.0, uniform(generator, -17.0, -5.0)));
    break;
  case 4: // needle
    z.col(3) = z.col(2) + cube<dim>(generator, std::pow(10.0, uniform(generator, -16.0, -3.0))).col(0);
    break;
  case 5: // zero size, in flight
    z.col(3) = z.col(2);
    v.col(3) = v.col(2);
    if (generator() & 1) {
      z.col(1) = z.col(0);
      v.col(1) = v.col(0);
    }
    break;
  default: // near the grid, far from the origin
    z += cube<dim>(generator, 1e-9);
    z.array() += 1000.0;
  }
  if (generator() & 1) v *= 0.37;
  return query;
}

std::string CcdSummary::line(const char* name) const {
  char text[256];
  std::snprintf(text, sizeof text,
                "CCD %s: %ld queries, %ld impacts, %ld stopped without impact, %ld undecided, late %ld, "
                "thin %ld, mean ratio %.4f, smallest %.4f",
                name, queries, hits, limited, undecided, late, thin, mean_ratio(), smallest_ratio);
  return text;
}

template <int dim>
void add_result(const CcdQuery<dim>& query, double time, double exact, bool check_gap, CcdSummary& summary) {
  ++summary.queries;
  if (std::isnan(exact)) {
    ++summary.undecided;
  } else if (exact <= 1.0) {
    ++summary.hits;
    summary.late += exact > 0.0 ? !(time < exact) : time != 0.0;
    if (exact > 0.0) {
      ++summary.ratios;
      summary.ratio_sum += time / exact;
      summary.smallest_ratio = std::min(summary.smallest_ratio, time / exact);
    }
  } else {
    summary.limited += time < 1.0;
  }
  if (!check_gap || time == 0.0) return;
  const double before = distance_at<dim>(query.kind, query.start, query.displacement, 0.0);
  const double after = distance_at<dim>(query.kind, query.start, query.displacement, time);
  summary.thin += !(after >= 0.1 * before * (1.0 - 1e-12));
}

template <int dim>
CcdSummary check_random_queries(long count, unsigned seed) {
  Generator generator(seed);
  CcdSummary summary;
  for (long k = 0; k < count; ++k) {
    const CcdQuery<dim> query = random_query<dim>(generator);
    const double time = geometry::additive_ccd<dim>(query.kind, query.start, query.displacement);
    add_result<dim>(query, time, first_impact<dim>(query.kind, query.start, query.displacement), k % 256 == 0,
                    summary);
  }
  return summary;
}

template <int dim>
CcdSummary check_degenerate_queries(long count, unsigned seed) {
  Generator generator(seed);
  CcdSummary summary;
  for (long k = 0; k < count; ++k) {
    const CcdQuery<dim> query = degenerate_query<dim>(generator);
    const double time = geometry::additive_ccd<dim>(query.kind, query.start, query.displacement);
    const double exact = marched_impact<dim>(query.kind, query.start, query.displacement, 1e-4, 30000);
    add_result<dim>(query, time, exact, true, summary);
  }
  return summary;
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template CcdQuery<dim> random_query<dim>(Generator&);                                                      \
  template CcdQuery<dim> degenerate_query<dim>(Generator&);                                                  \
  template CcdSummary check_random_queries<dim>(long, unsigned);                                             \
  template CcdSummary check_degenerate_queries<dim>(long, unsigned);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::test
