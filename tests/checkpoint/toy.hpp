#pragma once

#include <cmath>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "io/distribution.hpp"
#include "recoil/checkpoint/trajectory_reader.hpp"
#include "recoil/checkpoint/trajectory_writer.hpp"

namespace recoil::testing {

/// A "solver" whose state n at node i follows from its three predecessors, node by node, so that it is the
/// same to the last bit on any ranks, and wrong for ever after one wrong or missing value.
class Toy {
public:
  static constexpr int history = 3;
  static constexpr GlobalIndex node_count = 60, cell_count = 25;

  /// Nodes and cells are dealt out at random by `seed`; from two ranks on, one rank gets nothing.
  Toy(const parallel::Communicator& comm, int dim, unsigned seed)
      : dim_(dim), node_ids_(random_ids(node_count, comm.rank(), comm.size(), seed, idle(comm, seed))),
        cell_ids_(random_ids(cell_count, comm.rank(), comm.size(), seed + 1, idle(comm, seed))),
        nodes_(comm, node_ids_), cells_(comm, cell_ids_) {
    u_.push_front(std::vector<double>(node_ids_.size() * static_cast<std::size_t>(dim)));
    for_each_value([&](std::size_t at, GlobalIndex id, int c) {
      u_[0][at] = std::cos(static_cast<double>(id + 100 * c));
    });
    derive();
  }

  void advance() {
    ++id_;
    std::vector<double> next(u_[0].size());
    for_each_value([&](std::size_t at, GlobalIndex id, int c) {
      double value = std::sin(0.1 * static_cast<double>(id_) + static_cast<double>(id + c));
      const double weights[history] = {0.9, -0.4, 0.3};
      for (std::size_t j = 0; j < u_.size(); ++j) value += weights[j] * u_[j][at];
      next[at] = value;
    });
    u_.push_front(std::move(next));
    if (u_.size() > history) u_.pop_back();
    derive();
  }

  void restart(checkpoint::TrajectoryReader& reader, const checkpoint::RestartPoint& point) {
    id_ = point.states.front();
    u_.clear();
    for (const GlobalIndex id : point.states) u_.push_back(reader.read(id, "u", nodes_));
    derive();
  }

  stepping::StepRecord record() const {
    stepping::StepRecord record;
    record.id = id_;
    record.completes_nominal = id_ % 7 != 5; // every seventh state is a sub-step
    record.nominal_step = id_ - (id_ + 2) / 7 + (record.completes_nominal ? 0 : 1);
    record.time = 0.1 * static_cast<double>(id_);
    if (id_ == 0) return record;
    record.dt = 0.1;
    record.coefficients.b = 1.0 / 3.0;
    record.coefficients.order = record.num_predecessors =
        static_cast<int>(std::min<GlobalIndex>(history, id_));
    for (int j = 0; j < record.num_predecessors; ++j) {
      record.predecessor_ids[static_cast<std::size_t>(j)] = id_ - 1 - j;
      record.coefficients.a[static_cast<std::size_t>(j)] = 1.0 / (3 * (j + 1));
    }
    return record;
  }
  std::string extra() const {
    if (id_ == 0) return "{}";
    return "{\"order\":" + std::to_string(record().coefficients.order) + ",\"lagged\":[0.1,-2e-300]}";
  }

  std::vector<checkpoint::Field> fields() const {
    return {{"u", dim_, &nodes_, u_[0], io::Centre::node, true},
            {"v", dim_, &nodes_, v_, io::Centre::node, true},
            {"pressure", 1, &cells_, pressure_, io::Centre::cell, false}};
  }

  void write_mesh(checkpoint::TrajectoryWriter& writer, bool mixed) const {
    std::vector<double> coordinates(u_[0].size());
    for_each_value(
        [&](std::size_t at, GlobalIndex id, int c) { coordinates[at] = static_cast<double>(id * 10 + c); });
    std::vector<io::CellShape> shapes;
    std::vector<GlobalIndex> connectivity;
    std::vector<std::int32_t> bodies;
    for (const GlobalIndex id : cell_ids_) {
      shapes.push_back(shape_of(id, mixed));
      bodies.push_back(static_cast<std::int32_t>(id % 3));
      for (int n = 0; n < 10; ++n)
        connectivity.push_back(n < io::node_count(shapes.back()) ? node_of(id, n) : -1);
    }
    checkpoint::DrawnMesh mesh{&nodes_, dim_, coordinates, &cells_, shapes, connectivity, 10};
    const checkpoint::StaticArray arrays[] = {
        {"body", 1, &cells_, std::span<const std::int32_t>(bodies), io::Centre::cell},
        {"node_ids", 1, &nodes_, std::span<const std::int64_t>(node_ids_), io::Centre::none}};
    writer.write_mesh(mesh, arrays);
  }

