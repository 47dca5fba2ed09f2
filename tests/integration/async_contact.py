"""Asynchronous contact: a cloth that falls on spikes and a plate that rises, continued in the middle and after kills and signals to
the same bits; friction that sticks across a restart; discs in a box; ranks; what is refused once meshes are read. `--kills 20` is
the long form (run_async_contact_killed)."""
import json
import os
import random
import shutil
import signal
import subprocess
import time

import numpy as np
import runs

STEPS = 12
FIELDS = ("u", "v", "integrator")


def spike(x, y):
    return [(x + 0.006 * np.cos(2.1 * i), y + 0.006 * np.sin(2.1 * i), 0) for i in range(3)] + [(x, y, 0.03)], [(0, 1, 3), (1, 2, 3), (2, 0, 3)]


CLOTH = {
    "geometry": [{"name": "cloth", "mesh": "cloth.obj", "point_selection": [{"id": 1, "axis": "-x", "position": -0.0499}]},
                 {"name": "spikes", "mesh": "spikes.obj", "is_obstacle": True},
                 {"name": "plate", "type": "plane", "is_obstacle": True, "point": [0, 0, -0.002], "normal": [0, 0, 1], "surface_selection": 2}],
    "materials": {"type": "Shell", "stretching_stiffness": 50, "bending_stiffness": 1e-4, "area_density": 0.2, "stretch_damping": 0.01,
                  "yield_angle": 0.2},
    "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": ["0.05*t", 0, "0.02*sin(30*t)"]}],
                            "obstacle_displacements": [{"id": 2, "value": [0, 0, "0.1*t"]}]},
    "initial_conditions": {"velocity": [{"body": "cloth", "value": [0, 0, -0.5]}]},
    "gravity": [0, 0, -9.8],
    "contact": {"enabled": True, "dhat": 0.002, "layer_stiffness": 200, "friction_coefficient": 0.4, "anchor_stiffness": 20, "restitution": 0.6},
    "time": {"dt": 0.005, "time_steps": STEPS},
    "solver": {"type": "asynchronous", "asynchronous": {"layer_share": 0.05}},
    "output": {"every": 2, "chunk": 2},
}

DISCS = {
    "geometry": [{"name": "discs", "spheres": {"file": "discs.csv"}, "transformation": {"translation": [0.5, 0.5, 0]}}] +
                [{"name": name, "type": "plane", "is_obstacle": True, "point": point, "normal": normal} for name, point, normal in
                 (("left", [0, 0, 0], [1, 0, 0]), ("right", [1, 0, 0], [-1, 0, 0]), ("bottom", [0, 0, 0], [0, 1, 0]), ("top", [0, 1, 0], [0, -1, 0]))],
    "materials": {"type": "Spheres", "mass": 1},
    "initial_conditions": {"velocity": [{"body": "discs", "value": ["7*sin(1217*x + 3119*y)", "7*cos(2711*x - 1733*y)", 0]}]},
    "contact": {"enabled": True, "dhat": 0.002, "layer_stiffness": 1e6},
    "time": {"dt": 0.05, "time_steps": 4},
    "solver": {"type": "asynchronous"},
}


def table(folder):
    return np.atleast_1d(np.genfromtxt(os.path.join(folder, "ledger.csv"), delimiter=",", names=True))


def text(folder, name):
    with open(os.path.join(folder, name)) as file:
        return file.read()


def same_bits(folder, whole):
    return text(folder, "ledger.csv") == text(whole, "ledger.csv") and \
        all(np.array_equal(runs.state(folder, field=field), runs.state(whole, field=field)) for field in FIELDS)


def same_motion(folder, whole):
    """Bit for bit; sums over all events are of ranks and may differ in their last digits."""
    own, other = table(folder), table(whole)
    sums = [name for name in other.dtype.names if not name.endswith("_error")]
    return all(np.array_equal(runs.state(folder, step, field), runs.state(whole, step, field)) for field in ("u", "v") for step in range(0, STEPS + 1, 2)) and \
        all(np.allclose(own[name], other[name], rtol=1e-9, atol=1e-12, equal_nan=True) for name in sums)


