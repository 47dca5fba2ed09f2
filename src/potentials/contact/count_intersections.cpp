#include <sstream>

#include "potentials/contact/remote_primitives.hpp"
#include "potentials/contact/surface_items.hpp"
#include "recoil/geometry/predicates.hpp"
#include "recoil/potentials/contact/contact_search.hpp"

namespace recoil::potentials {

namespace {

constexpr std::size_t num_described = 10;

template <int dim>
std::string describe(const fem::CollisionSurface<dim>& surface, std::int32_t a, std::int32_t b,
                     const Eigen::Matrix<double, dim, 1>& place) {
  std::ostringstream text;
  text << "'" << surface.body_name(a) << "' and '" << surface.body_name(b) << "' near (";
  for (int i = 0; i < dim; ++i) text << (i > 0 ? ", " : "") << place[i];
  text << ")";
  return text.str();
}

} // namespace

template <int dim>
GlobalIndex count_intersections(const fem::CollisionSurface<dim>& surface,
                                const std::vector<typename fem::CollisionSurface<dim>::Point>& positions,
                                std::vector<std::string>* first) {
  using Point = typename fem::CollisionSurface<dim>::Point;
  std::vector<collide::Box<dim>> boxes(positions.size());
  for (std::size_t v = 0; v < positions.size(); ++v) boxes[v] = collide::Box<dim>(positions[v]);
  const std::array<collide::ItemSet<dim>, 3> sets{collide::ItemSet<dim>(),
                                                  items<dim, 2>(surface, surface.edges(), boxes),
                                                  items<dim, 3>(surface, surface.faces(), boxes)};
  const std::array<collide::SetPair, 1> which{collide::SetPair{1, dim == 2 ? 1 : 2}};
  const collide::Candidates found =
      collide::find_candidates<dim>(surface.comm(), sets, which, admits_bodies(surface));
  const RemotePrimitives<dim> remote(surface, found.remote);
  const auto vertices = ContactVertices<dim>(surface, remote.foreign_vertices(found, which));
  const std::vector<Point> x =
      vertices.gather(std::span(positions).first(static_cast<std::size_t>(surface.num_owned())));

  GlobalIndex count = 0;
  std::string texts;
  std::size_t described = 0;
  for (const auto& pair : found.pairs[0]) {
    const Primitive a = remote.primitive(which[0].first, pair[0]),
                    b = remote.primitive(which[0].second, pair[1]);
    const auto at = [&](const Primitive& primitive, std::size_t i) -> const Point& {
      return x[static_cast<std::size_t>(vertices.find(primitive.vertices[i]))];
    };
    bool hit = false;
    if constexpr (dim == 2)
      hit = geometry::segments_intersect(at(a, 0), at(a, 1), at(b, 0), at(b, 1));
    else
      hit = geometry::segment_triangle_intersect(at(a, 0), at(a, 1), at(b, 0), at(b, 1), at(b, 2));
    if (!hit) continue;
    ++count;
    if (first != nullptr && described++ < num_described)
      texts += describe<dim>(surface, vertices[vertices.find(a.vertices[0])].body,
                             vertices[vertices.find(b.vertices[0])].body, at(a, 0)) +
               "\n";
  }
  if (first != nullptr)
    for (const std::string& of_rank : surface.comm().all_gather(texts)) {
      std::istringstream lines(of_rank);
      for (std::string line; first->size() < num_described && std::getline(lines, line);)
        first->push_back(line);
    }
  return surface.comm().sum(count);
}

template GlobalIndex count_intersections<2>(const fem::CollisionSurface<2>&,
                                            const std::vector<Eigen::Vector2d>&, std::vector<std::string>*);
template GlobalIndex count_intersections<3>(const fem::CollisionSurface<3>&,
                                            const std::vector<Eigen::Vector3d>&, std::vector<std::string>*);

} // namespace recoil::potentials
