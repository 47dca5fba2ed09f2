#include "recoil/objectives/signed_distance_target.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "recoil/app/study/objectives/objective_type.hpp"
#include "recoil/app/study/objectives/observables_on_meshes.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/log.hpp"
#include "recoil/io/hdf5_file.hpp"
#include "recoil/objectives/polygon_target.hpp"

namespace recoil::app {
namespace {

Key surface_target_key(const char* doc) {
  return {.pattern = "/objectives/*/target", .types = path, .required = true, .doc = doc};
}

/// Base of what compares boundary facets with something in a file.
template <class Type>
struct SurfaceTarget : ObjectiveOf<Type> {
  /// @param file what `target` is, for messages.
  SurfaceTarget(const Item& entry, const std::string& file)
      : target(target_file(entry, file)), facets(facets_of(entry)) {}
  std::vector<std::filesystem::path> files() const override { return {target}; }
  void check(const ExperimentScene& at) const override { require_surface_ids(at, *this, facets); }

  std::filesystem::path target;
  potentials::FacetSelection facets;
};

/// Samples of a distance.
template <int dim>
struct DistanceGrid {
  std::array<int, dim> size;
  Eigen::Matrix<double, dim, 1> origin, spacing;
  std::vector<double> distance;
};

/// Reads a vector of a grid.
template <int dim>
Eigen::Matrix<double, dim, 1> read_vector(const io::Hdf5Reader& file, const std::filesystem::path& path,
                                          const std::string& where, const std::string& name) {
  const std::vector<double> entries = file.read_all(name);
  const auto is_finite = [](double entry) { return std::isfinite(entry); };
  if (entries.size() != dim || !std::ranges::all_of(entries, is_finite))
    throw InputError(where, fmt::format("'{}' in {} needs {} finite numbers in {}D, has {}", name,
                                        path.string(), dim, dim, entries.size()));
  return Eigen::Map<const Eigen::Matrix<double, dim, 1>>(entries.data());
}

/// @throws InputError at `where` for a file that holds no such grid; here and below.
template <int dim>
void check_samples(const DistanceGrid<dim>& grid, const std::filesystem::path& path,
                   const std::string& where) {
  if (!(grid.spacing.minCoeff() > 0))
    throw InputError(where, "'spacing' in " + path.string() + " must be positive along every axis");
  for (std::size_t i = 0; i < grid.distance.size(); ++i)
    if (!std::isfinite(grid.distance[i]))
      throw InputError(where, fmt::format("entry {} of 'distance' in {}, counted from 0 with the last index "
                                          "running fastest, is not a finite number",
                                          i, path.string()));
}

template <int dim>
DistanceGrid<dim> read_distance(const std::filesystem::path& path, const std::string& where) {
  const io::Hdf5Reader file(path);
  for (const char* name : {"distance", "origin", "spacing"})
    if (!file.contains(name))
      throw InputError(where,
                       fmt::format("{} holds no array '{}'; a grid has 'distance', 'origin' and 'spacing'",
                                   path.string(), name));
  const std::vector<GlobalIndex> extents = file.extents("distance");
  constexpr GlobalIndex most = 1 << 20;
  if (std::ssize(extents) != dim ||
      std::ranges::any_of(extents, [](GlobalIndex n) { return n < 2 || n > most; }))
    throw InputError(where, fmt::format("'distance' in {} needs {} dimensions in {}D, x first, with 2 to {} "
                                        "points each; it has the extents {}",
                                        path.string(), dim, dim, most, fmt::join(extents, " x ")));
  DistanceGrid<dim> grid;
  std::ranges::copy(extents, grid.size.begin());
  grid.origin = read_vector<dim>(file, path, where, "origin");
  grid.spacing = read_vector<dim>(file, path, where, "spacing");
  grid.distance = file.read_all("distance");
  check_samples(grid, path, where);
  return grid;
}

/// Bodies that lie nowhere in the grid are more likely in other units than on their way to it.
template <int dim>
void warn_outside(const DistanceGrid<dim>& grid, const mesh::DistributedMesh<dim>& mesh,
                  const std::filesystem::path& path, const std::string& where) {
  Eigen::Matrix<double, dim, 1> end = grid.origin;
  for (int i = 0; i < dim; ++i) end[i] += (grid.size[i] - 1) * grid.spacing[i];
  if ((mesh.min_corner.array() <= end.array()).all() &&
      (mesh.max_corner.array() >= grid.origin.array()).all())
    return;
  const auto corner = [](const auto& x) { return fmt::format("({:g})", fmt::join(x, ", ")); };
  log_warning(fmt::format("{}: all bodies lie at rest outside of the grid of {}, where the distance goes on "
                          "linearly: the grid is from {} to {} m, they are from {} to {} m",
                          where, path.string(), corner(grid.origin), corner(end), corner(mesh.min_corner),
                          corner(mesh.max_corner)));
}

struct SignedDistanceTarget final : SurfaceTarget<SignedDistanceTarget> {
  explicit SignedDistanceTarget(const Item& entry)
      : SurfaceTarget(entry, "an HDF5 file, such as \"goal.h5\"") {}

  template <int dim>
  ObjectiveMaker<dim> open_in(const Specimen<dim>& at) const {
    auto grid =
        parallel::collectively(at.comm(), [&] { return read_distance<dim>(target, where.of("target")); });
    warn_outside(grid, mesh_of(at), target, where.of("target"));
    const auto distance = std::make_shared<const objectives::SignedDistance<dim>>(
        grid.size, grid.origin, grid.spacing, std::move(grid.distance));
    return [this, distance](const Observables<dim>& at) {
      return objectives::make_signed_distance_target<dim>(region_of(at, bodies), distance, facets);
    };
  }
};

struct PolygonTarget final : SurfaceTarget<PolygonTarget> {
  explicit PolygonTarget(const Item& entry)
      : SurfaceTarget(entry, "a file, such as \"goal.csv\" in 2D or \"goal.stl\" in 3D") {}

  template <int dim>
  ObjectiveMaker<dim> open_in(const Specimen<dim>& at) const {
    const auto polygon = std::make_shared<const objectives::Polygon<dim>>(
        objectives::read_polygon<dim>(at.comm(), target, at.scene.units));
    return [this, polygon](const Observables<dim>& at) {
      return objectives::make_polygon_target<dim>(region_of(at, bodies), polygon, facets);
    };
  }
};

} // namespace

std::vector<ObjectiveType> surface_target_objectives() {
  return {{.name = "signed_distance_target",
           .doc = "int phi(X + u)^2 over boundary facets at rest, phi a signed distance given on a grid; see "
                  "[below](#distances-on-a-grid). Without `boundary` all facets of the boundary count.",
           .keys = {body_key, time_key, boundary_key,
                    surface_target_key("HDF5 file with the arrays `distance`, `origin` and `spacing`.")},
           .read = SignedDistanceTarget::read,
           .asks = ObservableKind::boundary,
           .sees_place = true},
          {.name = "polygon_target",
           .doc =
               "int |X + u - c|^2 over boundary facets at rest, c the closest point of a polygon (2D) or a "
               "surface (3D). Without `boundary` all facets of the boundary count.",
           .keys = {body_key, time_key, boundary_key,
                    surface_target_key(
                        "in 2D a CSV file with the columns `x,y`, a row per vertex in order, closed "
                        "where the last is the first one again; in 3D a mesh of triangles (`.obj`, "
                        "`.stl`, `.msh`, `.mesh`).")},
           .read = PolygonTarget::read,
           .asks = ObservableKind::boundary,
           .sees_place = true}};
}

} // namespace recoil::app
