#include "app/study/gradient_chain.hpp"

#include <algorithm>

#include "app/study/initial_parameters.hpp"
#include "app/study/vertex_sums.hpp"
#include "recoil/app/simulation/build_contact.hpp"
#include "recoil/app/simulation/build_problem.hpp"
#include "recoil/app/simulation/materials.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {

namespace {

template <int dim>
bool has_group(const std::vector<ParameterField<dim>>& fields, QuantityGroup group) {
  return std::ranges::any_of(fields,
                             [&](const auto& field) { return info(field.spec->quantity).group == group; });
}

template <int dim>
bool has_quantity(const std::vector<ParameterField<dim>>& fields, Quantity quantity) {
  return std::ranges::any_of(fields, [&](const auto& field) { return field.spec->quantity == quantity; });
}

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
  if (has_group(fields, QuantityGroup::material))
    lame_ =
        cell_lame_constants(discrete.scene(), discrete.space(), discrete.materials(), discrete.overrides());
  const bool shape = has_group(fields, QuantityGroup::shape);
  for (std::size_t objective = 0; objective < num_objectives; ++objective) {
    products_.gradients.emplace_back(discrete.space(), discrete.obstacles().num_vertices());
    products_.gradients.back().wants_shape = shape;
    for (const MaterialEntry& material : discrete.scene().materials)
      for (const potentials::LawParameter& parameter : material.law->parameters)
        products_.gradients.back().constant(parameter.name);
    ParameterValues& zero = gradients_.emplace_back();
    for (const auto& field : fields) zero.emplace_back(field.size(), 0.0);
  }
  products_.wants_mass = shape || has_group(fields, QuantityGroup::density);
  if (has_quantity(fields, Quantity::obstacle_motion))
    products_.obstacles = [this](std::size_t objective, double time, double load_factor, const auto& y) {
      add_obstacle_products(objective, time, load_factor, y);
    };
  if (has_quantity(fields, Quantity::dirichlet_value))
    products_.prescribed = [this](std::size_t objective, double time, double load_factor,
                                  const linalg::Vector& y) {
      add_prescribed(objective, time, load_factor, y);
    };
  if (has_group(fields, QuantityGroup::initial))
    products_.initial = [this](std::size_t objective, const linalg::Vector& y, const linalg::Vector& z) {
      add_initial(objective, y, z);
    };
}

template <int dim>
void GradientChain<dim>::add_initial(std::size_t objective, const linalg::Vector& y,
                                     const linalg::Vector& z) {
  add_initial_products<dim>(fields_, discrete_.space(), y.owned(), z.owned(), gradients_[objective]);
  for (std::size_t k = 0; k < fields_.size(); ++k) {
    if (fields_[k].spec->quantity != Quantity::initial_angular_velocity) continue;
    std::vector<Eigen::Vector3d> centres(discrete_.mesh().body_names.size(), Eigen::Vector3d::Zero());
    for (const AngularVelocity& spin : discrete_.scene().initial_conditions.angular_velocity)
      for (std::size_t body = 0; body < centres.size(); ++body)
        if (contains(spin.region, discrete_.mesh().body_names[body], 0))
          centres[body] = spin_center(spin, discrete_.solver().problem());
    add_spin_products<dim>(fields_[k], discrete_.space(), centres, z.owned(), gradients_[objective][k]);
  }
}

