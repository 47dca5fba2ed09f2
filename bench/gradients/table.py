#!/usr/bin/env python3
"""Every parameter type against differences of whole simulations: static, BDF1, 2, 3 x free, contact, friction x 2D, 3D x P1, P2.

    bench/gradients/table.py --recoil build/release/recoil [--only static-free-2D-P1 ..] [--objectives stress ..] [--json table.json]

Each cell is a study of a scene with three deformable blocks, whose objective is the sum of those of objectives(), or of some of them; `recoil gradient --check` compares the derivative along each parameter with central differences
(best of six steps) and fits the slope of the Taylor remainder. The table has one row per parameter and one column per scene:
relative error and slope, with a star where the slope is outside of 1.9 to 2.1; an empty cell names its reason below, and so does a
missing slope. The last rows count the
most pairs in contact and terms of friction that stick and slide in one step, with a star where there are none.
The exit code is 1 if an error is above 1e-6 or a slope is wrong.
"""
import argparse
import concurrent.futures
import csv
import itertools
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy as np

ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMP_NUM_THREADS="1")
SCHEMES = ("static", "BDF1", "BDF2", "BDF3")
CONTACTS = ("free", "contact", "friction")
GOOD_ERROR, SLOPES = 1e-6, (1.9, 2.1)


def vector(dim, *values):
    return list(values[:dim])


def body(name, dim, size, divisions, centre, angle=0):
    kind = "rectangle" if dim == 2 else "box"
    rotation = {"rotation": angle, "rotation_mode": "xyz"} if dim == 2 else {"rotation": [0, 0, angle], "rotation_mode": "xyz"}
    piece = {"name": name, "generator": {"type": kind, "size": vector(dim, *size), "divisions": vector(dim, *divisions)},
             "transformation": {"translation": vector(dim, *centre)}}
    if angle:
        piece["transformation"].update(rotation)
    return piece


def scene(scheme, contact, dim, order):
    """Two blocks, the lower one held below and pulled at one side, the upper one thrown on it or pressed against it, in contact
    pushed by an obstacle; beside them a third one, blown up by pressure and spinning."""
    static = scheme == "static"
    gap = 0.004 if contact != "free" else 0.08
    lower = body("lower", dim, (1, 0.4, 0.4), (4, 2, 2), (0, -0.2, 0))
    upper = body("upper", dim, (0.4, 0.3, 0.3), (2, 2, 1), (0.063, 0.15 + gap, 0.017), 0 if static else 1)
    lower["surface_selection"] = [{"id": 1, "axis": "-y", "position": -0.399}, {"id": 3, "axis": "x", "position": 0.499}]
    upper["surface_selection"] = [{"id": 2, "axis": "y", "position": 0.299 + gap}]
    balloon = body("balloon", dim, (0.3, 0.3, 0.3), (2, 2, 1), (2, 0, 0))
    balloon["surface_selection"] = [{"id": 5, "axis": "-x", "position": 1.851}, {"id": 4, "axis": "x", "position": 1.851},
                                    {"id": 4, "axis": "y", "position": -1}]
    base = vector(dim, "0.002*sin(40*t)", "0.004*t" if not static else 0.001, 0)
    conditions = {"dirichlet_boundary": [{"id": 1, "value": base}],
                  "neumann_boundary": [{"id": 3, "value": vector(dim, 2000, 500, 300)}],
                  "pressure_boundary": [{"id": [4, 5], "value": 20000}]}
    if static:
        push = vector(dim, 0.003, -0.006 if contact != "free" else 0.01, 0)
        conditions["dirichlet_boundary"] += [{"id": 2, "value": push}, {"id": 5, "value": vector(dim, 0, 0, 0)}]
    else:  # in free flight nothing else would deform it
        conditions["neumann_boundary"].append({"id": 2, "value": vector(dim, 500, 300, 100)})
    result = {
        "geometry": [lower, upper, balloon],
        "space": {"discr_order": order},
        "materials": [{"body": "lower", "type": "NeoHookean", "E": 1e5, "nu": 0.3, "rho": 1000, "psi": 20, "phi": 10},
                      {"body": "upper", "type": "SaintVenant" if static else "NeoHookean", "lambda": 6e4, "mu": 4e4, "rho": 800, "psi": 10,
                       "phi": 5},
                      {"body": "balloon", "type": "MooneyRivlin", "c1": 1e4, "c2": 5e3, "k": 8e4, "rho": 900, "psi": 5, "phi": 5}],
        "gravity": vector(dim, 0.5, -9.81, 0.3),
        "boundary_conditions": conditions,
        "solver": {"nonlinear": {"grad_norm_tol": 1e-13, "rel_grad_norm_tol": 1e-14, "max_iterations": 200}},
    }
    if static:
        for material in result["materials"]:
            material.pop("psi"), material.pop("phi")
    if not static:
        result["time"] = {"dt": 0.004, "time_steps": 8, "integrator": scheme}
        spin = [3] if dim == 2 else [1, 2, 3]
        result["initial_conditions"] = {"velocity": [{"body": "upper", "value": vector(dim, 0.6, -0.8, 0.1)}],
                                        "angular_velocity": [{"body": "balloon", "value": spin}]}
    if contact != "free":
        # Statics measure sliding from the start, in metres.
        result["contact"] = {"enabled": True, "dhat": 0.01, "epsv": 0.002 if static else 0.2}
        result["solver"]["contact"] = {"barrier_stiffness": 1e7 if dim == 2 else 1e8}
        pusher = body("pusher", dim, (0.1, 0.2, 0.2), (1, 1, 1), (0.063 - 0.2 - 0.05 - 0.008, 0.15 + gap, 0.011))
        pusher.update({"is_obstacle": True, "surface_selection": 7})
        result["geometry"].append(pusher)
        conditions["obstacle_displacements"] = [{"id": 7, "value": vector(dim, 0.004, 0.001, 0)}]
        if contact == "friction":
            result["contact"]["friction_coefficient"] = 0.3
    return result


