#!/usr/bin/env python3
"""Cook's membrane near incompressibility: what the middle of its right side moves up by, under refinement, in elements that lock and that do not.

    bench/physics/cook.py --recoil build/release/recoil [--picture cook.png]

A trapezium with the corners (0, 0), (48, 44), (48, 60), (0, 44) that is clamped at the left and sheared at the right by a force of 1, of a
linear law with E = 1 in plane strain. Cook 1974; at nu = 1/3 and nu = 0.4999 as usual since Simo & Rifai 1990. The value to compare with is
extrapolated from order 4 on three meshes. A second table has a cantilever of 10 by 1 in plane strain at nu = 0.499, against beam theory with shear.
"""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "integration"))
import runs  # noqa: E402

MEMBRANE = 18.512  # at nu = 0.4999, extrapolated() with --finest 64
CANTILEVER = 0.9847  # of beam_theory(), extrapolated() with --finest 64: the clamp also holds the width
ELEMENTS = {"P1": (1, False), "P2": (2, False), "P2, mean dilatation": (2, True)}


def membrane(path, cells):
    """cells^2 quadrilaterals of two triangles."""
    at = np.linspace(0, 1, cells + 1)
    vertices = [(48 * s, 44 * s + (44 - 28 * s) * t, 0) for t in at for s in at]
    number = lambda i, j: j * (cells + 1) + i
    triangles = [triangle for j in range(cells) for i in range(cells)
                 for triangle in ((number(i, j), number(i + 1, j), number(i + 1, j + 1)), (number(i, j), number(i + 1, j + 1), number(i, j + 1)))]
    runs.write_obj(path, (vertices, triangles))


def scene(mesh, order, mean_dilatation, nu, law="LinearElasticity"):
    material = {"type": law, "E": 1, "nu": nu, "plane": "strain"}
    if mean_dilatation:
        material["mean_dilatation"] = True
    return {"geometry": {"name": "membrane", "mesh": mesh,
                         "surface_selection": [{"id": 1, "axis": "-x", "position": 1e-6}, {"id": 2, "axis": "x", "position": 48 - 1e-6}]},
            "space": {"discr_order": order}, "materials": material,
            "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0]}], "neumann_boundary": [{"id": 2, "value": [0, 1 / 16]}]},
            "output": {"fields": ["stress"]}}


def tip(recoil, cells, order, mean_dilatation, nu):
    """The displacement, and the folder of the run."""
    mesh = recoil.path(f"{cells}.obj")
    membrane(mesh, cells)
    folder = recoil.simulate(1, recoil.write_scene("cook", scene(mesh, order, mean_dilatation, nu)), f"{cells}-{order}-{mean_dilatation}-{nu}")
    rest, u = runs.coordinates(folder), runs.state(folder)
    return u[np.argmin(np.hypot(rest[:, 0] - 48, rest[:, 1] - 52)), 1], folder


def extrapolated(coarse, middle, fine):
    """The limit under refinement by halves, by Aitken's delta-squared process: corners of clamps make convergence algebraic."""
    return fine - (fine - middle) ** 2 / ((fine - middle) - (middle - coarse))


def beam_theory(E=1e6, nu=0.499, load=10.0, length=10.0):
    """Timoshenko's deflection of the end, per unit thickness: bending with E / (1 - nu^2), shear with 5/6 G."""
    return load * length**3 / (3 * E / (1 - nu**2) / 12) + load * length / (5 / 6 * E / (2 * (1 + nu)))


def cantilever(recoil, across, order, mean_dilatation):
    data = scene("", order, mean_dilatation, 0.499)
    data["geometry"] = {"name": "beam", "generator": {"type": "rectangle", "size": [10, 1], "divisions": [10 * across, across]},
                        "surface_selection": [{"id": 1, "axis": "-x", "position": -4.999}, {"id": 2, "axis": "x", "position": 4.999}]}
    data["materials"]["E"] = 1e6
    data["boundary_conditions"]["neumann_boundary"][0]["value"] = [0, 10]
    folder = recoil.simulate(1, recoil.write_scene("beam", data), f"beam-{across}-{order}-{mean_dilatation}")
    rest, u = runs.coordinates(folder), runs.state(folder)
    return u[np.argmin(np.hypot(rest[:, 0] - 5, rest[:, 1])), 1]


def draw(recoil, folders, path):
    """Pressures of elements, the mean of the normal stresses in the plane."""
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))
    import recoil_run
    figure, axes = plt.subplots(1, len(folders), figsize=(4 * len(folders), 4))
    for axis, (name, folder) in zip(axes, folders.items()):
        run = recoil_run.Run(folder)
        state = run.states[-1]
        pressure = -(state["stress"][:, 0] + state["stress"][:, 4]) / 2
        corners = next(iter(run.mesh.cells.values()))[:, :3]
        points = run.mesh.points + 0.5 * state.u[:, :2]
        drawn = axis.tripcolor(points[:, 0], points[:, 1], corners, facecolors=pressure, cmap="RdBu", vmin=-0.3, vmax=0.3)
        axis.set(title=name, aspect="equal")
        axis.axis("off")
    figure.colorbar(drawn, ax=axes, label="pressure", shrink=0.8)
    figure.savefig(path, dpi=110)


def main(recoil, options):
    for nu in (1 / 3, 0.4999):
        exact = extrapolated(*(tip(recoil, options.finest // by, 4, False, nu)[0] for by in (4, 2, 1)))
        print(f"nu = {nu:.4f}: {exact:.4f}, extrapolated from order 4 on up to {options.finest}^2 cells; here ratios to it")
        print("| cells | " + " | ".join(ELEMENTS) + " |")
        print("|---" * (1 + len(ELEMENTS)) + "|")
        for cells in (2, 4, 8, 16, 32):
            ratios = [tip(recoil, cells, *kind, nu)[0] / exact for kind in ELEMENTS.values()]
            print(f"| {cells}^2 | " + " | ".join(f"{ratio:.4f}" for ratio in ratios) + " |", flush=True)
    exact = extrapolated(*(cantilever(recoil, options.finest // by, 4, False) for by in (16, 8, 4)))
    print(f"cantilever, nu = 0.499: {exact / beam_theory():.4f} of beam theory, extrapolated from order 4; here ratios to it\n| cells | " + " | ".join(ELEMENTS) + " |\n" + "|---" * (1 + len(ELEMENTS)) + "|")
    for across in (1, 2, 4, 8):
        ratios = [cantilever(recoil, across, *kind) / exact for kind in ELEMENTS.values()]
        print(f"| {10 * across} x {across} | " + " | ".join(f"{ratio:.4f}" for ratio in ratios) + " |", flush=True)
    if options.picture:
        draw(recoil, {name: tip(recoil, 8, *kind, 0.4999)[1] for name, kind in ELEMENTS.items()}, options.picture)


if __name__ == "__main__":
    with runs.Recoil(("--picture", str, None), ("--finest", int, 64)) as recoil:
        main(recoil, recoil.arguments)
