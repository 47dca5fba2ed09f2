"""What `recoil optimize` says of a fit: ten that are bad in different ways, each of which is told on the console, in fit.json and on the
page, and ten good ones without a false alarm. Robust losses against outliers."""
import json
import os
import re
import shutil
import sys
from pathlib import Path

import numpy as np

import runs
from pieces import box, material, plane
from studies import exact, fit

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "scripts"))
from recoil_run import Fit  # noqa: E402
from reporting import sections  # noqa: E402

SD, STEPS, CORNER = 1e-3, 10, [0.499, 0.499]
TRUE = {"E": 1e5, "nu": 0.3}


def pulled(E=1e5, nu=0.3, traction=("200*t", "900*t"), **solver):
    """A block that is held below and pulled at its top, more and more."""
    sides = [{"id": 1, "axis": "-y", "position": -0.499}, {"id": 2, "axis": "y", "position": 0.499}]
    return {"geometry": [box("block", [1, 1], [2, 2], [0, 0], surface_selection=sides)], "materials": material(E, nu, 1000, plane="strain"),
            "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0]}], "neumann_boundary": [{"id": 2, "value": list(traction)}]},
            "solver": {"nonlinear": exact(**solver)}, "time": {"dt": 1, "time_steps": STEPS, "quasistatic": True}}


def flying(spin=0.0, velocity=(0.0, 0.0)):
    """A stiff block in free flight."""
    return {"geometry": [box("block", [1, 1], [1, 1], [0, 0])], "materials": material(1e7, 0.3, 1000, plane="strain"), "gravity": [0, -9.81],
            "initial_conditions": {"velocity": [{"body": "block", "value": list(velocity)}], "angular_velocity": [{"body": "block", "value": spin}]},
            "solver": {"nonlinear": exact()}, "time": {"dt": 0.02, "time_steps": STEPS, "integrator": "BDF2"}}


def resting():
    """A block at rest on a floor."""
    return {"geometry": [box("block", [0.2, 0.1], [4, 2], [0, 0.0505]), plane("floor", [0, 1])], "materials": material(1e7, 0.3, 1000, psi=300, plane="strain"),
            "gravity": [0, -9.81],
            "contact": {"enabled": True, "dhat": 1e-3, "epsv": 1e-3, "friction_pairs": [{"bodies": ["block", "floor"], "coefficient": 0.27}]},
            "solver": {"nonlinear": {"grad_norm_tol": 1e-9}, "contact": {"barrier_stiffness": 1e7}}, "time": {"dt": 0.01, "time_steps": 20, "integrator": "BDF2"}}


def bar(kind):
    """A cube of a Mooney-Rivlin solid, stretched or sheared by a step per second."""
    law = {"type": "MooneyRivlin", "c1": 190000.0, "c2": 45000.0, "k": 2e7, "rho": 1000}
    sides = [{"id": 2 * i + s + 1, "axis": "-+"[s].strip("+") + "xyz"[i], "position": (2 * s - 1) * 0.499999} for i in range(3) for s in range(2)]
    if kind == "stretched":
        held = [{"id": 2 * i + 1, "value": [0, 0, 0], "dimension": [j == i for j in range(3)]} for i in range(3)]
        moved, steps, divisions = {"id": 2, "value": ["0.1*t", 0, 0], "dimension": [True, False, False]}, 15, 1
    else:
        held, moved, steps, divisions = [{"id": 3, "value": [0, 0, 0]}], {"id": 4, "value": ["0.1*t", 0, 0]}, 12, 2
    return {"geometry": [{"name": "cube", "generator": {"type": "box", "size": [1, 1, 1], "divisions": divisions}, "surface_selection": sides}],
            "materials": law, "boundary_conditions": {"dirichlet_boundary": [*held, moved]},
            "solver": {"nonlinear": {"grad_norm_tol": 1e-12, "rel_grad_norm_tol": 1e-10}}, "time": {"dt": 1, "time_steps": steps, "quasistatic": True}}


