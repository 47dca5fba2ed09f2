"""From cells to what is seen: boundary triangles, creases, smooth normals."""

import numpy as np

# Faces of a tetrahedron and the corner opposite; edges in the order of quadratic cells (01, 12, 20, 03, 13, 23).
FACES = [(1, 2, 3, 0), (0, 3, 2, 1), (0, 1, 3, 2), (0, 2, 1, 3)]
EDGE_NODE = {frozenset(pair): 4 + i for i, pair in enumerate([(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)])}
TRIANGLE_EDGE_NODE = {frozenset(pair): 3 + i for i, pair in enumerate([(0, 1), (1, 2), (2, 0)])}


def _split(corners, mids):
    """Four triangles from corners (m, 3) and mid-edge nodes (m, 3) of the edges 01, 12, 20."""
    a, b, c = corners.T
    ab, bc, ca = mids.T
    return np.concatenate([np.stack(t, 1) for t in [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]])


def boundary(points, cells):
    """Boundary triangles (m, 3) of all cells, tetrahedra's oriented outwards at rest, and the sides of the faces that
    they are parts of: (m, 3) booleans, true where side i (corner i to i+1) lies on a side of an element."""
    triangles, sides = [], []

    def add(corners, mids):
        if mids is None:
            triangles.append(corners)
            sides.append(np.ones((len(corners), 3), bool))
        else:
            triangles.append(_split(corners, mids))
            parts = [(True, False, True), (True, True, False), (False, True, True), (False, False, False)]
            sides.append(np.repeat(np.array(parts), len(corners), axis=0))

    for shape, nodes in cells.items():
        if shape.startswith("Triangle"):
            mids = nodes[:, 3:6] if shape.endswith("6") else None
            add(nodes[:, :3], mids)
        elif shape.startswith("Tetrahedron"):
            faces = np.concatenate([nodes[:, face] for face in FACES])
            keys = np.sort(faces[:, :3], axis=1)
            _, first, count = np.unique(keys, axis=0, return_index=True, return_counts=True)
            kept = first[count == 1]
            corners, opposite = faces[kept, :3].copy(), faces[kept, 3]
            mids = None
            if shape.endswith("10"):
                all_mids = [[EDGE_NODE[frozenset((f[i], f[(i + 1) % 3]))] for i in range(3)] for f in FACES]
                mids = np.concatenate([nodes[:, m] for m in all_mids])[kept]
            a, b, c = (points[corners[:, i]] for i in range(3))
            inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), points[opposite] - a) > 0
            corners[inward] = corners[inward][:, [0, 2, 1]]
            if mids is not None:
                mids[inward] = mids[inward][:, [2, 1, 0]]
            add(corners, mids)
    if not triangles:
        return np.zeros((0, 3), np.int64), np.zeros((0, 3), bool)
    return np.concatenate(triangles), np.concatenate(sides)


def face_normals(points, triangles):
    """Normals of length twice the area, shape (m, 3)."""
    a, b, c = (points[triangles[:, i]] for i in range(3))
    return np.cross(b - a, c - a)


def _unit(vectors):
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-300)


def corner_groups(rest, triangles, crease_deg=35.0):
    """Pairs (i, j) of triangle corners (flat index 3 t + k) at one node whose triangles meet smoothly at rest."""
    flat = triangles.ravel()
    order = np.argsort(flat, kind="stable")
    counts = np.bincount(flat)
    counts = counts[counts > 0]
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    # Every corner with all corners of its node.
    size = np.repeat(counts, counts)
    begin = np.repeat(starts, counts)
    left = np.repeat(order, size)
    offset = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    right = order[np.repeat(begin, size) + offset]
    normals = _unit(face_normals(rest, triangles))
    smooth = np.einsum("ij,ij->i", normals[left // 3], normals[right // 3]) > np.cos(np.radians(crease_deg))
    return left[smooth], right[smooth]


def corner_normals(points, triangles, groups):
    """Unit normals at the corners, shape (m, 3, 3): area-weighted over the triangles that meet smoothly there."""
    left, right = groups
    normals = face_normals(points, triangles)[right // 3]
    summed = np.stack([np.bincount(left, normals[:, i], 3 * len(triangles)) for i in range(3)], 1)
    return _unit(summed).reshape(-1, 3, 3)


def feature_edges(rest, triangles, crease_deg=35.0):
    """Edges (k, 2) of the rest shape where it has a crease or a rim."""
    edges = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
    owner = np.tile(np.arange(len(triangles)), 3)
    unique, inverse, count = np.unique(edges, axis=0, return_inverse=True, return_counts=True)
    inverse = inverse.ravel()
    order = np.argsort(inverse, kind="stable")
    start = np.concatenate([[0], np.cumsum(count)[:-1]])
    normals = _unit(face_normals(rest, triangles))
    first = owner[order[start]]
    second = owner[order[np.minimum(start + 1, len(order) - 1)]]
    sharp = np.einsum("ij,ij->i", normals[first], normals[second]) < np.cos(np.radians(crease_deg))
    return unique[(count != 2) | sharp]


def outline_2d(triangles):
    """Edges (k, 2) that belong to one triangle only."""
    edges = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
    unique, count = np.unique(edges, axis=0, return_counts=True)
    return unique[count == 1]
