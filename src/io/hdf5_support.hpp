#pragma once

#include <hdf5.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>

#include "recoil/base/unique_handle.hpp"
#include "recoil/io/hdf5_file.hpp"

#if !H5_VERSION_GE(1, 10, 5)
#error "recoil needs HDF5 1.10.5 or later (H5Dget_chunk_info_by_coord)"
#endif

namespace recoil::io {

template <herr_t (*close)(hid_t)>
struct HdfTraits {
  using Handle = hid_t;
  static Handle null() { return H5I_INVALID_HID; }
  static void release(Handle& id) noexcept { close(id); }
};
using HdfFile = UniqueHandle<HdfTraits<H5Fclose>>;
using HdfGroup = UniqueHandle<HdfTraits<H5Gclose>>;
using HdfDataset = UniqueHandle<HdfTraits<H5Dclose>>;
using HdfSpace = UniqueHandle<HdfTraits<H5Sclose>>;
using HdfType = UniqueHandle<HdfTraits<H5Tclose>>;
using HdfAttribute = UniqueHandle<HdfTraits<H5Aclose>>;
using HdfProperties = UniqueHandle<HdfTraits<H5Pclose>>;
using HdfObject = UniqueHandle<HdfTraits<H5Oclose>>;

/// Rows and columns as HDF5 takes them.
inline std::array<hsize_t, 2> hdf_extent(hsize_t rows, hsize_t columns) { return {rows, columns}; }

/// Keeps HDF5 from printing its error stack while it lives.
class QuietHdf {
public:
  QuietHdf();
  ~QuietHdf();
  QuietHdf(const QuietHdf&) = delete;
  QuietHdf& operator=(const QuietHdf&) = delete;

private:
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

/// "`path`: cannot `what`: <reason>" as FileError; the reason is that of the innermost call of HDF5.
[[noreturn]] void throw_hdf(const std::filesystem::path& path, const std::string& what);

/// Throws if an HDF5 call failed (negative result), else passes its result on.
template <class Result>
Result check_hdf(Result result, const std::filesystem::path& path, const std::string& what) {
  if (result < 0) throw_hdf(path, what);
  return result;
}

/// Access properties of every file: serial driver, format v110, no file locks (the run folder has its own).
HdfProperties access_properties(const std::filesystem::path& path);

/// What happened to the writes of a file that HDF5 has open through the tolerant driver.
struct DriverStatus {
  /// errno of the first write that failed; 0 if none did.
  int error = 0;
  /// While set, the bytes of chunks are not written: HDF5 only finds place for them in the file.
  bool place_only = false;
};

/// Makes files opened with `access` use a POSIX driver whose writes never fail as far as HDF5 can see. HDF5
/// cannot close a file whose metadata it cannot write, and then crashes when the program ends; here the first
/// error is noted in `status` instead, HDF5 closes a file that is known to be broken, and the caller reports
/// it. The file must exist; it is emptied. `status` must outlive the open file.
void use_tolerant_driver(hid_t access, DriverStatus& status);

template <class T>
struct HdfElement;
template <>
struct HdfElement<double> {
  static hid_t memory() { return H5T_NATIVE_DOUBLE; }
  static hid_t file() { return H5T_IEEE_F64LE; }
};
template <>
struct HdfElement<std::int32_t> {
  static hid_t memory() { return H5T_NATIVE_INT32; }
  static hid_t file() { return H5T_STD_I32LE; }
};
template <>
struct HdfElement<std::int64_t> {
  static hid_t memory() { return H5T_NATIVE_INT64; }
  static hid_t file() { return H5T_STD_I64LE; }
};

} // namespace recoil::io
