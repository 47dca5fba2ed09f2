"""reactions.csv and the field reaction_force of runs of finite elements: forces of supports against statics, momentum and the
objective reaction_force; restarts, ranks, output/times."""
import csv
import json
import os

import numpy as np
import runs
from pieces import box, ledger, material, plane
from runs import check


def rows(folder, kind, name=""):
    """The rows of one support as a dict of columns."""
    with open(os.path.join(folder, "reactions.csv")) as file:
        chosen = [row for row in csv.DictReader(file) if row["kind"] == kind and row["name"] == name]
    columns = {key: np.array([float(row[key]) for row in chosen]) for key in ("step", "time")}
    for key in ("displacement", "point", "force", "moment"):
        columns[key] = np.array([[float(row[key + "_" + axis]) for axis in "xyz"] for row in chosen]).reshape(-1, 3)
    return columns


SIDES = [{"id": 1, "axis": "-x", "position": -0.5 + 1e-9}, {"id": 2, "axis": "x", "position": 0.5 - 1e-9}]


def bar_under_tension(recoil):
    """N = E A u/l without lateral contraction, per step; both clamps bear it, and the nodes of the field add up to it. A
    sideways motion of one end is borne by a couple of moments: the sum of all is free of force and moment."""
    E, side = 1e6, 0.2
    scene = {
        "geometry": {"name": "bar", "generator": {"type": "box", "size": [1, side, side], "divisions": [6, 2, 2]},
                     "transformation": {"translation": [0, 0.3, -0.1]}, "surface_selection": SIDES},
        "materials": {"type": "LinearElasticity", "E": E, "nu": 0, "rho": 1000},
        "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0, 0]}, {"id": 2, "value": ["0.01*t", 0, 0]}]},
        "time": {"dt": 0.25, "time_steps": 4, "quasistatic": True}, "output": {"fields": ["reaction_force"]},
    }
    path = recoil.write_scene("tension", scene)
    folder = recoil.simulate(1, path, "tension")
    right, left, total = rows(folder, "boundary", "2"), rows(folder, "boundary", "1"), rows(folder, "all")
    expected = E * side**2 * 0.01 * 0.25 * right["step"]
    check(np.abs(right["force"][:, 0] / expected - 1).max() < 1e-8, "tension: the force of the moved clamp is E A u/l")
    check(np.abs(left["force"] + right["force"]).max() < 1e-8 * expected[-1], "tension: the other clamp bears the same")
    check(np.abs(right["displacement"][:, 0] - 0.01 * right["time"]).max() < 1e-12 and
          np.abs(right["point"][-1] - [0.51, 0.3, -0.1]).max() < 1e-12, "tension: mean displacement and position of the clamp")
    nodal = runs.state(folder, field="reaction_force")
    X = runs.coordinates(folder)
    check(abs(nodal[X[:, 0] > 0.4, 0].sum() / expected[-1] - 1) < 1e-8 and not nodal[np.abs(X[:, 0]) < 0.4].any(),
          "tension: the nodes of the field add up to it")
    sideways = json.loads(json.dumps(scene))
    sideways["materials"]["type"] = "NeoHookean"  # small strains balance moments about places at rest
    sideways["boundary_conditions"]["dirichlet_boundary"][1]["value"] = [0, "0.002*t", 0]
    bent = recoil.simulate(2, recoil.write_scene("sideways", sideways), "sideways")
    a, b, total = rows(bent, "boundary", "1"), rows(bent, "boundary", "2"), rows(bent, "all")
    check(np.abs(total["force"]).max() < 1e-8 * np.abs(b["force"]).max() and
          np.abs(total["moment"]).max() < 1e-8 * np.abs(b["moment"]).max(), "bent bar: forces and moments of the clamps balance")
    check(np.abs(a["moment"][:, 2] + b["moment"][:, 2] + np.cross(b["point"] - a["point"], b["force"])[:, 2]).max() <
          1e-8 * np.abs(b["moment"]).max(), "bent bar: moments are about the points of the rows")
    for ranks in (2, 3):
        other = recoil.simulate(ranks, path, "tension-%d" % ranks)
        check(np.abs(rows(other, "boundary", "2")["force"] - right["force"]).max() < 1e-8 * expected[-1],
              "tension: the same on %d ranks" % ranks)


