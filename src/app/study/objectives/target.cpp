#include "recoil/objectives/target.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <system_error>

#include <Eigen/Geometry>
#include <fmt/format.h>

#include "app/study/objectives/match_meshes.hpp"
#include "recoil/app/run/finite_values.hpp"
#include "recoil/app/study/fields/parameter_kind.hpp"
#include "recoil/app/study/objectives/objective_type.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/log.hpp"
#include "recoil/io/hdf5_file.hpp"

namespace recoil::app {
namespace {

/// What a target is measured against, opened once for all runs of an experiment: displacements, or positions
/// that stay where they are when a shape moves the mesh.
template <int dim>
class NodalReference {
public:
  virtual ~NodalReference() = default;
  /// @throws InputError where it does not reach both ends of `interval` [s]. Not collective.
  virtual void check_interval(const std::array<double, 2>& interval) const = 0;
  /// The field at the nodes of a run, whatever has moved them. This must outlive it. Collective, also when it
  /// is called.
  virtual objectives::ReferenceField on(const Observables<dim>& at) const = 0;
};

/// @throws InputError where an array of displacements is not one of the experiment's nodes.
template <int dim>
void require_nodes(const std::filesystem::path& path, const std::string& where, const MeshRows<dim>& mesh,
                   const io::ArrayShape& shape) {
  if (shape.rows == mesh.num_nodes && shape.columns == dim && shape.type == io::ElementType::float64) return;
  throw InputError(
      where,
      fmt::format("{} has displacements 'u' of {} nodes in {}D{}, the experiment has {} nodes in "
                  "{}D; references are on the mesh of the experiment",
                  path.string(), shape.rows, shape.columns,
                  shape.type == io::ElementType::float64 ? "" : " that are no doubles", mesh.num_nodes, dim));
}

/// Below which positions are the same [m].
template <int dim>
double matching_tolerance(const parallel::Communicator& comm, const MeshRows<dim>& mesh) {
  Eigen::AlignedBox<double, dim> box;
  for (std::size_t i = 0; i < mesh.coordinates.size(); i += dim)
    box.extend(Eigen::Map<const Eigen::Matrix<double, dim, 1>>(&mesh.coordinates[i]));
  double squared = 0;
  for (int i = 0; i < dim; ++i) squared += std::pow(comm.max(box.max()[i]) - comm.min(box.min()[i]), 2);
  return 1e-10 * std::sqrt(squared);
}

template <int dim>
class RunReference final : public NodalReference<dim> {
public:
  /// @param other_shape whether the run may have the mesh of the experiment in another shape.
  RunReference(const Specimen<dim>& at, const std::filesystem::path& folder, const std::string& where,
               const MeshRows<dim>& mesh, bool positions, bool other_shape)
      : where_(where), folder_(folder), array_(at.displacement_array()), positions_(positions),
        reader_(std::make_unique<checkpoint::TrajectoryReader>(at.comm(), folder / "trajectory")) {
    for (const stepping::StepRecord& record : reader_->records())
      if (record.completes_nominal && reader_->is_stored(record.id))
        stored_.push_back({record.id, record.time});
    if (stored_.empty()) throw InputError(where_, folder_.string() + " holds no state of a whole step");
    require_nodes<dim>(folder, where, mesh, reader_->shape(stored_.front().id, array_));
    row_of_node_ = find_rows(at.comm(), mesh, other_shape);
  }

  void check_interval(const std::array<double, 2>& interval) const override {
    for (const double time : interval) around(time);
  }

  objectives::ReferenceField on(const Observables<dim>& at) const override {
    auto field =
        std::make_shared<Field>(*this, at, at.node_rows().template from_blocks<GlobalIndex>(row_of_node_, 1));
    return [field](double time) { return field->at(time); };
  }

private:
  struct Stored {
    GlobalIndex id;
    double time;
  };
  /// What on() returns.
  class Field {
  public:
    Field(const RunReference& run, const Observables<dim>& at, std::vector<GlobalIndex> rows)
        : run_(run), layout_(at.node_vectors()), row_ids_(std::move(rows)), rows_(at.comm(), row_ids_) {
      if (run_.positions_) rest_ = run_.reader_->template read_static<double>("coordinates", rows_);
    }
    std::span<const double> at(double time) {
      const auto [before, after] = run_.around(time);
      const double share = before.id == after.id ? 0 : (time - before.time) / (after.time - before.time);
      linalg::Vector field(layout_);
      auto entries = field.write_owned();
      std::ranges::copy(rest_, entries.begin());
      const auto add = [&](GlobalIndex id, double factor) {
        const std::vector<double> u = read(id);
        for (std::size_t i = 0; i < entries.size(); ++i) entries[i] += factor * u[i];
      };
      if (share < 1) add(before.id, 1 - share);
      if (share > 0) add(after.id, share);
      field.update_ghosts();
      values_.assign(field.local().begin(), field.local().end());
      return values_;
    }

