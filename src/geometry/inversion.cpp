#include "recoil/geometry/inversion.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include <Eigen/Geometry>
#include <Eigen/LU>

#include "recoil/base/error.hpp"

namespace recoil::geometry {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

// Bernstein coefficients on [0, 1] of det(F + s dF) by polarisation: coefficient k is the mean of the
// determinants with k columns taken from F + dF and the others from F. Their rounding errors are bounded by
// `error`.
struct Polynomial2 {
  std::array<double, 3> c;
  double error;
};
struct Polynomial3 {
  std::array<double, 4> c;
  double error;
};

Polynomial2 determinant_polynomial(const Eigen::Matrix2d& F, const Eigen::Matrix2d& dF) {
  const Eigen::Matrix2d G = F + dF;
  const auto det = [](const auto& a, const auto& b) { return a[0] * b[1] - a[1] * b[0]; };
  const double scale =
      std::max(F.col(0).norm(), G.col(0).norm()) * std::max(F.col(1).norm(), G.col(1).norm());
  return {{det(F.col(0), F.col(1)), 0.5 * (det(G.col(0), F.col(1)) + det(F.col(0), G.col(1))),
           det(G.col(0), G.col(1))},
          8.0 * eps * scale};
}

Polynomial3 determinant_polynomial(const Eigen::Matrix3d& F, const Eigen::Matrix3d& dF) {
  const Eigen::Matrix3d G = F + dF;
  const Eigen::Vector3d ff = F.col(1).cross(F.col(2)), gg = G.col(1).cross(G.col(2));
  const Eigen::Vector3d fg = F.col(1).cross(G.col(2)) + G.col(1).cross(F.col(2));
  double scale = 1.0;
  for (int i = 0; i < 3; ++i) scale *= std::max(F.col(i).norm(), G.col(i).norm());
  return {{F.col(0).dot(ff), (G.col(0).dot(ff) + F.col(0).dot(fg)) / 3.0,
           (F.col(0).dot(gg) + G.col(0).dot(fg)) / 3.0, G.col(0).dot(gg)},
          16.0 * eps * scale};
}

template <std::size_t n>
bool above(const std::array<double, n>& c, double bound) {
  for (double value : c)
    if (!(value > bound)) return false;
  return true;
}

// De Casteljau at the middle: `c` becomes the left half, the right half is returned.
template <std::size_t n>
std::array<double, n> split(std::array<double, n>& c) {
  std::array<double, n> right;
  right[n - 1] = c[n - 1];
  for (std::size_t level = 1; level < n; ++level) {
    for (std::size_t i = n - 1; i >= level; --i) c[i] = 0.5 * (c[i] + c[i - 1]);
    right[n - 1 - level] = c[n - 1];
  }
  return right;
}

// Left end of the first interval, refined until it is short, on which the polynomial is not proven above
// `error`.
template <std::size_t n>
bool find_first(std::array<double, n> c, double low, double high, double error, double& step) {
  while (!above(c, error)) {
    const double middle = 0.5 * (low + high);
    if (!(c[0] > error) || high - low <= 1e-9 * low || middle <= low || middle >= high) {
      step = low;
      return true;
    }
    const std::array<double, n> right = split(c);
    if (find_first(c, low, middle, error, step)) return true;
    c = right;
    low = middle;
  }
  return false;
}

template <int dim>
double multinomial(int order, const typename SimplexLattice<dim>::MultiIndex& alpha) {
  double value = std::tgamma(order + 1.0);
  for (int part : alpha) value /= std::tgamma(part + 1.0);
  return std::round(value);
}

/// Lattice point of the product of two factors: [first][second].
template <int dim>
std::vector<std::int16_t> product_table(const SimplexLattice<dim>& first, const SimplexLattice<dim>& second,
                                        const SimplexLattice<dim>& product) {
  std::vector<std::int16_t> table;
  for (int i = 0; i < first.size(); ++i)
    for (int j = 0; j < second.size(); ++j) {
      auto alpha = first.multi_index(i);
      for (std::size_t v = 0; v < alpha.size(); ++v) alpha[v] += second.multi_index(j)[v];
      table.push_back(static_cast<std::int16_t>(product.index(alpha)));
    }
  return table;
}

int checked_order(int order) {
  if (order < 1 || order > 4)
    throw InputError("no inversion test for elements of order " + std::to_string(order) +
                     "; orders are 1..4");
  return order;
}

} // namespace

