"""Reads what recoil writes: run folders, and the folders of `recoil gradient` and `recoil optimize`. Needs numpy and h5py.

    from recoil_run import Run, Gradient, Fit

    run = Run("run/")
    run.scene, run.summary            # dictionaries
    run.ledger["kinetic"]             # columns of ledger.csv, nan where a field is empty
    run.mesh.points, run.mesh.cells   # rest positions [m] (n, d); {"Triangle": (m, 3), ..}
    run.steps, run.times              # of the stored states
    for state in run:
        state.time, state.u, state.v, state["von_mises"]

    fit = Fit("fit/")
    fit.result["parameters"]["E"]     # fit.json
    fit.history["objective"]          # columns of history.csv
    fit.fields["modulus"]             # arrays of fit.h5, nan where the parameter has no value
    fit.experiments["drop"]           # resolved scenes by experiment
    fit.observed["path"]["x"]         # columns of the CSV file of an objective

Arrays are read when asked for. A folder that is damaged (sizes and CRC-32 are compared with what recoil noted) or not finished
raises FolderError; `unfinished=True` takes what an interrupted or failed one holds.
"""

import csv
import json
import re
import zlib
from pathlib import Path

import h5py
import numpy as np

# Codes of cells as in XDMF; a mixed stream has one before every cell.
SHAPES = {4: ("Triangle", 3), 6: ("Tetrahedron", 4), 36: ("Triangle_6", 6), 38: ("Tetrahedron_10", 10),
          34: ("Edge_3", 3), 1: ("Polyvertex", 1), 2: ("Polyline", 2)}


class FolderError(Exception):
    """A folder that cannot be read as what it should be; the message says which file, why, and what to do."""


MOST_JSON_BYTES = 1 << 28


def plain_name(name, where):
    """A name that becomes that of a file or folder. @raises FolderError where it could lead out of the folder that it is to be in."""
    if not isinstance(name, str) or name in ("", ".", "..") or any(c in name for c in "/\\\0"):
        raise FolderError(f"{where}: {str(name)[:80]!r} is not the plain name of something in the folder")
    return name


def path_inside(folder, relative, where):
    """The path of what a file of the folder names relative to it. @raises FolderError where that is not in the folder, or only by a link."""
    path = folder
    for part in str(relative).split("/"):
        path = path / plain_name(part, where)
        if path.is_symlink():
            raise FolderError(f"{path}: is a link; copy its target to this place")
    return path


def _read_bytes(path, hint=""):
    try:
        # A pipe would keep the reader waiting.
        if path.exists() and not path.is_file():
            raise FolderError(f"{path}: is not a file")
        return path.read_bytes()
    except OSError as error:
        raise FolderError(f"{path}: {error.strerror.lower()}{hint}") from None


def _read_json(path, hint=""):
    content = _read_bytes(path, hint)
    if len(content) > MOST_JSON_BYTES:
        raise FolderError(f"{path}: has {len(content) >> 20} MiB, more than any file of recoil")
    try:
        return json.loads(content)
    except RecursionError:
        raise FolderError(f"{path}: damaged, it is nested deeper than any file of recoil") from None
    except ValueError as error:
        raise FolderError(f"{path}: damaged, it is no JSON: {error}") from None


def _table(path, lines, separator=","):
    """Header and rows of a CSV file, of which (number, text) of the lines are given."""
    header, *rows = [[cell.strip() for cell in row] for row in csv.reader((text for _, text in lines), delimiter=separator)] or [[]]
    short = next((number for (number, _), row in zip(lines[1:], rows) if len(row) != len(header)), None)
    if short is not None or not header:
        raise FolderError(f"{path}: damaged, line {short or 1} is cut off")
    return header, rows


def read_table(path):
    """Columns of a CSV file with a header: arrays of numbers, nan where a field is empty, or lists of texts."""
    header, rows = _table(path, list(enumerate(_read_bytes(path).decode().splitlines(), 1)))
    # The columns of a history are called as the parameters.
    names = () if path.name == "history.csv" else _NAMES
    return {name: _column([row[i] for row in rows], name in names) for i, name in enumerate(header)}


