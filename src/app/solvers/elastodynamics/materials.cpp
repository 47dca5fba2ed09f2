#include "recoil/app/solvers/elastodynamics/materials.hpp"

#include <cmath>
#include <sstream>

#include <fmt/format.h>

#include "recoil/app/solvers/elastodynamics/conventions.hpp"
#include "recoil/app/solvers/elastodynamics/scene_values.hpp"
#include "recoil/base/error.hpp"
#include "recoil/fem/reference/tabulation.hpp"
#include "recoil/potentials/damping.hpp"
#include "recoil/potentials/laws/lame.hpp"
#include "recoil/potentials/mean_dilatation.hpp"

namespace recoil::app {

namespace {

void require(bool holds, const MaterialEntry& entry, const std::string& what, double value) {
  if (holds) return;
  std::ostringstream text;
  text << what << ", but is " << value << " in some element";
  throw InputError(entry.where, text.str());
}

constexpr const char* nu_below_half =
    "nu must be below 0.5 in 3D and with \"plane\": \"strain\", where lambda = E nu/((1 + nu)(1 - 2 nu)) "
    "grows without bound: take 0.499 with \"discr_order\": 2 and \"mean_dilatation\": true, or in 2D "
    "\"plane\": \"stress\"";

/// Evaluates the constants of one law at the quadrature points of its cells.
template <int dim>
class ConstantEvaluator {
public:
  ConstantEvaluator(const Scene& scene, const fem::FunctionSpace<dim>& space,
                    const std::vector<int>& materials, const CellOverrides& overrides)
      : entries_(elements_of(scene).materials), space_(space), materials_(materials), overrides_(overrides),
        values_(space.mesh()) {}

  /// The sets that evaluate(entry, value reader) returns for every cell, or for every quadrature point where
  /// some constant varies in cells.
  template <class Evaluate>
  parameters::CellField field(const std::vector<LocalIndex>& cells, int order, bool varies,
                              Evaluate evaluate) {
    const auto table = fem::tabulate(
        space_.basis(order), fem::simplex_quadrature<dim>(varies ? space_.stiffness_degree(order) : 1));
    parameters::CellField field;
    field.points_per_cell = table.num_points;
    for (const LocalIndex cell : cells) {
      const MaterialEntry& entry = this->entry(cell);
      for (int q = 0; q < table.num_points; ++q) {
        Eigen::Matrix<double, dim, 1> position = Eigen::Matrix<double, dim, 1>::Zero();
        const auto nodes = space_.cell_nodes(cell);
        for (std::size_t a = 0; a < nodes.size(); ++a)
          position += table.value(q)[a] * space_.node_positions()[nodes[a]];
        const ExpressionPoint point = fem::expression_point<dim>(position, 0);
        field.add(evaluate(entry, Reader{*this, entry, cell, point}));
      }
    }
    return field;
  }

  const MaterialEntry& entry(LocalIndex cell) const { return entries_[materials_[cell]]; }

private:
  /// Constants of one point.
  struct Reader {
    ConstantEvaluator& evaluator;
    const MaterialEntry& entry;
    LocalIndex cell;
    const ExpressionPoint& point;

    std::optional<double> override_of(std::string_view constant) const {
      return evaluator.overrides_.find(constant, cell);
    }
    double of_scene(const MaterialValue& value) const {
      return evaluator.values_.at(value, cell, point, entry.where);
    }
    double operator()(std::string_view constant, const MaterialValue& value) const {
      const auto given = override_of(constant);
      return given ? *given : of_scene(value);
    }
  };

