#pragma once

#include <cmath>
#include <functional>
#include <optional>
#include <string>

#include "recoil/base/error.hpp"
#include "recoil/objectives/stress.hpp"
#include "recoil/potentials/laws/stress.hpp"

/// Integrals of what the elastic laws say at points, of which objectives of the stress consist.
namespace recoil::objectives {

/// A function of the Frobenius norm of a stress.
struct NormFunction {
  std::function<double(double norm)> value;
  std::function<double(double norm)> slope_over_norm; ///< value'(norm) / norm; finite where the norm vanishes
};

/// (norm / unit)^p - mean.
inline NormFunction power_of_norm(double p, double unit, double mean = 0) {
  return {[=](double norm) { return std::pow(norm / unit, p) - mean; },
          [=](double norm) { return norm > 0 ? p * std::pow(norm / unit, p - 2) / (unit * unit) : 0.0; }};
}

/// A function of the norm of the stress.
template <int dim>
class OfStress final : public potentials::PointFunction<dim> {
  using Matrix = potentials::SquareMatrix<dim>;
  using typename potentials::PointFunction<dim>::Derivatives;

public:
  OfStress(NormFunction j, StressMeasure measure) : j_(std::move(j)), measure_(measure) {}

  double value(const potentials::PointState<dim>& point) const override {
    return j_.value(stress(point).norm());
  }

  Derivatives derivatives(const potentials::PointState<dim>& point) const override {
    const Matrix S = stress(point);
    const Matrix by_S = j_.slope_over_norm(S.norm()) * S;
    Derivatives result;
    if (is_first_piola(point)) {
      result.by_P = by_S;
      return result;
    }
    // S = P F' / J: dS = dP F' / J + P dF' / J - S (F^-T : dF).
    const Matrix cof = potentials::cofactor<dim>(point.F);
    const double J = potentials::determinant<dim>(point.F, cof);
    result.by_P = by_S * point.F / J;
    result.by_F = (by_S.transpose() * point.P - by_S.cwiseProduct(S).sum() * cof) / J;
    return result;
  }

private:
  bool is_first_piola(const potentials::PointState<dim>& point) const {
    return measure_ == StressMeasure::first_piola || point.small_strain;
  }
  Matrix stress(const potentials::PointState<dim>& point) const {
    return is_first_piola(point) ? point.P : potentials::cauchy_stress<dim>(point.F, point.P);
  }

  NormFunction j_;
  StressMeasure measure_;
};

/// Integrals over the cells of a region that all have an elastic law.
template <int dim>
class ElasticCells {
public:
  /// @param name of the objective, for messages.
  ElasticCells(std::string_view name, Region<dim> region, ElasticPotentials<dim> elastic)
      : region_(std::move(region)), elastic_(std::move(elastic)) {
    GlobalIndex missing = 0;
    for (LocalIndex cell = 0; cell < region_.mesh().num_owned_cells; ++cell)
      missing += region_.selects(cell) ? 1 : 0;
    for (const auto* potential : elastic_)
      for (const LocalIndex cell : potential->cells())
        if (region_.owns(cell) && region_.selects(cell)) --missing;
    if (!region_.comm().all(missing == 0))
      throw InputError(std::string(name) + ": a body of the objective has cells without an elastic law");
  }

  std::vector<Quantity> depends_on() const {
    std::vector<Quantity> result{quantities::displacement, quantities::vertices};
    for (const auto* potential : elastic_)
      for (Quantity& quantity : potential->quantities()) result.push_back(std::move(quantity));
    return result;
  }
  double integral(const ObservedState& state, const potentials::PointFunction<dim>& j) const {
    double sum = 0;
    for (const auto* potential : elastic_) sum += potential->integrate(state.u, j, region_.cells);
    return region_.comm().sum(sum);
  }
  void add_derivatives(const ObservedState& state, const potentials::PointFunction<dim>& j, double factor,
                       std::span<double> du, parameters::PhysicalGradient<dim>& g) const {
    for (const auto* potential : elastic_) {
      potential->add_integral_gradient(state.u, j, region_.cells, factor, du);
      potential->add_integral_parameter_products(state.u, j, region_.cells, factor, g);
    }
  }

private:
  Region<dim> region_;
  ElasticPotentials<dim> elastic_;
};

/// J = (int |S|^p dX / V)^(1/p), computed as s (int (|S| / s)^p dX / V)^(1/p), which is the same for any s:
/// powers of stresses in Pa overflow. s = (int |S|^2 dX / V)^(1/2).
template <int dim>
class PowerMean final : public Objective<dim> {
public:
  /// @param volume V where that is the volume of the region, which moves with the shape; else V = 1.
  PowerMean(std::string_view name, Region<dim> region, ElasticPotentials<dim> elastic, double p,
            StressMeasure measure, std::optional<double> volume)
      : name_(name), cells_(name, std::move(region), std::move(elastic)), p_(p), measure_(measure),
        is_mean_(volume.has_value()), volume_(volume.value_or(1)) {}

  std::string_view name() const override { return name_; }
  std::vector<Quantity> depends_on() const override { return cells_.depends_on(); }
  double value(const ObservedState& state) override {
    const double unit = typical(state);
    return unit > 0 ? unit * std::pow(mean(state, unit), 1 / p_) : 0;
  }
  void add_derivatives(const ObservedState& state, double factor, std::span<double> du, std::span<double>,
                       parameters::PhysicalGradient<dim>& g) override {
    const double unit = typical(state);
    if (unit == 0) return;
    const double mean = this->mean(state, unit);
    factor *= unit / p_ * std::pow(mean, 1 / p_ - 1) / volume_;
    // d(int f dX / V) = (d int f dX - mean dV) / V, the derivative of int (f - mean) dX at a fixed mean.
    cells_.add_derivatives(state, power(p_, unit, is_mean_ ? mean : 0), factor, du, g);
  }

private:
  OfStress<dim> power(double p, double unit, double mean = 0) const {
    return {power_of_norm(p, unit, mean), measure_};
  }
  double typical(const ObservedState& state) const {
    return std::sqrt(cells_.integral(state, power(2, 1)) / volume_);
  }
  double mean(const ObservedState& state, double unit) const {
    const double mean = cells_.integral(state, power(p_, unit)) / volume_;
    if (!std::isfinite(mean) || mean == 0)
      throw InputError(std::string(name_) + ": stresses to the power p = " + std::to_string(p_) +
                       " leave the range of numbers; take a smaller p");
    return mean;
  }

  std::string_view name_;
  ElasticCells<dim> cells_;
  double p_;
  StressMeasure measure_;
  bool is_mean_;
  double volume_;
};

/// @throws InputError as make_stress_norm. Collective.
template <int dim>
std::unique_ptr<Objective<dim>> make_power_mean(std::string_view name, Region<dim> region,
                                                ElasticPotentials<dim> elastic, double p,
                                                StressMeasure measure, std::optional<double> volume = {}) {
  if (!(p > 1) || !std::isfinite(p))
    throw InputError(std::string(name) + ": p = " + std::to_string(p) + "; it must be larger than 1");
  return std::make_unique<PowerMean<dim>>(name, std::move(region), std::move(elastic), p, measure, volume);
}

} // namespace recoil::objectives
