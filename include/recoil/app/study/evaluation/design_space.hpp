#pragma once

#include <span>
#include <string>
#include <vector>

#include "recoil/app/study/fields/parameter_values.hpp"
#include "recoil/inverse/optimize.hpp"
#include "recoil/inverse/priors.hpp"

namespace recoil::app {

/// The parameters of a study over all of its experiments: which values they have together, which of them an
/// experiment takes, and the variables that an optimiser sees of them. Bodies of the same name share a value
/// per body, elements and vertices of the same number one per element or vertex; tied parameters have the
/// values of another one, in the same order. Not collective; the same on all ranks.
class DesignSpace {
public:
  /// The values of a parameter that is not tied.
  struct Block : ParameterSlots {
    std::size_t first = 0; ///< number of its first value

    std::size_t size() const { return ids.size() * components; }
  };

  /// `study` must outlive it. @throws InputError, at the place in the study, where experiments do not have
  /// the same elements or vertices, or tied parameters other numbers of values.
  DesignSpace(const Study& study, std::vector<ExperimentSlots> experiments);

  const std::vector<Block>& blocks() const { return blocks_; }
  /// The block that the values of a parameter, tied or not, are in.
  const Block& block_of(int parameter) const;
  std::size_t num_values() const { return start_.size(); }
  std::size_t num_variables() const { return map_.num_variables(); }
  const std::vector<double>& start_values() const { return start_; }
  /// The numbers of the values that the slots `ids` of field `field` of an experiment have, component by
  /// component.
  std::vector<std::size_t> numbers(std::size_t experiment, std::size_t field,
                                   std::span<const GlobalIndex> ids) const;

  inverse::DesignVariables variables() const;
  /// What is known of the variables beforehand.
  inverse::GaussianPrior prior() const;
  /// What is known of each variable at x without data, as a standard deviation: that of its prior, that of a
  /// value anywhere between its bounds, or its size, a factor e where the scale is log; the smallest.
  std::vector<double> ranges(std::span<const double> x) const;
  /// The variables that divide the ranges between the bounds as `shares` in (0, 1) say. @throws InputError
  /// where a parameter has no bounds.
  std::vector<double> between_bounds(std::span<const double> shares) const;
  std::vector<double> values(std::span<const double> x) const { return map_.values(x); }
  /// The variables that give these values. @pre they are in the ranges of their scales.
  std::vector<double> variables_of(std::span<const double> values) const { return map_.variables(values); }
  /// The change of the values along a change of x.
  std::vector<double> change_of_values(std::span<const double> x, std::span<const double> dx) const {
    return map_.product(x, dx);
  }
  /// The derivative by x from that by the values.
  std::vector<double> gradient(std::span<const double> x, std::span<const double> by_values) const {
    return map_.transposed_product(x, by_values);
  }

private:
  void add_block(int parameter);
  std::size_t slot_in_block(const Block& block, const FieldSlots& field, std::size_t slot) const;
  const FieldSlots& field_of(std::size_t experiment, int parameter) const;
  const FieldSlots& field_of_owner(std::size_t experiment, int owner) const;
  void require_same_slots(int parameter) const;
  void require_ties() const;

  const Study& study_;
  std::vector<ExperimentSlots> experiments_;
  std::vector<Block> blocks_;
  std::vector<double> start_, sizes_;
  parameters::VariableMap map_;
};

/// The values of a block as an array in file order: a row per element or vertex of all bodies, NaN where it
/// has no value; of a replicated block a row per slot.
std::vector<double> rows_of_block(const DesignSpace::Block& block, std::span<const double> values);

} // namespace recoil::app
