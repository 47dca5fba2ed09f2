#!/usr/bin/env python3
"""Makes the mesh files of the jobs with the program gmsh (Debian: gmsh). They are stored, so that a job needs no Gmsh.

    jobs/design/make_meshes.py [bridge_stress hook ..]
"""
import json
import math
import os
import subprocess
import sys
import tempfile

import numpy as np

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.join(os.path.dirname(os.path.dirname(FOLDER)), "scripts"))
import modes  # noqa: E402


def arc(centre, radii, begin, end, count=48):
    """Points of an ellipse from one angle [deg] to another."""
    angle = np.radians(np.linspace(begin, end, count + 1))
    rx, ry = np.broadcast_to(radii, 2)
    return [(centre[0] + rx * math.cos(a), centre[1] + ry * math.sin(a)) for a in angle]


def resampled(outline, size):
    """Points along a closed polygon, no farther apart than size(x, y) or the corners."""
    points = []
    for a, b in zip(outline, [*outline[1:], outline[0]]):
        middle = 0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])
        count = max(1, round(math.dist(a, b) / size(*middle)))
        points += [tuple(np.array(a) + k / count * (np.array(b) - a)) for k in range(count)]
    return points


def area_of(outlines, size):
    """Gmsh's text for the area between the first closed polygon and the others."""
    lines, first, loops = [], 1, []
    for number, outline in enumerate(outlines, 1):
        points = resampled(outline, size)
        numbers = list(range(first, first + len(points)))
        lines += ["Point(%d) = {%.17g, %.17g, 0, %.17g};" % (k, *p, size(*p)) for k, p in zip(numbers, points)]
        lines += ["Line(%d) = {%d, %d};" % (k, k, end) for k, end in zip(numbers, [*numbers[1:], first])]
        lines += ["Transfinite Line {%d:%d} = 2;" % (numbers[0], numbers[-1])]
        lines += ["Line Loop(%d) = {%d:%d};" % (number, numbers[0], numbers[-1])]
        loops.append(number)
        first += len(points)
    return "\n".join(lines + ["Plane Surface(1) = {%s};" % ", ".join(map(str, loops)), "Physical Surface(1) = {1};"])


def mesh(text, dim, path, size=None):
    """Runs gmsh on this text, with a size of the edges where it has none at its points; the number of vertices."""
    sized = [] if size is None else ["-clmin", str(size), "-clmax", str(size)]
    with tempfile.NamedTemporaryFile("w", suffix=".geo") as file:
        file.write(text)
        file.flush()
        subprocess.run(["gmsh", "-%d" % dim, "-format", "msh22", "-nt", "1", "-v", "1", "-o", path, *sized, file.name], check=True)
    with open(path) as file:
        return int(next(line for line in file if line.startswith("$Nodes")) and next(file))


def uniform(size):
    return lambda x, y: size


def rounded(corners, radius, count=6, re_entrant_only=False):
    """A polygon, counter-clockwise, whose corners are arcs of this radius."""
    points = []
    for before, at, after in zip([corners[-1], *corners[:-1]], corners, [*corners[1:], corners[0]]):
        p, q = ((np.array(end) - at) / math.dist(end, at) for end in (before, after))
        if re_entrant_only and p[0] * q[1] < p[1] * q[0]:
            points.append(at)
            continue
        half = 0.5 * math.acos(np.clip(p @ q, -1, 1))
        centre = at + (p + q) / np.linalg.norm(p + q) * radius / math.sin(half)
        first, last = (math.atan2(*(np.array(at) + v * radius / math.tan(half) - centre)[::-1]) for v in (p, q))
        turn = (last - first + math.pi) % (2 * math.pi) - math.pi
        points += arc(centre, radius, math.degrees(first), math.degrees(first + turn), count)
    return points


def bridge_stress():
    """A strip of 12 m by 2 m with three arched openings above a lower beam."""
    openings = []
    for c in (-3.9, 0, 3.9):
        foot = rounded([(c - 1.6, 0.7), (c - 1.6, 0.3), (c + 1.6, 0.3), (c + 1.6, 0.7)], 0.1, 4)[5:-5]
        openings.append([*foot, *arc((c, 0.7), (1.6, 0.7), 0, 180, 20)])
    return area_of([[(-6, 0), (6, 0), (6, 2), (-6, 2)], *openings], uniform(0.1)), 2


