"""Signals at moments of a run that can be repeated: an n-th reduction over the ranks, the renaming of a file, the start and end
of the process (moments.c). Shared by tests of whole runs and bench/faults."""
import os
import signal
import subprocess

import runs

# No test waits longer for a process that a signal has reached.
PATIENCE = 300


class Ended:
    """How a process ended that was sent a signal."""

    def __init__(self, code, text, sent, log):
        self.code, self.text = code, text
        self.sent = sent  # the moment has come
        self.log = log    # what was written to log.txt afterwards

    def newton_iterations(self):
        """That were completed after the signal; needs the log of a run with -v."""
        return self.log.count("newton ")


class Moments:
    def __init__(self, recoil, library):
        self.recoil, self.library = recoil, os.path.abspath(library)

    def start(self, folder, ranks, moment, number, arguments, count=1, rank=0, repeat=False):
        """The process, and the file that tells whether the moment has come."""
        report = self.recoil.path("moment")
        if os.path.exists(report):
            os.remove(report)
        environment = dict(runs.ENVIRONMENT, LD_PRELOAD=self.library, ASAN_OPTIONS="verify_asan_link_order=0", MOMENT=moment, MOMENT_COUNT=str(count), MOMENT_RANK=str(rank),
                           MOMENT_SIGNAL=str(int(number)), MOMENT_REPORT=report, MOMENT_LOG=os.path.join(folder, "log.txt"))
        if repeat:
            environment["MOMENT_REPEAT"] = "1"
        command = self.recoil.command(ranks, *arguments)
        if ranks > 1:
            # mpirun itself must not be sent the signal.
            names = [name for name in environment if name.startswith("MOMENT")] + ["LD_PRELOAD"]
            command[1:1] = [part for name in names for part in ("-x", "%s=%s" % (name, environment.pop(name)))]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL), report

    def run(self, folder, ranks, moment, number, *arguments, **options):
        """Runs `recoil *arguments`, which works in `folder`, to its end."""
        process, report = self.start(folder, ranks, moment, number, arguments, **options)
        try:
            text = process.communicate(timeout=PATIENCE)[0].decode(errors="replace")
        except subprocess.TimeoutExpired:
            process.kill()
            text = process.communicate()[0].decode(errors="replace") + "\nDEADLOCK\n"
        code = process.returncode
        # mpirun tells the number of a signal as a shell does.
        code = code - 128 if ranks > 1 and code > 128 else -code if code < 0 else code
        sent = os.path.exists(report)
        return Ended(code, text, sent, self._log_after(folder, report) if sent else "")

    def count(self, folder, ranks, moment, *arguments, rank=0):
        """How often the moment comes in a whole run."""
        process, report = self.start(folder, ranks, moment, signal.SIGUSR1, arguments, count=1 << 60, rank=rank)
        text = process.communicate()[0].decode(errors="replace")
        if process.returncode != 0:
            raise SystemExit("exit %d of recoil %s\n%s" % (process.returncode, arguments, text))
        with open(report) as file:
            return int(file.read())

    def _log_after(self, folder, report):
        with open(report) as file:
            size = int(file.read())
        try:
            with open(os.path.join(folder, "log.txt")) as file:
                file.seek(size)
                return file.read()
        except FileNotFoundError:
            return ""