def check_balance(folder, energy):
    """The ledger closes: energy to its bounded wander, linear momentum to rounding."""
    rows, told = table(folder), runs.summary(folder)
    runs.check(np.abs(rows["energy_error"]).max() < energy, "energy to %.1e" % np.abs(rows["energy_error"]).max())
    runs.check(rows["momentum_error"].max() < 1e-11, "linear momentum to %.1e" % rows["momentum_error"].max())
    runs.check(told["intersections"] == 0 and (rows["intersections"] == 0).all(), "no intersections in any state")
    gaps = rows["min_distance"][np.isfinite(rows["min_distance"])]
    runs.check(len(gaps) > 0 and gaps.min() > 0, "contact, %.2g m apart at least" % gaps.min())


def check_motion(folder):
    """Held vertices are where they are prescribed to be, and the meshes are those of the files."""
    rest = runs.coordinates(folder)
    points = runs.sheet(8, 0.1, 0.036, 0.0015)[0]
    runs.check(np.abs(rest - points).max() < 1e-15, "nodes in the order of the file")
    held = rest[:, 0] < -0.0499
    for step in (2, STEPS):
        t = 0.005 * step
        error = np.abs(runs.state(folder, step)[held] - [0.05 * t, 0, 0.02 * np.sin(30 * t)]).max()
        runs.check(error < 1e-12, "held vertices at step %d to %.1e m" % (step, error))
    runs.check(runs.state(folder)[~held][:, 2].min() < -0.005, "the cloth falls")
    last = table(folder)[-1]
    lost = [name for name in ("restitution", "friction", "stretching", "plasticity") if not last["dissipated_" + name] > 0]
    runs.check(not lost and last["wall_work"] != 0, "every cause dissipates %s" % lost)


def check_restarts(recoil, path, whole):
    for steps in (0, 5, 8):
        folder = recoil.simulate(1, path, "parts", "--steps", steps)
        recoil.run(1, "simulate", "--restart", folder, "-q")
        runs.check(same_bits(folder, whole), "continued after step %d: the same bits" % steps)