  io::CellShape shape_of(GlobalIndex cell, bool mixed) const {
    const bool quadratic = mixed && cell % 2 == 1;
    if (dim_ == 2) return quadratic ? io::CellShape::triangle_6 : io::CellShape::triangle;
    return quadratic ? io::CellShape::tetrahedron_10 : io::CellShape::tetrahedron;
  }
  static GlobalIndex node_of(GlobalIndex cell, int n) { return (cell * 3 + n * n) % node_count; }

  GlobalIndex id() const { return id_; }
  const std::vector<double>& u() const { return u_[0]; }
  const std::vector<double>& v() const { return v_; }
  const std::vector<double>& pressure() const { return pressure_; }
  const io::BlockLayout& nodes() const { return nodes_; }
  const io::BlockLayout& cells() const { return cells_; }
  const std::vector<GlobalIndex>& node_ids() const { return node_ids_; }
  const std::vector<GlobalIndex>& cell_ids() const { return cell_ids_; }

private:
  static std::vector<int> idle(const parallel::Communicator& comm, unsigned seed) {
    if (comm.size() == 1) return {};
    return {static_cast<int>(seed) % comm.size()};
  }

  template <class Function>
  void for_each_value(Function&& function) const {
    for (std::size_t row = 0; row < node_ids_.size(); ++row)
      for (int c = 0; c < dim_; ++c)
        function(row * static_cast<std::size_t>(dim_) + static_cast<std::size_t>(c), node_ids_[row], c);
  }

  void derive() {
    v_ = u_[0];
    for (double& value : v_) value *= -2;
    pressure_.clear();
    for (const GlobalIndex id : cell_ids_) pressure_.push_back(std::sqrt(static_cast<double>(id + id_)));
  }

  int dim_;
  std::vector<GlobalIndex> node_ids_, cell_ids_;
  io::BlockLayout nodes_, cells_;
  GlobalIndex id_ = 0;
  std::deque<std::vector<double>> u_;
  std::vector<double> v_, pressure_;
};

/// Whether all arrays of all states in the trajectory are those of the toy, to the last bit; says what is
/// not.
inline std::string differences(const parallel::Communicator& comm, checkpoint::TrajectoryReader& reader,
                               int dim, unsigned seed) {
  Toy toy(comm, dim, seed);
  std::string found;
  for (std::size_t n = 0; n < reader.records().size(); ++n) {
    const auto id = static_cast<GlobalIndex>(n);
    if (n > 0) toy.advance();
    if (reader.records()[n] != toy.record() || reader.extra(id) != toy.extra())
      found += "record " + std::to_string(id) + " ";
    if (!reader.has_arrays(id)) continue;
    if (reader.read(id, "u", toy.nodes()) != toy.u()) found += "u " + std::to_string(id) + " ";
    if (reader.read(id, "v", toy.nodes()) != toy.v()) found += "v " + std::to_string(id) + " ";
    if (reader.is_stored(id) && reader.read(id, "pressure", toy.cells()) != toy.pressure())
      found += "pressure " + std::to_string(id) + " ";
  }
  if (reader.read_static<std::int64_t>("node_ids", toy.nodes()) != toy.node_ids()) found += "node_ids ";
  return found;
}

/// Starts or continues a run of the toy until state `last`, storing every `every`-th state.
inline void run_toy(const parallel::Communicator& comm, const std::filesystem::path& folder, GlobalIndex last,
                    int every, int chunk, int dim = 3, unsigned seed = 7, bool flush = true) {
  Toy toy(comm, dim, seed);
  checkpoint::WriterOptions options{chunk, Toy::history,
                                    "{\"solver\":\"toy\",\"dim\":" + std::to_string(dim) + "}"};
  std::optional<checkpoint::TrajectoryWriter> writer;
  if (checkpoint::TrajectoryReader::exists(comm, folder)) {
    checkpoint::TrajectoryReader reader(comm, folder);
    const checkpoint::RestartPoint point = reader.restart_point();
    toy.restart(reader, point);
    writer.emplace(comm, reader, point, options);
  } else {
    writer.emplace(comm, folder, options);
    toy.write_mesh(*writer, dim == 2);
    writer->append(toy.record(), toy.fields(), true, toy.extra());
    writer->flush();
  }
  while (toy.id() < last) {
    toy.advance();
    writer->append(toy.record(), toy.fields(), toy.id() % every == 0, toy.extra());
  }
  if (flush) writer->flush();
}

} // namespace recoil::testing