template <int dim>
void GradientChain<dim>::add_obstacle_products(std::size_t objective, double time, double load_factor,
                                               const std::vector<Eigen::Matrix<double, dim, 1>>& y) {
  const Scene& scene = discrete_.scene();
  const auto& obstacles = discrete_.obstacles();
  const auto& surface = discrete_.solver().problem().contact->surface();
  for (std::size_t k = 0; k < fields_.size(); ++k) {
    const ParameterField<dim>& field = fields_[k];
    if (field.slot_of_obstacle.empty()) continue;
    for (std::size_t v = 0; v < y.size(); ++v) {
      const LocalIndex vertex = surface.obstacle_vertex(static_cast<LocalIndex>(v));
      if (vertex < 0) continue;
      const auto obstacle =
          static_cast<std::size_t>(obstacles.vertex_surface[static_cast<std::size_t>(vertex)]);
      if (field.slot_of_obstacle[obstacle] < 0) continue;
      const DirichletEntry& entry =
          *find_obstacle_motion(scene.boundary_conditions, obstacles.surface_ids[obstacle]);
      const auto weights = field.spec->per_step
                               ? step_weights(scene.time, time)
                               : std::vector<std::pair<std::size_t, double>>{
                                     {static_cast<std::size_t>(field.slot_of_obstacle[obstacle]), 1.0}};
      for (int i = 0; i < dim; ++i) {
        const double factor = field.spec->per_step ? 1 : time_factor(entry.interpolation, i, time);
        for (const auto& [slot, weight] : weights)
          gradients_[objective][k][slot * dim + static_cast<std::size_t>(i)] +=
              weight * load_factor * factor * y[v][i];
      }
    }
  }
}

template <int dim>
void GradientChain<dim>::add_prescribed(std::size_t objective, double time, double load_factor,
                                        const linalg::Vector& y) {
  const Scene& scene = discrete_.scene();
  for (std::size_t k = 0; k < fields_.size(); ++k) {
    const ParameterSpec& spec = *fields_[k].spec;
    if (spec.quantity != Quantity::dirichlet_value) continue;
    const auto weights = spec.per_step ? step_weights(scene.time, time)
                                       : std::vector<std::pair<std::size_t, double>>{{0, 1.0}};
    discrete_.solver().problem().dirichlet->for_each(
        [&](LocalIndex node, int component, std::size_t condition) {
          const DirichletEntry& entry = scene.boundary_conditions.dirichlet[condition];
          if (!acts_on(entry, *spec.boundary)) return;
          const double factor = spec.per_step ? 1 : time_factor(entry.interpolation, component, time);
          for (const auto& [slot, weight] : weights)
            gradients_[objective][k][slot * dim + static_cast<std::size_t>(component)] +=
                weight * load_factor * factor *
                y.owned()[static_cast<std::size_t>(node) * dim + static_cast<std::size_t>(component)];
        });
  }
}

template <int dim>
void GradientChain<dim>::add_material_products(std::size_t k, const parameters::PhysicalGradient<dim>& g,
                                               std::span<double> gradient) const {
  const ParameterField<dim>& field = fields_[k];
  const QuantityInfo& quantity = info(field.spec->quantity);
  const auto by = [&](const std::string& name) {
    const auto found = g.constants.find(name);
    return found == g.constants.end() ? nullptr : found->second.data();
  };
  const double *by_lambda = by("lambda"), *by_mu = by("mu"), *by_own = by(quantity.constant);
  const auto of_cell = [&](std::size_t cell) {
    if (quantity.constant == "psi") return g.viscosity[cell][0];
    if (quantity.constant == "phi") return g.viscosity[cell][1];
    if (quantity.group == QuantityGroup::density) return g.density[cell];
    if (quantity.constant != "E" && quantity.constant != "nu") return by_own[cell];
    const MaterialEntry& entry =
        discrete_.scene().materials[static_cast<std::size_t>(discrete_.materials()[cell])];
    const potentials::LameModel model = lame_model(entry, dim);
    const Eigen::Vector2d young = potentials::young_from_lame(lame_[cell][0], lame_[cell][1], model).values;
    const int column = quantity.constant == "E" ? 0 : 1;
    const Eigen::Matrix2d jacobian = potentials::lame_from_young(young[0], young[1], model).jacobian;
    return by_lambda[cell] * jacobian(0, column) + by_mu[cell] * jacobian(1, column);
  };
  for (std::size_t cell = 0; cell < g.density.size(); ++cell)
    field.for_slots_of_cell(discrete_.mesh(), cell, [&](std::size_t slot, double weight) {
      gradient[slot] += weight * of_cell(cell);
    });
}

