"""Bars that are held stretched, or pulled apart, whose bonds corrode: the same on other ranks, continued to the same bits, a ledger that closes; then
studies of them are refused."""
import copy
import os

import numpy as np
import runs
from pieces import ledger

BAR = {
    "geometry": [{"name": "bar", "generator": {"type": "box", "size": [0.02, 0.006, 0.006], "divisions": 1}, "particles": {"radius": 0.001},
                  "point_selection": [{"id": 1, "axis": "-x", "position": -0.008}, {"id": 2, "axis": "x", "position": 0.008}]}],
    "materials": {"type": "BondedParticles", "E": 1e7, "nu": 0.3, "rho": 1000, "tensile_strength": 2e4, "shear_strength": 1e6, "weibull_modulus": 10,
                  "stress_corrosion": {"rate": 1e-9, "exponent": 15, "threshold": 0.2}},
    "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0, 0]}, {"id": 2, "value": ["3e-8*t", 0, 0]}]},
    "time": {"quasistatic": True, "dt": 50, "time_steps": 12}, "output": {"every": 3, "chunk": 2},
    "solver": {"type": "bonded_particles", "bonded_particles": {"tolerance": 1e-8}},
}


def text(folder, name):
    with open(os.path.join(folder, name)) as file:
        return file.read()


def same_bits(folder, whole):
    return all(np.array_equal(runs.state(folder, field=field), runs.state(whole, field=field), equal_nan=True) for field in ("u", "v", "broken", "broken_at", "section_share")) and \
        all(text(folder, name) == text(whole, name) for name in ("ledger.csv", "broken_bonds.csv"))


def moving(integrator):
    """A bar that is pulled apart in some milliseconds."""
    scene = copy.deepcopy(BAR)
    scene["materials"]["stress_corrosion"]["rate"], scene["materials"]["damping_time"] = 1e-4, 1e-4
    scene["boundary_conditions"] = {"dirichlet_boundary": [{"id": 1, "value": [0, 0, 0]}, {"id": 2, "value": ["0.005*t", 0, 0]}]}
    scene["time"] = {"dt": 2.5e-4, "time_steps": 12}
    scene["solver"]["bonded_particles"]["integrator"] = integrator
    return scene


def check(recoil, name, scene):
    path = recoil.write_scene(name, scene)
    whole, parts = recoil.simulate(1, path, name), recoil.path(name + " in parts")
    recoil.run(1, "simulate", path, "-o", parts, "-q", "--steps", 5)
    recoil.run(1, "simulate", "--restart", parts, "-q")
    rows, shares = ledger(whole), runs.state(whole, field="section_share")
    left = shares[runs.state(whole, field="broken") == 0]
    runs.check(0 < rows["broken_bonds"][-1] and left.min() < 0.99 and left.max() == 1,
               "%s: %d bonds break, sections of others between %.3f and 1 of their radius" % (name, rows["broken_bonds"][-1], left.min()))
    runs.check(same_bits(parts, whole), "%s: continued to the same bits" % name)
    runs.check(text(parts, "broken_bonds.csv").count("\n") > 1, "%s: with rows of broken bonds" % name)
    held = rows["kinetic"] + rows["elastic"] + rows["broken"] + rows["dissipated_bonds"] + rows["dissipated_integrator"]
    defect = np.abs(held - rows["external_work"]).max() / np.abs(rows["external_work"]).max()
    runs.check(defect < 1e-6, "%s: the ledger closes to %.2g" % (name, defect))
    three = recoil.simulate(3, path, name + " on three")
    off = np.abs(runs.state(three, field="section_share") - shares).max()
    runs.check(off == 0 if "leapfrog" in name else off < 1e-6, "%s: on three ranks to %.2g" % (name, off))
    other = recoil.path(name + " goes on")
    recoil.run(1, "simulate", path, "-o", other, "-q", "--steps", 5)
    recoil.run(2, "simulate", "--restart", other, "-q")
    off = np.abs(runs.state(other, field="section_share") - shares).max()
    runs.check(off < 1e-6, "%s: continued on two ranks to %.2g" % (name, off))


def check_studies(recoil):
    study = {"experiments": [{"name": "bar", "scene": "bar.json"}], "parameters": [{"name": "E", "quantity": "young_modulus", "initial": 1e7}],
             "objectives": [{"name": "energy", "type": "elastic_energy"}]}
    recoil.write_scene("bar", BAR)
    code, message = recoil.run(1, "gradient", recoil.write_scene("study", study), "-o", recoil.path("refused"), "-q", expect=None)
    runs.check(code == 2 and "stress_corrosion" in message and "no derivative" in message and "damage_width" in message, "studies are refused: " + message.strip())


with runs.Recoil() as recoil:
    check(recoil, "at rest", BAR)
    check(recoil, "leapfrog", moving("leapfrog"))
    check(recoil, "be_reflect", moving("be_reflect"))
    check_studies(recoil)
