#!/usr/bin/env python3
"""Makes the surfaces of the jobs, as a modelling program would hand them over: closed parts that go through each other.

    jobs/fracture/shapes.py [mug bowl statue dumbbell amphora table wheel]

`recoil fracture` puts a cage around them; where parts overlap it takes the points inside of any.
"""
import sys
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent


def revolved(profile, segments=48):
    """A profile of points (radius, height) that begins and ends on the axis, turned around z; inside to its left."""
    profile = np.asarray(profile, float)
    angles = 2 * np.pi * np.arange(segments) / segments
    rings = profile[1:-1]
    points = [np.array([[0, 0, profile[0, 1]]])]
    points += [np.column_stack([r * np.cos(angles), r * np.sin(angles), np.full(segments, z)]) for r, z in rings]
    points += [np.array([[0, 0, profile[-1, 1]]])]
    last = 1 + len(rings) * segments
    triangles = []
    for j in range(segments):
        k = (j + 1) % segments
        triangles += [(0, 1 + k, 1 + j), (last, 1 + (len(rings) - 1) * segments + j, 1 + (len(rings) - 1) * segments + k)]
        for i in range(len(rings) - 1):
            a, b, c, d = 1 + i * segments + j, 1 + i * segments + k, 1 + (i + 1) * segments + k, 1 + (i + 1) * segments + j
            triangles += [(a, b, c), (a, c, d)]
    return np.concatenate(points), np.array(triangles)


def ellipsoid(centre, radii, segments=32):
    """Half axes along x, y and z."""
    angles = np.linspace(-np.pi / 2, np.pi / 2, segments // 2 + 1)
    points, triangles = revolved(np.column_stack([np.cos(angles), np.sin(angles)]), segments)
    return points * radii + centre, triangles


def tube(path, radii, segments=20):
    """Around a path of points, with a radius at each; its ends are closed by cones as long as they are wide."""
    path, radii = np.asarray(path, float), np.broadcast_to(np.asarray(radii, float), len(path))
    along = np.gradient(path, axis=0)
    along /= np.linalg.norm(along, axis=1)[:, None]
    angles = 2 * np.pi * np.arange(segments) / segments
    side = np.cross(along[0], [1, 0, 0] if abs(along[0, 0]) < 0.8 else [0, 1, 0])
    points = [(path[0] - radii[0] * along[0])[None]]
    for centre, way, radius in zip(path, along, radii):
        side = side - side @ way * way
        side /= np.linalg.norm(side)
        points.append(centre + radius * (np.outer(np.cos(angles), side) + np.outer(np.sin(angles), np.cross(way, side))))
    points.append((path[-1] + radii[-1] * along[-1])[None])
    last = 1 + len(path) * segments
    triangles = []
    for j in range(segments):
        k = (j + 1) % segments
        triangles += [(0, 1 + k, 1 + j), (last, last - segments + j, last - segments + k)]
        for i in range(len(path) - 1):
            a, b = 1 + i * segments + j, 1 + i * segments + k
            triangles += [(a, b, b + segments), (a, b + segments, a + segments)]
    return np.concatenate(points), np.array(triangles)


def block(low, high):
    low, high = np.asarray(low, float), np.asarray(high, float)
    points = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)]) * (high - low) + low
    return points, np.array([(0, 2, 1), (1, 2, 3), (4, 5, 6), (5, 7, 6), (0, 1, 4), (1, 5, 4), (2, 6, 3), (3, 6, 7), (0, 4, 2), (2, 4, 6),
                             (1, 3, 5), (3, 7, 5)])


def arc(centre, radius, begin, end, count=24):
    """Points on a circle in the plane of x and z."""
    angles = np.linspace(begin, end, count)
    return np.column_stack([radius * np.cos(angles), np.zeros(count), radius * np.sin(angles)]) + centre


def mug():
    """80 mm wide, 95 mm high, walls of 5 mm, with a handle."""
    return [revolved([(0, 0), (0.037, 0), (0.04, 0.004), (0.04, 0.093), (0.0385, 0.095), (0.0365, 0.095), (0.035, 0.093), (0.035, 0.01), (0.032, 0.006), (0, 0.006)]),
            tube(arc((0.036, 0, 0.048), 0.028, -1.45, 1.45), 0.0055)]


def bowl():
    """160 mm wide with a foot, walls of 6 mm."""
    outer = [(0.08 * np.sin(t), 0.078 - 0.07 * np.cos(t)) for t in np.linspace(0.42, np.pi / 2, 14)]
    inner = [(0.074 * np.sin(t), 0.078 - 0.064 * np.cos(t)) for t in np.linspace(np.pi / 2, 0.1, 14)]
    return [revolved([(0, 0), (0.03, 0), (0.032, 0.002), *outer, (0.077, 0.08), *inner, (0, inner[-1][1])])]


