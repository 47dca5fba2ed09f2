#include "recoil/potentials/contact/contact_search.hpp"

#include <algorithm>
#include <cstdio>

#include "potentials/contact/surface_primitives.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/memory.hpp"

namespace recoil::potentials {

namespace {

// Boxes grow by the motion that is looked at, so that the next, shorter ones need no new search, but not so
// much that they meet far neighbours.
constexpr double least_margin_of_reach = 0.25;
constexpr double largest_margin_of_edge = 0.25;
/// Pairs per rank and primitive beyond which a way is cut short.
constexpr GlobalIndex pairs_per_primitive = 200, pairs_at_least = 1000000;
constexpr int max_halvings = 20;
/// A pair that is active, with its block of the Hessian.
constexpr double bytes_per_pair = 1500;

std::string describe_too_many(double reach, double pairs, double limit) {
  char count[64];
  std::snprintf(count, sizeof count, "%.3g m has more than %.3g pairs", reach, pairs);
  return "a distance of " + std::string(count) +
         " of surface vertices, edges and faces within it on one rank, more than " + describe_bytes(limit) +
         " of memory hold; take a smaller dhat";
}

template <int dim>
double mean_edge_length(const surface::Surface<dim>& surface) {
  std::array<double, 2> sums{}; // lengths, edges
  for (const auto& edge : surface.edges()) {
    double squared = 0;
    for (std::size_t i = 0; i < dim; ++i) {
      const auto rest = [&](std::size_t k) { return surface.vertices()[edge[k]].rest[i]; };
      squared += (rest(0) - rest(1)) * (rest(0) - rest(1));
    }
    sums[0] += std::sqrt(squared);
    ++sums[1];
  }
  surface.comm().sum(sums);
  return sums[1] > 0 ? sums[0] / sums[1] : 0;
}

} // namespace

template <int dim>
ContactSearch<dim>::ContactSearch(const surface::Surface<dim>& surface, double reach,
                                  collide::GroupFilter meet, bool with_rings, GlobalIndex sieve_from)
    : surface_(&surface), reach_(reach), meet_(std::move(meet)), sieve_from_(sieve_from),
      rings_(with_rings ? std::optional(surface::SurfaceRings<dim>(surface)) : std::nullopt),
      mean_edge_(mean_edge_length(surface)), vertices_(std::make_shared<const surface::StencilVertices<dim>>(
                                                 surface, std::vector<surface::VertexAddress>())) {}

template <int dim>
bool ContactSearch<dim>::still_covers(const std::vector<Point>& from, const std::vector<Point>& to) const {
  bool inside = covered_anything_;
  for (std::size_t v = 0; v < covered_.size() && inside; ++v)
    inside = covered_[v].contains(from[v]) && covered_[v].contains(to[v]);
  return surface_->comm().all(inside);
}

template <int dim>
double ContactSearch<dim>::cover(const std::vector<Point>& from, const std::vector<Point>& to) {
  if (still_covers(from, to)) return 1;
  double motion = 0;
  for (std::size_t v = 0; v < from.size(); ++v)
    motion = std::max(motion, (to[v] - from[v]).template lpNorm<Eigen::Infinity>());
  motion = surface_->comm().max(motion);
  const double margin =
      std::max(least_margin_of_reach * reach_, std::min(motion, largest_margin_of_edge * mean_edge_));
  const GlobalIndex num_primitives =
      surface_->edges().size() + surface_->faces().size() + surface_->num_owned();
  const GlobalIndex most =
      std::max(pairs_at_least, pairs_per_primitive * surface_->comm().max(num_primitives));
  double share = 1;
  std::vector<Point> end = to;
  for (int halving = 0; halving < max_halvings; ++halving) {
    if (search(from, end, halving == 0 ? margin : std::min(margin, share * motion), most)) return share;
    share /= 2;
    for (std::size_t v = 0; v < from.size(); ++v) end[v] = from[v] + share * (to[v] - from[v]);
  }
  const double limit = surface_->comm().min(memory_limit().bytes);
  const double bearable = std::min(limit / bytes_per_pair, 1e18);
  if (!search(from, from, least_margin_of_reach * reach_, bearable))
    throw InputError("<dhat>", describe_too_many(reach_, bearable, limit));
  return 0;
}

template <int dim>
bool ContactSearch<dim>::search(const std::vector<Point>& from, const std::vector<Point>& to, double margin,
                                GlobalIndex max_pairs) {
  ++num_searches_;
  std::vector<collide::Box<dim>> boxes(from.size());
  for (std::size_t v = 0; v < from.size(); ++v) {
    boxes[v] =
        collide::Box<dim>(from[v].cwiseMin(to[v]).array() - margin, from[v].cwiseMax(to[v]).array() + margin);
  }
  covered_.assign(boxes.begin(), boxes.begin() + surface_->num_owned());
  const double half = 0.5 * reach_;
  for (auto& box : boxes) box = collide::Box<dim>(box.min().array() - half, box.max().array() + half);

  const PrimitiveItems<dim> all = find_items<dim>(*surface_, std::array{0, 1, 2}, boxes, sieve_from_);
  std::vector<collide::SetPair> which;
  for (const PairKind& kind : pair_kinds<dim>()) which.push_back({kind.first, kind.second});
  const collide::Candidates found = collide::find_candidates<dim>(surface_->comm(), all.sets, which,
                                                                  admits_bodies(*surface_, meet_), max_pairs);
  if (found.over_budget) return false;
  covered_anything_ = true;
  traffic_ = found.traffic;
  take(RemotePrimitives<dim>(*surface_, all, found.remote), found, which);
  return true;
}

template <int dim>
void ContactSearch<dim>::take(const RemotePrimitives<dim>& remote, const collide::Candidates& found,
                              std::span<const collide::SetPair> which) {
  const auto foreign = remote.foreign_vertices(found, which);
  vertices_ = rings_ ? std::make_shared<const surface::StencilVertices<dim>>(*surface_, *rings_, foreign)
                     : std::make_shared<const surface::StencilVertices<dim>>(*surface_, foreign);
  candidates_.clear();
  const std::vector<PairKind> kinds = pair_kinds<dim>();
  for (std::size_t k = 0; k < kinds.size(); ++k)
    for (const auto& pair : found.pairs[k]) {
      const Primitive a = remote.primitive(kinds[k].first, pair[0]);
      const Primitive b = remote.primitive(kinds[k].second, pair[1]);
      const bool is_edge_pair = kinds[k].kind == geometry::StencilKind::edge_edge;
      ContactCandidate candidate{
          kinds[k].kind,    b.edge_faces,     is_edge_pair ? std::uint8_t{0} : b.flat_edges,
          {-1, -1, -1, -1}, {a.area, b.area}, !is_edge_pair || (a.flat_edges == 0 && b.flat_edges == 0)};
      std::size_t next = 0;
      for (const Primitive& primitive : {a, b})
        for (std::size_t i = 0; i < primitive.num_vertices; ++i)
          candidate.vertices[next++] = vertices_->find(primitive.vertices[i]);
      if (!is_edge_pair)
        candidate.has_barrier =
            (*vertices_)[candidate.vertices[0]].degrees.shape == mesh::VertexShape::corner;
      candidates_.push_back(candidate);
    }
}

template class ContactSearch<2>;
template class ContactSearch<3>;

} // namespace recoil::potentials
