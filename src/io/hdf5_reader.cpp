#include <algorithm>
#include <string>
#include <system_error>

#include "io/hdf5_support.hpp"
#include "recoil/base/crc32.hpp"
#include "recoil/base/error.hpp"
#include "recoil/base/memory.hpp"
#include "recoil/io/block_layout.hpp"

namespace recoil::io {

namespace {

/// The shape of an array is a few bytes of the file and may be damaged: what is allocated for it is bounded
/// by the size of the file. No filter compresses better than deflate, which reaches 1032.
void require_plausible(const std::filesystem::path& path, const std::string& name, double bytes) {
  constexpr double best_compression = 1032;
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (!error && bytes > best_compression * double(size))
    throw FileError(path.string() + ": the array '" + name + "' would be larger (" + describe_bytes(bytes) +
                    ") than a file of " + describe_bytes(double(size)) + " can hold; the file is damaged");
}

} // namespace

struct Hdf5Reader::Impl {
  std::filesystem::path path;
  HdfFile file;

  /// True where there is something of this name. Other than hard links may lead to another file, which HDF5
  /// would open. @throws FileError where the name, or a group on the way, is such a link.
  bool leads_to_object(const std::string& name) const {
    for (std::size_t slash = name.find('/', 1);; slash = name.find('/', slash + 1)) {
      const std::string part = name.substr(0, slash);
      H5L_info_t link;
      if (part != "/" && !part.empty()) {
        if (H5Lexists(file.get(), part.c_str(), H5P_DEFAULT) <= 0) return false;
        check_hdf(H5Lget_info(file.get(), part.c_str(), &link, H5P_DEFAULT), path, "look at '" + part + "'");
        if (link.type != H5L_TYPE_HARD)
          throw FileError(path.string() + ": '" + part +
                          "' is a link, which may lead to another file, and is not followed; copy what it "
                          "stands for into this file (h5repack, or h5copy -f ext)");
      }
      if (slash == std::string::npos) return true;
    }
  }

  /// An array that the file itself holds. @throws FileError where its numbers are in other files.
  HdfDataset open_array(const std::string& name) const {
    leads_to_object(name);
    auto array = HdfDataset::adopt(
        check_hdf(H5Dopen2(file.get(), name.c_str(), H5P_DEFAULT), path, "open the array '" + name + "'"));
    const std::string what = "read the layout of '" + name + "'";
    const auto made = HdfProperties::adopt(check_hdf(H5Dget_create_plist(array.get()), path, what));
    if (H5Pget_layout(made.get()) == H5D_VIRTUAL || H5Pget_external_count(made.get()) > 0)
      throw FileError(
          path.string() + ": the array '" + name +
          "' lies in other files (external storage or a virtual dataset), which are not read; copy "
          "its numbers into this file");
    return array;
  }
};

Hdf5Reader::Hdf5Reader(const std::filesystem::path& path) : impl_(std::make_unique<Impl>()) {
  const QuietHdf quiet;
  impl_->path = path;
  const HdfProperties access = access_properties(path);
  impl_->file = HdfFile::adopt(
      check_hdf(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), path, "open the HDF5 file"));
}

Hdf5Reader::~Hdf5Reader() = default;
Hdf5Reader::Hdf5Reader(Hdf5Reader&&) noexcept = default;
Hdf5Reader& Hdf5Reader::operator=(Hdf5Reader&&) noexcept = default;

bool Hdf5Reader::contains(const std::string& name) const {
  const QuietHdf quiet;
  return impl_->leads_to_object(name);
}

std::vector<std::string> Hdf5Reader::children(const std::string& group) const {
  const QuietHdf quiet;
  const auto& path = impl_->path;
  impl_->leads_to_object(group);
  const auto parent = HdfGroup::adopt(check_hdf(H5Gopen2(impl_->file.get(), group.c_str(), H5P_DEFAULT), path,
                                                "open the group '" + group + "'"));
  std::vector<std::string> names;
  const auto collect = [](hid_t, const char* name, const H5L_info_t*, void* target) -> herr_t {
    static_cast<std::vector<std::string>*>(target)->emplace_back(name);
    return 0;
  };
  check_hdf(H5Literate(parent.get(), H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, collect, &names), path,
            "list the group '" + group + "'");
  std::sort(names.begin(), names.end());
  return names;
}

ArrayShape Hdf5Reader::shape(const std::string& name) const {
  const QuietHdf quiet;
  const auto& path = impl_->path;
  const std::string what = "read the shape of '" + name + "'";
  const HdfDataset array = impl_->open_array(name);
  const auto space = HdfSpace::adopt(check_hdf(H5Dget_space(array.get()), path, what));
  hsize_t extent[2] = {0, 1};
  const int rank = H5Sget_simple_extent_ndims(space.get());
  if (rank < 1 || rank > 2 || H5Sget_simple_extent_dims(space.get(), extent, nullptr) != rank)
    throw FileError(path.string() + ": the array '" + name + "' is neither a list nor a table of rows");
  const auto type = HdfType::adopt(check_hdf(H5Dget_type(array.get()), path, what));
  ArrayShape shape{static_cast<GlobalIndex>(extent[0]), static_cast<int>(extent[1]), ElementType::float64};
  const std::size_t bytes = H5Tget_size(type.get());
  const H5T_class_t kind = H5Tget_class(type.get());
  if (kind == H5T_INTEGER && bytes == 4)
    shape.type = ElementType::int32;
  else if (kind == H5T_INTEGER && bytes == 8)
    shape.type = ElementType::int64;
  else if (kind != H5T_FLOAT || bytes != 8)
    throw FileError(path.string() + ": the array '" + name +
                    "' is of none of the types double, int32, int64");
  return shape;
}

