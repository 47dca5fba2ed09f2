#include <algorithm>

#include "particles/bond_columns.hpp"
#include "particles/set_builder.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/lookup.hpp"
#include "recoil/base/suggest.hpp"

namespace recoil::particles {

namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// Rows of cells between commas, below a header.
class CsvTable {
public:
  CsvTable(FileCursor& file, const std::vector<std::string>& needed, const std::vector<std::string>& optional)
      : file_(&file) {
    if (!next()) file.fail("the file has no header; its first line must be " + list_names(needed, "and"));
    std::vector<std::string> known = needed;
    known.insert(known.end(), optional.begin(), optional.end());
    for (const std::string_view cell : cells_) {
      header_.push_back(in_lower_case(std::string(cell)));
      if (!holds(known, header_.back()))
        file.fail_at(start_, "unknown column " + in_quotes(cell) + did_you_mean(header_.back(), known) +
                                 "; the header names " + list_names(known, "and"));
      if (std::ranges::count(header_, header_.back()) > 1)
        file.fail_at(start_, "the header has column " + header_.back() + " twice");
    }
    for (const std::string& name : needed)
      if (!has(name)) file.fail_at(start_, "the header has no column " + name);
  }

  bool has(const std::string& name) const { return holds(header_, name); }

  /// Goes to the next row; false at the end.
  bool next_row() {
    if (!next()) return false;
    if (cells_.size() != header_.size())
      file_->fail_at(start_, "the row has " + std::to_string(cells_.size()) + " cells; the header has " +
                                 std::to_string(header_.size()));
    return true;
  }
  std::size_t start() const { return start_; }
  std::string_view text(const std::string& name) const { return cells_[place_in(header_, name)]; }
  double number(const std::string& name) const {
    return parse_number(*file_, start_, text(name), name.c_str());
  }
  std::int64_t integer(const std::string& name) const {
    return parse_integer(*file_, start_, text(name), name.c_str());
  }

private:
  bool next() {
    do {
      if (file_->skip_space()) return false;
      start_ = file_->position();
      line_ = file_->line();
    } while (line_.starts_with('#'));
    cells_.clear();
    for (std::string_view rest = line_;;) {
      const auto comma = rest.find(',');
      cells_.push_back(trimmed(rest.substr(0, comma)));
      if (comma == std::string_view::npos) return true;
      rest.remove_prefix(comma + 1);
    }
  }

  FileCursor* file_;
  std::size_t start_ = 0; ///< of the line
  std::string_view line_;
  std::vector<std::string> header_;
  std::vector<std::string_view> cells_;
};

/// Says that a column, which `name` describes, has a value in this row that it must not have.
[[noreturn]] void fail_in(const FileCursor& file, const CsvTable& table, const char* column,
                          const std::string& name, const std::string& range) {
  file.fail_at(table.start(), name + " is " + std::string(table.text(column)) + "; it must be " + range);
}

double positive_number(const FileCursor& file, const CsvTable& table, const char* column,
                       const std::string& name) {
  const double value = table.number(column);
  if (!(value > 0)) fail_in(file, table, column, name, "positive");
  return value;
}

double ratio_number(const FileCursor& file, const CsvTable& table, const char* column,
                    const std::string& name) {
  const double value = table.number(column);
  if (!(value > -1 && value < 0.5)) fail_in(file, table, column, name, "between -1 and 0.5");
  return value;
}

/// The name of a column as the reader has it.
std::string key_of(const BondColumn& column) { return in_lower_case(column.name); }

BondConstants constants_in(const FileCursor& file, const CsvTable& table) {
  BondConstants constants;
  for (const BondColumn& column : bond_columns) {
    const std::string key = key_of(column);
    if (!table.has(key)) continue;
    constants.*column.constant = column.is_ratio
                                     ? ratio_number(file, table, key.c_str(), column.description)
                                     : positive_number(file, table, key.c_str(), column.description);
  }
  return constants;
}

} // namespace

ParticleSet read_csv(FileCursor& file, const ParticleFileOptions& options) {
  std::vector<std::string> needed{"x", "y", "z"}, optional{"body", "volume"};
  (options.radius ? optional : needed).push_back("radius");
  CsvTable table(file, needed, optional);
  SetBuilder builder(file);
  while (table.next_row()) {
    const std::string body = table.has("body") ? std::string(table.text("body")) : body_of_file(file);
    if (body.empty()) file.fail_at(table.start(), "the name of the body is empty");
    builder.add_particle({table.number("x"), table.number("y"), table.number("z")},
                         table.has("radius") ? table.number("radius") : *options.radius,
                         table.has("volume") ? positive_number(file, table, "volume", "the volume") : 0, body,
                         table.start());
  }
  if (builder.num_particles() == 0) file.fail("the file has no particles below its header");
  if (!options.bonds) return builder.finish(file);
  const std::string content = read_input_file(*options.bonds);
  FileCursor bonds_file = begin_of_text(content, *options.bonds);
  std::vector<std::string> constants;
  for (const BondColumn& column : bond_columns) constants.push_back(key_of(column));
  CsvTable bonds(bonds_file, {"i", "j"}, constants);
  if (std::ranges::any_of(constants, [&](const std::string& name) { return bonds.has(name); }))
    builder.keep_constants();
  while (bonds.next_row())
    builder.add_bond(bonds_file, bonds.integer("i"), bonds.integer("j"), bonds.start(),
                     constants_in(bonds_file, bonds));
  return builder.finish(bonds_file);
}

} // namespace recoil::particles
