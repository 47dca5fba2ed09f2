"""Tests of scripts/starts.py."""

import contextlib
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import starts


def study():
    return {"experiments": {"name": "drop", "scene": "drop.json"},
            "parameters": [{"name": "E", "initial": {"value": 1e5, "unit": "Pa"}, "bounds": [1e3, 1e7], "scale": "log"},
                           {"name": "v", "initial": [1, 0], "bounds": [-2, 2]}, {"name": "free", "initial": 3},
                           {"name": "tied", "tie": "E", "bounds": [0, 1]}, {"name": "field", "initial": {"file": "E.h5", "dataset": "E"}, "bounds": [1, 2]}],
            "objectives": {"target": "seen.csv"}, "other": {"target": [1, 2]}}


class Draw(unittest.TestCase):
    def test_seeds_repeat_and_differ(self):
        self.assertEqual(starts.draw(study(), 3), starts.draw(study(), 3))
        self.assertNotEqual(starts.draw(study(), 3), starts.draw(study(), 4))
        self.assertEqual(starts.draw(study(), 0), study())

    def test_drawn_are_values_with_bounds(self):
        logarithms = []
        for seed in range(1, 400):
            modulus, velocity, *others = starts.draw(study(), seed)["parameters"]
            self.assertTrue(1e3 <= modulus["initial"] <= 1e7)
            self.assertTrue(all(-2 <= v <= 2 for v in velocity["initial"]))
            self.assertNotEqual(*velocity["initial"])
            self.assertEqual(others, study()["parameters"][2:])
            logarithms.append(starts.math.log10(modulus["initial"]))
        # Evenly in the logarithm: mean 5, deviation of the mean 0.06.
        self.assertAlmostEqual(sum(logarithms) / len(logarithms), 5, delta=0.25)


class Files(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name).resolve()

    def tearDown(self):
        self.temporary.cleanup()

    def call(self, *arguments):
        given, sys.argv = sys.argv, ["starts.py", *map(str, arguments)]
        try:
            with contextlib.redirect_stdout(io.StringIO()) as text:
                starts.main()
        finally:
            sys.argv = given
        return text.getvalue()

    def test_paths_become_absolute(self):
        (self.folder / "study.json").write_text(json.dumps(study()))
        self.call("draw", self.folder / "study.json", 0, "-o", self.folder / "new.json")
        drawn = json.loads((self.folder / "new.json").read_text())
        self.assertEqual(drawn["experiments"]["scene"], str(self.folder / "drop.json"))
        self.assertEqual(drawn["objectives"]["target"], str(self.folder / "seen.csv"))
        self.assertEqual(drawn["other"]["target"], [1, 2])
        with self.assertRaisesRegex(SystemExit, "cannot read the study"):
            self.call("draw", self.folder / "none.json", 0, "-o", self.folder / "new.json")

    def test_the_best_comes_first(self):
        for name, result in (("a", {"status": "done", "objective": 2.0, "parameters": {"E": {"value": 7}}}),
                             ("b", {"status": "failed", "reason": "no solution"}), ("c", {"status": "done", "reason": "", "objective": 1.0})):
            (self.folder / name).mkdir()
            (self.folder / name / "fit.json").write_text(json.dumps(result))
        lines = self.call("list", self.folder).splitlines()
        self.assertEqual([Path(line.split()[1]).name for line in lines], ["c", "a", "b"])
        self.assertIn("E 7", lines[1])
        self.assertIn("failed: no solution", lines[2])


if __name__ == "__main__":
    unittest.main()
