#include "recoil/potentials/contact/friction.hpp"

#include <algorithm>

namespace recoil::potentials {

namespace {

/// N of a term with the coefficient and the stiffness 1. The largest pull of adhesion is 1 per weight.
template <int dim>
double normal_force(const Barrier<dim>& barrier, const ContactPair<dim>& pair) {
  return barrier.form().adhesion_peak ? pair.weight : barrier.force(pair);
}

/// The same per unit of weight, with the derivative by the distance.
template <int dim>
typename Barrier<dim>::NormalForce normal_force_per_weight(const Barrier<dim>& barrier,
                                                           const ContactPair<dim>& pair) {
  if (barrier.form().adhesion_peak) return {1, 0};
  return barrier.force_per_weight(pair.closest.distance_squared);
}

template <int dim>
geometry::SlidingLaw law_of(const Barrier<dim>& barrier) {
  return barrier.form().adhesion_peak ? geometry::tangential_adhesion : geometry::coulomb_friction;
}

/// Friction Phi = N f0(|w|), w = (I - n n') Gamma s, of one lagged term of the barrier with the coefficient
/// 1: the normal force N, the weights Gamma of the closest points and the normal n belong to the positions
/// `lagged` was taken at; the columns of s are the sliding of its vertices [Li et al. 2020, section 5].
template <int dim>
class LaggedFriction {
public:
  using Point = Eigen::Matrix<double, dim, 1>;

  LaggedFriction(const ContactPair<dim>& lagged, const geometry::StencilPoints<dim>& sliding,
                 const geometry::SlidingLaw& law, double eta)
      : lagged_(&lagged), vertex_sliding_(sliding), normal_(lagged.closest.separation.normalized()),
        sliding_(sliding * lagged.closest.weights), tangential_(tangential_part(sliding_)),
        f1_over_y_(law.f1_over_y(tangential_.norm(), eta)),
        slope_over_y_(law.f1_over_y_slope_over_y(tangential_.norm(), eta)) {}

  /// dPhi/dx with N = 1, a column per vertex.
  geometry::StencilPoints<dim> force() const {
    return f1_over_y_ * tangential_ * lagged_->closest.weights.transpose();
  }

  /// Derivative of dPhi/dx (rows) by the lagged positions (columns) at fixed sliding: through the normal
  /// force N, whose derivative by the distance is `slope`, the closest points and the normal.
  geometry::StencilMatrix<dim> by_lagged_positions(double N, double slope) const {
    using Block = Eigen::Matrix<double, dim, dim>;
    const geometry::ClosestPoints<dim>& closest = lagged_->closest;
    // f = N s(|w|) w is shared among the vertices by Gamma. Its derivatives by Gamma s and c = Gamma z, with
    // dd = n.dc and dn = (I - n n') dc / d; a plane does not turn.
    const Point f = N * f1_over_y_ * tangential_;
    const Block T = Block::Identity() - normal_ * normal_.transpose();
    const Block by_tangential =
        N * (f1_over_y_ * Block::Identity() + slope_over_y_ * tangential_ * tangential_.transpose());
    Block by_separation = slope * f1_over_y_ * tangential_ * normal_.transpose();
    if (lagged_->num_vertices > 1) {
      const Block by_normal =
          -normal_.dot(sliding_) * by_tangential - N * f1_over_y_ * normal_ * sliding_.transpose();
      by_separation += by_normal * T / std::sqrt(closest.distance_squared);
    }
    geometry::StencilMatrix<dim> result;
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j)
        result.template block<dim, dim>(dim * i, dim * j) =
            closest.weights[i] * closest.weights[j] * by_separation;
    if (closest.num_free == 0) return result;
    // Gamma changes with the parameters of the closest points.
    const auto parameters = geometry::closest_parameter_derivatives<dim>(closest, lagged_->points);
    for (int r = 0; r < closest.num_free; ++r) {
      const Eigen::Vector4d tangent = closest.tangents.col(r);
      const Point by_parameter =
          by_tangential * (T * (vertex_sliding_ * tangent)) + by_separation * (lagged_->points * tangent);
      geometry::StencilVector<dim> forces;
      for (int i = 0; i < 4; ++i)
        forces.template segment<dim>(dim * i) = closest.weights[i] * by_parameter + tangent[i] * f;
      result += forces * parameters.row(r);
    }
    return result;
  }

private:
  Point tangential_part(const Point& x) const { return x - normal_.dot(x) * normal_; }

