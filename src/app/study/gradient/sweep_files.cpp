#include "app/study/gradient/sweep_files.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <system_error>

#include <fmt/format.h>

#include "recoil/app/run/run_inputs.hpp"
#include "recoil/app/study/fields/written_values.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/log.hpp"

namespace recoil::app {

namespace fs = std::filesystem;

namespace {

/// What the sweep of an experiment has last written: `about`, and arrays in a file whose digest holds.
struct SweepFile {
  Json about;
  std::shared_ptr<const io::Hdf5Reader> arrays;
};

constexpr int format_version = 4;

/// Digests of all that a sweep depends on. The folder may be moved; hence no paths in it.
Json digests_of_inputs(const parallel::Communicator& comm, const ExperimentFolder& folder) {
  const fs::path manifest = folder.trajectory() / "manifest.json";
  const auto own = digests_of(comm, {folder.study, folder.scene(), manifest});
  Json inputs = {{"study", own.at(folder.study.string())},
                 {"scene", own.at(folder.scene().string())},
                 {"trajectory", own.at(manifest.string())}};
  inputs.update(folder.inputs);
  return inputs;
}

/// Names of what is in one of two lists of digests with another value than in the other.
std::string differences(const Json& then, const Json& now) {
  std::string names;
  const auto add = [&](const std::string& name) { names += (names.empty() ? "" : ", ") + name; };
  for (const auto& [name, digest] : then.items())
    if (!now.contains(name) || now.at(name) != digest) add(name);
  for (const auto& [name, digest] : now.items())
    if (!then.contains(name)) add(name);
  return names;
}

/// Removes all arrays but those of `name`. What cannot be removed does no harm.
void remove_others(const ExperimentFolder& folder, const std::string& name) {
  std::error_code error;
  for (fs::directory_iterator entry(folder.root, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string found = entry->path().filename().string();
    std::error_code ignored;
    if (found.starts_with("sweep_") && found != name) fs::remove(entry->path(), ignored);
  }
}

/// Replaces what the sweep has written before; the `name` of the new file is another one than that of the
/// last.
void write_sweep_file(const parallel::Communicator& comm, const ExperimentFolder& folder,
                      const std::string& name, Json about,
                      const std::function<void(io::Hdf5Writer&)>& write_arrays) {
  write_arrays_aside(comm, folder.root / name, write_arrays);
  const io::FileDigest digest = io::digest(comm, folder.root / name);
  const Json content{
      {"format", "recoil sweep"}, {"version", format_version},  {"file", name},
      {"bytes", digest.bytes},    {"file_crc32", digest.crc32}, {"inputs", digests_of_inputs(comm, folder)},
      {"about", std::move(about)}};
  write_sealed_json(comm, folder.sweep(), content);
  if (comm.rank() == 0) remove_others(folder, name);
}

/// What write_sweep_file() has written last; none where nothing was, or where it cannot be used: then `why`
/// says what is wrong.
std::optional<SweepFile> read_sweep_file(const parallel::Communicator& comm, const ExperimentFolder& folder,
                                         std::string& why) {
  const SealedJson sealed = read_sealed_json(comm, folder.sweep());
  if (!sealed.exists) return {};
  if (!sealed.content) {
    why = folder.sweep().string() + " is damaged";
    return {};
  }
  try {
    const Json& content = *sealed.content;
    if (content.at("format") != "recoil sweep" || content.at("version") != format_version) {
      why = folder.sweep().string() + " was written in another format or version";
      return {};
    }
    if (const std::string changed = differences(content.at("inputs"), digests_of_inputs(comm, folder));
        !changed.empty()) {
      why = folder.sweep().string() + " was written with another " + changed;
      return {};
    }
    const fs::path arrays = folder.root / content.at("file").get<std::string>();
    const io::FileDigest expected{content.at("bytes"), content.at("file_crc32")};
    if (io::digest(comm, arrays) == expected) {
      const auto open = [&] { return std::make_shared<const io::Hdf5Reader>(arrays); };
      return SweepFile{content.at("about"), parallel::collectively(comm, open)};
    }
    why = arrays.string() + " is damaged";
  } catch (const FileError& unreadable) {
    why = unreadable.what();
  } catch (const nlohmann::json::exception& wrong) {
    why = folder.sweep().string() + ": " + wrong.what();
  }
  return {};
}

std::string gradient_array(std::size_t field) { return fmt::format("gradient/{}", field); }

std::string pending_array(std::size_t objective, GlobalIndex id, const char* name) {
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

/// The description of the pending vectors, per objective.
Json describe(const parallel::Communicator& comm,
              const std::vector<adjoint::ReverseSweep::PendingOfState>& pending) {
  Json result = Json::array();
  for (const auto& of_objective : pending) {
    Json states = Json::array();
    for (const auto& [id, waiting] : of_objective)
      states.push_back({{"id", id},
                        {"weights", waiting.has_weights},
                        {"previous", waiting.has_previous},
                        {"internal", comm.any(!waiting.internal.empty())}});
    result.push_back(std::move(states));
  }
  return result;
}

/// What the ranks have written one after the other, on the same partition: `count` numbers of this rank.
std::vector<double> read_own(const parallel::Communicator& comm, const io::Hdf5Reader& file,
                             const std::string& name, GlobalIndex count) {
  const GlobalIndex begin = comm.exclusive_scan(count), total = comm.sum(count);
  return parallel::collectively(comm, [&] {
    if (file.shape(name).rows != total) throw FileError("the array '" + name + "' belongs to another mesh");
    return file.read_rows<double>(name, begin, begin + count);
  });
}

std::vector<adjoint::ReverseSweep::PendingOfState> read_pending(const io::Hdf5Reader& file,
                                                                const Json& described,
                                                                const io::BlockLayout& nodes,
                                                                stepping::Solver& solver) {
  const auto layout = solver.tangent_layout();
  std::vector<adjoint::ReverseSweep::PendingOfState> result(described.size());
  for (std::size_t k = 0; k < described.size(); ++k)
    for (const Json& state : described[k]) {
      const GlobalIndex id = state.at("id");
      const auto vector = [&](const char* name) {
        return read_vector(file, pending_array(k, id, name), nodes, layout);
      };
      adjoint::ReverseSweep::Pending& waiting = result[k][id];
      waiting.has_weights = state.at("weights");
      waiting.has_previous = state.at("previous");
      if (waiting.has_weights) {
        waiting.weighted_p = vector("p");
        waiting.weighted_mu = vector("mu");
      }
      if (waiting.has_previous) waiting.previous = vector("previous");
      if (state.at("internal").get<bool>())
        waiting.internal = read_own(nodes.communicator(), file, pending_array(k, id, "internal"),
                                    std::ssize(solver.history().newest().internal));
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
bool read_gathered(const io::Hdf5Reader& file, const std::vector<std::string>& names,
                   const parallel::Communicator& comm, const ExperimentProblem& problem,
                   std::vector<inverse::GatheredArray> gathered) {
  const auto mine = parallel::collectively(
      comm, [&] { return file.read_rows<std::int64_t>("partition", comm.rank(), comm.rank() + 1); });
  if (!comm.all(mine[0] == problem.fingerprint())) return false;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(gathered, name, &inverse::GatheredArray::name);
    if (found == gathered.end()) return false;
    const GlobalIndex count = std::ssize(found->entries);
    if (comm.sum(count) != file.shape(gathered_array(name)).rows) return false;
    std::ranges::copy(read_own(comm, file, gathered_array(name), count), found->entries.begin());
  }
  return true;
}

} // namespace

void write_sweep_checkpoint(const ExperimentFolder& folder, inverse::ProblemSweep& at,
                            ExperimentProblem& problem, const io::BlockLayout& nodes,
                            const SweepResult& so_far) {
  const parallel::Communicator& comm = nodes.communicator();
  const std::vector<inverse::GatheredArray> gathered = at.adjoint().gathered();
  const std::vector<std::string> written = nonzero(comm, gathered);
  const int columns = problem.solver().tangent_layout()->block_size;
  Json about{{"status", "running"},
             {"next", at.sweep().next()},
             {"ranks", comm.size()},
             {"pending", describe(comm, at.sweep().pending())},
             {"gathered", written}};
  about.update(Json(nlohmann::json(so_far)));
  write_sweep_file(comm, folder, fmt::format("sweep_{}.h5", at.sweep().next()), about,
                   [&](io::Hdf5Writer& file) {
                     for (std::size_t k = 0; k < at.sweep().pending().size(); ++k)
                       for (const auto& [id, waiting] : at.sweep().pending()[k]) {
                         const auto write = [&](const char* name, const linalg::Vector& vector) {
                           file.write_rows<double>(pending_array(k, id, name),
                                                   nodes.to_blocks<double>(vector.owned(), columns), columns);
                         };
                         if (waiting.has_weights) {
                           write("p", waiting.weighted_p);
                           write("mu", waiting.weighted_mu);
                         }
                         if (waiting.has_previous) write("previous", waiting.previous);
                         if (comm.any(!waiting.internal.empty()))
                           file.write_rows<double>(pending_array(k, id, "internal"), waiting.internal, 1);
                       }
                     const std::array mine{problem.fingerprint()};
                     file.write_rows<std::int64_t>("partition", mine, 1);
                     for (const auto& [name, entries] : gathered)
                       if (holds(written, name)) file.write_rows<double>(gathered_array(name), entries, 1);
                   });
}

bool read_sweep_checkpoint(const ExperimentFolder& folder, inverse::ProblemSweep& at,
                           ExperimentProblem& problem, const io::BlockLayout& nodes, SweepResult& so_far,
                           std::string& why) {
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
    if (!read_gathered(*found->arrays, about.at("gathered"), comm, problem, at.adjoint().gathered())) {
      why = "its checkpoint is of another partition of the mesh";
      return false;
    }
    at.sweep().resume(about.at("next"),
                      read_pending(*found->arrays, about.at("pending"), nodes, problem.solver()));
    so_far = nlohmann::json(about).get<SweepResult>();
    return true;
  } catch (const nlohmann::json::exception& wrong) {
    why = folder.sweep().string() + ": " + wrong.what();
  } catch (const FileError& unreadable) {
    why = unreadable.what();
  }
  return false;
}

void write_sweep_result(const ExperimentFolder& folder, const ExperimentModel& model,
                        const ForwardResult& forward, const SweepResult& sweep) {
  Json about{{"status", "done"},
             {"objective", forward.objective},
             {"terms", forward.terms},
             {"newton_iterations", forward.newton_iterations},
             {"forward_seconds", forward.seconds}};
  about.update(Json(nlohmann::json(sweep)));
  write_sweep_file(model.comm(), folder, "sweep_done.h5", std::move(about), [&](io::Hdf5Writer& file) {
    for (std::size_t k = 0; k < sweep.values.size(); ++k)
      model.write_values(file, gradient_array(k), k, sweep.values[k]);
  });
}

std::optional<std::pair<ForwardResult, SweepResult>> read_sweep_result(const ExperimentFolder& folder,
                                                                       const ExperimentModel& model) {
  std::string why; // for the message when the sweep starts again from the end
  const std::optional<SweepFile> found = read_sweep_file(model.comm(), folder, why);
  if (!found) return {};
  try {
    const Json& about = found->about;
    if (about.at("status") != "done") return {};
    ForwardResult forward;
    about.at("objective").get_to(forward.objective);
    about.at("terms").get_to(forward.terms);
    about.at("newton_iterations").get_to(forward.newton_iterations);
    about.at("forward_seconds").get_to(forward.seconds);
    forward.is_swept = true;
    auto sweep = nlohmann::json(about).get<SweepResult>();
    for (std::size_t k = 0; k < model.parameters().size(); ++k)
      sweep.values.push_back(model.read_values(*found->arrays, gradient_array(k), k));
    return std::pair(forward, sweep);
  } catch (const nlohmann::json::exception& wrong) {
    log_warning(fmt::format("{}: the sweep is repeated: {}", model.name(), wrong.what()));
  } catch (const FileError& unreadable) {
    log_warning(fmt::format("{}: the sweep is repeated: {}", model.name(), unreadable.what()));
  }
  return {};
}

} // namespace recoil::app
