#pragma once

#include <array>
#include <vector>

#include "recoil/potentials/contact/contact_pair.hpp"
#include "recoil/potentials/contact/contact_search.hpp"

namespace recoil::potentials {

// Inclusion-exclusion of the convergent barrier [Li et al. 2023]. A plain sum
// over the primitives of a surface counts an edge or vertex once per primitive that it belongs to. The sums
//   2D      sum_e b(d(v,e)) - sum_w (deg(w) - 1) b(d(v,w))                                       times c A_v,
//   3D      sum_f b(d(v,f)) - sum_e (n(e) - 1) b(d(v,e)) + sum_w (1 + n_f(w) - n_e(w)) b(d(v,w)) times c A_v,
//           sum_b b(d(a,b)) - sum_w (deg(w) - 1) b(d(a,w))                                       times c A_a
// count it once: n(e) faces at edge e, n_f(w) faces and n_e(w) edges of faces at vertex w; the factor
// 1 + n_f - n_e is 1 inside a manifold and 0 on its border.
//
// Here every primitive carries an equal share of the terms of its edges and vertices - 1/n(e), 1/n_f(w),
// 1/deg(w) -, so that a candidate needs no other one. The sums are the same wherever all primitives at w are
// candidates. They are not if v and w are joined by an edge and closer than dhat: primitives with v are no
// candidates then, and the shares that are left keep the barrier between v and w positive.
//
// The closest term of a candidate never has a negative weight on a manifold, with or without border, so that
// the barrier grows beyond bounds as a distance vanishes. Sums over a candidate may be negative where its
// primitives are small against dhat.

// Flat parts of obstacles are counted once in every form of the barrier: of these sums the terms of the edges
// and vertices that only triangles make of a flat part (mesh::FlatParts) are kept,
//   sum_f b(d(v,f)) - sum_e b(d(v,e)) + sum_w b(d(v,w))     f of the part, e and w inside of it,
// which is b of the distance to a convex part, and continuous over any. The pieces of a straight edge
// are counted once likewise, with the terms of the vertices between them. Nothing
// else of such edges and vertices is needed to keep bodies apart: an edge that touches a flat part and does
// not cross it lies in its plane there, and up to where its end, a vertex over the part, or the border of the
// part, an edge that is counted, touches, too; so it is for faces over its vertices, and for edges and faces
// over the vertices of a straight edge. Their pairs have therefore no barrier
// (ContactCandidate::has_barrier), and an obstacle pushes by its shape, not by its triangles.

/// Adds the shares of the last of `pairs`, which belongs to `candidate`: further terms that `continue` it,
/// closer than `dhat` and with a weight. Terms with the closest points of an earlier one add to its weight
/// instead.
/// @param whole false: only terms of flat parts and straight edges of obstacles
/// @param weights of the vertex (first entry), or of the two edges, whose sum is the pair's weight so far.
template <int dim>
void add_inclusion_exclusion(const ContactCandidate& candidate, const surface::StencilVertices<dim>& vertices,
                             bool whole, const std::array<double, 2>& weights, double dhat,
                             std::vector<ContactPair<dim>>& pairs);

} // namespace recoil::potentials
