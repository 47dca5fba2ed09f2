#include "recoil/potentials/contact/geometric_contact.hpp"

#include <algorithm>
#include <random>
#include <set>

#include <Eigen/Eigenvalues>
#include <gtest/gtest.h>

#include "support/contact_scene.hpp"

namespace recoil::potentials {
namespace {

using geometry::StencilKind;

constexpr BarrierForm geometric{true, false, false, false, GeometricAngles{}};
constexpr BarrierForm narrow{true, false, false, false, GeometricAngles{0.3, 0.1, 0.4, 0.2}};

/// f, f' and f'' at x against differences of f and f'.
template <class Function>
void expect_derivatives(Function f, double x) {
  constexpr double h = 1e-6;
  const double scale = 1 + std::abs(f(x).value) + std::abs(f(x).first) + std::abs(f(x).second);
  EXPECT_NEAR((f(x + h).value - f(x - h).value) / (2 * h), f(x).first, 1e-8 * scale) << x;
  EXPECT_NEAR((f(x + h).first - f(x - h).first) / (2 * h), f(x).second, 1e-6 * scale) << x;
}

TEST(GeometricFunctions, HaveTheirEndValuesAndDerivatives) {
  const auto step = [](double x) { return geometry::smooth_heaviside(x, 0.5, 0.25); };
  EXPECT_EQ(step(-0.5).value, 0);
  EXPECT_EQ(step(0.25).value, 1);
  EXPECT_NEAR(step(-0.125).value, 0.5, 1e-15);
  for (double x = -0.6; x < 0.4; x += 0.031) expect_derivatives(step, x);
  for (double x = -0.1; x < 1.2; x += 0.043) expect_derivatives(&geometry::quintic_step, x);
  for (const int power : {1, 2}) {
    const auto barrier = [power](double x) { return geometry::power_barrier(x, 2, power); };
    for (double x = 0.3; x < 2.2; x += 0.11) expect_derivatives(barrier, x);
    EXPECT_EQ(barrier(2).value, 0);
    EXPECT_EQ(barrier(0).value, std::numeric_limits<double>::infinity());
    // Value of the IPC Toolkit: cubic_spline(x) / x^power.
    EXPECT_NEAR(barrier(1.5).value, 4.0 / 3 * std::pow(0.25, 3) / std::pow(0.75, power), 1e-15);
    EXPECT_NEAR(barrier(0.5).value, (2.0 / 3 - 4 * 0.0625 * 0.75) / std::pow(0.25, power), 1e-14);
  }
}

/// Random pairs of primitives with surroundings that let them act.
template <int dim>
class RandomStencils {
public:
  using Point = Eigen::Matrix<double, dim, 1>;

  explicit RandomStencils(unsigned seed) : random_(seed) {}

  Point vector(double size) {
    Point x;
    for (int i = 0; i < dim; ++i) x[i] = std::uniform_real_distribution(-size, size)(random_);
    return x;
  }
  double number(double from, double to) { return std::uniform_real_distribution(from, to)(random_); }

