// Bandwidth of writing states through TrajectoryWriter against plain write() and fsync() of the same bytes.
//
//   mpirun -n 2 bench_checkpoint -folder DIR [-mb 100] [-states 4] [-chunk 1] [-repeat 3]
//
// Each state holds two vector fields, `mb` megabytes (1e6 bytes) in all over all ranks, rows dealt out to the
// ranks in turn, as no solver would own them: every row but one in `ranks` moves to another rank. Wall time,
// both ways alternating in one run, smallest of the repeats. One line of JSON.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "recoil/base/timer.hpp"
#include "recoil/checkpoint/trajectory_writer.hpp"
#include "recoil/linalg/petsc.hpp"

namespace {

using namespace recoil;

PetscInt option(const char* name, PetscInt fallback) {
  RECOIL_PETSC(PetscOptionsGetInt(nullptr, nullptr, name, &fallback, nullptr));
  return fallback;
}

std::vector<GlobalIndex> dealt_out(GlobalIndex count, const parallel::Communicator& comm) {
  std::vector<GlobalIndex> ids;
  for (GlobalIndex id = comm.rank(); id < count; id += comm.size()) ids.push_back(id);
  return ids;
}

template <class Work>
double seconds_of(const parallel::Communicator& comm, Work&& work) {
  comm.barrier();
  const Stopwatch watch;
  work();
  comm.barrier();
  return watch.seconds();
}

void write_plainly(const std::filesystem::path& path, const std::vector<double>& values) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0) throw FileError(path.string() + ": cannot be made");
  const char* next = reinterpret_cast<const char*>(values.data());
  std::size_t left = values.size() * sizeof(double);
  while (left > 0) {
    const ssize_t written = ::write(file, next, std::min<std::size_t>(left, 1 << 23));
    if (written <= 0) throw FileError(path.string() + ": cannot be written");
    next += written;
    left -= static_cast<std::size_t>(written);
  }
  const bool closed = ::fsync(file) == 0 && ::close(file) == 0;
  if (!closed) throw FileError(path.string() + ": cannot be synced");
}

void run(const parallel::Communicator& comm, const std::filesystem::path& folder) {
  const auto states = option("-states", 4);
  const auto num_nodes = static_cast<GlobalIndex>(option("-mb", 100)) * 1000000 / (2 * 3 * 8);
  const auto node_ids = dealt_out(num_nodes, comm), cell_ids = dealt_out(num_nodes / 4, comm);
  const io::BlockLayout nodes(comm, node_ids), cells(comm, cell_ids);
  std::vector<double> u(3 * node_ids.size()), v(u.size());
  for (std::size_t i = 0; i < u.size(); ++i) v[i] = std::sin(u[i] = std::sin(static_cast<double>(i)));
  std::vector<GlobalIndex> connectivity;
  for (const GlobalIndex cell : cell_ids)
    for (int k = 0; k < 4; ++k) connectivity.push_back(4 * cell + k);
  const std::vector<io::CellShape> shapes(cell_ids.size(), io::CellShape::tetrahedron);
  const checkpoint::DrawnMesh mesh{&nodes, 3, u, &cells, shapes, connectivity, 4};

  double best_recoil = 1e99, best_plain = 1e99, megabytes = 0;
  for (PetscInt repeat = 0; repeat < option("-repeat", 3); ++repeat) {
    const auto trajectory = folder / "bench_checkpoint_trajectory";
    const auto plain = folder / ("bench_checkpoint_plain." + std::to_string(comm.rank()));
    {
      checkpoint::WriterOptions options;
      options.states_per_file = static_cast<int>(option("-chunk", 1));
      checkpoint::TrajectoryWriter writer(comm, trajectory, options);
      writer.write_mesh(mesh);
      const auto before = writer.bytes_written();
      best_recoil = std::min(best_recoil, seconds_of(comm, [&] {
                               for (PetscInt n = 0; n < states; ++n) {
                                 stepping::StepRecord record;
                                 record.id = n;
                                 record.nominal_step = n;
                                 const std::array<checkpoint::Field, 2> fields{
                                     checkpoint::Field{"u", 3, &nodes, u, io::Centre::node, true},
                                     checkpoint::Field{"v", 3, &nodes, v, io::Centre::node, true}};
                                 writer.append(record, fields);
                               }
                               writer.flush();
                             }));
      megabytes = 1e-6 * static_cast<double>(writer.bytes_written() - before);
    }
    best_plain = std::min(best_plain, seconds_of(comm, [&] {
                            for (PetscInt n = 0; n < states; ++n) {
                              write_plainly(plain, u);
                              write_plainly(plain, v);
                            }
                          }));
    std::filesystem::remove(plain);
    comm.barrier();
    if (comm.rank() == 0) std::filesystem::remove_all(trajectory);
    comm.barrier();
  }
  if (comm.rank() != 0) return;
  const double payload = 1e-6 * 2 * 3 * 8 * static_cast<double>(num_nodes) * static_cast<double>(states);
  std::printf("{\"ranks\": %d, \"states\": %d, \"state_mb\": %.1f, \"files_mb\": %.1f, "
              "\"trajectory_mb_per_s\": %.1f, "
              "\"plain_mb_per_s\": %.1f, \"ratio\": %.3f}\n",
              comm.size(), static_cast<int>(states), payload / static_cast<double>(states), megabytes,
              payload / best_recoil, payload / best_plain, best_plain / best_recoil);
}

} // namespace

int main(int argc, char** argv) {
  const linalg::PetscSession session(&argc, &argv);
  const parallel::Communicator comm(PETSC_COMM_WORLD);
  std::array<char, 1024> folder{"."};
  RECOIL_PETSC(PetscOptionsGetString(nullptr, nullptr, "-folder", folder.data(), folder.size(), nullptr));
  run(comm, folder.data());
}
