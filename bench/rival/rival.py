#!/usr/bin/env python3
"""Scenes with another solver's times beside them: seconds of the nonlinear solves by phase, iterations, memory, ratios.

    bench/rival/rival.py --recoil build/release/recoil --scenes SCENES --np 2 [--only slope ..]
    bench/rival/rival.py .. --reference build/bench/bench_assembly [--profile]

`--scenes`: a folder of scenes and `rival.json` with `solve_s`, `wall_s`, `newton`, `memory_mb` per scene. `--reference` times the element
kernels of `bench_assembly` before every scene, so that seconds of two days can be compared. `--profile` runs each scene a second
time with PETSc's log and prints what takes longest (inclusive, the slowest rank).
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import tempfile

PHASES = ("assembly_s", "linear_solve_s", "line_search_s")
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMP_NUM_THREADS="1")


def run(arguments, **more):
    done = subprocess.run(arguments, env=dict(ENVIRONMENT, **more), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        raise SystemExit("exit %d: %s\n%s" % (done.returncode, " ".join(map(str, arguments)), done.stdout[-2000:]))
    return done.stdout


def simulate(arguments, scene, folder, **more):
    run(["mpirun", "-n", str(arguments.np), arguments.recoil, "simulate", scene, "-o", folder, "-q"], **more)
    return json.loads((folder / "summary.json").read_text())


def kernel_time(bench):
    """Microseconds per element of the kernels alone."""
    return float(re.search(r"kernels only\s+([\d.]+) us/cell", run([bench, "-only_ratio"]))[1])


def events(log):
    """(seconds, name, calls) of PETSc's log, longest first."""
    found = {}
    for line in log.splitlines():
        row = re.match(r"(\w+)\s+(\d+) [\d.]+ (\d\.\d+e[+-]\d+)", line)
        if row:
            found[row[1]] = max(found.get(row[1], (0, "", 0)), (float(row[3]), row[1], int(row[2])))
    return sorted(found.values(), reverse=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recoil", required=True)
    parser.add_argument("--scenes", type=pathlib.Path, required=True)
    parser.add_argument("--np", type=int, default=2)
    parser.add_argument("--only", nargs="+", help="names of scenes")
    parser.add_argument("--reference", help="bench_assembly")
    parser.add_argument("--profile", action="store_true")
    arguments = parser.parse_args()
    times = arguments.scenes / "rival.json"
    if not times.is_file():
        parser.error("%s is not there; --scenes takes the folder of the scenes and of the times to compare with" % times)
    rivals = {name: entry for name, entry in json.loads(times.read_text()).items() if isinstance(entry, dict)}
    unknown = set(arguments.only or []) - set(rivals)
    if unknown:
        parser.error("no such scene in rival.json: %s; there are %s" % (", ".join(sorted(unknown)), ", ".join(rivals)))
    print("scene | kernel us | Newton, CG | assembly + linear + line search s | wall s | MB summed | ratio of solve, wall, memory")
    for name in arguments.only or rivals:
        rival = rivals[name]
        kernel = "%.3f" % kernel_time(arguments.reference) if arguments.reference else "-"
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            scene = arguments.scenes / (name + ".json")
            found = simulate(arguments, scene, folder / "run")
            seconds = [found[phase] for phase in PHASES]
            memory = found["peak_memory_mb"]["sum"]
            ratios = [value / rival[key] if key in rival else float("nan")
                      for value, key in ((sum(seconds), "solve_s"), (found["wall_s"], "wall_s"), (memory, "memory_mb"))]
            print("%s | %s | %d, %d | %s | %.2f | %.0f | %s" % (
                name, kernel, found["newton_iterations"], found["linear_iterations"], " + ".join("%.2f" % s for s in seconds),
                found["wall_s"], memory, ", ".join("%.3f" % r for r in ratios)), flush=True)
            if arguments.profile:
                log = folder / "petsc.log"
                simulate(arguments, scene, folder / "again", PETSC_OPTIONS="-log_view :%s" % log)
                logged = events(log.read_text())
                missing = {"KSPSolve", "PCSetUp"} - {event for _, event, _ in logged}
                if missing:
                    print("    without %s: PETSc's log leaves out events that an error has left open" % ", ".join(sorted(missing)))
                for seconds, event, calls in logged[:8]:
                    print("    %8.2f s  %-20s %d calls" % (seconds, event, calls), flush=True)


if __name__ == "__main__":
    main()
