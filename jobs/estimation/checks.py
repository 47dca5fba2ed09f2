"""Derivatives against central differences of whole runs, for the cases of the paper's table 6."""
import os
import shutil
import subprocess
import sys

from make_data import FOLDER, ROOT, call, load, make, missing
from pictures import draw_checks


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


HEADER = ("case", "direction", "derivative", "error (paper)", "limit", "")


def compared(name, expected, found):
    """Rows of the table."""
    return [(name, direction, "%.6e" % check["derivative"], "%.1e (%s)" % (check["relative_error"], expected["paper"]),
             "%g" % expected["limit"], "" if check["relative_error"] <= expected["limit"] else "MISSED")
            for direction, check in found["check"].items()]


def difference_checks(arguments):
    """Table rows {case: errors beside the paper's}, and whether all are below their limits."""
    rows, cases = [HEADER], {}
    for name, expected in load(FOLDER, "difference_checks", "expected.json").items():
        found = of_lattice(arguments) if name == "lattice" else of_study(name, arguments)
        rows += compared(name, expected, found)
        cases[name] = (found, expected["paper"])
    if not arguments.no_pictures:
        path = os.path.join(os.path.abspath(arguments.out), "difference_checks", "picture.png")
        draw_checks(cases, path)
        if arguments.record:
            shutil.copy(path, os.path.join(FOLDER, "difference_checks", "picture.png"))
    return rows, all(not row[-1] for row in rows[1:])
