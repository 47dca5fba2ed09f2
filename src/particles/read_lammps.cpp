#include <algorithm>
#include <cctype>
#include <optional>
#include <unordered_map>

#include "particles/set_builder.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/lookup.hpp"
#include "recoil/base/suggest.hpp"

namespace recoil::particles {

namespace {

/// Columns of the section Atoms, -1 where a style lacks one. Three images may follow the last.
struct AtomStyle {
  std::string name;
  int molecule, diameter, position, columns;
};

const std::vector<AtomStyle>& atom_styles() {
  static const std::vector<AtomStyle> all{
      {"sphere", -1, 2, 4, 7}, {"bpm/sphere", 1, 3, 5, 8}, {"bond", 1, -1, 3, 6}};
  return all;
}

struct Atom {
  std::int64_t id;
  Eigen::Vector3d position;
  double radius;
  std::string body;
  std::size_t at;
};

class LammpsReader {
public:
  LammpsReader(FileCursor& file, const ParticleFileOptions& options) : file_(file), radius_(options.radius) {}

  ParticleSet read() {
    file_.line(); // the title
    while (!file_.skip_space()) {
      start_ = file_.position();
      const std::string_view line = file_.line();
      text_ = line.substr(0, line.find('#'));
      comment_ = line.size() > text_.size() ? line.substr(text_.size() + 1) : std::string_view();
      split();
      if (words_.empty()) continue;
      if (std::isalpha(static_cast<unsigned char>(words_[0][0])))
        begin_section();
      else if (section_.empty())
        read_header();
      else if (section_ == "Atoms")
        read_atom();
      else if (section_ == "Bonds")
        read_bond();
    }
    return build();
  }

private:
  struct BondRow {
    std::array<std::int64_t, 2> ids;
    std::size_t at;
  };

  [[noreturn]] void fail(const std::string& message) const { file_.fail_at(start_, message); }
  double number(std::size_t column, const char* what) const {
    return parse_number(file_, start_, words_[column], what);
  }
  std::int64_t integer(std::size_t column, const char* what) const {
    return parse_integer(file_, start_, words_[column], what);
  }

  void split() {
    words_.clear();
    for (std::string_view rest = text_;;) {
      const auto begin = rest.find_first_not_of(" \t\r");
      if (begin == std::string_view::npos) return;
      rest.remove_prefix(begin);
      const auto end = std::min(rest.find_first_of(" \t\r"), rest.size());
      words_.push_back(rest.substr(0, end));
      rest.remove_prefix(end);
    }
  }

  /// "100 atoms", "-1 1 xlo xhi", "0 0 0 xy xz yz"; what else may be there does not matter here.
  void read_header() {
    const std::string_view last = words_.back();
    for (int axis = 0; axis < 3; ++axis)
      if (words_.size() == 4 && last == std::array{"xhi", "yhi", "zhi"}[axis])
        periods_(axis, axis) = number(1, "a side of the box") - number(0, "a side of the box");
    if (words_.size() == 6 && last == "yz") {
      periods_(0, 1) = number(0, "a tilt of the box");
      periods_(0, 2) = number(1, "a tilt of the box");
      periods_(1, 2) = number(2, "a tilt of the box");
    }
    if (words_.size() == 2 && last == "atoms") num_atoms_ = integer(0, "the number of atoms");
    if (words_.size() == 2 && last == "bonds") num_bonds_ = integer(0, "the number of bonds");
  }

  void begin_section() {
    section_.assign(words_.front().data(), words_.back().data() + words_.back().size());
    if (section_ != "Atoms") return;
    const auto first = comment_.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) return;
    const std::string name(comment_.substr(first, comment_.find_last_not_of(" \t\r") - first + 1));
    const int place = place_in(names_of(atom_styles()), name);
    if (place < 0)
      fail("atom style " + in_quotes(name) + " is not known; known are " +
           list_names(names_of(atom_styles()), "and") + ", write the data with one of them");
    style_ = &atom_styles()[place];
  }

  /// Three more columns count the images in periodic directions.
  static bool suits(const AtomStyle& style, std::size_t columns) {
    const auto count = static_cast<int>(columns);
    return count == style.columns || count == style.columns + 3;
  }

