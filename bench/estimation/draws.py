#!/usr/bin/env python3
"""Do the statistics of a fit hold what they say? Fits to data with known noise, draw after draw.

    bench/estimation/draws.py --recoil build/release/recoil                  # 500 fits, about five minutes on one processor
    bench/estimation/draws.py --recoil build/release/recoil --only laws      # one of outliers, laws, next, factors

A rubber block, 0.4 m x 0.3 m in plane strain (8 x 6 rectangles of two triangles), E = 200 kPa, glued to the ground and loaded on its top by
known tractions: stretched, sheared, pressed, pulled aside. Twelve of its points are seen, with normal noise of 0.5 mm.

outliers: of the 48 numbers of two experiments every twentieth on average has noise of 20 standard deviations; huber, soft_l1, cauchy, and least
    squares beside, fit E and nu. Counted by loss and value: of 60 draws those in which the 95 % interval holds the true value, at least 18 of 20.
laws: data of each of three laws with the same two constants, none of which contains another, with noise of 1.5 mm, ten draws each, fitted with all
    three. Counted: the draws in which the true law has the least AIC, BIC, sum `predicted` of the cross-validation; and, where the standard
    deviations have an unknown factor, AIC and `deviance` of the cross-validation. At least nine of ten.
next: after a fit to one experiment the best of three candidates is made: by how much the deviations of the values shrink, as predicted
    and as found; the mean of the ratio of the two, and the true values inside the intervals that it leaves.
factors: two experiments whose files are wrong about standard deviations by unknown factors, 2.5 and 0.4. Counted: the draws in which the 95 %
    intervals of both factors, of E and of nu hold the true value, beside fits that believe the files.

The exit code is 1 if any expectation failed; all are printed, with the tables of docs/estimation.md.
"""
import json
import os
import time

import experiments  # noqa: F401  finds the helpers of tests/integration
import numpy as np
import runs
from pieces import box
from studies import exact

TRUE = {"E": 2e5, "nu": 0.3}
START = {"E": 2.6e5, "nu": 0.36}
LAWS = ["NeoHookean", "LinearElasticity", "FixedCorotational"]
LOADS = {"stretch": [0, 3e4], "shear": [1.5e4, 0], "press": [0, -2e4], "pull": [-1e4, 1.5e4]}
POINTS = [(x, y) for y in (-0.05, 0.05, 0.1, 0.15) for x in (-0.15, 0.0, 0.2)]
NOISE, LAW_NOISE = 5e-4, 1.5e-3  # [m]
DRAWS, LAW_DRAWS, OUTLIER_DRAWS = 20, 10, 60
OUTLIERS, SIZE = 0.05, 20
FACTORS = {"stretch": 2.5, "shear": 0.4}


def scene(load, law, values):
    bottom, top = {"id": 1, "axis": "-y", "position": -0.1499}, {"id": 3, "axis": "y", "position": 0.1499}
    return {
        "geometry": [box("block", [0.4, 0.3], [8, 6], [0, 0], surface_selection=[bottom, top])],
        "materials": {"type": law, "E": values["E"], "nu": values["nu"], "rho": 1000},
        "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0]}], "neumann_boundary": [{"id": 3, "value": LOADS[load]}]},
        "solver": {"nonlinear": exact()},
    }


