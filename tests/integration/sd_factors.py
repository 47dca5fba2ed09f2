"""Unknown factors of standard deviations (sd_factor), on the bars of insight.py, against regression by hand: maximum likelihood of the
value, factors with their degrees of freedom and intervals, what information criteria, cross-validation, bands, profiles, residuals and
the next experiment make of them; any number of ranks, restarts, wrong inputs."""
import json
import os
import shutil
import subprocess
import sys

import numpy as np
import runs
from insight import POINTS, SD, bar, close, fit, observe, study, table
from runs import check

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts")
MODULI, SCALES = [1e6, 2e6, 1.5e6], [1.0, 6.0, 6.0]
M = 2 * len(POINTS)  # displacements along x and y, the latter without noise


def made(recoil, seed, factors=("own", "rough", "rough"), **more):
    rng = np.random.default_rng(seed)
    y = []
    for k, (E, scale) in enumerate(zip(MODULI, SCALES)):
        bar(recoil, "bar%d" % k, E)
        y.append(observe(recoil, "bar%d" % k, E, 800.0, scale * SD * rng.normal(size=len(POINTS))))
    content = study(recoil, MODULI, **more)
    for objective, factor in zip(content["objectives"], factors):
        if factor:
            objective["sd_factor"] = factor
    return content, y


def quantile(freedom):
    """97.5 % of Student's distribution."""
    t = np.linspace(-400, 400, 4000001)
    below = np.cumsum((1 + t**2 / freedom)**(-(freedom + 1) / 2))
    return t[np.searchsorted(below, 0.975 * below[-1])]


def by_hand(y, groups):
    """Of the traction t and the factors of groups of experiments: the minimum of the deviance, by the formulas of docs/estimation.md."""
    J = [POINTS / E / SD for E in MODULI]
    r0 = [-u / SD for u in y]
    squares = lambda t: {k: sum(((J[e] * t + r0[e])**2).sum() for e in of) for k, of in groups.items()}
    t, m = 800.0, {k: M * len(of) for k, of in groups.items()}
    for _ in range(500):
        weight = {k: m[k] / s for k, s in squares(t).items()}
        t = (-sum(weight[k] * (J[e] @ r0[e]) for k, of in groups.items() for e in of) /
             sum(weight[k] * (J[e] @ J[e]) for k, of in groups.items() for e in of))
    chi = squares(t)
    deviance = sum(m[k] * (np.log(chi[k] / m[k]) + 1) for k in groups)
    s2 = {k: chi[k] / m[k] for k in groups}
    for _ in range(500):
        information = {k: sum(J[e] @ J[e] for e in of) / s2[k] for k, of in groups.items()}
        freedom = {k: m[k] - information[k] / sum(information.values()) for k in groups}
        s2 = {k: chi[k] / freedom[k] for k in groups}
    information = {k: sum(J[e] @ J[e] for e in of) / s2[k] for k, of in groups.items()}
    return t, {k: s**0.5 for k, s in s2.items()}, freedom, sum(information.values())**-0.5, deviance, J, r0


