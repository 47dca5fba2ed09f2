"""Energy: the ledger without the integrator's own dissipation closes as the step falls, with it to the accuracy of Newton's
method at any step; the restitution of an elastic body converges."""
import numpy as np
from tools import G, box, ledger, material, plane, start

CLOSES, LOST = 1e-6, 0.01


def balance(folder):
    """Largest defects over the run, without and with the integrator's dissipation, over the energy turned over: kinetic energy
    and external work that came or went."""
    first, rows = start(folder), ledger(folder)
    held = rows["kinetic"] + rows["elastic"] + rows["barrier"] - first["kinetic"] - first["elastic"]
    defect = held - rows["external_work"] + rows["dissipated_friction"] + rows["dissipated_damping"]
    turnover = sum(np.abs(np.diff(rows[key], prepend=at)).sum() for key, at in
                   (("kinetic", first["kinetic"]), ("external_work", 0)))
    return np.abs(defect).max() / turnover, np.abs(defect + rows["dissipated_integrator"]).max() / turnover


def ladder(study, label, scene, seconds, steps):
    """The scene with falling steps; starts clear of contact, so that there is no barrier energy yet."""
    lost = []
    for dt in steps:
        run = dict(scene, time={"dt": dt, "time_steps": round(seconds / dt), "integrator": "BDF2"},
                   output={"every": max(1, round(seconds / dt / 10))})
        folder = study.done("%s-%g" % (label, dt), run)
        without, closing = balance(folder)
        lost.append(without)
        study.expect(closing < CLOSES, "%s, dt %g: defect %.3e of the energy turned over without the integrator's "
                     "dissipation, %.1e with it" % (label, dt, without, closing),
                     **{"%s defect dt %g" % (label, dt): without, "%s closing dt %g" % (label, dt): closing})
    study.expect((np.diff(lost) < 0).all() and lost[-1] < LOST, "%s: the defect falls with the step, %s, orders %s, below "
                 "%g at the end" % (label, " > ".join("%.2e" % v for v in lost), orders(lost), LOST))
    study.picture(folder, "--times", 4)


def orders(values):
    return ", ".join("%.2f" % o for o in np.log2(np.array(values[:-1]) / np.array(values[1:])))


def bounce(study):
    flat = {
        "geometry": [{"name": "disk", "generator": {"type": "disk", "radius": 0.1, "divisions": 4},
                      "transformation": {"translation": [0, 0.13]}}, plane("floor", [0, 1])],
        "materials": material(2e5, 0.3, 1000), "gravity": [0, -G],
        "contact": {"enabled": True, "dhat": 1e-3},
    }
    ladder(study, "disk", flat, 0.3, (1e-3, 5e-4, 2.5e-4))
    solid = dict(flat, geometry=[{"name": "ball", "generator": {"type": "ball", "radius": 0.1, "divisions": 2},
                                  "transformation": {"translation": [0, 0, 0.13]}}, plane("floor", [0, 0, 1])],
                 gravity=[0, 0, -G])
    ladder(study, "ball", solid, 0.3, (1e-3, 5e-4, 2.5e-4))


def slide(study):
    """A block brakes on the floor and drags a second one on its back along until both rest."""
    scene = {
        "geometry": [box("lower", [0.3, 0.05], [6, 1], [0, 0.0262]), box("upper", [0.1, 0.05], [2, 1], [0, 0.0774]),
                     plane("floor", [0, 1])],
        "materials": material(1e6, 0.3, 1000), "gravity": [0, -G],
        "initial_conditions": {"velocity": [{"body": "lower", "value": [1, 0]}]},
        "contact": {"enabled": True, "dhat": 1e-3, "friction_coefficient": 0.3,
                    "friction_pairs": [{"bodies": ["lower", "upper"], "coefficient": 0.15}]},
    }
    ladder(study, "slide", scene, 0.5, (2e-3, 1e-3, 5e-4))


def restitution(study):
    """A disk without weight against a floor: momentum away over momentum before. What is missing in the limit vibrates."""
    scene = {
        "geometry": [{"name": "disk", "generator": {"type": "disk", "radius": 0.1, "divisions": 4},
                      "transformation": {"translation": [0, 0.102]}}, plane("floor", [0, 1])],
        "materials": material(1e6, 0.3, 1000),
        "initial_conditions": {"velocity": [{"body": "disk", "value": [0, -1]}]},
        "contact": {"enabled": True, "dhat": 1e-3},
        "solver": {"contact": {"barrier_stiffness": 1e11}},
    }
    found = []
    for dt in (8e-4, 4e-4, 2e-4, 1e-4, 5e-5):
        steps = round(0.04 / dt)
        run = dict(scene, time={"dt": dt, "time_steps": steps, "integrator": "BDF2"}, output={"every": steps // 10})
        folder = study.done("restitution-%g" % dt, run)
        rows = ledger(folder)
        found.append(-rows["linear_y"][-1] / start(folder)["linear_momentum"][1])
        apart = rows["barrier"][-1] == 0
        energy = (rows["kinetic"] + rows["elastic"] + rows["barrier"]) / start(folder)["kinetic"]
        study.expect(apart and energy.max() < 1 + 1e-9, "dt %g: restitution %.5f, %.4f of the energy left, never above the "
                     "start" % (dt, found[-1], energy[-1]), **{"restitution dt %g" % dt: found[-1]})
    change = np.abs(np.diff(found))
    limit = found[-1] + (found[-1] - found[-2]) / (change[-2] / change[-1] - 1)
    study.expect((np.diff(change) < 0).all() and 0 < limit <= 1, "restitution: differences %s shrink, orders %s; tends to "
                 "%.5f" % (" > ".join("%.2e" % c for c in change), orders(change), limit), **{"restitution limit": limit})
    study.picture(folder, "--times", 4)