# Forces [kN] at 1, 2, .. s with 2 % noise: true are c1 190, c2 45 kPa; the eighth of the first list is ten times what it was.
STRETCHED = [103.363604591, 233.433386943, 329.820487381, 401.332506381, 440.704226073, 540.956755319, 591.052033334, 6445.45729201, 695.809737299,
             750.747522168, 818.488373627, 808.995351578, 864.632302518, 938.926242267, 921.318817566]
SHEARED = [49.372024631, 84.0700610102, 137.749457886, 189.652213378, 209.360944097, 266.425532517, 308.47882477, 368.239123945, 409.801656232,
           480.989885556, 503.956750869, 576.270922585]


class Cases:
    """Studies in the folder of a test, and the fits of them."""

    def __init__(self, recoil):
        self.recoil = recoil
        self.random = np.random.default_rng(11)

    def observe(self, name, scene, points=None, sd=SD, units="", written_sd=True, keep=lambda step, x: x, factor=1.0, every=1):
        """Markers of what a true scene does, with noise; the centre of mass without `points`. Returns the path."""
        folder = self.recoil.simulate(1, self.recoil.write_scene(name + "-true", scene), name + "-true")
        rest = runs.coordinates(folder)[:, :2]
        node = int(np.abs(rest - np.array(points)).sum(axis=1).argmin()) if points is not None else None
        dt = scene["time"]["dt"]
        path = self.recoil.path(name + ".csv")
        with open(path, "w") as file:
            unit = f" [{units}]" if units else ""
            file.write("time," + ("marker," if node is not None else "") + f"x{unit},y{unit}" + (f",sd{unit}" if written_sd else "") + "\n")
            for step in range(1, scene["time"]["time_steps"] + 1, every):
                u = runs.state(folder, step)[:, :2]
                x = (rest + u)[node] if node is not None else (rest + u).mean(axis=0)
                x = keep(step, factor * (x + sd * self.random.standard_normal(2)))
                numbers = ["" if np.isnan(one) else repr(float(one)) for one in x] + ([repr(factor * sd)] if written_sd else [])
                file.write(f"{dt * step!r}," + ("corner," if node is not None else "") + ",".join(numbers) + "\n")
        return path

    def forces(self, name, values, sd):
        path = self.recoil.path(name + ".csv")
        with open(path, "w") as file:
            file.write("time,force [kN],sd [kN]\n" + "".join(f"{i + 1},{value!r},{sd!r}\n" for i, value in enumerate(values)))
        return path

    def study(self, name, scenes, parameters, objectives, **more):
        """`scenes` by the name of the experiment."""
        experiments = [{"name": key, "scene": self.recoil.write_scene(f"{name}-{key}", scene)} for key, scene in scenes.items()]
        return self.recoil.write_scene(name + "-study", dict({"experiments": experiments, "parameters": parameters, "objectives": objectives}, **more))

    def pulled_study(self, name, data, parameters=None, scene=None, loss=None, **more):
        objective = {"name": "corner", "type": "markers", "target": data, "time": {"times": "data"}}
        if loss:
            objective["loss"] = loss
        markers = [{"name": "corner", "body": "block", "rest": [0.5, 0.5]}]
        return self.study(name, {"pull": scene or pulled()}, parameters or [modulus()], [objective], **dict({"markers": markers}, **more))

    def fit(self, name, study, expect=0, ranks=1):
        """fit.json, what was said, the page's text of it."""
        folder = self.recoil.path(name + "-fit")
        shutil.rmtree(folder, ignore_errors=True)
        _, text = self.recoil.run(ranks, "optimize", study, "-o", folder, expect=expect)
        shown = Fit(Path(folder))
        return fit(folder), text, "\n".join([*sections.outcome(shown), *sections.parameters(shown), *sections.ties(shown)])


def modulus(initial=1.3e5, **more):
    return dict({"name": "E", "quantity": "young_modulus", "body": "block", "initial": initial, "scale": "log"}, **more)


def poisson(**more):
    return dict({"name": "nu", "quantity": "poisson_ratio", "body": "block", "initial": 0.25, "bounds": [0.05, 0.45]}, **more)


