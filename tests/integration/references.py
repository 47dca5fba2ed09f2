"""What gradients are measured against: targets of every kind under every basis of a shape against differences, references of other meshes,
values per element of all bodies, values that are not finite."""
import copy
import os

import h5py
import numpy as np

import runs
import targets
from pieces import box, material
from studies import exact, gradient, log, result


def scene(order=1, **more):
    """Two free bodies, in parts of the plane of their own, that bend and turn."""
    return dict({
        "geometry": [box("left", [0.4, 0.3], [3, 2], [0, 0], surface_selection=[{"id": 1, "axis": "-x", "position": -0.199}]),
                     box("right", [0.3, 0.4], [2, 2], [1, 0.1], surface_selection=[{"id": 2, "axis": "x", "position": 1.149}])],
        "space": {"discr_order": order}, "materials": material(1e4, 0.3, 1000, psi=20), "gravity": [0.5, -9.81],
        "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0]}], "neumann_boundary": [{"id": 2, "value": [300, 500]}]},
        "solver": {"nonlinear": exact()}, "time": {"dt": 0.01, "time_steps": 4, "integrator": "BDF2"}}, **more)


def differs(recoil, name, study):
    """Relative error of the gradient along a random direction."""
    folder = gradient(recoil, 1, recoil.write_scene(name + "-study", study), name, "--check", expect=None)
    found = result(folder)["check"]["random 1"]
    return found["relative_error"] if found["derivative"] != 0 else np.inf


def shapes(recoil):
    """Positions and displacements aimed at, from references of all kinds, under shapes of all bases."""
    own = scene()
    path = recoil.write_scene("bodies", own)
    references = targets.write_references(recoil, own, "bodies")
    modes = targets.write_modes(recoil, references["run"], targets.vertices_of(references["run"]), "bodies")
    for kind, reference in references.items():
        worst = {}
        for number, basis in enumerate(targets.BASES):
            shape = {"name": "shape", "quantity": "shape", "basis": targets.basis(basis, 2, modes)}
            objective = {"type": "target_position", "reference": reference, "over": ("volume", "boundary")[number % 2], "weight": 1e3}
            worst[basis] = differs(recoil, "%s-%s" % (kind, basis), targets.check_study(path, objective, [shape]))
        runs.check(max(worst.values()) < 1e-7, "target_position, %s: %s from differences" % (kind, ", ".join("%s %.1e" % row for row in worst.items())))
        if kind == "reshaped":
            runs.check("a run of another shape" in log(recoil.path("reshaped-box")), "... and a warning tells of the other shape")
    own = recoil.write_scene("bodies-2", scene(order=2))
    references = targets.write_references(recoil, scene(order=2), "bodies-2")
    shape = {"name": "shape", "quantity": "shape", "basis": "affine"}
    for kind in ("file", "permuted"):
        error = differs(recoil, "order-2-" + kind, targets.check_study(own, {"type": "target_position", "reference": references[kind], "weight": 1e3}, [shape]))
        runs.check(error < 1e-7, "target_position, %s, order 2: %.1e from differences" % (kind, error))


