"""Contact and friction in whole runs: rank counts, restarts, fast bodies, refused starts, slopes, energies."""
import re
import numpy as np
import runs
from pieces import box, ledger, material, plane


def pushed_stack(steps=50):
    """Two blocks on a floor; an obstacle pushes the lower one, which drags the upper one along until that slips."""
    return {
        "geometry": [box("lower", [0.5, 0.4, 0.1], [5, 4, 2], [0, 0, 0.0506]),
                     box("upper", [0.2, 0.2, 0.15], [2, 2, 2], [-0.05, 0.01, 0.1762]),
                     box("pusher", [0.1, 0.2, 0.06], [1, 1, 1], [-0.302, 0, 0.052], is_obstacle=True,
                         surface_selection=1), plane("floor", [0, 0, 1])],
        "materials": material(1e6, 0.3, 1000, psi=50),
        "gravity": [0, 0, -9.81],
        "boundary_conditions": {"obstacle_displacements": [{"id": 1, "value": ["0.12*smoothstep(2*t)", 0, 0]}]},
        "contact": {"enabled": True, "dhat": 1e-3, "epsv": 1e-3, "friction_coefficient": 0.2,
                    "friction_pairs": [{"bodies": ["lower", "upper"], "coefficient": 0.1}]},
        "time": {"dt": 0.01, "time_steps": steps},
        "solver": {"nonlinear": {"grad_norm_tol": 1e-12}},  # what is left of the gradient is what is left of the balance
        "output": {"fields": ["contact_force", "friction_force"]},
    }


def ranks(recoil):
    scene = recoil.write_scene("pushed", pushed_stack())
    folders = {n: recoil.simulate(n, scene, "pushed-%d" % n) for n in (1, 2, 3, 4)}
    states = {n: runs.state(folder) for n, folder in folders.items()}
    found = runs.summary(folders[1])
    runs.check(found["intersections"] == 0 and found["max_active_pairs"] > 20 and found["energies"]["dissipated_friction"] > 0,
               "pushed stack: %d active pairs, no intersection" % found["max_active_pairs"])
    for n in (2, 3, 4):
        error = runs.difference(states[n], states[1])
        runs.check(error < 1e-6, "pushed stack: %d ranks differ from 1 by %.1e" % (n, error))
    for n in (3, 4):
        again = recoil.simulate(n, scene, "pushed-again-%d" % n)
        for field in ("u", "v", "contact_force", "friction_force"):
            same = (runs.state(again, field=field) == runs.state(folders[n], field=field)).all()
            runs.check(same, "pushed stack: %d ranks repeat %s bitwise" % (n, field))
    restart(recoil, scene, folders)
    return folders[2]


def restart(recoil, scene, folders):
    for n, step in ((2, 17), (3, 30)):
        part = recoil.simulate(n, scene, "part", "--steps", step)
        recoil.run(n, "simulate", "--restart", part, "-q")
        same = all((runs.state(part, field=f) == runs.state(folders[n], field=f)).all() for f in ("u", "v", "contact_force"))
        runs.check(same, "restart in contact after step %d on %d ranks is bitwise" % (step, n))
        a, b = ledger(part), ledger(folders[n])
        worst = max(np.abs(a[key] - b[key]).max() / np.abs(b[key]).max()
                    for key in ("barrier", "external_work", "dissipated_friction", "dissipated_integrator"))
        runs.check(worst < 1e-12, "restart after step %d: ledger.csv continues (%.1e)" % (step, worst))


def closes(recoil, folder, scene_name):
    """Energies, works and dissipations of every row balance."""
    start = runs.summary(recoil.simulate(1, recoil.path(scene_name + ".json"), "start", "--steps", 0))["energies"]
    rows = ledger(folder)
    held = rows["kinetic"] + rows["elastic"] + rows["barrier"] - sum(start[k] for k in ("kinetic", "elastic", "barrier"))
    spent = rows["dissipated_friction"] + rows["dissipated_damping"] + rows["dissipated_integrator"]
    turnover = sum(np.abs(np.diff(rows[key], prepend=first)).sum()
                   for key, first in (("kinetic", start["kinetic"]), ("external_work", 0)))
    error = np.abs(held - rows["external_work"] + spent).max() / turnover
    runs.check(error < 1e-9, "%s: ledger closes to %.1e of the energy turned over" % (scene_name, error))


