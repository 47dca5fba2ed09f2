#include "recoil/base/run_program.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recoil/base/error.hpp"

namespace recoil {

namespace {

/// Prefixes of variables that MPI launchers and batch systems tell ranks with.
constexpr std::array launcher_prefixes{"OMPI_",  "PMIX_",  "PMI_",   "PRTE_",
                                       "PRRTE_", "SLURM_", "HYDRA_", "MPI_"};

std::vector<char*> environment_without_launcher() {
  std::vector<char*> kept;
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (std::ranges::none_of(launcher_prefixes, [&](const char* prefix) {
          return std::string_view(*variable).starts_with(prefix);
        }))
      kept.push_back(*variable);
  kept.push_back(nullptr);
  return kept;
}

struct FileActions {
  FileActions() { posix_spawn_file_actions_init(&actions); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  ~FileActions() { posix_spawn_file_actions_destroy(&actions); }
  posix_spawn_file_actions_t actions{};
};

} // namespace

int run_program(const std::vector<std::string>& command, const std::filesystem::path& output) {
  const int file = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) throw FileError(output.string() + ": cannot be written: " + std::strerror(errno));
  FileActions files;
  posix_spawn_file_actions_addopen(&files.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files.actions, file, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files.actions, file, STDERR_FILENO);
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  std::vector<char*> environment = environment_without_launcher();
  pid_t process = 0;
  const int failed =
      posix_spawnp(&process, arguments[0], &files.actions, nullptr, arguments.data(), environment.data());
  close(file);
  if (failed != 0)
    throw InputError("the program '" + command[0] + "' cannot be run: " + std::strerror(failed));
  int status = 0;
  while (waitpid(process, &status, 0) < 0)
    if (errno != EINTR)
      throw Error(ExitCode::internal, "waiting for '" + command[0] + "': " + std::strerror(errno));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

} // namespace recoil
