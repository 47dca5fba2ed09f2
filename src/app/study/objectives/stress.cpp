#include "recoil/objectives/stress.hpp"

#include "recoil/app/study/objectives/objective_type.hpp"
#include "recoil/app/study/objectives/observables_on_meshes.hpp"

namespace recoil::app {
namespace {

constexpr Key component_key{.pattern = "/objectives/*/component",
                            .types = list,
                            .items = integer,
                            .length = {2, 2},
                            .required = true,
                            .range = from_to(0, 2),
                            .doc = "Row and column of the stress, from 0."},
    wanted_key{.pattern = "/objectives/*/value",
               .types = number,
               .unit = "Pa",
               .doc = "The stress that is wanted; without it the objective is the stress itself."},
    sd_key{.pattern = "/objectives/*/sd",
           .types = number,
           .implied = "1 Pa",
           .range = positive,
           .unit = "Pa",
           .doc = "Standard deviation of `value`."};

constexpr Key stress_key{.pattern = "/objectives/*/stress",
                         .types = text,
                         .implied = "`first_piola`",
                         .choices = "[\"first_piola\", \"cauchy\"]",
                         .doc = "Which stress."};

objectives::StressMeasure stress_of(const Item& entry) {
  return entry.has("stress") && entry["stress"].text() == "cauchy" ? objectives::StressMeasure::cauchy
                                                                   : objectives::StressMeasure::first_piola;
}

template <int dim>
objectives::ElasticPotentials<dim> elastic_potentials(DiscreteScene<dim>& discrete) {
  const auto& elastic = discrete.solver().problem().elastic;
  return {elastic.begin(), elastic.end()};
}

/// Base of those that take the stress to a power.
template <class Type>
struct StressPower : ObjectiveOf<Type> {
  explicit StressPower(const Item& entry) : p(entry["p"].number()), stress(stress_of(entry)) {}

  double p;
  objectives::StressMeasure stress;
};

struct StressNorm final : StressPower<StressNorm> {
  using StressPower::StressPower;
  template <int dim>
  auto make(const Observables<dim>& at) const {
    return objectives::make_stress_norm<dim>(region_of(at, bodies), elastic_potentials(elements_of(at)), p,
                                             stress);
  }
};

struct StressBound final : ObjectiveOf<StressBound> {
  explicit StressBound(const Item& entry) : limit(entry["limit"].number()), stress(stress_of(entry)) {}
  template <int dim>
  auto make(const Observables<dim>& at) const {
    return objectives::make_stress_bound<dim>(region_of(at, bodies), elastic_potentials(elements_of(at)),
                                              limit, stress);
  }

  double limit;
  objectives::StressMeasure stress;
};

struct MaxStress final : StressPower<MaxStress> {
  using StressPower::StressPower;
  template <int dim>
  auto make(const Observables<dim>& at) const {
    return objectives::make_max_stress<dim>(region_of(at, bodies), elastic_potentials(elements_of(at)), p,
                                            stress);
  }
};

struct Compliance final : ObjectiveOf<Compliance> {
  explicit Compliance(const Item&) {}
  template <int dim>
  auto make(const Observables<dim>& at) const {
    return objectives::make_compliance<dim>(region_of(at, bodies), elastic_potentials(elements_of(at)));
  }
};

struct ElasticEnergy final : ObjectiveOf<ElasticEnergy> {
  explicit ElasticEnergy(const Item&) {}
  template <int dim>
  auto make(const Observables<dim>& at) const {
    return objectives::make_component<dim>(type->name, at.elastic_energy(bodies), 0);
  }
};

/// P_ij - y over sd, for the square of it.
template <int dim>
class Deviation final : public objectives::Observable<dim> {
public:
  Deviation(std::unique_ptr<objectives::Observable<dim>> stress, int entry, double value, double sd)
      : objectives::Observable<dim>(stress->comm(), 1, stress->points()), stress_(std::move(stress)),
        entry_(entry), value_(value), sd_(sd) {}

