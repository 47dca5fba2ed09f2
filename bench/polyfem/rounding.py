#!/usr/bin/env python3
"""Which norms of PolyFEM's scenes differ between two builds of recoil by more than rounding can.

    bench/polyfem/rounding.py --suite run_suite.py --recoil build/release/recoil --before EARLIER

The scenes are run by run_suite.py, which comes with them: by the earlier program with two sets of OpenBLAS kernels, which round differently, and
by the present one with the first of these. Of every norm that differs by more than 1e-12 both differences are printed, relative to the norm. The
exit code is 1 where the present program differs by more than ten times what the earlier one does from itself in some norm of the scene.
"""
import argparse
import glob
import json
import os
import subprocess
import sys
import tempfile

KERNELS = ("Haswell", "Prescott")
TIGHT = 1e-12


def norms(suite, recoil, kernels, folder):
    """By scene and name, of the last state of every scene."""
    environment = dict(os.environ, OPENBLAS_CORETYPE=kernels)
    subprocess.run([sys.executable, suite, "--recoil", recoil, "--out", folder], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    found = {}
    for path in glob.glob(os.path.join(folder, "*", "summary.json")):
        with open(path) as file:
            summary = json.load(file)
        found[os.path.basename(os.path.dirname(path))] = [summary[name] for name in ("err_l2", "err_h1")]
    return found


def differences(a, b):
    return {scene: [abs(x - y) / abs(y) if y else abs(x) for x, y in zip(a[scene], b[scene])] for scene in b}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", required=True, help="run_suite.py beside the scenes")
    parser.add_argument("--recoil", required=True)
    parser.add_argument("--before", required=True, help="the earlier program")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        before, other, now = (norms(arguments.suite, recoil, kernels, os.path.join(folder, str(k))) for k, (recoil, kernels) in enumerate(
            [(arguments.before, KERNELS[0]), (arguments.before, KERNELS[1]), (arguments.recoil, KERNELS[0])]))
    if not before or before.keys() != other.keys() or before.keys() != now.keys():
        raise SystemExit("%d, %d and %d scenes ran; they have to be the same" % (len(before), len(other), len(now)))
    by_kernels, by_program = differences(other, before), differences(now, before)
    beyond = 0
    for scene in sorted(before):
        if max(by_kernels[scene] + by_program[scene]) > TIGHT:
            print("%-80s kernels %s, program %s" % (scene, *(" ".join("%.1e" % value for value in found[scene]) for found in (by_kernels, by_program))))
        beyond += max(by_program[scene]) > max(TIGHT, *(10 * value for value in by_kernels[scene]))
    for what, found in (("other kernels", by_kernels), ("the other program", by_program)):
        values = [value for pair in found.values() for value in pair]
        print("%s: %d of %d norms the same to %g, the largest difference %.1e" % (what, sum(value <= TIGHT for value in values), len(values), TIGHT, max(values)))
    return 1 if beyond else 0


if __name__ == "__main__":
    sys.exit(main())
