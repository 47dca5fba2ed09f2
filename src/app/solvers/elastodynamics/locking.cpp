#include "recoil/app/solvers/elastodynamics/locking.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "recoil/app/solvers/elastodynamics/materials.hpp"
#include "recoil/base/log.hpp"

namespace recoil::app {

namespace {
/// lambda / mu at a Poisson's ratio of 0.4, where linear elements begin to be noticeably too stiff.
constexpr double locking_ratio = 4;
} // namespace

template <int dim>
void warn_of_locking(const Scene& scene, const fem::FunctionSpace<dim>& space,
                     const std::vector<int>& materials, const CellOverrides& overrides) {
  const std::vector<double> ratios = cell_lame_ratios(scene, space, 1, materials, overrides);
  const auto& names = space.mesh().body_names;
  std::vector<double> largest(names.size(), 0.0), locks(names.size(), 0.0);
  for (std::size_t k = 0; k < ratios.size(); ++k) {
    const int body = space.mesh().cell_body[space.cells_of_order(1)[k]];
    largest[body] = std::max(largest[body], ratios[k]);
    if (ratios[k] > locking_ratio * (1 + 1e-9)) locks[body] = 1;
  }
  space.comm().sum(locks);
  for (std::size_t body = 0; body < names.size(); ++body) {
    if (locks[body] == 0) continue;
    const double ratio = space.comm().max(largest[body]);
    log_warning_once(fmt::format(
        "body '{}' is nearly incompressible (Poisson's ratio up to {:.4g}) and has "
        "elements of order 1, which lock: it comes out too stiff; set \"discr_order\": 2 "
        "under \"space\" (/space/discr_order), beyond 0.49 with \"mean_dilatation\": true of its material",
        names[body], ratio / (2 * (1 + ratio))));
  }
}

template void warn_of_locking(const Scene&, const fem::FunctionSpace<2>&, const std::vector<int>&,
                              const CellOverrides&);
template void warn_of_locking(const Scene&, const fem::FunctionSpace<3>&, const std::vector<int>&,
                              const CellOverrides&);

} // namespace recoil::app
