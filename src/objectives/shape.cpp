#include "recoil/objectives/shape.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>

#include "recoil/base/error.hpp"
#include "recoil/fem/reference/lagrange.hpp"

namespace recoil::objectives {

namespace {

/// How far the volume lies beyond a limit. At the limit itself its derivative is taken as zero.
template <int dim>
class VolumeExcess final : public Observable<dim> {
  using Point = Eigen::Matrix<double, dim, 1>;

public:
  VolumeExcess(Region<dim> region, double limit)
      : Observable<dim>(region.comm(), 1, this->one_point(region.comm())), region_(std::move(region)),
        limit_(limit) {}

  std::vector<Quantity> depends_on() const override { return {quantities::vertices}; }

  std::vector<double> values(const ObservedState&) override { return this->on_first(std::array{excess()}); }

  std::vector<double> tangent(const ObservedState&, std::span<const double>, std::span<const double>,
                              const parameters::PhysicalDirection<dim>& dq) override {
    double change = 0;
    if (const auto* moved = dq.rest_positions())
      for_each_share([&](LocalIndex vertex, const Point& share) { change += share.dot((*moved)[vertex]); });
    change = region_.comm().sum(change);
    return this->on_first(std::array{excess() > 0 ? change : 0.0});
  }

  void add_products(const ObservedState&, std::span<const double> y, std::span<double>, std::span<double>,
                    parameters::PhysicalGradient<dim>& g) override {
    auto* by_vertex = g.rest_positions();
    const double by_volume = this->on_all(y)[0];
    if (excess() == 0 || !by_vertex) return;
    for_each_share([&](LocalIndex vertex, const Point& share) { (*by_vertex)[vertex] += by_volume * share; });
  }

private:
  /// act(vertex, share) for all shares of owned cells in dV/dX: V grad xi^b.
  template <class Act>
  void for_each_share(Act act) const {
    const mesh::DistributedMesh<dim>& mesh = region_.mesh();
    for (LocalIndex cell = 0; cell < mesh.num_owned_cells; ++cell) {
      if (!region_.selects(cell)) continue;
      const auto& inverse_edges = region_.geometry->inverse_edges[cell];
      for (int i = 0; i < dim; ++i) {
        const Point share = measure(cell) * inverse_edges.row(i).transpose();
        act(mesh.cells[cell][i + 1], share);
        act(mesh.cells[cell][0], -share);
      }
    }
  }
  double measure(LocalIndex cell) const { return region_.geometry->weight_factor(cell) / (dim == 2 ? 2 : 6); }
  double excess() const {
    double volume = 0;
    for (LocalIndex cell = 0; cell < region_.mesh().num_owned_cells; ++cell)
      if (region_.selects(cell)) volume += measure(cell);
    return std::max(region_.comm().sum(volume) - limit_, 0.0);
  }

  Region<dim> region_;
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

/// |s|^(p/2 - 1) s of the vertices of a boundary.
template <int dim>
class BoundarySmoothing final : public Observable<dim> {
  using Point = Eigen::Matrix<double, dim, 1>;

public:
  BoundarySmoothing(const Region<dim>& region, double p, std::vector<BoundaryVertex> boundary)
      : Observable<dim>(region.comm(), dim, this->count(boundary.size())), region_(region), p_(p),
        boundary_(std::move(boundary)) {}

  std::vector<Quantity> depends_on() const override { return {quantities::vertices}; }

  /// Below p = 2 the numbers have no derivative where s = 0, although the sum of their squares has.
  bool has_tangent() const override { return p_ >= 2; }

  std::vector<double> values(const ObservedState&) override {
    std::vector<double> rows;
    for (const BoundaryVertex& vertex : boundary_) {
      const Star star(*this, vertex);
      const Point r = star.norm() > 0 ? Point(std::pow(star.norm(), p_ / 2 - 1) * star.s()) : star.s();
      rows.insert(rows.end(), r.begin(), r.end());
    }
    return rows;
  }

  std::vector<double> tangent(const ObservedState&, std::span<const double>, std::span<const double>,
                              const parameters::PhysicalDirection<dim>& dq) override {
    std::vector<double> rows;
    const auto* moved = dq.rest_positions();
    for (const BoundaryVertex& vertex : boundary_) {
      Point dr = Point::Zero();
      if (moved) dr = power_derivative(Star(*this, vertex), star_tangent(vertex, *moved));
      rows.insert(rows.end(), dr.begin(), dr.end());
    }
    return rows;
  }

  void add_products(const ObservedState&, std::span<const double> rows, std::span<double>, std::span<double>,
                    parameters::PhysicalGradient<dim>& g) override {
    auto* by_vertex = g.rest_positions();
    if (!by_vertex) return;
    for (std::size_t i = 0; i < boundary_.size(); ++i) {
      const BoundaryVertex& vertex = boundary_[i];
      const Star star(*this, vertex);
      const Point y = power_derivative(star, Eigen::Map<const Point>(&rows[dim * i]));
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
    Point s() const { return D / L; }
    double norm() const { return s().norm(); }

    Point D = Point::Zero();
    double L = 0;
  };

  /// The derivative of |s|^(p/2 - 1) s, a symmetric matrix, times x; that of least norm where it has none.
  Point power_derivative(const Star& star, const Point& x) const {
    if (p_ == 2) return x;
    if (star.norm() == 0) return Point::Zero();
    const Point n = star.s() / star.norm();
    return std::pow(star.norm(), p_ / 2 - 1) * (x + (p_ / 2 - 1) * n.dot(x) * n);
  }
  /// ds where vertices move.
  Point star_tangent(const BoundaryVertex& vertex, const std::vector<Point>& moved) const {
    const Star star(*this, vertex);
    Point dD = Point::Zero();
    double dL = 0;
    for (const LocalIndex neighbour : vertex.neighbours) {
      const Point de = moved[vertex.vertex] - moved[neighbour];
      dD += de;
      dL += star.edge(*this, vertex, neighbour).normalized().dot(de);
    }
    return (dD - dL * star.s()) / star.L;
  }

  Region<dim> region_;
  double p_;
  std::vector<BoundaryVertex> boundary_;
};

} // namespace

template <int dim>
std::unique_ptr<Objective<dim>> make_volume_bound(Region<dim> region, double limit) {
  if (!(limit > 0) || !std::isfinite(limit))
    throw InputError("volume_bound: limit = " + std::to_string(limit) + "; it must be positive");
  return make_square<dim>("volume_bound", std::make_unique<VolumeExcess<dim>>(std::move(region), limit));
}

template <int dim>
std::unique_ptr<Objective<dim>> make_boundary_smoothing(Region<dim> region, double p) {
  if (!(p > 1) || !std::isfinite(p))
    throw InputError("boundary_smoothing: p = " + std::to_string(p) + "; it must be larger than 1");
  return make_square<dim>("boundary_smoothing",
                          std::make_unique<BoundarySmoothing<dim>>(region, p, boundary_vertices(region)));
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template std::unique_ptr<Objective<dim>> make_volume_bound(Region<dim>, double);                           \
  template std::unique_ptr<Objective<dim>> make_boundary_smoothing(Region<dim>, double);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::objectives