def against_regression(recoil):
    content, y = made(recoil, 11, uncertainty={"bands": True})
    content["experiments"].append({"name": "next", "scene": recoil.path("next.json"), "candidate": True})
    bar(recoil, "next", 5e5)
    observe(recoil, "next", 5e5, 0.0, 0)
    content["objectives"].append({"name": "u_next", "type": "displacement_field", "experiment": "next", "body": "bar",
                                  "target": "next.csv", "sd_factor": "rough"})
    content["parameters"][0].update(held=[False, True])
    t, s, freedom, sd, deviance, J, r0 = by_hand(y, {"own": [0], "rough": [1, 2]})
    for ranks in (1, 3):
        found, folder, text = fit(recoil, "two-%d" % ranks, content, ranks)
        value = found["parameters"]["t"]
        check(close(value["value"][0], t, 1e-5) and close(value["sd"][0], sd, 1e-4),
              "%d ranks: the traction is %.6f ± %.4f, by hand %.6f ± %.4f" % (ranks, value["value"][0], value["sd"][0], t, sd))
        check(abs(found["objective"] - deviance) < 1e-4, "the objective is the deviance, %.5f" % deviance)
        for name, of in (("own", ["u_bar0"]), ("rough", ["u_bar1", "u_bar2"])):
            entry = found["sd_factors"][name]
            check(close(entry["value"], s[name], 1e-3) and close(entry["degrees_of_freedom"], freedom[name], 1e-4) and
                  entry["data"] == M * len(of) and entry["objectives"] == of,
                  "%s is %.4f with %.2f degrees of freedom, by hand %.4f" % (name, entry["value"], entry["degrees_of_freedom"], s[name]))
            check(close(entry["sd"], entry["value"] / np.sqrt(2 * entry["degrees_of_freedom"])) and
                  entry["interval"][0] < entry["value"] < entry["interval"][1], "with deviation and interval")
    check(found["verdict"]["is"] == "converged" and "p_value" not in found and "were estimated" in found["verdict"]["reasons"][-1],
          "such a fit is converged, and not judged by chi^2")
    check(close(found["chi_squared"], sum(freedom.values()), 1e-4) and close(sum(freedom.values()), 3 * M - 1), "chi^2 is m - n")
    check("own" not in found["parameters"] and found["information"]["values"] == 3 and found["information"]["data"] == 3 * M and
          close(found["information"]["aic"], deviance + 6, 1e-5), "information criteria count factors as values")
    validated, predicted = found["cross_validation"], 0
    factors = [s["own"], s["rough"], s["rough"]]
    for k in range(3):
        others = [e for e in range(3) if e != k]
        # leave_one_out() starts from the weights of all.
        t_k = (-sum(J[e] @ r0[e] / factors[e]**2 for e in others) / sum(J[e] @ J[e] / factors[e]**2 for e in others))
        predicted += ((J[k] * t_k + r0[k])**2).sum() / factors[k]**2
    log_terms = sum(2 * M * np.log(factor) for factor in factors)
    check(close(validated["predicted"], predicted, 1e-3) and abs(validated["deviance"] - predicted - log_terms) < 1e-2,
          "cross-validation has the logarithms of the factors")
    check(close(found["residuals"]["u_bar1"]["chi_squared"] + found["residuals"]["u_bar2"]["chi_squared"], freedom["rough"], 1e-3),
          "residuals are over the factors")
    row = [one for one in table(folder, "bands.csv") if one["objective"] == "u_bar1" and one["component"] == "ux"][0]
    wide, narrow = float(row["high_of_new"]) - float(row["low_of_new"]), float(row["high"]) - float(row["low"])
    q = narrow / 2 / float(row["sd_of_fit"])
    shares = np.array([J[0] @ J[0] / s["own"]**2, (J[1] @ J[1] + J[2] @ J[2]) / s["rough"]**2]) * sd**2
    student = 1 / (shares**2 / [freedom["own"], freedom["rough"]]).sum()
    check(abs(q - quantile(student)) < 2e-3, "bands are Student's with %.2f degrees of freedom, quantile %.4f" % (student, q))
    check(close(wide, 2 * q * np.hypot(float(row["sd_of_fit"]), s["rough"] * SD), 1e-3), "the band of a new observation has the factor")
    interval = value["interval"][0]
    check(close(interval[1] - interval[0], 2 * q * sd, 1e-3), "as the interval of the value has that quantile")
    after = (sd**-2 + (POINTS @ POINTS) / 5e5**2 / (s["rough"] * SD)**2)**-0.5
    check(close(found["next_experiments"][0]["sd"]["t[0]"], after, 1e-3), "the next experiment is expected to have the factor")


