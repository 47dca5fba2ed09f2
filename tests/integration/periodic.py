"""Periodic cells: homogenised moduli of a laminate against closed forms, free entries of the macro strain, homogenized.csv, restarts, ranks,
the objective homogenized_stress and its gradients, wrong inputs."""
import csv
import json
import os
import sys

import numpy as np
import runs
from runs import check

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "jobs", "cells"))
import honeycomb  # noqa: E402

SOFT, STIFF, SHARE = (1e6, 0.25), (2e7, 0.35), 0.4


def rows(folder):
    with open(os.path.join(folder, "homogenized.csv")) as file:
        return [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]


def tensor(row, quantity, dim=2):
    return np.array([[row["%s_%s%s" % (quantity, i, j)] for j in "xyz"[:dim]] for i in "xyz"[:dim]])


def lame(material):
    E, nu = material
    return E * nu / (1 - nu**2), E / (2 * (1 + nu))  # the plane stress of 2D


def laminate(boundary, **more):
    """Layers across y: the lower 0.4 of the cell is stiff."""
    return {
        "geometry": {"name": "cell", "generator": {"type": "rectangle", "size": [1, 1], "divisions": [5, 5]},
                     "volume_selection": [{"id": 1, "axis": "-y", "position": SHARE - 0.5}, {"id": 2, "axis": "y", "position": SHARE - 0.5}]},
        "materials": [{"id": 1, "type": "LinearElasticity", "E": STIFF[0], "nu": STIFF[1]},
                      {"id": 2, "type": "LinearElasticity", "E": SOFT[0], "nu": SOFT[1]}],
        "boundary_conditions": {"periodic_boundary": {"enabled": True, **boundary}}, **more}


def exact_moduli():
    """C_xxxx, C_xxyy, C_yyyy, C_xyxy: stresses across the layers and strains along them are the same in both."""
    mean = lambda f: SHARE * f(*lame(STIFF)) + (1 - SHARE) * f(*lame(SOFT))
    yy = 1 / mean(lambda l, mu: 1 / (l + 2 * mu))
    ratio = mean(lambda l, mu: l / (l + 2 * mu))
    return mean(lambda l, mu: l + 2 * mu - l**2 / (l + 2 * mu)) + ratio**2 * yy, ratio * yy, yy, 1 / mean(lambda l, mu: 1 / mu)


def laminate_moduli(recoil):
    xx, xy, yy, shear = exact_moduli()
    loads = {"x": ([[1e-3, 0], [0, 0]], [[xx, 0], [0, xy]]), "y": ([[0, 0], [0, 1e-3]], [[xy, 0], [0, yy]]),
             "shear": ([[0, 1e-3], [0, 0]], [[0, shear], [shear, 0]])}
    for name, (H, C) in loads.items():
        path = recoil.write_scene("laminate-" + name, laminate({"linear_displacement_offset": H}))
        for ranks in (1, 2, 3):
            P = tensor(rows(recoil.simulate(ranks, path, "laminate-%s-%d" % (name, ranks)))[-1], "P") / 1e-3
            check(np.abs(P - C).max() < 1e-8 * yy, "laminate: moduli under %s on %d ranks, off by %.1e" %
                  (name, ranks, np.abs(P - C).max() / yy))


