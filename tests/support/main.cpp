#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <slepcsys.h>

namespace {

// Prints what fails on ranks other than 0, whose ordinary printer is silenced.
class FailurePrinter : public testing::EmptyTestEventListener {
public:
  explicit FailurePrinter(int rank) : rank_(rank) {}

private:
  void OnTestStart(const testing::TestInfo& test) override {
    test_ = std::string(test.test_suite_name()) + "." + test.name();
  }
  // Asking GoogleTest for the current test from here would lock a mutex that it holds.
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::fprintf(stderr, "[rank %d] %s:%d: failure in %s\n%s\n", rank_,
                 result.file_name() ? result.file_name() : "?", result.line_number(), test_.c_str(),
                 result.message());
    std::fflush(stderr);
  }
  std::string test_ = "no test";
  int rank_;
};

// Makes a test that fails on one rank fail on all. A rank that left a test early through a failure does not
// wait for ever for peers that stand in a collective call: it ends the program.
class FailureAgreement : public testing::EmptyTestEventListener {
public:
  explicit FailureAgreement(MPI_Comm comm) : comm_(comm) {}

private:
  void OnTestEnd(const testing::TestInfo& test) override {
    const int failed_here = test.result()->Failed();
    int failed = 0, done = 0;
    MPI_Request request;
    MPI_Iallreduce(&failed_here, &failed, 1, MPI_INT, MPI_MAX, comm_, &request);
    const auto start = std::chrono::steady_clock::now();
    for (MPI_Test(&request, &done, MPI_STATUS_IGNORE); !done; MPI_Test(&request, &done, MPI_STATUS_IGNORE)) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
      if (failed_here && std::chrono::steady_clock::now() - start > std::chrono::seconds(60)) {
        std::fprintf(stderr, "after the failure above, other ranks do not reach the end of %s.%s\n",
                     test.test_suite_name(), test.name());
        MPI_Abort(MPI_COMM_WORLD, 1);
      }
    }
    if (failed && !failed_here) ADD_FAILURE() << "failed on another rank";
  }
  MPI_Comm comm_;
};

} // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (SlepcInitialize(&argc, &argv, nullptr, nullptr)) return 1; // and PETSc
  // A communicator of its own keeps the agreement apart from whatever a failing test left unmatched.
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  int rank = 0;
  MPI_Comm_rank(comm, &rank);

  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (rank != 0) {
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailurePrinter(rank));
  }
  // The last listener is the first to hear of the end of a test, so the printer before it sees the agreed
  // outcome.
  listeners.Append(new FailureAgreement(comm));

  int failed_here = RUN_ALL_TESTS(), failed = 0;
  MPI_Allreduce(&failed_here, &failed, 1, MPI_INT, MPI_MAX, comm);
  MPI_Comm_free(&comm);
  if (SlepcFinalize()) return 1;
  return failed;
}
