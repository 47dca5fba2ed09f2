#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "recoil/base/expression.hpp"
#include "recoil/fem/function_space.hpp"

namespace recoil::fem {

/// Prescribed displacement on the nodes of the facets (and the single nodes) with certain ids, or of vertices
/// one by one.
struct DirichletCondition {
  bool all = false; ///< every boundary facet with a positive id that is not "unselected"
  std::vector<std::int32_t> ids;
  std::array<bool, 3> components{}; ///< which are prescribed
  /// Total displacement [m] of a component at a rest position and time.
  std::function<double(int component, const ExpressionPoint&)> value;
  /// Total displacement of an owned node, by its canonical number, at a time; if set, used in place of
  /// `value`.
  std::function<double(int component, GlobalIndex node, double time)> nodal_value;
  /// Instead of all the above: total displacements [m] at all times by the input numbers of vertices, NaN for
  /// components that are not prescribed.
  std::unordered_map<GlobalIndex, std::array<double, 3>> vertices;
};

/// The prescribed components of a function space, found once; their values at any time.
///
/// A node belongs to every condition that names the id of one of its facets, its point id or its vertex;
/// where several prescribe the same component, the facet of the cell with the highest input id decides, after
/// it the first condition with the vertex, and point ids last.
template <int dim>
class DirichletDofs {
public:
  /// The conditions are copied. Not collective, but ghosts' flags are set through one ghost update:
  /// collective.
  DirichletDofs(const FunctionSpace<dim>& space, std::vector<DirichletCondition> conditions);

  /// One flag per local entry (owned and ghosts): 1 = prescribed.
  std::span<const char> flags() const { return flags_; }
  /// Calls act(node, component, condition) for the owned prescribed components; `condition` is the index of
  /// the condition that decides. Not collective.
  template <class Act>
  void for_each(Act act) const {
    for (const Dof& dof : dofs_) act(dof.node, dof.component, dof.condition);
  }
  /// Number of prescribed components over all ranks.
  GlobalIndex num_global() const { return num_global_; }
  /// Writes factor * prescribed value at time t into the prescribed owned entries of u, then updates its
  /// ghosts. Collective.
  void set_values(double time, double factor, linalg::Vector& u) const;
  /// Zeroes the prescribed owned entries of g. Not collective.
  void clear(std::span<double> g) const;

private:
  struct Dof {
    LocalIndex node;
    int component;
    std::int64_t condition;
  };
  double value(const Dof& dof, double time) const;

  const FunctionSpace<dim>* space_;
  std::vector<DirichletCondition> conditions_;
  std::vector<Dof> dofs_; ///< owned
  std::vector<char> flags_;
  GlobalIndex num_global_ = 0;
};

/// Rest position of a node as x, y, z, t.
template <int dim>
ExpressionPoint expression_point(const Eigen::Matrix<double, dim, 1>& position, double time) {
  ExpressionPoint point;
  point.x = position[0];
  point.y = position[1];
  if constexpr (dim == 3) point.z = position[2];
  point.t = time;
  return point;
}

/// True if a boundary facet with this id takes part in a condition.
bool selects(bool all, std::span<const std::int32_t> ids, std::int32_t facet_id);

} // namespace recoil::fem
