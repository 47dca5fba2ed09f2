#include <algorithm>

#include "app/study/input/build_study.hpp"
#include "recoil/app/study/kinds/parameter_kinds.hpp"
#include "recoil/app/study/objectives/objective_type.hpp"

namespace recoil::app {
namespace {

template <class Value>
bool meet(const std::vector<Value>& a, const std::vector<Value>& b) {
  return std::ranges::any_of(a, [&](const Value& value) { return holds(b, value); });
}

/// An empty list stands for all.
template <class Value>
bool may_meet(const std::vector<Value>& a, const std::vector<Value>& b) {
  return a.empty() || b.empty() || meet(a, b);
}

/// The pair of Lame constants or of E and nu that a parameter belongs to; empty: neither.
std::string_view pair_of(const ParameterKind& kind) {
  if (kind.law || !kind.is_elastic) return {};
  return kind.constant == "E" || kind.constant == "nu" ? "E and nu" : "lambda and mu";
}

/// Whether both would be constants of one element, node, facet or pair.
bool act_on_the_same(const ParameterSpec& a, const ParameterSpec& b) {
  if (!meet(a.experiments, b.experiments)) return false;
  if (a.kind->takes_key("bodies")) return std::ranges::is_permutation(a.bodies, b.bodies);
  if (a.boundary && b.boundary && *a.boundary != *b.boundary) return false;
  return may_meet(a.bodies, b.bodies) && may_meet(a.regions, b.regions);
}

void refuse_two_of_one(const ParameterSpec& a, const ParameterSpec& b) {
  const bool same = a.kind == b.kind;
  const auto pa = pair_of(*a.kind), pb = pair_of(*b.kind);
  const bool mixed = !pa.empty() && !pb.empty() && pa != pb;
  if ((!same && !mixed) || !act_on_the_same(a, b)) return;
  const std::string place = "'" + a.name + "' at " + a.where.entry;
  if (mixed)
    throw InputError(b.where.of("quantity"),
                     std::string(b.kind->name) + " and " + a.kind->name + " (" + place +
                         ") would both set the elastic constants of the same elements; take young_modulus "
                         "with poisson_ratio, or lambda with mu_lame");
  const ParameterKind& quantity = *b.kind;
  throw InputError(
      b.where.entry,
      "'" + b.name + "' sets the same " + quantity.name + " as " + place + "; keep one" +
          (quantity.takes == cell_keys() ? ", or give each its own `body`, `region` or `experiment`" : ""));
}

/// Terms of rest shape and material that no parameter of the study changes.
void warn_of_constant_terms(Study& study) {
  for (const auto& objective : study.objectives) {
    if (objective->type->takes_time()) continue;
    const bool material = objective->type->compares_materials;
    const bool moved = std::ranges::any_of(study.parameters, [&](const ParameterSpec& parameter) {
      if (!parameter.acts_in(objective->experiment)) return false;
      if (!material) return parameter.kind->changes(parameters::quantities::vertices);
      return parameter.kind->is_elastic && parameter.per != Per::global;
    });
    if (!moved)
      study.warnings.push_back(objective->where.entry + ": '" + objective->name + "' (" +
                               objective->type->name + ") is constant: there is no parameter of " +
                               (material ? "a law per body, element or vertex" : "quantity shape") +
                               " in its experiment");
  }
}

void warn_of_unobserved(Study& study) {
  for (int i = 0; i < std::ssize(study.experiments); ++i) {
    const auto looks_at_it = [&](const auto& objective) { return objective->experiment == i; };
    if (std::ranges::none_of(study.objectives, looks_at_it))
      study.warnings.push_back(study.experiments[i].where.entry + ": no objective looks at experiment '" +
                               study.experiments[i].name + "'");
  }
}

} // namespace

void check_study(Study& study) {
  for (std::size_t b = 1; b < study.parameters.size(); ++b)
    for (std::size_t a = 0; a < b; ++a) refuse_two_of_one(study.parameters[a], study.parameters[b]);
  warn_of_constant_terms(study);
  warn_of_unobserved(study);
}

} // namespace recoil::app
