"""The pieces of a shape: what `recoil fracture` keeps of them in modes.h5, and their meshes."""

import json
import re
from pathlib import Path

import h5py
import numpy as np

from recoil_run import FolderError


def closest_in_facets(points, corners):
    """Barycentric weights of the closest point of each of its facets to each point, and the squared distance. `points` (n, d), `corners`
    (n, m, k, d) with k = 2 (edges) or 3 (triangles)."""
    a, edges = corners[:, :, 0], corners[:, :, 1:] - corners[:, :, :1]
    right = np.einsum("nmd,nmid->nmi", points[:, None] - a, edges)
    gram = np.einsum("nmid,nmjd->nmij", edges, edges)
    along = lambda x, square: np.clip(x / square, 0, 1)
    if corners.shape[2] == 2:
        inner = along(right, gram[..., 0])
    else:
        inner = np.linalg.solve(gram, right[..., None])[..., 0]
        zero = np.zeros(inner.shape[:2])
        across = edges[:, :, 1] - edges[:, :, 0]
        t = along(np.einsum("nmd,nmd->nm", points[:, None] - corners[:, :, 1], across), np.einsum("nmd,nmd->nm", across, across))
        on_edges = np.stack([np.stack([along(right[..., 0], gram[..., 0, 0]), zero], -1), np.stack([zero, along(right[..., 1], gram[..., 1, 1])], -1),
                             np.stack([1 - t, t], -1)])
        nearest = np.argmin([distances_to(points, a, edges, candidate) for candidate in on_edges], axis=0)
        outside = (inner < 0).any(-1) | (inner.sum(-1) > 1)
        inner = np.where(outside[..., None], np.take_along_axis(on_edges, nearest[None, ..., None], 0)[0], inner)
    return np.concatenate([1 - inner.sum(-1, keepdims=True), inner], axis=-1), distances_to(points, a, edges, inner)


def distances_to(points, a, edges, inner):
    away = points[:, None] - a - np.einsum("nmi,nmid->nmd", inner, edges)
    return np.einsum("nmd,nmd->nm", away, away)


def boundary_facets(cells):
    """Facets that one cell has, each with that cell; they turn as those of a positively oriented cell, seen from outside."""
    dim = cells.shape[1] - 1
    order = [(0, 1), (1, 2), (2, 0)] if dim == 2 else [(1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1)]
    facets = np.concatenate([cells[:, list(corners)] for corners in order])
    owners = np.tile(np.arange(len(cells)), len(order))
    _, first, counts = np.unique(np.sort(facets, axis=1), axis=0, return_index=True, return_counts=True)
    alone = np.sort(first[counts == 1])
    return facets[alone], owners[alone]


