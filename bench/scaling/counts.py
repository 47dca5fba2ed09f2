#!/usr/bin/env python3
"""Scaling in counts: iterations, floating-point operations, messages, bytes, collectives, memory and work of a rank.

    bench/scaling/counts.py --recoil build/release/recoil --messages build/ci/bench/support/libbench_messages.so \\
        --ranks 1 2 4 8 16 32 64 --json counts.json

Problems: `box`, a NeoHookean box that is clamped at one end, in steps of c dt/h = 10 with c = (E / rho)^1/2; `static`, the same at
rest; `bar`, a bar of hcp spheres bonded to each other that falls from one clamped end, in steps of `--share` critical time steps. In weak rows
the length grows with the ranks, `--unknowns` on each; in strong rows all ranks share `--strong` unknowns.

Everything that enters MPI, from PETSc too, is counted where it does (`bench/support`); floating-point operations are those PETSc counts
(its log), which has all of linear algebra and nothing of assembly. Figures are of the rank that has most. Figures of a step are those of a run of
`--steps` steps less those of a run of half as many, over the difference; what is left of the shorter run belongs to the start: reading,
distribution, the first hierarchy. Counts do not depend on the number of cores, as seconds of a clock do; `model.py` estimates seconds from them.

Processor seconds outside of MPI do say something: they are a rank's share of the work, without waiting. Seconds an unknown of the row of one rank over ranks x
seconds an unknown of the rank with most bound the efficiency that as many cores could reach, weak and strong, since messages and waiting only add to them.
They contain the kernel's time for pages that are touched first, most of it in the start, and what ranks on one core take from each other's caches.
"""
import argparse
import json
import pathlib
import re
import shutil
import sys
import tempfile

import boxes

RADIUS, YOUNG, DENSITY = 0.01, 1e7, 1000
SENT = ("messages", "bytes", "collectives", "gathered_bytes")
COUNTS = ("newton_iterations", "linear_iterations", "hierarchies", "solve_flops", "set_up_flops", "computing_s") + SENT


def critical_step():
    """Of a sphere with the stiffness of its bonds in the packing."""
    stiffness, mass = 3.141592653589793 / 2 * YOUNG * RADIUS, DENSITY * 4 * 2**0.5 * RADIUS**3
    return 2 / (17.9 * stiffness / mass) ** 0.5


def box(unknowns, length, steps, _):
    scene = boxes.box(max(2, round((unknowns / 3) ** (1 / 3)) - 1), length, steps)
    scene["output"] = {"every": 1000}
    return scene


def static(unknowns, length, _, share):
    return box(unknowns, length, 0, share)


def bar(unknowns, length, steps, share):
    width = (unknowns / 6 * 4 * 2**0.5 * RADIUS**3) ** (1 / 3)
    return {
        "solver": {"type": "bonded_particles", "bonded_particles": {"integrator": "be_reflect"}},
        "geometry": [{
            "name": "bar",
            "generator": {"type": "box", "size": [width * length, width, width], "divisions": 1},
            "particles": {"packing": "hcp", "radius": RADIUS},
            "point_selection": [{"id": 1, "axis": "-x", "position": 3 * RADIUS - width * length / 2}],
        }],
        "materials": {"type": "BondedParticles", "E": YOUNG, "nu": 0.3, "rho": DENSITY},
        "gravity": [0, 0, -9.81],
        "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0, 0]}]},
        "time": {"dt": share * critical_step(), "time_steps": steps},
        "output": {"every": 1000},
    }


PROBLEMS = {"box": box, "static": static, "bar": bar}


def logged(path):
    """Operations by PETSc's log, of the rank that has most: in all, in set-ups of preconditioners, and the hierarchies made anew."""
    text = path.read_text()
    # A line of an event: name, calls and their ratio, seconds and their ratio, operations.
    events = {name: (int(calls), float(flops)) for name, calls, flops in
              re.findall(r"^(\S+)\s+(\d+) \S+ \S+ +\S+ +(\d\S*e\S*) ", text, re.MULTILINE)}
    total = float(re.search(r"^Flops?:\s+(\S+)", text, re.MULTILINE)[1])
    set_up = events.get("PCSetUp", (0, 0.0))[1]
    return {"hierarchies": events.get("PCSetUp_GAMG+", (0, 0.0))[0], "set_up_flops": set_up, "solve_flops": total - set_up}


def run(options, ranks, scene):
    """Summary of a run with the counts of its ranks."""
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        folder = pathlib.Path(name)
        (folder / "scene.json").write_text(json.dumps(scene))
        preload = ["-x", f"LD_PRELOAD={options.messages.resolve()}", "-x", f"RECOIL_MESSAGES={folder}"]
        command = options.mpirun.split() + ["-n", str(ranks)] + preload + [
            options.recoil, "simulate", "-q", str(folder / "scene.json"), "-o", str(folder / "run")]
        if options.petsc:
            command += ["--petsc", options.petsc]
        boxes.run(command, PETSC_OPTIONS=f"-log_view :{folder}/log.txt")
        summary = json.loads((folder / "run" / "summary.json").read_text())
        sent = [json.loads((folder / f"{rank}.json").read_text()) for rank in range(ranks)]
        for name in SENT + ("computing_s",):
            summary[name] = max(counts[name] for counts in sent)
        return summary | logged(folder / "log.txt")