  const ContactPair<dim>* lagged_;
  geometry::StencilPoints<dim> vertex_sliding_;
  Point normal_, sliding_, tangential_;
  double f1_over_y_, slope_over_y_;
};

} // namespace

template <int dim>
Friction<dim>::Friction(const Barrier<dim>& barrier,
                        std::shared_ptr<const std::vector<ContactPair<dim>>> pairs,
                        std::shared_ptr<const surface::StencilVertices<dim>> vertices,
                        std::vector<Point> start, double stiffness, double eta,
                        FrictionCoefficients coefficients)
    : vertices_(std::move(vertices)), start_(std::move(start)), lagged_(std::move(pairs)),
      coefficients_(std::move(coefficients)), stiffness_(stiffness), eta_(eta), law_(law_of(barrier)),
      barrier_(barrier) {
  for (const auto& pair : *lagged_) {
    if (pair.mollifier.is_mollified) continue;
    const double strength = coefficient(pair) * stiffness * normal_force(barrier, pair);
    if (strength != 0)
      stencils_.push_back({pair.num_vertices, pair.vertices, pair.closest.weights,
                           pair.closest.separation.normalized(), strength});
  }
}

template <int dim>
Friction<dim> Friction<dim>::of(std::int32_t body) const {
  if (!vertices_) return {};
  return {*barrier_, pairs_with(*lagged_, body), vertices_, start_, stiffness_, eta_, coefficients_};
}

template <int dim>
typename Friction<dim>::Point Friction<dim>::sliding(const Stencil& stencil,
                                                     const std::vector<Point>& positions) const {
  Point w = Point::Zero();
  for (int i = 0; i < stencil.num_vertices; ++i) {
    const std::size_t vertex = stencil.vertices[i];
    w += stencil.weights[i] * (positions[vertex] - start_[vertex]);
  }
  return w - stencil.normal.dot(w) * stencil.normal;
}

template <int dim>
FrictionCounts Friction<dim>::count(const std::vector<Point>& positions) const {
  FrictionCounts counts;
  for (const Stencil& stencil : stencils_)
    ++(sliding(stencil, positions).norm() < eta_ ? counts.sticking : counts.sliding);
  return counts;
}

template <int dim>
double Friction<dim>::value(const std::vector<Point>& positions) const {
  double sum = 0;
  for (const Stencil& stencil : stencils_)
    sum += stencil.strength * law_.f0(sliding(stencil, positions).norm(), eta_);
  return sum;
}

template <int dim>
std::vector<typename Friction<dim>::Point>
Friction<dim>::gradient(const std::vector<Point>& positions) const {
  std::vector<Point> g(positions.size(), Point::Zero());
  for (const Stencil& stencil : stencils_) {
    const Point w = sliding(stencil, positions);
    const Point force = stencil.strength * law_.f1_over_y(w.norm(), eta_) * w;
    for (int i = 0; i < stencil.num_vertices; ++i) g[stencil.vertices[i]] += stencil.weights[i] * force;
  }
  return g;
}

template <int dim>
void Friction<dim>::add_hessian(const std::vector<Point>& positions, double factor,
                                linalg::StencilSink& H) const {
  using Block = Eigen::Matrix<double, dim, dim>;
  for (const Stencil& stencil : stencils_) {
    const Point w = sliding(stencil, positions);
    const double y = w.norm();
    const Block A =
        factor * stencil.strength *
        (law_.f1_over_y(y, eta_) * (Block::Identity() - stencil.normal * stencil.normal.transpose()) +
         law_.f1_over_y_slope_over_y(y, eta_) * w * w.transpose());
    add_to(H, stencil, A);
  }
}

