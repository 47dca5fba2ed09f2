#!/usr/bin/env python3
"""False alarms of `recoil gradient --check`: its default settings on every column and study of table.py.

    bench/gradients/alarms.py --recoil build/release/recoil --folder alarms [--only static-free-2D-P1 ..] [--solver default]

Three random directions over all parameters and one along each of them: 1140 in all, each of which is right to 1e-6 (table.py). Prints how often
each verdict is given, the directions that are not confirmed, and how long they take. What is in the folder already is not run again,
so that the whole may be done in batches. `--solver default` solves the steps with the default tolerances of a scene instead of to rounding.
The exit code is 1 if a derivative is called wrong, a study fails, or fewer than 1000 directions are checked (without --only).
"""
import argparse
import itertools
import json
import os
import shutil
import sys
import time

import table

SCHEMES = itertools.product(table.SCHEMES, table.CONTACTS, ("2D", "3D"), ("P1", "P2"))


def run_column(recoil, folder, key, default_solver):
    """Directions with their results by study, or why there are none."""
    path = os.path.join(folder, "-".join(key), "result.json")
    if os.path.exists(path):
        with open(path) as file:
            return json.load(file)
    cell = table.Cell(recoil, folder, key)
    failure = cell.make_reference()
    if failure is not None:
        return {"failure": failure}
    result = {"checks": {}, "seconds": 0}
    for name, _, scene, study in cell.studies():
        if default_solver:
            scene["solver"].pop("nonlinear", None)
        cell.write(name + "-scene.json", scene)
        cell.write(name + ".json", study)
        output = os.path.join(cell.folder, "out-" + name)
        shutil.rmtree(output, ignore_errors=True)
        start = time.time()
        done = cell.call("gradient", name + ".json", "-o", "out-" + name, "--check", "-q")
        result["seconds"] += time.time() - start
        file = os.path.join(output, "gradient.json")
        found = json.load(open(file)) if os.path.exists(file) else {}
        if "check" not in found:
            return {"failure": done.stdout}
        result["checks"][name] = found["check"]
        result.setdefault("objective_errors", {})[name] = found.get("objective_error")
        shutil.rmtree(output)
    cell.write("result.json", result)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recoil", required=True)
    parser.add_argument("--folder", required=True, help="for scenes, studies and results")
    parser.add_argument("--only", nargs="+", default=[], help="columns, e.g. BDF2-friction-3D-P2")
    parser.add_argument("--solver", choices=("exact", "default"), default="exact")
    arguments = parser.parse_args()
    counts, directions, seconds, failures = {}, 0, 0, 0
    for key in SCHEMES:
        head = "-".join(key)
        if arguments.only and head not in arguments.only:
            continue
        result = run_column(os.path.abspath(arguments.recoil), arguments.folder, key, arguments.solver == "default")
        if "failure" in result:
            failures += 1
            print("%s failed:\n%s" % (head, result["failure"]))
            continue
        seconds += result["seconds"]
        for study, checks in result["checks"].items():
            for name, check in checks.items():
                verdict = check["verdict"].split(":")[0]
                counts[verdict] = counts.get(verdict, 0) + 1
                directions += 1
                if not verdict.startswith("agrees"):
                    print("%s, %s, %s: relative error %.1e, slope %s: %s" % (head, study, name, check["relative_error"], check["slope"], check["verdict"]))
        print("%s: done" % head, flush=True)
    print("%d directions, %.2f s each" % (directions, seconds / max(directions, 1)))
    for verdict, count in sorted(counts.items()):
        print("%6d %s" % (count, verdict))
    wrong = counts.get("wrong derivative", 0)
    return 1 if wrong or failures or (not arguments.only and directions < 1000) else 0


if __name__ == "__main__":
    sys.exit(main())