# Units of observations [SI per unit], as src/objectives/csv_reader.cpp has them, by what a column is one of.
_UNITS = {"time": {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60},
          "length": {"m": 1, "cm": 1e-2, "mm": 1e-3, "um": 1e-6, "nm": 1e-9, "km": 1e3, "in": 0.0254},
          "number": {"1": 1, "-": 1, "m/m": 1, "mm/mm": 1, "%": 1e-2, "mm/m": 1e-3, "um/m": 1e-6},
          "force": {"N": 1, "mN": 1e-3, "uN": 1e-6, "kN": 1e3, "MN": 1e6, "lbf": 4.4482216152605}}
# Of `units` of scenes and studies, as src/base/units.cpp has them.
_BASE_UNITS = {"length": {**_UNITS["length"], "dm": 0.1, "ft": 0.3048}, "mass": {"kg": 1, "g": 1e-3, "mg": 1e-6, "t": 1e3},
               "time": {**_UNITS["time"], "h": 3600}}
SI = {"length": "m", "mass": "kg", "time": "s"}


def _own_unit(kind, units):
    """What the numbers of a document with these `units` are in [SI]."""
    length, mass, time = (_BASE_UNITS[key][{**SI, **units}[key]] for key in SI)
    return {"time": time, "length": length, "number": 1, "speed": length / time, "force": length * mass / time**2,
            "stress": mass / (length * time**2)}[kind]


def unit_name(kind, units):
    """The name of the unit of times, lengths, speeds, forces or stresses in a document with these `units`."""
    units = {**SI, **units}
    if kind in units:
        return units[kind]
    known = {"force": _UNITS["force"], "stress": {"Pa": 1, "kPa": 1e3, "MPa": 1e6, "GPa": 1e9}}.get(kind, {})
    own = _own_unit(kind, units)
    product = {"speed": "{length}/{time}", "force": "{mass}*{length}/{time}^2", "stress": "{mass}/{length}/{time}^2"}[kind]
    return next((name for name, factor in known.items() if abs(own / factor - 1) < 1e-9), product.format(**units))


def read_observations(path, units=SI):
    """Columns of a file of observations in the `units` of a study: comma, semicolon or tab between the cells, lines that begin with #
    passed by, units in brackets or parentheses behind the names; numbers without one stay as they are."""
    lines = [(number, text) for number, text in enumerate(_read_bytes(path).decode("utf-8-sig").splitlines(), 1)
             if text.strip() and not text.lstrip().startswith("#")]
    header, rows = _table(path, lines, max(",;\t", key=lines[0][1].count) if lines else ",")
    table = {}
    for i, cell in enumerate(header):
        name, unit = re.fullmatch(r"(.*?)\s*(?:[\[(](.*)[\])])?", cell).groups()
        column = _column([row[i] for row in rows], name in _NAMES)
        unit = (unit or "").replace("\u00b5", "u").replace("\u03bc", "u")
        kind = next((kind for kind, known in _UNITS.items() if unit in known), None)
        factor = _UNITS[kind][unit] / _own_unit(kind, units) if kind else 1
        table[name] = column if isinstance(column, list) else column * factor
    return table


# Columns of names, which may look like numbers: "reactions" has ids of surfaces as names.
_NAMES = {"kind", "name", "obstacle", "marker", "mode", "objective", "experiment", "point", "component"}


def _column(texts, is_of_names):
    if is_of_names:
        return texts
    try:
        return np.array([float(text) if text else np.nan for text in texts])
    except ValueError:
        return texts


def file_crc32(path):
    crc = 0
    with open(path, "rb") as file:
        while piece := file.read(1 << 22):
            crc = zlib.crc32(piece, crc)
    return crc


def _checked(path, size, crc32):
    """The path of a file whose size and CRC-32 are those noted."""
    try:
        found = file_crc32(path) if path.stat().st_size == size else None
    except OSError as error:
        raise FolderError(f"{path}: {error.strerror.lower()}") from None
    if found != crc32:
        raise FolderError(f"{path}: damaged, it is not as it was written; `recoil info` says what of the run is sound")
    return path


