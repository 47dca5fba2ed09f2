"""What the tests of this folder share: their options, planes, runs of recoil, tables of forces, balances."""
import argparse
import csv
import json
import os
import resource
import subprocess
import sys

import numpy as np

sys.path[1:1] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", folder) for folder in ("scripts", "tests/integration")]
from recoil_run import Run  # noqa: E402
from runs import ENVIRONMENT  # noqa: E402

AXES = "xyz"


def parser(description):
    """The options that all tests have."""
    result = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    result.add_argument("--recoil", type=os.path.abspath, required=True)
    result.add_argument("-o", "--output", required=True)
    result.add_argument("--quick", action="store_true")
    result.add_argument("--smooth", action="store_true", help="a test of grains without friction, too, which takes as long as all others")
    return result


def plane(name, axis, side, distance, number=None):
    """A plane at `distance` from the origin whose normal points back to it; `number` names it in boundary conditions."""
    point, normal = [0, 0, 0], [0, 0, 0]
    point[axis], normal[axis] = side * distance, -side
    return dict(name=name, is_obstacle=True, type="plane", point=point, normal=normal, **({} if number is None else {"surface_selection": number}))


def simulate(program, folder, name, scene):
    """Runs a scene in `folder`/`name`: the Run and its processor time [s]; ends the program where recoil does not reach the end."""
    os.makedirs(folder, exist_ok=True)
    path, run = os.path.join(folder, name + ".json"), os.path.join(folder, name)
    with open(path, "w") as file:
        json.dump(scene, file, indent=1)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    try:
        done = subprocess.run([program, "simulate", path, "-o", run, "-q"], env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    except OSError as error:
        sys.exit("%s: %s; give the built program by --recoil" % (program, error.strerror))
    if done.returncode != 0:
        sys.exit("recoil ended with %d\n%s" % (done.returncode, done.stdout))
    return Run(run), resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def forces(run):
    """Of each obstacle by its name: force on it and its mean displacement, (steps, 3) each."""
    with open(os.path.join(run.folder, "obstacle_forces.csv")) as file:
        rows = list(csv.DictReader(file))
    names = dict.fromkeys(row["obstacle"] for row in rows)
    take = lambda name, what: np.array([[float(row[what + "_" + axis]) for axis in AXES] for row in rows if row["obstacle"] == name])
    return {name: (take(name, "force"), take(name, "displacement")) for name in names}


def write_table(path, columns):
    """A CSV file of columns {head: values}."""
    np.savetxt(path, np.column_stack(list(columns.values())), fmt="%.6g", delimiter=",", header=",".join(columns), comments="")


def energy_gap(run):
    """By how much the energies of a run that starts at rest and without stresses fail to add up, over the largest work that was in it."""
    ledger = run.ledger
    stored = sum(ledger[name] for name in ("kinetic", "elastic", "barrier"))
    taken = sum(ledger[name] for name in ("broken", "dissipated_friction", "dissipated_damping", "dissipated_integrator"))
    return abs(stored[-1] - ledger["external_work"][-1] + taken[-1]) / abs(ledger["external_work"]).max()


def porosity(run, volume):
    """Of the grains of a run in this volume."""
    return 1 - (4 / 3 * np.pi * run.mesh.radius**3).sum() / volume
