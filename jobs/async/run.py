#!/usr/bin/env python3
"""Runs the scenes of this folder, checks what the paper says of them, and draws pictures.

    jobs/async/run.py --recoil build/release/recoil               # all
    jobs/async/run.py --recoil build/release/recoil wedge spikes

Each job gets a run folder below --out with picture.png, and a row of the table that is printed at the end: processor seconds, events
per second, worst errors of energy and momentum. The exit code is 1 where a run fails or a check does not hold.
"""
import argparse
import csv
import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
RENDER = FOLDER.parents[1] / "scripts" / "render.py"
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMP_NUM_THREADS="1")


def ledger(folder):
    with open(folder / "ledger.csv") as file:
        return [{name: float(value) if value else math.inf for name, value in row.items()} for row in csv.DictReader(file)]


def energy(row):
    return sum(row[name] for name in ("kinetic", "stretching", "bending", "spring", "elastic", "contact", "anchor", "gravity"))


def quarters(rows):
    """Mean energies of the four quarters of a run."""
    size = len(rows) // 4
    return [sum(energy(row) for row in rows[k * size:(k + 1) * size]) / size for k in range(4)]


def flat(rows):
    means = quarters(rows)
    return [(abs(means[3] / 3 - 1) < 0.0015, "mean energy of the last quarter %.5f J, 3 J at the start" % means[3])]


def rising(rows):
    means = quarters(rows)
    return [(means == sorted(means) and means[3] > 3 * 1.015, "unaligned clocks gain energy: quarters " + " ".join("%.3f" % m for m in means))]


def decaying(rows):
    kinetic = [row["kinetic"] for row in rows]
    return [(kinetic[-1] < 0.5 * kinetic[0], "e = 0.8 leaves %.3g of the kinetic energy" % (kinetic[-1] / kinetic[0]))]


def resting(rows):
    kinetic = [row["kinetic"] for row in rows]
    return [(kinetic[-1] < 0.01 * max(kinetic), "at rest: %.2g of the greatest kinetic energy" % (kinetic[-1] / max(kinetic)))]


def reflected(rows):
    last = rows[-1]
    return [(last["linear_z"] > 0, "the sphere is reflected: vertical momentum %.3g, %.3g at the start" % (last["linear_z"], rows[0]["linear_z"]))]


def balanced(share):
    """Work done by walls against gain and dissipation."""
    def check(rows):
        first, last = rows[0], rows[-1]
        work = last["wall_work"] - first["wall_work"] + last["load_work"] - first["load_work"]
        lost = sum(last[name] - first[name] for name in last if name.startswith("dissipated"))
        gained = energy(last) - energy(first)
        scale = max(abs(work), lost)
        return [(abs(work - gained - lost) < share * scale, "wall work %.3g J, gain %.3g J, dissipation %.3g J" % (work, gained, lost))]

    return check


class Job:
    """energy: most that the error of energy may be, as a share of the largest one; check: of the rows of the ledger; draw: options of render.py."""

    def __init__(self, energy, *checks, draw=()):
        self.energy, self.checks, self.draw = energy, checks, draw


JOBS = {
    "spring": Job(0.01, flat, draw=("--view", -90, 0, "--up", "z")),
    "spring_unaligned": Job(1, rising, draw=("--view", -90, 0, "--up", "z")),
    "discs": Job(0.005, draw=("--view", -90, 90, "--field", "v")),
    "discs_damped": Job(0.005, decaying, draw=("--view", -90, 90, "--up", "z", "--field", "v")),
    "restitution_0": Job(0.005, draw=("--view", -90, 90, "--up", "z", "--field", "v")),
    "restitution_4": Job(0.005, draw=("--view", -90, 90, "--up", "z", "--field", "v")),
    "restitution_10": Job(0.005, draw=("--view", -90, 90, "--up", "z", "--field", "v")),
    "sphere_plate": Job(0.01, draw=("--field", "v", "--view", -60, 30)),
    "spikes_rest": Job(0.02, resting, draw=("--view", -50, 20)),
    "reef_knot_fine": Job(0.02, draw=("--view", -70, 50, "--no-rest")),
    "wedge": Job(0.01, reflected, draw=("--view", -35, 20)),
    "spikes": Job(0.02, draw=("--view", -50, 20)),
    "spikes_pull": Job(0.02, draw=("--view", -60, 30, "--no-rest")),
    "block": Job(0.02, draw=("--view", -60, 20)),
    "reef_knot": Job(0.02, draw=("--view", -70, 50, "--no-rest")),
    "bowline": Job(0.02, draw=("--view", -60, 45, "--no-rest")),
    "compactor": Job(0.02, balanced(0.02), draw=("--view", -60, 40, "--no-rest")),
}


