#!/usr/bin/env python3
"""How many values Gauss-Newton needs beside scipy.optimize.least_squares (methods `trf` and `lm`, derivatives counted apart).

    bench/estimation/optimisers.py --recoil build/release/recoil

Treloar's rubber (tests/integration/treloar.py) from nine starts: three as given, moduli over their sizes, and each of them twice with
moduli and exponents multiplied by random numbers between 1/2 and 2, moduli by their logarithms. scipy has the formulas of the
incompressible cube with exact derivatives, whose minimum is 228.31. Then a disk that bounces on a plane, of which five markers were seen
with noise of 0.1 mm: modulus, damping and first velocity from two starts; scipy runs the same simulator, and takes its derivatives by differences, each
of which costs a run. Needs scipy. The exit code is 1 if a fit of recoil ends elsewhere.
"""
import csv

import experiments  # noqa: F401, where runs are found
import numpy as np
import runs
import treloar
from scipy.optimize import least_squares

TRUE = {"E": 3e4, "psi": 60.0, "vx": 0.6, "vy": -1.5}
RIMS = {"right": [0.1, 0], "top": [0, 0.1], "left": [-0.1, 0], "bottom": [0, -0.1], "centre": [0, 0]}
STEPS, NOISE = 40, 1e-4
DISK_STARTS = [[6e4, 120.0, 0.3, -1.0], [1e4, 10.0, 1.0, -2.0]]


def disk(E, psi, vx, vy):
    return {
        "geometry": [{"name": "disk", "generator": {"type": "disk", "radius": 0.1, "divisions": 4}, "transformation": {"translation": [0, 0.15]}},
                     {"name": "floor", "type": "plane", "point": [0, 0], "normal": [0, 1], "is_obstacle": True}],
        "materials": {"type": "NeoHookean", "E": E, "nu": 0.4, "rho": 1000, "psi": psi, "phi": 0},
        "gravity": [0, -9.81], "initial_conditions": {"velocity": [{"body": "disk", "value": [vx, vy]}]},
        "contact": {"enabled": True, "dhat": 0.005},
        "solver": {"nonlinear": {"grad_norm_tol": 1e-10, "rel_grad_norm_tol": 1e-10}, "contact": {"barrier_stiffness": 1e5}},
        "time": {"dt": 0.005, "time_steps": STEPS, "integrator": "BDF2"},
    }


def seen(recoil, x, name="run"):
    """Positions of the markers by step, marker and component; markers are vertices."""
    folder = recoil.simulate(1, recoil.write_scene(name, disk(*x)), name)
    rest = runs.coordinates(folder)[:, :2]
    at = [np.linalg.norm(rest - np.array(p) - [0, 0.15], axis=1).argmin() for p in RIMS.values()]
    return np.array([rest[at] + runs.state(folder, step)[at, :2] for step in range(1, STEPS + 1)])


def disk_study(recoil, name, start, observed):
    recoil.write_scene(name + "-scene", disk(*start))
    with open(recoil.path("disk.csv"), "w", newline="") as file:
        rows = [[(i + 1) * 0.005, m, *p, NOISE] for i, at in enumerate(observed) for m, p in zip(RIMS, at)]
        csv.writer(file).writerows([["time", "marker", "x", "y", "sd"], *rows])
    return recoil.write_scene(name, {
        "experiments": [{"name": "bounce", "scene": name + "-scene.json"}],
        "parameters": [{"name": "E", "quantity": "young_modulus", "body": "disk", "initial": start[0], "scale": "log"},
                       {"name": "psi", "quantity": "damping_shear", "body": "disk", "initial": start[1], "scale": "log"},
                       {"name": "v", "quantity": "initial_velocity", "body": "disk", "initial": start[2:]}],
        "markers": [{"name": m, "body": "disk", "rest": [p[0], p[1] + 0.15]} for m, p in RIMS.items()],
        "objectives": [{"name": "path", "type": "markers", "experiment": "bounce", "target": "disk.csv", "time": {"times": "data"}}]})


