#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "recoil/app/solvers/elastodynamics/discrete_scene.hpp"
#include "recoil/solvers/elastodynamics/supports.hpp"

namespace recoil::app {

/// reactions.csv of a run of finite elements, beside its trajectory: a row per nominal step and support, with
/// the force on the bodies [N] (2D: per unit thickness) and its moment about `point` [N m]. Kinds of rows:
///
/// `boundary`, by id: prescribed components of nodes on facets, or of points, with this id, their inertia
/// included; `nodes`, by file: those of the vertices that a file of `dirichlet_boundary` names; `obstacle`,
/// by name: its contact and friction; `contact`, by name of a body: contact and friction of all other bodies
/// and obstacles; `all`: every prescribed component once and all obstacles, about the origin, so that with
/// the loads it is the rate of the momentum.
///
/// `point` is the mean position of the nodes, or vertices of an obstacle, or the point of a plane, and
/// `displacement` the mean of theirs.
template <int dim>
class SupportTable {
public:
  /// The scene must outlive the table. Collective.
  SupportTable(DiscreteScene<dim>& discrete, std::filesystem::path folder);

  /// Keeps the rows of before up to a time, -infinity at the beginning of a run. Collective.
  /// @throws FileError on every rank.
  void begin(double last_time) const;
  /// Adds what belongs to the state that the solver is just showing. Collective.
  /// @throws FileError on every rank.
  void add_step() const;

private:
  struct Group {
    std::string kind, name;
    std::vector<LocalIndex> nodes; ///< owned
  };
  struct Obstacle {
    std::string name;
    std::int32_t number; ///< as contact counts
    int mesh;            ///< its number among the obstacles that have one; -1: a plane
  };
  struct Sums;
  struct Row;
  void find_groups();
  void add_group(std::string kind, std::string name, const std::vector<char>& nodes);
  Sums sums_of(const std::vector<LocalIndex>& nodes, const linalg::Vector& force) const;
  std::vector<Row> rows_of_obstacles() const;
  std::vector<Row> rows() const;
  std::string text_of(const Row& row) const;

  DiscreteScene<dim>& discrete_;
  std::filesystem::path file_;
  std::vector<Group> groups_;
  std::vector<LocalIndex> held_;    ///< owned nodes of which some component is prescribed
  std::vector<Obstacle> obstacles_; ///< planes last; none without contact
};

} // namespace recoil::app
