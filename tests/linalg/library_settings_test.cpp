#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "linalg/library_settings.hpp"

namespace recoil::library_settings_test {
namespace {

template <class Function>
Function* library_function(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

TEST(LibrarySettings, CholmodStaysOnOneThread) {
  linalg::keep_to_one_thread();
  auto* const levels = library_function<int()>("omp_get_max_active_levels");
  if (levels == nullptr) return; // no OpenMP, no threads
  const char* wanted = std::getenv("OMP_NUM_THREADS");
  const bool wants_threads = wanted != nullptr && std::strcmp(wanted, "1") != 0;
  EXPECT_EQ(levels() == 0, !wants_threads);
}

TEST(LibrarySettings, OpenBlasUsesTheInstructionsThereAre) {
  auto* const core = library_function<char*()>("openblas_get_corename");
  if (core == nullptr || library_function<void()>("gotoblas_dynamic_init") == nullptr) return;
  linalg::choose_blas_kernels();
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    EXPECT_STRNE(core(), "Prescott");
  }
#endif
  const std::string before = core();
  linalg::choose_blas_kernels();
  EXPECT_EQ(core(), before);
}

// The kernels are exchanged under a library that is loaded already.
TEST(LibrarySettings, ProductsAreRight) {
  linalg::choose_blas_kernels();
  using Gemm = void(const char*, const char*, const int*, const int*, const int*, const double*,
                    const double*, const int*, const double*, const int*, const double*, double*, const int*);
  auto* const gemm = library_function<Gemm>("dgemm_");
  ASSERT_NE(gemm, nullptr);
  for (const int n : {1, 7, 64, 301}) {
    const auto size = static_cast<std::size_t>(n);
    std::vector<double> a(size * size), b(size * size), c(size * size, 1);
    for (std::size_t k = 0; k < size * size; ++k) {
      a[k] = static_cast<double>(k % 11);
      b[k] = static_cast<double>(k % 7) - 3;
    }
    const double two = 2, minus = -1;
    gemm("N", "T", &n, &n, &n, &two, a.data(), &n, b.data(), &n, &minus, c.data(), &n);
    for (std::size_t i = 0; i < size; i += 1 + size / 5)
      for (std::size_t j = 0; j < size; j += 1 + size / 5) {
        double expected = -1;
        for (std::size_t k = 0; k < size; ++k) expected += 2 * a[i + k * size] * b[j + k * size];
        EXPECT_EQ(c[i + j * size], expected) << n; // whole numbers
      }
  }
}

} // namespace
} // namespace recoil::library_settings_test
