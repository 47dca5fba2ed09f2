#!/usr/bin/env python3
"""Makes press.csv and drag.csv from a run of scene.json, whose values are the true ones, with noise of 1 % of the largest force: the normal
force of the indenter over its displacement while it is pressed into the block, and the tangential force that a load cell below the block
measures over time, first while the block is pressed, then while the indenter is dragged along it.

    jobs/indentation/observe.py --recoil build/release/recoil
"""
import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent.parent / "scripts"))
from recoil_run import Run  # noqa: E402

DEPTH, NOISE, SEED = 6e-3, 0.01, 4  # m at 1 s, where the drag begins


def forces(folder):
    """Times, normal force of the indenter, and tangential force of what holds the block, which without inertia is that of the indenter."""
    states = [state for state in Run(folder)][1:]
    total = np.array([(state["contact_force"] + state["friction_force"]).sum(axis=0) for state in states])
    return np.array([state.time for state in states]), -total[:, 1], total[:, 0]


def write(name, header, abscissa, force, random):
    sd = float("%.2g" % (NOISE * np.abs(force).max()))
    with open(FOLDER / name, "w") as file:
        file.write(header + ",force [N],sd [N]\n")
        file.writelines("%.9g,%.4f,%g\n" % (x, f + random.normal(0, sd), sd) for x, f in zip(abscissa, force))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recoil", required=True)
    recoil = Path(parser.parse_args().recoil).resolve()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([recoil, "simulate", FOLDER / "scene.json", "-o", f"{folder}/run", "-q"], check=True)
        times, normal, tangential = forces(f"{folder}/run")
    random, pressed = np.random.default_rng(SEED), times < 1 + 1e-9
    write("press.csv", "displacement [mm]", 1e3 * DEPTH * times[pressed], normal[pressed], random)
    write("drag.csv", "time [s]", times, tangential, random)


if __name__ == "__main__":
    main()
