"""Obstacles of a run, from its resolved scene: infinite planes, and generated boxes, balls, disks and cylinders, surfaces of
mesh files and polylines of OBJ files with their prescribed motion."""

import numpy as np

from drawing import formulas, mesh_files


def _evaluate(formula, points, time):
    """A scene's formula at the rest positions; 0 where it uses what is not known here, or has no finite value."""
    if isinstance(formula, str):
        x, y, z = points.T
        try:
            formula = formulas.evaluate(formula, {"x": x, "y": y, "z": z, "t": time})
        except formulas.NoFormula:
            formula = 0.0
    return np.broadcast_to(np.nan_to_num(np.asarray(formula, float), posinf=0, neginf=0), len(points))


def _box(size):
    points = np.array([[i, j, k] for k in (-0.5, 0.5) for j in (-0.5, 0.5) for i in (-0.5, 0.5)]) * size
    quads = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    return points, [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]


def _grid(rows, columns):
    """Triangles between rows of points, columns closed."""
    return [t for i in range(rows - 1) for j in range(columns)
            for a, b in [(i * columns + j, i * columns + (j + 1) % columns)]
            for t in ((a, b, b + columns), (a, b + columns, a + columns))]


def _turned(profile, columns=16):
    """Surface of revolution about z of (radius, z) rows."""
    angle = np.arange(columns) * 2 * np.pi / columns
    points = [[r * np.cos(a), r * np.sin(a), z] for r, z in profile for a in angle]
    return np.array(points), _grid(len(profile), columns)


def _generated(generator):
    """Points (n, 3) and triangles; in 2D triangles that fill the shape."""
    kind = generator["type"]
    if kind in ("box", "plate"):
        return _box(np.array(generator["size"]))
    if kind == "rectangle":
        points, _ = _box(np.array([*generator["size"], 0]))
        return points[:4], [(0, 1, 3), (0, 3, 2)]
    if kind == "disk":
        angle = np.arange(48) * np.pi / 24
        points = generator["radius"] * np.stack([np.cos(angle), np.sin(angle), 0 * angle], 1)
        return points, [(0, i, i + 1) for i in range(1, 47)]
    if kind == "cylinder":
        r, h = generator["radius"], generator["height"] / 2
        return _turned([(r, -h), (r, h)])
    angle = np.linspace(-0.45 * np.pi, 0.45 * np.pi, 10)
    return _turned([(generator["radius"] * np.cos(a), generator["radius"] * np.sin(a)) for a in angle], 20)


def _about(axis, degrees):
    """Rotation about a vector."""
    x, y, z = np.asarray(axis, float) / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    angle = np.radians(degrees)
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def _rotation(given, mode):
    """As docs/scene.md has it."""
    if len(given) == 0 or not np.any(given):
        return np.eye(3)
    if mode == "axis_angle":
        return _about(given[1:], given[0])
    if mode == "rotation_vector":
        return _about(given, np.linalg.norm(given))
    if mode == "quaternion":
        return _about(given[:3], np.degrees(2 * np.arctan2(np.linalg.norm(given[:3]), given[3]))) if np.any(given[:3]) else np.eye(3)
    if len(given) == 1:  # in 2D
        return _about([0, 0, 1] if len(mode) > 1 else np.eye(3)["xyz".index(mode)], given[0])
    rotation = np.eye(3)
    for letter in mode:
        axis = "xyz".index(letter)
        rotation = _about(np.eye(3)[axis], given[axis]) @ rotation
    return rotation


def _transformed(points, transformation):
    extent = np.ptp(points, axis=0)
    scale = np.atleast_1d(transformation.get("scale", 1)).astype(float)
    scale = scale if len(scale) == 3 else np.full(3, scale[0])
    if isinstance(transformation.get("dimensions"), list):
        wanted = (transformation["dimensions"] + [1, 1, 1])[:3]
        scale = np.array(wanted) / np.where(extent > 0, extent, 1)
    given = np.atleast_1d(transformation.get("rotation") or [])
    rotation = _rotation(given, transformation.get("rotation_mode", "xyz").lower())
    shift = list(transformation.get("translation") or [])
    return (points * scale) @ rotation.T + np.array((shift + [0, 0, 0])[:3])


