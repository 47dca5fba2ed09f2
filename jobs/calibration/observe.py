#!/usr/bin/env python3
"""Makes tension.csv and bending.csv from runs of tension.json and bending.json, whose values are the true ones: the force of the testing
machine over the way of its grip, with noise of 2 % of the largest force.

    jobs/calibration/observe.py --recoil build/release/recoil
"""
import argparse
import csv
import subprocess
import tempfile
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent
NOISE, SEED = 0.02, 5
AXES = {"tension": "x", "bending": "z"}  # that the grip moves along


def curve(recoil, name):
    """Displacement of the second grip, and the force that moves it."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([recoil, "simulate", FOLDER / f"{name}.json", "-o", f"{folder}/run", "-q"], check=True)
        with open(f"{folder}/run/reactions.csv") as file:
            rows = [row for row in csv.DictReader(file) if row["entry"] == "1"]
    axis = AXES[name]
    return [np.array([float(row[f"{what}_{axis}"]) for row in rows]) for what in ("displacement", "force")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recoil", required=True)
    recoil = Path(parser.parse_args().recoil).resolve()
    random = np.random.default_rng(SEED)
    for name in AXES:
        way, force = curve(recoil, name)
        sd = float("%.2g" % (NOISE * np.abs(force).max()))
        with open(FOLDER / f"{name}.csv", "w") as file:
            file.write("displacement [mm],force [N],sd [N]\n")
            file.writelines("%.9g,%.4f,%g\n" % (1e3 * u, f + random.normal(0, sd), sd) for u, f in zip(way, force))


if __name__ == "__main__":
    main()