template <int dim>
double inversion_free_step(const Eigen::Matrix<double, dim, dim>& F,
                           const Eigen::Matrix<double, dim, dim>& dF) {
  // The rounding errors of a huge step would swamp det F: such a step is followed in stages that grow with F
  // + t dF.
  const double change = dF.cwiseAbs().maxCoeff();
  double done = 0.0;
  for (int stage = 0; stage < 400; ++stage) {
    const Eigen::Matrix<double, dim, dim> now = F + done * dF;
    const double reach = 16.0 * now.cwiseAbs().maxCoeff();
    const double left = 1.0 - done, length = change * left > reach ? reach / change : left;
    const auto polynomial = determinant_polynomial(now, Eigen::Matrix<double, dim, dim>(length * dF));
    double sum = polynomial.error;
    for (double value : polynomial.c) sum += std::abs(value);
    if (!std::isfinite(sum) || !(polynomial.c[0] > polynomial.error)) return done;
    double step = 1.0;
    if (find_first(polynomial.c, 0.0, 1.0, polynomial.error, step)) return done + length * step;
    if (length == left) return 1.0;
    done += length;
  }
  return done;
}

template double inversion_free_step<2>(const Eigen::Matrix2d&, const Eigen::Matrix2d&);
template double inversion_free_step<3>(const Eigen::Matrix3d&, const Eigen::Matrix3d&);

template <int dim>
JacobianPositivity<dim>::JacobianPositivity(int order)
    : order_(checked_order(order)), gradient_lattice_(order - 1), determinant_lattice_(dim * (order - 1)) {
  const SimplexLattice<dim> nodes(order), products(2 * (order - 1));
  num_nodes_ = nodes.size();
  num_products_ = products.size();

  // Bernstein polynomials at the nodes; the inverse takes node values to Bernstein coefficients.
  Eigen::MatrixXd bernstein(num_nodes_, num_nodes_);
  for (int i = 0; i < num_nodes_; ++i)
    for (int j = 0; j < num_nodes_; ++j) {
      double value = multinomial<dim>(order, nodes.multi_index(j));
      for (std::size_t v = 0; v <= dim; ++v)
        value *= std::pow(nodes.multi_index(i)[v] / double(order), nodes.multi_index(j)[v]);
      bernstein(i, j) = value;
    }
  const Eigen::MatrixXd coefficients = bernstein.inverse();
  for (int g = 0; g < gradient_lattice_.size(); ++g)
    for (std::size_t j = 1; j <= dim; ++j) {
      auto up = gradient_lattice_.multi_index(g), down = up;
      ++up[j];
      ++down[0];
      for (int a = 0; a < num_nodes_; ++a)
        control_.push_back(order * (coefficients(nodes.index(up), a) - coefficients(nodes.index(down), a)));
    }

  for (int g = 0; g < gradient_lattice_.size(); ++g)
    gradient_multinomial_.push_back(multinomial<dim>(order - 1, gradient_lattice_.multi_index(g)));
  for (int d = 0; d < determinant_lattice_.size(); ++d)
    inverse_determinant_multinomial_.push_back(
        1.0 / multinomial<dim>(dim * (order - 1), determinant_lattice_.multi_index(d)));
  first_product_ = product_table(gradient_lattice_, gradient_lattice_, products);
  if constexpr (dim == 3) second_product_ = product_table(products, gradient_lattice_, determinant_lattice_);

  for (int edge = 0; edge < SimplexLattice<dim>::num_entities(1); ++edge) {
    const auto vertices = SimplexLattice<dim>::entity_vertices(1, edge);
    for (int half = 0; half < 2; ++half) {
      const std::size_t keep = vertices[half];
      const std::size_t move = vertices[1 - half];
      std::vector<Average>& averages = halves_.emplace_back();
      for (int level = 1; level <= determinant_lattice_.order(); ++level)
        for (int position = determinant_lattice_.order(); position >= level; --position)
          for (int d = 0; d < determinant_lattice_.size(); ++d) {
            auto alpha = determinant_lattice_.multi_index(d);
            if (alpha[move] != position) continue;
            --alpha[move];
            ++alpha[keep];
            averages.push_back(
                {static_cast<std::int16_t>(d), static_cast<std::int16_t>(determinant_lattice_.index(alpha))});
          }
    }
  }
}

