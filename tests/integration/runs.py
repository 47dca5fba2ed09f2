"""Runs recoil and reads what it left; shared by the tests of whole runs."""
import argparse
import copy
import json
import os
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy as np

# Also without scripts/common.sh.
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMP_NUM_THREADS="1",
                   OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_pml="ob1", OMPI_MCA_ess_singleton_isolated="1")
FAILURES = []


def check(holds, text):
    """Records a failed expectation; all of a test's are reported at its end."""
    print(("ok    " if holds else "FAIL  ") + text, flush=True)
    if not holds:
        FAILURES.append(text)


class Recoil:
    """The executable under test and a folder for its runs."""

    def __init__(self, *more):
        """`more`: further options of the script, (name, type) or (name, type, default)."""
        parser = argparse.ArgumentParser()
        parser.add_argument("--recoil", required=True)
        for name, kind, *default in more:
            parser.add_argument(name, type=kind, required=not default, default=default[0] if default else None)
        self.arguments, self.rest = parser.parse_known_args()
        self.program = os.path.abspath(self.arguments.recoil)
        self.folder = tempfile.mkdtemp(prefix="recoil-test-")
        # Processes that start without mpirun share one session directory, which the first that ends removes for all.
        ENVIRONMENT["OMPI_MCA_orte_tmpdir_base"] = self.folder

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        shutil.rmtree(self.folder, ignore_errors=True)
        if kind is None:
            print("%d expectation(s) failed" % len(FAILURES))
            sys.exit(1 if FAILURES else 0)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write_scene(self, name, scene):
        path = self.path(name + ".json")
        with open(path, "w") as file:
            json.dump(scene, file)
        return path

    def command(self, ranks, *arguments):
        launcher = ["mpirun", "-n", str(ranks), "--oversubscribe", "--bind-to", "none"] if ranks > 1 else []
        return launcher + [self.program, *map(str, arguments)]

    def run(self, ranks, *arguments, expect=0, folder=None):
        done = subprocess.run(self.command(ranks, *arguments), env=ENVIRONMENT, cwd=folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=600)
        text = done.stdout.decode(errors="replace")
        if expect is not None and done.returncode != expect:
            raise SystemExit("exit %d instead of %d: recoil %s\n%s" % (done.returncode, expect, arguments, text))
        return done.returncode, text

    def refuses(self, scene, change, *words, what=None, ranks=1, command="validate"):
        """Expects exit 2, a message with all `words` and no folder, of a copy of the scene that `change` has been applied to."""
        scene = copy.deepcopy(scene)
        change(scene)
        folder = self.path("refused")
        where = [] if command == "validate" else ["-o", folder, "-q"]
        code, text = self.run(ranks, command, self.write_scene("refused", scene), *where, expect=None)
        message = text[text.find("recoil: "):].strip()
        missing = [word for word in words if word not in message]
        check(code == 2 and not missing and not os.path.exists(folder),
              "refused: %s: exit %d, %s%s" % (what or words[0], code, message[:300], ", without %s" % missing if missing else ""))

    def simulate(self, ranks, scene, name, *arguments):
        """A fresh run; returns its folder."""
        folder = self.path(name)
        shutil.rmtree(folder, ignore_errors=True)
        self.run(ranks, "simulate", scene, "-o", folder, "-q", *arguments)
        return folder


def ranks_of(process, program):
    """Process numbers of the ranks below `process`, which may be the only one."""
    found, waiting = [], [process.pid]
    while waiting:
        pid = waiting.pop()
        try:
            if os.path.realpath("/proc/%d/exe" % pid) == program:
                found.append(pid)
            for task in os.listdir("/proc/%d/task" % pid):
                with open("/proc/%d/task/%s/children" % (pid, task)) as file:
                    waiting += map(int, file.read().split())
        except OSError:
            pass
    return found


def manifest(folder):
    with open(os.path.join(folder, "trajectory", "manifest.json")) as file:
        return json.load(file)


def summary(folder):
    with open(os.path.join(folder, "summary.json")) as file:
        return json.load(file)


def state(folder, step=None, field="u"):
    """A nodal field of a nominal step (default: the last one), in canonical node order."""
    found = None
    for entry in manifest(folder)["files"]:
        for record in entry["states"]:
            if record["kept"] == "stored" and (record.get("step") == step or step is None):
                found = (entry["name"], record["id"])
    with h5py.File(os.path.join(folder, "trajectory", found[0]), "r") as file:
        return file["states/%d/%s" % (found[1], field)][:]


def coordinates(folder):
    with h5py.File(os.path.join(folder, "trajectory", "mesh.h5"), "r") as file:
        return file["coordinates"][:]


def difference(a, b):
    """Largest difference relative to the largest entry."""
    return float(np.abs(a - b).max() / np.abs(b).max())


def sheet(cells, size, height, waves=0):
    """Points and triangles of a square of that size in the plane of that height, with diagonals in turn; `waves` is the amplitude of its waves."""
    at = lambda i, j: (size * (i / cells - 0.5), size * (j / cells - 0.5), height + waves * np.sin(9 * i / cells + 4 * j / cells))
    points = [at(i, j) for j in range(cells + 1) for i in range(cells + 1)]
    faces = []
    for j in range(cells):
        for i in range(cells):
            a = i + j * (cells + 1)
            b, c, d = a + 1, a + cells + 2, a + cells + 1
            faces += [(a, b, c), (a, c, d)] if (i + j) % 2 else [(a, b, d), (b, c, d)]
    return points, faces


def write_obj(path, *parts):
    """Parts are pairs of points and faces."""
    points, faces = [], []
    for p, f in parts:
        faces += [tuple(i + len(points) + 1 for i in face) for face in f]
        points += p
    with open(path, "w") as file:
        file.writelines("v %.17g %.17g %.17g\n" % tuple(p) for p in points)
        file.writelines("f %d %d %d\n" % tuple(f) for f in faces)


def bar(divisions, steps, integrator="BDF3", order=1, every=1, chunk=4):
    """A bar that hangs on one end, falls and swings, with damping and a moving end."""
    return {
        "geometry": {"name": "bar", "generator": {"type": "box", "size": [2, 0.5, 0.5], "divisions": divisions},
                     "surface_selection": [{"id": 1, "axis": "-x", "position": -0.999}]},
        "materials": {"type": "NeoHookean", "E": 1e5, "nu": 0.4, "rho": 1000, "psi": 20, "phi": 10},
        "gravity": [0, 0, -9.81],
        "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, "0.1*sin(3*t)", 0]}]},
        "initial_conditions": {"angular_velocity": [{"body": "bar", "value": [1, 0, 0]}]},
        "space": {"discr_order": order},
        "time": {"dt": 0.02, "time_steps": steps, "integrator": integrator},
        "output": {"every": every, "chunk": chunk},
    }
