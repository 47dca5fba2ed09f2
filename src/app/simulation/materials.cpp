#include "app/simulation/materials.hpp"

#include <cmath>
#include <sstream>

#include "app/simulation/conventions.hpp"
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
                    const std::vector<int>& materials, const CellOverrides& overrides)
      : scene_(scene), space_(space), materials_(materials), overrides_(overrides), values_(space.mesh()) {}

  /// Calls store(entry, value reader) for every cell, or every quadrature point where some constant varies in
  /// cells.
  template <int N, class Evaluate>
  parameters::CellField<N> field(const std::vector<LocalIndex>& cells, int order, bool varies,
                                 Evaluate evaluate) {
    const auto table = fem::tabulate(
        space_.basis(order), fem::simplex_quadrature<dim>(varies ? space_.stiffness_degree(order) : 1));
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
        field.values.push_back(evaluate(entry, Reader{*this, entry, cell, point}));
      }
    }
    return field;
  }

  const MaterialEntry& entry(LocalIndex cell) const {
    return scene_.materials[static_cast<std::size_t>(materials_[static_cast<std::size_t>(cell)])];
  }

private:
  /// Constants of one point.
  struct Reader {
    ConstantEvaluator& evaluator;
    const MaterialEntry& entry;
    LocalIndex cell;
    const ExpressionPoint& point;

    std::optional<double> override_of(CellConstant constant) const {
      return evaluator.overrides_.find(constant, cell);
    }
    double of_scene(const MaterialValue& value) const {
      return evaluator.values_.at(value, cell, point, entry.where);
    }
    double operator()(CellConstant constant, const MaterialValue& value) const {
      const auto given = override_of(constant);
      return given ? *given : of_scene(value);
    }
  };

  const Scene& scene_;
  const fem::FunctionSpace<dim>& space_;
  const std::vector<int>& materials_;
  const CellOverrides& overrides_;
  MaterialValues<dim> values_;
};

/// (E, nu) or (lambda, mu) as the scene gives them, then whatever stands in for one of either pair.
template <int dim, class Read>
std::array<double, 2> lame_constants(const MaterialEntry& entry, const Read& read) {
  const potentials::LameModel model = lame_model(entry, dim);
  Eigen::Vector2d lame, young;
  const auto check_young = [&] {
    require(young[0] > 0 && std::isfinite(young[0]), entry, "E must be positive", young[0]);
    require(young[1] > -1 && young[1] < 0.5, entry, "nu must lie in (-1, 0.5)", young[1]);
  };
  if (entry.pair == ElasticPair::lame) {
    lame << read.of_scene(entry.lambda), read.of_scene(entry.mu);
  } else {
    young << read(CellConstant::E, entry.E), read(CellConstant::nu, entry.nu);
    check_young();
    lame = potentials::lame_from_young(young[0], young[1], model).values;
  }
  const auto E = read.override_of(CellConstant::E), nu = read.override_of(CellConstant::nu);
  if (entry.pair == ElasticPair::lame && (E || nu)) {
    young = potentials::young_from_lame(lame[0], lame[1], model).values;
    young << E.value_or(young[0]), nu.value_or(young[1]);
    check_young();
    lame = potentials::lame_from_young(young[0], young[1], model).values;
  }
  const auto lambda = read.override_of(CellConstant::lambda), mu = read.override_of(CellConstant::mu);
  lame << lambda.value_or(lame[0]), mu.value_or(lame[1]);
  require(lame[1] > 0, entry, "mu must be positive", lame[1]);
  require(std::isfinite(lame[0]), entry, "lambda must be finite", lame[0]);
  // The bulk modulus; with E and nu it is positive, in plane stress another one.
  const bool from_young = entry.pair == ElasticPair::young_poisson || E || nu;
  const double bulk = lame[0] + 2 * lame[1] / 3;
  const bool studied = lambda || mu;
  if (!from_young || (studied && model == potentials::LameModel::solid))
    require(bulk > 0, entry,
            studied ? "lambda + 2 mu/3, with the values of the parameters, must be positive"
                    : "lambda + 2 mu/3 must be positive",
            bulk);
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
          const std::array<double, 3> values{read(CellConstant::c1, entry.c1),
                                             read(CellConstant::c2, entry.c2),
                                             read(CellConstant::k, entry.k)};
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

potentials::LameModel lame_model(const MaterialEntry& entry, int dim) {
  return dim == 2 && entry.plane == PlaneState::stress ? potentials::LameModel::plane_stress
                                                       : potentials::LameModel::solid;
}

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
                   const std::vector<int>& materials, const CellOverrides& overrides,
                   solvers::ElastodynamicsProblem<dim>& problem) {
  ConstantEvaluator<dim> constants(scene, space, materials, overrides);
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
            const double psi = read(CellConstant::psi, entry.psi), phi = read(CellConstant::phi, entry.phi);
            require(psi >= 0 && std::isfinite(psi), entry, "psi must not be negative", psi);
            require(phi >= 0 && std::isfinite(phi), entry, "phi must not be negative", phi);
            return {psi, phi};
          });
      problem.damping.push_back(potentials::make_damping<dim>(
          space, problem.geometry, order, std::move(damped), std::move(field), damping_rate(scene)));
    }
  });
}

