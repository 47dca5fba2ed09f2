#include <random>

#include <gtest/gtest.h>

#include "bdem/bodies.hpp"
#include "recoil/linalg/block_matrix.hpp"
#include "solvers/bdem/bond_assembler.hpp"
#include "solvers/bdem/particle_manifold.hpp"

namespace recoil::solvers {
namespace {

using namespace testing;
using potentials::BondPotential;

/// Tangent vector of rough entries, the same on any ranks.
Vector rough(const particles::DistributedParticles& particles, double size, double seed) {
  Vector result(particles.tangents);
  const auto values = result.write_local();
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = size * std::sin(12.9898 * double(particles.ids[i / 6]) + 78.233 * double(i % 6) + seed);
  return result;
}

struct Deformed {
  parallel::Communicator comm{MPI_COMM_WORLD};
  BondedParticles problem = bonded(comm, block(3, 3, 2, 0.01), {2.0, 0.3, 1});
  const particles::DistributedParticles& particles = *problem.particles;
  ParticleManifold manifold{particles.tangents, particles.radii};
  Vector before{particles.points}, u{particles.points};

  Deformed() {
    mix_forms(problem);
    const auto values = before.write_local();
    for (std::size_t k = 0; k < particles.ids.size(); ++k)
      set_particle(values, LocalIndex(k), {particles.positions[k], geometry::identity_quaternion()});
    manifold.move(before, 1, rough(particles, 0.001, 4));
    u.copy_from(before);
    manifold.move(u, 1, rough(particles, 0.002, 1));
    problem.bonds->begin_step({0, 0, 1, before.local()});
  }
  double value(const Vector& x) const { return comm.sum(problem.bonds->value(x.local())); }
  Vector gradient(const Vector& x) const {
    Vector g(particles.tangents);
    problem.bonds->add_gradient(x.local(), 1, g.write_owned());
    return g;
  }
  Vector moved(const Vector& d, double h) const {
    Vector x(u);
    manifold.move(x, h, d);
    return x;
  }
};

/// The gradient of a potential at body.u, and its Hessian and product, against differences of its values
/// along a retraction.
template <class Body>
void check_derivatives(const Body& body, const potentials::Potential<3>& potential) {
  const Vector d = rough(body.particles, 0.01, 7);
  const double h = 1e-4, slope = body.gradient(body.u).dot(d);
  const double difference = (8 * (body.value(body.moved(d, h)) - body.value(body.moved(d, -h))) -
                             (body.value(body.moved(d, 2 * h)) - body.value(body.moved(d, -2 * h)))) /
                            (12 * h);
  EXPECT_NEAR(difference, slope, 1e-8 * std::abs(slope));
  // Along a geodesic the second derivative of the value is that of the Hessian.
  linalg::BlockMatrix matrix(body.particles.tangents, body.particles.graph);
  BondAssembler assembler(body.particles, matrix);
  assembler.begin();
  potential.add_hessian(body.u.local(), 1, potentials::Projection::none, {&assembler, nullptr});
  assembler.end();
  Vector Hd(d), product(d);
  matrix.multiply(d, Hd);
  product.fill(0);
  potential.add_hessian_product(body.u.local(), d.local(), 1, product.write_owned());
  product.add(-1, Hd);
  EXPECT_LE(product.norm(), 1e-14 * Hd.norm());
  const double k = 3e-3, curvature = (body.value(body.moved(d, k)) - 2 * body.value(body.u) +
                                      body.value(body.moved(d, -k))) /
                                     (k * k);
  EXPECT_NEAR(curvature, Hd.dot(d), 1e-5 * std::abs(curvature));
}

TEST(BondPotential, DerivativesAgreeWithDifferencesAlongRetractions) {
  for (const auto at : {BondPotential::At::end, BondPotential::At::middle}) {
    Deformed body;
    body.problem.bonds->take_at(at);
    check_derivatives(body, *body.problem.bonds);
  }
}

TEST(BondPotential, TransportedProductIsTheDerivativeOfTheTransportedGradient) {
  Deformed body;
  body.problem.bonds->take_at(BondPotential::At::middle);
  const Vector d = rough(body.particles, 0.01, 7);
  const auto transported = [&](double h) {
    Vector g(body.particles.tangents);
    body.problem.bonds->add_transported_gradient(body.moved(d, h).local(), 1, g.write_owned());
    return g;
  };
  const double h = 1e-4;
  Vector difference = transported(h), product(d);
  difference.add(-1, transported(-h));
  difference.scale(1 / (2 * h));
  product.fill(0);
  body.problem.bonds->add_transported_product(body.u.local(), d.local(), 1, product.write_owned());
  const double size = product.norm();
  product.add(-1, difference);
  EXPECT_LE(product.norm(), 1e-7 * size);
}

/// That `tangent` is the derivative of changed(h) at 0.
template <class Changed>
void expect_derivative(const Changed& changed, const Vector& tangent) {
  Vector difference = changed(1e-4);
  difference.add(-1, changed(-1e-4));
  difference.scale(1 / 2e-4);
  difference.add(-1, tangent);
  EXPECT_LE(difference.norm(), 1e-7 * tangent.norm());
}

TEST(BondPotential, ProductsByModuliAreTransposesAndDerivatives) {
  for (const auto at : {BondPotential::At::end, BondPotential::At::middle}) {
    Deformed body;
    body.problem.bonds->take_at(at);
    const BondPotential& bonds = *body.problem.bonds;
    const parameters::PhysicalArrays<3>::Sizes sizes{{parameters::Place::bond, body.particles.bonds.size()}};
    parameters::PhysicalGradient<3> gradient(sizes, bonds.quantities());
    parameters::PhysicalDirection<3> direction(sizes, bonds.quantities());
    for (const char* name : {"E", "nu"})
      for (std::size_t k = 0; k < body.particles.bonds.size(); ++k)
        direction.numbers(name)[k] = std::cos(3.7 * double(body.particles.bonds[k].id) + name[0]);
    const Vector p = rough(body.particles, 1, 9);
    bonds.add_parameter_products(body.u.local(), p.local(), 2, gradient);
    double along = 0;
    for (const char* name : {"E", "nu"})
      for (std::size_t k = 0; k < body.particles.bonds.size(); ++k)
        along += gradient.numbers(name)[k] * direction.numbers(name)[k];
    Vector tangent(body.particles.tangents);
    bonds.add_parameter_tangent(body.u.local(), direction, 2, tangent.write_owned());
    EXPECT_NEAR(body.comm.sum(along), tangent.dot(p), 1e-13 * tangent.norm() * p.norm());

    const auto changed = [&](double h) {
      potentials::BondMaterial material = bonds.material();
      for (std::size_t k = 0; k < body.particles.bonds.size(); ++k) {
        material.young_modulus[k] += h * direction.numbers("E")[k];
        material.poisson_ratio[k] += h * direction.numbers("nu")[k];
      }
      BondPotential other(body.particles, material);
      other.take_at(at);
      other.begin_step({0, 0, 1, body.before.local()});
      Vector g(body.particles.tangents);
      other.add_gradient(body.u.local(), 2, g.write_owned());
      return g;
    };
    expect_derivative(changed, tangent);
  }
}

/// The damping of the same body in a step from `before`.
struct Damped : Deformed {
  Damped() {
    potentials::BondMaterial material = problem.bonds->material();
    material.damping_time.emplace();
    for (const auto& bond : particles.bonds)
      material.damping_time->push_back(0.3 + 0.1 * std::sin(double(bond.id)));
    problem.set_bonds(std::make_unique<BondPotential>(particles, std::move(material)));
    at_start(before);
  }
  void at_start(const Vector& x) { problem.bond_damping->begin_step({0, 0.02, 1, x.local()}); }
  double value(const Vector& x) const { return comm.sum(problem.bond_damping->value(x.local())); }
  Vector gradient(const Vector& x) const {
    Vector g(particles.tangents);
    problem.bond_damping->add_gradient(x.local(), 1, g.write_owned());
    return g;
  }
};

TEST(BondDampingPotential, DerivativesAgreeWithDifferences) {
  Damped body;
  const potentials::BondDampingPotential& damping = *body.problem.bond_damping;
  check_derivatives(body, damping);

  // By the start of the step.
  const double h = 1e-4;
  const Vector d = rough(body.particles, 0.01, 7), p = rough(body.particles, 1, 9);
  Vector tangent(body.particles.tangents), transposed(body.particles.tangents);
  damping.add_previous_tangent(body.u.local(), d.local(), 2, tangent.write_owned());
  damping.add_previous_product(body.u.local(), p.local(), 2, transposed.write_owned());
  EXPECT_NEAR(tangent.dot(p), transposed.dot(d), 1e-12 * tangent.norm() * p.norm());
  const auto from = [&](double share) {
    Vector x(body.before);
    body.manifold.move(x, share, d);
    body.at_start(x);
    return body.gradient(body.u);
  };
  Vector by_start = from(h);
  by_start.add(-1, from(-h));
  by_start.scale(2 / (2 * h));
  by_start.add(-1, tangent);
  EXPECT_LE(by_start.norm(), 1e-6 * tangent.norm());
}

TEST(BondDampingPotential, ProductsByItsConstantsAreTransposesAndDerivatives) {
  Damped body;
  const potentials::BondDampingPotential& damping = *body.problem.bond_damping;
  const parameters::PhysicalArrays<3>::Sizes sizes{{parameters::Place::bond, body.particles.bonds.size()}};
  std::vector<parameters::Quantity> quantities = damping.quantities();
  quantities.push_back(potentials::bond_integrity);
  parameters::PhysicalGradient<3> gradient(sizes, quantities);
  parameters::PhysicalDirection<3> direction(sizes, quantities);
  for (std::size_t k = 0; k < body.particles.bonds.size(); ++k)
    body.problem.bonds->set_integrity(LocalIndex(k), 0.4 + 0.05 * double(body.particles.bonds[k].id % 9),
                                      false);
  const auto names = {"E", "nu", "damping_time", "integrity"};
  for (const char* name : names)
    for (std::size_t k = 0; k < body.particles.bonds.size(); ++k)
      direction.numbers(name)[k] = 0.1 * std::cos(3.7 * double(body.particles.bonds[k].id) + name[0]);
  const Vector p = rough(body.particles, 1, 9);
  damping.add_parameter_products(body.u.local(), p.local(), 2, gradient);
  double along = 0;
  for (const char* name : names)
    for (std::size_t k = 0; k < body.particles.bonds.size(); ++k)
      if (body.particles.owns(body.particles.bonds[k]))
        along += gradient.numbers(name)[k] * direction.numbers(name)[k];
  Vector tangent(body.particles.tangents);
  damping.add_parameter_tangent(body.u.local(), direction, 2, tangent.write_owned());
  EXPECT_NEAR(body.comm.sum(along), tangent.dot(p), 1e-13 * tangent.norm() * p.norm());
  const auto changed = [&](double h) {
    potentials::BondMaterial material = body.problem.bonds->material();
    for (std::size_t k = 0; k < body.particles.bonds.size(); ++k) {
      material.young_modulus[k] += h * direction.numbers("E")[k];
      material.poisson_ratio[k] += h * direction.numbers("nu")[k];
      (*material.damping_time)[k] += h * direction.numbers("damping_time")[k];
    }
    BondPotential bonds(body.particles, material);
    for (std::size_t k = 0; k < body.particles.bonds.size(); ++k)
      bonds.set_integrity(
          LocalIndex(k), body.problem.bonds->integrity(LocalIndex(k)) + h * direction.numbers("integrity")[k],
          false);
    potentials::BondDampingPotential other(bonds);
    other.begin_step({0, 0.02, 1, body.before.local()});
    Vector g(body.particles.tangents);
    other.add_gradient(body.u.local(), 2, g.write_owned());
    return g;
  };
  expect_derivative(changed, tangent);
}

TEST(BondDampingPotential, DoesNotSeeRigidMotions) {
  Damped body;
  const double moved = body.value(body.u), force = body.gradient(body.u).norm();
  for (int motion = 0; motion < 5; ++motion) {
    const Vector3d turn = 3 * Vector3d(std::sin(motion), std::cos(2 * motion), std::sin(3 * motion + 1));
    const geometry::Quaternion q = geometry::quaternion_exponential(turn);
    Vector turned(body.before);
    const auto values = turned.write_local();
    for (LocalIndex k = 0; k < turned.layout().num_local(); ++k) {
      const auto at = particle_at(body.before.local(), k);
      set_particle(values, k,
                   {geometry::rotation_matrix(q) * at.p + Vector3d(0.1 * motion, -0.05, 0.02),
                    geometry::product(q, at.q)});
    }
    EXPECT_LT(body.value(turned), 1e-24 * moved) << motion;
    EXPECT_LT(body.gradient(turned).norm(), 1e-12 * force) << motion;
  }
}

/// 50 particles of different sizes at rough places, bonded to those nearby.
particles::ParticleSet random_cluster() {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> uniform(-1, 1);
  particles::ParticleSet set;
  set.body_names = {"cluster"};
  for (int i = 0; i < 50; ++i) {
    const double r = 0.008 + 0.002 * uniform(random);
    set.positions.push_back(0.02 * Vector3d(i % 5, i / 5 % 5, i / 25) +
                            0.003 * Vector3d(uniform(random), uniform(random), uniform(random)));
    set.radii.push_back(r);
    set.volumes.push_back(4 * pi / 3 * r * r * r);
    set.body.push_back(0);
  }
  for (std::int64_t i = 0; i < 50; ++i)
    for (std::int64_t j = i + 1; j < 50; ++j)
      if ((set.positions[i] - set.positions[j]).norm() < 0.026) set.bonds.push_back({i, j});
  return set;
}

TEST(BondPotential, OfAClusterIsTheSameAfterRigidMotionsAndItsForcesBalance) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  BondedParticles problem = bonded(comm, random_cluster(), {2.0, 0.3, 1});
  ASSERT_GT(problem.particles->num_bonds_global, 100);
  const ParticleManifold manifold(problem.particles->tangents, problem.particles->radii);
  Vector u(problem.particles->points);
  const auto rest = u.write_local();
  for (LocalIndex k = 0; k < u.layout().num_local(); ++k)
    set_particle(rest, k, {problem.particles->positions[k], geometry::identity_quaternion()});
  manifold.move(u, 1, rough(*problem.particles, 0.002, 1));
  const double energy = comm.sum(problem.bonds->stored_energy(u.local()));

