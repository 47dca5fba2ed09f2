"""What a fit tells beside intervals, on bars whose displacement is linear in the traction, against linear regression: information
criteria, sensitivities, cross-validation, samples, bands, the next experiment; held and bounded components; recoil validate of a study."""
import csv
import json
import os

import numpy as np
import runs
from runs import check

SD = 2e-5
POINTS = np.array([0.3, 0.55, 0.8, 0.95])


def bar(recoil, name, E):
    """Of length 1, clamped at x = 0, pulled at x = 1: ux = t x / E."""
    return recoil.write_scene(name, {
        "geometry": {"name": "bar", "generator": {"type": "rectangle", "size": [1, 0.25], "divisions": [4, 1]},
                     "transformation": {"translation": [0.5, 0]},
                     "surface_selection": [{"id": 1, "axis": "-x", "position": 1e-9}, {"id": 2, "axis": "x", "position": 1 - 1e-9}]},
        "materials": {"type": "LinearElasticity", "E": E, "nu": 0},
        "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0]}], "neumann_boundary": [{"id": 2, "value": [1, 0]}]},
    })


def observe(recoil, name, E, traction, noise, points=POINTS):
    """Writes the displacements with noise, and gives those along x."""
    ux = traction * points / E + noise
    with open(recoil.path(name + ".csv"), "w") as file:
        file.write("time,x,y,ux,uy,sd\n" + "".join("1,%r,0,%r,0,%g\n" % (x, u, SD) for x, u in zip(points, ux)))
    return ux


def study(recoil, moduli, candidates=(), **more):
    names = ["bar%d" % k for k in range(len(moduli))]
    return dict({
        "experiments": [dict({"name": name, "scene": recoil.path(name + ".json")}, **({"candidate": True} if name in candidates else {}))
                        for name in names],
        "parameters": [{"name": "t", "quantity": "traction", "boundary": 2, "initial": [500, 0], "held": [False, True]}],
        "objectives": [{"name": "u_" + name, "type": "displacement_field", "experiment": name, "body": "bar", "target": name + ".csv"}
                       for name in names],
    }, **more)


def fit(recoil, name, content, ranks=1, expect=0):
    folder = recoil.path(name)
    _, text = recoil.run(ranks, "optimize", recoil.write_scene(name + "-study", content), "-o", folder, "-q", expect=expect)
    with open(os.path.join(folder, "fit.json")) as file:
        return json.load(file), folder, text


def table(folder, name):
    with open(os.path.join(folder, name)) as file:
        return list(csv.DictReader(file))


def close(found, expected, tolerance=1e-6):
    return abs(found / expected - 1) < tolerance


