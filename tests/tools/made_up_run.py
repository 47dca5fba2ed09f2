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


CODES = {"Polyline": 2, "Tetrahedron": 6, "Triangle": 4, "Tetrahedron_10": 38, "Triangle_6": 36}


def described(path, **more):
    """An entry of a manifest: name, size and CRC-32 of a file."""
    content = path.read_bytes()
    return dict({"name": path.name, "bytes": len(content), "crc32": f"{zlib.crc32(content):08x}"}, **more)


def write_manifest(folder, manifest):
    text = json.dumps(manifest)[1:]
    (folder / "manifest.json").write_text(f'{{"crc32": "{zlib.crc32(text.encode()):08x}",\n{text}')


def store(root, dim, arrays, shape, states):
    """arrays: of mesh.h5 by name. shape: code of all cells, None where the connectivity says it. states: {field: (rows, centre)} at
    times 0, 1, 2, .. ."""
    folder = Path(root) / "trajectory"
    folder.mkdir(parents=True)
    with h5py.File(folder / "mesh.h5", "w") as file:
        for name, values in arrays.items():
            file[name] = values
    with h5py.File(folder / "states_00000.h5", "w") as file:
        for k, fields in enumerate(states):
            for name, (values, _) in fields.items():
                file[f"states/{k}/{name}"] = values
    mesh = described(folder / "mesh.h5", cells=len(arrays["connectivity"]), arrays=[{"name": name} for name in arrays])
    if shape is not None:
        mesh["shape"] = shape
    listed = [{"name": "u", "components": dim, "centre": "node"} if name == "u" else
              {"name": name, "components": values.shape[1] if values.ndim > 1 else 1, "centre": centre} for name, (values, centre) in states[0].items()]
    entries = [{"id": k, "step": k, "time": float(k), "kept": "stored", "fields": 0} for k in range(len(states))]
    write_manifest(folder, {"format": "recoil trajectory", "version": 2, "metadata": {"dim": dim}, "mesh": mesh, "field_lists": [listed],
                            "files": [described(folder / "states_00000.h5", states=entries)]})
    (Path(root) / "summary.json").write_text(json.dumps({"status": "done", "steps": len(states) - 1, "time": 1.0}))


def write(root, points, cells, topology, displacements, mixed=False):
    """`displacements`: one (n, dim) array per state, at times 0, 1, 2, .. ."""
    code, dim = CODES[topology], points.shape[1]
    stream = np.concatenate([np.full((len(cells), 1), code), cells], 1).reshape(-1, 1) if mixed else cells
    energy = np.arange(len(cells), dtype=float)[:, None]
    # In the plane recoil stores a third component, 0.
    store(root, dim, {"coordinates": points, "connectivity": stream}, None if mixed else code,
          [{"u": (np.pad(u, ((0, 0), (0, 3 - dim))), "node"), "energy": (energy, "cell")} for u in displacements])


def lattice(cells, reach=1.1):
    """Centres of fcc spheres of radius 1/2 in a block, and bonds between those at most `reach` apart."""
    grid = np.stack(np.meshgrid(*[np.arange(2 * n + 1) for n in cells], indexing="ij"), -1).reshape(-1, 3)
    points = grid[grid.sum(1) % 2 == 0] / 2 ** 0.5
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    return points, np.argwhere(np.triu(apart < reach, 1))


def broken_block(root, cells=(4, 2, 2)):
    """Particles that are pulled apart in the middle in the second of two states. Returns points, bonds and which of these break."""
    points, bonds = lattice(cells)
    right = points[:, 0] > points[:, 0].mean() + 0.1
    breaks = right[bonds].sum(1) == 1
    states = []
    for k in range(2):
        broken = breaks & (k > 0)
        states.append({"displacement": (np.where(right[:, None], [0.8 * k, 0, 0], 0.0), "node"), "broken": (broken.astype(float), "cell"),
                       "broken_at": (np.where(broken, 1.0 + points[bonds[:, 0], 2], np.nan), "cell"), "broken_by": (np.where(broken, 1.0, 0.0), "cell"),
                       "sigma": (np.where(broken, 0, points[bonds].mean(1)[:, 0] - 1), "cell")})
    store(root, 3, {"coordinates": points, "connectivity": bonds, "radius": np.full((len(points), 1), 0.5)}, CODES["Polyline"], states)
    return points, bonds, breaks


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