def other_meshes(recoil):
    """A run finds its nodes by where they are; another mesh is refused."""
    def study(own, reference, kind="target_position"):
        return {"experiments": [{"name": "run", "scene": own}], "parameters": [{"name": "E", "quantity": "young_modulus", "initial": 1e4}],
                "objectives": [{"name": "o", "type": kind, "reference": reference, "time": {"steps": [4]}}]}

    def refused(name, own, reference, *said):
        text = recoil.run(1, "gradient", recoil.write_scene(name, study(own, reference)), "-o", recoil.path(name), expect=2)[1]
        runs.check("(/objectives/0/reference)" in text and all(part in text for part in said), "%s is refused:\n%s" % (name, text))

    for orders in (1, 2, 3, {"left": 1, "right": 2}):
        own = scene()
        own["space"]["discr_order"] = orders if isinstance(orders, int) else [{"body": body, "order": order} for body, order in orders.items()]
        path = recoil.write_scene("own", own)
        run = recoil.simulate(1, recoil.write_scene("permuted", dict(own, geometry=own["geometry"][::-1])), "permuted")
        for ranks in (1, 3) if orders in (1, 2) else (2,):
            for kind in ("target_position", "target_displacement"):
                folder = gradient(recoil, ranks, recoil.write_scene("permuted-study", study(path, run, kind)), "found-%s-%d-%s" % (kind[7:], ranks, str(orders)))
                found = result(folder)["objective"]
                runs.check(found < 1e-20, "order %s, %d ranks: a run with its bodies in another order has the same %ss: %.1e" % (orders, ranks, kind[7:], found))

    # Two bodies that touch without being one, and two that change places but not their topology.
    stacked = scene(geometry=[box("low", [0.4, 0.3], [2, 2], [0, 0], surface_selection=[{"id": 1, "axis": "-x", "position": -0.199}]),
                              box("high", [0.4, 0.3], [2, 2], [0, 0.3], surface_selection=[{"id": 2, "axis": "x", "position": 0.199}])])
    stacked["boundary_conditions"]["dirichlet_boundary"][0]["id"] = [1, 2]
    del stacked["boundary_conditions"]["neumann_boundary"]
    path = recoil.write_scene("stacked", stacked)
    run = recoil.simulate(1, recoil.write_scene("stacked-permuted", dict(stacked, geometry=stacked["geometry"][::-1])), "stacked-permuted")
    found = result(gradient(recoil, 2, recoil.write_scene("stacked-study", study(path, run)), "stacked-found"))["objective"]
    runs.check(found < 1e-20, "bodies that touch are told apart: %.1e" % found)

    own = scene()
    path = recoil.write_scene("own", own)
    moved = copy.deepcopy(own)
    moved["geometry"][1]["transformation"]["translation"][1] += 0.01
    refused("moved", path, recoil.simulate(1, recoil.write_scene("moved-scene", moved), "moved-run"), "up to 0.01 m elsewhere")
    turned = copy.deepcopy(own)  # as many nodes and elements
    turned["geometry"][0]["generator"]["divisions"] = [2, 3]
    refused("turned", path, recoil.simulate(1, recoil.write_scene("turned-scene", turned), "turned-run"), "its elements are others")
    # The same nodes, but every square is cut along its other diagonal.
    flipped = copy.deepcopy(own)
    for name, diagonal in (("one", 0), ("other", 1)):
        write_squares(recoil.path(name + ".msh"), diagonal)
        flipped["geometry"][0] = {"name": "left", "mesh": recoil.path(name + ".msh"), "surface_selection": own["geometry"][0]["surface_selection"]}
        recoil.write_scene("squares-" + name, flipped)
    run = recoil.simulate(1, recoil.path("squares-one.json"), "squares-run")
    refused("flipped", recoil.path("squares-other.json"), run, "its elements are others")


def write_squares(path, diagonal):
    """Two squares cut in two, along one or the other diagonal."""
    cells = [(1, 2, 5, 4), (2, 3, 6, 5)]
    triangles = [t for a, b, c, d in cells for t in (((a, b, c), (a, c, d)) if diagonal == 0 else ((a, b, d), (b, c, d)))]
    with open(path, "w") as file:
        file.write("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n6\n")
        file.writelines("%d %g %g 0\n" % (3 * j + i + 1, 0.2 * i - 0.2, 0.3 * j - 0.15) for j in range(2) for i in range(3))
        file.write("$EndNodes\n$Elements\n%d\n" % len(triangles))
        file.writelines("%d 2 2 1 1 %d %d %d\n" % (k + 1, *t) for k, t in enumerate(triangles))
        file.write("$EndElements\n")


