"""Contact between unlike partners and under extremes: masses 1:1e4, stiffnesses 1:1e5, a body squeezed to a tenth of its
height, a ball that is faster than a step can see."""
import json
import os

import numpy as np
from tools import G, ROOT, Bodies, box, ledger, material, plane, states
import runs

RESTS = 1e-6


def job(name):
    with open(os.path.join(ROOT, "jobs", "contact", name + ".json")) as file:
        return json.load(file)


def comes_to_rest(study, label, scene, densities):
    """The kinetic energy falls below a millionth of sum m g h, h the height of a centre above the floor at the start."""
    folder = study.done(label, scene)
    bodies = Bodies(folder)
    heights = bodies.centres(0 * bodies.rest)[:, -1]
    potential = (np.array(densities) * bodies.volume * G * heights).sum()
    share = ledger(folder)["kinetic"] / potential
    calm = int(np.nonzero(share >= RESTS)[0].max()) + 1 if (share >= RESTS).any() else 0
    study.expect(share[-1] < RESTS and calm < len(share), "%s: kinetic energy at the end %.1e of m g h = %.3g J; below "
                 "%.0e for good from step %d of %d on" % (label, share[-1], potential, RESTS, calm + 1, len(share)),
                 **{label + " kinetic/potential": share[-1]})
    order = bodies.centres(list(states(folder))[-1][1])[:, -1]
    study.expect((np.diff(order) > 0).all(), "%s: still in order, centres at %s m" %
                 (label, ", ".join("%.4f" % z for z in order)))
    study.picture(folder)


def mass_ratio(study):
    # The heavy blocks rock on their contacts with a period of 0.3 s, which implicit Euler takes a second to damp.
    scene = dict(job("mass_ratio_stack"), time={"dt": 0.01, "time_steps": 150}, output={"every": 15})
    comes_to_rest(study, "heavy-on-light", scene, [m["rho"] for m in scene["materials"]])


def stiffness_ratio(study):
    # Wide enough that the soft blocks do not buckle: E I / height is five times the moment of the weight above per angle.
    names, size, gap, rho = ("soft1", "stiff1", "soft2", "stiff2"), [0.2, 0.2, 0.1], 5e-4, 100
    blocks = [box(name, size, [4, 4, 2], [0.003 * k, 0.002 * k, size[2] / 2 + gap + k * (size[2] + gap)])
              for k, name in enumerate(names)]
    scene = {
        "geometry": blocks + [plane("floor", [0, 0, 1])],
        "materials": [dict(material(1e4, 0.3, rho, psi=20) if "soft" in name else material(1e9, 0.3, rho), body=name)
                      for name in names],
        "gravity": [0, 0, -G],
        "contact": {"enabled": True, "dhat": 1e-3, "friction_coefficient": 0.5},
        "time": {"dt": 0.01, "time_steps": 200},
        "output": {"every": 20, "fields": ["von_mises"]},
    }
    comes_to_rest(study, "stiff-on-soft", scene, [rho] * 4)


def squeeze(study):
    folder = study.done("squeezed", job("squeezed_ball"))
    bodies = Bodies(folder)
    heights = [bodies.extent(u, 0, 2) for _, u in states(folder)]
    share = heights[-1] / heights[0]
    study.expect(share <= 0.1, "squeezed: the ball is %.2f %% of its height" % (100 * share), **{"height share": share})
    study.picture(folder)


def layers_above(bodies, x, point, body):
    """How often a vertical ray from a point up passes through a thin body: half of the faces that it meets."""
    a, b, c = (x[bodies.faces(body)][:, k] - point for k in range(3))
    cross = lambda p, q: p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]
    weights = np.array([cross(b, c), cross(c, a), cross(a, b)])
    met = (weights > 0).all(axis=0) | (weights < 0).all(axis=0)
    weights = weights[:, met] / weights[:, met].sum(axis=0)
    return ((weights * [p[met, 2] for p in (a, b, c)]).sum(axis=0) > 0).sum() / 2


def fast_ball(study):
    """10 m a step against a sheet of 1 cm that is clamped all around: an odd number of layers over the ball's centre would say
    that it went through."""
    scene = job("fast_ball")
    folder = study.done("fast", scene)
    bodies = Bodies(folder)
    layers = [layers_above(bodies, bodies.rest + u, bodies.centres(u)[0], 1) for _, u in states(folder)]
    depth = min(u[:, 2].min() for _, u in states(folder))
    speed = abs(scene["initial_conditions"]["velocity"][0]["value"][2]) * scene["time"]["dt"]
    study.expect(all(n % 2 == 0 for n in layers) and depth < -0.01, "fast: %.0f m a step, sheet pushed %.2f m deep; layers "
                 "above the ball's centre after each step: %s" %
                 (speed, -depth, " ".join("%g" % n for n in layers)), **{"depth": -depth})
    study.picture(folder, "--step", 1)
