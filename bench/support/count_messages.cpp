// Stands before MPI's functions of the same names, which MPI defines weakly for this purpose: those by which
// recoil, PETSc, HDF5 and the libraries below them talk to other ranks, and so may wait or poll for them.
// Files that one rank reads or writes by itself are its own work.
#include "support/count_messages.hpp"

#include <ctime>
#include <tuple>
#include <type_traits>
#include <unordered_map>

namespace {

recoil::bench::Messages counted;

/// What PETSc's scatters start again and again.
struct Persistent {
  int count;
  MPI_Datatype type;
};
std::unordered_map<MPI_Request, Persistent> persistent_sends;

void count_message(int count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  ++counted.count;
  counted.bytes += recoil::GlobalIndex{count} * size;
}

void count_start(MPI_Request request) {
  const auto found = persistent_sends.find(request);
  if (found != persistent_sends.end()) count_message(found->second.count, found->second.type);
}

void count_gathered(recoil::GlobalIndex count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  ++counted.collectives;
  counted.gathered_bytes += count * size;
}

int num_ranks(MPI_Comm comm) {
  int ranks = 0;
  PMPI_Comm_size(comm, &ranks);
  return ranks;
}

// What is counted of a call beside its time, from its arguments.
constexpr auto count_nothing = [](const auto&...) {};
constexpr auto message = [](const void*, int count, MPI_Datatype type, const auto&...) {
  count_message(count, type);
};
constexpr auto count_one_start = [](MPI_Request* request) { count_start(*request); };
constexpr auto count_all_starts = [](int count, MPI_Request* requests) {
  for (int i = 0; i < count; ++i) count_start(requests[i]);
};
constexpr auto forget_request = [](MPI_Request* request) { persistent_sends.erase(*request); };
constexpr auto collective = [](const auto&...) { ++counted.collectives; };
constexpr auto gather = [](const void*, int, MPI_Datatype, void*, int count, MPI_Datatype type, MPI_Comm comm,
                           const auto&...) {
  count_gathered(recoil::GlobalIndex{count} * num_ranks(comm), type);
};
constexpr auto gather_parts = [](const void*, int, MPI_Datatype, void*, const int* counts, const int*,
                                 MPI_Datatype type, MPI_Comm comm, const auto&...) {
  const int ranks = num_ranks(comm);
  recoil::GlobalIndex received = 0;
  for (int rank = 0; rank < ranks; ++rank) received += counts[rank];
  count_gathered(received, type);
};

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Calls that poll; argument `found` points to zero where nothing has come.
template <int found>
struct Poll {
  template <class... Arguments>
  static bool found_nothing(const Arguments&... arguments) {
    return *std::get<found>(std::tie(arguments...)) == 0;
  }
};

/// Processor seconds within MPI. The time from a poll that found nothing to the next call counts, too: a loop
/// that polls is waiting, and about half of its time is spent outside of MPI.
class TimeInMpi {
public:
  void enter() {
    if (depth_++ == 0 && !is_waiting_) begin_ = processor_seconds();
  }
  void leave(bool is_waiting) {
    if (--depth_ > 0) return;
    is_waiting_ = is_waiting;
    if (!is_waiting) sum_ += processor_seconds() - begin_;
  }
  double sum() const { return sum_; }

private:
  double sum_ = 0, begin_ = 0;
  int depth_ = 0; ///< functions that MPI calls, as those that delete attributes, call MPI again
  bool is_waiting_ = false;
} time_in_mpi;

template <class Count, class... Parameters>
int timed_call(int (*function)(Parameters...), Count count, std::type_identity_t<Parameters>... arguments) {
  time_in_mpi.enter();
  bool is_waiting = false;
  if constexpr (std::is_invocable_v<Count, Parameters...>) count(arguments...);
  const int error = function(arguments...);
  if constexpr (!std::is_invocable_v<Count, Parameters...>) is_waiting = Count::found_nothing(arguments...);
  time_in_mpi.leave(is_waiting);
  return error;
}

template <class Function>
struct ParametersOf;
template <class... Parameters>
struct ParametersOf<int(Parameters...)> {
  using Tuple = std::tuple<Parameters...>;
};
template <class Function, int i>
using Parameter = std::tuple_element_t<i, typename ParametersOf<Function>::Tuple>;

} // namespace