/// H += Gamma' A Gamma of a stencil.
template <int dim>
void Friction<dim>::add_to(linalg::StencilSink& H, const Stencil& stencil,
                           const Eigen::Matrix<double, dim, dim>& A) const {
  geometry::StencilMatrix<dim> block = geometry::StencilMatrix<dim>::Zero();
  std::array<LocalIndex, 4> vertices = stencil.vertices;
  for (int i = 0; i < stencil.num_vertices; ++i) {
    for (int j = 0; j < stencil.num_vertices; ++j)
      block.template block<dim, dim>(dim * i, dim * j) = stencil.weights[i] * stencil.weights[j] * A;
    if (stencil.weights[i] == 0) vertices[i] = -1;
  }
  add_block<dim>(*vertices_, std::span(vertices).first(stencil.num_vertices), block, H);
}

template <int dim>
void Friction<dim>::add_secants(const std::vector<Point>& positions, double factor,
                                linalg::StencilSink& H) const {
  using Block = Eigen::Matrix<double, dim, dim>;
  for (const Stencil& stencil : stencils_) {
    if (stencil.strength < 0) continue;
    const double secant = stencil.strength * law_.f1_over_y(sliding(stencil, positions).norm(), eta_);
    const Block A = factor * secant * (Block::Identity() - stencil.normal * stencil.normal.transpose());
    add_to(H, stencil, A);
  }
}

template <int dim>
std::vector<typename Friction<dim>::Point> Friction<dim>::secant_product(const std::vector<Point>& positions,
                                                                         const std::vector<Point>& p) const {
  std::vector<Point> result(positions.size(), Point::Zero());
  for (const Stencil& stencil : stencils_) {
    if (stencil.strength < 0) continue;
    Point q = Point::Zero();
    for (int i = 0; i < stencil.num_vertices; ++i) q += stencil.weights[i] * p[stencil.vertices[i]];
    const Point force = stencil.strength * law_.f1_over_y(sliding(stencil, positions).norm(), eta_) *
                        (q - stencil.normal.dot(q) * stencil.normal);
    for (int i = 0; i < stencil.num_vertices; ++i) result[stencil.vertices[i]] += stencil.weights[i] * force;
  }
  return result;
}

template <int dim>
std::vector<typename Friction<dim>::Point> Friction<dim>::hessian_product(const std::vector<Point>& positions,
                                                                          const std::vector<Point>& p) const {
  std::vector<Point> result(positions.size(), Point::Zero());
  for (const Stencil& stencil : stencils_) {
    const Point w = sliding(stencil, positions);
    const double y = w.norm();
    Point q = Point::Zero();
    for (int i = 0; i < stencil.num_vertices; ++i) q += stencil.weights[i] * p[stencil.vertices[i]];
    const Point change =
        stencil.strength * (law_.f1_over_y(y, eta_) * (q - stencil.normal.dot(q) * stencil.normal) +
                            law_.f1_over_y_slope_over_y(y, eta_) * w.dot(q) * w);
    for (int i = 0; i < stencil.num_vertices; ++i) result[stencil.vertices[i]] += stencil.weights[i] * change;
  }
  return result;
}

template <int dim>
std::vector<typename Friction<dim>::Point>
Friction<dim>::since_start(const std::vector<Point>& positions) const {
  std::vector<Point> moved(positions.size());
  for (std::size_t v = 0; v < moved.size(); ++v) moved[v] = positions[v] - start_[v];
  return moved;
}

template <int dim>
std::vector<double> Friction<dim>::unit_force_products(const std::vector<Point>& positions,
                                                       const std::vector<Point>& p) const {
  const std::vector<Point> moved = since_start(positions);
  std::vector<double> result;
  result.reserve(lagged_->size());
  for (const auto& pair : *lagged_) {
    result.push_back(0);
    if (pair.mollifier.is_mollified) continue;
    const LaggedFriction<dim> term(pair, at_stencil<dim>(pair, moved), law_, eta_);
    result.back() = normal_force_per_weight(*barrier_, pair).value *
                    term.force().cwiseProduct(at_stencil<dim>(pair, p)).sum();
  }
  return result;
}