def is_told(name, result, text, page, verdict, code=None, words=()):
    """The verdict, and a warning, in all three places."""
    found = result["verdict"]
    runs.check(found["is"] == verdict and result["status"] == "done", f"{name}: {found['is']}, p {found['p_value']}, {result['reason']}")
    label = {"converged": "Converged", "not_converged": "Not converged", "bad_fit": "Bad fit"}[verdict]
    kind = {"converged": "open" if code else "good", "not_converged": "open", "bad_fit": "bad"}[verdict]
    runs.check(f"verdict: {verdict}" in text and page.startswith(f'<p class="verdict {kind}">{label}'), f"{name}: the console and the first line of the page say so")
    warnings = [entry for entry in result["warnings"] if entry["code"] == code]
    if code:
        runs.check(bool(warnings), f"{name}: {code} among {[entry['code'] for entry in result['warnings']]}")
        for entry in warnings[:1]:
            where = f"{entry['place']}: " if "place" in entry else ""
            runs.check(f"{where}{entry['message']}" in text and entry["message"].split(":")[0].replace("'", "&#x27;") in page, f"{name}: {entry['message']}")
    for word in words:
        runs.check(word in text, f"{name}: the console says '{word}'")


def is_good(name, result, text, page, truth):
    runs.check(result["verdict"]["is"] == "converged" and not result["warnings"], f"{name}: {result['verdict']['is']}, p {result['verdict']['p_value']}, warnings {result['warnings']}")
    runs.check('class="verdict good"' in page and "verdict: converged" in text, f"{name}: said in green")
    for key, true in truth.items():
        entry = result["parameters"][key]
        for value, true_value, (low, high), sd in zip(*(np.atleast_1d(one) for one in (entry["value"], true)), np.atleast_2d(entry["interval"]), np.atleast_1d(entry["sd"])):
            # 95 % intervals miss one in twenty of the truths: of forty values some.
            runs.check(abs(value - true_value) <= 4 * sd, f"{name}: {key} {value:.5g}, 95 % {low:.5g} to {high:.5g}, true {true_value:g}")


# Bad fits.

def outlier(cases):
    def wrong(step, x):
        return x * [10, 1] if step == 4 else x
    data = cases.observe("outlier", pulled(), CORNER, keep=wrong)
    name = "a number times ten"
    is_told(name, *cases.fit("outlier", cases.pulled_study("outlier", data)), "bad_fit", "outlier", [f"{data}:5", "residuals are too large"])
    for kind in ("huber", "soft_l1", "cauchy"):
        result, text, page = cases.fit("robust", cases.pulled_study("robust", data, loss={"type": kind}))
        is_told(f"{name}, {kind}", result, text, page, "converged", "outlier", [f"{data}:5"])
        low, high = result["parameters"]["E"]["interval"]
        runs.check(low <= 1e5 <= high and result["p_value"] > 1e-3, f"{kind}: E between {low:.6g} and {high:.6g}, p {result['p_value']:.2g}")


def outlier_of_forces(cases):
    """c2 came out as -112 kPa, with chi^2 89 412 of 27 data, and nothing was said."""
    objectives = [{"name": "stretched", "type": "reaction_force", "experiment": "stretched", "boundary": 2, "direction": [1, 0, 0],
                   "target": cases.forces("stretched", STRETCHED, 18.9330162421), "time": {"times": "data"}},
                  {"name": "sheared", "type": "reaction_force", "experiment": "sheared", "boundary": 4, "direction": [1, 0, 0],
                   "target": cases.forces("sheared", SHEARED, 11.1434899349), "time": {"times": "data"}}]
    scenes = {kind: bar(kind) for kind in ("stretched", "sheared")}
    parameters = [{"name": name, "quantity": "mooney_" + name, "initial": initial, "scale": {"factor": 1e5}} for name, initial in (("c1", 1.9e4), ("c2", 4.5e5))]
    study = cases.study("forces", scenes, parameters, objectives)
    result, text, page = cases.fit("forces", study)
    is_told("a force times ten", result, text, page, "bad_fit", "outlier", ["stretched.csv:9", "residuals are too large"])
    for one in objectives:
        one["loss"] = {"type": "huber"}
    result, text, page = cases.fit("forces-robust", cases.study("forces-robust", scenes, parameters, objectives))
    is_told("a force times ten, huber", result, text, page, "converged", "outlier", ["stretched.csv:9"])
    for name, true in (("c1", 1.9e5), ("c2", 4.5e4)):
        value, sd, (low, high) = (result["parameters"][name][key] for key in ("value", "sd", "interval"))
        runs.check(low <= true <= high, f"huber: {name} {value:.6g} +- {sd:.3g}, 95 % {low:.6g} to {high:.6g}")