def element_data(recoil):
    """Rows of values per element belong to all bodies; gradient.h5 is read back as it is."""
    own = scene()
    count = 12 + 8
    values = 1e4 * (1 + np.arange(count) / 10)

    def with_values(array, **more):
        with h5py.File(recoil.path("E.h5"), "w") as file:
            file["E"] = array
        changed = copy.deepcopy(own)
        changed.update(more)
        changed["materials"] = [dict(own["materials"], body="left", E=1e4), dict(own["materials"], body="right", E={"file": recoil.path("E.h5"), "dataset": "E"})]
        return recoil.write_scene("values", changed)

    used = runs.state(recoil.simulate(2, with_values(values), "values"))
    known = np.r_[np.full(12, np.nan), values[12:]]  # of the other body nothing is asked
    error = np.abs(runs.state(recoil.simulate(1, with_values(known), "known")) - used).max()
    runs.check(error < 1e-12, "a body has its own rows among those of all: %.1e" % error)
    formula = copy.deepcopy(own)
    formula["materials"] = [dict(own["materials"], body="left", E=1e4), dict(own["materials"], body="right", E=float(values[12]))]
    constant = np.r_[np.full(12, 1.0), np.full(8, values[12])]
    error = np.abs(runs.state(recoil.simulate(1, with_values(constant), "constant")) - runs.state(recoil.simulate(1, recoil.write_scene("formula", formula), "formula"))).max()
    runs.check(error < 1e-12, "... and not those of the body before it: %.1e" % error)
    for name, rows in (("own", 8), ("short", 19), ("long", 21)):
        text = recoil.run(1, "validate", with_values(np.full(rows, 1e4)), expect=2)[1]
        runs.check("(/materials/1)" in text and "%d rows" % rows in text and "20 (12 of 'left', 8 of 'right')" in text, "%d rows are refused:\n%s" % (rows, text))
    text = recoil.run(1, "validate", with_values(np.r_[values[:17], np.nan, values[18:]]), expect=2)[1]
    runs.check("row 17" in text and "'E' of %s is nan" % recoil.path("E.h5") in text, "a value that is not finite is told where it is:\n" + text)

    # What refinement makes of an element has its value, or one of its own.
    finer = [dict(body, n_refs=1) for body in own["geometry"]]
    coarse = runs.state(recoil.simulate(1, with_values(values, geometry=finer), "finer"))
    error = np.abs(runs.state(recoil.simulate(2, with_values(np.repeat(values, 4), geometry=finer), "finest")) - coarse).max()
    runs.check(error < 1e-12, "values of refined elements are those of their parents or their own: %.1e" % error)
    text = recoil.run(1, "validate", with_values(np.full(40, 1e4), geometry=finer), expect=2)[1]
    runs.check("20 (12 of 'left', 8 of 'right'), or 80" in text, "both lengths are told:\n" + text)

    study = {"experiments": [{"name": "run", "scene": with_values(values, geometry=finer)}], "objectives": [{"name": "o", "type": "elastic_energy"}],
             "parameters": [{"name": "E", "quantity": "young_modulus", "body": "right", "per": "element", "initial": 2e4}]}
    folder = gradient(recoil, 2, recoil.write_scene("per-element", study), "per-element")
    back = copy.deepcopy(own)
    back["geometry"] = finer
    back["materials"] = [dict(own["materials"], body="left", E=1e4), dict(own["materials"], body="right", E={"file": os.path.join(folder, "gradient.h5"), "dataset": "run/E/value"})]
    error = np.abs(runs.state(recoil.simulate(1, recoil.write_scene("back", back), "back")) - runs.state(os.path.join(folder, "run"))).max()
    runs.check(error < 1e-12, "values of gradient.h5 are read back: %.1e" % error)


def not_finite(recoil):
    """NaN in a reference or in a mode is told where it is."""
    own = recoil.write_scene("own", scene())
    count = targets.vertices_of(recoil.simulate(1, own, "own", "--steps", 1))
    for name, key, bad in (("u", "reference", "/objectives/0/reference"), ("bend", "basis", "/parameters/0/basis")):
        array = np.zeros((count, 2))
        array[13, 1] = np.nan
        file = recoil.path("nan-%s.h5" % name)
        with h5py.File(file, "w") as out:
            out[name] = array
        study = {"experiments": [{"name": "run", "scene": own}], "parameters": [{"name": "E", "quantity": "young_modulus", "initial": 1e4}],
                 "objectives": [{"name": "o", "type": "elastic_energy"}]}
        if key == "reference":
            study["objectives"] = [{"name": "o", "type": "target_displacement", "reference": file}]
        else:
            study["parameters"] = [{"name": "shape", "quantity": "shape", "basis": {"modes": file}}]
        for ranks in (1, 2):
            text = recoil.run(ranks, "gradient", recoil.write_scene("nan-" + name, study), "-o", recoil.path("nan"), expect=2)[1]
            runs.check("(%s)" % bad in text and "row 13" in text and file in text and "'%s'" % name in text,
                       "NaN in %s of a %s is told where it is, %d ranks:\n%s" % (name, key, ranks, text))