def hook():
    """A hook whose upper end hangs over a block of [0, 6] x [-14, 0] cm and whose lower end carries the load."""
    g, t = 0.0002, 0.014
    left, right, top = -g, 0.06 + g, g
    corners = [(left, top), (right, top), (right, -0.03), (right + t, -0.03), (right + t, top + t), (left - t, top + t),
               (left - t, -0.12), (-0.07, -0.12), (-0.07, -0.12 - t), (left, -0.12 - t)]
    return area_of([rounded(corners, 0.003, 3, re_entrant_only=True)], uniform(0.0033)), 2


def block(path):
    """The outline of the block, with round corners."""
    points = resampled(rounded([(0, -0.14), (0.06, -0.14), (0.06, 0), (0, 0)], 0.012, 6), uniform(0.01))
    with open(path, "w") as file:
        file.writelines("v %.17g %.17g 0\n" % point for point in points)
        file.writelines("l %d %d\n" % (k + 1, (k + 1) % len(points) + 1) for k in range(len(points)))


# The lower side of the gap between two interlocking parts of a unit square, from left to right.
CUT = [(0, 0.3), (0.55, 0.3), (0.55, 0.62), (0.42, 0.62), (0.42, 0.74), (0.67, 0.74), (0.67, 0.3), (1, 0.3)]


def shifted(line, distance):
    """A polyline moved to its left, corners kept."""
    along = np.diff(np.array(line), axis=0)
    left = np.stack([-along[:, 1], along[:, 0]], axis=1) / np.linalg.norm(along, axis=1)[:, None]
    left = np.concatenate([left[:1], left, left[-1:]])
    return [tuple(np.array(p) + distance * (a + b) / (1 + a @ b)) for p, a, b in zip(line, left, left[1:])]


def cut(side):
    count = 3
    line = [CUT[0], *rounded([*CUT, (1, 1), (0, 1)], 0.02, count)[count + 1:-3 * (count + 1)], CUT[-1]]
    return shifted(line, 0.0008 * side)


def near_cut(x, y):
    return 0.02 if 0.2 < y < 0.85 and 0.3 < x < 0.8 else 0.05


def lower():
    return area_of([[(0, 0), (1, 0), *cut(-1)[::-1]]], near_cut), 2


def upper():
    return area_of([[*cut(1), (1, 1), (0, 1)]], near_cut), 2


def extruded(text, depth, layers):
    """The volume above an area, in layers of tetrahedra."""
    return "%s\nsolid[] = Extrude {0, 0, %g} {Surface{1}; Layers{%d};};\nPhysical Volume(2) = {solid[1]};" % (
        text.replace("Physical Surface(1) = {1};", ""), depth, layers)


def beam():
    """A T that stands on its foot, 0.2 m deep."""
    corners = [(-0.17, 0), (0.17, 0), (0.17, 0.5), (0.6, 0.5), (0.6, 0.62), (-0.6, 0.62), (-0.6, 0.5), (-0.17, 0.5)]
    return extruded(area_of([rounded(corners, 0.03, 2, re_entrant_only=True)], uniform(0.07)), 0.2, 3), 3


def hanger():
    """A hanger whose head lies on two cylinders, with its stem between them and two arms below, 0.1 m deep."""
    corners = [(-0.5, 0), (0.5, 0), (0.5, 0.08), (0.09, 0.08), (0.09, 0.5), (0.27, 0.5), (0.27, 0.6), (-0.27, 0.6), (-0.27, 0.5),
               (-0.09, 0.5), (-0.09, 0.08), (-0.5, 0.08)]
    return extruded(area_of([rounded(corners, 0.02, 2, re_entrant_only=True)], uniform(0.05)), 0.1, 2), 3


