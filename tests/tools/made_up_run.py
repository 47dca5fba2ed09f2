"""Writes a small run folder by hand, in the form that recoil stores, for tests of the drawing scripts."""

import json
from pathlib import Path

import h5py
import numpy as np

HEAD = '<?xml version="1.0"?>\n<Xdmf Version="3.0"><Domain><Grid Name="run" GridType="Collection" CollectionType="Temporal">\n'
TAIL = "</Grid></Domain></Xdmf>\n"


def item(file, name, array):
    shape = " ".join(str(n) for n in array.shape)
    number = "Int" if array.dtype.kind == "i" else "Float"
    return f'<DataItem Format="HDF" Dimensions="{shape}" NumberType="{number}" Precision="8">{file}:{name}</DataItem>'


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


def write(root, points, cells, topology, displacements, mixed=False):
    """`displacements`: one (n, dim) array per state, at times 0, 1, 2, .. ."""
    folder = Path(root) / "trajectory"
    folder.mkdir(parents=True)
    if mixed:
        code = {"Tetrahedron": 6, "Triangle": 4}[topology]
        stream = np.concatenate([np.full((len(cells), 1), code), cells], 1).reshape(-1, 1)
        topology = "Mixed"
    else:
        stream = cells
    with h5py.File(folder / "mesh.h5", "w") as file:
        file["coordinates"], file["topology"] = points, stream
    kind = "XYZ" if points.shape[1] == 3 else "XY"
    text = HEAD
    with h5py.File(folder / "states.h5", "w") as file:
        for k, u in enumerate(displacements):
            file[f"states/{k}/u"] = u
            file[f"states/{k}/energy"] = np.arange(len(cells), dtype=float)
            text += (f'<Grid Name="{k}"><Time Value="{k}"/>'
                     f'<Topology TopologyType="{topology}" NumberOfElements="{len(cells)}">{item("mesh.h5", "/topology", stream)}</Topology>'
                     f'<Geometry GeometryType="{kind}">{item("mesh.h5", "/coordinates", points)}</Geometry>'
                     f'<Attribute Name="u" AttributeType="Vector" Center="Node">{item("states.h5", f"/states/{k}/u", u)}</Attribute>'
                     f'<Attribute Name="energy" AttributeType="Scalar" Center="Cell">'
                     f'{item("states.h5", f"/states/{k}/energy", np.zeros(len(cells)))}</Attribute></Grid>\n')
    (folder / "trajectory.xdmf").write_text(text + TAIL)
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
