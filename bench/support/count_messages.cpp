// Stands before MPI's functions of the same names, which MPI defines weakly for this purpose: those by which
// recoil::parallel and PETSc send.
#include "support/count_messages.hpp"

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

} // namespace

namespace recoil::bench {

Messages messages_sent() { return counted; }

} // namespace recoil::bench

extern "C" {

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  count_message(count, type);
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}

int MPI_Issend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request* request) {
  count_message(count, type);
  return PMPI_Issend(data, count, type, to, tag, comm, request);
}

int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  count_message(count, type);
  return PMPI_Send(data, count, type, to, tag, comm);
}

int MPI_Send_init(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  const int error = PMPI_Send_init(data, count, type, to, tag, comm, request);
  persistent_sends[*request] = {count, type};
  return error;
}

int MPI_Start(MPI_Request* request) {
  count_start(*request);
  return PMPI_Start(request);
}

int MPI_Startall(int count, MPI_Request* requests) {
  for (int i = 0; i < count; ++i) count_start(requests[i]);
  return PMPI_Startall(count, requests);
}

int MPI_Request_free(MPI_Request* request) {
  persistent_sends.erase(*request);
  return PMPI_Request_free(request);
}

int MPI_Allgather(const void* data, int count, MPI_Datatype type, void* all, int all_count,
                  MPI_Datatype all_type, MPI_Comm comm) {
  int ranks = 0;
  PMPI_Comm_size(comm, &ranks);
  count_gathered(recoil::GlobalIndex{all_count} * ranks, all_type);
  return PMPI_Allgather(data, count, type, all, all_count, all_type, comm);
}

int MPI_Allgatherv(const void* data, int count, MPI_Datatype type, void* all, const int* all_counts,
                   const int* offsets, MPI_Datatype all_type, MPI_Comm comm) {
  int ranks = 0;
  PMPI_Comm_size(comm, &ranks);
  recoil::GlobalIndex received = 0;
  for (int rank = 0; rank < ranks; ++rank) received += all_counts[rank];
  count_gathered(received, all_type);
  return PMPI_Allgatherv(data, count, type, all, all_counts, offsets, all_type, comm);
}

int MPI_Allreduce(const void* data, void* result, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  ++counted.collectives;
  return PMPI_Allreduce(data, result, count, type, op, comm);
}

int MPI_Exscan(const void* data, void* result, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  ++counted.collectives;
  return PMPI_Exscan(data, result, count, type, op, comm);
}

int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  ++counted.collectives;
  return PMPI_Bcast(data, count, type, root, comm);
}

int MPI_Barrier(MPI_Comm comm) {
  ++counted.collectives;
  return PMPI_Barrier(comm);
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  ++counted.collectives;
  return PMPI_Ibarrier(comm, request);
}

} // extern "C"
