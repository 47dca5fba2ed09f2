#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <hdf5.h>

namespace recoil::testing {

/// An array of any number of dimensions, row-major, as other programs write them.
struct Hdf5Array {
  std::vector<hsize_t> extents;
  std::vector<double> entries;
};

/// Creates or replaces a file with these arrays; one rank only.
inline void write_arrays(const std::filesystem::path& path, const std::map<std::string, Hdf5Array>& arrays,
                         hid_t type = H5T_IEEE_F64LE) {
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  for (const auto& [name, array] : arrays) {
    const hid_t space =
        H5Screate_simple(static_cast<int>(array.extents.size()), array.extents.data(), nullptr);
    const hid_t data = H5Dcreate2(file, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, array.entries.data());
    H5Dclose(data);
    H5Sclose(space);
  }
  H5Fclose(file);
}

} // namespace recoil::testing
