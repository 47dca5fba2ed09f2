#!/usr/bin/env python3
"""Processor seconds and memory of each rank until the first step: reading or making, partitioning and distributing a mesh, its checks.

    bench/scaling/startup.py --recoil build/release/recoil --ranks 1 2 4 8 --divisions 100

Runs `recoil validate` on a box of divisions^3 cubes of six tetrahedra; `--scene` takes a scene instead. Ranks that wait use processor time where
there are more of them than cores: the figures are upper bounds there.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

# Reports itself the usage of the program, of one rank.
WRAPPER = """import json, os, resource, subprocess, sys
code = subprocess.run(sys.argv[2:]).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
name = os.path.join(sys.argv[1], os.environ["OMPI_COMM_WORLD_RANK"] + ".json")
open(name, "w").write(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))
sys.exit(code)
"""


def measure(options, scene, ranks):
    """Processor seconds and peak megabytes per rank."""
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        environment = dict(os.environ, OMP_NUM_THREADS="1")
        if os.geteuid() == 0:
            environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        command = options.mpirun.split() + ["-n", str(ranks), sys.executable, "-c", WRAPPER, folder, options.recoil, "validate", str(scene)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command[:6])} ..\nended with {done.returncode}\n{done.stdout}{done.stderr}")
        return zip(*(json.loads((pathlib.Path(folder) / f"{rank}.json").read_text()) for rank in range(ranks)))


def box(divisions):
    return {"geometry": {"generator": {"type": "box", "size": [1, 1, 1], "divisions": [divisions] * 3},
                         "surface_selection": [{"id": 1, "axis": "-x", "position": -0.4999}]},
            "materials": {"type": "NeoHookean", "E": 1e6, "nu": 0.3, "rho": 1000}, "gravity": [0, 0, -0.981],
            "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0, 0]}]}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recoil", default="build/release/recoil")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--divisions", type=int, default=44)
    parser.add_argument("--scene", type=pathlib.Path, help="in place of the box")
    parser.add_argument("--mpirun", default="mpirun --oversubscribe --bind-to none")
    parser.add_argument("--scratch", help="folder for the runs")
    options = parser.parse_args()
    options.recoil = str(pathlib.Path(options.recoil).resolve())
    print("| ranks | processor s, most of a rank | times ranks | peak MB, most of a rank | times ranks | over the mean |")
    print("|---" * 6 + "|")
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        scene = options.scene
        if scene is None:
            scene = pathlib.Path(folder) / "box.json"
            scene.write_text(json.dumps(box(options.divisions)))
        for ranks in options.ranks:
            seconds, peaks = measure(options, scene, ranks)
            print(f"| {ranks} | {max(seconds):.1f} | {ranks * max(seconds):.1f} | {max(peaks):.0f} | {ranks * max(peaks):.0f} "
                  f"| {max(peaks) * ranks / sum(peaks):.2f} |", flush=True)


if __name__ == "__main__":
    main()
