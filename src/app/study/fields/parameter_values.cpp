#include "recoil/app/study/fields/parameter_values.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "recoil/app/study/fields/written_values.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/json_depth.hpp"
#include "recoil/base/read_file.hpp"
#include "recoil/base/suggest.hpp"
#include "recoil/io/hdf5_file.hpp"

namespace recoil::app {

namespace fs = std::filesystem;

namespace {

/// Values as they are in a file: a row per slot, or one for all of them.
struct StoredValues {
  std::vector<double> rows;
  std::vector<std::string> bodies; ///< the bodies of the rows; empty: not known
};

StoredValues read_array(const StartFile& start, GlobalIndex rows, int columns) {
  const io::Hdf5Reader file(start.file);
  if (!file.contains(start.dataset))
    throw InputError(fmt::format("{} has no array '{}'{}", start.file.string(), start.dataset,
                                 did_you_mean(start.dataset, file.children("/"))));
  const io::ArrayShape shape = file.shape(start.dataset);
  if (shape.rows != rows || shape.columns != columns || shape.type != io::ElementType::float64)
    throw InputError(fmt::format("the array '{}' of {} is {} x {}{}; the parameter needs {} x {} numbers",
                                 start.dataset, start.file.string(), shape.rows, shape.columns,
                                 shape.type == io::ElementType::float64 ? "" : " integers", rows, columns));
  return {file.read_rows<double>(start.dataset, 0, rows), {}};
}

StoredValues read_fit(const StartFile& start, const std::string& unit, GlobalIndex rows, int columns) {
  nlohmann::json fit;
  try {
    const std::string text = read_file(start.file);
    require_shallow_json(text, start.file);
    fit = nlohmann::json::parse(text);
    std::vector<std::string> names;
    for (const auto& [name, entry] : fit.at("parameters").items()) names.push_back(name);
    if (!fit.at("parameters").contains(start.parameter))
      throw InputError(start.file.string() + " has no parameter '" + start.parameter + "'" +
                       did_you_mean(start.parameter, names));
    const nlohmann::json& entry = fit.at("parameters").at(start.parameter);
    if (entry.at("unit").get<std::string>() != unit)
      throw InputError(fmt::format("'{}' of {} has the unit {}, the parameter has {}", start.parameter,
                                   start.file.string(), entry.at("unit").get<std::string>(), unit));
    if (entry.contains("file"))
      return read_array({start.file.parent_path() / entry.at("file").get<std::string>(),
                         entry.at("dataset").get<std::string>(), ""},
                        rows, columns);
    const nlohmann::json& value = entry.at("value");
    StoredValues values{value.is_array() ? value.get<std::vector<double>>()
                                         : std::vector{value.get<double>()},
                        entry.value("bodies", std::vector<std::string>())};
    if (std::ssize(values.rows) != columns && std::ssize(values.rows) != rows * columns)
      throw InputError(fmt::format("'{}' of {} has {} numbers, the parameter needs {} or {}", start.parameter,
                                   start.file.string(), values.rows.size(), columns, rows * columns));
    return values;
  } catch (const nlohmann::json::exception& error) {
    throw InputError(start.file.string() + " is no fit.json of recoil optimize: " + error.what());
  }
}

/// Rows of the bodies of a field from those of the bodies of a file.
void sort_by_bodies(const std::vector<std::string>& wanted, const StartFile& start, StoredValues& values) {
  if (values.bodies.empty() || wanted.empty() || values.bodies == wanted) return;
  const std::size_t width = values.rows.size() / values.bodies.size();
  std::vector<double> sorted;
  for (const std::string& name : wanted) {
    const int at = place_in(values.bodies, name);
    if (at < 0)
      throw InputError(
          fmt::format("'{}' of {} has no value of body '{}'", start.parameter, start.file.string(), name));
    sorted.insert(sorted.end(), values.rows.begin() + at * width, values.rows.begin() + (at + 1) * width);
  }
  values.rows = std::move(sorted);
}

/// What is wrong with a value; empty if nothing is.
std::string complaint(const ParameterSpec& spec, double value) {
  const ParameterKind& kind = *spec.kind;
  if (!std::isfinite(value)) return "where the parameter acts a number is needed";
  if (!kind.range.contains(value)) return kind.possible_values();
  const bool open = spec.scale.form == &parameters::Scaling::logit;
  if (spec.bounds) {
    const auto [low, high] = *spec.bounds;
    if (value < low || value > high || (open && (value == low || value == high)))
      return fmt::format("it must lie between the bounds {} and {}{}; move them, or give other values", low,
                         high, open ? " (both excluded)" : "");
  }
  if (spec.scale.form == &parameters::Scaling::logarithm && !(value > 0))
    return "\"log\" needs positive values";
  return {};
}

template <int dim>
std::vector<double> spread_over_slots(const ParameterField<dim>& field, const std::vector<double>& rows) {
  const std::size_t width = field.components;
  const bool same = rows.size() == width;
  std::vector<double> values;
  for (const GlobalIndex id : field.slot_ids)
    for (std::size_t c = 0; c < width; ++c) {
      const std::size_t at = same ? c : id * width + c;
      if (const std::string what = complaint(*field.spec, rows[at]); !what.empty())
        throw InputError(fmt::format("the value in row {} of {} is {}: {}", same ? 0 : id,
                                     field.spec->initial_file->file.string(), rows[at], what));
      values.push_back(rows[at]);
    }
  return values;
}

/// A number between -1 and 1 from three others (splitmix64): the same on every rank.
double draw(int seed, int parameter, GlobalIndex entry) {
  std::uint64_t x = seed * 0x9e3779b97f4a7c15ULL + (parameter + 1) * 0xbf58476d1ce4e5b9ULL +
                    (entry + 1) * 0x94d049bb133111ebULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  x ^= x >> 31;
  return (x >> 11) * 0x1.0p-52 - 1;
}

} // namespace

std::vector<fs::path> files_of_start(const StartFile& start) {
  const fs::path fields = start.file.parent_path() / "fit.h5";
  std::error_code error;
  if (!start.dataset.empty() || !fs::exists(fields, error)) return {start.file};
  return {start.file, fields};
}

template <int dim>
std::vector<double> read_start_values(const ParameterField<dim>& field, const parallel::Communicator& comm) {
  const ParameterSpec& spec = *field.spec;
  if (!spec.initial_file) {
    std::vector<double> values(field.size(), 0.0);
    for (std::size_t i = 0; i < values.size() && !spec.initial.empty(); ++i)
      values[i] = spec.initial[i % field.components];
    return values;
  }
  const auto at_initial = [&](auto&& work) {
    return parallel::collectively(comm, [&] {
      try {
        return work();
      } catch (const Error& error) {
        throw InputError(spec.where.of(spec.tie ? "tie" : "initial"), error.what());
      }
    });
  };
  std::vector<double> rows = at_initial([&] {
    if (comm.rank() != 0) return std::vector<double>();
    const StartFile& start = *spec.initial_file;
    const char* unit = unit_of(spec);
    StoredValues values = start.dataset.empty() ? read_fit(start, unit, field.num_rows, field.components)
                                                : read_array(start, field.num_rows, field.components);
    sort_by_bodies(field.slot_names, start, values);
    return std::move(values.rows);
  });
  comm.broadcast(rows);
  return at_initial([&] { return spread_over_slots(field, rows); });
}

template <int dim>
void apply_parameters(const ParameterFields<dim>& fields, const ParameterValues& values,
                      const VariantInputs<dim>& to) {
  for (std::size_t k = 0; k < fields.size(); ++k)
    if (const auto apply = actions_of<dim>(*fields[k].spec).apply) apply(fields[k], values[k], to);
}

template <int dim>
Variant<dim> make_variant(const Scene& scene, const DistributedGeometry<dim>& geometry,
                          const ParameterFields<dim>& fields, const ParameterValues& values) {
  Variant<dim> variant;
  variant.scene = std::make_unique<Scene>(scene);
  DistributedGeometry<dim> shape = geometry;
  CellOverrides overrides;
  apply_parameters<dim>(fields, values, {*variant.scene, shape, overrides});
  variant.discrete =
      std::make_unique<DiscreteScene<dim>>(*variant.scene, std::move(shape), std::move(overrides));
  const auto set_initial = [&](stepping::State& state) {
    for (std::size_t k = 0; k < fields.size(); ++k)
      if (const auto apply = actions_of<dim>(*fields[k].spec).apply_to_state)
        apply(fields[k], values[k], variant.discrete->space(), state);
  };
  variant.discrete->start(set_initial);
  return variant;
}

template <int dim>
double size_of(const ParameterField<dim>& field, double diagonal, double value) {
  if (field.spec->basis) return diagonal;
  if (const double size = std::abs(value); size > 0) return size;
  double largest = 0;
  for (const double start : field.spec->initial) largest = std::max(largest, std::abs(start));
  return largest > 0 ? largest : 1;
}

template <int dim>
double component_of(const Direction& direction, const ParameterField<dim>& field, double diagonal,
                    const std::vector<double>& values, std::size_t entry) {
  const std::size_t width = field.components;
  const int owner = field.spec->tie.value_or(field.index);
  if (direction.only >= 0 && owner != direction.only) return 0;
  const GlobalIndex number = field.slot_ids[entry / width] * field.components + entry % width;
  const double component = draw(direction.seed, owner, number) * size_of(field, diagonal, values[entry]);
  // At a limit there is one side to go to.
  const Range& range = field.spec->kind->range;
  if (!range.min_open && values[entry] == range.min) return std::abs(component);
  return !range.max_open && values[entry] == range.max ? -std::abs(component) : component;
}

template std::vector<double> read_start_values(const ParameterField<2>&, const parallel::Communicator&);
template std::vector<double> read_start_values(const ParameterField<3>&, const parallel::Communicator&);
template void apply_parameters(const ParameterFields<2>&, const ParameterValues&, const VariantInputs<2>&);
template void apply_parameters(const ParameterFields<3>&, const ParameterValues&, const VariantInputs<3>&);
template Variant<2> make_variant(const Scene&, const DistributedGeometry<2>&, const ParameterFields<2>&,
                                 const ParameterValues&);
template Variant<3> make_variant(const Scene&, const DistributedGeometry<3>&, const ParameterFields<3>&,
                                 const ParameterValues&);
template double size_of(const ParameterField<2>&, double, double);
template double size_of(const ParameterField<3>&, double, double);
template double component_of(const Direction&, const ParameterField<2>&, double, const std::vector<double>&,
                             std::size_t);
template double component_of(const Direction&, const ParameterField<3>&, double, const std::vector<double>&,
                             std::size_t);

} // namespace recoil::app
