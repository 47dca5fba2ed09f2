"""The modulus of every element of a plate from markers on top of it, with a prior that correlates them: the estimate, what data and
prior say of its accuracy, and the same on any number of ranks."""
import os

import h5py
import numpy as np

import runs
from studies import fit

PRIOR = {"mean": 1e5, "sd": 5e4, "correlation_length": 0.5}
TRUE = "1.2e5*exp(sin(4*x)*cos(3*y)/2)"
NOISE = 0.01


def plate(pressed, modulus):
    return {"geometry": {"name": "plate", "generator": {"type": "rectangle", "size": [2, 1], "divisions": [12, 6]},
                         "surface_selection": [{"id": 1, "axis": "-y", "position": -0.4999},
                                               {"id": 2, "box": [[-1, 0.4999], [0, 0.5001]]}, {"id": 3, "box": [[0, 0.4999], [1, 0.5001]]}]},
            "materials": {"type": "LinearElasticity", "E": modulus, "nu": 0.3},
            "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0]}],
                                    "neumann_boundary": [{"id": pressed, "value": [300, -2000]}]}}


def observe(recoil, name, pressed, random):
    """Markers on the nodes of the top."""
    folder = recoil.simulate(1, recoil.write_scene(name + "-true", plate(pressed, TRUE)), name + "-true")
    rest = runs.coordinates(folder)[:, :2]
    top = np.flatnonzero(rest[:, 1] > 0.4999)
    moved = runs.state(folder)[top, :2]
    sd = NOISE * np.sqrt((moved ** 2).mean())
    with open(recoil.path(name + ".csv"), "w") as file:
        file.write("time,marker,x,y,sd\n")
        for k, place in enumerate(rest[top] + moved + random.normal(0, sd, moved.shape)):
            file.write("1,m%d,%r,%r,%r\n" % (k, float(place[0]), float(place[1]), float(sd)))
    return rest[top]


def study_of(recoil):
    random = np.random.default_rng(7)
    names = {"left": 2, "right": 3}
    for name, pressed in names.items():
        rest = observe(recoil, name, pressed, random)
    return {"experiments": [{"name": name, "scene": recoil.write_scene(name, plate(pressed, 1e5))} for name, pressed in names.items()],
            "parameters": [{"name": "E", "quantity": "young_modulus", "per": "element", "initial": 1e5, "scale": "log", "prior": PRIOR}],
            "markers": [{"name": "m%d" % k, "body": "plate", "rest": [float(c) for c in place]} for k, place in enumerate(rest)],
            "objectives": [{"name": name, "type": "markers", "experiment": name, "target": recoil.path(name + ".csv")} for name in names]}


def fitted(recoil, ranks, study, name):
    folder = recoil.path(name)
    recoil.run(ranks, "optimize", study, "-o", folder)
    result = fit(folder)
    with h5py.File(os.path.join(folder, "posterior.h5")) as file:
        return result, {key: file["E"][key][:] for key in file["E"]}


def consistent(result):
    said = result["posterior"]
    runs.check(result["status"] == "done" and result["method"] == "gauss_newton", "Gauss-Newton ends: " + result["reason"])
    freedom = said["data"] - said["determined"]
    runs.check(abs(said["chi_squared"] - freedom) < 4 * np.sqrt(2 * freedom),
               "chi^2 of %d data is %.1f, %.1f of which the field takes" % (said["data"], said["chi_squared"], said["determined"]))
    runs.check(abs(said["chi_squared"] + said["prior_squares"] - result["objective"]) < 1e-9 * result["objective"], "data and prior add up")
    runs.check(said["complete"] and said["kept"] == len(said["eigenvalues"]) and min(said["eigenvalues"]) >= 0.1, "no eigenvalue is missing")