  const std::vector<MaterialEntry>& entries_;
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
    require(young[1] > -1 && young[1] <= 0.5, entry, "nu must be above -1 and at most 0.5", young[1]);
    require(young[1] < 0.5 || model == potentials::LameModel::plane_stress, entry, nu_below_half, young[1]);
  };
  const bool given_by_young = entry.given_by_young();
  const MaterialValue &first = entry.constants[0].value, &second = entry.constants[1].value;
  if (!given_by_young) {
    lame << read.of_scene(first), read.of_scene(second);
  } else {
    young << read("E", first), read("nu", second);
    check_young();
    lame = potentials::lame_from_young(young[0], young[1], model).values;
  }
  const auto E = read.override_of("E"), nu = read.override_of("nu");
  if (!given_by_young && (E || nu)) {
    young = potentials::young_from_lame(lame[0], lame[1], model).values;
    young << E.value_or(young[0]), nu.value_or(young[1]);
    check_young();
    lame = potentials::lame_from_young(young[0], young[1], model).values;
  }
  const auto lambda = read.override_of("lambda"), mu = read.override_of("mu");
  lame << lambda.value_or(lame[0]), mu.value_or(lame[1]);
  require(lame[1] > 0, entry, "mu must be positive", lame[1]);
  require(std::isfinite(lame[0]), entry, "lambda must be finite", lame[0]);
  // The bulk modulus; with E and nu it is positive, in plane stress another one.
  const bool from_young = given_by_young || E || nu;
  const double bulk = lame[0] + 2 * lame[1] / 3;
  const bool studied = lambda || mu;
  if (!from_young || (studied && model == potentials::LameModel::solid))
    require(bulk > 0, entry,
            studied ? "lambda + 2 mu/3, with the values of the parameters, must be positive"
                    : "lambda + 2 mu/3 must be positive",
            bulk);
  return {lame[0], lame[1]};
}

/// The constants that a law brings along, with the values of absent terms of lists.
template <class Read>
std::vector<double> own_constants(const MaterialEntry& entry, const Read& read) {
  std::vector<double> values;
  for (const potentials::LawParameter& parameter : entry.law->parameters) {
    const potentials::LawConstant& constant = *parameter.constant;
    const MaterialValue* given = entry.find(parameter.name);
    values.push_back(given ? read(parameter.name, *given) : constant.absent);
    if (given == nullptr) continue;
    require(std::isfinite(values.back()), entry, parameter.name + " must be finite", values.back());
    require(values.back() > constant.min, entry, fmt::format("{} must be > {}", parameter.name, constant.min),
            values.back());
  }
  return values;
}

/// lambda/mu in small strain of a law with constants of its own, `values` as from own_constants(); 0 where
/// they have no bulk or shear modulus.
template <int dim>
double lame_ratio(const potentials::LawInfo& law, const std::vector<double>& values) {
  double shear = 0, bulk = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const std::string_view constant = law.parameters[k].constant->name;
    if (constant == "c1" || (constant == "c2" && dim == 3)) shear += 2 * values[k];
    if (constant == "mus") shear += values[k];
    if (constant == "k") bulk = values[k];
    if (constant == "Ds" && bulk == 0) bulk = 2 / values[k];
  }
  return shear > 0 && bulk > 0 ? bulk / shear - 2.0 / dim : 0;
}

/// The laws of the materials in the order of laws(), each without and with the mean dilatation.
std::vector<std::pair<const potentials::LawInfo*, bool>>
laws_of(const std::vector<MaterialEntry>& materials) {
  std::vector<std::pair<const potentials::LawInfo*, bool>> used;
  for (const potentials::LawInfo& law : potentials::laws())
    for (const bool mean : {false, true})
      if (std::ranges::any_of(materials, [&](const MaterialEntry& entry) {
            return entry.law == &law && entry.mean_dilatation == mean;
          }))
        used.emplace_back(&law, mean);
  return used;
}

/// Mean dilatation is of elements of order 2, and of bodies that cannot change their thickness.
template <int dim>
void check_mean_dilatation(int order, const std::vector<LocalIndex>& cells,
                           const ConstantEvaluator<dim>& constants) {
  if (cells.empty()) return;
  const auto in_plane_stress = [&](LocalIndex cell) {
    const MaterialEntry& entry = constants.entry(cell);
    return entry.law->lame && entry.given_by_young() &&
           lame_model(entry, dim) == potentials::LameModel::plane_stress;
  };
  if (const auto found = std::ranges::find_if(cells, in_plane_stress); found != cells.end())
    throw InputError(
        constants.entry(*found).where,
        "`mean_dilatation` has no use in plane stress, where the thickness gives way and "
        "nothing locks; set \"plane\": \"strain\" for a body of fixed thickness, or leave the key out");
  if (order == 2) return;
  throw InputError(constants.entry(cells.front()).where,
                   fmt::format("`mean_dilatation` is of elements of order 2, and a body of this material has "
                               "order {}: {}; set \"discr_order\": 2 under \"space\", or leave the key out",
                               order,
                               order == 1 ? "linear elements have one volume change anyway, and lock"
                                          : "one volume change is too few for its elements"));
}

} // namespace

potentials::LameModel lame_model(const MaterialEntry& entry, int dim) {
  return dim == 2 && entry.plane == PlaneState::stress ? potentials::LameModel::plane_stress
                                                       : potentials::LameModel::solid;
}

