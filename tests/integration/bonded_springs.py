"""Mindlin's springs along the contacts of grains: a load that is held between plates, a sheared box continued to the same bits and on other ranks;
then wrong scenes with place and cure."""
import copy
import csv
import os

import numpy as np
import runs
from pieces import ledger

R, E, NU, RHO, DHAT = 0.01, 1e6, 0.3, 1000, 3e-4
SHEAR = E / (2 * (1 + NU)) / (2 - NU)  # G* of a sphere on a rigid plane


def plane(name, axis, side, distance, **more):
    point, normal = [0, 0, 0], [0, 0, 0]
    point[axis], normal[axis] = side * distance, -side
    return dict(name=name, is_obstacle=True, type="plane", point=point, normal=normal, **more)


def scene(geometry, dt, steps, **keys):
    return {"geometry": geometry, "materials": {"type": "BondedParticles", "E": E, "nu": NU, "rho": RHO}, "boundary_conditions": {},
            "contact": {"enabled": True, "dhat": DHAT, "friction_coefficient": 0.4}, "time": {"dt": dt, "time_steps": steps},
            "output": {"every": 4, "chunk": 2},
            "solver": {"type": "bonded_particles", "bonded_particles": dict(dict(contact_law="hertz", tangential_law="mindlin", tolerance=1e-7), **keys)}}


def gripped(recoil):
    """A ball between two planes, of which one presses with a force, pulled along them."""
    with open(recoil.path("ball.csv"), "w") as file:
        file.write("x,y,z,radius\n0,0,0,%g\n" % R)
    text = scene([{"name": "ball", "particles": {"file": "ball.csv"}, "point_selection": 5}, plane("base", 2, -1, R + DHAT),
                  plane("platen", 2, 1, R + DHAT, surface_selection=3)], 0.02, 120)
    text["output"]["contacts"] = True
    text["boundary_conditions"] = {"servo_planes": {"id": 3, "force": 1, "max_speed": 0.1}, "particle_forces": {"id": 5, "value": ["0.6*min(max(t - 0.5, 0), 1)", 0, 0]}}
    return text


def table(folder, name):
    with open(os.path.join(folder, name)) as file:
        return list(csv.DictReader(file))


def check_load(recoil):
    folder = recoil.simulate(1, recoil.write_scene("gripped", gripped(recoil)), "gripped")
    depth = (3 / (4 * E / (1 - NU**2) * np.sqrt(R)))**(2 / 3)
    expected = 0.6 / (2 * 8 * SHEAR * np.sqrt(R * depth))
    way, late = (runs.state(folder, step, "displacement")[0, 0] for step in (120, 80))
    runs.check(abs(way / expected - 1) < 0.01 and abs(way - late) < 1e-5 * way,
               "a ball between plates moves by %.4f of F/(2 8 G* a), and by %.2g of it in the last 40 steps" % (way / expected, abs(way / late - 1)))
    pulls = [(float(row["tangential_x"]), float(row["tangential_z"])) for row in table(folder, "contacts.csv") if row["step"] == "120"]
    runs.check(len(pulls) == 2 and np.allclose(pulls, [[-0.3, 0]] * 2, atol=1e-4), "each plate pulls with half of it: %s" % pulls)
    smoothed = gripped(recoil)
    smoothed["solver"]["bonded_particles"]["tangential_law"] = "coulomb"
    folder = recoil.simulate(1, recoil.write_scene("smoothed", smoothed), "smoothed")
    way, late = (runs.state(folder, step, "displacement")[0, 0] for step in (120, 80))
    runs.check(way - late > 2 * expected, "smoothed friction lets it creep by %.1f of that" % ((way - late) / expected))


def sheared(integrator, steps=16, dt=2e-3, **keys):
    """Loose grains in a box of planes, one of which comes down and along."""
    half, height = 0.02, 0.04
    geometry = [{"name": "grains", "generator": {"type": "box", "size": [2 * half, 2 * half, height], "divisions": 1},
                 "particles": {"packing": "random", "radius": [0.003, 0.004], "porosity": 0.5, "seed": 3, "bonded": False}}]
    for axis in range(3):
        for side in (-1, 1):
            geometry.append(plane("side %d%s" % (axis, "ab"[side > 0]), axis, side, (half if axis < 2 else height / 2) + DHAT / 2))
    geometry[-1]["surface_selection"] = 7
    text = scene(geometry, dt, steps, integrator=integrator, **keys)
    text["output"]["contacts"] = True
    text["boundary_conditions"] = {"obstacle_displacements": [{"id": 7, "value": ["0.05*t", 0, "-0.02*t"]}]}
    return text


