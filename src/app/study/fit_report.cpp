#include "app/study/fit_report.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "app/study/parameters/parameter_kind.hpp"
#include "recoil/base/atomic_file.hpp"

namespace recoil::app {

namespace {

using Json = nlohmann::ordered_json;
using Block = DesignSpace::Block;

template <class T>
Json value_or_list(const std::vector<T>& values) {
  if (values.size() == 1) return values.front();
  return values;
}

std::vector<double> part(const Block& block, std::span<const double> values) {
  const auto of_block = values.subspan(block.first, block.size());
  return {of_block.begin(), of_block.end()};
}

/// The only value, or the i-th of several, of a parameter in a table.
std::string column_name(const std::string& name, std::size_t i, std::size_t count) {
  const std::string column = count == 1 ? name : fmt::format("{}[{}]", name, i);
  if (column.find_first_of(",\"") == std::string::npos) return column;
  std::string quoted = "\"";
  for (const char c : column) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

} // namespace

Json describe_fitted_parameters(const Study& study, const DesignSpace& space, std::span<const double> x) {
  const std::vector<double> values = space.values(x);
  const inverse::DesignVariables variables = space.variables();
  Json result;
  for (int p = 0; p < std::ssize(study.parameters); ++p) {
    const ParameterSpec& spec = study.parameters[p];
    const Block& block = space.block_of(p);
    Json& entry = result[spec.name];
    entry["unit"] = spec.kind->unit != nullptr ? spec.kind->unit : "1";
    if (!block.is_replicated) {
      entry["file"] = "fit.h5";
      entry["dataset"] = study.parameters[block.parameter].name;
      continue;
    }
    std::vector<bool> at_bound;
    for (std::size_t i = block.first; i < block.first + block.size(); ++i)
      at_bound.push_back(x[i] <= variables.lower[i] || x[i] >= variables.upper[i]);
    entry["value"] = value_or_list(part(block, values));
    entry["initial"] = value_or_list(part(block, space.start_values()));
    entry["at_bound"] = value_or_list(at_bound);
    if (!block.names.empty()) entry["bodies"] = block.names;
  }
  return result;
}

void write_fitted_fields(const parallel::Communicator& world, const Study& study, const DesignSpace& space,
                         std::span<const double> x, const std::filesystem::path& path) {
  if (std::ranges::all_of(space.blocks(), &Block::is_replicated)) return;
  const parallel::Communicator alone = world.split(world.rank());
  const std::vector<double> values = space.values(x);
  parallel::collectively(world, [&] {
    if (world.rank() != 0) return;
    const std::filesystem::path aside = path.string() + ".part";
    io::Hdf5Writer file(alone, aside);
    for (const Block& block : space.blocks()) {
      if (block.is_replicated) continue;
      const std::size_t width = block.components;
      std::vector<double> rows(block.num_rows * width, std::numeric_limits<double>::quiet_NaN());
      for (std::size_t slot = 0; slot < block.ids.size(); ++slot)
        std::copy_n(values.begin() + block.first + slot * width, width,
                    rows.begin() + block.ids[slot] * width);
      const ParameterSpec& spec = study.parameters[block.parameter];
      file.write_rows<double>(spec.name, rows, block.components);
      file.write_attribute(spec.name, "unit", spec.kind->unit != nullptr ? spec.kind->unit : "1");
    }
    file.close();
    rename_durably(aside, path);
  });
}

FitHistory::FitHistory(const Study& study, const DesignSpace& space, std::filesystem::path path)
    : space_(space), path_(std::move(path)), text_("start,iteration,objective,gradient_norm,step,evaluations,"
                                                   "gradient_evaluations,wall_s,forward_s,sweep_s") {
  for (const Block& block : space.blocks())
    for (std::size_t i = 0; block.is_replicated && i < block.size(); ++i)
      text_ += "," + column_name(study.parameters[block.parameter].name, i, block.size());
  text_ += "\n";
}

void FitHistory::add(std::int64_t start, const linalg::Iterate& at, const StudyObjective& objective) {
  const StudyObjective::Totals& totals = objective.totals();
  text_ += fmt::format("{},{},{},{},{},{},{},{:.3f},{:.3f},{:.3f}", start, at.iteration, at.value,
                       at.gradient_norm, at.step, totals.evaluations, totals.gradient_evaluations,
                       objective.wall_seconds(), totals.forward_seconds, totals.sweep_seconds);
  const std::vector<double> values = space_.values(at.x);
  for (const Block& block : space_.blocks())
    for (std::size_t i = 0; block.is_replicated && i < block.size(); ++i)
      text_ += fmt::format(",{}", values[block.first + i]);
  text_ += "\n";
  write_file_atomically(path_, text_);
}

} // namespace recoil::app