def array_of(file, name, path):
    """An array that an open HDF5 file itself holds. @raises FolderError where a link or a layout leads to another file."""
    at = ""
    for part in name.strip("/").split("/"):
        at += "/" + part
        link = file.get(at, getlink=True)
        if link is None:
            raise FolderError(f"{path}: damaged, it holds no {name}")
        if not isinstance(link, h5py.HardLink):
            raise FolderError(f"{path}: {at} is a link, which may lead to another file")
    if file[at].external or file[at].is_virtual:
        raise FolderError(f"{path}: the numbers of {at} lie in other files")
    return file[at][()]


class _Trajectory:
    """The manifest of a trajectory and its files, each checked when it is first used."""

    def __init__(self, folder):
        self.folder = folder
        path = folder / "manifest.json"
        text = _read_bytes(path, f"; is {folder.parent} a run folder with a state in it?").decode()
        head, _, content = text.partition("\n")
        try:
            if zlib.crc32(content.encode()) != int(json.loads(head.rstrip(",") + "}")["crc32"], 16):
                raise ValueError("its CRC-32 differs")
            self.manifest = json.loads(text)
        except (KeyError, ValueError, TypeError, RecursionError) as error:
            raise FolderError(f"{path}: damaged: {error}") from None
        self._sound = set()

    def read(self, entry, dataset):
        path = path_inside(self.folder, plain_name(entry["name"], self.folder / "manifest.json"), self.folder / "manifest.json")
        if entry["name"] not in self._sound:
            self._sound.add(_checked(path, entry["bytes"], int(entry["crc32"], 16)).name)
        with h5py.File(path, "r", locking=False) as file:
            return array_of(file, dataset, path)


class Mesh:
    """Rest positions and cells, in canonical order.

    points: (n, d) [m], d = 2 or 3; all nodes of the elements, vertices first. cells: {shape: connectivity (m, nodes)}; elements of order
    1 and 2 as they are, of order p = 3 and 4 as p^d linear cells each, one element after the other. rows: {shape: row of each of its
    cells in arrays per cell}. body, volume_id: per cell. bodies: names, by body number. order: of the elements, by body
    number, None where scene.json is missing. Of bonded particles: points are their centres, cells their bonds, radius [m] and
    body are per particle; of elements, radius is None.
    """

    def __init__(self, trajectory, scene):
        entry = trajectory.manifest["mesh"]
        arrays = {array["name"]: trajectory.read(entry, array["name"]) for array in entry["arrays"]}
        self.dim = trajectory.manifest["metadata"].get("dim") or arrays["coordinates"].shape[1]
        self.points = arrays["coordinates"][:, :self.dim]
        self.cells, self.rows = _cells(arrays["connectivity"], entry.get("shape"))
        count = entry["cells"]
        self.body = arrays["body"].ravel() if "body" in arrays else np.zeros(count, int)
        self.radius = arrays["radius"].ravel() if "radius" in arrays else None
        self.volume_id = arrays["volume_id"].ravel() if "volume_id" in arrays else np.zeros(count, int)
        self.bodies = _body_names(scene, int(self.body.max(initial=-1)) + 1)
        self.order = _orders(scene, self.bodies)


def _cells(stream, code):
    if code is not None:
        shape, nodes = SHAPES[code]
        cells = stream.astype(np.int64).reshape(-1, nodes)
        return {shape: cells}, {shape: np.arange(len(cells))}
    stream, found, at, row = stream.ravel().astype(np.int64), {}, 0, 0
    while at < len(stream):
        shape, nodes = SHAPES[int(stream[at])]
        at += 2 if shape.startswith("Poly") else 1  # these say how many nodes they have
        found.setdefault(shape, []).append((row, stream[at:at + nodes]))
        at, row = at + nodes, row + 1
    return ({shape: np.array([nodes for _, nodes in cells]) for shape, cells in found.items()},
            {shape: np.array([row for row, _ in cells]) for shape, cells in found.items()})


