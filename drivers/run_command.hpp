#pragma once

#include "commands.hpp"

/// How the program ends, whatever is thrown: with one of its exit codes and a sentence, on every rank.
namespace recoil::drivers {

/// What must hold before MPI starts: files that reach `ulimit -f` give an error instead of a signal, and
/// exceptions that nobody may catch still end with a sentence. Ends the process where `ulimit -v` or `ulimit
/// -f` leave too little to start at all.
void prepare_process();

/// Runs a command. An error that all ranks share is told by rank 0; one that the others cannot know of is
/// told by its rank and ends all of them. Collective.
int run_command(const parallel::Communicator& comm, const Run& run);

} // namespace recoil::drivers