def parts_of_one_experiment(recoil):
    """Two objectives of one run with a factor each, beside a third one whose deviations are known."""
    rng = np.random.default_rng(21)
    points, scales = [np.array([0.3, 0.55, 0.7]), np.array([0.5, 0.8, 0.95]), np.array([0.4, 0.9])], [4.0, 0.5, 1.0]
    bar(recoil, "bar0", 1e6)
    y = [observe(recoil, "part%d" % k, 1e6, 800.0, scale * SD * rng.normal(size=len(x)), x) for k, (x, scale) in enumerate(zip(points, scales))]
    content = study(recoil, [1e6])
    content["objectives"] = [dict({"name": "u%d" % k, "type": "displacement_field", "experiment": "bar0", "body": "bar", "target": "part%d.csv" % k},
                                  **({"sd_factor": "ab"[k]} if k < 2 else {})) for k in (0, 2, 1)]
    J, r0, m = [x / 1e6 / SD for x in points], [-u / SD for u in y], [2 * len(x) for x in points]
    t, known = 800.0, J[2] @ J[2]
    chi = lambda t: [((j * t + r)**2).sum() for j, r in zip(J, r0)]
    for _ in range(1000):
        weight = [m[0] / chi(t)[0], m[1] / chi(t)[1], 1]
        t = -sum(w * (j @ r) for w, j, r in zip(weight, J, r0)) / sum(w * (j @ j) for w, j in zip(weight, J))
    s2 = [chi(t)[k] / m[k] for k in range(2)]
    for _ in range(1000):
        information = [J[k] @ J[k] / s2[k] for k in range(2)]
        freedom = [m[k] - information[k] / (sum(information) + known) for k in range(2)]
        s2 = [chi(t)[k] / freedom[k] for k in range(2)]
    deviance = sum(m[k] * (np.log(chi(t)[k] / m[k]) + 1) for k in range(2)) + chi(t)[2]
    for ranks in (1, 3):
        found, _, _ = fit(recoil, "parts-%d" % ranks, content, ranks)
        value, factors = found["parameters"]["t"], found["sd_factors"]
        check(close(value["value"][0], t, 1e-4) and close(value["sd"][0], (sum(information) + known)**-0.5, 1e-3),
              "parts of an experiment on %d ranks: %.5f ± %.4f, by hand %.5f" % (ranks, value["value"][0], value["sd"][0], t))
        check(all(close(factors["ab"[k]]["value"], s2[k]**0.5, 1e-2) and close(factors["ab"[k]]["degrees_of_freedom"], freedom[k], 1e-2)
                  for k in range(2)) and abs(found["objective"] - deviance) < 1e-3,
              "their factors are %.4f and %.4f, by hand %.4f and %.4f" % (factors["a"]["value"], factors["b"]["value"], *np.sqrt(s2)))


def one_factor(recoil):
    """One factor for all data is what fits without `sd` have always done; a profile agrees with the interval where the model is linear."""
    content, _ = made(recoil, 12, ("all", "all", "all"))
    content["parameters"][0].pop("held")
    content["parameters"][0]["component_bounds"] = [None, [-1e-9, 1e-9]]
    shared, _, _ = fit(recoil, "shared", content)
    content, _ = made(recoil, 12, ("all", "all", "all"), uncertainty={"profile": ["t"]})
    one, _, _ = fit(recoil, "one", content)
    for objective in content["objectives"]:
        objective.pop("sd_factor")
        path = recoil.path(objective["target"])
        lines = open(path).read().splitlines()
        with open(path, "w") as file:
            file.write("\n".join(line.rsplit(",", 1)[0] for line in lines) + "\n")
    plain, _, _ = fit(recoil, "plain", content)
    a, b = one["parameters"]["t"], plain["parameters"]["t"]
    check(close(a["value"][0], b["value"][0], 1e-9) and close(a["sd"][0], b["sd"][0], 1e-7) and
          np.allclose(a["interval"][0], b["interval"][0], rtol=1e-8), "one factor: value, deviation and interval as without `sd`")
    check(close(one["sd_factors"]["all"]["degrees_of_freedom"], 3 * M - 1), "m - n degrees of freedom")
    low, high = one["profile"]["t[0]"]["interval"]
    check(np.allclose([low, high], a["interval"][0], rtol=2e-3), "its profile ends at %.3f and %.3f, the interval at %.3f and %.3f" %
          (low, high, *a["interval"][0]))
    subprocess.run([sys.executable, os.path.join(SCRIPTS, "report.py"), recoil.path("shared"), "--recoil", recoil.program], check=True,
                   env=runs.ENVIRONMENT, stdout=subprocess.DEVNULL)
    page = open(recoil.path(os.path.join("shared", "report.html"))).read()
    check("Standard deviations of the data" in page and "u_bar0, u_bar1, u_bar2" in page, "the report has a table of factors")
    check(shared["sd_factors"]["all"]["data"] == 3 * M, "bounded components beside a factor")


