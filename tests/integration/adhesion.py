"""Adhesion: the gap of a hanging block and the load that tears it off against closed forms, energy balance, forces of obstacles, restarts, ranks,
gradients by its strength, material, shape and motion, wrong inputs."""
import csv

import numpy as np
import runs
from runs import check

SIZE, RHO, G, PEAK, REACH = 0.1, 1000.0, 9.81, 1e-3, 4e-3
WEIGHT = RHO * G * SIZE  # per area
# Areas of the vertices of the top over the top: those on its edges have a part of the sides.
AREAS = {2: 4 / 3, 3: 5 / 3}


def hanging(strength, dim=3, steps=30, convergent=True, ceiling="plane", E=1e9):
    """A block below a ceiling, as far away as half the peak, in steps so long that it comes to rest at once."""
    axis, top = dim - 1, SIZE / 2 + PEAK / 2
    up = [0] * axis + [1]
    if ceiling == "plane":
        obstacle = {"is_obstacle": True, "type": "plane", "name": "ceiling", "point": [top * x for x in up], "normal": [-x for x in up]}
        obstacles = [obstacle]
    else:
        plate = {"generator": {"type": "box", "size": [2 * SIZE, 2 * SIZE, 0.02], "divisions": [3, 3, 1]},
                 "transformation": {"translation": [0.003, 0.004, top + 0.01]}}
        obstacles = [{"name": "ceiling", "is_obstacle": True, **plate}]
    block = {"name": "block", "generator": {"type": "box" if dim == 3 else "rectangle", "size": [SIZE] * dim, "divisions": [3] * dim}}
    # The diagonals give areas to one side more than to the other: the block may not turn.
    block["surface_selection"] = [{"id": 1, "axis": "-x", "position": -0.499 * SIZE}]
    return {"geometry": [block] + obstacles,
            "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0] * dim, "dimension": [True] * axis + [False]}]},
            "materials": {"type": "NeoHookean", "E": E, "nu": 0.3, "rho": RHO}, "gravity": [-G * x for x in up],
            "contact": {"enabled": True, "dhat": 2e-4, "use_convergent_formulation": convergent,
                        "adhesion": {"adhesion_enabled": True, "adhesion_strength": strength, "dhat_p": PEAK, "dhat_a": REACH}},
            "time": {"dt": 0.05, "time_steps": steps}}


def gap(folder, dim):
    heights = runs.coordinates(folder)[:, dim - 1] + runs.state(folder)[:, dim - 1]
    return SIZE / 2 + PEAK / 2 - heights.max()


def gaps(recoil):
    for dim in (2, 3):
        for share in (0.6, 0.9):
            path = recoil.write_scene("hangs", hanging(WEIGHT / share / AREAS[dim], dim))
            for ranks in (1, 3) if dim == 3 else (2,):
                found = gap(recoil.simulate(ranks, path, "hangs-%d-%g-%d" % (dim, share, ranks)), dim)
                # A = d^2 / (2 p) pulls with d / p.
                check(abs(found / (share * PEAK) - 1) < 1e-3, "hanging block in %dD on %d ranks: gap %.4f of the peak, %.1f expected" %
                      (dim, ranks, found / PEAK, share))
        # A pair of the plain form pulls with (d / p)^3.
        corners = 4**(dim - 1)
        share = 0.7
        path = recoil.write_scene("plain", hanging(WEIGHT * SIZE**(dim - 1) / corners / share**3, dim, convergent=False))
        found = gap(recoil.simulate(1, path, "plain-%d" % dim), dim)
        check(abs(found / (share * PEAK) - 1) < 0.02, "plain form in %dD: gap %.4f of the peak, %.1f expected" % (dim, found / PEAK, share))
        torn = recoil.simulate(2, recoil.write_scene("falls", hanging(WEIGHT / 1.05 / AREAS[dim], dim)), "falls-%d" % dim)
        check(gap(torn, dim) > 0.1, "a block 5 %% heavier than the adhesion holds falls in %dD" % dim)
    path = recoil.write_scene("plate", hanging(3 * WEIGHT, ceiling="mesh"))
    held = [gap(recoil.simulate(ranks, path, "plate-%d" % ranks), 3) / PEAK for ranks in (1, 2, 3)]
    check(0.2 < held[0] < 1 and max(abs(gap_of / held[0] - 1) for gap_of in held) < 1e-5,
          "below a ceiling of triangles: gaps of %s of the peak on 1, 2, 3 ranks" % held)


