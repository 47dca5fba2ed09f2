#!/usr/bin/env python3
"""Times of fracture modes and impacts beside Table 1 of the paper [Sellan et al. 2023], on the shapes of jobs/fracture at its sizes.

    bench/fracture_modes/table1.py --recoil build/ci/recoil --library build/ci/src/c/librecoil_fracture.so [--ranks 2]

A row per figure of the paper: elements, modes, seconds per mode (all of `recoil fracture` but writing, over the modes), pieces, and the time of one
impact from C by recoil_fracture_impact(), which also finds the place on the surface. The paper's times are those of four cores of 2.3 GHz.
"""
import argparse
import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "jobs" / "fracture"))
import shapes

# figure, shape here, tetrahedra, seconds per mode, modes, pieces, milliseconds per impact of the paper
ROWS = (("7", "wheel", 6316, 2.86, 30, 47, 1.06), ("18", "bowl", 3931, 2.20, 20, 117, 1.21), ("14a", "table", 3545, 0.63, 10, 35, 1.13),
        ("14b", "amphora", 4993, 2.63, 25, 34, 1.08), ("16", "statue", 12162, 11.6, 10, 31, 1.19), ("19", "mug", 8802, 5.91, 15, 152, 1.96))
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMP_NUM_THREADS="1")


class Hit(ctypes.Structure):
    _fields_ = [("place", ctypes.c_double * 3), ("direction", ctypes.c_double * 3), ("magnitude", ctypes.c_double), ("sigma", ctypes.c_double),
                ("speed", ctypes.c_double), ("project_on_modes", ctypes.c_int)]


def impact_milliseconds(library, modes, places):
    """Mean over impacts at `places`, with the projection onto the modes, which takes longer."""
    shape, fragments = ctypes.c_void_p(), ctypes.c_int()
    if library.recoil_fracture_load(str(modes).encode(), ctypes.byref(shape), None) != 0:
        raise SystemExit(f"table1: {modes} cannot be loaded")
    hits = [Hit((ctypes.c_double * 3)(*place), (ctypes.c_double * 3)(), 1, 1, 0, 1) for place in places]
    start = time.perf_counter()
    for hit in hits:
        if library.recoil_fracture_impact(shape, ctypes.byref(hit), ctypes.byref(fragments), None) != 0:
            raise SystemExit("table1: an impact failed")
    seconds = time.perf_counter() - start
    library.recoil_fracture_free(shape)
    return 1e3 * seconds / len(hits)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recoil", required=True, help="the executable")
    parser.add_argument("--library", required=True, help="librecoil_fracture.so")
    parser.add_argument("--ranks", type=int, default=2, help="(default: 2)")
    arguments = parser.parse_args()
    library = ctypes.CDLL(os.path.abspath(arguments.library))
    for name in ("load", "impact"):
        getattr(library, f"recoil_fracture_{name}").restype = ctypes.c_int
    library.recoil_fracture_impact.argtypes = [ctypes.c_void_p] * 4
    library.recoil_fracture_free.argtypes = [ctypes.c_void_p]
    launcher = ["mpirun", "-n", str(arguments.ranks), "--oversubscribe"] if arguments.ranks > 1 else []
    print("figure  shape     elements (paper)  modes  s per mode (paper)  pieces (paper)  ms per impact (paper)")
    with tempfile.TemporaryDirectory() as folder:
        for figure, name, elements, seconds, count, pieces, milliseconds in ROWS:
            shapes.write(name, Path(folder) / f"{name}.obj")
            shape = {"geometry": {"mesh": f"{name}.obj", "cage": {"elements": elements}}, "modes": {"count": count, "least_piece": 0.02}}
            (Path(folder) / f"{name}.json").write_text(json.dumps(shape))
            modes = Path(folder) / f"{name}-modes"
            subprocess.run([*launcher, os.path.abspath(arguments.recoil), "fracture", f"{name}.json", "-o", str(modes), "-q"], cwd=folder, env=ENVIRONMENT,
                           check=True, stdin=subprocess.DEVNULL)
            found = json.loads((modes / "modes.json").read_text())["content"]
            points = [point for part, _ in shapes.SHAPES[name]() for point in part[::7]]
            taken = impact_milliseconds(library, modes, points)
            print("%6s  %-8s  %8d (%5d)  %5d  %10.2f (%5.2f)  %6d (%5d)  %13.4f (%4.2f)"
                  % (figure, name, found["elements"], elements, found["modes"], found["seconds"]["all"] / found["modes"], seconds, found["pieces"], pieces,
                     taken, milliseconds), flush=True)


if __name__ == "__main__":
    main()
