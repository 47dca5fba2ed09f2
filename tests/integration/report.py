"""scripts/report.py on real fits: the curves that it draws have the misfit that recoil computes, pages are complete, and what is missing
is named. recoil_run on the same folders, elements of all orders included."""
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

import runs
from studies import slide

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts")
sys.path.insert(0, SCRIPTS)
from recoil_run import Fit, Gradient, Run  # noqa: E402
from reporting import elements, forces, observations  # noqa: E402

CORNER, INSIDE = [0.263, 0.304], [0.1, 0.2]


def write_observations(recoil):
    """Anything near to the motion will do."""
    with open(recoil.path("markers.csv"), "w") as file:
        file.write("time,marker,x,y,sd\n")
        for name, (x, y) in (("corner", CORNER), ("inside", INSIDE)):
            file.writelines("%g,%s,%g,%g,2e-3\n" % (t, name, x + 0.4 * t, y - 0.7 * t) for t in (0, 0.01, 0.021, 0.04))
    with open(recoil.path("centre.csv"), "w") as file:
        file.write("time,x,y\n0,0.06,0.15\n0.04,0.08,0.12\n")
    with open(recoil.path("strain.csv"), "w") as file:
        file.write("time,strain,sd\n0,0,1e-3\n0.04,0.002,1e-3\n")
    with open(recoil.path("field.csv"), "w") as file:
        file.write("time,x,y,ux,uy,sd_ux,sd_uy\n")
        file.writelines("%g,%g,%g,%s,%g,1e-3,%g\n" % (t, x, y, "" if t == 0.02 and y > 0.2 else "%g" % (0.5 * t), -t * x, 1e-3 + 0.1 * t)
                        for t in (0.004, 0.02, 0.036) for x in (-0.1, 0.08, 0.25) for y in (0.02, 0.2, 0.3) if (t, x) != (0.036, 0.08))
    with open(recoil.path("support.csv"), "w") as file:
        file.write("time [ms],force [kN],sd [N]\n0,1,40\n20,,40\n40,1.8,60\n")
    with open(recoil.path("curve.csv"), "w") as file:
        file.write("displacement [mm],force,sd\n0,900,50\n1,1200,50\n2,1500,70\n")


def study_of(recoil, order=1, supports=False):
    lifted = {"dirichlet_boundary": [{"id": 1, "value": [0, "0.05*t"]}]}
    scene = slide(steps=10, space={"discr_order": [{"body": "upper", "order": order}]}, boundary_conditions=lifted)
    forces = [{"name": "support", "type": "reaction_force", "boundary": 1, "direction": [0.2, 1], "target": recoil.path("support.csv"), "time": {"times": "data"}},
              {"name": "curve", "type": "reaction_force", "boundary": 1, "direction": [0, 2], "target": recoil.path("curve.csv"), "time": {"steps": [1, 4, 10]}}]
    markers = [{"name": name, "body": "upper", "rest": rest} for name, rest in (("corner", CORNER), ("inside", INSIDE))]
    return recoil.write_scene("study-%d" % order, {
        "experiments": [{"name": "slide", "scene": recoil.write_scene("slide-%d" % order, scene)}],
        "parameters": [{"name": "E", "quantity": "young_modulus", "body": "upper", "per": "element", "initial": 1e5, "bounds": [1e4, 1e6], "scale": "log"},
                       {"name": "v0", "quantity": "initial_velocity", "body": "upper", "initial": [0.6, -0.8]}],
        "objectives": [{"name": "points", "type": "markers", "target": recoil.path("markers.csv"), "time": "integral"},
                       {"name": "centre", "type": "center_of_mass", "body": "upper", "target": recoil.path("centre.csv"), "time": "integral"},
                       {"name": "strain", "type": "strain_at", "body": "upper", "rest": INSIDE, "direction": [1, 2], "target": recoil.path("strain.csv"),
                        "time": "integral"},
                       {"name": "field", "type": "displacement_field", "body": "upper", "target": recoil.path("field.csv")}, *(forces if supports else [])],
        "markers": markers, "optimizer": {"max_iterations": 2}, "uncertainty": {"intervals": False},
    })


def trapezoid(series):
    """Over the states, of the squared residuals; observations linear in between."""
    total = 0
    for one in series:
        times, values = one.simulated["start"]
        difference = values - np.interp(times, one.abscissae, one.observed)
        square = (difference / np.interp(times, one.abscissae, one.deviations())) ** 2
        total += (0.5 * (square[1:] + square[:-1]) * np.diff(times)).sum()
    return total


def misfit(objective, found, supports):
    """That of the curves or maps that the report shows, and what it says is missing."""
    table, run = found.observed[objective["name"]], {"start": found.run("slide")}
    if objective["type"] == "displacement_field":
        field, missing = observations.field_of(objective, table, run)
        return np.nansum(field.residuals("start") ** 2), missing
    series, missing = observations.series_of(objective, found.study, table, run, {"start": supports})
    if objective["name"] == "curve":
        at, found_forces = series[0].simulated["start"]
        observed, sd = (np.interp(at, series[0].abscissae, values) for values in (series[0].observed, series[0].sd))
        return (((found_forces - observed) / sd) ** 2).sum(), missing
    if objective["name"] == "support":
        return ((series[0].residuals("start")[1] / series[0].sd) ** 2).sum(), missing
    return trapezoid(series), missing