def balance(recoil):
    """What adhesion stores is in the ledger, its forces are those of the ceiling; a restart on as many ranks ends at the same bits."""
    share, area = 0.8, SIZE**2
    path = recoil.write_scene("rests", hanging(WEIGHT / share / AREAS[3]))
    whole = recoil.simulate(2, path, "rests")
    ledger = runs.summary(whole)["energies"]
    stored = WEIGHT / share * area * PEAK * (share**2 / 2 - REACH / PEAK / 2)
    check(abs(ledger["barrier"] / stored - 1) < 1e-3, "energy of adhesion: %.4e J, %.4e J expected" % (ledger["barrier"], stored))
    sums = [ledger[name] for name in ("kinetic", "elastic", "barrier", "external_work", "dissipated_friction", "dissipated_damping",
                                      "dissipated_integrator")]
    start = WEIGHT / share * area * PEAK * (0.5**2 / 2 - REACH / PEAK / 2)
    rest = sum(sums[:3]) - start - sums[3] + sum(sums[4:])
    check(abs(rest) < 1e-6 * abs(stored) and ledger["dissipated_integrator"] > 0, "energy balance of a block that comes to rest: off by %.1e" %
          abs(rest / stored))
    with open(whole + "/reactions.csv") as file:
        pulled = [float(row["force_z"]) for row in csv.DictReader(file) if row["name"] == "ceiling"]
    check(abs(pulled[-1] / (WEIGHT * area) - 1) < 1e-3, "the ceiling carries the weight: %.5f of it" % (pulled[-1] / (WEIGHT * area)))
    parts = recoil.path("parts")
    recoil.run(2, "simulate", path, "-o", parts, "-q", "--steps", "11")
    recoil.run(2, "simulate", "--restart", parts, "-q")
    check(np.array_equal(runs.state(whole), runs.state(parts)), "a run with adhesion that was continued ends at the same bits")


def gradients(recoil):
    """By the strength, the material, the shape and the motion of the ceiling, friction and edges in play."""
    scene = hanging(3 * WEIGHT, steps=3, ceiling="mesh", E=1e7)
    scene["time"]["dt"] = 0.004
    scene["contact"].update(friction_coefficient=0.3)
    scene["solver"] = {"contact": {"barrier_stiffness": 1e7}}
    scene["geometry"][0]["transformation"] = {"rotation": [1, 0.7, 20], "translation": [0, 0, -0.002]}
    scene["initial_conditions"] = {"velocity": [{"body": "block", "value": [0.1, 0.05, 0.1]}]}
    for dim, base in ((3, scene), (2, dict(hanging(WEIGHT / 0.7, 2, 4, E=1e7), solver={"contact": {"barrier_stiffness": 1e6}}))):
        study = {"experiments": [{"name": "hung", "scene": recoil.write_scene("hung-%d" % dim, base)}],
                 "parameters": [{"name": "Y", "quantity": "adhesion_strength", "initial": 3 * WEIGHT if dim == 3 else WEIGHT / 0.7},
                                {"name": "E", "quantity": "young_modulus", "initial": 1e7},
                                {"name": "s", "quantity": "shape", "basis": {"extension": "harmonic"}}],
                 "objectives": [{"experiment": "hung", "type": "position_integral", "name": "x", "axis": "xyz"[dim - 1], "weight": 1e6}]}
        path = recoil.write_scene("study-%d" % dim, study)
        for ranks in (1, 3):
            code, said = recoil.run(ranks, "gradient", path, "-o", recoil.path("gradient-%d-%d" % (dim, ranks)), "--check", expect=None)
            check(code == 0, "gradients with adhesion in %dD on %d ranks: %s" % (dim, ranks, said[-500:] if code else "differences agree"))


def wrong(recoil):
    good = hanging(WEIGHT / 0.7)

    def refused(change, *words):
        recoil.refuses(good, lambda scene: change(scene["contact"]), *words)

    refused(lambda c: c["adhesion"].pop("adhesion_strength"), "adhesion_strength", "missing")
    refused(lambda c: c["adhesion"].update(adhesion_strength=-1), "adhesion_strength", ">= 0")
    refused(lambda c: c["adhesion"].update(dhat_a=PEAK), "dhat_a", "dhat_p")
    refused(lambda c: c["adhesion"].update(dhat_p=1e-4), "dhat_p", "dhat")
    refused(lambda c: (c.pop("dhat"), c.update(dhat_relative=0.05)), "dhat_p", "dhat_relative")
    refused(lambda c: c["adhesion"].update(dhat_p=0), "dhat_p", "> 0")
    refused(lambda c: c["adhesion"].update(strength=3), "strength", "adhesion_strength")
    refused(lambda c: c["adhesion"].update(tangential_adhesion_coefficient=0.1), "tangential_adhesion_coefficient", "friction")
    refused(lambda c: c["adhesion"].update(adhesion_enabled="yes"), "adhesion_enabled", "true or false")
    refused(lambda c: c.update(enabled=False), "adhesion_enabled", "contact/enabled")
    refused(lambda c: (c.pop("use_convergent_formulation"), c.update(use_gcp_formulation=True)), "use_gcp_formulation", "keep one")


with runs.Recoil() as recoil:
    gaps(recoil)
    balance(recoil)
    gradients(recoil)
    wrong(recoil)
