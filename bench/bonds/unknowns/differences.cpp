#include "bonds/unknowns/differences.hpp"

#include <algorithm>
#include <cmath>

namespace recoil::bench {

using Eigen::VectorXd;

DerivativeErrors compare_with_differences(Unknowns& unknowns, const Points& x, double weight) {
  constexpr int num_directions = 10;
  const double r = unknowns.radius(0), step = 1e-4;
  const LocalIndex count = unknowns.energy().num_particles();
  const LengthTerms lengths{weight, weight * r * VectorXd::Random(count)};
  unknowns.assemble(x, lengths, newton::Projection::none, nullptr);
  VectorXd g, ahead, behind, Hz;
  unknowns.gradient(x, lengths, g);
  DerivativeErrors errors;
  for (int k = 0; k < num_directions; ++k) {
    VectorXd z = r * VectorXd::Random(g.size());
    for (LocalIndex a = 0; a < count; ++a)
      if (!unknowns.energy().is_free(a)) z.segment(unknowns.size() * a, unknowns.size()).setZero();
    const Points next = unknowns.moved(x, z, step), last = unknowns.moved(x, z, -step);
    const double slope = (unknowns.value(next, lengths) - unknowns.value(last, lengths)) / (2 * step);
    errors.gradient = std::max(errors.gradient, std::abs(slope - g.dot(z)) / std::abs(g.dot(z)));
    unknowns.gradient(next, lengths, ahead);
    unknowns.gradient(last, lengths, behind);
    unknowns.multiply(z, Hz);
    const double curvature = (ahead - behind).dot(z) / (2 * step);
    errors.hessian = std::max(errors.hessian, std::abs(curvature - z.dot(Hz)) / std::abs(z.dot(Hz)));
  }
  return errors;
}

} // namespace recoil::bench
