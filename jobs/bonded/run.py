#!/usr/bin/env python3
"""Runs the examples of scenes.py by implicit steps and by leapfrog and compares seconds per frame with the paper's.

    jobs/bonded/run.py --recoil build/release/recoil --ranks 2 stretch twist            # in full
    jobs/bonded/run.py --recoil build/release/recoil --ranks 2 --frames 2 plate         # their first frames
    jobs/bonded/run.py --recoil build/release/recoil --ranks 2 --minutes 10 cloth       # as far as each run gets
    jobs/bonded/run.py --recoil build/release/recoil --scale 0.01                       # all, small

Runs go to a folder per example below --out. Seconds are those after the particles are read and dealt out, with a state stored per frame:
processor time on one rank, so that other jobs do not count, and wall time on more. `--record` adds what was found to measured.json and
writes the tables of README.md from it. The exit code is 1 if a run fails, if its energies do not add up, if spheres overlap, if nothing
breaks that should, or if both ways lead elsewhere.
"""
import argparse
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from datetime import datetime

import numpy as np

FOLDER = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(FOLDER))
sys.path[1:1] = [os.path.join(ROOT, "scripts"), os.path.join(ROOT, "tests", "integration")]
import tables  # noqa: E402
from recoil_run import Run  # noqa: E402
from runs import ENVIRONMENT, FAILURES, check  # noqa: E402
from scenes import EXAMPLES, critical_step, write  # noqa: E402

# Largest difference between places of both ways, over the largest displacement. Beams that drape swing, which be_reflect damps.
AGREE = {"stretch": 0.005, "twist": 0.005}


def simulate(arguments, scene, folder, steps):
    """Summary and processor time [s] of a run, which a signal ends after --minutes; what it printed if it failed ends the program."""
    shutil.rmtree(folder, ignore_errors=True)
    command = [os.path.abspath(arguments.recoil), "simulate", scene, "-o", folder, "-q", "--steps", str(steps)]
    if arguments.ranks > 1:
        command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(arguments.ranks)] + command
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=ENVIRONMENT, text=True)
    try:
        printed, _ = child.communicate(timeout=60 * arguments.minutes if arguments.minutes else None)
    except subprocess.TimeoutExpired:
        child.send_signal(signal.SIGUSR1)
        printed, _ = child.communicate()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    summary = os.path.join(folder, "summary.json")
    if not os.path.exists(summary):
        raise SystemExit("%s\n%s" % (" ".join(command), printed))
    with open(summary) as file:
        return json.load(file), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def seconds_of_steps(folder):
    """From the start of the first step to the end of the last one, by the log."""
    lines = [re.match(r"(\S+ \S+) info: step \d+/.*  ([\d.]+) s  left", line) for line in open(os.path.join(folder, "log.txt"))]
    at = [(datetime.fromisoformat(found.group(1)), float(found.group(2))) for found in lines if found]
    return (at[-1][0] - at[0][0]).total_seconds() + at[0][1] if at else 0


def imbalance(ledger):
    """What the energies of a run leave open, over the largest of them."""
    columns = {name: ledger[name] for name in ("kinetic", "elastic", "barrier", "external_work", "broken", "dissipated_friction",
                                               "dissipated_integrator") if name in ledger}
    total = columns["kinetic"] + columns["elastic"] + columns.get("barrier", 0)
    lost = columns["broken"] + columns.get("dissipated_friction", 0) + columns["dissipated_integrator"] - columns["external_work"]
    return float(np.ptp(total + lost) / max(np.abs(values).max() for values in columns.values()))


def first_break(folder):
    """Time at which the first bond breaks [s], or None."""
    rows = np.atleast_1d(np.genfromtxt(os.path.join(folder, "broken_bonds.csv"), delimiter=",", names=True, dtype=None, encoding="utf-8"))
    return float(rows["time"].min()) if rows.size else None


def at_break(folder, when):
    """Force on the middle roller and its way where a bar breaks first."""
    rows = np.genfromtxt(os.path.join(folder, "obstacle_forces.csv"), delimiter=",", names=True, dtype=None, encoding="utf-8")
    rows = rows[(rows["obstacle"] == "middle") & (rows["time"] < when * (1 + 1e-9))]
    return {"load": float(rows["force_z"].max()), "way": float(-rows["displacement_z"][-1])}


