"""Tiny scenes with studies of them, and what `recoil gradient` leaves; shared by the tests of gradients."""
import glob
import json
import os
import subprocess
import time

import h5py
import numpy as np

import runs
from pieces import thrown


def slide(steps=12, chunk=2, **more):
    """The thrown block, of which there are exact gradients."""
    return thrown(**dict({
        "solver": {"contact": {"barrier_stiffness": 1e7}, "nonlinear": exact()},
        "time": {"dt": 0.004, "time_steps": steps, "integrator": "BDF2"},
        "output": {"chunk": chunk},
    }, **more))


def exact(**more):
    """Newton's method to rounding: gradients are as exact as states are stationary."""
    return dict({"grad_norm_tol": 1e-12, "rel_grad_norm_tol": 1e-14, "max_iterations": 200}, **more)


def slide_study(name, scene, **sweep):
    return {
        "experiments": [{"name": name, "scene": scene}],
        "parameters": [{"name": "E", "quantity": "young_modulus", "body": "upper", "initial": 1e5, "scale": "log"},
                       {"name": "rho", "quantity": "density", "body": "upper", "per": "element", "initial": 1000},
                       {"name": "mu", "quantity": "friction", "bodies": ["lower", "upper"], "initial": 0.3},
                       {"name": "v0", "quantity": "initial_velocity", "body": "upper", "initial": [0.6, -0.8]}],
        "objectives": [{"name": "stress", "type": "stress_norm", "p": 4, "weight": 1e-4, "time": "integral"},
                       {"name": "velocity", "type": "velocity", "target": [0.1, -0.1], "weight": 2, "power": 0.5}],
        "sweep": dict({"tolerance": 1e-13}, **sweep),
    }


def torn(chunk=1):
    """A bar whose end is torn away so fast that steps are repeated as sub-steps (see retried.py)."""
    scene = runs.bar([6, 2, 2], 4, integrator="BDF2", chunk=chunk)
    scene["boundary_conditions"]["dirichlet_boundary"][0]["value"] = [0, "40*t^2", 0]
    scene["solver"] = {"nonlinear": {"max_iterations": 3}}
    scene["time"]["dt"] = 0.05
    return scene


def bar_study(name, scene, **sweep):
    return {
        "experiments": [{"name": name, "scene": scene}],
        "parameters": [{"name": "E", "quantity": "young_modulus", "initial": 1e5},
                       {"name": "u0", "quantity": "initial_displacement", "per": "vertex", "initial": [0, 0, 0]}],
        "objectives": [{"name": "stress", "type": "stress_norm", "p": 2, "weight": 1e-3}],
        "sweep": dict({"tolerance": 1e-13}, **sweep),
    }


def gradient(recoil, ranks, study, name, *arguments, expect=0):
    """A fresh gradient; returns its folder."""
    folder = recoil.path(name)
    recoil.run(ranks, "gradient", study, "-o", folder, "-q", *arguments, expect=expect)
    return folder


def start(recoil, ranks, *arguments, command="gradient"):
    return subprocess.Popen(recoil.command(ranks, command, *arguments, "-q"), env=runs.ENVIRONMENT, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)


def wait_for(path, process):
    """Until `path` exists; the process must not have ended before."""
    deadline = time.time() + 60
    while not os.path.exists(path):
        if process.poll() is not None or time.time() > deadline:
            raise SystemExit("the process ended with %s before there was %s" % (process.poll(), path))
        time.sleep(0.002)


def result(folder):
    with open(os.path.join(folder, "gradient.json")) as file:
        return json.load(file)


def fit(folder):
    with open(os.path.join(folder, "fit.json")) as file:
        return json.load(file)


def logged_evaluations(folder):
    """What a fit has evaluated: the lines of its log, of all starts and groups."""
    found = []
    for path in glob.glob(os.path.join(folder, "evaluations", "**", "*.jsonl"), recursive=True):
        with open(path) as file:
            found += [json.loads(line[9:]) for line in file]
    return found


def log(folder):
    with open(os.path.join(folder, "log.txt")) as file:
        return file.read()


def sweep_file(folder, experiment):
    """What sweep.json says, and the path of its arrays."""
    with open(os.path.join(folder, experiment, "sweep.json")) as file:
        content = json.load(file)["content"]
    return content, os.path.join(folder, experiment, content["file"])


def fields(folder):
    """All arrays of gradient.h5 by name."""
    found = {}
    with h5py.File(os.path.join(folder, "gradient.h5"), "r") as file:
        file.visititems(lambda name, item: found.update({name: item[:]}) if isinstance(item, h5py.Dataset) else None)
    return found


def distance(a, b):
    """Largest relative difference of two gradients, over objectives, parameters and fields; inf where they are of other shape."""
    x, y = result(a), result(b)
    if x["parameters"].keys() != y["parameters"].keys() or x["per_objective"].keys() != y["per_objective"].keys():
        return np.inf
    worst = abs(x["objective"] - y["objective"]) / abs(y["objective"])
    for name, parameter in y["parameters"].items():
        if "gradient" in parameter:
            worst = max(worst, runs.difference(np.array(x["parameters"][name]["gradient"]), np.array(parameter["gradient"])))
    if not os.path.exists(os.path.join(b, "gradient.h5")):
        return worst
    one, other = fields(a), fields(b)
    if one.keys() != other.keys():
        return np.inf
    for name, values in other.items():
        if (np.isnan(one[name]) != np.isnan(values)).any() or one[name].shape != values.shape:
            return np.inf
        scale = np.nanmax(np.abs(values))
        worst = max(worst, np.nanmax(np.abs(one[name] - values)) / (scale if scale > 0 else 1))
    return float(worst)


def agree(recoil, name, study, ranks=(1, 2), tolerance=1e-6):
    """Every direction of --check on the first rank count, the same gradient on the others."""
    study["check"] = dict({"directions": 1, "steps": [1e-3, 1e-4, 1e-5, 1e-6]}, **study.get("check", {}))
    path = recoil.write_scene(name + "-study", study)
    first = gradient(recoil, ranks[0], path, name, "--check", expect=None)
    for direction, found in result(first)["check"].items():
        runs.check(found["relative_error"] < tolerance and found["derivative"] != 0,
                   "%s, %s: %.1e from differences, slope %s" % (name, direction, found["relative_error"], found["slope"]))
    for n in ranks[1:]:
        error = distance(gradient(recoil, n, path, "%s-%d" % (name, n)), first)
        runs.check(error < 1e-8, "%s: the same gradient on %d ranks to %.1e" % (name, n, error))
