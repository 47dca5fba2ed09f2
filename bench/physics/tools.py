"""What the studies share: a run that is judged valid, pieces of scenes, and measures of a stored run."""
import os
import subprocess
import sys

import h5py
import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "integration"))
import runs  # noqa: E402
from pieces import box, ledger, material, plane  # noqa: E402,F401

G = 9.81


class Study(runs.Recoil):
    """Runs and findings of one study. The base's constructor is not called: studies share one command line and keep their
    folders."""

    def __init__(self, name, program, ranks, folder):
        self.name, self.program, self.ranks = name, os.path.abspath(program), ranks
        self.folder = os.path.join(os.path.abspath(folder), name)
        os.makedirs(self.folder, exist_ok=True)
        self.figures, self.failures = {}, []

    def expect(self, holds, text, **figures):
        """Records figures and whether what they should show holds; nan never does."""
        self.figures.update({key: float(value) for key, value in figures.items()})
        runs.check(bool(holds), text)
        if not holds:
            self.failures.append(text)

    def done(self, label, scene):
        """The folder of a run that ended and whose stored states two independent searches find valid."""
        folder = self.simulate(self.ranks, self.write_scene(label, scene), label)
        # A process of its own: it loads an HDF5 library that h5py's would clash with.
        second = subprocess.run([sys.executable, os.path.join(ROOT, "bench", "fuzz", "check_states.py"), folder],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        found = runs.summary(folder)
        valid = found["status"] == "done" and found["intersections"] == 0 and second.returncode == 0
        self.expect(valid, "%s: %d steps in %.1f s, %d retried, %d intersections; check_states: %s" %
                    (label, found["steps"], found["wall_s"], found["retried_steps"], found["intersections"],
                     second.stdout.decode().strip()))
        self.figures[label + " wall_s"] = found["wall_s"]
        return folder

    def picture(self, folder, *arguments):
        name = os.path.join(self.folder, os.path.basename(folder) + ".png")
        script = os.path.join(ROOT, "scripts", "render.py")
        subprocess.run([sys.executable, script, folder, "-o", name, *map(str, arguments)], stdout=subprocess.DEVNULL)

    def plot(self, label, x, curves, axes, logarithmic=False):
        """Curves {name: values} over x; axes are the two titles."""
        figure, area = plt.subplots(figsize=(7, 4.5), constrained_layout=True)
        for name, values in curves.items():
            area.plot(x, values, "o-" if len(x) < 10 else "-", label=name)
        if logarithmic:
            area.set_xscale("log")
            area.set_yscale("log")
        area.set_xlabel(axes[0])
        area.set_ylabel(axes[1])
        area.legend(frameon=False)
        figure.savefig(os.path.join(self.folder, label + "-plot.png"), dpi=120)
        plt.close(figure)


def barrier_force(d, dhat):
    """-db/dd of b(d^2) = -(d^2 - dhat^2)^2 ln(d^2/dhat^2): the force of one pair per barrier stiffness."""
    y, Y = d * d, dhat * dhat
    return 2 * d * (2 * (y - Y) * np.log(y / Y) + (y - Y) ** 2 / y)


# Measures


def start(folder):
    """Energies of the initial state."""
    for file in runs.manifest(folder)["files"]:
        for state in file["states"]:
            if state["id"] == 0:
                return state["extra"]
    raise SystemExit("%s: no initial state" % folder)


def states(folder):
    """(time, u) of every stored nominal step."""
    for file in runs.manifest(folder)["files"]:
        with h5py.File(os.path.join(folder, "trajectory", file["name"]), "r") as data:
            for record in file["states"]:
                if record["kept"] == "stored" and "step" in record:
                    yield record["time"], data["states/%d/u" % record["id"]][:]


class Bodies:
    """Nodal masses per unit density of every body of a mesh of order 1, to measure centres with."""

    def __init__(self, folder):
        with h5py.File(os.path.join(folder, "trajectory", "mesh.h5"), "r") as file:
            self.rest, cells = file["coordinates"][:], file["connectivity"][:]
            body = file["body"][:].ravel()
        dim = cells.shape[1] - 1
        self.rest = self.rest[:, :dim]
        edges = self.rest[cells[:, 1:]] - self.rest[cells[:, :1]]
        volume = np.abs(np.linalg.det(edges)) / (2 if dim == 2 else 6)
        self.weights, self.size = [], []
        for k in np.unique(body):
            w = np.zeros(len(self.rest))
            np.add.at(w, cells[body == k], np.repeat(volume[body == k, None] / (dim + 1), dim + 1, axis=1))
            self.weights.append(w)
            at = self.rest[w > 0]
            self.size.append(max(np.linalg.norm(at - p, axis=1).max() for p in at))
        self.volume = np.array([w.sum() for w in self.weights])
        self.cells = [cells[body == k] for k in np.unique(body)]

    def faces(self, body):
        """Vertices of the boundary faces."""
        dim = self.rest.shape[1]
        every = np.concatenate([np.delete(self.cells[body], k, axis=1) for k in range(dim + 1)])
        unique, count = np.unique(np.sort(every, axis=1), axis=0, return_counts=True)
        return unique[count == 1]

    def centres(self, u):
        x = self.rest + u[:, :self.rest.shape[1]]
        return np.array([w @ x / w.sum() for w in self.weights])

    def extent(self, u, body, axis):
        x = (self.rest + u[:, :self.rest.shape[1]])[self.weights[body] > 0, axis]
        return x.max() - x.min()


def largest_motion(folder):
    """Per body: the largest displacement of its centre in any stored state over its size (its diameter)."""
    bodies = Bodies(folder)
    first = bodies.centres(0 * bodies.rest)
    moved = [np.linalg.norm(bodies.centres(u) - first, axis=1) for _, u in states(folder)]
    return np.max(moved, axis=0) / np.array(bodies.size)
