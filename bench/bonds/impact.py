#!/usr/bin/env python3
"""A tile that breaks on a floor, by integrators, laws of contact and shares of the breaking cascade, over slightly different tilts.

    python3 bench/bonds/impact.py --recoil build/release/recoil --work impact [--jobs 16] [--limit 240] [--total 460] [--only leapfrog ..]

Writes results.json (every run) and table.md (a row per way to take the steps) into the folder --work and prints the table: means over the tilts, and the
standard deviation behind +-. `newton`, `passes` and `user` (processor time [s]) are per run, `most` is the largest number of Newton iterations of a
step. Runs that results.json has already are not taken again. A run that exceeds --limit seconds is ended and counted as `late`; after --total
seconds no more are begun. The runs of the first tilt keep their folders, for scripts/render.py. Needs nothing but Python's own modules; where the program sees the folder
--work under another name (in a root of its own), --inside is that name:

    python3 bench/bonds/impact.py --recoil "chroot /root-of-recoil /usr/bin/job recoil" --work /root-of-recoil/w/impact --inside /w/impact
"""
import argparse
import concurrent.futures
import json
import os
import re
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time

TURN = (17, 9)  # of the tile about y and z [degrees]
STRIDE = 0.05  # from one tilt to the next [degrees]
DT = 2e-5  # 12.2 T of particles of 1.7 mm [s]
TILTS = 10
FEW = 2  # tilts of ways that take long

CASCADE = {"sudden_breaking": "shorter_steps"}
MIDDLE = {"integrator": "mid_reflectT"}

# What matters most comes first, in case that time runs out.
WAYS = {
    "leapfrog": {"integrator": "leapfrog"},
    "leapfrog, barrier": {"integrator": "leapfrog", "contact_law": "barrier"},
    "leapfrog, barrier, half sub-steps": {"integrator": "leapfrog", "contact_law": "barrier", "explicit_share": 0.1},
    "be_reflect": {},
    "mid_reflectT": MIDDLE,
    "be_reflect, penalty": {"contact_law": "penalty"},
    "mid_reflectT, penalty": dict(MIDDLE, contact_law="penalty"),
    "be_reflect, cascade 0.9 converged": dict(CASCADE, cascade_iterations=0, tilts=FEW),
    "mid_reflectT, cascade 0.9 converged": dict(CASCADE, **MIDDLE, cascade_iterations=0, tilts=FEW),
    "be_reflect, cascade 0.9, dt / 4": dict(CASCADE, finer=4, tilts=FEW),
    "mid_reflectT, cascade 0.9, dt / 4": dict(CASCADE, **MIDDLE, finer=4, tilts=FEW),
    "be_reflect, cascade 0.9": CASCADE,
    "mid_reflectT, cascade 0.9": dict(CASCADE, **MIDDLE),
    "be_reflect, cascade 0.9, penalty": dict(CASCADE, contact_law="penalty"),
    "mid_reflectT, cascade 0.9, penalty": dict(CASCADE, **MIDDLE, contact_law="penalty"),
    "be_reflect, cascade 0.5": dict(CASCADE, cascade_share=0.5),
    "mid_reflectT, cascade 0.5": dict(CASCADE, **MIDDLE, cascade_share=0.5),
    "be_reflect, cascade 0.1": dict(CASCADE, cascade_share=0.1),
    "mid_reflectT, cascade 0.1": dict(CASCADE, **MIDDLE, cascade_share=0.1),
}


def tile(radius, tilt, keys, dt=DT, end=2.4e-3):
    """The scene of a tile of 80 x 50 x 12 mm that falls at 14 m/s."""
    keys = dict({"max_iterations": 1000}, **keys)
    keys.pop("tilts", None)
    dt /= keys.pop("finer", 1)
    steps = round(end / dt)
    return {
        "solver": {"type": "bonded_particles", "bonded_particles": keys},
        "geometry": [{"name": "tile", "generator": {"type": "box", "size": [0.08, 0.05, 0.012], "divisions": 1},
                      "transformation": {"translation": [0, 0, 0.035], "rotation": [0, TURN[0] + tilt, TURN[1]]},
                      "particles": {"packing": "hcp", "radius": radius}},
                     {"name": "floor", "is_obstacle": True, "type": "plane", "point": [0, 0, 0], "normal": [0, 0, 1]}],
        "materials": {"type": "BondedParticles", "E": 2e9, "nu": 0.22, "rho": 2300, "tensile_strength": 2e6, "shear_strength": 3e6},
        "initial_conditions": {"velocity": [{"body": "tile", "value": [1.5, 0.0, -14]}], "angular_velocity": [{"body": "tile", "value": [0, 4, 0]}]},
        "contact": {"enabled": True, "dhat": 0.1 * radius, "friction_coefficient": 0.3},
        "gravity": [0, 0, -9.81],
        "time": {"dt": dt, "time_steps": steps},
        "output": {"every": steps},
    }


def take(command, log, limit):
    """Runs a command, with its output in a file: exit status (None if it was ended after `limit` s), processor and wall time [s]."""
    begun, late = time.monotonic(), threading.Event()
    with open(log, "w") as output:
        child = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True)

        def end():
            late.set()
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

        timer = threading.Timer(limit, end)
        timer.start()
        _, status, usage = os.wait4(child.pid, 0)
        timer.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
    return None if late.is_set() else child.returncode, usage.ru_utime + usage.ru_stime, time.monotonic() - begun


