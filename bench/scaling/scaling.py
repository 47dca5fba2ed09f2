#!/usr/bin/env python3
"""Strong and weak scaling of `recoil simulate` on a loaded box: ranks x sizes, seconds by phase, ratios side by side.

    bench/scaling/scaling.py --recoil build/release/recoil --ranks 1 2 --divisions 16 32 --json scaling.json

Every row is one run of a box of divisions^3 cubes (six tetrahedra each), one face clamped, under its own weight: `static`
one solve, `step` five steps of BDF1. Strong rows share a size; weak rows share the unknowns per rank (the box grows in
length with the ranks). Ratios: seconds of one rank / (ranks x seconds) for strong, seconds of one rank / seconds for weak
(1 = perfect); with more ranks than cores they cannot be good.
"""
import argparse
import json
import pathlib
import resource
import sys
import tempfile

import boxes

PHASES = ("assembly_s", "linear_solve_s", "line_search_s", "io_s")


def run(options, ranks, data):
    """One run; its summary with the CPU seconds of all ranks added."""
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        path = pathlib.Path(folder) / "box.json"
        path.write_text(json.dumps(data))
        command = options.mpirun.split() + ["-n", str(ranks), options.recoil, "simulate", "-q", str(path), "-o",
                                            str(pathlib.Path(folder) / "run")]
        if options.petsc:
            command += ["--petsc", options.petsc]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        boxes.run(command)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        summary = json.loads((pathlib.Path(folder) / "run" / "summary.json").read_text())
        summary["cpu_s"] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return summary


def measure(options, kind, name, ranks, divisions, length):
    data = boxes.box(divisions, length, 5 if name == "step" else 0, options.dim, options.order, options.law, gravity=9.81)
    summary = min((run(options, ranks, data) for _ in range(options.repeat)), key=lambda s: s["wall_s"])
    row = {"kind": kind, "problem": name, "ranks": ranks, "divisions": divisions, "length": length}
    for key in ("dofs", "elements", "newton_iterations", "linear_iterations", "wall_s", "cpu_s", "peak_memory_mb",
                "linear_solver") + PHASES:
        row[key] = summary[key]
    return row


def add_ratios(rows):
    """Efficiencies against the row of the fewest ranks of the same series."""
    first = {}
    for row in rows:
        key = (row["kind"], row["problem"], row["divisions"])
        base = first.setdefault(key, row)
        for phase in ("wall_s",) + PHASES[:2]:
            # Per Newton iteration: a longer box may need another number of them.
            mine = row[phase] / max(1, row["newton_iterations"])
            reference = base[phase] / max(1, base["newton_iterations"])
            factor = row["ranks"] / base["ranks"] if row["kind"] == "strong" else 1
            row["efficiency_" + phase.removesuffix("_s")] = reference / (factor * mine) if mine > 0 else None


def print_table(rows):
    head = (f"{'':6} {'':6} {'ranks':>5} {'dofs':>9} {'newton':>6} {'cg':>6} {'wall':>8} {'cpu':>8} {'assembly':>8} "
            f"{'solve':>8} {'search':>8} {'io':>7} {'MB sum':>7} | efficiency: wall assembly solve")
    print(head)
    for row in rows:
        ratios = " ".join("    -" if row[k] is None else f"{row[k]:8.2f}"
                          for k in ("efficiency_wall", "efficiency_assembly", "efficiency_linear_solve"))
        print(f"{row['kind']:6} {row['problem']:6} {row['ranks']:5d} {row['dofs']:9d} {row['newton_iterations']:6d} "
              f"{row['linear_iterations']:6d} {row['wall_s']:8.2f} {row['cpu_s']:8.2f} {row['assembly_s']:8.2f} "
              f"{row['linear_solve_s']:8.2f} {row['line_search_s']:8.2f} {row['io_s']:7.2f} "
              f"{row['peak_memory_mb']['sum']:7.0f} | {ratios}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recoil", default="build/release/recoil")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--divisions", type=int, nargs="+", default=[16, 32], help="sizes of the strong rows")
    parser.add_argument("--weak", type=int, nargs="*", help="sizes of the weak rows (default: the smallest)")
    parser.add_argument("--problems", nargs="+", default=["static", "step"], choices=["static", "step"])
    parser.add_argument("--dim", type=int, default=3, choices=[2, 3])
    parser.add_argument("--order", type=int, default=1, choices=[1, 2, 3, 4])
    parser.add_argument("--law", default="NeoHookean")
    parser.add_argument("--repeat", type=int, default=1, help="runs per row; the fastest counts")
    parser.add_argument("--petsc", default="", help="handed to recoil, e.g. \"-recoil_pc_type hypre\"")
    parser.add_argument("--mpirun", default="mpirun --oversubscribe --bind-to none")
    parser.add_argument("--scratch", help="folder for the runs")
    parser.add_argument("--json", type=pathlib.Path, help="file for all figures")
    options = parser.parse_args()
    weak = options.weak if options.weak is not None else [min(options.divisions)]

    rows = []
    for problem in options.problems:
        for kind, sizes in (("strong", options.divisions), ("weak", weak)):
            for divisions in sizes:
                for ranks in sorted(options.ranks):
                    rows.append(measure(options, kind, problem, ranks, divisions, ranks if kind == "weak" else 1))
                    print(".", end="", flush=True, file=sys.stderr)
    print(file=sys.stderr)
    add_ratios(rows)
    print_table(rows)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
