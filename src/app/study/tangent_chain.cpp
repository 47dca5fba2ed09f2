#include "app/study/tangent_chain.hpp"

namespace recoil::app {

namespace by = parameters::quantities;

namespace {

/// No change of anything that has one along some direction.
template <int dim>
parameters::PhysicalDirection<dim> no_change(const ParameterWeights<dim>& weights) {
  std::vector<parameters::Quantity> quantities;
  for (const ParameterField<dim>& field : weights.fields())
    quantities.insert(quantities.end(), field.spec->kind->quantities.begin(),
                      field.spec->kind->quantities.end());
  if (weights.any_enters(Enters::obstacles)) quantities.push_back(by::previous_obstacle_positions);
  DiscreteScene<dim>& discrete = weights.discrete();
  const auto& contact = discrete.solver().problem().contact;
  return {discrete.space(), quantities, contact ? std::size_t(contact->surface().num_owned()) : 0,
          discrete.obstacles().num_vertices(), contact ? contact->parameters().friction.values.size() : 0};
}

} // namespace

template <int dim>
TangentChain<dim>::TangentChain(DiscreteScene<dim>& discrete, const std::vector<ParameterField<dim>>& fields,
                                std::vector<ParameterValues> changes)
    : weights_(discrete, fields), changes_(std::move(changes)) {
  directions_.changes.assign(changes_.size(), no_change(weights_));
  directions_.changes_mass = weights_.changes_mass();
  for (std::size_t d = 0; d < changes_.size(); ++d)
    add(Enters::terms, d, {}, [&](const auto& quantity) { return directions_.changes[d].entries(quantity); });
  add_functions();
}

template <int dim>
void TangentChain<dim>::add_functions() {
  if (weights_.any_enters(Enters::loads))
    directions_.loads = [this](std::size_t direction, double time) {
      auto& change = directions_.changes[direction];
      change.clear(by::traction);
      change.clear(by::pressure);
      add(Enters::loads, direction, {time}, [&](const auto& quantity) { return change.entries(quantity); });
    };
  if (weights_.any_enters(Enters::prescribed))
    directions_.prescribed = [this](std::size_t direction, double time, double load_factor,
                                    linalg::Vector& y) {
      y.fill(0);
      add(Enters::prescribed, direction, {time, load_factor}, [&](const auto&) { return y.write_owned(); });
      y.update_ghosts();
    };
  if (weights_.any_enters(Enters::obstacles))
    directions_.obstacles = [this](std::size_t direction, double time, double load_factor, auto& y) {
      const auto& surface = weights_.discrete().solver().problem().contact->surface();
      y.assign(surface.num_owned(), Eigen::Matrix<double, dim, 1>::Zero());
      add(Enters::obstacles, direction, {time, load_factor},
          [&](const auto&) { return parameters::components(y); });
    };
  if (weights_.any_enters(Enters::initial))
    directions_.initial = [this](std::size_t direction, linalg::Vector& y, linalg::Vector& z) {
      y.fill(0);
      z.fill(0);
      add(Enters::initial, direction, {}, [&](const auto& quantity) {
        return quantity == by::displacement ? y.write_owned() : z.write_owned();
      });
      y.update_ghosts();
      z.update_ghosts();
    };
}

template class TangentChain<2>;
template class TangentChain<3>;

} // namespace recoil::app
