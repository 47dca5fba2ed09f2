#!/usr/bin/env python3
"""Where a shape is weak by worst-case structural analysis [Zhou, Panetta, Zorin 2013], beside where its first fracture modes break it.

    bench/fracture_modes/worst_case.py modes/ -o worst_case.png        # modes/ of recoil fracture; needs scipy

The weak regions are the elements with the largest principal stress in the elastic modes of the free shape, scaled to unit energy. For each of
them the most dangerous load is looked for: a pressure p >= 0 on the surface of total force F that keeps the shape in balance and is at
most `--peak` times F over the area; it maximises the mean of the trace of the stress over the region (their equation 9), a linear program whose
costs come from one adjoint solve. Printed are the regions by the largest principal stress under their load, with the distance of each from the
nearest face that one of the first modes opens, and that of the points of greatest stress from the mean over the shape for comparison.
"""
import argparse
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import scipy.optimize
import scipy.sparse
import scipy.sparse.linalg

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from reporting import pieces

POISSON = 0.3  # of a shape of Young's modulus 1: stresses count relative to each other


class Elasticity:
    """Linear elements of a free shape in 3D: stiffness, masses and the stress of each element, in Voigt's order xx, yy, zz, yz, xz, xy."""

    def __init__(self, points, cells):
        self.points, self.cells = points, cells
        edges = points[cells[:, 1:]] - points[cells[:, :1]]
        self.volumes = np.linalg.det(edges) / 6
        gradients = np.linalg.inv(edges).transpose(0, 2, 1)
        gradients = np.concatenate([-gradients.sum(1, keepdims=True), gradients], axis=1)
        b = np.zeros((len(cells), 6, 4, 3))
        for row, pairs in enumerate((((0, 0),), ((1, 1),), ((2, 2),), ((1, 2), (2, 1)), ((0, 2), (2, 0)), ((0, 1), (1, 0)))):
            for component, derivative in pairs:
                b[:, row, :, component] = gradients[:, :, derivative]
        self.b = b.reshape(len(cells), 6, 12)
        lam, mu = POISSON / ((1 + POISSON) * (1 - 2 * POISSON)), 0.5 / (1 + POISSON)
        self.d = np.diag([2 * mu] * 3 + [mu] * 3)
        self.d[:3, :3] += lam
        self.dofs = (3 * cells[:, :, None] + np.arange(3)).reshape(len(cells), 12)
        blocks = np.einsum("e,eki,kl,elj->eij", self.volumes, self.b, self.d, self.b)
        rows, columns = np.repeat(self.dofs, 12, axis=1), np.tile(self.dofs, (1, 12))
        self.stiffness = scipy.sparse.csc_matrix((blocks.ravel(), (rows.ravel(), columns.ravel())))
        lumped = np.bincount(cells.ravel(), np.repeat(self.volumes / 4, 4), len(points))
        self.masses = np.repeat(lumped, 3)

    def stresses(self, u):
        return np.einsum("kl,elj,ej->ek", self.d, self.b, u[self.dofs])

    def rigid_motions(self):
        """Six columns, orthonormal in the masses."""
        x = self.points - self.points.mean(0)
        columns = [np.tile(np.eye(3)[i], len(x)) for i in range(3)] + [np.cross(np.eye(3)[i], x).ravel() for i in range(3)]
        root = np.sqrt(self.masses)
        return np.linalg.qr(root[:, None] * np.column_stack(columns))[0] / root[:, None]


def largest_principal(stresses):
    full = stresses[:, [[0, 5, 4], [5, 1, 3], [4, 3, 2]]]
    return np.abs(np.linalg.eigvalsh(full)).max(1)