  private:
    /// Displacements of the owned nodes in a stored state.
    std::vector<double> read(GlobalIndex id) const {
      std::vector<double> u = run_.reader_->read(id, run_.array_, rows_);
      const std::string array = fmt::format("states/{}/{}", id, run_.array_);
      parallel::collectively(rows_.communicator(), [&] {
        for (std::size_t node = 0; node < row_ids_.size(); ++node)
          require_finite_rows(std::span(u).subspan(node * dim, dim), dim, row_ids_[node], run_.where_,
                              run_.folder_, array);
      });
      return u;
    }

    const RunReference& run_;
    std::shared_ptr<const linalg::VectorLayout> layout_;
    std::vector<GlobalIndex> row_ids_; ///< of the run, per owned node
    io::BlockLayout rows_;
    std::vector<double> rest_, values_; ///< rest positions where positions are asked for
  };

  /// The row of the run's arrays at each node of the experiment in this rank's block.
  std::vector<GlobalIndex> find_rows(const parallel::Communicator& comm, const MeshRows<dim>& mesh,
                                     bool other_shape) const {
    const double tolerance = matching_tolerance(comm, mesh);
    MeshRows<dim> own;
    own.num_nodes = reader_->static_shape("coordinates").rows;
    own.num_cells = reader_->num_cells();
    std::vector<GlobalIndex> same(mesh.coordinates.size() / dim);
    std::iota(same.begin(), same.end(), mesh.first_node);
    bool same_cells = false;
    double farthest = 0;
    if (own.num_nodes == mesh.num_nodes && own.num_cells == mesh.num_cells) {
      own.coordinates = reader_->template read_static<double>("coordinates", io::BlockLayout(comm, same));
      own.cells = reader_->read_cells();
      for (std::size_t i = 0; i < own.coordinates.size(); ++i)
        farthest = std::max(farthest, std::abs(own.coordinates[i] - mesh.coordinates[i]));
      farthest = comm.max(farthest);
      same_cells = comm.all(own.cells == mesh.cells);
      if (same_cells && farthest <= tolerance) return same;
      if (auto found = match_nodes(comm, mesh, own, tolerance)) return std::move(*found);
    }
    if (same_cells && other_shape) {
      log_warning(
          fmt::format("{}: {} is a run of another shape, whose nodes lie up to {:g} m from those of the "
                      "experiment; nodes are compared one by one, so its bodies must be in the same order",
                      where_, folder_.string(), farthest));
      return same;
    }
    throw InputError(
        where_,
        fmt::format("the mesh of the run {} is not the mesh of the experiment: {}; a reference has the "
                    "same elements at the same places, in whatever order",
                    folder_.string(),
                    !same_cells ? std::string("its elements are others")
                                : fmt::format("its nodes lie up to {:g} m elsewhere", farthest)));
  }
  double time_tolerance() const {
    return stored_.size() < 2 ? 1e-12
                              : 1e-6 * (stored_.back().time - stored_.front().time) / (stored_.size() - 1);
  }
  /// The stored states before and after a time, twice the same on one of them.
  std::pair<Stored, Stored> around(double time) const {
    const auto after = std::ranges::lower_bound(stored_, time - time_tolerance(), {}, &Stored::time);
    if (after == stored_.end())
      throw InputError(
          where_, fmt::format("the reference ends at t = {:g}, {:g} is needed", stored_.back().time, time));
    if (std::abs(after->time - time) <= time_tolerance()) return {*after, *after};
    if (after == stored_.begin())
      throw InputError(where_,
                       fmt::format("the reference starts at t = {:g}, {:g} is needed", after->time, time));
    return {*(after - 1), *after};
  }

