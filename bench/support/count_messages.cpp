// Stands before MPI's functions of the same names, which MPI defines weakly for this purpose. Those that
// recoil::parallel calls; a library that sends by other means is not counted.
#include "support/count_messages.hpp"

namespace {

recoil::bench::Messages counted;

void count_message(int count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  ++counted.count;
  counted.bytes += recoil::GlobalIndex{count} * size;
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
