#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include <Eigen/Core>

#include "recoil/linalg/vector.hpp"

namespace recoil::solvers::fracture_modes {

/// A vector field x in R^dim on nodes with the energy
///     E(x) = 1/2 sum_e x_e' Q_e x_e + sum_l |R_l (x_a - x_b)|,
/// x_a and x_b the values at the nodes on both sides of link l, one above the other. Piecewise constant
/// fields have one node per element, those of exploded linear elements one per corner. Nodes are distributed;
/// each rank has all links of its nodes, which may end at ghosts, and the elements of its nodes.
struct JumpProblem {
  struct Link {
    std::array<LocalIndex, 3> a, b; ///< `pairs` local nodes each
    bool breakable;                 ///< false: x_a = x_b
    bool counted;                   ///< whether this rank adds it to sums: it owns a
  };
  struct Element {
    std::array<LocalIndex, 4> nodes; ///< the first stiffness.rows() / dim
    Eigen::MatrixXd stiffness;       ///< Q_e, node-major with components
  };

  int dim = 3;
  int pairs = 1;                                      ///< of nodes that a link joins: 1 or dim
  std::shared_ptr<const linalg::VectorLayout> layout; ///< `dim` numbers per node
  std::vector<GlobalIndex> ids;                       ///< of local nodes, the same on any number of ranks
  std::vector<double> masses;                         ///< of local nodes
  std::vector<Link> links;
  std::vector<double> matrices; ///< R_l by columns, size() x size() each
  bool isotropic = false;       ///< R_l = weight times the identity, and no element has a stiffness
  std::vector<Element> elements;
  /// Motions of the whole body that cost nothing, not orthonormal: owned and ghost entries.
  std::vector<std::vector<double>> motions;

  int size() const { return pairs * dim; } ///< numbers per link
  const parallel::Communicator& comm() const { return *layout->comm; }
  std::span<const double> matrix(std::size_t link) const {
    return std::span(matrices).subspan(link * size() * size(), std::size_t(size()) * size());
  }
};

/// R_l (x_a - x_b) of every link; `field` with current ghosts. Not collective.
void jumps(const JumpProblem& problem, std::span<const double> field, std::span<double> result);
/// Adds the transpose of jumps(), times `factor`, to the owned entries of `target`. Not collective.
void add_transposed_jumps(const JumpProblem& problem, std::span<const double> of_links, double factor,
                          std::span<double> target);
/// Adds `factor` Q x to the owned entries of `target`. Not collective.
void add_stiffness_product(const JumpProblem& problem, std::span<const double> field, double factor,
                           std::span<double> target);

/// 1/2 x' Q x and the sum over the links; collective.
struct JumpEnergy {
  double strain = 0, discontinuity = 0;
  double total() const { return strain + discontinuity; }
};
JumpEnergy energy_of(const JumpProblem& problem, std::span<const double> field);

/// sum over nodes of m x . y, for each y of `others` at once. Collective.
std::vector<double> mass_products(const JumpProblem& problem, const linalg::Vector& x,
                                  std::span<const linalg::Vector> others);
double mass_product(const JumpProblem& problem, const linalg::Vector& x, const linalg::Vector& y);

/// Takes the components along `fields`, orthonormal in the mass, out of x, twice [Parlett 1998, The Symmetric
/// Eigenvalue Problem, 6-9]. Collective.
void orthogonalise(const JumpProblem& problem, linalg::Vector& x, std::span<const linalg::Vector> fields);

/// The motions on each component of the graph of links, orthonormal in the mass: all fields without energy
/// where no link is broken. Collective.
std::vector<linalg::Vector> zero_modes(const JumpProblem& problem);

/// The problem with all nodes, in the order of ids, on every rank, each a communicator of its own.
struct ReplicatedProblem {
  std::unique_ptr<parallel::Communicator> alone;
  JumpProblem problem;
};
/// Collective.
ReplicatedProblem replicate(const JumpProblem& problem);
/// The values of all nodes, `width` <= 3 each, in the order of ids on every rank. Collective.
std::vector<double> gather_field(const JumpProblem& problem, std::span<const double> owned, int width);
/// Owned entries of such a field.
std::vector<double> owned_part(const JumpProblem& problem, const std::vector<GlobalIndex>& sorted_ids,
                               std::span<const double> gathered);

} // namespace recoil::solvers::fracture_modes
