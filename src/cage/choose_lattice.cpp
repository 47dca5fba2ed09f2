#include "cage/choose_lattice.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "recoil/base/error.hpp"

namespace recoil::cage {

namespace {

constexpr int tries = 8;

template <int dim>
std::int64_t cells_of_lattice(const Eigen::AlignedBox<double, dim>& box, double h) {
  double cells = dim * Lattice<dim>::parts;
  for (int k = 0; k < dim; ++k) cells *= box.sizes()[k] / h + 5;
  return static_cast<std::int64_t>(std::min(cells, 9e18));
}

} // namespace

template <int dim>
ChosenLattice<dim> choose_lattice(std::span<const FacetMesh<dim>* const> surfaces,
                                  const WindingTree<dim>& tree, std::int64_t cells,
                                  std::int64_t largest_lattice, bool is_closed, double accepted,
                                  const std::string& where) {
  if (cells < 1)
    throw InputError(where, "a lattice of " + std::to_string(cells) + " cells; at least one is needed");
  Eigen::AlignedBox<double, dim> box;
  for (const auto* surface : surfaces) box.extend(box_of(*surface));
  if (box.isEmpty() || box.sizes().maxCoeff() <= 0) throw InputError(where, "a surface without extent");
  const double wanted = static_cast<double>(cells);
  double h = box.diagonal().norm() / std::pow(wanted / (dim * Lattice<dim>::parts), 1.0 / dim);
  std::optional<ChosenLattice<dim>> best;
  double best_error = 0;
  std::array<double, 2> last{}; // edge and number of cells before
  for (int n = 0; n < tries; ++n) {
    while (cells_of_lattice<dim>(box, h) > largest_lattice) {
      if (best) return std::move(*best);
      h *= 1.5; // the first guess of a long body; the next one comes from its number of cells
      if (h > box.diagonal().norm()) throw InputError(where, "the lattice has no room; allow a larger one");
    }
    ChosenLattice<dim> next{Lattice<dim>(box, h), {}};
    next.flags = cells_that_contain(next.lattice, surfaces, tree, is_closed);
    const double count = static_cast<double>(std::count(next.flags.begin(), next.flags.end(), 1));
    const double error = std::abs(std::log(count / wanted));
    if (!best || error < best_error) best = std::move(next), best_error = error;
    if (error < accepted) break;
    // cells ~ h^-power between the last two tries
    double power = dim - 0.5;
    if (n > 0 && last[0] != h && last[1] != count)
      power = std::clamp(std::log(count / last[1]) / std::log(last[0] / h), dim - 1.5, dim + 0.5);
    last = {h, count};
    h *= std::pow(count / wanted, 1 / power);
  }
  return std::move(*best);
}

template ChosenLattice<2> choose_lattice(std::span<const FacetMesh<2>* const>, const WindingTree<2>&,
                                         std::int64_t, std::int64_t, bool, double, const std::string&);
template ChosenLattice<3> choose_lattice(std::span<const FacetMesh<3>* const>, const WindingTree<3>&,
                                         std::int64_t, std::int64_t, bool, double, const std::string&);

} // namespace recoil::cage