def against_regression(recoil):
    moduli, candidate_moduli = [1e6, 2e6, 1.5e6], [1e6, 2.5e5]
    rng = np.random.default_rng(5)
    y = []
    for k, E in enumerate(moduli + candidate_moduli):
        bar(recoil, "bar%d" % k, E)
        observed = observe(recoil, "bar%d" % k, E, 800.0, SD * rng.normal(size=len(POINTS)))
        if k < len(moduli):
            y.append(observed)
    content = study(recoil, moduli + candidate_moduli, ("bar3", "bar4"),
                    uncertainty={"samples": 4000, "seed": 3, "bands": True})
    found, folder, _ = fit(recoil, "linear", content)
    J = [POINTS / E / SD for E in moduli]
    r0 = [-u / SD for u in y]
    information = sum((j @ j) for j in J)
    t = -sum(j @ r for j, r in zip(J, r0)) / information
    squares = [((j * t + r)**2).sum() for j, r in zip(J, r0)]
    value, sd = found["parameters"]["t"]["value"], found["parameters"]["t"]["sd"]
    check(close(value[0], t) and value[1] == 0, "regression: the traction is %r, by hand %r; the held component stays" % (value[0], t))
    check(close(sd[0], information**-0.5) and sd[1] is None, "regression: deviation; none of what is held")
    check(found["parameters"]["t"]["held"] == [False, True] and found["parameters"]["t"]["at_bound"] == [False, False],
          "a held component is called so, and is at no bound")
    check(not any(warning["code"] == "at_bound" for warning in found["warnings"]), "and is not warned of")
    criteria = found["information"]
    m = 2 * len(POINTS) * len(moduli)
    check(close(criteria["aic"], sum(squares) + 2) and close(criteria["bic"], sum(squares) + np.log(m)) and
          close(criteria["aicc"], sum(squares) + 2 + 4 / (m - 2)) and criteria["data"] == m, "AIC, AICc and BIC of chi^2 and one value")
    shares = [found["sensitivity"]["experiments"]["bar%d" % k]["share"][0] for k in range(3)]
    check(np.allclose(shares, [j @ j / information for j in J], rtol=1e-6), "sensitivity: shares of the experiments")
    rms = found["sensitivity"]["experiments"]["bar1"]["per_percent"][0]
    check(close(rms, np.sqrt(J[1] @ J[1] / (2 * len(POINTS))) * 0.01 * t), "sensitivity: residuals by one percent of the value")
    validated = found["cross_validation"]
    for k in range(3):
        others = [e for e in range(3) if e != k]
        t_k = -sum(J[e] @ r0[e] for e in others) / sum(J[e] @ J[e] for e in others)
        entry = validated["experiments"]["bar%d" % k]
        check(close(entry["predicted"], ((J[k] * t_k + r0[k])**2).sum(), 1e-5) and close(entry["chi_squared"], squares[k], 1e-5),
              "cross-validation: chi^2 of experiment %d at the fit of the others" % k)
    check("candidate" not in str(found["residuals"]) and "u_bar3" not in found["per_objective"] and "dropped" not in found,
          "candidates have no part in the fit")
    derivatives = []
    for name, of in (("with", content), ("without", study(recoil, moduli))):
        recoil.run(1, "gradient", recoil.write_scene("gradient-%s-study" % name, of), "-o", recoil.path("gradient-" + name), "-q")
        with open(recoil.path(os.path.join("gradient-" + name, "gradient.json"))) as file:
            result = json.load(file)
        derivatives.append([result["objective"], *result["parameters"]["t"]["gradient"], sorted(result["per_objective"])])
    check(derivatives[0] == derivatives[1], "candidates have no part in gradients")
    following = found["next_experiments"]
    before = information + 1 / t**2  # what is known without data is its size
    gains = [0.5 * np.log(1 + (POINTS @ POINTS) / E**2 / SD**2 / before) for E in candidate_moduli]
    check([entry["experiment"] for entry in following] == ["bar4", "bar3"], "the softer bar is the better next experiment")
    check(close(following[0]["gain"], gains[1], 1e-4) and close(following[1]["gain"], gains[0], 1e-4), "gains: half of the log of determinants")
    after = (information + (POINTS @ POINTS) / candidate_moduli[1]**2 / SD**2)**-0.5
    check(close(following[0]["sd"]["t[0]"], after), "the deviation that the next experiment will leave")

    samples = np.array([[float(row["t[0]"]), float(row["t[1]"])] for row in table(folder, "samples.csv")])
    check(samples.shape == (4000, 2) and not samples[:, 1].any(), "samples: as many as asked for, held components constant")
    check(abs(samples[:, 0].mean() - t) < 4 * sd[0] / np.sqrt(4000) and abs(samples[:, 0].std() / sd[0] - 1) < 0.05,
          "samples: mean and deviation of the posterior")
    bands = [row for row in table(folder, "bands.csv") if row["objective"] == "u_bar1" and row["component"] == "ux"]
    x = np.array(sorted(POINTS))
    fitted = np.array(sorted(float(row["fitted"]) for row in bands))
    deviations = np.array(sorted(float(row["sd_of_fit"]) for row in bands))
    check(np.allclose(fitted, t * x / 2e6, rtol=1e-6) and np.allclose(deviations, sd[0] * x / 2e6, rtol=1e-5), "bands: curve and its deviation")
    row = bands[0]
    width, new = float(row["high"]) - float(row["low"]), float(row["high_of_new"]) - float(row["low_of_new"])
    one = float(row["sd_of_fit"])
    check(close(width, 2 * 1.959964 * one, 1e-5) and close(new, 2 * 1.959964 * np.hypot(one, SD), 1e-5), "bands: of the curve and of a new observation")

    # What was measured of the chosen one shrinks the interval as predicted.
    for entry in content["experiments"]:
        entry.pop("candidate", None)
    content["experiments"] = [entry for entry in content["experiments"] if entry["name"] != "bar3"]
    content["objectives"] = [entry for entry in content["objectives"] if entry["experiment"] != "bar3"]
    more, _, _ = fit(recoil, "more", content, 2)
    check(close(more["parameters"]["t"]["sd"][0], following[0]["sd"]["t[0]"]), "with its data the deviation is the predicted one")