def check_restitutions(out, jobs):
    """Where all of them ran: discs with gravity lose the more of their kinetic energy within 1 s the smaller e is."""
    sweep = ("restitution_0", "restitution_4", "discs_damped", "restitution_10")
    if not set(sweep) <= set(jobs):
        return []
    kinetic = [next(row["kinetic"] for row in ledger(out / name) if row["time"] > 1 - 1e-9) for name in sweep]
    text = "kinetic energies for e = 0, 0.4, 0.8, 1 after 1 s: " + ", ".join("%.3g J" % value for value in kinetic)
    print("%s %s" % ("ok  " if kinetic == sorted(kinetic) else "FAIL", text), flush=True)
    return [] if kinetic == sorted(kinetic) else [text]


def merged(name):
    """A scene with what it has of another one."""
    scene = json.loads((FOLDER / f"{name}.json").read_text())
    return merged(Path(scene["common"]).stem) | scene if "common" in scene else scene


def begun(name, share, out):
    """The scene with a share of its time, as a file in `out`."""
    scene = {"common": str(FOLDER / f"{name}.json"), "root_path": str(FOLDER), "time": {"tend": share * merged(name)["time"]["tend"]}}
    path = out / f"{name}_begun.json"
    path.write_text(json.dumps(scene))
    return path


def work(name, recoil, out, share, draws):
    job, folder = JOBS[name], out / name
    shutil.rmtree(folder, ignore_errors=True)
    scene = FOLDER / f"{name}.json" if share == 1 else begun(name, share, out)
    before = os.times()
    done = subprocess.run([recoil, "simulate", scene, "-o", folder, "-q"], env=ENVIRONMENT, stdin=subprocess.DEVNULL)
    after = os.times()
    seconds = after.children_user - before.children_user
    if done.returncode != 0:
        return None, [f"{name}: exit {done.returncode}"]
    rows, summary = ledger(folder), json.loads((folder / "summary.json").read_text())
    worst = max(abs(row["energy_error"]) for row in rows), max(row["momentum_error"] for row in rows)
    outcomes = [(worst[0] <= job.energy, "energy to %.2g" % worst[0]), (worst[1] <= 1e-11, "momentum to %.1e" % worst[1]),
                (all(row["intersections"] == 0 for row in rows), "no intersections")]
    for check in job.checks if share == 1 else ():
        outcomes += check(rows)
    for holds, text in outcomes:
        print("%s %s: %s" % ("ok  " if holds else "FAIL", name, text), flush=True)
    if draws:
        subprocess.run([sys.executable, RENDER, folder, "--times", "4", *map(str, job.draw)], check=True)
    row = "%-17s %9d events %8.1f s %9.3g events/s, energy %.1e, momentum %.1e, layer %d" % (
        name, summary["events"], seconds, summary["events"] / max(seconds, 1e-9), *worst, summary["deepest_layer"])
    return row, [f"{name}: {text}" for holds, text in outcomes if not holds]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recoil", required=True, help="the executable")
    parser.add_argument("--out", type=Path, default=FOLDER / "runs", help="where results go (default: runs/ beside this script)")
    parser.add_argument("--share", type=float, default=1, help="run this share of the time of each job, without the checks of its end")
    parser.add_argument("--draw", type=int, default=1, help="0: no pictures")
    parser.add_argument("jobs", nargs="*", metavar="job", help=f"of {', '.join(JOBS)} (default: all)")
    arguments = parser.parse_args()
    if unknown := [job for job in arguments.jobs if job not in JOBS]:
        parser.error(f"there is no job {unknown[0]!r}; there are {', '.join(JOBS)}")
    recoil = os.path.abspath(arguments.recoil) if os.path.exists(arguments.recoil) else arguments.recoil
    arguments.out.mkdir(parents=True, exist_ok=True)
    table, failures = [], []
    for name in arguments.jobs or JOBS:
        row, wrong = work(name, recoil, arguments.out.resolve(), arguments.share, arguments.draw)
        table += [row] if row else []
        failures += wrong
    if not failures and arguments.share == 1:
        failures += check_restitutions(arguments.out, arguments.jobs or JOBS)
    print("\n".join(table))
    for failure in failures:
        print("FAIL", failure)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
