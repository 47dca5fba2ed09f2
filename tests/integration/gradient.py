"""`recoil gradient` as a whole: one gradient on any number of ranks, for any way of storing the run, and from whatever state an
interrupted, killed or damaged folder is in; fields in the order of the mesh; exit codes."""
import json
import os
import re
import shutil
import signal

import numpy as np

import runs
from pieces import box, material
from studies import bar_study, distance, exact, fields, gradient, log, result, slide, slide_study, start, sweep_file, torn, wait_for

SAME = 1e-8


def same(a, b, text):
    error = distance(a, b)
    runs.check(error < SAME, "%s: the same gradient to %.1e" % (text, error))


def restart(recoil, ranks, folder, *arguments):
    recoil.run(ranks, "gradient", "--restart", folder, "-q", *arguments)


def storing(recoil, scene):
    """Ranks, stored states and budgets."""
    study = recoil.write_scene("every", slide_study("slide", scene))
    plain = gradient(recoil, 1, study, "plain")
    found = result(plain)["parameters"]
    runs.check(all(np.abs(found[p]["gradient"]).max() > 0 for p in ("E", "mu", "v0")), "no derivative is zero")
    runs.check(abs(found["E"]["gradient_scaled"] / found["E"]["gradient"] - 1e5) < 1e-4, "by log(E) it is E times that by E")
    runs.check(found["rho"]["file"] == "gradient.h5", "gradient.json names the file of fields")
    for ranks in (2, 3):
        same(gradient(recoil, ranks, study, "plain-%d" % ranks), plain, "%d ranks" % ranks)
    for ranks in (1, 2, 3, 4):
        copy = recoil.path("swept-%d" % ranks)
        shutil.copytree(plain, copy)
        for left in ("gradient.json", "gradient.h5", "slide/sweep.json"):
            os.remove(os.path.join(copy, left))
        restart(recoil, ranks, copy)
        runs.check("the forward run is complete" in log(copy), "%d ranks sweep what one rank has run" % ranks)
        same(copy, plain, "one run folder swept on %d ranks" % ranks)
    for every, budget in ((5, None), (12, None), (12, 3), (12, 5), (12, 7), (1, 2)):
        sweep = {"store_every": every} if budget is None else {"store_every": every, "state_budget": budget}
        name = "every-%d-%s" % (every, budget)
        for ranks in (1, 3) if budget == 5 else (1,):
            folder = gradient(recoil, ranks, recoil.write_scene(name, slide_study("slide", scene, **sweep)), "%s-%d" % (name, ranks))
            same(folder, plain, "%s on %d ranks" % (name, ranks))
            held, repeated = map(int, re.search(r"held (\d+) states at most and repeated (\d+) steps", log(folder)).groups())
            runs.check(budget is None or held <= budget, "%s: %d states held at most" % (name, held))
            # 11 is kept beside 12, ten are missing between 0 and 11.
            runs.check(repeated == {None: repeated, 3: 30, 2: 0}.get(budget, repeated), "%s: %d steps repeated" % (name, repeated))
            runs.check(every == 1 or repeated > 0, "%s: states are computed anew" % name)
            runs.check(budget != 5 or repeated < 30, "a larger budget repeats less")


