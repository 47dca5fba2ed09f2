"""Loose grains in a cell that repeats and deforms: contacts across its faces, with springs along them, too, their stress, runs in parts and on
other ranks; then wrong scenes with place and cure."""
import csv
import os

import numpy as np
import runs
from pieces import ledger

SIDE, RADII, GAP, STIFFNESS = 0.04, (0.003, 0.0035), 1e-4, 1e3
RATE = np.array([[-2.0, 1.5, 0], [0, -2.0, 0], [0, 0, -2.0]])  # of the deformation [1/s]


def table(folder, name):
    with open(os.path.join(folder, name)) as file:
        return list(csv.DictReader(file))


def grains(steps=8, integrator="be_reflect", friction=0.3, repeats=None):
    """Grains that fill 0.6 of a cube, which shrinks and shears."""
    cell = {"enabled": True, "linear_displacement_offset": [["%g*t" % entry for entry in row] for row in RATE]}
    if repeats:
        cell["axes"] = repeats
    return {"geometry": [{"name": "grains", "generator": {"type": "box", "size": [SIDE] * 3, "divisions": 1},
                          "particles": {"packing": "random", "radius": list(RADII), "porosity": 0.42, "seed": 3, "bonded": False}}],
            "materials": {"type": "BondedParticles", "E": 1e6, "nu": 0.3, "rho": 1000},
            "initial_conditions": {"velocity": [{"body": "grains", "value": ["sin(700*y)", "sin(900*z)", "sin(800*x)"]}]},
            "boundary_conditions": {"periodic_boundary": cell},
            "contact": {"enabled": True, "dhat": GAP, "friction_coefficient": friction, "epsv": 1e-2},
            "time": {"dt": 1e-3, "time_steps": steps}, "output": {"every": 2, "chunk": 2, "contacts": True},
            "solver": {"type": "bonded_particles", "contact": {"barrier_stiffness": STIFFNESS}, "bonded_particles": {"integrator": integrator, "contact_law": "penalty", "restitution": 0.8}}}


def sprung(scene, **keys):
    """Hertz' law and Mindlin's springs in place of a penalty and friction alone."""
    del scene["solver"]["contact"]
    scene["solver"]["bonded_particles"].update(contact_law="hertz", tangential_law="mindlin", **keys)
    return scene


def check_contacts(folder, step, F):
    """Rows against the places of the particles, modulo the cell."""
    places = runs.coordinates(folder) + runs.state(folder, field="displacement")
    edges = F * SIDE
    across = 0
    worst = 0
    for row in table(folder, "contacts.csv"):
        if int(row["step"]) != step:
            continue
        a, b = int(row["particle"]), int(row["other"])
        line = places[a] - places[b]
        shift = np.round(np.linalg.solve(edges, line))
        across += bool(shift.any())
        normal = np.array([float(row["normal_" + axis]) for axis in "xyz"])
        line -= edges @ shift
        worst = max(worst, np.abs(line / np.linalg.norm(line) - normal).max())
    runs.check(across > 20 and worst < 1e-8, "%d contacts across faces, normals are those of the nearest images to %.1e" % (across, worst))


def check_stress(folder, step, F):
    """Without friction, the stress is that of the rows of contacts.csv."""
    places, edges = runs.coordinates(folder) + runs.state(folder, field="displacement"), F * SIDE
    sum_of_moments = np.zeros((3, 3))
    for row in table(folder, "contacts.csv"):
        if int(row["step"]) == step:
            line = places[int(row["particle"])] - places[int(row["other"])]
            line -= edges @ np.round(np.linalg.solve(edges, line))
            sum_of_moments -= float(row["force"]) * np.outer(line, line) / np.linalg.norm(line)
    row = next(row for row in table(folder, "cell_stress.csv") if int(row["step"]) == step)
    stress = np.array([[float(row["sigma_" + a + b]) for b in "xyz"] for a in "xyz"])
    expected = sum_of_moments / (np.linalg.det(F) * SIDE**3)
    runs.check(np.abs(stress - expected).max() < 1e-6 * np.abs(expected).max() and expected.trace() < 0,
               "mean stress %.4g Pa, as the sum over contacts.csv" % (stress.trace() / 3))


