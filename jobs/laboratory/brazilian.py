#!/usr/bin/env python3
"""Strengths of a disc split between platens and of a bar of the same particles pulled apart: brazilian.py DISC_RUN BAR_RUN OUTPUT.png"""
import os
import sys

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

DIAMETER, THICKNESS = 0.024, 0.006  # [m]
AREA, LENGTH = 0.008 * 0.006, 0.0224  # of the section, between the grips


def table(folder, name):
    return np.genfromtxt(os.path.join(folder, name), delimiter=",", names=True, dtype=None, encoding="utf-8")


def breaks(folder, times):
    """Bonds that are broken at each of the times, by tension and by shear."""
    rows = table(folder, "broken_bonds.csv")
    return [np.searchsorted(np.sort(np.atleast_1d(rows["time"][rows["mode"] == mode])), times * (1 + 1e-9)) for mode in ("tension", "shear")]


def main():
    disc, bar, output = sys.argv[1:]
    (lower, upper), (held, pulled) = ([rows[rows["entry"] == entry] for entry in (0, 1)] for rows in (table(disc, "reactions.csv"), table(bar, "reactions.csv")))
    way, split = 1000 * (lower["displacement_y"] - upper["displacement_y"]), 2 / (np.pi * DIAMETER * THICKNESS)
    strain = 100 * pulled["displacement_y"] / LENGTH
    figure, axes = plt.subplots(2, 2, figsize=(9, 5.5), sharex="col", height_ratios=(2, 1), constrained_layout=True)
    axes[0, 0].plot(way, -split * upper["force_y"] / 1e6, label="2 F/(pi D t), upper platen")
    axes[0, 0].plot(way, split * lower["force_y"] / 1e6, label="lower platen")
    axes[0, 1].plot(strain, pulled["force_y"] / AREA / 1e6, label="F/A, moved grip")
    axes[0, 1].plot(strain, -held["force_y"] / AREA / 1e6, label="held grip")
    for column, (folder, x, rows) in enumerate(((disc, way, upper), (bar, strain, pulled))):
        for count, mode, colour in zip(breaks(folder, rows["time"]), ("tension", "shear"), ("C3", "C4")):
            axes[1, column].plot(x, count, colour, label="by " + mode)
        axes[0, column].set_ylabel("stress [MPa]")
        axes[1, column].set_ylabel("broken bonds")
        for axis in axes[:, column]:
            axis.legend(frameon=False)
    axes[0, 0].set_title("Brazilian disc")
    axes[0, 1].set_title("bar in tension")
    axes[1, 0].set_xlabel("approach of the platens [mm]")
    axes[1, 1].set_xlabel("strain [%]")
    figure.savefig(output, dpi=90)
    sides = [split * (-upper["force_y"]).max(), split * lower["force_y"].max()]
    ends = [(pulled["force_y"] / AREA).max(), (-held["force_y"] / AREA).max()]
    print("disc: %.4g and %.4g MPa of upper and lower platen, %.3g mm; bonds broken %d in tension, %d in shear"
          % (sides[0] / 1e6, sides[1] / 1e6, way[upper["force_y"].argmin()], *(count[-1] for count in breaks(disc, upper["time"]))))
    print("bar: %.4g and %.4g MPa of moved and held grip, strain %.3g %%" % (ends[0] / 1e6, ends[1] / 1e6, strain[pulled["force_y"].argmax()]))
    print("disc over bar %.3f" % (sum(sides) / sum(ends)))


if __name__ == "__main__":
    main()
