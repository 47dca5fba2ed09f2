#include "objectives/csv_reader.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "recoil/base/error.hpp"
#include "recoil/base/lookup.hpp"
#include "recoil/base/suggest.hpp"

namespace recoil::objectives {

namespace {

struct ColumnUnit {
  const char* name;
  double factor; ///< SI per unit
};

/// What the numbers of a column without a unit are in, in SI.
const char* si_unit_of(ColumnKind kind) {
  if (kind == ColumnKind::time) return "s";
  if (kind == ColumnKind::length) return "m";
  return kind == ColumnKind::force ? "N" : "1";
}

/// What is written with a Greek mu is looked up with u.
const std::vector<ColumnUnit>& units_of(ColumnKind kind) {
  static const std::map<ColumnKind, std::vector<ColumnUnit>> all{
      {ColumnKind::text, {}},
      {ColumnKind::time, {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {"min", 60}}},
      {ColumnKind::length,
       {{"m", 1}, {"cm", 1e-2}, {"mm", 1e-3}, {"um", 1e-6}, {"nm", 1e-9}, {"km", 1e3}, {"in", 0.0254}}},
      {ColumnKind::strain,
       {{"1", 1}, {"-", 1}, {"m/m", 1}, {"mm/mm", 1}, {"%", 1e-2}, {"mm/m", 1e-3}, {"um/m", 1e-6}}},
      {ColumnKind::force,
       {{"N", 1}, {"mN", 1e-3}, {"uN", 1e-6}, {"kN", 1e3}, {"MN", 1e6}, {"lbf", 4.4482216152605}}}};
  return all.at(kind);
}

std::string with_latin_mu(const std::string& unit) {
  for (const std::string_view mu : {"\xc2\xb5", "\xce\xbc", "\xb5"})
    if (unit.starts_with(mu)) return "u" + unit.substr(mu.size());
  return unit;
}

std::string read_everywhere(const parallel::Communicator& comm, const std::filesystem::path& path) {
  std::string text;
  parallel::collectively(comm, [&] {
    if (comm.rank() != 0) return;
    std::error_code error;
    if (std::filesystem::is_directory(path, error))
      throw InputError(path.string() + ":1: is a folder, not a CSV file");
    std::ifstream file(path, std::ios::binary);
    if (!file) throw InputError(path.string() + ":1: the file does not exist or cannot be read");
    text.assign(std::istreambuf_iterator<char>(file), {});
    if (file.bad()) throw InputError(path.string() + ":1: the file cannot be read");
  });
  comm.broadcast(text);
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
    throw InputError(path.string() + ":1: the file is UTF-16; save it as UTF-8, which CSV files are in");
  // Spreadsheets begin UTF-8 with a mark.
  constexpr std::string_view mark = "\xef\xbb\xbf";
  return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::string_view without_quotes(std::string_view cell) {
  const bool quoted = cell.size() > 1 && cell.front() == '"' && cell.back() == '"';
  return quoted ? trimmed(cell.substr(1, cell.size() - 2)) : cell;
}

bool is_nan(std::string_view cell) {
  const auto lower = [](char c) -> char { return c >= 'A' && c <= 'Z' ? c + 32 : c; };
  return std::ranges::equal(cell, std::string_view("nan"), {}, lower);
}

/// nothing where the cell is no finite number with a decimal point.
std::optional<double> parsed_with_point(std::string_view cell) {
  if (cell.starts_with('+') && !cell.starts_with("+-")) cell.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  const bool whole = error == std::errc() && end == cell.data() + cell.size();
  return whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::string header_of(const std::vector<Column>& columns) {
  return fmt::format("{}", fmt::join(names_of(columns), ","));
}

std::string units_listed(ColumnKind kind) { return list_names(names_of(units_of(kind)), "and"); }

} // namespace

CsvReader::CsvReader(const parallel::Communicator& comm, const std::filesystem::path& path, UnitSystem units)
    : units_(std::move(units)), text_(read_everywhere(comm, path)), name_(path.string()) {
  read_header();
}

std::optional<double> CsvReader::parsed(std::string_view cell) const {
  const auto comma = cell.find(',');
  if (comma == std::string_view::npos || cell.find_first_of(".,", comma + 1) != std::string_view::npos ||
      cell.find('.') != std::string_view::npos)
    return parsed_with_point(cell);
  std::string with_point(cell);
  with_point[comma] = '.';
  return parsed_with_point(with_point);
}

bool CsvReader::next_line(std::string_view& line) {
  while (position_ < text_.size()) {
    const auto end = std::min(text_.find('\n', position_), text_.size());
    line = std::string_view(text_).substr(position_, end - position_);
    position_ = end + 1;
    ++line_;
    const std::string_view content = trimmed(line);
    if (!content.empty() && content.front() != '#') return true;
  }
  return false;
}

void CsvReader::split(std::string_view line) {
  cells_.clear();
  for (;;) {
    const auto end = line.find(separator_);
    cells_.push_back(without_quotes(trimmed(line.substr(0, end))));
    if (end == std::string_view::npos) return;
    line.remove_prefix(end + 1);
  }
}

void CsvReader::read_header() {
  std::string_view line;
  if (!next_line(line)) fail("the file has no header, a line such as 'time [s], x [mm], y [mm]'");
  for (const char separator : {'\t', ';'})
    if (line.find(separator) != std::string_view::npos) {
      separator_ = separator;
      break;
    }
  split(line);
  if (cells_.back().empty()) cells_.pop_back();
  if (std::ranges::all_of(cells_, [&](auto cell) { return parsed(cell).has_value(); }))
    fail("there are numbers where the header is expected, a line such as 'time [s], x [mm], y [mm]'; lines "
         "that begin with # are skipped");
  for (const std::string_view cell : cells_) {
    HeaderCell& column = header_.emplace_back();
    const auto open = cell.find_first_of("[(");
    column.name = trimmed(cell.substr(0, open));
    if (open == std::string_view::npos) continue;
    if (cell.back() != (cell[open] == '[' ? ']' : ')'))
      fail("'" + std::string(cell) + "' is no column; write 'name', 'name [unit]' or 'name (unit)'");
    column.has_unit = true;
    column.unit = trimmed(cell.substr(open + 1, cell.size() - open - 2));
  }
}

bool CsvReader::has(const std::string& name) const { return find(name) < header_.size(); }

std::size_t CsvReader::find(const std::string& name) const {
  return std::ranges::find_if(
             header_, [&](const HeaderCell& cell) { return !cell.is_passed_over && cell.name == name; }) -
         header_.begin();
}

std::vector<std::string> CsvReader::rename(const std::vector<std::pair<std::string, std::string>>& names,
                                           const std::string& unit) {
  std::vector<std::string> passed_over;
  for (HeaderCell& cell : header_) {
    const auto named = std::ranges::find(names, cell.name, &std::pair<std::string, std::string>::first);
    cell.is_passed_over = named == names.end();
    if (cell.is_passed_over) {
      passed_over.push_back(cell.name);
      continue;
    }
    cell.name = named->second;
    if (cell.has_unit || unit.empty() || cell.name == "time") continue;
    cell.unit = unit;
    cell.has_unit = true;
  }
  return passed_over;
}

void CsvReader::take_unit(HeaderCell& cell, const Column& column) const {
  if (!cell.has_unit) return;
  const auto& units = units_of(column.kind);
  if (units.empty()) fail("column '" + cell.name + "' holds no numbers and has no unit; leave it out");
  const auto found = std::ranges::find(units, with_latin_mu(cell.unit),
                                       [](const ColumnUnit& unit) { return std::string(unit.name); });
  if (found == units.end())
    fail("'" + cell.unit + "' is no unit of column '" + cell.name +
         "'; known here: " + units_listed(column.kind));
  cell.factor = found->factor * units_.per(si_unit_of(column.kind));
}

void CsvReader::expect(const std::vector<Column>& columns, const std::vector<std::vector<Column>>& one_of) {
  std::string expected = "the columns are '" + header_of(columns) + "'";
  std::vector<Column> known = columns;
  for (std::size_t i = 0; i < one_of.size(); ++i) {
    expected += (i == 0 ? ", with or without '" : " or '") + header_of(one_of[i]) + "'";
    known.insert(known.end(), one_of[i].begin(), one_of[i].end());
  }
  const std::vector<std::string> names = names_of(known);
  for (auto cell = header_.begin(); cell != header_.end(); ++cell) {
    if (cell->is_passed_over) continue;
    const auto column = std::ranges::find(known, cell->name, &Column::name);
    if (column == known.end())
      fail("there is no use for column '" + cell->name + "'" + did_you_mean(cell->name, names) + "; " +
           expected);
    if (std::find_if(header_.begin(), cell,
                     [&](auto& other) { return !other.is_passed_over && other.name == cell->name; }) != cell)
      fail("column '" + cell->name + "' stands there twice; keep one");
    take_unit(*cell, *column);
  }
  const auto missing = [&](const Column& column) { return !has(column.name); };
  if (const auto none = std::ranges::find_if(columns, missing); none != columns.end())
    fail("column '" + none->name + "' is missing; " + expected);
  int lists = 0;
  for (const auto& list : one_of) {
    const auto absent = std::ranges::count_if(list, missing);
    lists += absent < std::ssize(list) ? 1 : 0;
    if (absent > 0 && absent < std::ssize(list))
      fail("column '" + std::ranges::find_if(list, missing)->name + "' is missing; " + expected);
  }
  if (lists > 1) fail("there are two kinds of the same; " + expected);
  require_units_of_all(known);
}

/// A file in millimetres whose sd says nothing would be taken for metres.
void CsvReader::require_units_of_all(const std::vector<Column>& known) const {
  std::map<ColumnKind, const HeaderCell*> first;
  for (const HeaderCell& cell : header_) {
    if (cell.is_passed_over) continue;
    const ColumnKind kind = std::ranges::find(known, cell.name, &Column::name)->kind;
    const HeaderCell& other = *first.emplace(kind, &cell).first->second;
    if (other.has_unit == cell.has_unit) continue;
    const auto& [with, without] = cell.has_unit ? std::pair(cell, other) : std::pair(other, cell);
    fail("column '" + with.name + "' has the unit '" + with.unit + "' and column '" + without.name +
         "' none; write the unit of both");
  }
}

bool CsvReader::next() {
  std::string_view line;
  while (next_line(line)) {
    split(line);
    if (std::ranges::all_of(cells_, &std::string_view::empty)) continue;
    while (cells_.size() > header_.size() && cells_.back().empty()) cells_.pop_back();
    if (cells_.size() != header_.size())
      fail("the row has " + std::to_string(cells_.size()) + " columns, the header " +
           std::to_string(header_.size()) +
           (separator_ == ',' && cells_.size() > header_.size()
                ? "; numbers are written with a decimal point, and commas separate them"
                : ""));
    return true;
  }
  return false;
}

std::optional<double> CsvReader::number_or_gap(std::size_t column) const {
  const std::string_view cell = cells_[column];
  if (cell.empty() || is_nan(cell)) return std::nullopt;
  if (const auto value = parsed(cell)) return *value * header_[column].factor;
  fail("'" + std::string(cell) + "' in column '" + header_[column].name + "' is not a finite number" +
       (cell.find(',') != std::string_view::npos ? "; write a decimal point, and nothing between thousands"
                                                 : ""));
}

double CsvReader::number(std::size_t column) const {
  const auto value = number_or_gap(column);
  if (!value)
    fail("'" + std::string(cells_[column]) + "' in column '" + header_[column].name +
         "' is not a finite number, and only what is observed may be missing");
  return *value;
}

void CsvReader::fail(const std::string& message) const {
  throw InputError(name_ + ":" + std::to_string(std::max(line_, 1)), message);
}

} // namespace recoil::objectives
