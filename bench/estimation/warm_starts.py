#!/usr/bin/env python3
"""What it saves to start the runs of a fit near the states that are known from earlier ones (`optimizer/warm_start`).

    bench/estimation/warm_starts.py --recoil build/release/recoil [--repeats 3] [jobs/fit jobs/estimation/kangaroo ..]

Every job is fitted with and without, in turn, on one rank. Of both: the Newton iterations of all forward runs and the least forward
seconds (`fit.json`). Both have to find the same parameters to 1e-6; the exit code is 1 if they do not.
"""
import json
import os
import shutil

import experiments  # noqa: F401, where runs are found
import numpy as np
import runs

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
JOBS = ("jobs/fit", "jobs/study", "jobs/indentation",
        *("jobs/estimation/" + name for name in ("kangaroo", "microstructure", "sliding", "tensile", "throw")))


def prepare(recoil, job, warm):
    """A copy of the job; its study, with or without warm starts."""
    folder = recoil.path("%s-%s" % (os.path.basename(job), "warm" if warm else "cold"))
    shutil.copytree(os.path.join(ROOT, job), folder)
    path = os.path.join(folder, "study.json")
    with open(path) as file:
        study = json.load(file)
    study.setdefault("optimizer", {})["warm_start"] = warm
    with open(path, "w") as file:
        json.dump(study, file)
    return path


def fit(recoil, study):
    folder = os.path.join(os.path.dirname(study), "result")
    shutil.rmtree(folder, ignore_errors=True)
    recoil.run(1, "optimize", study, "-o", folder, "-q")
    with open(os.path.join(folder, "fit.json")) as file:
        return json.load(file)


def values(found):
    return np.concatenate([np.ravel(entry["value"]) for entry in found["parameters"].values()])


def compare(recoil, job):
    """A row of the table."""
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
    return "| `%s` | %d, %d | %d | %d | %.2f | %.3g | %.3g | %.2f |" % (
        job, cold["evaluations"], warm["evaluations"], newton[False], newton[True], newton[True] / newton[False],
        seconds[False], seconds[True], seconds[True] / seconds[False])


def main(recoil):
    rows = [compare(recoil, job) for job in recoil.rest or JOBS]
    print("| job | runs cold, warm | Newton cold | warm | ratio | forward s cold | warm | ratio |\n|" + "---|" * 8)
    print("\n".join(rows))


with runs.Recoil(("--repeats", int, 3)) as recoil:
    main(recoil)
