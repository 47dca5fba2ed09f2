#pragma once

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include <Eigen/Core>

#include "recoil/fem/function_space.hpp"

namespace recoil::parameters {

/// What the entries of an array of derivatives belong to.
enum class Place {
  node,            ///< nodes of the space: part of the state, never of a PhysicalGradient
  cell,            ///< owned cells, complete on this rank
  facet,           ///< FunctionSpace::boundary_facets(), complete on this rank; zero on facets of ghost cells
  vertex,          ///< local mesh vertices, ghosts included; nodes on edges, faces and in cells move along
  obstacle_vertex, ///< local obstacle vertices
  surface_vertex,  ///< owned vertices of the collision surface; empty until something is added
  bond,            ///< of particles; complete on the rank that owns its first end
  particle,        ///< owned ones, complete on this rank
  coefficient,     ///< potentials::FrictionCoefficients
  scene,           ///< one entry for all that there is
  internal         ///< stepping::State::internal of this rank, where those of ghosts are complete, too
};

/// A physical quantity that terms of a problem depend on, and the array of derivatives by it.
struct Quantity {
  std::string name; ///< as constants are called in scenes
  Place place;
  bool is_vector = false;
  std::string unit = {}; ///< of the quantity; empty: none
  bool operator==(const Quantity& other) const { return name == other.name; }
};

namespace quantities {
inline const Quantity displacement{"displacement", Place::node, true, "m"};
inline const Quantity velocity{"velocity", Place::node, true, "m/s"};
inline const Quantity density{"rho", Place::cell, false, "kg/m^3"};
inline const Quantity damping_shear{"psi", Place::cell, false, "Pa s"};
inline const Quantity damping_bulk{"phi", Place::cell, false, "Pa s"};
/// A body force per mass, uniform in a cell.
inline const Quantity acceleration{"acceleration", Place::cell, true, "m/s^2"};
/// At the time of the step at hand, uniform on a facet; taken away after every step, as is the pressure.
inline const Quantity traction{"traction", Place::facet, true, "Pa"};
/// A follower pressure or a traction along the normal, at the time of the step at hand as well.
inline const Quantity pressure{"pressure", Place::facet, false, "Pa"};
inline const Quantity friction{"friction", Place::coefficient};
/// Largest traction of adhesion, or force of one of its pairs [N] (potentials::AdhesionPotential).
inline const Quantity adhesion_strength{"adhesion_strength", Place::scene, false, "Pa"};
/// Largest tangential traction of adhesion over the largest normal one.
inline const Quantity tangential_adhesion{"tangential_adhesion", Place::scene};
/// Rest positions.
inline const Quantity vertices{"vertices", Place::vertex, true, "m"};
inline const Quantity obstacle_vertices{"obstacle_vertices", Place::obstacle_vertex, true, "m"};
/// Where obstacles are in the state at hand; taken away after every state.
inline const Quantity obstacle_positions{"obstacle_positions", Place::surface_vertex, true, "m"};
/// Where they were at the start of the step.
inline const Quantity previous_obstacle_positions{"previous_obstacle_positions", Place::surface_vertex, true,
                                                  "m"};
} // namespace quantities

/// The components of vectors in a row.
template <class Vectors>
auto components(Vectors& vectors) {
  using Component = std::remove_pointer_t<decltype(vectors.data()->data())>;
  return vectors.empty() ? std::span<Component>()
                         : std::span(vectors.front().data(), vectors.size() * vectors.front().size());
}

/// An array per physical quantity, by its name.
template <int dim>
class PhysicalArrays {
public:
  using Point = Eigen::Matrix<double, dim, 1>;

  /// How many entries the places have on this rank.
  using Sizes = std::map<Place, std::size_t>;

  /// Zero, with an array for each of `quantities` but those of nodes; the same one may be named repeatedly.
  PhysicalArrays(const Sizes& sizes, std::span<const Quantity> quantities) {
    for (const Quantity& quantity : quantities) {
      if (quantity.place == Place::node) continue;
      const std::size_t count = sizes.at(quantity.place);
      if (quantity.is_vector)
        arrays_.emplace(quantity.name, std::vector<Point>(count, Point::Zero()));
      else
        arrays_.emplace(quantity.name, std::vector<double>(count, 0.0));
    }
  }