def same_misfit(recoil, order):
    folder = recoil.path("gradient-%d" % order)
    recoil.run(2, "gradient", study_of(recoil, order, supports=True), "-o", folder, "-q")
    found = Gradient(folder)
    path = Path(recoil.path("supports-%d" % order)) / "study.json"
    forces.write_study(found, path, fitted=False)
    recoil.run(1, "gradient", str(path), "-o", str(path.parent / "run"), "-q")
    supports = forces.read(Gradient(path.parent / "run"), found)
    for objective in found.study["objectives"]:
        ours, missing = misfit(objective, found, supports)
        value = found.result["per_objective"][objective["name"]]
        error = abs(ours / value - 1)
        runs.check(not missing and error < 1e-8, "order %d: what is shown of %s has the misfit %.6g to %.1e" % (order, objective["name"], value, error))
    mesh = found.run("slide").mesh
    runs.check(mesh.order == [1, order], "order %d is known from the run" % order)
    body = elements.Elements(mesh, 1)
    linear, values = 3 * mesh.points[:, 0] - mesh.points[:, 1], np.full(len(mesh.points), np.nan)
    body.spread(linear[:body.vertices.max() + 1], values)
    own = np.unique(body.nodes)
    runs.check(np.abs(values - linear)[own].max() < 1e-14, "order %d: values at vertices are spread to its nodes" % order)
    volume = body.volume.sum()
    runs.check(abs(volume - 0.12) < 1e-12, "the elements of order %d fill the body to %.1e" % (order, abs(volume - 0.12)))


def report(recoil, folder, *arguments):
    page = recoil.path("page.html")
    done = subprocess.run([sys.executable, os.path.join(SCRIPTS, "report.py"), folder, "-o", page, *arguments], env=runs.ENVIRONMENT,
                          capture_output=True, text=True, timeout=300)
    runs.check(done.returncode == 0, "report.py ends with 0 " + done.stderr[-500:])
    with open(page) as file:
        text = file.read()
    outside = re.findall(r'(?:src|href)="(?!data:)', text)
    runs.check(not outside and text.endswith("</html>\n"), "the page needs no other file")
    return text


def with_statistics(folder):
    """What later stages of an estimation add to fit.json."""
    path = os.path.join(folder, "fit.json")
    with open(path) as file:
        result = json.load(file)
    result["parameters"]["v0"].update(sd=[0.01, 0.02], interval=[[0.58, 0.62], [-0.84, -0.76]], at_bound=[False, True])
    result.update(chi_squared=14.5, data=18, correlations={"names": ["v0[0]", "v0[1]"], "matrix": [[1, -0.93], [-0.93, 1]]},
                  unidentifiable=[{"direction": {"v0[0]": 0.8, "v0[1]": -0.6}, "sd_ratio": 2.5e4}],
                  profile={"v0[1]": {"interval": [-0.845, None], "at_bound": [False, True], "level": 3.84, "points": [[-0.85, 4.3], [-0.8, 0], [-0.78, 1.1], [-0.7, None]]}})
    with open(path, "w") as file:
        json.dump(result, file)


def pages(recoil):
    folder = recoil.path("fit")
    recoil.run(1, "optimize", study_of(recoil), "-o", folder, "-q", expect=3)
    fit = Fit(folder)
    runs.check(fit.fields["E"].shape[0] == len(Run(recoil.path("gradient-1/slide")).mesh.body) and len(fit.history["objective"]) == 3, "fit.h5 and history.csv are read")
    runs.check({entry["what"] for entry in fit.evaluations} <= {"value", "gradient", "factor", "product", "sum", "residuals"}, "the evaluations are read")
    shutil.rmtree(os.path.join(folder, "scenes"), ignore_errors=True)
    text = report(recoil, folder, "--recoil", recoil.path("no-such-program"))
    runs.check("Give the program with --recoil" in text and "no standard deviations" in text, "a missing program and statistics are named")
    # The fitted run is that of the start here: what is drawn does not depend on it.
    os.makedirs(os.path.join(folder, "scenes"))
    shutil.copy(os.path.join(folder, "slide", "scene.json"), os.path.join(folder, "scenes", "slide.json"))
    with_statistics(folder)
    text = report(recoil, folder, "--recoil", recoil.program)
    runs.check("<h2>Missing" not in text, "nothing is missing")
    for words in ("Chi squared is 14.5 for 18 data", "95 % low", "raising v0[0] (0.8) while lowering v0[1] (0.6)", "corner: x", "strain", "at rest", "CRC-32", "open at the bound",
                  "What is left of the data", "inside, y"):
        runs.check(words in text, "the page says: " + words)
    runs.check(text.count("<img") == 1 + 1 + 2 * 2 + 2 + 1 + 3 + 2 + 2 + 4, "all %d pictures are there" % text.count("<img"))
    runs.check("slide/scene.json" in text and "tr class=\"bound\"" in text, "inputs and bounds are told")
    runs.check("9 points in 3 frames, of whose 54 numbers 9 are missing" in text, "gaps are counted")


def page_with_forces(recoil):
    folder = recoil.path("fit-forces")
    recoil.run(1, "optimize", study_of(recoil, supports=True), "-o", folder, "-q", expect=3)
    for _ in range(2):
        text = report(recoil, folder, "--recoil", recoil.program)
        runs.check("<h2>Missing" not in text and text.count("rms residual at the start") == 2 * 2 + 2 + 1 + 2, "forces are shown at the start and fitted")
    fitted = Gradient(os.path.join(folder, "report", "fitted")).result["parameters"]["v0"]["value"]
    runs.check(fitted == Fit(folder).result["parameters"]["v0"]["value"], "the second runs are those of the fitted values")


with runs.Recoil() as recoil:
    write_observations(recoil)
    for order in (1, 2, 3, 4):
        same_misfit(recoil, order)
    pages(recoil)
    page_with_forces(recoil)