def told(folder, log):
    """What a run has come to, from its summary and its log."""
    with open(os.path.join(folder, "summary.json")) as file:
        summary = json.load(file)
    with open(log) as file:
        newton = [int(count) for count in re.findall(r"newton (\d+)", file.read())]
    energies = summary["energies"]
    return {"broken": summary["broken_bonds"], "fragments": summary["fragments"], "largest": summary["largest_fragment_share"],
            "of_bonds": energies["broken"], "friction": energies["dissipated_friction"], "integrator": energies["dissipated_integrator"],
            "kinetic": energies["kinetic"], "newton": summary["newton_iterations"], "most": max(newton, default=0),
            "passes": summary.get("breaking_passes", 0), "explicit": summary.get("steps_of_leapfrog", 0)}


class Study:
    """Runs of one folder, some at a time; results.json grows with every one."""

    def __init__(self, options):
        self.options, self.lock = options, threading.Lock()
        self.end = time.monotonic() + options.total
        self.path = os.path.join(options.work, "results.json")
        self.results = {}
        if os.path.exists(self.path):
            with open(self.path) as file:
                self.results = json.load(file)

    def key(self, way, tilt):
        return re.sub(r"[^a-z0-9._T]+", "_", way) + "_%d" % tilt

    def run(self, way, tilt):
        options, key = self.options, self.key(way, tilt)
        limit = min(options.limit, self.end - time.monotonic())
        if self.results.get(key, {}).get("status") == "done" or limit < 1:
            return
        outside, inside = os.path.join(options.work, key), os.path.join(options.inside or options.work, key)
        shutil.rmtree(outside, ignore_errors=True)
        with open(outside + ".json", "w") as file:
            json.dump(tile(options.radius, STRIDE * tilt, WAYS[way], DT * options.radius / 0.0017), file, indent=1)
        code, user, wall = take(options.recoil + ["simulate", inside + ".json", "-o", inside], outside + ".log", limit)
        result = {"way": way, "tilt": tilt, "radius": options.radius, "user": user, "wall": wall,
                  "status": "late" if code is None else "done" if code == 0 else "exit status %d" % code}
        if code == 0:
            result.update(told(outside, outside + ".log"))
        if tilt > 0 and code in (0, None):
            shutil.rmtree(outside, ignore_errors=True)
            os.remove(outside + ".log")
        with self.lock:
            self.results[key] = result
            print("%-45s %s, %.1f s" % (key, result["status"], wall), file=sys.stderr, flush=True)
            with open(self.path + ".new", "w") as file:
                json.dump(self.results, file, indent=1)
            os.replace(self.path + ".new", self.path)

    def of(self, way):
        return [result for result in self.results.values() if result["way"] == way]


COLUMNS = (("broken", "%.0f"), ("fragments", "%.0f"), ("largest", "%.3f"), ("of_bonds", "%.3f"), ("friction", "%.3f"), ("integrator", "%.3f"),
           ("kinetic", "%.2f"), ("newton", "%.0f"), ("most", "%.0f"), ("passes", "%.0f"), ("explicit", "%.0f"), ("user", "%.1f"), ("wall", "%.1f"))
DEVIATES = {"broken", "fragments", "largest", "of_bonds", "friction", "integrator", "kinetic"}


def table(study, ways):
    lines = ["| steps | tilts | " + " | ".join(name for name, _ in COLUMNS) + " |", "|---" * (len(COLUMNS) + 2) + "|"]
    for way in ways:
        results = study.of(way)
        done = [result for result in results if result["status"] == "done"]
        others = ["%d %s" % (sum(result["status"] == status for result in results), status)
                  for status in sorted({result["status"] for result in results} - {"done"})]
        cells = []
        for column, form in COLUMNS:
            values = [result[column] for result in done]
            spread = " +- " + form % statistics.stdev(values) if column in DEVIATES and len(values) > 1 else ""
            # The hardest step of any run, not that of an average one.
            value = max if column == "most" else statistics.mean
            cells.append(form % value(values) + spread if values else "")
        lines.append("| %s | %s | " % (way, ", ".join([str(len(done))] + others)) + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recoil", required=True, type=shlex.split, help="program, or a command that runs it")
    parser.add_argument("--work", required=True, type=os.path.abspath, help="folder of the runs")
    parser.add_argument("--inside", help="what the program calls that folder, if it is in a root of its own")
    parser.add_argument("--radius", type=float, default=0.0017, help="of the particles [m]")
    parser.add_argument("--tilts", type=int, default=TILTS, help="at most; ways that take long have fewer")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--limit", type=float, default=3600, help="on a run [s]")
    parser.add_argument("--total", type=float, default=1e9, help="after which no more are begun, and running ones are ended [s]")
    parser.add_argument("--only", nargs="*", default=list(WAYS), help="rows, as they are called in the table")
    options = parser.parse_args()
    os.makedirs(options.work, exist_ok=True)
    study = Study(options)
    runs = [(way, tilt) for way in options.only for tilt in range(min(options.tilts, WAYS[way].get("tilts", TILTS)))]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for future in [pool.submit(study.run, *run) for run in runs]:
            future.result()
    text = table(study, options.only)
    with open(os.path.join(options.work, "table.md"), "w") as file:
        file.write(text)
    print(text, end="")


if __name__ == "__main__":
    main()