def fields_in_file_order(recoil):
    """Fields against what is known of them without an adjoint, on 1 and 3 ranks."""
    # At rest under prescribed displacements alone the energy is stationary: its derivative by E of an element is that of its own
    # share, which `simulate` writes per element.
    bodies = [box("left", [1, 0.5], [3, 2], [0, 0], surface_selection=[{"id": 1, "axis": "-x", "position": -0.499}, {"id": 2, "axis": "x", "position": 0.499}]),
              box("right", [0.7, 0.5], [2, 3], [3, 0], surface_selection=[{"id": 1, "axis": "-x", "position": 2.651}, {"id": 3, "axis": "y", "position": 0.249}])]
    scene = {"geometry": bodies, "materials": material(1e5, 0.3, 1000), "solver": {"nonlinear": exact()}, "output": {"fields": ["strain_energy"]},
             "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0]}, {"id": 2, "value": [0.1, 0.05]}, {"id": 3, "value": [0.02, 0.1]}]}}
    path = recoil.write_scene("pulled", scene)
    density = runs.state(recoil.simulate(1, path, "pulled"), field="strain_energy").ravel()
    area = np.r_[np.full(12, 0.5 / 12), np.full(12, 0.35 / 12)]
    study = {"experiments": [{"name": "pulled", "scene": path}], "objectives": [{"name": "energy", "type": "elastic_energy"}],
             "parameters": [{"name": "E", "quantity": "young_modulus", "body": "right", "per": "element", "initial": 1e5}], "sweep": {"tolerance": 1e-13}}
    path = recoil.write_scene("energy", study)
    found = {n: fields(gradient(recoil, n, path, "energy-%d" % n)) for n in (1, 3)}
    for n, arrays in found.items():
        own = arrays["pulled/E/gradient"].ravel()
        runs.check(np.isnan(own[:12]).all() and not np.isnan(own[12:]).any(), "%d ranks: NaN for the elements of the other body" % n)
        error = runs.difference(own[12:] * 1e5, (density * area)[12:])
        runs.check(error < 1e-7, "%d ranks: dJ/dE of every element is its energy over E: %.1e" % (n, error))
        runs.check((arrays["pulled/E/value"][12:] == 1e5).all() and np.isnan(arrays["pulled/E/value"][:12]).all(), "%d ranks: values" % n)

    # In free flight nothing acts: the derivative of 1/2 |v - w|^2 by the initial velocity of a vertex is its lumped mass times v - w.
    scene = {"geometry": box("bar", [1, 0.4, 0.4], [3, 2, 1], [0, 0, 0]), "materials": material(1e5, 0.3, 1), "solver": {"nonlinear": exact()},
             "time": {"dt": 0.01, "time_steps": 2}}
    path = recoil.write_scene("flight", scene)
    study = {"experiments": [{"name": "flight", "scene": path}], "objectives": [{"name": "v", "type": "velocity", "target": [0, 2, 0], "time": "final"}],
             "parameters": [{"name": "v0", "quantity": "initial_velocity", "per": "vertex", "initial": [1, 0, 3]}], "sweep": {"tolerance": 1e-13}}
    path = recoil.write_scene("free", study)
    found = {n: gradient(recoil, n, path, "free-%d" % n) for n in (1, 3)}
    import h5py
    with h5py.File(os.path.join(found[1], "flight", "trajectory", "mesh.h5"), "r") as file:
        corners, cells = file["coordinates"][:], file["connectivity"][:].reshape(36, -1)[:, -4:]
    mass = np.zeros(len(corners))
    for cell in cells:
        mass[cell] += abs(np.linalg.det(corners[cell[1:]] - corners[cell[0]])) / 24
    for n, folder in found.items():
        own = fields(folder)["flight/v0/gradient"]
        scale = own[:, 0].sum() / mass.sum()
        error = runs.difference(own, scale * mass[:, None] * [1, -2, 3])
        runs.check(error < 1e-7 and scale > 0, "%d ranks: dJ/dv0 of every vertex is its mass times a vector: %.1e" % (n, error))
    same(found[3], found[1], "a field per vertex on 3 ranks")


def interrupted_sweep(recoil, scene):
    """SIGUSR1 in the sweep; then a restart from its checkpoint, and from a damaged, missing and foreign one."""
    study = recoil.write_scene("interrupted", slide_study("slide", scene))
    whole = gradient(recoil, 1, study, "whole")
    folder = recoil.path("stopped")
    process = start(recoil, 2, study, "-o", folder)
    wait_for(os.path.join(folder, "slide", "sweep.json"), process)
    process.send_signal(signal.SIGUSR1)
    runs.check(process.wait(timeout=120) == 75, "SIGUSR1 in the sweep: exit %d" % process.returncode)
    content, arrays = sweep_file(folder, "slide")
    runs.check(content["about"]["status"] == "running" and not os.path.exists(os.path.join(folder, "gradient.json")),
               "stopped before state %d" % content["about"]["next"])

    def again(name, ranks, change, *said):
        copy = recoil.path("stopped-" + name)
        shutil.copytree(folder, copy)
        change(copy, sweep_file(copy, "slide")[1])
        before = len(log(copy))
        restart(recoil, ranks, copy)
        told = log(copy)[before:]
        runs.check(all(part in told for part in said), "%s: the log says %s" % (name, " and ".join(said)))
        same(copy, whole, name)

    def flip(path, at):
        with open(path, "r+b") as file:
            file.seek(at)
            byte = file.read(1)[0]
            file.seek(at)
            file.write(bytes([byte ^ 16]))

    restarted, complete = "the sweep starts again", "the forward run is complete"
    again("sound", 2, lambda *_: None, complete, "the sweep continues at state %d" % content["about"]["next"])
    again("flipped", 2, lambda _, file: flip(file, os.path.getsize(file) // 2), complete, restarted, "is damaged")
    again("cut", 2, lambda _, file: os.truncate(file, 100), complete, restarted, "is damaged")
    again("missing", 2, lambda _, file: os.remove(file), complete, restarted)
    head = os.path.join("slide", "sweep.json")
    text = json.dumps(content["about"]["next"])
    again("head", 2, lambda copy, _: flip(os.path.join(copy, head), open(os.path.join(copy, head)).read().index('"next": ' + text) + 8), complete, restarted, "is damaged")
    again("ranks", 1, lambda *_: None, complete, restarted, "of 2 ranks")

    def other_tolerance(copy, _):
        path = os.path.join(copy, "study.json")
        with open(path) as file:
            changed = json.load(file)
        changed["sweep"]["tolerance"] = 2e-13
        with open(path, "w") as file:
            json.dump(changed, file)
        refused = recoil.run(1, "gradient", "--restart", copy, "-q", expect=4)[1]
        runs.check(path in refused and "inputs.json" in refused, "a changed study is refused:\n" + refused)
        os.remove(os.path.join(copy, "inputs.json"))
    again("study", 2, other_tolerance, "inputs.json is missing", complete, restarted, "another study")

    # What is finished is not repeated, on any number of ranks.
    for ranks in (1, 3):
        copy = recoil.path("finished-%d" % ranks)
        shutil.copytree(whole, copy)
        os.remove(os.path.join(copy, "gradient.json"))
        os.remove(os.path.join(copy, "gradient.h5"))
        before = len(log(copy))
        restart(recoil, ranks, copy)
        runs.check("the sweep is finished" in log(copy)[before:] and "repeated" not in log(copy)[before:], "%d ranks: a finished sweep is not repeated" % ranks)
        runs.check(distance(copy, whole) == 0, "%d ranks: its result is read back exactly" % ranks)


def killed(recoil, scene):
    """kill -9 and SIGUSR1 in the forward run, kill -9 in the sweep, with every and with few states stored."""
    for every in (1, 5):
        study = recoil.write_scene("kill-%d" % every, slide_study("slide", scene, store_every=every))
        whole = gradient(recoil, 1, study, "unkilled-%d" % every)
        for stage, number, file in (("forward", signal.SIGKILL, "trajectory/states_00003.h5"), ("forward", signal.SIGUSR1, "trajectory/states_00003.h5"),
                                    ("sweep", signal.SIGKILL, "sweep.json")):
            name = "store_every %d, signal %d in the %s" % (every, number, stage)
            folder = recoil.path("killed-%d-%s-%d" % (every, stage, number))
            process = start(recoil, 1, study, "-o", folder)
            wait_for(os.path.join(folder, "slide", file), process)
            process.send_signal(number)
            runs.check(process.wait(timeout=120) == (75 if number == signal.SIGUSR1 else -9), "%s: exit %d" % (name, process.returncode))
            done = [s["step"] for f in runs.manifest(os.path.join(folder, "slide"))["files"] for s in f["states"] if "step" in s][-1]
            runs.check(0 < done < 60 if stage == "forward" else done == 60, "%s: killed at step %d" % (name, done))
            runs.check(stage == "forward" or sweep_file(folder, "slide")[0]["about"]["status"] == "running", name + ": the sweep is under way")
            before = len(log(folder))
            restart(recoil, 1, folder)
            told = log(folder)[before:]
            runs.check(("the sweep continues" if stage == "sweep" else "restarting after step %d " % done) in told, name + ": goes on")
            same(folder, whole, name)


def sub_steps(recoil):
    """A run with repeated steps: stored wholly and in part, continued, and killed inside of a repeated step."""
    scene = recoil.write_scene("torn", torn())
    plain = gradient(recoil, 1, recoil.write_scene("torn-study", bar_study("torn", scene)), "torn-1")
    records = [s for f in runs.manifest(os.path.join(plain, "torn"))["files"] for s in f["states"]]
    inner = [s["id"] for s in records if "step" not in s]
    runs.check(len(inner) > 0, "%d sub-steps in the run" % len(inner))
    for name, ranks, sweep in (("3", 3, {}), ("every", 1, {"store_every": 3}), ("budget", 1, {"store_every": 4, "state_budget": 3})):
        study = recoil.write_scene("torn-study-" + name, bar_study("torn", scene, **sweep))
        same(gradient(recoil, ranks, study, "torn-" + name), plain, "sub-steps, " + name)
    # A run killed between two files continues at the start of a nominal step.
    runs.check(all("step" in f["states"][-1] for f in runs.manifest(os.path.join(plain, "torn"))["files"]),
               "files of states end with nominal steps")


def adaptive_stiffness(recoil):
    """The stiffness that a pilot run has frozen is remembered; two experiments, the second of which is interrupted."""
    scene = slide(steps=30)
    scene["solver"] = {"nonlinear": exact()}
    scenes = [recoil.write_scene("adaptive", scene), recoil.write_scene("adaptive-2", dict(scene, gravity=[2, -20]))]
    study = slide_study("one", scenes[0])
    study["experiments"].append({"name": "two", "scene": scenes[1]})
    study["objectives"] = [dict(o, name=o["name"] + e, experiment=e) for o in study["objectives"] for e in ("one", "two")]
    path = recoil.write_scene("adaptive-study", study)
    whole = gradient(recoil, 1, path, "adaptive-whole")
    folder = recoil.path("adaptive")
    process = start(recoil, 1, path, "-o", folder)
    wait_for(os.path.join(folder, "two", "trajectory", "manifest.json"), process)
    process.send_signal(signal.SIGTERM)
    runs.check(process.wait(timeout=120) == 75, "SIGTERM in the second experiment: exit %d" % process.returncode)
    before = len(log(folder))
    # Neither the study nor its scenes are needed any more.
    for file in (path, *scenes):
        os.rename(file, file + ".away")
    restart(recoil, 1, folder)
    runs.check("one: the sweep is finished" in log(folder)[before:], "the first experiment is not repeated")
    same(folder, whole, "two experiments with an adaptive stiffness")
    frozen = result(whole)["barrier_stiffness"]
    for at in (whole, folder):
        runs.check(all(any(w.startswith(name + ":") and "frozen barrier stiffness" in w for w in result(at)["warnings"]) for name in frozen) and
                   "frozen barrier stiffness" in log(at), "gradient.json and log warn of the frozen stiffness")
    runs.check(frozen == result(folder)["barrier_stiffness"] and frozen["one"] != frozen["two"], "frozen stiffness: %s" % frozen)
    for name, value in frozen.items():
        with open(os.path.join(folder, name, "scene.json")) as file:
            runs.check(json.load(file)["solver"]["contact"]["barrier_stiffness"] == value, name + ": scene.json holds it")
    with open(os.path.join(folder, "study.json")) as file:
        runs.check(json.load(file)["parameters"][0]["scale"] == "log", "study.json holds the study")


def checks(recoil):
    """Verdicts of --check, and that they can be bad."""
    study = slide_study("slide", recoil.write_scene("checked", slide(steps=5)))
    study["check"] = {"directions": 1, "steps": [1e-3, 1e-4, 1e-5]}
    path = recoil.write_scene("check", study)
    folder = gradient(recoil, 1, path, "check", "--check")
    found = result(folder)["check"]
    runs.check(sorted(found) == ["E", "mu", "random 1", "rho", "v0"], "directions: " + ", ".join(found))
    for name, verdict in found.items():
        runs.check(verdict["verdict"].startswith("agrees") and verdict["relative_error"] < 1e-6, "%s: %s, %.1e" % (name, verdict["verdict"], verdict["relative_error"]))
    os.remove(os.path.join(folder, "gradient.json"))
    restart(recoil, 1, folder, "--check")
    again = result(folder)["check"]
    runs.check(all(again[name]["derivative"] == found[name]["derivative"] for name in found), "--check after a restart: the same derivatives")
    restart(recoil, 1, folder)
    runs.check(result(folder)["check"] == again, "--restart without --check keeps the check")

    study["check"]["directions"] = 100000
    folder = recoil.path("check-stopped")
    process = start(recoil, 1, recoil.write_scene("check-long", study), "-o", folder, "--check")
    wait_for(os.path.join(folder, "gradient.json"), process)
    process.send_signal(signal.SIGUSR1)
    runs.check(process.wait(timeout=120) == 75 and "check" not in result(folder), "a check that is cut off leaves the gradient")
    study["check"]["directions"] = 1

    # Right derivatives that differences cannot confirm are no alarm.
    shape = {"name": "shape", "quantity": "shape", "body": "lower", "basis": {"box": [2, 2]}}
    for name, parameters, steps, said in (("coarse", [shape], [1e-3, 1e-4], "not converged: "), ("tiny", study["parameters"][2:3], [1e-9, 1e-10], "noise: ")):
        unsure = dict(study, parameters=parameters, check={"directions": 2, "steps": steps})
        found = result(gradient(recoil, 1, recoil.write_scene("check-" + name, unsure), "check-" + name, "--check"))["check"]
        runs.check(any(v["verdict"].startswith(said) for v in found.values()), "%s steps: %s" % (name, [v["verdict"] for v in found.values()]))

    loose = slide(steps=5)
    loose["solver"]["nonlinear"] = {"grad_norm_tol": 1e-2, "rel_grad_norm_tol": 0.3}
    study["experiments"][0]["scene"] = recoil.write_scene("loose", loose)
    folder = recoil.path("check-loose")
    told = recoil.run(1, "gradient", recoil.write_scene("check-loose", study), "-o", folder, "--check", "-q")[1]
    found = result(folder)
    runs.check(any("loosely solved" in v["verdict"] for v in found["check"].values()), "steps that are solved loosely: the verdict says so")
    runs.check("the gradient is that of loosely solved steps" in told and "loosely" in found["warnings"][0], "-q and gradient.json warn of them:\n" + told.splitlines()[0])
    # To first order the estimate is what an exact solve changes.
    loose["solver"]["nonlinear"] = {"grad_norm_tol": 1e-14, "rel_grad_norm_tol": 1e-4}
    study["experiments"][0]["scene"] = recoil.write_scene("looser", loose)
    found = result(gradient(recoil, 1, recoil.write_scene("check-looser", study), "check-looser"))
    study["experiments"][0]["scene"] = recoil.write_scene("exact", slide(steps=5))
    exactly = result(gradient(recoil, 2, recoil.write_scene("check-exact", study), "check-exact"))
    change = abs(exactly["objective"] - found["objective"])
    runs.check(abs(found["objective_error"] / change - 1) < 0.2, "adjoint times residual: %.2e, an exact solve changes the objective by %.2e" % (found["objective_error"], change))
    runs.check("warnings" not in exactly and exactly["objective_error"] < 1e-9 * exactly["objective"], "no warning of steps that are solved well")


def refusals(recoil, scene):
    """Exit codes, and what is left behind."""
    study = recoil.write_scene("fine", slide_study("slide", scene))

    def refuse(name, ranks, code, parts, *arguments):
        folder = recoil.path("refused")
        found, text = recoil.run(ranks, "gradient", *arguments, *(["-o", folder] if "--restart" not in arguments else []), "-q", expect=None)
        runs.check(found == code and all(part in text for part in parts), "%s: exit %d: %s" % (name, found, text.strip()[:200]))
        runs.check(not os.path.exists(folder), "%s: no folder is left by %d ranks" % (name, ranks))
        shutil.rmtree(folder, ignore_errors=True)

    overlap = slide()
    overlap["geometry"][1]["transformation"]["translation"][1] = 0.1
    overlap = recoil.write_scene("overlap-study", slide_study("slide", recoil.write_scene("overlap", overlap)))
    for ranks in (1, 3):
        refuse("a scene that overlaps", ranks, 2, ["intersections"], overlap)
    refuse("a scene that is not there", 1, 2, ["nowhere.json"], recoil.write_scene("lost", slide_study("slide", "nowhere.json")))
    refuse("a budget too small", 1, 2, ["/sweep/state_budget", "at least 3"], recoil.write_scene("poor", slide_study("slide", scene, store_every=5, state_budget=2)))
    refuse("a name of a file", 1, 2, ["/experiments/0/name"], recoil.write_scene("named", slide_study("log.txt", scene)))
    refuse("no study", 1, 2, ["--restart"])
    refuse("no gradient", 1, 2, ["study.json"], "--restart", recoil.folder)
    folder = recoil.path("used")
    os.makedirs(os.path.join(folder, "something"))
    code, text = recoil.run(1, "gradient", study, "-o", folder, "-q", expect=None)
    runs.check(code == 2 and "--restart" in text, "a used folder: exit %d" % code)

    hopeless = torn()
    hopeless["solver"]["nonlinear"]["max_iterations"] = 1
    hopeless["time"]["max_retries"] = 1
    folder = recoil.path("hopeless")
    code, text = recoil.run(1, "gradient", recoil.write_scene("hopeless-study", bar_study("bar", recoil.write_scene("hopeless", hopeless))), "-o", folder, "-q", expect=None)
    runs.check(code == 3 and "fails after step 0" in text, "a step that cannot be done: exit %d" % code)

    folder = recoil.path("held")
    first = start(recoil, 1, recoil.write_scene("long", slide_study("slide", recoil.write_scene("endless", slide(steps=20000)))), "-o", folder)
    wait_for(os.path.join(folder, "slide", "trajectory", "manifest.json"), first)
    code, text = recoil.run(1, "gradient", "--restart", folder, "-q", expect=None)
    runs.check(code == 4 and str(first.pid) in text, "a second job: exit %d" % code)
    first.kill()
    first.wait()
    folder = gradient(recoil, 1, study, "damaged")
    code, text = recoil.run(1, "info", folder, expect=None)
    runs.check(code == 2 and os.path.join(folder, "slide") in text, "info of a study's folder: exit %d: %s" % (code, text.strip()))
    os.remove(os.path.join(folder, "slide", "sweep.json"))
    path = os.path.join(folder, "slide", "trajectory", "states_00003.h5")
    os.truncate(path, os.path.getsize(path) // 2)
    code, text = recoil.run(1, "gradient", "--restart", folder, "-q", expect=None)
    runs.check(code == 4 and "states_00003.h5" in text, "a damaged state that is needed: exit %d" % code)


with runs.Recoil() as recoil:
    short, long = recoil.write_scene("short", slide()), recoil.write_scene("long-run", slide(steps=60))
    parts = {"storing": (storing, short), "fields": (fields_in_file_order,), "interrupted": (interrupted_sweep, long), "killed": (killed, long),
             "sub_steps": (sub_steps,), "adaptive": (adaptive_stiffness,), "checks": (checks,), "refusals": (refusals, short)}
    for name in recoil.rest or parts:
        parts[name][0](recoil, *parts[name][1:])
