#include "recoil/parallel/communicator.hpp"

#include <algorithm>
#include <climits>
#include <numeric>

#include "recoil/base/error.hpp"
#include "recoil/parallel/environment.hpp"

namespace recoil::parallel {

namespace {

// Counts of MPI calls are ints: longer arrays go in parts of this many entries.
constexpr std::size_t max_count = std::size_t(1) << 30;

MPI_Datatype type_of(double) { return MPI_DOUBLE; }
MPI_Datatype type_of(GlobalIndex) { return MPI_INT64_T; }

template <class T>
T reduce(const Communicator& comm, T value, MPI_Op operation) {
  T result{};
  RECOIL_MPI(MPI_Allreduce(&value, &result, 1, type_of(value), operation, comm.get()));
  return result;
}

template <class T>
std::vector<T> gather(const Communicator& comm, T value) {
  std::vector<T> values(comm.size());
  RECOIL_MPI(MPI_Allgather(&value, 1, type_of(value), values.data(), 1, type_of(value), comm.get()));
  return values;
}

/// The parts of all ranks, one after the other; `counts` of them.
template <class T>
std::vector<T> gather_parts(const Communicator& comm, std::span<const T> own,
                            const std::vector<GlobalIndex>& counts, MPI_Datatype type) {
  const GlobalIndex total = std::accumulate(counts.begin(), counts.end(), GlobalIndex{0});
  if (total > INT_MAX)
    throw LibraryError("gathering " + std::to_string(total) + " entries: too many for MPI");
  const std::vector<int> sizes(counts.begin(), counts.end());
  std::vector<int> offsets(sizes.size());
  std::exclusive_scan(sizes.begin(), sizes.end(), offsets.begin(), 0);
  std::vector<T> all(total);
  RECOIL_MPI(MPI_Allgatherv(own.data(), sizes[comm.rank()], type, all.data(), sizes.data(), offsets.data(),
                            type, comm.get()));
  return all;
}

} // namespace

void CommunicatorTraits::release(Handle& comm) noexcept {
  // Objects that live until the end of main may go after MPI_Finalize, which has freed everything.
  if (mpi_is_active()) MPI_Comm_free(&comm);
}

Communicator::Communicator(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) throw LibraryError("a Communicator cannot be made from MPI_COMM_NULL");
  RECOIL_MPI(MPI_Comm_dup(comm, handle_.put()));
  RECOIL_MPI(MPI_Comm_set_errhandler(get(), MPI_ERRORS_RETURN));
  RECOIL_MPI(MPI_Comm_rank(get(), &rank_));
  RECOIL_MPI(MPI_Comm_size(get(), &size_));
}

Communicator::Communicator(UniqueHandle<CommunicatorTraits> handle) : handle_(std::move(handle)) {
  RECOIL_MPI(MPI_Comm_set_errhandler(get(), MPI_ERRORS_RETURN));
  RECOIL_MPI(MPI_Comm_rank(get(), &rank_));
  RECOIL_MPI(MPI_Comm_size(get(), &size_));
}

double Communicator::sum(double value) const { return reduce(*this, value, MPI_SUM); }
GlobalIndex Communicator::sum(GlobalIndex value) const { return reduce(*this, value, MPI_SUM); }
double Communicator::min(double value) const { return reduce(*this, value, MPI_MIN); }
double Communicator::max(double value) const { return reduce(*this, value, MPI_MAX); }
GlobalIndex Communicator::min(GlobalIndex value) const { return reduce(*this, value, MPI_MIN); }
GlobalIndex Communicator::max(GlobalIndex value) const { return reduce(*this, value, MPI_MAX); }

void Communicator::sum(std::span<double> values) const {
  for (std::size_t begin = 0; begin < values.size(); begin += max_count) {
    const int count = std::min(max_count, values.size() - begin);
    RECOIL_MPI(MPI_Allreduce(MPI_IN_PLACE, &values[begin], count, MPI_DOUBLE, MPI_SUM, get()));
  }
}

