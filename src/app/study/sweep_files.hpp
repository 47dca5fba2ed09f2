#pragma once

#include <functional>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "app/study/study_folder.hpp"
#include "recoil/io/hdf5_file.hpp"

namespace recoil::app {

/// What the sweep of an experiment has last written: `about`, and arrays in a file whose digest holds.
struct SweepFile {
  nlohmann::ordered_json about;
  std::filesystem::path arrays;
};

/// Replaces what the sweep has written before: arrays into a file of their own, aside, synced and renamed,
/// then sweep.json, which names it with its digest and with those of study, scene, trajectory
/// and of `folder.inputs`.
/// @param name of the new file, other than that of the last one. Collective. @throws FileError on every rank.
void write_sweep_file(const parallel::Communicator& comm, const ExperimentFolder& folder,
                      const std::string& name, nlohmann::ordered_json about,
                      const std::function<void(io::Hdf5Writer&)>& write_arrays);

/// What write_sweep_file() has written last; none where nothing was, or where it cannot be used: then `why`
/// says what is wrong. Collective.
std::optional<SweepFile> read_sweep_file(const parallel::Communicator& comm, const ExperimentFolder& folder,
                                         std::string& why);

} // namespace recoil::app
