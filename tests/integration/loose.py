"""Static bodies that nothing holds under loads in balance: of all places the one with the smallest displacement, on any number of ranks,
with a warning; gradients of objectives that do not see the place, and a refusal of those that do."""
import json
import os

import h5py
import numpy as np

import runs
from pieces import SIDES, box, cube, square, static, tractions
from runs import check
from studies import distance, exact

PULL = tractions([-1e4, 0, 0], [1e4, 0, 0])
# The forces are not on one line: the body has to turn by some 1/30.
SKEW = tractions(["-4e4*(1+0.4*y)", 0, 0], [4e4, 0, 0])
X, Y, Z = (1, 2), (2, 0), (0, 1)


def moments(folder):
    """int u dX and int X x u dX, over int dX: zero where the displacement is the smallest one."""
    with h5py.File(os.path.join(folder, "trajectory", "mesh.h5"), "r") as file:
        places, cells = file["coordinates"][:], file["connectivity"][:]
    dim = places.shape[1]
    u, cells = runs.state(folder)[:, :dim], cells.reshape(-1, dim + 1)
    corners = places[cells]
    volumes = np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1]))
    # int f g over a simplex of linear f and g: |V| / ((d + 1) (d + 2)) (sum f sum g + sum f g).
    mean, turn = np.zeros(dim), np.zeros((dim, dim))
    for cell, volume in zip(cells, volumes):
        X, v = places[cell], u[cell]
        mean += volume * v.mean(axis=0)
        turn += volume / ((dim + 1) * (dim + 2)) * (np.outer(X.sum(axis=0), v.sum(axis=0)) + X.T @ v)
    return mean / volumes.sum(), (turn - turn.T) / volumes.sum()


def settled(recoil, name, scene, ranks, loose, size=1, options="", tolerance=1e-9, axes=(X, Y, Z)):
    """Runs on several ranks: the warning, the place, and the same displacement. Returns that."""
    path, found = recoil.write_scene(name, scene), []
    before = os.environ.get("PETSC_OPTIONS")
    runs.ENVIRONMENT["PETSC_OPTIONS"] = options
    for n in ranks:
        folder = recoil.path("%s-%d" % (name, n))
        text = recoil.run(n, "simulate", path, "-o", folder)[1]
        missing = [part for part in ("nothing holds " + loose, "in balance", "smallest displacement", "dirichlet_boundary") if part not in text]
        check(not missing, "%s on %d ranks: the warning lacks %s" % (name, n, missing))
        found.append(runs.state(folder))
        mean, turn = moments(folder)
        length = np.abs(found[-1]).max()
        check(np.abs(mean).max() < tolerance * length, "%s on %d ranks: mean displacement %s of %.1e" % (name, n, mean, length))
        turned = max(abs(turn[axis]) for axis in axes)
        check(turned < tolerance * length * size, "%s on %d ranks: no rotation, %.1e" % (name, n, turned))
    runs.ENVIRONMENT["PETSC_OPTIONS"] = before or ""
    for n, u in zip(ranks[1:], found[1:]):
        error = runs.difference(u, found[0])
        check(error < tolerance, "%s: the same displacement on %d ranks to %.1e" % (name, n, error))
    return found[0]


def linear(recoil):
    pulled = static([cube()], boundary_conditions=PULL)
    everything = "body 'b' against translation along x, y and z and rotation about x, y and z"
    u = settled(recoil, "pulled", pulled, (1, 2, 3, 4), everything)
    with h5py.File(os.path.join(recoil.path("pulled-1"), "trajectory", "mesh.h5"), "r") as file:
        right = file["coordinates"][:] * [0.01, -0.003, -0.003]
    check(np.abs(u - right).max() < 1e-10, "pulled: a uniform strain about the middle, to %.1e" % np.abs(u - right).max())
    settled(recoil, "multigrid", pulled, (1, 2), everything, options="-recoil_pc_type gamg -recoil_ksp_type cg", tolerance=1e-8)
    plane = static([square()], boundary_conditions=tractions(["-1e4*(1+0.3*y)", 0], ["1e4*(1+0.3*y)", 0]))
    plane["space"] = {"discr_order": 2}
    folders = []
    for n in (1, 2):
        folders.append(recoil.simulate(n, recoil.write_scene("plane", plane), "plane-%d" % n))
    check(runs.difference(runs.state(folders[1]), runs.state(folders[0])) < 1e-9, "plane: the same on 2 ranks")
    # One of two bodies is loose; the other one is where it would be alone.
    pair = static([cube("held"), cube("free", (3, 0, 0))], boundary_conditions=tractions([-1e4, 0, 0], [1e4, 0, 0]))
    pair["geometry"][1]["surface_selection"] = [dict(side, position=side["position"] + 3) for side in SIDES]
    pair["geometry"][0]["surface_selection"] = [{"id": 3, "axis": "-x", "position": -0.499}, {"id": 4, "axis": "x", "position": 0.499}]
    pair["boundary_conditions"] = dict(PULL, dirichlet_boundary=[{"id": 3, "value": [0, 0, 0]}])
    pair["boundary_conditions"]["neumann_boundary"] = PULL["neumann_boundary"] + [{"id": 4, "value": [0, 1e4, 0]}]
    found = []
    for n in (1, 3):
        folder = recoil.path("pair-%d" % n)
        text = recoil.run(n, "simulate", recoil.write_scene("pair", pair), "-o", folder)[1]
        check("nothing holds body 'free'" in text and "'held'" not in text, "pair on %d ranks: the loose body is named" % n)
        found.append(runs.state(folder))
    check(runs.difference(found[1], found[0]) < 1e-9, "pair: the same on 3 ranks")
    free = found[0][27:]
    check(np.abs(free - right).max() < 1e-10, "pair: the free one as alone, to %.1e" % np.abs(free - right).max())