GlobalIndex Communicator::exclusive_scan(GlobalIndex value) const {
  GlobalIndex result = 0;
  RECOIL_MPI(MPI_Exscan(&value, &result, 1, MPI_INT64_T, MPI_SUM, get()));
  return rank_ == 0 ? 0 : result; // MPI leaves the result of rank 0 undefined
}

bool Communicator::all(bool value) const { return min(GlobalIndex(value)) == 1; }
bool Communicator::any(bool value) const { return max(GlobalIndex(value)) == 1; }
void Communicator::barrier() const { RECOIL_MPI(MPI_Barrier(get())); }

void Communicator::broadcast(std::span<std::byte> bytes, int root) const {
  for (std::size_t begin = 0; begin < bytes.size(); begin += max_count) {
    const int count = std::min(max_count, bytes.size() - begin);
    RECOIL_MPI(MPI_Bcast(&bytes[begin], count, MPI_BYTE, root, get()));
  }
}

void Communicator::broadcast(std::string& text, int root) const {
  text.resize(agreed_size(std::ssize(text), root));
  broadcast(std::as_writable_bytes(std::span(text.data(), text.size())), root);
}

void Communicator::broadcast(std::vector<std::string>& names, int root) const {
  std::string joined;
  for (const std::string& name : names) joined += name + '\n';
  broadcast(joined, root);
  names.clear();
  for (std::size_t begin = 0, end; begin < joined.size(); begin = end + 1) {
    end = joined.find('\n', begin);
    names.push_back(joined.substr(begin, end - begin));
  }
}

GlobalIndex Communicator::agreed_size(GlobalIndex size, int root) const {
  RECOIL_MPI(MPI_Bcast(&size, 1, MPI_INT64_T, root, get()));
  return size;
}

std::vector<GlobalIndex> Communicator::all_gather(GlobalIndex value) const { return gather(*this, value); }
std::vector<double> Communicator::all_gather(double value) const { return gather(*this, value); }

std::vector<double> Communicator::all_gather(std::span<const double> values) const {
  std::vector<double> result(values.size() * size_);
  const int count = values.size();
  RECOIL_MPI(MPI_Allgather(values.data(), count, MPI_DOUBLE, result.data(), count, MPI_DOUBLE, get()));
  return result;
}

std::vector<GlobalIndex> Communicator::all_gather_parts(std::span<const GlobalIndex> values) const {
  return gather_parts<GlobalIndex>(*this, values, all_gather(std::ssize(values)), MPI_INT64_T);
}

std::vector<std::string> Communicator::all_gather(const std::string& text) const {
  const std::vector<GlobalIndex> lengths = all_gather(std::ssize(text));
  const std::vector<char> joined = gather_parts<char>(*this, text, lengths, MPI_CHAR);
  std::vector<std::string> texts;
  auto next = joined.begin();
  for (const GlobalIndex length : lengths) {
    texts.emplace_back(next, next + length);
    next += length;
  }
  return texts;
}

Communicator Communicator::split(int color, int key) const {
  RECOIL_ASSERT(color >= 0);
  UniqueHandle<CommunicatorTraits> handle;
  RECOIL_MPI(MPI_Comm_split(get(), color, key, handle.put()));
  return Communicator(std::move(handle));
}

void agree(const Communicator& comm, int code, const std::string& message) {
  const int first = comm.min(GlobalIndex{message.empty() ? comm.size() : comm.rank()});
  if (first == comm.size()) return;
  std::string shared_message = message;
  comm.broadcast(shared_message, first);
  comm.broadcast(std::as_writable_bytes(std::span(&code, 1)), first);
  const ExitCode agreed{code};
  switch (agreed) {
  case ExitCode::bad_input:
    throw InputError(shared_message);
  case ExitCode::file_error:
    throw FileError(shared_message);
  case ExitCode::done:
  case ExitCode::internal:
    throw LibraryError(shared_message, true);
  default:
    throw Error(agreed, shared_message);
  }
}

} // namespace recoil::parallel