def dropped(recoil):
    """Where the run of an experiment fails and is left out, factors are those of the data that are left; one that has none is named."""
    for factors in (("own", "rough", "rough"), ("own", "own", "lost")):
        content, y = made(recoil, 17, factors, optimizer={"on_failure": "drop", "stop_at_noise": False})
        with open(bar(recoil, "bar2", MODULI[2])) as file:
            scene = json.load(file)
        scene["materials"]["type"] = "NeoHookean"
        scene["solver"] = {"nonlinear": {"max_iterations": 1, "grad_norm_tol": 1e-16, "rel_grad_norm_tol": 1e-16}}
        recoil.write_scene("bar2", scene)
        if "lost" in factors:
            found, _, text = fit(recoil, "lost", content, expect=3)
            check(found["status"] == "failed" and "'lost'" in text and "no data left" in text and "bar2" in text,
                  "a factor that has lost its data is named: " + text.strip().splitlines()[-1][:150])
            continue
        t, s, freedom, sd, deviance, _, _ = by_hand(y, {"own": [0], "rough": [1]})
        for ranks in (1, 2):
            found, _, _ = fit(recoil, "dropped-%d" % ranks, content, ranks)
            value = found["parameters"]["t"]
            check(found["dropped"] == ["bar2"] and close(value["value"][0], t, 1e-5) and close(value["sd"][0], sd, 1e-3) and
                  abs(found["objective"] - deviance) < 1e-4, "%d ranks: without an experiment the traction is %.5f ± %.4f, by hand %.5f ± %.4f" %
                  (ranks, value["value"][0], value["sd"][0], t, sd))
            for name, of in (("own", "u_bar0"), ("rough", "u_bar1")):
                entry = found["sd_factors"][name]
                check(close(entry["value"], s[name], 1e-3) and close(entry["degrees_of_freedom"], freedom[name], 1e-4) and entry["data"] == M and
                      entry["objectives"] == [of], "%s is %.4f, by hand %.4f" % (name, entry["value"], s[name]))


