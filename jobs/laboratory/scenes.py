#!/usr/bin/env python3
"""Writes scenes of two tests that every soil laboratory makes: scenes.py FOLDER. Grains at random between rigid walls."""
import json
import os
import sys

E, NU, RHO, MU, DHAT = 2e7, 0.25, 2600, 0.5, 1e-4
GRAINS = {"packing": "random", "radius": [0.0016, 0.0022], "bonded": False}
SETTINGS = {"materials": {"type": "BondedParticles", "E": E, "nu": NU, "rho": RHO},
            "contact": {"enabled": True, "dhat": DHAT, "friction_coefficient": MU, "epsv": 1e-3},
            "solver": {"type": "bonded_particles", "bonded_particles": {"contact_law": "hertz", "rolling_friction": 0.05, "max_iterations": 300}}}


def plane(name, axis, side, half, surface=None):
    point, normal = [0, 0, 0], [0, 0, 0]
    point[axis], normal[axis] = side * (half + DHAT), -side
    entry = {"name": name, "is_obstacle": True, "type": "plane", "point": point, "normal": normal}
    return entry if surface is None else dict(entry, surface_selection=surface)


def servo(wall, axis, side, force):
    direction = [0, 0, 0]
    direction[axis] = -side
    return {"id": wall, "direction": direction, "force": force, "max_speed": 0.05}


def triaxial(pressure, width=0.02, height=0.04, steps=300, dt=1e-3, rate=0.5):
    """A specimen under a lateral pressure, which four walls hold, whose top comes down at `rate` of its height per second."""
    sides = [plane("side %s" % name, axis, side, width / 2, 1 + k)
             for k, (name, axis, side) in enumerate((("-x", 0, -1), ("x", 0, 1), ("-y", 1, -1), ("y", 1, 1)))]
    geometry = [{"name": "sand", "generator": {"type": "box", "size": [width, width, height], "divisions": 1}, "particles": dict(GRAINS, seed=5)},
                *sides, plane("base", 2, -1, height / 2), plane("top", 2, 1, height / 2, 5)]
    force = pressure * width * height
    return dict(SETTINGS, geometry=geometry, time={"dt": dt, "time_steps": steps}, output={"every": 20, "contacts": True}, boundary_conditions={
        "servo_obstacles": [servo(1 + k, k // 2, 2 * (k % 2) - 1, force) for k in range(4)],
        "obstacle_displacements": [{"id": 5, "value": [0, 0, "-%.9g*t" % (rate * height)]}]})


def box_wall(file, name, low, high, folder, bottom):
    """An open box of triangles."""
    (x0, y0, z0), (x1, y1, z1) = low, high
    points = [(x, y, z) for z in (z0, z1) for y in (y0, y1) for x in (x0, x1)]
    quads = [(0, 1, 5, 4), (1, 3, 7, 5), (3, 2, 6, 7), (2, 0, 4, 6)] + ([(0, 2, 3, 1)] if bottom else [])
    with open(os.path.join(folder, file), "w") as out:
        out.writelines("v %.9g %.9g %.9g\n" % p for p in points)
        out.writelines("f %d %d %d\n" % tuple(q[i] + 1 for i in part) for q in quads for part in ((0, 1, 2), (0, 2, 3)))
    return {"name": name, "is_obstacle": True, "mesh": file}


def shear_box(folder, pressure, width=0.03, height=0.02, steps=300, dt=1e-3, rate=0.02):
    """Grains in a box of two halves, of which the upper one moves along x at `rate` [m/s] below a lid that presses with a constant force."""
    half, middle = width / 2 + DHAT, height / 2
    lower = box_wall("lower.obj", "lower half", (-half, -half, -DHAT), (half, half, middle - 1e-4), folder, True)
    upper = box_wall("upper.obj", "upper half", (-half, -half, middle + 1e-4), (half, half, 2 * height), folder, False)
    lid = {"name": "lid", "is_obstacle": True, "type": "plane", "point": [0, 0, height + DHAT], "normal": [0, 0, -1], "surface_selection": 2}
    geometry = [{"name": "sand", "generator": {"type": "box", "size": [width, width, height], "divisions": 1},
                 "transformation": {"translation": [0, 0, height / 2]}, "particles": dict(GRAINS, seed=6)},
                lower, dict(upper, surface_selection=1), lid]
    scene = dict(SETTINGS, geometry=geometry, time={"dt": dt, "time_steps": steps}, output={"every": 20, "contacts": True}, boundary_conditions={
        "servo_obstacles": [{"id": 2, "direction": [0, 0, -1], "force": pressure * width**2, "max_speed": 0.05}],
        "obstacle_displacements": [{"id": 1, "value": ["%.9g*t" % rate, 0, 0]}]})
    # The lid slides along with the upper half.
    scene["contact"] = dict(SETTINGS["contact"], friction_pairs=[{"bodies": ["sand", "lid"], "coefficient": 0}])
    return scene


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    for name, scene in (("triaxial", triaxial(2e4)), ("shear_box", shear_box(folder, 2e4))):
        with open(os.path.join(folder, name + ".json"), "w") as file:
            json.dump(scene, file, indent=1)


if __name__ == "__main__":
    main()
