"""What is measured beside the errors of parameters."""
import json
import math
import os

import numpy as np
from make_data import load, runs, states
from recoil_run import Run
from tools import G, Bodies

import modes
import stress


def fitted_run(job):
    return os.path.join(job.out, "fitted", job.study["experiments"][0]["name"], "run")


def throw(job, fit):
    """How far the pushed body ends from its mark."""
    return {"distance [m]": job.expected["deviation"] * math.sqrt(fit["per_objective"]["mark"])}


def sine(job, fit):
    """The middle row of the bar against 0.7 sin(x): largest distance over the amplitude."""
    run = fitted_run(job)
    rest = runs.coordinates(run)[:, :2]
    _, u = list(states(run))[-1]
    x = (rest + u[:, :2])[np.abs(rest[:, 1]) < 1e-9]
    off = x[:, 1] - 0.7 * np.sin(x[:, 0])
    return {"largest offset/amplitude": np.abs(off).max() / 0.7, "rms offset/amplitude": np.sqrt((off ** 2).mean()) / 0.7}


def sliding(job, fit):
    """The way to rest against v^2/(2 g mu)."""
    run = fitted_run(job)
    bodies, stored = Bodies(run), list(states(run))
    way = bodies.centres(stored[-1][1])[0, 0] - bodies.centres(stored[0][1])[0, 0]
    speed = load(job.folder, "scene.json")["initial_conditions"]["velocity"][0]["value"][0]
    return {"way/(v^2/(2 g mu)) - 1": abs(way / (speed ** 2 / (2 * G * fit["parameters"]["friction"]["value"])) - 1)}


def lateral_stretch(stretch, poisson):
    """Of a Neo-Hookean bar that is free at its sides: the root of mu (t - 1/t) + lambda ln(stretch t^2)/t = 0."""
    per_mu = 2 * poisson / (1 - 2 * poisson)
    t = stretch ** -poisson
    for _ in range(60):
        value = t * t - 1 + per_mu * np.log(stretch * t * t)
        t -= value / (2 * t + 2 * per_mu / t)
    return t


def thickness(job, name):
    """Stretch of the bar and of its thickness in the middle at every step of a scene."""
    run = job.simulate(dict(load(job.folder, name + ".json"), root_path=job.folder), name)
    rest = runs.coordinates(run)[:, :3]
    right, left = (np.argmin(np.abs(rest - (x, 0, 0)).sum(axis=1)) for x in (0.08, -0.08))
    top, bottom = (np.argmin(np.abs(rest - (0, 0, z)).sum(axis=1)) for z in (0.04, -0.04))
    return np.array([(1 + (u[right, 0] - u[left, 0]) / 0.16, 1 + (u[top, 2] - u[bottom, 2]) / 0.08) for _, u in states(run)])


def tensile(job, fit):
    """The thickness against the analytic one where the sides are free, and at the largest strain. Both curves go to a file for the picture."""
    free, clamped = thickness(job, "uniaxial"), thickness(job, "clamped")
    poisson = load(job.folder, "scene.json")["materials"]["nu"]
    analytic = lateral_stretch(free[:, 0], poisson)
    curves = {"strain": free[:, 0] - 1, "analytic": analytic, "free": free[:, 1], "clamped strain": clamped[:, 0] - 1,
              "clamped": clamped[:, 1]}
    with open(os.path.join(job.out, "thickness.json"), "w") as file:
        json.dump({name: list(100 * values) for name, values in curves.items()}, file)
    return {"thickness against uniaxial Neo-Hookean": float(np.abs(free[:, 1] / analytic - 1).max()),
            "thickness at 300 %": free[-1, 1], "thickness at 300 %, clamped": clamped[-1, 1]}


def stresses(job):
    """Largest |P| and (int |P|^p)^(1/p) of the bodies, over all states, before and after, how many times smaller they have become, and
    the volume by that before."""
    spec, found = job.expected["stress"], []
    for label in ("start", "fitted"):
        run = Run(os.path.join(job.out, label, job.study["experiments"][0]["name"], "run"))
        found.append([*stress.of_states(run, spec["bodies"], spec["p"]).max(axis=0), stress.volume(run.mesh, spec["bodies"])])
    (peak, norm, volume), (peak_after, norm_after, volume_after) = found
    return {"max stress before": peak, "max stress after": peak_after, "max stress reduced": peak / peak_after,
            "L%g before" % spec["p"]: norm, "L%g after" % spec["p"]: norm_after, "L%g reduced" % spec["p"]: norm / norm_after,
            "volume": volume_after / volume}


def from_true_shape(job, fit):
    """Largest distance of a boundary vertex from its true place and its mean, over half the size of the body."""
    true, found = Run(os.path.join(job.folder, "truth", job.study["experiments"][0]["name"])).mesh, Run(fitted_run(job)).mesh
    corners = np.concatenate([cells[:, :true.dim + 1] for cells in true.cells.values()])
    rim = np.unique(modes.boundary_facets(corners)[0])
    distance = np.linalg.norm(found.points[rim] - true.points[rim], axis=1) / (0.5 * np.ptp(true.points, axis=0).min())
    return {"largest distance/half size": distance.max(), "mean distance/half size": distance.mean()}


def bounce(job, fit):
    """How far the centre of the ball rises from its lowest place, before and after, and what of the way down that is."""
    found = {}
    for label in ("start", "fitted"):
        run = os.path.join(job.out, label, job.study["experiments"][0]["name"], "run")
        bodies = Bodies(run)
        height = np.array([bodies.centres(u)[0, 1] for _, u in states(run)])
        lowest = height.argmin()
        found[label] = height[lowest:].max() - height[lowest]
        found[label + " share"] = found[label] / (height[0] - height[lowest])
    return {"height of the bounce before [m]": found["start"], "height of the bounce after [m]": found["fitted"],
            "height of the bounce, relative": found["fitted"] / found["start"], "share of the fall before": found["start share"],
            "share of the fall after": found["fitted share"]}


MEASURES = {"bounce_height": bounce, "ball_shape": from_true_shape, "bridge_shape": from_true_shape, "throw": throw,
            "sine": sine, "sliding": sliding, "tensile": tensile}


def of(job, fit):
    """Measures {name: value} of a job, to three digits."""
    found = MEASURES[job.name](job, fit) if job.name in MEASURES else {}
    if "stress" in job.expected:
        found.update(stresses(job))
    return {name: float("%.3g" % value) for name, value in found.items()}
