"""Tests of scripts/recoil_run.py on runs written by hand. Ends with 77 (skipped) where h5py is missing."""

import json
import sys
import tempfile
import unittest
import zlib
from pathlib import Path

try:
    import h5py
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import made_up_run
from recoil_run import Fit, FolderError, Gradient, Run, read_table, unit_name


class InFolder(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name) / "made"

    def tearDown(self):
        self.temporary.cleanup()

    def refused(self, words, kind, **options):
        with self.assertRaisesRegex(FolderError, words):
            kind(self.folder, **options)


class Runs(InFolder):
    def test_arrays(self):
        points, cells, displacements = made_up_run.twisted_bar(self.folder, divisions=(4, 2, 2))
        run = Run(self.folder)
        np.testing.assert_array_equal(run.mesh.points, points)
        np.testing.assert_array_equal(run.mesh.cells["Tetrahedron"], cells)
        np.testing.assert_array_equal(run.times, [0, 1, 2, 3, 4])
        np.testing.assert_array_equal(run.steps, [0, 1, 2, 3, 4])
        for state, u in zip(run, displacements):
            np.testing.assert_array_equal(state.u, u)
        self.assertEqual((len(run), run.states[0].fields(), run.states[0].centre("energy")), (5, ["energy", "u"], "cell"))
        self.assertEqual(run.states[0]["energy"].shape, (len(cells),))

    def test_plane_vectors_have_two_components(self):
        points, cells = np.array([[0, 0], [1, 0], [0, 1.0]]), np.array([[0, 1, 2]])
        made_up_run.write(self.folder, points, cells, "Triangle", [0.5 * points])
        np.testing.assert_array_equal(Run(self.folder).states[0].u, 0.5 * points)

    def test_orders_and_names_come_from_the_scene(self):
        made_up_run.twisted_bar(self.folder, divisions=(1, 1, 1))
        self.assertEqual(Run(self.folder).mesh.order, [None])
        scene = {"geometry": [{"name": "floor", "is_obstacle": True}, {"name": "bar"}], "space": {"discr_order": [{"body": "bar", "order": 3}]}}
        (self.folder / "scene.json").write_text(json.dumps(scene))
        self.assertEqual((Run(self.folder).mesh.bodies, Run(self.folder).mesh.order), (["bar"], [3]))

    def test_ledger(self):
        made_up_run.twisted_bar(self.folder, divisions=(1, 1, 1))
        (self.folder / "ledger.csv").write_text("step,min_distance\n1,\n2,0.5\n")
        np.testing.assert_array_equal(Run(self.folder).ledger["min_distance"], [np.nan, 0.5])

    def test_unfinished(self):
        made_up_run.twisted_bar(self.folder, divisions=(1, 1, 1))
        (self.folder / "summary.json").write_text('{"status": "interrupted"}')
        self.refused("not finished .interrupted.*--restart", Run)
        self.assertEqual(len(Run(self.folder, unfinished=True)), 5)
        (self.folder / "summary.json").unlink()
        self.refused("cut off", Run)

    def test_damage(self):
        made_up_run.twisted_bar(self.folder, divisions=(1, 1, 1))
        states = self.folder / "trajectory" / "states_00000.h5"
        whole = states.read_bytes()
        for damaged in (whole[:-1], whole[:-1] + bytes([whole[-1] ^ 1])):
            states.write_bytes(damaged)
            with self.assertRaisesRegex(FolderError, "states_00000.h5: damaged"):
                Run(self.folder).states[0].u
        manifest = self.folder / "trajectory" / "manifest.json"
        manifest.write_text(manifest.read_text().replace('"cells"', '"cellz"'))
        self.refused("manifest.json: damaged: its CRC-32 differs", Run)
        manifest.unlink()
        self.refused("no such file.*run folder", Run)


def write_sealed(path, content):
    text = json.dumps(content, separators=(",", ":"))
    path.write_text(json.dumps({"crc32": zlib.crc32(text.encode()), "content": content}))


