#include "recoil/geometry/closest_points.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include <Eigen/Geometry>

#include "recoil/base/error.hpp"

namespace recoil::geometry {

namespace {

template <int dim>
using Vector = Eigen::Matrix<double, dim, 1>;
using Vector3 = Eigen::Vector3d;

/// Closest features as c = z[head] - z[tail] + sum_r xi_r (z[plus_r] - z[minus_r]).
struct Features {
  int head, tail;
  int num_free;
  std::array<int, 2> plus, minus;
};

/// C = [q1 q2] R of the edge vectors that the free parameters slide along, by Gram-Schmidt done twice.
template <int dim>
struct TangentFactor {
  Vector<dim> second; ///< the part of C_2 orthogonal to C_1
  double first_squared = 0.0, second_squared = 0.0;
  double overlap = 0.0; ///< second = C_2 - overlap C_1

  double over_first(double value) const { return first_squared > 0.0 ? value / first_squared : 0.0; }
  double over_second(double value) const { return second_squared > 0.0 ? value / second_squared : 0.0; }
};

template <int dim>
TangentFactor<dim> factorise(const Vector<dim>& C1, const Vector<dim>* C2) {
  TangentFactor<dim> factor;
  factor.first_squared = C1.squaredNorm();
  if (!C2) return factor;
  factor.second = *C2;
  for (int repeat = 0; repeat < 2; ++repeat) {
    const double part = factor.over_first(C1.dot(factor.second));
    factor.overlap += part;
    factor.second -= part * C1;
  }
  factor.second_squared = factor.second.squaredNorm();
  return factor;
}

template <int dim>
struct Solution {
  ClosestPoints<dim> closest;
  Eigen::Vector2d parameters;
  bool well_posed; ///< both tangents are independent in working precision
};

/// Minimises |c| over the free parameters; a single parameter is kept on its edge.
template <int dim>
Solution<dim> solve(const Features& f, const StencilPoints<dim>& z) {
  Solution<dim> solution{{}, Eigen::Vector2d::Zero(), true};
  ClosestPoints<dim>& closest = solution.closest;
  closest.weights.setZero();
  closest.tangents.setZero();
  closest.num_free = f.num_free;
  Vector<dim> c = z.col(f.head) - z.col(f.tail);
  closest.weights[f.head] += 1.0;
  closest.weights[f.tail] -= 1.0;

  std::array<Vector<dim>, 2> C;
  for (int r = 0; r < f.num_free; ++r) {
    const std::size_t k = r;
    C[k] = z.col(f.plus[k]) - z.col(f.minus[k]);
    closest.tangents(f.plus[k], r) = 1.0;
    closest.tangents(f.minus[k], r) = -1.0;
  }
  if (f.num_free > 0) {
    const bool both = f.num_free == 2;
    const TangentFactor<dim> factor = factorise<dim>(C[0], both ? &C[1] : nullptr);
    double xi1 = -factor.over_first(C[0].dot(c));
    if (both) {
      solution.well_posed = factor.second_squared > 1e-30 * C[1].squaredNorm();
      const double xi2 = -factor.over_second(factor.second.dot(c + xi1 * C[0]));
      xi1 -= factor.overlap * xi2;
      solution.parameters[1] = xi2;
    } else {
      xi1 = std::clamp(xi1, 0.0, 1.0);
    }
    solution.parameters[0] = xi1;
    for (int r = 0; r < f.num_free; ++r) {
      c += solution.parameters[r] * C[r];
      closest.weights += solution.parameters[r] * closest.tangents.col(r);
    }
  }
  closest.separation = c;
  closest.distance_squared = c.squaredNorm();
  return solution;
}

// The points of the first primitive come first in a stencil: the smaller numbers are its own.
Features between_vertices(int i, int j) { return {std::min(i, j), std::max(i, j), 0, {}, {}}; }
Features vertex_edge(int vertex, int e0, int e1) {
  if (vertex < e0) return {vertex, e0, 1, {e0, 0}, {e1, 0}};
  return {e0, vertex, 1, {e1, 0}, {e0, 0}};
}
Features vertex_face_interior() { return {0, 1, 2, {1, 1}, {2, 3}}; }
Features edge_edge_interior() { return {0, 2, 2, {1, 2}, {0, 3}}; }

template <int dim>
Features classify_vertex_edge(const StencilPoints<dim>& z, int vertex, int e0, int e1) {
  const Vector<dim> e = z.col(e1) - z.col(e0);
  if (!(e.dot(z.col(vertex) - z.col(e0)) > 0.0)) return between_vertices(vertex, e0);
  if (!(e.dot(z.col(e1) - z.col(vertex)) > 0.0)) return between_vertices(vertex, e1);
  return vertex_edge(vertex, e0, e1);
}

/// Below this squared sine of an angle a classification is not trusted alone.
constexpr double small_sine_squared = 1e-8;

bool is_needle(const StencilPoints<3>& z) {
  const Vector3 e1 = z.col(2) - z.col(1), e2 = z.col(3) - z.col(1), e3 = z.col(3) - z.col(2);
  const double longest = std::max({e1.squaredNorm(), e2.squaredNorm(), e3.squaredNorm()});
  return !(e1.cross(e2).squaredNorm() > small_sine_squared * longest * longest);
}

bool are_nearly_parallel(const StencilPoints<3>& z) {
  const Vector3 u = z.col(1) - z.col(0), v = z.col(3) - z.col(2);
  return !(u.cross(v).squaredNorm() > small_sine_squared * u.squaredNorm() * v.squaredNorm());
}

/// Voronoi regions of the triangle in its plane.
Features classify_vertex_face(const StencilPoints<3>& z) {
  const Vector3 normal = (z.col(2) - z.col(1)).cross(z.col(3) - z.col(1));
  std::array<double, 3> along, length;
  for (int i = 0; i < 3; ++i) {
    const int from = 1 + i, to = 1 + (i + 1) % 3;
    const Vector3 e = z.col(to) - z.col(from), p = z.col(0) - z.col(from);
    along[i] = e.dot(p);
    length[i] = e.squaredNorm();
    const double a = along[i];
    if (a > 0.0 && a < length[i] && e.cross(normal).dot(p) >= 0.0) return vertex_edge(0, from, to);
  }
  for (int i = 0; i < 3; ++i) {
    const int before = (i + 2) % 3;
    if (along[i] <= 0.0 && along[before] >= length[before]) return between_vertices(0, 1 + i);
  }
  return vertex_face_interior();
}

constexpr int inside = 2; ///< the third part of an edge, beside its ends 0 and 1

/// Features from the part of each edge that the closest points lie on.
Features edge_edge_features(int part_a, int part_b) {
  if (part_a == inside) return part_b == inside ? edge_edge_interior() : vertex_edge(2 + part_b, 0, 1);
  return part_b == inside ? vertex_edge(part_a, 2, 3) : between_vertices(part_a, 2 + part_b);
}

/// Overlap of b0 and b1 with a on their common direction.
Features classify_parallel_edges(const Vector3& u, const Vector3& b0, const Vector3& b1, double a) {
  const double alpha = b0.dot(u) / a, beta = b1.dot(u) / a;
  if (alpha < 0.0)
    return edge_edge_features(beta >= 0.0 && beta <= 1.0 ? inside : 0,
                              beta <= alpha ? 0 : (beta <= 1.0 ? 1 : inside));
  if (alpha > 1.0)
    return edge_edge_features(beta >= 0.0 && beta <= 1.0 ? inside : 1,
                              beta >= alpha ? 0 : (beta >= 0.0 ? 1 : inside));
  return edge_edge_features(inside, 0);
}

/// Which part of edge a is closest to an end of edge b: `along` is the end's position times `length`.
int part_of_first(double along, double length) { return along <= 0.0 ? 0 : (along >= length ? 1 : inside); }

Features classify_edge_edge(const StencilPoints<3>& z) {
  const Vector3 u = z.col(1) - z.col(0), v = z.col(3) - z.col(2), w = z.col(0) - z.col(2);
  const double a = u.squaredNorm(), b = u.dot(v), c = v.squaredNorm(), d = u.dot(w), e = v.dot(w);
  const Vector3 cross = u.cross(v);
  // The determinants a c - b b, b e - c d and a e - b d as products of cross products: nearly parallel edges
  // would cancel them.
  const double D = cross.squaredNorm();
  if (D < 2.5e-16 * a * c) return classify_parallel_edges(u, z.col(2) - z.col(0), z.col(3) - z.col(0), a);
  const double s = cross.dot(v.cross(w));

  int part_a = inside;
  double t = cross.dot(u.cross(w)), t_end = D;
  if (s <= 0.0) {
    part_a = 0;
    t = e;
    t_end = c;
  } else if (s >= D) {
    part_a = 1;
    t = e + b;
    t_end = c;
  }
  if (t <= 0.0) return edge_edge_features(part_of_first(-d, a), 0);
  if (t >= t_end) return edge_edge_features(part_of_first(b - d, a), 1);
  return edge_edge_features(part_a, inside);
}

/// Whether the parameters of a two-parameter answer lie on the primitives.
bool on_primitives(StencilKind kind, const Solution<3>& solution) {
  if (solution.closest.num_free < 2) return true;
  if (!solution.well_posed) return false;
  const double x = solution.parameters[0], y = solution.parameters[1];
  if (!(x >= 0.0 && y >= 0.0)) return false;
  return kind == StencilKind::vertex_face ? x + y <= 1.0 : x <= 1.0 && y <= 1.0;
}

/// Duality gap: |c|^2 exceeds its minimum over both convex primitives by at most twice
/// |c|^2 - (min_i c.a_i - max_j c.b_j). It must vanish up to rounding.
bool is_optimal(StencilKind kind, const ClosestPoints<3>& closest, const StencilPoints<3>& z) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const int num_first = num_first_points(kind);
  double low = infinity, high = -infinity, extent_squared = 0.0;
  for (int i = 0; i < 4; ++i) {
    const Vector3 r = z.col(i) - z.col(0);
    const double height = closest.separation.dot(r);
    if (i < num_first)
      low = std::min(low, height);
    else
      high = std::max(high, height);
    extent_squared = std::max(extent_squared, r.squaredNorm());
  }
  const double gap = closest.distance_squared - (low - high);
  return gap <= 64.0 * std::numeric_limits<double>::epsilon() * extent_squared;
}

/// The best of all pairs of sub-features, `best` if none is better. The inside of both primitives has to be
/// better by more than rounding: its derivatives are the worse the nearer it is to degenerate.
ClosestPoints<3> best_of_all(StencilKind kind, const StencilPoints<3>& z, ClosestPoints<3> best) {
  using VertexEdge = std::array<int, 3>;
  static constexpr VertexEdge face_edges[] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 1}};
  static constexpr VertexEdge edge_edges[] = {{0, 2, 3}, {1, 2, 3}, {2, 0, 1}, {3, 0, 1}};
  const bool is_face = kind == StencilKind::vertex_face;
  for (const auto& [vertex, e0, e1] :
       is_face ? std::span<const VertexEdge>(face_edges) : std::span<const VertexEdge>(edge_edges)) {
    const auto candidate = solve<3>(classify_vertex_edge<3>(z, vertex, e0, e1), z).closest;
    if (candidate.distance_squared < best.distance_squared) best = candidate;
  }
  const Solution<3> interior = solve<3>(is_face ? vertex_face_interior() : edge_edge_interior(), z);
  if (on_primitives(kind, interior) &&
      interior.closest.distance_squared < (1.0 - 1e-14) * best.distance_squared)
    best = interior.closest;
  return best;
}

