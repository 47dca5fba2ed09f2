"""Sixteen cheap experiments on one block with eight unknowns: throws, slides, drops and compressions that tell them apart.

Known loads fix the scale of forces, without which E, damping, density and pressure could only be told up to a factor.
"""
import glob
import json
import math
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "integration"))
import runs  # noqa: E402
from pieces import box, material  # noqa: E402
from studies import exact  # noqa: E402

WIDTH, HEIGHT = 0.4, 0.3
STEPS, DT = 16, 0.005
GRAVITY = [0, -9.81]
TRUE = {"E": 2e5, "nu": 0.3, "damping": 100.0, "friction": 0.3, "density": 1000.0, "velocity": [0.8, -0.6], "pressure": -1.5e4}
START = {"E": 2.9e5, "nu": 0.39, "damping": 60.0, "friction": 0.4, "density": 750.0, "velocity": [1.1, -0.42], "pressure": -1e4}
MARKERS = {"left": [-WIDTH / 2, HEIGHT / 2], "right": [WIDTH / 2, HEIGHT / 2], "centre": [0, 0], "heel": [-WIDTH / 2, -HEIGHT / 2],
           "toe": [WIDTH / 2, -HEIGHT / 2]}


def floor(gap, degrees=0):
    """A plane below the block, `gap` from the nearest corner, turned counter-clockwise."""
    angle = math.radians(degrees)
    normal = np.array([-math.sin(angle), math.cos(angle)])
    nearest = -abs(normal[0]) * WIDTH / 2 - normal[1] * HEIGHT / 2
    return {"name": "floor", "type": "plane", "is_obstacle": True, "point": list((nearest - gap) * normal), "normal": list(normal)}


def block(values, *obstacles):
    bottom = {"id": 1, "axis": "-y", "position": -0.499 * HEIGHT}
    top = {"id": 3, "axis": "y", "position": 0.499 * HEIGHT}
    right = {"id": 4, "axis": "x", "position": 0.499 * WIDTH}
    left = {"id": 5, "axis": "-x", "position": -0.499 * WIDTH}
    return {
        "geometry": [box("block", [WIDTH, HEIGHT], [8, 6], [0, 0], surface_selection=[bottom, top, right, left]), *obstacles],
        "materials": material(values["E"], values["nu"], values["density"], psi=values["damping"], phi=20),
        "gravity": GRAVITY, "boundary_conditions": {},
        "solver": {"nonlinear": exact()}, "time": {"dt": DT, "time_steps": STEPS, "integrator": "BDF2"}, "output": {"chunk": 100},
    }


def on_floor(values, velocity, gap, degrees=0, spin=0.0, top=None, gravity=GRAVITY):
    """Moved freely onto a floor with friction, loaded by a known traction on top."""
    scene = block(values, floor(gap, degrees))
    scene["gravity"] = gravity
    scene["contact"] = {"enabled": True, "dhat": 0.005, "epsv": 0.05, "friction_coefficient": values["friction"]}
    scene["solver"]["contact"] = {"barrier_stiffness": 1e7}
    scene["initial_conditions"] = {"velocity": [{"body": "block", "value": velocity}]}
    if spin:
        scene["initial_conditions"]["angular_velocity"] = [{"body": "block", "value": spin, "center": [0, 0]}]
    if top:
        scene["boundary_conditions"]["neumann_boundary"] = [{"id": 3, "value": top}]
    return scene


def held(values, pulse=None, right=None, top=None):
    """Held at the bottom; the unknown pressure times a pulse of time on the rest, or known tractions."""
    scene = block(values)
    conditions = {"dirichlet_boundary": [{"id": 1, "value": [0, 0]}]}
    if pulse:
        shape = {"type": "piecewise_linear", "points": [0.0, 0.02, 0.04, 0.08], "values": pulse}
        conditions["pressure_boundary"] = [{"id": [3, 4, 5], "value": values["pressure"], "interpolation": shape}]
    loads = [{"id": side, "value": load} for side, load in ((4, right), (3, top)) if load]
    if loads:
        conditions["neumann_boundary"] = loads
    scene["boundary_conditions"] = conditions
    return scene