def elastic_modes(shape, count):
    """Displacements of unit energy of the lowest modes that are no rigid motions."""
    masses = scipy.sparse.diags(shape.masses)
    scale = shape.stiffness.diagonal().sum() / shape.masses.sum()
    values, vectors = scipy.sparse.linalg.eigsh(shape.stiffness, count + 6, masses, sigma=-1e-6 * scale, v0=np.ones(len(shape.masses)))
    order = np.argsort(values)[6:]
    return [vectors[:, k] / np.sqrt(values[k]) for k in order]


def weak_regions(shape, modes, count, radius):
    """Elements around the largest stresses over all modes; no two regions overlap."""
    worst = np.max([largest_principal(shape.stresses(u)) for u in modes], axis=0)
    centres, free, regions = shape.points[shape.cells].mean(1), np.ones(len(shape.cells), bool), []
    for element in np.argsort(-worst):
        if len(regions) == count:
            break
        if free[element]:
            distances = np.linalg.norm(centres - centres[element], axis=1)
            regions.append(np.flatnonzero(distances < radius))
            free &= distances > 2 * radius
    return regions


class Loads:
    """Pressures on the boundary: the forces of a unit pressure on each facet."""

    def __init__(self, shape, facets):
        corners = shape.points[facets]
        vectors = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]) / 2
        self.areas, self.centres = np.linalg.norm(vectors, axis=1), corners.mean(1)
        rows = (3 * facets[:, :, None] + np.arange(3)).reshape(len(facets), 9)
        forces = np.tile(-vectors / 3, (1, 3))
        self.forces = scipy.sparse.csc_matrix((forces.ravel(), (rows.ravel(), np.repeat(np.arange(len(facets)), 9))),
                                              shape=(len(shape.masses), len(facets)))
        x = shape.points.mean(0)
        self.balance = np.vstack([-vectors.T, -np.cross(self.centres - x, vectors).T])


def solver_of(shape):
    """Solves for free shapes: loads in balance, displacements without rigid motion."""
    rigid = shape.rigid_motions()
    weights = shape.masses[:, None] * rigid
    # Rigid motions get a stiffness of the size of the others.
    scale = shape.stiffness.diagonal().sum() / shape.masses.sum()
    factor = scipy.sparse.linalg.splu(scipy.sparse.csc_matrix(shape.stiffness + 1e-9 * scale * scipy.sparse.diags(shape.masses)))

    def solve(load):
        load = load - weights @ (rigid.T @ load)
        u = factor.solve(load)
        return u - rigid @ (weights.T @ u)

    return solve


def worst_load(shape, loads, solve, region, peak):
    """The pressure that pulls or presses the region most, with the largest principal stress that it causes there."""
    volumes = shape.volumes[region] / shape.volumes[region].sum()
    trace = np.zeros(len(shape.masses))
    np.add.at(trace, shape.dofs[region], np.einsum("e,kl,elj->ekj", volumes, shape.d, shape.b[region])[:, :3].sum(1))
    costs = loads.forces.T @ solve(trace)
    limit = peak / loads.areas.sum()
    best = None
    for sign in (1, -1):
        found = scipy.optimize.linprog(-sign * costs / costs.std(), A_eq=np.vstack([loads.balance / np.abs(loads.balance).max(1)[:, None],
                                                                                    loads.areas / loads.areas.mean()]),
                                       b_eq=[0] * 6 + [1 / loads.areas.mean()], bounds=(0, limit), method="highs")
        if found.status != 0:
            continue
        stresses = shape.stresses(solve(loads.forces @ found.x))
        largest = largest_principal(stresses)[region].max()
        if best is None or largest > best[0]:
            best = (largest, found.x, stresses)
    return best


def opened_faces(model, mode):
    """Centres and sizes of the jumps of the faces between pieces in one mode."""
    owners = {}
    for cell, corners in enumerate(model.cells):
        for left_out in range(4):
            owners.setdefault(tuple(sorted(np.delete(corners, left_out))), []).append(cell)
    values = model.modes[model.piece_of_cell, mode]
    faces = [(face, abs(values[a] - values[b])) for face, (a, b) in ((f, o) for f, o in owners.items() if len(o) == 2)
             if model.piece_of_cell[a] != model.piece_of_cell[b]]
    jumps = np.array([jump for _, jump in faces])
    centres = np.array([model.vertices[list(face)].mean(0) for face, _ in faces])
    return centres[jumps > 0.05 * jumps.max()]