template <int dim>
std::vector<typename Friction<dim>::Point>
Friction<dim>::unit_forces(const std::vector<Point>& positions, const std::vector<double>& factors) const {
  const std::vector<Point> moved = since_start(positions);
  std::vector<Point> result(positions.size(), Point::Zero());
  for (std::size_t k = 0; k < lagged_->size(); ++k) {
    const ContactPair<dim>& pair = (*lagged_)[k];
    if (pair.mollifier.is_mollified || factors[k] == 0) continue;
    const LaggedFriction<dim> term(pair, at_stencil<dim>(pair, moved), law_, eta_);
    const geometry::StencilPoints<dim> force =
        factors[k] * normal_force_per_weight(*barrier_, pair).value * term.force();
    add_at_stencil<dim>(pair, Eigen::Map<const geometry::StencilVector<dim>>(force.data()), result);
  }
  return result;
}

template <int dim>
template <class Product>
std::vector<typename Friction<dim>::Point> Friction<dim>::lag_derivative(const std::vector<Point>& positions,
                                                                         const std::vector<Point>& x,
                                                                         Product product) const {
  const std::vector<Point> moved = since_start(positions);
  std::vector<Point> result(positions.size(), Point::Zero());
  for (const auto& pair : *lagged_) {
    const double factor = coefficient(pair) * stiffness_ * pair.weight;
    if (pair.mollifier.is_mollified || factor == 0) continue;
    const auto force = normal_force_per_weight(*barrier_, pair);
    const LaggedFriction<dim> term(pair, at_stencil<dim>(pair, moved), law_, eta_);
    const geometry::StencilMatrix<dim> A =
        term.by_lagged_positions(factor * force.value, factor * force.slope);
    add_at_stencil<dim>(pair, product(A, stencil_vector<dim>(pair, x)), result);
  }
  return result;
}

template <int dim>
std::vector<typename Friction<dim>::Point> Friction<dim>::lag_product(const std::vector<Point>& positions,
                                                                      const std::vector<Point>& p) const {
  std::vector<Point> result = lag_derivative(positions, p, [](const auto& A, const auto& at_pair) {
    return geometry::StencilVector<dim>(geometry::StencilMatrix<dim>(A.transpose()) * at_pair);
  });
  if (!barrier_ || !barrier_->form().geometric) return result;
  // Weights of the geometric contact potential change with the lagged positions.
  const std::vector<double> products = unit_force_products(positions, p);
  for (std::size_t k = 0; k < products.size(); ++k) {
    const ContactPair<dim>& pair = (*lagged_)[k];
    const double by_weight = coefficient(pair) * stiffness_ * products[k];
    if (by_weight != 0) add_at_stencil<dim>(*pair.geometric, by_weight * weight_gradient(pair), result);
  }
  return result;
}

template <int dim>
Eigen::VectorXd Friction<dim>::weight_gradient(const ContactPair<dim>& pair) const {
  return geometric_weight_gradient<dim>(*pair.geometric, *barrier_->form().geometric);
}

template <int dim>
std::vector<typename Friction<dim>::Point> Friction<dim>::lag_tangent(const std::vector<Point>& positions,
                                                                      const std::vector<Point>& x) const {
  std::vector<Point> result = lag_derivative(positions, x, [](const auto& A, const auto& at_pair) {
    return geometry::StencilVector<dim>(A * at_pair);
  });
  if (!barrier_ || !barrier_->form().geometric) return result;
  std::vector<double> changes;
  for (const ContactPair<dim>& pair : *lagged_) {
    const double factor = coefficient(pair);
    changes.push_back(factor == 0 ? 0
                                  : factor * stiffness_ *
                                        weight_gradient(pair).dot(at_stencil<dim>(*pair.geometric, x)));
  }
  const std::vector<Point> forces = unit_forces(positions, changes);
  for (std::size_t v = 0; v < result.size(); ++v) result[v] += forces[v];
  return result;
}

template class Friction<2>;
template class Friction<3>;

} // namespace recoil::potentials