def parameters(scheme, contact, dim):
    """Studied parameters; the reasons why others are left out."""
    static = scheme == "static"
    chosen = [
        {"name": "E", "quantity": "young_modulus", "body": "lower", "initial": 1e5},
        {"name": "nu", "quantity": "poisson_ratio", "body": "lower", "initial": 0.3},
        {"name": "lambda", "quantity": "lambda", "body": "upper", "initial": 6e4},
        {"name": "mu", "quantity": "mu_lame", "body": "upper", "initial": 4e4},
        {"name": "rho", "quantity": "density", "body": "upper", "initial": 800},
        {"name": "traction", "quantity": "traction", "boundary": 3, "initial": vector(dim, 2000, 500, 300)},
        {"name": "gravity", "quantity": "body_force", "initial": vector(dim, 0.5, -9.81, 0.3)},
        {"name": "pressure", "quantity": "pressure", "initial": 20000},
        {"name": "c1", "quantity": "mooney_c1", "body": "balloon", "initial": 1e4},
        {"name": "k", "quantity": "mooney_k", "body": "balloon", "initial": 8e4},
    ]
    reasons = {}
    if dim == 3:
        chosen.append({"name": "c2", "quantity": "mooney_c2", "body": "balloon", "initial": 5e3})
    else:
        reasons["c2"] = "no term of c2 in the plane"
    if static:
        chosen.append({"name": "dirichlet", "quantity": "dirichlet_value", "boundary": 2,
                       "initial": vector(dim, 0.003, -0.006 if contact != "free" else 0.01, 0)})
        chosen.append({"name": "dirichlet nodes", "quantity": "dirichlet_value", "boundary": 1, "per": "node",
                       "initial": vector(dim, 0.0002, 0.001, 0)})
        for name in ("psi", "phi", "v0", "v0 nodes", "u0", "u0 nodes", "spin", "steps"):
            reasons[name] = "statics know neither rates nor steps nor initial states"
    else:
        chosen += [
            {"name": "psi", "quantity": "damping_shear", "body": "lower", "initial": 20},
            {"name": "phi", "quantity": "damping_bulk", "body": "lower", "initial": 10},
            {"name": "v0", "quantity": "initial_velocity", "body": "upper", "initial": vector(dim, 0.6, -0.8, 0.1)},
            {"name": "v0 nodes", "quantity": "initial_velocity", "body": "lower", "per": "node", "initial": vector(dim, 0.02, -0.01, 0.01)},
            {"name": "u0", "quantity": "initial_displacement", "body": "balloon", "initial": vector(dim, 0.01, 0.02, -0.01)},
            {"name": "steps", "quantity": "dirichlet_value", "boundary": 1, "per_step": True, "initial": vector(dim, 0.0001, 0.0002, 0)},
        ]
    if contact != "free":
        chosen.append({"name": "obstacle", "quantity": "obstacle_motion", "body": "pusher", "initial": vector(dim, 0.004, 0.001, 0)})
    else:
        reasons["obstacle"] = "no contact"
    if contact == "friction":
        chosen.append({"name": "friction", "quantity": "friction", "bodies": ["lower", "upper"], "initial": 0.3})
    else:
        reasons["friction"] = "no friction in the scene"
    return chosen, reasons


