"""jobs/crushing: the scene is valid as it is, and with fewer, larger particles and a faster platen the grain splits: its bonds break in tension, both
platens bear the load, which falls when the grain is broken; the script of the job draws it."""
import copy
import json
import os
import re
import subprocess
import sys

import numpy as np
import runs

JOB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "jobs", "crushing")


def coarse(grain):
    scene = copy.deepcopy(grain)
    scene["geometry"][0]["particles"]["radius"] = [0.0016, 0.002]
    scene["boundary_conditions"]["obstacle_displacements"][0]["value"][2] = "-0.5*t"
    scene["time"]["time_steps"] = 44
    return scene


def table(folder, name):
    return np.genfromtxt(os.path.join(folder, name), delimiter=",", names=True, dtype=None, encoding="utf-8")


with runs.Recoil() as recoil:
    path = os.path.join(JOB, "grain.json")
    code, text = recoil.run(1, "validate", path, expect=None)
    runs.check(code == 0 and "419 particles" in text, "the scene of the job: " + text.strip())
    with open(path) as file:
        folder = recoil.simulate(1, recoil.write_scene("grain", coarse(json.load(file))), "grain")
    forces, breaks, energies, summary = *(table(folder, name) for name in ("obstacle_forces.csv", "broken_bonds.csv", "ledger.csv")), runs.summary(folder)
    upper, lower = (forces["force_z"][forces["obstacle"] == name] for name in ("upper platen", "lower platen"))
    peak = int(upper.argmax())
    runs.check(upper.max() > 20 and -lower.min() > 0.3 * upper.max(), "loads of %.3g N and %.3g N" % (upper.max(), lower.min()))
    runs.check(0 < peak < len(upper) - 5 and upper[-5:].mean() < 0.5 * upper.max(), "greatest in step %d, %.3g N at the end" % (peak, upper[-5:].mean()))
    tension = (breaks["mode"] == "tension").mean()
    runs.check(len(breaks) > 20 and tension > 0.7, "%d bonds break, %.0f %% of them in tension" % (len(breaks), 100 * tension))
    runs.check(summary["fragments"] > 3 and summary["largest_fragment_share"] < 0.9, "%d fragments, the largest with %.0f %% of the particles" %
               (summary["fragments"], 100 * summary["largest_fragment_share"]))
    with open(os.path.join(folder, "log.txt")) as file:
        explicit = [int(step) for step in re.findall(r" step (\d+)/.*sub-steps", file.read())]
    # Row k is of step k + 1; a step is leapfrog's that breaks bonds and begins with more kinetic than elastic energy, and so are those after it.
    moves = energies["kinetic"] > energies["elastic"] + energies["barrier"]
    breaking = np.flatnonzero(np.diff(energies["broken_bonds"], prepend=0)) + 1
    by_motion = [step for step in breaking if step > 1 and moves[step - 2]]
    runs.check(explicit[0] == by_motion[0] > breaking[0] and len(explicit) == summary["steps_of_leapfrog"],
               "slow loads remain with the cascade: bonds break from step %d on, by motion from step %d, leapfrog takes %s" % (breaking[0], by_motion[0], explicit))
    gap = np.nanmin(energies["min_distance"])
    runs.check(gap > 0, "nothing overlaps: gaps of %.2g m and more" % gap)
    drawn = subprocess.run([sys.executable, os.path.join(JOB, "draw.py"), folder, recoil.path("curve.png")], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    runs.check(drawn.returncode == 0 and os.path.getsize(recoil.path("curve.png")) > 10000 and b"%d bonds broke" % len(breaks) in drawn.stdout,
               "draw.py: " + drawn.stdout.decode().strip())
