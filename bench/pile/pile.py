#!/usr/bin/env python3
"""A pile of N balls on a floor: `recoil simulate` by phases, and the search for contact rank by rank.

    bench/pile/pile.py --recoil build/release/recoil --bodies 8 64 512 --ranks 1 2 3 4
    bench/pile/pile.py --bench_pile build/bench/bench_pile --bodies 512 --ranks 1 2 4 8 --divisions 2
    bench/pile/pile.py --write pile.json --bodies 64

Balls of radius 0.5 m stand in a cubic grid, moved a little at random, half of dhat apart on average and from the floor (an
obstacle of two triangles per ball), so that contact is active from the start; they fall at 1 m/s. The first form runs
three steps of BDF1 and prints seconds by phase with ratios to the fewest ranks, the second counts one search. Seconds say
little with fewer cores than ranks; counts do not mind.
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

RADIUS, DHAT = 0.5, 0.02
PHASES = ("assembly_s", "linear_solve_s", "line_search_s", "collision_s", "io_s")
# Rows of the table of counts: what bench_pile calls it, what it is.
COUNTS = (("cells", "cells"), ("bodies_here", "bodies with cells here"), ("primitives", "primitives searched"),
          ("boxes_received", "boxes received"), ("tests", "box tests"), ("candidates", "candidate pairs"),
          ("candidates_between", "- with foreign vertices"), ("active", "active pairs"),
          ("active_between", "- with foreign vertices"), ("ranks_met", "ranks met"), ("messages", "messages sent"),
          ("bytes", "bytes sent"), ("halo_ranks", "halo: neighbours"), ("halo_bytes", "halo: bytes per gather"),
          ("cpu_s", "cpu seconds"))


def scene(bodies, divisions, steps):
    """The pile; `bodies` is a cube number."""
    side = round(bodies ** (1 / 3))
    if side ** 3 != bodies:
        sys.exit(f"--bodies {bodies}: no cube number")
    pitch = 2 * RADIUS + DHAT / 2
    jitter = random.Random(1)
    geometry = []
    for number in range(bodies):
        place = [number % side, number // side % side, number // side ** 2]
        geometry.append({
            "name": f"ball{number}",
            "generator": {"type": "ball", "radius": RADIUS, "divisions": divisions},
            "transformation": {"translation": [pitch * k + DHAT * jitter.uniform(-0.1, 0.1) for k in place]},
        })
    width = pitch * (side + 1)
    geometry.append({
        "name": "floor", "is_obstacle": True,
        "generator": {"type": "plate", "size": [width, width, 0.1], "divisions": [side, side, 1]},
        "transformation": {"translation": [pitch * (side - 1) / 2, pitch * (side - 1) / 2,
                                           -RADIUS - DHAT / 2 - 0.05]},
    })
    return {
        "geometry": geometry,
        "materials": {"type": "NeoHookean", "E": 1e6, "nu": 0.3, "rho": 1000},
        "gravity": [0, 0, -9.81],
        "initial_conditions": {"velocity": {"body": [f"ball{n}" for n in range(bodies)], "value": [0, 0, -1]}},
        "contact": {"enabled": True, "dhat": DHAT, "friction_coefficient": 0.3},
        "time": {"dt": 0.01, "time_steps": steps},
    }


def run(options, ranks, command):
    """Output of the command on so many ranks."""
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    if os.geteuid() == 0:
        environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    command = options.mpirun.split() + ["-n", str(ranks)] + command
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\nended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def simulate(options, folder, path, bodies, ranks):
    output = pathlib.Path(folder) / f"run{bodies}-{ranks}"
    run(options, ranks, [options.recoil, "simulate", "-q", str(path), "-o", str(output)])
    return {"bodies": bodies, **json.loads((output / "summary.json").read_text())}


def print_simulations(rows):
    print(f"{'bodies':>6} {'ranks':>5} {'dofs':>7} {'newton':>6} {'cg':>6} {'wall':>8} {'assembly':>8} {'solve':>8} "
          f"{'search':>8} {'collide':>8} {'io':>6} {'MB sum':>7} | to fewest ranks: wall assembly solve collide newton cg")
    first = {}
    for row in rows:
        base = first.setdefault(row["bodies"], row)
        ratios = " ".join(f"{row[k] / base[k]:6.2f}" if base[k] else "     -"
                          for k in ("wall_s", "assembly_s", "linear_solve_s", "collision_s", "newton_iterations",
                                    "linear_iterations"))
        print(f"{row['bodies']:6d} {row['ranks']:5d} {row['dofs']:7d} {row['newton_iterations']:6d} "
              f"{row['linear_iterations']:6d} {row['wall_s']:8.2f} " + " ".join(f"{row[k]:8.2f}" for k in PHASES[:-1]) +
              f" {row['io_s']:6.2f} {row['peak_memory_mb']['sum']:7.0f} | {ratios}")


def print_counts(bodies, rows):
    print(f"{bodies} bodies, largest of any rank / sum over ranks")
    print(f"| {'':24} | " + " | ".join(f"{row['ranks']:>21}" for row in rows) + " |")
    print("|" + "-" * 26 + "|" + ("-" * 23 + "|") * len(rows))
    for key, name in COUNTS:
        cells = [f"{row[key]['max']:.3f} / {row[key]['sum']:.3f}" if key == "cpu_s" else
                 f"{row[key]['max']} / {row[key]['sum']}" for row in rows]
        print(f"| {name:24} | " + " | ".join(f"{cell:>21}" for cell in cells) + " |")
    for key, name in (("bodies_cut", "bodies cut"), ("collectives", "collective calls"),
                      ("gathered_bytes", "bytes all-gathered")):
        print(f"| {name:24} | " + " | ".join(f"{row[key]:>21}" for row in rows) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recoil", help="simulates")
    parser.add_argument("--bench_pile", help="counts searches")
    parser.add_argument("--write", type=pathlib.Path, help="writes the scene of the first --bodies, and nothing else")
    parser.add_argument("--bodies", type=int, nargs="+", default=[8, 64, 512], help="cube numbers")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 3, 4])
    parser.add_argument("--divisions", type=int, default=1, help="of a ball: 48 n^3 tetrahedra")
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--mpirun", default="mpirun --oversubscribe --bind-to none")
    parser.add_argument("--scratch", help="folder for the runs")
    parser.add_argument("--json", type=pathlib.Path, help="file for all figures")
    options = parser.parse_args()
    if options.write:
        options.write.write_text(json.dumps(scene(options.bodies[0], options.divisions, options.steps)))
        return

    figures = {"simulate": [], "search": []}
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        for bodies in options.bodies:
            path = pathlib.Path(folder) / f"pile{bodies}.json"
            path.write_text(json.dumps(scene(bodies, options.divisions, options.steps)))
            for ranks in sorted(options.ranks):
                if options.recoil:
                    figures["simulate"].append(simulate(options, folder, path, bodies, ranks))
                if options.bench_pile:
                    figures["search"].append(json.loads(run(options, ranks, [options.bench_pile, str(path)])))
                print(".", end="", flush=True, file=sys.stderr)
    print(file=sys.stderr)
    if options.recoil:
        print_simulations(figures["simulate"])
    if options.bench_pile:
        for bodies in options.bodies:
            print_counts(bodies, [row for row in figures["search"] if row["bodies"] == bodies])
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