def objectives(scheme, contact, dim, is_shape):
    terms = [{"name": "stress", "type": "stress_norm", "p": 4, "weight": 1e-4},
             {"name": "largest", "type": "max_stress", "body": ["lower", "upper"], "p": 8, "stress": "cauchy", "weight": 1e-4},
             {"name": "target", "type": "target_displacement", "reference": "reference", "weight": 1e3},
             {"name": "side", "type": "target_position", "reference": "reference", "boundary": [2, 3], "components": "x", "weight": 1e4},
             {"name": "moment", "type": "position_integral", "axis": "x", "body": ["lower", "upper"], "weight": 10},
             {"name": "distance", "type": "signed_distance_target", "target": "distance.h5", "boundary": [2, 3], "weight": 100},
             {"name": "polygon", "type": "polygon_target", "target": "polygon.csv" if dim == 2 else "polygon.obj", "boundary": [1, 2],
              "body": ["lower", "upper"], "weight": 100}]
    if contact != "free":
        terms.append({"name": "clearance", "type": "min_distance", "bodies": ["upper", "pusher"], "limit": 0.02, "p": 6, "weight": 1e4})
    if scheme != "static":
        terms.append({"name": "velocity", "type": "velocity", "target": vector(dim, 0.1, -0.1, 0), "weight": 5})
    terms = [dict(term, time="final" if scheme == "static" else "integral") for term in terms]
    if is_shape:  # at other values it is a large constant, in which their differences drown
        terms.append({"name": "apart", "type": "rest_separation", "distance": 0.095 if contact == "free" else 0.02, "weight": 1e4})
    return terms


def write_distance(path, dim):
    """The signed distance to a ball in the midst of the blocks, and a little beyond them."""
    origin, spacing, centre = np.full(dim, -0.9), 0.05 + 0.01 * np.arange(dim), np.array([0.1, -0.1, 0.05][:dim])
    points = np.stack(np.meshgrid(*(o + s * np.arange(40) for o, s in zip(origin, spacing)), indexing="ij"), axis=-1)
    with h5py.File(path, "w") as file:
        file["distance"] = np.linalg.norm(points - centre, axis=-1) - 0.4
        file["origin"], file["spacing"] = origin, spacing


def write_polygon(stem, dim):
    """A bent line beside the blocks, or a bent strip."""
    with open(stem + (".csv" if dim == 2 else ".obj"), "w") as file:
        line = ((-0.7, 0.3), (0.11, 0.05), (0.4, -0.37), (0.9, -0.2))
        if dim == 2:
            file.write("x,y\n" + "".join("%g,%g\n" % vertex for vertex in line))
        else:
            file.write("".join("v %g %g -0.9\nv %g %g 0.8\n" % (vertex + vertex) for vertex in line))
            file.write("".join("f %d %d %d\nf %d %d %d\n" % (i, i + 1, i + 2, i + 1, i + 2, i + 3) for i in range(1, 2 * len(line) - 2, 2)))


