#include "app/study/sweep_checkpoint.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "app/study/sweep_files.hpp"
#include "recoil/base/crc32.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {

namespace {

using Json = nlohmann::ordered_json;

/// Tells this partition from another one.
template <int dim>
std::int64_t fingerprint(const DiscreteScene<dim>& discrete) {
  const auto& mesh = discrete.mesh();
  std::uint32_t crc = crc32(std::as_bytes(std::span(mesh.cell_ids)));
  crc = crc32(std::as_bytes(std::span(mesh.vertex_ids)), crc);
  return crc32(std::as_bytes(std::span(discrete.obstacles().vertex_ids)), crc);
}

std::string array_of(std::size_t objective, GlobalIndex id, const char* name) {
  return fmt::format("pending/{}/{}/{}", objective, id, name);
}

linalg::Vector read_vector(const io::Hdf5Reader& file, const std::string& name, const io::BlockLayout& nodes,
                           const std::shared_ptr<const linalg::VectorLayout>& layout) {
  const std::vector<double> block = parallel::collectively(nodes.communicator(), [&] {
    const io::ArrayShape shape = file.shape(name);
    if (shape.rows != nodes.global_size() || shape.columns != layout->block_size)
      throw FileError("the array '" + name + "' belongs to another mesh");
    return file.read_rows<double>(name, nodes.block_begin(), nodes.block_end());
  });
  return {layout, nodes.from_blocks<double>(block, layout->block_size)};
}

/// Which vectors are pending, per objective.
Json describe(const std::vector<adjoint::ReverseSweep::PendingOfState>& pending) {
  Json result = Json::array();
  for (const auto& of_objective : pending) {
    Json states = Json::array();
    for (const auto& [id, waiting] : of_objective)
      states.push_back({{"id", id}, {"weights", waiting.has_weights}, {"previous", waiting.has_previous}});
    result.push_back(std::move(states));
  }
  return result;
}

std::vector<adjoint::ReverseSweep::PendingOfState>
read_pending(const io::Hdf5Reader& file, const Json& described, const io::BlockLayout& nodes,
             const std::shared_ptr<const linalg::VectorLayout>& layout) {
  std::vector<adjoint::ReverseSweep::PendingOfState> result(described.size());
  for (std::size_t k = 0; k < described.size(); ++k)
    for (const Json& state : described[k]) {
      const GlobalIndex id = state.at("id");
      const auto vector = [&](const char* name) {
        return read_vector(file, array_of(k, id, name), nodes, layout);
      };
      adjoint::ReverseSweep::Pending& waiting = result[k][id];
      waiting.has_weights = state.at("weights");
      waiting.has_previous = state.at("previous");
      if (waiting.has_weights) {
        waiting.weighted_p = vector("p");
        waiting.weighted_mu = vector("mu");
      }
      if (waiting.has_previous) waiting.previous = vector("previous");
    }
  return result;
}

/// Names of the arrays that are not zero on all ranks.
std::vector<std::string> nonzero(const parallel::Communicator& comm,
                                 const std::vector<inverse::GatheredArray>& gathered) {
  std::vector<std::string> names;
  for (const inverse::GatheredArray& array : gathered)
    if (!comm.all(std::ranges::all_of(array.entries, [](double entry) { return entry == 0; })))
      names.push_back(array.name);
  return names;
}

std::string gathered_array(const std::string& name) { return "gathered/" + name; }

/// Puts back what the ranks have written one after the other. False if the partition was another one.
template <int dim>
bool read_gathered(const io::Hdf5Reader& file, const std::vector<std::string>& names,
                   const DiscreteScene<dim>& discrete, std::vector<inverse::GatheredArray> gathered) {
  const parallel::Communicator& comm = *discrete.mesh().comm;
  const auto mine = parallel::collectively(
      comm, [&] { return file.read_rows<std::int64_t>("partition", comm.rank(), comm.rank() + 1); });
  if (!comm.all(mine[0] == fingerprint(discrete))) return false;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(gathered, name, &inverse::GatheredArray::name);
    if (found == gathered.end()) return false;
    const GlobalIndex count = std::ssize(found->entries), begin = comm.exclusive_scan(count);
    if (comm.sum(count) != file.shape(gathered_array(name)).rows) return false;
    std::ranges::copy(
        parallel::collectively(
            comm, [&] { return file.read_rows<double>(gathered_array(name), begin, begin + count); }),
        found->entries.begin());
  }
  return true;
}

} // namespace

