#include "recoil/base/folder_lock.hpp"

#include <cctype>
#include <csignal>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/posix_file.hpp"
#include "recoil/base/error.hpp"

namespace recoil {

namespace {

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Empty where the lock has just gone. @throws FileError where it cannot be read.
std::string read_lock(const std::filesystem::path& file) {
  const posix::Descriptor lock = posix::open(file, O_RDONLY);
  if (!lock.ok() && errno == ENOENT) return {};
  if (!lock.ok()) posix::fail("open", file);
  return posix::read_all(lock, file);
}

std::string first_line(const std::filesystem::path& path) {
  const std::string text = read_text(path);
  return text.substr(0, text.find('\n'));
}

// The machine's boot, so that a process number from before a restart is not taken for a living one. Empty
// where the system does not tell.
std::string boot_id() { return first_line("/proc/sys/kernel/random/boot_id"); }

// State letter and start time of a process, from /proc/<pid>/stat; start is empty where the system does not
// tell.
struct ProcessState {
  char state = '?';
  std::string start;
};
ProcessState process_state(long pid) {
  const std::string text = read_text("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_end = text.rfind(')'); // the program's name may hold anything, spaces and ')' too
  ProcessState result;
  if (name_end == std::string::npos) return result;
  std::istringstream fields(text.substr(name_end + 1));
  std::string field;
  for (int index = 3; fields >> field; ++index) { // numbered as in proc(5)
    if (index == 3) result.state = field[0];
    if (index == 22) result.start = field;
  }
  return result;
}

std::string host_name() {
  char name[256] = "";
  if (::gethostname(name, sizeof name - 1) != 0) return "unknown";
  return name;
}

std::string command_line() {
  std::string text = read_text("/proc/self/cmdline").substr(0, 200);
  for (char& c : text)
    if (!std::isprint(static_cast<unsigned char>(c))) c = ' ';
  return text;
}

struct Holder {
  std::string host, boot, start, command;
  long pid = 0;
};

std::string to_text(const Holder& holder) {
  std::ostringstream text;
  text << "host " << holder.host << "\npid " << holder.pid << "\nboot " << holder.boot << "\nstart "
       << holder.start << "\ncommand " << holder.command << "\n";
  return text.str();
}

Holder from_text(const std::string& text) {
  Holder holder;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t space = line.find(' ');
    const std::string key = line.substr(0, space);
    const std::string value = space == std::string::npos ? "" : line.substr(space + 1);
    if (key == "host") holder.host = value;
    if (key == "pid") holder.pid = std::strtol(value.c_str(), nullptr, 10);
    if (key == "boot") holder.boot = value;
    if (key == "start") holder.start = value;
    if (key == "command") holder.command = value;
  }
  return holder;
}

Holder this_process() {
  const long pid = ::getpid();
  return {host_name(), boot_id(), process_state(pid).start, command_line(), pid};
}

bool is_gone(const Holder& holder) {
  if (holder.host != host_name() || holder.pid <= 0) return false;
  if (holder.boot != boot_id()) return true;
  if (::kill(static_cast<pid_t>(holder.pid), 0) != 0 && errno == ESRCH) return true;
  const ProcessState now = process_state(holder.pid);
  const bool ended = now.state == 'Z' || now.state == 'X';
  const bool another = !now.start.empty() && !holder.start.empty() && now.start != holder.start;
  return ended || another;
}

// Creates `file` with the content of `own` unless it exists: complete from the moment it appears.
bool create(const std::filesystem::path& own, const std::filesystem::path& file, const std::string& content) {
  if (::link(own.c_str(), file.c_str()) == 0) return true;
  if (errno == EEXIST) return false;
  // Some file systems know no hard links: then the content comes a moment after the name.
  const posix::Descriptor created = posix::open(file, O_WRONLY | O_CREAT | O_EXCL);
  if (!created.ok() && errno == EEXIST) return false;
  if (!created.ok()) posix::fail("write", file);
  posix::write_all(created, content, file);
  return true;
}

// Puts `own` in the place of the stale lock `stale`. Two processes that both find a stale lock are kept apart
// by flock on it; who comes second finds another file under the name. Without flock the later rename wins,
// which the caller checks.
bool take_over(const std::filesystem::path& own, const std::filesystem::path& file,
               const std::string& stale) {
  const posix::Descriptor old = posix::open(file, O_RDWR);
  if (!old.ok()) return false;
  if (::flock(old.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
  struct stat opened {
  }, named{};
  if (::fstat(old.get(), &opened) != 0 || ::stat(file.c_str(), &named) != 0) return false;
  if (opened.st_ino != named.st_ino || read_text(file) != stale) return false;
  return ::rename(own.c_str(), file.c_str()) == 0;
}

std::string held_message(const std::filesystem::path& folder, const std::filesystem::path& file,
                         const Holder& holder) {
  std::string message = "'" + folder.string() + "' is in use by ";
  if (holder.pid > 0)
    message +=
        "process " + std::to_string(holder.pid) + " on host '" + holder.host + "' (" + holder.command + ")";
  else
    message += "an unknown process";
  return message + "; choose another folder, wait for that job, or remove '" + file.string() +
         "' if it is gone";
}

} // namespace

FolderLock::FolderLock(const std::filesystem::path& folder, std::chrono::milliseconds patience)
    : file_(folder / "recoil.lock"), content_(to_text(this_process())) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored))
    throw FileError("cannot lock '" + folder.string() + "': it is no folder");
  const std::filesystem::path own = file_.string() + "." + host_name() + "." + std::to_string(::getpid());
  struct RemoveAtEnd {
    const std::filesystem::path& path;
    ~RemoveAtEnd() { ::unlink(path.c_str()); }
  } remove_own{own};
  {
    posix::Descriptor file = posix::create_anew(own);
    if (!file.ok()) posix::fail("lock the folder by writing", own);
    posix::write_all(file, content_, own);
    posix::sync(file, own);
  }
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!create(own, file_, content_)) {
    const auto kind = std::filesystem::symlink_status(file_, ignored);
    if (std::filesystem::exists(kind) && !std::filesystem::is_regular_file(kind))
      throw FileError("cannot lock '" + folder.string() + "': '" + file_.string() +
                      "' is no lock of a job, but a folder or another kind of file; remove it");
    const std::string found = read_lock(file_);
    const Holder holder = from_text(found);
    if (is_gone(holder) && take_over(own, file_, found) && read_text(file_) == content_) return;
    const bool elsewhere = holder.pid > 0 && holder.host != host_name();
    if (elsewhere || std::chrono::steady_clock::now() >= deadline)
      throw FileError(held_message(folder, file_, holder));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

FolderLock::FolderLock(FolderLock&& other) noexcept
    : file_(std::move(other.file_)), content_(std::exchange(other.content_, {})) {}

FolderLock& FolderLock::operator=(FolderLock&& other) noexcept {
  FolderLock moved(std::move(other));
  std::swap(file_, moved.file_);
  std::swap(content_, moved.content_);
  return *this;
}

FolderLock::~FolderLock() { release(); }

void FolderLock::release() noexcept {
  if (content_.empty()) return;
  try {
    if (read_text(file_) == content_) ::unlink(file_.c_str());
  } catch (const std::exception&) {
    // Out of memory: the lock stays behind and is seen to be stale.
  }
  content_.clear();
}

} // namespace recoil
