#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>

#include "io/hdf5_support.hpp"
#include "recoil/base/atomic_file.hpp"
#include "recoil/base/error.hpp"
#include "recoil/parallel/exchange.hpp"

namespace recoil::io {
namespace {

constexpr GlobalIndex chunk_bytes_wanted = 1 << 20;
constexpr std::size_t checksum_bytes = 4;

struct DescriptorTraits {
  using Handle = int;
  static Handle null() { return -1; }
  static void release(Handle& descriptor) noexcept { ::close(descriptor); }
};
using Descriptor = UniqueHandle<DescriptorTraits>;

/// Whether all ranks run under one operating system and so see one cache of file pages.
bool share_one_host(const parallel::Communicator& comm) {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  const GlobalIndex hash = std::hash<std::string>()(std::string(name) + boot) >> 2;
  return comm.min(hash) == comm.max(hash);
}

/// How the rows of an array are cut into chunks of equal size (the last one padded), and who writes which.
struct ChunkPlan {
  GlobalIndex rows = 0, chunks = 0, rows_per_chunk = 1;
  int size = 1;

  ChunkPlan(GlobalIndex row_count, std::size_t bytes_per_row, int ranks) : rows(row_count), size(ranks) {
    if (rows == 0) return;
    const GlobalIndex bytes = rows * bytes_per_row;
    chunks = std::min(rows, (bytes + chunk_bytes_wanted - 1) / chunk_bytes_wanted);
    rows_per_chunk = (rows + chunks - 1) / chunks;
    chunks = (rows + rows_per_chunk - 1) / rows_per_chunk;
  }
  /// Chunks of a rank; a single chunk is the first rank's, which needs no second opening of the file.
  GlobalIndex first_chunk(int rank) const { return (chunks * rank + size - 1) / size; }
  GlobalIndex first_row(int rank) const { return std::min(rows, first_chunk(rank) * rows_per_chunk); }
};

/// Moves consecutive rows, `first` being the first one here, to the ranks that write their chunks.
template <class T>
std::vector<T> align_with_chunks(const parallel::Communicator& comm, const ChunkPlan& plan, GlobalIndex first,
                                 std::span<const T> rows, int columns) {
  if (comm.size() == 1) return {rows.begin(), rows.end()};
  const GlobalIndex end = first + std::ssize(rows) / columns;
  std::vector<parallel::Message> outgoing;
  for (int rank = 0; rank < comm.size(); ++rank) {
    const GlobalIndex from = std::max(first, plan.first_row(rank));
    const GlobalIndex to = std::min(end, plan.first_row(rank + 1));
    if (from >= to) continue;
    const auto bytes = std::as_bytes(rows.subspan((from - first) * columns, (to - from) * columns));
    outgoing.push_back({rank, {bytes.begin(), bytes.end()}});
  }
  std::vector<T> aligned;
  for (const parallel::Message& message : parallel::exchange_bytes(comm, std::move(outgoing))) {
    const std::size_t before = aligned.size();
    aligned.resize(before + message.bytes.size() / sizeof(T));
    std::memcpy(aligned.data() + before, message.bytes.data(), message.bytes.size());
  }
  return aligned;
}

/// Fletcher's checksum of 16-bit words as HDF5's filter of that name computes it: words are read most
/// significant byte first, sums are kept modulo 65535 and never folded to 0. An even number of bytes.
std::uint32_t fletcher32(std::span<const std::byte> bytes) {
  const auto fold = [](std::uint32_t sum) { return (sum & 0xffffu) + (sum >> 16); };
  const auto* word = reinterpret_cast<const unsigned char*>(bytes.data());
  std::size_t left = bytes.size() / 2;
  std::uint32_t first = 0, second = 0;
  while (left > 0) {
    // 360 words is the longest run after which the second sum still fits in 32 bits.
    std::size_t run = std::min<std::size_t>(left, 360);
    left -= run;
    for (; run > 0; --run, word += 2) {
      first += static_cast<std::uint32_t>(word[0] << 8 | word[1]);
      second += first;
    }
    first = fold(first);
    second = fold(second);
  }
  first = fold(first);
  second = fold(second);
  return second << 16 | first;
}

void write_at(int descriptor, std::span<const std::byte> bytes, std::uint64_t offset,
              const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(descriptor, bytes.data(), bytes.size(), offset);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0)
      throw FileError(path.string() + ": cannot write: " + std::strerror(written < 0 ? errno : ENOSPC));
    bytes = bytes.subspan(written);
    offset += written;
  }
}

} // namespace

struct Hdf5Writer::Impl {
  const parallel::Communicator& comm;
  std::filesystem::path path;
  bool one_host;
  Descriptor descriptor = {}; // for chunks; made when first needed
  DriverStatus status = {};
  HdfFile file = {}; // first rank

  bool is_first() const { return comm.rank() == 0; }

