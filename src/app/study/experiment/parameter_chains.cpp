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
              const std::vector<std::unique_ptr<objectives::Objective<dim>>>& objectives, bool shape,
              bool obstacles) {
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

/// No change of anything that has one along some direction.
template <int dim>
parameters::PhysicalDirection<dim> no_change(const ParameterWeights<dim>& weights) {
  std::vector<parameters::Quantity> quantities;
  for (const ParameterField<dim>& field : weights.fields)
    quantities.insert(quantities.end(), field.spec->kind->quantities.begin(),
                      field.spec->kind->quantities.end());
  if (weights.any_enters(Enters::obstacles)) quantities.push_back(by::previous_obstacle_positions);
  DiscreteScene<dim>& discrete = weights.discrete;
  const auto& contact = discrete.solver().problem().contact;
  return {discrete.space(), quantities, contact ? std::size_t(contact->surface().num_owned()) : 0,
          discrete.obstacles().num_vertices(), contact ? contact->parameters().friction.values.size() : 0};
}

} // namespace

template <int dim>
bool ParameterWeights<dim>::any_enters(Enters where) const {
  return std::ranges::any_of(
      fields, [&](const ParameterField<dim>& field) { return actions_of<dim>(*field.spec).enters == where; });
}

template <int dim>
bool ParameterWeights<dim>::changes(const parameters::Quantity& quantity) const {
  return std::ranges::any_of(
      fields, [&](const ParameterField<dim>& field) { return field.spec->kind->changes(quantity); });
}

template <int dim>
void ParameterWeights<dim>::walk(
    Enters where, const Moment& at,
    const std::function<void(std::size_t, const parameters::Quantity&, const ShowWeights&)>& visit) const {
  for (std::size_t k = 0; k < fields.size(); ++k) {
    const ParameterActions<dim>& actions = actions_of<dim>(*fields[k].spec);
    if (actions.enters != where) continue;
    for (const parameters::Quantity& quantity : fields[k].spec->kind->quantities)
      visit(k, quantity, [&](const TakeWeight& take) {
        actions.weights({quantity, std::span(fields).subspan(k), discrete, at}, take);
      });
  }
}

template <int dim>
GradientChain<dim>::GradientChain(DiscreteScene<dim>& discrete, const ParameterFields<dim>& fields,
                                  const std::vector<std::unique_ptr<objectives::Objective<dim>>>& objectives)
    : weights_{discrete, fields} {
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
  const ParameterField<dim>& field = weights_.fields[k];
  const auto& mesh = weights_.discrete.mesh();
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
  if (g.rest_positions()) add_to_vertex_owners(weights_.discrete.mesh(), dim, g.entries(by::vertices));
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
TangentChain<dim>::TangentChain(DiscreteScene<dim>& discrete, const ParameterFields<dim>& fields,
                                std::vector<ParameterValues> changes)
    : weights_{discrete, fields}, changes_(std::move(changes)) {
  directions_.changes.assign(changes_.size(), no_change(weights_));
  directions_.changes_mass = weights_.changes_mass();
  const auto add = [this](Enters where, std::size_t direction, const Moment& at, const auto& entries) {
    weights_.add_product(where, at, changes_[direction], entries);
  };
  for (std::size_t d = 0; d < changes_.size(); ++d)
    add(Enters::terms, d, {}, [&](const auto& quantity) { return directions_.changes[d].entries(quantity); });
  if (weights_.any_enters(Enters::loads))
    directions_.loads = [this, add](std::size_t direction, double time) {
      auto& change = directions_.changes[direction];
      change.clear(by::traction);
      change.clear(by::pressure);
      add(Enters::loads, direction, {time}, [&](const auto& quantity) { return change.entries(quantity); });
    };
  if (weights_.any_enters(Enters::prescribed))
    directions_.prescribed = [add](std::size_t direction, double time, double load_factor,
                                   linalg::Vector& y) {
      y.fill(0);
      add(Enters::prescribed, direction, {time, load_factor}, [&](const auto&) { return y.write_owned(); });
      y.update_ghosts();
    };
  if (weights_.any_enters(Enters::obstacles))
    directions_.obstacles = [this, add](std::size_t direction, double time, double load_factor, auto& y) {
      const auto& surface = weights_.discrete.solver().problem().contact->surface();
      y.assign(surface.num_owned(), Eigen::Matrix<double, dim, 1>::Zero());
      add(Enters::obstacles, direction, {time, load_factor},
          [&](const auto&) { return parameters::components(y); });
    };
  if (weights_.any_enters(Enters::initial))
    directions_.initial = [add](std::size_t direction, linalg::Vector& y, linalg::Vector& z) {
      y.fill(0);
      z.fill(0);
      add(Enters::initial, direction, {}, [&](const auto& quantity) {
        return quantity == by::displacement ? y.write_owned() : z.write_owned();
      });
      y.update_ghosts();
      z.update_ghosts();
    };
}

template struct ParameterWeights<2>;
template struct ParameterWeights<3>;
template class GradientChain<2>;
template class GradientChain<3>;
template class TangentChain<2>;
template class TangentChain<3>;

} // namespace recoil::app