def as_list(entries):
    """What a scene gives as a list, or as one entry alone."""
    return [] if entries is None else entries if isinstance(entries, list) else [entries]


def _body_names(scene, count):
    names = [entry.get("name", "") for entry in as_list(scene.get("geometry"))
             if entry.get("enabled", True) and not entry.get("is_obstacle") and entry.get("type", "mesh") != "plane"]
    return names if len(names) == count else [str(body) for body in range(count)]


def _orders(scene, bodies):
    if not scene:
        return [None] * len(bodies)
    given = scene.get("space", {}).get("discr_order", 1)
    if isinstance(given, int):
        return [given] * len(bodies)
    orders = {entry["body"]: entry["order"] for entry in as_list(given)}
    return [orders.get(name, 1) for name in bodies]


class State:
    """One stored state: step (None inside of a repeated one), time [s], fields by name."""

    def __init__(self, trajectory, entry, record):
        self.step, self.time = record.get("step"), record["time"]
        self._trajectory, self._entry, self._group = trajectory, entry, f"states/{record['id']}"
        self._fields = {field["name"]: field for field in trajectory.manifest["field_lists"][record["fields"]]}

    def fields(self):
        return sorted(self._fields)

    def centre(self, name):
        """"node" or "cell": what the rows of a field belong to."""
        return self._description(name)["centre"]

    def __getitem__(self, name):
        """The field, shape (rows,) for scalars, else (rows, components)."""
        components = self._description(name)["components"]
        values = self._trajectory.read(self._entry, f"{self._group}/{name}")
        # -1 in place of the width would not do without rows, as of bodies without bonds.
        values = values.reshape(len(values), int(np.prod(values.shape[1:])))
        return values[:, 0] if components == 1 else values[:, :components]

    @property
    def u(self):
        return self["u"]

    @property
    def v(self):
        return self["v"]

    def _description(self, name):
        if name not in self._fields:
            raise FolderError(f"no field `{name}` at time {self.time:g}; there is: {', '.join(self.fields())}")
        return self._fields[name]


class Run:
    """What `recoil simulate` wrote. `folder`: a run folder, or the folder `trajectory` in it."""

    def __init__(self, folder, unfinished=False):
        folder = Path(folder)
        self.folder = folder.parent if folder.name == "trajectory" and (folder / "manifest.json").is_file() else folder
        trajectory = _Trajectory(self.folder / "trajectory")
        self.scene = self._optional("scene.json")
        self.summary = self._optional("summary.json")
        status = self.summary.get("status", "without a summary, so cut off")
        if status != "done" and not unfinished:
            raise FolderError(f"{self.folder}: the run is not finished ({status}); continue it with recoil simulate --restart "
                              f"{self.folder}, or read it with unfinished=True")
        self.mesh = Mesh(trajectory, self.scene)
        self.states = [State(trajectory, entry, record) for entry in trajectory.manifest["files"]
                       for record in entry["states"] if record["kept"] == "stored"]
        if not self.states:
            raise FolderError(f"{self.folder}: holds no states")

    def _optional(self, name):
        """Where only the trajectory was copied, it still can be drawn."""
        path = self.folder / name
        return _read_json(path) if path.is_file() else {}

    @property
    def steps(self):
        return np.array([-1 if state.step is None else state.step for state in self.states])

    @property
    def times(self):
        return np.array([state.time for state in self.states])

    @property
    def ledger(self):
        return read_table(self.folder / "ledger.csv")

    def __iter__(self):
        return iter(self.states)

    def __len__(self):
        return len(self.states)


