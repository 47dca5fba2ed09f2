#!/usr/bin/env python3
"""Gradients of every objective by shapes of every basis, against differences of whole runs.

    bench/gradients/references.py --recoil build/release/recoil [--only BDF2-friction-2D-P1 ..] [--objectives target ..] [--json results.json]

The scenes are those of table.py, with every deformable body moved by the shape. Targets come from a run with other steps (so that its
states are interpolated in time), one with its bodies in another order, one of another shape and an HDF5 file, each over the volume and the
boundary; markers and the centre of mass from CSV files. `recoil gradient --check` compares the derivative along a random direction of
the shape (the same in every run) with central differences, best of six steps. One table per scene: a row per objective, a column per basis,
with a star where the error is above 1e-6 or the derivative is zero. The exit code is 1 if there is a star or a run fails.
"""
import argparse
import json
import os
import shutil
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "integration"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import runs
import targets
import table

COLUMNS = ("BDF2-friction-2D-P1", "BDF2-friction-2D-P2", "static-contact-2D-P2", "BDF1-contact-3D-P1", "static-friction-3D-P1")
STEPS = [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8]


def scene_of(column):
    scheme, contact, dim, order = column.split("-")
    scene = table.scene(scheme, contact, int(dim[0]), int(order[1]))
    # A shape moves what a spin turns.
    scene.get("initial_conditions", {}).pop("angular_velocity", None)
    # Forces of contact are large; what is left of a residual of 1e-12 is 1e-6 of their derivative.
    scene["solver"]["nonlinear"].update({"grad_norm_tol": 1e-13, "rel_grad_norm_tol": 1e-16})
    return scene, int(dim[0])


def markers(scene, dim):
    """A point of each body, off its middle."""
    found = []
    for body in scene["geometry"]:
        if not body.get("is_obstacle"):
            centre, size = body["transformation"]["translation"], body["generator"]["size"]
            found.append({"name": "m-" + body["name"], "body": body["name"], "rest": [c + 0.13 * s for c, s in zip(centre, size)]})
    return found


def objectives(recoil, scene, dim, contact, column):
    """By label. References belong to the column."""
    static = "time" not in scene
    end = 1 if static else scene["time"]["dt"] * scene["time"]["time_steps"]
    times = [0, 0.37 * end, 0.71 * end, 1.02 * end]
    points = markers(scene, dim)
    references = targets.write_references(recoil, scene, column)
    table.write_distance(recoil.path(column + "-distance.h5"), dim)
    table.write_polygon(recoil.path(column + "-polygon"), dim)
    moduli = {
        "stress_norm": {"type": "stress_norm", "p": 4, "weight": 1e-4},
        "stress_norm cauchy": {"type": "stress_norm", "p": 2, "stress": "cauchy", "weight": 1e-4},
        "max_stress": {"type": "max_stress", "p": 12, "weight": 1e-4},
        "stress_bound": {"type": "stress_bound", "limit": 2000, "weight": 1e-6},
        "elastic_energy": {"type": "elastic_energy"},
        "markers": {"type": "markers", "target": targets.write_track(recoil, column + "-markers", dim, times, {p["name"]: p["rest"] for p in points})},
        "center_of_mass": {"type": "center_of_mass", "target": targets.write_track(recoil, column + "-centre", dim, times)},
        "height": {"type": "height", "axis": "y", "body": "upper"},
        "position_integral": {"type": "position_integral", "axis": "y", "body": ["lower", "upper"]},
        "signed_distance_target": {"type": "signed_distance_target", "target": recoil.path(column + "-distance.h5"), "weight": 100},
        "polygon_target": {"type": "polygon_target", "target": recoil.path(column + "-polygon" + (".csv" if dim == 2 else ".obj")), "weight": 100},
        "volume_bound": {"type": "volume_bound", "limit": 1e-3, "weight": 10},
        "boundary_smoothing": {"type": "boundary_smoothing", "p": 2},
        "rest_separation": {"type": "rest_separation", "distance": 0.12 if contact == "free" else 0.02, "weight": 1e4},
    }
    if not static:
        moduli["velocity"] = {"type": "velocity", "target": table.vector(dim, 0.1, -0.1, 0.2)}
    if contact != "free":
        moduli["min_distance"] = {"type": "min_distance", "bodies": ["upper", "pusher"], "limit": 0.03, "p": 6, "weight": 1e4}
        moduli["contact_force_norm"] = {"type": "contact_force_norm", "weight": 1e-3}
    for what in ("displacement", "position"):
        for kind, reference in references.items():
            if (what, kind) == ("displacement", "reshaped"):
                continue  # refused: only positions can be those of another shape
            moduli["target_%s %s sides" % (what, kind)] = {"type": "target_" + what, "reference": reference, "boundary": [2, 3],
                                                           "components": ["x", "y"], "weight": 1e3}
            for over in ("volume", "boundary"):
                moduli["target_%s %s %s" % (what, kind, over)] = {"type": "target_" + what, "reference": reference, "over": over, "weight": 1e3}
    return moduli, points, references["run"]