  void find_style() {
    for (const AtomStyle& style : atom_styles())
      if (suits(style, words_.size())) style_ = &style;
    if (!style_)
      fail("an atom of " + std::to_string(words_.size()) +
           " columns; atoms of style sphere have 7, of bpm/sphere 8, of bond 6, and three more with images: "
           "write the data with one of these styles");
  }

  double radius() const {
    if (style_->diameter >= 0) return number(style_->diameter, "a diameter") / 2;
    if (!radius_)
      fail("atoms of style " + style_->name +
           " have no diameter; say the radius of the particles, or write the data with style bpm/sphere");
    return *radius_;
  }

  void read_atom() {
    if (!style_) find_style();
    if (!suits(*style_, words_.size()))
      fail("an atom of " + std::to_string(words_.size()) + " columns; style " + style_->name + " has " +
           std::to_string(style_->columns) + ", or " + std::to_string(style_->columns + 3) + " with images");
    Atom atom{integer(0, "the id of an atom"), {}, radius(), body_of_file(file_), start_};
    for (int k = 0; k < 3; ++k) atom.position[k] = number(style_->position + k, "a coordinate");
    if (std::ssize(words_) > style_->columns) {
      Eigen::Vector3d images;
      for (int k = 0; k < 3; ++k)
        images[k] = static_cast<double>(integer(style_->columns + k, "the image of an atom"));
      atom.position += periods_ * images;
    }
    if (style_->molecule >= 0)
      atom.body = "molecule " + std::to_string(integer(style_->molecule, "the molecule of an atom"));
    atoms_.push_back(std::move(atom));
  }

  void read_bond() {
    if (words_.size() != 4) fail("a bond has 4 columns: number, type and the ids of two atoms");
    bonds_.push_back({{integer(2, "the id of an atom"), integer(3, "the id of an atom")}, start_});
  }

  void check_count(const char* what, std::optional<std::int64_t> announced, std::size_t found) const {
    if (announced && *announced != static_cast<std::int64_t>(found))
      file_.fail("the header announces " + std::to_string(*announced) + " " + what + ", the file has " +
                 std::to_string(found) + "; it is damaged or cut short");
  }

  ParticleSet build() {
    if (atoms_.empty()) file_.fail("the file has no atoms (section 'Atoms'); is it a LAMMPS data file?");
    check_count("atoms", num_atoms_, atoms_.size());
    check_count("bonds", num_bonds_, bonds_.size());
    std::stable_sort(atoms_.begin(), atoms_.end(), [](const Atom& a, const Atom& b) { return a.id < b.id; });
    SetBuilder builder(file_);
    std::unordered_map<std::int64_t, std::int64_t> number;
    for (const Atom& atom : atoms_) {
      if (!number.try_emplace(atom.id, builder.num_particles()).second)
        file_.fail_at(atom.at, "there are two atoms with the id " + std::to_string(atom.id));
      builder.add_particle(atom.position, atom.radius, 0, atom.body, atom.at);
    }
    for (const auto& [ids, at] : bonds_) {
      for (const std::int64_t id : ids)
        if (!number.contains(id))
          file_.fail_at(at, "a bond with atom " + std::to_string(id) + ", which does not exist");
      if (ids[0] == ids[1]) file_.fail_at(at, "a bond of atom " + std::to_string(ids[0]) + " with itself");
      builder.add_bond(file_, number.at(ids[0]), number.at(ids[1]), at);
    }
    return builder.finish(file_);
  }

  FileCursor& file_;
  std::optional<double> radius_;
  std::size_t start_ = 0; ///< of the line
  std::string_view text_, comment_;
  std::vector<std::string_view> words_;
  std::string section_;
  const AtomStyle* style_ = nullptr;
  Eigen::Matrix3d periods_ = Eigen::Matrix3d::Zero();
  std::optional<std::int64_t> num_atoms_, num_bonds_;
  std::vector<Atom> atoms_;
  std::vector<BondRow> bonds_;
};

} // namespace

ParticleSet read_lammps(FileCursor& file, const ParticleFileOptions& options) {
  return LammpsReader(file, options).read();
}

} // namespace recoil::particles
