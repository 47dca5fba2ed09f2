"""Energy: the ledger without the integrator's own dissipation closes as the step falls, with it to the accuracy of Newton's
method at any step; the restitution of an elastic body converges."""
import numpy as np
from tools import G, barrier_force, box, ledger, material, plane, start

CLOSES, LOST = 1e-6, 0.01
# The ledger closes up to the residuals of Newton's method, so these are kept small. The barrier stiffness is fixed: chosen anew
# in every step it would give and take energy that no step size makes vanish.
TIGHT = {"grad_norm_tol": 1e-13, "rel_grad_norm_tol": 1e-13}


def solver(stiffness):
    return {"nonlinear": TIGHT, "contact": {"barrier_stiffness": stiffness}}


def balance(folder):
    """Largest defects over the run, without and with the integrator's dissipation, over the energy turned over: kinetic energy
    and external work that came or went."""
    first, rows = start(folder), ledger(folder)
    held = sum(rows[key] - first[key] for key in ("kinetic", "elastic", "barrier"))
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
    rows = ledger(folder)
    names = ("kinetic", "elastic", "barrier", "external_work", "dissipated_friction", "dissipated_damping",
             "dissipated_integrator")
    study.plot(label, rows["time"], {name: rows[name] for name in names}, ("time [s]", "energy [J]"))
    study.picture(folder, "--times", 4)


def orders(values):
    return ", ".join("%.2f" % o for o in np.log2(np.array(values[:-1]) / np.array(values[1:])))


def thrown(dim, stiffness, divisions, gravity):
    """A disk or ball that meets the floor at 1 m/s; mesh and barrier are coarse and soft enough for the steps to resolve what
    the impact sets in motion."""
    up = [0] * (dim - 1)
    return {
        "geometry": [{"name": "ball", "generator": {"type": "disk" if dim == 2 else "ball", "radius": 0.1,
                                                    "divisions": divisions},
                      "transformation": {"translation": up + [0.112]}}, plane("floor", up + [1])],
        "materials": material(2e5, 0.3, 1000), "gravity": up + [-gravity],
        "initial_conditions": {"velocity": [{"body": "ball", "value": up + [-1]}]},
        "contact": {"enabled": True, "dhat": 1e-2},
        "solver": solver(stiffness),
    }


def bounce(study):
    ladder(study, "disk", thrown(2, 1e9, 2, G), 0.08, (4e-4, 2e-4, 1e-4))
    ladder(study, "ball", thrown(3, 1e8, 1, G), 0.08, (4e-4, 2e-4, 1e-4))


def slide(study):
    """A block brakes on the floor and drags a second one on its back along until both rest."""
    dhat, vertices = 1e-3, 7
    weight = 1000 * G * (0.3 + 0.1) * 0.05
    scene = {
        "geometry": [box("lower", [0.3, 0.05], [vertices - 1, 1], [0, 0.025 + 1.05 * dhat]),
                     box("upper", [0.1, 0.05], [2, 1], [0, 0.075 + 2.1 * dhat]), plane("floor", [0, 1])],
        "materials": material(1e6, 0.3, 1000, psi=100), "gravity": [0, -G],
        "initial_conditions": {"velocity": [{"body": "lower", "value": [1, 0]}]},
        "contact": {"enabled": True, "dhat": dhat, "friction_coefficient": 0.3,
                    "friction_pairs": [{"bodies": ["lower", "upper"], "coefficient": 0.15}]},
        "solver": solver(weight / vertices / barrier_force(dhat / 2, dhat)),
    }
    ladder(study, "slide", scene, 0.5, (1e-3, 5e-4, 2.5e-4))


def restitution(study):
    """A disk without weight against a floor: momentum away over momentum before. What is missing in the limit vibrates."""
    scene, found, steps = thrown(2, 1e9, 2, 0), [], (8e-5, 4e-5, 2e-5, 1e-5, 5e-6)
    for dt in steps:
        count = round(0.06 / dt)
        run = dict(scene, time={"dt": dt, "time_steps": count, "integrator": "BDF2"}, output={"every": count // 10})
        folder = study.done("restitution-%g" % dt, run)
        rows, first = ledger(folder), start(folder)
        found.append(-rows["linear_y"][-1] / first["linear_momentum"][1])
        energy = (rows["kinetic"] + rows["elastic"] + rows["barrier"]) / first["kinetic"]
        study.expect(rows["barrier"][-1] == 0 and energy.max() < 1 + 1e-6, "dt %g: restitution %.6f, %.6f of the energy "
                     "left, never above the start" % (dt, found[-1], energy[-1]),
                     **{"restitution dt %g" % dt: found[-1], "energy left dt %g" % dt: energy[-1]})
    change = np.abs(np.diff(found))
    limit = found[-1] + (found[-1] - found[-2]) / (change[-2] / change[-1] - 1)
    study.expect((np.diff(change) < 0).all() and 0 < limit <= 1, "restitution: differences %s shrink, orders %s; tends to "
                 "%.6f" % (" > ".join("%.1e" % c for c in change), orders(change), limit), **{"restitution limit": limit})
    study.plot("restitution", steps, {"distance from the limit": np.abs(np.array(found) - limit)},
               ("time step [s]", "restitution - limit"), logarithmic=True)
    study.picture(folder, "--times", 4)