def wrong_unit(cases):
    """Metres under a header of millimetres."""
    is_told("a wrong unit", *cases.fit("unit", cases.pulled_study("unit", cases.observe("unit", pulled(), CORNER, units="mm"))), "bad_fit", "outlier", ["residuals are too large"])


def missing_sd(cases):
    files = [cases.observe("with-sd", pulled(), CORNER), cases.observe("without-sd", pulled(), CORNER, written_sd=False)]
    objectives = [{"name": f"corner-{i}", "type": "markers", "target": path, "time": {"times": "data"}} for i, path in enumerate(files)]
    study = cases.study("mixed", {"pull": pulled()}, [modulus()], objectives, markers=[{"name": "corner", "body": "block", "rest": [0.5, 0.5]}])
    result, text, page = cases.fit("mixed", study)
    is_told("data without sd beside others", result, text, page, "converged", "missing_sd", ["is not judged"])
    runs.check(result["warnings"][0]["place"] == files[1] and "p_value" not in result, "the file is named, no p value is given")


def iteration_limit(cases):
    data = cases.observe("few", pulled(), CORNER)
    study = cases.pulled_study("few", data, [modulus(1e6)], optimizer={"max_iterations": 1})
    result, text, page = cases.fit("few", study, expect=3)
    is_told("one iteration", result, text, page, "not_converged", words=["larger optimizer/max_iterations"])
    advised = json.loads("{%s}" % re.search(r'"initial": {"file": "[^"]*"}', text).group())
    again, *_ = cases.fit("few-again", cases.pulled_study("few-again", data, [dict(modulus(), **advised)]))
    first, second = result["parameters"]["E"], again["parameters"]["E"]
    runs.check(again["verdict"]["is"] == "converged" and second["initial"] == first["value"], f"the advice leads from {first['value']:.6g} to {second['value']:.6g}")


def warned_study(cases):
    """What reading the study has warned of."""
    study = cases.pulled_study("warned", cases.observe("warned", pulled(), CORNER), scene=pulled(allow_out_of_iterations=True))
    is_told("steps that may end early", *cases.fit("warned", study), "converged", "study", ["allow_out_of_iterations"])


def stalled(cases):
    """The faster a block turns, the more iterations its steps take: the data ask for more than it is given."""
    data = cases.observe("stalled", flying(spin=20.0), [0.5, 0.5])
    scene = flying(spin=0.5)
    scene["solver"] = {"nonlinear": exact(max_iterations=3)}
    scene["time"]["max_retries"] = 0
    study = cases.study("stalled", {"fly": scene}, [{"name": "spin", "quantity": "initial_angular_velocity", "body": "block", "initial": 0.5}],
                        [{"name": "corner", "type": "markers", "target": data, "time": {"times": "data"}}], optimizer={"warm_start": False},
                        markers=[{"name": "corner", "body": "block", "rest": [0.5, 0.5]}])
    is_told("no step is left", *cases.fit("stalled", study, expect=3), "not_converged", words=["stalled"])


