"""Tests of scripts/render.py and what it is made of. Ends with 77 (skipped) where h5py or matplotlib is missing."""

import contextlib
import io
import json
import struct
import sys
import tempfile
import unittest
from pathlib import Path

try:
    import h5py  # noqa: F401
    import matplotlib.image
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
sys.path.insert(0, str(SCRIPTS))
import made_up_run
import render
from drawing import mesh_files, obstacles, raster, spheres, surface
from drawing.trajectory import Trajectory
from recoil_run import FolderError


class Surface(unittest.TestCase):
    def test_boundary_of_a_box_is_closed_and_outward(self):
        points, cells = made_up_run.box((3, 2, 4), (1.0, 2.0, 3.0))
        triangles, sides = surface.boundary(points, {"Tetrahedron": cells})
        self.assertEqual(len(triangles), 4 * (3 * 2 + 3 * 4 + 2 * 4))
        self.assertTrue(sides.all())
        a, b, c = (points[triangles[:, i]] for i in range(3))
        self.assertAlmostEqual(np.einsum("ij,ij->", a, np.cross(b, c)) / 6, 6.0)
        self.assertEqual(len(surface.feature_edges(points, triangles)), 4 * (3 + 2 + 4))

    def test_quadratic_cell(self):
        corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
        pairs = [(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)]
        points = np.concatenate([corners, [(corners[i] + corners[j]) / 2 for i, j in pairs]])
        triangles, sides = surface.boundary(points, {"Tetrahedron_10": np.arange(10)[None]})
        self.assertEqual(len(triangles), 16)
        a, b, c = (points[triangles[:, i]] for i in range(3))
        self.assertAlmostEqual(np.einsum("ij,ij->", a, np.cross(b, c)), 1.0)
        areas = np.linalg.norm(surface.face_normals(points, triangles), axis=1) / 2
        self.assertAlmostEqual(areas.sum(), 1.5 + np.sqrt(3) / 2)
        # Four sides of triangles in every face lie inside it: each seen twice but the three of the middle one.
        self.assertEqual((~sides).sum(), 4 * 6)

    def test_normals_break_at_creases_only(self):
        points, cells = made_up_run.box((2, 2, 2), (1.0, 1.0, 1.0))
        triangles, _ = surface.boundary(points, {"Tetrahedron": cells})
        normals = surface.corner_normals(points, triangles, surface.corner_groups(points, triangles))
        flat = surface.face_normals(points, triangles)
        flat /= np.linalg.norm(flat, axis=1, keepdims=True)
        np.testing.assert_allclose(normals, np.repeat(flat[:, None], 3, axis=1), atol=1e-12)


class Raster(unittest.TestCase):
    def test_nearest_wins_whatever_the_order(self):
        points = np.array([[0, 0, 0], [40, 0, 0], [0, 40, 0], [0, 0, 5], [20, 0, 5], [0, 20, 5.0]])
        for triangles in ([[0, 1, 2], [3, 4, 5]], [[3, 4, 5], [0, 2, 1]]):
            face, _, depth = raster.rasterise(points, np.array(triangles), 40, 40)
            near = [i for i, t in enumerate(triangles) if 3 in t][0]
            self.assertEqual(face[5, 5], near)
            self.assertEqual(face[15, 15], 1 - near)
            self.assertEqual(face[35, 35], -1)
            self.assertAlmostEqual(depth[5, 5], 5)
            self.assertAlmostEqual((face >= 0).sum(), 800, delta=40)

    def test_interpolation(self):
        points = np.array([[0, 0, 0], [40, 0, 40], [0, 40, 80.0]])
        _, _, depth = raster.rasterise(points, np.array([[0, 1, 2]]), 40, 40)
        self.assertAlmostEqual(depth[10, 20], 20.5 + 2 * 10.5)

    def test_view_axes_are_rotations(self):
        for up in (1, 2):
            axes = raster.view_axes(-60, 22, up)
            np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-14)
            self.assertAlmostEqual(np.linalg.det(axes), 1)
            self.assertGreater(axes[1, up], 0.9)
            self.assertAlmostEqual(axes[0, up], 0)


