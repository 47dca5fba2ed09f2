#include "recoil/objectives/material_points.hpp"

#include <algorithm>
#include <limits>
#include <sstream>
#include <unordered_map>

#include <Eigen/LU>

#include "recoil/base/error.hpp"
#include "recoil/base/lookup.hpp"
#include "recoil/collide/candidates.hpp"

namespace recoil::objectives {

namespace {

/// How far outside of a cell, in barycentric coordinates, a point may lie and still count as on its boundary.
constexpr double boundary_tolerance = 1e-9;
constexpr GlobalIndex none = std::numeric_limits<GlobalIndex>::max();

template <int dim>
using Point = Eigen::Matrix<double, dim, 1>;

template <int dim>
std::array<double, dim + 1> barycentric(const mesh::DistributedMesh<dim>& mesh, LocalIndex cell,
                                        const Point<dim>& position) {
  const auto& vertices = mesh.cells[cell];
  const auto& origin = mesh.vertices[vertices[0]];
  Eigen::Matrix<double, dim, dim> edges;
  for (std::size_t i = 1; i <= dim; ++i) edges.col(i - 1) = mesh.vertices[vertices[i]] - origin;
  const Point<dim> xi = edges.inverse() * (position - origin);
  std::array<double, dim + 1> lambda;
  lambda[0] = 1 - xi.sum();
  std::copy(xi.begin(), xi.end(), lambda.begin() + 1);
  return lambda;
}

template <int dim>
void add_item(collide::ItemSet<dim>& set, const collide::Box<dim>& box) {
  set.boxes.push_back(box);
  set.labels.push_back({-1, -1, -1});
  set.groups.push_back(0);
}

/// A box around all that counts as inside of a cell: barycentric coordinates that are off by t move a point
/// by at most t times the sum of the edges.
template <int dim>
collide::Box<dim> box_of(const mesh::DistributedMesh<dim>& mesh, LocalIndex cell) {
  collide::Box<dim> box;
  for (const LocalIndex vertex : mesh.cells[cell]) box.extend(mesh.vertices[vertex]);
  const Point<dim> margin = 2 * (dim + 1) * boundary_tolerance * box.sizes();
  return {box.min() - margin, box.max() + margin};
}

/// The owned cell of the body with the smallest id around each position; `none` for the others.
template <int dim>
std::vector<MaterialPoint<dim>> locate_here(const mesh::DistributedMesh<dim>& mesh, std::int32_t body,
                                            std::span<const Point<dim>> rests) {
  std::vector<collide::ItemSet<dim>> sets(2);
  for (const Point<dim>& rest : rests) add_item<dim>(sets[0], {rest, rest});
  std::vector<LocalIndex> cells;
  for (LocalIndex cell = 0; cell < mesh.num_owned_cells; ++cell) {
    if (mesh.cell_body[cell] != body) continue;
    cells.push_back(cell);
    add_item<dim>(sets[1], box_of(mesh, cell));
  }
  // Every rank has all positions: nothing is asked of others.
  const parallel::Communicator alone = mesh.comm->split(mesh.comm->rank());
  const std::vector<collide::SetPair> which{{0, 1}};
  const auto found = collide::find_candidates<dim>(alone, sets, which, {});
  std::vector<MaterialPoint<dim>> points(rests.size(), {none, {}});
  for (const auto& [number, index] : found.pairs.front()) {
    const GlobalIndex id = mesh.cell_ids[cells[index]];
    if (id >= points[number].carrier) continue;
    const auto lambda = barycentric<dim>(mesh, cells[index], rests[number]);
    if (*std::ranges::min_element(lambda) >= -boundary_tolerance) points[number] = {id, lambda};
  }
  return points;
}

/// A material point in an owned cell.
template <int dim>
struct OwnedPoint {
  LocalIndex cell;
  std::array<double, dim + 1> barycentric;
  std::vector<double> basis; ///< phi_a there
};

template <int dim>
class Points final : public Observable<dim> {
  using Point = Eigen::Matrix<double, dim, 1>;

public:
  /// @param numbers of `points`, which are this rank's.
  Points(const fem::FunctionSpace<dim>& space, PointVector vector, std::vector<OwnedPoint<dim>> points,
         std::vector<std::int32_t> numbers)
      : Observable<dim>(space.comm(), dim, std::move(numbers)), space_(&space),
        sees_positions_(vector == PointVector::position), points_(std::move(points)) {}

