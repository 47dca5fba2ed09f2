#include "app/study/gradient_chain.hpp"

#include <algorithm>
#include <functional>

#include "app/study/vertex_sums.hpp"

namespace recoil::app {

namespace {

/// Numbers, arrays or vectors one after the other.
template <class Item>
std::span<double> flat(std::vector<Item>& items) {
  static_assert(sizeof(Item) % sizeof(double) == 0);
  return {reinterpret_cast<double*>(items.data()), items.size() * (sizeof(Item) / sizeof(double))};
}

} // namespace

template <int dim>
GradientChain<dim>::GradientChain(DiscreteScene<dim>& discrete,
                                  const std::vector<ParameterField<dim>>& fields, std::size_t num_objectives)
    : discrete_(discrete), fields_(fields) {
  const auto any = [&](auto has) {
    return std::ranges::any_of(fields,
                               [&](const auto& field) { return std::invoke(has, *field.spec->kind); });
  };
  const bool shape = any(&ParameterKind::changes_shape);
  for (std::size_t objective = 0; objective < num_objectives; ++objective) {
    products_.gradients.emplace_back(discrete.space(), discrete.obstacles().num_vertices());
    products_.gradients.back().wants_shape = shape;
    for (const MaterialEntry& material : discrete.scene().materials)
      for (const potentials::LawParameter& parameter : material.law->parameters)
        products_.gradients.back().constant(parameter.name);
    ParameterValues& zero = gradients_.emplace_back();
    for (const auto& field : fields) zero.emplace_back(field.size(), 0.0);
  }
  products_.wants_mass = any(&ParameterKind::changes_mass);
  if (any([](const ParameterKind& kind) { return kind.actions<dim>().add_obstacles != nullptr; }))
    products_.obstacles = [this](std::size_t objective, double time, double load_factor, const auto& y) {
      for (std::size_t k = 0; k < fields_.size(); ++k)
        if (const auto add = actions(k).add_obstacles)
          add(fields_[k], discrete_, time, load_factor, y, gradients_[objective][k]);
    };
  if (any([](const ParameterKind& kind) { return kind.actions<dim>().add_prescribed != nullptr; }))
    products_.prescribed = [this](std::size_t objective, double time, double load_factor,
                                  const linalg::Vector& y) {
      for (std::size_t k = 0; k < fields_.size(); ++k)
        if (const auto add = actions(k).add_prescribed)
          add(fields_[k], discrete_, time, load_factor, y, gradients_[objective][k]);
    };
  if (any([](const ParameterKind& kind) { return kind.actions<dim>().add_initial != nullptr; }))
    products_.initial = [this](std::size_t objective, const linalg::Vector& y, const linalg::Vector& z) {
      for (std::size_t k = 0; k < fields_.size(); ++k)
        if (const auto add = actions(k).add_initial)
          add(std::span(fields_).subspan(k), discrete_, y, z, gradients_[objective][k]);
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
    const auto width = static_cast<std::size_t>(field.components);
    std::vector<double> by_vertex(mesh.vertices.size() * width, 0.0);
    const auto copy = [&](auto act) {
      for (std::size_t v = 0; v < mesh.vertices.size(); ++v)
        if (field.slot_of_vertex[v] >= 0)
          for (std::size_t i = 0; i < width; ++i)
            act(by_vertex[v * width + i],
                gradient[static_cast<std::size_t>(field.slot_of_vertex[v]) * width + i]);
    };
    copy([](double& at_vertex, double share) { at_vertex = share; });
    add_to_vertex_owners(mesh, field.components, by_vertex);
    copy([](double at_vertex, double& result) { result = at_vertex; });
  }
}

template <int dim>
ParameterValues GradientChain<dim>::finish(std::size_t objective) {
  const parameters::PhysicalGradient<dim>& g = products_.gradients[objective];
  std::vector<double> by_vertex;
  if (g.wants_shape) {
    for (const auto& share : g.vertices) by_vertex.insert(by_vertex.end(), share.begin(), share.end());
    add_to_vertex_owners(discrete_.mesh(), dim, by_vertex);
  }
  ParameterValues& gradients = gradients_[objective];
  for (std::size_t k = 0; k < fields_.size(); ++k) {
    if (const auto add = actions(k).add_transposed)
      add(fields_[k], PhysicalProducts<dim>{discrete_, g, by_vertex}, gradients[k]);
    sum_over_ranks(k, gradients[k]);
  }
  return std::move(gradients);
}

/// Calls act(values) for every list of values that the sweep adds to, but friction.
template <int dim>
template <class Act>
void GradientChain<dim>::for_each_share(Act act) {
  for (parameters::PhysicalGradient<dim>& g : products_.gradients) {
    for (auto& [name, values] : g.constants) act(flat(values));
    act(flat(g.viscosity));
    act(flat(g.density));
    act(flat(g.acceleration));
    act(flat(g.traction));
    act(flat(g.pressure));
    act(flat(g.vertices));
    act(flat(g.obstacle_vertices));
  }
  for (ParameterValues& values : gradients_)
    for (std::vector<double>& field : values) act(flat(field));
}

template <int dim>
std::vector<double> GradientChain<dim>::shares() {
  std::vector<double> shares;
  for_each_share([&](std::span<double> values) {
    const bool zero = std::ranges::all_of(values, [](double value) { return value == 0; });
    shares.push_back(zero ? 0 : static_cast<double>(values.size()));
    if (!zero) shares.insert(shares.end(), values.begin(), values.end());
  });
  for (const auto& g : products_.gradients) {
    shares.push_back(static_cast<double>(g.friction.size()));
    for (const auto& [pair, value] : g.friction) {
      shares.push_back(pair.first);
      shares.push_back(pair.second);
      shares.push_back(value);
    }
  }
  return shares;
}

template <int dim>
bool GradientChain<dim>::set_shares(std::span<const double> shares) {
  bool fits = true;
  const auto take = [&](std::size_t count) {
    fits = fits && count <= shares.size();
    const auto taken = shares.first(fits ? count : 0);
    shares = shares.subspan(taken.size());
    return taken;
  };
  const auto take_count = [&] {
    const auto count = take(1);
    return fits && count[0] >= 0 ? static_cast<std::size_t>(count[0]) : 0;
  };
  for_each_share([&](std::span<double> values) {
    const std::size_t count = take_count();
    fits = fits && (count == 0 || count == values.size());
    const auto from = take(fits ? count : 0);
    if (from.empty())
      std::ranges::fill(values, 0.0);
    else
      std::ranges::copy(from, values.begin());
  });
  for (auto& g : products_.gradients) {
    g.friction.clear();
    const auto entries = take(3 * take_count());
    for (std::size_t i = 0; i + 2 < entries.size(); i += 3)
      g.friction[{static_cast<std::int32_t>(entries[i]), static_cast<std::int32_t>(entries[i + 1])}] =
          entries[i + 2];
  }
  return fits && shares.empty();
}

template class GradientChain<2>;
template class GradientChain<3>;

} // namespace recoil::app
