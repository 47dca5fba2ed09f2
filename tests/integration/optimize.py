"""`recoil optimize` as a whole: parameters of three experiments found again from markers, on any number of ranks and groups, and
from whatever state an interrupted, killed or torn folder is in; no finished experiment is evaluated twice; exit codes."""
import csv
import glob
import os
import random
import shutil
import signal
import time

import numpy as np

import runs
from studies import fit, logged_evaluations, slide, start

TRUE = {"E": 1.3e5, "friction": 0.25, "damping": 15.0}
START = {"E": 1e5, "friction": 0.35, "damping": 30.0}
VELOCITIES = ([0.6, -0.8], [0.4, -1.0], [-0.5, -0.6])


def throw(velocity, E, friction, damping):
    scene = slide(steps=10)
    scene["materials"] = [{"type": "NeoHookean", "body": name, "E": stiffness, "nu": 0.3, "rho": 1000, "psi": psi, "phi": 10}
                          for name, stiffness, psi in (("lower", 1e5, 20), ("upper", E, damping))]
    scene["contact"]["friction_coefficient"] = friction
    scene["initial_conditions"]["velocity"][0]["value"] = velocity
    return scene


def observe(recoil, name, scene):
    """Markers on three corners of the upper block, as CSV, and their definition."""
    folder = recoil.simulate(1, recoil.write_scene(name + "-true", scene), name + "-true")
    rest = runs.coordinates(folder)
    corners = [int(np.abs(rest - point).sum(axis=1).argmin()) for point in ([-0.137, 0.304], [0.263, 0.304], [0.263, 0.004])]
    path = recoil.path(name + ".csv")
    with open(path, "w") as file:
        file.write("time,marker,x,y,sd\n")
        for k, corner in enumerate(corners):
            for step in range(11):
                x = rest[corner] + runs.state(folder, step)[corner, :2]
                file.write("%r,m%d,%r,%r,1e-3\n" % (0.004 * step, k, float(x[0]), float(x[1])))
    return path, [{"name": "m%d" % k, "body": "upper", "rest": [float(x) for x in rest[corner]]} for k, corner in enumerate(corners)]


def study_of(recoil, **optimizer):
    experiments, objectives = [], []
    for i, velocity in enumerate(VELOCITIES):
        name = "throw-%d" % i
        path, markers = observe(recoil, name, throw(velocity, **TRUE))
        experiments.append({"name": name, "scene": recoil.write_scene(name, throw(velocity, **START))})
        objectives.append({"name": "path-%d" % i, "type": "markers", "experiment": name, "target": path, "time": "integral", "weight": 1})
    return {
        "experiments": experiments,
        "parameters": [{"name": "E", "quantity": "young_modulus", "body": "upper", "initial": START["E"], "bounds": [1e4, 1e6], "scale": "log"},
                       {"name": "friction", "quantity": "friction", "bodies": ["lower", "upper"], "initial": START["friction"], "bounds": [0, 1]},
                       {"name": "damping", "quantity": "damping_shear", "body": "upper", "initial": START["damping"], "bounds": [0, 100]}],
        "objectives": objectives, "markers": markers, "sweep": {"tolerance": 1e-12},
        # Without noise the last steps are so large that no rounding decides which of them reaches this.
        "optimizer": dict({"gradient_tolerance": 1e-7, "starts": 1}, **optimizer),
    }


def optimize(recoil, ranks, study, name, *arguments, expect=0):
    folder = recoil.path(name)
    recoil.run(ranks, "optimize", study, "-o", folder, "-q", *arguments, expect=expect)
    return folder


def restart(recoil, ranks, folder, expect=0):
    return recoil.run(ranks, "optimize", "--restart", folder, "-q", expect=expect)


def history(folder):
    with open(os.path.join(folder, "history.csv")) as file:
        rows = list(csv.DictReader(file))
    return {key: np.array([float(row[key]) for row in rows]) for key in rows[0]}


def evaluations(folder):
    """What was evaluated: design, experiment, value or derivatives (`factor` of Gauss-Newton, else `gradient`)."""
    return [(line["x"], line["experiment"], line["what"]) for line in logged_evaluations(folder)]


def iterates(folder):
    columns = history(folder)
    return np.array([columns[name] for name in TRUE]).T / np.array(list(TRUE.values()))


