"""jobs/calibration, from one start in place of four: modulus and strength of the noisy load curves within 2 %, the true values within their
intervals."""
import json
import os
import shutil

import runs
from studies import fit

JOB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "jobs", "calibration")
TRUE = {"E": 1e9, "nu": 0.2, "tension": 5e6}

with runs.Recoil() as recoil:
    job, folder = recoil.path("job"), recoil.path("fit")
    shutil.copytree(JOB, job)
    path = os.path.join(job, "study.json")
    with open(path) as file:
        study = json.load(file)
    study["optimizer"]["starts"] = 1
    with open(path, "w") as file:
        json.dump(study, file)
    recoil.run(2, "optimize", path, "-o", folder, "-q")
    found = fit(folder)
    for name, true in TRUE.items():
        value, (low, high) = (found["parameters"][name][key] for key in ("value", "interval"))
        runs.check(low <= true <= high, "%s: %.4g, 95 %% between %.4g and %.4g" % (name, value, low, high))
        runs.check(name == "nu" or abs(value / true - 1) < 0.02, "%s is %.2f %% off" % (name, 100 * abs(value / true - 1)))
    factor = found["matched_peaks"]["factors"]["tension"]
    runs.check(1.5 < factor < 1.8, "peaks raise the strength to begin with by a factor of %.3f" % factor)
    runs.check(found["p_value"] > 0.01, "chi^2 of %.1f with %d data" % (found["chi_squared"], found["data"]))