template <int dim>
bool JacobianPositivity<dim>::is_positive(const double* positions, double rest_sign) const {
  using Matrix = Eigen::Matrix<double, dim, dim>;
  const int num_gradients = gradient_lattice_.size();
  const double sign = rest_sign > 0.0 ? 1.0 : -1.0;

  // Control matrices of grad x, from positions relative to the first vertex so that distance from the origin
  // costs nothing.
  Matrix gradients[max_gradients];
  Matrix mean = Matrix::Zero();
  const double* control = control_.data();
  for (int g = 0; g < num_gradients; ++g) {
    for (int j = 0; j < dim; ++j, control += num_nodes_) {
      Eigen::Matrix<double, dim, 1> column = Eigen::Matrix<double, dim, 1>::Zero();
      for (int a = 1; a < num_nodes_; ++a)
        for (int i = 0; i < dim; ++i) column[i] += control[a] * (positions[dim * a + i] - positions[i]);
      gradients[g].col(j) = column;
    }
    mean += gradients[g];
  }
  mean /= num_gradients;

  double scale = 1.0;
  for (int j = 0; j < dim; ++j) {
    double largest = 0.0;
    for (int g = 0; g < num_gradients; ++g) largest = std::max(largest, gradients[g].col(j).norm());
    scale *= largest;
  }
  const double bound = 256.0 * eps * scale;
  if (!std::isfinite(bound) || !mean.allFinite()) return false;

  // grad x is a convex combination of the control matrices: if all are within |mean^-1 G - I| < 1 it cannot
  // be singular.
  const double mean_determinant = sign * mean.determinant();
  if (mean_determinant > bound) {
    const Matrix inverse = mean.inverse();
    double deviation = 0.0;
    for (int g = 0; g < num_gradients; ++g)
      deviation = std::max(deviation, (inverse * gradients[g] - Matrix::Identity()).squaredNorm());
    if (deviation < 0.81) return true;
  }

  Part part;
  determinant_coefficients(gradients, part);
  part.coefficients.head(determinant_lattice_.size()) *= sign;
  part.corners.setIdentity();
  int bisections = 0;
  return bisect(part, bound, 0, bisections);
}

template <int dim>
void JacobianPositivity<dim>::determinant_coefficients(const Eigen::Matrix<double, dim, dim>* gradients,
                                                       Part& part) const {
  // Bernstein coefficients times multinomials multiply like plain polynomials.
  const int num_gradients = gradient_lattice_.size(), size = determinant_lattice_.size();
  auto c = part.coefficients.head(size);
  c.setZero();
  const std::int16_t* target = first_product_.data();
  if constexpr (dim == 2) {
    for (int g = 0; g < num_gradients; ++g)
      for (int h = 0; h < num_gradients; ++h) {
        const auto a = gradients[g].col(0), b = gradients[h].col(1);
        c[*target++] += gradient_multinomial_[g] * gradient_multinomial_[h] * (a[0] * b[1] - a[1] * b[0]);
      }
  } else {
    Eigen::Matrix<double, 3, max_products> cross = Eigen::Matrix<double, 3, max_products>::Zero();
    for (int g = 0; g < num_gradients; ++g) {
      const Eigen::Vector3d first = gradient_multinomial_[g] * gradients[g].col(0);
      for (int h = 0; h < num_gradients; ++h)
        cross.col(*target++) += first.cross(gradient_multinomial_[h] * gradients[h].col(1));
    }
    target = second_product_.data();
    for (int p = 0; p < num_products_; ++p)
      for (int g = 0; g < num_gradients; ++g)
        c[*target++] += gradient_multinomial_[g] * cross.col(p).dot(gradients[g].col(2));
  }
  for (int d = 0; d < size; ++d) c[d] *= inverse_determinant_multinomial_[d];
}

template <int dim>
bool JacobianPositivity<dim>::bisect(const Part& part, double bound, int depth, int& bisections) const {
  if (part.coefficients.head(determinant_lattice_.size()).minCoeff() > bound) return true;
  // The coefficients at the corners, which come first, are values of the determinant itself.
  const int num_corners = determinant_lattice_.order() > 0 ? dim + 1 : 1;
  if (!(part.coefficients.head(num_corners).minCoeff() > bound)) return false;
  if (depth == max_depth || ++bisections > max_bisections) return false;

  int longest = 0;
  double longest_square = -1.0;
  for (int edge = 0; edge < SimplexLattice<dim>::num_entities(1); ++edge) {
    const auto v = SimplexLattice<dim>::entity_vertices(1, edge);
    const double square = (part.corners.col(v[0]) - part.corners.col(v[1])).squaredNorm();
    if (square > longest_square * (1.0 + 1e-9)) {
      longest = edge;
      longest_square = square;
    }
  }
  const auto vertices = SimplexLattice<dim>::entity_vertices(1, longest);
  for (std::size_t half = 0; half < 2; ++half) {
    Part child = part;
    for (const Average& step : halves_[2 * longest + half])
      child.coefficients[step.target] =
          0.5 * (child.coefficients[step.target] + child.coefficients[step.from]);
    child.corners.col(vertices[1 - half]) =
        0.5 * (part.corners.col(vertices[0]) + part.corners.col(vertices[1]));
    if (!bisect(child, bound, depth + 1, bisections)) return false;
  }
  return true;
}

template class JacobianPositivity<2>;
template class JacobianPositivity<3>;

} // namespace recoil::geometry
