#include "app/study/scene_draft.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "app/study/apply_parameters.hpp"
#include "app/study/parameters/parameter_kind.hpp"
#include "recoil/base/error.hpp"
#include "recoil/io/block_layout.hpp"

namespace recoil::app {

using nlohmann::json;

template <int dim>
nlohmann::json& SceneDraft<dim>::body(const std::string& name) {
  nlohmann::json& bodies = json["geometry"];
  const auto found = std::ranges::find_if(bodies, [&](const auto& entry) { return entry["name"] == name; });
  RECOIL_ASSERT(found != bodies.end());
  return *found;
}

template <int dim>
nlohmann::json SceneDraft<dim>::per_element(const std::string& dataset, const std::vector<double>& values) {
  const auto& mesh = geometry.mesh;
  const std::size_t count = mesh.num_owned_cells;
  const io::BlockLayout rows(*mesh.comm, std::span(mesh.cell_ids).first(count));
  return data.add_array(dataset, rows.to_blocks<double>(std::span(values).first(count), 1), 1);
}

template <int dim>
nlohmann::json SceneDraft<dim>::number_or_per_element(const std::string& dataset,
                                                      const std::vector<double>& values) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (LocalIndex cell = 0; cell < geometry.mesh.num_owned_cells; ++cell) {
    if (std::isnan(values[cell])) continue;
    low = std::min(low, values[cell]);
    high = std::max(high, values[cell]);
  }
  low = geometry.mesh.comm->min(low);
  if (low == geometry.mesh.comm->max(high)) return low;
  return per_element(dataset, values);
}

json to_json(const std::vector<TimeFactor>& factors) {
  using Kind = TimeFactor::Kind;
  static const std::map<Kind, const char*> names{{Kind::none, "none"},
                                                 {Kind::linear, "linear"},
                                                 {Kind::linear_ramp, "linear_ramp"},
                                                 {Kind::piecewise_constant, "piecewise_constant"},
                                                 {Kind::piecewise_linear, "piecewise_linear"}};
  json list = json::array();
  for (const TimeFactor& factor : factors) {
    json entry{{"type", names.at(factor.kind)}};
    if (factor.kind == Kind::linear_ramp) entry.update({{"from", factor.from}, {"to", factor.to}});
    if (!factor.points.empty()) entry.update({{"points", factor.points}, {"values", factor.values}});
    list.push_back(std::move(entry));
  }
  return list;
}

void write_values_in_time(const std::vector<double>& values, const std::vector<TimeFactor>& factors,
                          json& entry) {
  json& value = entry["value"];
  if (value.is_array() && value.size() > values.size())
    std::ranges::copy(values, value.begin());
  else if (value.is_array() || values.size() > 1)
    value = values;
  else
    value = values.front();
  entry.erase("time_reference");
  entry.erase("interpolation");
  if (factors.empty()) return;
  json list = to_json(factors);
  while (list.size() > 1 && value.is_array() && list.size() < value.size())
    list.push_back({{"type", "none"}});
  entry["interpolation"] = std::move(list);
}

template <int dim>
void write_scene_with_values(const std::string& resolved, const Scene& scene,
                             const DistributedGeometry<dim>& geometry,
                             const std::vector<ParameterField<dim>>& fields, const ParameterValues& values,
                             const std::filesystem::path& folder, const std::string& name) {
  Scene with_values = scene;
  DistributedGeometry<dim> shape = geometry;
  CellOverrides overrides;
  apply_parameters<dim>(fields, values, {with_values, shape, overrides});
  SceneData data(*geometry.mesh.comm, folder, name);
  SceneDraft<dim> draft{json::parse(resolved), with_values, shape, overrides, data};
  for (std::size_t k = 0; k < fields.size(); ++k)
    fields[k].spec->kind->template actions<dim>().write(fields[k], values[k], draft);
  data.commit(draft.json);
}

template struct SceneDraft<2>;
template struct SceneDraft<3>;
template void write_scene_with_values(const std::string&, const Scene&, const DistributedGeometry<2>&,
                                      const std::vector<ParameterField<2>>&, const ParameterValues&,
                                      const std::filesystem::path&, const std::string&);
template void write_scene_with_values(const std::string&, const Scene&, const DistributedGeometry<3>&,
                                      const std::vector<ParameterField<3>>&, const ParameterValues&,
                                      const std::filesystem::path&, const std::string&);

} // namespace recoil::app
