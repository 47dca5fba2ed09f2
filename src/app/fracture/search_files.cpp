#include "app/fracture/search_files.hpp"

#include <algorithm>
#include <span>
#include <system_error>

#include "recoil/base/error.hpp"

namespace recoil::app {

namespace {

namespace fs = std::filesystem;
using solvers::fracture_modes::SearchState;

/// Rows that the first rank has, for Hdf5Writer::write_rows().
template <class T>
std::span<const T> of_first(const parallel::Communicator& comm, const std::vector<T>& rows) {
  return comm.rank() == 0 ? std::span<const T>(rows) : std::span<const T>();
}

template <class T>
void write_elements(io::Hdf5Writer& file, const io::BlockLayout& elements, const std::string& name,
                    const std::vector<T>& values, int columns = 1) {
  const std::vector<T> block = elements.to_blocks<T>(values, columns);
  file.write_rows<T>(name, block, columns);
}

template <class T>
std::vector<T> read_elements(const io::Hdf5Reader& file, const io::BlockLayout& elements,
                             const std::string& name, int columns = 1) {
  const std::vector<T> block = parallel::collectively(elements.communicator(), [&] {
    return file.read_rows<T>(name, elements.block_begin(), elements.block_end());
  });
  return elements.from_blocks<T>(block, columns);
}

constexpr int field_numbers = 4; // energy, gap, iterations, start

/// Numbers per element of a field: more than one of motions.
int columns_of(const io::BlockLayout& elements, const std::vector<double>& field) {
  const GlobalIndex rows = std::max<GlobalIndex>(elements.owned_size(), 1);
  return static_cast<int>(elements.communicator().max(static_cast<GlobalIndex>(field.size()) / rows));
}

std::vector<double> read_field(const io::Hdf5Reader& file, const io::BlockLayout& elements,
                               const std::string& name) {
  const int columns =
      parallel::collectively(elements.communicator(), [&] { return file.shape(name).columns; });
  return read_elements<double>(file, elements, name, columns);
}

void write_fields(io::Hdf5Writer& file, const io::BlockLayout& elements, const std::string& name,
                  const std::vector<SearchState::Field>& fields) {
  std::vector<double> numbers;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const SearchState::Field& field = fields[i];
    write_elements(file, elements, name + "/" + std::to_string(i), field.values,
                   columns_of(elements, field.values));
    numbers.insert(numbers.end(), {field.energy, field.gap, double(field.iterations), double(field.start)});
  }
  if (!fields.empty())
    file.write_rows<double>(name + "/numbers", of_first(elements.communicator(), numbers), field_numbers);
}

std::vector<SearchState::Field> read_fields(const io::Hdf5Reader& file, const io::BlockLayout& elements,
                                            const std::string& name, int count) {
  std::vector<SearchState::Field> fields;
  if (count == 0) return fields;
  const std::vector<double> numbers = parallel::collectively(
      elements.communicator(), [&] { return file.read_rows<double>(name + "/numbers", 0, count); });
  for (int i = 0; i < count; ++i) {
    const double* row = numbers.data() + std::size_t(i) * field_numbers;
    fields.push_back({read_field(file, elements, name + "/" + std::to_string(i)), row[0], row[1],
                      static_cast<int>(row[2]), static_cast<int>(row[3])});
  }
  return fields;
}

Json counts_of(const SearchState& state) {
  return {{"modes", state.modes.size()},        {"dropped", state.dropped.size()},
          {"searches", state.searches},         {"descents", state.descents},
          {"best", state.best.size()},          {"cuts", state.cut_weights.size()},
          {"cuts_of_best", state.cuts_of_best}, {"tentative", state.tentative.size()}};
}

SearchState read_search_state(const io::Hdf5Reader& file, const io::BlockLayout& elements,
                              const Json& counts) {
  SearchState state;
  state.modes = read_fields(file, elements, "modes", counts.at("modes"));
  state.dropped = read_fields(file, elements, "dropped", counts.at("dropped"));
  state.best = read_fields(file, elements, "best", counts.at("best"));
  state.tentative = read_fields(file, elements, "tentative", counts.at("tentative"));
  state.searches = counts.at("searches");
  state.descents = counts.at("descents");
  state.cuts_of_best = counts.at("cuts_of_best");
  const int cuts = counts.at("cuts");
  if (cuts > 0) {
    state.cut_weights = parallel::collectively(
        elements.communicator(), [&] { return file.read_rows<double>("cuts/weights", 0, cuts); });
    state.cut_bits =
        read_elements<std::int64_t>(file, elements, "cuts/bits", static_cast<int>(state.words_of_cuts()));
  }
  if (file.contains("divided")) state.divided = read_elements<std::int32_t>(file, elements, "divided");
  return state;
}

void write_search_state(io::Hdf5Writer& file, const io::BlockLayout& elements, const SearchState& state) {
  write_fields(file, elements, "modes", state.modes);
  write_fields(file, elements, "dropped", state.dropped);
  write_fields(file, elements, "best", state.best);
  write_fields(file, elements, "tentative", state.tentative);
  const parallel::Communicator& comm = elements.communicator();
  if (!state.cut_weights.empty()) {
    file.write_rows<double>("cuts/weights", of_first(comm, state.cut_weights), 1);
    write_elements(file, elements, "cuts/bits", state.cut_bits, static_cast<int>(state.words_of_cuts()));
  }
  if (comm.any(!state.divided.empty())) write_elements(file, elements, "divided", state.divided);
}

} // namespace

