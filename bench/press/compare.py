#!/usr/bin/env python3
"""Scenes in which obstacles press, roll, cut and close, run with one or two executables: iterations side by side.

    bench/press/compare.py --recoil build/release/recoil [--before OTHER/recoil] [--np N] [--json FILE] [SCENE ..]

Without scenes: those of this folder with moving obstacles (walls, closing, rollers, knife, paddle, stamp). `--before` runs every
scene with the other executable first and compares: Newton iterations, linear iterations, seconds and the last displacement.
Prints a row per scene; moves are the parts in which prescribed motion was made, at least one per solve. Exit 1 if a scene fails or
ends with intersections, or if iterations or moves per step exceed `--most-newton` and `--most-moves` on average over the scenes.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SCENES = ("walls", "closing", "rollers", "knife", "paddle", "stamp")
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMP_NUM_THREADS="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1")


def run(recoil, scene, folder, ranks, timeout):
    """Summary of a run with its exit code and seconds; None after the time limit."""
    command = [recoil, "simulate", scene, "-o", folder, "-q"]
    start = time.monotonic()
    try:
        done = subprocess.run(command if ranks == 1 else ["mpirun", "-n", str(ranks)] + command, env=ENVIRONMENT, text=True,
                              capture_output=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return None
    if not (folder / "summary.json").is_file():
        raise SystemExit("exit %d: %s\n%s" % (done.returncode, scene, done.stderr[-2000:]))
    return dict(json.loads((folder / "summary.json").read_text()), exit=done.returncode, seconds=time.monotonic() - start)


def cells(summary):
    if summary is None:
        return "%8s %8s %8s %8s" % ("-", "-", "-", "timeout")
    return "%8d %8s %8d %8.1f" % (summary["newton_iterations"], summary.get("sub_moves", "-"), summary["linear_iterations"],
                                  summary["seconds"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recoil", required=True)
    parser.add_argument("--before")
    parser.add_argument("--np", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=3600, help="seconds for each run")
    parser.add_argument("--most-newton", type=float, default=12)
    parser.add_argument("--most-moves", type=float, default=1.2)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("scenes", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    scenes = arguments.scenes or [HERE / (name + ".json") for name in SCENES]
    rows, bad = [], []
    print("%-18s %5s | %8s %8s %8s %8s | %8s %8s %8s %8s | %6s %9s" %
          ("scene", "steps", *("newton", "moves", "linear", "seconds") * 2, "ratio", "change"))
    for scene in scenes:
        with tempfile.TemporaryDirectory() as work:
            before = None
            if arguments.before:
                before = run(arguments.before, scene, pathlib.Path(work) / "before", arguments.np, arguments.timeout)
            after = run(arguments.recoil, scene, pathlib.Path(work) / "after", arguments.np, arguments.timeout)
        ratio = change = float("nan")
        if before and after:
            ratio = after["seconds"] / before["seconds"]
            change = abs(after["err_l2"] / before["err_l2"] - 1)
        steps = after["steps"] if after else 0
        print("%-18s %5d | %s | %s | %6.2f %9.1e" % (scene.stem, steps, cells(before), cells(after), ratio, change), flush=True)
        rows.append({"scene": scene.stem, "before": before, "after": after})
        if after is None or after["exit"] != 0 or after["intersections"] != 0:
            bad.append(scene.stem)
    done = [row["after"] for row in rows if row["after"] and row["after"]["steps"] > 0]
    newton = sum(s["newton_iterations"] / s["steps"] for s in done) / max(1, len(done))
    moves = sum(s.get("sub_moves", 0) / s["steps"] for s in done) / max(1, len(done))
    print("per step, mean of %d scenes: %.1f Newton iterations, %.2f moves" % (len(done), newton, moves))
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1))
    for name in bad:
        print("failed: " + name)
    return 1 if bad or newton > arguments.most_newton or moves > arguments.most_moves else 0


if __name__ == "__main__":
    sys.exit(main())
