#!/usr/bin/env python3
"""A frictionless body at rest on a flat floor of triangles must stay where it is, whatever the triangles.

    bench/physics/flat.py --recoil build/release/recoil             # a short sample
    bench/physics/flat.py --recoil build/release/recoil --all 1     # twelve triangulations, two bodies, forms, tilts; minutes

The drift is the largest displacement of the body's centre along the floor in any stored state; a floor that is an obstacle
must leave less than 1e-5 m. Tilted floors turn with gravity.
"""
import math
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "integration"))
import runs  # noqa: E402
from pieces import box, material  # noqa: E402

BOUND, DHAT, G = 1e-5, 1e-3, 9.81
FORMS = {"plain": {},
         "convergent": {"use_convergent_formulation": True},
         "weighted": {"use_convergent_formulation": True, "use_improved_max_operator": False},
         "maximum": {"use_convergent_formulation": True, "use_area_weighting": False}}
TILTS = {"level": (0, 0), "tilted": (25, 0), "turned": (40, 70)}


# Triangulations of the square [-1, 1]^2: vertices in the plane, triangles.


def grid(xs, ys, turned):
    """Cells between the lines at xs and ys, cut along one diagonal or, where turned(i, j), along the other."""
    points = [(x, y) for y in ys for x in xs]
    number = lambda i, j: j * len(xs) + i
    triangles = []
    for j in range(len(ys) - 1):
        for i in range(len(xs) - 1):
            a, b, c, d = number(i, j), number(i + 1, j), number(i + 1, j + 1), number(i, j + 1)
            triangles += [(a, b, d), (b, c, d)] if turned(i, j) else [(a, b, c), (a, c, d)]
    return points, triangles


def fan(x, y):
    return [(-1, -1), (1, -1), (1, 1), (-1, 1), (x, y)], [(0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)]


def random_points(count, seed, around=1.0):
    """Triangles that random points inside split one after the other, which makes slivers, too."""
    rng = np.random.default_rng(seed)
    points, triangles = fan(0.013, -0.021)
    points = list(points)
    for p in rng.uniform(-around, around, (count, 2)):
        for k, (a, b, c) in enumerate(triangles):
            A, B, C = (np.array(points[v]) for v in (a, b, c))
            w = np.linalg.solve(np.array([B - A, C - A]).T, p - A)
            if w.min() > 1e-6 and w.sum() < 1 - 1e-6:
                n = len(points)
                points.append(tuple(p))
                triangles[k:k + 1] = [(a, b, n), (b, c, n), (c, a, n)]
                break
    return points, triangles


def shaken(cells, seed):
    """A grid whose inner vertices are moved at random, cut along random diagonals."""
    rng = np.random.default_rng(seed)
    line = np.linspace(-1, 1, cells + 1)
    turned = rng.integers(0, 2, (cells, cells))
    points, triangles = grid(line, line, lambda i, j: turned[i, j])
    shift = rng.uniform(-0.25, 0.25, (len(points), 2)) * 2 / cells
    return [(x + s, y + t) if max(abs(x), abs(y)) < 1 else (x, y) for (x, y), (s, t) in zip(points, shift)], triangles


def mixed(sheet):
    """Every second triangle the other way round."""
    points, triangles = sheet
    return points, [t if k % 2 else t[::-1] for k, t in enumerate(triangles)]


def twins(sheet):
    """Every triangle twice, the other way round and with vertices of its own."""
    points, triangles = sheet
    return points + points, triangles + [tuple(v + len(points) for v in t[::-1]) for t in triangles]


def hanging():
    """A triangle of half of the square beside two that share a vertex inside of its longest side."""
    return [(-1, -1), (1, -1), (1, 1), (-1, 1), (0.06, 0.06)], [(0, 1, 2), (0, 4, 3), (4, 2, 3)]


LINE = np.linspace(-1, 1, 9)
FINE = [-1, *np.linspace(-0.1, 0.1, 26), 1]
SHEETS = {"two": lambda: grid([-1, 1], [-1, 1], lambda i, j: False),
          "two_other": lambda: grid([-1, 1], [-1, 1], lambda i, j: True),
          "fan": lambda: fan(0.031, 0.017),
          "aligned": lambda: grid(LINE, LINE, lambda i, j: False),
          "alternating": lambda: grid(LINE, LINE, lambda i, j: (i + j) % 2),
          "strips": lambda: grid([-1, 1], np.linspace(-1, 1, 41), lambda i, j: j % 2),
          "fine": lambda: grid(FINE, FINE, lambda i, j: i % 2),
          "shaken": lambda: shaken(14, 3),
          "random": lambda: random_points(60, 5, 0.2),
          "mixed": lambda: mixed(shaken(9, 7)),
          "twins": lambda: twins(grid([-1, 1], [-1, 1], lambda i, j: False)),
          "hanging": hanging}


