#!/usr/bin/env python3
"""Spheres without friction in a cell that repeats, pressed together from all sides to jamming and let go again.

    python3 bench/physics/jamming.py --recoil build/release/recoil -o jamming [--ranks 2] [--spheres 1000]

A loose packing shrinks with its cell until spheres fill 0.665 of it, then the cell grows in small parts, each of which comes to rest. By harmonic repulsion the pressure
is proportional to the share of the volume above that at jamming, 0.639 in large systems, and spheres have 6 contacts at jamming, beyond it 6 + 7.7 times the root of
the share above [O'Hern, Silbert, Liu, Nagel, Physical Review E 68 (2003) 011306]. Spheres that fewer than four others hold do not count. Writes scene, run, jamming.csv
and jamming.png into the output folder. Exit code 1 where the figures are not those.
"""
import argparse
import csv
import json
import os
import shlex
import shutil
import subprocess
import sys

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

R, GAP, STIFFNESS, DENSITY = 0.01, 2e-4, 2e4, 1000.0  # radius, gap at which contact begins [m], [N/m], [kg/m^3]
DT, EVERY, START, DENSEST = 0.01, 10, 0.35, 0.665  # time step [s], steps from one stored state to the next, shares of the volume
RELEASED = (0.66, 0.655, 0.65, 0.647, 0.645, 0.643, 0.642)
LOOSE, PRESSED, MOVED, RESTED = 100, 100, 10, 40  # steps to 0.6, to the densest one, of a part, of the rest after it
JAMMED, CONTACTS, ROOT = 0.639, 6.0, 7.7


def schedule():
    """Steps and shares between which the edges of the cell change linearly, and the steps of the states at rest."""
    points = [(0, START), (LOOSE, 0.6), (LOOSE + PRESSED, DENSEST)]
    rests = []
    for share in (DENSEST,) + RELEASED:
        if share != DENSEST:
            points.append((points[-1][0] + MOVED, share))
        points.append((points[-1][0] + RESTED, share))
        rests.append(points[-1][0])
    return points, rests


def edge(share):
    return (START / share) ** (1 / 3)


def stretch(points):
    """The formula of the change of the edges over their length at rest."""
    terms = []
    for (first, a), (last, b) in zip(points, points[1:]):
        if a != b:
            slope = (edge(b) - edge(a)) / ((last - first) * DT)
            terms.append("%.17g*min(max(t - %.17g, 0), %.17g)" % (slope, first * DT, (last - first) * DT))
    return " + ".join(terms)


def side_of(spheres):
    """Of a cell of which so many spheres, with half of the gap around each, fill the first share."""
    return (spheres * 4 * np.pi / 3 * (R + GAP / 2) ** 3 / START) ** (1 / 3)


def scene(spheres, seed):
    points, rests = schedule()
    side = side_of(spheres)
    change = stretch(points)
    return {
        "geometry": [{"name": "grains", "generator": {"type": "box", "size": [side] * 3, "divisions": 1},
                      "particles": {"packing": "random", "radius": R, "porosity": 1 - spheres * 4 * np.pi / 3 * R ** 3 / side ** 3, "seed": seed, "bonded": False}}],
        "materials": {"type": "BondedParticles", "E": 1e6, "nu": 0.3, "rho": DENSITY},
        "boundary_conditions": {"periodic_boundary": {"enabled": True, "linear_displacement_offset": [[change, 0, 0], [0, change, 0], [0, 0, change]]}},
        "contact": {"enabled": True, "dhat": GAP},
        "time": {"dt": DT, "time_steps": rests[-1]},
        "output": {"every": EVERY, "contacts": True},
        "solver": {"type": "bonded_particles", "contact": {"barrier_stiffness": STIFFNESS}, "bonded_particles": {"integrator": "leapfrog", "restitution": 0.2}},
    }