def unidentifiable(cases):
    path = cases.recoil.path("rest.csv")
    with open(path, "w") as file:
        file.write("time,x,y,sd\n" + "".join(f"{t},{x},{y},1e-4\n" for t, x, y in ((0.05, 0.8e-4, 0.05), (0.1, -1.1e-4, 0.0501), (0.15, 0.3e-4, 0.04995), (0.2, -0.5e-4, 0.05006))))
    friction = {"name": "mu", "quantity": "friction", "bodies": ["block", "floor"], "initial": 0.3, "bounds": [0, 1]}
    study = cases.study("rest", {"rest": resting()}, [friction], [{"name": "p", "type": "center_of_mass", "target": path, "time": {"times": "data"}}])
    result, text, page = cases.fit("rest", study)
    is_told("friction of a block at rest", result, text, page, "converged", "open_direction", ["mu cannot be known"])
    runs.check(result["parameters"]["mu"]["interval"] in ([0, 1], [None, None]) and "Nothing: of every" not in page, f"its interval is {result['parameters']['mu']['interval']}")


def at_bound(cases):
    data = cases.observe("bound", pulled(), CORNER)
    is_told("a bound", *cases.fit("bound", cases.pulled_study("bound", data, [modulus(1.3e5, bounds=[1.2e5, 1e6])])), "bad_fit", "at_bound", ["at its bound"])


def two_minima(cases):
    """Only x of a corner was seen: the block turns this way or that."""
    data = cases.observe("turning", flying(spin=2.0), [0.5, 0.5], keep=lambda step, x: np.array([x[0] - 0.5 + 0.5, np.nan]))
    # A marker on the axis through the centre, whose x is 0.5 cos(w t) either way.
    rows = [[float(t), 0.5 * np.cos(2.0 * t) + SD * cases.random.standard_normal()] for t in 0.02 * np.arange(1, STEPS + 1)]
    with open(data, "w") as file:
        file.write("time,marker,x,y,sd\n" + "".join(f"{t!r},side,{x!r},,{SD}\n" for t, x in rows))
    study = cases.study("turning", {"fly": flying(spin=0.5)}, [{"name": "spin", "quantity": "initial_angular_velocity", "body": "block", "initial": 0.5, "bounds": [-5, 5]}],
                        [{"name": "side", "type": "markers", "target": data, "time": {"times": "data"}}],
                        markers=[{"name": "side", "body": "block", "rest": [0.5, 0]}], optimizer={"starts": 4})
    is_told("two minima", *cases.fit("turning", study), "converged", "several_minima", ["fits the data as well"])


def wrong_model(cases):
    """A model with another load than the data."""
    data = cases.observe("model", pulled(traction=("-300*t", "900*t")), CORNER)
    is_told("a wrong model", *cases.fit("model", cases.pulled_study("model", data)), "bad_fit", words=["residuals are too large"])


def too_few(cases):
    data = cases.observe("two", pulled(), CORNER, every=STEPS)
    is_told("two numbers for two values", *cases.fit("two", cases.pulled_study("two", data, [modulus(), poisson()])), "converged", "too_few_data", ["is not judged"])


# Good fits.

def one_value(cases):
    is_good("a modulus", *cases.fit("one", cases.pulled_study("one", cases.observe("one", pulled(), CORNER))), {"E": 1e5})


def two_values(cases):
    result, text, page = cases.fit("good-two", cases.pulled_study("good-two", cases.observe("good-two", pulled(), CORNER), [modulus(), poisson()]))
    is_good("modulus and Poisson's ratio", result, text, page, TRUE)


def without_deviations(cases):
    study = cases.pulled_study("plain", cases.observe("plain", pulled(), CORNER, written_sd=False))
    is_good("data without sd", *cases.fit("plain", study), {"E": 1e5})


def with_prior(cases):
    study = cases.pulled_study("prior", cases.observe("prior", pulled(), CORNER), [modulus(), poisson(prior={"mean": 0.32, "sd": 0.05})])
    is_good("a prior", *cases.fit("prior", study), TRUE)


def velocity(cases):
    data = cases.observe("flight", flying(velocity=(3.0, 1.0)))
    study = cases.study("flight", {"fly": flying(velocity=(3.0, 1.0))}, [{"name": "v0", "quantity": "initial_velocity", "body": "block", "initial": [1, 0.2]}],
                        [{"name": "path", "type": "center_of_mass", "target": data, "time": {"times": "data"}}])
    is_good("a velocity", *cases.fit("flight", study, ranks=2), {"v0": [3, 1]})