def bulk_moduli(recoil):
    """lambda + 2 mu/3 is positive in studies as in scenes, also at the values that a check takes."""
    own = scene()
    own["materials"] = {"type": "NeoHookean", "lambda": 1e4, "mu": 6e3, "rho": 1000}
    path = recoil.write_scene("lame", own)
    formula = dict(own, materials=dict(own["materials"], **{"lambda": "1e4 - 2e4*x"}))
    text = recoil.run(1, "validate", recoil.write_scene("formula", formula), expect=2)[1]
    runs.check("lambda + 2 mu/3 must be positive, but is -" in text, "a formula is refused where it is too small:\n" + text)
    study = {"experiments": [{"name": "run", "scene": path}], "objectives": [{"name": "o", "type": "elastic_energy"}]}
    for name, quantity, value in (("lambda", "lambda", -5e3), ("lambda-far", "lambda", -4.1e3)):
        study["parameters"] = [{"name": "q", "quantity": quantity, "initial": value}]
        text = recoil.run(1, "gradient", recoil.write_scene(name, study), "-o", recoil.path(name), expect=2)[1]
        runs.check("lambda + 2 mu/3" in text and "must be positive" in text, "%s = %g is refused:\n%s" % (quantity, value, text))
        runs.check(not os.path.exists(recoil.path(name)), "... before anything has run")
    study["parameters"] = [{"name": "q", "quantity": "lambda", "initial": -3.9e3}]
    study["check"] = {"directions": 1, "steps": [10, 1e-3, 1e-4]}
    found = result(gradient(recoil, 1, recoil.write_scene("edge", study), "edge", "--check", expect=None))["check"]["random 1"]
    runs.check(found["relative_error"] < 1e-7, "differences near the edge stay on its one side: %.1e" % found["relative_error"])


def names(recoil):
    study = {"experiments": [{"name": "a/b", "scene": recoil.write_scene("own", scene())}], "parameters": [{"name": "E", "quantity": "young_modulus", "initial": 1e4}],
             "objectives": [{"name": "o", "type": "elastic_energy"}]}
    text = recoil.run(1, "gradient", recoil.write_scene("slash", study), "-o", recoil.path("slash"), expect=2)[1]
    runs.check("the name of this experiment" in text, text)


def all_iterations(recoil):
    """A forward run that was continued counts the Newton iterations of all its parts."""
    long = scene(time={"dt": 0.01, "time_steps": 8, "integrator": "BDF2"}, output={"chunk": 1})
    study = {"experiments": [{"name": "run", "scene": recoil.write_scene("long", long)}], "parameters": [{"name": "E", "quantity": "young_modulus", "initial": 1e4}],
             "objectives": [{"name": "o", "type": "elastic_energy"}]}
    folder = gradient(recoil, 1, recoil.write_scene("counted", study), "counted")
    whole = result(folder)["newton_iterations"]
    runs.check(whole == runs.summary(os.path.join(folder, "run"))["newton_iterations"], "%d Newton iterations" % whole)
    for left in ("gradient.json", "run/sweep.json", "run/summary.json"):
        os.remove(os.path.join(folder, left))
    files = sorted(file for file in os.listdir(os.path.join(folder, "run", "trajectory")) if file.startswith("states_"))
    for file in files[4:]:
        os.remove(os.path.join(folder, "run", "trajectory", file))
    recoil.run(1, "gradient", "--restart", folder, "-q")
    here = runs.summary(os.path.join(folder, "run"))["newton_iterations"]
    runs.check(0 < here < whole and result(folder)["newton_iterations"] == whole, "%d of them again after a restart: %d in all" % (here, result(folder)["newton_iterations"]))


with runs.Recoil() as recoil:
    parts = {"shapes": shapes, "meshes": other_meshes, "elements": element_data, "finite": not_finite, "bulk": bulk_moduli, "names": names,
             "iterations": all_iterations}
    for name in recoil.rest or parts:
        parts[name](recoil)