def tunnelling(recoil):
    """A step is 10 m long, the sheet 1 cm thick."""
    flat = {
        "geometry": [{"name": "ball", "generator": {"type": "disk", "radius": 0.05, "divisions": 2},
                      "transformation": {"translation": [0.013, 0.3]}},
                     box("sheet", [1, 0.01], [20, 1], [0, 0],
                         surface_selection=[{"id": 1, "axis": s, "position": p} for s, p in (("-x", -0.499), ("x", 0.499))])],
        "materials": material(1e7, 0.3, 1000),
        "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0]}]},
        "initial_conditions": {"velocity": [{"body": "ball", "value": [0, -1000]}]},
        "contact": {"enabled": True, "dhat": 1e-3},
        "time": {"dt": 0.01, "time_steps": 4},
    }
    solid = dict(flat, geometry=[
        {"name": "ball", "generator": {"type": "ball", "radius": 0.05, "divisions": 1},
         "transformation": {"translation": [0.013, 0.007, 0.3]}},
        {"name": "sheet", "generator": {"type": "plate", "size": [1, 1, 0.01], "divisions": [6, 6, 1]},
         "surface_selection": [{"id": 1, "axis": s + a, "position": float(s + "0.499")} for a in "xy" for s in ("-", "")]}],
        boundary_conditions={"dirichlet_boundary": [{"id": 1, "value": [0, 0, 0]}]},
        initial_conditions={"velocity": [{"body": "ball", "value": [0, 0, -1000]}]})
    for name, scene in (("flat", flat), ("solid", solid)):
        folder = recoil.simulate(2, recoil.write_scene(name, scene), name)
        found = runs.summary(folder)
        X = runs.coordinates(folder)
        up = X.shape[1] - 1
        ball, height = X[:, up] > 0.1, X[:, up] + runs.state(folder)[:, up]
        above = height[ball].mean() - height[~ball].min()
        runs.check(found["intersections"] == 0 and above > 0.04,
                   "%s: the ball at 1000 m/s is kept, %.3f m above the lowest point of the sheet" % (name, above))


def listed_obstacle(recoil):
    """An obstacle driven by a list of values per step instead of a formula."""
    states = []
    for value, more in (("0.1*t", {}), ([1e-3 * n for n in range(1, 11)], {"time_reference": [0.01 * n for n in range(1, 11)]})):
        scene = pushed_stack(10)
        scene["boundary_conditions"]["obstacle_displacements"] = [dict({"id": 1, "value": [value, 0, 0]}, **more)]
        states.append(runs.state(recoil.simulate(1, recoil.write_scene("listed", scene), "listed")))
    error = runs.difference(states[1], states[0])
    runs.check(error < 1e-9, "obstacle moved by a list and by a formula: %.1e" % error)


def regularized(recoil):
    """A static beam that bends down to a floor: the regularisation of the first passes over friction leaves no trace."""
    def tip(friction, **advanced):
        scene = {
            "geometry": [box("beam", [1, 0.1], [10, 2], [0, 0.06], surface_selection=[{"id": 1, "axis": "-x", "position": -0.499}]),
                         plane("floor", [0, 1])],
            "materials": material(1e5, 0.3, 1000), "gravity": [0, -9.81],
            "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0]}]},
            "contact": {"enabled": True, "dhat": 1e-3, "friction_coefficient": friction},
            "solver": {"contact": {"barrier_stiffness": 1e5, "friction_iterations": 20 if friction else 1,
                                   "friction_convergence_tol": 1e-7}, "advanced": advanced},
        }
        return runs.state(recoil.simulate(1, recoil.write_scene("beam", scene), "beam"))

    weight, passes = "lagged_regularization_weight", "lagged_regularization_iterations"
    free, held = tip(0), tip(0, **{weight: 1e3})
    runs.check(runs.difference(held, free) > 1e-3, "one pass alone keeps the regularisation")
    runs.check((tip(0, **{weight: 1e3, passes: 0}) == free).all(), "no pass is regularised where none is asked for")
    free = tip(0.3)
    for n in (1, 3):
        error = runs.difference(tip(0.3, **{weight: 1e3, passes: n}), free)
        runs.check(error < 1e-5, "%d regularised passes over friction leave %.1e" % (n, error))


def refused(recoil):
    scene = pushed_stack()
    scene["geometry"][1]["transformation"]["translation"][2] = 0.17
    folder = recoil.path("refused")
    code, text = recoil.run(2, "simulate", recoil.write_scene("refused", scene), "-o", folder, "-q", expect=None)
    # Which body the edge is of depends on which rank finds the pair, and so on the partition.
    pair = re.search(r"edge \(.*?\) of '(\w+)' and face \(.*?\) of '(\w+)'", text)
    runs.check(code == 2 and pair is not None and sorted(pair.groups()) == ["lower", "upper"], "intersecting start: exit %d, %s" %
               (code, " ".join(text.split("\n")[1:3])))
    scene = pushed_stack()
    scene["geometry"][0]["transformation"]["translation"][2] = 0.049
    code, text = recoil.run(2, "simulate", recoil.write_scene("below", scene), "-o", recoil.path("below"), "-q", expect=None)
    runs.check(code == 2 and text.count("is beyond the plane") == 10, "start below a plane: exit %d, %s" %
               (code, " ".join(text.split("\n")[1:3])))


