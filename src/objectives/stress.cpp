#include "recoil/objectives/stress.hpp"

#include <cmath>
#include <functional>
#include <string>

#include "recoil/base/error.hpp"
#include "recoil/potentials/laws/stress.hpp"

namespace recoil::objectives {

namespace {

using potentials::PointFunction;
using potentials::PointState;

/// A function of the Frobenius norm of a stress.
struct NormFunction {
  std::function<double(double norm)> value;
  std::function<double(double norm)> slope_over_norm; ///< value'(norm) / norm; finite where the norm vanishes
};

/// (norm / unit)^p - mean.
NormFunction power_of_norm(double p, double unit, double mean = 0) {
  return {[=](double norm) { return std::pow(norm / unit, p) - mean; },
          [=](double norm) { return norm > 0 ? p * std::pow(norm / unit, p - 2) / (unit * unit) : 0.0; }};
}

/// max(norm - limit, 0)^2.
NormFunction squared_excess(double limit) {
  return {[=](double norm) { return norm > limit ? (norm - limit) * (norm - limit) : 0.0; },
          [=](double norm) { return norm > limit ? 2 * (norm - limit) / norm : 0.0; }};
}

template <int dim>
class OfStress final : public PointFunction<dim> {
  using Matrix = potentials::SquareMatrix<dim>;
  using typename PointFunction<dim>::Derivatives;

public:
  OfStress(NormFunction j, StressMeasure measure) : j_(std::move(j)), measure_(measure) {}

  double value(const PointState<dim>& point) const override { return j_.value(stress(point).norm()); }

  Derivatives derivatives(const PointState<dim>& point) const override {
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
  bool is_first_piola(const PointState<dim>& point) const {
    return measure_ == StressMeasure::first_piola || point.small_strain;
  }
  Matrix stress(const PointState<dim>& point) const {
    return is_first_piola(point) ? point.P : potentials::cauchy_stress<dim>(point.F, point.P);
  }

  NormFunction j_;
  StressMeasure measure_;
};

template <int dim>
class EnergyDensity final : public PointFunction<dim> {
public:
  double value(const PointState<dim>& point) const override { return point.energy_density; }
  typename PointFunction<dim>::Derivatives derivatives(const PointState<dim>&) const override {
    typename PointFunction<dim>::Derivatives result;
    result.by_W = 1;
    return result;
  }
};

/// Integrals over the cells of a region that all have an elastic law.
template <int dim>
class OfElasticCells : public Objective<dim> {
public:
  OfElasticCells(std::string_view name, Region<dim> region, ElasticPotentials<dim> elastic)
      : name_(name), region_(std::move(region)), elastic_(std::move(elastic)) {
    GlobalIndex missing = 0;
    for (LocalIndex cell = 0; cell < region_.mesh().num_owned_cells; ++cell)
      missing += region_.selects(cell) ? 1 : 0;
    for (const auto* potential : elastic_)
      for (const LocalIndex cell : potential->cells())
        if (region_.owns(cell) && region_.selects(cell)) --missing;
    if (!region_.comm().all(missing == 0))
      throw InputError(std::string(name_) + ": a body of the objective has cells without an elastic law");
  }

  std::string_view name() const override { return name_; }
  std::vector<Quantity> depends_on() const override {
    std::vector<Quantity> result{quantities::displacement, quantities::vertices};
    for (const auto* potential : elastic_)
      for (Quantity& quantity : potential->quantities()) result.push_back(std::move(quantity));
    return result;
  }

protected:
  double integral(const ObservedState& state, const PointFunction<dim>& j) const {
    double sum = 0;
    for (const auto* potential : elastic_) sum += potential->integrate(state.u, j, region_.cells);
    return region_.comm().sum(sum);
  }
  void add_integral_derivatives(const ObservedState& state, const PointFunction<dim>& j, double factor,
                                std::span<double> du, parameters::PhysicalGradient<dim>& g) const {
    for (const auto* potential : elastic_) {
      potential->add_integral_gradient(state.u, j, region_.cells, factor, du);
      potential->add_integral_parameter_products(state.u, j, region_.cells, factor, g);
    }
  }

private:
  std::string_view name_;
  Region<dim> region_;
  ElasticPotentials<dim> elastic_;
};

/// J = int j dX.
template <int dim>
class PointIntegral final : public OfElasticCells<dim> {
public:
  PointIntegral(std::string_view name, Region<dim> region, ElasticPotentials<dim> elastic,
                std::unique_ptr<const PointFunction<dim>> j)
      : OfElasticCells<dim>(name, std::move(region), std::move(elastic)), j_(std::move(j)) {}