def table(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def contacts_of(rows):
    """Contacts per sphere and number of spheres, without those that fewer than four others hold."""
    pairs = np.array([(int(row["particle"]), int(row["other"])) for row in rows], dtype=int).reshape(-1, 2)
    while True:
        count = np.bincount(pairs.ravel()) if len(pairs) else np.zeros(0, dtype=int)
        held = count >= 4
        kept = pairs[held[pairs].all(axis=1)]
        if len(kept) == len(pairs):
            break
        pairs = kept
    number = int(held.sum())
    return (2 * len(pairs) / number if number else 0.0), number


def curve(folder, spheres):
    """Of every stored state: step, share, pressure over k / d, contacts, held spheres."""
    by_step = {}
    for row in table(os.path.join(folder, "contacts.csv")):
        by_step.setdefault(int(row["step"]), []).append(row)
    volume = spheres * 4 * np.pi / 3 * (R + GAP / 2) ** 3
    rows = []
    for row in table(os.path.join(folder, "cell_stress.csv")):
        step = int(row["step"])
        if step % EVERY != 0:
            continue
        pressure = -sum(float(row["sigma_" + 2 * axis]) for axis in "xyz") / 3
        rows.append((step, volume / float(row["volume"]), pressure * 2 * R / STIFFNESS, *contacts_of(by_step.get(step, []))))
    return np.array(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--recoil", required=True)
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--spheres", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    os.makedirs(given.output, exist_ok=True)
    file, folder = os.path.join(given.output, "scene.json"), os.path.join(given.output, "run")
    with open(file, "w") as out:
        json.dump(scene(given.spheres, given.seed), out, indent=1)
    program = shlex.split(given.recoil)
    launch = ["mpirun", "--oversubscribe", "-n", str(given.ranks)] if given.ranks > 1 else []
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run(launch + program + ["simulate", file, "-o", folder, "-q"], check=True)

    rows = curve(folder, given.spheres)
    np.savetxt(os.path.join(given.output, "jamming.csv"), rows, delimiter=",", header="step,share,pressure,contacts,held", comments="", fmt="%.9g")
    rests = rows[np.isin(rows[:, 0], schedule()[1])]
    pressed = rests[rests[:, 2] > 1e-6]
    slope, constant = np.polyfit(pressed[:, 1], pressed[:, 2], 1)
    jammed = -constant / slope
    above = np.sqrt(pressed[:, 1] - jammed)
    root, contacts = np.polyfit(above, pressed[:, 3], 1)
    loose = rows[rows[:, 1] < 0.57, 2].max()
    print("pressure d/k below a share of 0.57: at most %.2g, at %.3f: %.4g" % (loose, rests[0, 1], rests[0, 2]))
    print("jamming at a share of %.4f (%.3f in large systems)" % (jammed, JAMMED))
    print("contacts there %.3f (%.0f), with the root of the share above times %.2f (%.1f)" % (contacts, CONTACTS, root, ROOT))
    print("share, pressure d/k, contacts, held: " + "; ".join("%.4f %.3g %.3f %d" % tuple(row[1:]) for row in rests))

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), constrained_layout=True)
    left.plot(rows[:, 1], rows[:, 2], "-", color="0.6", label="on the way")
    left.plot(rests[:, 1], rests[:, 2], "o", label="at rest")
    left.plot([jammed, rests[0, 1]], [0, slope * (rests[0, 1] - jammed)], "--", label="from %.4f on" % jammed)
    left.set(xlabel="share of the volume", ylabel="pressure d / k", xlim=(0.6, None))
    shares = np.linspace(jammed, rests[0, 1], 100)
    right.plot(rests[:, 1], rests[:, 3], "o", label="at rest")
    right.plot(shares, CONTACTS + ROOT * np.sqrt(shares - jammed), "--", label="6 + 7.7 sqrt(share above)")
    right.set(xlabel="share of the volume", ylabel="contacts per sphere that is held")
    for area in (left, right):
        area.legend(frameon=False)
    figure.savefig(os.path.join(given.output, "jamming.png"), dpi=120)
    fits = loose < 1e-2 * rests[0, 2] and abs(jammed - JAMMED) < 0.01 and abs(contacts - CONTACTS) < 0.2
    print("as published" if fits else "NOT as published")
    return 0 if fits else 1


if __name__ == "__main__":
    sys.exit(main())
