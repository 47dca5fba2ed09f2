#!/usr/bin/env python3
"""Makes observed.csv: the centre of mass of the block in throw.json, whose values are the true ones, every 0.02 s with noise of
1 mm.

    jobs/study/observe.py --recoil build/release/recoil
"""
import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(FOLDER, "..", "..", "bench", "physics"))
from tools import Bodies, states  # noqa: E402

SD, EVERY, SEED = 0.001, 0.02, 7


def path(folder):
    """Rows (time, x, y) of the centre of the first body."""
    bodies = Bodies(folder)
    return np.array([(time, *bodies.centres(u)[0]) for time, u in states(folder)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recoil", required=True)
    recoil = os.path.abspath(parser.parse_args().recoil)
    with tempfile.TemporaryDirectory() as folder:
        run = os.path.join(folder, "run")
        subprocess.run([recoil, "simulate", os.path.join(FOLDER, "throw.json"), "-o", run, "-q"], check=True)
        rows = path(run)
    rows = rows[np.isclose(rows[:, 0] / EVERY, np.round(rows[:, 0] / EVERY), atol=1e-6)]
    rows[:, 1:] += np.random.default_rng(SEED).normal(0, SD, rows[:, 1:].shape)
    with open(os.path.join(FOLDER, "observed.csv"), "w") as file:
        file.write("time,x,y,sd\n")
        file.writelines("%.3f,%.6f,%.6f,%g\n" % (*row, SD) for row in rows)


if __name__ == "__main__":
    main()