  /// Of a positive weight. `hard`: near the border of the primitives, nearly parallel edges.
  GeometricStencil<dim> draw(StencilKind kind, const GeometricAngles& angles, bool hard) {
    for (int attempt = 0; attempt < 200000; ++attempt) {
      GeometricStencil<dim> stencil = attempt_at(kind, hard);
      geometry::StencilPoints<dim> core = geometry::StencilPoints<dim>::Zero();
      const int count = geometry::num_points(kind);
      core.leftCols(count) = stencil.points.leftCols(count);
      const auto closest = geometry::closest_points<dim>(kind, core);
      bool inside = true;
      for (int i = 0; i < count; ++i) inside = inside && closest.weights[i] != 0;
      if (inside && geometric_weight(stencil, angles) > 1e-6) return stencil;
    }
    ADD_FAILURE() << "no stencil";
    return {};
  }

private:
  GeometricStencil<dim> attempt_at(StencilKind kind, bool hard) {
    GeometricStencil<dim> stencil{kind, {}, {}, {}, {}, Point::Zero()};
    const int first = geometry::num_first_points(kind), count = geometry::num_points(kind);
    points_.clear();
    const double d = number(0.02, 0.3);
    Point up = Point::Zero();
    up[dim - 1] = 1;
    // The second primitive about the origin, the first one above it.
    for (int i = 0; i < count; ++i) {
      Point x = vector(1);
      x[dim - 1] *= 0.2;
      points_.push_back(x);
    }
    if (first == 1) {
      Point on = Point::Zero();
      double sum = 0;
      for (int i = 1; i < count; ++i) {
        const double w = hard && i == 1 ? number(0, 0.01) : number(0.05, 1);
        on += w * points_[i];
        sum += w;
      }
      points_[0] = on / sum + d * up + (hard ? 0.01 : 0.2) * d * vector(1);
    } else {
      const double turn = hard ? 0.02 : 1;
      points_[1] = points_[0] + (points_[3] - points_[2]) + turn * vector(1);
      const Point shift = 0.5 * (points_[2] + points_[3]) - (0.5 * points_[0] + 0.5 * points_[1]) + d * up;
      points_[0] += shift;
      points_[1] += shift;
    }
    fill(stencil.primitives[0], 0, first, up);
    fill(stencil.primitives[1], first, count, -up);
    stencil.points.resize(dim, std::ssize(points_));
    for (std::size_t i = 0; i < points_.size(); ++i) {
      stencil.points.col(static_cast<Eigen::Index>(i)) = points_[i];
      stencil.vertices.push_back(static_cast<LocalIndex>(i));
    }
    return stencil;
  }

  /// Surroundings that lie on the side of `away`, with normals against it.
  void fill(GeometricPrimitive& primitive, int begin, int end, const Point& away) {
    primitive.num_points = end - begin;
    for (int i = begin; i < end; ++i) primitive.points[static_cast<std::size_t>(i - begin)] = i;
    primitive.oriented = number(0, 1) < 0.7;
    const auto add = [&] {
      points_.push_back(points_[static_cast<std::size_t>(begin)] + vector(1) + number(0, 0.6) * away);
      return static_cast<int>(points_.size()) - 1;
    };
    primitive.side = number(0, 1) < 0.5 ? 1 : -1;
    if (primitive.num_points == 1) {
      const int num = dim == 2 ? 2 : 3 + static_cast<int>(number(0, 3));
      for (int k = 0; k < num; ++k) primitive.neighbours.push_back(add());
      for (int k = 0; k < num; ++k) {
        const int a = primitive.neighbours[static_cast<std::size_t>(k)],
                  b = dim == 2 ? a : primitive.neighbours[static_cast<std::size_t>((k + 1) % num)];
        primitive.facets.push_back({a, b, number(0, 1) < 0.5 ? 1 : -1});
      }
    } else if (dim == 3 && primitive.num_points == 2) {
      for (const int side : {1, -1}) primitive.facets.push_back({add(), 0, side});
    }
  }

