"""What decides a fit beside its data: what is known beforehand, where it starts, and whether a shape can be reached."""
import csv
import os

import h5py
import numpy as np

import runs
from pieces import box, material
from studies import exact, fit, logged_evaluations

SD = 0.01  # of observed places [m]


def fitted(recoil, name, document, ranks=1):
    folder = recoil.path("fit-%s-%d" % (name, ranks))
    recoil.run(ranks, "optimize", recoil.write_scene(name + "-study", document), "-o", folder)
    return folder, fit(folder)


def flight(**initial):
    """A block that flies freely in the plane."""
    return {"geometry": [box("block", [0.4, 0.2], [2, 1], [0, 0])], "materials": material(1e5, 0.3, 1000),
            "initial_conditions": {name: [{"body": "block", "value": value}] for name, value in initial.items()},
            "solver": {"nonlinear": exact()}, "time": {"dt": 0.02, "time_steps": 10, "integrator": "BDF2"}}


def known_beforehand(recoil):
    """The mean place of a body in free flight is linear in its velocity: fit and deviation are those of linear regression."""
    random = np.random.default_rng(3)
    times = 0.02 * np.arange(1, 11)
    places = np.outer(times, [1.1, -0.4]) + random.normal(0, SD, (10, 2))
    with open(recoil.path("track.csv"), "w") as file:
        file.write("time,x,y,sd\n" + "".join("%r,%r,%r,%r\n" % (t, x, y, SD) for t, (x, y) in zip(times.tolist(), places.tolist())))
    mean, sd = np.array([1.0, -0.5]), np.array([0.03, 0.02])
    document = {"experiments": [{"name": "flight", "scene": recoil.write_scene("flight", flight(velocity=[0.5, 0.5]))}],
                "parameters": [{"name": "v0", "quantity": "initial_velocity", "body": "block", "initial": [0.5, 0.5],
                                "prior": {"mean": mean.tolist(), "sd": sd.tolist()}}],
                "objectives": [{"name": "track", "type": "center_of_mass", "target": recoil.path("track.csv"), "time": {"times": "data"}}]}
    weight, of_prior = (times ** 2).sum() / SD ** 2, 1 / sd ** 2
    expected = (times @ places / SD ** 2 + mean * of_prior) / (weight + of_prior)
    deviation = 1 / np.sqrt(weight + of_prior)
    squares = ((places - np.outer(times, expected)) ** 2).sum() / SD ** 2 + ((expected - mean) ** 2 * of_prior).sum()
    for ranks in (1, 3):
        _, found = fitted(recoil, "known", document, ranks)
        entry = found["parameters"]["v0"]
        for text, value, aim in (("value", entry["value"], expected), ("deviation", entry["sd"], deviation), ("chi squared", found["objective"], squares)):
            error = np.abs(np.array(value) / aim - 1).max()
            runs.check(error < 1e-7, "with a prior, on %d ranks: the %s of linear regression to %.1e" % (ranks, text, error))