class Obstacle:
    """rest: points (n, 3); elements: triangles (m, 3), or segments (m, 2)."""

    def __init__(self, rest, elements, motion=None):
        self.rest, self.elements, self.motion = rest, np.array(elements), motion

    def at(self, time):
        if self.motion is None:
            return self.rest
        moved = self.rest.copy()
        for i, formula in enumerate(self.motion[:3]):
            moved[:, i] += _evaluate(formula, self.rest, time)
        return moved


def _motion(entry, conditions):
    selection = entry.get("surface_selection")
    if isinstance(selection, dict):
        selection = selection.get("id")
    for name in ("obstacle_displacements", "dirichlet_boundary"):
        listed = conditions.get(name) or []
        for condition in listed if isinstance(listed, list) else [listed]:
            ids = condition["id"] if isinstance(condition["id"], list) else [condition["id"]]
            if selection in ids and not any(isinstance(v, list) for v in condition["value"]):
                return condition["value"]
    return None


def _entries(scene):
    """`geometry` of a scene, empty where only the trajectory was copied."""
    geometry = scene.get("geometry", [])
    return geometry if isinstance(geometry, list) else [geometry]


def _of_kind(scene, key, shape):
    """Obstacles with a `key`, of which shape(entry[key]) gives points and elements."""
    conditions = scene.get("boundary_conditions") or {}
    return [Obstacle(_transformed(points, entry.get("transformation") or {}), elements, _motion(entry, conditions))
            for entry in _entries(scene) if entry.get("is_obstacle") and entry.get(key) and entry.get("enabled", True)
            for points, elements in [shape(entry[key])] if len(elements)]


def meshes(scene):
    """Obstacles of a resolved scene that are surfaces."""
    return _of_kind(scene, "generator", _generated) + _of_kind(scene, "mesh", mesh_files.read)


def polylines(scene):
    """Obstacles of a resolved scene that are polylines of OBJ files."""
    return _of_kind(scene, "mesh", mesh_files.segments)


class Plane:
    """A patch of a plane: corners (n, 3) of a quad, or ends (2, 2) of a line, where the plane begins, and its normal."""

    def __init__(self, corners, normal, point, motion):
        self.corners, self.normal, self.carrier = corners, normal, Obstacle(point[None], [], motion)

    def at(self, time):
        """The corners, moved as the point of the plane is."""
        return self.corners + (self.carrier.at(time) - self.carrier.rest)[:, :self.corners.shape[1]]


def planes(scene, low, high):
    """Patches of the infinite planes beside the box (low, high), as long as the box."""
    conditions = scene.get("boundary_conditions") or {}
    dim, size = len(low), np.linalg.norm(high - low)
    corners = np.array(np.meshgrid(*zip(low, high))).reshape(dim, -1).T
    patches = []
    for entry in _entries(scene):
        if entry.get("type") != "plane" or not entry.get("enabled", True):
            continue
        point, normal = np.array(entry["point"], float)[:dim], np.array(entry["normal"], float)[:dim]
        normal /= np.linalg.norm(normal)
        if abs((corners - point) @ normal).min() > size:
            continue
        if dim == 2:
            axes = np.array([[-normal[1], normal[0]]])
        else:
            a = np.cross([0, 1.0, 0] if abs(normal[1]) < 0.9 else [0, 0, 1.0], normal)
            a /= np.linalg.norm(a)
            axes = np.array([a, np.cross(normal, a)])
        along = (corners - point) @ axes.T
        first, last = along.min(0) - 0.05 * size, along.max(0) + 0.05 * size
        ends = np.array([first, last] if dim == 2 else [first, (last[0], first[1]), last, (first[0], last[1])])
        patches.append(Plane(point + ends @ axes, normal, np.array([*entry["point"], 0][:3], float), _motion(entry, conditions)))
    return patches