def check_runs(recoil):
    F = np.eye(3) + 8e-3 * RATE
    scenes = {integrator: grains(integrator=integrator) for integrator in ("be_reflect", "leapfrog")}
    scenes["springs of be_reflect"] = sprung(grains(), sudden_breaking="shorter_steps", tolerance=1e-9)
    scenes["springs of leapfrog"] = sprung(grains(integrator="leapfrog"))
    for integrator, scene in scenes.items():
        path = recoil.write_scene(integrator, scene)
        whole, parts = recoil.simulate(1, path, integrator), recoil.path(integrator + " in parts")
        check_contacts(whole, 8, F)
        recoil.run(1, "simulate", path, "-o", parts, "-q", "--steps", 4)
        recoil.run(1, "simulate", "--restart", parts, "-q")
        fields = ("u", "v", "springs", "tangential_springs") if "springs" in integrator else ("u", "v")
        runs.check(all(np.array_equal(runs.state(parts, field=field), runs.state(whole, field=field)) for field in fields) and table(parts, "contacts.csv") == table(whole, "contacts.csv")
                   and table(parts, "cell_stress.csv") == table(whole, "cell_stress.csv"), integrator + " is continued to the same bits")
        for ranks in (2, 3):
            other = recoil.simulate(ranks, path, "%s on %d" % (integrator, ranks))
            runs.check(runs.difference(runs.state(other), runs.state(whole)) < 1e-9, "and is the same on %d ranks" % ranks)
        energies = ledger(whole)
        sums = energies["kinetic"] + energies["barrier"] - energies["external_work"] + sum(energies["dissipated_" + by] for by in ("friction", "damping", "integrator"))
        momenta = np.array([energies["linear_" + axis] for axis in "xyz"])
        off, drift = np.abs(sums / sums[0] - 1).max(), np.abs(momenta - momenta[:, :1]).max() / np.abs(momenta).max()
        # Where implicit steps take collisions themselves, spins are second order in it, with springs or without.
        runs.check(off < (5e-5 if integrator == "springs of be_reflect" else 1e-12) and drift < 1e-8, "the ledger closes to %.1e, the momentum stays to %.1e" % (off, drift))
        if "springs" in integrator:
            springs = runs.state(whole, field="tangential_springs")
            across = np.abs(springs[:, 6:]).max(axis=1) > 0
            moved = recoil.path(integrator + " goes on")
            recoil.run(3, "simulate", path, "-o", moved, "-q", "--steps", 4)
            recoil.run(2, "simulate", "--restart", moved, "-q")
            off = runs.difference(runs.state(moved), runs.state(whole))
            runs.check(across.sum() > 20 and np.abs(springs[across, 2:5]).max() > 0 and off < 1e-9,
                       "%d %s lead across faces, from three ranks on on two they are the same to %.1e" % (across.sum(), integrator, off))
    scene = dict(grains(friction=0), time={"dt": 1e-2, "time_steps": 4})
    scene["solver"]["bonded_particles"]["restitution"] = 1
    smooth = recoil.simulate(1, recoil.write_scene("smooth", scene), "smooth")
    check_stress(smooth, 4, np.eye(3) + 4e-2 * RATE)


def check_wrong(recoil):
    plane = {"name": "lid", "is_obstacle": True, "type": "plane", "point": [0, 0, 0.05], "normal": [0, 0, -1]}
    cell = lambda **more: lambda s: s["boundary_conditions"]["periodic_boundary"].update(more)
    wrong = [
        ("a narrow cell", lambda s: s["geometry"][0].update(generator={"type": "box", "size": [0.018] * 3, "divisions": 1}), ["wide along edge x", "larger cell, or smaller particles"]),
        ("a cell that becomes narrow", lambda s: (cell(linear_displacement_offset=[["-60*t", 0, 0], [0, 0, 0], [0, 0, 0]])(s), s["time"].update(time_steps=16)), ["wide along edge x"]),
        ("a plane across the cell", lambda s: s["geometry"].append(plane), ["'lid' cuts through a cell"]),
        ("a plane that the cell shears away from", lambda s: (s["geometry"].append(plane), cell(axes=["x", "y"], linear_displacement_offset=[[0, 0, 0], [0, 0, 0], ["t", 0, 0]])(s)), ["lies across edge x"]),
        ("a cell that is turned inside out", cell(linear_displacement_offset=[["-200*t", 0, 0], [0, 0, 0], [0, 0, 0]]), ["leaves the cell no volume"]),
        ("free entries with contact", lambda s: (cell(fixed_macro_strain=[0])(s), s.update(time={"quasistatic": True, "dt": 1, "time_steps": 1}, initial_conditions={}),
                                                 s["solver"]["bonded_particles"].clear()), ["fixed_macro_strain", "contact/enabled"]),
        ("contact of finite elements", lambda s: s["contact"].update(periodic=True), ["/contact/periodic"]),
        ("a gap of a radius", lambda s: s["contact"].update(dhat=0.0035), ["/contact/dhat", "less than the smallest radius"]),
        ("spheres that settle", lambda s: s["geometry"][0]["particles"].update(packing="deposited"), ["deposited between walls"]),
        ("springs of the penalty", lambda s: s["solver"]["bonded_particles"].update(tangential_law="mindlin"), ["/solver/bonded_particles/tangential_law", "\"contact_law\": \"hertz\""]),
        ("springs without friction", lambda s: (sprung(s), s["contact"].pop("friction_coefficient")), ["/solver/bonded_particles/tangential_law", "contact/friction_coefficient"]),
        ("springs in a cell with free entries", lambda s: (sprung(s), cell(fixed_macro_strain=[0])(s), s.update(time={"quasistatic": True, "dt": 1, "time_steps": 1}, initial_conditions={}),
                                                           s["solver"]["bonded_particles"].pop("restitution"), s["solver"]["bonded_particles"].pop("integrator")), ["fixed_macro_strain", "contact/enabled"]),
        ("a mesh longer than the cell", lambda s: s["geometry"].append({"name": "floor", "is_obstacle": True, "generator": {"type": "box", "size": [1.1 * SIDE, 0.01, 0.001], "divisions": 1}}), ["times as long as the cell along edge x"]),
        ("a restitution above 1", lambda s: s["solver"]["bonded_particles"].update(restitution=2), ["/solver/bonded_particles/restitution"]),
    ]
    for name, change, parts in wrong:
        recoil.refuses(grains(), change, *parts, what=name, command="simulate")


with runs.Recoil() as recoil:
    check_runs(recoil)
    check_wrong(recoil)
