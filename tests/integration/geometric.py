"""The geometric contact potential (`use_gcp_formulation`) in whole runs: a block at rest on a slab, rank counts, restart, gradients against
differences, obstacles that it does not know."""
import os
import sys

import runs
from pieces import box, material
from studies import agree, exact, slide, slide_study

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "physics"))
import slab  # noqa: E402


def rest(recoil):
    """A block whose edges cross the diagonals of a slab. The plain form throws it along them."""
    plain, geometric = (slab.measure(recoil, form, slab.refined(recoil, form, "aligned", 1, (0.02, 0), slab.FORMS[form], 20))[1]
                        for form in ("plain", "gcp_narrow"))
    runs.check(10 * geometric < plain, "a block at rest on a slab: drift %.1e m, plain form %.1e m" % (geometric, plain))


def ranks(recoil):
    """Two blocks on a slab and an obstacle, with friction: the same on 1, 2 and 3 ranks and after a restart, without intersection."""
    with open(recoil.path("floor.obj"), "w") as file:
        file.write("v -1 -1 -0.1\nv 1 -1 -0.1\nv 1 1 -0.1\nv -1 1 -0.1\nf 1 2 3\nf 3 4 1\n")
    scene = {"geometry": [box("slab", [0.6, 0.6, 0.1], [3, 3, 1], [0, 0, -0.0495]), box("block", [0.2, 0.2, 0.2], [2, 2, 2], [0.03, 0.02, 0.106]),
                          {"name": "floor", "mesh": "floor.obj", "is_obstacle": True}],
             "materials": material(1e5, 0.3, 1000), "gravity": [0.8, 0.3, -9.81],
             "contact": {"enabled": True, "dhat": 0.01, "use_gcp_formulation": True, "friction_coefficient": 0.2, "epsv": 0.1},
             "solver": {"nonlinear": exact()}, "time": {"dt": 0.02, "time_steps": 5}, "output": {"chunk": 2}}
    path = recoil.write_scene("blocks", scene)
    first = recoil.simulate(1, path, "blocks-1")
    for n in (1, 2, 3):
        folder = first if n == 1 else recoil.simulate(n, path, "blocks-%d" % n)
        found = runs.summary(folder)
        runs.check(found["status"] == "done" and found["intersections"] == 0, "%d ranks: done, nothing intersects" % n)
        error = runs.difference(runs.state(folder), runs.state(first))
        runs.check(error < 1e-9, "%d ranks: as on one to %.1e" % (n, error))
    cut = recoil.simulate(2, path, "cut", "--steps", "2")
    recoil.run(1, "simulate", "--restart", cut, "-q")
    error = runs.difference(runs.state(cut), runs.state(first))
    runs.check(error < 1e-9, "a restarted run: %.1e" % error)


def gradients(recoil):
    scene = slide(steps=6)
    scene["contact"]["use_gcp_formulation"] = True
    scene["solver"]["contact"].update({"barrier_stiffness": 1e8, "friction_iterations": -1})
    study = slide_study("slide", recoil.write_scene("slide", scene))
    agree(recoil, "slide", study, ranks=(1, 3))
    study["parameters"] = [{"name": "shape", "quantity": "shape", "body": "lower", "basis": "affine"}]
    study["check"] = {"steps": [1e-5, 1e-6, 1e-7]}
    agree(recoil, "shape", study, ranks=(1, 3))
    solid = {"geometry": [box("lower", [0.5, 0.5, 0.2], [2, 2, 1], [0, 0, -0.1], surface_selection=[{"id": 1, "axis": "-z", "position": -0.199}]),
                          box("upper", [0.2, 0.2, 0.2], [1, 1, 1], [0.031, 0.017, 0.104])],
             "materials": material(1e5, 0.3, 1000, psi=20, phi=10), "gravity": [0.5, 0.2, -9.81],
             "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0, 0]}]},
             "initial_conditions": {"velocity": [{"body": "upper", "value": [0.3, 0.1, -0.5]}]},
             "contact": {"enabled": True, "dhat": 0.01, "epsv": 0.2, "friction_coefficient": 0.3, "use_gcp_formulation": True, "alpha_t": 0.9},
             "solver": {"contact": {"barrier_stiffness": 1e6}, "nonlinear": exact()}, "time": {"dt": 0.004, "time_steps": 4}}
    study = slide_study("solid", recoil.write_scene("solid", solid))
    study["parameters"] = [{"name": "E", "quantity": "young_modulus", "body": "upper", "initial": 1e5, "scale": "log"},
                           {"name": "mu", "quantity": "friction", "bodies": ["lower", "upper"], "initial": 0.3},
                           {"name": "shape", "quantity": "shape", "body": "lower", "basis": "affine"}]
    study["objectives"][1]["target"] = [0.1, 0.05, -0.1]
    study["check"] = {"steps": [1e-4, 1e-5, 1e-6, 1e-7]}
    agree(recoil, "solid", study, ranks=(1, 3))


def loose_obstacles(recoil):
    with open(recoil.path("edges.obj"), "w") as file:
        file.write("v 0 0 -1\nv 1 0 -1\nl 1 2\n")
    scene = {"geometry": [box("block", [1, 1, 1], [1, 1, 1], [0, 0, 0]), {"name": "wire", "mesh": "edges.obj", "is_obstacle": True}],
             "materials": material(1e5, 0.3, 1000), "contact": {"enabled": True, "use_gcp_formulation": True}, "time": {"dt": 0.1, "time_steps": 1}}
    path = recoil.write_scene("wire", scene)
    for n in (1, 3):
        text = recoil.run(n, "simulate", path, "-o", recoil.path("wire"), expect=2)[1]
        runs.check("'wire' has edges or points without triangles" in text and "use_gcp_formulation" in text, "%d ranks: loose edges are refused" % n)


with runs.Recoil() as recoil:
    for part in (rest, ranks, gradients, loose_obstacles):
        part(recoil)
