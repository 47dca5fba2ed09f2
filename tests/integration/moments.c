/* Preloaded into recoil by tests (moments.py): sends the process a signal at a moment that can be repeated.
 *
 *   MOMENT   `start` (right after recoil has installed its handlers), `mpi` (in MPI_Init_thread), `finalized` (after
 *            MPI_Finalize), `end` (after main and the static destructors), `reduction` (before an MPI_Allreduce), or
 *            `file:NAME` (after a file was renamed to NAME)
 *   MOMENT_COUNT   which of them counts, 1 for the first; every later one counts too if MOMENT_REPEAT is set
 *   MOMENT_RANK    the rank that it happens on
 *   MOMENT_SIGNAL  number of the signal
 *   MOMENT_REPORT  a file that gets, when the signal is sent, the size of MOMENT_LOG in bytes; at the end of a process
 *                  that got none, the number of moments there were
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static long seen = 0, sent = 0;

static long number(const char *name, long otherwise) {
  const char *text = getenv(name);
  return text != NULL ? atol(text) : otherwise;
}

/* Daemons that MPI starts inherit the environment. */
static int is_chosen(void) {
  return strcmp(program_invocation_short_name, "recoil") == 0 && number("OMPI_COMM_WORLD_RANK", 0) == number("MOMENT_RANK", 0);
}

static void report(long value) {
  const char *path = getenv("MOMENT_REPORT");
  FILE *file = path != NULL ? fopen(path, "w") : NULL;
  if (file == NULL) return;
  fprintf(file, "%ld\n", value);
  fclose(file);
}

/* The first rank writes the log: others give it time for the lines of what they have done together. */
static long log_size(void) {
  const char *path = getenv("MOMENT_LOG");
  if (number("OMPI_COMM_WORLD_RANK", 0) > 0) usleep(200000);
  struct stat status;
  return path != NULL && stat(path, &status) == 0 ? (long)status.st_size : 0;
}

static void moment(const char *kind) {
  const char *wanted = getenv("MOMENT");
  if (wanted == NULL || strcmp(wanted, kind) != 0 || !is_chosen()) return;
  ++seen;
  const long count = number("MOMENT_COUNT", 1);
  if (seen < count || (seen > count && getenv("MOMENT_REPEAT") == NULL)) return;
  if (sent++ == 0) report(log_size());
  raise((int)number("MOMENT_SIGNAL", SIGUSR1));
}

int sigaction(int signal_number, const struct sigaction *action, struct sigaction *before) {
  static int (*next)(int, const struct sigaction *, struct sigaction *) = NULL;
  if (next == NULL) *(void **)&next = dlsym(RTLD_NEXT, "sigaction");
  const int result = next(signal_number, action, before);
  if (signal_number == SIGTERM && action != NULL && action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN)
    moment("start");
  return result;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
  moment("mpi");
  const int result = PMPI_Init_thread(argc, argv, required, provided);
  moment("mpi");
  return result;
}

int MPI_Finalize(void) {
  const int result = PMPI_Finalize();
  moment("finalized");
  return result;
}

int MPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  moment("reduction");
  return PMPI_Allreduce(send, receive, count, type, op, comm);
}

int rename(const char *from, const char *to) {
  static int (*next)(const char *, const char *) = NULL;
  if (next == NULL) *(void **)&next = dlsym(RTLD_NEXT, "rename");
  const int result = next(from, to);
  const char *name = strrchr(to, '/');
  char kind[300];
  snprintf(kind, sizeof kind, "file:%s", name != NULL ? name + 1 : to);
  moment(kind);
  return result;
}

__attribute__((destructor)) static void end(void) {
  moment("end");
  if (getenv("MOMENT") != NULL && sent == 0 && is_chosen()) report(seen);
}
