#include <sstream>
#include <utility>

#include "potentials/contact/surface_primitives.hpp"
#include "recoil/base/phases.hpp"
#include "recoil/geometry/predicates.hpp"
#include "recoil/potentials/contact/contact_state.hpp"

namespace recoil::potentials {

namespace {

/// How many offenders messages name.
constexpr std::size_t num_described = 10;

/// "vertex 7 of 'ball'", "edge (3, 9) of 'floor'" or "face (..) of ..". Numbers are those of the nodes over
/// all bodies, or of the vertices over all obstacles. Not collective.
template <int dim>
std::string describe_primitive(const surface::Surface<dim>& surface,
                               const surface::StencilVertices<dim>& vertices,
                               std::span<const LocalIndex> primitive) {
  constexpr std::array<const char*, 3> kinds{"vertex ", "edge (", "face ("};
  const std::int32_t body = vertices[primitive.front()].body;
  const bool is_copy = surface.parts().copies.has_value() && surface.is_obstacle(body);
  const GlobalIndex first = surface.is_obstacle(body) && !is_copy ? surface.num_nodes_global() : 0;
  const auto number = [&](LocalIndex vertex) {
    const GlobalIndex id = vertices[vertex].id - first;
    return is_copy ? id % surface.num_nodes_global() : id;
  };
  std::ostringstream text;
  text << kinds[primitive.size() - 1];
  for (std::size_t i = 0; i < primitive.size(); ++i) text << (i > 0 ? ", " : "") << number(primitive[i]);
  text << (primitive.size() > 1 ? ")" : "") << " of '" << surface.body_name(body) << "'";
  return text.str();
}

/// Adds the lines of all ranks to `first`, rank after rank, until there are num_described. Collective.
void add_lines(const parallel::Communicator& comm, const std::string& lines,
               std::vector<std::string>& first) {
  for (const std::string& of_rank : comm.all_gather(lines)) {
    std::istringstream text(of_rank);
    for (std::string line; first.size() < num_described && std::getline(text, line);) first.push_back(line);
  }
}

/// "(1, 2, 0)".
template <int dim>
std::string describe_place(const Eigen::Matrix<double, dim, 1>& place) {
  std::ostringstream text;
  for (int i = 0; i < dim; ++i) text << (i > 0 ? ", " : "(") << place[i];
  text << ")";
  return text.str();
}

} // namespace

template <int dim>
GlobalIndex count_intersections(const surface::Surface<dim>& surface,
                                const std::vector<typename surface::Surface<dim>::Point>& positions,
                                std::vector<std::string>* first, const collide::GroupFilter& meet,
                                GlobalIndex sieve_from) {
  using Point = typename surface::Surface<dim>::Point;
  std::vector<collide::Box<dim>> boxes(positions.size());
  for (std::size_t v = 0; v < positions.size(); ++v) boxes[v] = collide::Box<dim>(positions[v]);
  const PrimitiveItems<dim> all = find_items<dim>(surface, std::array{1, 2}, boxes, sieve_from);
  const std::array<collide::SetPair, 1> which{collide::SetPair{1, dim == 2 ? 1 : 2}};
  const collide::Candidates found =
      collide::find_candidates<dim>(surface.comm(), all.sets, which, admits_bodies(surface, meet));
  const RemotePrimitives<dim> remote(surface, all, found.remote);
  const auto vertices = surface::StencilVertices<dim>(surface, remote.foreign_vertices(found, which));
  const std::vector<Point> x = vertices.gather(std::span(positions).first(surface.num_owned()));

  GlobalIndex count = 0;
  std::string texts;
  std::size_t described = 0;
  for (const auto& pair : found.pairs[0]) {
    const Primitive a = remote.primitive(which[0].first, pair[0]),
                    b = remote.primitive(which[0].second, pair[1]);
    std::array<LocalIndex, 5> corners{};
    std::size_t num_corners = 0;
    for (const Primitive* primitive : {&a, &b})
      for (std::size_t i = 0; i < primitive->num_vertices; ++i)
        corners[num_corners++] = vertices.find(primitive->vertices[i]);
    const auto at = [&](std::size_t i) -> const Point& { return x[corners[i]]; };
    bool hit = false;
    if constexpr (dim == 2)
      hit = geometry::segments_intersect(at(0), at(1), at(2), at(3));
    else
      hit = geometry::segment_triangle_intersect(at(0), at(1), at(2), at(3), at(4));
    if (!hit) continue;
    ++count;
    if (first == nullptr || described++ >= num_described) continue;
    const std::span<const LocalIndex> of_pair(corners.data(), num_corners);
    texts += describe_primitive(surface, vertices, of_pair.first(2)) + " and " +
             describe_primitive(surface, vertices, of_pair.subspan(2)) + " near " +
             describe_place<dim>(at(0)) + "\n";
  }
  if (first != nullptr) add_lines(surface.comm(), texts, *first);
  return surface.comm().sum(count);
}

template <int dim>
GlobalIndex ContactState<dim>::num_intersections(std::vector<std::string>* first) const {
  const PhaseScope phase(Phase::contact);
  GlobalIndex below = 0;
  std::string texts;
  for (const Plane<dim>& plane : parameters_.planes)
    for (LocalIndex v = 0; v < surface_->num_owned(); ++v) {
      const Point& x = known_[v];
      if (surface_->node(v) < 0 || plane.normal.dot(x - plane.point) > 0) continue;
      ++below;
      if (first != nullptr && std::cmp_less_equal(below, num_described))
        texts += describe_primitive(*surface_, *vertices_, std::span(&v, 1)) + " near " +
                 describe_place<dim>(x) + " is beyond the plane through " + describe_place<dim>(plane.point) +
                 "\n";
    }
  if (first != nullptr) add_lines(surface_->comm(), texts, *first);
  return surface_->comm().sum(below) +
         count_intersections<dim>(*surface_, known_, first, {}, parameters_.sieve_from);
}

template <int dim>
ClosestPair<dim> ContactState<dim>::closest_pair() const {
  const ContactPair<dim>* closest = nullptr;
  for (const auto& pair : *pairs_)
    if (closest == nullptr || pair.closest.distance_squared < closest->closest.distance_squared)
      closest = &pair;
  std::string text;
  double distance = std::numeric_limits<double>::infinity();
  if (closest != nullptr) {
    distance = std::sqrt(closest->closest.distance_squared);
    const std::span<const LocalIndex> all(closest->vertices);
    const std::size_t first = geometry::num_first_points(closest->kind);
    const std::size_t count = closest->num_vertices;
    std::ostringstream line;
    line << describe_primitive(*surface_, *vertices_, all.first(first)) << " and "
         << (count > first ? describe_primitive(*surface_, *vertices_, all.subspan(first, count - first))
                           : "a plane")
         << " are " << distance << " m apart at " << describe_place<dim>(closest->points.col(0));
    text = line.str();
  }
  ClosestPair<dim> result;
  result.distance = surface_->comm().min(distance);
  const std::vector<std::string> texts = surface_->comm().all_gather(distance == result.distance ? text : "");
  for (const std::string& candidate : texts)
    if (result.description.empty()) result.description = candidate;
  return result;
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template GlobalIndex count_intersections(                                                                  \
      const surface::Surface<dim>&, const std::vector<typename surface::Surface<dim>::Point>&,               \
      std::vector<std::string>*, const collide::GroupFilter&, GlobalIndex);                                  \
  template GlobalIndex ContactState<dim>::num_intersections(std::vector<std::string>*) const;                \
  template ClosestPair<dim> ContactState<dim>::closest_pair() const;
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::potentials
