#!/usr/bin/env python3
"""Makes observed.csv from a run of scene.json, whose values are the true ones: displacements of points every 4 mm, as digital image
correlation finds them in five frames, with noise of 1 % of the largest one. What such data lack is missing: single points of a frame, a
glare from the third frame on, the right part of the fourth frame, and some vertical components.

    jobs/dic/observe.py --recoil build/release/recoil
"""
import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent.parent / "scripts"))
from recoil_run import Run  # noqa: E402
from reporting.elements import elements_of  # noqa: E402

SPACING, MARGIN, RADIUS = 4e-3, 2e-3, 9e-3  # m; no points nearer to the sides, nor to the hole
GLARE, GLARE_RADIUS, CUT = np.array([0.028, 0.008]), 0.009, 0.02  # m
NOISE, LOST, HALF, SEED = 0.01, 0.04, 0.02, 1


def grid(rest):
    low, high = rest.min(0) + MARGIN, rest.max(0) - MARGIN
    axes = [np.linspace(a, b, round((b - a) / SPACING) + 1) for a, b in zip(low, high)]
    points = np.stack(np.meshgrid(*axes), axis=2).reshape(-1, 2)
    return points[np.linalg.norm(points, axis=1) > RADIUS]


def is_seen(frame, point, random):
    glare = frame >= 3 and np.linalg.norm(point - GLARE) < GLARE_RADIUS
    cut = frame == 4 and point[0] > CUT
    return random.random() > LOST and not glare and not cut


def rows(run):
    """Frame by frame: time [s], rest position [mm], displacement with noise [mm], its sd [mm]."""
    points, elements, random = grid(run.mesh.points), elements_of(run.mesh, 0), np.random.default_rng(SEED)
    probes = [elements.at(*elements.locate(point)) for point in points]
    frames = [(state.time, np.array([probe(state.u) for probe in probes])) for state in run][1:]
    sd = float("%.1g" % (NOISE * np.abs(frames[-1][1]).max()))
    for frame, (time, displacements) in enumerate(frames, 1):
        seen = displacements + random.normal(0, sd, displacements.shape)
        for point, (ux, uy) in zip(points, seen):
            if is_seen(frame, point, random):
                across = "" if random.random() < HALF else "%.3f" % (1e3 * uy)
                yield "%.1f,%g,%g,%.3f,%s,%g" % (time, *(1e3 * point), 1e3 * ux, across, 1e3 * sd)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recoil", required=True)
    recoil = Path(parser.parse_args().recoil).resolve()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([recoil, "simulate", FOLDER / "scene.json", "-o", f"{folder}/run", "-q"], check=True)
        lines = list(rows(Run(f"{folder}/run")))
    (FOLDER / "observed.csv").write_text("\n".join(["time [s],x [mm],y [mm],ux [mm],uy [mm],sd [mm]", *lines]) + "\n")


if __name__ == "__main__":
    main()
