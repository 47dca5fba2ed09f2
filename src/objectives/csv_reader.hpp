#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "recoil/base/units.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::objectives {

/// What the numbers of a column are, which decides the units that it may have.
enum class ColumnKind { text, time, length, strain, force };

/// A column that a file may have.
struct Column {
  std::string name;
  ColumnKind kind;
};

/// A CSV file as instruments and spreadsheets export it: comma, semicolon or tab between the cells, whichever
/// the header has; decimals have a point, or a comma where that separates no cells; empty lines and lines
/// that begin with # are skipped. The header is the first line that is left, `name`, `name [unit]` or `name
/// (unit)` for each column; numbers with a unit are converted.
class CsvReader {
public:
  /// Reads file and header. Collective; only rank 0 touches the file. @throws InputError "file:line: .." on
  /// every rank.
  /// @param units to which numbers with a unit are converted.
  CsvReader(const parallel::Communicator& comm, const std::filesystem::path& path, UnitSystem units = {});

  /// Says which columns the file must have, in any order, and of which further lists it may have one; others
  /// are refused, and units that do not belong to a column or that only some columns of a kind have.
  void expect(const std::vector<Column>& columns, const std::vector<std::vector<Column>>& one_of);
  bool has(const std::string& name) const;
  /// Gives columns of a file that has names of its own those of this program, before expect(); columns that
  /// are not named are passed over. @param names pairs of the written and the new name, which the file may
  /// lack.
  /// @param unit of the renamed columns that have none; empty: none. @returns the columns that are passed
  /// over.
  std::vector<std::string> rename(const std::vector<std::pair<std::string, std::string>>& names,
                                  const std::string& unit);
  /// The number of a column, for what follows. @pre has(name).
  std::size_t find(const std::string& name) const;

  /// Goes to the next row; false at the end.
  bool next();
  std::string_view text(std::size_t column) const { return cells_[column]; }
  /// The number in a cell; nothing where it is empty or NaN. @throws InputError for anything else.
  std::optional<double> number_or_gap(std::size_t column) const;
  /// The number in a column; a gap is refused.
  double number(std::size_t column) const;

  /// @throws InputError at the line that was read last.
  [[noreturn]] void fail(const std::string& message) const;
  const std::string& name() const { return name_; }
  /// The line that was read last, counted from 1.
  int line() const { return line_; }

private:
  struct HeaderCell {
    std::string name, unit; ///< as written; empty: none
    bool has_unit = false, is_passed_over = false;
    double factor = 1; ///< units of the result per unit
  };

  bool next_line(std::string_view& line);
  void split(std::string_view line);
  std::optional<double> parsed(std::string_view cell) const;
  void read_header();
  void take_unit(HeaderCell& cell, const Column& column) const;
  void require_units_of_all(const std::vector<Column>& known) const;

  UnitSystem units_;
  std::string text_, name_;
  std::size_t position_ = 0;
  int line_ = 0;
  char separator_ = ',';
  std::vector<HeaderCell> header_;
  std::vector<std::string_view> cells_;
};

} // namespace recoil::objectives