template <int dim>
std::vector<int> cell_materials(const Scene& scene, const mesh::DistributedMesh<dim>& mesh) {
  std::vector<int> materials;
  for (std::size_t cell = 0; cell < mesh.cells.size(); ++cell)
    materials.push_back(
        find_material_index(scene, mesh.body_names[mesh.cell_body[cell]], mesh.cell_volume_id[cell]));
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
  for (const MaterialEntry& entry : elements_of(scene).materials) {
    for (const auto& constant : entry.constants) law_varies = law_varies || varies_in_cells(constant.value);
    damping_varies = damping_varies || varies_in_cells(entry.psi) || varies_in_cells(entry.phi);
  }
  // Ranks without cells of a law have its potential too: all ranks have the same list.
  parallel::collectively(space.comm(), [&] {
    for (int order = 1; order <= space.max_order(); ++order) {
      for (const auto& [law, mean_dilatation] : laws_of(elements_of(scene).materials)) {
        const auto has_law = [&law, &mean_dilatation](const MaterialEntry& entry) {
          return entry.law == law && entry.mean_dilatation == mean_dilatation;
        };
        auto cells = select(order, has_law);
        if (mean_dilatation) check_mean_dilatation(order, cells, constants);
        auto field =
            constants.field(cells, order, law_varies, [](const MaterialEntry& entry, const auto& read) {
              if (!entry.law->lame) return own_constants(entry, read);
              const auto lame = lame_constants<dim>(entry, read);
              return std::vector<double>(lame.begin(), lame.end());
            });
        const auto make =
            mean_dilatation ? potentials::make_mean_dilatation<dim> : potentials::make_elastic<dim>;
        problem.add_elastic(make(*law, space, problem.geometry, order, std::move(cells), std::move(field)));
      }
      const auto is_damped = [](const MaterialEntry& entry) {
        return constant_of(entry.psi) != 0 || constant_of(entry.phi) != 0;
      };
      // Without time there are no rates.
      if (scene.time.kind == TimeKind::statics ||
          std::ranges::none_of(elements_of(scene).materials, is_damped))
        continue;
      auto damped = select(order, is_damped);
      auto field = constants.field(
          damped, order, damping_varies, [](const MaterialEntry& entry, auto read) -> std::array<double, 2> {
            const double psi = read("psi", entry.psi), phi = read("phi", entry.phi);
            require(psi >= 0 && std::isfinite(psi), entry, "psi must not be negative", psi);
            require(phi >= 0 && std::isfinite(phi), entry, "phi must not be negative", phi);
            return {psi, phi};
          });
      problem.add_damping(potentials::make_damping<dim>(space, problem.geometry, order, std::move(damped),
                                                        std::move(field), damping_rate(scene)));
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
        if (constants.entry(cell).law->lame) cells.push_back(cell);
      const auto field = constants.field(cells, order, false, [](const MaterialEntry& entry, auto read) {
        return lame_constants<dim>(entry, read);
      });
      for (std::size_t k = 0; k < cells.size(); ++k) result[cells[k]] = field.template at<2>(k, 0);
    }
  });
  return result;
}

template <int dim>
std::vector<double> cell_lame_ratios(const Scene& scene, const fem::FunctionSpace<dim>& space, int order,
                                     const std::vector<int>& materials, const CellOverrides& overrides) {
  ConstantEvaluator<dim> constants(scene, space, materials, overrides);
  std::vector<double> ratios;
  parallel::collectively(space.comm(), [&] {
    const auto field = constants.field(space.cells_of_order(order), order, false,
                                       [](const MaterialEntry& entry, auto read) -> std::array<double, 1> {
                                         if (!entry.law->lame)
                                           return {lame_ratio<dim>(*entry.law, own_constants(entry, read))};
                                         const auto lame = lame_constants<dim>(entry, read);
                                         return {lame[0] / lame[1]};
                                       });
    for (std::size_t k = 0; k < space.cells_of_order(order).size(); ++k)
      ratios.push_back(field.template at<1>(k, 0)[0]);
  });
  return ratios;
}

template <int dim>
potentials::Density make_density(const Scene& scene, const fem::FunctionSpace<dim>& space,
                                 const std::vector<int>& materials, const CellOverrides& overrides) {
  auto values = std::make_shared<MaterialValues<dim>>(space.mesh());
  potentials::Density density = [&scene, &materials, &overrides, values](LocalIndex cell,
                                                                         const ExpressionPoint& point) {
    const MaterialEntry& entry = elements_of(scene).materials[materials[cell]];
    const auto given = overrides.find("rho", cell);
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
template std::vector<double> cell_lame_ratios(const Scene&, const fem::FunctionSpace<2>&, int,
                                              const std::vector<int>&, const CellOverrides&);
template std::vector<double> cell_lame_ratios(const Scene&, const fem::FunctionSpace<3>&, int,
                                              const std::vector<int>&, const CellOverrides&);
template potentials::Density make_density(const Scene&, const fem::FunctionSpace<2>&, const std::vector<int>&,
                                          const CellOverrides&);
template potentials::Density make_density(const Scene&, const fem::FunctionSpace<3>&, const std::vector<int>&,
                                          const CellOverrides&);

} // namespace recoil::app
