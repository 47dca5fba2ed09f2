#!/usr/bin/env python3
"""The scenes of jobs/polyfem, which are PolyFEM's in form, against an evaluation of PolyFEM's formulas in numpy (reference.py).

    bench/polyfem/compare.py --recoil build/release/recoil                    # all; about a minute
    bench/polyfem/compare.py --recoil build/release/recoil falling_block      # some

For each scene the largest difference of the displacements of vertices after the last step from the reference, relative to the largest
displacement: with "conventions": "polyfem", with the scene as it is, and as it is without its quadrature_order. Friction under BDF2 is
PolyFEM's in no convention; there the first figure refers to a reference with recoil's friction, which measures the displacement over a
step. The exit code is 1 where the first figure is above 1e-8.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import h5py
import numpy as np

import reference

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCENES = os.path.join(ROOT, "jobs", "polyfem")
TOLERANCE = 1e-8


def parse_arguments():
    names = sorted(name[:-5] for name in os.listdir(SCENES) if name.endswith(".json"))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recoil", required=True, help="the executable")
    parser.add_argument("names", nargs="*", metavar="scene", help="of %s (default: all)" % ", ".join(names))
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(names)
    if unknown:
        parser.error("no such scene: " + ", ".join(sorted(unknown)))
    arguments.names = arguments.names or names
    return arguments


def last_displacement(folder):
    with open(os.path.join(folder, "trajectory", "manifest.json")) as file:
        chunk = json.load(file)["files"][-1]
    with h5py.File(os.path.join(folder, "trajectory", chunk["name"]), "r") as file:
        return file["states/%d/u" % chunk["states"][-1]["id"]][:]


def simulate(recoil, name, change):
    """Displacements of all nodes with a scene that `change` has changed, vertices first."""
    with open(os.path.join(SCENES, name + ".json")) as file:
        scene = json.load(file)
    scene["root_path"] = SCENES
    change(scene)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "scene.json")
        with open(path, "w") as file:
            json.dump(scene, file)
        subprocess.run([recoil, "simulate", path, "-o", os.path.join(folder, "run"), "-q"], check=True)
        return last_displacement(os.path.join(folder, "run"))


def difference(u, scene, expected):
    vertices = len(scene.space.vertices)
    return np.abs(u[:vertices, :scene.dim] - expected[:vertices]).max() / np.abs(expected[:vertices]).max()


def main():
    arguments = parse_arguments()
    failed = []
    print("%-26s %12s %12s %22s" % ("scene", "polyfem", "as it is", "without quadrature"))
    for name in arguments.names:
        path = os.path.join(SCENES, name + ".json")
        scene = reference.Scene(path)
        expected = scene.run()
        own = reference.Scene(path, integrator_friction=False).run() if scene.has_other_friction() else expected
        polyfem = difference(simulate(arguments.recoil, name, lambda s: s.update(conventions="polyfem")), scene, own)
        as_it_is = difference(simulate(arguments.recoil, name, lambda s: None), scene, expected)
        plain = difference(simulate(arguments.recoil, name, lambda s: s["space"]["advanced"].pop("quadrature_order")), scene, expected)
        print("%-26s %12.1e %12.1e %22.1e%s" % (name, polyfem, as_it_is, plain, "  (PolyFEM's friction: %.1e)" % difference(own, scene, expected) if own is not expected else ""), flush=True)
        if not polyfem < TOLERANCE:
            failed.append(name)
    if failed:
        print("above %g: %s" % (TOLERANCE, ", ".join(failed)))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
