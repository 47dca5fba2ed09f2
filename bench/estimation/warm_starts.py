#!/usr/bin/env python3
"""What it saves to start the runs of a fit near the states that are known from earlier ones (`optimizer/warm_start`).

    bench/estimation/warm_starts.py --recoil build/release/recoil [--repeats 3] [--ranks 1] [jobs/fit jobs/estimation/kangaroo ..]

Every job is fitted with and without, in turn, on --ranks (one). Of both: the Newton iterations of all forward runs and the least forward
seconds (`fit.json`). Both have to find the same parameters to 1e-6. Of Gauss-Newton also: what a column of the Jacobian costs per step, by
a tangent-linear sweep and its share of what the columns have in common, against a Newton iteration of the runs without warm starts, which
it must not exceed. The exit code is 1 if an expectation failed.
"""
import json
import os
import shutil
import sys

import experiments  # noqa: F401, where runs are found
import numpy as np
import runs

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "jobs", "estimation"))
import make_data  # noqa: E402
JOBS = ("jobs/fit", "jobs/study", "jobs/indentation",
        *("jobs/estimation/" + name for name in ("kangaroo", "microstructure", "sliding", "tensile", "throw")))


def prepare(recoil, job, warm):
    """A copy of the job, whose observations are made if they are not there; its study, with or without warm starts."""
    name = os.path.basename(job)
    if os.path.dirname(job) == "jobs/estimation" and make_data.missing(name):
        make_data.make(name, recoil.arguments.recoil, recoil.arguments.ranks)
    folder = recoil.path("%s-%s" % (name, "warm" if warm else "cold"))
    shutil.copytree(os.path.join(ROOT, job), folder)
    path = os.path.join(folder, "study.json")
    with open(path) as file:
        study = json.load(file)
    study.setdefault("optimizer", {}).update(warm_start=warm, starts=1)
    with open(path, "w") as file:
        json.dump(study, file)
    return path


def fit(recoil, study):
    folder = os.path.join(os.path.dirname(study), "result")
    shutil.rmtree(folder, ignore_errors=True)
    recoil.run(recoil.arguments.ranks, "optimize", study, "-o", folder, "-q")
    with open(os.path.join(folder, "fit.json")) as file:
        return json.load(file)


def values(found):
    return np.concatenate([np.ravel(entry["value"]) for entry in found["parameters"].values()])


def column_cost(job, study, fits):
    """Seconds of a column of the Jacobian per step, and of a Newton iteration; nothing where there are only products."""
    with open(study) as file:
        experiments = json.load(file)["experiments"]
    steps = 0
    for experiment in experiments:
        with open(os.path.join(os.path.dirname(study), experiment["scene"])) as file:
            steps += time_steps(json.load(file).get("time"))
    columns = len(values(fits[0]))
    if fits[0]["method"] != "gauss_newton" or columns > 50:
        return None
    column = min(found["sweep_s"] / found["gradient_evaluations"] for found in fits) / (columns * steps)
    return column, min(found["forward_s"] / found["newton_iterations"] for found in fits)


def time_steps(time):
    if not time:
        return 1
    return time["time_steps"] if "time_steps" in time else round(time["tend"] / time["dt"])


def compare(recoil, job):
    """A row of the table."""
    job = os.path.normpath(job)
    studies = {warm: prepare(recoil, job, warm) for warm in (False, True)}
    fits = {False: [], True: []}
    for _ in range(recoil.arguments.repeats):
        for warm, study in studies.items():
            fits[warm].append(fit(recoil, study))
    cold, warm = (fits[key][0] for key in (False, True))
    error = np.abs(values(warm) / values(cold) - 1).max()
    runs.check(error < 1e-6, "%s: the same parameters to %.1e" % (job, error))
    seconds = {key: min(found["forward_s"] for found in found_all) for key, found_all in fits.items()}
    newton = {key: found_all[0]["newton_iterations"] for key, found_all in fits.items()}
    row = "| `%s` | %d, %d | %d | %d | %.2f | %.3g | %.3g | %.2f |" % (
        job, cold["evaluations"], warm["evaluations"], newton[False], newton[True], newton[True] / newton[False],
        seconds[False], seconds[True], seconds[True] / seconds[False])
    cost = column_cost(job, studies[False], fits[False])
    if cost is None:
        return row + "  |  |  |"
    runs.check(cost[0] <= cost[1], "%s: a column of the Jacobian costs %.2f Newton iterations per step" % (job, cost[0] / cost[1]))
    return row + " %.3g | %.3g | %.2f |" % (1e3 * cost[0], 1e3 * cost[1], cost[0] / cost[1])


def main(recoil):
    rows = [compare(recoil, job) for job in recoil.rest or JOBS]
    print("| job | runs cold, warm | Newton cold | warm | ratio | forward s cold | warm | ratio | "
          "column ms/step | Newton iteration ms | ratio |\n|" + "---|" * 11)
    print("\n".join(rows))


with runs.Recoil(("--repeats", int, 3), ("--ranks", int, 1)) as recoil:
    main(recoil)
