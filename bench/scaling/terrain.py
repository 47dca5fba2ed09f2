#!/usr/bin/env python3
"""A ball that falls on a finely triangulated obstacle: processor seconds and memory of each rank, until the first step and in four steps.

    bench/scaling/terrain.py --recoil build/release/recoil --triangles 1000000 --ranks 1 2 4 8
    bench/scaling/terrain.py --recoil build/release/recoil --triangles 200000 --particles

`--particles` fills the ball with bonded particles. Ranks that wait use processor time where there are more of them than cores: seconds are
upper bounds there.
"""
import argparse
import json
import math
import pathlib
import tempfile

import boxes
import startup


def write_terrain(path, triangles):
    """Hills of 10 m x 10 m, as an OBJ file."""
    n = round((triangles / 2) ** 0.5)
    places = [10 * k / n - 5 for k in range(n + 1)]
    with open(path, "w") as out:
        for x in places:
            for y in places:
                z = 0.15 * math.sin(2.1 * x) * math.cos(1.7 * y) + 0.02 * math.sin(13 * x + 1) * math.sin(11 * y)
                out.write(f"v {x:.9g} {y:.9g} {z:.9g}\n")
        for i in range(n):
            for j in range(n):
                a = 1 + i * (n + 1) + j
                out.write(f"f {a} {a + n + 1} {a + n + 2}\nf {a} {a + n + 2} {a + 1}\n")


def scene(terrain, with_particles):
    ball = {"name": "ball", "generator": {"type": "ball", "radius": 0.3, "divisions": 6}, "transformation": {"translation": [0.1, 0.1, 0.45]}}
    result = {
        "geometry": [ball, {"name": "terrain", "mesh": str(terrain), "is_obstacle": True}],
        "materials": {"type": "NeoHookean", "E": 1e5, "nu": 0.3, "rho": 1000},
        "initial_conditions": {"velocity": [{"body": "ball", "value": [0, 0, -2]}]},
        "time": {"dt": 0.01, "time_steps": 4},
        "contact": {"enabled": True, "dhat": 0.004},
        "gravity": [0, 0, -9.81],
    }
    if with_particles:
        ball["particles"] = {"radius": 0.03}
        result["materials"] = {"type": "BondedParticles", "E": 1e5, "nu": 0.3, "rho": 1000, "tensile_strength": 1e9, "shear_strength": 1e9}
        result["solver"] = {"type": "bonded_particles"}
    return result


def measure(options, verb, path, ranks):
    """Processor seconds and peak megabytes (1e6 bytes) per rank, and the summary of a run."""
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        command = options.mpirun.split() + ["-n", str(ranks), startup.sys.executable, "-c", startup.WRAPPER, folder, options.recoil, verb, str(path)]
        run = pathlib.Path(folder) / "run"
        boxes.run(command + (["--output", str(run)] if verb == "simulate" else []))
        of_ranks = [json.loads((pathlib.Path(folder) / f"{rank}.json").read_text()) for rank in range(ranks)]
        summary = json.loads((run / "summary.json").read_text()) if verb == "simulate" else {}
    return [seconds for seconds, _ in of_ranks], [1.048576 * mega for _, mega in of_ranks], summary


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recoil", default="build/release/recoil")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--triangles", type=int, default=1000000)
    parser.add_argument("--particles", action="store_true")
    parser.add_argument("--mpirun", default="mpirun --oversubscribe --bind-to none")
    parser.add_argument("--scratch", help="folder for the runs")
    options = parser.parse_args()
    options.recoil = str(pathlib.Path(options.recoil).resolve())
    print("| ranks | start: processor s of a rank | peak MB of the first rank | of the others, at most | four steps: processor s | search and distances s "
          "| peak MB of the first rank | of the others |")
    print("|---" * 8 + "|")
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        terrain, path = pathlib.Path(folder) / "terrain.obj", pathlib.Path(folder) / "terrain.json"
        write_terrain(terrain, options.triangles)
        path.write_text(json.dumps(scene(terrain, options.particles)))
        for ranks in options.ranks:
            cells = [str(ranks)]
            for verb in "validate", "simulate":
                seconds, peaks, summary = measure(options, verb, path, ranks)
                cells.append(f"{max(seconds):.1f}")
                if summary:
                    cells.append(f"{summary['collision_s']:.2f}" if "collision_s" in summary else "")
                cells += [f"{peaks[0]:.0f}", f"{max(peaks[1:], default=0):.0f}"]
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
