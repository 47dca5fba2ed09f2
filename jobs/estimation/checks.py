"""Derivatives against central differences of whole runs, for the cases of the paper's table 6."""
import os
import shutil
import subprocess
import sys

from make_data import FOLDER, ROOT, call, load, make, missing


def of_study(name, arguments):
    """The check of a job's study at its start values: relative error of every direction."""
    if missing(name):
        make(name, arguments.recoil, arguments.ranks)
    out = os.path.join(os.path.abspath(arguments.out), "difference_checks", name)
    shutil.rmtree(out, ignore_errors=True)
    call(arguments.recoil, arguments.ranks, "gradient", os.path.join(FOLDER, name, "study.json"), "-o", out, "--check", "-q")
    return load(out, "gradient.json")


def of_lattice(arguments):
    """The lattice with 24 shape values that bench/gradients builds."""
    out = os.path.join(os.path.abspath(arguments.out), "difference_checks")
    os.makedirs(out, exist_ok=True)
    file = os.path.join(out, "lattice.json")
    script = os.path.join(ROOT, "bench", "gradients", "paper_cases.py")
    done = subprocess.run([sys.executable, script, "--recoil", arguments.recoil, "lattice", "--keep", out, "--json", file],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if not os.path.exists(file):
        raise SystemExit(done.stdout)
    return load(file)["lattice"]


def compared(name, expected, found):
    """Rows of a table, and whether all errors are below the limit."""
    rows = [(name, direction, "%.6e" % check["derivative"], "%.1e" % check["relative_error"], expected["paper"],
             "" if check["relative_error"] <= expected["limit"] else "MISSED") for direction, check in found["check"].items()]
    return rows, all(not row[-1] for row in rows)


def difference_checks(arguments):
    """Table rows {case: errors beside the paper's}, and whether all are below their limits."""
    rows, good = [("case", "direction", "derivative", "error", "paper's", "")], True
    for name, expected in load(FOLDER, "difference_checks", "expected.json").items():
        found = of_lattice(arguments) if name == "lattice" else of_study(name, arguments)
        more, holds = compared(name, expected, found)
        rows, good = rows + more, good and holds
    return rows, good
