"""Runs from Python: dictionaries and files, results as arrays, restarts, errors, signals."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import numpy as np
import recoil
from scenes import ball

BOX = {"name": "box", "generator": {"type": "box", "size": [1, 1], "divisions": [1, 1]}}


class Folder(unittest.TestCase):
    """Works in an empty folder."""

    def setUp(self):
        self._temporary = tempfile.TemporaryDirectory(prefix="recoil-test-")
        self._before = os.getcwd()
        os.chdir(self._temporary.name)

    def tearDown(self):
        os.chdir(self._before)
        self._temporary.cleanup()


class Runs(Folder):
    def test_a_dictionary_runs_as_its_file_does(self):
        Path("scene.json").write_text(json.dumps(ball()))
        by_file, by_dict = recoil.simulate("scene.json", "a"), recoil.simulate(ball(), Path("b"))
        self.assertEqual(by_file.status, "done")
        np.testing.assert_array_equal(by_file.trajectory.u, by_dict.trajectory.u)

    def test_results_are_arrays(self):
        run = recoil.simulate(ball(), "run")
        at = run.trajectory
        self.assertEqual(at.u.shape, (7, len(run.mesh.points), 2))
        self.assertEqual(len(at), 7)
        np.testing.assert_allclose(at.times, 0.002 * np.arange(7), atol=1e-15)
        np.testing.assert_array_equal(at.positions, at.coordinates + at.u)
        np.testing.assert_allclose(at.v[0], np.tile([0.5, -1], (len(at.coordinates), 1)))
        self.assertEqual(len(run.tables["ledger"]["elastic"]), len(run.ledger["elastic"]))
        self.assertEqual(run.summary["steps"], 6)
        again = recoil.Run("run")
        np.testing.assert_array_equal(again.trajectory.u, at.u)
        text, sound = recoil.info("run")
        self.assertTrue(sound and "7 states" in text, text)

    def test_arrays_of_numpy_are_taken(self):
        scene = ball(gravity=np.array([0, -9.81]))
        scene["time"]["time_steps"] = np.int64(2)
        self.assertEqual(recoil.simulate(scene, "run").trajectory.steps.tolist(), [0, 1, 2])

    def test_a_temporary_folder_lives_as_long_as_its_states(self):
        run = recoil.simulate(ball())
        folder, state = run.folder, run.states[-1]
        trajectory = run.trajectory
        del run
        self.assertGreater(np.abs(trajectory.u).max(), 0)
        del trajectory
        self.assertGreater(np.abs(state.u).max(), 0)
        del state
        self.assertFalse(folder.exists() or folder.parent.exists())

    def test_a_run_goes_on_from_where_it_stopped(self):
        part = recoil.simulate(ball(), "part", steps=2)
        self.assertEqual(part.summary["steps"], 2)
        whole, continued = recoil.simulate(ball(), "whole"), recoil.restart("part")
        self.assertEqual(continued.status, "done")
        np.testing.assert_array_equal(whole.trajectory.u, continued.trajectory.u)

    def test_relative_paths_start_from_the_current_folder(self):
        Path("below").mkdir()
        Path("below/box.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
        mesh = {"name": "box", "mesh": "below/box.obj"}
        report = recoil.validate(ball(geometry=[mesh], contact={}, solver={}, initial_conditions={}))
        self.assertIn("3 vertices", report)

    def test_validate_tells_what_the_scene_is(self):
        self.assertIn("<scene>: valid, 2D", recoil.validate(ball()))
        self.assertEqual(os.listdir(), [])

    def test_schema(self):
        self.assertIn("contact", recoil.schema("scene")["properties"])
        self.assertRaises(ValueError, recoil.schema, "nothing")


class Errors(Folder):
    def test_a_wrong_scene_says_where_and_how_to_fix_it(self):
        scene = ball()
        scene["materials"].update(E=-1, rhoo=2)
        with self.assertRaises(recoil.SceneError) as caught:
            recoil.simulate(scene, "run")
        first, second = sorted(caught.exception.findings, key=lambda one: one.pointer)
        self.assertEqual((first.pointer, first.file, first.line), ("/materials/E", "<scene>", None))
        self.assertIn("must be > 0, is -1", first.text)
        self.assertEqual(second.pointer, "/materials/rhoo")
        self.assertIn("did you mean 'rho'?", second.text)
        self.assertFalse(Path("run").exists())
        self.assertNotIn(":1 ", str(caught.exception))

    def test_of_a_file_with_its_line(self):
        Path("scene.json").write_text(json.dumps(ball(gravity="down"), indent=1))
        with self.assertRaises(recoil.SceneError) as caught:
            recoil.validate("scene.json")
        error = caught.exception
        self.assertTrue(error.file.endswith("scene.json"))
        self.assertEqual(error.pointer, "/gravity")
        self.assertGreater(error.line, 1)
        self.assertIsInstance(error, ValueError)

    def test_files(self):
        with self.assertRaisesRegex(recoil.InputError, "no such file"):
            recoil.simulate("nothing.json", "run")
        Path("file").write_text("")
        with self.assertRaises(recoil.Error):
            recoil.simulate(ball(), "file/run")
        with self.assertRaises(recoil.FolderError):
            recoil.Run("nothing")

    def test_a_step_without_solution_keeps_what_there_is(self):
        scene = ball()
        scene["solver"]["nonlinear"]["max_iterations"] = 1
        scene["time"]["max_retries"] = 0
        with self.assertRaises(recoil.NoSolution) as caught:
            recoil.simulate(scene, "run")
        self.assertEqual(caught.exception.result.status, "failed")
        self.assertEqual(caught.exception.code, 3)
        self.assertIn(caught.exception.result.summary["message"], str(caught.exception))

    def test_what_is_no_communicator(self):
        with self.assertRaises(TypeError):
            recoil.validate(ball(), comm=7)

    def test_errors_leave_the_next_call_alone(self):
        for _ in range(3):
            self.assertRaises(recoil.SceneError, recoil.validate, {})
        self.assertIn("valid", recoil.validate(ball()))


LONG = ball(time={"dt": 0.0005, "time_steps": 4000})


def when_it_runs(folder, act):
    """Does `act` in a thread as soon as a run has some states."""
    def watch():
        table = Path(folder) / "ledger.csv"
        while not table.exists() or table.read_text().count("\n") < 5:
            time.sleep(0.002)
        act()
    thread = threading.Thread(target=watch)
    thread.start()
    return thread


class Signals(Folder):
    def interrupted(self, number, exception):
        thread = when_it_runs("run", lambda: os.kill(os.getpid(), number))
        with self.assertRaises(exception) as caught:
            recoil.simulate(LONG, "run")
        thread.join()
        run = recoil.Run("run", unfinished=True)
        self.assertEqual(run.status, "interrupted")
        return run.summary["steps"], caught.exception

    def test_control_c_leaves_a_run_that_can_be_continued(self):
        before = signal.getsignal(signal.SIGINT)
        steps, _ = self.interrupted(signal.SIGINT, KeyboardInterrupt)
        self.assertIs(signal.getsignal(signal.SIGINT), before)
        continued = recoil.restart("run", steps=steps + 3)
        whole = recoil.simulate(LONG, "whole", steps=steps + 3)
        np.testing.assert_array_equal(continued.trajectory.u[-1], whole.trajectory.u[-1])

    def test_a_scheduler_s_signal(self):
        _, error = self.interrupted(signal.SIGTERM, recoil.Interrupted)
        self.assertEqual(error.code, 75)

    def test_a_handler_of_the_script_is_called(self):
        called = []
        before = signal.signal(signal.SIGUSR1, lambda number, _: called.append(number))
        try:
            self.interrupted(signal.SIGUSR1, recoil.Interrupted)
            self.assertEqual(called, [signal.SIGUSR1])
            os.kill(os.getpid(), signal.SIGUSR1)
            self.assertEqual(called, [signal.SIGUSR1] * 2)
        finally:
            signal.signal(signal.SIGUSR1, before)

    def test_one_call_at_a_time(self):
        refused = []

        def call():
            try:
                recoil.validate(ball())
            except recoil.Error as error:
                refused.append(str(error))
            os.kill(os.getpid(), signal.SIGINT)

        thread = when_it_runs("run", call)
        self.assertRaises(KeyboardInterrupt, recoil.simulate, LONG, "run")
        thread.join()
        self.assertIn("another thread", refused[0])


class Processes(Folder):
    def ends(self, script, code=0):
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path[:1] + [os.environ.get("PYTHONPATH", "")])})
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stderr if code == 0 else "", "")
        return done.stdout

    def test_import_starts_nothing(self):
        self.assertEqual(self.ends("import recoil; print(recoil._core.is_started())").strip(), "False")

    def test_mpi4py_before_and_after(self):
        run = "recoil.validate(ball())"
        for script in (f"from mpi4py import MPI; {run}; MPI.COMM_WORLD.Barrier(); recoil.validate(ball(), comm=MPI.COMM_SELF)",
                       f"{run}; from mpi4py import MPI; recoil.validate(ball(), comm=MPI.COMM_SELF)"):
            self.ends("import recoil; from scenes import ball; " + script)

    def test_what_is_open_at_the_end(self):
        Path("path.csv").write_text("time,x,y,sd\n0.004,0.0021,0.0478,1e-4\n")
        self.ends("import recoil, scenes; f = recoil.ReducedObjective(scenes.study()); f.value(f.x0); g = [f]; g.append(g)")

    def test_the_log_is_shown_where_it_is_wanted(self):
        self.assertIn("step", self.ends("import recoil, scenes; recoil.simulate(scenes.ball(), 'a', quiet=False)"))
        self.assertEqual(self.ends("import recoil, scenes; recoil.simulate(scenes.ball(), 'b')"), "")


if __name__ == "__main__":
    unittest.main()
