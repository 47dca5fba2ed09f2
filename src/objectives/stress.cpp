#include "recoil/objectives/stress.hpp"

#include <cmath>
#include <string>

#include "recoil/base/error.hpp"
#include "recoil/potentials/laws/stress.hpp"

namespace recoil::objectives {

namespace {

using potentials::PointFunction;
using potentials::PointState;

/// A function of the Frobenius norm of a stress.
struct NormFunction {
  virtual ~NormFunction() = default;
  virtual double value(double norm) const = 0;
  /// value'(norm) / norm; finite where the norm vanishes.
  virtual double slope_over_norm(double norm) const = 0;
};

struct Power final : NormFunction {
  explicit Power(double exponent) : p(exponent) {}
  double value(double norm) const override { return std::pow(norm, p); }
  double slope_over_norm(double norm) const override { return norm > 0 ? p * std::pow(norm, p - 2) : 0; }
  double p;
};

struct SquaredExcess final : NormFunction {
  explicit SquaredExcess(double bound) : limit(bound) {}
  double value(double norm) const override { return norm > limit ? (norm - limit) * (norm - limit) : 0; }
  double slope_over_norm(double norm) const override { return norm > limit ? 2 * (norm - limit) / norm : 0; }
  double limit;
};

template <int dim>
class OfStress final : public PointFunction<dim> {
  using Matrix = potentials::SquareMatrix<dim>;
  using typename PointFunction<dim>::Derivatives;

public:
  OfStress(std::unique_ptr<const NormFunction> j, StressMeasure measure)
      : j_(std::move(j)), measure_(measure) {}

  double value(const PointState<dim>& point) const override { return j_->value(stress(point).norm()); }

  Derivatives derivatives(const PointState<dim>& point) const override {
    const Matrix S = stress(point);
    const Matrix by_S = j_->slope_over_norm(S.norm()) * S;
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

  std::unique_ptr<const NormFunction> j_;
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

/// J = (int j dX)^exponent.
template <int dim>
class StressIntegral final : public Objective<dim> {
public:
  StressIntegral(std::string_view name, Region<dim> region, ElasticPotentials<dim> elastic,
                 std::unique_ptr<const PointFunction<dim>> j, double exponent)
      : name_(name), region_(std::move(region)), elastic_(std::move(elastic)), j_(std::move(j)),
        exponent_(exponent) {
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
  bool depends_on(Quantity quantity) const override {
    return quantity == Quantity::displacement || quantity == Quantity::law || quantity == Quantity::vertices;
  }

  double value(const ObservedState& state) override {
    const double sum = integral(state);
    return exponent_ == 1 ? sum : std::pow(sum, exponent_);
  }

  void add_derivatives(const ObservedState& state, double factor, std::span<double> du, std::span<double>,
                       parameters::PhysicalGradient<dim>& g) override {
    if (exponent_ != 1) {
      const double sum = integral(state);
      if (sum == 0) return;
      factor *= exponent_ * std::pow(sum, exponent_ - 1);
    }
    for (const auto* potential : elastic_) {
      potential->add_integral_gradient(state.u, *j_, region_.cells, factor, du);
      potential->add_integral_parameter_products(state.u, *j_, region_.cells, factor, g);
    }
  }

private:
  double integral(const ObservedState& state) const {
    double sum = 0;
    for (const auto* potential : elastic_) sum += potential->integrate(state.u, *j_, region_.cells);
    return region_.comm().sum(sum);
  }

  std::string_view name_;
  Region<dim> region_;
  ElasticPotentials<dim> elastic_;
  std::unique_ptr<const PointFunction<dim>> j_;
  double exponent_;
};

} // namespace

template <int dim>
std::unique_ptr<Objective<dim>> make_stress_norm(Region<dim> region, ElasticPotentials<dim> elastic, double p,
                                                 StressMeasure measure) {
  if (!(p > 1) || !std::isfinite(p))
    throw InputError("stress_norm: p = " + std::to_string(p) + "; it must be larger than 1");
  return std::make_unique<StressIntegral<dim>>(
      "stress_norm", std::move(region), std::move(elastic),
      std::make_unique<OfStress<dim>>(std::make_unique<Power>(p), measure), 1 / p);
}

template <int dim>
std::unique_ptr<Objective<dim>> make_stress_bound(Region<dim> region, ElasticPotentials<dim> elastic,
                                                  double limit, StressMeasure measure) {
  if (!(limit >= 0) || !std::isfinite(limit))
    throw InputError("stress_bound: limit = " + std::to_string(limit) + " Pa; it must not be negative");
  return std::make_unique<StressIntegral<dim>>(
      "stress_bound", std::move(region), std::move(elastic),
      std::make_unique<OfStress<dim>>(std::make_unique<SquaredExcess>(limit), measure), 1);
}

template <int dim>
std::unique_ptr<Objective<dim>> make_elastic_energy(Region<dim> region, ElasticPotentials<dim> elastic) {
  return std::make_unique<StressIntegral<dim>>("elastic_energy", std::move(region), std::move(elastic),
                                               std::make_unique<EnergyDensity<dim>>(), 1);
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template std::unique_ptr<Objective<dim>> make_stress_norm(Region<dim>, ElasticPotentials<dim>, double,     \
                                                            StressMeasure);                                  \
  template std::unique_ptr<Objective<dim>> make_stress_bound(Region<dim>, ElasticPotentials<dim>, double,    \
                                                             StressMeasure);                                 \
  template std::unique_ptr<Objective<dim>> make_elastic_energy(Region<dim>, ElasticPotentials<dim>);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::objectives
