#include "recoil/fem/reference/quadrature.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>

#include "recoil/base/error.hpp"
#include "recoil/linalg/dense.hpp"

namespace recoil::fem {

namespace {

// One orbit of a symmetric rule: the points with all distinct permutations of the barycentric coordinates.
template <int dim>
struct Orbit {
  double weight;
  std::array<double, dim + 1> lambda;
};
using Triangle = Orbit<2>;
using Tetrahedron = Orbit<3>;

constexpr Triangle centroid2(double w) { return {w, {1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0}}; }
constexpr Triangle s21(double w, double a) { return {w, {a, a, 1.0 - 2.0 * a}}; }
constexpr Triangle s111(double w, double a, double b) { return {w, {a, b, 1.0 - a - b}}; }
constexpr Tetrahedron centroid3(double w) { return {w, {0.25, 0.25, 0.25, 0.25}}; }
constexpr Tetrahedron s31(double w, double a) { return {w, {a, a, a, 1.0 - 3.0 * a}}; }
constexpr Tetrahedron s22(double w, double a) { return {w, {a, a, 0.5 - a, 0.5 - a}}; }
constexpr Tetrahedron s211(double w, double a, double b) { return {w, {a, a, b, 1.0 - 2.0 * a - b}}; }

// The moment equations of all symmetric polynomials solved by Newton's method in extended precision,
// residuals below 1e-18.
constexpr Triangle triangle1[] = {centroid2(0.5)};
constexpr Triangle triangle2[] = {s21(1.0 / 6.0, 1.0 / 6.0)};
constexpr Triangle triangle4[] = {s21(0.05497587182766093384, 0.09157621350977074348),
                                  s21(0.11169079483900573282, 0.44594849091596488631)};
constexpr Triangle triangle5[] = {centroid2(0.1125), s21(0.06296959027241357628, 0.10128650732345633878),
                                  s21(0.06619707639425309047, 0.47014206410511508971)};
constexpr Triangle triangle6[] = {
    s21(0.05839313786318968287, 0.24928674517091042149), s21(0.02542245318510340836, 0.06308901449150222818),
    s111(0.04142553780918678772, 0.63650249912139864744, 0.05314504984481694749)};
constexpr Triangle triangle7[] = {
    s21(0.02146200107417907057, 0.47129838786711960417), s21(0.06415278026376569915, 0.24112530139637666046),
    s21(0.02293467366762473059, 0.06090162997706766492),
    s111(0.02905860583054858317, 0.04562086694670232418, 0.67665560663925553914)};
constexpr Triangle triangle8[] = {
    centroid2(0.07215780383889358409), s21(0.01622924881159904014, 0.05054722831703097543),
    s21(0.04754581713364231245, 0.45929258829272315602), s21(0.05160868526735912516, 0.17056930775176020653),
    s111(0.01361515708721749710, 0.00839477740995760519, 0.72849239295540428141)};
constexpr Triangle triangle9[] = {
    centroid2(0.04856789814139941701),
    s21(0.03982386946360512648, 0.18820353561903273046),
    s21(0.03891377050238713972, 0.43708959149293663752),
    s21(0.01566735011356953514, 0.48968251919873762796),
    s21(0.01278883782934901559, 0.04472951339445270979),
    s111(0.02164176968864468869, 0.74119859878449802085, 0.03683841205473628375)};
constexpr Triangle triangle10[] = {
    centroid2(0.04087166457314298349),
    s21(0.02297898180237236396, 0.14216110105656438389),
    s21(0.00667648440657478321, 0.03205537321694351311),
    s111(0.03195245319821202290, 0.32181299528883542055, 0.14813288578382055016),
    s111(0.01709232408147971421, 0.36914678182781098748, 0.60123332868345924490),
    s111(0.01264887885364419205, 0.02836766533993843878, 0.80793060092287906457)};

constexpr Tetrahedron tetrahedron1[] = {centroid3(1.0 / 6.0)};
constexpr Tetrahedron tetrahedron2[] = {s31(1.0 / 24.0, 0.13819660112501051518)};
constexpr Tetrahedron tetrahedron3[] = {s31(0.01439935665261977593, 0.09261167306701247455),
                                        s31(0.02726731001404689074, 0.32758781593026221979)};
constexpr Tetrahedron tetrahedron5[] = {s31(0.01878132095300264178, 0.31088591926330060976),
                                        s31(0.01224884051939365825, 0.09273525031089122637),
                                        s22(0.00709100346284691109, 0.04550370412564964962)};
constexpr Tetrahedron tetrahedron6[] = {
    s31(0.00922619692394245374, 0.32233789014227551018), s31(0.00665379170969458193, 0.21460287125915202978),
    s31(0.00167953517588677382, 0.04067395853461135311),
    s211(0.00803571428571428573, 0.06366100187501752533, 0.26967233145831580801)};
constexpr Tetrahedron tetrahedron7[] = {
    centroid3(0.01591421491068847482), s31(0.00705493020166117151, 0.31570114977820279943),
    s22(0.00531615463880959665, 0.05048982259839636874),
    s211(0.00620118845472243689, 0.18883383102600104781, 0.04716070036099788109),
    s211(0.00135179513831722360, 0.02126547254148324611, 0.14663881381848494680)};
constexpr Tetrahedron tetrahedron8[] = {
    s31(0.00490108177381787324, 0.11392198889463483123),
    s31(0.00722939719120753716, 0.31383983824093395810),
    s31(0.00142419789837073854, 0.04440838980638064904),
    s31(0.00803620968471170961, 0.18663417676347338703),
    s22(0.00613989534763213539, 0.06539250248760856202),
    s211(0.00242927024649592333, 0.20390911948918006799, 0.58686555444866268875),
    s211(0.00119270878587427835, 0.02125986417707884911, 0.71491469667379464351)};

std::span<const Triangle> symmetric_rule(int degree, const Triangle&) {
  static constexpr std::array<std::span<const Triangle>, 11> rules{triangle1, triangle1, triangle2, triangle4,
                                                                   triangle4, triangle5, triangle6, triangle7,
                                                                   triangle8, triangle9, triangle10};
  return degree < std::ssize(rules) ? rules[degree] : std::span<const Triangle>();
}

std::span<const Tetrahedron> symmetric_rule(int degree, const Tetrahedron&) {
  static constexpr std::array<std::span<const Tetrahedron>, 9> rules{
      tetrahedron1, tetrahedron1, tetrahedron2, tetrahedron3, tetrahedron5,
      tetrahedron5, tetrahedron6, tetrahedron7, tetrahedron8};
  return degree < std::ssize(rules) ? rules[degree] : std::span<const Tetrahedron>();
}

template <int dim>
void add_orbit(const Orbit<dim>& orbit, QuadratureRule<dim>& rule) {
  std::array<double, dim + 1> lambda = orbit.lambda;
  std::sort(lambda.begin(), lambda.end());
  do {
    Eigen::Matrix<double, dim, 1> point;
    for (int i = 0; i < dim; ++i) point[i] = lambda[i + 1];
    rule.points.push_back(point);
    rule.weights.push_back(orbit.weight);
  } while (std::next_permutation(lambda.begin(), lambda.end()));
}

// Gauss-Jacobi rule of n points on [0, 1] with the weight function (1 - s)^a [Golub, Welsch 1969].
struct LineRule {
  Eigen::VectorXd points, weights;
};

LineRule gauss_jacobi(int n, int a) {
  Eigen::MatrixXd jacobi = Eigen::MatrixXd::Zero(n, n);
  for (int k = 0; k < n; ++k) {
    const double s = 2.0 * k + a;
    jacobi(k, k) = k == 0 ? -a / (a + 2.0) : -a * a / (s * (s + 2.0));
    if (k > 0)
      jacobi(k, k - 1) = jacobi(k - 1, k) =
          std::sqrt(4.0 * k * k * (k + a) * (k + a) / (s * s * (s + 1.0) * (s - 1.0)));
  }
  const linalg::SymmetricEigen eigen = linalg::symmetric_eigen(jacobi);
  return {(0.5 + 0.5 * eigen.values.array()).matrix(),
          eigen.vectors.row(0).transpose().array().square().matrix() / (a + 1.0)};
}

template <int dim>
void add_conical_product(int degree, QuadratureRule<dim>& rule) {
  const int n = degree / 2 + 1;
  const LineRule last = gauss_jacobi(n, 0);
  if constexpr (dim == 1) {
    for (int i = 0; i < n; ++i) {
      rule.points.emplace_back(last.points[i]);
      rule.weights.push_back(last.weights[i]);
    }
  } else if constexpr (dim == 2) {
    const LineRule first = gauss_jacobi(n, 1);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        rule.points.emplace_back(first.points[i], last.points[j] * (1.0 - first.points[i]));
        rule.weights.push_back(first.weights[i] * last.weights[j]);
      }
  } else {
    const LineRule first = gauss_jacobi(n, 2), second = gauss_jacobi(n, 1);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        for (int k = 0; k < n; ++k) {
          const double rest = 1.0 - first.points[i], rest2 = rest * (1.0 - second.points[j]);
          rule.points.emplace_back(first.points[i], second.points[j] * rest, last.points[k] * rest2);
          rule.weights.push_back(first.weights[i] * second.weights[j] * last.weights[k]);
        }
  }
}

} // namespace

template <int dim>
QuadratureRule<dim> simplex_quadrature(int degree) {
  if (degree < 0 || degree > 30)
    throw InputError("no quadrature of degree " + std::to_string(degree) + "; degrees are 0..30");
  QuadratureRule<dim> rule;
  rule.degree = degree;
  if constexpr (dim > 1)
    for (const Orbit<dim>& orbit : symmetric_rule(degree, Orbit<dim>())) add_orbit(orbit, rule);
  if (rule.points.empty()) add_conical_product(degree, rule);
  return rule;
}

template QuadratureRule<1> simplex_quadrature<1>(int);
template QuadratureRule<2> simplex_quadrature<2>(int);
template QuadratureRule<3> simplex_quadrature<3>(int);

} // namespace recoil::fem