class Model:
    """modes.h5 as arrays. @raises FolderError where it is missing or lacks something."""

    def __init__(self, folder):
        path = Path(folder) / "modes.h5"
        try:
            with h5py.File(path) as file:
                flat = lambda name: file[name][:].reshape(-1)
                self.vertices, self.cells = file["mesh/vertices"][:], file["mesh/cells"][:].astype(np.int64)
                self.piece_of_cell, self.energies = flat("mesh/pieces"), flat("modes/energies")
                self.volumes, self.masses = flat("pieces/volumes"), flat("pieces/masses")
                self.links, self.modes = file["pieces/links"][:].reshape(-1, 2), file["pieces/modes"][:]
                self.responses = np.full((len(self.vertices), len(self.volumes)), np.nan)
                self.responses[flat("impacts/vertices")] = file["impacts/responses"][:]
        except (OSError, KeyError) as error:
            raise FolderError(f"{path}: cannot be read: {error}; is it a folder of a finished `recoil fracture`?") from None
        self.dim = self.cells.shape[1] - 1
        self.vertices = self.vertices[:, :self.dim]
        self.facets, self.facet_cells = boundary_facets(self.cells)
        corners = self.vertices[self.cells].mean(1)
        edges = self.vertices[self.cells[:, 1:]] - self.vertices[self.cells[:, :1]]
        sizes = np.abs(np.linalg.det(edges))
        self.centres = np.stack([np.bincount(self.piece_of_cell, sizes * corners[:, i], len(self.volumes)) for i in range(self.dim)], 1)
        self.centres /= np.bincount(self.piece_of_cell, sizes, len(self.volumes))[:, None]

    def responses_at(self, points):
        """What each piece feels of an impact at the point of the surface that is closest to each of `points`. (n, pieces)"""
        result = np.empty((len(points), len(self.volumes)))
        corners = self.vertices[self.facets]
        middles = corners.mean(1)
        tried, chunk = min(16, len(corners)), max(1, 20_000_000 // len(corners))
        for start in range(0, len(points), chunk):
            some = points[start:start + chunk, :self.dim]
            # The facet that is closest is one of those whose middles are, as facets of a cage are of like size.
            near = np.argpartition((middles**2).sum(1) - 2 * some @ middles.T, tried - 1, axis=1)[:, :tried]
            weights, distances = closest_in_facets(some, corners[near])
            rows, best = np.arange(len(some)), np.argmin(distances, axis=1)
            result[start:start + chunk] = np.einsum("nk,nkp->np", weights[rows, best], self.responses[self.facets[near[rows, best]]])
        return result


def meshes_of_impact(folder, model):
    """Points and triangles of each piece file of an impact that parted all pieces, and the piece of the modes that it is.
    @raises FolderError where fragments have more than one, and in 2D, where files have outlines."""
    path = Path(folder) / "pieces.json"
    try:
        found = json.loads(path.read_text())
        sources = [fragment["mesh_pieces"] for fragment in found["fragments"]]
        files = [(Path(folder) / piece["file"], sources[piece["fragment"]]) for piece in found["pieces"]]
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise FolderError(f"{path}: cannot be read: {error}; is it a folder fractured_<i> of `recoil impact`?") from None
    if model.dim == 2:
        raise FolderError(f"{folder}: in 2D pieces are outlines, which the page cannot fill: leave it out")
    if any(len(source) > 1 for source in sources):
        raise FolderError(f"{folder}: has fragments of several pieces: take an impact of a magnitude like 1e6, which parts all of them")
    return [(*read_piece(file)[:2], source[0]) for file, source in files]


def meshes_of_elements(model):
    """Points and triangles of each piece as the elements are, in 3D their boundary, in 2D themselves, and its number."""
    result = []
    for piece in range(len(model.volumes)):
        cells = model.cells[model.piece_of_cell == piece]
        triangles = cells if model.dim == 2 else boundary_facets(cells)[0]
        used, numbers = np.unique(triangles, return_inverse=True)
        result.append((model.vertices[used], numbers.reshape(triangles.shape), piece))
    return result


def read_piece(path):
    """Vertices (n, 3), triangles (m, 3), and whether each is part of a fault, of an OBJ file that recoil wrote."""
    points, triangles, faults, fault = [], [], [], False
    for line in Path(path).read_text().splitlines():
        words = line.split()
        if not words:
            continue
        if words[0] == "v":
            points.append([float(word) for word in words[1:4]])
        elif words[0] == "g":
            fault = words[1].startswith("fault")
        elif words[0] == "f":
            triangles.append([int(word.split("/")[0]) - 1 for word in words[1:4]])
            faults.append(fault)
    return np.array(points), np.array(triangles), np.array(faults)


def piece_files(folder):
    """piece_0.obj, piece_1.obj, .. in their order. @raises FolderError where there are none."""
    number = lambda path: int(re.search(r"\d+", path.name).group())
    paths = sorted((path for path in Path(folder).glob("piece_*.obj") if re.fullmatch(r"piece_\d+", path.stem)), key=number)
    if not paths:
        raise FolderError(f"{folder}: has no files piece_0.obj, piece_1.obj, ..")
    return paths
