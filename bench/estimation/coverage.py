#!/usr/bin/env python3
"""Are the intervals of `recoil optimize` right? Fits to synthetic experiments with known noise, again and again.

    bench/estimation/coverage.py --recoil build/release/recoil                     # 40 repetitions on 2 ranks, about 10 minutes
    bench/estimation/coverage.py --recoil build/release/recoil --repetitions 4 --quasi-newton 0 --ranks 1

The sixteen experiments of experiments.py run once at the true values; each repetition adds normal noise of 1 % to all marker
positions, its standard deviation in the files, and fits the eight unknowns from start values 20 to 50 % off. Expected: 90 to 99 %
of the true values within the 95 % intervals, chi^2 about its degrees of freedom, and with --quasi-newton some of the fits again
by quasi-Newton: Gauss-Newton takes at most a third of its evaluations of values and derivatives,
each until it ends by itself at the default tolerances; those to the same chi^2 are printed, too.
Then a static block that sinks under its own weight, which only the ratio of stiffness and density decides: fit.json must name both.

The exit code is 1 if any expectation failed; all are printed. --json writes the figures.
"""
import csv
import json
import os
import time

import experiments
import numpy as np
import runs

NOISE = 0.01
NEAR_LEAST = 1e-4  # of chi^2: a hundredth of a standard deviation, where Gauss-Newton ends by itself
NAMES = ["E", "nu", "damping", "friction", "density", "velocity[0]", "velocity[1]", "pressure"]
NORMAL_95 = 1.959964


def flat(values):
    """Numbers in the order of NAMES from those by parameter."""
    return np.concatenate([np.ravel(values[name]) for name in experiments.TRUE])


def read(folder):
    with open(os.path.join(folder, "fit.json")) as file:
        return json.load(file)


def history(folder):
    with open(os.path.join(folder, "history.csv")) as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def field(found, key):
    return flat({name: found["parameters"][name][key] for name in experiments.TRUE})


class Coverage:
    def __init__(self, recoil):
        self.recoil, self.ranks = recoil, recoil.arguments.ranks
        self.truth = {}
        for name, scene in experiments.scenes(experiments.TRUE).items():
            label = name + "-true"
            self.truth[name] = experiments.marker_displacements(recoil.simulate(1, recoil.write_scene(label, scene), label))
        self.scenes = {name: recoil.write_scene(name, scene) for name, scene in experiments.scenes(experiments.START).items()}
        self.parameters = experiments.parameters(list(self.scenes))

    def fit(self, repetition, **optimizer):
        """Folder and seconds of a fit to the data of a repetition."""
        label = "%d-%s" % (repetition, optimizer.get("method", "auto"))
        rng = np.random.default_rng(repetition)
        files = {name: self.recoil.path("%s-%s.csv" % (label, name)) for name in self.scenes}
        for name, path in files.items():
            experiments.observe(path, self.truth[name], NOISE, rng)
        document = experiments.study(self.scenes, files, self.parameters, **optimizer)
        folder = self.recoil.path("fit-" + label)
        watch = time.time()
        self.recoil.run(self.ranks, "optimize", self.recoil.write_scene("study-" + label, document), "-o", folder, "-q")
        return folder, time.time() - watch

    def repeat(self, count):
        """One row of figures per repetition."""
        rows = []
        for repetition in range(count):
            folder, seconds = self.fit(repetition)
            found = read(folder)
            interval = field(found, "interval").reshape(-1, 2)
            true = flat(experiments.TRUE)
            row = {"value": field(found, "value"), "sd": field(found, "sd"), "inside": (interval[:, 0] <= true) & (true <= interval[:, 1]),
                   "seconds": seconds, "least": found["objective"], "folder": folder}
            row.update({key: found[key] for key in ("chi_squared", "data", "p_value", "iterations", "evaluations", "gradient_evaluations",
                                                    "forward_s", "sweep_s", "unidentifiable", "reason", "status")})
            rows.append(row)
            print("%3d: %s of 8 inside, chi^2 %.1f of %d data, %d iterations, %d + %d evaluations, %.1f s: %s" %
                  (repetition, row["inside"].sum(), row["chi_squared"], row["data"], row["iterations"], row["evaluations"],
                   row["gradient_evaluations"], seconds, row["reason"]), flush=True)
        return rows


def table(rows):
    true, start = flat(experiments.TRUE), flat(experiments.START)
    values, sds = np.array([row["value"] for row in rows]), np.array([row["sd"] for row in rows])
    inside = np.array([row["inside"] for row in rows])
    print("| parameter | true | start | mean sd | scatter / sd | bias / sd | inside |\n|---|---|---|---|---|---|---|")
    for i, name in enumerate(NAMES):
        sd = sds[:, i].mean()
        print("| %s | %g | %g | %.2g %% | %.2f | %.2f | %d of %d |" %
              (name, true[i], start[i], 100 * sd / abs(true[i]), values[:, i].std() / sd, (values[:, i].mean() - true[i]) / sd,
               inside[:, i].sum(), len(rows)))
    return {name: float(inside[:, i].mean()) for i, name in enumerate(NAMES)}


