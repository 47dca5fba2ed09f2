#!/usr/bin/env python3
"""Makes observed.csv: three markers on the ball of ball.json, whose values are the true ones, as a camera with 125 frames per second and
noise of 0.5 mm sees them; now and then it loses one.

    jobs/fit/observe.py --recoil build/release/recoil
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent.parent / "scripts"))
from recoil_run import Run  # noqa: E402

SD, FRAMES_PER_SECOND, LOST, SEED = 0.5e-3, 125, 0.05, 3


def paths(folder, markers):
    """Times, and positions of the markers at them: frames, markers, components."""
    run = Run(folder)
    rest = np.array([marker["rest"] for marker in markers])
    nodes = np.array([np.linalg.norm(run.mesh.points[:, :2] - point, axis=1).argmin() for point in rest])
    states = [(state.time, run.mesh.points[nodes, :2] + state.u[nodes, :2]) for state in run]
    return np.array([time for time, _ in states]), np.array([x for _, x in states])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recoil", required=True)
    recoil = Path(parser.parse_args().recoil).resolve()
    markers = json.loads((FOLDER / "study.json").read_text())["markers"]
    scene = json.loads((FOLDER / "ball.json").read_text())
    scene["output"]["every"] = 1
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "scene.json").write_text(json.dumps(scene))
        subprocess.run([recoil, "simulate", f"{folder}/scene.json", "-o", f"{folder}/run", "-q"], check=True)
        times, seen = paths(f"{folder}/run", markers)
    random = np.random.default_rng(SEED)
    with open(FOLDER / "observed.csv", "w") as file:
        file.write("time [ms],marker,x [mm],y [mm],sd [mm]\n")
        for time in np.arange(0, times[-1], 1 / FRAMES_PER_SECOND):
            for k, marker in enumerate(markers):
                x = [np.interp(time, times, seen[:, k, i]) + random.normal(0, SD) for i in range(2)]
                if random.random() > LOST:
                    file.write("%.3f,%s,%.3f,%.3f,%g\n" % (1e3 * time, marker["name"], 1e3 * x[0], 1e3 * x[1], 1e3 * SD))


if __name__ == "__main__":
    main()