def same_iterates(a, b, tolerance, text):
    x, y = iterates(a), iterates(b)
    error = np.abs(x - y).max() if x.shape == y.shape else np.inf
    runs.check(error <= tolerance, "%s: the same %d iterates to %.1e" % (text, len(x), error))


def recovered(folder):
    found = fit(folder)
    runs.check(found["status"] == "done" and found["objective"] < 1e-6 * found["initial_objective"],
               "the objective falls from %.3g to %.3g" % (found["initial_objective"], found["objective"]))
    for name, value in TRUE.items():
        error = abs(found["parameters"][name]["value"] / value - 1)
        runs.check(error < 1e-3, "%s is found again to %.1e" % (name, error))
    runs.check(abs(sum(found["per_experiment"].values()) - found["objective"]) < 1e-12 * found["initial_objective"],
               "the experiments add up to the objective")
    columns = history(folder)
    runs.check(len(columns["iteration"]) == found["iterations"] + 1 and (np.diff(columns["objective"]) < 0).all(),
               "history.csv has a falling objective per iteration")


def groups(recoil, study, document, whole):
    for ranks, count in ((2, 2), (3, 3), (4, 2)):
        name = "groups-%d" % count
        folder = optimize(recoil, ranks, recoil.write_scene(name, dict(document, optimizer=dict(document["optimizer"], groups=count))),
                          "fit-%s-%d" % (name, ranks))
        same_iterates(folder, whole, 1e-8, "%d groups on %d ranks" % (count, ranks))
        runs.check(fit(folder)["groups"] == count, "fit.json names %d groups" % count)


def killed(recoil, study, whole, resumed_on, tolerance):
    """kill -9 of two ranks at random moments, resumed on others."""
    random.seed(7)
    folder = recoil.path("killed-" + "-".join(map(str, resumed_on)))
    process = start(recoil, 2, study, "-o", folder, command="optimize")
    seconds = fit(whole)["wall_s"]
    for ranks in resumed_on:
        time.sleep(random.uniform(0.1, 0.5) * seconds)
        process.send_signal(signal.SIGKILL)
        process.wait()
        os.system("pkill -9 -f -- '%s'" % folder)
        process = start(recoil, ranks, "--restart", folder, command="optimize") if os.path.exists(os.path.join(folder, "study.json")) else \
            start(recoil, ranks, study, "-o", folder, command="optimize")
    runs.check(process.wait() == 0, "an optimisation that was killed thrice ends")
    same_iterates(folder, whole, tolerance, "killed thrice, resumed on %s ranks" % (resumed_on,))
    done = evaluations(folder)
    runs.check({what for _, _, what in done} == {"value", "factor", "residuals"}, "values, factors of Gauss-Newton and residuals were written down")
    runs.check(len(done) == len(set(done)), "none of %d evaluations was repeated" % len(done))
    runs.check(not glob.glob(os.path.join(folder, "evaluations", "*.h5")), "known runs are removed at the end")


def torn(recoil, whole):
    """A half written line costs one evaluation; a damaged one is refused."""
    copy = recoil.path("torn")
    shutil.copytree(whole, copy)
    path = glob.glob(os.path.join(copy, "evaluations", "*.jsonl"))[0]
    os.truncate(path, os.path.getsize(path) - 7)
    restart(recoil, 2, copy)
    runs.check(np.array_equal(iterates(copy), iterates(whole)) or np.abs(iterates(copy) - iterates(whole)).max() < 1e-6, "a torn line is evaluated again")
    with open(path, "r+b") as file:
        file.seek(40)
        file.write(b"#")
    code, text = restart(recoil, 1, copy, expect=4)
    runs.check("damaged" in text, "a damaged line is refused: exit %d" % code)


