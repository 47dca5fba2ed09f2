"""Particles as spheres of triangles, for the renderer of surfaces."""

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


def visible(count, bonds, intact):
    """Particles that may be seen: not those in the midst of a lattice with all twelve bonds."""
    number = np.bincount(bonds[intact].ravel(), minlength=count)
    return np.flatnonzero(number < 12)
