#!/usr/bin/env python3
"""Kills toy_run with SIGKILL at random moments and continues it, until it has been killed often enough; every
continuation checks all states on disk. Then the run is completed and checked."""

import argparse
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

parser = argparse.ArgumentParser()
parser.add_argument("program")
parser.add_argument("--mpiexec", default="mpirun")
parser.add_argument("--ranks", type=int, default=1)
parser.add_argument("--kills", type=int, default=20)
parser.add_argument("--seed", type=int, default=random.randrange(10**6))
arguments = parser.parse_args()
random.seed(arguments.seed)
print("seed", arguments.seed)


def start(folder, last):
    command = [arguments.mpiexec, "-n", str(arguments.ranks), "--oversubscribe", "--bind-to", "none", arguments.program,
               folder, str(last), "2", "1"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def age(folder):
    """What changes with every file that is completed."""
    try:
        return os.stat(os.path.join(folder, "manifest.json")).st_mtime_ns
    except FileNotFoundError:
        return None


def leftovers(folder):
    return [name for name in os.listdir(folder) if name.endswith(".part")]


with tempfile.TemporaryDirectory() as parent:
    folder = os.path.join(parent, "trajectory")
    kills = restarts = killed_in_write = 0
    while kills < arguments.kills:
        before = age(folder)
        run = start(folder, 10**9)
        lines = []
        reader = threading.Thread(target=lambda: lines.extend(run.stdout))
        reader.start()
        deadline = time.time() + 120
        while True:
            pids = [int(found.group(1)) for found in map(re.compile(r"pid (\d+)").match, list(lines)) if found]
            # Every fourth kill may come before the run has got anywhere.
            going = len(pids) == arguments.ranks and (kills % 4 == 3 or age(folder) != before)
            if going or run.poll() is not None or time.time() > deadline:
                break
            time.sleep(0.01)
        time.sleep(random.expovariate(3.0))
        if run.poll() is not None:
            sys.exit("the run ended by itself:\n" + "".join(lines))
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        run.wait()
        reader.join()
        kills += 1
        output = "".join(lines)
        if "wrong" in output:
            sys.exit(output)
        restarts += "found" in output
        killed_in_write += bool(os.path.isdir(folder) and leftovers(folder))
    if restarts == 0:
        sys.exit("no run was continued; nothing was tested")
    output = start(folder, 0).communicate()[0]
    states = re.search(r"found (\d+) states", output)
    if "done" not in output or not states:
        sys.exit(output)
    output = start(folder, int(states.group(1)) + 20).communicate()[0]
    if "done" not in output or leftovers(folder):
        sys.exit(output + str(leftovers(folder)))
    print(f"{kills} kills ({killed_in_write} within a write), {restarts} continuations, {states.group(1)} states: all sound")
