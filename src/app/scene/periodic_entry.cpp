#include "recoil/app/scene/periodic_entry.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/LU>

#include "recoil/app/scene/scene.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {

namespace {

/// The axes along which a cell repeats, as PolyFEM once wrote them, a flag each, or by name.
std::vector<int> axes_of(const Item& boundary) {
  std::vector<int> axes;
  if (boundary.is_list()) {
    const std::vector<Item> flags = boundary.items();
    for (std::size_t k = 0; k < flags.size(); ++k)
      if (flags[k].flag()) axes.push_back(int(k));
    return axes;
  }
  for (const std::string& name : boundary["axes"].texts()) {
    const int axis = name.front() - 'x';
    if (std::ranges::count(axes, axis) > 0) boundary["axes"].fail("names " + name + " twice");
    axes.push_back(axis);
  }
  return axes;
}

void build_strain(const Item& from, PeriodicEntry& entry) {
  if (from.has("linear_displacement_offset"))
    for (const Item& row : from["linear_displacement_offset"].items())
      entry.macro_strain.push_back(row.expressions());
  if (from.has("fixed_macro_strain")) entry.prescribed = from["fixed_macro_strain"].integers();
  if (entry.prescribed)
    for (const int number : *entry.prescribed)
      if (std::ranges::count(*entry.prescribed, number) > 1)
        from["fixed_macro_strain"].fail("names entry " + std::to_string(number) + " twice");
}

bool is_switched_on(const Item& boundary) {
  if (boundary.is_null() || boundary.size() == 0) return false;
  if (boundary.is_list())
    return std::ranges::any_of(boundary.items(), [](const Item& flag) { return flag.flag(); });
  if (!boundary.has("enabled"))
    boundary.fail("says what repeats, but not whether it does: add \"enabled\": true, or false");
  return boundary["enabled"].flag();
}

} // namespace

bool PeriodicEntry::repeats_along(int axis) const { return !axes || std::ranges::count(*axes, axis) > 0; }

Eigen::MatrixXd PeriodicEntry::gradient_at(double time, int dim) const {
  Eigen::MatrixXd H = Eigen::MatrixXd::Zero(dim, dim);
  if (macro_strain.empty()) return H;
  ExpressionPoint at;
  at.t = time;
  for (int i = 0; i < dim; ++i)
    for (int j = 0; j < dim; ++j) {
      H(i, j) = macro_strain[i][j](at);
      if (!std::isfinite(H(i, j)))
        throw InputError(where, "entry (" + std::to_string(i) + ", " + std::to_string(j) +
                                    ") of `linear_displacement_offset` has no finite value at t = " +
                                    std::to_string(time));
    }
  return H;
}

std::optional<Eigen::MatrixXd> PeriodicEntry::edges(int dim) const {
  if (periods.empty()) return {};
  const std::string d = std::to_string(dim);
  Eigen::MatrixXd columns(dim, dim);
  bool fits = std::ssize(periods) == dim;
  for (int k = 0; fits && k < dim; ++k) {
    fits = std::ssize(periods[k]) == dim;
    for (int i = 0; fits && i < dim; ++i) columns(i, k) = periods[k][i];
  }
  if (!fits)
    throw InputError(where,
                     "`correspondence` has to be " + d + " vectors of " + d + " numbers in " + d + "D");
  if (std::abs(columns.determinant()) <= 1e-9 * std::pow(columns.norm(), dim))
    throw InputError(where,
                     "the vectors of `correspondence` lie in a " + std::string(dim == 2 ? "line" : "plane"));
  return columns;
}

std::optional<PeriodicEntry> read_periodic(const Item& root) {
  const Item conditions = root["boundary_conditions"];
  const bool is_on = conditions.has("periodic_boundary") && is_switched_on(conditions["periodic_boundary"]);
  for (const char* name : {"linear_displacement_offset", "fixed_macro_strain"})
    if (conditions.has(name) && (!is_on || !conditions["periodic_boundary"].is_list()))
      conditions[name].fail("stands here with a `periodic_boundary` that is a list of flags; write it in "
                            "`periodic_boundary`, with \"enabled\": true");
  if (!is_on) return {};
  const Item boundary = conditions["periodic_boundary"];
  PeriodicEntry entry;
  entry.where = boundary.where();
  if (boundary.is_list() || boundary.has("axes")) entry.axes = axes_of(boundary);
  build_strain(boundary.is_list() ? conditions : boundary, entry);
  if (boundary.is_object()) {
    entry.tolerance = boundary.has("tolerance") ? boundary["tolerance"].number() : entry.tolerance;
    if (boundary.has("correspondence"))
      for (const Item& period : boundary["correspondence"].items()) entry.periods.push_back(period.numbers());
    if (!entry.periods.empty() && entry.axes)
      boundary["axes"].fail("goes without `correspondence`, which gives the periods themselves");
  }
  return entry;
}

void check_fit(const PeriodicEntry& entry, int dim) {
  const std::string d = std::to_string(dim);
  const auto fail = [&](const std::string& what) { throw InputError(entry.where, what); };
  for (const int axis : entry.axes.value_or(std::vector<int>()))
    if (axis >= dim) fail("there is no z axis in 2D");
  entry.edges(dim);
  for (const int number : entry.prescribed.value_or(std::vector<int>()))
    if (number >= dim * dim)
      fail("`fixed_macro_strain` has the entry " + std::to_string(number) + "; those in " + d +
           "D are 0 to " + std::to_string(dim * dim - 1) + ", row by row");
  const bool fits =
      entry.macro_strain.empty() ||
      (std::ssize(entry.macro_strain) == dim &&
       std::ranges::all_of(entry.macro_strain, [&](const auto& row) { return std::ssize(row) == dim; }));
  if (!fits) fail("`linear_displacement_offset` has to be " + d + " rows of " + d + " numbers in " + d + "D");
  for (int j = 0; j < dim; ++j)
    for (int i = 0; i < dim && !entry.macro_strain.empty(); ++i)
      if (entry.periods.empty() && !entry.repeats_along(j) && constant_of(entry.macro_strain[i][j]) != 0)
        fail("column " + std::to_string(j) +
             " of `linear_displacement_offset` has to be zero: the cell does "
             "not repeat along that axis, and its sides there are free");
}

} // namespace recoil::app
