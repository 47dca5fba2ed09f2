#include "recoil/potentials/contact/geometric_contact.hpp"

#include <cmath>

#include "recoil/geometry/differentiated.hpp"
#include "recoil/linalg/dense.hpp"

namespace recoil::potentials {

namespace {

using geometry::compose;
using geometry::value_of;

/// Width of the zones in which one pair of primitives hands over to the next, in squared distances.
constexpr double handover = 1e-3;
/// Squared sine of the angle below which edges count as parallel.
constexpr double parallel_limit = 1e-24;

template <class T, int dim>
using Vec = std::array<T, dim>;

template <class T, std::size_t dim>
Vec<T, dim> operator-(const std::array<T, dim>& a, const std::array<T, dim>& b) {
  Vec<T, dim> c;
  for (std::size_t i = 0; i < dim; ++i) c[i] = a[i] - b[i];
  return c;
}
template <class T, std::size_t dim>
Vec<T, dim> scaled(const T& s, const std::array<T, dim>& a) {
  Vec<T, dim> c;
  for (std::size_t i = 0; i < dim; ++i) c[i] = s * a[i];
  return c;
}
template <class T, std::size_t dim>
T dot(const std::array<T, dim>& a, const std::array<T, dim>& b) {
  T sum = a[0] * b[0];
  for (std::size_t i = 1; i < dim; ++i) sum = sum + a[i] * b[i];
  return sum;
}
template <class T>
Vec<T, 3> cross(const Vec<T, 3>& a, const Vec<T, 3>& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
template <class T>
T composed(const T& x, const geometry::BarrierValue& f) {
  return compose(x, f.value, f.first, f.second);
}

template <int dim, class T>
struct Separation {
  Vec<T, dim> c; ///< from the second closest point to the first
  T mollifier;
};

/// m(q / (eps d^2)).
template <class T>
T away_from_border(const T& q, const T& distance_squared) {
  const T x = q / (handover * distance_squared);
  return composed(x, geometry::quintic_step(value_of(x)));
}

template <int dim, class T>
Separation<dim, T> of_vertex_and_edge(const Vec<T, dim>& p, const Vec<T, dim>& a, const Vec<T, dim>& b) {
  const Vec<T, dim> e = b - a, w = p - a;
  const T ee = dot(e, e), t = dot(w, e) / ee;
  const Vec<T, dim> c = w - scaled(t, e);
  const T dd = dot(c, c), rest = T(1) - t;
  return {c, away_from_border(t * t * ee, dd) * away_from_border(rest * rest * ee, dd)};
}

template <class T>
Separation<3, T> of_vertex_and_face(const Vec<T, 3>& p, const Vec<T, 3>& t0, const Vec<T, 3>& t1,
                                    const Vec<T, 3>& t2) {
  const Vec<T, 3> e1 = t1 - t0, e2 = t2 - t0, e0 = t2 - t1, w = p - t0, n = cross(e1, e2);
  const T nn = dot(n, n);
  const Vec<T, 3> c = scaled(dot(n, w) / nn, n);
  const T dd = dot(c, c);
  const T b1 = dot(cross(w, e2), n) / nn, b2 = dot(cross(e1, w), n) / nn, b0 = T(1) - b1 - b2;
  return {c, away_from_border(b0 * b0 * nn / dot(e0, e0), dd) *
                 away_from_border(b1 * b1 * nn / dot(e2, e2), dd) *
                 away_from_border(b2 * b2 * nn / dot(e1, e1), dd)};
}

template <class T>
Separation<3, T> of_edges(const Vec<T, 3>& a0, const Vec<T, 3>& a1, const Vec<T, 3>& b0,
                          const Vec<T, 3>& b1) {
  const Vec<T, 3> u = a1 - a0, v = b1 - b0, w = a0 - b0, n = cross(u, v);
  const T nn = dot(n, n), uu = dot(u, u), vv = dot(v, v);
  if (value_of(nn) <= parallel_limit * value_of(uu) * value_of(vv)) return {w, T(0)};
  const Vec<T, 3> c = scaled(dot(n, w) / nn, n);
  const T dd = dot(c, c);
  const T s = T(-1) * dot(cross(w, v), n) / nn, t = T(-1) * dot(cross(w, u), n) / nn;
  const T s_left = T(1) - s, t_left = T(1) - t;
  return {c, away_from_border(s * s * nn / vv, dd) * away_from_border(s_left * s_left * nn / vv, dd) *
                 away_from_border(t * t * nn / uu, dd) * away_from_border(t_left * t_left * nn / uu, dd)};
}

/// Closest points of the lines and planes of a pair, and M.
template <int dim, class T>
Separation<dim, T> separation(const GeometricStencil<dim>& stencil, const std::array<Vec<T, dim>, 4>& x) {
  if (stencil.plane_normal) {
    Vec<T, dim> n, w;
    for (int i = 0; i < dim; ++i) {
      n[i] = T((*stencil.plane_normal)[i]);
      w[i] = x[0][i] - T(stencil.plane_point[i]);
    }
    return {scaled(dot(w, n), n), T(1)};
  }
  switch (stencil.kind) {
  case geometry::StencilKind::vertex_vertex:
    break;
  case geometry::StencilKind::vertex_edge:
    return of_vertex_and_edge<dim, T>(x[0], x[1], x[2]);
  case geometry::StencilKind::vertex_face:
    if constexpr (dim == 3) return of_vertex_and_face<T>(x[0], x[1], x[2], x[3]);
    break;
  case geometry::StencilKind::edge_edge:
    if constexpr (dim == 3) return of_edges<T>(x[0], x[1], x[2], x[3]);
    break;
  }
  return {x[0] - x[1], T(1)};
}

template <int dim>
int num_core_points(const GeometricStencil<dim>& stencil) {
  return stencil.plane_normal ? 1 : geometry::num_points(stencil.kind);
}

// Conditions. `m` points to the other primitive, of any length.

/// H(-m.t; alpha_t, beta_t) for t along `t`.
template <class T, std::size_t dim>
T tangent_condition(const std::array<T, dim>& m, const std::array<T, dim>& t, const GeometricAngles& angles) {
  using std::sqrt;
  const T x = T(-1) * dot(m, t) / sqrt(dot(m, m) * dot(t, t));
  return composed(x, geometry::smooth_heaviside(value_of(x), angles.alpha_t, angles.beta_t));
}

/// Part of `o` perpendicular to e.
template <class T, std::size_t dim>
Vec<T, dim> perpendicular(const std::array<T, dim>& e, const std::array<T, dim>& o) {
  return o - scaled(dot(o, e) / dot(e, e), e);
}

/// side p x q, or side p turned clockwise.
template <class T, std::size_t dim>
Vec<T, dim> outer_normal(int side, const std::array<T, dim>& p, const std::array<T, dim>& q) {
  if constexpr (dim == 2)
    return {T(side) * p[1], T(-side) * p[0]};
  else
    return scaled(T(side), cross(p, q));
}

/// H(m.n; alpha_n, beta_n) for n along `normal`.
template <class T, std::size_t dim>
T normal_condition(const std::array<T, dim>& m, const std::array<T, dim>& normal,
                   const GeometricAngles& angles) {
  using std::sqrt;
  const T x = dot(m, normal) / sqrt(dot(m, m) * dot(normal, normal));
  return composed(x, geometry::smooth_heaviside(value_of(x), angles.alpha_n, angles.beta_n));
}

/// H(S - 1).
template <int dim>
geometry::BarrierValue enough_outside(double sum, const GeometricAngles& angles) {
  return geometry::smooth_heaviside(sum - 1, dim == 3 ? 1 : angles.alpha_n, 0);
}

/// A vector as a difference of two columns of the points; `minus` < 0: no column, but c itself.
struct Difference {
  int plus, minus;
};
constexpr Difference separation_itself{0, -1};

/// Visits the conditions of a primitive with the differences that they depend on: tangent(arguments, vector
/// of them), normal(..). Sign: of c in the direction to the other primitive. The functions that a visitor is
/// called with take the directions (m, p, q), of which q is unused in some.
template <int dim, class OfTangent, class OfNormal>
void for_each_condition(const GeometricPrimitive& primitive, OfTangent tangent, OfNormal normal) {
  const auto& p = primitive.points;
  if (primitive.num_points == 1) {
    for (const int neighbour : primitive.neighbours)
      tangent(std::array{Difference{neighbour, p[0]}, Difference{neighbour, p[0]}},
              [](const auto&, const auto& t, const auto&) { return t; });
    if (primitive.oriented)
      for (const auto& facet : primitive.facets)
        normal(std::array{Difference{facet.a, p[0]}, Difference{facet.b, p[0]}},
               [side = facet.side](const auto&, const auto& a, const auto& b) {
                 return outer_normal(side, a, b);
               });
  }
  if (dim == 3 && primitive.num_points == 2)
    for (const auto& facet : primitive.facets) {
      const std::array along{Difference{p[1], p[0]}, Difference{facet.a, p[0]}};
      tangent(along, [](const auto&, const auto& e, const auto& o) { return perpendicular(e, o); });
      if (primitive.oriented)
        normal(along, [side = facet.side](const auto&, const auto& e, const auto& o) {
          return outer_normal(side, e, o);
        });
    }
}

template <class T, int dim>
Vec<T, dim> constants(const Eigen::Matrix<double, dim, 1>& x) {
  Vec<T, dim> result;
  for (int i = 0; i < dim; ++i) result[i] = T(x[i]);
  return result;
}

/// Value of T N of a primitive.
template <int dim>
double conditions(const GeometricStencil<dim>& stencil, const GeometricPrimitive& primitive,
                  const Eigen::Matrix<double, dim, 1>& m, const GeometricAngles& angles) {
  using Point = Eigen::Matrix<double, dim, 1>;
  const auto& x = stencil.points;
  const Vec<double, dim> direction = constants<double, dim>(m);
  const auto vector = [&](const Difference& d) {
    return constants<double, dim>(Point(x.col(d.plus) - x.col(d.minus)));
  };
  double product = 1, sum = 0;
  for_each_condition<dim>(
      primitive,
      [&](const auto& of, auto function) {
        if (product > 0)
          product *= tangent_condition(direction, function(direction, vector(of[0]), vector(of[1])), angles);
      },
      [&](const auto& of, auto function) {
        if (product > 0)
          sum += normal_condition(direction, function(direction, vector(of[0]), vector(of[1])), angles);
      });
  const bool has_normals = primitive.num_points == 1 || (dim == 3 && primitive.num_points == 2);
  if (product > 0 && primitive.oriented && has_normals) product *= enough_outside<dim>(sum, angles).value;
  return product;
}

template <int dim>
double measure(const GeometricStencil<dim>& stencil, const GeometricPrimitive& primitive) {
  const auto edge = [&](int a, int b) -> Eigen::Matrix<double, dim, 1> {
    return stencil.points.col(b) - stencil.points.col(a);
  };
  const auto& p = primitive.points;
  if (primitive.num_points == 1) {
    double sum = 0;
    for (const int neighbour : primitive.neighbours)
      sum += dim == 3 ? edge(p[0], neighbour).squaredNorm() : edge(p[0], neighbour).norm();
    return sum / (dim == 3 ? 3.0 : 1.0 * primitive.neighbours.size());
  }
  if (primitive.num_points == 2) return dim == 3 ? edge(p[0], p[1]).squaredNorm() : edge(p[0], p[1]).norm();
  if constexpr (dim == 3) return 0.5 * edge(p[0], p[1]).cross(edge(p[0], p[2])).norm();
  return 0;
}

/// The sum of the logarithms of the factors of a term, as a function of w = (c, points), with derivatives up
/// to an order. Hessians of order 1 are empty.
template <int dim, int order>
class LogSum {
public:
  static constexpr int n = 3 * dim; ///< c and two differences
  using Local = geometry::Differentiated<n, order>;

  explicit LogSum(const GeometricStencil<dim>& stencil)
      : stencil_(&stencil), gradient_(Eigen::VectorXd::Zero(dim * (1 + stencil.points.cols()))),
        hessian_(zero_hessian()) {}

  /// f(c, differences): its part of the gradient and Hessian by w, times a factor.
  void scatter(const Local& f, const std::array<Difference, 2>& of, double factor, Eigen::VectorXd& g,
               Eigen::MatrixXd& H) const {
    const auto places = places_of(of);
    for (int i = 0; i < num_places; ++i) {
      const auto& [at, block, sign] = places[i];
      if (at < 0) continue;
      g.template segment<dim>(at) += factor * sign * f.gradient.template segment<dim>(dim * block);
      if constexpr (order == 2)
        for (int j = 0; j < num_places; ++j) {
          const auto& [to, other, other_sign] = places[j];
          if (to >= 0)
            H.template block<dim, dim>(at, to) +=
                factor * sign * other_sign * f.hessian.template block<dim, dim>(dim * block, dim * other);
        }
    }
  }
  /// Adds log f.
  void add(const Local& f, const std::array<Difference, 2>& of) {
    if (f.value == 1 && f.gradient.isZero(0)) return;
    scatter(geometry::log(f), of, 1, gradient_, hessian_);
  }
  /// Adds F(S) for a sum S with these derivatives by w.
  void add(const geometry::BarrierValue& F, const Eigen::VectorXd& g, const Eigen::MatrixXd& H) {
    gradient_ += F.first * g;
    if constexpr (order == 2) hessian_ += F.first * H + (F.second * g) * g.transpose();
  }
  /// Adds a function of c.
  void add_of_separation(const Eigen::Matrix<double, dim, 1>& g, const Eigen::Matrix<double, dim, dim>& H) {
    gradient_.template head<dim>() += g;
    if constexpr (order == 2) hessian_.template topLeftCorner<dim, dim>() += H;
  }

  /// The differences as variables, at their values.
  std::array<Vec<Local, dim>, 3> variables(const Eigen::Matrix<double, dim, 1>& c,
                                           const std::array<Difference, 2>& of) const {
    std::array<Vec<Local, dim>, 3> result;
    for (int i = 0; i < dim; ++i) {
      result[0][i] = Local::variable(c[i], i);
      for (int k = 0; k < 2; ++k) {
        const double value = stencil_->points(i, of[k].plus) - stencil_->points(i, of[k].minus);
        result[1 + k][i] = Local::variable(value, dim * (1 + k) + i);
      }
    }
    return result;
  }
  Eigen::VectorXd zero_gradient() const { return Eigen::VectorXd::Zero(gradient_.size()); }
  Eigen::MatrixXd zero_hessian() const {
    const Eigen::Index size = order == 2 ? gradient_.size() : 0;
    return Eigen::MatrixXd::Zero(size, size);
  }

  /// Takes c to the points: value times exp of the sum, by the points. `core`: components of c, then log M,
  /// as functions of the first points.
  template <int m>
  StencilFunction exponential(double value,
                              const std::array<geometry::Differentiated<m, order>, dim + 1>& core,
                              int num_core) const {
    const Eigen::Index size = gradient_.size() - dim, head = Eigen::Index{dim} * num_core;
    Eigen::VectorXd g = gradient_.tail(size);
    Eigen::Matrix<double, dim, Eigen::Dynamic> J =
        Eigen::Matrix<double, dim, Eigen::Dynamic>::Zero(dim, size);
    for (int k = 0; k < dim; ++k) J.row(k).head(head) = core[k].gradient.head(head).transpose();
    g += J.transpose() * gradient_.template head<dim>();
    g.head(head) += core[dim].gradient.head(head);
    if constexpr (order == 1) return {value, value * g, {}};
    Eigen::MatrixXd H = hessian_.bottomRightCorner(size, size);
    for (int k = 0; k < dim; ++k)
      H.topLeftCorner(head, head) += gradient_[k] * core[k].hessian.topLeftCorner(head, head);
    const Eigen::MatrixXd mixed = J.transpose() * hessian_.topRightCorner(dim, size);
    H += mixed + mixed.transpose() + J.transpose() * hessian_.template topLeftCorner<dim, dim>() * J;
    H.topLeftCorner(head, head) += core[dim].hessian.topLeftCorner(head, head);
    H += g * g.transpose();
    return {value, value * g, value * H};
  }

private:
  struct Place {
    int at, block;
    double sign;
  };
  static constexpr int num_places = 5;

  std::array<Place, num_places> places_of(const std::array<Difference, 2>& of) const {
    const auto column = [](int k) { return dim * (1 + k); };
    return {{{0, 0, 1},
             {column(of[0].plus), 1, 1},
             {column(of[0].minus), 1, -1},
             {column(of[1].plus), 2, 1},
             {column(of[1].minus), 2, -1}}};
  }

  const GeometricStencil<dim>* stencil_;
  Eigen::VectorXd gradient_;
  Eigen::MatrixXd hessian_;
};

/// Adds the logarithm of the measure of a primitive `times`.
template <int dim, int order>
void add_measure(const GeometricPrimitive& primitive, int times, LogSum<dim, order>& sum) {
  using Local = typename LogSum<dim, order>::Local;
  using geometry::sqrt;
  const Eigen::Matrix<double, dim, 1> nothing = Eigen::Matrix<double, dim, 1>::Zero();
  Eigen::VectorXd g = sum.zero_gradient();
  Eigen::MatrixXd H = sum.zero_hessian();
  double value = 0;
  const auto add = [&](const Local& f, const std::array<Difference, 2>& of) {
    value += f.value;
    sum.scatter(f, of, 1, g, H);
  };
  const auto& p = primitive.points;
  if (primitive.num_points == 3) {
    if constexpr (dim == 3) {
      const std::array of{Difference{p[1], p[0]}, Difference{p[2], p[0]}};
      const auto v = sum.variables(nothing, of);
      const auto n = cross<Local>(v[1], v[2]);
      add(0.5 * sqrt(dot(n, n)), of);
    }
  } else {
    const auto add_edge = [&](int a, int b, double factor) {
      const std::array of{Difference{b, a}, Difference{b, a}};
      const auto v = sum.variables(nothing, of);
      const Local squared = dot(v[1], v[1]);
      add(factor * (dim == 3 ? squared : sqrt(squared)), of);
    };
    if (primitive.num_points == 2)
      add_edge(p[0], p[1], 1);
    else
      for (const int neighbour : primitive.neighbours)
        add_edge(p[0], neighbour, 1 / (dim == 3 ? 3.0 : 1.0 * primitive.neighbours.size()));
  }
  sum.add({0, times / value, -times / (value * value)}, g, H);
}

/// Adds the logarithm of T N; `sign`: of c in the direction to the other primitive.
template <int dim, int order>
void add_conditions(const GeometricPrimitive& primitive, const Eigen::Matrix<double, dim, 1>& c, double sign,
                    const GeometricAngles& angles, LogSum<dim, order>& sum) {
  using Local = typename LogSum<dim, order>::Local;
  Eigen::VectorXd g = sum.zero_gradient();
  Eigen::MatrixXd H = sum.zero_hessian();
  double outside = 0;
  bool has_normals = false;
  for_each_condition<dim>(
      primitive,
      [&](const auto& of, auto function) {
        const auto v = sum.variables(c, of);
        const auto m = scaled(Local(sign), v[0]);
        sum.add(tangent_condition(m, function(m, v[1], v[2]), angles), of);
      },
      [&](const auto& of, auto function) {
        has_normals = true;
        const auto v = sum.variables(c, of);
        const auto m = scaled(Local(sign), v[0]);
        const Local f = normal_condition(m, function(m, v[1], v[2]), angles);
        outside += f.value;
        sum.scatter(f, of, 1, g, H);
      });
  if (!has_normals) return;
  const geometry::BarrierValue f = enough_outside<dim>(outside, angles);
  const double slope = f.first / f.value;
  sum.add({0, slope, f.second / f.value - slope * slope}, g, H);
}

template <int dim>
std::array<Vec<double, dim>, 4> core_points(const GeometricStencil<dim>& stencil) {
  std::array<Vec<double, dim>, 4> x{};
  for (int k = 0; k < num_core_points(stencil); ++k)
    x[k] = constants<double, dim>(Eigen::Matrix<double, dim, 1>(stencil.points.col(k)));
  return x;
}

/// Whether m points to the inner side of a face, or of an edge in 2D.
template <int dim>
bool is_inside(const GeometricStencil<dim>& stencil, const GeometricPrimitive& primitive,
               const Eigen::Matrix<double, dim, 1>& m) {
  if (primitive.num_points != dim || !primitive.oriented) return false;
  const auto& p = primitive.points;
  const auto edge = [&](int k) {
    return constants<double, dim>(
        Eigen::Matrix<double, dim, 1>(stencil.points.col(p[k]) - stencil.points.col(p[0])));
  };
  const auto normal = outer_normal(primitive.side, edge(1), edge(dim - 1));
  return dot(normal, constants<double, dim>(m)) <= 0;
}

template <int dim>
bool has_measure(const GeometricPrimitive& primitive) {
  return primitive.num_points > 1 || !primitive.neighbours.empty();
}

/// The weight, times the barrier where one is given.
template <int dim, int order>
StencilFunction derivatives(const GeometricStencil<dim>& stencil, const GeometricAngles& angles,
                            const geometry::BarrierValue* of_distance) {
  using Point = Eigen::Matrix<double, dim, 1>;
  constexpr int m = 4 * dim;
  using Core = geometry::Differentiated<m, order>;
  const int num_core = num_core_points(stencil);
  std::array<Vec<Core, dim>, 4> x;
  for (int k = 0; k < num_core; ++k)
    for (int i = 0; i < dim; ++i) x[k][i] = Core::variable(stencil.points(i, k), dim * k + i);
  const Separation<dim, Core> apart = separation<dim, Core>(stencil, x);
  std::array<Core, dim + 1> core;
  Point c;
  for (int i = 0; i < dim; ++i) {
    core[i] = apart.c[i];
    c[i] = apart.c[i].value;
  }
  core[dim] = geometry::log(apart.mollifier);

  LogSum<dim, order> sum(stencil);
  double value = geometric_weight(stencil, angles);
  for (int k = 0; k < 2; ++k) {
    const GeometricPrimitive& primitive = stencil.primitives[k];
    if (primitive.num_points == 0) continue;
    add_measure(primitive, stencil.plane_normal ? 2 : 1, sum);
    add_conditions<dim, order>(primitive, c, k == 0 ? -1 : 1, angles, sum);
  }
  if (of_distance != nullptr) {
    const double d = c.norm(), slope = of_distance->first / of_distance->value;
    const double curvature = of_distance->second / of_distance->value - slope * slope;
    const Point n = c / d;
    using Block = Eigen::Matrix<double, dim, dim>;
    sum.add_of_separation(slope * n, curvature * n * n.transpose() +
                                         slope / d * (Block::Identity() - n * n.transpose()));
    value *= of_distance->value;
  }
  return sum.template exponential<m>(value, core, num_core);
}

} // namespace

template <int dim>
double geometric_weight(const GeometricStencil<dim>& stencil, const GeometricAngles& angles) {
  using Point = Eigen::Matrix<double, dim, 1>;
  const Separation<dim, double> apart = separation<dim, double>(stencil, core_points(stencil));
  const Point c = Eigen::Map<const Point>(apart.c.data());
  double weight = apart.mollifier;
  for (int k = 0; k < 2 && weight > 0; ++k) {
    const GeometricPrimitive& primitive = stencil.primitives[k];
    if (primitive.num_points == 0) continue;
    const Point m = k == 0 ? Point(-c) : c;
    if (!has_measure<dim>(primitive) || is_inside(stencil, primitive, m)) return 0;
    const double size = measure(stencil, primitive);
    weight *= (stencil.plane_normal ? size * size : size) * conditions<dim>(stencil, primitive, m, angles);
  }
  return weight;
}

template <int dim>
Eigen::VectorXd geometric_weight_gradient(const GeometricStencil<dim>& stencil,
                                          const GeometricAngles& angles) {
  return derivatives<dim, 1>(stencil, angles, nullptr).gradient;
}

template <int dim>
StencilFunction geometric_term(const GeometricStencil<dim>& stencil, const GeometricAngles& angles,
                               const geometry::BarrierValue& of_distance) {
  return derivatives<dim, 2>(stencil, angles, &of_distance);
}

template <int dim>
Eigen::VectorXd geometric_gradient(const GeometricStencil<dim>& stencil, const GeometricAngles& angles,
                                   const geometry::BarrierValue& of_distance) {
  return derivatives<dim, 1>(stencil, angles, &of_distance).gradient;
}

void project_psd(Eigen::MatrixXd& A) {
  const linalg::SymmetricEigen eigen = linalg::symmetric_eigen(A);
  if (!eigen.converged || eigen.values[0] >= 0) return;
  const Eigen::MatrixXd& V = eigen.vectors;
  const Eigen::MatrixXd scaled_vectors = V * eigen.values.cwiseMax(0).asDiagonal();
  A.noalias() = scaled_vectors * V.transpose();
  A = (0.5 * (A + A.transpose())).eval();
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template double geometric_weight(const GeometricStencil<dim>&, const GeometricAngles&);                    \
  template Eigen::VectorXd geometric_weight_gradient(const GeometricStencil<dim>&, const GeometricAngles&);  \
  template Eigen::VectorXd geometric_gradient(const GeometricStencil<dim>&, const GeometricAngles&,          \
                                              const geometry::BarrierValue&);                                \
  template StencilFunction geometric_term(const GeometricStencil<dim>&, const GeometricAngles&,              \
                                          const geometry::BarrierValue&);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::potentials
