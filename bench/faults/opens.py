#!/usr/bin/env python3
"""Each rank fails to open each file that it opens: simulate, gradient, --restart of both, and info. None may wait for ever (30 s), end
with another code than 0, 2 or 4, hide the file's name, or spoil what a restart then makes of the folder.

    bench/faults/opens.py --recoil build/release/recoil --shim build/release/tests/support/libfailing_open.so [--ranks 1 2 3 4]
                          [--sample 30 --seed 0]

A first run of each command notes which rank opens what (tests/support/failing_open.cpp, through LD_PRELOAD); then one run for
every rank, file and reason follows in which that opening fails, or for a random sample of them. One line per failure, counts at the
end; the exit code is 1 if any run was wrong.
"""
import argparse
import collections
import errno
import os
import random
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "integration"))
import inputs  # noqa: E402
import runs  # noqa: E402
import studies  # noqa: E402

LIMIT = 30
PARSER = argparse.ArgumentParser()
PARSER.add_argument("--shim", required=True)
PARSER.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 3, 4])
PARSER.add_argument("--sample", type=int, default=0, help="runs in all; 0: every file of every rank")
PARSER.add_argument("--seed", type=int, default=0)


class Case:
    """A command on a copy of a folder that is made ready once."""

    def __init__(self, name, command, made_from=None, before=None):
        self.name, self.command, self.made_from, self.before = name, command, made_from, before


def run_with(recoil, shim, ranks, arguments, **settings):
    """Exit code (None: beyond the limit) and text of a command under the shim."""
    environment = dict(runs.ENVIRONMENT, RECOIL_OPEN_UNDER=recoil.folder, **settings)
    command = recoil.command(ranks, *arguments)
    if ranks > 1:
        command[1:1] = ["-x", "LD_PRELOAD=" + shim]
    else:
        environment["LD_PRELOAD"] = shim
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    try:
        text = process.communicate(timeout=LIMIT)[0]
    except subprocess.TimeoutExpired:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
        return None, process.communicate()[0].decode(errors="replace")
    return process.returncode, text.decode(errors="replace")


def cases(recoil):
    """What an undisturbed run and gradient come to, and all commands, with a run and a gradient that are stopped half-way."""
    scene = inputs.scene(recoil)
    # The barrier stiffness is adaptive: the study makes a pilot run.
    del scene["solver"]["contact"]
    scene = recoil.write_scene("scene", scene)
    reference, gradient, swept = recoil.simulate(1, scene, "reference"), recoil.path("gradient"), recoil.path("swept")
    study = recoil.write_scene("study", inputs.study(recoil, {"fall": scene}, reference))
    stopped = recoil.simulate(1, scene, "stopped", "--steps", 3)
    recoil.run(1, "gradient", study, "-o", gradient, "-q")
    shutil.copytree(gradient, swept)
    for left in ("gradient.json", "gradient.h5", "fall/sweep.json"):
        os.remove(os.path.join(swept, left))
    folder = recoil.path("folder")
    return (reference, gradient), [Case("simulate", ["simulate", scene, "-o", folder, "-q"]),
                       Case("simulate --restart", ["simulate", "--restart", folder, "-q"], stopped),
                       Case("gradient", ["gradient", study, "-o", folder, "-q"]),
                       Case("gradient --restart", ["gradient", "--restart", folder, "-q"], swept),
                       Case("info", ["info", folder], stopped)]


def prepare(recoil, case):
    folder = recoil.path("folder")
    shutil.rmtree(folder, ignore_errors=True)
    if case.made_from:
        shutil.copytree(case.made_from, folder)
    return folder


def pattern(path):
    """What the path has in common from run to run: lock files carry a process number."""
    return re.sub(r"(recoil\.lock\.).*", r"\1", path)


def openings(recoil, shim, case, ranks):
    """Number of openings by (rank, path)."""
    prepare(recoil, case)
    record = recoil.path("opened")
    if os.path.exists(record):
        os.remove(record)
    code, text = run_with(recoil, shim, ranks, case.command, RECOIL_OPEN_LOG=record)
    runs.check(code == 0, "%s on %d ranks opens its files" % (case.name, ranks))
    with open(record) as file:
        lines = [line.rstrip("\n").split(" ", 1) for line in file]
    if code != 0:
        raise SystemExit(text)
    return collections.Counter((int(rank), pattern(path)) for rank, path in lines)


def fail(recoil, shim, case, ranks, rank, path, reason, nth, references):
    """The exit code of the command, and what is wrong with how it ends; empty if nothing is."""
    folder = prepare(recoil, case)
    code, text = run_with(recoil, shim, ranks, case.command, RECOIL_OPEN_FAIL="%d %d %d %s" % (rank, reason, nth, path))
    if code is None:
        return code, "does not end"
    if code not in (0, 2, 4):
        return code, "exit %d: %s" % (code, text[:300])
    if "internal error" in text or "remove this file" in text:
        return code, "misleads: " + text[:300]
    name = os.path.basename(re.sub(r"\.(part|lock\.)$", "", path))
    if code != 0 and name not in text:
        return code, "does not name %s: %s" % (name, text[:300])
    if case.name == "info" or not os.path.exists(os.path.join(folder, {"simulate": "trajectory/manifest.json", "gradient": "study.json"}[case.command[0]])):
        return code, ""
    again, text = recoil.run(1, case.command[0], "--restart", folder, "-q", expect=None)
    if again != 0:
        return code, "cannot be continued: exit %d %s" % (again, text[:300])
    run, gradient = references
    error = studies.distance(folder, gradient) if case.command[0] == "gradient" else runs.difference(runs.state(folder), runs.state(run))
    return code, "" if error < 1e-8 else "a restart ends elsewhere: %.1e" % error


with runs.Recoil() as recoil:
    arguments = PARSER.parse_args(recoil.rest)
    rng = random.Random(arguments.seed)
    references, all_cases = cases(recoil)
    trials = []
    for ranks in arguments.ranks:
        for case in all_cases:
            for (rank, path), count in sorted(openings(recoil, arguments.shim, case, ranks).items()):
                trials += [(case, ranks, rank, path, reason, nth) for reason in (errno.EACCES, errno.ENOENT, errno.ENOSPC)
                           for nth in sorted({1, (count + 1) // 2, count})]
    if arguments.sample:
        trials = rng.sample(trials, min(arguments.sample, len(trials)))
    ends = collections.Counter()
    for case, ranks, rank, path, reason, nth in trials:
        code, said = fail(recoil, arguments.shim, case, ranks, rank, path, reason, nth, references)
        ends["wrong" if said else "exit %d" % code] += 1
        if said:
            runs.check(False, "%s, rank %d of %d, opening %d of %s, %s: %s" % (case.name, rank, ranks, nth, path, errno.errorcode[reason], said))
    runs.check(ends["exit 4"] > len(trials) // 3, "%d failing openings of %d files: %s" % (len(trials), len({t[3] for t in trials}), dict(ends)))
