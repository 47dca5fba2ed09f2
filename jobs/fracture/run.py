#!/usr/bin/env python3
"""Breaks the shapes of this folder: modes, impacts, pictures, pages to click on, and a bowl whose pieces fly.

    jobs/fracture/run.py --recoil build/release/recoil                    # all; --ranks 2
    jobs/fracture/run.py --recoil build/release/recoil mug bowl

Each shape gets a folder below --out: modes/, pieces/, pictures and fracture.html. The exit code is 1 where an energy is not the one that
is known (bar, painted, cleavage, omega), a run fails, or the pieces of the bowl intersect.
"""
import argparse
import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
SCRIPTS = FOLDER.parents[1] / "scripts"
JOBS = ("bar", "dumbbell", "painted", "cleavage", "mug", "bowl", "statue", "wheel", "kangaroo", "omega")
# 2 S / sqrt(V) of the middle plane of a bar; of the plane next to a painted middle of 1.8 out of 4; of a plane along z of a cube.
ENERGIES = {"bar": [1.0, 2.0], "painted": [1 / math.sqrt(4 * 0.25 * 0.75)], "cleavage": [2.0]}
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMP_NUM_THREADS="1")


class Recoil:
    def __init__(self, arguments):
        self.program = os.path.abspath(arguments.recoil) if os.path.exists(arguments.recoil) else arguments.recoil
        self.ranks = arguments.ranks

    def run(self, *words):
        launcher = ["mpirun", "-n", str(self.ranks), "--oversubscribe"] if self.ranks > 1 else []
        subprocess.run([*launcher, self.program, *map(str, words)], env=ENVIRONMENT, check=True, stdin=subprocess.DEVNULL)


def script(name, *words):
    subprocess.run([sys.executable, SCRIPTS / name, *map(str, words)], check=True)


def wrong_energies(name, modes):
    found = json.loads((modes / "modes.json").read_text())["content"]["energies"]
    return [f"{name}: mode {k + 1} has the energy {found[k]:.9g} and not {wanted:.9g}"
            for k, wanted in enumerate(ENERGIES.get(name, [])) if abs(found[k] / wanted - 1) > 1e-6]


def intersections(run):
    summary = json.loads((run / "summary.json").read_text())
    return [] if summary["intersections"] == 0 else [f"{run}: {summary['intersections']} intersections"]


def work(name, recoil, out):
    folder = out / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if name == "omega":
        import omega_sweep  # with scipy, which the other jobs do not need
        return omega_sweep.sweep(lambda shape, modes: recoil.run("fracture", shape, "-o", modes, "-q"), FOLDER / f"{name}.json", folder)
    modes, pieces, failures = folder / "modes", folder / "pieces", []
    recoil.run("fracture", FOLDER / f"{name}.json", "-o", modes)
    failures += wrong_energies(name, modes)
    script("render_modes.py", modes, "-o", folder / "modes.png")
    impacts = FOLDER / "impacts" / f"{name}.json"
    if not impacts.exists():
        return failures
    recoil.run("impact", modes, impacts, "-o", pieces)
    listed = json.loads(impacts.read_text())["impacts"]
    parted = [k for k, impact in enumerate(listed) if impact["magnitude"] >= 1e6]
    is_solid = (pieces / "fractured_0" / "piece_0.obj").exists() and name != "kangaroo"
    for k in range(len(listed)):
        if is_solid:
            script("render_pieces.py", pieces / f"fractured_{k}", "-o", folder / f"fractured_{k}.png")
    script("fracture_page.py", modes, "-o", folder / "fracture.html", "--title", name, *(["--pieces", pieces / f"fractured_{parted[0]}"] if parted and is_solid else []))
    scene = pieces / "fractured_0" / "scene.json"
    if scene.exists():
        recoil.run("simulate", scene, "-o", folder / "flight", "-q")
        failures += intersections(folder / "flight")
        script("render.py", folder / "flight", "-o", folder / "flight.png", "--times", "4")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recoil", required=True, help="the executable")
    parser.add_argument("--ranks", type=int, default=1, help="(default: 1)")
    parser.add_argument("--out", type=Path, default=FOLDER / "runs", help="where results go (default: runs/ beside this script)")
    parser.add_argument("jobs", nargs="*", metavar="job", help=f"of {', '.join(JOBS)} (default: all)")
    arguments = parser.parse_args()
    if unknown := [job for job in arguments.jobs if job not in JOBS]:
        parser.error(f"there is no job {unknown[0]!r}; there are {', '.join(JOBS)}")
    recoil, failures = Recoil(arguments), []
    for name in arguments.jobs or JOBS:
        failures += work(name, recoil, arguments.out.resolve())
    for failure in failures:
        print("FAIL", failure)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
