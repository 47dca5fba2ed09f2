"""Several starts by default where all values have bounds: each on its part of the ranks, the same fit on any number of them, continued after
a kill on others; what the verdict tells of minima, and how to do without."""
import csv
import glob
import os
import shutil
import signal

import numpy as np

import runs
from pieces import box, material
from studies import exact, fit, logged_evaluations, start, wait_for

SD, STEPS, DT = 1e-3, 40, 0.01
SPINS = [2.0, -2.0]


def flying(spin):
    """A stiff block in free flight."""
    return {"geometry": [box("block", [1, 1], [1, 1], [0, 0])], "materials": material(1e7, 0.3, 1000, plane="strain"),
            "initial_conditions": {"angular_velocity": [{"body": "block", "value": spin}]},
            "solver": {"nonlinear": exact()}, "time": {"dt": DT, "time_steps": STEPS, "integrator": "BDF2"}}


def turning(recoil, name, fastest=5, **optimizer):
    """Of a block that turns, x of a marker was seen, 0.5 cos(w t): it turns this way or that."""
    true = recoil.simulate(1, recoil.write_scene(name + "-true", flying(SPINS[0])), name + "-true")
    node = int(np.abs(runs.coordinates(true)[:, :2] - 0.5).sum(axis=1).argmin())
    random = np.random.default_rng(5)
    target = recoil.path(name + ".csv")
    with open(target, "w") as file:
        file.write("time,marker,x,y,sd\n")
        for step in range(1, STEPS + 1):
            # The mean of the corners (0.5, 0.5) and (0.5, -0.5), which is mirrored with the spin.
            x, y = runs.coordinates(true)[node, :2] + runs.state(true, step)[node, :2]
            c, s = np.cos(SPINS[0] * DT * step), np.sin(SPINS[0] * DT * step)
            file.write("%r,side,%r,,%r\n" % (DT * step, float(c * (x * c + y * s) + SD * random.standard_normal()), SD))
    return recoil.write_scene(name + "-study", {
        "experiments": [{"name": "fly", "scene": recoil.write_scene(name, flying(0.5))}],
        "parameters": [{"name": "spin", "quantity": "initial_angular_velocity", "body": "block", "initial": 0.5, "bounds": [-fastest, fastest]}],
        "markers": [{"name": "side", "body": "block", "rest": [0.5, 0]}],
        "objectives": [{"name": "side", "type": "markers", "target": target, "time": {"times": "data"}}], "optimizer": optimizer})


def optimize(recoil, ranks, study, name):
    folder = recoil.path(name)
    _, text = recoil.run(ranks, "optimize", study, "-o", folder)
    return folder, fit(folder), text


def rows(folder):
    with open(os.path.join(folder, "history.csv")) as file:
        return [(int(row["start"]), int(row["iteration"]), float(row["spin"])) for row in csv.DictReader(file)]


def same_fit(folder, other, text):
    a, b = rows(folder), rows(other)
    runs.check([row[:2] for row in a] == [row[:2] for row in b], "%s: the same %d iterations" % (text, len(a)))
    error = np.abs(np.array(a)[:, 2] - np.array(b)[:, 2]).max()
    runs.check(error < 1e-6, "%s: the same iterates to %.1e" % (text, error))
    x, y = fit(folder), fit(other)
    for key in ("evaluations", "gradient_evaluations", "iterations"):
        runs.check(x[key] == y[key], "%s: %d %s" % (text, x[key], key))
    runs.check([entry["minimum"] for entry in x["starts"]] == [entry["minimum"] for entry in y["starts"]], "%s: the same minima" % text)


