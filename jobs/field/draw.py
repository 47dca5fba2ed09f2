#!/usr/bin/env python3
"""Draws the field that a fit of this job has found, and says how well it agrees with the true one.

    jobs/field/draw.py field/study.json field/fit/ -o field.png
"""
import argparse
import json
from pathlib import Path

import h5py
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
from make import true_modulus  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", type=Path)
    parser.add_argument("fit", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=Path("field.png"))
    arguments = parser.parse_args()
    markers = np.array([marker["rest"] for marker in json.loads(arguments.study.read_text())["markers"]])
    with h5py.File(arguments.fit / "posterior.h5") as file:
        points, cells = file["E/vertices"][:], file["E/cells"][:]
        estimate, prior_sd, sd = (file["E/" + name][:].ravel() for name in ("estimate", "prior_sd", "posterior_sd"))
    true = true_modulus(*points[cells].mean(axis=1).T)
    error = np.log(estimate / true)
    print("ln E: error %.3f (root mean square), of which the posterior expects %.3f; |error| <= 2 sd in %.1f %% of the elements"
          % (np.sqrt((error ** 2).mean()), np.sqrt((sd ** 2).mean()), 100 * (np.abs(error) <= 2 * sd).mean()))
    figure, areas = plt.subplots(2, 2, figsize=(9.5, 5.4), constrained_layout=True)
    limits = {"vmin": true.min() / 1e3, "vmax": true.max() / 1e3, "cmap": "viridis"}
    deviations = {"vmin": 0, "vmax": prior_sd.max(), "cmap": "magma"}
    for area, title, values, style in ((areas[0, 0], "true E [kPa]", true / 1e3, limits),
                                       (areas[0, 1], "estimate [kPa]", estimate / 1e3, limits),
                                       (areas[1, 0], "prior deviation of ln E", prior_sd, deviations),
                                       (areas[1, 1], "posterior deviation of ln E", sd, deviations)):
        drawn = area.tripcolor(*points.T, cells, values, rasterized=True, **style)
        area.plot(*markers.T, ".", color="tab:red", ms=3)
        area.set_title(title, fontsize=10)
        area.set_aspect("equal")
        area.axis("off")
        figure.colorbar(drawn, ax=area, shrink=0.8)
    figure.savefig(arguments.output, dpi=100)


if __name__ == "__main__":
    main()
