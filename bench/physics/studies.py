#!/usr/bin/env python3
"""Scenes whose right answer is known, through `recoil simulate`: friction, standing structures, stacks, energy.

    bench/physics/studies.py --recoil build/release/recoil                       # all; about ten minutes on one core
    bench/physics/studies.py --recoil build/release/recoil arch cards --np 2     # some
    bench/physics/studies.py --recoil build/release/recoil --out runs --json found.json

Every run must end without intersection, by recoil's own exact count and by bench/fuzz/check_states.py. The exit code is 1 if
anything failed. `--out` keeps run folders and pictures.
"""
import argparse
import json
import shutil
import sys
import tempfile
import time

import energy
import particles
import slope
import stacks
import standing
import tools

STUDIES = {"slope": slope.slope, "cards": standing.cards, "arch": standing.arch, "mass_ratio": stacks.mass_ratio,
           "stiffness_ratio": stacks.stiffness_ratio, "squeeze": stacks.squeeze, "fast_ball": stacks.fast_ball,
           "bounce": energy.bounce, "slide": energy.slide, "restitution": energy.restitution,
           "bonded_wave": particles.wave, "bonded_block": particles.block, "bonded_beam": particles.drape, "bonded_stretch": particles.stretch,
           "bonded_energy": particles.energy, "bonded_bending": particles.three_point, "bonded_notch": particles.notch, "bonded_plate": particles.plate,
           "bonded_drops": particles.drops}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recoil", required=True, help="the executable")
    parser.add_argument("--np", type=int, default=1, help="ranks (default: 1)")
    parser.add_argument("--out", help="keep run folders and pictures here")
    parser.add_argument("--json", help="write figures and verdicts here")
    parser.add_argument("names", nargs="*", metavar="name", help="of %s (default: all)" % ", ".join(STUDIES))
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(STUDIES)
    if unknown:
        parser.error("no such study: " + ", ".join(sorted(unknown)))
    return arguments


def conduct(name, arguments, folder):
    print("-- " + name, flush=True)
    study = tools.Study(name, arguments.recoil, arguments.np, folder)
    begin = time.monotonic()
    try:
        STUDIES[name](study)
    except (SystemExit, KeyError, IndexError, OSError, ValueError) as error:
        # A run that gave up is a finding about one study; the others still count.
        study.expect(False, "%s: %s" % (name, error))
    seconds = time.monotonic() - begin
    print("   %s: %s in %.0f s" % (name, "FAILED" if study.failures else "holds", seconds), flush=True)
    return {"holds": not study.failures, "failures": study.failures, "seconds": round(seconds, 1),
            "figures": study.figures}


def main():
    arguments = parse_arguments()
    folder = arguments.out or tempfile.mkdtemp(prefix="recoil-physics-")
    found = {name: conduct(name, arguments, folder) for name in (arguments.names or STUDIES)}
    if not arguments.out:
        shutil.rmtree(folder, ignore_errors=True)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(found, file, indent=1)
    failed = [name for name, result in found.items() if not result["holds"]]
    print("%d of %d studies hold%s" % (len(found) - len(failed), len(found), "; failed: " + ", ".join(failed) if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