  std::vector<objectives::Quantity> depends_on() const override { return stress_->depends_on(); }
  std::vector<double> values(const objectives::ObservedState& state) override {
    return picked(stress_->values(state), value_);
  }
  void add_products(const objectives::ObservedState& state, std::span<const double> y, std::span<double> du,
                    std::span<double> dv, parameters::PhysicalGradient<dim>& g) override {
    std::vector<double> all(stress_->num_values(), 0.0);
    if (!y.empty()) all[entry_] = y[0] / sd_;
    stress_->add_products(state, all, du, dv, g);
  }
  std::vector<double> tangent(const objectives::ObservedState& state, std::span<const double> du,
                              std::span<const double> dv,
                              const parameters::PhysicalDirection<dim>& dq) override {
    return picked(stress_->tangent(state, du, dv, dq), 0);
  }

private:
  std::vector<double> picked(const std::vector<double>& all, double value) const {
    if (all.empty()) return {};
    return {(all[entry_] - value) / sd_};
  }

  std::unique_ptr<objectives::Observable<dim>> stress_;
  int entry_;
  double value_, sd_;
};

class HomogenizedStress final : public ObjectiveOf<HomogenizedStress> {
public:
  explicit HomogenizedStress(const Item& entry) : component_(entry["component"].integers()) {
    if (entry.has("value")) value_ = entry["value"].number();
    if (entry.has("sd")) sd_ = entry["sd"].number();
    if (entry.has("sd") && !value_) entry["sd"].fail("goes with `value`, the stress that is wanted");
  }
  void check_dimension(int dim) const override {
    for (const int index : component_)
      if (index >= dim)
        throw InputError(where.of("component"), "has the index " + std::to_string(index) + "; those in " +
                                                    std::to_string(dim) + "D are 0 to " +
                                                    std::to_string(dim - 1));
  }
  template <int dim>
  auto make(const Observables<dim>& at) const {
    auto stress = at.cell_stress();
    const int entry = component_[0] * dim + component_[1];
    if (!value_) return objectives::make_component<dim>(type->name, std::move(stress), entry);
    return objectives::make_square<dim>(
        type->name, std::make_unique<Deviation<dim>>(std::move(stress), entry, *value_,
                                                     sd_.value_or(at.scene().units.per("Pa"))));
  }

private:
  std::vector<int> component_;
  std::optional<double> value_;
  std::optional<double> sd_; ///< empty: 1 Pa
};

} // namespace

std::vector<ObjectiveType> stress_objectives() {
  return {{.name = "stress_norm",
           .doc = "(int |S|^p)^(1/p) over the rest volume, |S| the Frobenius norm of the stress.",
           .keys = {body_key, time_key, exponent_key, stress_key},
           .read = StressNorm::read,
           .asks = ObservableKind::stress},
          {.name = "stress_bound",
           .doc = "int max(|S| - limit, 0)^2 over the rest volume.",
           .keys = {body_key, time_key, stress_key, limit_key("Pa")},
           .read = StressBound::read,
           .asks = ObservableKind::stress},
          {.name = "elastic_energy",
           .doc = "Elastic energy.",
           .keys = {body_key, time_key},
           .read = ElasticEnergy::read,
           .asks = ObservableKind::elastic_energy},
          {.name = "compliance",
           .doc = "int P : grad u over the rest volume, P the first Piola-Kirchhoff stress: in equilibrium, "
                  "where nothing is moved by its boundary, the work f.u of the loads f, of laws of linear "
                  "theory twice the elastic energy.",
           .keys = {body_key, time_key},
           .read = Compliance::read,
           .asks = ObservableKind::stress},
          {.name = "max_stress",
           .doc = "(int |S|^p / V)^(1/p), V the rest volume: a smooth maximum of |S|, from below. With v the "
                  "volume of the element where |S| is largest it is at least (v / V)^(1/p) times that in "
                  "linear elements, and grows with p.",
           .keys = {body_key, time_key, exponent_key, stress_key},
           .read = MaxStress::read,
           .asks = ObservableKind::stress},
          {.name = "homogenized_stress",
           .doc =
               "P_ij, or ((P_ij - value) / sd)^2, P the macroscopic first Piola-Kirchhoff stress of a "
               "periodic cell: the derivative of its elastic energy and that of contact, per volume of the "
               "cell with its holes, by the macroscopic displacement gradient. Without contact it is the "
               "mean of the stress; of bonded particles it is 1/V sum f L' over bonds, with the lines L of "
               "their ends at rest. Friction and damping are not part of it.",
           .keys = {component_key, wanted_key, sd_key, time_key},
           .read = HomogenizedStress::read,
           .asks = ObservableKind::cell_stress}};
}

} // namespace recoil::app
