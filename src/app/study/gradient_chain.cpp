#include "app/study/gradient_chain.hpp"

#include <algorithm>

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
    : weights_(discrete, fields) {
  namespace by = parameters::quantities;
  const bool obstacles = weights_.any_enters(Enters::obstacles);
  const auto& contact = discrete.solver().problem().contact;
  products_.gradients.emplace_back(
      discrete.space(), quantities_of(discrete, objectives, weights_.changes(by::vertices), obstacles),
      discrete.obstacles().num_vertices(), contact ? contact->parameters().friction.values.size() : 0);
  for (const auto& field : fields) gradient_.emplace_back(field.size(), 0.0);
  products_.wants_mass = weights_.changes_mass();
  const auto add = [this](Enters where, const Moment& at, auto entries) {
    weights_.add_transposed(where, at, entries, gradient_);
  };
  if (weights_.any_enters(Enters::loads))
    products_.loads = [this, add](std::size_t objective, double time) {
      auto& g = products_.gradients[objective];
      add(Enters::loads, {time}, [&](const auto& quantity) { return g.entries(quantity); });
      g.clear(by::traction);
      g.clear(by::pressure);
    };
  if (obstacles)
    products_.obstacles = [add](std::size_t, double time, double load_factor, const auto& y) {
      add(Enters::obstacles, {time, load_factor}, [&](const auto&) { return parameters::components(y); });
    };
  if (weights_.any_enters(Enters::prescribed))
    products_.prescribed = [add](std::size_t, double time, double load_factor, const linalg::Vector& y) {
      add(Enters::prescribed, {time, load_factor}, [&](const auto&) { return y.owned(); });
    };
  if (weights_.any_enters(Enters::initial))
    products_.initial = [add](std::size_t, const linalg::Vector& y, const linalg::Vector& z) {
      add(Enters::initial, {},
          [&](const auto& quantity) { return quantity == by::displacement ? y.owned() : z.owned(); });
    };
}

/// Completes the shares of the ranks.
template <int dim>
void GradientChain<dim>::sum_over_ranks(std::size_t k, std::span<double> gradient) const {
  const ParameterField<dim>& field = weights_.fields()[k];
  const auto& mesh = weights_.discrete().mesh();
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
  if (g.rest_positions())
    add_to_vertex_owners(weights_.discrete().mesh(), dim, g.entries(parameters::quantities::vertices));
  weights_.add_transposed(
      Enters::terms, {}, [&](const auto& quantity) { return g.entries(quantity); }, gradient_);
  for (std::size_t k = 0; k < gradient_.size(); ++k) sum_over_ranks(k, gradient_[k]);
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