def better_law(recoil):
    """Of two models of the same data, one with a value too many, the criteria tell them apart as chi^2 does not."""
    rng = np.random.default_rng(8)
    for k in range(2):
        bar(recoil, "bar%d" % k, 1e6)
        observe(recoil, "bar%d" % k, 1e6, 800.0, SD * rng.normal(size=len(POINTS)))
    one, _, _ = fit(recoil, "one-value", study(recoil, [1e6, 1e6]))
    two_values = study(recoil, [1e6, 1e6])
    two_values["parameters"] = [dict(two_values["parameters"][0], name="t%d" % k, experiment="bar%d" % k) for k in range(2)]
    two, _, _ = fit(recoil, "two-values", two_values)
    check(two["chi_squared"] <= one["chi_squared"] and two["information"]["values"] == 2 and
          two["information"]["bic"] > one["information"]["bic"], "BIC prefers one traction for two equal bars")
    check(two["cross_validation"]["experiments"]["bar0"]["predicted"] is None,
          "cross-validation: nothing where the others say nothing of a value")


def bounded_components(recoil):
    bar(recoil, "bar0", 1e6)
    observe(recoil, "bar0", 1e6, 800.0, 0)
    content = study(recoil, [1e6])
    content["parameters"][0].pop("held")
    content["parameters"][0]["component_bounds"] = [[0, 600], None]
    found, _, _ = fit(recoil, "bounded", content, expect=None)
    entry = found["parameters"]["t"]
    check(entry["value"][0] == 600 and entry["at_bound"] == [True, False], "one component ends at its own bound")
    for change, words in (({"component_bounds": [[0, 600]]}, "one per component"), ({"component_bounds": [[600, 700], None]}, "excludes the initial"),
                          ({"held": [True, True]}, "whole parameter"), ({"held": [True]}, "one per component"),
                          ({"component_bounds": [[0, 1e9], None], "bounds": [-1e9, 1e9]}, "excludes `bounds`")):
        wrong = study(recoil, [1e6])
        wrong["parameters"][0].pop("held")
        wrong["parameters"][0].update(change)
        code, text = recoil.run(1, "validate", recoil.write_scene("wrong", wrong), expect=2)
        check("/parameters/0/" in text and words in text, "refused with place and cure: %s" % json.dumps(change))


def validated(recoil):
    content = study(recoil, [1e6])
    for ranks in (1, 2):
        _, text = recoil.run(ranks, "validate", recoil.write_scene("fine", content))
        check("valid, 1 experiments, 1 parameters, 1 objectives" in text and "a sum of squares of 8 data" in text,
              "recoil validate tells of a study on %d ranks" % ranks)
    content["objectives"][0]["body"] = "baz"
    _, text = recoil.run(1, "validate", recoil.write_scene("unfine", content), expect=2)
    check("/objectives/0/body" in text and "did you mean 'bar'" in text, "recoil validate refuses a wrong study")
    content = study(recoil, [1e6], ("bar0",))
    _, text = recoil.run(1, "validate", recoil.write_scene("candidates", content), expect=2)
    check("all experiments are candidates" in text, "a study of candidates alone is refused")


def main():
    with runs.Recoil() as recoil:
        against_regression(recoil)
        better_law(recoil)
        bounded_components(recoil)
        validated(recoil)


if __name__ == "__main__":
    main()
