"""SciPy fits the study of jobs/fit - stiffness and friction of a thrown ball, from the path of three markers - by recoil's residuals and
their exact Jacobian, and recoil's own optimiser ends at the same place.

    python3 fit_with_scipy.py
"""
import json
import os
import tempfile
from pathlib import Path

import numpy as np
import recoil
from scipy.optimize import least_squares

# Where this file lies; installed, beside the jobs.
JOB = next(folder / "jobs/fit/study.json" for folder in Path(__file__).resolve().parents if (folder / "jobs/fit").is_dir())

os.chdir(JOB.parent)  # relative paths of a dictionary start from the current folder
study = json.loads(JOB.read_text())
# One start for both, and to the end: by default recoil stops where steps are small against the deviations.
study["optimizer"] = {"starts": 1, "stop_at_noise": False, "gradient_tolerance": 1e-10}

with recoil.ReducedObjective(study) as f:
    print("variables:", ", ".join(f.names), " start:", f.values(f.x0))
    # x is log(E) and the friction, as the study says by "scale". The residuals are in standard deviations of the camera.
    found = least_squares(f.residuals, f.x0, f.jacobian, bounds=(f.lower, f.upper), x_scale="jac", ftol=1e-12, xtol=1e-12, gtol=1e-12)
    values = f.values(found.x)
    r, J = f.residuals(found.x), f.jacobian(found.x)

# Standard deviations of x: where the data alone determine it, the inverse of J'J.
deviations = np.sqrt(np.diag(np.linalg.inv(J.T @ J)))
print(f"scipy:  E = {values['E']:.6g} Pa, friction = {values['friction']:.6f}, chi^2 = {r @ r:.6f}, {found.nfev} runs")
print(f"        relative deviation of E {deviations[0]:.2e}, of the friction {deviations[1]:.2e}")

with tempfile.TemporaryDirectory() as folder:
    fit = recoil.optimize(study, Path(folder) / "fit").result
own = {name: entry["value"] for name, entry in fit["parameters"].items()}
print(f"recoil: E = {own['E']:.6g} Pa, friction = {own['friction']:.6f}, chi^2 = {fit['objective']:.6f}, verdict: {fit['verdict']['is']}")

difference = max(abs(values[name] / own[name] - 1) for name in own)
print(f"largest relative difference: {difference:.1e}")
assert difference < 1e-6
