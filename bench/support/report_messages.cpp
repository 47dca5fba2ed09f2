// Loaded before a program (LD_PRELOAD), writes what each of its ranks handed to MPI and computed into the
// folder that RECOIL_MESSAGES names, when the program ends MPI.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "support/count_messages.hpp"

extern "C" int MPI_Finalize() {
  const double computing_s = recoil::bench::computing_seconds();
  const char* folder = std::getenv("RECOIL_MESSAGES");
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::string path =
      std::string(folder == nullptr ? "." : folder) + "/" + std::to_string(rank) + ".json";
  if (std::FILE* file = std::fopen(path.c_str(), "w")) {
    const recoil::bench::Messages sent = recoil::bench::messages_sent();
    std::fprintf(file,
                 "{\"messages\": %lld, \"bytes\": %lld, \"collectives\": %lld, \"gathered_bytes\": %lld, "
                 "\"computing_s\": %.6f}\n",
                 static_cast<long long>(sent.count), static_cast<long long>(sent.bytes),
                 static_cast<long long>(sent.collectives), static_cast<long long>(sent.gathered_bytes),
                 computing_s);
    std::fclose(file);
  }
  return PMPI_Finalize();
}
