#!/usr/bin/env python3
"""The finite-difference checks of the paper on differentiable contact, rebuilt with generated meshes.

    bench/gradients/paper_cases.py --recoil build/release/recoil [lattice cell sliding] [--picture] [--keep folder]

lattice  a block dropped on a lattice of thin beams (dynamics, contact, self-contact), 24 shape parameters
cell     a compressed microstructure with self-contact (quasi-static), lambda and mu seen through markers
sliding  a block that slides over a floor, one friction coefficient seen through where it ends

Each case runs `recoil gradient --check` and prints the relative error of every direction at the best of five steps of central
differences; the goals are 1e-6, 1e-7 and 1e-8 where the paper reports 1.12e-2, 2.25e-6 and 6.35e-10 on its own meshes. The exit
code is 1 if a goal is missed.
"""
import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile

import meshes
from table import ENVIRONMENT, Cell

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CONVERGED = {"grad_norm_tol": 1e-12, "rel_grad_norm_tol": 1e-14, "max_iterations": 300}


def contact(dhat, stiffness, **more):
    """The keys `contact` and `solver` of a scene that is solved to rounding."""
    return {"contact": dict({"enabled": True, "dhat": dhat}, **more),
            "solver": {"nonlinear": CONVERGED, "contact": {"barrier_stiffness": stiffness}}}


def lines(*parts):
    """Coordinates of grid lines from 0, and the kind of each cell between them, from parts (length, cells, kind)."""
    at, kinds = [0.0], []
    for length, cells, kind in parts:
        start = at[-1]
        at += [start + length * (k + 1) / cells for k in range(cells)]
        kinds += [kind] * cells
    return at, kinds


# Lattice


BEAM, HOLE, FLIGHT = 0.03, (0.23, 0.14), 0.012


def lattice_mesh(path):
    """Three by three holes between columns and upward bent beams; height and width."""
    columns, across = lines(*[(BEAM, 1, "beam"), (HOLE[0], 6, "hole")] * 3, (BEAM, 1, "beam"))
    rows, along = lines(*[(BEAM, 1, "beam"), (HOLE[1], 3, "hole")] * 3, (BEAM, 1, "beam"))
    pitch = [BEAM + HOLE[0], BEAM + HOLE[1]]

    def bent(x, y):
        s = ((x - BEAM) % pitch[0]) / HOLE[0]
        rise = 0.035 * math.sin(math.pi * s) ** 2 if x > BEAM and s < 1 else 0
        return x, y + rise * min(1, y / pitch[1])

    vertices, triangles = meshes.grid(columns, rows, lambda i, j: "beam" in (across[i], along[j]), bent)
    meshes.write_gmsh(path, vertices, triangles)
    return max(y for _, y in vertices), columns[-1]


def lattice(cell):
    top, width = lattice_mesh(os.path.join(cell.folder, "lattice.msh"))
    # Tilted, so that no corner meets an apex.
    size, tilt = (0.5, 0.16), 4
    lift = 0.5 * (size[0] * math.sin(math.radians(tilt)) + size[1] * math.cos(math.radians(tilt)))
    scene = {
        "geometry": [
            {"name": "lattice", "mesh": "lattice.msh", "surface_selection": [{"id": 1, "axis": "-y", "position": 1e-6}]},
            {"name": "block", "generator": {"type": "rectangle", "size": size, "divisions": [5, 2]},
             "transformation": {"rotation": tilt, "translation": [width / 2 + 0.023, top + FLIGHT + lift]}}],
        "space": {"discr_order": 2},
        "materials": [{"body": "lattice", "type": "NeoHookean", "E": 1e6, "nu": 0.3, "rho": 1000},
                      {"body": "block", "type": "NeoHookean", "E": 1e7, "nu": 0.3, "rho": 2000}],
        "gravity": [0, -9.81],
        "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0]}]},
        "initial_conditions": {"velocity": [{"body": "block", "value": [0, -3]}]},
        "time": {"dt": 0.002, "time_steps": 50, "integrator": "BDF2"},
        **contact(0.004, 1e10)}
    study = {
        "parameters": [{"name": "shape", "quantity": "shape", "body": "lattice", "basis": {"box": [4, 3]}}],
        "objectives": [{"name": "stress", "type": "stress_norm", "p": 8, "body": "lattice", "time": "integral", "weight": 1e-4}],
        "check": {"directions": 3, "steps": [3e-6, 1e-6, 3e-7, 1e-7, 3e-8]}}
    return scene, study