  std::string where_;
  std::filesystem::path folder_;
  std::string array_; ///< of displacements
  bool positions_;
  std::unique_ptr<checkpoint::TrajectoryReader> reader_;
  std::vector<Stored> stored_;
  std::vector<GlobalIndex> row_of_node_; ///< of the run, per node of this rank's block of the experiment
};

/// An array `u` for all times.
template <int dim>
class FileReference final : public NodalReference<dim> {
public:
  FileReference(const parallel::Communicator& comm, const std::filesystem::path& path,
                const std::string& where, const MeshRows<dim>& mesh, bool positions) {
    block_ = parallel::collectively(comm, [&] {
      const io::Hdf5Reader file(path);
      if (!file.contains("u"))
        throw InputError(where, path.string() + " holds no array 'u', the displacements of the nodes");
      require_nodes<dim>(path, where, mesh, file.shape("u"));
      const auto end = mesh.first_node + (mesh.coordinates.size() / dim);
      auto u = file.read_rows<double>("u", mesh.first_node, end);
      require_finite_rows(u, dim, mesh.first_node, where, path, "u");
      return u;
    });
    if (positions)
      for (std::size_t i = 0; i < block_.size(); ++i) block_[i] += mesh.coordinates[i];
  }

  void check_interval(const std::array<double, 2>&) const override {}

  objectives::ReferenceField on(const Observables<dim>& at) const override {
    const linalg::Vector field(at.node_vectors(), at.node_rows().template from_blocks<double>(block_, dim));
    return objectives::constant_reference({field.local().begin(), field.local().end()});
  }

private:
  std::vector<double> block_; ///< of this rank, in the order of the file
};

/// One displacement for all nodes and times.
template <int dim>
objectives::ReferenceField uniform_reference(const Observables<dim>& at, const std::vector<double>& value) {
  linalg::Vector field(at.node_vectors());
  const auto entries = field.write_local();
  for (std::size_t i = 0; i < entries.size(); ++i) entries[i] = value[i % dim];
  return objectives::constant_reference({entries.begin(), entries.end()});
}

/// Opens the reference at `path`:
/// - a run folder, linear in time between its stored states. Its mesh must have the cells of `mesh` at the
///   same places, in whatever order; with `other_shape` it may also be a run of another shape, node by node.
///   Positions are those of the run.
/// - an HDF5 file with one array `u` for all times, a row of dim numbers [m] per node in the order of the
///   trajectory. Positions are those of `mesh` plus u.
/// @param where for messages.
/// @param positions whether positions are compared, not displacements.
/// Collective. @throws InputError on every rank, at `where`, for a file of another mesh or with values that
/// are not finite.
template <int dim>
std::unique_ptr<const NodalReference<dim>>
open_reference(const Specimen<dim>& at, const std::filesystem::path& path, const std::string& where,
               bool positions, bool other_shape) {
  const MeshRows<dim> mesh = at.rows();
  // The first rank's look decides, as the others may see an older state of the file system.
  std::error_code error;
  if (at.comm().any(at.comm().rank() == 0 && std::filesystem::is_directory(path, error)))
    return std::make_unique<RunReference<dim>>(at, path, where, mesh, positions, other_shape);
  return std::make_unique<FileReference<dim>>(at.comm(), path, where, mesh, positions);
}

/// target_displacement, target_position.
struct NodalTarget final : ObjectiveOf<NodalTarget> {
  explicit NodalTarget(const Item& entry) : positions(entry["type"].text() == "target_position") {
    read_surface(entry);
    read_components(entry);
    if (entry["reference"].is_list()) {
      uniform = entry["reference"].numbers();
      return;
    }
    path = entry["reference"].text();
    if (std::filesystem::is_directory(path) && !std::filesystem::exists(path / "scene.json"))
      entry["reference"].fail(
          path.string() +
          " is not a run folder (it holds no scene.json); give the folder named by `recoil simulate "
          "-o`, or an HDF5 file");
  }

  void check_dimension(int dim) const override {
    if (!uniform.empty()) require_count(uniform.size(), dim, dim, where.of("reference"), "a displacement");
    if (std::ranges::any_of(components, [&](int axis) { return axis >= dim; }))
      throw InputError(where.of("components"), "there is no z component in 2D; take \"x\", \"y\" or both");
  }
  void check(const ExperimentScene& at) const override {
    if (facets) require_surface_ids(at, *this, *facets);
  }
  std::vector<std::filesystem::path> files() const override {
    if (!uniform.empty()) return {};
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) return {path / "trajectory" / "manifest.json"};
    return {path};
  }