  std::mt19937 random_;
  std::vector<Point> points_;
};

template <int dim>
double distance(const GeometricStencil<dim>& stencil) {
  geometry::StencilPoints<dim> core = geometry::StencilPoints<dim>::Zero();
  const int count = geometry::num_points(stencil.kind);
  core.leftCols(count) = stencil.points.leftCols(count);
  return std::sqrt(geometry::closest_points<dim>(stencil.kind, core).distance_squared);
}

constexpr double dhat = 0.5;

template <int dim>
StencilFunction term_at(const GeometricStencil<dim>& stencil, const GeometricAngles& angles) {
  return geometric_term(stencil, angles, geometry::power_barrier(distance(stencil), dhat, dim - 1));
}

template <int dim>
GeometricStencil<dim> moved(GeometricStencil<dim> stencil, const Eigen::VectorXd& d, double h) {
  stencil.points +=
      h * Eigen::Map<const Eigen::Matrix<double, dim, Eigen::Dynamic>>(d.data(), dim, d.size() / dim);
  return stencil;
}

/// Best relative errors over steps along a direction: of the gradient and the Hessian of a term, and of the
/// gradient of its weight.
template <int dim>
std::array<double, 3> errors(const GeometricStencil<dim>& stencil, const Eigen::VectorXd& d,
                             const GeometricAngles& angles) {
  const StencilFunction at = term_at(stencil, angles);
  const Eigen::VectorXd of_weight = geometric_weight_gradient(stencil, angles);
  std::array<double, 3> best{1e300, 1e300, 1e300};
  const auto take = [&](std::size_t i, double error) { best[i] = std::min(best[i], error / d.norm()); };
  for (const double h : {1e-4, 1e-5, 1e-6, 1e-7, 1e-8}) {
    const auto ahead = moved(stencil, d, h), back = moved(stencil, d, -h);
    const StencilFunction plus = term_at(ahead, angles), minus = term_at(back, angles);
    take(0, std::abs((plus.value - minus.value) / (2 * h) - at.gradient.dot(d)) / at.gradient.norm());
    take(1, ((plus.gradient - minus.gradient) / (2 * h) - at.hessian * d).norm() / at.hessian.norm());
    const double slope = (geometric_weight(ahead, angles) - geometric_weight(back, angles)) / (2 * h);
    take(2, std::abs(slope - of_weight.dot(d)) / of_weight.norm());
  }
  return best;
}

template <int dim>
std::vector<StencilKind> kinds() {
  if constexpr (dim == 2) return {StencilKind::vertex_vertex, StencilKind::vertex_edge};
  return {StencilKind::vertex_vertex, StencilKind::vertex_edge, StencilKind::vertex_face,
          StencilKind::edge_edge};
}

template <class T>
class GeometricStencils : public ::testing::Test {};
TYPED_TEST_SUITE(GeometricStencils, Dimensions);

TYPED_TEST(GeometricStencils, DerivativesAgreeWithDifferences) {
  constexpr int dim = TypeParam::dim;
  RandomStencils<dim> random(11);
  std::array<double, 3> worst{};
  for (const GeometricAngles& angles : {GeometricAngles{0.9, 0.1, 0.8, 0}, GeometricAngles{}})
    for (const StencilKind kind : kinds<dim>())
      for (int k = 0; k < 20; ++k) {
        const auto stencil = random.draw(kind, angles, k % 3 == 2);
        Eigen::VectorXd d(stencil.points.size());
        for (double& entry : d) entry = random.number(-1, 1);
        const std::array<double, 3> found = errors(stencil, d, angles);
        for (std::size_t i = 0; i < 3; ++i) {
          worst[i] = std::max(worst[i], found[i]);
          EXPECT_LT(found[i], 1e-6) << "kind " << static_cast<int>(kind) << ", number " << k << ", " << i;
        }
        const StencilFunction at = term_at(stencil, angles);
        const auto barrier = geometry::power_barrier(distance(stencil), dhat, dim - 1);
        EXPECT_LT((geometric_gradient(stencil, angles, barrier) - at.gradient).norm(),
                  1e-11 * at.gradient.norm());
        EXPECT_LT((at.hessian - at.hessian.transpose()).norm(), 1e-13 * at.hessian.norm());
        Eigen::MatrixXd projected = at.hessian;
        project_psd(projected);
        EXPECT_GE(projected.selfadjointView<Eigen::Lower>().eigenvalues().minCoeff(),
                  -1e-12 * projected.norm());
      }
  this->RecordProperty("gradient", std::to_string(-std::log10(worst[0])));
  this->RecordProperty("hessian", std::to_string(-std::log10(worst[1])));
  this->RecordProperty("weight", std::to_string(-std::log10(worst[2])));
}

TYPED_TEST(GeometricStencils, DoNotDependOnPlaceTurnAndNumbers) {
  constexpr int dim = TypeParam::dim;
  RandomStencils<dim> random(5);
  const GeometricAngles angles{0.9, 0.1, 0.8, 0};
  Eigen::Matrix<double, dim, dim> R;
  if constexpr (dim == 2)
    R = Eigen::Rotation2Dd(0.7).toRotationMatrix();
  else
    R = Eigen::AngleAxisd(0.7, Eigen::Vector3d(1, 2, -1).normalized()).toRotationMatrix();
  for (const StencilKind kind : kinds<dim>())
    for (int k = 0; k < 20; ++k) {
      const auto stencil = random.draw(kind, angles, k % 4 == 3);
      const StencilFunction at = term_at(stencil, angles);
      auto turned = stencil;
      turned.points = (R * stencil.points).array() + 3;
      const StencilFunction there = term_at(turned, angles);
      const double rounding = k % 4 == 3 ? 1e-8 : 1e-10;
      EXPECT_NEAR(there.value, at.value, rounding * at.value);
      Eigen::VectorXd back(at.gradient.size());
      for (Eigen::Index i = 0; i < back.size(); i += dim)
        back.segment<dim>(i) = R.transpose() * there.gradient.segment<dim>(i);
      EXPECT_LT((back - at.gradient).norm(), rounding * at.gradient.norm());

      // No force and no moment on the whole.
      Eigen::Matrix<double, dim, 1> sum = Eigen::Matrix<double, dim, 1>::Zero();
      Eigen::Matrix<double, dim, dim> moment = Eigen::Matrix<double, dim, dim>::Zero();
      for (Eigen::Index i = 0; i < stencil.points.cols(); ++i) {
        sum += at.gradient.segment<dim>(dim * i);
        moment += at.gradient.segment<dim>(dim * i) * stencil.points.col(i).transpose();
      }
      EXPECT_LT(sum.norm(), 1e-10 * at.gradient.norm());
      EXPECT_LT((moment - moment.transpose()).norm(), 1e-10 * at.gradient.norm());

      // The surroundings in another order.
      auto other = stencil;
      for (GeometricPrimitive& primitive : other.primitives) {
        std::ranges::reverse(primitive.facets);
        std::ranges::reverse(primitive.neighbours);
        if (dim == 3 && primitive.num_points == 1)
          for (auto& facet : primitive.facets) facet = {facet.b, facet.a, -facet.side};
      }
      EXPECT_NEAR(term_at(other, angles).value, at.value, 1e-13 * at.value);
    }
}

/// The potential from its definition, over all primitives one by one; on one rank.
template <int dim>
class Definition {
public:
  using Point = Eigen::Matrix<double, dim, 1>;

