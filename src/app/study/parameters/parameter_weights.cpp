#include "app/study/parameters/parameter_weights.hpp"

#include <algorithm>

namespace recoil::app {

template <int dim>
bool ParameterWeights<dim>::any_enters(Enters where) const {
  return std::ranges::any_of(fields_, [&](const ParameterField<dim>& field) {
    return field.spec->kind->template actions<dim>().enters == where;
  });
}

template <int dim>
bool ParameterWeights<dim>::changes(const parameters::Quantity& quantity) const {
  return std::ranges::any_of(
      fields_, [&](const ParameterField<dim>& field) { return field.spec->kind->changes(quantity); });
}

template <int dim>
void ParameterWeights<dim>::walk(
    Enters where, const Moment& at,
    const std::function<TakeWeight(std::size_t, const parameters::Quantity&)>& taker) const {
  for (std::size_t k = 0; k < fields_.size(); ++k) {
    const ParameterKind& kind = *fields_[k].spec->kind;
    const ParameterActions<dim>& actions = kind.actions<dim>();
    if (actions.enters != where) continue;
    for (const parameters::Quantity& quantity : kind.quantities)
      actions.weights({quantity, std::span(fields_).subspan(k), discrete_, at}, taker(k, quantity));
  }
}

template class ParameterWeights<2>;
template class ParameterWeights<3>;

} // namespace recoil::app
