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
constexpr auto nothing = [](const auto&...) {};
constexpr auto message = [](const void*, int count, MPI_Datatype type, const auto&...) {
  count_message(count, type);
};
constexpr auto start = [](MPI_Request* request) { count_start(*request); };
constexpr auto start_all = [](int count, MPI_Request* requests) {
  for (int i = 0; i < count; ++i) count_start(requests[i]);
};
constexpr auto forget = [](MPI_Request* request) { persistent_sends.erase(*request); };
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

double seconds_within = 0;
int depth = 0; // functions that MPI calls, as those that delete attributes, call MPI again

struct Within {
  double begin = depth++ == 0 ? processor_seconds() : 0;
  Within() = default;
  Within(const Within&) = delete;
  Within& operator=(const Within&) = delete;
  ~Within() {
    if (--depth == 0) seconds_within += processor_seconds() - begin;
  }
};

template <class Count, class... Parameters>
int instead(int (*function)(Parameters...), Count count, std::type_identity_t<Parameters>... arguments) {
  const Within within;
  count(arguments...);
  return function(arguments...);
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

double computing_seconds() { return processor_seconds() - seconds_within; }

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
  int name(RECOIL_PARAMETERS_##number(P##name)) { return instead(P##name, count, RECOIL_ARGUMENTS_##number); }

extern "C" {

RECOIL_INSTEAD_OF(MPI_Send, 6, message)
RECOIL_INSTEAD_OF(MPI_Ssend, 6, message)
RECOIL_INSTEAD_OF(MPI_Rsend, 6, message)
RECOIL_INSTEAD_OF(MPI_Bsend, 6, message)
RECOIL_INSTEAD_OF(MPI_Isend, 7, message)
RECOIL_INSTEAD_OF(MPI_Issend, 7, message)
RECOIL_INSTEAD_OF(MPI_Irsend, 7, message)
RECOIL_INSTEAD_OF(MPI_Ibsend, 7, message)
RECOIL_INSTEAD_OF(MPI_Recv, 7, nothing)
RECOIL_INSTEAD_OF(MPI_Irecv, 7, nothing)
RECOIL_INSTEAD_OF(MPI_Mrecv, 5, nothing)
RECOIL_INSTEAD_OF(MPI_Imrecv, 5, nothing)
RECOIL_INSTEAD_OF(MPI_Sendrecv, 12, message)
RECOIL_INSTEAD_OF(MPI_Sendrecv_replace, 9, nothing)
RECOIL_INSTEAD_OF(MPI_Probe, 4, nothing)
RECOIL_INSTEAD_OF(MPI_Iprobe, 5, nothing)
RECOIL_INSTEAD_OF(MPI_Mprobe, 5, nothing)
RECOIL_INSTEAD_OF(MPI_Improbe, 6, nothing)

RECOIL_INSTEAD_OF(MPI_Start, 1, start)
RECOIL_INSTEAD_OF(MPI_Startall, 2, start_all)
RECOIL_INSTEAD_OF(MPI_Request_free, 1, forget)

RECOIL_INSTEAD_OF(MPI_Wait, 2, nothing)
RECOIL_INSTEAD_OF(MPI_Waitall, 3, nothing)
RECOIL_INSTEAD_OF(MPI_Waitany, 4, nothing)
RECOIL_INSTEAD_OF(MPI_Waitsome, 5, nothing)
RECOIL_INSTEAD_OF(MPI_Test, 3, nothing)
RECOIL_INSTEAD_OF(MPI_Testall, 4, nothing)
RECOIL_INSTEAD_OF(MPI_Testany, 5, nothing)
RECOIL_INSTEAD_OF(MPI_Testsome, 5, nothing)
RECOIL_INSTEAD_OF(MPI_Cancel, 1, nothing)

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

RECOIL_INSTEAD_OF(MPI_Init, 2, nothing)
RECOIL_INSTEAD_OF(MPI_Init_thread, 4, nothing)
RECOIL_INSTEAD_OF(MPI_Comm_create, 3, nothing)
RECOIL_INSTEAD_OF(MPI_Comm_dup, 2, nothing)
RECOIL_INSTEAD_OF(MPI_Comm_free, 1, nothing)
RECOIL_INSTEAD_OF(MPI_Comm_split, 4, nothing)
RECOIL_INSTEAD_OF(MPI_Comm_split_type, 5, nothing)
RECOIL_INSTEAD_OF(MPI_Cart_create, 6, nothing)
RECOIL_INSTEAD_OF(MPI_Cart_sub, 3, nothing)
RECOIL_INSTEAD_OF(MPI_Dist_graph_create_adjacent, 10, nothing)

RECOIL_INSTEAD_OF(MPI_Win_allocate_shared, 6, nothing)
RECOIL_INSTEAD_OF(MPI_Win_create, 6, nothing)
RECOIL_INSTEAD_OF(MPI_Win_free, 1, nothing)
RECOIL_INSTEAD_OF(MPI_Win_fence, 2, nothing)
RECOIL_INSTEAD_OF(MPI_Win_post, 3, nothing)
RECOIL_INSTEAD_OF(MPI_Win_start, 3, nothing)
RECOIL_INSTEAD_OF(MPI_Win_complete, 1, nothing)
RECOIL_INSTEAD_OF(MPI_Win_wait, 1, nothing)
RECOIL_INSTEAD_OF(MPI_Win_test, 2, nothing)
RECOIL_INSTEAD_OF(MPI_Win_lock, 4, nothing)
RECOIL_INSTEAD_OF(MPI_Win_unlock, 2, nothing)
RECOIL_INSTEAD_OF(MPI_Get, 8, nothing)
RECOIL_INSTEAD_OF(MPI_Rget, 9, nothing)
RECOIL_INSTEAD_OF(MPI_Put, 8, nothing)
RECOIL_INSTEAD_OF(MPI_Accumulate, 9, nothing)
RECOIL_INSTEAD_OF(MPI_Get_accumulate, 12, nothing)
RECOIL_INSTEAD_OF(MPI_Fetch_and_op, 7, nothing)

RECOIL_INSTEAD_OF(MPI_File_open, 5, nothing)
RECOIL_INSTEAD_OF(MPI_File_close, 1, nothing)
RECOIL_INSTEAD_OF(MPI_File_sync, 1, nothing)
RECOIL_INSTEAD_OF(MPI_File_set_size, 2, nothing)
RECOIL_INSTEAD_OF(MPI_File_set_view, 6, nothing)
RECOIL_INSTEAD_OF(MPI_File_set_atomicity, 2, nothing)
RECOIL_INSTEAD_OF(MPI_File_read_all, 5, nothing)
RECOIL_INSTEAD_OF(MPI_File_write_all, 5, nothing)
RECOIL_INSTEAD_OF(MPI_File_read_at_all, 6, nothing)
RECOIL_INSTEAD_OF(MPI_File_write_at_all, 6, nothing)

// Known by its request, which is there after the call.
int MPI_Send_init(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  const int error = PMPI_Send_init(data, count, type, to, tag, comm, request);
  persistent_sends[*request] = {count, type};
  return error;
}

} // extern "C"