ClosestPoints<3> closest_points_checked(StencilKind kind, const StencilPoints<3>& z) {
  const bool is_face = kind == StencilKind::vertex_face;
  const Solution<3> solution = solve<3>(is_face ? classify_vertex_face(z) : classify_edge_edge(z), z);
  const bool inside_both = on_primitives(kind, solution);
  const bool degenerate = is_face ? is_needle(z) : are_nearly_parallel(z);
  if (inside_both && !degenerate && is_optimal(kind, solution.closest, z)) return solution.closest;
  const bool usable = inside_both && !(degenerate && solution.closest.num_free == 2);
  const Features any = between_vertices(0, is_face ? 1 : 2);
  return best_of_all(kind, z, usable ? solution.closest : solve<3>(any, z).closest);
}

/// C_r: each tangent has one entry 1 and one entry -1.
template <int dim>
Vector<dim> tangent_vector(const ClosestPoints<dim>& closest, const StencilPoints<dim>& z, int r) {
  Eigen::Index plus, minus;
  closest.tangents.col(r).maxCoeff(&plus);
  closest.tangents.col(r).minCoeff(&minus);
  return z.col(plus) - z.col(minus);
}

/// Columns B_r made orthogonal with C: B (C^T C)^-1 B^T = sum_r Y_r Y_r^T / |factor_r|^2.
template <int dim>
struct SlidingTerms {
  TangentFactor<dim> factor;
  Eigen::Matrix<double, 4 * dim, 2> Y;
};

