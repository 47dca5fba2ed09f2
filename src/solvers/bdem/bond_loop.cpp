#include "solvers/bdem/bond_loop.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace recoil::solvers {

BondLoop::BondLoop(const BondedParticles& problem) : problem_(&problem) {
  const auto flags = problem.bonds->broken();
  broken_before_.assign(flags.begin(), flags.end());
  fill();
}

void BondLoop::refresh() {
  const auto flags = problem_->bonds->broken();
  if (!has_broken_ && std::ranges::equal(flags, broken_before_)) return;
  broken_before_.assign(flags.begin(), flags.end());
  fill();
}

void BondLoop::fill() {
  has_broken_ = false;
  const auto& all = problem_->particles->bonds;
  const potentials::BondPotential& potential = *problem_->bonds;
  bonds_.clear();
  for (LocalIndex bond = 0; bond < std::ssize(all); ++bond)
    if (broken_before_[bond] == 0) bonds_.push_back(bond);
  blocks_.assign((bonds_.size() + width - 1) / width, {});
  limits_.assign(problem_->strength ? blocks_.size() : 0, {});
  const bool angles = std::ranges::any_of(bonds_, [&](LocalIndex bond) {
    return potential.stiffness(bond).shear_energy == potentials::ShearEnergy::angle;
  });
  by_angle_.assign(angles ? blocks_.size() : 0, {});
  for (std::size_t k = 0; k < width * blocks_.size(); ++k) {
    // What fills up the last block repeats a bond without its stiffness.
    const bool filling = k >= bonds_.size();
    const LocalIndex bond = filling ? bonds_.back() : bonds_[k];
    const std::size_t lane = k % width;
    const potentials::BondShape& shape = potential.shape(bond);
    const potentials::BondStiffness stiffness =
        filling ? potentials::BondStiffness{} : potential.stiffness(bond);
    Block& block = blocks_[k / width];
    block.a[lane] = all[bond].a;
    block.b[lane] = all[bond].b;
    block.length[lane] = shape.length;
    block.stretch[lane] = stiffness.stretch;
    block.shear[lane] = stiffness.shear;
    block.twist[lane] = stiffness.twist;
    block.bend[lane] = stiffness.bend;
    for (int c = 0; c < 3; ++c) block.direction[c][lane] = shape.frame(0, c);
    if (angles) by_angle_[k / width][lane] = stiffness.shear_energy == potentials::ShearEnergy::angle ? 1 : 0;
    if (!problem_->strength) continue;
    const BondStrength& strength = *problem_->strength;
    const double r = potential.material().section_radius[bond], area = std::numbers::pi * r * r;
    Limits& limits = limits_[k / width];
    limits.per_area[lane] = 1 / area;
    limits.per_moment[lane] = potential.form(bond).stress_moments() * 4 / (area * r);
    constexpr double never = std::numeric_limits<double>::infinity();
    limits.tensile[lane] = filling ? never : strength.tensile[bond];
    limits.shear[lane] = filling ? never : strength.shear[bond];
    limits.tan_friction[lane] = strength.tan_friction[bond];
    limits.apart[lane] = strength.separate_terms[bond] != 0 ? 1 : 0;
  }
}

