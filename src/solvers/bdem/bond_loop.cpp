#include "solvers/bdem/bond_loop.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <type_traits>

#include "solvers/bdem/particle_manifold.hpp"

namespace recoil::solvers {

namespace {

/// act(flag as a type).
template <class Act>
void with(bool flag, Act act) {
  flag ? act(std::true_type{}) : act(std::false_type{});
}

} // namespace

BondLoop::BondLoop(const BondedParticles& problem) : problem_(&problem) {
  const auto flags = problem.bonds->broken();
  broken_before_.assign(flags.begin(), flags.end());
  fill();
}

void BondLoop::refresh() {
  const auto flags = problem_->bonds->broken();
  if (!has_broken_ && !problem_->corrodes() && std::ranges::equal(flags, broken_before_)) return;
  broken_before_.assign(flags.begin(), flags.end());
  fill();
}

void BondLoop::fill() {
  has_broken_ = false;
  const auto& all = problem_->particles->bonds;
  const potentials::BondPotential& potential = *problem_->bonds;
  bonds_.clear();
  images_.clear();
  for (LocalIndex bond = 0; bond < std::ssize(all); ++bond)
    if (broken_before_[bond] == 0) bonds_.push_back(bond);
  blocks_.assign((bonds_.size() + width - 1) / width, {});
  limits_.assign(problem_->strength ? blocks_.size() : 0, {});
  const bool angles = std::ranges::any_of(bonds_, [&](LocalIndex bond) {
    return potential.stiffness(bond).shear_energy == potentials::ShearEnergy::angle;
  });
  by_angle_.assign(angles ? blocks_.size() : 0, {});
  damping_.assign(problem_->bond_damping ? blocks_.size() : 0, {});
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
    if (const Eigen::Vector3d period = potential.period(bond); !period.isZero(0)) {
      block.b[lane] = problem_->particles->points->num_local() + LocalIndex(images_.size());
      images_.push_back({all[bond].b, period, !filling && problem_->particles->owns(all[bond])});
    }
    block.length[lane] = shape.length;
    block.stretch[lane] = stiffness.stretch;
    block.shear[lane] = stiffness.shear;
    block.twist[lane] = stiffness.twist;
    block.bend[lane] = stiffness.bend;
    for (int c = 0; c < 3; ++c) block.direction[c][lane] = shape.frame(0, c);
    if (angles) by_angle_[k / width][lane] = stiffness.shear_energy == potentials::ShearEnergy::angle ? 1 : 0;
    if (!problem_->strength) continue;
    const BondStrength& strength = *problem_->strength;
    const double r = potential.section_radius(bond), area = std::numbers::pi * r * r;
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

void BondLoop::begin_damping(std::span<const double> before, const Eigen::Matrix3d& F, double h) {
  has_moved_ = false;
  const potentials::BondPotential& potential = *problem_->bonds;
  for (std::size_t k = 0; k < width * blocks_.size(); ++k) {
    const bool filling = k >= bonds_.size();
    const LocalIndex bond = filling ? bonds_.back() : bonds_[k];
    const auto& ends = problem_->particles->bonds[bond];
    potentials::Particle end = particle_at(before, ends.b);
    end.p += F * potential.period(bond);
    const potentials::BondShape at =
        potentials::bond_shape_at(potential.shape(bond), particle_at(before, ends.a), end);
    const Eigen::Vector3d turn = at.frame.transpose() * at.turn / 2;
    Damping& damping = damping_[k / width];
    const std::size_t lane = k % width;
    damping.rate[lane] = problem_->bond_damping->damping_time(bond) / h;
    damping.counted[lane] = !filling && problem_->particles->owns(ends) ? 1 : 0;
    damping.length[lane] = at.length;
    damping.pull[lane] = damping.dissipated[lane] = 0;
    for (int c = 0; c < 3; ++c) {
      damping.direction[c][lane] = at.direction[c];
      damping.turn[c][lane] = turn[c];
      damping.across[c][lane] = damping.moment[c][lane] = 0;
    }
  }
}

double BondLoop::dissipation() const {
  double sum = 0;
  for (const Damping& damping : damping_)
    for (int l = 0; l < width; ++l) sum += damping.counted[l] * damping.dissipated[l];
  return sum;
}

/// With Y the vector part of s q_a q_b* and c = |q_a . q_b| the rotation of a relative to b, about Y in space
/// as in the axes of the mean rotation, and D, n, t as in potentials::bond_energy(): K_s D x n turns the mean
/// rotation, of which each end follows (1 +- Y x / (1 + c)) / 2; t = 2 R0 Y makes opposite torques w - Y (Y .
/// w) / (1 + c), w = R0' K t, at the ends. By the angle K_s is larger by theta / sin theta. Damping adds tau
/// times the rates to L - l0, to Y of w, and takes those of n from D. Its forces work along half of the way
/// before, unless there is none (`is_way`), and along half of the way after.
template <bool breaks, bool angles, bool damps>
void BondLoop::evaluate(const Block& block, const Limits* limits, const Lanes* by_angle,
                        Damping* __restrict damping, bool is_way, const double* u, Load& __restrict load) {
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
    double M0 = along_Y * Y0 + along_D * D0, M1 = along_Y * Y1 + along_D * D1,
           M2 = along_Y * Y2 + along_D * D2;
    double k = block.shear[l];
    if constexpr (angles) {
      const double c0 = n0 - D0, c1 = n1 - D1, c2 = n2 - D2;
      if ((*by_angle)[l] > 0) k *= potentials::angle_terms(c0 * c0 + c1 * c1 + c2 * c2).slope;
    }
    double t0 = k * (D1 * n2 - D2 * n1), t1 = k * (D2 * n0 - D0 * n2), t2 = k * (D0 * n1 - D1 * n0);

    const double stretch = block.stretch[l] * (length - block.length[l]);
    const double across = k * per_length;
    double along_n = -stretch - across * (D0 * n0 + D1 * n1 + D2 * n2);
    double F0 = across * D0, F1 = across * D1, F2 = across * D2;
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
    if constexpr (damps) {
      // Vectors of the axes of the mean rotation, there and back.
      const auto turned = [=](double back, double v0, double v1, double v2, int c) {
        const double w0 = m1 * v2 - m2 * v1, w1 = m2 * v0 - m0 * v2, w2 = m0 * v1 - m1 * v0;
        const double s3 = back * m3;
        return c == 0   ? v0 + half * (s3 * w0 + (m1 * w2 - m2 * w1))
               : c == 1 ? v1 + half * (s3 * w1 + (m2 * w0 - m0 * w2))
                        : v2 + half * (s3 * w2 + (m0 * w1 - m1 * w0));
      };
      const double g0 = turned(-1, n0, n1, n2, 0), g1 = turned(-1, n0, n1, n2, 1),
                   g2 = turned(-1, n0, n1, n2, 2);
      const double y0 = turned(-1, Y0, Y1, Y2, 0), y1 = turned(-1, Y0, Y1, Y2, 1),
                   y2 = turned(-1, Y0, Y1, Y2, 2);
      const double dL = length - damping->length[l], dg0 = g0 - damping->direction[0][l],
                   dg1 = g1 - damping->direction[1][l], dg2 = g2 - damping->direction[2][l],
                   dy0 = y0 - damping->turn[0][l], dy1 = y1 - damping->turn[1][l],
                   dy2 = y2 - damping->turn[2][l];
      const double way = is_way ? 0.5 : 0;
      double work = damping->pull[l] * dL + damping->across[0][l] * dg0 + damping->across[1][l] * dg1 +
                    damping->across[2][l] * dg2 + damping->moment[0][l] * dy0 + damping->moment[1][l] * dy1 +
                    damping->moment[2][l] * dy2;
      work *= way;
      const double rate = acts * damping->rate[l], pull = rate * block.stretch[l] * dL,
                   rate_k = rate * block.shear[l];
      const double bending = 2 * rate * bend,
                   twisting = 2 * rate * (twist - bend) * (dy0 * d0 + dy1 * d1 + dy2 * d2);
      const double S0 = rate_k * dg0, S1 = rate_k * dg1, S2 = rate_k * dg2;
      const double W0 = bending * dy0 + twisting * d0, W1 = bending * dy1 + twisting * d1,
                   W2 = bending * dy2 + twisting * d2;
      damping->dissipated[l] +=
          work + way * (pull * dL + S0 * dg0 + S1 * dg1 + S2 * dg2 + W0 * dy0 + W1 * dy1 + W2 * dy2);
      damping->length[l] = length;
      damping->direction[0][l] = g0;
      damping->direction[1][l] = g1;
      damping->direction[2][l] = g2;
      damping->turn[0][l] = y0;
      damping->turn[1][l] = y1;
      damping->turn[2][l] = y2;
      damping->pull[l] = pull;
      damping->across[0][l] = S0;
      damping->across[1][l] = S1;
      damping->across[2][l] = S2;
      damping->moment[0][l] = W0;
      damping->moment[1][l] = W1;
      damping->moment[2][l] = W2;
      const double G0 = turned(1, S0, S1, S2, 0), G1 = turned(1, S0, S1, S2, 1),
                   G2 = turned(1, S0, S1, S2, 2);
      // Moments by Y are those by the whole turn, twice as large.
      const double w0 = turned(1, W0 / 2, W1 / 2, W2 / 2, 0), w1 = turned(1, W0 / 2, W1 / 2, W2 / 2, 1),
                   w2 = turned(1, W0 / 2, W1 / 2, W2 / 2, 2);
      const double Y_w = half * (Y0 * w0 + Y1 * w1 + Y2 * w2);
      M0 += w0 - Y_w * Y0;
      M1 += w1 - Y_w * Y1;
      M2 += w2 - Y_w * Y2;
      t0 -= G1 * n2 - G2 * n1;
      t1 -= G2 * n0 - G0 * n2;
      t2 -= G0 * n1 - G1 * n0;
      along_n += per_length * (G0 * n0 + G1 * n1 + G2 * n2) - pull;
      F0 -= per_length * G0;
      F1 -= per_length * G1;
      F2 -= per_length * G2;
    }
    load.force[0][l] = acts * (along_n * n0 + F0);
    load.force[1][l] = acts * (along_n * n1 + F1);
    load.force[2][l] = acts * (along_n * n2 + F2);
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

template <bool breaks, bool angles, bool damps>
void BondLoop::add_all(std::span<const double> u, std::span<double> f) {
  Load load;
  for (std::size_t k = 0; k < blocks_.size(); ++k) {
    Block& block = blocks_[k];
    evaluate<breaks, angles, damps>(block, breaks ? &limits_[k] : nullptr, angles ? &by_angle_[k] : nullptr,
                                    damps ? &damping_[k] : nullptr, has_moved_, u.data(), load);
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

void BondLoop::place_images(std::span<const double> u) {
  with_images_.assign(u.begin(), u.end());
  with_images_.resize(u.size() + 7 * images_.size());
  const std::span<double> images = std::span(with_images_).subspan(u.size());
  for (std::size_t k = 0; k < images_.size(); ++k) {
    potentials::Particle at = particle_at(u, images_[k].particle);
    at.p += problem_->cell_motion->now() * images_[k].period;
    set_particle(images, LocalIndex(k), at);
  }
}

void BondLoop::give_back_images(std::span<double> f) const {
  std::copy_n(forces_with_images_.begin(), f.size(), f.begin());
  for (std::size_t k = 0; k < images_.size(); ++k)
    for (std::size_t i = 0; i < 6; ++i)
      f[6 * std::size_t(images_[k].particle) + i] += forces_with_images_[f.size() + 6 * k + i];
}

Eigen::Matrix3d BondLoop::moments_of_images() const {
  Eigen::Matrix3d sum = Eigen::Matrix3d::Zero();
  const std::size_t first = forces_with_images_.size() - 6 * images_.size();
  for (std::size_t k = 0; k < images_.size(); ++k)
    if (images_[k].is_counted)
      sum += Eigen::Map<const Eigen::Vector3d>(&forces_with_images_[first + 6 * k]) *
             images_[k].period.transpose();
  return sum;
}

std::span<const LocalIndex> BondLoop::forces(std::span<const double> u, std::span<double> f) {
  if (images_.empty()) return pass(u, f);
  place_images(u);
  forces_with_images_.resize(f.size() + 6 * images_.size());
  const std::span<const LocalIndex> broken = pass(with_images_, forces_with_images_);
  give_back_images(f);
  return broken;
}

std::span<const LocalIndex> BondLoop::pass(std::span<const double> u, std::span<double> f) {
  std::ranges::fill(f, 0.0);
  broken_now_.clear();
  with(!limits_.empty(), [&](auto breaks) {
    with(!by_angle_.empty(), [&](auto angles) {
      with(!damping_.empty(), [&](auto damps) { add_all<breaks.value, angles.value, damps.value>(u, f); });
    });
  });
  has_moved_ = true;
  return broken_now_;
}

} // namespace recoil::solvers