template <int dim>
SlidingTerms<dim> sliding_terms(const ClosestPoints<dim>& closest, const StencilPoints<dim>& z) {
  SlidingTerms<dim> terms;
  terms.Y.setZero();
  std::array<Vector<dim>, 2> C;
  for (int r = 0; r < closest.num_free; ++r) {
    const Vector<dim>& Cr = C[r] = tangent_vector<dim>(closest, z, r);
    for (int i = 0; i < 4; ++i)
      terms.Y.template block<dim, 1>(dim * i, r) =
          closest.tangents(i, r) * closest.separation + closest.weights[i] * Cr;
  }
  if (closest.num_free > 0) terms.factor = factorise<dim>(C[0], closest.num_free == 2 ? &C[1] : nullptr);
  terms.Y.col(1) -= terms.factor.overlap * terms.Y.col(0);
  return terms;
}

} // namespace

template <int dim>
ClosestPoints<dim> closest_points(StencilKind kind, const StencilPoints<dim>& points) {
  if (kind == StencilKind::vertex_vertex) return solve<dim>(between_vertices(0, 1), points).closest;
  if (kind == StencilKind::vertex_edge)
    return solve<dim>(classify_vertex_edge<dim>(points, 0, 1, 2), points).closest;
  if constexpr (dim == 3) return closest_points_checked(kind, points);
  RECOIL_ASSERT(dim == 3 && "vertex_face and edge_edge are 3D stencils");
  return {};
}

