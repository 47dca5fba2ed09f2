#!/usr/bin/env python3
"""Draws what `recoil gradient jobs/study/study.json -o RUN --check` found: the observed path and that of the start values, and
the errors of central differences over their step.

    jobs/study/plot.py RUN [-o picture.png]
"""
import argparse
import json
import os

import numpy as np
from observe import FOLDER, path
from tools import Bodies, plt, states

OUTLINES = 5


def draw_paths(area, run):
    """In the plane of the throw: every centre, the block now and then, the floor."""
    with open(os.path.join(FOLDER, "throw.json")) as file:
        normal = json.load(file)["geometry"][1]["normal"]
    observed = np.genfromtxt(os.path.join(FOLDER, "observed.csv"), delimiter=",", names=True)
    start = path(run)
    bodies = Bodies(run)
    stored = list(states(run))
    for k in np.linspace(0, len(stored) - 1, OUTLINES).astype(int):
        moved = bodies.rest + stored[k][1][:, :2]
        for edge in bodies.faces(0):
            area.plot(*moved[edge].T, color="0.75", lw=0.8)
    ends = np.array([start[:, 1].min() - 0.12, start[:, 1].max() + 0.15])
    area.plot(ends, -ends * normal[0] / normal[1], color="0.35", lw=1.5)
    area.plot(start[:, 1], start[:, 2], color="C0", label="start values")
    area.plot(observed["x"], observed["y"], "o", color="C3", ms=4, mfc="none", label="observed")
    area.set_aspect("equal")
    area.set_xlabel("x [m]")
    area.set_ylabel("y [m]")
    area.legend(frameon=False)


def draw_check(area, check):
    for name, found in check.items():
        area.loglog(found["steps"], found["relative_errors"], "o-", ms=4, label=name)
    h = np.array([1e-4, 1e-2])
    area.loglog(h, h ** 2, "--", color="0.5", label="$h^2$")
    area.set_xlabel("relative step h of the differences")
    area.set_ylabel("relative error")
    area.legend(frameon=False, fontsize=8)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", help="folder that recoil gradient wrote")
    parser.add_argument("-o", "--output", help="picture (default: picture.png in the folder)")
    arguments = parser.parse_args()
    with open(os.path.join(arguments.run, "gradient.json")) as file:
        found = json.load(file)
    figure, areas = plt.subplots(1, 2, figsize=(12, 4.6), width_ratios=(1.7, 1), constrained_layout=True)
    draw_paths(areas[0], os.path.join(arguments.run, "throw"))
    if "check" in found:
        draw_check(areas[1], found["check"])
    areas[0].set_title("objective %.4g" % found["objective"], fontsize=10)
    output = arguments.output or os.path.join(arguments.run, "picture.png")
    figure.savefig(output, dpi=120)
    print("drawn: " + output)


if __name__ == "__main__":
    main()
