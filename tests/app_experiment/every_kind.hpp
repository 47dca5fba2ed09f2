#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "app_experiment/experiment.hpp"
#include "recoil/app/study/kinds/parameter_kinds.hpp"
#include "recoil/io/hdf5_file.hpp"

/// A scene in which every kind of parameter acts, and studies of them.
namespace recoil::app::every_kind {

/// Writes two modes of a shape of this size, for meshes of any number of vertices. Collective.
template <int dim>
void write_modes(const parallel::Communicator& comm, const std::filesystem::path& path, GlobalIndex vertices,
                 double size) {
  io::Hdf5Writer file(comm, path);
  for (const int mode : {1, 2}) {
    std::vector<double> rows;
    for (GlobalIndex i = 0; comm.rank() == 0 && i < vertices * dim; ++i)
      rows.push_back(size * std::sin(double(mode * i)));
    file.write_rows<double>("mode_" + std::to_string(mode), rows, dim);
  }
  file.close();
}

using nlohmann::json;

template <int dim>
json vector(double x, double y, double z) {
  return dim == 2 ? json::array({x, y}) : json::array({x, y, z});
}

template <int dim>
json box(const std::string& name, json size, json divisions, json position) {
  for (json* list : {&size, &divisions, &position})
    if (dim == 2) list->erase(2);
  return {{"name", name},
          {"generator", {{"type", dim == 2 ? "rectangle" : "box"}, {"size", size}, {"divisions", divisions}}},
          {"transformation", {{"translation", position}}}};
}

/// A start value by its unit.
inline double typical(const std::string& unit) {
  const std::map<std::string, double> values{{"", 0.3},      {"m", 0.001},   {"m/s", 0.5},
                                             {"m/s^2", 9.0}, {"rad/s", 3.0}, {"Pa", 4e4},
                                             {"1/Pa", 1e-5}, {"Pa s", 20.0}, {"kg/m^3", 900}};
  return values.at(unit);
}

/// The constants of a law, two terms of those that are lists.
inline json material(const potentials::LawInfo& law) {
  json result{{"type", law.name}, {"rho", 800}, {"psi", 10}, {"phi", 5}};
  for (const potentials::LawConstant& constant : law.constants) {
    const double value = constant.unit ? typical(constant.unit) : 1.5;
    result[constant.name] = constant.max_terms > 0 ? json::array({value, 0.7 * value}) : json(value);
  }
  return result;
}

/// Two bodies in contact with each other and with an obstacle, next to one under pressure: a scene in which
/// every kind of parameter has an effect. The upper one is of `law`, the others of Neo-Hooke; the one
/// under pressure is of order 2.
template <int dim>
json scene(const potentials::LawInfo& law) {
  json lower = box<dim>("lower", {1, 0.4, 0.4}, {4, 2, 2}, {0, -0.2, 0}),
       upper = box<dim>("upper", {0.4, 0.3, 0.3}, {2, 2, 1}, {0.063, 0.154, 0.017}),
       balloon = box<dim>("balloon", {0.3, 0.3, 0.3}, {2, 2, 1}, {2, 0, 0}),
       pusher = box<dim>("pusher", {0.1, 0.2, 0.2}, {1, 1, 1}, {-0.195, 0.154, 0.011});
  lower["surface_selection"] = {{{"id", 1}, {"axis", "-y"}, {"position", -0.399}},
                                {{"id", 3}, {"axis", "x"}, {"position", 0.499}},
                                {{"id", 4}, {"axis", "-x"}, {"position", -0.499}}};
  upper["surface_selection"] = {{{"id", 6}, {"axis", "y"}, {"position", 0.303}}};
  balloon["surface_selection"] = 5;
  pusher.update({{"is_obstacle", true}, {"surface_selection", 7}});
  json result = json::parse(R"({
    "space": {"discr_order": [{"body": "balloon", "order": 2}]},
    "contact": {"enabled": true, "dhat": 0.01, "epsv": 0.2, "friction_coefficient": 0.3},
    "solver": {"contact": {"barrier_stiffness": 1e7}},
    "time": {"dt": 0.004, "time_steps": 4}})");
  result["geometry"] = {lower, upper, balloon, pusher};
  result["materials"] = json::array();
  for (const char* body : {"lower", "upper", "balloon"}) {
    json of_body = material(body == std::string("upper") ? law : *potentials::find_law("NeoHookean"));
    of_body["body"] = body;
    result["materials"].push_back(of_body);
  }
  result["gravity"] = vector<dim>(0.5, -9.81, 0.3);
  result["boundary_conditions"] = {
      {"dirichlet_boundary", {{{"id", 1}, {"value", vector<dim>(0.001, 0.002, 0)}}}},
      {"neumann_boundary", {{{"id", 3}, {"value", vector<dim>(2000, 500, 300)}}}},
      {"normal_aligned_neumann_boundary", {{{"id", 4}, {"value", 3000}}}},
      {"rest_pressure_boundary", {{{"id", 6}, {"value", -2000}}}},
      {"pressure_boundary", {{{"id", 5}, {"value", 20000}}}},
      {"obstacle_displacements", {{{"id", 7}, {"value", vector<dim>(0.001, 0.001, 0)}}}}};
  return result;
}