def conduct(name, arguments, explicit):
    """Runs one example one way; its figures and the folder of the run."""
    example, way = EXAMPLES[name], "explicit" if explicit else "implicit"
    out = os.path.join(os.path.abspath(arguments.out), name)
    per_frame = example.steps_per_frame(arguments.scale, explicit)
    write(name, os.path.join(out, way), arguments.scale, explicit)
    frames = min(arguments.frames or example.frames, example.frames)
    folder = os.path.join(out, way + "-run")
    summary, processor_s = simulate(arguments, os.path.join(out, way, "scene.json"), folder, max(1, round(frames * per_frame)))
    run = Run(folder, unfinished=True)
    found = {"particles": summary["particles"], "bonds": summary["bonds"], "ranks": summary["ranks"], "scale": arguments.scale,
             "frames": summary["steps"] / per_frame, "of_frames": example.frames, "steps_per_frame": per_frame}
    check(summary["status"] == "done" or (summary["status"] == "interrupted" and summary["steps"] > 0),
          "%s, %s: %s after %.3g frames of %d particles" % (name, way, summary["status"], found["frames"], found["particles"]))
    if not summary["steps"]:
        return None, folder
    seconds = seconds_of_steps(folder)
    if arguments.ranks == 1:  # more ranks wait for each other, which takes processor time, too
        seconds *= processor_s / summary["wall_s"]
    found["seconds_per_frame"] = seconds / found["frames"]
    if not explicit:
        radius = float(run.mesh.radius.min())
        found["dt_over_T"] = example.frame / per_frame / critical_step(example.E * example.section**2, radius)
        found["newton_per_step"] = summary["newton_iterations"] / summary["steps"]
        found["linear_per_newton"] = summary["linear_iterations"] / max(1, summary["newton_iterations"])
        found["solver"] = summary["linear_solver"]
        if "min_distance" in run.ledger:
            check(not (run.ledger["min_distance"] <= 0).any(), "%s, %s: no overlaps" % (name, way))
    error = imbalance(run.ledger)
    check(error < 1e-3, "%s, %s: energies add up to %.1e" % (name, way, error))
    if example.strength:
        found["broken_bonds"], found["fragments"] = summary["broken_bonds"], summary["fragments"]
        when = first_break(folder)
        check(when is not None or found["frames"] < example.breaks_by, "%s, %s: %d bonds broken" % (name, way, found["broken_bonds"]))
        if when is not None:
            found["first_break_frame"] = when / example.frame
            if name.startswith("bending"):
                found.update(at_break(folder, when))
    print("%s, %s: %.3g s per frame" % (name, way, found["seconds_per_frame"]), flush=True)
    return found, folder


def difference(folders):
    """Between the places of two runs at the last time that both stored: root of the mean square over the largest displacement."""
    runs = [Run(folder, unfinished=True) for folder in folders]
    times = [np.round(run.times, 9) for run in runs]
    last = np.intersect1d(*times).max()
    first, second = (next(state for state, time in zip(run, at) if time == last).u[:, :3] for run, at in zip(runs, times))
    moved = np.linalg.norm(second - runs[1].mesh.points, axis=1).max()
    return float(np.sqrt(((first - second) ** 2).sum(axis=1).mean()) / moved) if last > 0 else 0.0


def both(name, arguments):
    """What is found of an example by each way, and their difference."""
    found, folders = {}, []
    for way in ("explicit", "implicit"):
        if arguments.only in (None, way):
            found[way], folder = conduct(name, arguments, way == "explicit")
            folders.append(folder)
    if len(folders) == 2 and name in AGREE and all(found.values()):
        found["difference"] = difference(folders)
        check(found["difference"] < AGREE[name], "%s: implicit and explicit places differ by %.1e of the largest displacement" %
              (name, found["difference"]))
    return {way: value for way, value in found.items() if value}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recoil", required=True)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--out", default=os.path.join(FOLDER, "runs"), help="default: runs/ beside this script")
    parser.add_argument("--scale", type=float, default=1, help="of the number of particles (default: 1)")
    parser.add_argument("--frames", type=float, help="of each run (default: all)")
    parser.add_argument("--minutes", type=float, help="after which a run is ended")
    parser.add_argument("--only", choices=("implicit", "explicit"), help="one of both ways")
    parser.add_argument("--record", action="store_true", help="add to measured.json, write the tables of the README")
    parser.add_argument("names", nargs="*", metavar="name", help="of %s (default: all)" % ", ".join(EXAMPLES))
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(EXAMPLES)
    if unknown:
        parser.error("no such example: %s; there are %s" % (", ".join(sorted(unknown)), ", ".join(EXAMPLES)))
    if shutil.which(arguments.recoil) is None:
        parser.error("--recoil %s: no such program" % arguments.recoil)
    return arguments


def main():
    arguments = parse_arguments()
    began = time.time()
    for name in arguments.names or EXAMPLES:
        found = both(name, arguments)
        if arguments.record:
            tables.record(name, found)
    print("%d expectation(s) failed, %.0f s" % (len(FAILURES), time.time() - began))
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main())
