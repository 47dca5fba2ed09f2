"""Modes for the basis `modes` of a shape: of a boundary that moves along its normals, of a lattice, of bars.

<job>/modes.json says, in rest coordinates:

    bodies   names of the bodies whose boundaries move
    fixed    list of boxes [[min], [max]] whose boundary vertices stay
    spacing  [m] distance of the control points on the surface that moves
    keep_volume  true: no mode changes the volume to first order; that of a disc then can only grow

There is a mode per control point. The part of the surface that is nearest to it moves by 1 m, and the others not; then this jump is
smoothed by two steps of diffusion, (M + t K) f' = M f with zeros at vertices that stay and t = (0.6 spacing)^2. So the modes are
not negative, and their sum is at most 1: bounds of the values are bounds of the displacement. The normals are smoothed in the same
way, for a boundary that moves into a fillet not to fold. The displacement continues inwards as the solution of Laplace's equation in
which every element conducts by the inverse of its volume, so that small ones change little.

Or, for several bodies at once, which then do not run into each other:

    bodies   their names
    lattice  cells per axis of a lattice over the box
    box      [min, max]
    orthonormal  true: combinations of the splines that are orthonormal over the vertices (mean square 1), without those that move
             them by less than 1e-3 of what moves them most

There is a mode per direction and product of cubic B-splines on the lattice; those that do not vanish at the faces of the box are
left out. Or, for something made of bars:

    bodies   names
    bars     list of [from, to, thickness, number of its mode]

A mode makes its bars thicker by twice its value, but not at their ends; what is joined to a side is pressed together.
"""
import heapq
import itertools
import math

import h5py
import numpy as np
from recoil_run import Run


def boundary_facets(cells):
    """Facets of only one cell, and the vertex of that cell opposite to each."""
    n = cells.shape[1]
    facets = np.concatenate([np.delete(cells, k, axis=1) for k in range(n)])
    opposite = np.concatenate([cells[:, k] for k in range(n)])
    _, first, count = np.unique(np.sort(facets, axis=1), axis=0, return_index=True, return_counts=True)
    return facets[first[count == 1]], opposite[first[count == 1]]


def gradients(points, cells):
    """Gradients of the hat functions (m, vertices, d) in the space of the points, and volumes, of simplices of any dimension."""
    edges = points[cells[:, 1:]] - points[cells[:, :1]]
    metric = edges @ edges.transpose(0, 2, 1)
    inner = np.linalg.solve(metric, edges)
    dim = edges.shape[1]
    volume = np.sqrt(np.linalg.det(metric)) / math.factorial(dim)
    return np.concatenate([-inner.sum(axis=1, keepdims=True), inner], axis=1), volume


def laplacian(points, cells, conductivity, count):
    grad, _ = gradients(points, cells)
    matrix = np.zeros((count, count))
    local = np.einsum("c,cad,cbd->cab", conductivity, grad, grad)
    for a, b in itertools.product(range(cells.shape[1]), repeat=2):
        np.add.at(matrix, (cells[:, a], cells[:, b]), local[:, a, b])
    return matrix


def areas_at_vertices(points, facets, opposite):
    """Derivative of the volume by the position of every vertex."""
    edges = points[facets[:, 1:]] - points[facets[:, :1]]
    if edges.shape[1] == 1:
        normal = np.stack([edges[:, 0, 1], -edges[:, 0, 0]], axis=1)
    else:
        normal = np.cross(edges[:, 0], edges[:, 1])
    inwards = np.einsum("fd,fd->f", normal, points[opposite] - points[facets[:, 0]]) > 0
    normal[inwards] *= -1
    at = np.zeros_like(points)
    for k in range(facets.shape[1]):
        np.add.at(at, facets[:, k], normal)
    return at / math.factorial(points.shape[1])


def unit(vectors):
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-300)


def inside(points, boxes, tolerance):
    return np.any([np.all((points >= np.array(low) - tolerance) & (points <= np.array(high) + tolerance), axis=1)
                   for low, high in boxes], axis=0) if boxes else np.zeros(len(points), bool)


def distances(points, edges, start, nearest):
    """Lowers the distances along edges {vertex: neighbours} to those from one more vertex; the vertices that are nearer to it."""
    queue, nearer = [(0.0, start)], []
    while queue:
        distance, at = heapq.heappop(queue)
        if distance >= nearest[at]:
            continue
        nearest[at] = distance
        nearer.append(at)
        for end in edges[at]:
            heapq.heappush(queue, (distance + math.dist(points[at], points[end]), end))
    return nearer


def parts(points, facets, moving, spacing):
    """Number of the control point that is nearest along the surface, for every vertex that moves. Each next control point is the farthest
    vertex from those before."""
    edges = {int(at): set() for at in np.flatnonzero(moving)}
    for facet in facets:
        for a, b in itertools.permutations(facet[moving[facet]].tolist(), 2):
            edges[a].add(b)
    nearest, part, count = np.where(moving, np.inf, 0), np.full(len(points), -1), 0
    while nearest.max() > spacing:
        part[distances(points, edges, int(nearest.argmax()), nearest)] = count
        count += 1
    return part, count


