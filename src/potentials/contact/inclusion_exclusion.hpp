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

/// Adds the shares of the last of `pairs`, which belongs to `candidate`: further terms that `continue` it,
/// closer than `dhat` and with a weight. Terms with the closest points of an earlier one add to its weight
/// instead.
/// @param weights of the vertex (first entry), or of the two edges, whose sum is the pair's weight so far.
template <int dim>
void add_inclusion_exclusion(const ContactCandidate& candidate, const ContactVertices<dim>& vertices,
                             const std::array<double, 2>& weights, double dhat,
                             std::vector<ContactPair<dim>>& pairs);

} // namespace recoil::potentials
