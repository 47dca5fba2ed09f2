"""Stresses of stored states, computed from the displacements alone: |P| at the points at which the objectives take it."""
import numpy as np

# Points (barycentric coordinates) and weights that integrate polynomials of degree 2.
POINTS = {2: (np.full((3, 3), 1 / 6) + 0.5 * np.eye(3), np.full(3, 1 / 3)),
          3: (np.full((4, 4), 0.1381966011250105) + 0.4472135954999580 * np.eye(4), np.full(4, 0.25))}
CENTRE = {dim: (np.full((1, dim + 1), 1 / (dim + 1)), np.ones(1)) for dim in (2, 3)}


def lame(material, dim):
    if "E" not in material:
        return material["lambda"], material["mu"]
    E, nu = material["E"], material["nu"]
    plane_stress = dim == 2 and material.get("plane", "stress") == "stress"
    return E * nu / (1 - nu ** 2 if plane_stress else (1 + nu) * (1 - 2 * nu)), E / (2 * (1 + nu))


def first_piola(material, F):
    lam, mu = lame(material, F.shape[-1])
    unit = np.eye(F.shape[-1])
    if material["type"] == "NeoHookean":
        Q = np.linalg.inv(F).swapaxes(-1, -2)
        return mu * (F - Q) + lam * np.log(np.linalg.det(F))[..., None, None] * Q
    strain = 0.5 * (F + F.swapaxes(-1, -2)) - unit
    return lam * np.trace(strain, axis1=-2, axis2=-1)[..., None, None] * unit + 2 * mu * strain


def edge_ends(cells, dim):
    """Corners of the edges on which the nodes 3.. (2D) or 4.. of quadratic cells lie, in their order."""
    return ((0, 1), (1, 2), (2, 0)) if dim == 2 else ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3))


def shape_gradients(points, cells, barycentric):
    """Gradients (m, nodes, d) at one point of every cell, and volumes."""
    dim = points.shape[1]
    corners = points[cells[:, :dim + 1]]
    edges = corners[:, 1:] - corners[:, :1]
    inner = np.linalg.inv(edges).transpose(0, 2, 1)
    linear = np.concatenate([-inner.sum(axis=1, keepdims=True), inner], axis=1)
    volume = np.abs(np.linalg.det(edges)) / (2 if dim == 2 else 6)
    if cells.shape[1] == dim + 1:
        return linear, volume
    vertex = (4 * barycentric - 1)[None, :, None] * linear
    edge = [4 * (barycentric[a] * linear[:, b] + barycentric[b] * linear[:, a]) for a, b in edge_ends(cells, dim)]
    return np.concatenate([vertex, np.stack(edge, axis=1)], axis=1), volume


def norms(mesh, scene, u, bodies):
    """|P| and weights [m^d] at the points of the cells of some bodies."""
    sizes, weights = [], []
    for body in bodies:
        material = material_of(scene, body)
        for shape, cells in mesh.cells.items():
            cells = cells[mesh.body[mesh.rows[shape]] == mesh.bodies.index(body)]
            linear = cells.shape[1] == mesh.dim + 1
            for barycentric, share in zip(*(CENTRE if linear else POINTS)[mesh.dim]):
                grad, volume = shape_gradients(mesh.points, cells, barycentric)
                F = np.eye(mesh.dim) + np.einsum("cai,caj->cij", u[cells], grad)
                sizes.append(np.linalg.norm(first_piola(material, F), axis=(-2, -1)))
                weights.append(share * volume)
    return np.concatenate(sizes), np.concatenate(weights)


def material_of(scene, body):
    materials = scene["materials"] if isinstance(scene["materials"], list) else [scene["materials"]]
    return next(entry for entry in reversed(materials) if "body" not in entry or body in entry["body"])


def volume(mesh, bodies):
    """At rest."""
    return sum(shape_gradients(mesh.points, cells[np.isin(mesh.body[mesh.rows[shape]], [mesh.bodies.index(body) for body in bodies])],
                               CENTRE[mesh.dim][0][0])[1].sum() for shape, cells in mesh.cells.items())


def of_states(run, bodies, p):
    """(largest |P|, (int |P|^p)^(1/p)) of every stored state."""
    found = []
    for state in run:
        size, weight = norms(run.mesh, run.scene, state.u, bodies)
        top = size.max()
        found.append((top, top * (weight @ (size / max(top, 1e-300)) ** p) ** (1 / p)))
    return np.array(found)
