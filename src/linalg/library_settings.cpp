#include "linalg/library_settings.hpp"

#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include <dlfcn.h>

#include "recoil/base/memory.hpp"

namespace recoil::linalg {

namespace {

/// A function among the libraries of the process, or null.
template <class Function>
Function* find(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

/// Name that OpenBLAS has for kernels which this processor runs; null if there is none to prefer.
const char* suitable_core() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    return "SkylakeX";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
#endif
  return nullptr;
}

} // namespace

void keep_to_one_thread() {
  const char* wanted = std::getenv("OMP_NUM_THREADS");
  if (wanted != nullptr && std::strcmp(wanted, "1") != 0) return;
  if (auto* const set_max_active_levels = find<void(int)>("omp_set_max_active_levels"))
    set_max_active_levels(0);
}

void choose_blas_kernels() {
  if (std::getenv("OPENBLAS_CORETYPE") != nullptr) return;
  auto* const core_name = find<char*()>("openblas_get_corename");
  auto* const leave = find<void()>("gotoblas_dynamic_quit");
  auto* const enter = find<void()>("gotoblas_dynamic_init");
  if (core_name == nullptr || leave == nullptr || enter == nullptr) return;
  const char* core = suitable_core();
  if (core == nullptr || std::strcmp(core_name(), "Prescott") != 0) return;
  setenv("OPENBLAS_CORETYPE", core, 0);
  leave();
  enter();
}

void take_blas_buffer() {
  using Product = void(const char*, const int*, const int*, const double*, const double*, const int*,
                       const double*, const int*, const double*, double*, const int*);
  auto* const multiply = find<Product>("dgemv_");
  if (multiply == nullptr || find<char*()>("openblas_get_corename") == nullptr) return;
  constexpr double buffer_bytes = 160e6;
  if (memory_limit().bytes < buffer_bytes) throw std::bad_alloc();
  // Long enough not to be done on the stack.
  constexpr int rows = 4096, one = 1;
  const std::vector<double> matrix(rows, 0.0), x(1, 0.0);
  std::vector<double> y(rows, 0.0);
  const double factor = 1;
  multiply("N", &rows, &one, &factor, matrix.data(), &rows, x.data(), &one, &factor, y.data(), &one);
}

} // namespace recoil::linalg
