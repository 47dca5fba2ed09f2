#!/usr/bin/env python3
"""Bonded particles beside yade, another group's discrete element code: the same particles and bonds, small deformations, at rest.

    apt-get install yade
    bench/yade/compare.py --recoil build/release/recoil               # all; about four minutes
    bench/yade/compare.py --recoil build/release/recoil block         # some

Chains of 11 to 41 particles that are held at one end are bent, twisted and pulled at the other, and an hcp block of 3 x 6 x 16 particles
is pulled between its end layers. yade runs its cohesive law with moments (settle.py) with the stiffnesses of recoil's bonds,

    kn = E S/l, ks = G S/l, kr = E I/l, ktw = G J/l,

in explicit steps of 0.8 of the critical one with 0.4 of local damping, until forces balance to 1e-6 and the kinetic energy is 1e-10 of
the elastic one; recoil takes one quasi-static step. Stiffnesses are compared with each other and with the exact ones of small
deformations: formulas for chains, for the block a linear system that numpy assembles here. Both run on one core, one after the other;
seconds are the least of 15 runs: of yade from the first step to rest, of recoil from the parsed scene on, without the time of writing
(wall_s - io_s), and, in brackets, of the whole processes. The exit code is 1 where stiffnesses differ by more than 1 %, and 77 where
there is no yade.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "physics"))
import tools  # noqa: E402; finds runs, which the next two want
import runs  # noqa: E402
from particle_pieces import CELL, above, body, bonds_of, column, hcp, material, places_of, solver, table  # noqa: E402

R, E, NU, RHO = 0.001, 1e7, 0.3, 1000
G = E / (2 * (1 + NU))
S, I = np.pi * R**2, np.pi * R**4 / 4
J, LENGTH = 2 * I, 2 * R  # of the bonds
STIFFNESS = {"kn": E * S / LENGTH, "ks": G * S / LENGTH, "kr": E * I / LENGTH, "ktw": G * J / LENGTH}
MASS = RHO * CELL * R**3
STRAIN = 1e-4
DAMPING = 0.4  # raises forces against the motion by this share: steps are stable up to 1 / sqrt(1.4) = 0.85 of the critical one
STEP = 0.8  # of the critical step
RUNS = 15
STILL = [0.0, 0.0, 0.0]


class Case:
    """Particles, of which the groups `held` move as given, and forces on single ones; `axis` is that of the load, `measure` what
    stiffness is made of: "force" over the displacement of the loaded particle, or "reaction" or "moment" of the second group
    over its displacement or rotation. `exact` is the stiffness where there is a formula."""

    def __init__(self, places, held, forces, axis, measure, exact=None):
        self.places, self.held, self.forces, self.axis, self.measure = places, held, forces, axis, measure
        self.bonds = bonds_of(places, R)
        self.matrix = assemble(places, self.bonds)
        self.exact = exact or self.linear()

    def free(self):
        """Degrees of freedom that are not held, six per particle."""
        return np.setdiff1d(np.arange(6 * len(self.places)), [6 * p + k for group in self.held for p in group["particles"] for k in range(6)])

    def critical_step(self):
        """2 over the largest frequency; spheres of the mass of their cell."""
        root = np.tile(np.sqrt([MASS] * 3 + [0.4 * MASS * R**2] * 3), len(self.places))[self.free()]
        free = np.ix_(self.free(), self.free())
        return 2 / np.sqrt(np.linalg.eigvalsh(self.matrix[free] / root / root[:, None])[-1])

    def linear(self):
        """Stiffness of the held groups against each other in small deformations."""
        u = np.zeros((len(self.places), 6))
        for group in self.held:
            u[group["particles"]] = group["displacement"] + group["rotation"]
        u, free = u.ravel(), self.free()
        u[free] = np.linalg.solve(self.matrix[np.ix_(free, free)], -(self.matrix @ u)[free])
        force = (self.matrix @ u).reshape(-1, 6)[self.held[1]["particles"], self.axis].sum()
        return force / self.held[1]["displacement"][self.axis]

    def stiffness(self, places, reactions):
        if self.measure == "force":
            (particle, force), = self.forces
            return force[self.axis] / (places - self.places)[particle, self.axis]
        given = {"reaction": "displacement", "moment": "rotation"}[self.measure]
        return reactions[1][self.axis] / self.held[1][given][self.axis]


def assemble(places, bonds):
    """Matrix of small displacements and rotations of all particles."""
    n = len(places)
    matrix = np.zeros((6 * n, 6 * n))
    for i, j in bonds:
        x = places[j] - places[i]
        l = np.linalg.norm(x)
        along = np.outer(x, x) / l**2
        across = np.eye(3) - along
        turn = np.cross(np.eye(3), x)  # w @ turn = w x x
        none = np.zeros((3, 3))
        relative = np.hstack([-np.eye(3), none, np.eye(3), none])
        sheared = across @ np.hstack([-np.eye(3), -turn.T / 2, np.eye(3), -turn.T / 2])
        rotated = np.hstack([none, -np.eye(3), none, np.eye(3)])
        k = relative.T @ (STIFFNESS["kn"] * along) @ relative + STIFFNESS["ks"] * sheared.T @ sheared
        k += rotated.T @ (STIFFNESS["kr"] * across + STIFFNESS["ktw"] * along) @ rotated
        at = np.r_[6 * i:6 * i + 6, 6 * j:6 * j + 6]
        matrix[np.ix_(at, at)] += k
    return matrix


def group(particles, displacement=STILL, rotation=STILL):
    return {"particles": [int(p) for p in particles], "displacement": list(displacement), "rotation": list(rotation)}


def chain(count):
    return np.column_stack([LENGTH * np.arange(count), np.zeros((count, 2))])


def bent(count):
    n = count - 1
    L = n * LENGTH
    compliance = L**3 / (3 * E * I) * (1 - 1 / (4 * n**2)) + L / (G * S)
    return Case(chain(count), [group([0])], [(n, [0, 0, -STRAIN * 3 * E * I / L**2])], 2, "force", 1 / compliance)


def twisted(count):
    n = count - 1
    L = n * LENGTH
    return Case(chain(count), [group([0]), group([n], rotation=[STRAIN * L / R, 0, 0])], [], 0, "moment", G * J / L)


def pulled(count):
    n = count - 1
    return Case(chain(count), [group([0])], [(n, [STRAIN * E * S, 0, 0])], 0, "force", E * S / (n * LENGTH))


def block():
    places = hcp((3, 6, 16), R)
    z = places[:, 2]
    ends = [np.nonzero(abs(z - side) < 0.1 * R)[0] for side in (z.min(), z.max())]
    return Case(places, [group(ends[0]), group(ends[1], [0, 0, STRAIN * np.ptp(z)])], [], 2, "reaction")


CASES = {"bent 11": lambda: bent(11), "bent 21": lambda: bent(21), "bent 41": lambda: bent(41), "twisted 11": lambda: twisted(11),
         "twisted 21": lambda: twisted(21), "pulled 11": lambda: pulled(11), "pulled 21": lambda: pulled(21), "block": block}


def by_recoil(study, name, case):
    """Stiffness, seconds without writing, seconds of the whole run."""
    k = np.ptp(case.places, axis=0).argmax()  # ends lie across the longest side
    low, high = float(case.places[:, k].min()), float(case.places[:, k].max())
    ends = [above("-" + "xyz"[k], low + 0.1 * R, 1), above("xyz"[k], high - 0.1 * R, 2)]
    conditions = {"dirichlet_boundary": [{"id": number, "value": held["displacement"], "rotation": held["rotation"]}
                                         for number, held in enumerate(case.held, 1)]}
    if case.forces:
        conditions["particle_forces"] = [{"id": 2, "value": [float(x) for x in case.forces[0][1]]}]
    scene = {
        "geometry": [body(study, name, case.places, R, case.bonds, point_selection=ends)],
        "materials": material(E, RHO, NU),
        "boundary_conditions": conditions,
        "time": {"dt": 1, "time_steps": 1, "quasistatic": True},
        "solver": solver(tolerance=1e-8),
    }
    path = study.write_scene(name, scene)
    seconds, whole = [], []
    for _ in range(RUNS):
        begin = time.monotonic()
        folder = study.simulate(1, path, name)
        whole.append(time.monotonic() - begin)
        spent = runs.summary(folder)
        seconds.append(spent["wall_s"] - spent["io_s"])
    rows = table(folder, "reactions.csv")
    kind = "moment_" if case.measure == "moment" else "force_"
    reactions = [[column(rows, kind + c, entry)[-1] for c in "xyz"] for entry in range(len(case.held))]
    return case.stiffness(places_of(folder), reactions), min(seconds), min(whole)


def by_yade(program, folder, name, case):
    """Stiffness, seconds until it rests, seconds of the whole run, steps."""
    model = {"centres": case.places.tolist(), "radii": [R] * len(case.places), "masses": [MASS] * len(case.places),
             "bonds": [dict(STIFFNESS, i=int(i), j=int(j)) for i, j in case.bonds], "held": case.held, "forces": case.forces,
             "dt": STEP * case.critical_step(), "damping": DAMPING}
    paths = [os.path.join(folder, name.replace(" ", "-") + end) for end in ("-model.json", "-found.json")]
    with open(paths[0], "w") as file:
        json.dump(model, file)
    environment = {key: value for key, value in os.environ.items() if key != "DISPLAY"}
    seconds, whole = [], []
    for _ in range(RUNS):
        begin = time.monotonic()
        done = subprocess.run([program, "-n", "-x", "-j", "1", os.path.join(HERE, "settle.py"), *paths], env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        whole.append(time.monotonic() - begin)
        if not os.path.exists(paths[1]):
            raise SystemExit("yade left no result of %s:\n%s" % (name, done.stdout.decode(errors="replace")))
        with open(paths[1]) as file:
            found = json.load(file)
        os.remove(paths[1])
        seconds.append(found["solve_s"])
    kind = "moment" if case.measure == "moment" else "force"
    reactions = [one[kind] for one in found["reactions"]]
    return case.stiffness(np.array(found["places"]), reactions), min(seconds), min(whole), found["steps"]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recoil", required=True, help="the executable")
    parser.add_argument("names", nargs="*", metavar="case", help="of %s (default: all)" % ", ".join(CASES))
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(CASES)
    if unknown:
        parser.error("no such case: " + ", ".join(sorted(unknown)))
    return arguments


def main():
    arguments = parse_arguments()
    program = shutil.which("yade")
    if not program:
        print("skipped: there is no yade to compare with (apt-get install yade)")
        return 77
    failed = []
    print("case | recoil | yade | exact | yade/recoil - 1 | recoil/exact - 1 | seconds of recoil (whole) | of yade (whole), steps | ratio (whole)")
    with tempfile.TemporaryDirectory() as folder:
        study = tools.Study("recoil", arguments.recoil, 1, folder)
        for name in arguments.names or CASES:
            case = CASES[name]()
            ours, seconds, whole = by_recoil(study, name, case)
            theirs, their_seconds, their_whole, steps = by_yade(program, folder, name, case)
            print("%s | %.7g | %.7g | %.7g | %+.1e | %+.1e | %.3f (%.1f) | %.3f (%.1f), %d | %.2f (%.1f)" % (
                name, ours, theirs, case.exact, theirs / ours - 1, ours / case.exact - 1, seconds, whole, their_seconds, their_whole, steps,
                their_seconds / seconds, their_whole / whole), flush=True)
            if not max(abs(theirs / ours - 1), abs(ours / case.exact - 1)) < 0.01:
                failed.append(name)
    if failed:
        print("stiffnesses differ by more than 1 %: " + ", ".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