/// The entry of a parameter, but for what its slots are.
template <int dim>
json entry(const ParameterKind& kind) {
  json result{{"name", "q"}, {"quantity", kind.name}};
  if (kind.law && !kind.law->lame) result["body"] = "upper";
  if (kind.takes_key("bodies")) result["bodies"] = {"lower", "upper"};
  static const std::map<std::string, int> boundaries{
      {"dirichlet_value", 1}, {"traction", 3}, {"normal_traction", 4}, {"pressure", 5}, {"rest_pressure", 6}};
  if (kind.takes_key("boundary")) result["boundary"] = boundaries.at(kind.name);
  if (kind.components == Components::basis) return result;
  const double value = typical(kind.unit ? kind.unit : "");
  const int count = num_components(kind.components, dim);
  if (count == 1)
    result["initial"] = value;
  else
    for (int i = 0; i < count; ++i) result["initial"].push_back(value * (1 - 0.4 * i));
  return result;
}

/// The entries with all slots that the kind has.
template <int dim>
std::vector<json> entries(const ParameterKind& kind) {
  std::vector<json> all;
  const auto add = [&](const char* key, const json& value) {
    all.push_back(entry<dim>(kind));
    all.back()[key] = value;
  };
  if (kind.components == Components::basis) {
    for (const char* basis : {"vertices", "boundary_vertices", "affine"}) add("basis", basis);
    add("basis", {{"box", dim == 2 ? json::array({3, 2}) : json::array({3, 2, 2})}});
    add("basis", {{"modes", "modes.h5"}});
    add("basis", {{"extension", "harmonic"}, {"boundary", {3, 4}}});
    add("basis", {{"extension", "elastic"}});
    add("basis", {{"extension", "none"}, {"boundary", 3}});
    add("basis", {{"extension", "harmonic"}, {"periodic", {"x", "y"}}});
    all.back()["body"] = "upper";
    return all;
  }
  if (kind.takes_key("per"))
    for (const Per per : kind.per) {
      if (kind.row_for(per).actions<dim>().weights) add("per", name_of(per));
    }
  else
    all.push_back(entry<dim>(kind));
  if (kind.takes_key("per_step")) add("per_step", true);
  return all;
}

/// entries(), of which several ranks take the first in 3D: they share slots as in 2D, and these runs are
/// long.
template <int dim>
std::vector<json> entries_for_ranks(const ParameterKind& kind) {
  std::vector<json> all = entries<dim>(kind);
  if (dim == 3 && !is_alone()) all.resize(1);
  return all;
}

/// The law that a kind needs.
inline const potentials::LawInfo& law_for(const ParameterKind& kind) {
  return kind.law && !kind.law->lame ? *kind.law : *potentials::find_law("NeoHookean");
}

/// act(kind) for kinds of finite elements that differ from each other: terms of a list are alike. Those of
/// periodic cells, which have no inertia, and of adhesion are in tests/integration/periodic.py and
/// adhesion.py.
template <int dim, class Act>
void for_each_kind(Act act) {
  for (const ParameterKind& kind : parameter_kinds())
    if (kind.actions<dim>().weights && kind.components != Components::matrix &&
        kind.name != std::string("adhesion_strength") &&
        kind.name != std::string("tangential_adhesion_coefficient") &&
        (!kind.parameter || (kind.parameter->constant->min_dimension <= dim && kind.parameter->term <= 1)))
      act(kind);
}

} // namespace recoil::app::every_kind
