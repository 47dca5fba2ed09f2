#include "app/solvers/async_contact/async_output.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

#include "recoil/base/error.hpp"
#include "recoil/checkpoint/trajectory_reader.hpp"

namespace recoil::app {
namespace {

using solvers::async_contact::AnchorState;
using solvers::async_contact::IntegratorState;
using solvers::async_contact::Tick;
using solvers::async_contact::VertexState;

/// Numbers of a vertex: position, velocity, tick; of an anchor: pair, last contact, displacement.
constexpr int vertex_width = 7, anchor_width = 5;

/// Rows 0 .. count - 1, all on the first rank.
io::BlockLayout on_first_rank(const parallel::Communicator& comm, std::size_t count) {
  std::vector<GlobalIndex> ids(comm.rank() == 0 ? count : 0);
  std::iota(ids.begin(), ids.end(), GlobalIndex{0});
  return {comm, ids};
}

void append(std::vector<double>& list, const Eigen::Vector3d& vector) {
  list.insert(list.end(), vector.begin(), vector.end());
}

Eigen::Vector3d vector_at(const std::vector<double>& list, std::size_t place) {
  return Eigen::Map<const Eigen::Vector3d>(list.data() + place);
}

} // namespace

AsyncOutput::AsyncOutput(AsyncSolver& solver)
    : solver_(solver), nodes_(solver.comm(), solver.model().node),
      vertices_(on_first_rank(solver.comm(), solver.model().model.positions.size())),
      hinges_(on_first_rank(solver.comm(), solver.model().model.hinges.size())) {}

void AsyncOutput::write_mesh(checkpoint::TrajectoryWriter& writer) const {
  const AsyncModel& model = solver_.model();
  std::vector<double> coordinates;
  for (const Eigen::Vector3d& place : model.rest) append(coordinates, place);
  std::vector<io::CellShape> shapes;
  std::vector<GlobalIndex> connectivity;
  std::vector<std::int32_t> bodies;
  const auto add = [&](io::CellShape shape, std::span<const LocalIndex> corners) {
    shapes.push_back(shape);
    for (const LocalIndex v : corners) connectivity.push_back(model.node[v]);
    connectivity.resize(connectivity.size() + 3 - corners.size(), -1);
    const auto body = std::ranges::find_if(
        model.bodies, [&](const AsyncBody& of) { return corners[0] < of.first + of.count; });
    bodies.push_back(static_cast<std::int32_t>(body - model.bodies.begin()));
  };
  for (const auto& triangle : model.triangles) add(io::CellShape::triangle, triangle);
  for (const auto& segment : model.segments) add(io::CellShape::segment, segment);
  for (const LocalIndex sphere : model.spheres) add(io::CellShape::vertex, {&sphere, 1});
  const io::BlockLayout cells = on_first_rank(solver_.comm(), shapes.size());
  std::vector<double> radii(model.model.radii.begin(), model.model.radii.begin() + model.num_nodes());
  std::vector<checkpoint::StaticArray> arrays{
      {"body", 1, &cells, std::span<const std::int32_t>(bodies), io::Centre::cell}};
  if (solver_.comm().any(!model.spheres.empty()))
    arrays.push_back({"radius", 1, &nodes_, std::span<const double>(radii), io::Centre::node});
  writer.write_mesh({&nodes_, 3, coordinates, &cells, shapes, connectivity, 3}, arrays);
}

void AsyncOutput::require_mesh_of(checkpoint::TrajectoryReader& reader, GlobalIndex id,
                                  const std::string& where) const {
  const GlobalIndex vertices = reader.shape(id, "vertex_state").rows, nodes = reader.shape(id, "u").rows;
  if (nodes != nodes_.global_size() || vertices != vertices_.global_size())
    throw InputError(where,
                     fmt::format("the bodies and obstacles are no longer those that the run was begun with: "
                                 "they have {} vertices, there were {}; put the mesh files of then back, or "
                                 "start again in a new folder",
                                 vertices_.global_size(), vertices));
}

stepping::Entries AsyncOutput::restart_entries() const {
  return {{"anchors", solver_.comm().rank() == 0 ? GlobalIndex(std::ssize(solver_.state().anchors)) : 0}};
}

std::vector<checkpoint::Field> AsyncOutput::restart_fields() {
  const IntegratorState& state = solver_.state();
  vertex_states_.clear();
  for (const VertexState& vertex : state.vertices) {
    append(vertex_states_, vertex.q);
    append(vertex_states_, vertex.v);
    vertex_states_.push_back(static_cast<double>(vertex.tick));
  }
  rest_angles_ = state.rest_angles;
  anchor_states_.clear();
  for (const AnchorState& anchor : state.anchors) {
    anchor_states_.push_back(static_cast<double>(anchor.pair));
    anchor_states_.push_back(static_cast<double>(anchor.last_contact));
    append(anchor_states_, anchor.displacement);
  }
  std::vector<checkpoint::Field> fields{
      {"vertex_state", vertex_width, &vertices_, vertex_states_, io::Centre::none, true}};
  if (hinges_.global_size() > 0)
    fields.push_back({"rest_angle", 1, &hinges_, rest_angles_, io::Centre::none, true});
  anchors_ = std::make_unique<io::BlockLayout>(on_first_rank(solver_.comm(), state.anchors.size()));
  if (anchors_->global_size() > 0)
    fields.push_back({"anchors", anchor_width, anchors_.get(), anchor_states_, io::Centre::none, true});
  return fields;
}

void AsyncOutput::restore(const FieldReader& read) {
  const std::vector<double> vertices = read("vertex_state", vertices_);
  const std::vector<double> angles =
      hinges_.global_size() > 0 ? read("rest_angle", hinges_) : std::vector<double>();
  std::vector<double> anchors;
  if (num_anchors_ > 0) anchors = read("anchors", on_first_rank(solver_.comm(), num_anchors_));
  if (solver_.comm().rank() != 0) return;
  IntegratorState state = solver_.state();
  for (std::size_t v = 0; v < state.vertices.size(); ++v) {
    VertexState& vertex = state.vertices[v];
    vertex.q = vector_at(vertices, vertex_width * v);
    vertex.v = vector_at(vertices, vertex_width * v + 3);
    vertex.tick = static_cast<Tick>(vertices[vertex_width * v + 6]);
  }
  state.rest_angles = angles;
  state.anchors.clear();
  for (std::size_t k = 0; k < anchors.size(); k += anchor_width)
    state.anchors.push_back({static_cast<std::uint64_t>(anchors[k]), static_cast<Tick>(anchors[k + 1]),
                             vector_at(anchors, k + 2)});
  solver_.restore_state(std::move(state));
}

} // namespace recoil::app
