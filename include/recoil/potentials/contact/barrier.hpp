#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "recoil/geometry/barrier.hpp"
#include "recoil/linalg/block_sink.hpp"
#include "recoil/newton/objective.hpp"
#include "recoil/potentials/contact/contact_pair.hpp"
#include "recoil/potentials/contact/contact_search.hpp"
#include "recoil/potentials/contact/geometric_contact.hpp"

namespace recoil::potentials {

struct BarrierForm {
  bool squared;             ///< b(d^2) with dhat^2, else b(d) with dhat
  bool area_weights;        ///< rest areas weigh, else every vertex and edge weighs the same
  bool inclusion_exclusion; ///< an edge or vertex that several primitives share counts once
  bool by_shape = true;     ///< at least flat parts and straight edges of obstacles count once
  /// Replaces all of the above by the geometric contact potential (geometric_contact.hpp).
  std::optional<GeometricAngles> geometric = std::nullopt;
  /// In place of the barrier the adhesion A with this peak [m] and the reach dhat (geometry/adhesion.hpp),
  /// A(d^2) / (2 peak) where the barrier is b(d^2): its largest force per weight is 1 in either. Not with
  /// `geometric`.
  std::optional<double> adhesion_peak = std::nullopt;

  static const BarrierForm plain;      ///< sum of b(d^2) [Li et al. 2020]
  static const BarrierForm convergent; ///< [Li et al. 2023]
};
inline constexpr BarrierForm BarrierForm::plain{true, false, false};
inline constexpr BarrierForm BarrierForm::convergent{false, true, true};

/// Unscaled contact barrier B(x) = sum_k w_k m_k b_k over the terms closer than dhat (energy = stiffness *
/// B). m_k is the mollifier of nearly parallel edges. Weights w_k [Li et al. 2023]: c A_v of a
/// vertex and a primitive, c (A_a + A_b) of two edges, c = 1/2 in 2D and 1/4 in 3D, A_v of a vertex and a
/// plane; 1 without area weights.
/// Inclusion-exclusion adds terms to every pair (inclusion_exclusion.hpp).
/// In the geometric contact potential w_k is what the shape of the surfaces around two primitives makes of
/// their measures, at the positions now (geometric_contact.hpp). Adhesion takes the same sum of another
/// function.
template <int dim>
class Barrier {
public:
  using Point = typename surface::Surface<dim>::Point;

  Barrier(double dhat, BarrierForm form, std::vector<Plane<dim>> planes)
      : dhat_(dhat), form_(form), planes_(std::move(planes)) {}

  double dhat() const { return dhat_; }
  BarrierForm form() const { return form_; }
  const std::vector<Plane<dim>>& planes() const { return planes_; }

  /// The terms of this rank closer than dhat at `positions` (of all vertices in `vertices`). `candidates` and
  /// `vertices` belong together. Not collective.
  std::vector<ContactPair<dim>> active_pairs(const std::vector<ContactCandidate>& candidates,
                                             const surface::StencilVertices<dim>& vertices,
                                             const std::vector<Point>& positions) const {
    return pairs_within(dhat_, candidates, vertices, positions);
  }
  /// Terms closer than `reach`, as active_pairs() has them; the barrier of those beyond dhat is zero.
  std::vector<ContactPair<dim>> pairs_within(double reach, const std::vector<ContactCandidate>& candidates,
                                             const surface::StencilVertices<dim>& vertices,
                                             const std::vector<Point>& positions) const;

  /// This rank's share of B; +infinity at distance 0.
  double value(const std::vector<ContactPair<dim>>& pairs) const;
  /// dB/dx at all vertices here (contributions of this rank's pairs).
  std::vector<Point> gradient(const std::vector<ContactPair<dim>>& pairs, std::size_t num_vertices) const;
  /// H += factor d2B/dx2, without the rows and columns of prescribed components; with per_element the block
  /// of each candidate, summed over its terms, is projected onto the positive semi-definite matrices.
  void add_hessian(const std::vector<ContactPair<dim>>& pairs, const surface::StencilVertices<dim>& vertices,
                   double factor, newton::Projection projection, linalg::StencilSink& H) const;
  /// factor * d2B/dx2 p at all vertices here, contributions of this rank's pairs, from p there; with
  /// per_element by the projected blocks of add_hessian. Prescribed components included.
  std::vector<Point> hessian_product(const std::vector<ContactPair<dim>>& pairs, double factor,
                                     newton::Projection projection, const std::vector<Point>& p) const;
  /// Hessian block of the terms of one candidate, prescribed components included.
  geometry::StencilMatrix<dim> hessian(std::span<const ContactPair<dim>> candidate) const;

  /// Derivative by x of a term, if it had this weight.
  geometry::StencilVector<dim> gradient(const ContactPair<dim>& pair, double weight) const;
  /// d(dB/dx)/d eps of a term, eps the threshold of its mollifier (edge_edge_mollifier_eps of the rest
  /// positions of its vertices); zero for what is not mollified.
  geometry::StencilVector<dim> gradient_by_mollifier_eps(const ContactPair<dim>& pair) const;

  /// The weight of a pair whose vertex has `area` [m^(dim-1)]; 1 without area weights. Of the geometric
  /// contact potential that of a usual pair, area^2.
  double vertex_weight(double area) const;

  /// -dB/dd per unit stiffness: the contact force of a term is stiffness times this [N]; negative where the
  /// weight is.
  double force(const ContactPair<dim>& pair) const;
  /// Force of a term of the weight 1 that is not mollified, and its derivative by the distance [N/m].
  struct NormalForce {
    double value, slope;
  };
  NormalForce force_per_weight(double distance_squared) const;

  /// Value and derivatives of b by the squared distance.
  geometry::BarrierValue of_squared_distance(double distance_squared) const;
  /// A term of the geometric contact potential with derivatives.
  StencilFunction term(const ContactPair<dim>& pair) const;

private:
  /// Value and derivatives of b by the distance, where it is no function of its square.
  geometry::BarrierValue of_distance(double distance) const;
  /// Weights of the two primitives of a candidate in the convergent counting; the pair weighs their sum.
  std::array<double, 2> shares(const ContactCandidate& candidate,
                               const surface::StencilVertices<dim>& vertices) const;
  geometry::StencilMatrix<dim> hessian(const ContactPair<dim>& pair) const;

  double dhat_;
  BarrierForm form_;
  std::vector<Plane<dim>> planes_;
};

/// The terms of the candidate whose first term is `pairs`' first.
template <int dim>
std::span<const ContactPair<dim>> first_candidate(std::span<const ContactPair<dim>> pairs);

/// Adds a stencil block to a matrix: global block numbers of its vertices (-1 for obstacles and for vertices
/// that the block does not touch), rows and columns of prescribed components zeroed in `block`.
template <int dim, class Block = geometry::StencilMatrix<dim>>
void add_block(const surface::StencilVertices<dim>& vertices, std::span<const LocalIndex> stencil,
               Block& block, linalg::StencilSink& H);

} // namespace recoil::potentials
