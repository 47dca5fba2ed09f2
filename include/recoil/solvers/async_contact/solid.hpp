#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include <Eigen/Core>

#include "recoil/potentials/laws/law.hpp"
#include "recoil/solvers/async_contact/element_forces.hpp"

namespace recoil::solvers::async_contact {

struct Model;

/// Bodies of volume of one material.
struct SolidMaterial {
  const SolidLaw* law;
  std::vector<double> parameters; ///< of the law
  double density;                 ///< [kg/m^3]
  double alpha = 0.1;             ///< share of the greatest stable step of each element
};

/// A law of `recoil/potentials/laws` for solids.
template <potentials::ConstitutiveLaw Law>
const SolidLaw* solid_law() {
  static_assert(Law::dimension == 3);
  using Parameters = typename Law::Parameters;
  static constexpr auto parameters_of = [](const double* p) {
    Parameters parameters;
    for (double& x : parameters) x = *p++;
    return parameters;
  };
  static constexpr SolidLaw law{
      .num_parameters = static_cast<int>(std::tuple_size_v<Parameters>),
      .energy_density = [](const Eigen::Matrix3d& F,
                           const double* p) { return Law::energy_density(F, parameters_of(p)); },
      .first_piola = [](const Eigen::Matrix3d& F, const double* p) -> Eigen::Matrix3d {
        return Law::first_piola(F, parameters_of(p));
      },
      .greatest_modulus =
          [](const double* p) {
            potentials::Tangent<3> tangent;
            Law::tangent(Eigen::Matrix3d::Identity(), parameters_of(p), tangent);
            return tangent.cwiseAbs().rowwise().sum().maxCoeff();
          }};
  return &law;
}

/// The law of this name or alias (potentials::find_law); nullptr if there is none.
const SolidLaw* find_solid_law(std::string_view name);

/// Adds a body of tetrahedra: vertices with a quarter of the mass of the cells around them, at rest,
/// elements, and what of its boundary collides. Cells are numbered within `positions` and positively
/// oriented. `prescribed`: a flag per vertex, whether it is prescribed; empty: none is. Cells of prescribed
/// vertices alone have no forces.
/// @return number of its first vertex; vertex i of the body is that number + i.
/// @throws InputError for cells without positive volume and a wrong number of parameters.
LocalIndex add_solid(Model& model, std::span<const Eigen::Vector3d> positions,
                     std::span<const std::array<LocalIndex, 4>> cells, const SolidMaterial& material,
                     std::span<const char> prescribed = {});

} // namespace recoil::solvers::async_contact
