#pragma once

namespace recoil::linalg {

/// Ranks are the parallelism. CHOLMOD opens four OpenMP threads in every supernode whatever OMP_NUM_THREADS
/// says; on cores that all have their rank they cost up to half of the factorisation. Does nothing where
/// OpenMP is not among the libraries of the process, or OMP_NUM_THREADS asks for threads.
void keep_to_one_thread();

/// OpenBLAS takes processors that are newer than itself for the oldest it knows (Prescott, a Pentium 4),
/// whose kernels have a quarter of the speed. Has it choose again by the vector instructions there are. Does
/// nothing with another BLAS, or where OPENBLAS_CORETYPE is set. To be called before the first BLAS call.
void choose_blas_kernels();

/// OpenBLAS takes 128 MB of addresses for its work buffer when it first needs one, keeps it, and asks for
/// ever where there are none. Has it take them now. @throws std::bad_alloc if `ulimit -v` leaves too little
/// for that.
void take_blas_buffer();

} // namespace recoil::linalg
