#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "app/fracture/fracture_folder.hpp"
#include "app/fracture/fracture_jobs.hpp"
#include "recoil/app/fracture/fracture.hpp"
#include "recoil/base/log.hpp"

namespace recoil::app {

namespace {

namespace fs = std::filesystem;

constexpr const char* record_name = "of_pieces.json";

/// The number in "piece_<k>.obj".
std::optional<int> number_of_piece(const std::string& name) {
  constexpr std::string_view before = "piece_", after = ".obj";
  if (!name.starts_with(before) || !name.ends_with(after)) return {};
  const char* const begin = name.data() + before.size();
  const char* const end = name.data() + name.size() - after.size();
  int number = 0;
  const auto [stop, error] = std::from_chars(begin, end, number);
  if (error != std::errc() || stop != end || begin == end || number < 0) return {};
  return number;
}

/// Numbers of the pieces in a folder, ascending, on every rank. @throws InputError where there are none.
std::vector<int> numbers_of_pieces(const parallel::Communicator& comm, const fs::path& folder) {
  std::vector<int> numbers = parallel::collectively(comm, [&] {
    std::vector<int> found;
    if (comm.rank() != 0) return found;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error))
      if (const auto number = number_of_piece(entry.path().filename().string())) found.push_back(*number);
    if (error)
      throw InputError(folder.string(),
                       "cannot be listed (" + error.message() +
                           "); --of-pieces wants a folder with piece_0.obj, piece_1.obj, ..");
    if (found.empty())
      throw InputError(folder.string(),
                       "has no files piece_0.obj, piece_1.obj, ..; --of-pieces wants a folder "
                       "of `recoil impact` such as pieces/fractured_0");
    std::ranges::sort(found);
    return found;
  });
  comm.broadcast(numbers);
  return numbers;
}

/// @throws FileError on every rank where it is damaged.
Json read_record(const parallel::Communicator& comm, const fs::path& root) {
  const SealedJson record = read_sealed_json(comm, root / record_name);
  if (!record.content)
    throw FileError(
        (root / record_name).string() +
        ": the file is damaged: its checksum is another one; put a sound copy of it in its place, "
        "or start again in a new folder");
  return *record.content;
}

fs::path folder_of_piece(const fs::path& root, int number) {
  return root / ("piece_" + std::to_string(number));
}

ExitCode work_on_pieces(const parallel::Communicator& comm, const fs::path& root, const Json& record,
                        const ConsoleOptions& console, const Interrupts& interrupts) {
  const std::string whole = record.at("shape");
  const fs::path pieces = record.at("folder").get<std::string>();
  for (const Json& entry : record.at("pieces")) {
    const int number = entry;
    const fs::path folder = folder_of_piece(root, number);
    const fs::path surface = pieces / ("piece_" + std::to_string(number) + ".obj");
    const ExitCode code =
        is_fracture_folder(comm, folder)
            ? continue_fracture(comm, folder, console, interrupts)
            : begin_fracture(comm, shape_of_piece(comm, whole, surface), folder, console, interrupts);
    if (code != ExitCode::done) return code;
  }
  return ExitCode::done;
}

} // namespace

ExitCode begin_pieces(const parallel::Communicator& comm, const std::string& whole, const fs::path& pieces,
                      const fs::path& output, const ConsoleOptions& console, const Interrupts& interrupts) {
  const Json record{{"shape", whole},
                    {"folder", fs::absolute(pieces).lexically_normal().string()},
                    {"pieces", numbers_of_pieces(comm, pieces)}};
  const auto folder = checkpoint::RunFolder::create(comm, output, [](const fs::directory_entry& entry) {
    return entry.path().filename().string().starts_with("recoil.lock") ||
           checkpoint::is_file_or_part(entry, record_name);
  });
  write_sealed_json(comm, output / record_name, record);
  return work_on_pieces(comm, output, record, console, interrupts);
}

ExitCode continue_pieces(const parallel::Communicator& comm, const fs::path& root,
                         const ConsoleOptions& console, const Interrupts& interrupts) {
  std::optional<FolderLock> lock;
  parallel::collectively(comm, [&] {
    if (comm.rank() == 0) lock.emplace(root);
  });
  return work_on_pieces(comm, root, read_record(comm, root), console, interrupts);
}

bool are_pieces(const parallel::Communicator& comm, const fs::path& root) {
  std::error_code error;
  return comm.any(comm.rank() == 0 && fs::exists(root / record_name, error) &&
                  !fs::exists(FracturePaths{root}.shape(), error));
}

RunReport describe_pieces(const parallel::Communicator& comm, const fs::path& root) {
  RunReport report{root.string() + "\n"};
  const Json record = read_record(comm, root);
  for (const Json& entry : record.at("pieces")) {
    const fs::path folder = folder_of_piece(root, entry.get<int>());
    RunReport of_piece{folder.string() + "\nnot begun; continue with `recoil fracture --restart " +
                       root.string() + "`\n"};
    if (is_fracture_folder(comm, folder)) of_piece = describe_fracture(comm, folder);
    report.text += of_piece.text;
    report.sound = report.sound && of_piece.sound;
  }
  return report;
}

} // namespace recoil::app