  int open(int flags) {
    if (!descriptor) {
      descriptor = Descriptor::adopt(::open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC | flags, 0666));
      if (!descriptor)
        throw FileError(path.string() + ": cannot open the file to write: " + std::strerror(errno));
    }
    return descriptor.get();
  }

  void create() {
    ::unlink(path.c_str()); // what a killed run has left
    open(O_CREAT | O_EXCL);
    const QuietHdf quiet;
    const HdfProperties access = access_properties(path);
    use_tolerant_driver(access.get(), status);
    // Ranks on other hosts must not find parts of two writers on one page: file systems without coherent
    // caches, such as NFS, write whole pages.
    if (!one_host) check_hdf(H5Pset_alignment(access.get(), 1, 4096), path, "align objects");
    const auto creation =
        HdfProperties::adopt(check_hdf(H5Pcreate(H5P_FILE_CREATE), path, "make the HDF5 file"));
    check_hdf(H5Pset_obj_track_times(creation.get(), false), path, "leave times out");
    file = HdfFile::adopt(check_hdf(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.get(), access.get()),
                                    path, "make the HDF5 file"));
  }

  /// Throws if a write by HDF5 failed.
  void check_written() const {
    if (status.error != 0) throw FileError(path.string() + ": cannot write: " + std::strerror(status.error));
  }

  /// Makes the groups above `name`; without times, so that equal data give equal bytes.
  void create_groups(const std::string& name) const {
    const std::string what = "make a group for '" + name + "'";
    const auto creation = HdfProperties::adopt(check_hdf(H5Pcreate(H5P_GROUP_CREATE), path, what));
    check_hdf(H5Pset_obj_track_times(creation.get(), false), path, what);
    for (std::size_t slash = name.find('/', 1); slash != std::string::npos;
         slash = name.find('/', slash + 1)) {
      const std::string group = name.substr(0, slash);
      if (check_hdf(H5Lexists(file.get(), group.c_str(), H5P_DEFAULT), path, what) > 0) continue;
      HdfGroup::adopt(check_hdf(
          H5Gcreate2(file.get(), group.c_str(), H5P_DEFAULT, creation.get(), H5P_DEFAULT), path, what));
    }
  }

  HdfDataset create_array(const std::string& name, hid_t type, const ChunkPlan& plan, int columns) const {
    create_groups(name);
    const std::string what = "create the array '" + name + "'";
    const auto extent = hdf_extent(plan.rows, columns);
    const auto space = HdfSpace::adopt(check_hdf(H5Screate_simple(2, extent.data(), nullptr), path, what));
    const auto creation = HdfProperties::adopt(check_hdf(H5Pcreate(H5P_DATASET_CREATE), path, what));
    check_hdf(H5Pset_obj_track_times(creation.get(), false), path, what);
    if (plan.chunks > 0) {
      const auto chunk = hdf_extent(plan.rows_per_chunk, columns);
      check_hdf(H5Pset_chunk(creation.get(), 2, chunk.data()), path, what);
      check_hdf(H5Pset_fletcher32(creation.get()), path, what);
    }
    return HdfDataset::adopt(check_hdf(
        H5Dcreate2(file.get(), name.c_str(), type, space.get(), H5P_DEFAULT, creation.get(), H5P_DEFAULT),
        path, what));
  }

  /// Finds place for the chunks of an array; nothing of them is written. Address of each chunk.
  std::vector<std::uint64_t> place_chunks(hid_t array, const std::string& name, const ChunkPlan& plan,
                                          std::size_t chunk_bytes) {
    const std::string what = "find place for the array '" + name + "'";
    const std::vector<std::byte> no_content(chunk_bytes);
    std::vector<std::uint64_t> addresses;
    status.place_only = true;
    for (GlobalIndex chunk = 0; chunk < plan.chunks; ++chunk) {
      const auto at = hdf_extent(chunk * plan.rows_per_chunk, 0);
      check_hdf(H5Dwrite_chunk(array, H5P_DEFAULT, 0, at.data(), no_content.size(), no_content.data()), path,
                what);
      haddr_t address = HADDR_UNDEF;
      hsize_t stored = 0;
      unsigned filters = 0;
      check_hdf(H5Dget_chunk_info_by_coord(array, at.data(), &filters, &address, &stored), path, what);
      RECOIL_ASSERT(address != HADDR_UNDEF && stored == chunk_bytes);
      addresses.push_back(address);
    }
    status.place_only = false;
    check_written();
    return addresses;
  }

  /// Encodes the chunk beginning at local row `row` of `rows` as HDF5's fletcher32 filter does.
  template <class T>
  static void encode(std::span<const T> rows, std::size_t chunk_elements, std::size_t chunk,
                     std::vector<std::byte>& encoded) {
    std::fill(encoded.begin(), encoded.end(), std::byte{0});
    const std::size_t begin = chunk * chunk_elements;
    const std::size_t count = std::min(chunk_elements, rows.size() - begin);
    std::memcpy(encoded.data(), rows.data() + begin, count * sizeof(T));
    const std::uint32_t sum = fletcher32({encoded.data(), chunk_elements * sizeof(T)});
    for (std::size_t byte = 0; byte < checksum_bytes; ++byte)
      encoded[chunk_elements * sizeof(T) + byte] = static_cast<std::byte>(sum >> (8 * byte) & 0xffu);
  }
};