def cold(recoil, document, whole):
    """Without warm starts a run knows nothing of earlier ones: the same answer, and the same bits where a fit continues on as many ranks."""
    study = recoil.write_scene("cold", dict(document, optimizer=dict(document["optimizer"], warm_start=False)))
    folder = optimize(recoil, 1, study, "cold-whole")
    same_iterates(folder, whole, 1e-6, "without warm starts")
    newton = [fit(each)["newton_iterations"] for each in (whole, folder)]
    runs.check(0 < newton[0] < 0.9 * newton[1], "warm starts save Newton iterations: %d instead of %d" % tuple(newton))
    resumed = recoil.path("cold-resumed")
    shutil.copytree(folder, resumed)
    path = glob.glob(os.path.join(resumed, "evaluations", "*.jsonl"))[0]
    os.truncate(path, os.path.getsize(path) // 2)
    os.remove(os.path.join(resumed, "history.csv"))
    restart(recoil, 1, resumed)
    same_iterates(resumed, folder, 0, "continued without warm starts")


def interrupted(recoil, study, whole):
    folder = recoil.path("interrupted")
    process = start(recoil, 1, study, "-o", folder, command="optimize")
    path = os.path.join(folder, "history.csv")
    while not os.path.exists(path):
        time.sleep(0.01)
    process.send_signal(signal.SIGUSR1)
    runs.check(process.wait() == 75, "a signal ends it with exit code 75")
    runs.check(fit(folder)["status"] == "interrupted", "fit.json says that it was interrupted")
    restart(recoil, 1, folder)
    same_iterates(folder, whole, 0, "interrupted")
    code, text = recoil.run(1, "gradient", "--restart", folder, expect=2)
    runs.check("recoil optimize --restart" in text, "recoil gradient refuses the folder and says why")


def without_solution(recoil, i):
    scene = throw(VELOCITIES[i], **START)
    scene["solver"]["nonlinear"] = {"max_iterations": 1, "grad_norm_tol": 1e-16, "rel_grad_norm_tol": 1e-16}
    return recoil.write_scene("hard-%d" % i, scene)


def dropped(recoil, document):
    """An experiment without a solution is left out where the study says so, and named; the others find the parameters."""
    experiments = [dict(document["experiments"][i], **({"scene": without_solution(recoil, 1)} if i == 1 else {})) for i in range(3)]
    for method in "gauss_newton", "quasi_newton":
        optimizer = dict(document["optimizer"], groups=2, on_failure="drop", method=method)
        study = recoil.write_scene("drop-" + method, dict(document, experiments=experiments, optimizer=optimizer))
        found = fit(optimize(recoil, 2, study, "fit-drop-" + method))
        runs.check(found["status"] == "done" and found["dropped"] == ["throw-1"] and sorted(found["per_experiment"]) == ["throw-0", "throw-2"],
                   "%s leaves out the experiment without a solution" % method)
        for name, value in TRUE.items():
            error = abs(found["parameters"][name]["value"] / value - 1)
            runs.check(error < 1e-3, "%s is found again to %.1e without it" % (name, error))


def unsolvable(recoil, document):
    """Without a value at the start there is nothing to improve."""
    bad = dict(document, experiments=[dict(document["experiments"][0], scene=without_solution(recoil, 0))],
               objectives=document["objectives"][:1])
    folder = optimize(recoil, 1, recoil.write_scene("hard-study", bad), "hard", expect=3)
    found = fit(folder)
    runs.check(found["status"] == "failed" and "throw-0" in found["reason"], "an experiment without a solution is named: " + found["reason"][:120])


def disturb(path, seed, outlier=None):
    """Noise of a standard deviation on observations, and 15 of them at `outlier` (marker, component, step)."""
    random_state = np.random.RandomState(seed)
    with open(path) as file:
        rows = list(csv.DictReader(file))
    with open(path, "w") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        for row in rows:
            for component in "xy":
                sigmas = random_state.standard_normal() + 15 * ((row["marker"], component, round(float(row["time"]) / 0.004)) == outlier)
                row[component] = repr(float(row[component]) + float(row["sd"]) * sigmas)
            writer.writerow(row)


def noisy_study(recoil):
    """Stiffness and friction from two throws with noise, the second of which has an outlier."""
    known = dict(START, damping=TRUE["damping"])
    document = study_of(recoil)
    del document["parameters"][2], document["experiments"][2], document["objectives"][2]
    for i in range(2):
        document["experiments"][i]["scene"] = recoil.write_scene("noisy-%d" % i, throw(VELOCITIES[i], **known))
        document["objectives"][i]["time"] = {"times": "data"}
        disturb(document["objectives"][i]["target"], i, ("m1", "y", 6) if i == 1 else None)
    document["optimizer"] = {"groups": 2, "starts": 1}
    document["uncertainty"] = {"profile": ["friction", "E"]}
    return document


def profiled(recoil, document):
    """Profiles are the same on any number of ranks, and after a kill; their ends are where chi squared has risen by 3.84."""
    study = recoil.write_scene("noisy", document)
    folder = optimize(recoil, 1, study, "noisy-1")
    found = fit(folder)
    for name, entry in found["profile"].items():
        low, high = entry["interval"]
        value, linear = found["parameters"][name]["value"], found["parameters"][name]["interval"]
        runs.check(low < value < high, "the profile of %s encloses it: %.6g < %.6g < %.6g" % (name, low, value, high))
        runs.check(abs((high - low) / (linear[1] - linear[0]) - 1) < 0.3, "the interval of %s is near that of the linear model" % name)
        runs.check(entry["points"] == sorted(entry["points"]) and min(rise for _, rise in entry["points"]) > -0.01, "the points of %s rise" % name)
    evaluated = evaluations(folder)
    runs.check(len(evaluated) == len(set(evaluated)), "none of %d evaluations was repeated" % len(evaluated))

    # The other value fitted with friction at the end of its interval.
    end = found["profile"]["friction"]["interval"][1]
    held = dict(document, parameters=document["parameters"][:1], uncertainty={})
    held["experiments"] = [dict(entry, scene=recoil.write_scene("held-%d" % i, throw(VELOCITIES[i], START["E"], end, TRUE["damping"])))
                           for i, entry in enumerate(document["experiments"])]
    rise = fit(optimize(recoil, 1, recoil.write_scene("held", held), "held"))["objective"] - found["objective"]
    runs.check(abs(rise - 3.8415) < 0.02, "with friction held at its end chi squared is higher by %.4f" % rise)

    resumed = recoil.path("noisy-killed")
    shutil.copytree(folder, resumed)
    path = glob.glob(os.path.join(resumed, "evaluations", "*.jsonl"))[0]
    os.truncate(path, int(0.8 * os.path.getsize(path)))
    restart(recoil, 1, resumed)
    for other, text in ((optimize(recoil, 3, study, "noisy-3"), "on 3 ranks in 2 groups"), (resumed, "after a kill")):
        for name, entry in fit(other)["profile"].items():
            interval = np.array(found["profile"][name]["interval"])
            error = np.abs(np.array(entry["interval"]) - interval).max() / np.ptp(interval)
            runs.check(error < 1e-3, "the profile of %s is the same %s to %.1e of its width" % (name, text, error))

    no_squares = dict(document, objectives=[dict(document["objectives"][0], power=2), *document["objectives"][1:]])
    code, text = recoil.run(1, "optimize", recoil.write_scene("no-squares", no_squares), "-o", recoil.path("no-squares"), expect=2)
    runs.check("/uncertainty/profile" in text and "sum of squares" in text, "a profile of another objective is refused: " + text.strip()[-160:])
    return found


def analysed(found):
    """The residuals name the outlier, and add up."""
    residuals = found["residuals"]
    worst = residuals["path-1"]["worst"][0]
    place = [residuals["path-1"]["experiment"], worst["point"], worst["component"], round(worst["time"] / 0.004)]
    runs.check(place == ["throw-1", "m1", "y", 6] and -18 < worst["residual"] < -8, "the outlier is named: %s, %.1f" % (place, worst["residual"]))
    runs.check(abs(residuals["path-0"]["worst"][0]["residual"]) < 5, "without an outlier the largest residual is one of noise")
    for name, entry in residuals.items():
        runs.check(entry["data"] == 66 and abs(entry["chi_squared"] - found["per_objective"][name]) < 1e-6 * entry["chi_squared"],
                   "%s has 66 data with the chi squared of the objective" % name)
        runs.check(0.01 < entry["runs_p"] <= 1, "the noise of %s passes the runs test: p = %.2g" % (name, entry["runs_p"]))


def main(recoil):
    document = study_of(recoil, groups=1)
    study = recoil.write_scene("study", document)
    whole = optimize(recoil, 1, study, "whole")
    runs.check(fit(whole)["method"] == "gauss_newton", "a sum of squares is minimised by Gauss-Newton")
    recovered(whole)
    on_two = optimize(recoil, 2, study, "two")
    same_iterates(on_two, whole, 1e-6, "2 ranks")
    groups(recoil, study, document, whole)
    killed(recoil, study, whole, (3, 1, 2), 1e-6)
    killed(recoil, study, on_two, (2, 2, 2), 0)
    torn(recoil, whole)
    cold(recoil, document, whole)
    interrupted(recoil, study, whole)
    dropped(recoil, document)
    unsolvable(recoil, document)
    analysed(profiled(recoil, noisy_study(recoil)))


with runs.Recoil() as recoil:
    main(recoil)