def free_entries(recoil):
    """Pulled across the layers, with free sides: Young's modulus, and the strain along them."""
    xx, xy, yy, _ = exact_moduli()
    scene = laminate({"linear_displacement_offset": [[0, 0], [0, 1e-3]], "fixed_macro_strain": [3]})
    for ranks in (1, 3):
        row = rows(recoil.simulate(ranks, recoil.write_scene("pulled", scene), "pulled-%d" % ranks))[-1]
        P, H = tensor(row, "P"), tensor(row, "H")
        check(abs(P[1, 1] / (1e-3 * (yy - xy**2 / xx)) - 1) < 1e-8 and np.abs([P[0, 0], P[0, 1], P[1, 0]]).max() < 1e-8 * P[1, 1] and
              abs(H[0, 0] / (-1e-3 * xy / xx) - 1) < 1e-8, "laminate: Young's modulus with free entries on %d ranks" % ranks)
    # Neo-Hooke, half as high: nothing turns, though no entry holds that.
    scene = laminate({"linear_displacement_offset": [[0, 0], [0, "-0.3*t"]], "fixed_macro_strain": [3]},
                     time={"dt": 0.25, "time_steps": 4, "quasistatic": True})
    for material in scene["materials"]:
        material["type"] = "NeoHookean"
    table = rows(recoil.simulate(2, recoil.write_scene("pressed", scene), "pressed"))
    check(len(table) == 4 and abs(table[-1]["H_yy"] + 0.3) < 1e-12 and table[-1]["H_xx"] > 0.02 and
          max(abs(row[name]) for row in table for name in ("P_xx", "P_xy", "P_yx")) < 1e-7 * abs(table[-1]["P_yy"]),
          "pressed cell: no stress along free entries at finite strains")
    continued = recoil.path("continued")
    recoil.run(1, "simulate", recoil.path("pressed.json"), "-o", continued, "-q", "--steps", "2")
    recoil.run(3, "simulate", "--restart", continued, "-q")
    same = max(abs(a[name] - b[name]) / (1 if name[0] == "H" else abs(table[-1]["P_yy"]))
               for a, b in zip(table, rows(continued)) for name in a)
    check(len(rows(continued)) == 4 and same < 1e-8, "pressed cell: continued on 3 ranks, off by %.1e" % same)


