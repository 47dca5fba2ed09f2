"""Bonded particles that lose their bonds or have none: two loose spheres by leapfrog are elastic at default sub-steps, runs that
their integrator feeds energy end with exit code 3, damping is told, what nothing holds at rest is named; extents of packings; pictures
of spheres without bonds."""
import os
import subprocess
import sys

import numpy as np
import runs
from pieces import ledger

RENDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "render.py")


def spheres(recoil, name, rows):
    np.savetxt(recoil.path(name), rows, fmt="%g", delimiter=",", header="x,y,z,radius", comments="")
    return {"name": name[:-4], "particles": {"file": name}}


def pair(recoil, **settings):
    """A sphere that hits a smaller one aslant; both spin."""
    geometry = [spheres(recoil, "large.csv", [[0, 0, 0, 0.01]]), spheres(recoil, "small.csv", [[0.03, 0, 0.001, 0.006]])]
    return {
        "geometry": geometry,
        "materials": {"type": "BondedParticles", "E": 1e7, "nu": 0.3, "rho": 2500},
        "contact": {"enabled": True, "dhat": 6e-4},
        "initial_conditions": {"velocity": [{"body": "large", "value": [2, 0, 0]}, {"body": "small", "value": [-1, 0.1, 0]}],
                               "angular_velocity": [{"body": "large", "value": [0, 0, 30]}, {"body": "small", "value": [5, 0, 0]}]},
        "time": {"dt": 1e-3, "time_steps": 40},
        "output": {"every": 4},
        "solver": {"type": "bonded_particles", "bonded_particles": dict({"integrator": "leapfrog"}, **settings)},
    }


def chain(recoil, spacing, **more):
    """Held spheres along x, with bonds as long as they lie apart."""
    rows = [[spacing * i, 0, 0, 0.5] for i in range(6)]
    body = spheres(recoil, "chain.csv", rows)
    np.savetxt(recoil.path("bonds.csv"), [[i, i + 1] for i in range(5)], fmt="%d", delimiter=",", header="i,j", comments="")
    body["particles"]["bonds"] = "bonds.csv"
    body["point_selection"] = [{"id": 1, "axis": "-x", "position": 0.1}, {"id": 2, "axis": "x", "position": 4.9 * spacing}]
    held = {"value": [0, 0, 0], "rotation": [0, 0, 0]}
    return dict({
        "geometry": [body],
        "materials": {"type": "BondedParticles", "E": 1e6, "nu": 0.3, "rho": 1000},
        "boundary_conditions": {"dirichlet_boundary": [dict(held, id=1), dict(held, id=2)]},
        "solver": {"type": "bonded_particles"},
    }, **more)


