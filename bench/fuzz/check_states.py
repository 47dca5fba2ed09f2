#!/usr/bin/env python3
"""A second opinion on a run folder: intersections, vertices beyond planes and inverted cells in every stored state.

    bench/fuzz/check_states.py RUN_FOLDER

Uses nothing of recoil but its files: surfaces are the boundary of the stored mesh (faces of order 2 cut in four), pairs come
from a sweep, signs of determinants from rational arithmetic where rounding could matter. Obstacle meshes are not stored and
so not looked at.
Needs a shared library of HDF5 (ctypes), no Python package.
"""
import argparse
import collections
import ctypes
import ctypes.util
import json
import pathlib
import sys
from fractions import Fraction


# Cells of order 1 that a cell is looked at as, by dimension and number of nodes (XDMF's order). Only their boundary counts:
# the middle of the tetrahedron may be split anyhow.
CELLS = {2: {3: [(0, 1, 2)], 6: [(0, 3, 5), (3, 1, 4), (5, 4, 2), (3, 4, 5)]},
         3: {4: [(0, 1, 2, 3)],
             10: [(0, 4, 6, 7), (4, 1, 5, 8), (6, 5, 2, 9), (7, 8, 9, 3), (4, 6, 7, 8), (4, 5, 6, 8), (6, 7, 8, 9),
                  (5, 6, 8, 9)]}}


class Hdf5:
    """Reads whole datasets of doubles or integers."""

    def __init__(self):
        names = [ctypes.util.find_library(n) for n in ("hdf5", "hdf5_serial", "hdf5_openmpi")]
        names += [str(p) for p in sorted(pathlib.Path("/usr/lib").glob("*/libhdf5*.so*"))]
        for name in filter(None, names):
            try:
                self.lib = ctypes.CDLL(name)
                self.lib.H5open()
                break
            except (OSError, AttributeError):
                continue
        else:
            raise RuntimeError("no shared library of HDF5 was found")
        h = ctypes.c_int64
        for function, result, arguments in (
                ("H5Fopen", h, (ctypes.c_char_p, ctypes.c_uint, h)), ("H5Dopen2", h, (h, ctypes.c_char_p, h)),
                ("H5Dget_space", h, (h,)), ("H5Sget_simple_extent_npoints", h, (h,)), ("H5Fclose", ctypes.c_int, (h,)),
                ("H5Dread", ctypes.c_int, (h, h, h, h, h, ctypes.c_void_p)), ("H5Dclose", ctypes.c_int, (h,))):
            getattr(self.lib, function).restype = result
            getattr(self.lib, function).argtypes = arguments
        self.types = {float: (h.in_dll(self.lib, "H5T_NATIVE_DOUBLE_g").value, ctypes.c_double),
                      int: (h.in_dll(self.lib, "H5T_NATIVE_LLONG_g").value, ctypes.c_longlong)}

    def read(self, path, name, kind, rows):
        lib = self.lib
        file = lib.H5Fopen(str(path).encode(), 0, 0)
        if file < 0:
            raise OSError(f"cannot open {path}")
        data = lib.H5Dopen2(file, name.encode(), 0)
        if data < 0:
            lib.H5Fclose(file)
            raise OSError(f"{path} holds no {name}")
        count = lib.H5Sget_simple_extent_npoints(lib.H5Dget_space(data))
        type_id, type_c = self.types[kind]
        buffer = (type_c * count)()
        failed = lib.H5Dread(data, type_id, 0, 0, 0, buffer) < 0
        lib.H5Dclose(data)
        lib.H5Fclose(file)
        if failed:
            raise OSError(f"cannot read {name} of {path}")
        values, columns = list(buffer), count // rows
        return [tuple(values[i:i + columns]) for i in range(0, count, columns)]


def det(rows):
    if len(rows) == 2:
        return rows[0][0] * rows[1][1] - rows[0][1] * rows[1][0]
    (a, b, c), (d, e, f), (g, h, i) = rows
    return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)


def orient(*points):
    """Sign of the simplex of d + 1 points, exact."""
    rows = [[x - y for x, y in zip(p, points[0])] for p in points[1:]]
    value = det(rows)
    bound = 1e-12
    for row in rows:
        bound *= max(map(abs, row)) + max(map(abs, points[0])) * 1e-3
    if abs(value) > bound:
        return 1 if value > 0 else -1
    exact = [[Fraction(x) for x in p] for p in points]
    value = det([[x - y for x, y in zip(p, exact[0])] for p in exact[1:]])
    return (value > 0) - (value < 0)