def statue():
    """A figure on a plinth, 0.5 m high: thin ankles, a waist, an arm that points away."""
    return [block((-0.11, -0.08, 0), (0.11, 0.08, 0.04)),
            tube([(-0.04, 0, 0.03), (-0.045, 0, 0.07), (-0.04, 0.005, 0.14), (-0.03, 0, 0.23)], [0.02, 0.012, 0.022, 0.032]),
            tube([(0.04, 0, 0.03), (0.045, 0, 0.07), (0.04, 0.005, 0.14), (0.03, 0, 0.23)], [0.02, 0.012, 0.022, 0.032]),
            ellipsoid((0, 0, 0.25), (0.062, 0.042, 0.05)), ellipsoid((0, 0, 0.345), (0.07, 0.043, 0.08)), tube([(0, 0, 0.28), (0, 0, 0.33)], 0.036),
            tube([(0, 0, 0.4), (0, 0, 0.44)], 0.018), ellipsoid((0, 0, 0.465), (0.03, 0.034, 0.038)),
            tube([(0.055, 0, 0.385), (0.12, -0.01, 0.4), (0.19, -0.03, 0.44)], [0.022, 0.016, 0.012]),
            tube([(-0.055, 0, 0.385), (-0.1, -0.01, 0.33), (-0.065, -0.035, 0.27)], [0.022, 0.016, 0.014])]


def dumbbell():
    """Two balls of 1 m and a neck of a quarter of that."""
    return [ellipsoid((-1.1, 0, 0), (0.5, 0.5, 0.5)), ellipsoid((1.1, 0, 0), (0.5, 0.5, 0.5)), tube([(x, 0, 0) for x in np.linspace(-1, 1, 9)], 0.125)]


def amphora():
    """A vase of 0.4 m with two handles."""
    outer = [(0.045, 0), (0.05, 0.02), (0.1, 0.14), (0.115, 0.2), (0.1, 0.27), (0.045, 0.33), (0.04, 0.37), (0.055, 0.4)]
    inner = [(0.047, 0.4), (0.031, 0.37), (0.036, 0.33), (0.09, 0.265), (0.105, 0.2), (0.09, 0.14), (0.04, 0.03)]
    handles = [tube([(s * 0.037, 0, 0.36), (s * 0.09, 0, 0.37), (s * 0.12, 0, 0.33), (s * 0.1, 0, 0.26)], 0.009) for s in (1, -1)]
    return [revolved([(0, 0), *outer, *inner, (0, 0.025)]), *handles]


def table():
    """A top on four legs with a bar between two of them."""
    legs = [block((x - 0.03, y - 0.03, 0), (x + 0.03, y + 0.03, 0.71)) for x in (-0.5, 0.5) for y in (-0.3, 0.3)]
    return [block((-0.6, -0.4, 0.7), (0.6, 0.4, 0.74)), *legs, block((-0.5, -0.32, 0.2), (0.5, -0.28, 0.24))]


def wheel():
    """A rim with five spokes and a hub."""
    ring = [(0.5 * np.cos(t), 0.5 * np.sin(t), 0) for t in np.linspace(0, 2 * np.pi, 49)]
    spokes = [tube([(0, 0, 0), (0.5 * np.cos(t), 0.5 * np.sin(t), 0)], 0.035) for t in 2 * np.pi * np.arange(5) / 5]
    return [tube(ring, 0.06), *spokes, ellipsoid((0, 0, 0), (0.12, 0.12, 0.09))]


SHAPES = {shape.__name__: shape for shape in (mug, bowl, statue, dumbbell, amphora, table, wheel)}


def write(name, path):
    parts, first = SHAPES[name](), 1
    with open(path, "w") as file:
        file.write("# " + SHAPES[name].__doc__.split("\n")[0] + " Lengths in metres.\n")
        for points, triangles in parts:
            file.writelines("v %.9g %.9g %.9g\n" % tuple(point) for point in points)
            file.writelines("f %d %d %d\n" % tuple(triangle + first) for triangle in triangles)
            first += len(points)


def main():
    for name in sys.argv[1:] or SHAPES:
        if name not in SHAPES:
            sys.exit(f"shapes: there is no {name!r}; there are {', '.join(SHAPES)}")
        write(name, FOLDER / f"{name}.obj")


if __name__ == "__main__":
    main()
