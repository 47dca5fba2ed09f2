#include <cstdio>
#include <cstdlib>
#include <exception>

#include <unistd.h>

#include "checkpoint/toy.hpp"
#include "recoil/parallel/environment.hpp"

/// toy_run FOLDER LAST EVERY CHUNK: checks what stands in FOLDER, then starts or continues the toy until
/// state LAST and checks again.
int main(int argc, char** argv) {
  const recoil::parallel::Environment environment(argc, argv);
  const recoil::parallel::Communicator comm(MPI_COMM_WORLD);
  if (argc != 5) return 2;
  const char* folder = argv[1];
  const auto check = [&] {
    recoil::checkpoint::TrajectoryReader reader(comm, folder);
    const std::string found = recoil::testing::differences(comm, reader, 3, 7);
    if (found.empty()) return reader.records().size();
    std::fprintf(stderr, "wrong: %s\n", found.c_str());
    std::exit(10);
  };
  std::printf("pid %d\n", static_cast<int>(::getpid()));
  std::fflush(stdout);
  try {
    if (recoil::checkpoint::TrajectoryReader::exists(comm, folder)) {
      const std::size_t states = check();
      if (comm.rank() == 0) std::printf("found %zu states\n", states);
    }
    recoil::testing::run_toy(comm, folder, std::atol(argv[2]), std::atoi(argv[3]), std::atoi(argv[4]));
    check();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 4;
  }
  if (comm.rank() == 0) std::printf("done\n");
}