  double value(const ObservedState& state) override { return this->integral(state, *j_); }
  void add_derivatives(const ObservedState& state, double factor, std::span<double> du, std::span<double>,
                       parameters::PhysicalGradient<dim>& g) override {
    this->add_integral_derivatives(state, *j_, factor, du, g);
  }

private:
  std::unique_ptr<const PointFunction<dim>> j_;
};

/// The rest volume.
template <int dim>
double volume_of(const Region<dim>& region) {
  double sum = 0;
  for (LocalIndex cell = 0; cell < region.mesh().num_owned_cells; ++cell)
    if (region.selects(cell)) sum += region.geometry->weight_factor(cell) / (dim == 2 ? 2 : 6);
  return region.comm().sum(sum);
}

/// J = (int |S|^p dX / V)^(1/p), V = 1 of the norm, computed as s (int (|S| / s)^p dX / V)^(1/p), which is
/// the same for any s: powers of stresses in Pa overflow. s = (int |S|^2 dX / V)^(1/2).
template <int dim>
class PowerMean final : public OfElasticCells<dim> {
public:
  PowerMean(std::string_view name, Region<dim> region, ElasticPotentials<dim> elastic, double p,
            StressMeasure measure, bool per_volume)
      : OfElasticCells<dim>(name, region, std::move(elastic)), p_(p), measure_(measure),
        per_volume_(per_volume), volume_(per_volume ? volume_of(region) : 1) {}

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
    this->add_integral_derivatives(state, power(p_, unit, per_volume_ ? mean : 0), factor, du, g);
  }

private:
  OfStress<dim> power(double p, double unit, double mean = 0) const {
    return {power_of_norm(p, unit, mean), measure_};
  }
  double typical(const ObservedState& state) const {
    return std::sqrt(this->integral(state, power(2, 1)) / volume_);
  }
  double mean(const ObservedState& state, double unit) const {
    const double mean = this->integral(state, power(p_, unit)) / volume_;
    if (!std::isfinite(mean) || mean == 0)
      throw InputError(std::string(this->name()) + ": stresses to the power p = " + std::to_string(p_) +
                       " leave the range of numbers; take a smaller p");
    return mean;
  }

  double p_;
  StressMeasure measure_;
  bool per_volume_;
  double volume_;
};

template <int dim>
std::unique_ptr<Objective<dim>> make_power_mean(std::string_view name, Region<dim> region,
                                                ElasticPotentials<dim> elastic, double p,
                                                StressMeasure measure, bool per_volume) {
  if (!(p > 1) || !std::isfinite(p))
    throw InputError(std::string(name) + ": p = " + std::to_string(p) + "; it must be larger than 1");
  return std::make_unique<PowerMean<dim>>(name, std::move(region), std::move(elastic), p, measure,
                                          per_volume);
}

} // namespace

template <int dim>
std::unique_ptr<Objective<dim>> make_stress_norm(Region<dim> region, ElasticPotentials<dim> elastic, double p,
                                                 StressMeasure measure) {
  return make_power_mean<dim>("stress_norm", std::move(region), std::move(elastic), p, measure, false);
}

template <int dim>
std::unique_ptr<Objective<dim>> make_max_stress(Region<dim> region, ElasticPotentials<dim> elastic, double p,
                                                StressMeasure measure) {
  return make_power_mean<dim>("max_stress", std::move(region), std::move(elastic), p, measure, true);
}

template <int dim>
std::unique_ptr<Objective<dim>> make_stress_bound(Region<dim> region, ElasticPotentials<dim> elastic,
                                                  double limit, StressMeasure measure) {
  if (!(limit >= 0) || !std::isfinite(limit))
    throw InputError("stress_bound: limit = " + std::to_string(limit) + " Pa; it must not be negative");
  return std::make_unique<PointIntegral<dim>>(
      "stress_bound", std::move(region), std::move(elastic),
      std::make_unique<OfStress<dim>>(squared_excess(limit), measure));
}

template <int dim>
std::unique_ptr<Objective<dim>> make_elastic_energy(Region<dim> region, ElasticPotentials<dim> elastic) {
  return std::make_unique<PointIntegral<dim>>("elastic_energy", std::move(region), std::move(elastic),
                                              std::make_unique<EnergyDensity<dim>>());
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template std::unique_ptr<Objective<dim>> make_stress_norm(Region<dim>, ElasticPotentials<dim>, double,     \
                                                            StressMeasure);                                  \
  template std::unique_ptr<Objective<dim>> make_max_stress(Region<dim>, ElasticPotentials<dim>, double,      \
                                                           StressMeasure);                                   \
  template std::unique_ptr<Objective<dim>> make_stress_bound(Region<dim>, ElasticPotentials<dim>, double,    \
                                                             StressMeasure);                                 \
  template std::unique_ptr<Objective<dim>> make_elastic_energy(Region<dim>, ElasticPotentials<dim>);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::objectives
