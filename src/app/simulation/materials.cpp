#include "app/simulation/materials.hpp"

#include <cmath>
#include <sstream>

#include "app/simulation/material_values.hpp"
#include "recoil/base/error.hpp"
#include "recoil/fem/reference/tabulation.hpp"
#include "recoil/potentials/damping.hpp"
#include "recoil/potentials/laws/fixed_corotational.hpp"
#include "recoil/potentials/laws/lame.hpp"
#include "recoil/potentials/laws/linear_elasticity.hpp"
#include "recoil/potentials/laws/mooney_rivlin.hpp"
#include "recoil/potentials/laws/neo_hookean.hpp"
#include "recoil/potentials/laws/saint_venant.hpp"

namespace recoil::app {

namespace {

/// Every constant that the entry's law reads.
std::vector<const MaterialValue*> constants_of(const MaterialEntry& entry) {
  if (entry.type == MaterialType::mooney_rivlin) return {&entry.c1, &entry.c2, &entry.k};
  if (entry.pair == ElasticPair::young_poisson) return {&entry.E, &entry.nu};
  return {&entry.lambda, &entry.mu};
}

void require(bool holds, const MaterialEntry& entry, const std::string& what, double value) {
  if (holds) return;
  std::ostringstream text;
  text << what << ", but is " << value << " in some element";
  throw InputError(entry.where, text.str());
}

/// Evaluates the constants of one law at the quadrature points of its cells.
template <int dim>
class ConstantEvaluator {
public:
  ConstantEvaluator(const Scene& scene, const fem::FunctionSpace<dim>& space,
                    const std::vector<int>& materials)
      : scene_(scene), space_(space), materials_(materials), values_(space.mesh()) {}

  /// Calls store(entry, value reader) for every cell, or every quadrature point where some constant varies in
  /// cells.
  template <int N, class Evaluate>
  parameters::CellField<N> field(const std::vector<LocalIndex>& cells, int order, bool varies,
                                 Evaluate evaluate) {
    const auto table = fem::tabulate(
        space_.basis(order), fem::simplex_quadrature<dim>(varies ? potentials::stiffness_degree(order) : 1));
    parameters::CellField<N> field;
    field.points_per_cell = table.num_points;
    for (const LocalIndex cell : cells) {
      const MaterialEntry& entry = this->entry(cell);
      for (int q = 0; q < table.num_points; ++q) {
        Eigen::Matrix<double, dim, 1> position = Eigen::Matrix<double, dim, 1>::Zero();
        const auto nodes = space_.cell_nodes(cell);
        for (std::size_t a = 0; a < nodes.size(); ++a)
          position += table.value(q)[a] * space_.node_positions()[static_cast<std::size_t>(nodes[a])];
        const ExpressionPoint point = fem::expression_point<dim>(position, 0);
        field.values.push_back(evaluate(
            entry, [&](const MaterialValue& value) { return values_.at(value, cell, point, entry.where); }));
      }
    }
    return field;
  }

