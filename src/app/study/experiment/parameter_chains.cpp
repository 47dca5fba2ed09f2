#include "app/study/experiment/parameter_chains.hpp"

#include <algorithm>
#include <unordered_map>

#include "recoil/parallel/exchange.hpp"
#include "recoil/parallel/halo.hpp"

namespace recoil::app {

namespace by = parameters::quantities;

namespace {

/// Adds what ranks have at their copies of mesh vertices, `width` numbers per local vertex, to the owners and
/// forgets the copies; in the order of ranks, so that it repeats bitwise. Collective.
template <int dim>
void add_to_vertex_owners(const mesh::DistributedMesh<dim>& mesh, int width, std::span<double> values) {
  const std::size_t size = mesh.comm->size();
  std::vector<std::vector<GlobalIndex>> wanted(size);
  std::vector<std::vector<LocalIndex>> copies(size);
  for (LocalIndex vertex = mesh.num_owned_vertices; vertex < mesh.num_vertices(); ++vertex) {
    wanted[mesh.vertex_owner[vertex]].push_back(mesh.vertex_ids[vertex]);
    copies[mesh.vertex_owner[vertex]].push_back(vertex);
  }
  std::unordered_map<GlobalIndex, LocalIndex> owned;
  for (LocalIndex vertex = 0; vertex < mesh.num_owned_vertices; ++vertex)
    owned[mesh.vertex_ids[vertex]] = vertex;
  const auto questions = parallel::exchange(*mesh.comm, wanted);
  std::vector<std::vector<LocalIndex>> answers(size);
  for (std::size_t rank = 0; rank < size; ++rank)
    for (const GlobalIndex id : questions[rank]) answers[rank].push_back(owned.at(id));
  const parallel::Halo halo(*mesh.comm, parallel::exchange(*mesh.comm, answers));

  const std::size_t w = width;
  std::vector<double> ghosts;
  for (const auto& part : copies)
    for (const LocalIndex vertex : part) {
      const auto share = values.subspan(vertex * w, w);
      ghosts.insert(ghosts.end(), share.begin(), share.end());
      std::ranges::fill(share, 0.0);
    }
  halo.add_back(ghosts, width, values.first(mesh.num_owned_vertices * w));
}

/// What the terms of an experiment give derivatives by, but what no parameter asks for.
template <int dim>
std::vector<parameters::Quantity>
quantities_of(DiscreteScene<dim>& discrete,
              const std::vector<std::unique_ptr<objectives::Objective<dim>>>& objectives,
              const ParameterWeights<dim>& weights) {
  const bool shape = weights.changes(by::vertices), obstacles = weights.any_enters(Enters::obstacles);
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

template <int dim>
ParameterWeights<dim> weights_on(DiscreteScene<dim>& discrete, const ParameterFields<dim>& fields) {
  ParameterWeights<dim> weights{fields};
  for (std::size_t k = 0; k < fields.size(); ++k) {
    const ParameterActions<dim>& actions = actions_of<dim>(*fields[k].spec);
    weights.all.push_back(
        {k, actions.enters, fields[k].spec->kind->quantities,
         [&, k](const parameters::Quantity& quantity, const Moment& at, const TakeWeight& take) {
           actions_of<dim>(*fields[k].spec)
               .weights({quantity, std::span(fields).subspan(k), discrete, at}, take);
         }});
  }
  return weights;
}

template <int dim>
std::size_t num_friction_coefficients(DiscreteScene<dim>& discrete) {
  const auto& contact = discrete.solver().problem().contact;
  return contact ? contact->parameters().friction.values.size() : 0;
}

template <int dim>
parameters::PhysicalDirection<dim> no_change(DiscreteScene<dim>& discrete,
                                             const ParameterWeights<dim>& weights) {
  std::vector<parameters::Quantity> quantities;
  for (const FieldWeights& of_field : weights.all)
    quantities.insert(quantities.end(), of_field.quantities.begin(), of_field.quantities.end());
  if (weights.any_enters(Enters::obstacles)) quantities.push_back(by::previous_obstacle_positions);
  const auto& contact = discrete.solver().problem().contact;
  return {discrete.space(), quantities, contact ? std::size_t(contact->surface().num_owned()) : 0,
          discrete.obstacles().num_vertices(), num_friction_coefficients(discrete)};
}

/// Takes loads away, which are those of one time.
template <class Arrays>
void clear_loads(const std::vector<FieldWeights>& weights, Arrays& arrays) {
  for (const FieldWeights& of_field : weights)
    for (const parameters::Quantity& quantity : of_field.quantities)
      if (of_field.enters == Enters::loads) arrays.clear(quantity);
}

} // namespace

template <int dim>
bool ParameterWeights<dim>::any_enters(Enters where) const {
  return std::ranges::find(all, where, &FieldWeights::enters) != all.end();
}

template <int dim>
bool ParameterWeights<dim>::changes(const parameters::Quantity& quantity) const {
  return std::ranges::any_of(
      all, [&](const FieldWeights& of_field) { return holds(of_field.quantities, quantity); });
}

template <int dim>
void ParameterWeights<dim>::walk(
    Enters where, const Moment& at,
    const std::function<void(std::size_t, const parameters::Quantity&, const ShowWeights&)>& visit) const {
  for (const FieldWeights& of_field : all)
    for (const parameters::Quantity& quantity : of_field.quantities)
      if (of_field.enters == where)
        visit(of_field.field, quantity, [&](const TakeWeight& take) { of_field.give(quantity, at, take); });
}

template <int dim>
GradientChain<dim>::GradientChain(ParameterWeights<dim> weights, const parallel::Communicator& comm,
                                  parameters::PhysicalGradient<dim> zero, AddToVertexOwners add_to_owners)
    : weights_(std::move(weights)), comm_(comm), add_to_owners_(std::move(add_to_owners)) {
  products_.gradients.push_back(std::move(zero));
  for (const auto& field : weights_.fields) gradient_.emplace_back(field.size(), 0.0);
  products_.wants_mass = weights_.changes_mass();
  const auto add = [this](Enters where, const Moment& at, auto entries) {
    weights_.add_transposed(where, at, entries, gradient_);
  };
  if (weights_.any_enters(Enters::loads))
    products_.loads = [this, add](std::size_t objective, double time) {
      auto& g = products_.gradients[objective];
      add(Enters::loads, {time}, [&](const auto& quantity) { return g.entries(quantity); });
      clear_loads(weights_.all, g);
    };
  if (weights_.any_enters(Enters::obstacles))
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
  using Extent = typename ParameterField<dim>::Extent;
  const ParameterField<dim>& field = weights_.fields[k];
  if (field.extent == Extent::replicated || field.extent == Extent::bonds) {
    comm_.sum(gradient);
  } else if (field.extent == Extent::vertices) {
    const std::size_t width = field.components, num_vertices = field.slot_of_vertex.size();
    std::vector<double> by_vertex(num_vertices * width, 0.0);
    const auto copy = [&](auto act) {
      for (std::size_t v = 0; v < num_vertices; ++v)
        if (field.slot_of_vertex[v] >= 0)
          for (std::size_t i = 0; i < width; ++i)
            act(by_vertex[v * width + i], gradient[field.slot_of_vertex[v] * width + i]);
    };
    copy([](double& at_vertex, double share) { at_vertex = share; });
    add_to_owners_(field.components, by_vertex);
    copy([](double at_vertex, double& result) { result = at_vertex; });
  }
}

template <int dim>
ParameterValues GradientChain<dim>::finish() {
  parameters::PhysicalGradient<dim>& g = products_.gradients[0];
  if (g.rest_positions()) add_to_owners_(dim, g.entries(by::vertices));
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

template <int dim>
TangentChain<dim>::TangentChain(ParameterWeights<dim> weights, const parameters::PhysicalDirection<dim>& zero,
                                std::vector<ParameterValues> changes)
    : weights_(std::move(weights)), changes_(std::move(changes)) {
  directions_.changes.assign(changes_.size(), zero);
  directions_.changes_mass = weights_.changes_mass();
  const auto add = [this](Enters where, std::size_t direction, const Moment& at, const auto& entries) {
    weights_.add_product(where, at, changes_[direction], entries);
  };
  for (std::size_t d = 0; d < changes_.size(); ++d)
    add(Enters::terms, d, {}, [&](const auto& quantity) { return directions_.changes[d].entries(quantity); });
  if (weights_.any_enters(Enters::loads))
    directions_.loads = [this, add](std::size_t direction, double time) {
      auto& change = directions_.changes[direction];
      clear_loads(weights_.all, change);
      add(Enters::loads, direction, {time}, [&](const auto& quantity) { return change.entries(quantity); });
    };
  if (weights_.any_enters(Enters::prescribed))
    directions_.prescribed = [add](std::size_t direction, double time, double load_factor,
                                   linalg::Vector& y) {
      add(Enters::prescribed, direction, {time, load_factor}, [&](const auto&) { return y.write_owned(); });
    };
  if (weights_.any_enters(Enters::obstacles))
    directions_.obstacles = [add](std::size_t direction, double time, double load_factor, auto& y) {
      std::ranges::fill(y, Eigen::Matrix<double, dim, 1>::Zero());
      add(Enters::obstacles, direction, {time, load_factor},
          [&](const auto&) { return parameters::components(y); });
    };
  if (weights_.any_enters(Enters::initial))
    directions_.initial = [add](std::size_t direction, linalg::Vector& y, linalg::Vector& z) {
      add(Enters::initial, direction, {}, [&](const auto& quantity) {
        return quantity == by::displacement ? y.write_owned() : z.write_owned();
      });
    };
}

template <int dim>
GradientChain<dim>
gradient_chain(DiscreteScene<dim>& discrete, const ParameterFields<dim>& fields,
               const std::vector<std::unique_ptr<objectives::Objective<dim>>>& objectives) {
  ParameterWeights<dim> weights = weights_on(discrete, fields);
  parameters::PhysicalGradient<dim> zero(discrete.space(), quantities_of(discrete, objectives, weights),
                                         discrete.obstacles().num_vertices(),
                                         num_friction_coefficients(discrete));
  return {std::move(weights), *discrete.mesh().comm, std::move(zero),
          [&mesh = discrete.mesh()](int width, std::span<double> values) {
            add_to_vertex_owners(mesh, width, values);
          }};
}

template <int dim>
TangentChain<dim> tangent_chain(DiscreteScene<dim>& discrete, const ParameterFields<dim>& fields,
                                std::vector<ParameterValues> changes) {
  ParameterWeights<dim> weights = weights_on(discrete, fields);
  const parameters::PhysicalDirection<dim> zero = no_change(discrete, weights);
  return {std::move(weights), zero, std::move(changes)};
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template struct ParameterWeights<dim>;                                                                     \
  template class GradientChain<dim>;                                                                         \
  template class TangentChain<dim>;                                                                          \
  template GradientChain<dim> gradient_chain(                                                                \
      DiscreteScene<dim>&, const ParameterFields<dim>&,                                                      \
      const std::vector<std::unique_ptr<objectives::Objective<dim>>>&);                                      \
  template TangentChain<dim> tangent_chain(DiscreteScene<dim>&, const ParameterFields<dim>&,                 \
                                           std::vector<ParameterValues>);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::app
