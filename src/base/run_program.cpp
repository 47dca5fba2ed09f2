#include "recoil/base/run_program.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <string_view>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recoil/base/error.hpp"
#include "recoil/base/signals.hpp"

namespace recoil {

namespace {

using Clock = std::chrono::steady_clock;

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

/// The program leads a process group of its own, so that what it starts ends with it, and blocks no signals.
struct SpawnAttributes {
  SpawnAttributes() {
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(&attributes, 0);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
  }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  ~SpawnAttributes() { posix_spawnattr_destroy(&attributes); }
  posix_spawnattr_t attributes{};
};

/// While one lives, the signals of a terminal wait: they would end this process and leave the program, which
/// is in another group, running. They take effect at the end of this life.
class TerminalSignals {
public:
  TerminalSignals() {
    sigemptyset(&held_);
    for (const int number : numbers) sigaddset(&held_, number);
    pthread_sigmask(SIG_BLOCK, &held_, &mask_before_);
  }
  TerminalSignals(const TerminalSignals&) = delete;
  TerminalSignals& operator=(const TerminalSignals&) = delete;
  ~TerminalSignals() { pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr); }

  bool pending() const {
    sigset_t waiting;
    sigpending(&waiting);
    return std::ranges::any_of(numbers, [&](int number) { return sigismember(&waiting, number) == 1; });
  }

private:
  static constexpr std::array numbers{SIGINT, SIGHUP, SIGQUIT};
  sigset_t held_, mask_before_;
};

/// Whether the process has ended, with its status.
bool has_ended(pid_t process, const std::string& name, int& status) {
  const pid_t found = waitpid(process, &status, WNOHANG);
  if (found < 0 && errno != EINTR)
    throw Error(ExitCode::internal, "waiting for '" + name + "': " + std::strerror(errno));
  return found == process;
}

/// Ends the group of a process: at first so that it may tidy up.
void end_group(pid_t process, const std::string& name) {
  int status = 0;
  kill(-process, SIGTERM);
  const auto patience = Clock::now() + std::chrono::seconds(2);
  bool ended = false;
  while (!(ended = has_ended(process, name, status)) && Clock::now() < patience)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  kill(-process, SIGKILL);
  while (!ended && waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
}

} // namespace

int run_program(const std::vector<std::string>& command, const std::filesystem::path& output,
                double time_limit) {
  const int file = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (file < 0) throw FileError(output.string() + ": cannot be written: " + std::strerror(errno));
  FileActions files;
  posix_spawn_file_actions_addopen(&files.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files.actions, file, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files.actions, file, STDERR_FILENO);
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  std::vector<char*> environment = environment_without_launcher();
  const SpawnAttributes attributes;
  const InterruptSignals signals;
  const TerminalSignals terminal;
  pid_t process = 0;
  const int failed = posix_spawnp(&process, arguments[0], &files.actions, &attributes.attributes,
                                  arguments.data(), environment.data());
  close(file);
  if (failed != 0)
    throw InputError("the program '" + command[0] + "' cannot be run: " + std::strerror(failed));
  const auto started = Clock::now();
  int status = 0;
  // Short programs are not kept waiting.
  for (auto pause = std::chrono::milliseconds(1); !has_ended(process, command[0], status);
       pause = std::min(2 * pause, std::chrono::milliseconds(50))) {
    if (signals.pending() || terminal.pending()) {
      end_group(process, command[0]);
      throw Error(ExitCode::interrupted,
                  "a signal has come while '" + command[0] + "' was at work, which was ended");
    }
    if (std::chrono::duration<double>(Clock::now() - started).count() > time_limit) {
      end_group(process, command[0]);
      throw TimeLimitError("'" + command[0] + "' was ended: it has worked longer than its time limit, " +
                           std::to_string(std::lround(time_limit)) + " s");
    }
    std::this_thread::sleep_for(pause);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

} // namespace recoil