template <int dim>
void GradientChain<dim>::add_load_products(std::size_t k, const parameters::PhysicalGradient<dim>& g,
                                           std::span<double> gradient) const {
  const ParameterSpec& spec = *fields_[k].spec;
  const auto add = [&](const Eigen::Matrix<double, dim, 1>& share, std::size_t slot) {
    for (std::size_t i = 0; i < dim; ++i) gradient[slot * dim + i] += share[static_cast<Eigen::Index>(i)];
  };
  if (spec.quantity == Quantity::friction) {
    const auto& surface = discrete_.solver().problem().contact->surface();
    for (const auto& [pair, value] : g.friction) {
      const auto name = [&](std::int32_t body) {
        const std::size_t first_plane =
            discrete_.mesh().body_names.size() + discrete_.obstacles().names.size();
        const auto number = static_cast<std::size_t>(body);
        return number < first_plane ? surface.body_name(body)
                                    : discrete_.scene().planes[number - first_plane].name;
      };
      const std::array<std::string, 2> names{name(pair.first), name(pair.second)};
      if ((names[0] == spec.bodies[0] && names[1] == spec.bodies[1]) ||
          (names[0] == spec.bodies[1] && names[1] == spec.bodies[0]))
        gradient[0] += value;
    }
    return;
  }
  if (spec.quantity == Quantity::body_force) {
    for (std::size_t cell = 0; cell < g.acceleration.size(); ++cell)
      fields_[k].for_slots_of_cell(discrete_.mesh(), cell, [&](std::size_t slot, double weight) {
        add(weight * g.acceleration[cell], slot);
      });
    return;
  }
  const auto& facets = discrete_.space().boundary_facets();
  const BoundaryConditions& conditions = discrete_.scene().boundary_conditions;
  const auto is_loaded = [&](std::int32_t id) {
    const auto selects = [&](const auto& entry) {
      return acts_on(entry, id) && (!spec.boundary || acts_on(entry, *spec.boundary));
    };
    return spec.quantity == Quantity::traction ? std::ranges::any_of(conditions.neumann, selects)
                                               : std::ranges::any_of(conditions.pressure, selects);
  };
  for (std::size_t f = 0; f < facets.size(); ++f) {
    if (!is_loaded(facets[f].id)) continue;
    if (spec.quantity == Quantity::traction)
      add(g.traction[f], 0);
    else
      gradient[0] += g.pressure[f];
  }
}

template <int dim>
void GradientChain<dim>::add_shape_products(std::size_t k, std::span<const double> by_vertex,
                                            std::span<double> gradient) const {
  const ParameterField<dim>& field = fields_[k];
  // Shares of copies have gone to the owners.
  for (std::size_t vertex = 0; vertex < static_cast<std::size_t>(discrete_.mesh().num_owned_vertices);
       ++vertex)
    for (const auto& [slot, weight] : field.shape_weights[vertex])
      for (std::size_t i = 0; i < dim; ++i)
        gradient[static_cast<std::size_t>(slot) * dim + i] += weight * by_vertex[vertex * dim + i];
  if (field.shape_modes.empty()) return;
  const std::size_t num_modes = gradient.size();
  for (std::size_t i = 0; i < static_cast<std::size_t>(discrete_.mesh().num_owned_vertices) * num_modes * dim;
       ++i)
    gradient[i / dim % num_modes] += field.shape_modes[i] * by_vertex[i / (num_modes * dim) * dim + i % dim];
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
    switch (info(fields_[k].spec->quantity).group) {
    case QuantityGroup::material:
    case QuantityGroup::density:
    case QuantityGroup::damping:
      add_material_products(k, g, gradients[k]);
      break;
    case QuantityGroup::contact:
    case QuantityGroup::load:
      add_load_products(k, g, gradients[k]);
      break;
    case QuantityGroup::shape:
      add_shape_products(k, by_vertex, gradients[k]);
      break;
    case QuantityGroup::initial:
    case QuantityGroup::prescribed:
      break;
    }
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
