#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <vector>

#include "recoil/objectives/observable.hpp"
#include "recoil/objectives/region.hpp"
#include "recoil/potentials/loads.hpp"

namespace recoil::objectives {

/// Segments of a polygon (2D) or triangles of a surface (3D), by their corners [m].
template <int dim>
using PolygonFaces = std::vector<std::array<Eigen::Matrix<double, dim, 1>, dim>>;

/// Reads a polygon. In 2D a CSV file with the columns x and y, a row per vertex in order, as CSV files of
/// observations are written; it is closed where the last vertex is the first one again. In 3D a mesh of
/// triangles, as mesh::read_mesh reads it. Collective. @throws InputError on every rank for anything else.
template <int dim>
PolygonFaces<dim> read_polygon(const parallel::Communicator& comm, const std::filesystem::path& path,
                               const UnitSystem& units = {});

/// A polygon or a surface as an aim of points: where they are, less the closest point of it.
template <int dim>
class Polygon {
public:
  using Point = Eigen::Matrix<double, dim, 1>;

  /// @param faces at least one, with finite corners.
  explicit Polygon(PolygonFaces<dim> faces);
  ~Polygon();

  static constexpr int num_components = dim;
  struct Sample {
    Point value;                              ///< x - c
    Eigen::Matrix<double, dim, dim> gradient; ///< the identity without the directions in which c follows x
  };
  /// x - c(x), c the closest point, and its derivative, which leaves c in its face, edge or vertex. That of
  /// |x - c|^2 is 2 (x - c), continuous but where several points are closest. O(log n) faces are looked at.
  Sample at(const Point& x) const;

private:
  struct Tree;
  PolygonFaces<dim> faces_;
  std::unique_ptr<const Tree> tree_;
};

/// J = int |x - c(x)|^2 dA over boundary facets of the rest region, x = X + u the place of their points and c
/// the closest point of the polygon [m^(dim+1)], by the quadrature of the nodes of a facet.
/// @param facets which boundary facets of the region, `all` = also those without an id. Collective.
/// @throws InputError on every rank where no facet of the region is selected.
template <int dim>
std::unique_ptr<Objective<dim>> make_polygon_target(Region<dim> region,
                                                    std::shared_ptr<const Polygon<dim>> polygon,
                                                    potentials::FacetSelection facets);

} // namespace recoil::objectives
