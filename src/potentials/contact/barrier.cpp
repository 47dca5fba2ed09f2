#include "recoil/potentials/contact/barrier.hpp"

#include <algorithm>
#include <cmath>

#include "potentials/contact/inclusion_exclusion.hpp"
#include "recoil/geometry/adhesion.hpp"
#include "recoil/geometry/psd_projection.hpp"

namespace recoil::potentials {

namespace {

// Factors of the area weights that make the sum converge under refinement [Li et al. 2023].
constexpr double area_scale_2d = 0.5, area_scale_3d = 0.25;

constexpr geometry::MollifierScalars not_mollified{1, 0, 0, 0, 0, false};

template <int dim>
geometry::MollifierScalars mollifier(const ContactCandidate& candidate,
                                     const surface::StencilVertices<dim>& vertices,
                                     const geometry::StencilPoints<dim>& points) {
  if constexpr (dim == 3) {
    if (candidate.kind != geometry::StencilKind::edge_edge) return not_mollified;
    geometry::StencilPoints<3> rest;
    for (int i = 0; i < 4; ++i) rest.col(i) = vertices.rest(candidate.vertices[i]);
    return geometry::edge_edge_mollifier_scalars(geometry::edge_cross_squared(points),
                                                 geometry::edge_edge_mollifier_eps(rest));
  }
  return not_mollified;
}

} // namespace

template <int dim>
std::vector<ContactPair<dim>> Barrier<dim>::pairs_within(double reach,
                                                         const std::vector<ContactCandidate>& candidates,
                                                         const surface::StencilVertices<dim>& vertices,
                                                         const std::vector<Point>& positions) const {
  if (form_.geometric)
    return geometric_pairs<dim>(*form_.geometric, reach, planes_, candidates, vertices, positions);
  std::vector<ContactPair<dim>> pairs;
  const double limit = reach * reach;
  const auto at = [&](LocalIndex v) -> const Point& { return positions[v]; };
  for (const ContactCandidate& candidate : candidates) {
    if (form_.by_shape && !candidate.has_barrier) continue;
    const int count = geometry::num_points(candidate.kind),
              first = geometry::num_first_points(candidate.kind);
    geometry::StencilPoints<dim> points = geometry::StencilPoints<dim>::Zero();
    for (int i = 0; i < count; ++i) points.col(i) = at(candidate.vertices[i]);
    // Boxes of the two primitives that are farther apart along an axis.
    const Point gap = (points.leftCols(first).rowwise().minCoeff() -
                       points.middleCols(first, count - first).rowwise().maxCoeff())
                          .cwiseMax(points.middleCols(first, count - first).rowwise().minCoeff() -
                                    points.leftCols(first).rowwise().maxCoeff());
    if (gap.maxCoeff() >= reach) continue;
    const auto closest = geometry::closest_points<dim>(candidate.kind, points);
    if (closest.distance_squared >= limit) continue;
    const std::array<double, 2> weights = shares(candidate, vertices);
    const double by_area = form_.area_weights ? vertex_weight(1) : 0;
    pairs.push_back({candidate.kind,
                     false,
                     count,
                     candidate.vertices,
                     {vertices[candidate.vertices[0]].body, vertices[candidate.vertices[first]].body},
                     points,
                     closest,
                     weights[0] + weights[1],
                     {by_area, candidate.kind == geometry::StencilKind::edge_edge ? by_area : 0},
                     mollifier<dim>(candidate, vertices, points)});
    if (form_.by_shape || form_.inclusion_exclusion)
      add_inclusion_exclusion(candidate, vertices, form_.inclusion_exclusion, weights, reach, pairs);
  }
  for (const Plane<dim>& plane : planes_)
    for (std::size_t v = 0; v < vertices.num_owned(); ++v) {
      const LocalIndex vertex = v;
      const double distance = plane.normal.dot(positions[v] - plane.point);
      if (distance >= reach || vertices[vertex].block < 0) continue;
      ContactPair<dim> pair{geometry::StencilKind::vertex_vertex,
                            false,
                            1,
                            {vertex, -1, -1, -1},
                            {vertices[vertex].body, plane.body},
                            {},
                            {},
                            1,
                            {0, 0},
                            not_mollified};
      pair.points.setZero();
      pair.points.col(0) = positions[v];
      pair.closest.weights = Eigen::Vector4d::Unit(0);
      pair.closest.tangents.setZero();
      pair.closest.num_free = 0;
      pair.closest.separation = distance * plane.normal;
      pair.closest.distance_squared = distance > 0 ? distance * distance : 0;
      if (form_.area_weights) {
        pair.weight = vertices[vertex].area;
        pair.weight_by_area[0] = 1;
      }
      pairs.push_back(pair);
    }
  return pairs;
}

template <int dim>
geometry::BarrierValue Barrier<dim>::of_distance(double distance) const {
  if (form_.adhesion_peak) return geometry::adhesion(distance, *form_.adhesion_peak, dhat_);
  return form_.geometric ? geometry::power_barrier(distance, dhat_, dim - 1)
                         : geometry::log_barrier(distance, dhat_);
}

template <int dim>
geometry::BarrierValue Barrier<dim>::of_squared_distance(double distance_squared) const {
  if (form_.squared && form_.adhesion_peak) {
    const double peak = *form_.adhesion_peak, by = 2 * peak;
    const geometry::BarrierValue a = geometry::adhesion(distance_squared, peak * peak, dhat_ * dhat_);
    return {a.value / by, a.first / by, a.second / by};
  }
  if (form_.squared && !form_.geometric) return geometry::log_barrier(distance_squared, dhat_ * dhat_);
  const double d = std::sqrt(distance_squared);
  const geometry::BarrierValue b = of_distance(d);
  // d = y^1/2 for y the squared distance.
  return {b.value, b.first / (2 * d), (b.second - b.first / d) / (4 * distance_squared)};
}

template <int dim>
double Barrier<dim>::vertex_weight(double area) const {
  if (form_.geometric) return area * area;
  return form_.area_weights ? (dim == 2 ? area_scale_2d : area_scale_3d) * area : 1;
}

template <int dim>
std::array<double, 2> Barrier<dim>::shares(const ContactCandidate& candidate,
                                           const surface::StencilVertices<dim>& vertices) const {
  if (candidate.kind != geometry::StencilKind::edge_edge)
    return {vertex_weight(vertices[candidate.vertices[0]].area), 0};
  if (!form_.area_weights) return {0.5, 0.5};
  return {vertex_weight(candidate.edge_areas[0]), vertex_weight(candidate.edge_areas[1])};
}

template <int dim>
double Barrier<dim>::force(const ContactPair<dim>& pair) const {
  const double y = pair.closest.distance_squared;
  return -2 * std::sqrt(y) * pair.weight * pair.mollifier.value * of_squared_distance(y).first;
}

template <int dim>
typename Barrier<dim>::NormalForce Barrier<dim>::force_per_weight(double distance_squared) const {
  const geometry::BarrierValue b = of_squared_distance(distance_squared);
  return {-2 * std::sqrt(distance_squared) * b.first, -2 * b.first - 4 * distance_squared * b.second};
}

template <int dim>
double Barrier<dim>::value(const std::vector<ContactPair<dim>>& pairs) const {
  double sum = 0;
  for (const auto& pair : pairs)
    // A mollifier of zero times an infinite barrier is still a collision.
    sum += pair.closest.distance_squared > 0
               ? pair.weight * pair.mollifier.value * of_squared_distance(pair.closest.distance_squared).value
               : std::numeric_limits<double>::infinity();
  return sum;
}

template <int dim>
geometry::StencilVector<dim> Barrier<dim>::gradient(const ContactPair<dim>& pair, double weight) const {
  const geometry::BarrierValue b = of_squared_distance(pair.closest.distance_squared);
  geometry::StencilVector<dim> g =
      weight * pair.mollifier.value * b.first * geometry::distance_squared_gradient<dim>(pair.closest);
  if constexpr (dim == 3)
    if (pair.mollifier.is_mollified)
      g += weight * b.value * pair.mollifier.first * geometry::edge_cross_squared_gradient(pair.points);
  return g;
}

template <int dim>
geometry::StencilVector<dim> Barrier<dim>::gradient_by_mollifier_eps(const ContactPair<dim>& pair) const {
  if constexpr (dim == 3)
    if (pair.mollifier.is_mollified) {
      const geometry::BarrierValue b = of_squared_distance(pair.closest.distance_squared);
      return pair.weight *
             (pair.mollifier.value_by_eps * b.first * geometry::distance_squared_gradient<dim>(pair.closest) +
              pair.mollifier.first_by_eps * b.value * geometry::edge_cross_squared_gradient(pair.points));
    }
  return geometry::StencilVector<dim>::Zero();
}

template <int dim>
std::vector<typename Barrier<dim>::Point> Barrier<dim>::gradient(const std::vector<ContactPair<dim>>& pairs,
                                                                 std::size_t num_vertices) const {
  std::vector<Point> result(num_vertices, Point::Zero());
  for (const auto& pair : pairs)
    if (pair.geometric)
      add_at_stencil<dim>(*pair.geometric,
                          geometric_gradient<dim>(*pair.geometric, *form_.geometric,
                                                  of_distance(std::sqrt(pair.closest.distance_squared))),
                          result);
    else
      add_at_stencil<dim>(pair, gradient(pair, pair.weight), result);
  return result;
}

template <int dim>
geometry::StencilMatrix<dim> Barrier<dim>::hessian(const ContactPair<dim>& pair) const {
  const double y = pair.closest.distance_squared;
  const geometry::BarrierValue b = of_squared_distance(y);
  const geometry::MollifierScalars& m = pair.mollifier;
  const geometry::StencilVector<dim> gradient = geometry::distance_squared_gradient<dim>(pair.closest);
  geometry::StencilMatrix<dim> H = m.value * b.second * gradient * gradient.transpose();
  if (pair.num_vertices == 1) {
    // A plane does not bend: the squared distance has the Hessian 2 n n'.
    const Point& c = pair.closest.separation;
    H.template topLeftCorner<dim, dim>() += m.value * b.first * 2 / y * c * c.transpose();
  } else {
    H += m.value * b.first * geometry::distance_squared_hessian<dim>(pair.closest, pair.points);
  }
  if constexpr (dim == 3)
    if (m.is_mollified) {
      const geometry::StencilVector<3> x = geometry::edge_cross_squared_gradient(pair.points);
      const geometry::StencilMatrix<3> mixed = b.first * m.first * gradient * x.transpose();
      H += mixed + mixed.transpose() + b.value * m.second * x * x.transpose() +
           b.value * m.first * geometry::edge_cross_squared_hessian(pair.points);
    }
  return pair.weight * H;
}

template <int dim>
geometry::StencilMatrix<dim> Barrier<dim>::hessian(std::span<const ContactPair<dim>> candidate) const {
  geometry::StencilMatrix<dim> H = hessian(candidate.front());
  for (const auto& pair : candidate.subspan(1)) H += hessian(pair);
  return H;
}

template <int dim>
std::span<const ContactPair<dim>> first_candidate(std::span<const ContactPair<dim>> pairs) {
  std::size_t count = 1;
  while (count < pairs.size() && pairs[count].continues) ++count;
  return pairs.first(count);
}

template <int dim>
std::vector<typename Barrier<dim>::Point>
Barrier<dim>::hessian_product(const std::vector<ContactPair<dim>>& pairs, double factor,
                              newton::Projection projection, const std::vector<Point>& p) const {
  std::vector<Point> result(p.size(), Point::Zero());
  for (std::span<const ContactPair<dim>> rest(pairs), terms; !rest.empty();
       rest = rest.subspan(terms.size())) {
    terms = first_candidate(rest);
    if (terms.front().geometric) {
      const GeometricStencil<dim>& stencil = *terms.front().geometric;
      Eigen::MatrixXd block = term(terms.front()).hessian;
      if (projection == newton::Projection::per_element) project_psd(block);
      add_at_stencil<dim>(stencil, factor * (block * at_stencil<dim>(stencil, p)), result);
      continue;
    }
    geometry::StencilMatrix<dim> block = hessian(terms);
    if (projection == newton::Projection::per_element) geometry::project_psd<4 * dim>(block);
    add_at_stencil<dim>(terms.front(), factor * (block * stencil_vector<dim>(terms.front(), p)), result);
  }
  return result;
}

template <int dim>
void Barrier<dim>::add_hessian(const std::vector<ContactPair<dim>>& pairs,
                               const surface::StencilVertices<dim>& vertices, double factor,
                               newton::Projection projection, linalg::StencilSink& H) const {
  for (std::span<const ContactPair<dim>> rest(pairs), terms; !rest.empty();
       rest = rest.subspan(terms.size())) {
    terms = first_candidate(rest);
    const ContactPair<dim>& pair = terms.front();
    if (pair.geometric) {
      Eigen::MatrixXd block = factor * term(pair).hessian;
      if (projection == newton::Projection::per_element) project_psd(block);
      add_block<dim>(vertices, std::span(pair.geometric->vertices), block, H);
      continue;
    }
    geometry::StencilMatrix<dim> block = factor * hessian(terms);
    if (projection == newton::Projection::per_element) geometry::project_psd<4 * dim>(block);
    std::array<LocalIndex, 4> stencil = pair.vertices;
    for (int i = 0; i < pair.num_vertices; ++i)
      if (!pair.mollifier.is_mollified && std::all_of(terms.begin(), terms.end(), [&](const auto& term) {
            return term.closest.weights[i] == 0;
          }))
        stencil[i] = -1;
    add_block<dim>(vertices, std::span(stencil).first(pair.num_vertices), block, H);
  }
}

template <int dim>
StencilFunction Barrier<dim>::term(const ContactPair<dim>& pair) const {
  return geometric_term<dim>(*pair.geometric, *form_.geometric,
                             of_distance(std::sqrt(pair.closest.distance_squared)));
}

template <int dim, class Block>
void add_block(const surface::StencilVertices<dim>& vertices, std::span<const LocalIndex> stencil,
               Block& block, linalg::StencilSink& H) {
  constexpr bool is_large = Block::SizeAtCompileTime == Eigen::Dynamic;
  std::conditional_t<is_large, std::vector<GlobalIndex>, std::array<GlobalIndex, 4>> nodes{};
  if constexpr (is_large) nodes.resize(stencil.size());
  std::ranges::fill(nodes, -1);
  for (std::size_t i = 0; i < stencil.size(); ++i) {
    if (stencil[i] < 0) continue;
    const surface::SurfaceVertex<dim>& vertex = vertices[stencil[i]];
    nodes[i] = vertex.block;
    for (int component = 0; component < dim; ++component)
      if ((vertex.prescribed >> component & 1U) != 0) {
        const Eigen::Index row = dim * i + component;
        block.row(row).setZero();
        block.col(row).setZero();
      }
  }
  H.add(std::span(nodes).first(stencil.size()), block.data(), static_cast<int>(block.rows()));
}

template class Barrier<2>;
template class Barrier<3>;
template std::span<const ContactPair<2>> first_candidate(std::span<const ContactPair<2>>);
template std::span<const ContactPair<3>> first_candidate(std::span<const ContactPair<3>>);
template void add_block<2>(const surface::StencilVertices<2>&, std::span<const LocalIndex>,
                           geometry::StencilMatrix<2>&, linalg::StencilSink&);
template void add_block<3>(const surface::StencilVertices<3>&, std::span<const LocalIndex>,
                           geometry::StencilMatrix<3>&, linalg::StencilSink&);

} // namespace recoil::potentials
