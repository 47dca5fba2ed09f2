#!/usr/bin/env python3
"""Writes plate.obj: a plate of 100 mm by 40 mm with a hole of radius 8 mm in its middle, in triangles whose sides follow the hole and the
line x = 0.

    jobs/dic/make_mesh.py
"""
from pathlib import Path

import numpy as np

LENGTH, HEIGHT, RADIUS = 0.1, 0.04, 0.008
PER_SIDE, LAYERS, COLUMNS = 8, 5, 6  # of the square around the hole, between hole and square, and from the square to the ends


def around_the_hole():
    """Points (angle, layer) between the hole and the square, narrow at the hole; the last angle is the first one again."""
    side = np.linspace(-1, 1, PER_SIDE + 1)[:-1]
    square = 0.5 * HEIGHT * np.array([(1, s) for s in side] + [(-s, 1) for s in side] + [(-1, -s) for s in side] + [(s, -1) for s in side])
    square = np.append(square, square[:1], axis=0)
    angle = np.arctan2(square[:, 1], square[:, 0])
    circle = RADIUS * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    share = np.linspace(0, 1, LAYERS + 1)[:, None] ** 1.4
    return circle[:, None] + share * (square - circle)[:, None]


def end(sign):
    x = np.linspace(0.5 * HEIGHT, 0.5 * LENGTH, COLUMNS + 1)
    return np.stack(np.meshgrid(sign * x[::sign], np.linspace(-0.5, 0.5, PER_SIDE + 1) * HEIGHT, indexing="ij"), axis=2)


def triangles(grid):
    """Of the cells of a grid of points; diagonals turn by the sign of x y, so that the mesh is the same on all sides."""
    for a, b, c, d in zip(*(part.reshape(-1, 2) for part in (grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]))):
        x, y = np.mean([a, b, c, d], axis=0)
        yield from ((a, b, c), (a, c, d)) if x * y > 0 else ((a, b, d), (b, c, d))


def main():
    corners = np.array([corner for grid in (around_the_hole(), end(1), end(-1)) for corner in triangles(grid)])
    edges = corners[:, 1:] - corners[:, :1]
    turned = edges[:, 0, 0] * edges[:, 1, 1] < edges[:, 0, 1] * edges[:, 1, 0]
    corners[turned] = corners[turned][:, ::-1]
    points, numbers = np.unique(np.round(corners.reshape(-1, 2), 9), axis=0, return_inverse=True)
    with open(Path(__file__).resolve().parent / "plate.obj", "w") as file:
        file.writelines("v %.9g %.9g 0\n" % tuple(point) for point in points)
        file.writelines("f %d %d %d\n" % tuple(numbers[3 * k:3 * k + 3] + 1) for k in range(len(corners)))


if __name__ == "__main__":
    main()
