"""Asynchronous contact of bodies of volume and of spheres with shells, and loads: a block that falls on a cloth, continued and on
several ranks to the same bits; spheres on a cloth and on an obstacle; pressure, traction and body forces against what follows from
Newton's law and from the membrane theory of a sphere; places of pictures; what is refused once meshes are read."""
import json
import os
import subprocess
import sys

import numpy as np
import runs

STEPS = 8


def ball(radius, cuts):
    """An icosahedron, cut and blown up."""
    g = (1 + 5 ** 0.5) / 2
    points = [np.array(p, float) for p in [(-1, g, 0), (1, g, 0), (-1, -g, 0), (1, -g, 0), (0, -1, g), (0, 1, g), (0, -1, -g), (0, 1, -g), (g, 0, -1),
                                           (g, 0, 1), (-g, 0, -1), (-g, 0, 1)]]
    faces = [(0, 11, 5), (0, 5, 1), (0, 1, 7), (0, 7, 10), (0, 10, 11), (1, 5, 9), (5, 11, 4), (11, 10, 2), (10, 7, 6), (7, 1, 8),
             (3, 9, 4), (3, 4, 2), (3, 2, 6), (3, 6, 8), (3, 8, 9), (4, 9, 5), (2, 4, 11), (6, 2, 10), (8, 6, 7), (9, 8, 1)]
    for _ in range(cuts):
        middle, cut = {}, []

        def between(a, b):
            key = min(a, b), max(a, b)
            if key not in middle:
                middle[key] = len(points)
                points.append((points[a] + points[b]) / 2)
            return middle[key]

        for a, b, c in faces:
            ab, bc, ca = between(a, b), between(b, c), between(c, a)
            cut += [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        faces = cut
    return [tuple(radius * p / np.linalg.norm(p)) for p in points], faces


CLOTH = {"type": "Shell", "stretching_stiffness": 200, "bending_stiffness": 1e-4, "area_density": 0.4}

BLOCK = {
    "geometry": [{"name": "cloth", "mesh": "cloth.obj", "point_selection": [{"id": 1, "axis": "-x", "position": -0.0499}, {"id": 1, "axis": "x", "position": 0.0499}]},
                 {"name": "block", "generator": {"type": "box", "size": [0.03, 0.03, 0.02], "divisions": [2, 2, 1]},
                  "transformation": {"translation": [0.004, -0.003, 0.0175], "rotation": [10, 5, 20]}}],
    "materials": [dict(CLOTH, body="cloth"), {"body": "block", "type": "NeoHookean", "E": 2e4, "nu": 0.3, "rho": 300}],
    "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0, 0]}]},
    "initial_conditions": {"velocity": [{"body": "block", "value": [0, 0, -0.4]}]},
    "gravity": [0, 0, -9.8],
    "contact": {"enabled": True, "dhat": 0.002, "layer_stiffness": 400},
    "time": {"dt": 0.005, "time_steps": STEPS},
    "solver": {"type": "asynchronous", "asynchronous": {"layer_share": 0.05, "gravity_step": 2e-4}},
    "output": {"every": 2, "chunk": 2},
}

SPHERES = dict(
    BLOCK,
    geometry=[BLOCK["geometry"][0],
              {"name": "balls", "spheres": {"centers": [[0.003, 0.002, 0.012], [-0.018, 0.011, 0.013], [0.002, 0.0285, -0.039]], "radius": 0.008}},
              {"name": "ramp", "mesh": "ramp.obj", "is_obstacle": True}],
    materials=[dict(CLOTH, body="cloth"), {"body": "balls", "type": "Spheres", "mass": 0.002}],
    initial_conditions={"velocity": [{"body": "balls", "value": [0, 0, -0.4]}]})


def table(folder):
    return np.atleast_1d(np.genfromtxt(os.path.join(folder, "ledger.csv"), delimiter=",", names=True))


def same_motion(folder, whole):
    return all(np.array_equal(runs.state(folder, step, field), runs.state(whole, step, field)) for field in ("u", "v") for step in range(0, STEPS + 1, 2))


def check_ledger(folder, energy):
    rows = table(folder)
    runs.check(np.abs(rows["energy_error"]).max() < energy, "energy to %.1e" % np.abs(rows["energy_error"]).max())
    runs.check(rows["momentum_error"].max() < 1e-11, "linear momentum to %.1e" % rows["momentum_error"].max())
    runs.check((rows["intersections"] == 0).all(), "no intersections in any state")
    gaps = rows["min_distance"][np.isfinite(rows["min_distance"])]
    runs.check(len(gaps) > 0 and gaps.min() > 0, "contact, %.2g m apart at least" % gaps.min())
    return rows


def check_block(recoil):
    path = recoil.write_scene("block", BLOCK)
    _, said = recoil.run(1, "validate", path)
    runs.check("block: solid, 18 vertices, 24 tetrahedra, mass 0.0054 kg" in said and "steps of tetrahedra" in said, "validate describes the solid")
    whole = recoil.simulate(1, path, "block")
    rows = check_ledger(whole, 0.01)
    runs.check(rows["elastic"].max() > 1e-6 and rows["stretching"].max() > 1e-6, "block and cloth deform: %.2g J, %.2g J" % (rows["elastic"].max(), rows["stretching"].max()))
    for ranks in (2, 3):
        runs.check(same_motion(recoil.simulate(ranks, path, "block on %d" % ranks), whole), "%d ranks: the same motion, bit for bit" % ranks)
    parts = recoil.simulate(1, path, "parts", "--steps", 5)
    recoil.run(1, "simulate", "--restart", parts, "-q")
    runs.check(same_motion(parts, whole) and open(os.path.join(parts, "ledger.csv")).read() == open(os.path.join(whole, "ledger.csv")).read(),
               "continued after step 5: the same bits")
    runs.check(recoil.run(1, "info", whole)[0] == 0, "the folder is sound")
    check_files(whole)


def check_files(folder):
    """Tetrahedra beside triangles for ParaView and pictures."""
    xdmf = [name for name in os.listdir(os.path.join(folder, "trajectory")) + os.listdir(folder) if name.endswith((".xdmf", ".xmf"))]
    runs.check(xdmf != [], "a file for ParaView: %s" % xdmf)
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "render.py")
    drawn = subprocess.run([sys.executable, script, folder, "--width", "300"], capture_output=True, text=True)
    runs.check(drawn.returncode == 0 or "matplotlib" in drawn.stderr, "drawn: %s" % (drawn.stdout + drawn.stderr).strip()[-100:])


