#include <bit>
#include <cmath>
#include <map>
#include <optional>

#include "particles/set_builder.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/suggest.hpp"

namespace recoil::particles {

namespace {

/// Cells in compressed rows.
struct Cells {
  std::vector<std::int64_t> offsets{0}, points;
};

/// Numbers of cell types in VTK.
constexpr std::int64_t vertex_cell = 1, poly_vertex_cell = 2, line_cell = 3, poly_line_cell = 4;

class VtkReader {
public:
  VtkReader(FileCursor& file, const ParticleFileOptions& options) : file_(file), radius_(options.radius) {}

  ParticleSet read() {
    read_header();
    while (!file_.skip_space()) {
      start_ = file_.position();
      read_block(word("a keyword"));
    }
    return build();
  }

private:
  [[noreturn]] void fail(const std::string& message) const { file_.fail_at(start_, message); }

  std::string_view word(const char* what) {
    const std::string_view text = file_.word();
    if (text.empty()) file_.fail(std::string("the file ends before ") + what + "; it is cut short");
    return text;
  }

  void read_header() {
    start_ = file_.position();
    const std::string_view first = file_.line();
    constexpr std::string_view magic = "# vtk DataFile Version ";
    if (!first.starts_with(magic))
      fail("the first line is not '# vtk DataFile Version ..': the file is no legacy VTK file (.vtk)");
    const std::string_view version = first.substr(magic.size());
    major_version_ = parse_integer(file_, start_, version.substr(0, version.find('.')), "the version");
    if (major_version_ < 1 || major_version_ > 5)
      fail("version " + std::string(version) + " of legacy VTK is not known; write version 5.1 or lower");
    file_.line(); // the title
    start_ = file_.position();
    const std::string format = in_lower_case(std::string(file_.line()));
    if (format != "ascii" && format != "binary") fail("the third line must be ASCII or BINARY");
    binary_ = format == "binary";
    file_.set_swapped(std::endian::native == std::endian::little); // the format is big-endian
  }

  void read_block(std::string_view keyword) {
    if (keyword == "DATASET") {
      const std::string_view type = word("the type of the data set");
      if (type != "POLYDATA" && type != "UNSTRUCTURED_GRID")
        fail("a data set " + in_quotes(type) + "; particles are POLYDATA or UNSTRUCTURED_GRID");
    } else if (keyword == "POINTS") {
      const std::size_t count = file_.count("points", 1);
      const std::string type(word("the type of the coordinates"));
      points_ = values(type, 3 * count, "coordinates");
    } else if (keyword == "LINES" || keyword == "CELLS") {
      (keyword == "LINES" ? lines_ : cells_) = read_cells();
      cells_at_ = start_;
    } else if (keyword == "VERTICES") {
      read_cells();
    } else if (keyword == "CELL_TYPES") {
      cell_types_ = integers(values("int", file_.count("cell types", 1), "cell types"));
    } else if (keyword == "POINT_DATA" || keyword == "CELL_DATA") {
      of_points_ = keyword == "POINT_DATA";
      tuples_ = file_.count("values", 1);
      if (of_points_ && 3 * tuples_ != points_.size())
        fail("data of " + std::to_string(tuples_) + " points; the file has " +
             std::to_string(points_.size() / 3));
    } else if (keyword == "METADATA") {
      skip_metadata();
    } else {
      read_attribute(keyword);
    }
  }

  void read_attribute(std::string_view keyword) {
    static const std::map<std::string_view, std::size_t> widths{{"VECTORS", 3},    {"NORMALS", 3},
                                                                {"TENSORS", 9},    {"TENSORS6", 6},
                                                                {"GLOBAL_IDS", 1}, {"PEDIGREE_IDS", 1}};
    if (keyword == "FIELD") {
      read_field();
    } else if (keyword == "SCALARS") {
      const std::string name(word("a name")), type(word("a type"));
      const std::size_t width = file_.skip_blanks() ? 1 : file_.count("components", 1);
      file_.line();
      if (file_.peek_word() == "LOOKUP_TABLE") file_.line();
      keep(name, width, values_here(type, width * tuples_, "scalars"));
    } else if (keyword == "LOOKUP_TABLE") {
      word("a name");
      values(binary_ ? "unsigned_char" : "float", 4 * file_.count("colours", 1), "colours");
    } else if (const auto found = widths.find(keyword); found != widths.end()) {
      const std::string name(word("a name")), type(word("a type"));
      keep(name, found->second, values(type, found->second * tuples_, "an attribute"));
    } else {
      fail("unknown keyword " + in_quotes(keyword) +
           "; points with lines as bonds and point data 'radius' are read, polygons are not");
    }
  }

