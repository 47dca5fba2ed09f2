#include "potentials/contact/describe.hpp"

#include <sstream>

namespace recoil::potentials {

template <int dim>
std::string describe_primitive(const fem::CollisionSurface<dim>& surface,
                               const ContactVertices<dim>& vertices, std::span<const LocalIndex> primitive) {
  constexpr std::array<const char*, 3> kinds{"vertex ", "edge (", "face ("};
  const std::int32_t body = vertices[primitive.front()].body;
  const GlobalIndex first = surface.is_obstacle(body) ? surface.space().num_nodes_global() : 0;
  std::ostringstream text;
  text << kinds[primitive.size() - 1];
  for (std::size_t i = 0; i < primitive.size(); ++i)
    text << (i > 0 ? ", " : "") << vertices[primitive[i]].id - first;
  text << (primitive.size() > 1 ? ")" : "") << " of '" << surface.body_name(body) << "'";
  return text.str();
}

void add_lines(const parallel::Communicator& comm, const std::string& lines,
               std::vector<std::string>& first) {
  for (const std::string& of_rank : comm.all_gather(lines)) {
    std::istringstream text(of_rank);
    for (std::string line; first.size() < num_described && std::getline(text, line);) first.push_back(line);
  }
}

template <int dim>
std::string describe_place(const Eigen::Matrix<double, dim, 1>& place) {
  std::ostringstream text;
  for (int i = 0; i < dim; ++i) text << (i > 0 ? ", " : "(") << place[i];
  text << ")";
  return text.str();
}

template std::string describe_primitive(const fem::CollisionSurface<2>&, const ContactVertices<2>&,
                                        std::span<const LocalIndex>);
template std::string describe_primitive(const fem::CollisionSurface<3>&, const ContactVertices<3>&,
                                        std::span<const LocalIndex>);
template std::string describe_place<2>(const Eigen::Vector2d&);
template std::string describe_place<3>(const Eigen::Vector3d&);

} // namespace recoil::potentials
