#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "recoil/fem/function_space.hpp"
#include "recoil/inverse/reduced_objective.hpp"

/// Known runs in files, with rows by canonical node ids: any number of ranks can read them, and no bit is
/// lost.
namespace recoil::app {

/// The name of the file of an experiment's run with the given name.
std::string known_run_file(int experiment, const std::string& run);

/// Removes the files of all runs of an experiment in `folder`, those of unfinished writes among them, save
/// the `kept`. What cannot be removed does no harm. On one rank.
void remove_known_runs_but(const std::filesystem::path& folder, int experiment,
                           const std::vector<std::string>& kept);

/// Replaces `path` atomically. It is not forced to the disk: where the machine fails, a run starts without
/// it. Collective. @throws FileError on every rank.
template <int dim>
void write_known_run(const fem::FunctionSpace<dim>& space, const std::filesystem::path& path,
                     const inverse::KnownRun& run);

/// Collective. @throws FileError on every rank, also where the file is of another mesh.
template <int dim>
inverse::KnownRun read_known_run(const fem::FunctionSpace<dim>& space, const std::filesystem::path& path);

} // namespace recoil::app
