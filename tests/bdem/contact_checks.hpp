#pragma once

#include <array>
#include <cmath>

#include "bdem/contacts.hpp"
#include "solvers/bdem/particle_manifold.hpp"

/// Derivatives of potentials of contact against differences.
namespace recoil::solvers::testing {

/// A direction that depends on the particles alone.
inline Vector direction(const BondedParticles& problem, int seed, double size) {
  Vector d(problem.particles->tangents);
  const auto values = d.write_local();
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = size * std::sin(12.9898 * double(problem.particles->ids[i / 6]) + 7.1 * double(i % 6) + seed);
  return d;
}

/// Particles at rest positions, each turned in another way.
inline Vector turned(const BondedParticles& problem) {
  Vector u(problem.particles->points);
  const auto values = u.write_local();
  for (LocalIndex k = 0; k < u.layout().num_local(); ++k)
    set_particle(
        values, k,
        {problem.particles->positions[k],
         geometry::quaternion_exponential(Vector3d(0.3, -0.2, 0.1) * double(problem.particles->ids[k]))});
  return u;
}

inline double dot(const Vector& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < b.size(); ++i) sum += a.owned()[i] * b[i];
  return a.layout().comm->sum(sum);
}

struct ContactRecorder final : linalg::StencilSink {
  void add(std::span<const GlobalIndex> nodes, const double* block, int stride) override {
    for (std::size_t a = 0; a < nodes.size(); ++a)
      for (std::size_t b = 0; b < nodes.size(); ++b)
        for (int i = 0; i < 6; ++i)
          for (int j = 0; j < 6; ++j)
            sum += x[6 * std::size_t(nodes[a]) + i] * block[(6 * b + j) * stride + 6 * a + i] *
                   x[6 * std::size_t(nodes[b]) + j];
  }
  std::vector<double> x; ///< of all particles, by global number
  double sum = 0;
};

/// Derivatives of a potential of `pile.problem` at `pile.u` along geodesics: of the value, and of its first
/// derivative.
template <class Pile, class Potential>
void check_derivatives(Pile& pile, Potential& potential, double tolerance) {
  const ParticleManifold manifold(pile.problem.particles->tangents, pile.problem.particles->radii);
  const auto& comm = *pile.u.layout().comm;
  for (int seed = 0; seed < 3; ++seed) {
    const Vector d = direction(pile.problem, seed, 1);
    const double h = 1e-6 * dhat;
    std::array<double, 2> values{}, slopes{};
    for (int side = 0; side < 2; ++side) {
      Vector x(pile.u);
      manifold.move(x, side == 0 ? -h : h, d);
      pile.problem.update(x.local());
      values[side] = comm.sum(potential.value(x.local()));
      std::vector<double> g(d.owned().size(), 0.0);
      potential.add_gradient(x.local(), 1, g);
      slopes[side] = dot(d, g);
    }
    pile.problem.update(pile.u.local());
    std::vector<double> g(d.owned().size(), 0.0), y(g);
    potential.add_gradient(pile.u.local(), 1, g);
    potential.add_hessian_product(pile.u.local(), d.local(), 1, y);
    const double slope = dot(d, g), curvature = dot(d, y);
    EXPECT_NEAR((values[1] - values[0]) / (2 * h), slope, tolerance * std::abs(slope)) << potential.name();
    EXPECT_NEAR((slopes[1] - slopes[0]) / (2 * h), curvature, tolerance * std::abs(curvature));
    ContactRecorder recorder;
    recorder.x.assign(6 * pile.u.layout().num_global, 0.0);
    std::ranges::copy(d.owned(), recorder.x.begin() + 6 * d.layout().offset);
    comm.sum(recorder.x);
    potential.add_hessian(pile.u.local(), 1, newton::Projection::none, {nullptr, &recorder});
    EXPECT_NEAR(comm.sum(recorder.sum), curvature, 1e-10 * std::abs(curvature));
    recorder.sum = 0;
    potential.add_hessian(pile.u.local(), 1, newton::Projection::per_element, {nullptr, &recorder});
    EXPECT_GE(comm.sum(recorder.sum), 0);
  }
}

} // namespace recoil::solvers::testing