def nonlinear(recoil):
    """Loads keep their direction: a body turns into them, but about their axis it is loose."""
    pulled = static([cube()], "NeoHookean", boundary_conditions=PULL, solver={"nonlinear": exact()})
    about = "body 'b' against translation along x, y and z and rotation about x"
    settled(recoil, "stretched", pulled, (1, 2, 3), about, tolerance=1e-8, axes=(X,))
    skew = static([cube()], "NeoHookean", boundary_conditions=SKEW, solver={"nonlinear": exact()})
    skew["time"] = {"quasistatic": True, "dt": 0.5, "time_steps": 2}
    u = settled(recoil, "skew", skew, (1, 2), about, tolerance=1e-7, axes=(X,))
    with h5py.File(os.path.join(recoil.path("skew-1"), "trajectory", "mesh.h5"), "r") as file:
        places = file["coordinates"][:]
    angle = np.mean(u[places[:, 0] > 0.4, 1] - u[places[:, 0] < -0.4, 1])
    check(abs(angle) > 0.02, "skew: the body turns by about %.4f" % angle)
    # Compressed by forces that keep their direction a body is in balance, if an unstable one, also where these are not on one line.
    pushed = static([cube()], "NeoHookean", boundary_conditions=tractions(["2e4*(1+0.1*y)", 0, 0], [-2e4, 0, 0]), solver={"nonlinear": exact()})
    u = settled(recoil, "pushed", pushed, (1, 3), about, tolerance=1e-7, axes=(X,))
    check(np.abs(u).max() < 0.03, "pushed: does not turn over, largest displacement %.2e" % np.abs(u).max())
    text = recoil.run(1, "simulate", recoil.path("pushed.json"), "-o", recoil.path("pushed"))[1]
    check("the equilibrium is unstable" in text and "rotation about y and z" in text, "pushed: said to be unstable")
    # Pressure turns with the body: all rotations are loose.
    ball = static([box("b", [1, 0.7, 0.5], [2, 2, 2], (0, 0, 0), surface_selection=5)], "NeoHookean", solver={"nonlinear": exact()},
                  boundary_conditions={"pressure_boundary": [{"id": 5, "value": 2e4}]})
    settled(recoil, "compressed", ball, (1, 2, 3), "body 'b' against translation along x, y and z and rotation about x, y and z", tolerance=1e-8)


def touching(recoil):
    """Two blocks that are pressed together hold each other by contact and friction, but nothing holds both."""
    pair = static([box("left", [1, 1, 1], [2, 2, 2], (-0.5005, 0, 0), surface_selection=[{"id": 1, "axis": "-x", "position": -1}]),
                   box("right", [1, 0.6, 0.6], [2, 2, 2], (0.5005, 0, 0), surface_selection=[{"id": 2, "axis": "x", "position": 1}])],
                  contact={"enabled": True, "dhat": 0.002, "friction_coefficient": 0.5, "epsv": 1e-5}, boundary_conditions=tractions([360, 0, 0], [-1000, 0, 0]),
                  solver={"contact": {"barrier_stiffness": 1e9}, "nonlinear": exact()})
    settled(recoil, "touching", pair, (1, 2, 3), "the bodies, which may touch one another, against translation along x, y and z and rotation about x, y and z", tolerance=1e-7)


def floating(recoil):
    """A loose body beside one that is held, with contact, which acts nowhere."""
    scene = static([cube("held"), cube("free", (3, 0, 0))], boundary_conditions=tractions([-1e4, 0, 0], [1e4, 0, 0]), contact={"enabled": True, "dhat": 0.01})
    scene["geometry"][1]["surface_selection"] = [dict(side, position=side["position"] + 3) for side in SIDES]
    scene["geometry"][0]["surface_selection"] = [{"id": 3, "axis": "-x", "position": -0.499}]
    scene["boundary_conditions"]["dirichlet_boundary"] = [{"id": 3, "value": [0, 0, 0]}]
    for n in (1, 2, 3):
        folder = recoil.path("floating-%d" % n)
        text = recoil.run(n, "simulate", recoil.write_scene("floating", scene), "-o", folder)[1]
        check("nothing holds body 'free' against translation along x, y and z and rotation" in text, "floating on %d ranks: named" % n)
        with h5py.File(os.path.join(folder, "trajectory", "mesh.h5"), "r") as file:
            right = (file["coordinates"][:][27:] - [3, 0, 0]) * [0.01, -0.003, -0.003]
        error = np.abs(runs.state(folder)[27:] - right).max()
        check(error < 1e-9, "floating on %d ranks: about its middle to %.1e" % (n, error))


