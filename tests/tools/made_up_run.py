"""Writes a small run folder by hand, in the form that recoil stores, for tests of the drawing scripts."""

import json
import zlib
from pathlib import Path

import h5py
import numpy as np

def box(divisions, size):
    """Points and tetrahedra (six per cell, around the diagonal) of a box centred at the origin."""
    nx, ny, nz = divisions
    grid = np.stack(np.meshgrid(*[np.linspace(-s / 2, s / 2, n + 1) for s, n in zip(size, divisions)], indexing="ij"), -1)
    number = np.arange((nx + 1) * (ny + 1) * (nz + 1)).reshape(nx + 1, ny + 1, nz + 1)
    cells = []
    for order in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)):
        step, corner = np.zeros(3, int), []
        for axis in (None, *order):
            if axis is not None:
                step = step + np.eye(3, dtype=int)[axis]
            corner.append(number[step[0]:nx + step[0], step[1]:ny + step[1], step[2]:nz + step[2]].ravel())
        cells.append(np.stack(corner, 1))
    return grid.reshape(-1, 3), np.concatenate(cells).astype(np.int64)


CODES = {"Tetrahedron": 6, "Triangle": 4, "Tetrahedron_10": 38, "Triangle_6": 36}


def described(path, **more):
    """An entry of a manifest: name, size and CRC-32 of a file."""
    content = path.read_bytes()
    return dict({"name": path.name, "bytes": len(content), "crc32": f"{zlib.crc32(content):08x}"}, **more)


def write_manifest(folder, manifest):
    text = json.dumps(manifest)[1:]
    (folder / "manifest.json").write_text(f'{{"crc32": "{zlib.crc32(text.encode()):08x}",\n{text}')


def write(root, points, cells, topology, displacements, mixed=False):
    """`displacements`: one (n, dim) array per state, at times 0, 1, 2, .. ."""
    folder = Path(root) / "trajectory"
    folder.mkdir(parents=True)
    code, dim = CODES[topology], points.shape[1]
    stream = np.concatenate([np.full((len(cells), 1), code), cells], 1).reshape(-1, 1) if mixed else cells
    with h5py.File(folder / "mesh.h5", "w") as file:
        file["coordinates"], file["connectivity"] = points, stream
    with h5py.File(folder / "states_00000.h5", "w") as file:
        for k, u in enumerate(displacements):
            # In the plane recoil stores a third component, 0.
            file[f"states/{k}/u"] = np.pad(u, ((0, 0), (0, 3 - dim)))
            file[f"states/{k}/energy"] = np.arange(len(cells), dtype=float)[:, None]
    mesh = described(folder / "mesh.h5", cells=len(cells), arrays=[{"name": "coordinates"}, {"name": "connectivity"}])
    if not mixed:
        mesh["shape"] = code
    states = [{"id": k, "step": k, "time": float(k), "kept": "stored", "fields": 0} for k in range(len(displacements))]
    write_manifest(folder, {
        "format": "recoil trajectory", "version": 2, "metadata": {"dim": dim}, "mesh": mesh,
        "field_lists": [[{"name": "u", "components": dim, "centre": "node"}, {"name": "energy", "components": 1, "centre": "cell"}]],
        "files": [described(folder / "states_00000.h5", states=states)]})
    (Path(root) / "summary.json").write_text(json.dumps({"status": "done", "steps": len(displacements) - 1, "time": 1.0}))


def twisted_bar(root, states=5, divisions=(40, 8, 8), mixed=False):
    points, cells = box(divisions, (4.0, 0.8, 0.8))
    displacements = []
    for k in range(states):
        angle = 2.0 * np.pi * k / (states - 1) * (points[:, 0] / 4 + 0.5)
        c, s = np.cos(angle), np.sin(angle)
        turned = np.stack([points[:, 0], c * points[:, 1] - s * points[:, 2], s * points[:, 1] + c * points[:, 2]], 1)
        displacements.append(turned - points)
    write(root, points, cells, "Tetrahedron", displacements, mixed)
    return points, cells, displacements