def draw(model, shape, regions, faults, loads, path):
    figure, axes = plt.subplots(1, 2, figsize=(11, 5.5), subplot_kw={"projection": "3d"})
    centres = shape.points[shape.cells].mean(1)
    shown = shape.points[np.unique(model.facets)]
    for axis in axes:
        axis.scatter(*shown.T, s=1, c="0.8")
        axis.set_box_aspect(np.ptp(shape.points, axis=0))
        axis.set_axis_off()
    for rank, (largest, pressure, region) in enumerate(regions):
        axes[0].scatter(*centres[region].T, s=8, color=plt.cm.autumn(rank / len(regions)), label="%d: %.3g" % (rank + 1, largest))
    pressed = regions[0][1] > 0.5 * regions[0][1].max()
    axes[0].scatter(*loads.centres[pressed].T, s=8, c="b", marker="v", label="load of 1")
    axes[0].set_title("weak regions, largest stress under the worst load")
    for mode, centres_of_faces in enumerate(faults):
        axes[1].scatter(*centres_of_faces.T, s=6, label="mode %d" % (mode + 1))
    axes[1].set_title("faults of the first modes")
    for axis in axes:
        axis.legend(fontsize=8)
    figure.savefig(path, dpi=130, bbox_inches="tight")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modes", type=Path, help="folder of recoil fracture, of a shape in 3D")
    parser.add_argument("-o", "--output", type=Path, default=Path("worst_case.png"), help="picture (default: worst_case.png)")
    parser.add_argument("--regions", type=int, default=5, help="weak regions (default: 5)")
    parser.add_argument("--first", type=int, default=3, help="fracture modes that are looked at (default: 3)")
    parser.add_argument("--elastic", type=int, default=15, help="elastic modes (default: 15)")
    parser.add_argument("--radius", type=float, help="of a region [m] (default: a thirtieth of the diagonal of the shape)")
    parser.add_argument("--peak", type=float, default=20, help="largest pressure over the mean one (default: 20)")
    arguments = parser.parse_args()
    model = pieces.Model(arguments.modes)
    shape = Elasticity(model.vertices, model.cells)
    extent = np.linalg.norm(np.ptp(model.vertices, axis=0))
    radius = arguments.radius or extent / 30
    loads, solve = Loads(shape, model.facets), solver_of(shape)
    regions = []
    for region in weak_regions(shape, elastic_modes(shape, arguments.elastic), arguments.regions, radius):
        found = worst_load(shape, loads, solve, region, arguments.peak)
        if found is not None:
            regions.append((found[0], found[1], region))
    regions.sort(key=lambda r: -r[0])
    faults = [opened_faces(model, mode) for mode in range(min(arguments.first, len(model.energies)))]
    every_face = np.concatenate(faults)
    centres = shape.points[shape.cells].mean(1)
    nearest = lambda points: np.array([np.linalg.norm(every_face - point, axis=1).min() for point in points])
    print("from the nearest face of the first %d modes, in %% of the diagonal (elements of the shape, on average: %.1f)"
          % (len(faults), 100 * np.average(nearest(centres), weights=shape.volumes) / extent))
    print("region  place [m]                     stress   distance")
    for rank, (largest, _, region) in enumerate(regions):
        place = centres[region].mean(0)
        print("%6d  (%8.4g, %8.4g, %8.4g)  %8.4g  %7.1f" % (rank + 1, *place, largest, 100 * nearest([place])[0] / extent))
    draw(model, shape, regions, faults, loads, arguments.output)


if __name__ == "__main__":
    main()
