#include "potentials/contact/describe.hpp"
#include "potentials/contact/remote_primitives.hpp"
#include "potentials/contact/surface_items.hpp"
#include "recoil/geometry/predicates.hpp"
#include "recoil/potentials/contact/contact_search.hpp"

namespace recoil::potentials {

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
  const std::vector<Point> x = vertices.gather(std::span(positions).first(surface.num_owned()));

  GlobalIndex count = 0;
  std::string texts;
  std::size_t described = 0;
  for (const auto& pair : found.pairs[0]) {
    const Primitive a = remote.primitive(which[0].first, pair[0]),
                    b = remote.primitive(which[0].second, pair[1]);
    std::array<LocalIndex, 5> all{};
    std::size_t num_all = 0;
    for (const Primitive* primitive : {&a, &b})
      for (std::size_t i = 0; i < primitive->num_vertices; ++i)
        all[num_all++] = vertices.find(primitive->vertices[i]);
    const auto at = [&](std::size_t i) -> const Point& { return x[all[i]]; };
    bool hit = false;
    if constexpr (dim == 2)
      hit = geometry::segments_intersect(at(0), at(1), at(2), at(3));
    else
      hit = geometry::segment_triangle_intersect(at(0), at(1), at(2), at(3), at(4));
    if (!hit) continue;
    ++count;
    if (first == nullptr || described++ >= num_described) continue;
    const std::span<const LocalIndex> of_pair(all.data(), num_all);
    texts += describe_primitive(surface, vertices, of_pair.first(2)) + " and " +
             describe_primitive(surface, vertices, of_pair.subspan(2)) + " near " +
             describe_place<dim>(at(0)) + "\n";
  }
  if (first != nullptr) add_lines(surface.comm(), texts, *first);
  return surface.comm().sum(count);
}

template GlobalIndex count_intersections<2>(const fem::CollisionSurface<2>&,
                                            const std::vector<Eigen::Vector2d>&, std::vector<std::string>*);
template GlobalIndex count_intersections<3>(const fem::CollisionSurface<3>&,
                                            const std::vector<Eigen::Vector3d>&, std::vector<std::string>*);

} // namespace recoil::potentials