def text_of(folder, name):
    with open(os.path.join(folder, name)) as file:
        return file.read()


def same_bits(a, b):
    return all(np.array_equal(runs.state(a, field=f), runs.state(b, field=f)) for f in ("u", "v", "springs", "tangential_springs")) and \
        all(text_of(a, name) == text_of(b, name) for name in ("ledger.csv", "contacts.csv") if os.path.exists(os.path.join(a, name)))


def check_box(recoil):
    for integrator, keys in (("be_reflect", {}), ("leapfrog", {}), ("mid_reflectT", {"restitution": 0.5})):
        path = recoil.write_scene("box", sheared(integrator, **keys))
        whole, parts = recoil.simulate(1, path, integrator), recoil.path(integrator + " in parts")
        recoil.run(1, "simulate", path, "-o", parts, "-q", "--steps", 6)
        recoil.run(1, "simulate", "--restart", parts, "-q")
        springs = runs.state(whole, field="tangential_springs")
        count = int(runs.state(whole, field="springs").sum())
        runs.check(same_bits(parts, whole) and count > 40 and np.abs(springs[:count, 2:5]).max() > 0 and not springs[count:].any(),
                   "%s: %d springs, continued to the same bits" % (integrator, count))
        rows = ledger(whole)
        held = sum(rows[name] for name in ("kinetic", "barrier", "dissipated_friction", "dissipated_damping", "dissipated_integrator")) - rows["external_work"]
        defect = np.abs(held / held[0] - 1).max()
        runs.check(defect < 1e-6 and rows["dissipated_friction"][-1] > 0, "%s: the ledger closes to %.2g" % (integrator, defect))
        other = recoil.simulate(2, path, integrator + " on two")
        off = runs.difference(runs.state(other), runs.state(whole))
        energies = max(abs(ledger(other)[name][-1] / rows[name][-1] - 1) for name in ("barrier", "dissipated_friction"))
        runs.check(off < 1e-5 and energies < 1e-3, "%s: on two ranks to %.2g, energies to %.2g" % (integrator, off, energies))
        bears = np.array([[float(row["force"])] + [float(row["tangential_" + c]) for c in "xyz"] + [float(row["normal_" + c]) for c in "xyz"]
                          for row in table(whole, "contacts.csv") if row["step"] == "16"])
        share = np.linalg.norm(bears[:, 1:4], axis=1) / (0.4 * bears[:, 0])
        off = np.abs((bears[:, 1:4] * bears[:, 4:7]).sum(axis=1)).max() / bears[:, 0].max()
        # Implicit steps have N of their start.
        most, bound = (share.max(), 1 + 1e-6) if integrator == "leapfrog" else (np.quantile(share, 0.9), 1.2)
        runs.check(0.3 < share.mean() and most < bound and off < 1e-2,
                   "%s: springs bear %.2f of mu N on average, nine of ten at most %.4f, along contacts to %.2g" % (integrator, share.mean(), np.quantile(share, 0.9), off))
        moved = recoil.path(integrator + " goes on")
        recoil.run(3, "simulate", path, "-o", moved, "-q", "--steps", 6)
        recoil.run(2, "simulate", "--restart", moved, "-q")
        off = runs.difference(runs.state(moved), runs.state(whole))
        runs.check(off < 1e-5, "%s: from three ranks on on two to %.2g" % (integrator, off))


def check_repartition(recoil):
    """Grains that are dealt out again take their springs along."""
    scene = sheared("be_reflect", max_imbalance=1.05)
    scene["initial_conditions"] = {"velocity": [{"body": "idle", "value": [0, -1.5, 0]}]}
    idle = copy.deepcopy(scene["geometry"][0])
    idle.update(name="idle", transformation={"translation": [0.09, 0, 0]})
    idle["generator"]["size"][0] = 0.08
    idle["particles"]["porosity"] = 0.85
    scene["geometry"] = [idle, scene["geometry"][0]] + scene["geometry"][3:]
    path = recoil.write_scene("dealt", scene)
    folder, parts = recoil.simulate(3, path, "dealt"), recoil.path("dealt in parts")
    recoil.run(3, "simulate", path, "-o", parts, "-q", "--steps", 6)
    recoil.run(3, "simulate", "--restart", parts, "-q")
    times = runs.summary(folder)["repartitions"]
    off = runs.difference(runs.state(folder), runs.state(recoil.simulate(1, path, "dealt on one")))
    runs.check(same_bits(parts, folder) and off < 1e-5 and times > 1, "dealt out again %d times: the same bits, and as on one rank to %.2g" % (times, off))


