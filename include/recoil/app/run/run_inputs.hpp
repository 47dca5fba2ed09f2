#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "recoil/app/scene/scene.hpp"
#include "recoil/checkpoint/trajectory_reader.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::app {

/// The files that a run of `scene` reads: meshes, selections and material data.
std::vector<std::filesystem::path> input_files(const Scene& scene);

/// CRC-32 of each file by its path, null for one that is not there, as the first rank finds them. Collective.
/// @throws FileError on every rank for a file that cannot be read.
nlohmann::ordered_json digests_of(const parallel::Communicator& comm,
                                  const std::vector<std::filesystem::path>& files);

/// @throws InputError on every rank that names the first file whose checksum is no longer the one in
/// `digests`, of digests_of(); `whose`: what was begun with it, such as "the run". FileError as above.
/// Collective.
void require_unchanged(const parallel::Communicator& comm, const nlohmann::ordered_json& digests,
                       const std::string& whose);

/// @throws FileError on every rank if a file that recoil wrote into a folder has not the checksum `digest`
/// that the file `record` holds; `more` is put behind what it says to do. Collective.
void require_undamaged(const parallel::Communicator& comm, const std::filesystem::path& file,
                       const nlohmann::ordered_json& digest, const std::filesystem::path& record,
                       const std::string& more = {});

/// What a run is begun with, for its trajectory to keep: checksums of the resolved scene, of the `files` that
/// it reads, and of the values, if any, that a study puts in the place of those of the scene. Collective.
nlohmann::ordered_json run_inputs(const parallel::Communicator& comm, const std::filesystem::path& scene,
                                  const std::vector<std::filesystem::path>& files,
                                  std::optional<std::uint32_t> study_values = {});

/// What the trajectory of a run of `scene` keeps: the solver, its scheme, the version and the `inputs` of
/// run_inputs(), as JSON text.
std::string run_metadata(const Scene& scene, int dim, const nlohmann::ordered_json& inputs);

/// What run_inputs() has said of the run of a trajectory. @throws FileError if the trajectory does not tell.
nlohmann::ordered_json inputs_of(const checkpoint::TrajectoryReader& trajectory);

/// Looks whether a run can be continued with the inputs that it was begun with; the result is the checksum of
/// the values of its study, if it has one. Collective. @throws as require_undamaged(), require_unchanged()
/// and inputs_of().
std::optional<std::uint32_t> require_run_inputs(const parallel::Communicator& comm,
                                                const std::filesystem::path& scene,
                                                const std::filesystem::path& trajectory,
                                                const std::string& whose = "the run");

} // namespace recoil::app