  Definition(const ContactScene<dim>& scene, const linalg::Vector& u, const GeometricAngles& angles)
      : surface_(scene.contact.surface()), angles_(angles), reach_(scene.contact.parameters().dhat),
        planes_(scene.contact.parameters().planes),
        x_(surface_.positions(u.local(), scene.contact.obstacle_displacement())) {}

  double value() const {
    double sum = 0;
    const auto num = static_cast<LocalIndex>(x_.size());
    for (LocalIndex v = 0; v < num; ++v) {
      for (LocalIndex w = 0; w < v; ++w) sum += pair({v}, {w}, x_[i(v)], x_[i(w)], 1);
      for (const auto& e : surface_.edges()) sum += of_edge(v, e);
      for (const auto& f : surface_.faces()) sum += of_face(v, f);
      for (const auto& plane : planes_) {
        const double d = plane.normal.dot(x_[i(v)] - plane.point);
        if (surface_.node(v) < 0 || d >= reach_) continue;
        const double factor = factor_of({v}, -plane.normal);
        sum += factor * measure({v}) * geometry::power_barrier(d, reach_, dim - 1).value;
      }
    }
    if constexpr (dim == 3)
      for (std::size_t a = 0; a < surface_.edges().size(); ++a)
        for (std::size_t b = 0; b < a; ++b) sum += of_edges(surface_.edges()[a], surface_.edges()[b]);
    return sum;
  }

private:
  using Primitive = std::vector<LocalIndex>;
  static std::size_t i(LocalIndex v) { return static_cast<std::size_t>(v); }
  double H(double x, double alpha, double beta) const {
    return geometry::smooth_heaviside(x, alpha, beta).value;
  }
  static double m(double q, double dd) { return geometry::quintic_step(q / (1e-3 * dd)).value; }
  bool is_body(LocalIndex v) const { return surface_.node(v) >= 0; }