def check_spheres(recoil):
    path = recoil.write_scene("spheres", SPHERES)
    whole = recoil.simulate(1, path, "spheres")
    check_ledger(whole, 0.01)
    last = runs.coordinates(whole) + runs.state(whole)
    balls, start = last[-3:], runs.coordinates(whole)[-3:]
    runs.check((balls[:2, 2] > start[:2, 2] - 0.4 * 0.005 * STEPS).all() and (runs.state(whole, field="v")[-3:, 2] > -0.4).all(), "cloth and ramp slow spheres down")
    runs.check(runs.state(whole, field="v")[-1, 0] > 0.05, "the ramp deflects its sphere to the side")
    runs.check(same_motion(recoil.simulate(2, path, "spheres on 2"), whole), "spheres on 2 ranks: the same motion, bit for bit")


def free(shape, material, conditions, **more):
    return dict({"geometry": [shape], "materials": material, "boundary_conditions": conditions, "time": {"dt": 0.01, "time_steps": 4},
                 "solver": {"type": "asynchronous", "asynchronous": {"gravity_step": 1e-4}}}, **more)


def check_newton(recoil):
    """Loads on free bodies change their momentum by their impulse, and their energy by their work."""
    sheet = {"name": "sheet", "mesh": "cloth.obj", "surface_selection": 1}
    mass = 0.4 * 0.01
    cases = {"pressure": ({"pressure_boundary": [{"id": 1, "value": "0.3*t"}]}, [0, 0, 0.5 * 0.3 * 0.04 ** 2 * 0.01]),
             "traction": ({"neumann_boundary": [{"id": 1, "value": [0.2, 0, "-cos(30*t)"]}]}, [0.2 * 0.04 * 0.01, 0, -np.sin(1.2) / 30 * 0.01]),
             "rhs": ({"rhs": ["-2*cos(20*t)", 0, -1]}, [mass * 2 * np.sin(0.8) / 20, 0, mass * 0.04])}
    for name, (conditions, momentum) in cases.items():
        shape = sheet if name != "rhs" else {"name": "sheet", "mesh": "cloth.obj"}
        folder = recoil.simulate(1, recoil.write_scene(name, free(shape, CLOTH, conditions)), name)
        last = table(folder)[-1]
        own = np.array([last["linear_x"], last["linear_y"], last["linear_z"]])
        error = np.abs(own - momentum).max() / np.abs(momentum).max()
        runs.check(error < 4e-3, "%s: momentum of a free sheet to %.1e" % (name, error))
        runs.check(abs(last["energy_error"]) < 1e-3 and last["momentum_error"] < 1e-11 and last["kinetic"] > 0, "%s: the ledger closes to %.1e" % (name, last["energy_error"]))
    both = recoil.write_scene("on 2", free(sheet, CLOTH, dict(cases["rhs"][0], **cases["pressure"][0])))
    one, two = (recoil.simulate(ranks, both, "loads on %d" % ranks) for ranks in (1, 2))
    runs.check(np.array_equal(runs.state(one), runs.state(two)), "loads on 2 ranks: the same motion, bit for bit")