  std::vector<Quantity> depends_on() const override {
    std::vector<Quantity> all{quantities::displacement};
    if (sees_positions_) all.push_back(quantities::vertices);
    return all;
  }

  std::vector<double> values(const ObservedState& state) override {
    return vectors(state.u, sees_positions_ ? &space_->mesh().vertices : nullptr);
  }
  std::vector<double> tangent(const ObservedState&, std::span<const double> du, std::span<const double>,
                              const parameters::PhysicalDirection<dim>& dq) override {
    return vectors(du, sees_positions_ ? dq.rest_positions() : nullptr);
  }
  void add_products(const ObservedState&, std::span<const double> y, std::span<double> du, std::span<double>,
                    parameters::PhysicalGradient<dim>& g) override {
    auto* by_vertex = sees_positions_ ? g.rest_positions() : nullptr;
    linalg::Vector by_node(space_->layout());
    const std::span<double> field = by_node.write_local();
    for (std::size_t m = 0; m < points_.size(); ++m) {
      const OwnedPoint<dim>& point = points_[m];
      const Eigen::Map<const Point> by_vector(&y[dim * m]);
      const auto nodes = space_->cell_nodes(point.cell);
      for (std::size_t a = 0; a < nodes.size(); ++a)
        fem::node_block<dim>(field, nodes[a]) += point.basis[a] * by_vector;
      if (!by_vertex) continue;
      const auto& vertices = space_->mesh().cells[point.cell];
      for (std::size_t b = 0; b <= dim; ++b) (*by_vertex)[vertices[b]] += point.barycentric[b] * by_vector;
    }
    add_to_owned(by_node, du);
  }

private:
  /// A nodal field at the points, plus a field of vertices if one is given.
  std::vector<double> vectors(std::span<const double> at_nodes, const std::vector<Point>* at_vertices) const {
    std::vector<double> rows;
    for (const OwnedPoint<dim>& point : points_) {
      Point sum = Point::Zero();
      const auto nodes = space_->cell_nodes(point.cell);
      for (std::size_t a = 0; a < nodes.size(); ++a)
        sum += point.basis[a] * fem::node_block<dim>(at_nodes, nodes[a]);
      const auto& vertices = space_->mesh().cells[point.cell];
      for (std::size_t b = 0; at_vertices && b <= dim; ++b)
        sum += point.barycentric[b] * (*at_vertices)[vertices[b]];
      rows.insert(rows.end(), sum.begin(), sum.end());
    }
    return rows;
  }

  const fem::FunctionSpace<dim>* space_;
  bool sees_positions_; ///< else displacements
  std::vector<OwnedPoint<dim>> points_;
};

/// With n = F d / |F d| and H = F - I
///
///     de/du_a = n (grad phi_a . d),    de/dX_b = -H' n (grad xi^b . d)
///
/// where the second moves the vertices X_b at fixed barycentric coordinates of the point and fixed d:
/// gradients on the moved shape are (I + G)^-T grad, G = sum_b dX_b grad xi^b'.
template <int dim>
class StrainGauge final : public Observable<dim> {
  using Point = Eigen::Matrix<double, dim, 1>;

public:
  /// @param cell of this rank; -1: the point is another rank's.
  StrainGauge(const fem::FunctionSpace<dim>& space, LocalIndex cell, const MaterialPoint<dim>& point,
              const Point& direction)
      : Observable<dim>(space.comm(), 1, std::vector<std::int32_t>(cell < 0 ? 0 : 1, 0)), space_(&space),
        direction_(direction.normalized()), cell_(cell) {
    if (cell_ < 0) return;
    const mesh::DistributedMesh<dim>& mesh = space.mesh();
    const auto& vertices = mesh.cells[cell_];
    const auto X = [&](std::size_t b) -> const Point& { return mesh.vertices[vertices[b]]; };
    Eigen::Matrix<double, dim, dim> edges;
    for (std::size_t i = 1; i <= dim; ++i) edges.col(i - 1) = X(i) - X(0);
    const Point along = edges.inverse() * direction_; // d xi / d s
    along_barycentric_ << -along.sum(), along;
    const auto& basis = space.basis(space.order(cell_));
    Eigen::Matrix<double, Eigen::Dynamic, dim, Eigen::RowMajor> gradients(basis.num_nodes(), dim);
    basis.gradients(Eigen::Map<const Point>(point.coordinates.data() + 1),
                    std::span<double>(gradients.data(), gradients.size()));
    along_basis_ = gradients * along;
    gradients_ = gradients * edges.inverse();
  }