  /// Skips metadata, which end with an empty line.
  void skip_metadata() {
    file_.line();
    while (file_.remaining() > 0 && !file_.line().empty()) continue;
  }

  void read_field() {
    word("a name");
    for (std::size_t array = file_.count("arrays", 1); array > 0; --array) {
      start_ = file_.skip_space() ? start_ : file_.position();
      const std::string name(word("the name of an array"));
      if (name == "METADATA") {
        skip_metadata();
        ++array;
        continue;
      }
      const std::size_t width = file_.count("components", 1);
      const std::size_t tuples = file_.count("values", 1);
      const std::string type(word("a type"));
      if (of_points_ && tuples != tuples_)
        fail("array " + in_quotes(name) + " has " + std::to_string(tuples) + " values, there are " +
             std::to_string(tuples_) + " points");
      keep(name, width, values(type, width * tuples, "an array"));
    }
  }

  void keep(const std::string& name, std::size_t width, std::vector<double> values) {
    const std::string key = in_lower_case(name);
    if (!of_points_ || (key != "radius" && key != "body" && key != "volume")) return;
    if (width != 1)
      fail("point data " + in_quotes(name) + " has " + std::to_string(width) + " components, not one");
    data_[key] = std::move(values);
    data_at_[key] = start_;
  }

  /// Rows of "n p_1 .. p_n", or since version 5 offsets and points of their own.
  Cells read_cells() {
    std::size_t rows = file_.count("cells", 1);
    const std::size_t size = file_.count("numbers of cells", 1);
    Cells cells;
    if (major_version_ >= 5) {
      if (rows == 0) return cells;
      cells.offsets = read_part("OFFSETS", rows);
      cells.points = read_part("CONNECTIVITY", size);
      for (std::size_t k = 0; k < rows; ++k)
        if (cells.offsets[k] < (k > 0 ? cells.offsets[k - 1] : 0) || cells.offsets[0] != 0 ||
            cells.offsets.back() != std::ssize(cells.points))
          fail("the offsets of the cells do not ascend from 0 to " + std::to_string(size));
      return cells;
    }
    const std::vector<std::int64_t> list = integers(values("int", size, "cells"));
    std::size_t next = 0;
    for (; rows > 0; --rows) {
      const std::int64_t count = next < list.size() ? list[next++] : -1;
      if (count < 0 || count > std::ssize(list) - static_cast<std::int64_t>(next))
        fail("the cells do not fill their size " + std::to_string(size) + "; the file is damaged");
      cells.points.insert(cells.points.end(), list.begin() + next, list.begin() + next + count);
      cells.offsets.push_back(std::ssize(cells.points));
      next += count;
    }
    return cells;
  }

  std::vector<std::int64_t> read_part(const char* keyword, std::size_t count) {
    if (word(keyword) != keyword) fail(std::string("cells without ") + keyword + "; the file is damaged");
    const std::string type(word("a type"));
    return integers(values(type, count, "cells"));
  }

  std::vector<std::int64_t> integers(const std::vector<double>& values) const {
    std::vector<std::int64_t> result;
    for (const double value : values) {
      if (value != std::floor(value) || std::abs(value) > 9e15) fail("a number of a point is no integer");
      result.push_back(static_cast<std::int64_t>(value));
    }
    return result;
  }

  /// The values below the line that is being read.
  std::vector<double> values(const std::string& type, std::size_t count, const char* what) {
    file_.line();
    return values_here(type, count, what);
  }

  std::vector<double> values_here(const std::string& type, std::size_t count, const char* what) {
    if (!binary_ || type == "string") return text_values(type, count, what);
    if (type == "float") return binary_values<float>(count, what);
    if (type == "double") return binary_values<double>(count, what);
    if (type == "char") return binary_values<std::int8_t>(count, what);
    if (type == "unsigned_char") return binary_values<std::uint8_t>(count, what);
    if (type == "short") return binary_values<std::int16_t>(count, what);
    if (type == "unsigned_short") return binary_values<std::uint16_t>(count, what);
    if (type == "int" || type == "vtkIdType") return binary_values<std::int32_t>(count, what);
    if (type == "unsigned_int") return binary_values<std::uint32_t>(count, what);
    if (type == "long" || type == "vtktypeint64") return binary_values<std::int64_t>(count, what);
    if (type == "unsigned_long" || type == "vtktypeuint64") return binary_values<std::uint64_t>(count, what);
    fail("values of type " + in_quotes(type) + " are not read; write them as float, double, int or long");
  }