def same_as_objective(recoil):
    """R of the objective reaction_force, at one step, is the force in the table where there is no inertia."""
    study = {
        "experiments": [{"name": "pull", "scene": recoil.path("tension.json")}],
        "parameters": [{"name": "E", "quantity": "young_modulus", "initial": 1e6}],
        "objectives": [{"name": "R", "type": "reaction_force", "experiment": "pull", "boundary": 2, "direction": [1, 0, 0],
                        "target": recoil.path("zero.csv"), "time": {"steps": [3]}}],
    }
    with open(recoil.path("zero.csv"), "w") as file:
        file.write("time,force\n0,0\n1,0\n")
    recoil.run(1, "gradient", recoil.write_scene("pull", study), "-o", recoil.path("pull"), "-q")
    with open(os.path.join(recoil.path("pull"), "gradient.json")) as file:
        objective = json.load(file)["objective"]
    force = rows(recoil.path("tension"), "boundary", "2")["force"][2, 0]
    check(abs(objective / force**2 - 1) < 1e-8, "the objective reaction_force sees the same force")


def weight_on_table(recoil):
    """A block that rests on a plane, and one on an obstacle with a mesh on which a second block stands."""
    side, rho, g = 0.1, 1000, 10
    weight = rho * side**3 * g
    table = {"name": "table", "mesh": recoil.path("table.obj"), "is_obstacle": True, "surface_selection": 7}
    with open(recoil.path("table.obj"), "w") as file:
        file.write("v -1 0 -1\nv 1 0 -1\nv 1 0 1\nv -1 0 1\nf 1 3 2\nf 1 4 3\n")
    for name, obstacle in (("floor", plane("floor", [0, 1, 0])), ("table", table)):
        scene = {
            "geometry": [box("low", [side] * 3, [2, 2, 2], [0.02, side / 2 + 9e-4, 0]),
                         box("high", [side] * 3, [2, 2, 2], [0.02, 3 * side / 2 + 18e-4, 0]), obstacle],
            "materials": material(1e6, 0.3, rho), "gravity": [0, -g, 0],
            "contact": {"enabled": True, "dhat": 1e-3, "friction_coefficient": 0.3},
            "time": {"dt": 0.01, "time_steps": 12}, "output": {"times": [0.03, 0.1]},
        }
        path = recoil.write_scene("on-" + name, scene)
        folder = recoil.simulate(2, path, "on-" + name)
        total, low, high, floor = rows(folder, "all"), rows(folder, "contact", "low"), rows(folder, "contact", "high"), \
            rows(folder, "obstacle", name)
        momentum = ledger(folder)["linear_y"]
        rate = np.diff(np.concatenate([[0], momentum])) / 0.01
        check(np.abs(total["force"][:, 1] - 2 * weight - rate).max() < 1e-4 * weight,
              "%s: forces of supports less weights are the rate of the momentum, to %.1e of a weight" %
              (name, np.abs(total["force"][:, 1] - 2 * weight - rate).max() / weight))
        error = np.abs(low["force"] + high["force"] - floor["force"]).max() / np.abs(floor["force"]).max()
        check(error < 1e-7, "%s: contact on the bodies adds up to the force of the obstacle, to %.1e" % (name, error))
        check(np.abs(rows(folder, "all")["force"] - floor["force"]).max() < 1e-9 * weight, "%s: it is the only support" % name)
        at = floor["force"][-1, 1]
        arm = np.cross([0.02, 0, 0], [0, at, 0])[2]
        check(abs(floor["moment"][-1, 2] / arm - 1) < 0.05, "%s: its moment is that of the weight at the place of the blocks" % name)
        steps = [state.get("step", 0) for entry in runs.manifest(folder)["files"] for state in entry["states"]
                 if state["kept"] == "stored"]
        check(steps == [0, 3, 10, 12], "%s: states are stored at output/times and at the end, are %s" % (name, steps))
    stopped = recoil.simulate(2, path, "stopped", "--steps", 5)
    recoil.run(1, "simulate", "--restart", stopped, "-q")
    whole, again = rows(folder, "obstacle", "table"), rows(stopped, "obstacle", "table")
    check(len(again["step"]) == 12 and np.abs(whole["force"] - again["force"]).max() < 1e-5 * weight,
          "a run that is continued on other ranks has all rows, with the same forces")