def perturbed_bridge(folder):
    """The bridge of jobs/estimation, deformed by the splines of the job with values that vary like waves."""
    with open(os.path.join(os.path.dirname(FOLDER), "estimation", "bridge", "bridge.msh")) as file:
        head, rest = file.read().split("$Nodes\n")
    with open(os.path.join(folder, "modes.json")) as file:
        spec = json.load(file)
    nodes, tail = rest.split("$EndNodes")
    points = np.array([line.split()[1:3] for line in nodes.splitlines()[1:]], float)
    splines = modes.lattice_splines(points, spec)
    points += splines @ (0.18 * np.sin(2.3 * np.arange(2 * splines.shape[1]))).reshape(-1, 2)
    with open(os.path.join(folder, "perturbed.msh"), "w") as file:
        file.write("%s$Nodes\n%d\n" % (head, len(points)))
        file.writelines("%d %.17g %.17g 0\n" % (k, *point) for k, point in enumerate(points, 1))
        file.write("$EndNodes" + tail)


PITCH, PLATE = (0.1, 0.06), 0.008


def lattice_bars():
    """(from, to, thickness, number of its design parameter) of the bars of 3 x 3 bistable cells: in each, two beams lean from posts on a
    plate against the stub below the next plate. Beams have a parameter each, the posts and the plate above of a row have one."""
    bars, (width, height) = [], PITCH
    for row in range(3):
        floor = row * height + 0.5 * PLATE
        for column in range(4):
            bars.append(((column * width, floor), (column * width, floor + 0.034), 0.01, 18 + row))
        for column in range(3):
            for side in (0, 1):
                foot = ((column + side) * width, floor + 0.026)
                bars.append((foot, ((column + 0.5) * width, floor + 0.048), 0.007, 6 * row + 2 * column + side))
        bars.append(((-0.006, floor + height), (3 * width + 0.006, floor + height), PLATE, 21 + row))
    return bars


def lattice():
    """The union of the bars, of the stubs and of the lowest plate."""
    lines, (width, height) = ['SetFactory("OpenCASCADE");'], PITCH
    shapes = [((-0.006, 0.5 * PLATE), (3 * width + 0.006, 0.5 * PLATE), PLATE)] + [bar[:3] for bar in lattice_bars()]
    shapes += [(((c + 0.5) * width, r * height + 0.5 * PLATE + 0.044), ((c + 0.5) * width, (r + 1) * height + 0.5 * PLATE), 0.012)
               for r in range(3) for c in range(3)]
    for k, (a, b, thickness) in enumerate(shapes, 1):
        angle = math.atan2(b[1] - a[1], b[0] - a[0])
        lines += ["Rectangle(%d) = {%g, %g, 0, %.12g, %g};" % (k, a[0], a[1] - 0.5 * thickness, math.dist(a, b), thickness),
                  "Rotate{{0, 0, 1}, {%g, %g, 0}, %.12g} {Surface{%d};}" % (*a, angle, k)]
    lines += ["BooleanUnion{Surface{1}; Delete;}{Surface{2:%d}; Delete;}" % len(shapes), "Physical Surface(1) = Surface{:};"]
    return "\n".join(lines), 2, 0.0045


def lattice_modes(path):
    with open(path, "w") as file:
        json.dump({"bodies": ["lattice"], "bars": [list(bar) for bar in lattice_bars()]}, file)
        file.write("\n")


def ball():
    """A disc of 73 vertices, of the radius 0.1 m."""
    return area_of([arc((0, 0), 0.1, 0, 360, 24)[:-1]], uniform(0.026)), 2, 0.026


MESHES = {"bridge_stress": {"bridge": bridge_stress}, "beam": {"beam": beam}, "interlocking": {"lower": lower, "upper": upper},
          "hook": {"hook": hook}, "hanger": {"hanger": hanger}, "ball_shape": {"ball": ball}, "shock": {"lattice": lattice}}


def main():
    unknown = set(sys.argv[1:]) - set(MESHES)
    if unknown:
        raise SystemExit("no such mesh: " + ", ".join(sorted(unknown)))
    for job in sys.argv[1:] or MESHES:
        for name, build in MESHES[job].items():
            path = os.path.join(FOLDER, job, name + ".msh")
            text, dim, *size = build()
            print("%s/%s: %d vertices, %d kB" % (job, name, mesh(text, dim, path, *size), os.path.getsize(path) / 1000))
    block(os.path.join(FOLDER, "hook", "block.obj"))
    perturbed_bridge(os.path.join(FOLDER, "bridge_shape"))
    lattice_modes(os.path.join(FOLDER, "shock", "modes.json"))


if __name__ == "__main__":
    main()
