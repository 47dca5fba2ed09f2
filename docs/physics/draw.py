#!/usr/bin/env python3
"""Draws the pictures of these pages from the formulas on them: docs/physics/draw.py [folder, else ../images beside this file]."""
import sys
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


def root(f, low, high):
    """The zero of an increasing f, by bisection."""
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if f(middle) < 0 else (low, middle)
    return (low + high) / 2


def laws(axes):
    """P of a bar that is stretched along x and free across, over E: d/dl of W(l, q, q) at the q without stress across."""
    lam, mu = 0.3 / (1.3 * 0.4), 1 / 2.6
    # (P along, P across) at the stretches l along and q across.
    stresses = {
        "LinearElasticity": lambda l, q: tuple(lam * (l + 2 * q - 3) + 2 * mu * (s - 1) for s in (l, q)),
        "SaintVenant": lambda l, q: tuple(s * (lam * (l * l + 2 * q * q - 3) / 2 + mu * (s * s - 1)) for s in (l, q)),
        "NeoHookean": lambda l, q: tuple((mu * (s * s - 1) + lam * np.log(l * q * q)) / s for s in (l, q)),
        "FixedCorotational": lambda l, q: tuple(2 * mu * (s - 1) + lam * (l * q * q - 1) * l * q * q / s for s in (l, q)),
    }
    stretch = np.linspace(0.3, 1.7, 141)
    for name, stress in stresses.items():
        across = [root(lambda q: stress(l, q)[1], 0.72, 2) for l in stretch]
        axes[0].plot(stretch, [stress(l, q)[0] for l, q in zip(stretch, across)], label=name)
    axes[0].axhline(0, color="0.8", zorder=0)
    axes[0].set(xlabel="stretch", ylabel="P / E", title="a bar pressed and pulled, nu = 0.3", ylim=(-2.5, 1))


def bdf(order, steps_per_period, periods):
    """An oscillator of frequency 1 by BDF, started from its exact motion: displacements at the steps."""
    a, b = {1: ([-1], 1), 2: ([-4 / 3, 1 / 3], 2 / 3), 3: ([-18 / 11, 9 / 11, -2 / 11], 6 / 11)}[order]
    h = 2 * np.pi / steps_per_period
    past = [np.array([np.cos(k * h), -np.sin(k * h)]) for k in range(0, -order, -1)]
    matrix = np.array([[1, -b * h], [b * h, 1]])
    path = [1.0]
    for _ in range(steps_per_period * periods):
        past = [np.linalg.solve(matrix, -sum(c * state for c, state in zip(a, past))), *past[:order - 1]]
        path.append(past[0][0])
    return np.array(path)


def steps(axes):
    time = np.linspace(0, 3, 400)
    axes[0].plot(time, np.cos(2 * np.pi * time), color="0.7", label="exact")
    for order in (1, 2, 3):
        axes[0].plot(np.arange(61) / 20, bdf(order, 20, 3), ".-", markersize=4, label=f"BDF{order}")
    axes[0].set(xlabel="periods", ylabel="u", title="a vibration in 20 steps per period")


def contact(axes):
    d = np.linspace(0.02, 1.2, 400)  # distance over dhat, so that yhat is 1
    y = d**2
    near = y < 1
    axes[0].plot(d, np.where(near, -(y - 1)**2 * np.log(y), 0), label="energy b")
    force = np.where(near, 2 * d * (2 * (y - 1) * np.log(y) + (y - 1)**2 / y), 0)
    axes[0].plot(d, force, label="force -db/dd")
    axes[0].set(xlabel="distance / dhat", ylim=(0, 8), title="barrier of a pair, k = dhat = 1")
    v = np.linspace(0, 3, 200)
    axes[1].plot(v, np.where(v < 1, (2 - v) * v, 1), label="smoothed")
    axes[1].plot([0, 0, 3], [0, 1, 1], "--", color="0.6", label="Coulomb")
    axes[1].set(xlabel="sliding speed / epsv", ylabel="friction / (mu N)", title="friction")


def sweeps(axes):
    """Which state is computed from which: forward the run, backward the adjoint states."""
    axis = axes[0]
    names = ["0", "1", "2", "n-1", "n"]
    for row, letter, color in ((1, "u", "tab:blue"), (0, "p", "tab:orange")):
        first = 0 if row else 1  # the initial state is given, there is no equation for it
        for k, name in list(enumerate(names))[first:]:
            axis.text(k, row, f"${letter}_{{{name}}}$", ha="center", va="center", fontsize=13, bbox={"boxstyle": "round", "fc": "white", "ec": color})
        for k in range(first, 4):
            begin, end = (k, k + 1) if row else (k + 1, k)
            if k == 2:
                axis.text(k + 0.5, row, "...", ha="center", va="center")
            else:
                axis.annotate("", (end - 0.27 * np.sign(end - begin), row), (begin + 0.27 * np.sign(end - begin), row),
                              arrowprops={"arrowstyle": "->", "color": color})
    for k in range(1, 5):
        axis.annotate("", (k, 0.25), (k, 0.75), arrowprops={"arrowstyle": "->", "color": "0.6"})
    axis.text(-0.4, 1.35, "forward: each step minimises, its state is kept", color="tab:blue")
    axis.text(-0.4, -0.45, "backward: a linear solve per step, with the step's own Hessian", color="tab:orange")
    axis.set(xlim=(-0.5, 4.5), ylim=(-0.6, 1.6))
    axis.axis("off")


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1] / "images"
    for name, draw, columns in (("elasticity", laws, 1), ("time", steps, 1), ("contact", contact, 2), ("adjoint", sweeps, 1)):
        figure, axes = plt.subplots(1, columns, figsize=(4.6 * columns + 1.4 * (columns == 1), 3.2), squeeze=False)
        draw(axes[0])
        for axis in axes[0]:
            if axis.get_legend_handles_labels()[0]:
                axis.legend(fontsize=8)
        figure.tight_layout()
        figure.savefig(folder / f"physics_{name}.png", dpi=100)


if __name__ == "__main__":
    main()
