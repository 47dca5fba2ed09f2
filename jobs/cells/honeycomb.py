#!/usr/bin/env python3
"""Moduli of a regular hexagonal honeycomb from its smallest cell, beside closed forms, and a picture of it under load.

    jobs/cells/honeycomb.py --recoil build/release/recoil -o honeycomb/

Walls of length l = 1 and thickness t meet in threes; the cell, a rhombus, holds two junctions. Plane stress, quadratic elements.
Closed forms, which hold for t/l to 0:
  area modulus K = E t / (2 sqrt(3) l), of stretched walls [Torquato, Gibiansky, Silva and Gibson 1998, Int. J. Mech. Sci. 40:71-82];
  E* = 4/sqrt(3) E (t/l)^3 / (1 + (5.4 + 1.5 nu) (t/l)^2), of bent walls [Gibson and Ashby 1997, Cellular Solids, chapter 4]."""
import argparse
import csv
import json
import os
import shutil
import subprocess

import h5py
import numpy as np

E, NU = 1e6, 0.3
PERIODS = [[np.sqrt(3) / 2, 1.5], [-np.sqrt(3) / 2, 1.5]]


def honeycomb(t, along, across):
    """Vertices and triangles of a cell: walls of `across` elements in their thickness, half ones of `along` in their length."""
    vertices, triangles, numbers = [], [], {}

    def vertex(point):
        key = tuple(np.round(point, 9) + 0.0)
        if key not in numbers:
            numbers[key] = len(vertices)
            vertices.append(point)
        return numbers[key]

    def strip(centre, angle, begin, end, count):
        """A wall from a junction outwards, whose sides are parallel."""
        d, n = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
        grid = [[vertex(centre + s * d + t * (k / across - 0.5) * n) for k in range(across + 1)]
                for s in np.linspace(begin, end, count + 1)]
        for i in range(count):
            for k in range(across):
                a, b, c, e = grid[i][k], grid[i + 1][k], grid[i + 1][k + 1], grid[i][k + 1]
                triangles.extend([(a, b, c), (a, c, e)] if k % 2 else [(a, b, e), (b, c, e)])

    def junction(centre, angles):
        """The triangle between three walls."""
        corners = [centre + t / np.sqrt(3) * np.array([np.cos(a + np.pi / 3), np.sin(a + np.pi / 3)]) for a in angles]
        at = {(i, j): vertex(corners[0] + i / across * (corners[1] - corners[0]) + j / across * (corners[2] - corners[0]))
              for i in range(across + 1) for j in range(across + 1 - i)}
        for i in range(across):
            for j in range(across - i):
                triangles.append((at[i, j], at[i + 1, j], at[i, j + 1]))
                if i + j < across - 1:
                    triangles.append((at[i + 1, j], at[i + 1, j + 1], at[i, j + 1]))

    inner = t / (2 * np.sqrt(3))
    up, lower, upper = np.pi / 2, np.zeros(2), np.array([0.0, 1.0])
    junction(lower, [up, up + 2 * np.pi / 3, up + 4 * np.pi / 3])
    junction(upper, [-up, -up + 2 * np.pi / 3, -up + 4 * np.pi / 3])
    strip(lower, up, inner, 1 - inner, 2 * along)
    for turn in (1, 2):
        strip(lower, up + turn * 2 * np.pi / 3, inner, 0.5, along)
        strip(upper, -up + turn * 2 * np.pi / 3, inner, 0.5, along)
    return np.array(vertices), triangles


def write_obj(path, vertices, triangles):
    with open(path, "w") as file:
        for x, y in vertices:
            file.write("v %.17g %.17g 0\n" % (x, y))
        for triangle in triangles:
            file.write("f %d %d %d\n" % tuple(v + 1 for v in triangle))


def scene(mesh, H, law="LinearElasticity", **more):
    return {"geometry": {"mesh": mesh, "name": "walls"}, "space": {"discr_order": 2},
            "materials": {"type": law, "E": E, "nu": NU, "plane": "stress"},
            "boundary_conditions": {"periodic_boundary": {"enabled": True, "correspondence": PERIODS,
                                                          "linear_displacement_offset": H}}, **more}


def last_row(folder):
    with open(os.path.join(folder, "homogenized.csv")) as file:
        return {name: float(value) for name, value in list(csv.DictReader(file))[-1].items()}


def simulate(arguments, name, content):
    path = os.path.join(arguments.output, name + ".json")
    with open(path, "w") as file:
        json.dump(content, file, indent=1)
    folder = os.path.join(arguments.output, name)
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([arguments.recoil, "simulate", path, "-o", folder, "-q"], check=True)
    return last_row(folder)


