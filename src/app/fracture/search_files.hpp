#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/fracture/fracture_folder.hpp"
#include "recoil/io/block_layout.hpp"
#include "recoil/solvers/fracture_modes/fracture_modes.hpp"

namespace recoil::app {

/// Fields of one number, or equally many, per owned element each.
using ElementFields = std::vector<std::vector<double>>;

/// What a search starts from.
struct SearchStarts {
  ElementFields eigenvectors;
  std::optional<ElementFields> scalar_modes; ///< known; vector or full modes are looked for
  ElementFields strains;                     ///< StrainModes::fields, of full modes
  double strain_eigenvalue = 0;              ///< the least one with strain
};

/// Files of an unfinished search: state.json, which is sealed, names one of two files with fields, and the
/// files with the starts; they do not depend on the number of ranks. All members are collective.
class SearchFiles {
public:
  /// `elements`: the elements by their input ids. All arguments must outlive it.
  SearchFiles(const parallel::Communicator& comm, const FracturePaths& paths, const io::BlockLayout& elements)
      : comm_(comm), paths_(paths), elements_(elements) {}

  /// Whether there is a state.
  bool exists() const;
  /// The starts and the state of an earlier job; the state is empty where none was written yet. @throws
  /// FileError on every rank, which says what to do, where they are damaged. @pre exists().
  SearchStarts read(std::optional<solvers::fracture_modes::SearchState>& state);
  /// Keeps the starts of a new search. @throws FileError on every rank.
  void write_eigenvectors(const ElementFields& fields);
  /// Keeps all but the eigenvectors: a search for vector or full modes begins. @throws FileError on every
  /// rank.
  void write_second(const SearchStarts& starts);
  /// Replaces the state. @throws FileError on every rank; the state before stays.
  void write_state(const solvers::fracture_modes::SearchState& state);
  /// Removes all of it.
  void discard() const;

private:
  [[noreturn]] void refuse(const std::filesystem::path& file, const std::string& damage) const;
  Json write_fields_of(const std::filesystem::path& path, const ElementFields& fields);
  ElementFields read_fields_of(const std::filesystem::path& path, const Json& recorded);
  void write_record(const Json& state);

  const parallel::Communicator& comm_;
  const FracturePaths& paths_;
  const io::BlockLayout& elements_;
  Json eigenvectors_, scalar_modes_, strains_; ///< digests of the files and numbers of fields; null: none
  int next_ = 0;                               ///< which of the two files of fields is written next
};

} // namespace recoil::app