def cells(recoil):
    """The smallest cell of a honeycomb, a rhombus; a box that repeats along two of three axes."""
    mesh, t, strain = recoil.path("walls.obj"), 0.05, 1e-3
    anisotropy = []
    for across in (2, 4):
        honeycomb.write_obj(mesh, *honeycomb.honeycomb(t, 5 * across // 2, across))
        x, y, shear = (rows(recoil.simulate(ranks, recoil.write_scene(name, honeycomb.scene(mesh, H)), name))[-1] for ranks, name, H in
                       ((2, "honeycomb-x", [[strain, 0], [0, 0]]), (1, "honeycomb-y", [[0, 0], [0, strain]]),
                        (3, "honeycomb-s", [[0, strain], [strain, 0]])))
        C11, C12, C22, C66 = x["P_xx"] / strain, x["P_yy"] / strain, y["P_yy"] / strain, shear["P_xy"] / (2 * strain)
        check(abs(y["P_xx"] / x["P_yy"] - 1) < 1e-7 and abs(C22 / C11 - 1) < 2e-4, "honeycomb: moduli are symmetric, and alike along x and y")
        bulk = (C11 + C12) / 2 / (honeycomb.E * t / (2 * np.sqrt(3)))
        check(abs(bulk - 1) < 0.03, "honeycomb: area modulus of stretched walls, ratio %.4f" % bulk)
        anisotropy.append(abs(2 * C66 / (C11 - C12) - 1))
    check(anisotropy[0] < 0.01 and anisotropy[1] < 0.6 * anisotropy[0],
          "honeycomb: it becomes isotropic with the mesh, 2 C66/(C11 - C12) - 1 = %.1e, %.1e" % tuple(anisotropy))
    plate = {"geometry": {"name": "plate", "generator": {"type": "box", "size": [1, 2, 0.3], "divisions": [2, 3, 1]}},
             "materials": {"type": "LinearElasticity", "E": 1e6, "nu": 0.3},
             "boundary_conditions": {"periodic_boundary": {"enabled": True, "axes": ["x", "y"],
                                                           "linear_displacement_offset": [[1e-3, 0, 0], [0, 0, 0], [0, 0, 0]]}}}
    for ranks in (1, 2):
        P = tensor(rows(recoil.simulate(ranks, recoil.write_scene("plate", plate), "plate-%d" % ranks))[-1], "P", 3)
        expected = 1e6 / (1 - 0.3**2) * 1e-3 * np.diag([1, 0.3, 0])
        check(np.abs(P - expected).max() < 1e-8 * expected.max(), "plate that repeats along x and y: plane stress, on %d ranks" % ranks)


def gradients(recoil):
    """Objective and sweeps in both directions against differences, by material, macro strain and shape."""
    # Affine changes shear the box, too.
    scene = laminate({"linear_displacement_offset": [[0.02, 0.05], [0.0, -0.1]], "tolerance": 0.02})
    for material in scene["materials"]:
        material["type"] = "NeoHookean"
    free = json.loads(json.dumps(scene))
    free["boundary_conditions"]["periodic_boundary"]["fixed_macro_strain"] = [3]
    objectives = [{"name": "P", "type": "homogenized_stress", "component": [1, 1], "value": -1e5, "sd": 1e4},
                  {"name": "Q", "type": "homogenized_stress", "component": [0, 1], "weight": 1e-4}]
    E = {"name": "E", "quantity": "young_modulus", "per": "body", "initial": 1e6}
    strain = {"name": "H", "quantity": "macro_strain", "initial": [0.02, 0.05, 0.0, -0.1]}
    affine = {"name": "A", "quantity": "shape", "basis": "affine"}
    alike = {"name": "s", "quantity": "shape", "basis": {"extension": "harmonic", "periodic": ["x", "y"]}}
    for name, base, parameters in (("prescribed", scene, [E, strain, affine]), ("free", free, [E, affine]), ("alike", free, [alike])):
        study = {"experiments": [{"name": "cell", "scene": recoil.write_scene("cell-" + name, base)}], "parameters": parameters,
                 "objectives": [dict(one, experiment="cell") for one in objectives]}
        path = recoil.write_scene("study-" + name, study)
        for ranks in (1, 3):
            code, said = recoil.run(ranks, "gradient", path, "-o", recoil.path("gradient-%s-%d" % (name, ranks)), "--check", expect=None)
            check(code == 0, "gradient of a cell whose macro strain is %s, on %d ranks: %s" % (name, ranks, said[-400:] if code else "differences agree"))


def wrong(recoil):
    strain = {"linear_displacement_offset": [[0, 0], [0, 1e-3]]}
    good = laminate(strain)
    box = good["geometry"]

    def refused(change, *words):
        recoil.refuses(good, change, *words, ranks=2)

    of = lambda scene: scene["boundary_conditions"]["periodic_boundary"]
    refused(lambda s: of(s).pop("enabled"), "enabled", "periodic_boundary")
    refused(lambda s: of(s).update(linear_displacement_offset=[[0, 0]]), "2 rows of 2", "periodic_boundary")
    refused(lambda s: of(s).update(fixed_macro_strain=[4]), "0 to 3")
    refused(lambda s: of(s).update(fixed_macro_strain=[1, 1]), "twice")
    refused(lambda s: of(s).update(axes=["x"]), "column 1")
    refused(lambda s: of(s).update(axes=["z"]), "no z axis")
    refused(lambda s: of(s).update(correspondence=[[1, 0], [2, 0]]), "lie in a line")
    refused(lambda s: of(s).update(correspondence=[[1, 0], [0, 0.5]]), "periods wide")
    refused(lambda s: s.update(time={"dt": 0.1, "time_steps": 2}), "quasistatic")
    refused(lambda s: s.update(geometry=[box, {"is_obstacle": True, "type": "plane", "point": [0, -2], "normal": [0, 1]}]), "plane")
    runs.write_obj(recoil.path("uneven.obj"), ([(0, 0, 0), (1, 0, 0), (1, 0.4, 0), (1, 1, 0), (0, 1, 0)], [(0, 1, 2), (0, 2, 3), (0, 3, 4)]))
    refused(lambda s: s.update(geometry={"mesh": recoil.path("uneven.obj")}, materials={**s["materials"][0]}), "do not match", "(1, 0.4)")
    refused(lambda s: (box.update(surface_selection=[{"id": 1, "axis": "-x", "position": -0.499}]), s.update(geometry=dict(box)),
                       s["boundary_conditions"].update(dirichlet_boundary={"id": 1, "value": [0, 0]})), "prescribed at one of the nodes")
    refused(lambda s: of(s).update(linear_displacement_offset=[[0, "1/(t-1)"], [0, 0]]), "finite")
    refused(lambda s: s["boundary_conditions"].update(fixed_macro_strain=[3]), "list of flags")


with runs.Recoil() as recoil:
    laminate_moduli(recoil)
    free_entries(recoil)
    cells(recoil)
    gradients(recoil)
    wrong(recoil)