  /// Outer normal of a facet.
  Point normal(std::size_t f) const {
    Point n;
    if constexpr (dim == 2) {
      const auto& [a, b] = surface_.edges()[f];
      const Point t = x_[i(b)] - x_[i(a)];
      n << t[1], -t[0];
    } else {
      const auto& [a, b, c] = surface_.faces()[f];
      n = (x_[i(b)] - x_[i(a)]).cross(x_[i(c)] - x_[i(a)]);
    }
    return surface_.facet_sides()[f] * n.normalized();
  }
  const auto& facets() const {
    if constexpr (dim == 2)
      return surface_.edges();
    else
      return surface_.faces();
  }
  static bool holds(const auto& facet, const Primitive& p) {
    return std::ranges::all_of(p, [&](LocalIndex v) { return std::ranges::find(facet, v) != facet.end(); });
  }

  double measure(const Primitive& p) const {
    if (p.size() == 3) return 0.5 * cross_norm(x_[i(p[1])] - x_[i(p[0])], x_[i(p[2])] - x_[i(p[0])]);
    if (p.size() == 2) {
      const double length = (x_[i(p[1])] - x_[i(p[0])]).norm();
      return dim == 3 ? length * length : length;
    }
    double sum = 0;
    int count = 0;
    for (const auto& [a, b] : surface_.edges())
      if (a == p[0] || b == p[0]) {
        const double length = (x_[i(b)] - x_[i(a)]).norm();
        sum += dim == 3 ? length * length / 3 : length;
        ++count;
      }
    return dim == 3 ? sum : sum / count;
  }
  static double cross_norm(const Point& a, const Point& b) {
    return std::sqrt(std::max(0.0, a.squaredNorm() * b.squaredNorm() - a.dot(b) * a.dot(b)));
  }

  /// |P| T N in the direction n of the other primitive.
  double factor_of(const Primitive& p, const Point& n) const {
    double factor = measure(p), outside = 0;
    if (p.size() == 1) {
      for (const auto& [a, b] : surface_.edges())
        if (a == p[0] || b == p[0]) {
          const Point t = (x_[i(a == p[0] ? b : a)] - x_[i(p[0])]).normalized();
          factor *= H(-n.dot(t), angles_.alpha_t, angles_.beta_t);
        }
    } else if (dim == 3 && p.size() == 2) {
      const Point e = (x_[i(p[1])] - x_[i(p[0])]).normalized();
      for (const auto& face : facets())
        if (holds(face, p))
          for (const LocalIndex v : face)
            if (v != p[0] && v != p[1]) {
              const Point o = x_[i(v)] - x_[i(p[0])], t = (o - o.dot(e) * e).normalized();
              factor *= H(-n.dot(t), angles_.alpha_t, angles_.beta_t);
            }
    }
    if (!is_body(p[0])) return factor;
    for (std::size_t f = 0; f < facets().size(); ++f) {
      if (!holds(facets()[f], p)) continue;
      if (static_cast<int>(p.size()) == dim) return n.dot(normal(f)) > 0 ? factor : 0;
      outside += H(n.dot(normal(f)), angles_.alpha_n, angles_.beta_n);
    }
    return factor * H(outside - 1, dim == 3 ? 1 : angles_.alpha_n, 0);
  }

  double pair(const Primitive& p, const Primitive& q, const Point& on_p, const Point& on_q,
              double mollifier) const {
    const Point c = on_p - on_q;
    const double d = c.norm();
    if (d >= reach_ || (!is_body(p[0]) && !is_body(q[0]))) return 0;
    return factor_of(p, -c / d) * factor_of(q, c / d) * mollifier *
           geometry::power_barrier(d, reach_, dim - 1).value;
  }

