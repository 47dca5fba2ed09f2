#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/fracture/fracture_folder.hpp"
#include "recoil/io/block_layout.hpp"
#include "recoil/solvers/fracture_modes/fracture_modes.hpp"

namespace recoil::app {

/// Fields from which a search starts, one number per owned element each.
using StartFields = std::vector<std::vector<double>>;

/// Files of an unfinished search: state.json, which is sealed, names one of two files with fields, and the
/// file with the starts; they do not depend on the number of ranks. All members are collective.
class SearchFiles {
public:
  /// `elements`: the elements by their input ids. All arguments must outlive it.
  SearchFiles(const parallel::Communicator& comm, const FracturePaths& paths, const io::BlockLayout& elements)
      : comm_(comm), paths_(paths), elements_(elements) {}

  /// Whether there is a state.
  bool exists() const;
  /// The starts and the state of an earlier job; the state is empty where none was written yet. @throws
  /// FileError on every rank, which says what to do, where they are damaged. @pre exists().
  StartFields read(std::optional<solvers::fracture_modes::SearchState>& state);
  /// Keeps the starts of a new search. @throws FileError on every rank.
  void write_starts(const StartFields& starts);
  /// Replaces the state. @throws FileError on every rank; the state before stays.
  void write_state(const solvers::fracture_modes::SearchState& state);
  /// Removes all of it.
  void discard() const;

private:
  void write_record(const Json& state);

  const parallel::Communicator& comm_;
  const FracturePaths& paths_;
  const io::BlockLayout& elements_;
  Json starts_;  ///< digest of the file and number of fields
  int next_ = 0; ///< which of the two files of fields is written next
};

} // namespace recoil::app
