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
    scene = job("mass_ratio_stack")
    comes_to_rest(study, "heavy-on-light", scene, [m["rho"] for m in scene["materials"]])


def stiffness_ratio(study):
    names, side, gap, rho = ("soft1", "stiff1", "soft2", "stiff2"), 0.1, 5e-4, 200
    blocks = [box(name, [side] * 3, [3, 3, 3], [0.003 * k, 0.002 * k, side / 2 + gap + k * (side + gap)])
              for k, name in enumerate(names)]
    scene = {
        "geometry": blocks + [plane("floor", [0, 0, 1])],
        "materials": [dict(material(1e4 if "soft" in name else 1e9, 0.3, rho), body=name) for name in names],
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


def fast_ball(study):
    """10 m a step against a sheet of 1 cm. The ball must stay on its side, and momentum with it: what it loses, the sheet and
    its clamped rim have got."""
    scene = job("fast_ball")
    folder = study.done("fast", scene)
    bodies = Bodies(folder)
    lowest = []
    for _, u in states(folder):
        z = (bodies.rest + u)[:, 2]
        lowest.append(bodies.centres(u)[0, 2] - z[bodies.weights[1] > 0].min())
    speed = abs(scene["initial_conditions"]["velocity"][0]["value"][2]) * scene["time"]["dt"]
    study.expect(min(lowest) > 0.04, "fast: %.0f m a step, and the ball's centre never less than %.3f m above the lowest "
                 "point of the sheet" % (speed, min(lowest)), **{"least height": min(lowest)})
    study.picture(folder, "--times", 3)