  double of_edge(LocalIndex v, const std::array<LocalIndex, 2>& edge) const {
    const auto& [a, b] = edge;
    if (v == a || v == b) return 0;
    const Point e = x_[i(b)] - x_[i(a)];
    const double t = e.dot(x_[i(v)] - x_[i(a)]) / e.squaredNorm();
    if (t <= 0 || t >= 1) return 0;
    const Point on = x_[i(a)] + t * e;
    const double dd = (x_[i(v)] - on).squaredNorm(), L = e.squaredNorm();
    return pair({v}, {a, b}, x_[i(v)], on, m(t * t * L, dd) * m((1 - t) * (1 - t) * L, dd));
  }

  double of_face(LocalIndex v, const std::array<LocalIndex, 3>& f) const {
    if constexpr (dim == 3) {
      if (std::ranges::find(f, v) != f.end()) return 0;
      Eigen::Matrix<double, 3, 2> E;
      E << x_[i(f[1])] - x_[i(f[0])], x_[i(f[2])] - x_[i(f[0])];
      const Eigen::Vector2d b = (E.transpose() * E).inverse() * E.transpose() * (x_[i(v)] - x_[i(f[0])]);
      const std::array bary{1 - b[0] - b[1], b[0], b[1]};
      if (*std::ranges::min_element(bary) <= 0) return 0;
      const Point on = x_[i(f[0])] + E * b;
      const double dd = (x_[i(v)] - on).squaredNorm();
      double product = 1;
      for (std::size_t k = 0; k < 3; ++k) {
        const Point a = x_[i(f[(k + 1) % 3])], e = (x_[i(f[(k + 2) % 3])] - a).normalized();
        product *= m(((on - a) - e.dot(on - a) * e).squaredNorm(), dd);
      }
      return pair({v}, {f[0], f[1], f[2]}, x_[i(v)], on, product);
    }
    return 0;
  }

  double of_edges(const std::array<LocalIndex, 2>& a, const std::array<LocalIndex, 2>& b) const {
    if (a[0] == b[0] || a[0] == b[1] || a[1] == b[0] || a[1] == b[1]) return 0;
    Eigen::Matrix<double, dim, 2> E;
    E << x_[i(a[1])] - x_[i(a[0])], -(x_[i(b[1])] - x_[i(b[0])]);
    const Eigen::Vector2d s = (E.transpose() * E).inverse() * E.transpose() * (x_[i(b[0])] - x_[i(a[0])]);
    if (s.minCoeff() <= 0 || s.maxCoeff() >= 1) return 0;
    const Point on_a = x_[i(a[0])] + s[0] * E.col(0), on_b = x_[i(b[0])] - s[1] * E.col(1);
    const double dd = (on_a - on_b).squaredNorm();
    const auto excess = [&](LocalIndex v, LocalIndex c, LocalIndex d) {
      const Point e = (x_[i(d)] - x_[i(c)]).normalized(), w = x_[i(v)] - x_[i(c)];
      return (w - e.dot(w) * e).squaredNorm() - dd;
    };
    const double product = m(excess(a[0], b[0], b[1]), dd) * m(excess(a[1], b[0], b[1]), dd) *
                           m(excess(b[0], a[0], a[1]), dd) * m(excess(b[1], a[0], a[1]), dd);
    return pair({a[0], a[1]}, {b[0], b[1]}, on_a, on_b, product);
  }