Hdf5Writer::Hdf5Writer(const parallel::Communicator& comm, const std::filesystem::path& path)
    : impl_(new Impl{comm, path, share_one_host(comm)}) {
  parallel::collectively(comm, [&] {
    if (impl_->is_first()) impl_->create();
  });
}

Hdf5Writer::~Hdf5Writer() {
  const QuietHdf quiet;
  impl_.reset();
}

template <class T>
void Hdf5Writer::write_rows(const std::string& name, std::span<const T> rows, int columns) {
  RECOIL_ASSERT(columns > 0 && std::ssize(rows) % columns == 0);
  const parallel::Communicator& comm = impl_->comm;
  const GlobalIndex count = std::ssize(rows) / columns;
  const ChunkPlan plan(comm.sum(count), columns * sizeof(T), comm.size());
  const std::vector<T> mine = align_with_chunks(comm, plan, comm.exclusive_scan(count), rows, columns);
  const std::size_t chunk_elements = plan.rows_per_chunk * columns;
  const std::size_t chunk_bytes = chunk_elements * sizeof(T) + checksum_bytes;

  std::vector<std::uint64_t> addresses(plan.chunks);
  const auto write_chunks = [&] {
    const GlobalIndex begin = plan.first_chunk(comm.rank()), end = plan.first_chunk(comm.rank() + 1);
    std::vector<std::byte> encoded(begin < end ? chunk_bytes : 0);
    for (GlobalIndex chunk = begin; chunk < end; ++chunk) {
      Impl::encode<T>(mine, chunk_elements, chunk - begin, encoded);
      write_at(impl_->open(0), encoded, addresses[chunk], impl_->path);
    }
  };
  const bool by_first_alone = plan.first_chunk(1) >= plan.chunks;
  parallel::collectively(comm, [&] {
    if (!impl_->is_first()) return;
    const QuietHdf quiet;
    const HdfDataset array = impl_->create_array(name, HdfElement<T>::file(), plan, columns);
    addresses = impl_->place_chunks(array.get(), name, plan, chunk_bytes);
    if (by_first_alone) write_chunks();
  });
  if (by_first_alone) return;
  comm.broadcast(std::as_writable_bytes(std::span(addresses)));
  parallel::collectively(comm, write_chunks);
}

template void Hdf5Writer::write_rows(const std::string&, std::span<const double>, int);
template void Hdf5Writer::write_rows(const std::string&, std::span<const std::int32_t>, int);
template void Hdf5Writer::write_rows(const std::string&, std::span<const std::int64_t>, int);

void Hdf5Writer::write_attribute(const std::string& object, const std::string& name,
                                 const std::string& text) {
  parallel::collectively(impl_->comm, [&] {
    if (!impl_->is_first()) return;
    const QuietHdf quiet;
    const auto& path = impl_->path;
    const std::string what = "write the attribute '" + name + "' of '" + object + "'";
    const auto target =
        HdfObject::adopt(check_hdf(H5Oopen(impl_->file.get(), object.c_str(), H5P_DEFAULT), path, what));
    const auto space = HdfSpace::adopt(check_hdf(H5Screate(H5S_SCALAR), path, what));
    const auto type = HdfType::adopt(check_hdf(H5Tcopy(H5T_C_S1), path, what));
    check_hdf(H5Tset_size(type.get(), text.size() + 1), path, what);
    check_hdf(H5Tset_cset(type.get(), H5T_CSET_UTF8), path, what);
    const auto attribute = HdfAttribute::adopt(
        check_hdf(H5Acreate2(target.get(), name.c_str(), type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT),
                  path, what));
    check_hdf(H5Awrite(attribute.get(), type.get(), text.c_str()), path, what);
  });
}

void Hdf5Writer::close(Durability durability) {
  const bool force = durability == Durability::machine;
  parallel::collectively(impl_->comm, [&] {
    const QuietHdf quiet;
    const auto& path = impl_->path;
    if (force && impl_->descriptor && ::fsync(impl_->descriptor.get()) != 0)
      throw FileError(path.string() + ": cannot bring the file to the disk: " + std::strerror(errno));
    impl_->descriptor.reset();
    if (!impl_->file) return;
    // The handle would swallow a failing close; keep the file open beyond it.
    const hid_t file = impl_->file.get();
    check_hdf(H5Iinc_ref(file), path, "close the file");
    impl_->file.reset();
    check_hdf(H5Fclose(file), path, "close the file");
    impl_->check_written();
    if (force) fsync_file(path);
  });
}

} // namespace recoil::io