bool SearchFiles::exists() const {
  const bool is_there = parallel::collectively(comm_, [&] {
    std::error_code error;
    return comm_.rank() == 0 && fs::status(paths_.state(), error).type() != fs::file_type::not_found;
  });
  return comm_.any(is_there);
}

void SearchFiles::refuse(const fs::path& file, const std::string& damage) const {
  throw FileError(file.string() + ": the file " + damage +
                  "; put a sound copy of it in its place, or remove " + paths_.state().string() +
                  ": the search then starts from the beginning with --restart");
}

Json SearchFiles::write_fields_of(const fs::path& path, const ElementFields& fields) {
  const io::FileDigest digest = write_h5(comm_, path, [&](io::Hdf5Writer& file) {
    for (std::size_t i = 0; i < fields.size(); ++i)
      write_elements(file, elements_, "fields/" + std::to_string(i), fields[i],
                     columns_of(elements_, fields[i]));
  });
  return {{"count", fields.size()}, {"file", to_json(digest)}};
}

ElementFields SearchFiles::read_fields_of(const fs::path& path, const Json& recorded) {
  if (const std::string damage = damage_of(comm_, path, recorded.at("file")); !damage.empty())
    refuse(path, damage);
  const io::Hdf5Reader file = parallel::collectively(comm_, [&] { return io::Hdf5Reader(path); });
  ElementFields fields;
  const int count = recorded.at("count");
  for (int i = 0; i < count; ++i)
    fields.push_back(read_field(file, elements_, "fields/" + std::to_string(i)));
  return fields;
}

SearchStarts SearchFiles::read(std::optional<SearchState>& state) {
  const SealedJson sealed = read_sealed_json(comm_, paths_.state());
  if (!sealed.content || !sealed.content->contains("eigenvectors"))
    refuse(paths_.state(), "is damaged: its checksum is another one");
  const Json& content = *sealed.content;
  eigenvectors_ = content.at("eigenvectors");
  scalar_modes_ = content.at("scalar_modes");
  strains_ = content.at("strains");
  SearchStarts starts{read_fields_of(paths_.starts(), eigenvectors_), {}, {}};
  if (!scalar_modes_.is_null()) starts.scalar_modes = read_fields_of(paths_.scalar_modes(), scalar_modes_);
  if (!strains_.is_null()) {
    starts.strains = read_fields_of(paths_.strains(), strains_);
    starts.strain_eigenvalue = strains_.at("eigenvalue");
  }
  const Json& record = content.at("state");
  if (record.is_null()) return starts;
  const int which = record.at("which");
  next_ = 1 - which;
  const fs::path fields = paths_.state_fields(which);
  if (const std::string damage = damage_of(comm_, fields, record.at("file")); !damage.empty())
    refuse(fields, damage);
  const io::Hdf5Reader file = parallel::collectively(comm_, [&] { return io::Hdf5Reader(fields); });
  state = read_search_state(file, elements_, record.at("counts"));
  return starts;
}

void SearchFiles::write_eigenvectors(const ElementFields& fields) {
  eigenvectors_ = write_fields_of(paths_.starts(), fields);
  write_record(nullptr);
}

void SearchFiles::write_second(const SearchStarts& starts) {
  scalar_modes_ = write_fields_of(paths_.scalar_modes(), *starts.scalar_modes);
  if (!starts.strains.empty()) {
    strains_ = write_fields_of(paths_.strains(), starts.strains);
    strains_["eigenvalue"] = starts.strain_eigenvalue;
  }
  write_record(nullptr);
}

void SearchFiles::write_state(const SearchState& state) {
  const io::FileDigest digest = write_h5(comm_, paths_.state_fields(next_), [&](io::Hdf5Writer& file) {
    write_search_state(file, elements_, state);
  });
  write_record({{"which", next_}, {"file", to_json(digest)}, {"counts", counts_of(state)}});
  next_ = 1 - next_;
  remove_files(comm_, {paths_.state_fields(next_)});
}

void SearchFiles::write_record(const Json& state) {
  write_sealed_json(comm_, paths_.state(),
                    {{"eigenvectors", eigenvectors_},
                     {"scalar_modes", scalar_modes_},
                     {"strains", strains_},
                     {"state", state}});
}

void SearchFiles::discard() const {
  std::vector<fs::path> files{paths_.state()};
  for (const fs::path& file : {paths_.starts(), paths_.scalar_modes(), paths_.strains(),
                               paths_.state_fields(0), paths_.state_fields(1)}) {
    files.push_back(file);
    files.push_back(file);
    files.back() += ".part";
  }
  remove_files(comm_, files);
}

} // namespace recoil::app
