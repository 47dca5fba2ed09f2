#!/usr/bin/env python3
"""Runs the estimations and designs: makes the observations if they are missing, optimises from the start values, compares with
expected.json.

    jobs/estimation/run.py --recoil build/release/recoil --ranks 2                     # all
    jobs/estimation/run.py --recoil build/release/recoil --ranks 2 --design            # those of jobs/design
    jobs/estimation/run.py --recoil build/release/recoil kangaroo hook --no-pictures    # some

Results go to a folder per job below --out: start/ and fitted/ (runs at the first and the last values), fit/ (of `recoil
optimize`), picture.png. A job passes if every fabricated parameter is within the tolerance, every other measure within its
limits, no rest shape on the way intersects itself, and the fit takes no more iterations than the paper's; the exit code is 1 if one does not pass. `--record` writes what
was found to the key `ours` of expected.json and the picture to the folder of the job, and if all are run, the tables to the READMEs.
"""
import argparse
import json
import os
import shutil
import sys

import numpy as np
from checks import difference_checks
from make_data import DESIGN, FOLDER, call, folder_of, load, make, missing, simulate
from pictures import draw, values_in
from recoil_run import Fit
from variant import fitted_scene, start_values, with_values

import measures
import summary

ESTIMATIONS = ("throw", "puzzle", "tentacles", "sine", "bridge", "cube", "microstructure", "kangaroo", "sliding", "ball", "tensile")
DESIGNS = ("bridge_shape", "bridge_stress", "beam", "interlocking", "hook", "hanger", "ball_shape", "sliding_ball", "shock",
           "bounce_height")
JOBS = (*ESTIMATIONS, *DESIGNS)
CHECKS = "difference_checks"


class Job:
    """A study, where its results go, and how recoil is called."""

    def __init__(self, name, arguments):
        self.name, self.arguments = name, arguments
        self.folder = folder_of(name)
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

    def all_experiments(self, label, changed):
        """Runs the scenes that changed(scene, experiment) returns; their summaries."""
        summaries = []
        for experiment in self.study["experiments"]:
            scene = changed(load(self.folder, experiment["scene"]), experiment["name"])
            summaries.append(load(self.simulate(scene, label, experiment["name"]), "summary.json"))
        return summaries

    def optimize(self):
        folder = os.path.join(self.out, "fit")
        shutil.rmtree(folder, ignore_errors=True)
        call(self.arguments.recoil, self.arguments.ranks, "optimize", os.path.join(self.folder, "study.json"), "-o", folder, "-q",
             codes=(0, 3))  # 3: not converged, as after a number of iterations
        if load(folder, "fit.json")["status"] != "done":
            raise SystemExit("%s: %s" % (folder, load(folder, "fit.json")["reason"]))
        return folder


def write(path, content):
    with open(path, "w") as file:
        json.dump(content, file, indent=2)
        file.write("\n")


def relative_error(value, true):
    value, true = np.atleast_1d(value), np.atleast_1d(true)
    return float(np.linalg.norm(value - true) / np.linalg.norm(true))


def recovered_after(expected, folder):
    """The iteration from which on every fabricated parameter stays within the tolerance."""
    history = Fit(folder).history
    holds = np.ones(len(history["iteration"]), bool)
    for name, true in expected["parameters"].items():
        holds &= [relative_error(value, true) <= expected["tolerance"] for value in values_in(history, name).T]
    if not expected["parameters"] or not holds[-1]:
        return {}
    return {"recovered_after": int(history["iteration"][len(holds) - np.argmin([*holds[::-1], False])])}


def rest_shapes(folder):
    """How many rest shapes a fit has gone to (all that it accepted, and trials that were worse), and their self-intersections by the
    exact predicates of recoil."""
    reached = [entry for entry in Fit(folder).evaluations if entry["what"] == "path" and not entry["failure"]]
    return len(reached), sum(entry["rest_intersections"] for entry in reached)