def segments_meet(a, b, c, d):
    return orient(a, b, c) * orient(a, b, d) < 0 and orient(c, d, a) * orient(c, d, b) < 0


def segment_meets_triangle(p, q, a, b, c):
    if orient(p, a, b, c) * orient(q, a, b, c) >= 0:
        return False
    signs = {orient(p, q, a, b), orient(p, q, b, c), orient(p, q, c, a)}
    return signs in ({1}, {-1})


def boundary(cells):
    faces = collections.Counter()
    kept = {}
    for cell in cells:
        for i in range(len(cell)):
            face = cell[:i] + cell[i + 1:]
            faces[tuple(sorted(face))] += 1
            kept[tuple(sorted(face))] = face
    return [kept[key] for key, count in faces.items() if count == 1]


def box(points):
    return [(min(x), max(x)) for x in zip(*points)]


def crossings(x, edges, faces):
    """Edges and faces (3D) or edges and edges (2D) without common vertex that cross properly."""
    items = sorted([(box([x[v] for v in e]), 0, e) for e in edges] + [(box([x[v] for v in f]), 1, f) for f in faces],
                   key=lambda item: item[0][0][0])
    active, count = ([], []), 0
    for bounds, kind, vertices in items:
        other = active[1 - kind]
        other[:] = [entry for entry in other if entry[0][0][1] >= bounds[0][0]]
        for entry in other:
            if any(l > bh or bl > h for (l, h), (bl, bh) in zip(entry[0][1:], bounds[1:])) or set(vertices) & set(entry[1]):
                continue
            e, f = (vertices, entry[1]) if kind == 0 else (entry[1], vertices)
            points = [x[v] for v in e + f]
            count += segments_meet(*points) if len(points) == 4 else segment_meets_triangle(*points)
        active[kind].append((bounds, vertices))
    return count


def check(folder):
    """Text of what is wrong, "" if nothing is."""
    folder = pathlib.Path(folder)
    trajectory = folder / "trajectory"
    manifest = json.loads((trajectory / "manifest.json").read_text())
    scene = json.loads((folder / "scene.json").read_text())
    dim, hdf5 = manifest["metadata"]["dim"], Hdf5()
    rows = {a["name"]: a["rows"] for a in manifest["mesh"]["arrays"]}
    rest = [p[:dim] for p in hdf5.read(trajectory / "mesh.h5", "/coordinates", float, rows["coordinates"])]
    cells = hdf5.read(trajectory / "mesh.h5", "/connectivity", int, rows["connectivity"])
    if any(v >= len(rest) for cell in cells for v in cell) or len(cells[0]) not in CELLS[dim]:
        return ""  # orders that are mixed or above 2
    cells = [tuple(cell[k] for k in part) for cell in cells for part in CELLS[dim][len(cell)]]
    faces = boundary(cells)
    edges = faces if dim == 2 else sorted({tuple(sorted((f[i], f[i - 1]))) for f in faces for i in range(3)})
    planes = [(g["point"][:dim], g["normal"][:dim]) for g in scene["geometry"] if g.get("type") == "plane"]
    materials = scene["materials"] if isinstance(scene["materials"], list) else [scene["materials"]]
    linear = any("Linear" in m["type"] for m in materials) or "space" in scene
    sign = [orient(*(rest[v] for v in cell)) for cell in cells]
    wrong = []
    for file in manifest["files"]:
        for state in file["states"]:
            if state["kept"] != "stored":
                continue
            u = hdf5.read(trajectory / file["name"], f"/states/{state['id']}/u", float, len(rest))
            x = [tuple(a + b for a, b in zip(p, d)) for p, d in zip(rest, u)]
            if any(c != c or abs(c) == float("inf") for p in x for c in p):
                wrong.append(f"state {state['id']}: not finite")
                continue
            found = crossings(x, edges, faces)
            below = sum(sum(n * (a - b) for n, a, b in zip(normal, p, point)) < 0 for point, normal in planes
                        for p in {x[v] for f in faces for v in f})
            inverted = 0 if linear else sum(orient(*(x[v] for v in c)) != s for c, s in zip(cells, sign))
            if found or below or inverted:
                wrong.append(f"state {state['id']}: {found} crossings, {below} vertices beyond planes, {inverted} "
                             "inverted cells")
    return "; ".join(wrong)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="RUN_FOLDER")
    result = check(parser.parse_args().folder)
    print(result or "nothing wrong")
    sys.exit(1 if result else 0)