template <int dim>
std::vector<std::array<double, 2>>
cell_lame_constants(const Scene& scene, const fem::FunctionSpace<dim>& space,
                    const std::vector<int>& materials, const CellOverrides& overrides) {
  ConstantEvaluator<dim> constants(scene, space, materials, overrides);
  std::vector<std::array<double, 2>> result(space.mesh().cells.size());
  parallel::collectively(space.comm(), [&] {
    for (int order = 1; order <= space.max_order(); ++order) {
      std::vector<LocalIndex> cells;
      for (const LocalIndex cell : space.cells_of_order(order))
        if (constants.entry(cell).type != MaterialType::mooney_rivlin) cells.push_back(cell);
      const auto field =
          constants.template field<2>(cells, order, false, [](const MaterialEntry& entry, auto read) {
            return lame_constants<dim>(entry, read);
          });
      for (std::size_t k = 0; k < cells.size(); ++k)
        result[static_cast<std::size_t>(cells[k])] = field.at(k, 0);
    }
  });
  return result;
}

template <int dim>
potentials::Density make_density(const Scene& scene, const fem::FunctionSpace<dim>& space,
                                 const std::vector<int>& materials, const CellOverrides& overrides) {
  auto values = std::make_shared<MaterialValues<dim>>(space.mesh());
  potentials::Density density = [&scene, &materials, &overrides, values](LocalIndex cell,
                                                                         const ExpressionPoint& point) {
    const MaterialEntry& entry =
        scene.materials[static_cast<std::size_t>(materials[static_cast<std::size_t>(cell)])];
    const auto given = overrides.find(CellConstant::rho, cell);
    const double rho = given ? *given : values->at(entry.rho, cell, point, entry.where);
    require(rho > 0 && std::isfinite(rho), entry, "rho must be positive", rho);
    return rho;
  };
  return density;
}

template std::vector<int> cell_materials(const Scene&, const mesh::DistributedMesh<2>&);
template std::vector<int> cell_materials(const Scene&, const mesh::DistributedMesh<3>&);
template void add_materials(const Scene&, const fem::FunctionSpace<2>&, const std::vector<int>&,
                            const CellOverrides&, solvers::ElastodynamicsProblem<2>&);
template void add_materials(const Scene&, const fem::FunctionSpace<3>&, const std::vector<int>&,
                            const CellOverrides&, solvers::ElastodynamicsProblem<3>&);
template std::vector<std::array<double, 2>> cell_lame_constants(const Scene&, const fem::FunctionSpace<2>&,
                                                                const std::vector<int>&,
                                                                const CellOverrides&);
template std::vector<std::array<double, 2>> cell_lame_constants(const Scene&, const fem::FunctionSpace<3>&,
                                                                const std::vector<int>&,
                                                                const CellOverrides&);
template potentials::Density make_density(const Scene&, const fem::FunctionSpace<2>&, const std::vector<int>&,
                                          const CellOverrides&);
template potentials::Density make_density(const Scene&, const fem::FunctionSpace<3>&, const std::vector<int>&,
                                          const CellOverrides&);

} // namespace recoil::app
