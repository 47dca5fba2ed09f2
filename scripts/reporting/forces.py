"""Forces of supports at the states of a run. Stored runs do not hold them; recoil computes them as objectives of one state each.

A target far below every force, y = -Y at all times, makes (R - y)^2 of a state tell its force R. A second one, over the displacement s of
the support, y = -Y (1 + s / L), then tells s.
"""

import json

import numpy as np

import own_files
from recoil_run import path_inside

FAR, MOST_STATES = 1e5, 400  # Y by the largest observed force; rounding leaves errors of 1e-11 of that


def observed(study):
    """(place, objective) of those that compare forces."""
    return [(k, entry) for k, entry in enumerate(study["objectives"]) if entry["type"] == "reaction_force"]


def _experiment(objective, fit):
    return objective.get("experiment", fit.study["experiments"][0]["name"])


def _steps(time):
    """Their number and length, of which a scene gives two out of three."""
    if "dt" not in time:
        return time["time_steps"], (time["tend"] - time["t0"]) / time["time_steps"]
    return time.get("time_steps") or int(np.ceil((time["tend"] - time["t0"]) / time["dt"] - 1e-9)), time["dt"]


def _states(objective, fit):
    """Numbers and times of the states that are looked at: all, or those that the objective chooses of a load-displacement curve."""
    time = fit.experiments[_experiment(objective, fit)].get("time")
    if not time:
        return [1], [1.0]
    (count, dt), chosen = _steps(time), objective.get("time")
    if "displacement" in fit.observed[objective["name"]] and isinstance(chosen, dict) and "steps" in chosen:
        steps = chosen["steps"]
    else:
        steps = sorted({round(step) for step in np.linspace(0, count, min(count, MOST_STATES) + 1)})
    return steps, [time["t0"] + step * dt for step in steps]


def _sizes(objective, fit):
    """Y and L."""
    table = fit.observed[objective["name"]]
    return float(FAR * np.nanmax(np.abs(table["force"]))), float(1e3 * np.nanmax(np.abs(table.get("displacement", [1]))))


def _probes(place, objective, fit, folder):
    """Entries for the study; writes their targets to the folder."""
    far, reach = _sizes(objective, fit)
    targets = {"force": f"time,force\n-1e9,{-far!r}\n1e9,{-far!r}\n"}
    if "displacement" in fit.observed[objective["name"]]:
        targets["travel"] = f"displacement,force\n{-reach!r},0\n{reach!r},{-2 * far!r}\n"
    entries, support = [], {key: objective[key] for key in ("type", "experiment", "boundary", "obstacle", "direction") if key in objective}
    for what, text in targets.items():
        file = folder / f"{what}-{place}.csv"
        own_files.write_file(file, text)
        entries += [{**support, "name": f"{what}-{place}-{step}", "target": str(file.resolve()), "time": {"steps": [step]}}
                    for step in _states(objective, fit)[0]]
    return entries


def write_study(fit, path, fitted):
    """The study of the fit with these objectives, at the start or at the fitted values. A file that is the same already stays as it is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    study = dict(fit.study, experiments=[dict(entry, scene=str(path_inside(fit.folder.resolve(), entry["scene"], path))) for entry in fit.study["experiments"]],
                 objectives=[entry for place, objective in observed(fit.study) for entry in _probes(place, objective, fit, path.parent)])
    if fitted:
        values = {"file": str((fit.folder / "fit.json").resolve())}
        study["parameters"] = [entry if "tie" in entry else dict(entry, initial=values) for entry in study["parameters"]]
    text = json.dumps(study, indent=1)
    if path.is_symlink() or not path.is_file() or path.read_text() != text:
        own_files.write_file(path, text)


def read(gradient, fit):
    """{objective: (times [s] or displacements [m], forces [N])} from the folder that `recoil gradient` made of such a study."""
    found, values = {}, gradient.result["per_objective"]
    for place, objective in observed(fit.study):
        (far, reach), (steps, times) = _sizes(objective, fit), _states(objective, fit)
        root = {what: np.sqrt([values.get(f"{what}-{place}-{step}", np.nan) for step in steps]) for what in ("force", "travel")}
        forces = root["force"] - far
        is_curve = "displacement" in fit.observed[objective["name"]]
        found[objective["name"]] = (reach * ((root["travel"] - forces) / far - 1) if is_curve else np.array(times), forces)
    return found