  const MaterialEntry& entry(LocalIndex cell) const {
    return scene_.materials[static_cast<std::size_t>(materials_[static_cast<std::size_t>(cell)])];
  }

private:
  const Scene& scene_;
  const fem::FunctionSpace<dim>& space_;
  const std::vector<int>& materials_;
  MaterialValues<dim> values_;
};

template <int dim, class Read>
std::array<double, 2> lame_constants(const MaterialEntry& entry, Read read) {
  if (entry.pair == ElasticPair::lame) {
    const double lambda = read(entry.lambda), mu = read(entry.mu);
    require(mu > 0, entry, "mu must be positive", mu);
    require(std::isfinite(lambda), entry, "lambda must be finite", lambda);
    return {lambda, mu};
  }
  const double E = read(entry.E), nu = read(entry.nu);
  require(E > 0 && std::isfinite(E), entry, "E must be positive", E);
  require(nu > -1 && nu < 0.5, entry, "nu must lie in (-1, 0.5)", nu);
  const auto model = dim == 2 && entry.plane == PlaneState::stress ? potentials::LameModel::plane_stress
                                                                   : potentials::LameModel::solid;
  const Eigen::Vector2d lame = potentials::lame_from_young(E, nu, model).values;
  return {lame[0], lame[1]};
}

template <int dim, class Law>
void add_law(ConstantEvaluator<dim>& constants, std::vector<LocalIndex> cells, int order,
             const fem::FunctionSpace<dim>& space, bool varies,
             solvers::ElastodynamicsProblem<dim>& problem) {
  constexpr int N = Law::num_parameters;
  auto field = constants.template field<N>(
      cells, order, varies, [](const MaterialEntry& entry, auto read) -> std::array<double, N> {
        if constexpr (N == 3) {
          const std::array<double, 3> values{read(entry.c1), read(entry.c2), read(entry.k)};
          for (const double value : values)
            require(std::isfinite(value), entry, "c1, c2 and k must be finite", value);
          return values;
        } else {
          return lame_constants<dim>(entry, read);
        }
      });
  problem.elastic.push_back(
      potentials::make_elastic<dim, Law>(space, problem.geometry, order, std::move(cells), std::move(field)));
}

template <int dim>
void add_law(MaterialType type, ConstantEvaluator<dim>& constants, std::vector<LocalIndex> cells, int order,
             const fem::FunctionSpace<dim>& space, bool varies,
             solvers::ElastodynamicsProblem<dim>& problem) {
  const auto add = [&]<class Law>() {
    add_law<dim, Law>(constants, std::move(cells), order, space, varies, problem);
  };
  switch (type) {
  case MaterialType::linear_elasticity:
  case MaterialType::hooke_linear_elasticity:
    return add.template operator()<potentials::LinearElasticity<dim>>();
  case MaterialType::saint_venant:
    return add.template operator()<potentials::SaintVenant<dim>>();
  case MaterialType::neo_hookean:
    return add.template operator()<potentials::NeoHookean<dim>>();
  case MaterialType::fixed_corotational:
    return add.template operator()<potentials::FixedCorotational<dim>>();
  case MaterialType::mooney_rivlin:
    return add.template operator()<potentials::MooneyRivlin<dim>>();
  }
}

constexpr std::array law_types{MaterialType::linear_elasticity,  MaterialType::hooke_linear_elasticity,
                               MaterialType::saint_venant,       MaterialType::neo_hookean,
                               MaterialType::fixed_corotational, MaterialType::mooney_rivlin};

} // namespace

template <int dim>
std::vector<int> cell_materials(const Scene& scene, const mesh::DistributedMesh<dim>& mesh) {
  std::vector<int> materials;
  for (std::size_t cell = 0; cell < mesh.cells.size(); ++cell)
    materials.push_back(find_material_index(
        scene, mesh.body_names[static_cast<std::size_t>(mesh.cell_body[cell])], mesh.cell_volume_id[cell]));
  return materials;
}

template <int dim>
void add_materials(const Scene& scene, const fem::FunctionSpace<dim>& space,
                   const std::vector<int>& materials, solvers::ElastodynamicsProblem<dim>& problem) {
  ConstantEvaluator<dim> constants(scene, space, materials);
  const auto select = [&](int order, auto wanted) {
    std::vector<LocalIndex> cells;
    for (const LocalIndex cell : space.cells_of_order(order))
      if (wanted(constants.entry(cell))) cells.push_back(cell);
    return cells;
  };
  bool law_varies = false, damping_varies = false;
  for (const MaterialEntry& entry : scene.materials) {
    for (const MaterialValue* value : constants_of(entry)) law_varies = law_varies || varies_in_cells(*value);
    damping_varies = damping_varies || varies_in_cells(entry.psi) || varies_in_cells(entry.phi);
  }
  parallel::collectively(space.comm(), [&] {
    for (int order = 1; order <= space.max_order(); ++order) {
      for (const MaterialType type : law_types) {
        auto cells = select(order, [type](const MaterialEntry& entry) { return entry.type == type; });
        if (!cells.empty()) add_law(type, constants, std::move(cells), order, space, law_varies, problem);
      }
      auto damped = select(order, [](const MaterialEntry& entry) {
        const auto is_zero = [](const MaterialValue& value) {
          const auto* formula = std::get_if<Expression>(&value);
          return formula != nullptr && formula->is_constant() && (*formula)({}) == 0;
        };
        return !is_zero(entry.psi) || !is_zero(entry.phi);
      });
      if (damped.empty()) continue;
      auto field = constants.template field<2>(
          damped, order, damping_varies, [](const MaterialEntry& entry, auto read) -> std::array<double, 2> {
            const double psi = read(entry.psi), phi = read(entry.phi);
            require(psi >= 0 && std::isfinite(psi), entry, "psi must not be negative", psi);
            require(phi >= 0 && std::isfinite(phi), entry, "phi must not be negative", phi);
            return {psi, phi};
          });
      problem.damping.push_back(
          potentials::make_damping<dim>(space, problem.geometry, order, std::move(damped), std::move(field)));
    }
  });
}

template <int dim>
potentials::Density make_density(const Scene& scene, const fem::FunctionSpace<dim>& space,
                                 const std::vector<int>& materials) {
  auto values = std::make_shared<MaterialValues<dim>>(space.mesh());
  potentials::Density density = [&scene, &materials, values](LocalIndex cell, const ExpressionPoint& point) {
    const MaterialEntry& entry =
        scene.materials[static_cast<std::size_t>(materials[static_cast<std::size_t>(cell)])];
    const double rho = values->at(entry.rho, cell, point, entry.where);
    require(rho > 0 && std::isfinite(rho), entry, "rho must be positive", rho);
    return rho;
  };
  return density;
}

template std::vector<int> cell_materials(const Scene&, const mesh::DistributedMesh<2>&);
template std::vector<int> cell_materials(const Scene&, const mesh::DistributedMesh<3>&);
template void add_materials(const Scene&, const fem::FunctionSpace<2>&, const std::vector<int>&,
                            solvers::ElastodynamicsProblem<2>&);
template void add_materials(const Scene&, const fem::FunctionSpace<3>&, const std::vector<int>&,
                            solvers::ElastodynamicsProblem<3>&);
template potentials::Density make_density(const Scene&, const fem::FunctionSpace<2>&,
                                          const std::vector<int>&);
template potentials::Density make_density(const Scene&, const fem::FunctionSpace<3>&,
                                          const std::vector<int>&);

} // namespace recoil::app