template <int dim>
void write_sweep_checkpoint(const ExperimentFolder& folder, inverse::ProblemSweep& at,
                            const DiscreteScene<dim>& discrete, const io::BlockLayout& nodes,
                            const SweepProgress& progress) {
  const parallel::Communicator& comm = nodes.communicator();
  const std::vector<inverse::GatheredArray> gathered = at.adjoint().gathered();
  const std::vector<std::string> written = nonzero(comm, gathered);
  const Json about{{"status", "running"},
                   {"next", at.sweep().next()},
                   {"ranks", comm.size()},
                   {"pending", describe(at.sweep().pending())},
                   {"gathered", written},
                   {"linear_iterations", progress.linear_iterations},
                   {"largest_relative_residual", progress.largest_relative_residual},
                   {"objective_correction", progress.objective_correction},
                   {"seconds", progress.seconds}};
  write_sweep_file(comm, folder, fmt::format("sweep_{}.h5", at.sweep().next()), about,
                   [&](io::Hdf5Writer& file) {
                     for (std::size_t k = 0; k < at.sweep().pending().size(); ++k)
                       for (const auto& [id, waiting] : at.sweep().pending()[k]) {
                         const auto write = [&](const char* name, const linalg::Vector& vector) {
                           file.write_rows<double>(array_of(k, id, name),
                                                   nodes.to_blocks<double>(vector.owned(), dim), dim);
                         };
                         if (waiting.has_weights) {
                           write("p", waiting.weighted_p);
                           write("mu", waiting.weighted_mu);
                         }
                         if (waiting.has_previous) write("previous", waiting.previous);
                       }
                     const std::array mine{fingerprint(discrete)};
                     file.write_rows<std::int64_t>("partition", mine, 1);
                     for (const auto& [name, entries] : gathered)
                       if (std::ranges::find(written, name) != written.end())
                         file.write_rows<double>(gathered_array(name), entries, 1);
                   });
}

template <int dim>
bool read_sweep_checkpoint(const ExperimentFolder& folder, inverse::ProblemSweep& at,
                           const DiscreteScene<dim>& discrete, const io::BlockLayout& nodes,
                           SweepProgress& progress, std::string& why) {
  const parallel::Communicator& comm = nodes.communicator();
  const std::optional<SweepFile> found = read_sweep_file(comm, folder, why);
  if (!found) return false;
  try {
    const Json& about = found->about;
    if (about.at("status") != "running") return false;
    if (about.at("ranks") != comm.size()) {
      why = fmt::format("its checkpoint is of {} ranks, and there are {}", about.at("ranks").get<int>(),
                        comm.size());
      return false;
    }
    const auto file =
        parallel::collectively(comm, [&] { return std::make_shared<const io::Hdf5Reader>(found->arrays); });
    if (!read_gathered(*file, about.at("gathered"), discrete, at.adjoint().gathered())) {
      why = "its checkpoint is of another partition of the mesh";
      return false;
    }
    at.sweep().resume(about.at("next"),
                      read_pending(*file, about.at("pending"), nodes, discrete.space().layout()));
    progress = {about.at("linear_iterations"), about.at("largest_relative_residual"),
                about.at("objective_correction"), about.at("seconds")};
    return true;
  } catch (const nlohmann::json::exception& wrong) {
    why = folder.sweep().string() + ": " + wrong.what();
  } catch (const FileError& unreadable) {
    why = unreadable.what();
  }
  return false;
}

template void write_sweep_checkpoint(const ExperimentFolder&, inverse::ProblemSweep&, const DiscreteScene<2>&,
                                     const io::BlockLayout&, const SweepProgress&);
template void write_sweep_checkpoint(const ExperimentFolder&, inverse::ProblemSweep&, const DiscreteScene<3>&,
                                     const io::BlockLayout&, const SweepProgress&);
template bool read_sweep_checkpoint(const ExperimentFolder&, inverse::ProblemSweep&, const DiscreteScene<2>&,
                                    const io::BlockLayout&, SweepProgress&, std::string&);
template bool read_sweep_checkpoint(const ExperimentFolder&, inverse::ProblemSweep&, const DiscreteScene<3>&,
                                    const io::BlockLayout&, SweepProgress&, std::string&);

} // namespace recoil::app
