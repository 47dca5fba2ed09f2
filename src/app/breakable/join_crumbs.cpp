#include "app/breakable/join_crumbs.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "recoil/cage/manifold.hpp"
#include "recoil/pieces/moments.hpp"

namespace recoil::app {

namespace {

/// The label beyond most of the faults of a piece; -1 for a piece without faults.
template <int dim>
std::int32_t main_neighbour(const pieces::Piece<dim>& piece) {
  std::map<std::int32_t, double> areas;
  for (std::size_t f = 0; f < piece.neighbours.size(); ++f)
    if (piece.neighbours[f] >= 0)
      areas[piece.neighbours[f]] += pieces::facet_size<dim>(piece.mesh, piece.mesh.facets[f]);
  if (areas.empty()) return -1;
  return std::ranges::max_element(areas, {}, [](const auto& entry) { return entry.second; })->first;
}

/// Facets of two pieces without the fault between them, their vertices joined where they lie at one place.
template <int dim>
class Union {
public:
  using Place = std::array<double, dim>;

  void add(const pieces::Piece<dim>& piece, std::int32_t without) {
    for (std::size_t f = 0; f < piece.mesh.facets.size(); ++f) {
      std::array<std::int32_t, dim> facet;
      for (int k = 0; k < dim; ++k) facet[k] = number(piece, piece.mesh.facets[f][k]);
      if (piece.neighbours[f] == without) {
        std::ranges::sort(facet);
        const auto [entry, is_new] = dropped_.insert(facet);
        if (!is_new) dropped_.erase(entry); // its other side
        continue;
      }
      facets_.push_back(facet);
      neighbours_.push_back(piece.neighbours[f]);
      parents_.push_back(piece.parents[f]);
    }
  }
  /// Nothing where the two sides of the fault have different facets, or the rest is no closed manifold.
  std::optional<pieces::Piece<dim>> piece(std::int32_t label) const {
    if (!dropped_.empty() || facets_.empty()) return {};
    pieces::Piece<dim> result{};
    result.label = label;
    if constexpr (dim == 2) {
      result.mesh.facets = facets_;
      result.neighbours = neighbours_;
      result.parents = parents_;
      keep_used(result);
    } else {
      auto manifold = cage::split_to_manifold(places_, facets_);
      result.mesh = std::move(manifold.mesh);
      for (const auto source : manifold.vertex_sources) result.ids.push_back(source < 0 ? -1 : ids_[source]);
      for (const auto source : manifold.facet_sources) {
        result.neighbours.push_back(neighbours_[source]);
        result.parents.push_back(parents_[source]);
      }
    }
    if (!cage::is_closed_manifold(result.mesh)) return {};
    return result;
  }

private:
  std::int32_t number(const pieces::Piece<dim>& piece, std::int32_t v) {
    Place place;
    std::copy_n(piece.mesh.vertices[v].data(), dim, place.begin());
    const auto [entry, is_new] = numbers_.try_emplace(place, static_cast<std::int32_t>(places_.size()));
    if (is_new) {
      places_.push_back(piece.mesh.vertices[v]);
      ids_.push_back(piece.ids[v]);
    }
    return entry->second;
  }
  void keep_used(pieces::Piece<dim>& result) const {
    std::vector<std::int32_t> kept(places_.size(), -1);
    for (auto& facet : result.mesh.facets)
      for (auto& v : facet) {
        if (kept[v] < 0) {
          kept[v] = static_cast<std::int32_t>(result.mesh.vertices.size());
          result.mesh.vertices.push_back(places_[v]);
          result.ids.push_back(ids_[v]);
        }
        v = kept[v];
      }
  }

  std::map<Place, std::int32_t> numbers_;
  std::vector<cage::Point<dim>> places_;
  std::vector<std::int64_t> ids_;
  std::vector<std::array<std::int32_t, dim>> facets_;
  std::vector<std::int32_t> neighbours_, parents_;
  std::set<std::array<std::int32_t, dim>> dropped_; ///< seen from one side
};

} // namespace

template <int dim>
void join_crumbs(std::vector<BodyPiece<dim>>& pieces, double least) {
  std::vector<std::size_t> crumbs;
  for (std::size_t n = 0; n < pieces.size(); ++n)
    if (pieces[n].moments.volume < least) crumbs.push_back(n);
  std::ranges::sort(crumbs, {}, [&](std::size_t n) { return std::pair(pieces[n].moments.volume, n); });
  std::vector<std::int32_t> joined_to(pieces.size(), -1);
  for (const auto n : crumbs) {
    if (!(pieces[n].moments.volume < least)) continue; // it has grown
    const auto label = static_cast<std::int32_t>(n), to = main_neighbour<dim>(pieces[n].piece);
    if (to < 0) continue;
    Union<dim> both;
    both.add(pieces[to].piece, label);
    both.add(pieces[n].piece, to);
    auto joined = both.piece(to);
    if (!joined) continue;
    pieces[to].piece = std::move(*joined);
    pieces[to].moments = pieces::moments<dim>(pieces[to].piece.mesh);
    joined_to[n] = to;
    for (auto& other : pieces) std::ranges::replace(other.piece.neighbours, label, to);
  }
  std::vector<std::int32_t> numbers;
  std::int32_t count = 0;
  for (const auto to : joined_to) numbers.push_back(to < 0 ? count++ : -1);
  std::vector<BodyPiece<dim>> kept;
  for (std::size_t n = 0; n < pieces.size(); ++n) {
    if (joined_to[n] >= 0) continue;
    auto& piece = kept.emplace_back(std::move(pieces[n]));
    piece.piece.label = numbers[n];
    for (auto& neighbour : piece.piece.neighbours)
      if (neighbour >= 0) neighbour = numbers[neighbour];
  }
  pieces = std::move(kept);
}

template void join_crumbs(std::vector<BodyPiece<2>>&, double);
template void join_crumbs(std::vector<BodyPiece<3>>&, double);

} // namespace recoil::app
