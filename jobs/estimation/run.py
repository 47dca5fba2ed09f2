#!/usr/bin/env python3
"""Runs the estimations: makes the observations if they are missing, optimises from the start values, compares with expected.json.

    jobs/estimation/run.py --recoil build/release/recoil --ranks 2                     # all
    jobs/estimation/run.py --recoil build/release/recoil kangaroo bridge --no-pictures  # some

Results go to a folder per job below --out: start/ and fitted/ (runs and pictures at the first and the last values), fit/ (of
`recoil optimize`). A job passes if every parameter is within the tolerance and every other measure below its limit; the exit
code is 1 if one does not. `--record` writes what was found to the key `ours` of expected.json.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys

import numpy as np
from checks import difference_checks
from make_data import FOLDER, ROOT, call, load, make, missing, runs, simulate
from variant import fitted_values, start_values, with_values

import measures

JOBS = ("throw", "puzzle", "tentacles", "sine", "bridge", "cube", "microstructure", "kangaroo", "sliding", "ball", "tensile")
CHECKS = "difference_checks"
HEADER = ("job", "figure", "dofs", "paper's", "iterations", "paper's", "evaluations", "Newton", "forward s", "sweep s",
          "error or limit")


class Job:
    """A study, where its results go, and how recoil is called."""

    def __init__(self, name, arguments):
        self.name, self.arguments = name, arguments
        self.folder = os.path.join(FOLDER, name)
        self.out = os.path.join(os.path.abspath(arguments.out), name)
        self.study, self.expected = load(self.folder, "study.json"), load(self.folder, "expected.json")

    def simulate(self, scene, *path):
        """Runs a scene of this job that may have been changed; its folder."""
        runs_of = os.path.join(self.out, *path)
        os.makedirs(runs_of, exist_ok=True)
        file = os.path.join(runs_of, "scene.json")
        write(file, scene)
        simulate(self.arguments.recoil, self.arguments.ranks, file, os.path.join(runs_of, "run"))
        return os.path.join(runs_of, "run")

    def all_experiments(self, label, values):
        """Runs with these values, drawn; their summaries."""
        summaries = []
        for experiment in self.study["experiments"]:
            scene = with_values(load(self.folder, experiment["scene"]), self.study, values, self.folder)
            run = self.simulate(scene, label, experiment["name"])
            summaries.append(load(run, "summary.json"))
            if not self.arguments.no_pictures:
                self.draw(run, os.path.join(self.out, "%s-%s.png" % (label, experiment["name"])))
        return summaries

    def draw(self, run, path):
        script = os.path.join(ROOT, "scripts", "render.py")
        done = subprocess.run([sys.executable, script, run, "--times", "4", "--width", "1000", "-o", path],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            print("no picture of %s: %s" % (run, done.stdout), file=sys.stderr)

    def optimize(self):
        folder = os.path.join(self.out, "fit")
        shutil.rmtree(folder, ignore_errors=True)
        call(self.arguments.recoil, self.arguments.ranks, "optimize", os.path.join(self.folder, "study.json"), "-o", folder, "-q")
        return folder


def write(path, content):
    with open(path, "w") as file:
        json.dump(content, file, indent=2)
        file.write("\n")


def relative_error(value, true):
    value, true = np.atleast_1d(value), np.atleast_1d(true)
    return float(np.linalg.norm(value - true) / np.linalg.norm(true))


def errors_of(expected, fit):
    return {name: relative_error(fit["parameters"][name]["value"], true) for name, true in expected["parameters"].items()}


def judged(expected, found):
    """(text, holds) of every parameter and measure."""
    tolerance, limits = expected["tolerance"], expected.get("limits", {})
    return [("%s %.1e" % (name, error), error <= tolerance) for name, error in found["errors"].items()] + \
           [("%s %.3g" % (name, value), value <= limits.get(name, np.inf)) for name, value in found["measures"].items()]


def conduct(job):
    """What was found, as expected.json records it."""
    start = job.all_experiments("start", start_values(job.study))
    folder = job.optimize()
    fit = load(folder, "fit.json")
    fitted = job.all_experiments("fitted", fitted_values(fit, folder))
    per = {"forward_s": fit["forward_s"] / fit["evaluations"], "sweep_s": fit["sweep_s"] / fit["gradient_evaluations"]}
    return {"dofs": fitted[0]["dofs"], "iterations": fit["iterations"], "evaluations": fit["evaluations"],
            "newton_iterations": [sum(run["newton_iterations"] for run in runs_of) for runs_of in (start, fitted)],
            **{key: float("%.3g" % value) for key, value in per.items()}, "wall_s": round(fit["wall_s"], 1), "ranks": fit["ranks"],
            "objective": [fit["initial_objective"], fit["objective"]], "reason": fit["reason"],
            "errors": {key: float("%.3g" % value) for key, value in errors_of(job.expected, fit).items()},
            "measures": measures.of(job, fit)}


def row(job, found):
    expected, paper = job.expected, job.expected["paper"]
    parts = ["%s%s" % (text, "" if holds else " MISSED") for text, holds in judged(expected, found)]
    return (job.name, str(expected["figure"]), str(found["dofs"]), str(paper.get("dofs", "-")), str(found["iterations"]),
            str(paper.get("iterations", "-")), str(found["evaluations"]), "%d .. %d" % tuple(found["newton_iterations"]),
            "%.3g" % found["forward_s"], "%.3g" % found["sweep_s"], "; ".join(parts))


def table(rows):
    widths = [max(len(line[k]) for line in rows) for k in range(len(rows[0]))]
    return "\n".join("| " + " | ".join(text.ljust(width) for text, width in zip(line, widths)) + " |" for line in rows)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recoil", required=True)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--out", default=os.path.join(FOLDER, "runs"), help="default: runs/ beside this script")
    parser.add_argument("--no-pictures", action="store_true")
    parser.add_argument("--record", action="store_true", help="write the figures to expected.json")
    parser.add_argument("names", nargs="*", metavar="name", help="of %s (default: all)" % ", ".join((*JOBS, CHECKS)))
    arguments = parser.parse_args()
    unknown = set(arguments.names) - {*JOBS, CHECKS}
    if unknown:
        parser.error("no such job: " + ", ".join(sorted(unknown)))
    return arguments


def estimate(name, arguments):
    """The row of one job, and whether it passes."""
    if missing(name):
        make(name, arguments.recoil, arguments.ranks)
    job = Job(name, arguments)
    found = conduct(job)
    print("%s: %s; objective %.3g -> %.3g in %.0f s" % (name, found["reason"], *found["objective"], found["wall_s"]), flush=True)
    if arguments.record:
        write(os.path.join(FOLDER, name, "expected.json"), dict(job.expected, ours=found))
    return row(job, found), all(holds for _, holds in judged(job.expected, found))


def main():
    arguments = parse_arguments()
    names = arguments.names or [*JOBS, CHECKS]
    results = [estimate(name, arguments) for name in names if name != CHECKS]
    good = all(passed for _, passed in results)
    if results:
        print(table([HEADER] + [line for line, _ in results]))
    if CHECKS in names:
        rows, passed = difference_checks(arguments)
        print(table(rows))
        good &= passed
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
