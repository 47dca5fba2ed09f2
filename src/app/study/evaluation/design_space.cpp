#include "recoil/app/study/evaluation/design_space.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <fmt/format.h>

#include "recoil/base/error.hpp"

namespace recoil::app {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The bound of a variable from that of its value.
double bound_of(const ParameterSpec& spec, std::size_t component, int side) {
  const auto bounds = spec.bounds_of(component);
  // A logit maps the interval between its bounds to all numbers.
  if (!bounds || spec.scale.form == &parameters::Scaling::logit) return side == 0 ? -infinity : infinity;
  return spec.scale.variable((*bounds)[side]);
}

/// A power of two near `size`: dividing by it loses no bits.
double unit_near(double size) { return std::exp2(std::round(std::log2(size))); }

} // namespace

DesignSpace::DesignSpace(const Study& study, std::vector<ExperimentSlots> experiments)
    : study_(study), experiments_(std::move(experiments)) {
  for (int p = 0; p < std::ssize(study.parameters); ++p)
    if (!study.parameters[p].tie) add_block(p);
  require_ties();
}

const FieldSlots& DesignSpace::field_of(std::size_t experiment, int parameter) const {
  const auto found = std::ranges::find(experiments_[experiment], parameter, &FieldSlots::parameter);
  RECOIL_ASSERT(found != experiments_[experiment].end());
  return *found;
}

/// The field of parameter `owner` that the values of a tied one in `experiment` belong to: in the same
/// experiment, or in the first one where it acts.
const FieldSlots& DesignSpace::field_of_owner(std::size_t experiment, int owner) const {
  const ParameterSpec& spec = study_.parameters[owner];
  return field_of(spec.acts_in(experiment) ? experiment : spec.experiments.front(), owner);
}

void DesignSpace::require_same_slots(int parameter) const {
  const ParameterSpec& spec = study_.parameters[parameter];
  const FieldSlots& first = field_of(spec.experiments.front(), parameter);
  for (const int e : spec.experiments) {
    const FieldSlots& field = field_of(e, parameter);
    if (field.is_replicated || (field.ids == first.ids && field.num_rows == first.num_rows)) continue;
    throw InputError(
        spec.where.of("experiment"),
        fmt::format("'{}' has values for {} of {} elements, vertices, nodes or bonds in experiment '{}' and "
                    "for {} of {}, or for others, in '{}'; experiments on different meshes or particles need "
                    "a parameter each, with its own `experiment`",
                    spec.name, first.ids.size(), first.num_rows,
                    study_.experiments[spec.experiments.front()].name, field.ids.size(), field.num_rows,
                    study_.experiments[e].name));
  }
}

void DesignSpace::add_block(int parameter) {
  require_same_slots(parameter);
  const ParameterSpec& spec = study_.parameters[parameter];
  Block block{{parameter, 1, true, {}, {}}, start_.size()};
  for (const int e : spec.experiments) {
    const FieldSlots& field = field_of(e, parameter);
    block.components = field.components;
    block.is_replicated = field.is_replicated;
    block.num_rows = field.num_rows;
    if (block.ids.empty()) block.mesh = field.mesh;
    for (std::size_t slot = 0; slot < field.ids.size(); ++slot) {
      if (slot_in_block(block, field, slot) < block.ids.size()) continue;
      block.ids.push_back(field.names.empty() ? field.ids[slot] : std::ssize(block.ids));
      if (!field.names.empty() && slot % field.slots_per_name() == 0)
        block.names.push_back(field.names[slot / field.slots_per_name()]);
      for (int c = 0; c < block.components; ++c) {
        start_.push_back(field.start[slot * block.components + c]);
        sizes_.push_back(field.sizes[slot * block.components + c]);
      }
    }
  }
  map_.add(spec.scale, block.size());
  blocks_.push_back(std::move(block));
}

/// The slot of a block that a slot of a field belongs to; the number of slots if there is none.
std::size_t DesignSpace::slot_in_block(const Block& block, const FieldSlots& field, std::size_t slot) const {
  if (!field.names.empty()) {
    const std::size_t width = field.slots_per_name();
    const std::size_t name = std::ranges::find(block.names, field.names[slot / width]) - block.names.begin();
    return std::min(name * width + slot % width, block.ids.size());
  }
  const auto found = std::ranges::lower_bound(block.ids, field.ids[slot]);
  return found != block.ids.end() && *found == field.ids[slot] ? found - block.ids.begin() : block.ids.size();
}

void DesignSpace::require_ties() const {
  for (std::size_t e = 0; e < experiments_.size(); ++e)
    for (const FieldSlots& field : experiments_[e]) {
      const ParameterSpec& spec = study_.parameters[field.parameter];
      if (!spec.tie) continue;
      const FieldSlots& owner = field_of_owner(e, *spec.tie);
      if (owner.start.size() == field.start.size()) continue;
      throw InputError(
          spec.where.of("tie"),
          fmt::format("'{}' has {} values in experiment '{}', '{}' has {}; tie values of the same "
                      "number of bodies and steps",
                      spec.name, field.start.size(), study_.experiments[e].name,
                      study_.parameters[*spec.tie].name, owner.start.size()));
    }
}

