#!/usr/bin/env python3
"""A tile that breaks on a floor, by integrators, laws of contact and shares of the breaking cascade, over slightly different tilts.

    python3 bench/bonds/impact.py --recoil build/release/recoil --work impact [--radius 0.0017] [--tilts 10] [--only leapfrog ..]

Each row of the table it prints is a way to take the steps: means over the tilts, and the standard deviation behind +-. `newton`, `passes` and
`user` (processor time [s]) are per run, `most` is the largest number of Newton iterations of a step. Runs that are there already are not
taken again. Pictures: scripts/render.py on the run folders below --work.
"""
import argparse
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys

TURN = (17, 9)  # of the tile about y and z [degrees]
STRIDE = 0.05  # from one tilt to the next [degrees]
DT = 2e-5  # 12.2 T of particles of 1.7 mm [s]

WAYS = {
    "leapfrog": {"integrator": "leapfrog"},
    "leapfrog, barrier": {"integrator": "leapfrog", "contact_law": "barrier"},
    "leapfrog, half sub-steps": {"integrator": "leapfrog", "explicit_share": 0.1},
    "be_reflect, 0.9 converged": {"cascade_share": 0.9, "cascade_iterations": 0},
    "be_reflect, 0.9": {"cascade_share": 0.9},
    "be_reflect, 0.5": {"cascade_share": 0.5},
    "be_reflect, 0.1": {"cascade_share": 0.1},
    "be_reflect, penalty": {"cascade_share": 0.5, "contact_law": "penalty"},
    "be_reflect, dt / 4": {"cascade_share": 0.5, "finer": 4},
    "mid_reflectT, 0.9 converged": {"integrator": "mid_reflectT", "cascade_share": 0.9, "cascade_iterations": 0},
    "mid_reflectT, 0.9": {"integrator": "mid_reflectT", "cascade_share": 0.9},
    "mid_reflectT, 0.5": {"integrator": "mid_reflectT", "cascade_share": 0.5},
    "mid_reflectT, 0.1": {"integrator": "mid_reflectT", "cascade_share": 0.1},
    "mid_reflectT, penalty": {"integrator": "mid_reflectT", "cascade_share": 0.5, "contact_law": "penalty"},
    "mid_reflectT, dt / 4": {"integrator": "mid_reflectT", "cascade_share": 0.5, "finer": 4},
    "be_reflect to leapfrog": {"max_broken_share": 1e-9, "sudden_breaking": "leapfrog"},
    "mid_reflectT to leapfrog": {"integrator": "mid_reflectT", "max_broken_share": 1e-9, "sudden_breaking": "leapfrog"},
    "mid_reflectT to leapfrog, penalty": {"integrator": "mid_reflectT", "max_broken_share": 1e-9, "sudden_breaking": "leapfrog",
                                          "contact_law": "penalty"},
}


def tile(radius, tilt, keys, dt=DT, end=2.4e-3):
    """The scene of a tile of 80 x 50 x 12 mm that falls at 14 m/s."""
    keys = dict({"max_iterations": 1000}, **keys)
    dt /= keys.pop("finer", 1)
    return {
        "solver": {"type": "bonded_particles", "bonded_particles": keys},
        "geometry": [{"name": "tile", "generator": {"type": "box", "size": [0.08, 0.05, 0.012], "divisions": 1},
                      "transformation": {"translation": [0, 0, 0.035], "rotation": [0, TURN[0] + tilt, TURN[1]]},
                      "particles": {"packing": "hcp", "radius": radius}},
                     {"name": "floor", "is_obstacle": True, "type": "plane", "point": [0, 0, 0], "normal": [0, 0, 1]}],
        "materials": {"type": "BondedParticles", "E": 2e9, "nu": 0.22, "rho": 2300, "tensile_strength": 2e6, "shear_strength": 3e6},
        "initial_conditions": {"velocity": [{"body": "tile", "value": [1.5, 0.0, -14]}], "angular_velocity": [{"body": "tile", "value": [0, 4, 0]}]},
        "contact": {"enabled": True, "dhat": 0.1 * radius, "friction_coefficient": 0.3},
        "gravity": [0, 0, -9.81],
        "time": {"dt": dt, "time_steps": round(end / dt)},
        "output": {"every": 10},
    }


def run(recoil, folder, scene):
    """What a run came to; None if it failed."""
    told = folder + ".told.json"
    if not os.path.exists(told):
        shutil.rmtree(folder, ignore_errors=True)
        with open(folder + ".json", "w") as file:
            json.dump(scene, file, indent=1)
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        with open(folder + ".log", "w") as log:
            code = subprocess.run([recoil, "simulate", folder + ".json", "-o", folder], stdout=log, stderr=subprocess.STDOUT).returncode
        user = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        if code != 0:
            print("%s: exit status %d, see %s.log" % (folder, code, folder), file=sys.stderr)
            return None
        with open(folder + "/summary.json") as file:
            summary = json.load(file)
        with open(folder + ".log") as file:
            newton = [int(count) for count in re.findall(r"newton (\d+)", file.read())]
        energies = summary["energies"]
        with open(told, "w") as file:
            json.dump({"broken": summary["broken_bonds"], "fragments": summary["fragments"], "largest": summary["largest_fragment_share"],
                       "of_bonds": energies["broken"], "friction": energies["dissipated_friction"],
                       "integrator": energies["dissipated_integrator"], "kinetic": energies["kinetic"], "newton": summary["newton_iterations"],
                       "most": max(newton, default=0), "passes": summary.get("breaking_passes", 0), "user": user}, file)
    with open(told) as file:
        return json.load(file)


COLUMNS = (("broken", "%.0f"), ("fragments", "%.0f"), ("largest", "%.3f"), ("of_bonds", "%.3f"), ("friction", "%.3f"), ("integrator", "%.3f"),
           ("kinetic", "%.2f"), ("newton", "%.0f"), ("most", "%.0f"), ("passes", "%.0f"), ("user", "%.1f"))
DEVIATES = {"broken", "fragments", "largest", "of_bonds", "friction", "integrator", "kinetic"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recoil", required=True)
    parser.add_argument("--work", required=True, help="folder of the runs")
    parser.add_argument("--radius", type=float, default=0.0017, help="of the particles [m]")
    parser.add_argument("--tilts", type=int, default=10)
    parser.add_argument("--only", nargs="*", default=list(WAYS), help="rows, as they are called in the table")
    options = parser.parse_args()
    os.makedirs(options.work, exist_ok=True)
    print("| steps | tilts | " + " | ".join(name for name, _ in COLUMNS) + " |")
    print("|---" * (len(COLUMNS) + 2) + "|")
    for name in options.only:
        results = []
        for k in range(options.tilts):
            folder = os.path.join(options.work, re.sub(r"[^a-z0-9._T]+", "_", name) + "_%d" % k)
            scene = tile(options.radius, STRIDE * k, WAYS[name], DT * options.radius / 0.0017)
            results.append(run(os.path.abspath(options.recoil), folder, scene))
        results = [result for result in results if result]
        if not results:
            continue
        cells = []
        for column, form in COLUMNS:
            values = [result[column] for result in results]
            cells.append(form % statistics.mean(values) + (" +- " + form % statistics.stdev(values) if column in DEVIATES and len(values) > 1 else ""))
        print("| %s | %d | " % (name, len(results)) + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
