#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include <Eigen/Geometry>

#include "recoil/app/breakable/breakable_shape.hpp"
#include "recoil/cage/manifold.hpp"
#include "recoil/cage/winding.hpp"

namespace recoil::app {

namespace {

template <int dim>
cage::FacetMesh<dim> facets_of(const cage::FacetMesh<dim>& mesh, std::span<const int> part_of, int part) {
  cage::FacetMesh<dim> result{mesh.vertices, {}};
  for (std::size_t f = 0; f < mesh.facets.size(); ++f)
    if (part_of[f] == part) result.facets.push_back(mesh.facets[f]);
  return result;
}

template <int dim>
bool encloses(const cage::FacetMesh<dim>& surface, const cage::Point<dim>& x) {
  double sum = 0;
  for (const auto& facet : surface.facets) {
    std::array<cage::Point<dim>, dim> corners;
    for (int k = 0; k < dim; ++k) corners[k] = surface.vertices[facet[k]];
    sum += cage::winding<dim>(corners, x);
  }
  return sum > 0.5;
}

/// The part of the body that each facet belongs to: that of its component, or for cavities that of the
/// smallest component around it.
template <int dim>
std::vector<int> parts_of_facets(const cage::FacetMesh<dim>& mesh, int& count) {
  std::vector<int> component_of = cage::connected_facets(mesh);
  count = component_of.empty() ? 0 : *std::ranges::max_element(component_of) + 1;
  if (count == 1) return component_of;
  std::vector<cage::FacetMesh<dim>> surfaces;
  std::vector<double> volumes;
  for (int c = 0; c < count; ++c) {
    surfaces.push_back(facets_of(mesh, component_of, c));
    volumes.push_back(pieces::moments<dim>(surfaces.back()).volume);
  }
  std::vector<int> part_of_component(count), numbers(count, -1);
  int parts = 0;
  for (int c = 0; c < count; ++c) {
    int owner = c;
    if (volumes[c] < 0) {
      const auto& x = mesh.vertices[surfaces[c].facets.front()[0]];
      for (int other = 0; other < count; ++other)
        if (volumes[other] > 0 && (owner == c || volumes[other] < volumes[owner]) &&
            encloses(surfaces[other], x))
          owner = other;
      // Rounding of a part without volume: it goes with the largest one.
      if (owner == c) owner = static_cast<int>(std::ranges::max_element(volumes) - volumes.begin());
    }
    part_of_component[c] = owner;
  }
  for (int c = 0; c < count; ++c) // numbered in the order of their components
    if (part_of_component[c] == c) numbers[c] = parts++;
  for (auto& component : component_of) component = numbers[part_of_component[component]];
  count = parts;
  return component_of;
}

template <int dim>
pieces::Piece<dim> part_of_piece(const pieces::Piece<dim>& piece, std::span<const int> part_of, int part) {
  pieces::Piece<dim> result{};
  std::vector<std::int32_t> numbers(piece.mesh.vertices.size(), -1);
  for (std::size_t f = 0; f < piece.mesh.facets.size(); ++f) {
    if (part_of[f] != part) continue;
    auto facet = piece.mesh.facets[f];
    for (auto& v : facet) {
      if (numbers[v] < 0) {
        numbers[v] = static_cast<std::int32_t>(result.mesh.vertices.size());
        result.mesh.vertices.push_back(piece.mesh.vertices[v]);
        result.ids.push_back(piece.ids[v]);
      }
      v = numbers[v];
    }
    result.mesh.facets.push_back(facet);
    result.neighbours.push_back(piece.neighbours[f]);
    result.parents.push_back(piece.parents[f]);
  }
  return result;
}

/// A facet by the places of its corners, which both sides of a fault have to the bit.
template <int dim>
using FacetPlaces = std::array<std::array<double, dim>, dim>;
template <int dim>
FacetPlaces<dim> places_of(const cage::FacetMesh<dim>& mesh, const std::array<std::int32_t, dim>& facet) {
  FacetPlaces<dim> places;
  for (int k = 0; k < dim; ++k)
    for (int i = 0; i < dim; ++i) places[k][i] = mesh.vertices[facet[k]][i];
  std::ranges::sort(places);
  return places;
}

} // namespace

template <int dim>
std::vector<pieces::Piece<dim>> connected_parts(std::vector<pieces::Piece<dim>> pieces,
                                                std::vector<int>& sources) {
  std::vector<pieces::Piece<dim>> result;
  std::map<std::int32_t, std::vector<std::int32_t>> parts_of_label;
  sources.clear();
  for (auto& piece : pieces) {
    int count = 0;
    const std::vector<int> part_of = parts_of_facets(piece.mesh, count);
    for (int part = 0; part < count; ++part) {
      parts_of_label[piece.label].push_back(static_cast<std::int32_t>(result.size()));
      sources.push_back(piece.label);
      result.push_back(count == 1 ? std::move(piece) : part_of_piece(piece, part_of, part));
    }
  }
  // Which part of a label lies beyond a fault is asked only of labels with several.
  std::map<std::pair<std::int32_t, FacetPlaces<dim>>, std::int32_t> part_at;
  for (const auto& [label, parts] : parts_of_label)
    if (parts.size() > 1)
      for (const auto part : parts)
        for (std::size_t f = 0; f < result[part].mesh.facets.size(); ++f)
          if (result[part].neighbours[f] >= 0)
            part_at[{label, places_of<dim>(result[part].mesh, result[part].mesh.facets[f])}] = part;
  for (std::size_t n = 0; n < result.size(); ++n) {
    auto& piece = result[n];
    piece.label = static_cast<std::int32_t>(n);
    for (std::size_t f = 0; f < piece.neighbours.size(); ++f) {
      if (piece.neighbours[f] < 0) continue;
      const auto beyond = parts_of_label.find(piece.neighbours[f]);
      std::int32_t neighbour = beyond == parts_of_label.end() ? -1 : beyond->second.front();
      if (beyond != parts_of_label.end() && beyond->second.size() > 1)
        if (const auto found =
                part_at.find({piece.neighbours[f], places_of<dim>(piece.mesh, piece.mesh.facets[f])});
            found != part_at.end())
          neighbour = found->second;
      piece.neighbours[f] = neighbour;
    }
  }
  return result;
}

template std::vector<pieces::Piece<2>> connected_parts(std::vector<pieces::Piece<2>>, std::vector<int>&);
template std::vector<pieces::Piece<3>> connected_parts(std::vector<pieces::Piece<3>>, std::vector<int>&);

} // namespace recoil::app