const DesignSpace::Block& DesignSpace::block_of(int parameter) const {
  const int owner = study_.parameters[parameter].tie.value_or(parameter);
  return *std::ranges::find(blocks_, owner, &Block::parameter);
}

std::vector<std::size_t> DesignSpace::numbers(std::size_t experiment, std::size_t field,
                                              std::span<const GlobalIndex> ids) const {
  const FieldSlots& own = experiments_[experiment][field];
  const Block& block = block_of(own.parameter);
  const FieldSlots& owner =
      block.parameter == own.parameter ? own : field_of_owner(experiment, block.parameter);
  std::vector<std::size_t> numbers;
  for (const GlobalIndex id : ids) {
    const std::size_t slot = std::ranges::lower_bound(own.ids, id) - own.ids.begin();
    const std::size_t first = block.first + slot_in_block(block, owner, slot) * block.components;
    for (int c = 0; c < block.components; ++c) numbers.push_back(first + c);
  }
  return numbers;
}

inverse::DesignVariables DesignSpace::variables() const {
  inverse::DesignVariables variables;
  variables.start = map_.variables(start_);
  for (const Block& block : blocks_) {
    const ParameterSpec& spec = study_.parameters[block.parameter];
    for (std::size_t i = 0; i < block.size(); ++i) {
      const std::size_t component = i % block.components;
      const double start = variables.start[block.first + i];
      variables.lower.push_back(spec.is_held(component) ? start : bound_of(spec, component, 0));
      variables.upper.push_back(spec.is_held(component) ? start : bound_of(spec, component, 1));
      variables.unit.push_back(
          spec.scale.form == &parameters::Scaling::linear ? unit_near(sizes_[block.first + i]) : 1);
    }
  }
  return variables;
}

inverse::GaussianPrior DesignSpace::prior() const {
  std::vector<inverse::Prior> priors;
  std::vector<inverse::CorrelatedPrior> fields;
  for (const Block& block : blocks_) {
    const ParameterSpec& spec = study_.parameters[block.parameter];
    if (spec.prior && spec.prior->correlation_length) {
      const PriorSpec::Normal normal = spec.prior->of_variable(spec.scale, 0);
      fields.push_back({block.first, normal.mean, {block.mesh, *spec.prior->correlation_length, normal.sd}});
      continue;
    }
    for (std::size_t i = 0; spec.prior && i < block.size(); ++i) {
      const PriorSpec::Normal normal = spec.prior->of_variable(spec.scale, i % block.components);
      priors.push_back({block.first + i, normal.mean, normal.sd});
    }
  }
  return {num_variables(), std::move(priors), std::move(fields)};
}

std::vector<double> DesignSpace::ranges(std::span<const double> x) const {
  const inverse::DesignVariables about = variables();
  std::vector<double> ranges;
  for (const Block& block : blocks_) {
    const ParameterSpec& spec = study_.parameters[block.parameter];
    const auto has_form = [&](const parameters::Scaling::Form& form) { return spec.scale.form == &form; };
    for (std::size_t k = 0; k < block.size(); ++k) {
      const std::size_t i = block.first + k;
      double range = about.unit[i];
      if (has_form(parameters::Scaling::linear) || has_form(parameters::Scaling::multiple))
        range = std::max(range, std::abs(x[i]));
      // A value anywhere between its bounds has a logit with the standard logistic distribution.
      if (has_form(parameters::Scaling::logit)) range = std::numbers::pi / std::numbers::sqrt3;
      if (const double width = about.upper[i] - about.lower[i]; std::isfinite(width) && width > 0)
        range = std::min(range, width / std::sqrt(12.0));
      if (spec.prior) range = std::min(range, spec.prior->of_variable(spec.scale, k % block.components).sd);
      ranges.push_back(range);
    }
  }
  return ranges;
}

std::vector<double> DesignSpace::between_bounds(std::span<const double> shares) const {
  const inverse::DesignVariables range = variables();
  std::vector<double> x;
  for (const Block& block : blocks_) {
    const ParameterSpec& spec = study_.parameters[block.parameter];
    RECOIL_ASSERT(spec.is_bounded());
    for (std::size_t i = block.first; i < block.first + block.size(); ++i)
      // A logit maps its bounds to infinity.
      x.push_back(range.lower[i] == range.upper[i] ? range.lower[i]
                  : spec.scale.form == &parameters::Scaling::logit
                      ? spec.scale.variable(std::lerp((*spec.bounds)[0], (*spec.bounds)[1], shares[i]))
                      : std::lerp(range.lower[i], range.upper[i], shares[i]));
  }
  return x;
}

std::vector<double> rows_of_block(const DesignSpace::Block& block, std::span<const double> values) {
  if (block.is_replicated) return {values.begin() + block.first, values.begin() + block.first + block.size()};
  const std::size_t width = block.components;
  std::vector<double> rows(block.num_rows * width, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t slot = 0; slot < block.ids.size(); ++slot)
    std::copy_n(values.begin() + block.first + slot * width, width, rows.begin() + block.ids[slot] * width);
  return rows;
}

} // namespace recoil::app