  const surface::Surface<dim>& surface_;
  GeometricAngles angles_;
  double reach_;
  std::vector<Plane<dim>> planes_;
  std::vector<Point> x_;
};

template <class T>
class GeometricContact : public ::testing::Test {};
TYPED_TEST_SUITE(GeometricContact, Dimensions);

TYPED_TEST(GeometricContact, IsWhatItsDefinitionSays) {
  constexpr int dim = TypeParam::dim;
  for (const BarrierForm& form : {geometric, narrow})
    for (const int order : {1, 2}) {
      ContactScene<dim> scene(MPI_COMM_SELF, order, form);
      for (const double amplitude : {0.0, 0.003, 0.006}) {
        linalg::Vector u = scene.close_together();
        u.add(1, scene.field(amplitude, 3));
        const double expected = Definition<dim>(scene, u, *form.geometric).value();
        EXPECT_GT(expected, 0);
        EXPECT_NEAR(scene.energy(u, 1, 0), expected, 1e-9 * expected);
      }
    }
}

TYPED_TEST(GeometricContact, SidesPointOut) {
  constexpr int dim = TypeParam::dim;
  ContactScene<dim> scene(MPI_COMM_WORLD, 2, geometric);
  const auto& surface = scene.contact.surface();
  double volume = 0;
  for (std::size_t f = 0; f < surface.facet_sides().size(); ++f) {
    const auto x = [&](LocalIndex v) {
      return Eigen::Map<const Eigen::Matrix<double, dim, 1>>(
          surface.vertices()[static_cast<std::size_t>(v)].rest.data());
    };
    if constexpr (dim == 2) {
      const auto& [a, b] = surface.edges()[f];
      volume += 0.5 * surface.facet_sides()[f] * (x(a)[0] * x(b)[1] - x(a)[1] * x(b)[0]);
    } else {
      const auto& [a, b, c] = surface.faces()[f];
      volume += surface.facet_sides()[f] * x(a).dot(x(b).cross(x(c))) / 6;
    }
  }
  double expected = 0;
  for (LocalIndex c = 0; c < scene.mesh.num_owned_cells; ++c) {
    Eigen::Matrix<double, dim, dim> E;
    const auto& cell = scene.mesh.cells[static_cast<std::size_t>(c)];
    for (std::size_t k = 0; k < dim; ++k)
      E.col(static_cast<Eigen::Index>(k)) = scene.mesh.vertices[static_cast<std::size_t>(cell[k + 1])] -
                                            scene.mesh.vertices[static_cast<std::size_t>(cell[0])];
    expected += std::abs(E.determinant()) / (dim == 2 ? 2 : 6);
  }
  EXPECT_NEAR(scene.comm.sum(volume), scene.comm.sum(expected), 1e-12);
}

TYPED_TEST(GeometricContact, DerivativesAgreeWithDifferences) {
  for (const BarrierForm& form : {geometric, narrow})
    for (const int order : {1, 2}) check_barrier_derivatives<TypeParam::dim>(form, order);
}

TYPED_TEST(GeometricContact, DoesNotDependOnTheNumberOfRanks) {
  constexpr int dim = TypeParam::dim;
  for (const int order : {1, 2}) {
    ContactScene<dim> together(MPI_COMM_WORLD, order, geometric), alone(MPI_COMM_SELF, order, geometric);
    const linalg::Vector u = together.close_together(), v = alone.close_together();
    together.contact.start_step(u.local());
    alone.contact.start_step(v.local());
    together.contact.lag_friction(1.0, 1.0);
    alone.contact.lag_friction(1.0, 1.0);
    linalg::Vector u1 = u, v1 = v;
    u1.add(1, together.field(0.001, 3));
    v1.add(1, alone.field(0.001, 3));
    expect_same_contact(together, u1, alone, v1);
    for (const auto projection : {Projection::none, Projection::per_element}) {
      linalg::StencilMatrix A(together.space.layout()), B(alone.space.layout());
      together.assemble_hessian(5, 1, projection, A);
      alone.assemble_hessian(5, 1, projection, B);
      linalg::Vector Ax(together.space.layout()), Bx(alone.space.layout());
      A.multiply(together.field(1, 4), Ax);
      B.multiply(alone.field(1, 4), Bx);
      EXPECT_NEAR(Ax.norm(), Bx.norm(), 1e-11 * Bx.norm());
    }
  }
}

/// A vertex over the middle of a flat part, far from its edges on the scale of the distance, feels a force
/// along the normal alone, and what is near in the rest shape does not push.
TEST(GeometricContact, BodiesAtRestDoNotPushOnThemselves) {
  ContactScene<3> scene(MPI_COMM_WORLD, 1, geometric);
  // dhat is a third of the edges; the plain form has pairs within a body there.
  const linalg::Vector u(scene.space.layout());
  scene.contact.update(u.local());
  for (const auto& pair : scene.contact.pairs()) EXPECT_NE(pair.bodies[0], pair.bodies[1]);
}

} // namespace
} // namespace recoil::potentials