def by_default(recoil, study):
    folder, found, text = optimize(recoil, 1, study, "one-rank")
    runs.check("3 starts" in text and "optimizer/starts 1" in text, "the console says how many starts there are, and how to do with one")
    ends = [entry["parameters"]["spin"]["value"] for entry in found["starts"]]
    runs.check(all(min(abs(end - spin) for spin in SPINS) < 0.02 for end in ends) and len({end > 0 for end in ends}) == 2,
               "three starts find both ways to turn: %s" % ends)
    minima = [entry["minimum"] for entry in found["starts"]]
    runs.check(sorted(set(minima)) == [1, 2] and found["verdict"]["minima"] == 2, "minima are numbered: %s" % minima)
    runs.check("of 3 starts ended here" in text and "at another minimum" in text, "the verdict tells of the other one")
    runs.check([entry["code"] for entry in found["warnings"]] == ["several_minima"], "and a warning that it fits as well")
    runs.check(found["objective"] == min(entry["objective"] for entry in found["starts"]), "the best one is kept")
    runs.check(found["evaluations"] == len({line["x"] for line in logged_evaluations(folder) if line["what"] == "value"}), "all starts are counted")
    for ranks in (2, 3):
        other, there, _ = optimize(recoil, ranks, study, "ranks-%d" % ranks)
        same_fit(other, folder, "%d ranks" % ranks)
        runs.check(there["groups"] == ranks, "%d groups of ranks" % ranks)
        runs.check(not glob.glob(os.path.join(other, "evaluations", "**", "*.h5"), recursive=True), "known runs are removed at the end")
    return folder


def continued(recoil, study, whole):
    """Half of what the second start has logged is lost; then a signal in the middle."""
    folder = recoil.path("torn")
    shutil.copytree(recoil.path("ranks-3"), folder)
    path = os.path.join(folder, "evaluations", "start-2", "0.jsonl")
    before = len(logged_evaluations(folder))
    os.truncate(path, os.path.getsize(path) // 2)
    os.remove(os.path.join(folder, "history.csv"))
    for ranks in (1, 2):
        copy = "%s-%d" % (folder, ranks)
        shutil.copytree(folder, copy)
        recoil.run(ranks, "optimize", "--restart", copy, "-q")
        same_fit(copy, whole, "continued on %d ranks" % ranks)
        done = [(line["x"], line["experiment"], line["what"]) for line in logged_evaluations(copy)]
        runs.check(len(done) == len(set(done)) == before, "nothing that was logged was evaluated again")
    stopped = recoil.path("stopped")
    process = start(recoil, 2, study, "-o", stopped, command="optimize")
    wait_for(os.path.join(stopped, "evaluations", "history.csv"), process)
    process.send_signal(signal.SIGUSR1)
    runs.check(process.wait() == 75, "a signal ends all starts with exit code 75")
    found = fit(stopped)
    runs.check(found["status"] == "interrupted" and 1 <= len(found["starts"]) <= 3, "fit.json has the %d that had begun" % len(found["starts"]))
    recoil.run(3, "optimize", "--restart", stopped, "-q")
    same_fit(stopped, whole, "after a signal, on 3 ranks")


def without(recoil):
    _, found, text = optimize(recoil, 2, turning(recoil, "alone", starts=1), "alone-fit")
    runs.check("starts" not in found and "minima" not in found["verdict"] and "starts" not in text, "with one start nothing is told of others")


def no_solution(recoil):
    """Blocks that turn fast take more iterations than they are given."""
    study = turning(recoil, "hard", fastest=80, warm_start=False)
    scene = flying(0.5)
    scene["solver"] = {"nonlinear": exact(max_iterations=3)}
    scene["time"]["max_retries"] = 0
    recoil.write_scene("hard", scene)
    for ranks in (1, 3):
        recoil.run(ranks, "optimize", study, "-o", recoil.path("hard-%d" % ranks), "-q", expect=None)
        found = fit(recoil.path("hard-%d" % ranks))
        failed = [entry for entry in found["starts"] if "no objective at the start" in entry["reason"]]
        runs.check(found["status"] == "done" and len(failed) >= 1, "on %d ranks %d starts without a solution do no harm" % (ranks, len(failed)))


with runs.Recoil() as recoil:
    study = turning(recoil, "turning")
    whole = by_default(recoil, study)
    continued(recoil, study, whole)
    without(recoil)
    no_solution(recoil)