namespace recoil::bench {

Messages messages_sent() { return counted; }

double computing_seconds() { return processor_seconds() - time_in_mpi.sum(); }

} // namespace recoil::bench

// The parameters of a function come from mpi.h: a definition says how many there are.
#define RECOIL_PARAMETERS_1(f) Parameter<decltype(f), 0> a
#define RECOIL_PARAMETERS_2(f) RECOIL_PARAMETERS_1(f), Parameter<decltype(f), 1> b
#define RECOIL_PARAMETERS_3(f) RECOIL_PARAMETERS_2(f), Parameter<decltype(f), 2> c
#define RECOIL_PARAMETERS_4(f) RECOIL_PARAMETERS_3(f), Parameter<decltype(f), 3> d
#define RECOIL_PARAMETERS_5(f) RECOIL_PARAMETERS_4(f), Parameter<decltype(f), 4> e
#define RECOIL_PARAMETERS_6(f) RECOIL_PARAMETERS_5(f), Parameter<decltype(f), 5> g
#define RECOIL_PARAMETERS_7(f) RECOIL_PARAMETERS_6(f), Parameter<decltype(f), 6> h
#define RECOIL_PARAMETERS_8(f) RECOIL_PARAMETERS_7(f), Parameter<decltype(f), 7> i
#define RECOIL_PARAMETERS_9(f) RECOIL_PARAMETERS_8(f), Parameter<decltype(f), 8> j
#define RECOIL_PARAMETERS_10(f) RECOIL_PARAMETERS_9(f), Parameter<decltype(f), 9> k
#define RECOIL_PARAMETERS_11(f) RECOIL_PARAMETERS_10(f), Parameter<decltype(f), 10> l
#define RECOIL_PARAMETERS_12(f) RECOIL_PARAMETERS_11(f), Parameter<decltype(f), 11> m
#define RECOIL_ARGUMENTS_1 a
#define RECOIL_ARGUMENTS_2 RECOIL_ARGUMENTS_1, b
#define RECOIL_ARGUMENTS_3 RECOIL_ARGUMENTS_2, c
#define RECOIL_ARGUMENTS_4 RECOIL_ARGUMENTS_3, d
#define RECOIL_ARGUMENTS_5 RECOIL_ARGUMENTS_4, e
#define RECOIL_ARGUMENTS_6 RECOIL_ARGUMENTS_5, g
#define RECOIL_ARGUMENTS_7 RECOIL_ARGUMENTS_6, h
#define RECOIL_ARGUMENTS_8 RECOIL_ARGUMENTS_7, i
#define RECOIL_ARGUMENTS_9 RECOIL_ARGUMENTS_8, j
#define RECOIL_ARGUMENTS_10 RECOIL_ARGUMENTS_9, k
#define RECOIL_ARGUMENTS_11 RECOIL_ARGUMENTS_10, l
#define RECOIL_ARGUMENTS_12 RECOIL_ARGUMENTS_11, m
#define RECOIL_INSTEAD_OF(name, number, count)                                                               \
  int name(RECOIL_PARAMETERS_##number(P##name)) {                                                            \
    return timed_call(P##name, count, RECOIL_ARGUMENTS_##number);                                            \
  }

extern "C" {

RECOIL_INSTEAD_OF(MPI_Send, 6, message)
RECOIL_INSTEAD_OF(MPI_Ssend, 6, message)
RECOIL_INSTEAD_OF(MPI_Rsend, 6, message)
RECOIL_INSTEAD_OF(MPI_Bsend, 6, message)
RECOIL_INSTEAD_OF(MPI_Isend, 7, message)
RECOIL_INSTEAD_OF(MPI_Issend, 7, message)
RECOIL_INSTEAD_OF(MPI_Irsend, 7, message)
RECOIL_INSTEAD_OF(MPI_Ibsend, 7, message)
RECOIL_INSTEAD_OF(MPI_Recv, 7, count_nothing)
RECOIL_INSTEAD_OF(MPI_Irecv, 7, count_nothing)
RECOIL_INSTEAD_OF(MPI_Mrecv, 5, count_nothing)
RECOIL_INSTEAD_OF(MPI_Imrecv, 5, count_nothing)
RECOIL_INSTEAD_OF(MPI_Sendrecv, 12, message)
RECOIL_INSTEAD_OF(MPI_Sendrecv_replace, 9, message)
RECOIL_INSTEAD_OF(MPI_Probe, 4, count_nothing)
RECOIL_INSTEAD_OF(MPI_Iprobe, 5, Poll<3>())
RECOIL_INSTEAD_OF(MPI_Mprobe, 5, count_nothing)
RECOIL_INSTEAD_OF(MPI_Improbe, 6, Poll<3>())

RECOIL_INSTEAD_OF(MPI_Start, 1, count_one_start)
RECOIL_INSTEAD_OF(MPI_Startall, 2, count_all_starts)
RECOIL_INSTEAD_OF(MPI_Request_free, 1, forget_request)

RECOIL_INSTEAD_OF(MPI_Wait, 2, count_nothing)
RECOIL_INSTEAD_OF(MPI_Waitall, 3, count_nothing)
RECOIL_INSTEAD_OF(MPI_Waitany, 4, count_nothing)
RECOIL_INSTEAD_OF(MPI_Waitsome, 5, count_nothing)
RECOIL_INSTEAD_OF(MPI_Test, 3, Poll<1>())
RECOIL_INSTEAD_OF(MPI_Testall, 4, Poll<2>())
RECOIL_INSTEAD_OF(MPI_Testany, 5, Poll<3>())
RECOIL_INSTEAD_OF(MPI_Testsome, 5, Poll<2>())
RECOIL_INSTEAD_OF(MPI_Cancel, 1, count_nothing)

RECOIL_INSTEAD_OF(MPI_Barrier, 1, collective)
RECOIL_INSTEAD_OF(MPI_Ibarrier, 2, collective)
RECOIL_INSTEAD_OF(MPI_Bcast, 5, collective)
RECOIL_INSTEAD_OF(MPI_Ibcast, 6, collective)
RECOIL_INSTEAD_OF(MPI_Reduce, 7, collective)
RECOIL_INSTEAD_OF(MPI_Ireduce, 8, collective)
RECOIL_INSTEAD_OF(MPI_Allreduce, 6, collective)
RECOIL_INSTEAD_OF(MPI_Iallreduce, 7, collective)
RECOIL_INSTEAD_OF(MPI_Scan, 6, collective)
RECOIL_INSTEAD_OF(MPI_Iscan, 7, collective)
RECOIL_INSTEAD_OF(MPI_Exscan, 6, collective)
RECOIL_INSTEAD_OF(MPI_Iexscan, 7, collective)
RECOIL_INSTEAD_OF(MPI_Reduce_scatter, 6, collective)
RECOIL_INSTEAD_OF(MPI_Ireduce_scatter, 7, collective)
RECOIL_INSTEAD_OF(MPI_Reduce_scatter_block, 6, collective)
RECOIL_INSTEAD_OF(MPI_Ireduce_scatter_block, 7, collective)
RECOIL_INSTEAD_OF(MPI_Gather, 8, collective)
RECOIL_INSTEAD_OF(MPI_Igather, 9, collective)
RECOIL_INSTEAD_OF(MPI_Gatherv, 9, collective)
RECOIL_INSTEAD_OF(MPI_Igatherv, 10, collective)
RECOIL_INSTEAD_OF(MPI_Scatter, 8, collective)
RECOIL_INSTEAD_OF(MPI_Iscatter, 9, collective)
RECOIL_INSTEAD_OF(MPI_Scatterv, 9, collective)
RECOIL_INSTEAD_OF(MPI_Iscatterv, 10, collective)
RECOIL_INSTEAD_OF(MPI_Alltoall, 7, collective)
RECOIL_INSTEAD_OF(MPI_Ialltoall, 8, collective)
RECOIL_INSTEAD_OF(MPI_Alltoallv, 9, collective)
RECOIL_INSTEAD_OF(MPI_Ialltoallv, 10, collective)
RECOIL_INSTEAD_OF(MPI_Alltoallw, 9, collective)
RECOIL_INSTEAD_OF(MPI_Ialltoallw, 10, collective)
RECOIL_INSTEAD_OF(MPI_Neighbor_alltoallv, 9, collective)
RECOIL_INSTEAD_OF(MPI_Ineighbor_alltoallv, 10, collective)
RECOIL_INSTEAD_OF(MPI_Allgather, 7, gather)
RECOIL_INSTEAD_OF(MPI_Iallgather, 8, gather)
RECOIL_INSTEAD_OF(MPI_Allgatherv, 8, gather_parts)
RECOIL_INSTEAD_OF(MPI_Iallgatherv, 9, gather_parts)

RECOIL_INSTEAD_OF(MPI_Init, 2, count_nothing)
RECOIL_INSTEAD_OF(MPI_Init_thread, 4, count_nothing)
RECOIL_INSTEAD_OF(MPI_Comm_create, 3, count_nothing)
RECOIL_INSTEAD_OF(MPI_Comm_dup, 2, count_nothing)
RECOIL_INSTEAD_OF(MPI_Comm_free, 1, count_nothing)
RECOIL_INSTEAD_OF(MPI_Comm_split, 4, count_nothing)
RECOIL_INSTEAD_OF(MPI_Comm_split_type, 5, count_nothing)
RECOIL_INSTEAD_OF(MPI_Cart_create, 6, count_nothing)
RECOIL_INSTEAD_OF(MPI_Cart_sub, 3, count_nothing)
RECOIL_INSTEAD_OF(MPI_Dist_graph_create_adjacent, 10, count_nothing)

RECOIL_INSTEAD_OF(MPI_Win_allocate_shared, 6, count_nothing)
RECOIL_INSTEAD_OF(MPI_Win_create, 6, count_nothing)
RECOIL_INSTEAD_OF(MPI_Win_free, 1, count_nothing)
RECOIL_INSTEAD_OF(MPI_Win_fence, 2, count_nothing)
RECOIL_INSTEAD_OF(MPI_Win_post, 3, count_nothing)
RECOIL_INSTEAD_OF(MPI_Win_start, 3, count_nothing)
RECOIL_INSTEAD_OF(MPI_Win_complete, 1, count_nothing)
RECOIL_INSTEAD_OF(MPI_Win_wait, 1, count_nothing)
RECOIL_INSTEAD_OF(MPI_Win_test, 2, count_nothing)
RECOIL_INSTEAD_OF(MPI_Win_lock, 4, count_nothing)
RECOIL_INSTEAD_OF(MPI_Win_unlock, 2, count_nothing)
RECOIL_INSTEAD_OF(MPI_Get, 8, count_nothing)
RECOIL_INSTEAD_OF(MPI_Rget, 9, count_nothing)
RECOIL_INSTEAD_OF(MPI_Put, 8, count_nothing)
RECOIL_INSTEAD_OF(MPI_Accumulate, 9, count_nothing)
RECOIL_INSTEAD_OF(MPI_Get_accumulate, 12, count_nothing)
RECOIL_INSTEAD_OF(MPI_Fetch_and_op, 7, count_nothing)

RECOIL_INSTEAD_OF(MPI_File_open, 5, count_nothing)
RECOIL_INSTEAD_OF(MPI_File_close, 1, count_nothing)
RECOIL_INSTEAD_OF(MPI_File_sync, 1, count_nothing)
RECOIL_INSTEAD_OF(MPI_File_set_size, 2, count_nothing)
RECOIL_INSTEAD_OF(MPI_File_set_view, 6, count_nothing)
RECOIL_INSTEAD_OF(MPI_File_set_atomicity, 2, count_nothing)
RECOIL_INSTEAD_OF(MPI_File_read_all, 5, count_nothing)
RECOIL_INSTEAD_OF(MPI_File_write_all, 5, count_nothing)
RECOIL_INSTEAD_OF(MPI_File_read_at_all, 6, count_nothing)
RECOIL_INSTEAD_OF(MPI_File_write_at_all, 6, count_nothing)

// Known by its request, which is there after the call.
int MPI_Send_init(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  const int error = PMPI_Send_init(data, count, type, to, tag, comm, request);
  persistent_sends[*request] = {count, type};
  return error;
}

} // extern "C"