# Microstructure


def cell_mesh(path):
    """A square of side 1 with a slit whose roof sags beside where its floor rises."""
    columns, across = lines((0.14, 2, "strut"), (0.72, 12, "slit"), (0.14, 2, "strut"))
    rows, along = lines((0.45, 5, "strut"), (0.1, 2, "slit"), (0.45, 5, "strut"))

    def bent(x, y):
        s = (x - 0.14) / 0.72
        if not 0 < s < 1:
            return x, y
        sag, rise = 0.03 * math.sin(math.pi * s ** 1.15) ** 2, 0.02 * math.sin(math.pi * s ** 0.8) ** 2
        return x, y + (rise * y / 0.45 if y < 0.5 else -sag * (1 - y) / 0.45)

    vertices, triangles = meshes.grid(columns, rows, lambda i, j: "strut" in (across[i], along[j]), bent)
    meshes.write_gmsh(path, vertices, triangles)


def cell_scene(young, poisson, steps=10, press=0.12):
    plane_stress = young * poisson / (1 - poisson ** 2), young / 2 / (1 + poisson)
    return {
        "geometry": {"name": "cell", "mesh": "cell.msh",
                     "surface_selection": [{"id": 1, "axis": "-y", "position": 1e-6}, {"id": 2, "axis": "y", "position": 1 - 1e-6}]},
        "materials": {"type": "NeoHookean", "lambda": plane_stress[0], "mu": plane_stress[1], "rho": 1000},
        "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0]},
                                                       {"id": 2, "value": ["0.02*t", "-%g*t" % press]}]},
        "time": {"tend": 1, "time_steps": steps, "quasistatic": True},
        **contact(0.008, 1e9)}


def observe(cell, folder, names, path):
    """Where the named points of a run are after every step, as a CSV file of markers."""
    sys.path.insert(0, os.path.join(ROOT, "tests", "integration"))
    import runs
    rest = runs.coordinates(folder)[:, :2]
    nodes = {name: int(abs(rest - point).sum(axis=1).argmin()) for name, point in names.items()}
    with open(path, "w") as file:
        file.write("time,marker,x,y\n")
        for entry in runs.manifest(folder)["files"]:
            for record in entry["states"]:
                u = runs.state(folder, record["step"])
                for name, node in nodes.items():
                    file.write("%.17g,%s,%.17g,%.17g\n" % (record["time"], name, *(rest[node] + u[node, :2])))
    return {name: rest[node].tolist() for name, node in nodes.items()}


def cell(cell):
    cell_mesh(os.path.join(cell.folder, "cell.msh"))
    scene = cell_scene(1e6, 0.3)
    cell.write("measured.json", cell_scene(2.27e5, 0.348))
    done = cell.call("simulate", "measured.json", "-o", "measured", "-q")
    if done.returncode:
        raise SystemExit(done.stdout)
    corners = {"west": [0, 0.36], "east": [1, 0.63], "roof": [0.4, 0.54], "floor": [0.63, 0.46], "below": [0.5, 0.2]}
    markers = observe(cell, os.path.join(cell.folder, "measured"), corners, os.path.join(cell.folder, "markers.csv"))
    study = {
        "parameters": [{"name": name, "quantity": quantity, "initial": scene["materials"][key]}
                       for name, quantity, key in (("lambda", "lambda", "lambda"), ("mu", "mu_lame", "mu"))],
        "markers": [{"name": name, "body": "cell", "rest": at} for name, at in markers.items()],
        "objectives": [{"name": "markers", "type": "markers", "target": "markers.csv"}],
        "check": {"directions": 1, "steps": [1e-2, 1e-3, 1e-4, 1e-5, 1e-6]}}
    return scene, study


# Sliding block


