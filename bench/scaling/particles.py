#!/usr/bin/env python3
"""Weak scaling of bonded particles in counts: iterations, messages, bytes and memory per rank.

    bench/scaling/particles.py --recoil build/ci/recoil --messages build/ci/bench/libbench_messages.so --ranks 1 2 4 8

A bar of hcp spheres that is clamped at one end and falls under its own weight, in steps of `--steps` critical time steps;
its length grows with the ranks, so that each has as many particles. Everything that enters MPI, from PETSc too, is counted
where it does (`bench/support`). Counts of a step are those of a run of four steps less those of a run of two, over two; those
of the set-up are what is left of the shorter run. Memory per particle is the growth of the largest rank's peak from half as
many particles. Counts do not mind if there are fewer cores than ranks; seconds would say nothing.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

RADIUS, YOUNG, DENSITY = 0.01, 1e7, 1000
COUNTS = ("messages", "bytes", "collectives", "gathered_bytes")


def critical_step():
    stiffness, mass = 3.141592653589793 / 2 * YOUNG * RADIUS, DENSITY * 4 * 2**0.5 * RADIUS**3
    return 2 / (17.9 * stiffness / mass) ** 0.5


def scene(particles, ranks, share, steps, integrator):
    """A bar of square section, of about `particles` per rank."""
    volume = particles * 4 * 2**0.5 * RADIUS**3
    width = volume ** (1 / 3)
    length = width * ranks
    return {
        "solver": {"type": "bonded_particles", "bonded_particles": {"integrator": integrator}},
        "geometry": [{
            "name": "bar",
            "generator": {"type": "box", "size": [length, width, width], "divisions": 1},
            "particles": {"packing": "hcp", "radius": RADIUS},
            "point_selection": [{"id": 1, "axis": "-x", "position": 3 * RADIUS - length / 2}],
        }],
        "materials": {"type": "BondedParticles", "E": YOUNG, "nu": 0.3, "rho": DENSITY},
        "gravity": [0, 0, -9.81],
        "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0, 0]}]},
        "time": {"dt": share * critical_step(), "time_steps": steps},
    }


def run(options, ranks, data):
    """Summary of a run, with the counts of its ranks as lists."""
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        folder = pathlib.Path(name)
        (folder / "bar.json").write_text(json.dumps(data))
        preload = ["-x", f"LD_PRELOAD={options.messages.resolve()}", "-x", f"RECOIL_MESSAGES={folder}"]
        command = options.mpirun.split() + ["-n", str(ranks)] + preload + [
            options.recoil, "simulate", "-q", str(folder / "bar.json"), "-o", str(folder / "run")]
        if options.petsc:
            command += ["--petsc", options.petsc]
        environment = dict(os.environ, OMP_NUM_THREADS="1")
        if os.geteuid() == 0:
            environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}\nended with {done.returncode}\n{done.stdout}{done.stderr}")
        summary = json.loads((folder / "run" / "summary.json").read_text())
        sent = [json.loads((folder / f"{rank}.json").read_text()) for rank in range(ranks)]
        summary.update({name: [counts[name] for counts in sent] for name in COUNTS})
        return summary


def measure(options, ranks, share):
    """A row of the table."""
    def of(particles, steps):
        return run(options, ranks, scene(particles, ranks, share, steps, options.integrator))
    half, short, long = of(options.particles / 2, 2), of(options.particles, 2), of(options.particles, 4)
    row = {"ranks": ranks, "share": share, "particles": long["particles"], "bonds": long["bonds"]}
    for name in ("newton_iterations", "linear_iterations"):
        row[name] = (long[name] - short[name]) / 2
    for name in COUNTS:
        later = [(b - a) / 2 for a, b in zip(short[name], long[name])]
        row[name] = max(later)
        row[name + "_of_all"] = sum(later)
        row[name + "_of_set_up"] = max(a - b for a, b in zip(short[name], [2 * count for count in later]))
    peak = [1e6 * summary["peak_memory_mb"]["max"] for summary in (half, short)]
    row["memory_per_particle"] = (peak[1] - peak[0]) * ranks / (short["particles"] - half["particles"])
    row["peak_memory_mb"] = short["peak_memory_mb"]["max"]
    return row


def print_table(rows):
    columns = (("dt/T", "share", "{:g}"), ("ranks", "ranks", "{}"), ("particles", "particles", "{}"), ("Newton", "newton_iterations", "{:g}"),
               ("CG", "linear_iterations", "{:g}"), ("messages", "messages", "{:.0f}"), ("kB", "kB", "{:.0f}"),
               ("kB per face", "kB_per_face", "{:.0f}"), ("collectives", "collectives", "{:.0f}"),
               ("kB gathered", "gathered_kB", "{:.1f}"), ("kB gathered in set-up", "gathered_set_up_kB", "{:.1f}"),
               ("bytes per particle", "memory_per_particle", "{:.0f}"), ("peak MB", "peak_memory_mb", "{:.0f}"))
    print("| " + " | ".join(head for head, _, _ in columns) + " |")
    print("|---" * len(columns) + "|")
    for row in rows:
        row["kB"] = row["bytes"] / 1e3
        row["kB_per_face"] = row["bytes_of_all"] / 1e3 / max(1, 2 * (row["ranks"] - 1))
        row["gathered_kB"] = row["gathered_bytes"] / 1e3
        row["gathered_set_up_kB"] = row["gathered_bytes_of_set_up"] / 1e3
        print("| " + " | ".join(form.format(row[name]) for _, name, form in columns) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recoil", default="build/ci/recoil")
    parser.add_argument("--messages", type=pathlib.Path, default=pathlib.Path("build/ci/bench/support/libbench_messages.so"))
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--particles", type=int, default=5000, help="per rank")
    parser.add_argument("--steps", type=float, nargs="+", default=[20, 100], help="time step over the critical one")
    parser.add_argument("--integrator", default="be_reflect")
    parser.add_argument("--petsc", default="-recoil_pc_type gamg", help="handed to recoil; multigrid on one rank, too, by default")
    parser.add_argument("--mpirun", default="mpirun --oversubscribe --bind-to none")
    parser.add_argument("--scratch", help="folder for the runs")
    parser.add_argument("--json", type=pathlib.Path, help="file for all figures")
    options = parser.parse_args()
    if shutil.which(options.recoil) is None:
        parser.error(f"--recoil {options.recoil}: no such program")
    if not options.messages.exists():
        parser.error(f"--messages {options.messages}: no such library; build the target bench_messages")
    rows = []
    for share in options.steps:
        for ranks in options.ranks:
            rows.append(measure(options, ranks, share))
            print(".", end="", flush=True, file=sys.stderr)
    print(file=sys.stderr)
    print_table(rows)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
