#include "app/study/apply_parameters.hpp"

namespace recoil::app {

template <int dim>
void apply_parameters(const std::vector<ParameterField<dim>>& fields, const ParameterValues& values,
                      const VariantInputs<dim>& to) {
  for (std::size_t k = 0; k < fields.size(); ++k)
    if (const auto apply = fields[k].spec->kind->template actions<dim>().apply)
      apply(fields[k], values[k], to);
}

template <int dim>
Variant<dim> make_variant(const Scene& scene, const DistributedGeometry<dim>& geometry,
                          const std::vector<ParameterField<dim>>& fields, const ParameterValues& values) {
  Variant<dim> variant;
  variant.scene = std::make_unique<Scene>(scene);
  DistributedGeometry<dim> shape = geometry;
  CellOverrides overrides;
  apply_parameters<dim>(fields, values, {*variant.scene, shape, overrides});
  variant.discrete =
      std::make_unique<DiscreteScene<dim>>(*variant.scene, std::move(shape), std::move(overrides));
  const auto set_initial = [&](stepping::State& state) {
    for (std::size_t k = 0; k < fields.size(); ++k)
      if (const auto apply = fields[k].spec->kind->template actions<dim>().apply_to_state)
        apply(fields[k], values[k], variant.discrete->space(), state);
  };
  variant.discrete->start(set_initial);
  return variant;
}

template void apply_parameters(const std::vector<ParameterField<2>>&, const ParameterValues&,
                               const VariantInputs<2>&);
template void apply_parameters(const std::vector<ParameterField<3>>&, const ParameterValues&,
                               const VariantInputs<3>&);
template Variant<2> make_variant(const Scene&, const DistributedGeometry<2>&,
                                 const std::vector<ParameterField<2>>&, const ParameterValues&);
template Variant<3> make_variant(const Scene&, const DistributedGeometry<3>&,
                                 const std::vector<ParameterField<3>>&, const ParameterValues&);

} // namespace recoil::app