template <int dim>
double distance_squared(StencilKind kind, const StencilPoints<dim>& points) {
  return closest_points<dim>(kind, points).distance_squared;
}

template <int dim>
StencilVector<dim> distance_squared_gradient(const ClosestPoints<dim>& closest) {
  StencilVector<dim> gradient;
  for (int i = 0; i < 4; ++i)
    gradient.template segment<dim>(dim * i) = 2.0 * closest.weights[i] * closest.separation;
  return gradient;
}

template <int dim>
StencilMatrix<dim> distance_squared_hessian(const ClosestPoints<dim>& closest,
                                            const StencilPoints<dim>& points) {
  const SlidingTerms<dim> terms = sliding_terms<dim>(closest, points);
  StencilMatrix<dim> hessian = StencilMatrix<dim>::Zero();
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      hessian.template block<dim, dim>(dim * i, dim * j)
          .diagonal()
          .setConstant(2.0 * closest.weights[i] * closest.weights[j]);
  const double scale1 = 2.0 * terms.factor.over_first(1.0), scale2 = 2.0 * terms.factor.over_second(1.0);
  for (int j = 0; j < 4 * dim; ++j)
    for (int i = 0; i < 4 * dim; ++i)
      hessian(i, j) -= scale1 * (terms.Y(i, 0) * terms.Y(j, 0)) + scale2 * (terms.Y(i, 1) * terms.Y(j, 1));
  return hessian;
}

template <int dim>
Eigen::Matrix<double, 2, 4 * dim> closest_parameter_derivatives(const ClosestPoints<dim>& closest,
                                                                const StencilPoints<dim>& points) {
  const SlidingTerms<dim> terms = sliding_terms<dim>(closest, points);
  Eigen::Matrix<double, 2, 4 * dim> derivatives;
  derivatives.row(1) = -terms.factor.over_second(1.0) * terms.Y.col(1).transpose();
  derivatives.row(0) =
      -terms.factor.over_first(1.0) * terms.Y.col(0).transpose() - terms.factor.overlap * derivatives.row(1);
  return derivatives;
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template ClosestPoints<dim> closest_points<dim>(StencilKind, const StencilPoints<dim>&);                   \
  template double distance_squared<dim>(StencilKind, const StencilPoints<dim>&);                             \
  template StencilVector<dim> distance_squared_gradient<dim>(const ClosestPoints<dim>&);                     \
  template StencilMatrix<dim> distance_squared_hessian<dim>(const ClosestPoints<dim>&,                       \
                                                            const StencilPoints<dim>&);                      \
  template Eigen::Matrix<double, 2, 4 * dim> closest_parameter_derivatives<dim>(const ClosestPoints<dim>&,   \
                                                                                const StencilPoints<dim>&);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)

} // namespace recoil::geometry
