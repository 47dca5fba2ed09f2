#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "recoil/app/scene/scene.hpp"
#include "recoil/potentials/laws/law.hpp"
#include "recoil/solvers/async_contact/integrator.hpp"

namespace recoil::app {

/// `geometry/*/spheres`: a body of free spheres, or of spheres that springs join.
struct SphereBody {
  std::string body;
  std::filesystem::path file; ///< empty: `centers`
  std::vector<Eigen::Vector3d> centers;
  std::optional<double> radius;            ///< [m]; none: those of the file
  std::vector<std::array<int, 2>> springs; ///< numbers of spheres of this body
  std::string where;
};

/// What a body of asynchronous contact is.
enum class AsyncBodyKind { shell, spheres, solid };

/// A material of shells, of spheres, or of solids (`materials/*` of type Shell, Spheres, or an elastic law).
struct AsyncMaterial {
  std::vector<std::string> bodies; ///< empty: all
  AsyncBodyKind kind = AsyncBodyKind::shell;
  double stretching_stiffness = 0, poisson = 0.3, bending_stiffness = 0, area_density = 0; ///< of shells
  double stretch_damping = 0, bend_damping = 0;                                            ///< of shells
  std::optional<double> yield_angle;               ///< of shells [rad]
  double density = 1;                              ///< of spheres and solids
  std::optional<double> mass;                      ///< of a sphere [kg]
  double spring_stiffness = 0, spring_damping = 0; ///< of spheres
  const potentials::LawInfo* law = nullptr;        ///< of solids
  std::vector<double> parameters;                  ///< of `law`
  std::string where;
};

template <>
struct EnumNames<solvers::async_contact::Certificates> {
  using Certificates = solvers::async_contact::Certificates;
  static constexpr EnumName<Certificates> all[]{{"windows", Certificates::windows},
                                                {"slabs", Certificates::slabs}};
};

/// `solver/asynchronous`, and what `contact` has for it alone.
struct AsyncSpec {
  solvers::async_contact::Certificates certificates = solvers::async_contact::Certificates::windows;
  double layer_stiffness = 1e3, restitution = 1, anchor_stiffness = 0;
  double layer_share = 0.01, element_share = 0.1;
  double gravity_step = 1e-3;
  std::optional<double> motion_step; ///< none: time/dt
  int max_layers = 10000;
  double max_stretch = 2;
  bool staggered = false, aligned = true;
};

/// What scenes of asynchronous contact hold beside what all scenes have.
struct AsyncScene : SolverSceneOf<AsyncScene> {
  std::vector<SphereBody> spheres;
  std::vector<AsyncMaterial> materials;
  AsyncSpec solver;

  std::vector<std::filesystem::path> files() const override;
};

/// @pre the scene is of asynchronous contact.
inline AsyncScene& async_of(Scene& scene) { return part_of<AsyncScene>(scene); }
inline const AsyncScene& async_of(const Scene& scene) { return part_of<AsyncScene>(scene); }

/// The material of a body: the last entry that names it or all; nullptr if none does.
const AsyncMaterial* find_async_material(const Scene& scene, const std::string& body);

} // namespace recoil::app