  /// nullptr where there is no array for `quantity`.
  std::vector<Point>* find_vectors(const Quantity& quantity) { return find<Point>(arrays_, quantity.name); }
  const std::vector<Point>* find_vectors(const Quantity& quantity) const {
    return find<Point>(arrays_, quantity.name);
  }
  /// nullptr where there is no array for `quantity`.
  std::vector<double>* find_numbers(const Quantity& quantity) { return find<double>(arrays_, quantity.name); }
  const std::vector<double>* find_numbers(const std::string& name) const {
    return find<double>(arrays_, name);
  }
  const std::vector<double>* find_numbers(const Quantity& quantity) const {
    return find_numbers(quantity.name);
  }
  /// @throws std::out_of_range without an array of this name, std::bad_variant_access for one of vectors.
  std::vector<double>& numbers(const std::string& name) {
    return std::get<std::vector<double>>(arrays_.at(name));
  }
  std::vector<double>& numbers(const Quantity& quantity) { return numbers(quantity.name); }
  const std::vector<double>& numbers(const std::string& name) const {
    return std::get<std::vector<double>>(arrays_.at(name));
  }
  const std::vector<double>& numbers(const Quantity& quantity) const { return numbers(quantity.name); }
  /// The derivatives by a quantity of vectors. @pre it is there.
  std::vector<Point>& vectors(const Quantity& quantity) {
    return std::get<std::vector<Point>>(arrays_.at(quantity.name));
  }
  const std::vector<Point>& vectors(const Quantity& quantity) const {
    return std::get<std::vector<Point>>(arrays_.at(quantity.name));
  }

  /// The numbers of an array in a row. @throws std::out_of_range without one.
  std::span<double> entries(const Quantity& quantity) {
    return std::visit([](auto& entries) { return flat(entries); }, arrays_.at(quantity.name));
  }
  /// Fills the array with zero, where there is one.
  void clear(const Quantity& quantity) {
    if (arrays_.contains(quantity.name)) std::ranges::fill(entries(quantity), 0.0);
  }
  /// act(name, entries) for every array, its numbers in a row.
  template <class Act>
  void for_each_array(Act act) {
    for (auto& [name, array] : arrays_)
      std::visit([&, &name = name](auto& entries) { act(name, flat(entries)); }, array);
  }

protected:
  static Sizes sizes_of(const fem::FunctionSpace<dim>& space, std::size_t num_cells,
                        std::size_t num_surface_vertices, LocalIndex num_obstacle_vertices,
                        std::size_t num_friction_coefficients) {
    return {{Place::cell, num_cells},
            {Place::facet, space.boundary_facets().size()},
            {Place::vertex, space.mesh().vertices.size()},
            {Place::obstacle_vertex, num_obstacle_vertices},
            {Place::surface_vertex, num_surface_vertices},
            {Place::coefficient, num_friction_coefficients},
            {Place::scene, 1}};
  }

private:
  template <class Entry>
  static auto find(auto& arrays, const std::string& name)
      -> decltype(std::get_if<std::vector<Entry>>(&arrays.begin()->second)) {
    const auto found = arrays.find(name);
    return found == arrays.end() ? nullptr : &std::get<std::vector<Entry>>(found->second);
  }
  static std::span<double> flat(std::vector<double>& numbers) { return numbers; }
  static std::span<double> flat(std::vector<Point>& vectors) { return components(vectors); }

  std::map<std::string, std::variant<std::vector<double>, std::vector<Point>>> arrays_;
};

/// Derivative of a scalar by physical quantities: what potentials and objectives add to, and what the
/// parameters of a study are chained from. All entries are this rank's shares, to be summed over ranks where
/// a Place does not say that they are complete.
template <int dim>
class PhysicalGradient : public PhysicalArrays<dim> {
public:
  using PhysicalArrays<dim>::PhysicalArrays;
  /// `num_obstacle_vertices`: local ones, of mesh::DistributedObstacles.
  PhysicalGradient(const fem::FunctionSpace<dim>& space, std::span<const Quantity> quantities,
                   LocalIndex num_obstacle_vertices = 0, std::size_t num_friction_coefficients = 0)
      : PhysicalArrays<dim>(this->sizes_of(space, space.mesh().num_owned_cells, 0, num_obstacle_vertices,
                                           num_friction_coefficients),
                            quantities) {}

  /// The array by the rest positions of vertices; nullptr: not wanted, as it costs most. Terms of finite
  /// elements may count on the arrays of all other quantities that they name, those of particles may not.
  auto* rest_positions() { return this->find_vectors(quantities::vertices); }
};

/// A change of the physical quantities, in which tangent-linear products are taken. Every rank holds it
/// complete for what it sees: all local cells, all of FunctionSpace::boundary_facets(), all local vertices
/// and obstacle vertices, all owned vertices of the collision surface (of which those of nodes do not count).
/// A quantity without an array does not change.
template <int dim>
class PhysicalDirection : public PhysicalArrays<dim> {
public:
  using PhysicalArrays<dim>::PhysicalArrays;
  /// Zeros for `quantities`, with the sizes of PhysicalGradient. `num_surface_vertices`: owned ones of the
  /// collision surface.
  PhysicalDirection(const fem::FunctionSpace<dim>& space, std::span<const Quantity> quantities,
                    std::size_t num_surface_vertices = 0, LocalIndex num_obstacle_vertices = 0,
                    std::size_t num_friction_coefficients = 0)
      : PhysicalArrays<dim>(this->sizes_of(space, space.mesh().num_cells(), num_surface_vertices,
                                           num_obstacle_vertices, num_friction_coefficients),
                            quantities) {}

  /// The change of the rest positions of vertices; nullptr: they stay.
  const auto* rest_positions() const { return this->find_vectors(quantities::vertices); }
};

} // namespace recoil::parameters