  std::vector<Quantity> depends_on() const override {
    return {quantities::displacement, quantities::vertices};
  }

  std::vector<double> values(const ObservedState& state) override {
    if (cell_ < 0) return {};
    return {deformed_direction(state.u).norm() - 1};
  }

  std::vector<double> tangent(const ObservedState& state, std::span<const double> du, std::span<const double>,
                              const parameters::PhysicalDirection<dim>& dq) override {
    if (cell_ < 0) return {};
    const Point n = deformed_direction(state.u).normalized();
    double change = n.dot(along(du));
    if (const auto* moved = dq.rest_positions())
      for_each_vertex(state, n, [&](LocalIndex v, const Point& share) { change += share.dot((*moved)[v]); });
    return {change};
  }

  void add_products(const ObservedState& state, std::span<const double> y, std::span<double> du,
                    std::span<double>, parameters::PhysicalGradient<dim>& g) override {
    linalg::Vector by_node(space_->layout());
    if (cell_ >= 0) {
      const double by_strain = y[0];
      const Point n = deformed_direction(state.u).normalized();
      const std::span<double> field = by_node.write_local();
      const auto nodes = space_->cell_nodes(cell_);
      for (std::size_t a = 0; a < nodes.size(); ++a)
        fem::node_block<dim>(field, nodes[a]) += by_strain * along_basis_[a] * n;
      if (auto* by_vertex = g.rest_positions())
        for_each_vertex(state, n,
                        [&](LocalIndex v, const Point& share) { (*by_vertex)[v] += by_strain * share; });
    }
    add_to_owned(by_node, du);
  }

private:
  /// act(vertex, de/dX) for the vertices of the cell.
  template <class Act>
  void for_each_vertex(const ObservedState& state, const Point& n, Act act) const {
    const auto nodes = space_->cell_nodes(cell_);
    Eigen::Matrix<double, dim, dim> H = Eigen::Matrix<double, dim, dim>::Zero();
    for (std::size_t a = 0; a < nodes.size(); ++a)
      H += fem::node_block<dim>(state.u, nodes[a]) * gradients_.row(a);
    const auto& vertices = space_->mesh().cells[cell_];
    for (std::size_t b = 0; b <= dim; ++b) act(vertices[b], -along_barycentric_[b] * H.transpose() * n);
  }
  /// The derivative of a nodal field along d.
  Point along(std::span<const double> field) const {
    Point sum = Point::Zero();
    const auto nodes = space_->cell_nodes(cell_);
    for (std::size_t a = 0; a < nodes.size(); ++a)
      sum += along_basis_[a] * fem::node_block<dim>(field, nodes[a]);
    return sum;
  }
  /// F d.
  Point deformed_direction(std::span<const double> u) const { return direction_ + along(u); }