  std::vector<double> text_values(const std::string& type, std::size_t count, const char* what) {
    if (type == "string") fail("arrays of strings are not read; leave them out of the file");
    check_size(count, 2, what);
    std::vector<double> result(count);
    for (double& value : result) value = file_.number(what);
    return result;
  }

  template <class T>
  std::vector<double> binary_values(std::size_t count, const char* what) {
    check_size(count, sizeof(T), what);
    file_.set_binary(true);
    std::vector<double> result(count);
    for (double& value : result) {
      value = static_cast<double>(file_.binary<T>(what));
      if (!std::isfinite(value)) file_.fail(std::string("a value of ") + what + " is not finite");
    }
    file_.set_binary(false);
    return result;
  }

  void check_size(std::size_t count, std::size_t bytes, const char* what) const {
    if (count > (file_.remaining() + 1) / bytes)
      fail(std::to_string(count) + " values of " + what + " are more than the rest of the file (" +
           std::to_string(file_.remaining()) + " bytes) can hold; it is damaged or cut short");
  }

  const std::vector<double>* data(const std::string& name) const {
    const auto found = data_.find(name);
    return found == data_.end() ? nullptr : &found->second;
  }

  void add_polyline(SetBuilder& builder, const Cells& cells, std::size_t cell) const {
    for (std::int64_t k = cells.offsets[cell] + 1; k < cells.offsets[cell + 1]; ++k)
      builder.add_bond(file_, cells.points[k - 1], cells.points[k], cells_at_);
  }

  void add_bonds(SetBuilder& builder) const {
    for (std::size_t line = 0; line + 1 < lines_.offsets.size(); ++line) add_polyline(builder, lines_, line);
    if (cell_types_.size() + 1 != cells_.offsets.size())
      file_.fail_at(cells_at_, "there are " + std::to_string(cells_.offsets.size() - 1) + " cells and " +
                                   std::to_string(cell_types_.size()) + " types of cells");
    for (std::size_t cell = 0; cell < cell_types_.size(); ++cell) {
      const std::int64_t type = cell_types_[cell];
      if (type == vertex_cell || type == poly_vertex_cell) continue;
      if (type != line_cell && type != poly_line_cell)
        file_.fail_at(cells_at_, "cell " + std::to_string(cell) + " is of type " + std::to_string(type) +
                                     "; bonds are lines (3) or polylines (4), vertices (1, 2) are skipped");
      add_polyline(builder, cells_, cell);
    }
  }

  ParticleSet build() {
    if (points_.empty()) file_.fail("the file has no points (POINTS)");
    const std::vector<double>*radius = data("radius"), *body = data("body"), *volume = data("volume");
    if (!radius && !radius_)
      file_.fail(
          "the file has no point data 'radius'; add it (POINT_DATA, SCALARS radius double 1), or say the "
          "radius of the particles");
    SetBuilder builder(file_);
    for (std::size_t i = 0; 3 * i < points_.size(); ++i) {
      if (volume && !((*volume)[i] > 0))
        file_.fail_at(data_at_.at("volume"), "the volume of point " + std::to_string(i) + " is not positive");
      if (body && (*body)[i] != std::floor((*body)[i]))
        file_.fail_at(data_at_.at("body"), "the body of point " + std::to_string(i) + " is no integer");
      builder.add_particle({points_[3 * i], points_[3 * i + 1], points_[3 * i + 2]},
                           radius ? (*radius)[i] : *radius_, volume ? (*volume)[i] : 0,
                           body ? "body " + std::to_string(static_cast<std::int64_t>((*body)[i]))
                                : body_of_file(file_),
                           radius ? data_at_.at("radius") : start_);
    }
    add_bonds(builder);
    return builder.finish(file_);
  }

  FileCursor& file_;
  std::optional<double> radius_;
  std::int64_t major_version_ = 0;
  bool binary_ = false, of_points_ = false;
  std::size_t start_ = 0; ///< of the block that is being read
  std::size_t tuples_ = 0, cells_at_ = 0;
  std::vector<double> points_;
  Cells lines_, cells_;
  std::vector<std::int64_t> cell_types_;
  std::map<std::string, std::vector<double>> data_;
  std::map<std::string, std::size_t> data_at_;
};

} // namespace

ParticleSet read_vtk(FileCursor& file, const ParticleFileOptions& options) {
  return VtkReader(file, options).read();
}

} // namespace recoil::particles