def measure(options, problem, kind, ranks):
    """A row of the table."""
    unknowns, length = (options.unknowns, ranks) if kind == "weak" else (options.strong, 1)

    def of(steps):
        return run(options, ranks, PROBLEMS[problem](unknowns, length, steps, options.share))
    long = of(options.steps)
    row = {"problem": problem, "kind": kind, "ranks": ranks, "unknowns": long.get("dofs") or 6 * long["particles"],
           "peak_mb": long["peak_memory_mb"]["max"], "mean_peak_mb": long["peak_memory_mb"]["sum"] / ranks}
    if problem == "static":
        return row | {"start": {name: 0 for name in COUNTS}, "step": {name: long[name] for name in COUNTS}}
    short = of(options.steps // 2)
    more = options.steps - options.steps // 2
    row["step"] = {name: (long[name] - short[name]) / more for name in COUNTS}
    row["start"] = {name: long[name] - options.steps * row["step"][name] for name in COUNTS}
    return row


def bound(rows, row, part):
    """Of the efficiency of a row's start or step, by the row of one rank; None without such a row."""
    def work(row):
        return row["ranks"] * row[part]["computing_s"] / row["unknowns"]
    alone = [other for other in rows if other["ranks"] == 1 and other["problem"] == row["problem"] and other["kind"] == row["kind"]]
    return work(alone[0]) / work(row) if alone and work(row) > 0 else None


def print_table(rows):
    columns = ("", "", "ranks", "unknowns", "Newton", "CG", "Mflop of solves", "of set-ups", "messages", "kB", "collectives", "kB gathered",
               "messages of the start", "kB", "peak MB", "mean MB", "s computed in the start", "bound of efficiency", "in a step", "bound of efficiency")
    print("| " + " | ".join(columns) + " |")
    print("|---" * len(columns) + "|")
    for row in rows:
        step, start = row["step"], row["start"]
        print(f"| {row['problem']} | {row['kind']} | {row['ranks']} | {row['unknowns']} | {step['newton_iterations']:g} | {step['linear_iterations']:g} "
              f"| {step['solve_flops'] / 1e6:.0f} | {step['set_up_flops'] / 1e6:.0f} | {step['messages']:.0f} | {step['bytes'] / 1e3:.0f} "
              f"| {step['collectives']:.0f} | {step['gathered_bytes'] / 1e3:.1f} | {start['messages']:.0f} | {start['bytes'] / 1e3:.0f} "
              f"| {row['peak_mb']:.0f} | {row['mean_peak_mb']:.0f} "
              + "".join(f"| {row[part]['computing_s']:.3f} | {'' if row[part]['bound'] is None else format(row[part]['bound'], '.2f')} "
                        for part in ("start", "step")) + "|")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recoil", default="build/release/recoil")
    parser.add_argument("--messages", type=pathlib.Path, default=pathlib.Path("build/ci/bench/support/libbench_messages.so"))
    parser.add_argument("--problems", nargs="+", default=["box", "bar"], choices=list(PROBLEMS))
    parser.add_argument("--kinds", nargs="+", default=["weak"], choices=["weak", "strong"])
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    parser.add_argument("--unknowns", type=float, default=12000, help="per rank in weak rows")
    parser.add_argument("--strong", type=float, default=100000, help="of all ranks in strong rows")
    parser.add_argument("--steps", type=int, default=4, help="of the longer of the two runs; even")
    parser.add_argument("--share", type=float, default=100, help="time step of bars over the critical one")
    parser.add_argument("--petsc", default="-recoil_pc_type gamg", help="handed to recoil; multigrid on one rank, too, by default")
    parser.add_argument("--mpirun", default="mpirun --oversubscribe --bind-to none --mca mpi_yield_when_idle 1",
                        help="ranks that wait should leave the core to others")
    parser.add_argument("--scratch", help="folder for the runs")
    parser.add_argument("--json", type=pathlib.Path, help="file for all figures")
    options = parser.parse_args()
    if shutil.which(options.recoil) is None:
        parser.error(f"--recoil {options.recoil}: no such program")
    if not options.messages.exists():
        parser.error(f"--messages {options.messages}: no such library; build the target bench_messages")
    if min(options.ranks) < 1:
        parser.error(f"--ranks {min(options.ranks)}: at least 1")
    if options.steps < 2 or options.steps % 2:
        parser.error(f"--steps {options.steps}: an even number, at least 2")
    rows = []
    for problem in options.problems:
        for kind in options.kinds:
            for ranks in options.ranks:
                rows.append(measure(options, problem, kind, ranks))
                print(".", end="", flush=True, file=sys.stderr)
                if options.json:
                    options.json.write_text(json.dumps(rows, indent=1) + "\n")
    print(file=sys.stderr)
    for row in rows:
        for part in ("start", "step"):
            row[part]["bound"] = bound(rows, row, part)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    print_table(rows)


if __name__ == "__main__":
    main()
