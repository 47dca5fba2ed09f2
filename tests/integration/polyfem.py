"""What scenes of PolyFEM need, in whole runs: values from node files, lists per time, the Euclidean norm, the quadrature of norms."""
import json
import os
import re

import numpy as np

import runs
from pieces import box, material
from studies import exact


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
    for part in (node_files, pressure_lists, euclidean_norm, norms):
        part(recoil)