class Polylines(unittest.TestCase):
    def test_segments_of_an_obj_file_move_with_their_entry(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "floor.obj"
            file.write_text("v 0 0 0\nv 1 0\nv 1 2 0\nl 1 2 3\nl -1 1\nf 1 2 3\n")
            entry = {"mesh": str(file), "is_obstacle": True, "surface_selection": 4,
                     "transformation": {"rotation": 90, "translation": [1, 0]}}
            moving = {"id": 4, "value": ["t", 0]}
            scene = {"geometry": [entry, {**entry, "is_obstacle": False}, {**entry, "mesh": str(file) + ".gone.obj"}],
                     "boundary_conditions": {"obstacle_displacements": [moving]}}
            (found,) = obstacles.polylines(scene)
        np.testing.assert_array_equal(found.elements, [[0, 1], [1, 2], [2, 0]])
        np.testing.assert_allclose(found.at(0.5), [[1.5, 0, 0], [1.5, 1, 0], [-0.5, 1, 0]], atol=1e-12)


class Planes(unittest.TestCase):
    def test_planes_are_drawn_where_they_are(self):
        wall = {"type": "plane", "is_obstacle": True, "point": [0.5, 0, 0], "normal": [1, 0, 0], "surface_selection": 2}
        scene = {"geometry": [wall, {**wall, "surface_selection": 3}],
                 "boundary_conditions": {"obstacle_displacements": [{"id": 2, "value": ["0.25*t*x", "t", 0]}]}}
        moving, resting = obstacles.planes(scene, np.zeros(3), np.ones(3))
        np.testing.assert_allclose(moving.at(2.0) - moving.at(0.0), np.tile([0.25, 2, 0], (4, 1)))
        np.testing.assert_allclose(moving.at(2.0)[:, 0], 0.75)
        np.testing.assert_array_equal(resting.at(2.0), resting.at(0.0))


class MeshFiles(unittest.TestCase):
    def read(self, name, content):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / name
            file.write_bytes(content if isinstance(content, bytes) else content.encode())
            points, triangles = mesh_files.read(str(file))
        triangles = np.array(triangles)
        a, b, c = (points[triangles[:, i]] for i in range(3))
        return len(triangles), np.einsum("ij,ij->", a, np.cross(b, c)) / 6

    def test_the_same_box_from_every_format(self):
        points, cells = made_up_run.box((2, 1, 1), (2.0, 1.0, 0.5))
        triangles, _ = surface.boundary(points, {"Tetrahedron": cells})
        rows = [(*map(float, p),) for p in points]
        obj = "".join("v %r %r %r\n" % p for p in rows) + "".join("f %d//1 %d %d\n" % tuple(t + 1) for t in triangles)
        text = "solid box\n" + "".join("facet normal 0 0 0\nouter loop\n" + "".join("vertex %r %r %r\n" % rows[k] for k in t) + "endloop\nendfacet\n"
                                      for t in triangles)
        binary = bytes(80) + struct.pack("<I", len(triangles)) + b"".join(struct.pack("<12fH", 0, 0, 0, *points[t].ravel(), 0) for t in triangles)
        nodes = "$Nodes\n%d\n" % len(rows) + "".join("%d %r %r %r\n" % (n + 1, *p) for n, p in enumerate(rows)) + "$EndNodes\n"
        solid = "$Elements\n%d\n" % len(cells) + "".join("%d 4 2 0 1 %d %d %d %d\n" % (n + 1, *(c + 1)) for n, c in enumerate(cells)) + "$EndElements\n"
        msh2 = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n" + nodes + solid
        nodes = "$Nodes\n1 %d 1 %d\n2 1 0 %d\n" % ((len(rows),) * 3) + "".join("%d\n" % (n + 1) for n in range(len(rows))) + \
            "".join("%r %r %r\n" % p for p in rows) + "$EndNodes\n"
        hull = "$Elements\n1 %d 1 %d\n2 1 2 %d\n" % ((len(triangles),) * 3) + "".join("%d %d %d %d\n" % (n + 1, *(t + 1)) for n, t in enumerate(triangles))
        msh4 = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n" + nodes + hull + "$EndElements\n"
        for name, content in (("a.obj", obj), ("a.stl", text), ("b.STL", binary), ("a.msh", msh2), ("b.msh", msh4)):
            with self.subTest(name):
                count, volume = self.read(name, content)
                self.assertEqual(count, len(triangles))
                self.assertAlmostEqual(volume, 1.0)

    def test_what_cannot_be_read_shows_nothing(self):
        for path in ("gone.stl", "a.meshb"):
            self.assertEqual(len(mesh_files.read(path)[1]), 0)

    def test_transformations_are_those_of_scenes(self):
        rest = np.array([[0, 0, 0], [1, 2, 3.0]])
        quarter = {"axis_angle": [90, 0, 0, 2], "rotation_vector": [0, 0, 90], "quaternion": [0, 0, 0.5 ** 0.5, 0.5 ** 0.5], "xyz": [0, 0, 90]}
        for mode, rotation in quarter.items():
            found = obstacles._transformed(rest, {"rotation": rotation, "rotation_mode": mode, "translation": [0, 0, 1], "scale": 2})
            np.testing.assert_allclose(found, [[0, 0, 1], [-4, 2, 7]], atol=1e-12)
        np.testing.assert_allclose(obstacles._transformed(rest, {"rotation": [90, 90, 0], "rotation_mode": "xyz"})[1], [2, -3, -1], atol=1e-12)
        np.testing.assert_allclose(obstacles._transformed(rest, {"rotation": [90, 90, 0], "rotation_mode": "yx"})[1], [3, 1, 2], atol=1e-12)
        np.testing.assert_allclose(obstacles._transformed(rest, {"dimensions": [2, 2, 2]})[1], [2, 2, 2])


def layer_of(points):
    """0 at the surface of a lattice in a block."""
    return np.round(np.minimum(points, points.max(0) - points).min(1) * 2 ** 0.5)


class Spheres(unittest.TestCase):
    def test_those_deep_inside_are_hidden(self):
        points, bonds = made_up_run.lattice((5, 5, 5))
        seen = spheres.visible(len(points), bonds, np.ones(len(bonds), bool))
        np.testing.assert_array_equal(seen, np.flatnonzero(layer_of(points) <= spheres.LAYERS))
        cut = points[bonds[:, 0], 0] == points[bonds[:, 1], 0]
        np.testing.assert_array_equal(spheres.visible(len(points), bonds, cut), np.arange(len(points)))
        # Also at the surface of a body in which second neighbours are bonded, particles have more than twelve.
        points, bonds = made_up_run.lattice((3, 3, 3), reach=1.5)
        self.assertGreater(np.bincount(bonds.ravel())[layer_of(points) == 0].max(), 12)
        self.assertTrue(set(np.flatnonzero(layer_of(points) == 0)) <= set(spheres.visible(len(points), bonds, np.ones(len(bonds), bool))))

    def test_cylinders_have_their_length_and_radius(self):
        starts, ends = np.array([[0, 0, 0], [1, 1, 1.0]]), np.array([[0, 0, 2], [2, 3, 3.0]])
        points, triangles, normals = spheres.cylinders(starts, ends, np.array([0.1, 0.2]), sides=64)
        areas = np.linalg.norm(surface.face_normals(points, triangles), axis=1).reshape(2, -1).sum(1) / 2
        np.testing.assert_allclose(areas, 2 * np.pi * np.array([0.1 * 2, 0.2 * 3]), rtol=1e-3)
        self.assertAlmostEqual(np.abs(np.linalg.norm(normals, axis=2) - 1).max(), 0)
        outward = np.einsum("ti,ti->t", surface.face_normals(points, triangles), normals.mean(1))
        self.assertTrue((outward > 0).all() or (outward < 0).all())


WIDTH = 320  # of pictures of particles and bonds, most of whose time goes by their pixels


class Render(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.run_folder = Path(self.folder.name) / "run"

    def tearDown(self):
        self.folder.cleanup()

    def render(self, *options):
        arguments, sys.argv = sys.argv, ["render.py", str(self.run_folder), *map(str, options)]
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                render.main()
        finally:
            sys.argv = arguments

    def picture(self, *options):
        file = Path(self.folder.name) / "picture.png"
        self.render("-o", file, "--width", 480, *options)
        image = matplotlib.image.imread(file)[:, :, :3]
        self.assertEqual(image.shape[1], 480)
        # Saturated pixels above the colour bar: the body.
        coloured = (np.ptp(image, axis=2) > 0.2)[: image.shape[0] - 85]
        self.assertGreater(coloured.mean(), 0.08)
        return image, coloured

    def test_three_dimensions(self):
        made_up_run.twisted_bar(self.run_folder, states=3, divisions=(12, 3, 3))
        still, _ = self.picture("--step", 0)
        moved, _ = self.picture("--step", -1)
        self.assertGreater(np.abs(still - moved).mean(), 0.01)
        self.picture("--times", 3, "--summary")
        self.picture("--field", "energy", "--time", 0.9)

    def test_mixed_topology_is_read_as_the_plain_one(self):
        points, cells, displacements = made_up_run.twisted_bar(self.run_folder, divisions=(4, 2, 2), mixed=True)
        trajectory = Trajectory(self.run_folder)
        np.testing.assert_array_equal(trajectory.cells["Tetrahedron"], cells)
        np.testing.assert_allclose(trajectory.states[2].u, displacements[2])
        self.assertEqual([state.time for state in trajectory.states], [0, 1, 2, 3, 4])

    def test_cell_fields_become_means(self):
        _, cells, _ = made_up_run.twisted_bar(self.run_folder, states=2, divisions=(2, 1, 1))
        trajectory = Trajectory(self.run_folder)
        node = trajectory.nodal(trajectory.states[0], "energy")
        mine = [np.mean([c for c in range(len(cells)) if n in cells[c]]) for n in range(len(node))]
        np.testing.assert_allclose(node, mine)

    def test_plane(self):
        x, y = np.meshgrid(np.linspace(0, 2, 9), np.linspace(0, 1, 5), indexing="ij")
        points = np.stack([x.ravel(), y.ravel()], 1)
        n = np.arange(45).reshape(9, 5)
        a, b, c, d = n[:-1, :-1].ravel(), n[1:, :-1].ravel(), n[1:, 1:].ravel(), n[:-1, 1:].ravel()
        cells = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])
        u = np.zeros_like(points)
        u[:, 1] = 0.2 * points[:, 0] ** 2
        made_up_run.write(self.run_folder, points, cells, "Triangle", [0 * u, u])
        self.assertEqual(Trajectory(self.run_folder).dim, 2)
        self.picture()

    def bonded(self, *options):
        """The picture without its colour bar and title, which pixels are of the body, and which of these are coloured."""
        file = Path(self.folder.name) / "bonded.png"
        self.render("-o", file, "--width", WIDTH, *options)
        image = matplotlib.image.imread(file)[40:, :, :3][:-90]
        return image, image.min(axis=2) < 0.99, np.ptp(image, axis=2) > 0.2

    def test_bonds_by_their_stress(self):
        made_up_run.broken_block(self.run_folder)
        _, body, coloured = self.bonded("--field", "sigma", "--step", 0)
        self.assertGreater(coloured.sum(), 0.4 * body.sum())
        _, hidden, _ = self.bonded("--field", "sigma")
        _, shown, _ = self.bonded("--field", "sigma", "--broken")
        middle = slice(body.shape[1] * 9 // 20, body.shape[1] * 11 // 20)
        self.assertGreater(shown[:, middle].sum(), hidden[:, middle].sum() + 100)

    def test_bonds_that_hold_are_grey_where_a_field_tells_of_breaking(self):
        made_up_run.broken_block(self.run_folder)
        for field in ("broken_at", "broken_by", "broken"):
            image, body, coloured = self.bonded("--field", field)
            self.assertTrue(0.01 < coloured.sum() / body.sum() < 0.5, coloured.sum() / body.sum())
            self.assertGreater(np.median(image[body & ~coloured].mean(axis=1)), 0.3)
        image, body, coloured = self.bonded("--field", "broken_at", "--step", 0)
        self.assertLess(coloured.sum(), 0.01 * body.sum())
        self.assertGreater(np.median(image[body].mean(axis=1)), 0.3)

    def test_no_background_between_spheres(self):
        made_up_run.broken_block(self.run_folder, cells=(4, 4, 4))
        # Along a row of the lattice one sees through it.
        for view, closed in (((20, 10), True), ((45, 0), False)):
            _, body, _ = self.bonded("--step", 0, "--view", *view)
            rows, columns = np.nonzero(body)
            window = [slice(int(n.min() + 0.3 * np.ptp(n)), int(n.max() - 0.3 * np.ptp(n))) for n in (rows, columns)]
            self.assertEqual(body[tuple(window)].all(), closed, view)
            # Whole spheres, whatever the view.
            self.assertGreater(min(rows.min(), columns.min()), 3)
            self.assertLess(columns.max(), WIDTH - 4)

    def test_obstacles_of_mesh_files_are_drawn(self):
        made_up_run.broken_block(self.run_folder)
        (self.run_folder / "edge.obj").write_text("v 0 0 0\nv 2 0 0\nv 0 2 0\nv 0 0 2\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
        _, without, _ = self.bonded("--step", 0)
        entry = {"mesh": str(self.run_folder / "edge.obj"), "is_obstacle": True, "transformation": {"translation": [0, -6, 0]}}
        (self.run_folder / "scene.json").write_text(json.dumps({"geometry": [entry]}))
        _, beside, _ = self.bonded("--step", 0)
        self.assertFalse(without.shape == beside.shape and (without == beside).all())

    def test_wrong_requests_are_refused_by_name(self):
        with self.assertRaisesRegex(FolderError, "run folder"):
            self.render()
        made_up_run.twisted_bar(self.run_folder, states=2, divisions=(2, 1, 1))
        with self.assertRaisesRegex(FolderError, "energy, u"):
            self.render("--field", "stresss")
        with self.assertRaisesRegex(SystemExit, "states 0 to 1"):
            self.render("--step", 7)


if __name__ == "__main__":
    unittest.main()
