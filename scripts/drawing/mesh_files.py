"""Surfaces in the mesh files of obstacles: OBJ, STL and Gmsh files in text. Of other files, and of those that are not there any more, nothing."""

import os

import numpy as np

from drawing import surface

NOTHING = np.zeros((0, 3)), []


def read(path):
    """Points (n, 3) and triangles of what a file shows from outside."""
    reader = {".obj": _obj, ".stl": _stl, ".msh": _msh}.get(os.path.splitext(path)[1].lower())
    if reader is None or not os.path.isfile(path):
        return NOTHING
    return reader(path)


def segments(path):
    """Points and segments of the polylines of an OBJ file."""
    if not path.endswith(".obj") or not os.path.isfile(path):
        return NOTHING
    points, lines, _ = _obj_lists(path)
    return points, [pair for line in lines for pair in zip(line, line[1:])]


def _obj_lists(path):
    points, lines, faces = [], [], []
    with open(path) as file:
        for words in (line.split() for line in file):
            if words[:1] == ["v"]:
                points.append([float(word) for word in words[1:4]])
            elif words[:1] in (["l"], ["f"]):
                ends = [int(word.split("/")[0]) for word in words[1:]]
                (lines if words[0] == "l" else faces).append([end - 1 if end > 0 else len(points) + end for end in ends])
    return np.array([(*point, 0)[:3] for point in points]).reshape(-1, 3), lines, faces


def _obj(path):
    points, _, faces = _obj_lists(path)
    return points, [face for face in faces if len(face) == 3]


def _stl(path):
    with open(path, "rb") as file:
        content = file.read()
    count = int.from_bytes(content[80:84], "little")
    if len(content) == 84 + 50 * count:
        facets = np.frombuffer(content, np.dtype([("numbers", "<f4", 12), ("tail", "<u2")]), count, 84)
        corners = facets["numbers"][:, 3:].reshape(-1, 3).astype(float)
    else:
        rows = (line.split() for line in content.decode(errors="replace").splitlines())
        corners = np.array([row[1:4] for row in rows if row[:1] == ["vertex"]], dtype=float).reshape(-1, 3)
    points, number = np.unique(corners, axis=0, return_inverse=True)
    return points, number.reshape(-1, 3).tolist()


def _msh(path):
    """Versions 2.2 and 4.1."""
    with open(path, "rb") as file:
        text = file.read()
    sections = {}
    for part in text.decode(errors="replace").split("$End")[:-1]:
        name, _, body = part[part.rindex("$") + 1:].partition("\n") if "$" in part else ("", "", "")
        sections[name.strip()] = [row.split() for row in body.splitlines() if row.strip()]
    version = sections.get("MeshFormat", [["0", "1"]])[0]
    if version[1] != "0" or not {"Nodes", "Elements"} <= sections.keys():
        return NOTHING
    places, elements = (_msh2 if version[0].startswith("2") else _msh4)(sections["Nodes"], sections["Elements"])
    number = {tag: k for k, tag in enumerate(places)}
    cells = {nodes: np.array([[number[tag] for tag in element] for element in elements if len(element) == nodes]) for nodes in (4, 3)}
    points = np.array(list(places.values()), dtype=float)
    triangles = surface.boundary(points, {"Tetrahedron": cells[4]})[0] if len(cells[4]) else cells[3]
    return points, triangles.tolist()


NODES = {"2": 3, "4": 4}  # triangles and tetrahedra, by the type that Gmsh gives them


def _msh2(nodes, elements):
    return ({row[0]: row[1:4] for row in nodes[1:]},
            [row[3 + int(row[2]):] for row in elements[1:] if row[1] in NODES])


def _msh4(nodes, elements):
    places, found = {}, []
    at = 1
    while at < len(nodes):
        count = int(nodes[at][3])
        places.update((nodes[at + 1 + k][0], nodes[at + 1 + count + k][:3]) for k in range(count))
        at += 1 + 2 * count
    at = 1
    while at < len(elements):
        count = int(elements[at][3])
        if elements[at][2] in NODES:
            found += [row[1:] for row in elements[at + 1:at + 1 + count]]
        at += 1 + count
    return places, found
