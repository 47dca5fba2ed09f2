#pragma once

#include <optional>
#include <string>
#include <vector>

#include "recoil/cage/solid.hpp"
#include "recoil/geometry/box_tree.hpp"
#include "recoil/pieces/files.hpp"
#include "recoil/solvers/fracture_modes/impact.hpp"

/// Impacts on a shape whose fracture modes are known. Nothing in this header is collective.
namespace recoil::app {

/// A shape with its modes, on one rank.
template <int dim>
struct BreakableShape {
  cage::CellMesh<dim> mesh;                   ///< the body, or a cage around it
  std::vector<std::int32_t> piece_of_cell;    ///< piece of the model of each cell
  solvers::fracture_modes::ImpactModel model; ///< of the cells
  std::vector<double> energies;               ///< of the modes
  std::optional<cage::Solid<dim>> solid;      ///< the body in the cage; none: the cells are the body
  cage::SolidOptions solid_options;           ///< of its repair
  std::optional<cage::Solid<dim>> repaired;   ///< kept by break_body() once it has been needed
  pieces::InputSurface surface;               ///< that `solid` was made from, in 3D
  pieces::FacetMesh<2> outline;               ///< the same in 2D
  double least_piece = 1e-4;   ///< smaller parts of the volume of the body are joined to a neighbour
  double smoothing_length = 0; ///< of faults [m]
  std::string where;           ///< for messages
};

/// The body's own surface: that of the solid, or the boundary of the cells with their vertices.
template <int dim>
cage::FacetMesh<dim> surface_of(const BreakableShape<dim>& shape);

/// Mean length of the edges of the cells [m], each counted once per cell.
template <int dim>
double mean_edge(const cage::CellMesh<dim>& mesh);

/// A place where a shape is hit.
template <int dim>
struct Hit {
  solvers::fracture_modes::ImpactPoint point;
  cage::Point<dim> place;  ///< on the boundary of the cells
  cage::Point<dim> normal; ///< of the boundary there, outwards
  double distance = 0;     ///< from the place that was asked for [m]
};

/// Finds where the boundary of the cells of a shape, which must outlive it, is hit.
template <int dim>
class HitFinder {
public:
  explicit HitFinder(const BreakableShape<dim>& shape);

  /// The point of the boundary nearest to x, with the hat functions of its facet as weights.
  Hit<dim> nearest(const cage::Point<dim>& x) const;
  /// The vertex with this input id; nothing for one that is not on the boundary.
  std::optional<Hit<dim>> vertex(GlobalIndex id) const;

private:
  cage::Point<dim> normal(const std::array<std::int32_t, dim>& facet) const;

  const BreakableShape<dim>* shape_;
  std::vector<std::array<std::int32_t, dim>> facets_;
  std::optional<geometry::BoxTree> tree_;
  double first_reach_ = 1;
};

/// How the cells of a fragment feel an impact, and move after it.
template <int dim>
struct FragmentMotion {
  double density;            ///< mean over its cells [kg/m^dim]
  double volume;             ///< of its cells [m^dim]
  double amplitude;          ///< mean over its mass of what its pieces feel; that of the whole shape is 1
  cage::Point<dim> velocity; ///< amplitude times the mean velocity of the shape [m/s]
};

/// The motions of the fragments of the last impact of a solver. @param fragments that it gave.
/// @param velocity of the centre of mass of the whole shape.
template <int dim>
std::vector<FragmentMotion<dim>> fragment_motions(const solvers::fracture_modes::ImpactModel& model,
                                                  const solvers::fracture_modes::ImpactSolver& solver,
                                                  std::span<const int> fragments,
                                                  const cage::Point<dim>& velocity);

/// A connected part of a body that came off.
template <int dim>
struct BodyPiece {
  pieces::Piece<dim> piece; ///< its label is its place in the list, and so are those beyond its faults
  int fragment;             ///< of the impact
  pieces::Moments<dim> moments;
};

/// A body cut along the faults between the fragments.
template <int dim>
struct BrokenBody {
  cage::CutCells<dim> cells; ///< labels: fragments; those that smoothing wiped out have none
  std::vector<BodyPiece<dim>> pieces;
  double volume = 0;  ///< of the body before it was cut [m^dim]
  std::string repair; ///< why the surface is not that of the input, as in Solid; empty where it is
};

/// The pieces of a body after an impact: closed, manifold, oriented meshes, in the order of their fragments.
/// A fragment that does not hang together inside of the body, or a body of several parts, gives several
/// pieces. Where the surface of the solid cannot be cut as it is, a repaired one is cut in its place.
/// @param fragments one per piece of the model, as ImpactSolver::apply() gives them.
/// @throws InputError where the cage does not contain the body.
template <int dim>
BrokenBody<dim> break_body(BreakableShape<dim>& shape, std::span<const int> fragments);

/// Cuts pieces that do not hang together into their connected parts; cavities stay with what is around them.
template <int dim>
std::vector<pieces::Piece<dim>> connected_parts(std::vector<pieces::Piece<dim>> pieces,
                                                std::vector<int>& sources);

} // namespace recoil::app
