#include "recoil/solvers/async_contact/solid.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <Eigen/LU>
#include <fmt/format.h>

#include "recoil/base/error.hpp"
#include "recoil/potentials/laws/all.hpp"
#include "recoil/solvers/async_contact/model.hpp"

namespace recoil::solvers::async_contact {

namespace {

Eigen::Matrix3d cell_edges(const Points<4>& x) { return x.rightCols<3>().colwise() - x.col(0); }

/// Facets of one cell only, as the cell has them.
std::vector<std::array<LocalIndex, 3>> boundary_facets(std::span<const std::array<LocalIndex, 4>> cells) {
  constexpr int opposite[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
  std::map<std::array<LocalIndex, 3>, std::pair<int, std::array<LocalIndex, 3>>> found;
  for (const auto& cell : cells)
    for (const auto& facet : opposite) {
      const std::array<LocalIndex, 3> vertices{cell[facet[0]], cell[facet[1]], cell[facet[2]]};
      auto key = vertices;
      std::ranges::sort(key);
      auto& entry = found[key];
      ++entry.first;
      entry.second = vertices;
    }
  std::vector<std::array<LocalIndex, 3>> result;
  for (const auto& [key, entry] : found)
    if (entry.first == 1) result.push_back(entry.second);
  return result;
}

} // namespace

Solid make_solid(const std::array<LocalIndex, 4>& vertices, const Points<4>& rest, const SolidLaw* law,
                 std::span<const double> parameters) {
  Solid solid{.vertices = vertices, .inverse_rest = {}, .volume = 0, .law = law, .parameters = {}};
  const Eigen::Matrix3d edges = cell_edges(rest);
  solid.inverse_rest = edges.inverse();
  solid.volume = edges.determinant() / 6;
  std::ranges::copy(parameters, solid.parameters.begin());
  return solid;
}

double energy(const Solid& solid, const Points<4>& x) {
  return solid.volume *
         solid.law->energy_density(cell_edges(x) * solid.inverse_rest, solid.parameters.data());
}

Points<4> gradient(const Solid& solid, const Points<4>& x, Eigen::Matrix3d* F) {
  const Eigen::Matrix3d deformation = cell_edges(x) * solid.inverse_rest;
  if (F) *F = deformation;
  const Eigen::Matrix3d part = solid.volume * solid.law->first_piola(deformation, solid.parameters.data()) *
                               solid.inverse_rest.transpose();
  Points<4> result;
  result << -part.rowwise().sum(), part;
  return result;
}

double squared_frequency(const Solid& solid, double least_mass) {
  Eigen::Matrix<double, 4, 3> G;
  G << -solid.inverse_rest.colwise().sum(), solid.inverse_rest;
  const double greatest = (G.transpose() * G).cwiseAbs().rowwise().sum().maxCoeff();
  return solid.volume * solid.law->greatest_modulus(solid.parameters.data()) * greatest / least_mass;
}

const SolidLaw* find_solid_law(std::string_view name) {
  const potentials::LawInfo* info = potentials::find_law(name);
  const SolidLaw* found = nullptr;
  potentials::for_each_law<3>([&]<class Law>() {
    if (info && info->name == Law::name) found = solid_law<Law>();
  });
  return found;
}

LocalIndex add_solid(Model& model, std::span<const Eigen::Vector3d> positions,
                     std::span<const std::array<LocalIndex, 4>> cells, const SolidMaterial& material,
                     std::span<const char> prescribed) {
  if (std::ssize(material.parameters) != material.law->num_parameters ||
      material.parameters.size() > Solid::max_parameters)
    throw InputError(fmt::format("a law with {} parameters is given {}", material.law->num_parameters,
                                 material.parameters.size()));
  const LocalIndex first = model.num_vertices();
  std::vector<double> masses(positions.size(), 0);
  const std::size_t first_cell = model.solids.size();
  for (const auto& cell : cells) {
    Points<4> rest;
    std::array<LocalIndex, 4> vertices;
    for (int i = 0; i < 4; ++i) {
      rest.col(i) = positions[cell[i]];
      vertices[i] = first + cell[i];
    }
    model.solids.push_back(make_solid(vertices, rest, material.law, material.parameters));
    const double volume = model.solids.back().volume;
    if (!(volume > 0))
      throw InputError(
          fmt::format("cell of vertices {}, {}, {}, {} has volume {}: turn it round or take it out", cell[0],
                      cell[1], cell[2], cell[3], volume));
    for (const LocalIndex v : cell) masses[v] += 0.25 * volume * material.density;
  }
  for (std::size_t v = 0; v < positions.size(); ++v)
    model.add_vertex(positions[v], Eigen::Vector3d::Zero(),
                     !prescribed.empty() && prescribed[v] ? prescribed_mass : masses[v]);
  const auto is_held = [&](const Solid& solid) {
    return std::ranges::all_of(solid.vertices, [&](LocalIndex v) { return std::isinf(model.masses[v]); });
  };
  model.solids.erase(std::remove_if(model.solids.begin() + static_cast<std::ptrdiff_t>(first_cell),
                                    model.solids.end(), is_held),
                     model.solids.end());
  for (std::size_t i = first_cell; i < model.solids.size(); ++i) {
    Solid& solid = model.solids[i];
    double least = model.masses[solid.vertices[0]];
    for (const LocalIndex v : solid.vertices) least = std::min(least, model.masses[v]);
    solid.step = material.alpha * 2 / std::sqrt(squared_frequency(solid, least));
  }

  std::set<LocalIndex> points;
  std::set<std::array<LocalIndex, 2>> edges;
  for (auto facet : boundary_facets(cells)) {
    for (LocalIndex& v : facet) v += first;
    model.triangles.push_back(facet);
    for (int i = 0; i < 3; ++i) {
      const auto [low, high] = std::minmax(facet[i], facet[(i + 1) % 3]);
      points.insert(facet[i]);
      edges.insert({low, high});
    }
  }
  model.points.insert(model.points.end(), points.begin(), points.end());
  model.edges.insert(model.edges.end(), edges.begin(), edges.end());
  return first;
}

} // namespace recoil::solvers::async_contact
