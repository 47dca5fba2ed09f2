#include "io/hdf5_support.hpp"

#include "recoil/base/error.hpp"

namespace recoil::io {

QuietHdf::QuietHdf() {
  H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

QuietHdf::~QuietHdf() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }

namespace {

herr_t keep_innermost(unsigned /*position*/, const H5E_error2_t* error, void* target) {
  // Walking upward starts at the call that failed first, which knows the reason; the rest only passes it on.
  auto& message = *static_cast<std::string*>(target);
  if (message.empty() && error->desc) message = error->desc;
  return 0;
}

/// HDF5 speaks of its own structures; what matters to people is the reason of the system, the checksum, or
/// that the content is wrong.
std::string reason_of(const std::string& description) {
  const std::string quoted = "error message = '";
  if (const auto begin = description.find(quoted); begin != std::string::npos) {
    const std::string rest = description.substr(begin + quoted.size());
    return rest.substr(0, rest.find('\''));
  }
  if (description.find("Fletcher32") != std::string::npos)
    return "its fletcher32 checksum is wrong, the file is damaged";
  if (description.find("doesn't exist") != std::string::npos ||
      description.find("not found") != std::string::npos)
    return "the file does not hold it";
  return "the file is damaged, cut short, or not of HDF5";
}

} // namespace

void throw_hdf(const std::filesystem::path& path, const std::string& what) {
  std::string reason;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_innermost, &reason);
  H5Eclear2(H5E_DEFAULT);
  throw FileError(path.string() + ": cannot " + what + ": " + reason_of(reason));
}

HdfProperties access_properties(const std::filesystem::path& path) {
  auto access = HdfProperties::adopt(check_hdf(H5Pcreate(H5P_FILE_ACCESS), path, "make file properties"));
  check_hdf(H5Pset_libver_bounds(access.get(), H5F_LIBVER_V110, H5F_LIBVER_V110), path,
            "choose the format v110");
#if H5_VERSION_GE(1, 12, 1) || (H5_VERS_MAJOR == 1 && H5_VERS_MINOR == 10 && H5_VERS_RELEASE >= 7)
  check_hdf(H5Pset_file_locking(access.get(), false, true), path, "switch file locks off");
#endif
  return access;
}

} // namespace recoil::io
