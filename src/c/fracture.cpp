#include "recoil/c/fracture.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <variant>

#include "recoil/app/breakable/open_shape.hpp"
#include "recoil/base/error.hpp"

namespace {

using namespace recoil;
namespace fm = solvers::fracture_modes;

/// The arrays that a piece points to.
struct PieceArrays {
  std::vector<double> vertices, texture, colors;
  std::vector<std::int32_t> facets;
};

template <int dim>
struct LoadedShape {
  app::BreakableShape<dim> shape;
  app::HitFinder<dim> finder{shape};
  fm::ImpactSolver solver{shape.model};
  std::vector<int> fragments = std::vector<int>(shape.model.num_pieces, 0);
  std::vector<app::FragmentMotion<dim>> motions{};
  // Cut on demand.
  std::optional<app::BrokenBody<dim>> broken{};
  std::vector<PieceArrays> arrays{};
  std::vector<recoil_fracture_piece> pieces{};
  std::vector<recoil_fracture_body> bodies{};

  explicit LoadedShape(app::BreakableShape<dim>&& from) : shape(std::move(from)) { rest(); }
  LoadedShape(const LoadedShape&) = delete;
  LoadedShape& operator=(const LoadedShape&) = delete;

  /// Before the first impact: a shape that touches nothing.
  void rest() {
    solver.apply({{0, 0, 0, 0}, {0, 0, 0, 0}}, 0, 1);
    motions = app::fragment_motions<dim>(shape.model, solver, fragments, cage::Point<dim>::Zero());
  }
};

using AnyShape = std::variant<std::unique_ptr<LoadedShape<2>>, std::unique_ptr<LoadedShape<3>>>;

void require(bool condition, const char* what) {
  if (!condition) throw InputError(what);
}

template <int dim>
int hit(LoadedShape<dim>& loaded, const recoil_fracture_hit& given) {
  using Vector = cage::Point<dim>;
  const Vector place = Eigen::Map<const Vector>(given.place);
  Vector direction = Eigen::Map<const Vector>(given.direction);
  require(place.allFinite() && place.cwiseAbs().maxCoeff() < 1e100, "hit: the place is not finite");
  require(direction.allFinite(), "hit: the direction is not finite");
  require(given.magnitude >= 0 && std::isfinite(given.magnitude), "hit: the magnitude must be 0 or more");
  require(given.sigma > 0 && std::isfinite(given.sigma), "hit: sigma must be above 0");
  require(std::isfinite(given.speed), "hit: the speed is not finite");
  const auto at = loaded.finder.nearest(place);
  direction = direction.isZero(0) ? Vector(-at.normal) : Vector(direction.stableNormalized());
  const auto projection =
      given.project_on_modes != 0 ? fm::ImpactProjection::modes : fm::ImpactProjection::pieces;
  const auto fragments = loaded.solver.apply(at.point, given.magnitude, given.sigma, projection);
  std::ranges::copy(fragments, loaded.fragments.begin());
  loaded.motions = app::fragment_motions<dim>(loaded.shape.model, loaded.solver, fragments,
                                              given.speed * given.magnitude * direction);
  loaded.broken.reset();
  return loaded.solver.num_fragments();
}

template <int dim>
void add_attributes(const LoadedShape<dim>& loaded, const pieces::Piece<dim>& piece, PieceArrays& arrays) {
  if constexpr (dim == 3) {
    const auto attributes = pieces::attributes_of(piece, loaded.shape.surface);
    for (const auto& corners : attributes.texture)
      for (const auto& place : corners) arrays.texture.insert(arrays.texture.end(), {place.x(), place.y()});
    for (const auto& color : attributes.colors)
      arrays.colors.insert(arrays.colors.end(), color.begin(), color.end());
  }
}

template <int dim>
PieceArrays arrays_of(const LoadedShape<dim>& loaded, const pieces::Piece<dim>& piece) {
  PieceArrays arrays;
  for (const auto& x : piece.mesh.vertices) {
    arrays.vertices.insert(arrays.vertices.end(), x.begin(), x.end());
    if (dim == 2) arrays.vertices.push_back(0);
  }
  for (const auto& facet : piece.mesh.facets)
    arrays.facets.insert(arrays.facets.end(), facet.begin(), facet.end());
  add_attributes(loaded, piece, arrays);
  return arrays;
}

template <int dim>
recoil_fracture_body body_of(const app::BodyPiece<dim>& piece, const app::FragmentMotion<dim>& motion) {
  recoil_fracture_body body{};
  body.volume = piece.moments.volume;
  body.mass = motion.density * body.volume;
  for (int i = 0; i < dim; ++i) {
    body.centre[i] = piece.moments.centre[i];
    body.velocity[i] = motion.velocity[i];
  }
  if constexpr (dim == 2)
    body.inertia[8] = motion.density * piece.moments.second.trace();
  else
    Eigen::Map<Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(body.inertia) =
        motion.density * piece.moments.inertia();
  return body;
}

template <int dim>
void cut(LoadedShape<dim>& loaded) {
  if (loaded.broken) return;
  auto broken = app::break_body<dim>(loaded.shape, loaded.fragments);
  loaded.arrays.clear();
  loaded.pieces.clear();
  loaded.bodies.clear();
  for (const auto& piece : broken.pieces) {
    loaded.arrays.push_back(arrays_of(loaded, piece.piece));
    loaded.bodies.push_back(body_of<dim>(piece, loaded.motions[piece.fragment]));
  }
  loaded.broken = std::move(broken);
  for (std::size_t n = 0; n < loaded.arrays.size(); ++n) {
    const auto& piece = loaded.broken->pieces[n];
    const PieceArrays& arrays = loaded.arrays[n];
    loaded.pieces.push_back({piece.fragment, dim, piece.piece.mesh.vertices.size(),
                             piece.piece.mesh.facets.size(), arrays.vertices.data(), arrays.facets.data(),
                             piece.piece.neighbours.data(), piece.piece.parents.data(),
                             arrays.texture.empty() ? nullptr : arrays.texture.data(),
                             arrays.colors.empty() ? nullptr : arrays.colors.data()});
  }
}

/// HDF5 is used by one thread at a time.
std::mutex& loading() {
  static std::mutex mutex;
  return mutex;
}

/// Runs `work`; no exception passes into C.
template <class Work>
int guarded(recoil_fracture_error* error, const Work& work) noexcept {
  int code = RECOIL_FRACTURE_OK;
  const char* message = "";
  Failure failure{};
  try {
    work();
  } catch (const std::exception& exception) {
    try {
      failure = describe_failure(exception, 0);
      code = failure.code == ExitCode::bad_input    ? RECOIL_FRACTURE_BAD_INPUT
             : failure.code == ExitCode::file_error ? RECOIL_FRACTURE_FILE_ERROR
                                                    : RECOIL_FRACTURE_INTERNAL;
      message = failure.message.c_str();
    } catch (...) {
      code = RECOIL_FRACTURE_INTERNAL;
      message = "memory ran out";
    }
  } catch (...) {
    code = RECOIL_FRACTURE_INTERNAL;
    message = "unknown error";
  }
  if (error != nullptr) {
    error->code = code;
    std::strncpy(error->message, message, sizeof error->message - 1);
    error->message[sizeof error->message - 1] = '\0';
  }
  return code;
}

} // namespace