def accurate(field):
    centroids = field["vertices"][field["cells"]].mean(axis=1)
    true = eval(TRUE, {"exp": np.exp, "sin": np.sin, "cos": np.cos, "x": centroids[:, 0], "y": centroids[:, 1]})
    prior, posterior = field["prior_sd"].ravel(), field["posterior_sd"].ravel()
    error = np.abs(np.log(field["estimate"].ravel() / true))
    runs.check(np.abs(prior - PRIOR["sd"] / PRIOR["mean"]).max() < 1e-10, "the prior deviation is the same everywhere")
    runs.check((posterior > 0).all() and (posterior < prior).all(), "data make no deviation larger")
    top, clamp = posterior[centroids[:, 1] > 0.3].mean(), posterior[centroids[:, 1] < -0.3].mean()
    runs.check(top < 0.7 * clamp, "deviations are %.3f near the markers, %.3f at the clamp" % (top, clamp))
    inside = (error <= 2 * posterior).mean()
    runs.check(inside > 0.85, "%.0f %% of the errors are within two deviations" % (100 * inside))


def taken_name(recoil, document):
    """The run of an experiment has a folder beside the files of the fit."""
    name = "posterior-E.xdmf"
    study = recoil.write_scene("taken", dict(document, experiments=[dict(document["experiments"][0], name=name)],
                                             objectives=[dict(document["objectives"][0], experiment=name)]))
    code, text = recoil.run(1, "optimize", study, "-o", recoil.path("taken"), expect=2)
    runs.check("/experiments/0/name" in text, "an experiment with the name of a file is refused: exit %d" % code)


def main(recoil):
    document = study_of(recoil)
    taken_name(recoil, document)
    study = recoil.write_scene("study", document)
    result, field = fitted(recoil, 1, study, "one")
    consistent(result)
    accurate(field)
    runs.check(os.path.exists(os.path.join(recoil.path("one"), "posterior-E.xdmf")), "ParaView finds the field")
    other, same = fitted(recoil, 3, study, "three")
    for name in ("estimate", "posterior_sd"):
        runs.check(np.abs(same[name] / field[name] - 1).max() < 1e-3, "3 ranks find the same " + name)
    runs.check(other["posterior"]["kept"] == result["posterior"]["kept"], "and as many eigenvalues")


def without_prior(recoil):
    """144 moduli from the displacements of all nodes: few steps of the exact trust region, by logarithms without being asked for."""
    random, sd = np.random.default_rng(8), 1e-5
    names = {"left": 2, "right": 3}
    for name in names:
        folder = recoil.path(name + "-true")
        rest, moved = runs.coordinates(folder)[:, :2], runs.state(folder)[:, :2]
        with open(recoil.path(name + "-field.csv"), "w") as file:
            file.write("time,x,y,ux,uy,sd\n")
            for place, u in zip(rest, moved + random.normal(0, sd, moved.shape)):
                file.write("1,%r,%r,%r,%r,%r\n" % (*map(float, place), *map(float, u), sd))
    study = {"experiments": [{"name": name, "scene": recoil.write_scene(name, plate(pressed, 1e5))} for name, pressed in names.items()],
             "parameters": [{"name": "E", "quantity": "young_modulus", "per": "element", "initial": 1e5}],
             "objectives": [{"name": name, "type": "displacement_field", "experiment": name, "body": "plate", "target": recoil.path(name + "-field.csv")} for name in names]}
    path, found = recoil.write_scene("no-prior", study), []
    for ranks in (1, 2):
        folder = recoil.path("no-prior-%d" % ranks)
        recoil.run(ranks, "optimize", path, "-o", folder)
        result = fit(folder)
        with h5py.File(os.path.join(folder, "fit.h5")) as file:
            found.append(file["E"][:].ravel())
        runs.check(result["method"] == "gauss_newton" and result["verdict"]["is"] == "converged" and len(found[0]) == 144,
                   "144 moduli without a prior on %d ranks: chi^2 %.1f of %d, p %.2g" % (ranks, result["objective"], result["data"], result["p_value"]))
        runs.check(result["evaluations"] <= 20, "after %d values and %d Jacobians" % (result["evaluations"], result["gradient_evaluations"]))
    runs.check((found[0] > 0).all() and runs.difference(found[1], found[0]) < 1e-4, "the same on 2 ranks to %.1e" % runs.difference(found[1], found[0]))


with runs.Recoil() as recoil:
    main(recoil)
    without_prior(recoil)