def moduli(arguments, t):
    name = "t%g" % t
    mesh = name + ".obj"
    write_obj(os.path.join(arguments.output, mesh), *honeycomb(t, max(4, round(0.25 / t)), 2))
    strain = 1e-3
    x = simulate(arguments, name + "_x", scene(mesh, [[strain, 0], [0, 0]]))
    y = simulate(arguments, name + "_y", scene(mesh, [[0, 0], [0, strain]]))
    shear = simulate(arguments, name + "_shear", scene(mesh, [[0, strain], [strain, 0]]))
    C11, C12, C22, C66 = x["P_xx"] / strain, x["P_yy"] / strain, y["P_yy"] / strain, shear["P_xy"] / (2 * strain)
    return C11, C12, C22, C66


def stored(folder):
    """Rest positions, cells, and the last state's displacement and von Mises stress of the corners."""
    with open(os.path.join(folder, "trajectory", "manifest.json")) as file:
        last = [(entry["name"], state["id"]) for entry in json.load(file)["files"] for state in entry["states"]
                if state["kept"] == "stored"][-1]
    with h5py.File(os.path.join(folder, "trajectory", "mesh.h5"), "r") as file:
        X, cells = file["coordinates"][:], file["connectivity"][:]
    with h5py.File(os.path.join(folder, "trajectory", last[0]), "r") as file:
        state = file["states/%d" % last[1]]
        return X[:, :2], cells, state["u"][:, :2], state["von_mises"][:].reshape(-1)


def draw(folder, path):
    """Nine by five cells side by side, coloured by the stress."""
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    X, cells, u, stress = stored(folder)
    row = last_row(folder)
    F = np.eye(2) + np.array([[row["H_xx"], row["H_xy"]], [row["H_yx"], row["H_yy"]]])
    figure, (rest, bent) = plt.subplots(1, 2, figsize=(11, 5), constrained_layout=True)
    for axes, x, periods, colour in ((rest, X, np.array(PERIODS), 0 * stress), (bent, X + u, np.array(PERIODS) @ F.T, stress)):
        for i in range(-3, 4):
            for j in range(-3, 4):
                at = x + i * periods[0] + j * periods[1]
                image = axes.tripcolor(at[:, 0], at[:, 1], cells[:, :3], facecolors=colour / 1e3, vmin=0, vmax=stress.max() / 1e3,
                                       cmap="viridis")
        axes.set_aspect("equal")
        axes.set_xlim(-2.6, 2.6)
        axes.set_ylim(-2, 3)
        axes.set_axis_off()
    figure.colorbar(image, ax=bent, label="von Mises stress [kPa]", shrink=0.8)
    figure.savefig(path, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recoil", required=True)
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--picture", help="PNG of the honeycomb before and after it is pressed and sheared")
    arguments = parser.parse_args()
    arguments.recoil = os.path.abspath(arguments.recoil)
    os.makedirs(arguments.output, exist_ok=True)
    print("|  t/l  | K / (E t/(2 sqrt(3) l)) | E* / closed form | E* / the same, walls l - t/sqrt(3) | 2 C_66/(C_11 - C_12) - 1 |")
    print("|---|---|---|---|---|")
    for t in (0.1, 0.05, 0.025, 0.0125):
        C11, C12, C22, C66 = moduli(arguments, t)
        young = (C11 * C22 - C12**2) / C22
        bent = lambda l: 4 / np.sqrt(3) * E * (t / l)**3 / (1 + (5.4 + 1.5 * NU) * (t / l)**2)
        print("| %g | %.4f | %.4f | %.4f | %.1e |" % (t, (C11 + C12) / 2 / (E * t / (2 * np.sqrt(3))), young / bent(1),
                                                     young / bent(1 - t / np.sqrt(3)), abs(2 * C66 / (C11 - C12) - 1)))
    if arguments.picture:
        mesh = "picture.obj"
        write_obj(os.path.join(arguments.output, mesh), *honeycomb(0.08, 10, 4))
        simulate(arguments, "picture", scene(mesh, [[0, "0.25*t"], [0, "-0.15*t"]], "NeoHookean",
                                             time={"dt": 0.1, "time_steps": 10, "quasistatic": True},
                                             output={"fields": ["von_mises"]}))
        draw(os.path.join(arguments.output, "picture"), arguments.picture)


if __name__ == "__main__":
    main()