template <class T>
std::vector<T> Hdf5Reader::read_rows(const std::string& name, GlobalIndex begin, GlobalIndex end) const {
  const QuietHdf quiet;
  const auto& path = impl_->path;
  const ArrayShape array_shape = shape(name);
  if (array_shape.type != element_type<T>)
    throw FileError(path.string() + ": the array '" + name + "' has another element type than expected");
  if (begin < 0 || end < begin || end > array_shape.rows)
    throw FileError(path.string() + ": the array '" + name + "' has " + std::to_string(array_shape.rows) +
                    " rows; rows " + std::to_string(begin) + " to " + std::to_string(end) +
                    " were asked for");
  require_plausible(path, name, double(end - begin) * double(array_shape.columns) * sizeof(T));
  std::vector<T> rows((end - begin) * array_shape.columns);
  if (rows.empty()) return rows;
  const std::string what = "read the array '" + name + "'";
  const HdfDataset array = impl_->open_array(name);
  const auto in_file = HdfSpace::adopt(check_hdf(H5Dget_space(array.get()), path, what));
  const auto start = hdf_extent(begin, 0), count = hdf_extent(end - begin, array_shape.columns);
  // Of a list, HDF5 reads the first entries of both.
  check_hdf(H5Sselect_hyperslab(in_file.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr),
            path, what);
  const auto in_memory = HdfSpace::adopt(check_hdf(H5Screate_simple(2, count.data(), nullptr), path, what));
  check_hdf(
      H5Dread(array.get(), HdfElement<T>::memory(), in_memory.get(), in_file.get(), H5P_DEFAULT, rows.data()),
      path, what);
  return rows;
}

template std::vector<double> Hdf5Reader::read_rows(const std::string&, GlobalIndex, GlobalIndex) const;
template std::vector<std::int32_t> Hdf5Reader::read_rows(const std::string&, GlobalIndex, GlobalIndex) const;
template std::vector<std::int64_t> Hdf5Reader::read_rows(const std::string&, GlobalIndex, GlobalIndex) const;

std::vector<GlobalIndex> Hdf5Reader::extents(const std::string& name) const {
  const QuietHdf quiet;
  const auto& path = impl_->path;
  const std::string what = "read the extents of '" + name + "'";
  const HdfDataset array = impl_->open_array(name);
  const auto space = HdfSpace::adopt(check_hdf(H5Dget_space(array.get()), path, what));
  std::vector<hsize_t> extents(check_hdf(H5Sget_simple_extent_ndims(space.get()), path, what));
  check_hdf(H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr), path, what);
  return {extents.begin(), extents.end()};
}

std::vector<double> Hdf5Reader::read_all(const std::string& name) const {
  const QuietHdf quiet;
  const auto& path = impl_->path;
  const std::string what = "read the array '" + name + "'";
  double count = 1;
  for (const GlobalIndex extent : extents(name)) count *= double(extent);
  require_plausible(path, name, count * sizeof(double));
  const HdfDataset array = impl_->open_array(name);
  const auto type = HdfType::adopt(check_hdf(H5Dget_type(array.get()), path, what));
  const H5T_class_t kind = H5Tget_class(type.get());
  if (kind != H5T_INTEGER && kind != H5T_FLOAT)
    throw FileError(path.string() + ": the array '" + name + "' does not hold numbers");
  std::vector<double> entries(static_cast<std::size_t>(count));
  check_hdf(H5Dread(array.get(), HdfElement<double>::memory(), H5S_ALL, H5S_ALL, H5P_DEFAULT, entries.data()),
            path, what);
  return entries;
}

std::string Hdf5Reader::read_attribute(const std::string& object, const std::string& name) const {
  const QuietHdf quiet;
  const auto& path = impl_->path;
  const std::string what = "read the attribute '" + name + "' of '" + object + "'";
  impl_->leads_to_object(object);
  const auto attribute = HdfAttribute::adopt(
      check_hdf(H5Aopen_by_name(impl_->file.get(), object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT),
                path, what));
  const auto type = HdfType::adopt(check_hdf(H5Aget_type(attribute.get()), path, what));
  if (H5Tget_class(type.get()) != H5T_STRING || H5Tis_variable_str(type.get()) != 0)
    throw FileError(path.string() + ": the attribute '" + name + "' of '" + object + "' is not a text");
  std::string text(H5Tget_size(type.get()), '\0');
  check_hdf(H5Aread(attribute.get(), type.get(), text.data()), path, what);
  text.resize(text.find_last_not_of('\0') + 1);
  return text;
}

FileDigest digest(const parallel::Communicator& comm, const std::filesystem::path& path) {
  const GlobalIndex bytes = parallel::collectively(comm, [&] {
    std::error_code error;
    const auto size = std::filesystem::file_size(path, error);
    if (error) throw FileError(path.string() + ": cannot read the file: " + error.message());
    return size;
  });
  // A file that changes while it is read has no digest, but the ranks must agree on how it is divided.
  const GlobalIndex size = comm.min(bytes);
  const auto begin = [&](int rank) { return block_begin(size, rank, comm.size()); };
  const GlobalIndex mine = begin(comm.rank() + 1) - begin(comm.rank());
  const std::uint32_t part =
      parallel::collectively(comm, [&] { return file_crc32(path, begin(comm.rank()), mine); });
  const auto parts = comm.all_gather(GlobalIndex{part});
  FileDigest result{static_cast<std::uint64_t>(size), static_cast<std::uint32_t>(parts[0])};
  for (int rank = 1; rank < comm.size(); ++rank)
    result.crc32 =
        crc32_combine(result.crc32, static_cast<std::uint32_t>(parts[rank]), begin(rank + 1) - begin(rank));
  return result;
}

} // namespace recoil::io
