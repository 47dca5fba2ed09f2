#include "recoil/objectives/stress.hpp"

#include <cmath>
#include <string>

#include "objectives/stress_integrals.hpp"

namespace recoil::objectives {

namespace {

using potentials::PointFunction;
using potentials::PointState;

/// max(norm - limit, 0)^2.
NormFunction squared_excess(double limit) {
  return {[=](double norm) { return norm > limit ? (norm - limit) * (norm - limit) : 0.0; },
          [=](double norm) { return norm > limit ? 2 * (norm - limit) / norm : 0.0; }};
}

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

/// P : grad u.
template <int dim>
class StressWork final : public PointFunction<dim> {
  using Matrix = potentials::SquareMatrix<dim>;

public:
  double value(const PointState<dim>& point) const override {
    return point.P.cwiseProduct(point.F - Matrix::Identity()).sum();
  }
  typename PointFunction<dim>::Derivatives derivatives(const PointState<dim>& point) const override {
    typename PointFunction<dim>::Derivatives result;
    result.by_F = point.P;
    result.by_P = point.F - Matrix::Identity();
    return result;
  }
};

/// J = int j dX of a function of what the laws say at a point.
template <int dim, class Function>
class PointIntegral final : public Objective<dim> {
public:
  PointIntegral(std::string_view name, Region<dim> region, ElasticPotentials<dim> elastic, Function j)
      : name_(name), cells_(name, std::move(region), std::move(elastic)), j_(std::move(j)) {}

  std::string_view name() const override { return name_; }
  std::vector<Quantity> depends_on() const override { return cells_.depends_on(); }
  double value(const ObservedState& state) override { return cells_.integral(state, j_); }
  void add_derivatives(const ObservedState& state, double factor, std::span<double> du, std::span<double>,
                       parameters::PhysicalGradient<dim>& g) override {
    cells_.add_derivatives(state, j_, factor, du, g);
  }

private:
  std::string_view name_;
  ElasticCells<dim> cells_;
  Function j_;
};

/// The rest volume.
template <int dim>
double volume_of(const Region<dim>& region) {
  double sum = 0;
  for (LocalIndex cell = 0; cell < region.mesh().num_owned_cells; ++cell)
    if (region.selects(cell)) sum += region.geometry->weight_factor(cell) / (dim == 2 ? 2 : 6);
  return region.comm().sum(sum);
}

template <int dim>
class ElasticEnergy final : public Observable<dim> {
public:
  ElasticEnergy(const parallel::Communicator& comm, Region<dim> region, ElasticPotentials<dim> elastic)
      : Observable<dim>(comm, 1, this->one_point(comm)),
        cells_("elastic_energy", std::move(region), std::move(elastic)) {}

  std::vector<Quantity> depends_on() const override { return cells_.depends_on(); }
  std::vector<double> values(const ObservedState& state) override {
    return this->on_first(std::vector{cells_.integral(state, EnergyDensity<dim>())});
  }
  void add_products(const ObservedState& state, std::span<const double> y, std::span<double> du,
                    std::span<double>, parameters::PhysicalGradient<dim>& g) override {
    cells_.add_derivatives(state, EnergyDensity<dim>(), this->on_all(y)[0], du, g);
  }
  bool has_tangent() const override { return false; }

private:
  ElasticCells<dim> cells_;
};

} // namespace

template <int dim>
std::unique_ptr<Objective<dim>> make_stress_norm(Region<dim> region, ElasticPotentials<dim> elastic, double p,
                                                 StressMeasure measure) {
  return make_power_mean<dim>("stress_norm", std::move(region), std::move(elastic), p, measure);
}

template <int dim>
std::unique_ptr<Objective<dim>> make_stress_bound(Region<dim> region, ElasticPotentials<dim> elastic,
                                                  double limit, StressMeasure measure) {
  if (!(limit >= 0) || !std::isfinite(limit))
    throw InputError("stress_bound: limit = " + std::to_string(limit) + " Pa; it must not be negative");
  return std::make_unique<PointIntegral<dim, OfStress<dim>>>(
      "stress_bound", std::move(region), std::move(elastic), OfStress<dim>(squared_excess(limit), measure));
}

template <int dim>
std::unique_ptr<Objective<dim>> make_compliance(Region<dim> region, ElasticPotentials<dim> elastic) {
  return std::make_unique<PointIntegral<dim, StressWork<dim>>>("compliance", std::move(region),
                                                               std::move(elastic), StressWork<dim>());
}

template <int dim>
std::unique_ptr<Objective<dim>> make_max_stress(Region<dim> region, ElasticPotentials<dim> elastic, double p,
                                                StressMeasure measure) {
  const double volume = volume_of(region);
  return make_power_mean<dim>("max_stress", std::move(region), std::move(elastic), p, measure, volume);
}

template <int dim>
std::unique_ptr<Observable<dim>> observe_elastic_energy(Region<dim> region, ElasticPotentials<dim> elastic) {
  const parallel::Communicator& comm = region.comm();
  return std::make_unique<ElasticEnergy<dim>>(comm, std::move(region), std::move(elastic));
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template std::unique_ptr<Objective<dim>> make_stress_norm(Region<dim>, ElasticPotentials<dim>, double,     \
                                                            StressMeasure);                                  \
  template std::unique_ptr<Objective<dim>> make_compliance(Region<dim>, ElasticPotentials<dim>);             \
  template std::unique_ptr<Objective<dim>> make_stress_bound(Region<dim>, ElasticPotentials<dim>, double,    \
                                                             StressMeasure);                                 \
  template std::unique_ptr<Objective<dim>> make_max_stress(Region<dim>, ElasticPotentials<dim>, double,      \
                                                           StressMeasure);                                   \
  template std::unique_ptr<Observable<dim>> observe_elastic_energy(Region<dim>, ElasticPotentials<dim>);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::objectives