def check_balloon(recoil):
    """A sphere of membrane under a sudden pressure p swings about the radius at rest of theory, R + p R^2 (1 - nu)/(2 E h)."""
    radius, stiffness, density, nu, p = 0.05, 100.0, 0.5, 0.3, 20.0
    material = {"type": "Shell", "stretching_stiffness": stiffness, "nu": nu, "bending_stiffness": 0, "area_density": density}
    swing = p * radius ** 2 * (1 - nu) / (2 * stiffness)
    period = 2 * np.pi * np.sqrt(density * radius ** 2 * (1 - nu) / (2 * stiffness))
    scene = free({"name": "balloon", "mesh": "ball.obj", "surface_selection": 3}, material, {"pressure_boundary": [{"id": 3, "value": p}]},
                 time={"dt": period / 16, "time_steps": 16})
    folder = recoil.simulate(1, recoil.write_scene("balloon", scene), "balloon")
    rest = runs.coordinates(folder)
    growth = [np.linalg.norm(rest + runs.state(folder, step), axis=1).mean() - radius for step in range(17)]
    runs.check(abs(growth[8] / (2 * swing) - 1) < 0.05, "half a period: radius grows by %.4g m, theory %.4g" % (growth[8], 2 * swing))
    runs.check(abs(growth[16]) < 0.05 * swing, "a whole period: back to %.1e of the swing" % (growth[16] / swing))
    last = table(folder)[-1]
    runs.check(np.abs([last["linear_x"], last["linear_y"], last["linear_z"]]).max() < 1e-13, "a pressure inside moves nothing as a whole")


