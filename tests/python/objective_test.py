"""The objective of a study from Python: values and exact derivatives for the optimisers of others."""
import json
import unittest
from pathlib import Path

import numpy as np
import recoil
import scipy.optimize
from runs_test import Folder
from scenes import PATH, ball, study


class Objective(Folder):
    def setUp(self):
        super().setUp()
        Path("path.csv").write_text(PATH)
        self.opened = []

    def tearDown(self):
        for one in self.opened:
            one.close()
        super().tearDown()

    def open(self, *arguments, **changes):
        self.opened.append(recoil.ReducedObjective(*arguments or [study(**changes)]))
        return self.opened[-1]

    def test_names_start_and_bounds(self):
        f = self.open()
        self.assertEqual(f.names, ["E", "friction", "velocity[0]", "velocity[1]"])
        np.testing.assert_allclose(f.x0, [np.log(0.9e5), 0.25, 0.45, -1])
        np.testing.assert_allclose(f.lower, [np.log(2e4), 0, -np.inf, -np.inf])
        self.assertEqual(f.bounds[1], (0, 1))
        values = f.values(f.x0)
        self.assertAlmostEqual(values["E"], 0.9e5, places=6)
        np.testing.assert_array_equal(values["velocity"], [0.45, -1])
        np.testing.assert_allclose(f.variables(values), f.x0, rtol=1e-15)
        self.assertTrue(f.is_least_squares and f.is_chi_squared)
        self.assertRaises(recoil.InputError, f.variables, {"E": 1})

    def test_gradient_against_differences(self):
        f = self.open()
        x = f.x0 + [0.1, 0.02, 0.03, -0.05]
        scale = np.abs(f.gradient(x))
        error = scipy.optimize.check_grad(f.value, f.gradient, x, epsilon=1e-7)
        self.assertLess(error, 1e-4 * scale.max())
        for i in range(len(x)):
            step = 1e-5 * np.eye(len(x))[i]
            self.assertAlmostEqual((f.value(x + step) - f.value(x - step)) / 2e-5, f.gradient(x)[i], delta=1e-5 * scale.max())

    def test_residuals_and_jacobian(self):
        f = self.open()
        x = f.x0
        r, J = f.residuals(x), f.jacobian(x)
        self.assertEqual((r.shape, J.shape), ((7,), (7, 4)))  # two components at three times, and a prior
        self.assertAlmostEqual(r @ r / f.value(x), 1, places=12)
        np.testing.assert_allclose(2 * J.T @ r, f.gradient(x), rtol=1e-7, atol=1e-7 * np.abs(f.gradient(x)).max())
        h = 1e-5
        for i in range(len(x)):
            step = h * np.eye(len(x))[i]
            np.testing.assert_allclose((f.residuals(x + step) - f.residuals(x - step)) / (2 * h), J[:, i], atol=1e-6 * np.abs(J[:, i]).max())

    def test_the_same_x_gives_the_same_bits(self):
        f, g = self.open(), self.open()
        first = f.residuals(f.x0)
        f.value(f.x0 * 1.01)
        np.testing.assert_array_equal(f.residuals(f.x0), first)
        np.testing.assert_array_equal(g.residuals(f.x0), first)

    def test_scipy_finds_what_optimize_finds(self):
        given = study(optimizer={"starts": 1, "stop_at_noise": False, "gradient_tolerance": 1e-10})
        with recoil.ReducedObjective(given) as f:
            found = scipy.optimize.least_squares(f.residuals, f.x0, f.jacobian, bounds=(f.lower, f.upper), x_scale="jac", ftol=1e-14, xtol=1e-12, gtol=1e-12)
            values = f.values(found.x)
        fit = recoil.optimize(given, "fit").result
        self.assertAlmostEqual(2 * found.cost / fit["objective"], 1, places=6)
        for name in values:
            np.testing.assert_allclose(values[name], fit["parameters"][name]["value"], rtol=1e-6)

    def test_a_study_in_files(self):
        Path("ball.json").write_text(json.dumps(ball()))
        Path("study.json").write_text(json.dumps(study("ball.json")))
        f, g = self.open("study.json"), self.open()
        self.assertEqual(f.value(f.x0), g.value(g.x0))
        result = recoil.gradient("study.json", "gradient")
        self.assertAlmostEqual(result.result["objective"], f.value(f.x0) - f.residuals(f.x0)[-1]**2, places=8)
        self.assertEqual(len(result.run("throw").trajectory), 7)

    def test_scenes_with_values(self):
        f = self.open()
        x = f.x0 + [0.1, 0.05, 0, 0]
        f.write_scenes(x, "found")
        scene = json.loads(Path("found/throw.json").read_text())
        self.assertEqual(recoil.simulate(scene).status, "done")
        self.assertIn(f"{f.values(x)['E']:.6g}"[:6], json.dumps(scene["materials"]))

    def test_no_solution(self):
        scene = ball()
        scene["solver"]["nonlinear"]["max_iterations"] = 1
        scene["time"]["max_retries"] = 0
        f = self.open(study(scene))
        self.assertEqual(f.value(f.x0), np.inf)
        self.assertIn("experiment 'throw'", f.failure)
        with self.assertRaisesRegex(recoil.NoSolution, "experiment 'throw'"):
            f.gradient(f.x0)

    def test_no_sum_of_squares(self):
        f = self.open(objectives=[{"name": "height", "type": "height", "body": "ball", "axis": "y", "time": "final"}])
        self.assertFalse(f.is_least_squares)
        with self.assertRaisesRegex(recoil.StudyError, "use value"):
            f.residuals(f.x0)

    def test_wrong_studies(self):
        wrong = study()
        wrong["parameters"][0]["quantity"] = "young"
        with self.assertRaises(recoil.StudyError) as caught:
            recoil.ReducedObjective(wrong)
        self.assertEqual(caught.exception.pointer, "/parameters/0/quantity")
        wrong = study()
        wrong["experiments"][0]["scene"]["gravity"] = "down"
        with self.assertRaises(recoil.SceneError) as caught:
            recoil.ReducedObjective(wrong)
        self.assertEqual((caught.exception.file, caught.exception.pointer), ("<scene of experiment 0>", "/gravity"))

    def test_wrong_x(self):
        f = self.open()
        self.assertRaisesRegex(recoil.InputError, "3 entries", f.value, [1, 2, 3])
        self.assertRaisesRegex(recoil.InputError, "not a number", f.value, [1, np.nan, 0, 0])
        self.assertRaisesRegex(recoil.InputError, "not finite", f.value, [1, np.inf, 0, 0])
        self.assertRaisesRegex(recoil.InputError, "4 variables", f.values, [1, 2, 3])
        f.close()
        self.assertRaisesRegex(recoil.InputError, "closed", f.value, f.x0)

    def test_temporary_files_go(self):
        f = self.open()
        folder = Path(f._remove_folder.peek()[1].__self__.path)
        self.assertTrue(folder.is_dir())
        f.close()
        self.assertFalse(folder.exists())


if __name__ == "__main__":
    unittest.main()
