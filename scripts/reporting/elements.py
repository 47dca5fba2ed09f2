"""Lagrange elements of a stored mesh: points, centres of mass and strains as exact functionals of the nodal positions."""

from functools import lru_cache
from itertools import product
from math import factorial

import numpy as np

from recoil_run import as_list


class Unknown(Exception):
    """Something that cannot be evaluated from a stored run, and why."""


class Probe:
    """weights @ (nodal positions): shape (d,)."""

    def __init__(self, nodes, weights):
        self.nodes, self.weights = nodes, weights

    def __call__(self, positions):
        return self.weights @ positions[self.nodes]


class Elements:
    """All elements of one body. nodes: (m, k), each in the order of one lattice; cells: row of the first stored cell of each."""

    def __init__(self, mesh, body):
        name = mesh.bodies[body]
        self.order = mesh.order[body]
        if self.order is None:
            raise Unknown(f"the order of the elements of '{name}': the run has no scene.json")
        nodes, self.cells = _nodes_of_elements(mesh, body, self.order)
        # The vertices are numbered before all other nodes.
        self.vertices = nodes[:, :mesh.dim + 1]
        corners = mesh.points[self.vertices]
        self.to_bary = np.linalg.inv(np.swapaxes(corners[:, 1:] - corners[:, :1], 1, 2))
        self.origin = corners[:, 0]
        self.volume = 1 / np.abs(np.linalg.det(self.to_bary)) / factorial(mesh.dim)
        lattice = np.rint(self.order * self.barycentric(mesh.points[nodes])).astype(int)
        sequence = np.lexsort(np.moveaxis(lattice, 2, 0), axis=-1)
        self.nodes = np.take_along_axis(nodes, sequence, 1)
        lattice = np.take_along_axis(lattice, sequence[:, :, None], 1)
        if not (lattice == lattice[0]).all():
            raise Unknown(f"the nodes of the elements of '{name}': not those of order {self.order}")
        self.lattice = lattice[0] / self.order
        self.exponents = np.array([e for e in product(range(self.order + 1), repeat=mesh.dim) if sum(e) <= self.order])
        self.coefficients = np.linalg.inv(self._monomials(self.lattice))

    def barycentric(self, points):
        """Coordinates 1 to d in every element: points (m, .., d) or (d,)."""
        offset = points - (self.origin[:, None] if np.ndim(points) == 3 else self.origin)
        return np.einsum("mij,mkj->mki", self.to_bary, offset) if offset.ndim == 3 else np.einsum("mij,mj->mi", self.to_bary, offset)

    def _monomials(self, bary):
        return np.prod(bary[..., None, :] ** self.exponents, axis=-1)

    def locate(self, point):
        """The first element around a point, else the nearest by barycentric coordinates, and its coordinates there."""
        bary = self.barycentric(np.asarray(point, float))
        least = np.minimum(bary.min(1), 1 - bary.sum(1))
        inside = np.flatnonzero(least > -1e-9)
        element = inside[0] if len(inside) else int(least.argmax())
        return element, bary[element]

    def spread(self, rows, values):
        """Writes to `values`, one per node, what is linear between `rows`, one per vertex of the mesh."""
        weights = np.concatenate([1 - self.lattice.sum(1, keepdims=True), self.lattice], axis=1)
        values[self.nodes] = rows[self.vertices] @ weights.T

    def at(self, element, bary):
        return Probe(self.nodes[element], self._monomials(bary) @ self.coefficients)

    def derivative(self, element, bary, direction):
        """F d."""
        slopes = np.zeros((len(self.exponents), len(bary)))
        for axis in range(len(bary)):
            lower = self.exponents.copy()
            lower[:, axis] -= 1
            slopes[:, axis] = self.exponents[:, axis] * np.prod(bary ** np.maximum(lower, 0), axis=1)
        return Probe(self.nodes[element], slopes @ (self.to_bary[element] @ direction) @ self.coefficients)

    def integrals(self, densities):
        """Nodes and weights of the integral of density times position; densities: one per element."""
        dim = self.exponents.shape[1]
        simplex = [factorial(dim) * np.prod([factorial(k) for k in e]) / factorial(sum(e) + dim) for e in self.exponents.tolist()]
        weights = (densities * self.volume)[:, None] * (np.array(simplex) @ self.coefficients)
        return self.nodes.ravel(), weights.ravel()


def _nodes_of_elements(mesh, body, order):
    """Ascending node numbers of every element, and the row of its first cell."""
    quadratic = order == 2
    shape = {(2, False): "Triangle", (2, True): "Triangle_6", (3, False): "Tetrahedron", (3, True): "Tetrahedron_10"}[mesh.dim, quadratic]
    rows = mesh.rows.get(shape, np.zeros(0, int))
    own = mesh.body[rows] == body
    cells, rows = mesh.cells.get(shape, np.zeros((0, 1), int))[own], rows[own]
    parts = order ** mesh.dim if order > 2 else 1
    count = factorial(order + mesh.dim) // factorial(order) // factorial(mesh.dim)
    every = np.sort(cells.reshape(-1, parts * cells.shape[1]) if len(cells) % parts == 0 else np.zeros((0, 1), int), axis=1)
    first = np.diff(every, axis=1, prepend=-1) != 0
    if not len(every) or (first.sum(1) != count).any():
        raise Unknown(f"the elements of '{mesh.bodies[body]}': its cells are not those of order {order}")
    return every[first].reshape(-1, count), rows[::parts]


@lru_cache(maxsize=64)
def elements_of(mesh, body):
    return Elements(mesh, body)


def bodies_of(mesh, names):
    """Numbers of bodies by name; all without names."""
    names = as_list(names) or mesh.bodies
    missing = [name for name in names if name not in mesh.bodies]
    if missing:
        raise Unknown(f"the body '{missing[0]}': the run has {', '.join(mesh.bodies)}")
    return [mesh.bodies.index(name) for name in names]


def densities(scene, mesh):
    """Density per stored cell [kg/m^3]; the last material that names a cell's body or volume id wins."""
    materials, found = scene.get("materials"), np.full(len(mesh.body), np.nan)
    for material in as_list(materials):
        density = material.get("rho", 1)
        if isinstance(materials, dict):
            where = np.ones(len(found), bool)
        elif "body" in material:
            where = np.isin(mesh.body, bodies_of(mesh, material["body"]))
        else:
            where = np.isin(mesh.volume_id, as_list(material.get("id", 0)))
        found[where] = density if isinstance(density, (int, float)) else np.nan
    return found


def center_of_mass(scene, mesh, names):
    """A Probe."""
    density, nodes, weights = densities(scene, mesh), [], []
    for body in bodies_of(mesh, names):
        elements = elements_of(mesh, body)
        own = density[elements.cells]
        if np.isnan(own).any():
            raise Unknown("the centre of mass: the density is given by a formula or file")
        one = elements.integrals(own)
        nodes.append(one[0])
        weights.append(one[1])
    weights = np.concatenate(weights)
    return Probe(np.concatenate(nodes), weights / weights.sum())
