"""Signals at moments of a run that can be repeated: an n-th reduction over the ranks, the renaming of a file, the start and end
of the process (moments.c). Shared by tests of whole runs and bench/faults."""
import os
import shutil
import signal
import subprocess

import runs
from studies import distance, exact, slide, slide_study, torn

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
        return self.log.count("debug: newton ")


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


class Job:
    """A command that is disturbed and continued, in folders of its own, compared with one that was left alone."""

    def __init__(self, moments, name, ranks, command, document, *options):
        self.moments, self.name, self.ranks, self.command = moments, name, ranks, command
        self.document, self.options = document, options
        self.folder = moments.recoil.path(name + "-disturbed")
        self.whole = moments.recoil.path(name + "-whole")
        self.reductions = [moments.count(self.clear(self.whole), ranks, "reduction", *self.fresh(self.whole), rank=rank)
                           for rank in range(ranks)]

    def clear(self, folder):
        shutil.rmtree(folder, ignore_errors=True)
        return folder

    def fresh(self, folder):
        return (self.command, self.document, "-o", folder, "-q", "-v", *self.options)

    def again(self):
        """With --restart wherever there is something to restart."""
        begun = os.path.exists(os.path.join(self.folder, {"simulate": "scene.json", "gradient": "study.json"}[self.command]))
        return (self.command, "--restart", self.folder, "-q", "-v", *self.options) if begun else self.fresh(self.folder)

    def has_states(self):
        return any("manifest.json" in files for _, _, files in os.walk(self.folder))

    def disturb(self, moment, number, continued=False, **options):
        """Starts anew, or continues what an earlier disturbance has left."""
        arguments = self.again() if continued else self.fresh(self.clear(self.folder))
        return self.moments.run(self.folder, self.ranks, moment, number, *arguments, **options)

    def finish(self, arguments=None):
        """Exit code and text of the command that goes on."""
        return self.moments.recoil.run(self.ranks, *(arguments or self.again()), expect=None)

    def is_same(self):
        """As the undisturbed one, bit by bit."""
        if self.command == "gradient":
            return distance(self.folder, self.whole) == 0
        return all((runs.state(self.folder, field=field) == runs.state(self.whole, field=field)).all() for field in "uv")

    def ledgers_are_whole(self):
        runs_of = [""] if self.command == "simulate" else [name for name in os.listdir(self.whole) if os.path.isdir(os.path.join(self.whole, name))]
        return all(self._ledger(self.folder, run) == self._ledger(self.whole, run) for run in runs_of)

    def _ledger(self, folder, run):
        with open(os.path.join(folder, run, "ledger.csv")) as file:
            return file.read()

    def check_interruption(self, what, ended):
        """Exit 75 in time, and the same answer in the end."""
        what = "%s, %s" % (self.name, what)
        late = ended.code == 0 and self.is_same()
        runs.check(ended.sent and (ended.code == 75 or late), "%s: exit %d%s" % (what, ended.code, " (it was over)" if late else ""))
        runs.check(ended.newton_iterations() <= 1, "%s: %d Newton iterations later" % (what, ended.newton_iterations()))
        if ended.code == 0:
            return
        code, text = self.finish()
        runs.check(code == 0 and self.is_same() and self.ledgers_are_whole(),
                   "%s: continued to the same answer%s" % (what, "" if code == 0 else ": exit %d: %s" % (code, text[-300:])))

    def check_start_and_end(self, number):
        """From the first line of main() to the last moment of the process, signals coming again and again."""
        for moment, expected in (("start", 75), ("mpi", 75), ("finalized", 0), ("end", 0)):
            what = "signal %d, moment '%s'" % (number, moment)
            ended = self.disturb(moment, number, rank=self.ranks - 1, repeat=True)
            if expected == 75:
                self.check_interruption(what, ended)
            runs.check(ended.sent and ended.code == expected, "%s, %s: exit %d" % (self.name, what, ended.code))

    def check_kill(self, what, ended, by_restart):
        """Either command goes on where there is no state; then the same answer."""
        what = "%s, %s" % (self.name, what)
        runs.check(ended.sent and ended.code == signal.SIGKILL, "%s: exit %d" % (what, ended.code))
        anew = not self.has_states() and not by_restart
        code, text = self.finish(self.fresh(self.folder) if anew else self.again())
        runs.check(code == 0 and self.is_same(), "%s: goes on with %s to the same answer%s" %
                   (what, "-o" if anew else "--restart", "" if code == 0 else ": exit %d: %s" % (code, text[-300:])))
        runs.check(code != 0 or self.ledgers_are_whole(), "%s: the ledger is whole" % what)


def bar_job(moments, ranks):
    return Job(moments, "bar-%d" % ranks, ranks, "simulate", moments.recoil.write_scene("bar-job", runs.bar([6, 2, 2], 4, chunk=1)))


def torn_job(moments, ranks):
    """With steps that are repeated as sub-steps."""
    return Job(moments, "torn-%d" % ranks, ranks, "simulate", moments.recoil.write_scene("torn-job", torn()))


def pressed_job(moments, ranks):
    """A block that is thrown up by a body whose end is moved too far to be moved at once; friction to convergence."""
    scene = slide(steps=3)
    scene["boundary_conditions"]["dirichlet_boundary"][0]["value"] = [0, "25*t"]
    scene["solver"]["contact"].update({"friction_iterations": -1, "friction_convergence_tol": 1e-9})
    return Job(moments, "pressed-%d" % ranks, ranks, "simulate", moments.recoil.write_scene("pressed-job", scene))


def gradient_job(moments, ranks, *options):
    """A pilot run, a run of which few states are stored, a sweep that computes them anew."""
    scene = slide(steps=5)
    scene["solver"] = {"nonlinear": exact()}
    study = slide_study("slide", moments.recoil.write_scene("adaptive-job", scene), store_every=3)
    study["check"] = {"directions": 1, "steps": [1e-3, 1e-4]}
    name = "gradient%s-%d" % ("".join(options), ranks)
    return Job(moments, name, ranks, "gradient", moments.recoil.write_scene(name, study), *options)