def scipy_counts(fun, x0, jac, method, target):
    """chi^2, values and Jacobians of least_squares."""
    try:
        found = least_squares(fun, x0, jac=jac, method=method, x_scale="jac", max_nfev=400)
    except (ValueError, FloatingPointError):
        return "fails"
    chi = 2 * found.cost
    values = found.nfev if method == "trf" or callable(jac) else found.nfev // (len(x0) + 1)
    return "%s%d" % ("" if chi < target * 1.001 else "(%.0f) " % chi, values)


def ogden(q):
    """Residuals and Jacobian of the incompressible cube."""
    r, J = [], []
    for kind, third in ("ut", -0.5), ("ps", -1.0), ("et", -2.0):
        for stretch, stress in zip(*treloar.TENSION[kind]):
            mu, alpha, log = q[:3], q[3:], np.log(stretch)
            a, b = np.exp((alpha - 1) * log), np.exp((third * alpha - 1) * log)
            by_mu = 2 / alpha * (a - b) / 3e4
            r.append((mu * by_mu).sum() - stress / 3)
            J.append([*by_mu, *(mu * (2 / alpha * log * (a - third * b) / 3e4 - by_mu / alpha))])
    return np.array(r), np.array(J)


def rubber(recoil):
    print("| start | scale | chi^2 | values | Jacobians | scipy trf | scipy lm |\n|---|---|---|---|---|---|---|")
    rng = np.random.default_rng(1)
    cases = [(name, np.array(start), False) for name, start in treloar.STARTS.items()]
    for name, start in treloar.STARTS.items():
        cases += [("%s, spread %d" % (name, k), np.array(start) * 2 ** rng.uniform(-1, 1, 6), True) for k in (1, 2)]
    for i, (name, start, log) in enumerate(cases):
        found = treloar.fit(recoil, treloar.study(recoil, "start-%d" % i, list(start), log), "fit-%d" % i)
        size, z0 = np.abs(start), np.sign(start)
        if log:
            size[:3], z0[:3] = 1, np.log(start[:3])

        def physical(z):
            return np.concatenate([np.exp(z[:3]) if log else z[:3] * size[:3], z[3:] * size[3:]])

        def derivative(z):
            q = physical(z)
            return ogden(q)[1] * np.concatenate([q[:3] if log else size[:3], size[3:]])
        with np.errstate(all="ignore"):
            of_scipy = [scipy_counts(lambda z: ogden(physical(z))[0], z0, derivative, method, 228.306) for method in ("trf", "lm")]
        print("| %s | %s | %.2f | %d | %d | %s | %s |" % (name, "log" if log else "size", found["objective"], found["evaluations"],
                                                          found["gradient_evaluations"], *of_scipy), flush=True)
        treloar.check(found, name)


def bounces(recoil):
    truth = seen(recoil, list(TRUE.values()))
    observed = truth + np.random.default_rng(2).normal(0, NOISE, truth.shape)
    print("| start: E, psi, v | chi^2 of %d | values | Jacobians | scipy trf | of which Jacobians |\n|---|---|---|---|---|---|" % truth.size)
    for i, start in enumerate(DISK_STARTS):
        found = treloar.fit(recoil, disk_study(recoil, "disk-%d" % i, start, observed), "disk-fit-%d" % i)
        count = [0]

        def residual(z):
            count[0] += 1
            return ((seen(recoil, [*np.exp(z[:2]), *z[2:]]) - observed) / NOISE).ravel()
        theirs = least_squares(residual, [*np.log(start[:2]), *start[2:]], x_scale="jac", diff_step=1e-5, max_nfev=100)
        print("| %g, %g, %g %g | %.1f | %d | %d | %.1f: %d | %d |" % (*start, found["objective"], found["evaluations"], found["gradient_evaluations"],
                                                                     2 * theirs.cost, count[0], theirs.njev), flush=True)
        for name, true in ("E", TRUE["E"]), ("psi", TRUE["psi"]):
            low, high = found["parameters"][name]["interval"]
            runs.check(0.98 * low <= true <= 1.02 * high, "%s %.4g between %.4g and %.4g" % (name, true, low, high))
        runs.check(found["evaluations"] <= count[0], "%d values beside %d runs of scipy" % (found["evaluations"], count[0]))


with runs.Recoil(("--only", str, "")) as recoil:
    if recoil.arguments.only != "disk":
        rubber(recoil)
    if recoil.arguments.only != "rubber":
        bounces(recoil)
