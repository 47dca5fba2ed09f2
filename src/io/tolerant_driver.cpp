#include "io/hdf5_support.hpp"

#include <fcntl.h>
#include <unistd.h>

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "recoil/base/error.hpp"

namespace recoil::io {
namespace {

struct TolerantFile {
  H5FD_t base; // HDF5 reads this part, so it comes first
  int descriptor;
  haddr_t end_of_addresses; // what HDF5 has given out
  haddr_t end_of_file;
  DriverStatus* status;

  void note_error() {
    if (status->error == 0) status->error = errno ? errno : EIO;
  }
};

/// What HDF5 keeps of the driver in the access properties, by copying bytes.
struct DriverInfo {
  DriverStatus* status;
};

TolerantFile& file_of(H5FD_t* file) { return *reinterpret_cast<TolerantFile*>(file); }
const TolerantFile& file_of(const H5FD_t* file) { return *reinterpret_cast<const TolerantFile*>(file); }

H5FD_t* open_file(const char* name, unsigned /*flags*/, hid_t access, haddr_t /*maximum*/) {
  const auto* info = static_cast<const DriverInfo*>(H5Pget_driver_info(access));
  if (!info) return nullptr;
  const int descriptor = ::open(name, O_RDWR | O_TRUNC | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) return nullptr;
  auto* file = new (std::nothrow) TolerantFile{};
  if (!file) {
    ::close(descriptor);
    return nullptr;
  }
  file->descriptor = descriptor;
  file->status = info->status;
  return &file->base;
}

herr_t close_file(H5FD_t* file) {
  if (::close(file_of(file).descriptor) != 0) file_of(file).note_error();
  delete &file_of(file);
  return 0;
}

herr_t query(const H5FD_t* /*file*/, unsigned long* flags) {
  if (flags)
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  return 0;
}

haddr_t get_end_of_addresses(const H5FD_t* file, H5FD_mem_t /*type*/) {
  return file_of(file).end_of_addresses;
}

herr_t set_end_of_addresses(H5FD_t* file, H5FD_mem_t /*type*/, haddr_t address) {
  file_of(file).end_of_addresses = address;
  return 0;
}

haddr_t get_end_of_file(const H5FD_t* file, H5FD_mem_t /*type*/) { return file_of(file).end_of_file; }

herr_t read(H5FD_t* file, H5FD_mem_t /*type*/, hid_t /*transfer*/, haddr_t address, size_t size,
            void* buffer) {
  auto* to = static_cast<char*>(buffer);
  while (size > 0) {
    const ssize_t got = ::pread(file_of(file).descriptor, to, size, address);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) {
      std::memset(to, 0, size); // behind the end
      return 0;
    }
    to += got;
    address += got;
    size -= got;
  }
  return 0;
}

herr_t write(H5FD_t* base, H5FD_mem_t type, hid_t /*transfer*/, haddr_t address, size_t size,
             const void* buffer) {
  TolerantFile& file = file_of(base);
  file.end_of_file = std::max(file.end_of_file, address + size);
  if (file.status->error != 0 || (file.status->place_only && type == H5FD_MEM_DRAW)) return 0;
  const auto* from = static_cast<const char*>(buffer);
  while (size > 0) {
    errno = 0;
    const ssize_t put = ::pwrite(file.descriptor, from, size, address);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) {
      file.note_error();
      return 0;
    }
    from += put;
    address += put;
    size -= put;
  }
  return 0;
}

herr_t truncate(H5FD_t* base, hid_t /*transfer*/, hbool_t /*closing*/) {
  TolerantFile& file = file_of(base);
  if (file.end_of_addresses == file.end_of_file) return 0;
  if (::ftruncate(file.descriptor, file.end_of_addresses) != 0) file.note_error();
  file.end_of_file = file.end_of_addresses;
  return 0;
}

hid_t register_driver() {
  // Not all versions of HDF5 have the same members in the same order, hence by name.
  H5FD_class_t driver = {};
#if H5_VERSION_GE(1, 13, 0)
  driver.version = H5FD_CLASS_VERSION;
  driver.value = static_cast<H5FD_class_value_t>(510); // from the range that HDF5 leaves to its users
#endif
  driver.name = "recoil_tolerant";
  driver.maxaddr = (static_cast<haddr_t>(1) << 62) - 1;
  driver.fc_degree = H5F_CLOSE_WEAK;
  driver.fapl_size = sizeof(DriverInfo);
  driver.open = open_file;
  driver.close = close_file;
  driver.query = query;
  driver.get_eoa = get_end_of_addresses;
  driver.set_eoa = set_end_of_addresses;
  driver.get_eof = get_end_of_file;
  driver.read = read;
  driver.write = write;
  driver.truncate = truncate;
  const H5FD_mem_t free_lists[H5FD_MEM_NTYPES] = H5FD_FLMAP_DICHOTOMY;
  std::copy(std::begin(free_lists), std::end(free_lists), std::begin(driver.fl_map));
  return H5FDregister(&driver);
}

} // namespace

void use_tolerant_driver(hid_t access, DriverStatus& status) {
  static const hid_t driver = register_driver();
  const DriverInfo info = {&status};
  if (driver < 0 || H5Pset_driver(access, driver, &info) < 0)
    throw LibraryError("HDF5 does not take the driver for files to be written");
}

} // namespace recoil::io