def measure(recoil, column, path, objective, points, basis, label):
    """What the check says of one gradient, or why there is none."""
    parameter = {"name": "shape", "quantity": "shape", "basis": basis}
    study = targets.check_study(path, objective, [parameter], points if objective["type"] == "markers" else (), STEPS)
    name = "-".join([column, label]).replace(" ", "-")
    folder = recoil.path(name)
    code, text = recoil.run(1, "gradient", recoil.write_scene(name + "-study", study), "-o", folder, "--check", "-q", expect=None)
    try:
        with open(os.path.join(folder, "gradient.json")) as file:
            return json.load(file)["check"]["random 1"], None
    except (OSError, KeyError):
        return None, "%s: exit %d: %s" % (name, code, text)


def run_column(recoil, column, wanted):
    scene, dim = scene_of(column)
    path = recoil.write_scene(column, scene)
    rows, points, reference = objectives(recoil, scene, dim, column.split("-")[1], column)
    modes = targets.write_modes(recoil, reference, targets.vertices_of(reference), column)
    found, failures, bad = {}, [], 0
    print("%-34s" % column + "".join("%22s" % basis for basis in targets.BASES), flush=True)
    for label, objective in rows.items():
        if wanted and not any(part in label for part in wanted):
            continue
        cells = []
        for basis in targets.BASES:
            result, failure = measure(recoil, column, path, objective, points, targets.basis(basis, dim, modes), label + " " + basis)
            if failure:
                failures.append(failure)
                cells.append("%22s" % "failed")
                continue
            wrong = not result["relative_error"] <= table.GOOD_ERROR or result["derivative"] == 0
            bad += wrong
            found["%s / %s" % (label, basis)] = result
            slope = "-" if result["slope"] is None else "%.2f" % result["slope"]
            cells.append("%14.1e %6s%s" % (result["relative_error"], slope, "*" if wrong else " "))
        print("%-34s" % label + "".join(cells), flush=True)
    return found, failures, bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recoil", required=True)
    parser.add_argument("--only", nargs="+", default=COLUMNS, help="columns, as in table.py")
    parser.add_argument("--objectives", nargs="+", default=[], help="rows whose names hold one of these")
    parser.add_argument("--json", help="all results")
    arguments = parser.parse_args()
    sys.argv = [sys.argv[0], "--recoil", arguments.recoil]
    found, failures, bad = {}, [], 0
    recoil = runs.Recoil()
    for column in arguments.only:
        found[column], failed, wrong = run_column(recoil, column, arguments.objectives)
        failures += failed
        bad += wrong
    errors = sorted(result["relative_error"] for results in found.values() for result in results.values())
    print("%d gradients, median error %.1e, largest %.1e, %d wrong, %d failed"
          % (len(errors), errors[len(errors) // 2] if errors else 0, errors[-1] if errors else 0, bad, len(failures)))
    for failure in failures:
        print(failure)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(found, file, indent=1)
    shutil.rmtree(recoil.folder)
    return 1 if bad or failures else 0


if __name__ == "__main__":
    sys.exit(main())