def check_refused(recoil):
    def refused(name, base, change, *parts):
        recoil.refuses(base, change, *parts, what=name)

    def block(**changes):
        return lambda s: s["geometry"][1].update(changes)

    refused("block in the cloth", BLOCK, block(transformation={}), "(/geometry)", "cloth", "block", "move the bodies apart")
    refused("block under a floor", BLOCK, lambda s: s["geometry"].append({"name": "floor", "type": "plane", "is_obstacle": True, "point": [0, 0, 0.01], "normal": [0, 0, 1]}),
            "(/geometry)", "of 'cloth'", "plane 'floor'", "/geometry/0", "/geometry/2", "move them apart")
    refused("a solid of triangles", BLOCK, lambda s: s["materials"][0].update({"type": "NeoHookean", "E": 1e5, "nu": 0.3}), "(/materials/0", "this is a solid")
    refused("a surface as solid", BLOCK, lambda s: s["materials"].__setitem__(0, {"body": "cloth", "type": "NeoHookean", "E": 1e5, "nu": 0.3}), "cloth", "tetrahedra")
    refused("thick layers", BLOCK, lambda s: s["contact"].update(dhat=0.05), "(/contact/dhat)", "'cloth'", "/geometry/0", "write at most")
    refused("layers as thick as a body", dict(SPHERES), lambda s: (s["geometry"].pop(0), s["geometry"].pop(1), s["materials"].pop(0), s["boundary_conditions"].clear(),
            s["contact"].update(dhat=0.3)), "(/contact/dhat)", "'balls'", "the smallest radius")
    refused("spheres in the cloth", SPHERES, lambda s: s["geometry"][1]["spheres"].update(radius=0.02), "(/geometry)", "of 'balls'", "move them apart")
    refused("a pressure on nothing", BLOCK, lambda s: s["boundary_conditions"].update(pressure_boundary=[{"id": 9, "value": 1}]),
            "(/boundary_conditions/pressure_boundary/0)", "surface_selection")
    refused("no triangle there", BLOCK, lambda s: (s["boundary_conditions"].update(pressure_boundary=[{"id": 9, "value": 1}]),
            s["geometry"][1].update(surface_selection=[{"id": 9, "axis": "z", "position": 7}])), "(/geometry/1/surface_selection/0)", "selects no triangle")
    refused("a pressure without value", BLOCK, lambda s: (s["boundary_conditions"].update(pressure_boundary=[{"id": 9, "value": "1/(t-t)"}]),
            s["geometry"][1].update(surface_selection=9)), "(/boundary_conditions/pressure_boundary/0)", "pressure")
    refused("a force without value", BLOCK, lambda s: s["boundary_conditions"].update(rhs=["log(t-1)", 0, 0]), "(/boundary_conditions/rhs)", "acceleration")
    scene = json.loads(json.dumps(BLOCK))
    scene["boundary_conditions"]["rhs"] = ["1/(0.02-t)*sqrt(0.02-t)", 0, 0]
    code, said = recoil.run(2, "simulate", recoil.write_scene("ends", scene), "-o", recoil.path("ends"), expect=None)
    runs.check(code == 3 and "has no finite value at 0.02" in said and "correct its formula" in said, "a force that ends on two ranks: exit %d" % code)


def check_jobs(recoil):
    """Every job that comes along is a scene that could be run."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "jobs", "async")
    jobs = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
    for name in jobs:
        code, said = recoil.run(1, "validate", os.path.join(folder, name), expect=None)
        runs.check(code == 0, "jobs/async/%s: %s" % (name, said.strip().splitlines()[0][:120] if said.strip() else code))
    runs.check(len(jobs) >= 12, "%d jobs" % len(jobs))


with runs.Recoil() as recoil:
    runs.write_obj(recoil.path("cloth.obj"), runs.sheet(8, 0.1, 0))
    runs.write_obj(recoil.path("ball.obj"), ball(0.05, 2))
    runs.write_obj(recoil.path("ramp.obj"), ([(-0.02, -0.01, -0.04), (0.03, -0.01, -0.07), (0.03, 0.06, -0.07), (-0.02, 0.06, -0.04)], [(0, 1, 2), (0, 2, 3)]))
    check_block(recoil)
    check_spheres(recoil)
    check_newton(recoil)
    check_balloon(recoil)
    check_refused(recoil)
    check_jobs(recoil)
