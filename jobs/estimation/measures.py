"""What is measured beside the errors of parameters."""
import math
import os

import numpy as np
from make_data import load, runs, states
from tools import G, Bodies


def fitted_run(job):
    return os.path.join(job.out, "fitted", job.study["experiments"][0]["name"], "run")


def throw(job, fit):
    """How far the pushed body ends from its mark."""
    return {"distance [m]": math.sqrt(fit["objective"])}


def sine(job, fit):
    """The middle row of the bar against 0.7 sin(x): largest distance over the amplitude."""
    run = fitted_run(job)
    rest = runs.coordinates(run)[:, :2]
    _, u = list(states(run))[-1]
    x = (rest + u[:, :2])[np.abs(rest[:, 1]) < 1e-9]
    off = x[:, 1] - 0.7 * np.sin(x[:, 0])
    return {"largest offset/amplitude": float(np.abs(off).max() / 0.7), "rms offset/amplitude": float(np.sqrt((off ** 2).mean()) / 0.7)}


def sliding(job, fit):
    """The way to rest against v^2/(2 g mu)."""
    run = fitted_run(job)
    bodies, stored = Bodies(run), list(states(run))
    way = bodies.centres(stored[-1][1])[0, 0] - bodies.centres(stored[0][1])[0, 0]
    speed = load(job.folder, "scene.json")["initial_conditions"]["velocity"][0]["value"][0]
    return {"way/(v^2/(2 g mu)) - 1": abs(way / (speed ** 2 / (2 * G * fit["parameters"]["friction"]["value"])) - 1)}


MEASURES = {"throw": throw, "sine": sine, "sliding": sliding}


def of(job, fit):
    """Measures {name: value} of a job, to three digits."""
    found = MEASURES[job.name](job, fit) if job.name in MEASURES else {}
    return {name: float("%.3g" % value) for name, value in found.items()}