  std::vector<double> g(6 * std::size_t(u.layout().num_owned), 0.0);
  problem.bonds->add_gradient(u.local(), 1, g);
  std::array<double, 8> sums{}; // force, moment about the origin, their sizes
  for (LocalIndex k = 0; k < u.layout().num_owned; ++k) {
    const auto at = particle_at(u.local(), k);
    const std::span<const double> values(g);
    const Vector3d f = shift_of(values, k),
                   own = geometry::rotation_matrix(at.q) * turn_of(values, k) * problem.particles->radii[k],
                   m = at.p.cross(f) + own;
    for (int i = 0; i < 3; ++i) {
      sums[i] += f[i];
      sums[3 + i] += m[i];
    }
    sums[6] += f.norm();
    sums[7] += at.p.norm() * f.norm() + own.norm();
  }
  comm.sum(sums);
  for (int i = 0; i < 3; ++i) {
    EXPECT_LT(std::abs(sums[i]), 1e-12 * sums[6]);
    EXPECT_LT(std::abs(sums[3 + i]), 1e-12 * sums[7]);
  }

  for (int motion = 0; motion < 10; ++motion) {
    const Vector3d turn = 3 * Vector3d(std::sin(motion), std::cos(2 * motion), std::sin(3 * motion + 1)),
                   shift(0.1 * motion, -0.05, 0.02 * motion);
    const geometry::Quaternion q = geometry::quaternion_exponential(turn);
    Vector moved(u);
    const auto values = moved.write_local();
    for (LocalIndex k = 0; k < u.layout().num_local(); ++k) {
      const auto at = particle_at(u.local(), k);
      set_particle(values, k, {geometry::rotation_matrix(q) * at.p + shift, geometry::product(q, at.q)});
    }
    EXPECT_NEAR(comm.sum(problem.bonds->stored_energy(moved.local())), energy, 1e-12 * energy) << motion;
  }
}

TEST(ParticleManifold, DifferenceIsTheInverseOfRetraction) {
  Deformed body;
  Vector d = rough(body.particles, 0.01, 2), way(d);
  const Vector x = body.moved(d, 1);
  body.manifold.difference(body.u, x, way);
  way.add(-1, d);
  EXPECT_LE(way.norm(), 1e-13 * d.norm());
}

} // namespace
} // namespace recoil::solvers