class Cell:
    def __init__(self, recoil, folder, key, chosen=()):
        self.recoil, self.key, self.chosen = recoil, key, chosen
        self.folder = os.path.join(folder, "-".join(map(str, key)))
        os.makedirs(self.folder, exist_ok=True)

    def write(self, name, content):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            json.dump(content, file, indent=1)
        return path

    def call(self, *arguments):
        environment = dict(ENVIRONMENT, OMPI_MCA_orte_tmpdir_base=self.folder)  # runs at the same time must not share it
        return subprocess.run([self.recoil, *arguments], env=environment, cwd=self.folder, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)

    def scene(self):
        scheme, contact, dim, order = self.key
        return scheme, int(dim[0]), scene(scheme, contact, int(dim[0]), int(order[1]))

    def make_references(self):
        """Makes what the targets are taken from; the output if that fails."""
        _, dim, other = self.scene()
        write_distance(os.path.join(self.folder, "distance.h5"), dim)
        write_polygon(os.path.join(self.folder, "polygon"), dim)
        other["materials"][0]["E"] *= 1.3
        other["gravity"][0] += 3
        self.write("other.json", other)
        shutil.rmtree(os.path.join(self.folder, "reference"), ignore_errors=True)
        done = self.call("simulate", "other.json", "-o", "reference", "-q")
        return done.stdout if done.returncode else None

    def studies(self):
        """Name, parameters, scene and study of every group of parameters."""
        scheme, dimension, own = self.scene()
        groups = []
        if scheme != "static":  # its centre of mass depends on density and shape
            groups.append(("spin", [{"name": "spin", "quantity": "initial_angular_velocity", "body": "balloon",
                                     "initial": [3] if dimension == 2 else [1, 2, 3]}]))
            groups.append(("nodes", [{"name": "dirichlet nodes", "quantity": "dirichlet_value", "boundary": 1, "per": "node",
                                      "initial": vector(dimension, 0.02, 0.004, 0)}]))
            groups.append(("starts", [{"name": "u0 nodes", "quantity": "initial_displacement", "body": "lower", "per": "node",
                                       "initial": vector(dimension, 0.0002, -0.0003, 0.0001)}]))
        shapes = [(name, [{"name": name, "quantity": "shape", "basis": basis, "body": "lower"}]) for name, basis in
                  (("shape", {"box": [3] * dimension}), ("harmonic", {"extension": "harmonic"}), ("elastic", {"extension": "elastic", "boundary": [1, 3]}),
                                               ("periodic", {"extension": "harmonic", "periodic": "x"}))]
        for name, group in groups + [("values", parameters(scheme, self.key[1], dimension)[0])] + shapes:
            if name != "spin" and "initial_conditions" in own:
                own["initial_conditions"].pop("angular_velocity", None)
            if name == "nodes":  # a parameter has no formulas of time beside it
                own["boundary_conditions"]["dirichlet_boundary"][0].update(interpolation="linear", value=vector(dimension, 0, 0, 0))
            elif scheme != "static":
                own["boundary_conditions"]["dirichlet_boundary"] = self.scene()[2]["boundary_conditions"]["dirichlet_boundary"]
            terms = objectives(scheme, self.key[1], dimension, "basis" in group[0])
            if name == "starts":  # without stress at the start, where the norm of the stress has a kink
                terms = [term for term in terms if "stress" not in term["type"]]
            terms = [term for term in terms if not self.chosen or term["name"] in self.chosen]
            yield name, group, own, {"experiments": [{"name": "run", "scene": name + "-scene.json"}], "parameters": group,
                                     "objectives": terms, "sweep": {"tolerance": 1e-13}}

    def run(self, steps):
        failure = self.make_references()
        if failure is not None:
            return None, failure
        reasons = parameters(self.key[0], self.key[1], int(self.key[2][0]))[1]
        results = {}
        for name, group, own, study in self.studies():
            study["check"] = {"directions": 1, "steps": [h / 100 for h in steps] if "basis" in group[0] else steps}
            self.write(name + "-scene.json", own)
            self.write(name + ".json", study)
            shutil.rmtree(os.path.join(self.folder, "out-" + name), ignore_errors=True)
            done = self.call("gradient", name + ".json", "-o", "out-" + name, "--check", "-q")
            file = os.path.join(self.folder, "out-" + name, "gradient.json")
            if not os.path.exists(file):
                return None, done.stdout
            with open(file) as text:
                check = json.load(text)["check"]
            for parameter in group:
                results[parameter["name"]] = check[parameter["name"] if len(group) > 1 else "random 1"]
        return (results, reasons, self.contacts("out-values")), None

    def contacts(self, folder):
        """Most active pairs, and most terms of friction that stick and slide in a step; None without contact."""
        if self.key[1] == "free":
            return None
        with open(os.path.join(self.folder, folder, "run", "ledger.csv")) as file:
            rows = list(csv.DictReader(file))
        return [max(int(row[column]) for row in rows) for column in ("active_pairs", "sticking", "sliding")]


