#pragma once

#include <algorithm>
#include <memory>
#include <numbers>

#include "bonds/unknowns/step_energy.hpp"
#include "recoil/newton/objective.hpp"
#include "solvers/bdem/particle_manifold.hpp"

namespace recoil::bench {

/// sum_a lambda c + 1/2 weight c^2 with the constraint c = r (|q|^2 - 1) [m] of the particles that are free:
/// what penalties and multipliers add to the energy.
struct LengthTerms {
  double weight = 0;           ///< [kg]
  Eigen::VectorXd multipliers; ///< lambda [kg m]; empty for none
};

/// The energy of a step in unknowns of one kind [m], `size` a particle. Gradients and matrices are zero and
/// the identity's for particles that are held. The functions with `lengths` are of the energy with them.
class Unknowns {
public:
  virtual ~Unknowns() = default;
  virtual int size() const = 0;
  virtual void begin_step(const Points& from) = 0;
  virtual double value(const Points& x, const LengthTerms& lengths) const = 0;
  virtual void gradient(const Points& x, const LengthTerms& lengths, Eigen::VectorXd& g) const = 0;
  /// The Hessian, exact or projected bond by bond, and the inverses of its diagonal blocks with `normals` (of
  /// the constraints) added where they are given; false if one is not positive definite.
  virtual bool assemble(const Points& x, const LengthTerms& lengths, newton::Projection projection,
                        const Eigen::VectorXd* normals) = 0;
  virtual void multiply(const Eigen::VectorXd& y, Eigen::VectorXd& result) const = 0;
  virtual void precondition(const Eigen::VectorXd& r, Eigen::VectorXd& z) const = 0;
  virtual Points moved(const Points& x, const Eigen::VectorXd& d, double s) const = 0;
  virtual const StepEnergy& energy() const = 0;

  /// r (|q|^2 - 1) of each particle, zero for held ones.
  Eigen::VectorXd constraints(const Points& x) const {
    Eigen::VectorXd c = Eigen::VectorXd::Zero(energy().num_particles());
    for (LocalIndex k = 0; k < c.size(); ++k)
      if (energy().is_free(k)) c[k] = radius(k) * (solvers::particle_at(x, k).q.squaredNorm() - 1);
    return c;
  }
  /// m or I / r^2 of each unknown [kg].
  Eigen::VectorXd mass() const {
    Eigen::VectorXd m(size() * energy().num_particles());
    for (LocalIndex k = 0; k < energy().num_particles(); ++k) {
      m.segment(size() * k, size()).setConstant(0.4 * energy().problem().mass[k]);
      m.segment<3>(size() * k).setConstant(energy().problem().mass[k]);
    }
    return m;
  }
  /// The share of d within which particles go at most half of their radius and turn at most 90 degrees, as in
  /// recoil's solver.
  double max_step(const Eigen::VectorXd& d) const {
    double largest = 1;
    for (LocalIndex k = 0; k < energy().num_particles(); ++k)
      largest = std::max({largest, d.segment<3>(size() * k).norm() / (0.5 * radius(k)),
                          d.segment(size() * k + 3, size() - 3).norm() / (std::numbers::pi / 2 * radius(k))});
    return 1 / largest;
  }
  double radius(LocalIndex particle) const { return energy().problem().particles->radii[particle]; }
};

/// See coordinates.hpp.
enum class Coordinates { sphere, rotation_vectors, rotation_vectors_of_step, quaternions };
/// `energy` must outlive them.
std::unique_ptr<Unknowns> make_unknowns(Coordinates coordinates, const StepEnergy& energy);

} // namespace recoil::bench