def two_experiments(cases):
    loads = {"up": ("0*t", "900*t"), "aside": ("400*t", "0*t")}
    objectives = [{"name": name, "type": "markers", "experiment": name, "target": cases.observe("two-" + name, pulled(traction=load), CORNER), "time": {"times": "data"}} for name, load in loads.items()]
    study = cases.study("both", {name: pulled(traction=load) for name, load in loads.items()}, [modulus(), poisson()], objectives,
                        markers=[{"name": "corner", "body": "block", "rest": [0.5, 0.5]}])
    is_good("two experiments", *cases.fit("both", study), TRUE)


def robust(cases):
    study = cases.pulled_study("clean", cases.observe("clean", pulled(), CORNER), loss={"type": "huber"})
    is_good("a loss where nothing is wrong", *cases.fit("clean", study), {"E": 1e5})


def several_starts(cases):
    study = cases.pulled_study("starts", cases.observe("starts", pulled(), CORNER), [modulus(bounds=[3e4, 1e6])], optimizer={"starts": 3})
    is_good("several starts", *cases.fit("starts", study), {"E": 1e5})


def logit(cases):
    study = cases.pulled_study("logit", cases.observe("logit", pulled(), CORNER), [modulus(), poisson(scale="logit")])
    is_good("a logit", *cases.fit("logit", study), TRUE)


def job(cases):
    folder = cases.recoil.path("job")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(os.path.join(ROOT, "jobs", "fit"), folder)
    is_good("jobs/fit", *cases.fit("job", os.path.join(folder, "study.json")), {"E": 1.5e5, "friction": 0.15})


def refused(cases):
    """Losses where there are no squares of data in standard deviations; and what a bad fit may end with."""
    bare = cases.observe("bare", pulled(), CORNER, written_sd=False)
    code, text = cases.recoil.run(1, "optimize", cases.pulled_study("bare", bare, loss={"type": "huber"}), "-o", cases.recoil.path("bare-fit"), expect=None)
    runs.check(code == 2 and "/objectives/0/loss" in text and "column `sd`" in text, "a loss for data without sd is refused")
    study = cases.study("height", {"pull": pulled()}, [modulus()], [{"name": "top", "type": "height", "axis": "y", "loss": {"type": "cauchy"}}])
    code, text = cases.recoil.run(1, "optimize", study, "-o", cases.recoil.path("height-fit"), expect=None)
    runs.check(code == 2 and "no sum of squares" in text, "a loss for what is no sum of squares is refused")
    data = cases.observe("fails", pulled(traction=("-300*t", "900*t")), CORNER)
    cases.fit("fails", cases.pulled_study("fails", data, optimizer={"on_bad_fit": "fail"}), expect=3)


def gradient_of_losses(cases):
    """The derivatives of losses against differences, far in their tails."""
    data = cases.observe("tails", pulled(), CORNER, keep=lambda step, x: x * 1.2 if step % 3 == 0 else x)
    for kind in ("huber", "soft_l1", "cauchy"):
        folder = cases.recoil.path("gradient-" + kind)
        study = cases.pulled_study("tails-" + kind, data, [modulus(), poisson()], loss={"type": kind}, sweep={"tolerance": 1e-13})
        cases.recoil.run(1, "gradient", study, "-o", folder, "--check", "-q")
        with open(os.path.join(folder, "gradient.json")) as file:
            checked = json.load(file)["check"]
        worst = max(entry["relative_error"] for entry in checked.values())
        runs.check(worst < 1e-6, f"{kind}: the gradient agrees with differences to {worst:.1e}")


BAD = [outlier, outlier_of_forces, wrong_unit, missing_sd, iteration_limit, warned_study, stalled, unidentifiable, at_bound, two_minima, wrong_model, too_few]
GOOD = [one_value, two_values, without_deviations, with_prior, velocity, two_experiments, robust, several_starts, logit, job]

with runs.Recoil(("--only", str, "")) as recoil:
    cases = Cases(recoil)
    for case in (*BAD, *GOOD, refused, gradient_of_losses):
        if recoil.arguments.only in ("", case.__name__):
            case(cases)