def sliding(cell):
    columns, rows = lines((0.3, 12, "")), lines((0.15, 6, ""))
    meshes.write_gmsh(os.path.join(cell.folder, "block.msh"), *meshes.grid(columns[0], rows[0], lambda i, j: True))
    scene = {
        "geometry": [{"name": "block", "mesh": "block.msh", "transformation": {"translation": [0, 0.0009]}},
                     {"name": "floor", "type": "plane", "is_obstacle": True, "point": [0, 0], "normal": [0, 1]}],
        "materials": {"type": "NeoHookean", "E": 1e6, "nu": 0.3, "rho": 1000},
        "gravity": [0, -9.81],
        "initial_conditions": {"velocity": [{"body": "block", "value": [1.2, 0]}]},
        "time": {"dt": 0.01, "time_steps": 60, "integrator": "BDF2"},
        **contact(0.001, 1e10, epsv=0.01)}
    with open(os.path.join(cell.folder, "line.csv"), "w") as file:
        file.write("time,x,y\n0,0.5,0.075\n1,0.5,0.075\n")
    study = {
        "parameters": [{"name": "friction", "quantity": "friction", "bodies": ["block", "floor"], "initial": 0.3}],
        "objectives": [{"name": "end", "type": "center_of_mass", "body": "block", "target": "line.csv", "time": "final"}],
        "check": {"directions": 1, "steps": [1e-2, 1e-3, 1e-4, 1e-5, 1e-6]}}
    return scene, study


CASES = {"lattice": (lattice, 1e-6, "1.12e-2"), "cell": (cell, 1e-7, "2.25e-6"), "sliding": (sliding, 1e-8, "6.35e-10")}


def conduct(cell, build):
    """The contents of gradient.json."""
    scene, study = build(cell)
    cell.write("scene.json", scene)
    study.update({"experiments": [{"name": "run", "scene": "scene.json"}], "sweep": {"tolerance": 1e-13}})
    cell.write("study.json", study)
    done = cell.call("gradient", "study.json", "-o", "out", "--check", "-q")
    file = os.path.join(cell.folder, "out", "gradient.json")
    if not os.path.exists(file):
        raise SystemExit("%s failed:\n%s" % (cell.key[0], done.stdout))
    with open(file) as text:
        return json.load(text)


def picture(cell, times):
    name = cell.folder + ".png"
    subprocess.run([sys.executable, os.path.join(ROOT, "scripts", "render.py"), os.path.join(cell.folder, "out", "run"),
                    "--times", str(times), "-o", name], env=ENVIRONMENT, check=True)


def show(name, found, goal, of_paper):
    """Prints the directions of a case; whether all reach the goal."""
    with_error = found["check"].items()
    print("%s: goal %.0e, paper %s, objective %.6g, %d Newton iterations, sweep/forward %.0f %%" %
          (name, goal, of_paper, found["objective"], found["newton_iterations"], 100 * found["sweep_s"] / found["forward_s"]))
    for direction, check in with_error:
        errors = " ".join("%.0e:%.1e" % pair for pair in zip(check["steps"], check["relative_errors"]))
        slope = check["slope"]
        print("  %-10s derivative %13.6e  error %.1e  slope %s  (step:error %s)%s" %
              (direction, check["derivative"], check["relative_error"], "-" if slope is None else "%.2f" % slope, errors,
               "" if check["relative_error"] <= goal else "  MISSED"))
    return all(check["relative_error"] <= goal for _, check in with_error)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recoil", required=True)
    parser.add_argument("--picture", action="store_true", help="draw first and last states, beside the case's folder")
    parser.add_argument("--keep", help="folder for meshes, scenes, studies, results and pictures")
    parser.add_argument("--json", help="all results")
    parser.add_argument("names", nargs="*", metavar="name", help="of %s (default: all)" % ", ".join(CASES))
    arguments = parser.parse_args()
    if set(arguments.names) - set(CASES):
        parser.error("no such case: " + ", ".join(set(arguments.names) - set(CASES)))
    if arguments.picture and not arguments.keep:
        parser.error("--picture needs --keep")
    folder = arguments.keep or tempfile.mkdtemp(prefix="recoil-paper-cases-")
    results, good = {}, True
    for name in arguments.names or CASES:
        build, goal, of_paper = CASES[name]
        shutil.rmtree(os.path.join(folder, name), ignore_errors=True)
        at = Cell(os.path.abspath(arguments.recoil), folder, (name,))
        results[name] = conduct(at, build)
        good &= show(name, results[name], goal, of_paper)
        if arguments.picture:
            picture(at, 2)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(results, file, indent=1)
    if not arguments.keep:
        shutil.rmtree(folder)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
