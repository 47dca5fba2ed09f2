#!/usr/bin/env python3
"""Curve of load over way of a crushed grain, and its fragments: draw.py RUN OUTPUT.png"""
import os
import sys

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


def table(folder, name):
    return np.genfromtxt(os.path.join(folder, name), delimiter=",", names=True, dtype=None, encoding="utf-8")


def main():
    folder, output = sys.argv[1:]
    forces, breaks, energies = (table(folder, name) for name in ("obstacle_forces.csv", "broken_bonds.csv", "ledger.csv"))
    upper, lower = (forces[forces["obstacle"] == name] for name in ("upper platen", "lower platen"))
    way = -1000 * upper["displacement_z"]
    figure, (load, count) = plt.subplots(2, 1, figsize=(7, 6), sharex=True, height_ratios=(2, 1), constrained_layout=True)
    load.plot(way, upper["force_z"], label="upper platen")
    load.plot(way, -lower["force_z"], label="lower platen")
    load.set_ylabel("load [N]")
    load.legend(frameon=False)
    for mode, colour in (("tension", "C3"), ("shear", "C4")):
        steps = np.searchsorted(energies["time"], np.atleast_1d(breaks["time"][breaks["mode"] == mode]) * (1 - 1e-9))
        count.plot(way, np.cumsum(np.bincount(steps, minlength=len(way)))[:len(way)], colour, label="by " + mode)
    count.set_xlabel("way of the upper platen [mm]")
    count.set_ylabel("broken bonds")
    count.legend(frameon=False)
    figure.savefig(output, dpi=110)
    print("greatest load %.4g N after %.3g mm; %d bonds broke" % (upper["force_z"].max(), way[upper["force_z"].argmax()], len(breaks)))


if __name__ == "__main__":
    main()
