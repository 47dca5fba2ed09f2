"""The package on several ranks: communicators of mpi4py, errors and signals that reach one rank."""
import os
import signal
import tempfile
import unittest
from pathlib import Path

import numpy as np
import recoil
from mpi4py import MPI
from runs_test import LONG, when_it_runs
from scenes import PATH, ball, study

WORLD = MPI.COMM_WORLD


class Ranks(unittest.TestCase):
    def setUp(self):
        self.folder = Path(WORLD.bcast(tempfile.mkdtemp(prefix="recoil-test-") if WORLD.rank == 0 else None))
        os.chdir(self.folder)
        if WORLD.rank == 0:
            Path("path.csv").write_text(PATH)
        WORLD.Barrier()

    def tearDown(self):
        WORLD.Barrier()
        os.chdir("/")
        if WORLD.rank == 0:
            import shutil
            shutil.rmtree(self.folder)

    def test_all_ranks_run_together(self):
        run = recoil.simulate(ball(), "run", comm=WORLD)
        self.assertEqual(run.summary["ranks"], WORLD.size)
        alone = recoil.simulate(ball(), f"alone{WORLD.rank}", comm=MPI.COMM_SELF)
        self.assertEqual(alone.summary["ranks"], 1)
        np.testing.assert_allclose(run.trajectory.u, alone.trajectory.u, atol=1e-10)
        self.assertEqual(recoil.simulate(ball()).status, "done")

    def test_a_temporary_folder_waits_for_the_last_rank(self):
        run = recoil.simulate(ball(), steps=1)
        folder = run.folder.parent
        if WORLD.rank != WORLD.size - 1:
            del run
        WORLD.Barrier()
        if WORLD.rank == WORLD.size - 1:
            self.assertEqual(len(run.trajectory.u), 2)
            del run
            self.assertFalse(folder.exists())

    def test_groups_of_ranks_run_apart(self):
        group = WORLD.Split(WORLD.rank % 2)
        run = recoil.simulate(ball(), f"group{WORLD.rank % 2}", steps=2, comm=group)
        self.assertEqual(run.summary["ranks"], group.size)
        group.Free()

    def test_an_objective_is_the_same_on_any_ranks(self):
        f, alone = recoil.ReducedObjective(study(), comm=WORLD), recoil.ReducedObjective(study(), comm=MPI.COMM_SELF)
        x = f.x0
        self.assertAlmostEqual(f.value(x) / alone.value(x), 1, places=9)
        np.testing.assert_allclose(f.residuals(x), alone.residuals(x), rtol=1e-7)
        np.testing.assert_allclose(f.jacobian(x), alone.jacobian(x), rtol=1e-6, atol=1e-6)
        gradient = alone.gradient(x)
        np.testing.assert_allclose(f.gradient(x), gradient, atol=1e-7 * np.abs(gradient).max())
        self.assertEqual(len(set(WORLD.allgather(f.gradient(x).tobytes()))), 1)
        f.close()
        alone.close()

    def test_experiments_side_by_side(self):
        two = study()
        two["experiments"].append({"name": "again", "scene": ball(gravity=[0, -5])})
        two["parameters"][0]["experiment"] = "throw"
        two["objectives"].append({**two["objectives"][0], "name": "path again", "experiment": "again"})
        two["objectives"][0]["experiment"] = "throw"
        with recoil.ReducedObjective(two) as f:
            r = f.residuals(f.x0)
            self.assertEqual(len(r), 13)
            self.assertEqual(len(set(WORLD.allgather(r.tobytes() + f.jacobian(f.x0).tobytes()))), 1)

    def test_all_ranks_raise_what_one_meets(self):
        with self.assertRaises(recoil.SceneError):
            recoil.validate(ball(gravity="down"))
        with self.assertRaises(recoil.InputError):
            recoil.simulate("nothing.json", "run")

    def test_x_that_differs(self):
        with recoil.ReducedObjective(study()) as f:
            if WORLD.size > 1:
                self.assertRaisesRegex(recoil.InputError, "differs between the ranks", f.value, f.x0 + 0.01 * WORLD.rank)
            self.assertTrue(np.isfinite(f.value(f.x0)))

    def test_control_c_on_one_rank(self):
        thread = when_it_runs("run", lambda: os.kill(os.getpid(), signal.SIGINT)) if WORLD.rank == WORLD.size - 1 else None
        self.assertRaises(KeyboardInterrupt, recoil.simulate, LONG, "run")
        if thread:
            thread.join()
        WORLD.Barrier()
        steps = recoil.Run("run", unfinished=True).summary["steps"]
        self.assertEqual(recoil.restart("run", steps=steps + 2).summary["steps"], steps + 2)

    def test_communicators_are_given_back(self):
        def number_of_next():
            new = WORLD.Dup()
            number = new.py2f()
            new.Free()
            return number

        def work():
            recoil.simulate(ball(), steps=1)
            with recoil.ReducedObjective(study(ball(time={"dt": 0.004, "time_steps": 3}))) as f:
                f.gradient(f.x0)
        work()
        before = number_of_next()
        for _ in range(2):
            work()
        self.assertEqual(number_of_next(), before)


if __name__ == "__main__":
    unittest.main()