# Scenes


def rotation(tilt):
    """Turns z to the normal of the floor: about x, then about z (degrees)."""
    a, b = (math.radians(angle) for angle in tilt)
    about_x = np.array([[1, 0, 0], [0, math.cos(a), -math.sin(a)], [0, math.sin(a), math.cos(a)]])
    about_z = np.array([[math.cos(b), -math.sin(b), 0], [math.sin(b), math.cos(b), 0], [0, 0, 1]])
    return about_z @ about_x


def write_sheet(path, sheet, turn):
    points, triangles = sheet
    with open(path, "w") as file:
        for p in points:
            file.write("v %.17g %.17g %.17g\n" % tuple(turn @ [*p, 0]))
        for t in triangles:
            file.write("f %d %d %d\n" % tuple(v + 1 for v in t))
    return path


def body(kind, turn, tilt):
    """Off the centre of the floor, half of dhat above it."""
    if kind == "block":
        part, height, place = box("body", [0.1, 0.1, 0.1], [2, 2, 2], [0, 0, 0]), 0.1, [0.02, 0]
    else:
        part = {"name": "body", "generator": {"type": "cylinder", "radius": 0.05, "height": 0.06, "divisions": [2, 2]}}
        height, place = 0.06, [-0.013, 0.027]
    centre = turn @ [*place, height / 2 + DHAT / 2]
    part["transformation"] = {"translation": list(centre), "rotation": [tilt[0], 0, tilt[1]], "rotation_mode": "xyz"}
    return part


def setting(kind, tilt, floor, contact, steps):
    turn = rotation(tilt)
    return {"geometry": [body(kind, turn, tilt)] + floor,
            "materials": material(1e6, 0.3, 1000), "gravity": list(turn @ [0, 0, -G]),
            "contact": dict({"enabled": True, "dhat": DHAT}, **contact),
            "time": {"dt": 0.05, "time_steps": steps}, "output": {"every": max(1, steps // 4)}}


def drift(recoil, name, scene, tilt):
    folder = recoil.simulate(1, recoil.write_scene(name, scene), name)
    found = runs.summary(folder)
    if found["status"] != "done" or found["intersections"] != 0:
        raise SystemExit("%s: %s, %d intersections" % (name, found["status"], found["intersections"]))
    rest, turn, largest = runs.coordinates(folder), rotation(tilt), 0
    # The body is the first mesh; its nodes come first.
    count = body_nodes(folder)
    for entry in runs.manifest(folder)["files"]:
        for record in entry["states"]:
            if record["kept"] == "stored" and "step" in record:
                u = runs.state(folder, record["step"])[:count]
                largest = max(largest, float(np.linalg.norm((turn.T @ u.mean(axis=0))[:2])))
    assert count <= len(rest)
    return largest


def body_nodes(folder):
    import h5py
    with h5py.File(os.path.join(folder, "trajectory", "mesh.h5"), "r") as file:
        cells, bodies = file["connectivity"][:], file["body"][:].ravel()
    return int(cells[bodies == bodies.min()].max()) + 1


def measure(recoil, sheet, kind, form, pose, steps):
    tilt = TILTS[pose]
    name = "-".join((sheet, kind, form, pose))
    path = write_sheet(recoil.path(name + ".obj"), SHEETS[sheet](), rotation(tilt))
    floor = [{"name": "floor", "mesh": path, "is_obstacle": True}]
    found = drift(recoil, name, setting(kind, tilt, floor, FORMS[form], steps), tilt)
    runs.check(found < BOUND, "%-44s drift %.1e m" % (name, found))


def sample():
    for case in (("two", "block", "plain", "level"), ("random", "cylinder", "plain", "turned"),
                 ("two", "block", "convergent", "tilted"), ("shaken", "block", "weighted", "level"),
                 ("twins", "block", "plain", "level"), ("hanging", "block", "plain", "level")):
        yield (*case, 12)


def everything():
    for sheet in SHEETS:
        for kind in ("block", "cylinder"):
            for form in FORMS:
                for pose in TILTS:
                    if form in ("plain", "convergent") or pose == "level":
                        yield sheet, kind, form, pose, 40


def main():
    with runs.Recoil(("--all", int, 0)) as recoil:
        for case in (everything() if recoil.arguments.all else sample()):
            measure(recoil, *case)


if __name__ == "__main__":
    main()