class Block:
    """The block under its loads: what its points show, and fits to that."""

    def __init__(self, recoil):
        self.recoil, self.shown, self.fits = recoil, {}, 0

    def show(self, load, law):
        """Displacements of the points without noise."""
        if (load, law) not in self.shown:
            name = "true-%s-%s" % (load, law)
            folder = self.recoil.simulate(1, self.recoil.write_scene(name, scene(load, law, TRUE)), name + "-run")
            rest, u = runs.coordinates(folder)[:, :2], runs.state(folder)[:, :2]
            nodes = [int(np.abs(rest - point).sum(axis=1).argmin()) for point in POINTS]
            self.shown[load, law] = u[nodes]
        return self.shown[load, law]

    def observe(self, load, law, rng, real=1.0, outliers=0.0, sd=NOISE):
        """A file of observations whose noise is `real` times what it says."""
        path = self.recoil.path("observed-%s.csv" % load)
        wrong = np.where(rng.random((len(POINTS), 2)) < outliers, SIZE, 1.0)
        u = self.show(load, law) + real * sd * wrong * rng.standard_normal((len(POINTS), 2))
        with open(path, "w") as file:
            file.write("time,x,y,ux,uy,sd\n")
            file.writelines("1,%r,%r,%r,%r,%r\n" % (x, y, float(ux), float(uy), sd) for (x, y), (ux, uy) in zip(POINTS, u))

    def fit(self, law, loads, candidates=(), per_objective=None, expect=0):
        self.fits += 1
        name = "fit-%d" % self.fits
        per_objective = per_objective or (lambda load: {})
        content = {
            "experiments": [dict({"name": load, "scene": self.recoil.write_scene("%s-%s" % (load, law), scene(load, law, START))},
                                 **({"candidate": True} if load in candidates else {})) for load in [*loads, *candidates]],
            "parameters": [{"name": "E", "quantity": "young_modulus", "initial": START["E"]},
                           {"name": "nu", "quantity": "poisson_ratio", "initial": START["nu"]}],
            "objectives": [dict({"name": "u-" + load, "type": "displacement_field", "experiment": load, "body": "block",
                                 "target": "observed-%s.csv" % load}, **per_objective(load)) for load in [*loads, *candidates]],
        }
        self.recoil.run(1, "optimize", self.recoil.write_scene(name + "-study", content), "-o", self.recoil.path(name), "-q", expect=expect)
        with open(os.path.join(self.recoil.path(name), "fit.json")) as file:
            return json.load(file)


def holds(entry, true):
    return bool(entry["interval"][0] <= true <= entry["interval"][1])


def inside(found):
    return {name: holds(found["parameters"][name], true) for name, true in TRUE.items()}


def outliers(block):
    loads, losses = ["stretch", "shear"], [None, "huber", "soft_l1", "cauchy"]
    counts, errors = {}, {}
    for draw in range(OUTLIER_DRAWS):
        rng = np.random.default_rng(1000 + draw)
        for load in loads:
            block.observe(load, "NeoHookean", rng, outliers=OUTLIERS)
        for loss in losses:
            found = block.fit("NeoHookean", loads, per_objective=lambda load: {"loss": {"type": loss}} if loss else {})
            for name, is_inside in inside(found).items():
                counts[loss, name] = counts.get((loss, name), 0) + is_inside
                errors.setdefault((loss, name), []).append(found["parameters"][name]["value"] / TRUE[name] - 1)
    print("| loss | E inside | nu inside | rms error of E | of nu |\n|---|---|---|---|---|")
    for loss in losses:
        rms = [100 * np.sqrt(np.mean(np.square(errors[loss, name]))) for name in TRUE]
        print("| %s | %d of %d | %d of %d | %.2f %% | %.2f %% |" % (
            "`%s`" % loss if loss else "none", counts[loss, "E"], OUTLIER_DRAWS, counts[loss, "nu"], OUTLIER_DRAWS, *rms))
    for loss in losses[1:]:
        runs.check(min(counts[loss, name] for name in TRUE) >= 0.9 * OUTLIER_DRAWS,
                   "%s: the intervals of E and of nu hold the true value in %d and %d of %d draws with outliers" %
                   (loss, counts[loss, "E"], counts[loss, "nu"], OUTLIER_DRAWS))


CRITERIA = {
    "AIC": lambda known, free: known["information"]["aic"],
    "BIC": lambda known, free: known["information"]["bic"],
    "cross-validation": lambda known, free: known["cross_validation"]["predicted"],
    "AIC, factor unknown": lambda known, free: free["information"]["aic"],
    "cross-validation, factor unknown": lambda known, free: free["cross_validation"]["deviance"],
}


def laws(block):
    loads = ["stretch", "shear", "press"]
    right = {name: [0] * len(LAWS) for name in CRITERIA}
    leads = {name: [] for name in CRITERIA}
    for which, true in enumerate(LAWS):
        for draw in range(LAW_DRAWS):
            rng = np.random.default_rng(2000 + 100 * which + draw)
            for load in loads:
                block.observe(load, true, rng, sd=LAW_NOISE)
            found = {law: (block.fit(law, loads), block.fit(law, loads, per_objective=lambda load: {"sd_factor": "all"})) for law in LAWS}
            for name, of in CRITERIA.items():
                others = min(of(*found[law]) for law in LAWS if law != true)
                leads[name].append(others - of(*found[true]))
                right[name][which] += leads[name][-1] > 0
    print("| least | %s | least lead | median |\n|%s" % (" | ".join("`%s` true" % law for law in LAWS), "---|" * (3 + len(LAWS))))
    for name, counts in right.items():
        print("| %s | %s | %.1f | %.1f |" % (name, " | ".join("%d of %d" % (count, LAW_DRAWS) for count in counts), min(leads[name]),
                                            np.median(leads[name])))
        runs.check(min(counts) >= 0.9 * LAW_DRAWS, "%s: the true law of three in at least nine of ten draws" % name)


