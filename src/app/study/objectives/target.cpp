#include "recoil/objectives/target.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <system_error>

#include <fmt/format.h>

#include "app/study/objectives/match_meshes.hpp"
#include "app/study/objectives/target_option.hpp"
#include "recoil/app/solvers/elastodynamics/node_layout.hpp"
#include "recoil/app/solvers/elastodynamics/scene_values.hpp"
#include "recoil/app/solvers/elastodynamics/trajectory_output.hpp"
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
  /// The field on a space of the experiment, whatever has moved its mesh. This must outlive it. Collective,
  /// also when it is called.
  virtual objectives::ReferenceField on(const fem::FunctionSpace<dim>& space) const = 0;
};

/// The mesh of the experiment as its trajectories hold it.
template <int dim>
struct ReferenceMesh {
  ReferenceMesh(const Scene& scene, const mesh::DistributedMesh<dim>& mesh)
      : comm(*mesh.comm), tolerance(1e-10 * (mesh.max_corner - mesh.min_corner).norm()) {
    const fem::FunctionSpace<dim> space(mesh, body_orders(scene, mesh.body_names));
    const fem::CellGeometry<dim> geometry(mesh);
    const TrajectoryOutput<dim> output(space, geometry);
    std::vector<double> positions;
    for (LocalIndex node = 0; node < space.num_owned_nodes(); ++node)
      for (const double x : space.node_positions()[node]) positions.push_back(x);
    const std::size_t width = output.width();
    const auto connectivity =
        output.cells().template to_blocks<GlobalIndex>(output.connectivity(), output.width());
    rows.num_nodes = output.nodes().global_size();
    rows.num_cells = output.cells().global_size();
    rows.coordinates = output.nodes().template to_blocks<double>(positions, dim);
    for (std::size_t first = 0; first < connectivity.size(); first += width) {
      rows.cells.emplace_back().fill(-1);
      std::copy_n(connectivity.begin() + first, width, rows.cells.back().begin());
    }
    first_node = output.nodes().block_begin();
  }

  const parallel::Communicator& comm;
  double tolerance; ///< of positions that are the same [m]
  MeshRows<dim> rows;
  GlobalIndex first_node = 0; ///< of this rank's block
};

/// @throws InputError where an array of displacements is not one of the experiment's nodes.
template <int dim>
void require_nodes(const std::filesystem::path& path, const std::string& where,
                   const ReferenceMesh<dim>& mesh, const io::ArrayShape& shape) {
  if (shape.rows == mesh.rows.num_nodes && shape.columns == dim && shape.type == io::ElementType::float64)
    return;
  throw InputError(
      where, fmt::format("{} has displacements 'u' of {} nodes in {}D{}, the experiment has {} nodes in "
                         "{}D; references are on the mesh of the experiment",
                         path.string(), shape.rows, shape.columns,
                         shape.type == io::ElementType::float64 ? "" : " that are no doubles",
                         mesh.rows.num_nodes, dim));
}

template <int dim>
class RunReference final : public NodalReference<dim> {
public:
  /// @param other_shape whether the run may have the mesh of the experiment in another shape.
  RunReference(const std::filesystem::path& folder, const std::string& where, const ReferenceMesh<dim>& mesh,
               bool positions, bool other_shape)
      : where_(where), folder_(folder), positions_(positions),
        reader_(std::make_unique<checkpoint::TrajectoryReader>(mesh.comm, folder / "trajectory")) {
    for (const stepping::StepRecord& record : reader_->records())
      if (record.completes_nominal && reader_->is_stored(record.id))
        stored_.push_back({record.id, record.time});
    if (stored_.empty()) throw InputError(where_, folder_.string() + " holds no state of a whole step");
    require_nodes<dim>(folder, where, mesh, reader_->shape(stored_.front().id, "u"));
    row_of_node_ = find_rows(mesh, other_shape);
  }

  void check_interval(const std::array<double, 2>& interval) const override {
    for (const double time : interval) around(time);
  }

