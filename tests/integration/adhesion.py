"""Adhesion: the gap of a hanging block, the load that tears it off and the velocity it creeps with against closed forms, energy balance, forces of
obstacles, restarts, ranks, gradients by its strength, its tangential coefficient, material, shape and motion, wrong inputs."""
import copy
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


PULL = 0.6 * G  # along the ceiling
EPSA = 1e-3


def sticking(load, dim=3, steps=8, **changes):
    """The block at a fixed gap below a ceiling, pulled along it with this share of what tangential adhesion holds at most."""
    strength = 2 * WEIGHT
    scene = hanging(strength, dim, steps, E=1e7, **changes)
    scene["geometry"][0]["surface_selection"] = [{"id": 1, "axis": "-" + "xyz"[dim - 1], "position": -0.499 * SIZE}]
    scene["boundary_conditions"]["dirichlet_boundary"] = [{"id": 1, "value": [0] * dim, "dimension": [False] + [True] * (dim - 1)}]
    scene["gravity"] = [PULL] + [0] * (dim - 1)
    scene["contact"]["adhesion"].update(tangential_adhesion_coefficient=RHO * SIZE * PULL / load / (strength * AREAS[dim]), epsa=EPSA)
    return scene


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


def creeping(recoil):
    """What holds grows with the velocity up to epsa: with the load r it creeps with v, (2 - v / epsa) v / epsa = r."""
    for dim in (2, 3):
        for load in (0.36, 0.96):
            path = recoil.write_scene("creeps", sticking(load, dim))
            for ranks in (1, 3) if dim == 3 else (2,):
                folder = recoil.simulate(ranks, path, "creeps-%d-%g-%d" % (dim, load, ranks))
                speeds = (runs.state(folder)[:, 0] - runs.state(folder, 7)[:, 0]) / 0.05 / EPSA
                expected = 1 - (1 - load)**0.5
                check(abs(speeds.mean() / expected - 1) < 2e-4 and np.ptp(speeds) < 2e-3 * expected, "block under %g of what holds it in %dD on %d ranks: creeps with %.6f epsa, %.1f expected" %
                      (load, dim, ranks, speeds.mean(), expected))
        away = recoil.simulate(2, recoil.write_scene("slides", sticking(1.05, dim)), "slides-%d" % dim)
        check(runs.state(away)[:, 0].min() > 0.1, "under 1.05 of it, it slides away in %dD" % dim)
    path = recoil.write_scene("book", sticking(0.96))
    whole = recoil.simulate(2, path, "book")
    ledger, volume = runs.summary(whole)["energies"], SIZE**3
    stored = 2 * WEIGHT * AREAS[3] * SIZE**2 * PEAK * (0.5**2 / 2 - REACH / PEAK / 2)
    rest = sum(ledger[name] for name in ("kinetic", "elastic", "barrier", "dissipated_friction", "dissipated_integrator")) - stored - ledger["external_work"]
    check(abs(rest) < 1e-9 * ledger["external_work"] and 0.95 < ledger["dissipated_friction"] / ledger["external_work"] < 1,
          "creeping takes %.3f of the work of the load, balance of energy off by %.1e of it" %
          (ledger["dissipated_friction"] / ledger["external_work"], abs(rest / ledger["external_work"])))
    with open(whole + "/reactions.csv") as file:
        held = [float(row["force_x"]) for row in csv.DictReader(file) if row["name"] == "ceiling"]
    check(abs(held[-1] / (RHO * volume * PULL) + 1) < 1e-4, "the ceiling carries %.6f of the load along it" % (-held[-1] / (RHO * volume * PULL)))
    parts = recoil.path("crept")
    recoil.run(2, "simulate", path, "-o", parts, "-q", "--steps", "3")
    recoil.run(2, "simulate", "--restart", parts, "-q")
    check(np.array_equal(runs.state(whole), runs.state(parts)), "a run with tangential adhesion that was continued ends at the same bits")
    # PolyFEM's normal force is adhesion_strength / (2 dhat_p).
    ours = sticking(0.7, 2, 3, convergent=False)
    theirs = copy.deepcopy(ours)
    theirs["conventions"] = "polyfem"
    theirs["contact"]["adhesion"]["tangential_adhesion_coefficient"] *= 2 * PEAK
    theirs["solver"] = {"contact": {"tangential_adhesion_iterations": 1}}
    ends = [runs.state(recoil.simulate(1, recoil.write_scene(name, scene), name)) for name, scene in (("ours", ours), ("theirs", theirs))]
    off = abs(ends[0] - ends[1]).max() / abs(ends[0]).max()
    check(abs(ends[0]).max() > 1e-6 and off < 1e-9, "2 dhat_p of PolyFEM's coefficient are one of ours: displacements of %.1e m differ by %.1e of that" % (abs(ends[0]).max(), off))


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
    scene["contact"]["adhesion"].update(tangential_adhesion_coefficient=0.4, epsa=0.06)
    flat = dict(hanging(WEIGHT / 0.7, 2, 4, E=1e7), solver={"contact": {"barrier_stiffness": 1e6}}, gravity=[0.5 * G, -G])
    flat["boundary_conditions"]["dirichlet_boundary"] = []
    flat["contact"]["adhesion"].update(tangential_adhesion_coefficient=0.5, epsa=0.05)
    lagged_again = copy.deepcopy(flat)
    lagged_again["solver"]["contact"]["friction_iterations"] = -1
    # Held at a side, it bends away from the ceiling and slides along it by about epsa.
    static = hanging(WEIGHT / 0.7, 2, E=1e5)
    static.pop("time")
    static["boundary_conditions"]["dirichlet_boundary"][0]["dimension"] = [True, True]
    static.update(solver={"contact": {"barrier_stiffness": 1e6}}, gravity=[0.5 * G, -0.2 * G])
    static["contact"]["adhesion"].update(tangential_adhesion_coefficient=0.5, epsa=3e-4)
    for name, dim, base, strength in (("steep", 3, scene, 3 * WEIGHT), ("flat", 2, flat, WEIGHT / 0.7), ("again", 2, lagged_again, WEIGHT / 0.7),
                                      ("static", 2, static, WEIGHT / 0.7)):
        study = {"experiments": [{"name": "hung", "scene": recoil.write_scene("hung-" + name, base)}],
                 "parameters": [{"name": "Y", "quantity": "adhesion_strength", "initial": strength},
                                {"name": "mu", "quantity": "tangential_adhesion_coefficient", "initial": 0.4 if dim == 3 else 0.5},
                                {"name": "E", "quantity": "young_modulus", "initial": base["materials"]["E"]},
                                {"name": "s", "quantity": "shape", "basis": {"extension": "harmonic"}}],
                 "objectives": [{"experiment": "hung", "type": "position_integral", "name": "x", "axis": "x", "weight": 1e6},
                                {"experiment": "hung", "type": "position_integral", "name": "z", "axis": "xyz"[dim - 1], "weight": 1e6}]}
        path = recoil.write_scene("study-" + name, study)
        for ranks in (1, 3) if name == "steep" else (2,):
            code, said = recoil.run(ranks, "gradient", path, "-o", recoil.path("gradient-%s-%d" % (name, ranks)), "--check", expect=None)
            check(code == 0, "gradients with adhesion, %s, on %d ranks: %s" % (name, ranks, said[-500:] if code else "differences agree"))


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
    for value, words in ((-0.1, ">= 0"), ("much", "number"), ([0.1], "number"), (True, "number")):
        refused(lambda c: c["adhesion"].update(tangential_adhesion_coefficient=value), "tangential_adhesion_coefficient", words)
    refused(lambda c: c["adhesion"].update(tangential_adhesion_coefficient=0.1, epsa=0), "epsa", "> 0")
    refused(lambda c: c["adhesion"].update(tangential_adhesion_coefficient=0.1, epsa=-1e-3), "epsa", "> 0")
    refused(lambda c: c["adhesion"].update(tangential_adhesion_coefficient=0.1, eps_a=1e-3), "eps_a", "epsa")
    refused(lambda c: c["adhesion"].update(tangential_coefficient=0.1), "tangential_coefficient", "tangential_adhesion_coefficient")
    recoil.refuses(sticking(0.5), lambda scene: scene.update(solver={"contact": {"friction_iterations": 0}}), "tangential_adhesion_coefficient",
                   "friction_iterations")
    refused(lambda c: c["adhesion"].update(adhesion_enabled="yes"), "adhesion_enabled", "true or false")
    refused(lambda c: c.update(enabled=False), "adhesion_enabled", "contact/enabled")
    refused(lambda c: (c.pop("use_convergent_formulation"), c.update(use_gcp_formulation=True)), "use_gcp_formulation", "keep one")
    for change, word in ((lambda a: a.pop("tangential_adhesion_coefficient"), "has none"), (lambda a: a.update(adhesion_enabled=False), "enabled")):
        scene = sticking(0.5)
        change(scene["contact"]["adhesion"])
        study = {"experiments": [{"name": "hung", "scene": recoil.write_scene("without", scene)}],
                 "parameters": [{"name": "mu", "quantity": "tangential_adhesion_coefficient", "initial": 0.4}],
                 "objectives": [{"experiment": "hung", "type": "position_integral", "name": "x", "axis": "x"}]}
        code, said = recoil.run(1, "gradient", recoil.write_scene("study-without", study), "-o", recoil.path("refused"), expect=None)
        check(code == 2 and "tangential_adhesion_coefficient" in said and word in said, "a study of a scene without: %d, %s" % (code, said.strip()[-300:]))


with runs.Recoil() as recoil:
    gaps(recoil)
    creeping(recoil)
    balance(recoil)
    gradients(recoil)
    wrong(recoil)