def check_collision(recoil):
    path = recoil.write_scene("pair", pair(recoil))
    folder = recoil.path("pair")
    for ranks in (1, 2):
        _, text = recoil.run(ranks, "simulate", path, "-o", folder + str(ranks))
        energy = ledger(folder + str(ranks))
        before, after = (energy["kinetic"][k] + energy["barrier"][k] for k in (0, -1))
        runs.check(abs(after / before - 1) < 0.01, "two spheres on %d rank(s) keep %.4f of their energy" % (ranks, after / before))
    runs.check("of contact" in text and "sub-steps" in text, "the log says that contact asks for the sub-steps")
    for field in ("u", "v", "sigma"):
        picture = recoil.path(field + ".png")
        done = subprocess.run([sys.executable, RENDER, folder + "1", "--field", field, "-o", picture, "--width", "400"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        runs.check(done.returncode == 0 and os.path.getsize(picture) > 1000, "a picture of %s without bonds: %s" % (field, done.stdout.decode()[-200:]))


def check_feeding(recoil):
    """Bonds ten times as long as T knows: stable below 0.2 T, not at T."""
    for share, code in ((1.0, 3), (0.1, 0)):
        scene = chain(recoil, 10.0, time={"dt": 0.05, "time_steps": 200}, boundary_conditions={},
                      initial_conditions={"velocity": [{"body": "chain", "value": [0, "0.1*sin(x)", "0.1*cos(3*x)"]}]},
                      solver={"type": "bonded_particles", "bonded_particles": {"integrator": "leapfrog", "explicit_share": share}})
        folder = recoil.path("fed %g" % share)
        found, text = recoil.run(1, "simulate", recoil.write_scene("fed", scene), "-o", folder, "-q", expect=None)
        told = "explicit_share" in text and ("has fed" in text or "unstable" in text)
        runs.check(found == code and told == (code == 3), "sub-steps of %g T of long bonds: exit %d, %s" % (share, found, text.strip()[-300:]))
        if code == 3:
            message = runs.summary(folder)["message"]
            runs.check(runs.summary(folder)["status"] == "failed" and "explicit_share" in message, "summary.json says why: " + message)


def check_damping(recoil):
    for integrator, warned in (("be_reflect", True), ("mid_reflectT", False)):
        scene = chain(recoil, 1.0, time={"dt": 0.02, "time_steps": 20}, initial_conditions={"velocity": [{"body": "chain", "value": [0, "0.1*sin(0.628*x)", 0]}]},
                      solver={"type": "bonded_particles", "bonded_particles": {"integrator": integrator}})
        _, text = recoil.run(1, "simulate", recoil.write_scene("damped", scene), "-o", recoil.path(integrator))
        runs.check(("mid_reflectT" in text and "has dissipated" in text) == warned, "%s: %s" % (integrator, "told what it takes" if warned else "nothing to tell"))


def check_break_at_rest(recoil):
    scene = chain(recoil, 1.0, time={"tend": 1, "time_steps": 20, "quasistatic": True},
                  materials={"type": "BondedParticles", "E": 1e6, "nu": 0.3, "rho": 1000, "tensile_strength": 1e4})
    scene["boundary_conditions"]["dirichlet_boundary"][1]["value"] = ["0.1*t", 0, 0]
    path = recoil.write_scene("torn", scene)
    for ranks in (1, 3):
        code, text = recoil.run(ranks, "simulate", path, "-o", recoil.path("torn%d" % ranks), "-q", expect=None)
        runs.check(code == 3 and "nothing holds particle " in text and " of 'chain' at (" in text and "damage_width" in text,
                   "torn at rest on %d rank(s): exit %d, %s" % (ranks, code, text.strip()[-400:]))


def check_extents(recoil):
    scene = chain(recoil, 1.0, time={"dt": 1e-3, "time_steps": 1}, boundary_conditions={},
                  geometry=[{"name": "block", "generator": {"type": "box", "size": [1, 0.5, 0.5], "divisions": 1},
                             "transformation": {"translation": [3, 0, 0]}, "particles": {"radius": 0.06}}])
    path = recoil.write_scene("block", scene)
    _, text = recoil.run(1, "validate", path)
    _, on_3 = recoil.run(3, "validate", path)
    runs.check("in a geometry of 1 x 0.5 x 0.5 m from (2.5, -0.25, -0.25) m" in text, "validate tells extents")
    runs.check([line for line in text.splitlines() if "spheres" in line] == [line for line in on_3.splitlines() if "spheres" in line], "the same on 3 ranks")
    folder = recoil.simulate(1, path, "block")
    places = runs.coordinates(folder)
    middle = (places.max(axis=0) + places.min(axis=0)) / 2
    runs.check(np.abs(middle - [3, 0, 0]).max() < 1e-12, "the lattice lies in the middle of the box")


def check_blocked(recoil):
    """A prescribed sphere that would have to go through another one: the message tells which, and what to change."""
    parts = [spheres(recoil, name, [[x, 0, 0, 0.5]]) for name, x in (("still.csv", 0), ("moved.csv", 1.2))]
    for number, part in enumerate(parts):
        part["point_selection"] = [{"id": number + 1, "axis": "x", "position": -100}]
    held = {"rotation": [0, 0, 0]}
    scene = chain(recoil, 1, geometry=parts, contact={"enabled": True, "dhat": 0.1}, time={"tend": 1, "time_steps": 1, "quasistatic": True, "max_retries": 1},
                  boundary_conditions={"dirichlet_boundary": [dict(held, id=1, value=[0, 0, 0]), dict(held, id=2, value=["-2*t", 0, 0])]})
    for ranks in (1, 2):
        _, text = recoil.run(ranks, "simulate", recoil.write_scene("blocked", scene), "-o", recoil.path("blocked%d" % ranks), expect=3)
        runs.check("the farthest from its goal is particle 1 of 'moved' at (" in text and "/boundary_conditions/dirichlet_boundary" in text,
                   "what is blocked on %d rank(s) is named" % ranks)


with runs.Recoil() as recoil:
    check_collision(recoil)
    check_feeding(recoil)
    check_damping(recoil)
    check_break_at_rest(recoil)
    check_extents(recoil)
    check_blocked(recoil)