def conduct(job):
    """What was found, as expected.json records it."""
    first = start_values(job.study)
    start = job.all_experiments("start", lambda scene, _: with_values(scene, job.study, first, job.folder))
    folder = job.optimize()
    fit = load(folder, "fit.json")
    fitted = job.all_experiments("fitted", lambda scene, name: fitted_scene(scene, job.study, name, fit, folder, job.folder))
    shapes = [parameter["name"] for parameter in job.study["parameters"] if parameter["quantity"] == "shape"]
    values = {name: entry["value"] for name, entry in fit["parameters"].items() if "value" in entry and name not in shapes}
    errors = {name: relative_error(values[name], true) for name, true in job.expected["parameters"].items()}
    per = {"forward_s": fit["forward_s"] / fit["evaluations"], "sweep_s": fit["sweep_s"] / fit["gradient_evaluations"]}
    return {"dofs": fitted[0]["dofs"], "method": fit["method"], "iterations": fit["iterations"], **recovered_after(job.expected, folder),
            "evaluations": fit["evaluations"], "newton_iterations_of_fit": fit["newton_iterations"],
            "newton_iterations": [sum(run["newton_iterations"] for run in runs_of) for runs_of in (start, fitted)],
            **{key: float("%.3g" % value) for key, value in per.items()}, "wall_s": round(fit["wall_s"], 1), "ranks": fit["ranks"],
            "objective": [fit["initial_objective"], fit["objective"]], "reason": fit["reason"],
            "values": values, "errors": {key: float("%.3g" % value) for key, value in errors.items()},
            "measures": measures.of(job, fit), **({"rest_shapes": rest_shapes(folder)} if shapes else {})}


def estimate(name, arguments):
    """Name, expected.json with what was found, and whether it passes, of one job."""
    if missing(name):
        make(name, arguments.recoil, arguments.ranks)
    job = Job(name, arguments)
    job.expected["ours"] = found = conduct(job)
    print("%s: %s; objective %.3g -> %.3g in %.0f s" % (name, found["reason"], *found["objective"], found["wall_s"]), flush=True)
    if "rest_shapes" in found:
        print("%s: %d rest shapes, %d self-intersections" % (name, *found["rest_shapes"]), flush=True)
    picture = None if arguments.no_pictures else draw(job)
    if arguments.record:
        write(os.path.join(job.folder, "expected.json"), job.expected)
        if picture:
            shutil.copy(picture, os.path.join(job.folder, "picture.png"))
    return name, job.expected, summary.passed(job.expected, found)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recoil", required=True)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--out", default=os.path.join(FOLDER, "runs"), help="default: runs/ beside this script")
    parser.add_argument("--no-pictures", action="store_true")
    parser.add_argument("--record", action="store_true", help="write what was found to the folders of the jobs and the README")
    parser.add_argument("--design", action="store_true", help="only the jobs of jobs/design")
    parser.add_argument("names", nargs="*", metavar="name", help="of %s (default: all)" % ", ".join((*JOBS, CHECKS)))
    arguments = parser.parse_args()
    unknown = set(arguments.names) - {*JOBS, CHECKS}
    if unknown:
        parser.error("no such job: %s; there are %s" % (", ".join(sorted(unknown)), ", ".join((*JOBS, CHECKS))))
    if shutil.which(arguments.recoil) is None:
        parser.error("--recoil %s: no such program; scripts/demo.sh builds build/release/recoil" % arguments.recoil)
    try:
        os.makedirs(arguments.out, exist_ok=True)
    except OSError as error:
        parser.error("--out %s: %s; name a folder that can be written" % (arguments.out, error.strerror))
    return arguments


def main():
    arguments = parse_arguments()
    names = arguments.names or (DESIGNS if arguments.design else [*JOBS, CHECKS])
    results = [estimate(name, arguments) for name in names if name != CHECKS]
    good = all(passed for _, _, passed in results)
    for kind, of_kind, folder in ((summary.ESTIMATION, ESTIMATIONS, FOLDER), (summary.DESIGN, DESIGNS, DESIGN)):
        table = summary.table(kind, [(name, expected) for name, expected, _ in results if name in of_kind])
        if table:
            print(table)
        if arguments.record and set(of_kind) <= {name for name, _, _ in results}:
            summary.put_into(os.path.join(folder, "README.md"), table)
    if CHECKS in names:
        rows, passed = difference_checks(arguments)
        print(summary.markdown(rows))
        good &= passed
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