/// With Y the vector part of s q_a q_b* and c = |q_a . q_b| the rotation of a relative to b, about Y in space
/// as in the axes of the mean rotation, and D, n, t as in potentials::bond_energy(): K_s D x n turns the mean
/// rotation, of which each end follows (1 +- Y x / (1 + c)) / 2; t = 2 R0 Y makes opposite torques w - Y (Y .
/// w) / (1 + c), w = R0' K t, at the ends. By the angle K_s is larger by theta / sin theta.
template <bool breaks, bool angles>
void BondLoop::evaluate(const Block& block, const Limits* limits, const Lanes* by_angle, const double* u,
                        Load& __restrict load) {
  std::array<Lanes, 3> line;
  std::array<Lanes, 4> q_a, q_b;
  for (int l = 0; l < width; ++l) {
    const double *a = u + 7 * std::size_t(block.a[l]), *b = u + 7 * std::size_t(block.b[l]);
    for (int c = 0; c < 3; ++c) line[c][l] = b[c] - a[c];
    for (int c = 0; c < 4; ++c) {
      q_a[c][l] = a[3 + c];
      q_b[c][l] = b[3 + c];
    }
  }
  for (int l = 0; l < width; ++l) {
    const double x = line[0][l], y = line[1][l], z = line[2][l];
    const double length = std::sqrt(x * x + y * y + z * z);
    const double a0 = q_a[0][l], a1 = q_a[1][l], a2 = q_a[2][l], a3 = q_a[3][l];
    const double dot = a0 * q_b[0][l] + a1 * q_b[1][l] + a2 * q_b[2][l] + a3 * q_b[3][l];
    const double s = dot < 0 ? -1.0 : 1.0;
    const double b0 = s * q_b[0][l], b1 = s * q_b[1][l], b2 = s * q_b[2][l], b3 = s * q_b[3][l];
    const double half = 1 / (1 + s * dot);
    const double per_length = 1 / length;
    const double n0 = per_length * x, n1 = per_length * y, n2 = per_length * z;
    const double Y0 = b3 * a0 - a3 * b0 + (b1 * a2 - b2 * a1), Y1 = b3 * a1 - a3 * b1 + (b2 * a0 - b0 * a2),
                 Y2 = b3 * a2 - a3 * b2 + (b0 * a1 - b1 * a0);
    // D by the sum m of the quaternions, m . m = 2 / half.
    const double m0 = a0 + b0, m1 = a1 + b1, m2 = a2 + b2, m3 = a3 + b3;
    const double d0 = block.direction[0][l], d1 = block.direction[1][l], d2 = block.direction[2][l];
    const double e0 = m1 * d2 - m2 * d1, e1 = m2 * d0 - m0 * d2, e2 = m0 * d1 - m1 * d0;
    const double D0 = d0 + half * (m3 * e0 + (m1 * e2 - m2 * e1)),
                 D1 = d1 + half * (m3 * e1 + (m2 * e0 - m0 * e2)),
                 D2 = d2 + half * (m3 * e2 + (m0 * e1 - m1 * e0));

    const double twist = 2 * block.twist[l], bend = 2 * block.bend[l];
    const double Y_D = Y0 * D0 + Y1 * D1 + Y2 * D2, Y_Y = Y0 * Y0 + Y1 * Y1 + Y2 * Y2;
    const double along_D = (twist - bend) * Y_D, along_Y = bend - half * (bend * Y_Y + along_D * Y_D);
    const double M0 = along_Y * Y0 + along_D * D0, M1 = along_Y * Y1 + along_D * D1,
                 M2 = along_Y * Y2 + along_D * D2;
    double k = block.shear[l];
    if constexpr (angles) {
      const double c0 = n0 - D0, c1 = n1 - D1, c2 = n2 - D2;
      if ((*by_angle)[l] > 0) k *= potentials::angle_terms(c0 * c0 + c1 * c1 + c2 * c2).slope;
    }
    const double t0 = k * (D1 * n2 - D2 * n1), t1 = k * (D2 * n0 - D0 * n2), t2 = k * (D0 * n1 - D1 * n0);

    const double stretch = block.stretch[l] * (length - block.length[l]);
    const double across = k * per_length;
    const double along_n = -stretch - across * (D0 * n0 + D1 * n1 + D2 * n2);
    double acts = 1;
    if constexpr (breaks) {
      const double per_area = limits->per_area[l], per_moment = limits->per_moment[l];
      const double normal = per_area * stretch,
                   shear = per_area * per_length * std::sqrt(t0 * t0 + t1 * t1 + t2 * t2),
                   twisting = per_moment / 2 * std::abs(twist * Y_D);
      const double c0 = Y0 - Y_D * D0, c1 = Y1 - Y_D * D1, c2 = Y2 - Y_D * D2;
      const double bending = per_moment * bend * std::sqrt(c0 * c0 + c1 * c1 + c2 * c2);
      const double pressure = normal < 0 ? -normal : 0.0;
      // The larger of two terms, or their sum.
      const bool apart = limits->apart[l] > 0;
      const double sum = normal + bending, sum_of_shear = shear + twisting;
      const double sigma = apart ? (normal > bending ? normal : bending) : sum,
                   tau = apart ? (shear > twisting ? shear : twisting) : sum_of_shear;
      const double cohesion = limits->shear[l] + limits->tan_friction[l] * pressure;
      load.broken[l] = sigma >= limits->tensile[l] ? 1.0 : tau >= cohesion ? 1.0 : 0.0;
      acts -= load.broken[l];
    }
    load.force[0][l] = acts * (along_n * n0 + across * D0);
    load.force[1][l] = acts * (along_n * n1 + across * D1);
    load.force[2][l] = acts * (along_n * n2 + across * D2);
    const double T0 = acts * (t0 / 2 + half / 2 * (Y1 * t2 - Y2 * t1) - M0),
                 T1 = acts * (t1 / 2 + half / 2 * (Y2 * t0 - Y0 * t2) - M1),
                 T2 = acts * (t2 / 2 + half / 2 * (Y0 * t1 - Y1 * t0) - M2);
    load.torque_a[0][l] = T0;
    load.torque_a[1][l] = T1;
    load.torque_a[2][l] = T2;
    load.torque_b[0][l] = acts * t0 - T0;
    load.torque_b[1][l] = acts * t1 - T1;
    load.torque_b[2][l] = acts * t2 - T2;
  }
}

template <bool breaks, bool angles>
void BondLoop::add_all(std::span<const double> u, std::span<double> f) {
  Load load;
  for (std::size_t k = 0; k < blocks_.size(); ++k) {
    Block& block = blocks_[k];
    evaluate<breaks, angles>(block, breaks ? &limits_[k] : nullptr, angles ? &by_angle_[k] : nullptr,
                             u.data(), load);
    for (int l = 0; l < width; ++l) {
      double *a = f.data() + 6 * std::size_t(block.a[l]), *b = f.data() + 6 * std::size_t(block.b[l]);
      for (int c = 0; c < 3; ++c) {
        a[c] -= load.force[c][l];
        a[3 + c] += load.torque_a[c][l];
        b[c] += load.force[c][l];
        b[3 + c] += load.torque_b[c][l];
      }
    }
    if constexpr (breaks) {
      for (int l = 0; l < width; ++l) {
        if (load.broken[l] == 0) continue;
        has_broken_ = true;
        broken_now_.push_back(bonds_[width * k + l]);
        block.stretch[l] = block.shear[l] = block.twist[l] = block.bend[l] = 0;
        limits_[k].tensile[l] = limits_[k].shear[l] = std::numeric_limits<double>::infinity();
      }
    }
  }
}

std::span<const LocalIndex> BondLoop::forces(std::span<const double> u, std::span<double> f) {
  std::ranges::fill(f, 0.0);
  broken_now_.clear();
  const bool breaks = !limits_.empty(), angles = !by_angle_.empty();
  if (breaks && angles) {
    add_all<true, true>(u, f);
  } else if (breaks) {
    add_all<true, false>(u, f);
  } else if (angles) {
    add_all<false, true>(u, f);
  } else {
    add_all<false, false>(u, f);
  }
  return broken_now_;
}

} // namespace recoil::solvers