def slope(recoil):
    """A flat block that rests on a plane of slope 0.4 in balance: creeps as smoothed friction says where the coefficient is
    above the slope, and slides as implicit Euler says where it is below."""
    slope, g, rho, dhat, epsv, dt, steps = 0.4, 9.81, 1000, 1e-3, 1e-4, 0.01, 50
    length, height, cells, t = 0.3, 0.05, 6, dt * steps
    angle = np.arctan(slope)
    normal, down = np.array([-np.sin(angle), np.cos(angle)]), -np.array([np.cos(angle), np.sin(angle)])
    # The stiffness that carries the weight at half of dhat: force 2 d |b'(d^2)| per vertex.
    d, y, Y = 0.5 * dhat, (0.5 * dhat) ** 2, dhat ** 2
    per_stiffness = 2 * d * (2 * (y - Y) * np.log(y / Y) + (y - Y) ** 2 / y)
    stiffness = rho * g * np.cos(angle) * length * height / (cells + 1) / per_stiffness
    for mu in (0.5, 0.41, 0.39, 0.2, 0.0):
        block = box("block", [length, height], [cells, 1], list((height / 2 + d) * normal))
        block["transformation"]["rotation"] = float(np.degrees(angle))
        scene = {
            "geometry": [block, plane("slope", list(normal))],
            "materials": material(1e8, 0.3, rho), "gravity": [0, -g],
            "contact": {"enabled": True, "dhat": dhat, "epsv": epsv,
                        "friction_pairs": [{"bodies": ["block", "slope"], "coefficient": mu}]},
            "solver": {"contact": {"barrier_stiffness": stiffness}},
            "time": {"dt": dt, "time_steps": steps},
        }
        folder = recoil.simulate(1, recoil.write_scene("slope", scene), "slope-%g" % mu)
        half, moved = (float(runs.state(folder, step).mean(0)[:2] @ down) for step in (steps // 2, steps))
        if mu > slope:
            # f1 = 2 v/epsv - (v/epsv)^2 = slope/mu
            speed = (moved - half) / (0.5 * t) / epsv
            expected = 1 - np.sqrt(1 - slope / mu)
            runs.check(moved < epsv * t, "mu %g: sticks, %.2e m of creep, epsv t = %.2e m" % (mu, moved, epsv * t))
            runs.check(abs(speed / expected - 1) < 0.01, "mu %g: creeps at %.4f epsv, expected %.4f" % (mu, speed, expected))
        else:
            expected = g * (np.sin(angle) - mu * np.cos(angle)) * t * (t + dt) / 2
            runs.check(abs(moved / expected - 1) < 0.01, "mu %g: slides %.6f m, expected %.6f m (%.1e)" %
                       (mu, moved, expected, moved / expected - 1))


def restitution(recoil):
    """A disk falls on a floor: it comes back slower, the less so the smaller the step, and never gains energy."""
    before = []
    for dt in (4e-3, 1e-3):
        scene = {
            "geometry": [{"name": "disk", "generator": {"type": "disk", "radius": 0.1, "divisions": 4},
                          "transformation": {"translation": [0, 0.12]}}, plane("floor", [0, 1])],
            "materials": material(1e6, 0.3, 1000),
            "initial_conditions": {"velocity": [{"body": "disk", "value": [0, -1]}]},
            "contact": {"enabled": True, "dhat": 1e-3},
            "time": {"dt": dt, "time_steps": round(0.06 / dt), "integrator": "BDF2"},
            "solver": {"nonlinear": {"grad_norm_tol": 1e-12}},
        }
        folder = recoil.simulate(1, recoil.write_scene("bounce", scene), "bounce-%g" % dt)
        rows = ledger(folder)
        mass = abs(rows["linear_y"][0])
        back = rows["linear_y"][-1] / mass
        runs.check(0 < back < 1, "dt %g: restitution %.4f" % (dt, back))
        total = rows["kinetic"] + rows["elastic"] + rows["barrier"]
        runs.check((total <= total[0] * (1 + 1e-9)).all(), "dt %g: energy never above the start (%.6f of it at most)" %
                   (dt, total.max() / total[0]))
        before.append(back)
        closes(recoil, folder, "bounce")
    runs.check(before[1] > before[0], "restitution grows as the step falls")


with runs.Recoil() as recoil:
    closes(recoil, ranks(recoil), "pushed")
    tunnelling(recoil)
    refused(recoil)
    listed_obstacle(recoil)
    regularized(recoil)
    slope(recoil)
    restitution(recoil)