struct recoil_fracture {
  AnyShape shape;
};

extern "C" {

int recoil_fracture_load(const char* folder, recoil_fracture** shape, recoil_fracture_error* error) {
  return guarded(error, [&] {
    require(folder != nullptr && shape != nullptr, "load: `folder` and `shape` must not be NULL");
    auto made = std::make_unique<recoil_fracture>();
    app::ModesFile file = [&] {
      const std::scoped_lock lock(loading());
      return app::read_modes(folder);
    }();
    if (file.dim == 2)
      made->shape = std::make_unique<LoadedShape<2>>(app::open_shape<2>(std::move(file), folder));
    else
      made->shape = std::make_unique<LoadedShape<3>>(app::open_shape<3>(std::move(file), folder));
    *shape = made.release();
  });
}

int recoil_fracture_impact(recoil_fracture* shape, const recoil_fracture_hit* given, int* fragments,
                           recoil_fracture_error* error) {
  return guarded(error, [&] {
    require(shape != nullptr && given != nullptr, "impact: `shape` and `hit` must not be NULL");
    const int count = std::visit([&](auto& loaded) { return hit(*loaded, *given); }, shape->shape);
    if (fragments != nullptr) *fragments = count;
  });
}

int recoil_fracture_pieces(recoil_fracture* shape, const recoil_fracture_piece** pieces, size_t* count,
                           recoil_fracture_error* error) {
  return guarded(error, [&] {
    require(shape != nullptr && pieces != nullptr && count != nullptr,
            "pieces: `shape`, `pieces` and `count` must not be NULL");
    std::visit(
        [&](auto& loaded) {
          cut(*loaded);
          *pieces = loaded->pieces.data();
          *count = loaded->pieces.size();
        },
        shape->shape);
  });
}

int recoil_fracture_bodies(recoil_fracture* shape, const recoil_fracture_body** bodies, size_t* count,
                           recoil_fracture_error* error) {
  return guarded(error, [&] {
    require(shape != nullptr && bodies != nullptr && count != nullptr,
            "bodies: `shape`, `bodies` and `count` must not be NULL");
    std::visit(
        [&](auto& loaded) {
          cut(*loaded);
          *bodies = loaded->bodies.data();
          *count = loaded->bodies.size();
        },
        shape->shape);
  });
}

void recoil_fracture_free(recoil_fracture* shape) { delete shape; }

} // extern "C"
