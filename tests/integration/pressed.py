"""Obstacles that press: they arrive in one move per step, few Newton iterations follow, and what cannot be followed ends soon."""
import time

import runs
from pieces import box, material, plane
from studies import gradient, result

DHAT = 1e-3


def walls(dim, steps=8, speed=0.3, **contact):
    """A soft block between walls that close by 3 dhat a step each."""
    size, divisions, side = [0.2] * dim, [8] * dim if dim == 2 else [5] * dim, [0.5] * (dim - 1) + [0.04]
    up = [0.0] * (dim - 1) + [1.0]

    def wall(name, sign, number):
        return box(name, side, [1] * dim, [sign * 0.1212 * x for x in up], is_obstacle=True, surface_selection=number)

    return {
        "geometry": [box("block", size, divisions, [0] * dim), wall("upper", 1, 1), wall("lower", -1, 2)],
        "materials": material(1e5, 0.4, 1000),
        "boundary_conditions": {"obstacle_displacements": [
            {"id": number, "value": [0] * (dim - 1) + ["%g*t" % (sign * speed)]} for number, sign in ((1, -1), (2, 1))]},
        "contact": {"enabled": True, "dhat": DHAT, "friction_coefficient": 0.2},
        "solver": {"contact": dict({"barrier_stiffness": 1e10}, **contact)},
        "time": {"dt": 0.01, "time_steps": steps},
    }


def presses(recoil):
    for dim, form in ((2, {}), (3, {}), (3, {"barrier_stiffness": "adaptive"})):
        name = "walls-%dd%s" % (dim, "-adaptive" if form else "")
        scene = walls(dim, **form)
        path = recoil.write_scene(name, scene)
        folder = recoil.simulate(1, path, name)
        found = runs.summary(folder)
        steps, newton, moves = found["steps"], found["newton_iterations"], found["sub_moves"]
        runs.check(found["intersections"] == 0 and found["max_active_pairs"] > 10, name + ": no intersection")
        runs.check(moves <= 1.2 * steps and newton <= 12 * steps,
                   "%s: %d moves and %d Newton iterations in %d steps" % (name, moves, newton, steps))
        if form:
            continue
        for n in (2, 3):
            other = recoil.simulate(n, path, "%s-%d" % (name, n))
            error = runs.difference(runs.state(other), runs.state(folder))
            runs.check(error < 1e-6, "%s: %d ranks differ from 1 by %.1e" % (name, n, error))
        same = (runs.state(recoil.simulate(3, path, name + "-again")) == runs.state(other)).all()
        runs.check(same, name + ": 3 ranks repeat bitwise")


def gradients(recoil):
    """Derivatives of steps that several moves led to are those of the converged step."""
    scene = walls(2, steps=5)
    scene["boundary_conditions"]["obstacle_displacements"][0] = {
        "id": 1, "value": [0, -0.3], "interpolation": {"type": "linear_ramp", "from": 0, "to": 1}}
    study = {
        "experiments": [{"name": "press", "scene": recoil.write_scene("press", scene)}],
        "parameters": [{"name": "way", "quantity": "obstacle_motion", "body": "upper", "initial": [0, -0.3]},
                       {"name": "E", "quantity": "young_modulus", "initial": 1e5},
                       {"name": "mu", "quantity": "friction", "bodies": ["block", "upper"], "initial": 0.2}],
        "objectives": [{"name": "stress", "type": "stress_norm", "p": 2, "time": "integral"}],
        "sweep": {"tolerance": 1e-13},
        "check": {"directions": 1, "steps": [1e-4, 1e-5, 1e-6, 1e-7]},
    }
    folder = gradient(recoil, 1, recoil.write_scene("press-study", study), "press-gradient", "--check", expect=None)
    for direction, found in result(folder)["check"].items():
        runs.check(found["relative_error"] < 1e-6 and found["derivative"] != 0,
                   "press, %s: %.1e from differences" % (direction, found["relative_error"]))


def hopeless(recoil):
    """Motions that no moves can follow end with exit 3 after a bounded amount of work."""
    squeezed = walls(2, steps=1, speed=1e11)
    squeezed["geometry"][2] = plane("table", [0, 1])
    squeezed["geometry"][2]["point"] = [0, -0.1005]
    squeezed["boundary_conditions"]["obstacle_displacements"] = [{"id": 1, "value": [0, "-1e11*t"]}]
    torn = {
        "geometry": [box("block", [0.2, 0.2], [6, 6], [0, 0], surface_selection=[
            {"id": 1, "axis": "y", "position": 0.0999}, {"id": 2, "axis": "-y", "position": -0.0999}])],
        "materials": material(1e5, 0.4, 1000),
        "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, "-1e11*t"]}, {"id": 2, "value": [0, 0]}]},
        "time": {"dt": 0.01, "time_steps": 1},
    }
    touching = dict(torn, contact={"enabled": True, "dhat": DHAT})
    for name, scene in (("walls", walls(2, steps=1, speed=1e11)), ("table", squeezed), ("inverted", torn), ("touching", touching)):
        start = time.monotonic()
        code, text = recoil.run(1, "simulate", recoil.write_scene(name, scene), "-o", recoil.path(name), "-q", expect=None)
        seconds = time.monotonic() - start
        newton = runs.summary(recoil.path(name))["newton_iterations"]
        runs.check(code == 3 and "prescribed" in text, "%s: exit %d, %s" % (name, code, text.strip()[:300]))
        runs.check(newton < 2000 and seconds < 60, "%s: %d Newton iterations, %.1f s" % (name, newton, seconds))


with runs.Recoil() as recoil:
    presses(recoil)
    gradients(recoil)
    hopeless(recoil)
