"""Tests of scripts/render.py and what it is made of. Ends with 77 (skipped) where h5py or matplotlib is missing."""

import contextlib
import io
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
from drawing import obstacles, raster, surface
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
