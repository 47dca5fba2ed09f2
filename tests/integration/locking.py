"""Mean dilatation: a nearly incompressible beam against beam theory, ranks, restarts, gradients by constants, shape and motion, wrong inputs."""
import os
import sys

import numpy as np
import runs
from runs import check

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "physics"))
import cook  # noqa: E402


def bent(law="NeoHookean", **more):
    """A box of two materials, one of which has one volume change a cell, that swings and is squeezed."""
    return {"geometry": [{"name": "box", "generator": {"type": "box", "size": [2, 1, 1], "divisions": [2, 1, 1]},
                          "surface_selection": [{"id": 1, "axis": "-x", "position": -0.99}, {"id": 2, "axis": "x", "position": 0.99}],
                          "volume_selection": [{"id": 1, "axis": "-x", "position": 0}, {"id": 2, "axis": "x", "position": 0}]}],
            "space": {"discr_order": 2}, "gravity": [0, -3, 1],
            "materials": [{"id": 1, "type": law, "E": 1e4, "nu": 0.49, "rho": 100, "mean_dilatation": True},
                          {"id": 2, "type": "NeoHookean", "E": 1e4, "nu": 0.3, "rho": 100}],
            "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0, 0]}], "neumann_boundary": [{"id": 2, "value": [-500, 0, 300]}]},
            "time": {"dt": 0.02, "time_steps": 3}, **more}


def beam(recoil):
    exact = cook.CANTILEVER * cook.beam_theory()
    locked, plain, mean = (cook.cantilever(recoil, 4, *kind) / exact for kind in cook.ELEMENTS.values())
    check(locked < 0.1 and abs(plain - 0.9875) < 0.001 and abs(mean - 1.0165) < 0.001, "cantilever at nu 0.499 of 40 x 4 squares: %.4f of the "
          "converged value, of order 2 without %.4f, of order 1 %.4f" % (mean, plain, locked))
    fine = cook.cantilever(recoil, 8, *cook.ELEMENTS["P2, mean dilatation"]) / exact
    check(abs(fine - 1) < 0.3 * (mean - 1), "with twice as many squares each way %.4f" % fine)
    nearly = [cook.tip(recoil, 8, *kind, 0.4999)[0] / cook.MEMBRANE for kind in cook.ELEMENTS.values()]
    check(nearly[0] < 0.3 and nearly[1] < 0.935 and 0.97 < nearly[2] < 1, "Cook's membrane of 8 x 8 at nu 0.4999: %.4f, %.4f, %.4f" % tuple(nearly))


def ranks(recoil):
    path = recoil.write_scene("bent", bent())
    folders = [recoil.simulate(n, path, "bent-%d" % n) for n in (1, 2, 3)]
    u = [runs.state(folder) for folder in folders]
    check(max(np.abs(v - u[0]).max() for v in u) < 1e-8 * np.abs(u[0]).max(), "1, 2 and 3 ranks agree")
    parts = recoil.path("parts")
    recoil.run(2, "simulate", path, "-o", parts, "-q", "--steps", "1")
    recoil.run(2, "simulate", "--restart", parts, "-q")
    check(np.array_equal(runs.state(parts), u[1]), "a run that was continued ends at the same bits")
    parts = recoil.path("moved")
    recoil.run(2, "simulate", path, "-o", parts, "-q", "--steps", "1")
    recoil.run(3, "simulate", "--restart", parts, "-q")
    check(runs.difference(runs.state(parts), u[0]) < 1e-8, "one that was continued on 3 ranks ends as on one")


def gradients(recoil):
    for law, scene in (("NeoHookean", bent()), ("LinearElasticity", bent("LinearElasticity"))):
        study = {"experiments": [{"name": "bent", "scene": recoil.write_scene("of-" + law, scene)}],
                 "parameters": [{"name": "E", "quantity": "young_modulus", "initial": 1.1e4},
                                {"name": "nu", "quantity": "poisson_ratio", "initial": 0.45},
                                {"name": "v0", "quantity": "initial_velocity", "initial": [0.1, 0.2, -0.1]},
                                {"name": "u0", "quantity": "initial_displacement", "initial": [0.01, 0.02, -0.01]},
                                {"name": "s", "quantity": "shape", "basis": {"extension": "harmonic"}}],
                 "objectives": [{"name": "x", "type": "position_integral", "axis": "z", "weight": 3},
                                {"name": "stress", "type": "stress_norm", "p": 2, "weight": 1e-4}]}
        path = recoil.write_scene("study-" + law, study)
        for n in (1, 3):
            code, said = recoil.run(n, "gradient", path, "-o", recoil.path("gradient-%s-%d" % (law, n)), "--check", expect=None)
            check(code == 0, "gradients with mean dilatation, %s, on %d ranks: %s" % (law, n, said[-500:] if code else "differences agree"))


def wrong(recoil):
    def refused(change, *words, base=None):
        recoil.refuses(base or bent(), change, *words)

    mesh = recoil.path("2.obj")
    cook.membrane(mesh, 2)
    refused(lambda s: s["space"].update(discr_order=1), "mean_dilatation", "order 1", "discr_order")
    refused(lambda s: s.pop("space"), "mean_dilatation", "order 1")
    refused(lambda s: s["space"].update(discr_order=3), "mean_dilatation", "order 3", "leave the key out")
    refused(lambda s: s["materials"][0].update(mean_dilatation=1), "mean_dilatation", "true or false")
    refused(lambda s: s["materials"][0].update(mean_dilation=True), "mean_dilation", "mean_dilatation")
    refused(lambda s: s["materials"][0].update(mean_dilatation="yes"), "mean_dilatation", "true or false")
    refused(lambda s: s.update(mean_dilatation=True), "mean_dilatation")
    refused(lambda s: s["space"].update(discr_order=[{"body": "box", "order": 1}]), "mean_dilatation", "order 1", "/materials/0")
    refused(lambda s: s.update(solver={"type": "bonded_particles"}), "/materials/0")
    refused(lambda s: s["materials"].pop("plane"), "mean_dilatation", "plane stress", "strain", base=cook.scene(mesh, 2, True, 0.4999))


if __name__ == "__main__":
    with runs.Recoil() as recoil:
        beam(recoil)
        ranks(recoil)
        gradients(recoil)
        wrong(recoil)