class Diffusion:
    """Two steps of diffusion on a surface, (M + t K) f' = M f, zero where `moving` is not set."""

    def __init__(self, points, facets, moving, length):
        self.at = np.flatnonzero(moving)
        _, size = gradients(points, facets)
        mass = np.zeros(len(points))
        for k in range(facets.shape[1]):
            np.add.at(mass, facets[:, k], size / facets.shape[1])
        self.mass = mass[self.at, None]
        stiffness = laplacian(points, facets, size, len(points))[np.ix_(self.at, self.at)]
        self.matrix = np.diag(mass[self.at]) + length ** 2 * stiffness

    def __call__(self, values):
        values = values.copy()
        for _ in range(2):
            values[self.at] = np.linalg.solve(self.matrix, self.mass * values[self.at])
        return values


def continued(points, cells, boundary, values):
    """Values at the boundary vertices as harmonic functions at all vertices."""
    matrix = laplacian(points, cells, np.ones(len(cells)), len(points))
    inner = np.flatnonzero(~boundary)
    values = values.copy()
    rim = np.flatnonzero(boundary)
    values[inner] = np.linalg.solve(matrix[np.ix_(inner, inner)], -matrix[np.ix_(inner, rim)] @ values[rim])
    return values


def of_boundary(points, cells, spec):
    """Displacements (modes, vertices, d) of a body."""
    facets, opposite = boundary_facets(cells)
    boundary = np.zeros(len(points), bool)
    boundary[facets] = True
    moving = boundary & ~inside(points, spec["fixed"], 1e-6 * np.ptp(points, axis=0).max())
    length = 0.6 * spec["spacing"]
    part, count = parts(points, facets, moving, spec["spacing"])
    functions = np.zeros((len(points), count))
    functions[moving, part[moving]] = 1
    functions = Diffusion(points, facets, moving, length)(functions)
    areas = areas_at_vertices(points, facets, opposite)
    normals = unit(Diffusion(points, facets, boundary, 2 * length)(unit(areas)))
    if spec.get("keep_volume"):
        change = functions.T @ np.einsum("vd,vd->v", normals, areas)
        functions -= np.outer(functions.sum(axis=1), change / change.sum())
    modes = (functions[:, :, None] * normals[:, None, :]).reshape(len(points), -1)
    return continued(points, cells, boundary, modes).reshape(len(points), functions.shape[1], -1).transpose(1, 0, 2)


def spline(s):
    """The cubic B-spline on the knots -2, -1, 0, 1, 2, with the value 1 at 0."""
    s = np.abs(s)
    return np.where(s < 1, 1 - 1.5 * s ** 2 + 0.75 * s ** 3, 0.25 * np.maximum(2 - s, 0) ** 3)


def lattice_splines(points, spec):
    """Products of B-splines (points, splines)."""
    low, high = (np.array(corner) for corner in spec["box"])
    at = (points - low) / (high - low) * spec["lattice"]
    centres = itertools.product(*(range(2, n - 1) for n in spec["lattice"]))
    return np.stack([np.prod([spline(at[:, i] - c) for i, c in enumerate(centre)], axis=0) for centre in centres], axis=1)


def of_lattice(points, spec):
    """Displacements (modes, points, d)."""
    functions = lattice_splines(points, spec)
    if spec.get("orthonormal"):
        combined, sizes, _ = np.linalg.svd(functions, full_matrices=False)
        functions = combined[:, sizes > 1e-3 * sizes[0]] * np.sqrt(len(points))
    return np.array([np.outer(value, unit) for value in functions.T for unit in np.eye(points.shape[1])])


def of_bars(points, spec):
    """Displacements (modes, points, 2)."""
    modes = np.zeros((1 + max(bar[3] for bar in spec["bars"]), *points.shape))
    for start, end, thickness, mode in spec["bars"]:
        start, length = np.array(start), math.dist(start, end)
        along = (np.array(end) - start) / length
        across = np.array([-along[1], along[0]])
        s, offset = (points - start) @ along, (points - start) @ across
        outside = np.maximum(np.abs(offset) / thickness - 0.5, 0)
        share = np.clip(2 * offset / thickness, -1, 1) * np.clip(1 - outside, 0, 1)
        modes[mode] += np.outer(share * np.clip(np.minimum(s, length - s) / thickness - 0.5, 0, 1), across)
    return modes


def write(path, spec, run):
    """Writes the modes that modes.json describes for the mesh of a run."""
    mesh = Run(run).mesh
    corners = np.concatenate([cells[:, :mesh.dim + 1] for cells in mesh.cells.values()])
    of_body = mesh.body[np.concatenate(list(mesh.rows.values()))]
    cells = corners[np.isin(of_body, [mesh.bodies.index(name) for name in spec["bodies"]])]
    vertices, local = np.unique(cells, return_inverse=True)
    points = mesh.points[vertices]
    if "bars" in spec:
        modes = of_bars(points, spec)
    elif "lattice" in spec:
        modes = of_lattice(points, spec)
    else:
        modes = of_boundary(points, local.reshape(cells.shape), spec)
    with h5py.File(path, "w") as file:
        for number, mode in enumerate(modes):
            rows = np.zeros((corners.max() + 1, mesh.dim))
            rows[vertices] = mode
            file["mode_%03d" % number] = rows