def restarted(recoil):
    """What a process that was killed has left is a log that ends anywhere: the fit goes on from there to the same bits."""
    content, _ = made(recoil, 13)
    content["parameters"][0]["initial"] = [1, 0]
    content["parameters"].append({"name": "E1", "quantity": "young_modulus", "experiment": "bar1", "initial": 1e6})
    # Runs that others would start near are not kept beyond the end of a fit.
    content["optimizer"] = {"warm_start": False}
    whole, folder, _ = fit(recoil, "whole", content)
    log = os.path.join(folder, "evaluations", "0.jsonl")
    lines = open(log).read().splitlines(keepends=True)
    for keep in (1, len(lines) // 2):
        part = recoil.path("part-%d" % keep)
        shutil.copytree(folder, part)
        os.remove(os.path.join(part, "fit.json"))
        with open(os.path.join(part, "evaluations", "0.jsonl"), "w") as file:
            file.writelines(lines[:keep])
        recoil.run(1, "optimize", "--restart", part, "-q")
        again = json.load(open(os.path.join(part, "fit.json")))
        same = all(again[key] == whole[key] for key in ("parameters", "sd_factors", "information", "objective", "residuals"))
        check(same, "continued after %d of %d evaluations: the same bits" % (keep, len(lines)))
    os.remove(os.path.join(part, "fit.json"))
    with open(os.path.join(part, "evaluations", "0.jsonl"), "w") as file:
        file.writelines(lines[:len(lines) // 3])
    recoil.run(3, "optimize", "--restart", part, "-q")
    again = json.load(open(os.path.join(part, "fit.json")))
    check(close(again["sd_factors"]["rough"]["value"], whole["sd_factors"]["rough"]["value"], 1e-7), "and on three ranks")
    content["optimizer"] = {"method": "quasi_newton", "gradient_tolerance": 1e-9}
    other, _, _ = fit(recoil, "quasi-newton", content)
    check(close(other["parameters"]["t"]["value"][0], whole["parameters"]["t"]["value"][0], 1e-4), "quasi-Newton finds the same minimum")


def several_starts(recoil):
    content, _ = made(recoil, 14)
    content["parameters"][0].update({"component_bounds": [[100, 2000], None]})
    found, _, _ = fit(recoil, "starts", content, 2)
    check(len(found["starts"]) == 3 and [one["minimum"] for one in found["starts"]] == [1, 1, 1], "three starts end at one minimum")


def refused(recoil):
    def with_(change=None, of=0, **more):
        content, _ = made(recoil, 15, ("a", "b", "b"))
        if change:
            content["objectives"][of].update(change)
        content.update(more)
        return content

    def plus(objective):
        content = with_()
        content["objectives"].append({"name": "more", "experiment": "bar0", **objective})
        return content

    with open(recoil.path("force.csv"), "w") as file:
        file.write("time,force\n1,3\n")
    without_sd = with_()
    without_sd["objectives"][0].pop("sd_factor")
    text = open(recoil.path("bar0.csv")).read().splitlines()
    with open(recoil.path("bare.csv"), "w") as file:
        file.write("\n".join(line.rsplit(",", 1)[0] for line in text) + "\n")
    without_sd["objectives"][0]["target"] = "bare.csv"
    candidate = with_()
    candidate["experiments"][0]["candidate"] = True
    path = bar(recoil, "moving", 1e6)
    scene = json.load(open(path))
    scene["time"] = {"dt": 0.5, "time_steps": 2}
    scene["materials"]["rho"] = 1000
    recoil.write_scene("moving", scene)
    with open(recoil.path("moving.csv"), "w") as file:
        file.write("time,x,y,ux,uy,sd\n0,0.3,0,0,0,1e-5\n1,0.3,0,1e-4,0,1e-5\n0,0.8,0,0,0,1e-5\n1,0.8,0,1e-3,0,1e-5\n")
    moving = with_({"target": "moving.csv", "time": {"times": [0.25]}})
    moving["experiments"][0]["scene"] = recoil.path("moving.json")
    force = {"type": "reaction_force", "boundary": 1, "direction": [1, 0], "target": "force.csv"}
    cases = [
        ("validate", with_({"sd_factor": ""}), "/objectives/0/sd_factor", "must not be empty"),
        ("validate", with_({"sd_factor": 2}), "/objectives/0/sd_factor", "text"),
        ("validate", with_({"loss": {"type": "huber"}}), "/objectives/0/sd_factor", "does not go with a `loss`"),
        ("validate", with_({"weight": 2}), "/objectives/0/sd_factor", "`weight`"),
        ("validate", with_({"power": 0.5}), "/objectives/0/sd_factor", "`power`"),
        ("validate", plus({"type": "elastic_energy", "sd_factor": "a"}), "/objectives/3/sd_factor", "not compared with data"),
        ("validate", plus({"type": "elastic_energy"}), "/objectives/3", "no misfit of data"),
        ("validate", plus(dict(force, sd_factor="c")), "/objectives/3/sd_factor", "'c' has 1 data"),
        ("validate", without_sd, "/objectives/0/target", "a `sd_factor` of its own"),
        ("validate", candidate, "/objectives/0/sd_factor", "candidates alone"),
        ("validate", with_({"sd_factors": "a"}), "/objectives/0/sd_factors", "did you mean 'sd_factor'"),
        ("validate", moving, "/objectives/0/time", "has to count once"),
    ]
    two = with_({"sd_factor": "a"})
    two["parameters"] = [{"name": "t", "quantity": "traction", "boundary": 2, "initial": [500, 0], "held": [False, True]},
                         {"name": "E", "quantity": "young_modulus", "initial": 1e6}]
    two["objectives"][0].pop("sd_factor")
    for objective in two["objectives"]:
        objective["sd_factor"] = "few"
    with open(recoil.path("one-point.csv"), "w") as file:
        file.write("time,x,y,ux,uy,sd\n1,0.8,0,1e-3,,1e-5\n1,0.4,0,4e-4,,1e-5\n")
    two["experiments"], two["objectives"] = two["experiments"][:1], [dict(two["objectives"][0], target="one-point.csv")]
    cases.append(("optimize", two, "/objectives/0/sd_factor", "could meet them exactly"))
    for command, content, place, words in cases:
        path = recoil.write_scene("wrong", content)
        options = ["-o", recoil.path("wrong-fit"), "-q"] if command == "optimize" else []
        _, text = recoil.run(1, command, path, *options, expect=2)
        check(place in text and words in text, "refused with place and cure: %s %s%s" %
              (place, words, "" if place in text and words in text else ": " + text))
    content, _ = made(recoil, 16)
    for k, E in enumerate(MODULI):
        observe(recoil, "bar%d" % k, E, 500.0, 0)
    _, text = recoil.run(1, "optimize", recoil.write_scene("exact", content), "-o", recoil.path("exact-fit"), "-q", expect=None)
    check("met exactly" in text or "converged" in text or "stalled" in text, "data without noise end with a word on it")


def main():
    with runs.Recoil() as recoil:
        against_regression(recoil)
        parts_of_one_experiment(recoil)
        one_factor(recoil)
        dropped(recoil)
        restarted(recoil)
        several_starts(recoil)
        refused(recoil)


if __name__ == "__main__":
    main()