  const fem::FunctionSpace<dim>* space_;
  Point direction_;
  LocalIndex cell_;                                      ///< -1: of another rank
  Eigen::Matrix<double, dim + 1, 1> along_barycentric_;  ///< grad xi^b . d
  Eigen::VectorXd along_basis_;                          ///< grad phi_a . d
  Eigen::Matrix<double, Eigen::Dynamic, dim> gradients_; ///< grad phi_a
};

} // namespace

template <int dim>
std::vector<std::optional<MaterialPoint<dim>>>
locate_all(const mesh::DistributedMesh<dim>& mesh, std::int32_t body, std::span<const Point<dim>> rests) {
  auto here = locate_here<dim>(mesh, body, rests);
  std::vector<GlobalIndex> candidates;
  for (const auto& point : here) candidates.push_back(point.carrier);
  candidates = mesh.comm->all_gather_parts(candidates);
  std::vector<double> coordinates;
  std::vector<GlobalIndex> cells(rests.size(), none);
  for (std::size_t i = 0; i < candidates.size(); ++i)
    cells[i % rests.size()] = std::min(cells[i % rests.size()], candidates[i]);
  for (std::size_t i = 0; i < rests.size(); ++i) {
    if (here[i].carrier != cells[i]) here[i].coordinates = {};
    coordinates.insert(coordinates.end(), here[i].coordinates.begin(), here[i].coordinates.end());
  }
  mesh.comm->sum(coordinates);
  std::vector<std::optional<MaterialPoint<dim>>> points(rests.size());
  for (std::size_t i = 0; i < rests.size(); ++i) {
    if (cells[i] == none) continue;
    points[i] = MaterialPoint<dim>{cells[i], {}};
    std::copy_n(coordinates.begin() + i * (dim + 1), dim + 1, points[i]->coordinates.begin());
  }
  return points;
}

template <int dim>
MaterialPoint<dim> locate(const mesh::DistributedMesh<dim>& mesh, std::int32_t body, const Point<dim>& rest,
                          const std::string& what) {
  const auto point = locate_all<dim>(mesh, body, std::span(&rest, 1)).front();
  if (point) return *point;
  const bool known = body >= 0 && body < std::ssize(mesh.body_names);
  std::ostringstream text;
  text << what << ": its rest position (" << rest.transpose() << ") lies outside of body '"
       << (known ? mesh.body_names[body] : std::to_string(body)) << "'";
  throw InputError(text.str());
}

template <int dim>
std::unique_ptr<Observable<dim>> observe_points(const fem::FunctionSpace<dim>& space, PointVector vector,
                                                const std::vector<MaterialPoint<dim>>& points) {
  if (points.empty()) throw InputError("the list of points to look at is empty");
  const mesh::DistributedMesh<dim>& mesh = space.mesh();
  std::unordered_map<GlobalIndex, LocalIndex> owned_cells;
  for (LocalIndex cell = 0; cell < mesh.num_owned_cells; ++cell) owned_cells[mesh.cell_ids[cell]] = cell;
  std::vector<OwnedPoint<dim>> owned;
  std::vector<std::int32_t> numbers;
  for (std::size_t m = 0; m < points.size(); ++m) {
    const auto found = owned_cells.find(points[m].carrier);
    if (found == owned_cells.end()) continue;
    const auto& basis = space.basis(space.order(found->second));
    owned.push_back({found->second, points[m].coordinates, std::vector<double>(basis.num_nodes())});
    basis.values(Eigen::Map<const Point<dim>>(points[m].coordinates.data() + 1), owned.back().basis);
    numbers.push_back(std::int32_t(m));
  }
  if (space.comm().sum(GlobalIndex{std::ssize(owned)}) != std::ssize(points))
    throw InputError("a point to look at lies in a cell that the mesh does not have");
  return std::make_unique<Points<dim>>(space, vector, std::move(owned), std::move(numbers));
}

template <int dim>
std::unique_ptr<Observable<dim>> observe_strain(const fem::FunctionSpace<dim>& space,
                                                const MaterialPoint<dim>& point,
                                                const Point<dim>& direction) {
  const mesh::DistributedMesh<dim>& mesh = space.mesh();
  const int cell = place_in(std::span(mesh.cell_ids).first(mesh.num_owned_cells), point.carrier);
  return std::make_unique<StrainGauge<dim>>(space, cell, point, direction);
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template std::vector<std::optional<MaterialPoint<dim>>> locate_all(                                        \
      const mesh::DistributedMesh<dim>&, std::int32_t, std::span<const Eigen::Matrix<double, dim, 1>>);      \
  template MaterialPoint<dim> locate(const mesh::DistributedMesh<dim>&, std::int32_t,                        \
                                     const Eigen::Matrix<double, dim, 1>&, const std::string&);              \
  template std::unique_ptr<Observable<dim>> observe_points(const fem::FunctionSpace<dim>&, PointVector,      \
                                                           const std::vector<MaterialPoint<dim>>&);          \
  template std::unique_ptr<Observable<dim>> observe_strain(                                                  \
      const fem::FunctionSpace<dim>&, const MaterialPoint<dim>&, const Eigen::Matrix<double, dim, 1>&);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::objectives
