#include "app/study/gradient_chain.hpp"

#include <algorithm>
#include <functional>

#include "app/study/vertex_sums.hpp"

namespace recoil::app {

namespace {

/// What the terms of an experiment give derivatives by, but what no parameter asks for.
template <int dim>
std::vector<parameters::Quantity>
quantities_of(DiscreteScene<dim>& discrete,
              const std::vector<std::unique_ptr<objectives::Objective<dim>>>& objectives, bool shape,
              bool obstacles) {
  namespace by = parameters::quantities;
  std::vector<parameters::Quantity> result{by::density, by::vertices};
  const auto add = [&](std::vector<parameters::Quantity> more) {
    result.insert(result.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  };
  const auto& problem = discrete.solver().problem();
  for (const auto& term : problem.terms) add(term.potential->quantities());
  for (const auto& objective : objectives) add(objective->depends_on());
  std::erase_if(result, [&](const parameters::Quantity& quantity) {
    return (!shape && (quantity == by::vertices || quantity == by::obstacle_vertices)) ||
           (!obstacles && quantity.place == parameters::Place::surface_vertex);
  });
  return result;
}

} // namespace

template <int dim>
GradientChain<dim>::GradientChain(DiscreteScene<dim>& discrete,
                                  const std::vector<ParameterField<dim>>& fields,
                                  const std::vector<std::unique_ptr<objectives::Objective<dim>>>& objectives)
    : discrete_(discrete), fields_(fields) {
  const auto any = [&](auto has) {
    return std::ranges::any_of(fields,
                               [&](const auto& field) { return std::invoke(has, *field.spec->kind); });
  };
  const bool obstacles =
      any([](const ParameterKind& kind) { return kind.actions<dim>().add_obstacles != nullptr; });
  const auto& contact = discrete.solver().problem().contact;
  products_.gradients.emplace_back(
      discrete.space(), quantities_of(discrete, objectives, any(&ParameterKind::changes_shape), obstacles),
      discrete.obstacles().num_vertices(), contact ? contact->parameters().friction.values.size() : 0);
  for (const auto& field : fields) gradient_.emplace_back(field.size(), 0.0);
  products_.wants_mass = any(&ParameterKind::changes_mass);
  if (any([](const ParameterKind& kind) { return kind.actions<dim>().add_loads != nullptr; }))
    products_.loads = [this](std::size_t objective, double time) {
      auto& g = products_.gradients[objective];
      for (std::size_t k = 0; k < fields_.size(); ++k)
        if (const auto add = actions(k).add_loads)
          add(fields_[k], PhysicalProducts<dim>{discrete_, g, {}}, time, gradient_[k]);
      g.clear(parameters::quantities::traction);
      g.clear(parameters::quantities::pressure);
    };
  if (obstacles)
    products_.obstacles = [this](std::size_t, double time, double load_factor, const auto& y) {
      for (std::size_t k = 0; k < fields_.size(); ++k)
        if (const auto add = actions(k).add_obstacles)
          add(fields_[k], discrete_, time, load_factor, y, gradient_[k]);
    };
  if (any([](const ParameterKind& kind) { return kind.actions<dim>().add_prescribed != nullptr; }))
    products_.prescribed = [this](std::size_t, double time, double load_factor, const linalg::Vector& y) {
      for (std::size_t k = 0; k < fields_.size(); ++k)
        if (const auto add = actions(k).add_prescribed)
          add(fields_[k], discrete_, time, load_factor, y, gradient_[k]);
    };
  if (any([](const ParameterKind& kind) { return kind.actions<dim>().add_initial != nullptr; }))
    products_.initial = [this](std::size_t, const linalg::Vector& y, const linalg::Vector& z) {
      for (std::size_t k = 0; k < fields_.size(); ++k)
        if (const auto add = actions(k).add_initial)
          add(std::span(fields_).subspan(k), discrete_, y, z, gradient_[k]);
    };
}

template <int dim>
const ParameterActions<dim>& GradientChain<dim>::actions(std::size_t k) const {
  return fields_[k].spec->kind->template actions<dim>();
}

/// Completes the shares of the ranks.
template <int dim>
void GradientChain<dim>::sum_over_ranks(std::size_t k, std::span<double> gradient) const {
  const ParameterField<dim>& field = fields_[k];
  const auto& mesh = discrete_.mesh();
  if (field.extent == ParameterField<dim>::Extent::replicated) {
    mesh.comm->sum(gradient);
  } else if (field.extent == ParameterField<dim>::Extent::vertices) {
    const std::size_t width = field.components;
    std::vector<double> by_vertex(mesh.vertices.size() * width, 0.0);
    const auto copy = [&](auto act) {
      for (std::size_t v = 0; v < mesh.vertices.size(); ++v)
        if (field.slot_of_vertex[v] >= 0)
          for (std::size_t i = 0; i < width; ++i)
            act(by_vertex[v * width + i], gradient[field.slot_of_vertex[v] * width + i]);
    };
    copy([](double& at_vertex, double share) { at_vertex = share; });
    add_to_vertex_owners(mesh, field.components, by_vertex);
    copy([](double at_vertex, double& result) { result = at_vertex; });
  }
}

template <int dim>
ParameterValues GradientChain<dim>::finish() {
  parameters::PhysicalGradient<dim>& g = products_.gradients[0];
  std::vector<double> by_vertex;
  if (const auto* shares = g.rest_positions()) {
    for (const auto& share : *shares) by_vertex.insert(by_vertex.end(), share.begin(), share.end());
    add_to_vertex_owners(discrete_.mesh(), dim, by_vertex);
  }
  for (std::size_t k = 0; k < fields_.size(); ++k) {
    if (const auto add = actions(k).add_transposed)
      add(fields_[k], PhysicalProducts<dim>{discrete_, g, by_vertex}, gradient_[k]);
    sum_over_ranks(k, gradient_[k]);
  }
  return std::move(gradient_);
}

template <int dim>
std::vector<inverse::GatheredArray> GradientChain<dim>::gathered() {
  std::vector<inverse::GatheredArray> result;
  products_.gradients[0].for_each_array([&](const std::string& name, std::span<double> entries) {
    result.push_back({"quantity_" + name, entries});
  });
  for (std::size_t k = 0; k < gradient_.size(); ++k)
    result.push_back({"parameter_" + std::to_string(k), gradient_[k]});
  return result;
}

template class GradientChain<2>;
template class GradientChain<3>;

} // namespace recoil::app
