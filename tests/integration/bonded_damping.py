"""A bar with damped bonds that is pulled, let go and breaks, by implicit steps and by leapfrog: the same on other ranks, continued to the same
bits, and a ledger that closes; the same motion by both as steps get short."""
import copy
import csv
import json
import os

import numpy as np
import runs
from pieces import ledger

BAR = {
    "geometry": [{"name": "bar", "generator": {"type": "box", "size": [0.03, 0.006, 0.006], "divisions": 1}, "particles": {"radius": 0.001},
                  "point_selection": [{"id": 1, "axis": "-x", "position": -0.0135}, {"id": 2, "axis": "x", "position": 0.0135}]}],
    "materials": {"type": "BondedParticles", "E": 1e7, "nu": 0.3, "rho": 1000, "damping_time": 2e-4},
    "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0, 0]}], "particle_forces": [{"id": 2, "value": [0, 0, 0.02]}]},
    "time": {"dt": 2.5e-4, "time_steps": 20}, "output": {"every": 4, "chunk": 2},
    "solver": {"type": "bonded_particles", "bonded_particles": {"tolerance": 1e-8}},
}


def text(folder, name):
    with open(os.path.join(folder, name)) as file:
        return file.read()


def same_bits(folder, whole):
    return all(np.array_equal(runs.state(folder, field=field), runs.state(whole, field=field), equal_nan=True) for field in ("u", "v", "broken", "broken_at")) and \
        all(text(folder, name) == text(whole, name) for name in ("ledger.csv", "broken_bonds.csv", "reactions.csv"))


def bar(integrator, breaks=False):
    scene = copy.deepcopy(BAR)
    scene["solver"]["bonded_particles"]["integrator"] = integrator
    if breaks:
        scene["materials"].update(tensile_strength=3e5, shear_strength=3e5)
        scene["boundary_conditions"] = {"dirichlet_boundary": [{"id": 1, "value": [0, 0, 0]}, {"id": 2, "value": ["1*t", 0, 0], "rotation": ["20*t", 0, 0]}]}
        scene["time"].update(time_steps=14)
    return scene


def closes(folder):
    rows = ledger(folder)
    held = rows["kinetic"] + rows["elastic"] + rows["barrier"]
    taken = sum(rows[name] for name in ("broken", "dissipated_friction", "dissipated_damping", "dissipated_bonds", "dissipated_integrator"))
    scale = np.abs(rows["external_work"]).max()
    return np.abs(held - rows["external_work"] + taken).max() / scale, rows["dissipated_bonds"][-1] / scale, rows["dissipated_integrator"][-1] / scale


def check_ends(recoil):
    tips = {}
    for integrator in ("mid_reflectT", "leapfrog"):
        for steps in (1, 3):
            scene = bar(integrator)
            scene["time"].update(dt=BAR["time"]["dt"] / steps, time_steps=steps * BAR["time"]["time_steps"])
            scene["output"] = {"every": 4 * steps}
            folder = recoil.simulate(1, recoil.write_scene("bar", scene), "bar")
            tips[integrator, steps] = runs.state(folder, field="displacement")
            defect, by_bonds, by_steps = closes(folder)
            runs.check(defect < 1e-6 and by_bonds > 0.05 and abs(by_steps) < 0.1 * by_bonds,
                       "%s: the ledger closes to %.2g of the work, bonds dissipate %.3g of it, steps %.2g" % (integrator, defect, by_bonds, by_steps))
    reference = tips["leapfrog", 3]
    far, near = (runs.difference(tips["mid_reflectT", steps], reference) for steps in (1, 3))
    runs.check(near < 0.2 * far and near < 1e-3, "implicit steps go to leapfrog's motion: %.2g, %.2g" % (far, near))


def check_restarts(recoil):
    for integrator in ("be_reflect", "leapfrog"):
        path = recoil.write_scene("broken", bar(integrator, breaks=True))
        whole, parts = recoil.simulate(1, path, "whole " + integrator), recoil.path("parts " + integrator)
        recoil.run(1, "simulate", path, "-o", parts, "-q", "--steps", 5)
        recoil.run(1, "simulate", "--restart", parts, "-q")
        runs.check(runs.summary(whole)["broken_bonds"] > 0 and same_bits(parts, whole),
                   "%s: %d bonds break, continued to the same bits" % (integrator, runs.summary(whole)["broken_bonds"]))
        three = recoil.simulate(3, path, "three " + integrator)
        same = runs.difference(runs.state(three), runs.state(whole))
        runs.check(same == 0 if integrator == "leapfrog" else same < 1e-6, "%s: on three ranks to %.2g" % (integrator, same))
        defect, by_bonds, _ = closes(whole)
        runs.check(defect < 1e-5 and by_bonds > 0, "%s: the ledger of the fracture closes to %.2g" % (integrator, defect))


def check_objective(recoil):
    """A bar that creeps under a load: at rest, the force on its grip is the load, most of which the damping of bonds bears at first."""
    scene = bar("quasistatic")
    scene["time"].update(dt=1e-4, time_steps=3, quasistatic=True)
    del scene["solver"]["bonded_particles"]["integrator"]
    scene["output"] = {"every": 1}
    path = recoil.write_scene("creeping", scene)
    folder = recoil.simulate(1, path, "creeping")
    with open(os.path.join(folder, "reactions.csv")) as file:
        held = [float(row["force_z"]) for row in csv.DictReader(file)]
    with open(recoil.path("zero.csv"), "w") as file:
        file.write("time,force\n0,0\n1,0\n")
    study = {"experiments": [{"name": "creep", "scene": path}], "parameters": [{"name": "tau", "quantity": "damping_time", "initial": 2e-4}],
             "objectives": [{"name": "R", "type": "reaction_force", "boundary": 1, "direction": [0, 0, 1], "target": recoil.path("zero.csv"), "time": {"steps": [2]}}]}
    recoil.run(1, "gradient", recoil.write_scene("creep", study), "-o", recoil.path("creep"), "-q")
    with open(os.path.join(recoil.path("creep"), "gradient.json")) as file:
        seen = json.load(file)["objective"] ** 0.5
    runs.check(abs(seen / abs(held[1]) - 1) < 1e-6, "the objective reaction_force sees %.6g N, reactions.csv has %.6g N" % (seen, held[1]))


with runs.Recoil() as recoil:
    check_ends(recoil)
    check_objective(recoil)
    check_restarts(recoil)