def places(recoil):
    """An objective of the place is one of some bodies, and of some directions."""
    scene = static([cube("held"), cube("free", (3, 0, 0))], boundary_conditions=tractions([-1e4, 0, 0], [1e4, 0, 0]))
    scene["geometry"][1]["surface_selection"] = [dict(side, position=side["position"] + 3) for side in SIDES] + [{"id": 5, "axis": "-y", "position": -0.499}]
    scene["geometry"][0]["surface_selection"] = [{"id": 3, "axis": "-x", "position": -0.499}, {"id": 4, "axis": "x", "position": 0.499}]
    scene["boundary_conditions"]["neumann_boundary"].append({"id": 4, "value": [0, 1e4, 0]})
    scene["boundary_conditions"]["dirichlet_boundary"] = [{"id": 3, "value": [0, 0, 0]}, {"id": 5, "value": [0, 0, 0], "dimension": [False, True, False]}]
    path = recoil.write_scene("places", scene)
    for body, axis, seen in (("held", "x", False), ("held", "y", False), ("free", "x", True), ("free", "y", False)):
        study = {"experiments": [{"name": "x", "scene": path}], "parameters": [{"name": "nu", "quantity": "poisson_ratio", "initial": 0.3}],
                 "objectives": [{"name": "place", "type": "height", "axis": axis, "body": body}]}
        name = "place-%s-%s" % (body, axis)
        code, text = recoil.run(2, "gradient", recoil.write_scene(name, study), "-o", recoil.path(name + "-run"), "-q", expect=None)
        check(code == (2 if seen else 0) and ("body 'free' against translation along x and z and rotation about y" in text), "%s: exit %d" % (name, code))


def gradients(recoil):
    for law, sign in (("LinearElasticity", 1), ("NeoHookean", 1), ("NeoHookean", -1)):
        case = "%s-%s" % (law, "pulled" if sign > 0 else "pushed")
        bent = tractions(["%g*(1+0.5*y)" % (-1e4 * sign), 0, 0], ["%g*(1+0.5*y)" % (1e4 * sign), 0, 0])
        scene = static([cube()], law, boundary_conditions=bent, solver={"nonlinear": exact()})
        study = {"experiments": [{"name": "x", "scene": recoil.write_scene("of-" + case, scene)}],
                 "parameters": [{"name": "E", "quantity": "young_modulus", "per": "element", "initial": 1e6},
                                {"name": "nu", "quantity": "poisson_ratio", "initial": 0.3}],
                 "objectives": [{"name": "stress", "type": "stress_norm", "p": 4, "weight": 1e-4},
                                {"name": "energy", "type": "elastic_energy"}],
                 "sweep": {"tolerance": 1e-12}, "check": {"directions": 2, "steps": [1e-3, 1e-4, 1e-5]}}
        path, found = recoil.write_scene("study-" + case, study), []
        for n in (1, 3):
            folder = recoil.path("gradient-%s-%d" % (case, n))
            recoil.run(n, "gradient", path, "-o", folder, "-q", *(["--check"] if n == 1 else []))
            found.append(folder)
        with open(os.path.join(found[0], "gradient.json")) as file:
            for direction, of in json.load(file)["check"].items():
                check(of["relative_error"] < 1e-7 and of["derivative"] != 0, "%s, %s: %.1e from differences" % (case, direction, of["relative_error"]))
        error = distance(found[1], found[0])
        check(error < 1e-8, "%s: the same gradient on 3 ranks to %.1e" % (case, error))
        for name, objective, code in (("height", {"type": "height", "axis": "y"}, 2), ("place", {"type": "position_integral", "axis": "x"}, 2)):
            study["objectives"] = [dict(objective, name=name)]
            for command in ("gradient", "optimize"):
                study["parameters"] = [{"name": "nu", "quantity": "poisson_ratio", "initial": 0.3, "bounds": [0.1, 0.4]}]
                text = recoil.run(1, command, recoil.write_scene(name, study), "-o", recoil.path("%s-%s-%s" % (case, name, command)), expect=code)[1]
                missing = [part for part in (objective["type"], "/objectives/0", "body 'b' against translation along x, y and z", "dirichlet_boundary") if part not in text]
                check(not missing, "%s, %s: %s is refused, without %s" % (case, command, name, missing))


with runs.Recoil() as recoil:
    parts = {"linear": linear, "nonlinear": nonlinear, "touching": touching, "floating": floating, "places": places, "gradients": gradients}
    for name in recoil.rest or parts:
        parts[name](recoil)
