"""Particles as spheres, bonds as cylinders of triangles, for the renderer of surfaces."""

import numpy as np

FEW = 5000  # particles that get rounder spheres


def icosahedron():
    g = (1 + 5 ** 0.5) / 2
    points = np.array([(-1, g, 0), (1, g, 0), (-1, -g, 0), (1, -g, 0), (0, -1, g), (0, 1, g), (0, -1, -g), (0, 1, -g),
                       (g, 0, -1), (g, 0, 1), (-g, 0, -1), (-g, 0, 1)]) / (1 + g * g) ** 0.5
    triangles = np.array([(0, 11, 5), (0, 5, 1), (0, 1, 7), (0, 7, 10), (0, 10, 11), (1, 5, 9), (5, 11, 4), (11, 10, 2), (10, 7, 6), (7, 1, 8),
                          (3, 9, 4), (3, 4, 2), (3, 2, 6), (3, 6, 8), (3, 8, 9), (4, 9, 5), (2, 4, 11), (6, 2, 10), (8, 6, 7), (9, 8, 1)])
    return points, triangles


def refined(points, triangles):
    """Every triangle cut into four, on the unit sphere."""
    edges = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
    unique, number = np.unique(edges, axis=0, return_inverse=True)
    middle = points[unique].sum(1)
    middle /= np.linalg.norm(middle, axis=1, keepdims=True)
    ab, bc, ca = (len(points) + number.reshape(3, -1))
    a, b, c = triangles.T
    return np.concatenate([points, middle]), np.concatenate([np.stack(t, 1) for t in ((a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca))])


def sphere(count):
    """Vertices, triangles of the unit sphere for pictures of `count` of them."""
    points, triangles = icosahedron()
    for _ in range(2 if count <= FEW else 1):
        points, triangles = refined(points, triangles)
    return points, triangles


LAYERS = 2  # below the outermost one: through the gaps of spheres in touch one sees no deeper


def visible(count, bonds, intact):
    """Particles that may be seen: those with fewer bonds than in the midst of a lattice, and those next to them."""
    full = max(12, np.bincount(bonds.ravel(), minlength=1).max())
    bonds = bonds[intact]
    shown = np.bincount(bonds.ravel(), minlength=count) < full
    for _ in range(LAYERS):
        below = bonds[shown[bonds].any(1)]
        shown[below] = True
    return np.flatnonzero(shown)


def balls(centres, radii):
    """Points, triangles and normals of their corners, the same number of triangles for each."""
    ball, faces = sphere(len(centres))
    points = (centres[:, None] + radii[:, None, None] * ball).reshape(-1, 3)
    triangles = (len(ball) * np.arange(len(centres))[:, None, None] + faces).reshape(-1, 3)
    return points, triangles, np.tile(ball[faces], (len(centres), 1, 1))


def cylinders(starts, ends, radii, sides=10):
    """The same of open cylinders."""
    along = ends - starts
    helper = np.eye(3)[np.abs(along).argmin(axis=1)]
    first = np.cross(along, helper)
    second = np.cross(along, first)
    first, second = (v / np.maximum(np.linalg.norm(v, axis=1, keepdims=True), 1e-300) for v in (first, second))
    angle = 2 * np.pi * np.arange(sides) / sides
    around = np.cos(angle)[None, :, None] * first[:, None] + np.sin(angle)[None, :, None] * second[:, None]
    rim = radii[:, None, None] * around
    points = np.stack([starts[:, None] + rim, ends[:, None] + rim], axis=1).reshape(-1, 3)
    a = np.arange(sides)
    b = (a + 1) % sides
    faces = np.concatenate([np.stack([a, b, b + sides], 1), np.stack([a, b + sides, a + sides], 1)])
    triangles = (2 * sides * np.arange(len(starts))[:, None, None] + faces).reshape(-1, 3)
    return points, triangles, around[:, faces % sides].reshape(-1, 3, 3)