def judge(rows):
    shares = table(rows)
    share = float(np.mean([row["inside"] for row in rows]))
    freedom = rows[0]["data"] - len(NAMES)
    chi = np.array([row["chi_squared"] for row in rows])
    runs.check(0.90 <= share <= 0.99, "%.1f %% of %d true values are inside their 95 %% intervals" % (100 * share, 8 * len(rows)))
    off = (chi.mean() - freedom) / np.sqrt(2 * freedom / len(rows))
    runs.check(abs(off) < 3, "chi^2 has the mean %.1f and %d degrees of freedom: %.1f standard deviations off" % (chi.mean(), freedom, off))
    ratio = chi.std() / np.sqrt(2 * freedom)
    runs.check(len(rows) < 10 or 0.6 < ratio < 1.5, "its scatter is %.2f times that of the distribution" % ratio)
    runs.check(not any(row["unidentifiable"] for row in rows), "all parameters are identifiable")
    means = {key: float(np.mean([row[key] for row in rows])) for key in ("iterations", "evaluations", "gradient_evaluations", "seconds",
                                                                        "forward_s", "sweep_s")}
    print("      on average " + ", ".join("%s %.1f" % item for item in means.items()))
    low = sum(row["p_value"] < 0.05 for row in rows)
    print("      p below 0.05 in %d of %d repetitions" % (low, len(rows)))
    return {"inside": share, "inside by parameter": shares, "chi_squared": chi.mean(), "degrees_of_freedom": freedom, **means}


def evaluations_to(folder, goal):
    """Values and derivatives until the objective is at most `goal`; infinite if it never is."""
    for row in history(folder):
        if row["objective"] <= goal:
            return row["evaluations"] + row["gradient_evaluations"]
    return np.inf


def num_evaluations(folder):
    """Values and derivatives that were computed: what an optimiser asks for again comes from the log, the residuals at the end
    are for the report."""
    return len({(design, what) for design, _, what in experiments.evaluations(folder) if what != "residuals"})


def compare_methods(coverage, rows):
    """The same data by quasi-Newton, which must not stop before it has got as far: evaluations of whole fits, and to the same chi^2."""
    ratios = []
    for repetition, row in enumerate(rows):
        folder, seconds = coverage.fit(repetition, method="quasi_newton", stop_at_noise=False, max_iterations=300)
        found = read(folder)
        goal = min(row["least"], found["objective"]) + NEAR_LEAST
        own, other = num_evaluations(row["folder"]), num_evaluations(folder)
        print("      repetition %d: chi^2 %.4f after %d evaluations; quasi-Newton %.4f after %d in %d iterations and %.0f s (%s); %g and %g "
              "to within %g of the least" % (repetition, row["least"], own, found["objective"], other, found["iterations"], seconds,
                                             found["reason"], evaluations_to(row["folder"], goal), evaluations_to(folder, goal), NEAR_LEAST))
        ratios.append(own / other)
    if ratios:
        runs.check(max(ratios) <= 1 / 3, "Gauss-Newton takes at most %.2f of the evaluations of quasi-Newton" % max(ratios))
    return {"ratios of evaluations": ratios}


def sinking(recoil):
    """A static block under its own weight: E and density times the same factor change nothing."""
    values = dict(experiments.TRUE)
    scene = experiments.held(values)
    del scene["time"]
    for key in ("psi", "phi"):
        del scene["materials"][key]
    folder = recoil.simulate(1, recoil.write_scene("sinking", scene), "sinking-true")
    rest = runs.coordinates(folder)
    u = runs.state(folder)
    path = recoil.path("sinking.csv")
    rng = np.random.default_rng(1)
    sd = NOISE * float(np.abs(u).max())
    nodes = {name: int(np.abs(rest[:, :2] - point).sum(axis=1).argmin()) for name, point in experiments.MARKERS.items()}
    with open(path, "w") as file:
        file.write("time,marker,x,y,sd\n")
        for name, node in nodes.items():
            x = rest[node, :2] + u[node, :2] + sd * rng.standard_normal(2)
            file.write("1,%s,%r,%r,%r\n" % (name, float(x[0]), float(x[1]), sd))
    unknown = [parameter for parameter in experiments.parameters(["press"]) if parameter["name"] in ("E", "density", "nu")]
    document = experiments.study({"press": recoil.path("sinking.json")}, {"press": path}, unknown)
    document["objectives"][0]["time"] = "final"
    out = recoil.path("fit-sinking")
    recoil.run(1, "optimize", recoil.write_scene("study-sinking", document), "-o", out, "-q")
    found = read(out)
    left_open = found["unidentifiable"]
    runs.check(len(left_open) == 1 and set(left_open[0]["direction"]) == {"E", "density"},
               "of a block under its own weight E and density are unidentifiable: %s" % left_open)
    return {"unidentifiable": left_open}


def main(recoil):
    coverage = Coverage(recoil)
    rows = coverage.repeat(recoil.arguments.repetitions)
    figures = judge(rows)
    figures.update(compare_methods(coverage, rows[:recoil.arguments.quasi_newton]))
    figures.update(sinking(recoil))
    if recoil.arguments.json:
        with open(recoil.arguments.json, "w") as file:
            json.dump(figures, file, indent=1)


with runs.Recoil(("--repetitions", int, 40), ("--ranks", int, 2), ("--quasi-newton", int, 3), ("--json", str, None)) as recoil:
    main(recoil)
