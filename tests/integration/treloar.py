"""Treloar's rubber in simple, planar and equibiaxial tension [Treloar 1944, Trans. Faraday Soc. 40, 59; the usual 53 points] by three terms of
Ogden: a long curved valley in six unknowns, on which a trust region that is not solved exactly stalls. From a poor start Gauss-Newton comes to
the minimum within 100 values.

bench/estimation/optimisers.py counts from nine starts.
"""
import csv
import json
import os

import runs

# Stretches and nominal stresses [10 kPa], each with a standard deviation of 30 kPa.
TENSION = {
    "ut": ([1.01, 1.12, 1.24, 1.39, 1.61, 1.89, 2.17, 2.42, 3.01, 3.58, 4.03, 4.76, 5.36, 5.76, 6.16, 6.4, 6.62, 6.87, 7.05, 7.16, 7.27, 7.43, 7.5, 7.61],
           [3, 14, 23, 32, 41, 50, 58, 67, 85, 104, 121, 158, 194, 229, 267, 302, 339, 375, 412, 447, 485, 521, 557, 630]),
    "ps": ([1.06, 1.14, 1.21, 1.32, 1.46, 1.87, 2.4, 2.98, 3.48, 3.96, 4.36, 4.69, 4.96],
           [7, 16, 24, 33, 42, 59, 76, 93, 111, 128, 146, 162, 179]),
    "et": ([1.04, 1.08, 1.12, 1.15, 1.21, 1.32, 1.43, 1.7, 1.95, 2.5, 3.04, 3.44, 3.76, 4.03, 4.26, 4.45],
           [9, 16, 24, 26, 33, 44, 51, 65, 77, 96, 124, 145, 172, 196, 222, 243]),
}
MINIMUM = 230.61
STARTS = {"published": [401700, 2950, 9810, 1.3, 5, -2], "middling": [2e5, 2e4, 2e4, 1.5, 4, -1.5], "poor": [4e4, 4e4, 4e4, 1, 3, -3]}
NAMES = ["mu1", "mu2", "mu3", "a1", "a2", "a3"]


def cube(kind, values):
    """A unit cube that is stretched along x, along x and y (`et`), or along x with its width held (`ps`)."""
    stretches = TENSION[kind][0]
    faces = [(1, "-x"), (2, "-y"), (3, "-z"), (4, "x"), (5, "y"), (6, "z")]
    held = [{"id": i + 1, "value": [0, 0, 0], "dimension": [k == i for k in range(3)]} for i in range(3)]
    if kind == "ps":
        held.append({"id": 6, "value": [0, 0, 0], "dimension": [False, False, True]})
    course = {"type": "piecewise_linear", "points": list(range(len(stretches) + 1)), "values": [0] + [s - 1 for s in stretches]}
    for axis in range(2 if kind == "et" else 1):
        along = [float(k == axis) for k in range(3)]
        held.append({"id": 4 + axis, "value": along, "dimension": [k == axis for k in range(3)], "interpolation": course})
    return {
        "geometry": [{"name": "cube", "generator": {"type": "box", "size": [1, 1, 1], "divisions": 1},
                      "surface_selection": [{"id": i, "axis": axis, "position": (-1 if axis[0] == "-" else 1) * 0.499999} for i, axis in faces]}],
        "materials": {"type": "UnconstrainedOgden", "mus": values[:3], "alphas": values[3:], "Ds": [5e-10] * 3, "rho": 1000},
        "boundary_conditions": {"dirichlet_boundary": held},
        "time": {"dt": 1, "time_steps": len(stretches), "quasistatic": True},
        "solver": {"nonlinear": {"grad_norm_tol": 1e-12, "rel_grad_norm_tol": 1e-10}},
    }


def study(recoil, name, start, log=False):
    """Path of the study from a start; moduli are seen over their sizes, or by their logarithms."""
    objectives = []
    for kind, (stretches, stresses) in TENSION.items():
        recoil.write_scene(name + "-" + kind, cube(kind, start))
        with open(recoil.path(kind + ".csv"), "w", newline="") as file:
            csv.writer(file).writerows([["time", "force [N]", "sd [N]"], *([i + 1, 1e4 * s, 3e4] for i, s in enumerate(stresses))])
        objectives.append({"name": kind, "type": "reaction_force", "experiment": kind, "boundary": 4, "direction": [1, 0, 0],
                           "target": kind + ".csv", "time": {"steps": list(range(1, len(stretches) + 1))}})
    quantities = ["ogden_mu_%d" % k for k in (1, 2, 3)] + ["ogden_alpha_%d" % k for k in (1, 2, 3)]
    return recoil.write_scene(name, {
        "experiments": [{"name": kind, "scene": "%s-%s.json" % (name, kind)} for kind in TENSION],
        "parameters": [{"name": n, "quantity": q, "initial": v, "scale": "log" if log and q.startswith("ogden_mu") else {"factor": abs(v)}}
                       for n, q, v in zip(NAMES, quantities, start)],
        "objectives": objectives})


def fit(recoil, path, name, ranks=1):
    recoil.run(ranks, "optimize", path, "-o", recoil.path(name), "-q")
    with open(os.path.join(recoil.path(name), "fit.json")) as file:
        return json.load(file)


def check(found, text):
    runs.check(found["status"] == "done" and abs(found["objective"] - MINIMUM) < 0.02 and found["evaluations"] < 100,
               "%s: chi^2 %.3f after %d values, %d Jacobians" % (text, found["objective"], found["evaluations"], found["gradient_evaluations"]))


if __name__ == "__main__":
    with runs.Recoil() as recoil:
        found = fit(recoil, study(recoil, "poor", STARTS["poor"], log=True), "log", 2)
        check(found, "logarithms of moduli, two ranks")
        runs.check(found["evaluations"] < 40, "in %d values" % found["evaluations"])
        check(fit(recoil, study(recoil, "poor", STARTS["poor"]), "linear"), "moduli")
