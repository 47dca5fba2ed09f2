#!/usr/bin/env python3
"""Makes the observations of the jobs from runs of their scenes, which hold the true values.

    jobs/estimation/make_data.py --recoil build/release/recoil [--ranks 2] [names]

Every experiment of a study that observes something is simulated into <job>/truth/<experiment>, which objectives with a `reference`
read; files of markers and centres of mass are taken from these runs without noise, at all steps. `deviation` [m] in expected.json, where
given, is the standard deviation that these files claim. The true shape of a job that looks for one is that of its truth.json, the scene
has the first one. Modes of a shape are made, too, where a job has a modes.json.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import zlib

import numpy as np

FOLDER = os.path.dirname(os.path.abspath(__file__))
DESIGN = os.path.join(os.path.dirname(FOLDER), "design")
ROOT = os.path.dirname(os.path.dirname(FOLDER))
sys.path[1:1] = [os.path.join(ROOT, "bench", "physics"), os.path.join(ROOT, "scripts"), DESIGN]
import modes  # noqa: E402
from tools import Bodies, runs, states  # noqa: E402


def load(*path):
    with open(os.path.join(*path)) as file:
        return json.load(file)


def folder_of(name):
    """The folder of a job, here or among the designs."""
    return os.path.join(DESIGN if os.path.exists(os.path.join(DESIGN, name, "study.json")) else FOLDER, name)


def call(recoil, ranks, *arguments, codes=(0,)):
    """Runs recoil; what it says if it ends with none of these codes ends the program."""
    command = [os.path.abspath(recoil), *arguments]
    if ranks > 1:
        command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)] + command
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=runs.ENVIRONMENT, text=True)
    if done.returncode not in codes:
        raise SystemExit("%s\n%s" % (" ".join(command), done.stdout))


def simulate(recoil, ranks, scene, folder):
    shutil.rmtree(folder, ignore_errors=True)
    call(recoil, ranks, "simulate", scene, "-o", folder, "-q")


def bodies_of(scene):
    """Names of the deformable bodies, in order."""
    entries = scene["geometry"] if isinstance(scene["geometry"], list) else [scene["geometry"]]
    return [entry["name"] for entry in entries if not entry.get("is_obstacle")]


def write_rows(path, header, rows, deviation=None):
    """A table with one more column `sd` where a standard deviation is given."""
    if deviation is not None:
        header, rows = header + ",sd", [(*row, deviation) for row in rows]
    with open(path, "w") as file:
        file.write(header + "\n")
        file.writelines(",".join(value if isinstance(value, str) else "%.17g" % value for value in row) + "\n" for row in rows)


def write_centres(folder, body, path, deviation):
    bodies = Bodies(folder)
    rows = [(time, *bodies.centres(u)[body]) for time, u in states(folder)]
    write_rows(path, "time," + ",".join("xyz"[:len(rows[0]) - 1]), rows, deviation)


def write_markers(folder, markers, path, deviation):
    """The nodes at which the markers are at rest."""
    dim = len(markers[0]["rest"])
    rest = runs.coordinates(folder)[:, :dim]
    nodes = {marker["name"]: int(np.abs(rest - marker["rest"]).sum(axis=1).argmin()) for marker in markers}
    rows = [(time, name, *(rest[k] + u[k, :dim])) for time, u in states(folder) for name, k in nodes.items()]
    write_rows(path, "time,marker," + ",".join("xyz"[:dim]), rows, deviation)


def write_sine(folder, path):
    """Displacements that bring the middle of the bar onto 0.7 sin(x), whose length shrinks by a quarter."""
    rest = runs.coordinates(folder)[:, :2]
    x = np.sort(rest[np.abs(rest[:, 1]) < 1e-9, 0])
    write_rows(path, "time,x,y,ux,uy", [(1.0, at, 0.0, -0.25 * at, 0.7 * np.sin(0.75 * at)) for at in x])


def write_target(folder, scene, study, objective, path, deviation):
    if objective["type"] == "center_of_mass":
        write_centres(folder, bodies_of(scene).index(objective["body"]), path, deviation)
    elif objective["type"] == "markers":
        write_markers(folder, study["markers"], path, deviation)
    else:
        write_sine(folder, path)


def sources(study):
    """(objective, path below the job) of everything that objectives read."""
    return [(objective, objective[key]) for objective in study["objectives"] for key in ("target", "reference")
            if isinstance(objective.get(key), str)]


def made_from(name, study):
    """Checksum of the scenes and meshes of a job, of its markers and of the deviation, to see whether its observations are of
    other ones."""
    at = folder_of(name)
    files = [experiment["scene"] for experiment in study["experiments"]]
    files += [file for file in os.listdir(at) if file.endswith((".msh", ".obj")) or file in ("modes.json", "truth.json")]
    checksum = 0
    for file in sorted(files):
        with open(os.path.join(at, file), "rb") as content:
            checksum = zlib.crc32(content.read(), checksum)
    observed = [study.get("markers"), load(at, "expected.json").get("deviation")]
    checksum = zlib.crc32(json.dumps(observed, sort_keys=True).encode(), checksum)
    return "%08x\n" % checksum


def missing(name):
    """Whether the observations of a job have to be made: some are not there, or its scenes have changed."""
    at, study = folder_of(name), load(folder_of(name), "study.json")
    record = os.path.join(at, "made_from.crc32")
    needed = [path for _, path in sources(study)] + ["modes.h5"] * os.path.exists(os.path.join(at, "modes.json"))
    if not os.path.exists(record) or not all(os.path.exists(os.path.join(at, path)) for path in needed):
        return True
    with open(record) as file:
        return file.read() != made_from(name, study)


def true_scene(at, experiment):
    """The file of the scene with the true shape."""
    return os.path.join(at, "truth.json" if os.path.exists(os.path.join(at, "truth.json")) else experiment["scene"])


def make_modes(at, study, recoil):
    """Those of the true shape, whose vertices have the numbers that recoil gives them in a run."""
    scene = dict(load(true_scene(at, study["experiments"][0])), root_path=at)
    if "time" in scene:
        scene["time"] = {"dt": 1e-9, "time_steps": 1}
    first = os.path.join(at, "truth", "first_step")
    os.makedirs(os.path.dirname(first), exist_ok=True)
    with open(first + ".json", "w") as file:
        json.dump(scene, file)
    simulate(recoil, 1, first + ".json", first)
    modes.write(os.path.join(at, "modes.h5"), load(at, "modes.json"), first)


def make(name, recoil, ranks):
    at = folder_of(name)
    study = load(at, "study.json")
    if os.path.exists(os.path.join(at, "modes.json")):
        make_modes(at, study, recoil)
    for experiment in study["experiments"] if sources(study) else []:
        simulate(recoil, ranks, true_scene(at, experiment), os.path.join(at, "truth", experiment["name"]))
    for objective, path in sources(study):
        experiment = next(e for e in study["experiments"] if e["name"] == objective.get("experiment", e["name"]))
        if not os.path.isdir(os.path.join(at, path)):
            write_target(os.path.join(at, "truth", experiment["name"]), load(at, experiment["scene"]), study, objective,
                         os.path.join(at, path), load(at, "expected.json").get("deviation"))
    with open(os.path.join(at, "made_from.crc32"), "w") as file:
        file.write(made_from(name, study))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recoil", required=True)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("names", nargs="*", metavar="name", help="jobs (default: all)")
    arguments = parser.parse_args()
    every = sorted(name for kind in (FOLDER, DESIGN) for name in os.listdir(kind) if os.path.exists(os.path.join(kind, name, "study.json")))
    for name in arguments.names or every:
        make(name, arguments.recoil, arguments.ranks)
        print("made: " + name, flush=True)


if __name__ == "__main__":
    main()
