#pragma once

#include <array>
#include <span>
#include <vector>

#include "recoil/solvers/bdem/problem.hpp"

namespace recoil::solvers {

/// Forces and torques of all bonds of a rank in one pass, those of BondPotential::add_gradient() and, by the
/// rates of their strains since the last pass, BondDampingPotential::add_gradient(). Bonds stand
/// in blocks with one array per constant, so that the compiler turns the arithmetic of a block into vector
/// instructions, and the last block is filled up: each bond goes through the same instructions on all ranks
/// that hold it. Every particle adds up its bonds by their ids, hence sums do not depend on the ranks either.
class BondLoop {
public:
  /// `problem` must outlive it.
  explicit BondLoop(const BondedParticles& problem);

  /// Takes over which bonds of the problem are broken, and how others have corroded.
  void refresh();

  /// f = force [N] and torque in space [N m] on each particle, 6 numbers; those on ghosts lack what the bonds
  /// of other ranks add. `u` has unit quaternions. Bonds that have reached their strength exert nothing, nor
  /// will they until refresh(): both their ends see the same numbers, so that their ranks agree.
  /// @returns these bonds, by id, until the next call.
  std::span<const LocalIndex> forces(std::span<const double> u, std::span<double> f);

  /// Starts sub-steps of length h [s]; the first rates are those of a way from `before`, where the
  /// deformation of the cell is `F`. @pre bonds are damped.
  void begin_damping(std::span<const double> before, const Eigen::Matrix3d& F, double h);
  /// This rank's share of the sum of f (H s)' over the forces f of the last pass on images of particles, to
  /// which bonds lead across faces of the cell [N m].
  Eigen::Matrix3d moments_of_images() const;
  /// What damping has dissipated in the sub-steps since then, this rank's share [J].
  double dissipation() const;

private:
  static constexpr int width = 8;
  using Lanes = std::array<double, width>;

  /// A block of unbroken bonds; stiffness as in potentials::BondStiffness.
  struct Block {
    std::array<LocalIndex, width> a, b;
    alignas(64) Lanes length, stretch, shear, twist, bend;
    std::array<Lanes, 3> direction; ///< d0
  };
  /// When they break: stress terms are forces over S, bending moments times r / I, and twisting ones times r
  /// / 2 I.
  struct Limits {
    alignas(64) Lanes per_area, per_moment, tensile, shear, tan_friction;
    Lanes apart; ///< 1: each term alone against its strength
  };
  /// Strains as of the last pass, and what damping pulled with along them.
  struct Damping {
    alignas(64) Lanes rate; ///< tau / h
    Lanes counted;          ///< 1: on this rank
    Lanes length, pull;
    std::array<Lanes, 3> direction, across; ///< of the centre line, in the axes of the mean rotation
    std::array<Lanes, 3> turn, moment;      ///< half of the turn of the ends, in the same axes
    Lanes dissipated;                       ///< [J]
  };
  struct Load {
    std::array<Lanes, 3> force;              ///< on b
    std::array<Lanes, 3> torque_a, torque_b; ///< in space
    Lanes broken;                            ///< 1: has reached its strength
  };

  template <bool breaks, bool angles, bool damps>
  static void evaluate(const Block& block, const Limits* limits, const Lanes* by_angle,
                       Damping* __restrict damping, bool is_way, const double* u, Load& __restrict load);
  template <bool breaks, bool angles, bool damps>
  void add_all(std::span<const double> u, std::span<double> f);
  void fill();
  void place_images(std::span<const double> u);
  void give_back_images(std::span<double> f) const;
  std::span<const LocalIndex> pass(std::span<const double> u, std::span<double> f);

  const BondedParticles* problem_;
  std::vector<char> broken_before_; ///< as of refresh()
  std::vector<LocalIndex> bonds_;   ///< of the lanes
  std::vector<Block> blocks_;
  std::vector<Limits> limits_;   ///< empty without a strength
  std::vector<Lanes> by_angle_;  ///< 1: ShearEnergy::angle; empty without such a bond
  std::vector<Damping> damping_; ///< empty without damping
  bool has_moved_ = false;       ///< since begin_damping()
  /// An end of a bond across a face of the cell. They follow the particles of the rank, so that blocks see
  /// them as particles of their own.
  struct Image {
    LocalIndex particle;
    Eigen::Vector3d period; ///< H s [m]
    bool is_counted;        ///< on this rank
  };
  std::vector<Image> images_;
  std::vector<double> with_images_, forces_with_images_; ///< u and f; empty without images
  std::vector<LocalIndex> broken_now_;
  bool has_broken_ = false; ///< since the arrays were filled
};

} // namespace recoil::solvers