def following(block):
    candidates = ["stretch", "press", "pull"]
    ratios, chosen, counts = {name: [] for name in TRUE}, {}, {name: 0 for name in TRUE}
    for draw in range(DRAWS):
        rng = np.random.default_rng(3000 + draw)
        for load in ["shear", *candidates]:
            block.observe(load, "NeoHookean", rng)
        before = block.fit("NeoHookean", ["shear"], candidates)
        best = before["next_experiments"][0]
        after = block.fit("NeoHookean", ["shear", best["experiment"]])
        chosen[best["experiment"]] = chosen.get(best["experiment"], 0) + 1
        for name in TRUE:
            sd = [before["parameters"][name]["sd"], best["sd"][name], after["parameters"][name]["sd"]]
            ratios[name].append((sd[1] / sd[0], sd[2] / sd[0]))
            counts[name] += holds(after["parameters"][name], TRUE[name])
    print("chosen: %s" % ", ".join("%s %d times" % item for item in chosen.items()))
    print("| value | deviation shrinks to, predicted | found | found / predicted | inside |\n|---|---|---|---|---|")
    for name, pairs in ratios.items():
        predicted, found = np.transpose(pairs)
        ratio = found / predicted
        print("| %s | %.3f | %.3f | %.3f (%.3f to %.3f) | %d of %d |" % (
            name, predicted.mean(), found.mean(), ratio.mean(), ratio.min(), ratio.max(), counts[name], DRAWS))
        runs.check(abs(ratio.mean() - 1) < 0.05 and counts[name] >= 0.9 * DRAWS,
                   "the next experiment shrinks the interval of %s as predicted" % name)


def factors(block):
    counts, values, believed = {}, {}, {name: 0 for name in TRUE}
    for draw in range(DRAWS):
        rng = np.random.default_rng(4000 + draw)
        for load, factor in FACTORS.items():
            block.observe(load, "NeoHookean", rng, real=factor)
        found = block.fit("NeoHookean", list(FACTORS), per_objective=lambda load: {"sd_factor": load})
        for load, factor in FACTORS.items():
            entry = found["sd_factors"][load]
            counts[load] = counts.get(load, 0) + holds(entry, factor)
            values.setdefault(load, []).append((entry["value"], entry["sd"]))
        for name, is_inside in inside(found).items():
            counts[name] = counts.get(name, 0) + is_inside
            values.setdefault(name, []).append((found["parameters"][name]["value"], found["parameters"][name]["sd"]))
        for name, is_inside in inside(block.fit("NeoHookean", list(FACTORS))).items():
            believed[name] += is_inside
    print("| | true | mean | mean sd | scatter | inside | inside without factors |\n|---|---|---|---|---|---|---|")
    for name, true in {**FACTORS, **TRUE}.items():
        value, sd = np.transpose(values[name])
        print("| %s | %g | %.4g | %.2g | %.2g | %d of %d | %s |" % (
            "factor of " + name if name in FACTORS else name, true, value.mean(), sd.mean(), value.std(), counts[name], DRAWS,
            "%d of %d" % (believed[name], DRAWS) if name in believed else ""))
        runs.check(counts[name] >= 0.9 * DRAWS, "%s: the interval holds the true value in %d of %d draws" % (name, counts[name], DRAWS))


PARTS = {"outliers": outliers, "laws": laws, "next": following, "factors": factors}


def main(recoil):
    block = Block(recoil)
    for name in [recoil.arguments.only] if recoil.arguments.only else PARTS:
        print("\n" + name)
        watch, fits = time.time(), block.fits
        PARTS[name](block)
        print("      %d fits in %.0f s" % (block.fits - fits, time.time() - watch), flush=True)


with runs.Recoil(("--only", str, None)) as recoil:
    main(recoil)
