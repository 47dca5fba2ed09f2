"""What scenes of PolyFEM need, in whole runs: values from node files, lists per time, pressures on open surfaces and of the rest shape, nu = 1/2 in plane
stress, the Euclidean norm, the quadrature of norms."""
import json
import os
import re
import sys

import numpy as np

import runs
from pieces import box, material
from studies import exact

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))
import recoil_run  # noqa: E402


def beam(**more):
    """Twelve triangles, fixed at the left: vertices 0 to 11 in three rows of four (0 and 11 the corners)."""
    return dict({
        "geometry": box("beam", [3, 1], [3, 2], [0, 0], surface_selection=[{"id": 1, "axis": "-x", "position": -1.499}]),
        "materials": material(1e5, 0.3, 1000), "solver": {"nonlinear": exact()}, "time": {"dt": 0.02, "time_steps": 4},
        "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0]}]}}, **more)


def node_files(recoil):
    """The same values by id and by vertex give the same run, on any number of ranks and after a restart; wrong files are refused."""
    by_id = beam(geometry=box("beam", [3, 1], [3, 2], [0, 0], surface_selection=[
        {"id": 1, "axis": "-x", "position": -1.499}, {"id": 2, "axis": "x", "position": 1.499}]))
    by_id["boundary_conditions"]["dirichlet_boundary"].append({"id": 2, "value": [0.3, -0.2]})
    by_id["gravity"] = [0, -9.81]
    path = recoil.write_scene("by-id", by_id)
    expected = recoil.simulate(1, path, "by-id")
    right = [i for i, x in enumerate(runs.coordinates(expected)) if x[0] > 1.499]
    with open(recoil.path("right.txt"), "w") as file:
        file.write("# the right end\n" + "".join("%d 0.3 -0.2\n" % i for i in right))
    by_vertex = json.loads(json.dumps(by_id))
    by_vertex["boundary_conditions"]["dirichlet_boundary"][1] = "right.txt"
    path = recoil.write_scene("by-vertex", by_vertex)
    for ranks in (1, 2, 3):
        found = recoil.simulate(ranks, path, "by-vertex-%d" % ranks)
        error = runs.difference(runs.state(found), runs.state(expected))
        runs.check(error < 1e-9, "%d ranks: values of vertices are those of their side to %.1e" % (ranks, error))
    folder = recoil.simulate(1, path, "cut", "--steps", "2")
    recoil.run(2, "simulate", "--restart", folder, "-q")
    error = runs.difference(runs.state(folder), runs.state(expected))
    runs.check(error < 1e-9, "a restarted run reads the file again: %.1e" % error)
    with open(recoil.path("right.txt"), "a") as file:
        file.write("400 0 0\n")
    for ranks in (1, 3):
        text = recoil.run(ranks, "simulate", path, "-o", recoil.path("wrong"), expect=2)[1]
        runs.check("right.txt:%d: there is no vertex 400" % (len(right) + 2) in text and "dirichlet_boundary/1)" in text,
                   "%d ranks: a vertex that is not there is refused" % ranks)


def pressure_lists(recoil):
    """A list per time is the formula that it samples."""
    scene = beam(geometry=box("beam", [3, 1], [3, 2], [0, 0], surface_selection=1), boundary_conditions={})
    times = [0.02, 0.04, 0.06, 0.08]
    scene["boundary_conditions"]["pressure_boundary"] = {"id": 1, "value": "-1e6*t^2"}
    formula = runs.state(recoil.simulate(1, recoil.write_scene("formula", scene), "formula"))
    scene["boundary_conditions"]["pressure_boundary"] = {"id": 1, "value": [-1e6 * t * t for t in times], "time_reference": times}
    error = runs.difference(runs.state(recoil.simulate(2, recoil.write_scene("list", scene), "list")), formula)
    runs.check(error < 1e-9, "pressures in a list: %.1e" % error)


def follower_solution(points, triangles, E, nu, held, pressed, pressure):
    """Displacement of a linear elastic body in plane stress under a pressure on edges that follow, by repeated solves: the forces p n ds themselves, which have
    no potential where the ends of the row of edges move."""
    lam, mu = E * nu / (1 - nu ** 2), E / (2 + 2 * nu)
    C = np.array([[lam + 2 * mu, lam, 0], [lam, lam + 2 * mu, 0], [0, 0, mu]])
    K = np.zeros((points.size, points.size))
    for corners in triangles:
        edges = (points[corners[1:]] - points[corners[0]]).T
        g = np.linalg.inv(edges).T @ np.array([[-1, 1, 0], [-1, 0, 1]])
        B = np.zeros((3, 6))
        B[0, 0::2], B[1, 1::2], B[2, 0::2], B[2, 1::2] = g[0], g[1], g[1], g[0]
        dofs = np.stack([2 * corners, 2 * corners + 1], axis=1).ravel()
        K[np.ix_(dofs, dofs)] += abs(np.linalg.det(edges)) / 2 * B.T @ C @ B
    free = np.setdiff1d(np.arange(points.size), np.concatenate([2 * held, 2 * held + 1]))
    u = np.zeros_like(points)
    for _ in range(200):
        f = np.zeros_like(points)
        for a, b in pressed:
            along = (points + u)[b] - (points + u)[a]
            f[[a, b]] += pressure / 2 * np.array([along[1], -along[0]])
        last = u.copy()
        u.ravel()[free] = np.linalg.solve(K[np.ix_(free, free)], f.ravel()[free])
    assert np.abs(u - last).max() < 1e-13, "the solves have not converged"
    return u


def open_pressures(recoil):
    """A pressure on an open side whose end moves comes to p n as steps become shorter, to the first power; with the end held it is p n at once."""
    sides = [{"id": 1, "axis": "-x", "position": -0.999}, {"id": 2, "axis": "y", "position": 0.249}, {"id": 3, "axis": "x", "position": 0.999}]
    scene = beam(geometry=box("beam", [2, 0.5], [8, 2], [0, 0], surface_selection=sides), time={"dt": 1, "time_steps": 1, "quasistatic": True},
                 materials={"type": "LinearElasticity", "E": 1e5, "nu": 0.5})
    conditions = scene["boundary_conditions"]
    conditions["pressure_boundary"] = {"id": 2, "value": "-300*t"}
    for held in (False, True):
        if held:
            conditions["dirichlet_boundary"].append({"id": 3, "value": [0, 0]})
        errors = []
        for steps in (1,) if held else (4, 8, 16):
            scene["time"].update(dt=1 / steps, time_steps=steps)
            name = "open-%d-%d" % (held, steps)
            folder = recoil.simulate(1, recoil.write_scene(name, scene), name)
            if not errors:
                mesh = recoil_run.Run(folder).mesh
                x, (cells,) = mesh.points, mesh.cells.values()
                top = np.flatnonzero(x[:, 1] > 0.249)
                top = top[np.argsort(-x[top, 0])]
                ends = (abs(x[:, 0]) > 0.999) if held else (x[:, 0] < -0.999)
                expected = follower_solution(x, cells, 1e5, 0.5, np.flatnonzero(ends), list(zip(top[:-1], top[1:])), -300)
            errors.append(np.abs(runs.state(folder)[:, :2] - expected).max() / np.abs(expected).max())
        if held:
            runs.check(errors[0] < 1e-9, "a held rim: %.1e" % errors[0])
        else:
            ratios = [a / b for a, b in zip(errors, errors[1:])]
            runs.check(errors[0] < 0.02 and all(1.8 < ratio < 2.2 for ratio in ratios), "a rim that moves: %s, ratios %s" % (errors, ratios))
    del conditions["dirichlet_boundary"][1]
    path = recoil.write_scene("open", scene)
    one = runs.state(recoil.simulate(1, path, "open-1"))
    for ranks in (2, 3):
        error = runs.difference(runs.state(recoil.simulate(ranks, path, "open-ranks")), one)
        runs.check(error < 1e-10, "%d ranks: %.1e" % (ranks, error))


def rest_pressures(recoil):
    """On a flat side a pressure at rest is a traction, however the body turns; in a list as by its formula, and on any number of ranks."""
    sides = [{"id": 1, "axis": "-x", "position": -1.499}, {"id": 2, "axis": "y", "position": 0.499}]
    scene = beam(geometry=box("beam", [3, 1], [3, 2], [0, 0], surface_selection=sides))
    conditions = scene["boundary_conditions"]
    times = [0.02, 0.04, 0.06, 0.08]
    forms = {"traction": ("neumann_boundary", {"value": [0, "-1e6*t"]}), "formula": ("rest_pressure_boundary", {"value": "-1e6*t"}),
             "factor": ("rest_pressure_boundary", {"value": -1e6, "interpolation": "linear"}),
             "list": ("rest_pressure_boundary", {"value": [-1e6 * t for t in times], "time_reference": times})}
    found = {}
    for name, (kind, load) in forms.items():
        scene["boundary_conditions"] = dict(conditions, **{kind: dict(load, id=2)})
        found[name] = runs.state(recoil.simulate(3 if name == "list" else 1, recoil.write_scene("rest-" + name, scene), "rest-" + name))
        error = runs.difference(found[name], found["traction"])
        runs.check(error < 1e-9, "a pressure at rest by its %s: %.1e" % (name, error))


def half_in_plane_stress(recoil):
    """nu = 1/2 in plane stress is lambda = 2 mu = 2 E / 3."""
    scene = beam(gravity=[0, -9.81])
    scene["materials"] = {"type": "NeoHookean", "E": 1e5, "nu": 0.5, "rho": 1000}
    young = runs.state(recoil.simulate(1, recoil.write_scene("half", scene), "half"))
    scene["materials"] = {"type": "NeoHookean", "lambda": 2e5 / 3, "mu": 1e5 / 3, "rho": 1000}
    error = runs.difference(young, runs.state(recoil.simulate(2, recoil.write_scene("lame", scene), "lame")))
    runs.check(error < 1e-9, "nu = 1/2 in plane stress: %.1e" % error)


def euclidean_norm(recoil):
    """The norm that a bar under its weight starts from is that of the weights of its nodes, in either norm."""
    vertices = np.array([[0, 0], [1, 0], [2.5, 0], [0, 1], [1, 1], [2.5, 1]])
    triangles = np.array([[0, 1, 4], [0, 4, 3], [1, 2, 5], [1, 5, 4]])
    with open(recoil.path("bar.obj"), "w") as file:
        file.write("".join("v %g %g 0\n" % tuple(v) for v in vertices) + "".join("f %d %d %d\n" % tuple(t + 1) for t in triangles))
    volume = np.zeros(6)
    for a, b, c in triangles:
        volume[[a, b, c]] += np.linalg.det([vertices[b] - vertices[a], vertices[c] - vertices[a]]) / 6
    free = volume[vertices[:, 0] > 0]
    scene = beam(geometry={"mesh": "bar.obj", "surface_selection": [{"id": 1, "axis": "-x", "position": 0.001}]}, gravity=[0, -10])
    del scene["time"]
    # The last of the attempts that run out of iterations, with a 64th of the load.
    for norm, expected in (("L2", np.sqrt(free.sum())), ("Euclidean", np.linalg.norm(free))):
        scene["solver"] = {"nonlinear": {"norm_type": norm, "max_iterations": 1}}
        text = recoil.run(1, "simulate", recoil.write_scene(norm, scene), "-o", recoil.path(norm), expect=3)[1]
        found = float(re.search(r"started from ([0-9.e+-]+)", text).group(1))
        runs.check(abs(found / (1000 * 10 / 64 * expected) - 1) < 1e-5, "%s norm: %g" % (norm, found))
    iterations = {}
    for norm, length in (("L2", 1), ("Euclidean", 1), ("Euclidean", 1e4)):
        scene["solver"] = {"advanced": {"characteristic_force_density": 1, "characteristic_length": length},
                           "nonlinear": {"norm_type": norm, "grad_norm_tol": 1e-4, "rel_grad_norm_tol": 0}}
        name = "%s-%g" % (norm, length)
        iterations[name] = runs.summary(recoil.simulate(1, recoil.write_scene(name, scene), name))["newton_iterations"]
    runs.check(iterations["Euclidean-10000"] < iterations["Euclidean-1"], "the tolerance is times L^2: %s" % iterations)


def norms(recoil):
    """Norms of the summary are by the quadrature that is asked for."""
    scene = beam(gravity=[0, -9.81])
    found = {}
    for degree in (1, 2, 5):
        scene["space"] = {"advanced": {"quadrature_order": degree}}
        folder = recoil.simulate(1, recoil.write_scene("norms-%d" % degree, scene), "norms-%d" % degree)
        found[degree] = runs.summary(folder)["err_l2"], runs.state(folder)
    runs.check(runs.difference(found[5][1], found[1][1]) < 1e-12, "elements of order 1 move the same with any quadrature")
    runs.check(abs(found[5][0] / found[2][0] - 1) < 1e-13 and abs(found[1][0] / found[2][0] - 1) > 1e-3, "the L2 norm is exact from degree 2 on: %s"
               % {degree: value[0] for degree, value in found.items()})


with runs.Recoil() as recoil:
    for part in (node_files, pressure_lists, open_pressures, rest_pressures, half_in_plane_stress, euclidean_norm, norms):
        part(recoil)
