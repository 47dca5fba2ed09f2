#!/usr/bin/env python3
"""Stresses of both tests: draw.py TRIAXIAL_RUN SHEAR_BOX_RUN OUTPUT.png. Prints the angles of friction that they show."""
import os
import sys

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


def forces(folder):
    rows = np.genfromtxt(os.path.join(folder, "obstacle_forces.csv"), delimiter=",", names=True, dtype=None, encoding="utf-8")
    return {name: rows[rows["obstacle"] == name] for name in np.unique(rows["obstacle"])}


def way(rows, axis):
    return rows["displacement_" + axis]


def smooth(values, count=5):
    return np.convolve(values, np.ones(count) / count, "same")


def triaxial(folder, width=0.02, height=0.04):
    """Axial strain, stresses along and across the axis, strain of volume: by the present sizes of the specimen."""
    of = forces(folder)
    dx = way(of["side x"], "x") - way(of["side -x"], "x")
    dy = way(of["side y"], "y") - way(of["side -y"], "y")
    a, b, h = width + dx, width + dy, height + way(of["top"], "z")
    axial = (of["top"]["force_z"] - of["base"]["force_z"]) / 2 / (a * b)
    lateral = (of["side x"]["force_x"] - of["side -x"]["force_x"]) / 4 / (b * h) + (of["side y"]["force_y"] - of["side -y"]["force_y"]) / 4 / (a * h)
    return 1 - h / height, axial, lateral, a * b * h / (width**2 * height) - 1


def shear_box(folder, width=0.03):
    of = forces(folder)
    x = way(of["upper half"], "x")
    area = width * (width - x)
    return x, -of["upper half"]["force_x"] / area, of["lid"]["force_z"] / area, way(of["lid"], "z")


def main():
    strain, axial, lateral, volume = triaxial(sys.argv[1])
    x, tau, sigma, lift = shear_box(sys.argv[2])
    figure, axes = plt.subplots(2, 2, figsize=(10, 6), sharex="col", height_ratios=(2, 1), constrained_layout=True)
    axes[0, 0].plot(100 * strain, axial / 1e3, "0.8")
    axes[0, 0].plot(100 * strain, smooth(axial) / 1e3, label="axial")
    axes[0, 0].plot(100 * strain, smooth(lateral) / 1e3, label="lateral")
    axes[0, 0].set_ylabel("stress [kPa]")
    axes[0, 0].set_title("triaxial test")
    axes[1, 0].plot(100 * strain, 100 * volume)
    axes[1, 0].set_ylabel("volume [%]")
    axes[1, 0].set_xlabel("axial strain [%]")
    axes[0, 1].plot(1e3 * x, tau / 1e3, "0.8")
    axes[0, 1].plot(1e3 * x, smooth(tau) / 1e3, label="shear")
    axes[0, 1].plot(1e3 * x, smooth(sigma) / 1e3, label="normal")
    axes[0, 1].set_title("shear box")
    axes[1, 1].plot(1e3 * x, 1e3 * lift)
    axes[1, 1].set_ylabel("rise of the lid [mm]")
    axes[1, 1].set_xlabel("way of the upper half [mm]")
    for axis in axes[0]:
        axis.legend(frameon=False)
    figure.savefig(sys.argv[3], dpi=110)
    late = slice(len(strain) // 3, None)
    ratio = smooth(axial)[late] / smooth(lateral)[late]
    angle = np.degrees(np.arcsin((ratio - 1) / (ratio + 1)))
    print("triaxial: lateral %.4g kPa, peak axial %.4g kPa, angle of friction %.1f degrees at the peak, %.1f at the end"
          % (lateral[late].mean() / 1e3, smooth(axial)[late].max() / 1e3, angle.max(), angle[-20:].mean()))
    ratio = (smooth(tau) / smooth(sigma))[len(x) // 5:-3]
    print("shear box: normal %.4g kPa, angle of friction %.1f degrees at the peak, %.1f at the end"
          % (sigma[len(x) // 3:].mean() / 1e3, np.degrees(np.arctan(ratio.max())), np.degrees(np.arctan(ratio[-40:].mean()))))
    held = forces(sys.argv[2])["lid"]["force_z"][len(x) // 2:] / (2e4 * 0.03**2)
    print("the lid holds its force within %.2g, the mean within %.2g" % (abs(held - 1).max(), abs(held.mean() - 1)))


if __name__ == "__main__":
    main()
