#pragma once

#include <hdf5.h>

#include <filesystem>

namespace recoil::io {

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

} // namespace recoil::io