def show(columns, names):
    width = max(map(len, names)) + 1
    heads = ["-".join(map(str, key)) for key in columns]
    print(" " * width + " ".join("%20s" % head for head in heads))
    bad = 0
    for name in names:
        row = []
        for key in columns:
            results = columns[key][0]
            found = results.get(name) if results else None
            if found is None:
                row.append("%20s" % "")
                continue
            slope = found["slope"]
            wrong = slope is not None and not SLOPES[0] <= slope <= SLOPES[1]
            too_large = not found["relative_error"] <= GOOD_ERROR
            bad += wrong or too_large
            row.append("%12.1e %6s%s" % (found["relative_error"], "-" if slope is None else "%.2f" % slope, "*" if wrong or too_large else " "))
        print("%-*s" % (width, name) + " ".join(row))
    for number, name in enumerate(("active", "sticking", "sliding")):
        found = [columns[key][2][number] if columns[key][2] and (number == 0 or key[1] == "friction") else None for key in columns]
        bad += found.count(0)
        print("%-*s" % (width, name) + " ".join("%20s" % ("" if count is None else "%d%s" % (count, "" if count else "*")) for count in found))
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recoil", required=True)
    parser.add_argument("--only", nargs="+", default=[], help="columns, e.g. BDF2-friction-3D-P2")
    parser.add_argument("--objectives", nargs="+", default=[], help="names of the terms that count")
    parser.add_argument("--steps", type=float, nargs="+", default=[1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6])
    parser.add_argument("--keep", help="folder for scenes, studies and results")
    parser.add_argument("--json", help="all results")
    parser.add_argument("--jobs", type=int, default=1, help="columns at a time (default: 1)")
    arguments = parser.parse_args()
    folder = arguments.keep or tempfile.mkdtemp(prefix="recoil-gradients-")
    columns, failures, reasons = {}, [], {}
    keys = [key for key in itertools.product(SCHEMES, CONTACTS, ("2D", "3D"), ("P1", "P2"))
            if not arguments.only or "-".join(key) in arguments.only]
    if unknown := set(arguments.only) - {"-".join(key) for key in keys}:
        parser.error("--only: no column %s; columns are named like BDF2-friction-3D-P2" % ", ".join(sorted(unknown)))
    cells = [Cell(os.path.abspath(arguments.recoil), folder, key, arguments.objectives) for key in keys]
    pool = concurrent.futures.ThreadPoolExecutor(arguments.jobs)
    for key, (found, failure) in zip(keys, pool.map(lambda cell: cell.run(arguments.steps), cells)):
        head = "-".join(key)
        if failure is not None:
            failures.append((head, failure))
            columns[key] = (None, {}, None)
        else:
            columns[key] = found
            for name, reason in found[1].items():
                reasons[reason] = reasons.get(reason, set()) | {name}
        print("%s: %s" % (head, "failed" if failure else "done"), flush=True)
    names = []
    for results, *_ in columns.values():
        names += [name for name in results or {} if name not in names]
    bad = show(columns, names) if names else 0
    if any(found and found["slope"] is None for results, *_ in columns.values() for found in (results or {}).values()):
        print("slope -: the objective is linear there: the Taylor remainder is lost in rounding")
    for reason, which in reasons.items():
        print("empty: %s: %s" % (", ".join(sorted(which)), reason))
    for head, failure in failures:
        print("%s failed:\n%s" % (head, failure))
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"-".join(key): value[0] for key, value in columns.items()}, file, indent=1)
    if not arguments.keep:
        shutil.rmtree(folder)
    return 1 if bad or failures else 0


if __name__ == "__main__":
    sys.exit(main())
