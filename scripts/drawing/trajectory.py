"""The stored states of a run, read through trajectory.xdmf as any other viewer would."""

import json
import xml.etree.ElementTree as xml
from pathlib import Path

import h5py
import numpy as np

# XDMF topology names and codes -> number of nodes. Codes 1 and 2 carry their node count in a mixed stream.
NODES = {"Triangle": 3, "Tetrahedron": 4, "Triangle_6": 6, "Tri_6": 6, "Tetrahedron_10": 10, "Tet_10": 10,
         "Polyvertex": 1, "Polyline": 2, "Edge_3": 3}
CODES = {4: ("Triangle", 3), 6: ("Tetrahedron", 4), 36: ("Triangle_6", 6), 38: ("Tetrahedron_10", 10),
         34: ("Edge_3", 3), 1: ("Polyvertex", 1), 2: ("Polyline", 2)}


class State:
    """One stored state: its time and fields by name, read when asked for."""

    def __init__(self, time, attributes, load):
        self.time = time
        self._attributes, self._load = attributes, load

    def fields(self):
        return sorted(self._attributes)

    def centre(self, name):
        return self._attributes[name][0]

    def field(self, name):
        if name not in self._attributes:
            raise SystemExit(f"no field `{name}` at time {self.time:g}; there is: {', '.join(self.fields())}")
        return self._load(self._attributes[name][1])


class Trajectory:
    """`folder` is a run folder (or the trajectory folder in it).

    points: rest positions, shape (n, dim). cells: {shape name: connectivity of shape (m, nodes)}.
    """

    def __init__(self, folder):
        folder = Path(folder)
        self.root = folder.parent if (folder / "trajectory.xdmf").is_file() else folder
        self.folder = self.root / "trajectory"
        file = self.folder / "trajectory.xdmf"
        if not file.is_file():
            raise SystemExit(f"{file}: no such file; is {folder} a run folder?")
        domain = xml.parse(file).getroot().find("Domain")
        collection = domain.find("Grid[@GridType='Collection']")
        grids = collection.findall("Grid") if collection is not None else []
        if not grids:
            raise SystemExit(f"{file}: holds no states")
        self.points = self._array(grids[0].find("Geometry").find("DataItem"))
        self.cells = self._topology(grids[0].find("Topology"))
        self._cell_rows = self._rows_of_shapes
        self.dim = 3 if any(name.startswith("Tet") for name in self.cells) else self._flat_dimension()
        self.states = [State(float(grid.find("Time").get("Value")),
                             {a.get("Name"): (a.get("Center", "Node"), a.find("DataItem"))
                              for a in grid.findall("Attribute")}, self._array) for grid in grids]

    def _flat_dimension(self):
        return 3 if self.points.shape[1] == 3 and np.ptp(self.points[:, 2]) > 0 else 2

    def _array(self, item):
        file, _, dataset = item.text.strip().partition(":")
        with h5py.File(self.folder / file, "r", locking=False) as data:
            return data[dataset][()]

    def _topology(self, element):
        data = self._array(element.find("DataItem"))
        kind = element.get("TopologyType") or element.get("Type")
        self._rows_of_shapes = {}
        if kind != "Mixed":
            kind = kind.replace("Tri_6", "Triangle_6").replace("Tet_10", "Tetrahedron_10")
            cells = data.astype(np.int64).reshape(-1, NODES[kind])
            self._rows_of_shapes[kind] = np.arange(len(cells))
            return {kind: cells}
        stream, found, at, row = data.ravel().astype(np.int64), {}, 0, 0
        while at < len(stream):
            name, nodes = CODES[int(stream[at])]
            at += 2 if stream[at] in (1, 2) else 1
            found.setdefault(name, []).append((row, stream[at:at + nodes]))
            at += nodes
            row += 1
        self._rows_of_shapes = {name: np.array([r for r, _ in rows]) for name, rows in found.items()}
        return {name: np.array([nodes for _, nodes in rows]) for name, rows in found.items()}

    def displacement(self, state):
        """u at the nodes, shape (n, dim of points)."""
        u = state.field("u")
        full = np.zeros_like(self.points)
        columns = min(full.shape[1], u.shape[1])
        full[:, :columns] = u[:, :columns]
        return full

    def nodal(self, state, name):
        """A scalar per node: the field, the length of a vector field, the mean of a cell field around a node."""
        values = np.asarray(state.field(name), dtype=float)
        values = values.reshape(len(values), -1)
        values = values[:, 0] if values.shape[1] == 1 else np.linalg.norm(values, axis=1)
        if state.centre(name) == "Node":
            return values
        total, count = np.zeros(len(self.points)), np.zeros(len(self.points))
        for shape, cells in self.cells.items():
            of_cells = np.repeat(values[self._cell_rows[shape]], cells.shape[1])
            total += np.bincount(cells.ravel(), of_cells, len(self.points))
            count += np.bincount(cells.ravel(), minlength=len(self.points))
        return total / np.maximum(count, 1)

    def json(self, name):
        """scene.json or summary.json of the run, {} where missing."""
        file = self.root / name
        return json.loads(file.read_text()) if file.is_file() else {}