class _StudyFolder:
    """study: as resolved. inputs: CRC-32 of study, scenes and files. result: gradient.json or fit.json."""

    command, result_name = None, None

    def __init__(self, folder, unfinished=False):
        self.folder = Path(folder)
        self.inputs = self._sealed_inputs()
        path = self.folder / "study.json"
        if self.inputs and zlib.crc32(_read_bytes(path)) != self.inputs["study"]:
            raise FolderError(f"{path}: damaged or changed, its CRC-32 is not that in {self.folder}/inputs.json")
        self.study = _read_json(path, f"; is {folder} a folder of recoil {self.command}?")
        try:
            names = [entry["name"] for entry in self.study["experiments"]]
        except (KeyError, TypeError):
            raise FolderError(f"{path}: damaged, it names no experiments") from None
        for name in names:
            plain_name(name, path)
        path_inside(self.folder, self.result_name, path)
        path = self.folder / self.result_name
        how = f"; the {self.command} has no result yet: end it with recoil {self.command} --restart {folder}"
        self.result = {} if unfinished and not path.is_file() else _read_json(path, how)
        status = self.result.get("status", "done")
        if status != "done" and not unfinished:
            raise FolderError(f"{folder}: {status}: {self.result.get('reason', '')}; continue with recoil {self.command} --restart "
                              f"{folder}, or read it with unfinished=True")

    def _sealed_inputs(self):
        path = self.folder / "inputs.json"
        if not path.is_file():
            return {}
        sealed = _read_json(path)
        text = json.dumps(sealed.get("content"), separators=(",", ":"), ensure_ascii=False)
        if zlib.crc32(text.encode()) != sealed.get("crc32"):
            raise FolderError(f"{path}: damaged, its CRC-32 differs")
        made_by = sealed["content"].get("command", self.command)
        if made_by != self.command:
            raise FolderError(f"{self.folder}: a folder of recoil {made_by}, not of recoil {self.command}")
        return sealed["content"]

    @property
    def experiments(self):
        return {entry["name"]: _read_json(path_inside(self.folder, entry["scene"], self.folder / "study.json")) for entry in self.study["experiments"]}

    @property
    def observed(self):
        return {entry["name"]: read_observations(self.folder / entry["target"], self.study.get("units", {}))
                for entry in self.study["objectives"] if isinstance(entry.get("target"), str)}

    def _arrays(self, name):
        path, arrays = self.folder / name, {}
        if not path.is_file():
            return arrays
        try:
            with h5py.File(path, "r", locking=False) as file:
                # Links are not among what is visited.
                file.visititems(lambda at, item: arrays.update({at: array_of(file, at, path)}) if isinstance(item, h5py.Dataset) else None)
        except OSError as error:
            raise FolderError(f"{path}: damaged: {error}") from None
        return arrays


class Gradient(_StudyFolder):
    """What `recoil gradient` wrote."""

    command, result_name = "gradient", "gradient.json"

    @property
    def fields(self):
        """Arrays of gradient.h5 by path: <experiment>/<parameter>/value, gradient, gradient_scaled."""
        return self._arrays("gradient.h5")

    def run(self, experiment):
        return Run(path_inside(self.folder, experiment, self.folder / "study.json"))


class Fit(_StudyFolder):
    """What `recoil optimize` wrote."""

    command, result_name = "optimize", "fit.json"

    @property
    def history(self):
        return read_table(self.folder / "history.csv")

    @property
    def evaluations(self):
        """What was evaluated of an experiment, on all meshes that the fit went through: dictionaries with `experiment` (its number), `what` ("value", "gradient", "factor" of the Jacobian, "product" with it, "residuals", "path"
        from the iterate before, with `failure` and `rest_intersections` where it is clear), `seconds`, `objective`; a "sum" of products is that of all experiments, with the number -1. A line that a killed run left half written is passed by."""
        found = []
        paths = sorted(self.folder.glob("stages/*/run/evaluations/*.jsonl"), key=lambda path: (int(path.parts[-4]), path.name))
        for path in sorted(self.folder.glob("evaluations/**/*.jsonl")) + paths:
            lines = _read_bytes(path).split(b"\n")
            for number, line in enumerate(lines[:-1], 1):
                if line[:8] != b"%08x" % zlib.crc32(line[9:]):
                    raise FolderError(f"{path}:{number}: damaged, its CRC-32 differs")
                found.append(json.loads(line[9:]))
        return found

    @property
    def fields(self):
        """Arrays of fit.h5 by parameter, in file order."""
        return self._arrays("fit.h5")
