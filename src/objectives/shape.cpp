#include "recoil/objectives/shape.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "recoil/base/error.hpp"
#include "recoil/fem/reference/lagrange.hpp"

namespace recoil::objectives {

namespace {

/// An objective of the rest shape alone.
template <int dim>
class OfShape : public Objective<dim> {
public:
  explicit OfShape(Region<dim> region) : region_(std::move(region)) {}
  std::vector<Quantity> depends_on() const override { return {quantities::vertices}; }

protected:
  using Point = Eigen::Matrix<double, dim, 1>;
  Region<dim> region_;
};

template <int dim>
class VolumeBound final : public OfShape<dim> {
public:
  VolumeBound(Region<dim> region, double limit) : OfShape<dim>(std::move(region)), limit_(limit) {}

  std::string_view name() const override { return "volume_bound"; }

  double value(const ObservedState&) override {
    const double excess = this->excess();
    return excess * excess;
  }

  void add_derivatives(const ObservedState&, double factor, std::span<double>, std::span<double>,
                       parameters::PhysicalGradient<dim>& g) override {
    auto* by_vertex = g.rest_positions();
    if (!by_vertex) return;
    const double by_volume = 2 * factor * excess();
    const mesh::DistributedMesh<dim>& mesh = this->region_.mesh();
    for (LocalIndex cell = 0; cell < mesh.num_owned_cells; ++cell) {
      if (!this->region_.selects(cell)) continue;
      // dV/dX_b = V grad xi^b.
      const auto& inverse_edges = this->region_.geometry->inverse_edges[cell];
      const auto& vertices = mesh.cells[cell];
      const double weight = by_volume * measure(cell);
      for (int i = 0; i < dim; ++i) {
        const typename OfShape<dim>::Point share = weight * inverse_edges.row(i).transpose();
        (*by_vertex)[vertices[i + 1]] += share;
        (*by_vertex)[vertices[0]] -= share;
      }
    }
  }

private:
  double measure(LocalIndex cell) const {
    return this->region_.geometry->weight_factor(cell) / (dim == 2 ? 2 : 6);
  }
  /// How far the volume lies beyond its limit.
  double excess() const {
    double volume = 0;
    for (LocalIndex cell = 0; cell < this->region_.mesh().num_owned_cells; ++cell)
      if (this->region_.selects(cell)) volume += measure(cell);
    return std::max(this->region_.comm().sum(volume) - limit_, 0.0);
  }

  double limit_;
};

/// A vertex on the boundary and those at the other ends of its boundary edges.
struct BoundaryVertex {
  LocalIndex vertex;
  std::vector<LocalIndex> neighbours;
};

/// Owned vertices of the region's boundary. All cells around an owned vertex are here, so all its neighbours
/// are.
template <int dim>
std::vector<BoundaryVertex> boundary_vertices(const Region<dim>& region) {
  const mesh::DistributedMesh<dim>& mesh = region.mesh();
  const auto id = [&](LocalIndex v) { return mesh.vertex_ids[v]; };
  // By input ids: sums are then made in one order on any partition.
  std::map<LocalIndex, std::map<GlobalIndex, LocalIndex>> neighbours;
  for (const fem::BoundaryFacet& facet : region.space->boundary_facets()) {
    if (!region.selects(facet.cell)) continue;
    const auto& cell = mesh.cells[facet.cell];
    for (const int i : fem::facet_vertices<dim>(facet.facet))
      for (const int j : fem::facet_vertices<dim>(facet.facet)) {
        const LocalIndex a = cell[i], b = cell[j];
        if (a != b && a < mesh.num_owned_vertices) neighbours[a][id(b)] = b;
      }
  }
  std::vector<BoundaryVertex> result;
  for (const auto& [vertex, around] : neighbours) {
    result.push_back({vertex, {}});
    for (const auto& [_, neighbour] : around) result.back().neighbours.push_back(neighbour);
  }
  return result;
}

template <int dim>
class BoundarySmoothing final : public OfShape<dim> {
  using typename OfShape<dim>::Point;

public:
  BoundarySmoothing(Region<dim> region, double p)
      : OfShape<dim>(std::move(region)), p_(p), boundary_(boundary_vertices(this->region_)) {}

  std::string_view name() const override { return "boundary_smoothing"; }

  double value(const ObservedState&) override {
    double sum = 0;
    for (const BoundaryVertex& vertex : boundary_) {
      const Star star(*this, vertex);
      sum += std::pow((star.D / star.L).norm(), p_);
    }
    return this->region_.comm().sum(sum);
  }

  void add_derivatives(const ObservedState&, double factor, std::span<double>, std::span<double>,
                       parameters::PhysicalGradient<dim>& g) override {
    auto* by_vertex = g.rest_positions();
    if (!by_vertex) return;
    for (const BoundaryVertex& vertex : boundary_) {
      const Star star(*this, vertex);
      const Point s = star.D / star.L;
      const double norm = s.norm();
      if (norm == 0) continue;
      const Point y = factor * p_ * std::pow(norm, p_ - 2) * s;
      const double stretch = y.dot(star.D) / (star.L * star.L);
      for (const LocalIndex neighbour : vertex.neighbours) {
        const Point by_edge = y / star.L - stretch * star.edge(*this, vertex, neighbour).normalized();
        (*by_vertex)[vertex.vertex] += by_edge;
        (*by_vertex)[neighbour] -= by_edge;
      }
    }
  }

private:
  struct Star {
    Star(const BoundarySmoothing& of, const BoundaryVertex& vertex) {
      for (const LocalIndex neighbour : vertex.neighbours) {
        const Point e = edge(of, vertex, neighbour);
        D += e;
        L += e.norm();
      }
    }
    static Point edge(const BoundarySmoothing& of, const BoundaryVertex& vertex, LocalIndex neighbour) {
      const auto& X = of.region_.mesh().vertices;
      return X[vertex.vertex] - X[neighbour];
    }
    Point D = Point::Zero();
    double L = 0;
  };

  double p_;
  std::vector<BoundaryVertex> boundary_;
};

} // namespace

template <int dim>
std::unique_ptr<Objective<dim>> make_volume_bound(Region<dim> region, double limit) {
  if (!(limit > 0) || !std::isfinite(limit))
    throw InputError("volume_bound: limit = " + std::to_string(limit) + "; it must be positive");
  return std::make_unique<VolumeBound<dim>>(std::move(region), limit);
}

template <int dim>
std::unique_ptr<Objective<dim>> make_boundary_smoothing(Region<dim> region, double p) {
  if (!(p > 1) || !std::isfinite(p))
    throw InputError("boundary_smoothing: p = " + std::to_string(p) + "; it must be larger than 1");
  return std::make_unique<BoundarySmoothing<dim>>(std::move(region), p);
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template std::unique_ptr<Objective<dim>> make_volume_bound(Region<dim>, double);                           \
  template std::unique_ptr<Objective<dim>> make_boundary_smoothing(Region<dim>, double);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::objectives