  std::map<std::string, ObservableKind> asks_also() const override {
    if (!facets) return {};
    return {{where.keys.contains("boundary") ? "boundary" : "over", ObservableKind::boundary}};
  }

  template <int dim>
  ObjectiveMaker<dim> open_in(const Specimen<dim>& at) const {
    const bool shape = std::ranges::any_of(at.study.parameters, [&](const ParameterSpec& parameter) {
      return parameter.kind->changes(parameters::quantities::vertices) && parameter.acts_in(at.experiment);
    });
    const std::shared_ptr<const NodalReference<dim>> reference =
        uniform.empty() ? open_reference<dim>(at, path, where.of("reference"), positions, positions && shape)
                        : nullptr;
    return [this, reference](const Observables<dim>& at) {
      if (reference) reference->check_interval(observed_interval(*this, at.scene().time));
      return objectives::make_square<dim>(
          type->name,
          at.deviation(type->name, bodies,
                       positions ? objectives::VectorField::position : objectives::VectorField::displacement,
                       reference ? reference->on(at) : uniform_reference(at, uniform), facets, components));
    };
  }

  bool positions;
  std::filesystem::path path;                       ///< run folder or HDF5 file
  std::vector<double> uniform;                      ///< in its place, one displacement for all nodes [m]
  std::optional<potentials::FacetSelection> facets; ///< of the boundary; none: over the volume
  std::vector<int> components;                      ///< that are compared; none: all

private:
  void read_surface(const Item& entry) {
    const bool is_written = entry.has("over");
    if (is_written && entry["over"].text() == "volume" && entry.has("boundary"))
      entry["boundary"].fail("is for a difference over the boundary; leave `over`, or `boundary`, out");
    if (entry.has("boundary") || (is_written && entry["over"].text() == "boundary"))
      facets = facets_of(entry);
  }
  void read_components(const Item& entry) {
    if (!entry.has("components")) return;
    for (const Item& name : entry["components"].items()) {
      components.push_back(name.text().front() - 'x');
      if (std::ranges::count(components, components.back()) > 1) name.fail("stands there twice");
    }
  }
};

std::vector<Key> nodal_target_keys(bool positions) {
  Key reference{.pattern = "/objectives/*/reference",
                .types = path | folder,
                .required = true,
                .doc = "Run folder with the displacements aimed at, or HDF5 file with an array `u` of them "
                       "[m], one row per node in [file order](#file-order), for all times; see "
                       "[below](#references)."};
  if (!positions) {
    reference.types |= list;
    reference.items = number;
    reference.length = {2, 3};
    reference.unit = "m";
    reference.doc = "Run folder with the displacements aimed at, or HDF5 file with an array `u` of them [m], "
                    "one row per node in [file order](#file-order), for all times (see "
                    "[below](#references)), or one displacement for all nodes and times.";
  }
  return {body_key,
          time_key,
          {.pattern = "/objectives/*/over",
           .types = text,
           .implied = "`volume`",
           .choices = "[\"volume\", \"boundary\"]",
           .doc = "Where the difference is integrated; with `boundary` it is over its facets."},
          boundary_key,
          {.pattern = "/objectives/*/components",
           .types = one_or_list,
           .items = text,
           .length = {1, 3},
           .implied = "all",
           .choices = "[\"x\", \"y\", \"z\"]",
           .doc = "Those of the vectors that are compared."},
          std::move(reference)};
}

} // namespace

std::vector<ObjectiveType> target_objectives() {
  return {{.name = "target_displacement",
           .doc = "int |u - u*|^2 with the displacement u* of the reference.",
           .keys = nodal_target_keys(false),
           .read = NodalTarget::read,
           .asks = ObservableKind::field,
           .keeps_mesh = true,
           .sees_place = true},
          {.name = "target_position",
           .doc = "int |X + u - x*|^2 with the position x* of the reference.",
           .keys = nodal_target_keys(true),
           .read = NodalTarget::read,
           .asks = ObservableKind::field,
           .keeps_mesh = true,
           .sees_place = true}};
}

} // namespace recoil::app
