#!/usr/bin/env python3
"""Simple shear of dense and of loose grains in a cell that repeats, at constant volume: stresses, mobilised friction angle.

    jobs/cells/shear.py --recoil build/release/recoil -o shear/

Grains at random are pressed together from all sides, then sheared, H_xz = gamma, by `leapfrog` with Hertz' law and Mindlin's springs along contacts; without
walls all of the cell is alike. sin phi = (sigma_1 - sigma_3)/(sigma_1 + sigma_3) by the principal stresses of `cell_stress.csv`. Leaves a CSV file of each packing and
shear.png in the output folder."""
import argparse
import csv
import json
import os
import subprocess
import sys

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

SIDE, RADII, GAP = 0.04, [0.003, 0.004], 1e-5  # [m]
RATE, STEP, WAIT = 2.0, 5e-4, 0.02  # rate of shear [1/s], shear in a step, time to press the grains together [s]
PACKINGS = {"dense": dict(porosity=0.38, pressed=0.006), "loose": dict(porosity=0.43, pressed=0.012)}  # and share of each edge


def scene(porosity, pressed, strain, friction=0.5):
    isotropic = "-%g*min(1, t/%g)" % (pressed, 0.8 * WAIT)
    H = [[isotropic, 0, "%g*max(0, t - %g)" % (RATE, WAIT)], [0, isotropic, 0], [0, 0, isotropic]]
    dt = STEP / RATE
    return {"geometry": [{"name": "grains", "generator": {"type": "box", "size": [SIDE] * 3, "divisions": 1},
                          "particles": {"packing": "random", "radius": RADII, "porosity": porosity, "seed": 1, "bonded": False}}],
            "materials": {"type": "BondedParticles", "E": 1e8, "nu": 0.2, "rho": 2600},
            "boundary_conditions": {"periodic_boundary": {"enabled": True, "linear_displacement_offset": H}},
            "contact": {"enabled": True, "dhat": GAP, "friction_coefficient": friction},
            "time": {"dt": dt, "time_steps": round(WAIT / dt + strain / STEP)}, "output": {"every": 20},
            "solver": {"type": "bonded_particles", "bonded_particles": {"integrator": "leapfrog", "contact_law": "hertz", "tangential_law": "mindlin", "restitution": 0.5}}}


def simulate(program, folder, name, text):
    """The run of a scene; ends the program where recoil does not reach the end."""
    os.makedirs(folder, exist_ok=True)
    path, run = os.path.join(folder, name + ".json"), os.path.join(folder, name)
    with open(path, "w") as file:
        json.dump(text, file, indent=1)
    try:
        done = subprocess.run([program, "simulate", path, "-o", run, "-q"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    except OSError as error:
        sys.exit("%s: %s; give the built program by --recoil" % (program, error.strerror))
    if done.returncode != 0:
        sys.exit("recoil ended with %d\n%s" % (done.returncode, done.stdout))
    return run


def curve(run):
    """Shear, mean pressure and shear stress [Pa], friction angle [degrees], from where shear begins on."""
    with open(os.path.join(run, "cell_stress.csv")) as file:
        rows = list(csv.DictReader(file))
    rows = rows[round(WAIT * RATE / STEP) - 1:]  # the first one is of step 1
    sigma = np.array([[[float(row["sigma_" + a + b]) for b in "xyz"] for a in "xyz"] for row in rows])
    principal = np.linalg.eigvalsh((sigma + sigma.transpose(0, 2, 1)) / 2)
    gamma = STEP * np.arange(len(rows))
    sine = (principal[:, 2] - principal[:, 0]) / -(principal[:, 2] + principal[:, 0])
    return {"gamma": gamma, "pressure": -np.trace(sigma, axis1=1, axis2=2) / 3, "shear_stress": sigma[:, 0, 2], "friction_angle": np.degrees(np.arcsin(sine))}


def smoothed(values, count=21):
    """Running means, of fewer at the ends."""
    ones = np.ones(count)
    return np.convolve(values, ones, "same") / np.convolve(np.ones(len(values)), ones, "same")


def draw(curves, path):
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), constrained_layout=True)
    for name, table in curves.items():
        axes[0].plot(100 * table["gamma"], table["shear_stress"] / 1e3, label=name)
        axes[1].plot(table["pressure"] / 1e3, table["shear_stress"] / 1e3, label=name)
        line, = axes[2].plot(100 * table["gamma"], table["friction_angle"], alpha=0.35)
        axes[2].plot(100 * table["gamma"], smoothed(table["friction_angle"]), color=line.get_color(), label=name)
    for axis, x, y in zip(axes, ("shear [%]", "mean pressure [kPa]", "shear [%]"), ("shear stress [kPa]", "shear stress [kPa]", "mobilised friction angle [degrees]")):
        axis.set_xlabel(x)
        axis.set_ylabel(y)
        axis.set_ylim(bottom=0)
        axis.legend(frameon=False)
    axes[1].set_xlim(left=0)
    figure.savefig(path, dpi=90)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recoil", type=os.path.abspath, required=True)
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--strain", type=float, default=0.3, help="shear at the end")
    arguments = parser.parse_args()
    curves = {}
    for name, packing in PACKINGS.items():
        run = simulate(arguments.recoil, arguments.output, name, scene(strain=arguments.strain, **packing))
        table = curves[name] = curve(run)
        np.savetxt(os.path.join(arguments.output, name + "_shear.csv"), np.column_stack(list(table.values())), fmt="%.6g", delimiter=",", header=",".join(table), comments="")
        mean, third = smoothed(table["friction_angle"]), len(table["gamma"]) * 2 // 3
        print("%s: %.3g kPa before shear, %.3g at the end; friction angle %.1f degrees at most, at a shear of %.3g, %.1f in the last third"
              % (name, table["pressure"][0] / 1e3, table["pressure"][-1] / 1e3, mean.max(), table["gamma"][mean.argmax()], table["friction_angle"][third:].mean()), flush=True)
    draw(curves, os.path.join(arguments.output, "shear.png"))


if __name__ == "__main__":
    main()
