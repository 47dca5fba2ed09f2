#include "recoil/app/study/experiment/known_run_file.hpp"

#include <algorithm>
#include <system_error>

#include <fmt/format.h>

#include "recoil/app/solvers/elastodynamics/node_layout.hpp"
#include "recoil/app/study/fields/written_values.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/lookup.hpp"
#include "recoil/linalg/vector.hpp"

namespace recoil::app {

namespace fs = std::filesystem;

static std::string prefix_of(int experiment) { return fmt::format("{}-", experiment); }

std::string known_run_file(int experiment, const std::string& run) {
  return prefix_of(experiment) + run + ".h5";
}

void remove_known_runs_but(const fs::path& folder, int experiment, const std::vector<std::string>& kept) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    std::error_code ignored;
    if (name.starts_with(prefix_of(experiment)) && !holds(kept, name)) fs::remove(entry->path(), ignored);
  }
}

// One table: a row per node, with its displacement at all times one after the other.

template <int dim>
void write_known_run(const fem::FunctionSpace<dim>& space, const fs::path& path,
                     const inverse::KnownRun& run) {
  const std::size_t num_nodes = space.num_owned_nodes(), columns = dim * run.u.size();
  std::vector<double> times, table(num_nodes * columns);
  for (const auto& [time, u] : run.u) {
    for (std::size_t node = 0; node < num_nodes; ++node)
      std::copy_n(u.begin() + dim * node, dim, table.begin() + columns * node + dim * times.size());
    times.push_back(time);
  }
  if (space.comm().rank() != 0) times.clear();
  const auto write = [&](io::Hdf5Writer& file) {
    file.write_rows<double>("times", times, 1);
    file.write_rows<double>("u", node_layout(space).template to_blocks<double>(table, columns), columns);
  };
  write_arrays_aside(space.comm(), path, write, io::Durability::process);
}

template <int dim>
inverse::KnownRun read_known_run(const fem::FunctionSpace<dim>& space, const fs::path& path) {
  const io::BlockLayout nodes = node_layout(space);
  std::vector<double> times;
  const std::vector<double> block = parallel::collectively(space.comm(), [&] {
    const io::Hdf5Reader file(path);
    times = file.read_rows<double>("times", 0, file.shape("times").rows);
    const io::ArrayShape shape = file.shape("u");
    if (shape.rows != nodes.global_size() || shape.columns != dim * std::ssize(times))
      throw FileError(path.string() + ": the displacements are those of another mesh");
    return file.read_rows<double>("u", nodes.block_begin(), nodes.block_end());
  });
  const std::size_t num_nodes = space.num_owned_nodes(), columns = dim * times.size();
  const std::vector<double> table = nodes.from_blocks<double>(block, columns);
  inverse::KnownRun run;
  linalg::Vector u(space.layout());
  for (std::size_t k = 0; k < times.size(); ++k) {
    {
      const auto owned = u.write_owned();
      for (std::size_t node = 0; node < num_nodes; ++node)
        std::copy_n(table.begin() + columns * node + dim * k, dim, owned.begin() + dim * node);
    }
    u.update_ghosts();
    run.u[times[k]].assign(u.local().begin(), u.local().end());
  }
  return run;
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template void write_known_run(const fem::FunctionSpace<dim>&, const fs::path&, const inverse::KnownRun&);  \
  template inverse::KnownRun read_known_run(const fem::FunctionSpace<dim>&, const fs::path&);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::app