def colliding(**keys):
    """Two bonded blocks that break, or soften, as they hit each other."""
    blocks = [{"name": name, "generator": {"type": "box", "size": [0.02] * 3, "divisions": 1}, "transformation": {"translation": [0.003 * i, 0, 0.0212 * i]},
               "particles": {"radius": 0.002}} for i, name in enumerate(("lower", "upper"))]
    text = scene(blocks + [plane("floor", 2, -1, 0.0102)], 2e-4, 24, **keys)
    text["materials"].update(E=1e7, tensile_strength=2e4, shear_strength=2e4)
    text["initial_conditions"] = {"velocity": [{"body": "upper", "value": [2, 0, -4]}]}
    return text


def check_blocks(recoil):
    """Springs beside what bonds keep, and steps that leapfrog takes over."""
    for name, keys in (("blocks that soften", {"damage_width": 0.1}), ("blocks that break", {})):
        path = recoil.write_scene("blocks", colliding(**keys))
        whole, parts = recoil.simulate(1, path, name), recoil.path(name + " in parts")
        recoil.run(1, "simulate", path, "-o", parts, "-q", "--steps", 17)
        recoil.run(1, "simulate", "--restart", parts, "-q")
        broken, explicit = ledger(whole)["broken_bonds"][-1], runs.summary(whole).get("steps_of_leapfrog", 0)
        off = runs.difference(runs.state(recoil.simulate(3, path, name + " on three")), runs.state(whole))
        runs.check(same_bits(parts, whole) and broken > 100 and (explicit > 0) == (not keys) and off < 1e-5,
                   "%s: %d bonds, %d steps of leapfrog, continued to the same bits, on three ranks to %.2g" % (name, broken, explicit, off))


def check_wrong(recoil):
    base = sheared("be_reflect", steps=4)
    key = lambda **more: lambda s: s["solver"]["bonded_particles"].update(more)
    at = "/solver/bonded_particles/tangential_law"
    wrong = [
        ("unknown law", key(tangential_law="midlin"), [at, "coulomb", "mindlin"]),
        ("a number", key(tangential_law=1), [at, "text"]),
        ("nothing", key(tangential_law=None), [at]),
        ("a list", key(tangential_law=["mindlin"]), [at]),
        ("without contact", lambda s: (s.update(contact={}, boundary_conditions={}), s["solver"]["bonded_particles"].pop("contact_law")), [at, "set contact/enabled to true"]),
        ("of the barrier", lambda s: s["solver"]["bonded_particles"].pop("contact_law"), [at, "contact_law", "hertz"]),
        ("of the penalty", key(contact_law="penalty", integrator="leapfrog"), [at, "contact_law", "hertz"]),
        ("without friction", lambda s: s["contact"].pop("friction_coefficient"), [at, "contact/friction_coefficient"]),
        ("friction that is switched off", lambda s: s["solver"].update(contact={"friction_iterations": 0}), [at, "solver/contact/friction_iterations"]),
        ("a misspelt key", key(tangential_laws="mindlin"), ["tangential_laws"]),
        ("at the wrong place", lambda s: s["contact"].update(tangential_law="mindlin"), ["/contact/tangential_law"]),
        ("stiffness beside Hertz", lambda s: s["solver"].update(contact={"barrier_stiffness": 1e4}), ["/solver/contact/barrier_stiffness", "leave it out"]),
        ("integrator without contact", key(integrator="del_exact"), ["/solver/bonded_particles/integrator", "has no contact"]),
    ]
    for name, change, parts in wrong:
        recoil.refuses(base, change, *parts, what=name, command="simulate")
    path = recoil.write_scene("studied", base)
    study = {"experiments": [{"name": "box", "scene": os.path.basename(path)}], "parameters": [{"name": "E", "quantity": "young_modulus", "initial": E}],
             "objectives": [{"name": "energy", "type": "elastic_energy"}]}
    code, output = recoil.run(1, "gradient", recoil.write_scene("study", study), "-o", recoil.path("studied out"), "-q", expect=None)
    message = output[output.find("recoil: "):].strip()
    runs.check(code == 2 and "tangential_law" in message and "coulomb" in message, "studies are refused: " + message)


with runs.Recoil() as recoil:
    check_load(recoil)
    check_box(recoil)
    check_repartition(recoil)
    check_blocks(recoil)
    check_wrong(recoil)