def several_starts(recoil):
    """Markers that are seen twice in a turn leave a spin with many minima: one start ends in another minimum than the best of eight."""
    def spinning(omega):
        return dict(flight(angular_velocity=[omega]), time={"dt": 0.01, "time_steps": 40, "integrator": "BDF2"})
    true = recoil.simulate(1, recoil.write_scene("spin-true", spinning(7.0)), "spin-true")
    corner = int(np.abs(runs.coordinates(true)[:, :2] - [0.2, 0.1]).sum(axis=1).argmin())
    with open(recoil.path("corner.csv"), "w") as file:
        file.write("time,marker,x,y,sd\n")
        for step in (20, 40):
            x = runs.coordinates(true)[corner, :2] + runs.state(true, step)[corner, :2]
            file.write("%r,corner,%r,%r,%r\n" % (0.01 * step, float(x[0]), float(x[1]), SD))
    document = {"experiments": [{"name": "spin", "scene": recoil.write_scene("spin", spinning(-14.0))}],
                "parameters": [{"name": "spin", "quantity": "initial_angular_velocity", "body": "block", "initial": -14.0, "bounds": [-20, 20]}],
                "markers": [{"name": "corner", "body": "block", "rest": [0.2, 0.1]}],
                "objectives": [{"name": "seen", "type": "markers", "target": recoil.path("corner.csv"), "time": {"times": "data"}}],
                "optimizer": {"stop_at_noise": False, "starts": 1}}
    _, alone = fitted(recoil, "one-start", document)
    runs.check(alone["objective"] > 1 and abs(alone["parameters"]["spin"]["value"] - 7) > 1, "from -14 rad/s the fit ends in another minimum: %.4g rad/s, chi squared %.3g"
               % (alone["parameters"]["spin"]["value"], alone["objective"]))
    del document["optimizer"]["starts"]
    _, three = fitted(recoil, "three-starts", document)
    runs.check(len(three["starts"]) == 3 and abs(three["parameters"]["spin"]["value"] / 7 - 1) < 1e-6, "the three starts of the default find the spin")
    document["optimizer"]["starts"] = 8
    folder, found = fitted(recoil, "starts", document)
    error = abs(found["parameters"]["spin"]["value"] / 7 - 1)
    runs.check(error < 1e-6, "the best of eight starts finds the spin to %.1e" % error)
    runs.check(len(found["starts"]) == 8 and abs(found["starts"][0]["objective"] / alone["objective"] - 1) < 1e-6, "all are reported, the one of the study first")
    runs.check(found["objective"] == min(entry["objective"] for entry in found["starts"]), "the best one is kept")
    with open(os.path.join(folder, "history.csv")) as file:
        first = [float(row["spin"]) for row in csv.DictReader(file) if row["iteration"] == "0"]
    runs.check(len(set(first)) == 8 and -20 <= min(first) and max(first) <= 20, "they begin at eight places between the bounds")
    _, other = fitted(recoil, "starts", document, 2)
    runs.check(abs(other["parameters"]["spin"]["value"] - found["parameters"]["spin"]["value"]) < 1e-6, "the same on 2 ranks")


def through_a_wall(recoil):
    """A body whose rest shape may move as a whole is to have its centre beyond another one: it stops before it."""
    scene = {"geometry": [box("mover", [1, 1], [2, 2], [0, 0]), box("wall", [0.5, 2], [1, 4], [1.5, 0])],
             "materials": material(1e5, 0.3, 1000), "contact": {"enabled": True, "dhat": 0.01, "epsv": 0.01},
             "solver": {"contact": {"barrier_stiffness": 1e6}}, "time": {"dt": 0.01, "time_steps": 1}}
    path = recoil.write_scene("wall", scene)
    rest = recoil.simulate(1, path, "wall-at-rest")
    modes = recoil.path("shift.h5")
    x = runs.coordinates(rest)[:runs.summary(rest)["vertices"], :2]
    with h5py.File(modes, "w") as file:
        file["shift"] = np.stack([np.ones(len(x)), np.zeros(len(x))], axis=1)
    for place, reached in ((3.0, False), (0.6, True)):
        target = recoil.path("place-%g.csv" % place)
        with open(target, "w") as file:
            file.write("time,x,y\n0.01,%g,0\n" % place)
        document = {"experiments": [{"name": "wall", "scene": path}],
                    "parameters": [{"name": "shift", "quantity": "shape", "body": "mover", "basis": {"modes": modes}}],
                    "objectives": [{"name": "place", "type": "center_of_mass", "body": "mover", "target": target, "time": {"times": "data"}}]}
        folder, found = fitted(recoil, "wall-%g" % place, document)
        shift = found["parameters"]["shift"]["value"]
        if reached:
            runs.check(abs(shift - place) < 1e-6, "before the wall the mover gets to %.7g" % shift)
            continue
        runs.check(0.5 < shift < 0.75, "the mover ends before the wall, at a shift of %.4g" % shift)
        refused = ["surfaces meet on the straight path" in line["failure"] for line in logged_evaluations(folder) if line["what"] == "path"]
        runs.check(any(refused), "%d of %d steps, through the wall, were refused" % (sum(refused), len(refused)))


with runs.Recoil() as recoil:
    known_beforehand(recoil)
    several_starts(recoil)
    through_a_wall(recoil)