  objectives::ReferenceField on(const fem::FunctionSpace<dim>& space) const override {
    const std::vector<GlobalIndex> rows =
        node_layout(space).template from_blocks<GlobalIndex>(row_of_node_, 1);
    auto field = std::make_shared<Field>(*this, space, rows);
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
    Field(const RunReference& run, const fem::FunctionSpace<dim>& space, std::vector<GlobalIndex> rows)
        : run_(run), layout_(space.layout()), row_ids_(std::move(rows)), rows_(space.comm(), row_ids_) {
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
      std::vector<double> u = run_.reader_->read(id, "u", rows_);
      const std::string array = fmt::format("states/{}/u", id);
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
  std::vector<GlobalIndex> find_rows(const ReferenceMesh<dim>& mesh, bool other_shape) const {
    MeshRows<dim> own;
    own.num_nodes = reader_->static_shape("coordinates").rows;
    own.num_cells = reader_->num_cells();
    std::vector<GlobalIndex> same(mesh.rows.coordinates.size() / dim);
    std::iota(same.begin(), same.end(), mesh.first_node);
    bool same_cells = false;
    double farthest = 0;
    if (own.num_nodes == mesh.rows.num_nodes && own.num_cells == mesh.rows.num_cells) {
      own.coordinates =
          reader_->template read_static<double>("coordinates", io::BlockLayout(mesh.comm, same));
      own.cells = reader_->read_cells();
      for (std::size_t i = 0; i < own.coordinates.size(); ++i)
        farthest = std::max(farthest, std::abs(own.coordinates[i] - mesh.rows.coordinates[i]));
      farthest = mesh.comm.max(farthest);
      same_cells = mesh.comm.all(own.cells == mesh.rows.cells);
      if (same_cells && farthest <= mesh.tolerance) return same;
      if (auto found = match_nodes(mesh.comm, mesh.rows, own, mesh.tolerance)) return std::move(*found);
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
  double tolerance() const {
    return stored_.size() < 2 ? 1e-12
                              : 1e-6 * (stored_.back().time - stored_.front().time) / (stored_.size() - 1);
  }
  /// The stored states before and after a time, twice the same on one of them.
  std::pair<Stored, Stored> around(double time) const {
    const auto after = std::ranges::lower_bound(stored_, time - tolerance(), {}, &Stored::time);
    if (after == stored_.end())
      throw InputError(
          where_, fmt::format("the reference ends at t = {:g}, {:g} is needed", stored_.back().time, time));
    if (std::abs(after->time - time) <= tolerance()) return {*after, *after};
    if (after == stored_.begin())
      throw InputError(where_,
                       fmt::format("the reference starts at t = {:g}, {:g} is needed", after->time, time));
    return {*(after - 1), *after};
  }

  std::string where_;
  std::filesystem::path folder_;
  bool positions_;
  std::unique_ptr<checkpoint::TrajectoryReader> reader_;
  std::vector<Stored> stored_;
  std::vector<GlobalIndex> row_of_node_; ///< of the run, per node of this rank's block of the experiment
};

/// An array `u` for all times.
template <int dim>
class FileReference final : public NodalReference<dim> {
public:
  FileReference(const std::filesystem::path& path, const std::string& where, const ReferenceMesh<dim>& mesh,
                bool positions) {
    block_ = parallel::collectively(mesh.comm, [&] {
      const io::Hdf5Reader file(path);
      if (!file.contains("u"))
        throw InputError(where, path.string() + " holds no array 'u', the displacements of the nodes");
      require_nodes<dim>(path, where, mesh, file.shape("u"));
      const auto end = mesh.first_node + (mesh.rows.coordinates.size() / dim);
      auto u = file.read_rows<double>("u", mesh.first_node, end);
      require_finite_rows(u, dim, mesh.first_node, where, path, "u");
      return u;
    });
    if (positions)
      for (std::size_t i = 0; i < block_.size(); ++i) block_[i] += mesh.rows.coordinates[i];
  }

  void check_interval(const std::array<double, 2>&) const override {}

  objectives::ReferenceField on(const fem::FunctionSpace<dim>& space) const override {
    const linalg::Vector field(space.layout(), node_layout(space).template from_blocks<double>(block_, dim));
    return objectives::constant_reference({field.local().begin(), field.local().end()});
  }

private:
  std::vector<double> block_; ///< of this rank, in the order of the file
};

/// Opens the reference at `path`:
/// - a run folder, linear in time between its stored states. Its mesh must have the cells of `mesh` at the
///   same places, in whatever order; with `other_shape` it may also be a run of another shape, node by node.
///   Positions are those of the run.
/// - an HDF5 file with one array `u` for all times, a row of dim numbers [m] per node in the order of the
///   trajectory. Positions are those of `mesh` plus u.
/// @param where for messages.
/// @param mesh of the scene as its files give it, moved by no shape.
/// @param positions whether positions are compared, not displacements.
/// Collective. @throws InputError on every rank, at `where`, for a file of another mesh or with values that
/// are not finite.
template <int dim>
std::unique_ptr<const NodalReference<dim>>
open_reference(const std::filesystem::path& path, const std::string& where, const Scene& scene,
               const mesh::DistributedMesh<dim>& mesh, bool positions, bool other_shape) {
  const ReferenceMesh<dim> own(scene, mesh);
  // The first rank's look decides, as the others may see an older state of the file system.
  std::error_code error;
  if (mesh.comm->any(mesh.comm->rank() == 0 && std::filesystem::is_directory(path, error)))
    return std::make_unique<RunReference<dim>>(path, where, own, positions, other_shape);
  return std::make_unique<FileReference<dim>>(path, where, own, positions);
}

/// target_displacement, target_position.
struct NodalTarget final : ObjectiveOf<NodalTarget> {
  explicit NodalTarget(const Item& entry)
      : positions(entry["type"].text() == "target_position"), path(entry["reference"].text()) {
    for (const TargetOption& option : target_options()) option.read(entry, part);
    if (std::filesystem::is_directory(path) && !std::filesystem::exists(path / "scene.json"))
      entry["reference"].fail(
          path.string() +
          " is not a run folder (it holds no scene.json); give the folder named by `recoil simulate "
          "-o`, or an HDF5 file");
  }

  void check_dimension(int dim) const override {
    for (const TargetOption& option : target_options())
      if (option.check_dimension) option.check_dimension(part, where, dim);
  }
  void check(const ExperimentScene& at) const override {
    for (const TargetOption& option : target_options())
      if (option.check) option.check(part, *this, at);
  }
  std::vector<std::filesystem::path> files() const override {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) return {path / "trajectory" / "manifest.json"};
    return {path};
  }

  template <int dim>
  ObjectiveMaker<dim> open_in(const ExperimentMesh<dim>& at) const {
    const bool shape = std::ranges::any_of(at.study.parameters, [&](const ParameterSpec& parameter) {
      return parameter.kind->changes(parameters::quantities::vertices) && parameter.acts_in(at.experiment);
    });
    const std::shared_ptr<const NodalReference<dim>> reference =
        open_reference<dim>(path, where.of("reference"), at.scene, at.mesh, positions, positions && shape);
    return [this, reference](DiscreteScene<dim>& discrete) {
      reference->check_interval(observed_interval(*this, discrete.scene().time));
      const auto make =
          positions ? objectives::make_target_position<dim> : objectives::make_target_displacement<dim>;
      return make(region_of(*this, discrete), reference->on(discrete.space()), part.facets, part.components);
    };
  }

  bool positions;
  std::filesystem::path path; ///< run folder or HDF5 file
  TargetPart part;
};

std::vector<Key> nodal_target_keys() {
  std::vector<Key> keys{body_key, time_key};
  for (const TargetOption& option : target_options())
    std::ranges::copy(option.keys, std::back_inserter(keys));
  keys.push_back(
      {.pattern = "/objectives/*/reference",
       .types = path | folder,
       .required = true,
       .doc = "Run folder with the displacements aimed at, or HDF5 file with an array `u` of them [m], one "
              "row per node in [file order](#file-order), for all times; see [below](#references)."});
  return keys;
}

} // namespace

std::vector<ObjectiveType> target_objectives() {
  return {{.name = "target_displacement",
           .doc = "int |u - u*|^2 with the displacement u* of the reference.",
           .keys = nodal_target_keys(),
           .read = NodalTarget::read,
           .keeps_mesh = true,
           .sees_place = true},
          {.name = "target_position",
           .doc = "int |X + u - x*|^2 with the position x* of the reference.",
           .keys = nodal_target_keys(),
           .read = NodalTarget::read,
           .keeps_mesh = true,
           .sees_place = true}};
}

} // namespace recoil::app
