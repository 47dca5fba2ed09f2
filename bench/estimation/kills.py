#!/usr/bin/env python3
"""Optimisations that are killed again and again and go on with other ranks and groups, and what groups cost and save.

    bench/estimation/kills.py --recoil build/release/recoil --kills 20

Six of the experiments of experiments.py are fitted on one rank; then again with kill -9 at random moments, each time continued on
1 to 4 ranks in 1 to 4 groups, until the drawn number of kills is reached: one chain of fits, as many as that takes. Expected: the
parameters of the fit that was left alone to 1e-6, and no evaluation of an experiment written down twice. Then 1, 2 and 4 groups,
whose iterates must agree to 1e-8, and two groups on two ranks, which should take 0.6 of the time of one group on one rank: wall times
say so on a machine without other work only, so that the load is printed, and the processor time of the busiest rank as well.

The exit code is 1 if any expectation failed; all are printed.
"""
import csv
import glob
import json
import os
import random
import resource
import signal
import subprocess
import time

import experiments
import numpy as np
import runs

CHOSEN = ("throw-up", "slide-pressed", "drop-corner", "drop-hard", "press-slow", "press-pulled")
NOISE = 0.01
REPEATS = 5


def prepare(recoil):
    """The study of all fits."""
    scenes, files = {}, {}
    rng = np.random.default_rng(5)
    for name, scene in experiments.scenes(experiments.TRUE).items():
        if name not in CHOSEN:
            continue
        seen = experiments.marker_displacements(recoil.simulate(1, recoil.write_scene(name + "-true", scene), name + "-true"))
        files[name] = recoil.path(name + ".csv")
        experiments.observe(files[name], seen, NOISE, rng)
        scenes[name] = recoil.write_scene(name, experiments.scenes(experiments.START)[name])
    return experiments.study(scenes, files, experiments.parameters(list(scenes)), groups=1)


def read(folder):
    with open(os.path.join(folder, "fit.json")) as file:
        return json.load(file)


def iterates(folder):
    """A row of parameters per iteration, over their true sizes."""
    true = np.concatenate([np.ravel(value) for value in experiments.TRUE.values()])
    with open(os.path.join(folder, "history.csv")) as file:
        rows = list(csv.DictReader(file))
    names = list(rows[0])[-len(true):]
    return np.array([[float(row[name]) for name in names] for row in rows]) / np.abs(true)


def set_groups(folder, count):
    path = os.path.join(folder, "study.json")
    with open(path) as file:
        document = json.load(file)
    document["optimizer"]["groups"] = count
    with open(path, "w") as file:
        json.dump(document, file)
    # Its absence says that the settings of the folder were changed on purpose.
    inputs = os.path.join(folder, "inputs.json")
    if os.path.exists(inputs):
        os.remove(inputs)


def launch(recoil, ranks, *arguments):
    return subprocess.Popen(recoil.command(ranks, "optimize", *arguments, "-q"), env=runs.ENVIRONMENT, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL, start_new_session=True)


def ranks_below(pid):
    """A process and all that it has started."""
    found = [pid]
    for task in glob.glob("/proc/%d/task/*/children" % pid):
        try:
            with open(task) as file:
                found += [below for child in file.read().split() for below in ranks_below(int(child))]
        except OSError:
            pass
    return found


def kill(process):
    """mpirun cannot end its ranks when it is killed, so all of them are."""
    for pid in ranks_below(process.pid):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    process.wait()


def judge(folder, whole, text):
    error = np.abs(iterates(folder)[-1] - iterates(whole)[-1]).max()
    runs.check(read(folder)["status"] == "done" and error <= 1e-6, "%s: the same parameters to %.1e" % (text, error))
    done = experiments.evaluations(folder)
    runs.check(len(done) == len(set(done)), "%s: %d evaluations, none twice" % (text, len(done)))


def killed(recoil, document, whole, wanted):
    rng = random.Random(9)
    seconds = read(whole)["wall_s"]
    kills = fits = changes = 0
    while kills < wanted:
        folder, fits = recoil.path("killed-%d" % fits), fits + 1
        study = recoil.write_scene("study-%d" % fits, document)
        process, last, is_begun = launch(recoil, rng.randint(1, 4), study, "-o", folder), None, False
        while kills < wanted:
            try:
                process.wait(timeout=rng.uniform(0.1, 0.5) * seconds + 0.3)
                break
            except subprocess.TimeoutExpired:
                kill(process)
                kills += 1
            ranks, groups = rng.randint(1, 4), rng.randint(1, 4)
            # Written when all is there to continue with, and removed by set_groups().
            is_begun = is_begun or os.path.exists(os.path.join(folder, "inputs.json"))
            if is_begun:
                set_groups(folder, groups)
                changes += last not in (None, (ranks, groups))
                process = launch(recoil, ranks, "--restart", folder)
            else:
                process = launch(recoil, ranks, study, "-o", folder)
            last = ranks, groups
        code = process.wait()
        runs.check(code == 0, "a chain of fits ends with exit code %d after %d kills" % (code, kills))
        judge(folder, whole, "killed, fit %d" % fits)
    print("      %d kills in %d fits, %d continued on other ranks and groups" % (kills, fits, changes))


def fit(recoil, ranks, count, document, label="groups"):
    """Folder of a fit by so many groups, and processor seconds of all its ranks."""
    name = "%s-%d-on-%d" % (label, count, ranks)
    study = recoil.write_scene(name, dict(document, optimizer=dict(document["optimizer"], groups=count)))
    folder = recoil.path("fit-" + name)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    recoil.run(ranks, "optimize", study, "-o", folder, "-q")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return folder, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def groups(recoil, document, whole):
    for ranks, count in ((2, 1), (2, 2), (4, 4), (4, 2)):
        a, b = iterates(fit(recoil, ranks, count, document)[0]), iterates(whole)
        error = np.abs(a - b).max() if a.shape == b.shape else np.inf
        runs.check(error <= 1e-8, "%d groups on %d ranks: the same %d iterates to %.1e" % (count, ranks, len(a), error))


def speed(recoil, document):
    """Of repeated fits the least times: what else the machine does only adds to them."""
    print("      load %.2f %.2f %.2f" % os.getloadavg())
    wall, processor = {}, {}
    for ranks in (1, 2):
        found = [fit(recoil, ranks, ranks, document, "speed-%d" % k) for k in range(REPEATS)]
        wall[ranks] = min(read(folder)["wall_s"] for folder, _ in found)
        processor[ranks] = min(seconds for _, seconds in found)
    print("      load %.2f %.2f %.2f" % os.getloadavg())
    print("      processor time per rank, launcher and set-up included: %.2f s of two, %.2f s of one" % (processor[2] / 2, processor[1]))
    ratio = wall[2] / wall[1]
    runs.check(ratio <= 0.6, "two groups on two ranks take %.2f s, one on one %.2f s: %.2f of it" % (wall[2], wall[1], ratio))


def main(recoil):
    document = prepare(recoil)
    whole = recoil.path("whole")
    recoil.run(1, "optimize", recoil.write_scene("study", document), "-o", whole, "-q")
    found = read(whole)
    print("      left alone: %d iterations, %.1f s: %s" % (found["iterations"], found["wall_s"], found["reason"]), flush=True)
    groups(recoil, document, whole)
    killed(recoil, document, whole, recoil.arguments.kills)
    speed(recoil, document)


with runs.Recoil(("--kills", int, 20)) as recoil:
    main(recoil)