def check_kills(recoil, path, whole, seconds):
    moments, reached = random.Random(50), []
    for number in range(recoil.arguments.kills):
        folder = recoil.path("killed")
        shutil.rmtree(folder, ignore_errors=True)
        run = subprocess.Popen(recoil.command(1, "simulate", path, "-o", folder, "-q"), env=runs.ENVIRONMENT, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
        time.sleep(moments.uniform(0.3, 1) * seconds)
        os.kill(run.pid, signal.SIGKILL if number % 3 else signal.SIGTERM)
        run.wait()
        if os.path.exists(os.path.join(folder, "trajectory", "manifest.json")):
            reached.append(max(r["step"] for file in runs.manifest(folder)["files"] for r in file["states"] if "step" in r))
        recoil.run(1, "simulate", *(["--restart", folder] if os.path.exists(os.path.join(folder, "scene.json")) else [path, "-o", folder]), "-q")
        runs.check(same_bits(folder, whole), "stop %d: the same bits" % number)
    print("      last states of steps %s" % sorted(reached), flush=True)


def check_ranks(recoil, path, whole):
    for ranks in (2, 3):
        runs.check(same_motion(recoil.simulate(ranks, path, "on %d" % ranks), whole), "%d ranks: the same motion, bit for bit" % ranks)
    folder = recoil.simulate(2, path, "moved", "--steps", 5)
    recoil.run(3, "simulate", "--restart", folder, "-q", "--steps", 8)
    recoil.run(1, "simulate", "--restart", folder, "-q")
    runs.check(same_motion(folder, whole), "on 2, then 3, then 1 rank: the same motion, bit for bit")


def check_certificates(recoil, whole):
    path = recoil.write_scene("slabs", dict(CLOTH, solver={"type": "asynchronous", "asynchronous": {"layer_share": 0.05, "certificates": "slabs"}}))
    runs.check(same_bits(recoil.simulate(1, path, "slabs"), whole), "slabs and windows: the same bits")
    code, said = recoil.run(2, "validate", path, expect=None)
    runs.check(code == 2 and "(/solver/asynchronous/certificates)" in said, "slabs are refused on two ranks")


def check_discs(recoil):
    rows = 8
    places = [((i + 0.5) / rows - 0.5, (j + 0.5) / rows - 0.5) for j in range(rows) for i in range(rows)]
    np.savetxt(recoil.path("discs.csv"), [(x, y, 0, 0.02) for x, y in places], delimiter=",", header="x,y,z,radius", comments="")
    folder = recoil.simulate(1, recoil.write_scene("discs", DISCS), "discs")
    check_balance(folder, 0.005)
    places = runs.coordinates(folder) + runs.state(folder)
    between = np.linalg.norm(places[:, None] - places[None], axis=2) + np.eye(len(places))
    runs.check(between.min() > 0.04 and places[:, :2].min() > 0.02 and places[:, :2].max() < 0.98, "discs neither overlap nor leave the box")
    runs.check((places[:, 2] == 0).all(), "discs stay in the plane")


def check_refused(recoil):
    """What only the meshes show."""
    def refused(name, change, *parts):
        recoil.refuses(CLOTH, change, *parts, what=name)

    refused("no such id", lambda s: s["boundary_conditions"]["dirichlet_boundary"][0].update(id=7), "(/boundary_conditions/dirichlet_boundary/0)", "point_selection")
    refused("empty selection", lambda s: s["geometry"][0]["point_selection"][0].update(position=-9), "(/geometry/0/point_selection/0)", "selects no vertex")
    refused("through the spikes", lambda s: s["geometry"][0].update(transformation={"translation": [0, 0, -0.02]}), "(/geometry)", "intersect", "move the bodies apart")
    refused("under the plate", lambda s: s["geometry"][2].update(point=[0, 0, 0.1]), "(/geometry)", "move them apart")
    refused("formula without value", lambda s: s["boundary_conditions"]["dirichlet_boundary"][0].update(value=["1/(t-t)", 0, 0]),
            "(/boundary_conditions/dirichlet_boundary/0)", "prescribed displacement")
    refused("no finite velocity", lambda s: s["initial_conditions"]["velocity"][0].update(value=[0, 0, "sqrt(x)"]), "(/initial_conditions/velocity/0)", "initial velocity")
    refused("step below a tick", lambda s: s["materials"].update(stretching_stiffness=1e30), "tick")
    _, said = recoil.run(1, "validate", recoil.write_scene("right", CLOTH))
    runs.check("cloth: shell, 81 vertices, 128 triangles" in said and "9 prescribed" in said and "2 obstacle(s)" in said, "validate describes the scene")


def check_failure(recoil):
    """Pressed without a way out, a run ends with what to do; its folder is whole."""
    scene = json.loads(json.dumps(CLOTH))
    scene["boundary_conditions"]["obstacle_displacements"][0]["value"] = [0, 0, "2*t"]
    scene["solver"]["asynchronous"]["max_layers"] = 30
    code, said = recoil.run(1, "simulate", recoil.write_scene("pressed", scene), "-o", recoil.path("pressed"), expect=None)
    runs.check(code == 3 and "/solver/asynchronous/" in said and runs.summary(recoil.path("pressed"))["status"] == "failed", "a failed run: exit %d" % code)


with runs.Recoil(("--kills", int, 3)) as recoil:
    runs.write_obj(recoil.path("cloth.obj"), runs.sheet(8, 0.1, 0.036, 0.0015))
    runs.write_obj(recoil.path("spikes.obj"), *(spike(x, y) for x in (-0.021, 0.023) for y in (-0.019, 0.022)))
    path = recoil.write_scene("cloth", CLOTH)
    started = time.time()
    whole = recoil.simulate(1, path, "whole")
    seconds = time.time() - started
    check_balance(whole, 0.02)
    check_motion(whole)
    check_restarts(recoil, path, whole)
    check_kills(recoil, path, whole, seconds)
    check_ranks(recoil, path, whole)
    check_certificates(recoil, whole)
    check_discs(recoil)
    check_refused(recoil)
    check_failure(recoil)
    runs.check(recoil.run(1, "info", whole)[0] == 0, "the folder is sound")