def scenes(values):
    """{name: scene}; the first part of a name is the kind."""
    v = values["velocity"]
    return {
        "throw-flat": on_floor(values, v, 0.006),
        "throw-up": on_floor(values, v, 0.008, 15),
        "throw-down": on_floor(values, v, 0.012, -12),
        "throw-far": on_floor(values, v, 0.02, 5),
        "slide-fast": on_floor(values, [1.5, -0.1], 0.004),
        "slide-pressed": on_floor(values, [1.0, -0.1], 0.004, top=[0, -4000]),
        "slide-dragged": on_floor(values, [-0.8, -0.2], 0.004, top=[-2000, -3000]),
        "slide-steep": on_floor(values, [0.6, -0.2], 0.004, gravity=[5.0, -8.4]),
        "drop-flat": on_floor(values, [0, -1.2], 0.008),
        "drop-corner": on_floor(values, [0.2, -1.5], 0.008, 20),
        "drop-spinning": on_floor(values, [0, -1.2], 0.015, spin=4.0),
        "drop-hard": on_floor(values, [-0.3, -2.0], 0.008, -8),
        "press-slow": held(values, [0, 0.5, 1, 1]),
        "press-pulse": held(values, [0, 1, 0, 0], top=[2000, 0]),
        "press-pushed": held(values, [0.5, 0.5, 0.2, 1], right=[-6000, 0]),
        "press-pulled": held(values, right=[8000, 2000], top=[0, 3000]),
    }


def parameters(names, values=None):
    """Of a study of the experiments called so, with their start values."""
    start = values or START
    of = lambda *kinds: [name for name in names if name.startswith(kinds)]  # noqa: E731
    pressed = [name for name in of("press") if name != "press-pulled"]
    found = [
        {"name": "E", "quantity": "young_modulus", "scale": "log", "bounds": [1e4, 1e7]},
        {"name": "nu", "quantity": "poisson_ratio", "bounds": [0.05, 0.48]},
        {"name": "damping", "quantity": "damping_shear", "scale": "log", "bounds": [1, 1e4]},
        {"name": "friction", "quantity": "friction", "bodies": ["block", "floor"], "bounds": [0, 1],
         "experiment": of("throw", "slide", "drop")},
        {"name": "density", "quantity": "density", "scale": "log", "bounds": [100, 1e4]},
        {"name": "velocity", "quantity": "initial_velocity", "body": "block", "experiment": of("throw")},
        {"name": "pressure", "quantity": "pressure", "bounds": [-1e5, 0], "experiment": pressed},
    ]
    return [dict(parameter, initial=start[parameter["name"]]) for parameter in found if parameter.get("experiment", names)]


def study(scene_files, observations, parameter_list, **optimizer):
    """Every observation of every marker counts once."""
    return {
        "experiments": [{"name": name, "scene": path} for name, path in scene_files.items()],
        "parameters": parameter_list,
        "markers": [{"name": name, "body": "block", "rest": rest} for name, rest in MARKERS.items()],
        "objectives": [{"name": name, "type": "markers", "experiment": name, "target": path, "time": {"times": "data"}}
                       for name, path in observations.items()],
        "sweep": {"tolerance": 1e-10},
        "optimizer": dict({"starts": 1}, **optimizer),
    }


def marker_displacements(folder):
    """Of all steps but the first state: [step, marker, component]."""
    rest = runs.coordinates(folder)
    nodes = [int(np.abs(rest[:, :2] - point).sum(axis=1).argmin()) for point in MARKERS.values()]
    return np.array([runs.state(folder, step)[nodes, :2] for step in range(1, STEPS + 1)])


def observe(path, displacements, noise, rng):
    """A CSV file of positions with normal noise of the share `noise` of the root mean square displacement."""
    sd = noise * np.sqrt((displacements**2).mean())
    seen = displacements + sd * rng.standard_normal(displacements.shape)
    with open(path, "w") as file:
        file.write("time,marker,x,y,sd\n")
        for step, positions in enumerate(seen, start=1):
            for (name, rest), u in zip(MARKERS.items(), positions):
                file.write("%r,%s,%r,%r,%r\n" % (step * DT, name, float(rest[0] + u[0]), float(rest[1] + u[1]), float(sd)))


def evaluations(folder):
    """What was evaluated: design, experiment, value or factor."""
    found = []
    for path in glob.glob(os.path.join(folder, "evaluations", "*.jsonl")):
        with open(path) as file:
            lines = [json.loads(line[9:]) for line in file if line.endswith("\n")]
        found += [(line["x"], line["experiment"], line["what"]) for line in lines]
    return found
