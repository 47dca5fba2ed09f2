#include "recoil/base/error.hpp"

#include <cstdio>
#include <cstdlib>

namespace recoil {

void assertion_failed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: internal error in recoil: assertion `%s` does not hold\n", file, line,
               expression);
  std::fflush(stderr);
  std::abort();
}

} // namespace recoil