def pressed(recoil):
    """A plane bar without lateral contraction between a clamp and an obstacle that comes nearer: both bear E h u/l, u by how much
    the ends have come together."""
    E, height, dhat = 1e6, 0.25, 1e-3
    with open(recoil.path("ram.obj"), "w") as file:
        file.write("v %r -1 0\nv %r 1 0\nl 1 2\n" % (0.5 + dhat, 0.5 + dhat))
    scene = {
        "geometry": [box("bar", [1, height], [4, 1], [0, 0], surface_selection=SIDES[:1]),
                     {"name": "ram", "mesh": recoil.path("ram.obj"), "is_obstacle": True, "surface_selection": 8}],
        "materials": {"type": "LinearElasticity", "E": E, "nu": 0, "rho": 1000},
        "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0]}],
                                "obstacle_displacements": [{"id": 8, "value": ["-0.02*t", 0]}]},
        "contact": {"enabled": True, "dhat": dhat}, "time": {"dt": 0.25, "time_steps": 4, "quasistatic": True},
    }
    folder = recoil.simulate(2, recoil.write_scene("pressed", scene), "pressed")
    ram, clamp, body, total = (rows(folder, *of) for of in (("obstacle", "ram"), ("boundary", "1"), ("contact", "bar"), ("all", "")))
    X, u = runs.coordinates(folder), runs.state(folder)
    expected = E * height * u[X[:, 0] > 0.49, 0].mean()
    check(abs(ram["force"][-1, 0] / expected - 1) < 1e-6, "pressed bar: the force of the obstacle is E h u/l")
    check(np.abs(ram["force"] + clamp["force"]).max() < 1e-6 * abs(expected) and np.abs(total["force"]).max() < 1e-6 * abs(expected),
          "pressed bar: the clamp bears the same")
    check(np.abs(ram["force"] - body["force"]).max() < 1e-8 * abs(expected), "pressed bar: so does contact on the body")
    check(np.abs(ram["displacement"][:, 0] + 0.02 * ram["time"]).max() < 1e-12 and
          abs(ram["point"][-1, 0] - (0.5 + dhat - 0.02)) < 1e-12, "pressed bar: way and place of the obstacle")


def names(recoil):
    """Names with commas and quotes are cells, also for a run that is continued."""
    body, floor = "a, b", 'the "floor"'
    scene = {"geometry": [box(body, [0.1] * 3, [1, 1, 1], [0, 0.0505, 0]), plane(floor, [0, 1, 0])], "materials": material(1e6, 0.3, 1000),
             "gravity": [0, -10, 0], "contact": {"enabled": True}, "time": {"dt": 0.01, "time_steps": 3}}
    folder = recoil.simulate(1, recoil.write_scene("names", scene), "names", "--steps", 2)
    with open(os.path.join(folder, "reactions.csv"), "a") as file:
        file.write('3,0.03,contact,"a, b",0,0,0,0,0,0,0,0,0,0,0,1')  # cut off in its last number
    recoil.run(1, "simulate", "--restart", folder, "-q")
    for kind, name in (("contact", body), ("obstacle", floor), ("all", "")):
        found = rows(folder, kind, name)
        check(list(found["step"]) == [1, 2, 3], "%r has a row per step, has %s" % (name, list(found["step"])))


def refused(recoil):
    scene = {"geometry": box("b", [1, 1, 1], [1, 1, 1], [0, 0, 0]), "materials": material(1e6, 0.3, 1000),
             "time": {"dt": 0.1, "time_steps": 4}, "output": {"times": [0.1, 0.25]}}
    for name, change, words in (("between", {}, "the nearest is"), ("late", {"times": [0.5]}, "the nearest is 0.4"),
                                ("order", {"times": [0.2, 0.1]}, "ascending order"), ("both", {"every": 2, "times": [0.2]}, "`every`")):
        scene["output"] = dict({"times": [0.1, 0.25]}, **change)
        _, text = recoil.run(1, "validate", recoil.write_scene("refused-" + name, scene), expect=2)
        check("/output/times" in text and words in text, "output/times, %s: refused" % name)


def main():
    with runs.Recoil() as recoil:
        bar_under_tension(recoil)
        same_as_objective(recoil)
        weight_on_table(recoil)
        pressed(recoil)
        names(recoil)
        refused(recoil)


if __name__ == "__main__":
    main()