class Studies(InFolder):
    def setUp(self):
        super().setUp()
        self.folder.mkdir()
        (self.folder / "drop").mkdir()
        (self.folder / "drop" / "scene.json").write_text('{"dhat": 1}')
        (self.folder / "seen.csv").write_text("time,marker,x\n0,a,1\n1,a,2\n")
        study = json.dumps({"experiments": [{"name": "drop", "scene": "drop/scene.json"}],
                            "objectives": [{"name": "path", "target": "seen.csv"}, {"name": "speed", "target": [1, 2]}]})
        (self.folder / "study.json").write_text(study)
        self.inputs = {"command": "optimize", "study": zlib.crc32(study.encode()), "scenes": {}, "files": {}}
        write_sealed(self.folder / "inputs.json", self.inputs)
        self.end("done")

    def end(self, status):
        (self.folder / "fit.json").write_text(json.dumps({"status": status, "reason": "small gradient"}))

    def test_fit(self):
        (self.folder / "history.csv").write_text('iteration,"a,b"\n0,3\n1,2.5\n')
        with h5py.File(self.folder / "fit.h5", "w") as file:
            file["E"] = [[1.0], [np.nan]]
        fit = Fit(self.folder)
        self.assertEqual((fit.result["reason"], fit.experiments), ("small gradient", {"drop": {"dhat": 1}}))
        np.testing.assert_array_equal(fit.history["a,b"], [3, 2.5])
        np.testing.assert_array_equal(fit.fields["E"], [[1], [np.nan]])
        self.assertEqual(list(fit.observed), ["path"])
        self.assertEqual(fit.observed["path"]["marker"], ["a", "a"])

    def test_evaluations(self):
        folder = self.folder / "evaluations"
        folder.mkdir()
        line = b'{"experiment":0,"what":"value"}'
        whole = b"%08x %s\n" % (zlib.crc32(line), line)
        (folder / "0.jsonl").write_bytes(whole + whole[:20])
        self.assertEqual(Fit(self.folder).evaluations, [{"experiment": 0, "what": "value"}])
        (folder / "0.jsonl").write_bytes(whole + whole.replace(b"value", b"valve"))
        with self.assertRaisesRegex(FolderError, "0.jsonl:2: damaged"):
            Fit(self.folder).evaluations

    def test_gradient_fields_are_paths(self):
        self.inputs["command"] = "gradient"
        write_sealed(self.folder / "inputs.json", self.inputs)
        (self.folder / "gradient.json").write_text('{"objective": 1}')
        with h5py.File(self.folder / "gradient.h5", "w") as file:
            file["drop/E/value"] = [1.0]
        self.assertEqual(list(Gradient(self.folder).fields), ["drop/E/value"])
        self.refused("a folder of recoil gradient, not of recoil optimize", Fit)

    def test_unfinished(self):
        self.end("interrupted")
        self.refused("interrupted: small gradient; continue with recoil optimize --restart", Fit)
        self.assertEqual(Fit(self.folder, unfinished=True).result["status"], "interrupted")
        (self.folder / "fit.json").unlink()
        self.refused("no result yet.*--restart", Fit)
        self.assertEqual(Fit(self.folder, unfinished=True).result, {})

    def test_damage(self):
        (self.folder / "fit.json").write_text('{"status": "do')
        self.refused("fit.json: damaged", Fit)
        (self.folder / "study.json").write_text("{}")
        self.refused("study.json: damaged or changed", Fit)
        (self.folder / "inputs.json").write_text('{"crc32": 1, "content": {"study": 1}}')
        self.refused("inputs.json: damaged", Fit)

    def test_units_of_observations(self):
        """Numbers with a unit are in those of the study, as its residuals are; others stay."""
        study = json.loads((self.folder / "study.json").read_text())
        study["units"] = {"length": "mm", "mass": "g", "time": "ms"}
        (self.folder / "study.json").write_text(json.dumps(study))
        self.inputs["study"] = zlib.crc32(json.dumps(study).encode())
        write_sealed(self.folder / "inputs.json", self.inputs)
        (self.folder / "seen.csv").write_text("time [s],x [cm],force [kN],sd\n2,3,4,5\n")
        table = Fit(self.folder).observed["path"]
        np.testing.assert_allclose([table[name][0] for name in ("time", "x", "force", "sd")], [2000, 30, 4000, 5])
        self.assertEqual([unit_name("force", units) for units in (study["units"], {"time": "ms"}, {"length": "ft"})], ["N", "MN", "kg*ft/s^2"])
        self.assertEqual([unit_name(kind, {"length": "mm", "mass": "g", "time": "ms"}) for kind in ("stress", "speed")], ["MPa", "mm/ms"])

    def test_names_that_look_like_numbers(self):
        path = self.folder / "reactions.csv"
        path.write_text('step,kind,name,force_x\n1,boundary,1,2\n1,contact,"a, b",\n1,all,,4\n')
        table = read_table(path)
        self.assertEqual((table["name"], table["kind"][0]), (["1", "a, b", ""], "boundary"))
        path.write_text("step,kind,name,force_x\n1,boundary,1,2\n1,all,,4\n")
        self.assertEqual(read_table(path)["name"], ["1", ""])

    def test_tables(self):
        (self.folder / "seen.csv").write_text("time,x\n0,1\n1\n")
        with self.assertRaisesRegex(FolderError, "line 3 is cut off"):
            Fit(self.folder).observed


if __name__ == "__main__":
    unittest.main()
