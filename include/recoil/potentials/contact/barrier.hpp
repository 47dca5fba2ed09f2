#pragma once

#include <memory>
#include <vector>

#include "recoil/geometry/barrier.hpp"
#include "recoil/linalg/stencil_matrix.hpp"
#include "recoil/newton/objective.hpp"
#include "recoil/potentials/contact/contact_pair.hpp"
#include "recoil/potentials/contact/contact_search.hpp"

namespace recoil::potentials {

enum class BarrierForm {
  plain,     ///< sum of b(d^2) with dhat^2, every pair counts once [Li et al. 2020]
  convergent ///< sum of area weights times b(d) with dhat (spec/differentiable.md 3.4)
};

/// Unscaled contact barrier B(x) = sum_k w_k m_k b_k over the pairs closer than dhat (energy = stiffness *
/// B): b of the squared distance in the plain form, of the distance in the convergent one; m_k is the
/// mollifier of nearly parallel edges.
template <int dim>
class Barrier {
public:
  using Point = typename fem::CollisionSurface<dim>::Point;

  Barrier(double dhat, BarrierForm form, std::vector<Plane<dim>> planes)
      : dhat_(dhat), form_(form), planes_(std::move(planes)) {}

  double dhat() const { return dhat_; }
  BarrierForm form() const { return form_; }
  const std::vector<Plane<dim>>& planes() const { return planes_; }

  /// The pairs of this rank closer than dhat at `positions` (of all vertices in `vertices`). `candidates` and
  /// `vertices` belong together. Not collective.
  std::vector<ContactPair<dim>> active_pairs(const std::vector<ContactCandidate>& candidates,
                                             const ContactVertices<dim>& vertices,
                                             const std::vector<Point>& positions) const;

  /// This rank's share of B; +infinity at distance 0.
  double value(const std::vector<ContactPair<dim>>& pairs) const;
  /// dB/dx at all vertices here (contributions of this rank's pairs).
  std::vector<Point> gradient(const std::vector<ContactPair<dim>>& pairs, std::size_t num_vertices) const;
  /// H += factor d2B/dx2, without the rows and columns of prescribed components; with per_element each pair's
  /// block is projected onto the positive semi-definite matrices.
  void add_hessian(const std::vector<ContactPair<dim>>& pairs, const ContactVertices<dim>& vertices,
                   double factor, newton::Projection projection, linalg::StencilMatrix& H) const;
  /// The pair's Hessian block, prescribed components included.
  geometry::StencilMatrix<dim> hessian(const ContactPair<dim>& pair) const;

  /// The weight of a pair whose vertex has `area` [m^(dim-1)]; 1 in the plain sum.
  double vertex_weight(double area) const;

  /// -dB/dd per unit stiffness: the contact force of a pair is stiffness times this [N].
  double force(const ContactPair<dim>& pair) const;

  /// Value and derivatives of b by the squared distance.
  geometry::BarrierValue of_squared_distance(double distance_squared) const;

private:
  geometry::StencilVector<dim> gradient(const ContactPair<dim>& pair) const;

  double dhat_;
  BarrierForm form_;
  std::vector<Plane<dim>> planes_;
};

/// Adds a stencil block to a matrix: global block numbers of its vertices (-1 for obstacles and for vertices
/// that the block does not touch), rows and columns of prescribed components zeroed in `block`.
template <int dim>
void add_block(const ContactVertices<dim>& vertices, std::span<const LocalIndex> stencil,
               geometry::StencilMatrix<dim>& block, linalg::StencilMatrix& H);

} // namespace recoil::potentials
