#!/usr/bin/env python3
"""Makes the experiments on plate.json: scenes with four loads, markers on top of the plate as they move where its modulus is the true one,
with noise of 1 % of their motion, and the study that looks for the modulus.

    jobs/field/make.py --recoil build/release/recoil -o field/ [--divisions 100 50]
"""
import argparse
import json
import subprocess
import sys
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent.parent / "scripts"))
from recoil_run import Run  # noqa: E402

# A stiff and a soft disc with soft rims in a plate of 1.5e5 Pa, as formulas of recoil and of numpy.
DISC = "1/(1 + exp((sqrt((x - ({0}))*(x - ({0})) + (y - ({1}))*(y - ({1}))) - {2})/0.04))"
TRUE_MODULUS = "1.5e5*exp(1.2*%s - 0.9*%s)" % (DISC.format(-0.4, 0.1, 0.22), DISC.format(0.45, 0.15, 0.2))
# Boundary: traction [Pa].
LOADS = {"press_1": {2: [0, -4000]}, "press_2": {3: [0, -4000]}, "press_3": {4: [0, -4000]}, "press_4": {5: [0, -4000]}}
NOISE, SEED = 0.01, 1


def true_modulus(x, y):
    return eval(TRUE_MODULUS, {"exp": np.exp, "sqrt": np.sqrt, "x": x, "y": y})


def write(path, content):
    path.write_text(json.dumps(content, indent=1) + "\n")


def scene_of(loads, divisions):
    scene = json.loads((FOLDER / "plate.json").read_text())
    scene["geometry"]["generator"]["divisions"] = divisions
    scene["boundary_conditions"]["neumann_boundary"] = [{"id": side, "value": value} for side, value in loads.items()]
    return scene


def nodes_of_markers(points, divisions):
    """Nodes on top, about 50 of them."""
    columns = np.linspace(-1, 1, divisions[0] + 1)[:: max(1, divisions[0] // 50)]
    return [int(np.linalg.norm(points - (x, 0.5), axis=1).argmin()) for x in columns]


def observe(recoil, folder, name, scene, random):
    """Simulates with the true modulus and writes the markers; their nodes at rest."""
    write(folder / "true" / (name + ".json"), dict(scene, materials=dict(scene["materials"], E=TRUE_MODULUS)))
    run = folder / "true" / name
    subprocess.run([recoil, "simulate", folder / "true" / (name + ".json"), "-o", run, "-q"], check=True)
    points = Run(run).mesh.points[:, :2]
    nodes = nodes_of_markers(points, scene["geometry"]["generator"]["divisions"])
    moved = list(Run(run))[-1].u[nodes, :2]
    sd = NOISE * np.sqrt((moved ** 2).mean())
    seen = points[nodes] + moved + random.normal(0, sd, moved.shape)
    with open(folder / (name + ".csv"), "w") as file:
        file.write("time,marker,x,y,sd\n")
        file.writelines("1,m%d,%.9g,%.9g,%.4g\n" % (k, *place, sd) for k, place in enumerate(seen))
    return points[nodes]


def study_of(rest):
    return {
        "experiments": [{"name": name, "scene": name + ".json"} for name in LOADS],
        "parameters": [{"name": "E", "quantity": "young_modulus", "per": "element", "initial": 1e5, "scale": "log",
                        "prior": {"mean": 1e5, "sd": 7e4, "correlation_length": 0.3}}],
        "markers": [{"name": "m%d" % k, "body": "plate", "rest": list(place)} for k, place in enumerate(rest.tolist())],
        "objectives": [{"name": name, "type": "markers", "experiment": name, "target": name + ".csv"} for name in LOADS],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recoil", required=True, type=Path)
    parser.add_argument("-o", "--output", required=True, type=Path)
    parser.add_argument("--divisions", nargs=2, type=int, default=[100, 50])
    arguments = parser.parse_args()
    (arguments.output / "true").mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(SEED)
    for name, loads in LOADS.items():
        scene = scene_of(loads, arguments.divisions)
        write(arguments.output / (name + ".json"), scene)
        rest = observe(arguments.recoil.resolve(), arguments.output, name, scene, random)
    write(arguments.output / "study.json", study_of(rest))


if __name__ == "__main__":
    main()
