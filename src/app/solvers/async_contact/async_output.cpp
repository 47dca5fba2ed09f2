#include "app/solvers/async_contact/async_output.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

#include "recoil/base/error.hpp"
#include "recoil/checkpoint/trajectory_reader.hpp"

namespace recoil::app {
namespace {

/// Rows 0 .. count - 1, all on the first rank.
io::BlockLayout on_first_rank(const parallel::Communicator& comm, std::size_t count) {
  std::vector<GlobalIndex> ids(comm.rank() == 0 ? count : 0);
  std::iota(ids.begin(), ids.end(), GlobalIndex{0});
  return {comm, ids};
}

/// The list on the first rank, which writes for all; empty elsewhere.
template <class List>
List on_first(const parallel::Communicator& comm, const List& list) {
  return comm.rank() == 0 ? list : List();
}

void append(std::vector<double>& list, const Eigen::Vector3d& vector) {
  list.insert(list.end(), vector.begin(), vector.end());
}

} // namespace

AsyncOutput::AsyncOutput(AsyncSolver& solver)
    : solver_(solver), nodes_(solver.comm(), on_first(solver.comm(), solver.model().node)) {}

void AsyncOutput::write_mesh(checkpoint::TrajectoryWriter& writer) const {
  const parallel::Communicator& comm = solver_.comm();
  const AsyncModel& model = solver_.model();
  std::vector<double> coordinates;
  for (const Eigen::Vector3d& place : on_first(comm, model.rest)) append(coordinates, place);
  std::vector<io::CellShape> shapes;
  std::vector<GlobalIndex> connectivity;
  std::vector<std::int32_t> bodies;
  const std::size_t width = model.tetrahedra.empty() ? 3 : 4;
  const auto add = [&](io::CellShape shape, std::span<const LocalIndex> corners) {
    shapes.push_back(shape);
    for (const LocalIndex v : corners) connectivity.push_back(model.node[v]);
    connectivity.resize(connectivity.size() + width - corners.size(), -1);
    const auto body = std::ranges::find_if(
        model.bodies, [&](const AsyncBody& of) { return corners[0] < of.first + of.count; });
    bodies.push_back(static_cast<std::int32_t>(body - model.bodies.begin()));
  };
  for (const auto& triangle : on_first(comm, model.triangles)) add(io::CellShape::triangle, triangle);
  for (const auto& segment : on_first(comm, model.segments)) add(io::CellShape::segment, segment);
  for (const LocalIndex sphere : on_first(comm, model.spheres)) add(io::CellShape::vertex, {&sphere, 1});
  for (const auto& cell : on_first(comm, model.tetrahedra)) add(io::CellShape::tetrahedron, cell);
  const io::BlockLayout cells = on_first_rank(comm, shapes.size());
  std::vector<double> radii = on_first(comm, model.model.radii);
  radii.resize(coordinates.size() / 3);
  std::vector<checkpoint::StaticArray> arrays{
      {"body", 1, &cells, std::span<const std::int32_t>(bodies), io::Centre::cell}};
  if (!model.spheres.empty())
    arrays.push_back({"radius", 1, &nodes_, std::span<const double>(radii), io::Centre::node});
  writer.write_mesh({&nodes_, 3, coordinates, &cells, shapes, connectivity, static_cast<int>(width)}, arrays);
}

void AsyncOutput::require_mesh_of(checkpoint::TrajectoryReader& reader, GlobalIndex id,
                                  const std::string& where) const {
  const GlobalIndex nodes = reader.shape(id, "u").rows;
  if (nodes != nodes_.global_size())
    throw InputError(
        where, fmt::format("the bodies are no longer those that the run was begun with: they have {} "
                           "vertices, there were {}; put the mesh files of then back, or start again in a "
                           "new folder",
                           nodes_.global_size(), nodes));
}

std::vector<checkpoint::Field> AsyncOutput::restart_fields() {
  numbers_.clear();
  if (solver_.comm().rank() == 0) numbers_ = to_numbers(solver_.state());
  rows_ = std::make_unique<io::BlockLayout>(on_first_rank(solver_.comm(), numbers_.size()));
  return {{integrator_field, 1, rows_.get(), numbers_, io::Centre::none, true}};
}

void AsyncOutput::restore(const FieldReader& read) {
  std::vector<double> numbers = read(integrator_field, on_first_rank(solver_.comm(), num_numbers_));
  solver_.comm().broadcast(numbers);
  parallel::collectively(solver_.comm(),
                         [&] { solver_.restore_state(solvers::async_contact::from_numbers(numbers)); });
}

} // namespace recoil::app
