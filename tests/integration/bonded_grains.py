"""Loose grains as users of discrete elements expect them: restitution at any time step, Hertz' law, sizes and
porosities of packings, the network of contacts; continued to the same bits and on other ranks; then wrong scenes with place and cure."""
import csv
import os

import h5py
import numpy as np
import runs
from pieces import ledger

R, E, NU, RHO = 0.01, 1e6, 0.3, 1000
MASS = RHO * 4 / 3 * np.pi * R**3


def table(folder, name):
    with open(os.path.join(folder, name)) as file:
        return list(csv.DictReader(file))


def balls(recoil, dt, steps, law, integrator, e, speed=1.0):
    """Two balls that meet head on."""
    scene = {"geometry": [], "materials": {"type": "BondedParticles", "E": E, "nu": NU, "rho": RHO},
             "initial_conditions": {"velocity": []},
             "contact": {"enabled": True, "dhat": 0.001}, "time": {"dt": dt, "time_steps": steps}, "output": {"every": 4, "chunk": 2},
             "solver": {"type": "bonded_particles", "bonded_particles": {"integrator": integrator, "restitution": e, "contact_law": law}}}
    for name, x, v in (("left", -0.012, 0.75 * speed), ("right", 0.012, -0.25 * speed)):
        with open(recoil.path(name + ".csv"), "w") as file:
            file.write("x,y,z,radius\n%g,0,0,%g\n" % (x, R))
        scene["geometry"].append({"name": name, "particles": {"file": name + ".csv"}})
        scene["initial_conditions"]["velocity"].append({"body": name, "value": [v, 0, 0]})
    return scene


def check_restitution(recoil):
    worst = 0
    for integrator, law in (("leapfrog", "penalty"), ("be_reflect", "hertz"), ("mid_reflectT", "barrier")):
        for e in (0.2, 0.5, 0.9):
            for dt in (4e-3, 1e-3, 3e-4):
                folder = recoil.simulate(1, recoil.write_scene("balls", balls(recoil, dt, int(0.03 / dt), law, integrator, e)), "balls")
                energies = ledger(folder)
                momentum = MASS * 0.5
                relative = energies["kinetic"][-1] - momentum**2 / (4 * MASS)
                found = np.sqrt(relative / (MASS / 4))
                worst = max(worst, abs(found / e - 1))
                left = energies["kinetic"] + energies["barrier"] + energies["dissipated_damping"] + energies["dissipated_integrator"]
                runs.check(abs(left[-1] - left[0]) < 1e-9 * left[0] and abs(found / e - 1) < 0.01,
                           "%s, %s, dt %g s: restitution %.4f of %g" % (integrator, law, dt, found, e))
    print("largest error of the restitution: %.2g" % worst)


def check_restarts(recoil):
    path = recoil.write_scene("balls", balls(recoil, 1e-3, 16, "hertz", "mid_reflectT", 0.5))
    whole, folder = recoil.simulate(1, path, "whole"), recoil.path("parts")
    recoil.run(1, "simulate", path, "-o", folder, "-q", "--steps", 4)
    recoil.run(1, "simulate", "--restart", folder, "-q")
    same = all(np.array_equal(runs.state(whole, field=f), runs.state(folder, field=f)) for f in ("u", "v"))
    with open(os.path.join(whole, "ledger.csv")) as a, open(os.path.join(folder, "ledger.csv")) as b:
        same = same and a.read() == b.read()
    runs.check(same and runs.summary(whole)["steps_of_leapfrog"] > 0, "a collision is continued to the same bits")
    on_2 = recoil.simulate(2, path, "on 2")
    runs.check(runs.difference(runs.state(on_2, field="v"), runs.state(whole, field="v")) < 1e-9, "and is the same on two ranks")


def ball_on_plate(recoil, parts):
    stiffness, speed = E / (1 - NU**2) * np.sqrt(R), 0.5
    depth = (15 * MASS * speed**2 / (16 * stiffness))**0.4
    duration, peak = 2.9432 * depth / speed, 4 / 3 * stiffness * depth**1.5
    with open(recoil.path("ball.csv"), "w") as file:
        file.write("x,y,z,radius\n0,0,%.17g,%g\n" % (R + 0.001 + 1e-7, R))
    scene = {"geometry": [{"name": "ball", "particles": {"file": "ball.csv"}},
                          {"name": "plate", "is_obstacle": True, "type": "plane", "point": [0, 0, 0], "normal": [0, 0, 1]}],
             "materials": {"type": "BondedParticles", "E": E, "nu": NU, "rho": RHO},
             "initial_conditions": {"velocity": [{"body": "ball", "value": [0, 0, -speed]}]},
             "contact": {"enabled": True, "dhat": 0.001}, "time": {"dt": duration / parts, "time_steps": int(1.2 * parts)},
             "output": {"every": 1000},
             "solver": {"type": "bonded_particles", "bonded_particles": {"integrator": "leapfrog", "contact_law": "hertz"}}}
    return scene, duration, peak


def check_hertz(recoil):
    scene, duration, peak = ball_on_plate(recoil, 400)
    forces = np.array([-float(row["force_z"]) for row in table(recoil.simulate(1, recoil.write_scene("ball", scene), "ball"), "obstacle_forces.csv")])
    lasted = np.count_nonzero(forces > 0) / 400
    runs.check(abs(forces.max() / peak - 1) < 0.01 and abs(lasted - 1) < 0.01,
               "Hertz: peak force %.4f, duration %.4f of theory" % (forces.max() / peak, lasted))


def check_impulses(recoil):
    """What obstacle_forces.csv says of a bounce, summed over its steps, is what the ball has gained of momentum and lost to its weight."""
    scene, duration, _ = ball_on_plate(recoil, 200)
    scene["gravity"] = [0, 0, -9.81]
    parts, end = {}, scene["time"]["dt"] * scene["time"]["time_steps"]
    for integrator, sudden in (("leapfrog", None), ("be_reflect", "shorter_steps"), ("mid_reflectT", "shorter_steps"), ("be_reflect", "impacts")):
        keys = dict(integrator=integrator, contact_law="hertz", restitution=0.5, tolerance=1e-10)
        scene["solver"]["bonded_particles"] = dict(keys, sudden_breaking=sudden) if sudden else keys
        name = " ".join(filter(None, (integrator, sudden)))
        folder = recoil.simulate(1, recoil.write_scene("bounce", scene), "bounce")
        forces = np.array([float(row["force_z"]) for row in table(folder, "obstacle_forces.csv")])
        impulse = -forces.sum() * scene["time"]["dt"]
        gained = MASS * (runs.state(folder, field="v")[0, 2] + 0.5 + 9.81 * end)
        parts[name] = impulse
        share = ledger(folder)["dissipated_damping"][-1] / (MASS * 0.5**2 / 2)
        runs.check(forces[-1] == 0 and abs(impulse / gained - 1) < 1e-8 and share > 0.5,
                   "%s: impulse on the plate %.9g N s, off by %.2g; damping took %.2f of the energy" % (name, impulse, impulse / gained - 1, share))
    off = {name: abs(impulse / parts["leapfrog"] - 1) for name, impulse in parts.items()}
    runs.check(max(off.values()) < 0.02, "off from leapfrog: %s" % off)


def pressed(steps=4):
    """Grains in a box of planes below a platen that comes down."""
    half, height = 0.02, 0.04
    geometry = [{"name": "grains", "generator": {"type": "box", "size": [2 * half, 2 * half, height], "divisions": 1},
                 "particles": {"packing": "random", "radius": [0.003, 0.004], "porosity": 0.5, "seed": 3, "bonded": False}}]
    for axis in range(3):
        for side in (-1, 1):
            normal, point = [0, 0, 0], [0, 0, 0]
            normal[axis], point[axis] = -side, side * ((half if axis < 2 else height / 2) + 3e-4)
            geometry.append({"name": "side %d, %s" % (axis, "ab"[side > 0]), "is_obstacle": True, "type": "plane", "point": point, "normal": normal})
    geometry[-1]["surface_selection"] = 7
    return {"geometry": geometry, "materials": {"type": "BondedParticles", "E": E, "nu": NU, "rho": RHO},
            "boundary_conditions": {"obstacle_displacements": [{"id": 7, "value": [0, 0, "-0.01*t"]}]},
            "contact": {"enabled": True, "dhat": 3e-4, "friction_coefficient": 0.3, "epsv": 1e-3}, "time": {"dt": 0.01, "time_steps": steps},
            "output": {"every": 2, "chunk": 2, "contacts": True}, "solver": {"type": "bonded_particles", "bonded_particles": {"tolerance": 1e-5}}}


def check_network(recoil):
    path = recoil.write_scene("pressed", pressed())
    folder = recoil.simulate(1, path, "pressed")
    check_contacts(folder)
    other = recoil.path("pressed in parts")
    recoil.run(1, "simulate", path, "-o", other, "-q", "--steps", 2)
    recoil.run(1, "simulate", "--restart", other, "-q")
    runs.check(np.array_equal(runs.state(other), runs.state(folder)) and table(other, "contacts.csv") == table(folder, "contacts.csv"),
               "grains and their contacts are continued to the same bits")


def check_contacts(folder):
    rows = [row for row in table(folder, "contacts.csv") if row["step"] == "4"]
    pairs = [row for row in rows if row["other"].isdigit()]
    sides = {row["other"] for row in rows} - {row["other"] for row in pairs}
    runs.check("side 2, b" in sides and all(name.startswith("side ") for name in sides), "obstacles by their names: %s" % sorted(sides))
    numbers = np.zeros(len(runs.coordinates(folder)))
    for row in pairs:
        numbers[[int(row["particle"]), int(row["other"])]] += 1
    field = runs.state(folder, field="coordination").ravel()
    runs.check(np.array_equal(field, numbers) and len(pairs) > 20, "%d contacts, coordination number %.2f" % (len(pairs), numbers.mean()))
    runs.check(abs(runs.summary(folder)["coordination_number"] - numbers.mean()) < 1e-12, "the same in the summary")


def check_packings(recoil):
    side, openings, passing = 0.024, [0.002, 0.0025, 0.0035, 0.004], [0, 0.3, 0.8, 1]
    cases = {"uniform": {"radius": [0.001, 0.0016]},
             "normal": {"radius": [0.0005, 0.0025], "distribution": {"type": "normal", "mean": 0.0014, "sd": 0.0002}},
             "log_normal": {"radius": [0.0005, 0.004], "distribution": {"type": "log_normal", "mean": 0.0014, "sd": 0.0003}},
             "sieves": {"distribution": {"type": "sieves", "openings": openings, "passing": passing}}}
    for name, particles in cases.items():
        scene = pressed(steps=1)
        scene["geometry"] = [{"name": "box", "generator": {"type": "box", "size": [side] * 3, "divisions": 1},
                              "particles": dict(particles, packing="random", porosity=0.5, seed=1)}]
        scene["contact"], scene["boundary_conditions"], scene["output"] = {}, {}, {}
        folder = recoil.simulate(1, recoil.write_scene("packing", scene), "packing")
        with h5py.File(os.path.join(folder, "trajectory", "mesh.h5"), "r") as file:
            radii = file["radius"][:].ravel()
        porosity = 1 - (4 / 3 * np.pi * radii**3).sum() / side**3
        text = "%s: %d particles, porosity %.6f" % (name, len(radii), porosity)
        holds = abs(porosity - 0.5) < 0.005
        error = 1 / np.sqrt(len(radii))
        if name in ("normal", "log_normal"):
            of = particles["distribution"]
            holds = holds and abs(radii.mean() / of["mean"] - 1) < 0.5 * error and abs(radii.std() / of["sd"] - 1) < 3 * error
            text += ", mean %.5g, sd %.3g" % (radii.mean(), radii.std())
        if name == "sieves":
            mass, edges = radii**3, np.array(openings) / 2
            shares = np.array([mass[radii < edge * (1 + 1e-9)].sum() for edge in edges]) / mass.sum()
            holds = holds and np.abs(shares - passing).max() < 0.06
            text += ", passing %s" % np.round(shares, 3)
        runs.check(holds, text)


def check_deposit(recoil):
    """Grains deposited along the gravity of the scene, to a porosity."""
    scene = pressed(steps=1)
    scene["gravity"], scene["contact"], scene["boundary_conditions"], scene["output"] = [0, -9.81, 0], {}, {}, {}
    scene["time"]["dt"] = 1e-9
    scene["geometry"] = [dict(scene["geometry"][0], particles={"packing": "deposited", "radius": [0.003, 0.004], "porosity": 0.52, "friction": 1, "seed": 3, "bonded": False})]
    folder = recoil.simulate(1, recoil.write_scene("deposit", scene), "deposit")
    places = runs.coordinates(folder)
    with h5py.File(os.path.join(folder, "trajectory", "mesh.h5"), "r") as file:
        radii = file["radius"][:].ravel()
    gap = np.linalg.norm(places[:, None] - places, axis=2) - 1.005 * (radii[:, None] + radii)
    lower = places[:, None, 1] > places[None, :, 1]
    lies = ((gap <= 0) & lower).any(axis=1) | (places[:, 1] - radii < -0.02 + 1e-5)
    porosity = 1 - (4 / 3 * np.pi * radii**3).sum() / (0.04 * 0.04 * 0.04)
    runs.check(abs(porosity - 0.52) < 1e-9 and lies.all(), "%d deposited grains, porosity %.6f, all of them lie on something" % (len(radii), porosity))


def check_rest(recoil):
    """Deposited grains in a box stay where they lie, in long steps, too, if friction is that of the end of a step; else a warning says why they flow."""
    scene = pressed(steps=10)
    scene["gravity"], scene["boundary_conditions"], scene["output"] = [0, 0, -9.81], {}, {"every": 10}
    scene["contact"].update(enabled=True, dhat=3e-5, friction_coefficient=0.5)
    scene["time"]["dt"] = 0.01
    scene["materials"].update(E=1e7, rho=2650)
    scene["solver"]["bonded_particles"] = {"integrator": "be_reflect"}
    scene["geometry"] = [dict(scene["geometry"][0], particles={"packing": "deposited", "radius": [0.003, 0.004], "friction": 0.5, "seed": 3, "bonded": False})] + \
        [dict(plane, point=[x / abs(x) * (0.02 + 2.5e-5) if x else 0 for x in plane["point"]]) for plane in scene["geometry"][1:]]
    moved = []
    for iterations in (1, -1):
        scene["solver"]["contact"] = {"friction_iterations": iterations}
        path = recoil.write_scene("rest", scene)
        _, said = recoil.run(1, "validate", path)
        runs.check(("grains flow" in said and "/geometry/0/particles/packing" in said) == (iterations == 1), "friction_iterations %d: %s" % (iterations, said.strip()[-120:]))
        folder = recoil.simulate(1, path, "rest")
        with h5py.File(os.path.join(folder, "trajectory", "mesh.h5"), "r") as file:
            radii = file["radius"][:].ravel()
        moved.append((np.linalg.norm(runs.state(folder, field="displacement"), axis=1) / radii).mean())
    runs.check(moved[1] < 0.02 < moved[0], "%d grains move by %.4f and %.4f radii in 0.1 s" % (len(radii), *moved))


def check_wrong(recoil):
    grains, collision = pressed(), balls(recoil, 1e-3, 4, "hertz", "be_reflect", 0.5)
    packing = lambda **more: lambda s: s["geometry"][0]["particles"].update(more)
    key = lambda **more: lambda s: s["solver"]["bonded_particles"].update(more)
    wrong = [
        ("restitution above 1", collision, key(restitution=1.2), ["/solver/bonded_particles/restitution"]),
        ("restitution of 0", collision, key(restitution=0), ["/solver/bonded_particles/restitution"]),
        ("restitution without contact", collision, lambda s: (s.update(contact={}), s["solver"]["bonded_particles"].pop("contact_law")),
         ["/solver/bonded_particles/restitution", "set contact/enabled to true"]),
        ("restitution at rest", grains, lambda s: (s["time"].update(quasistatic=True), key(restitution=0.5)(s)),
         ["/solver/bonded_particles/restitution", "leave it out"]),
        ("stiffness beside Hertz", collision, lambda s: s["solver"].update(contact={"barrier_stiffness": 1e4}),
         ["/solver/contact/barrier_stiffness", "leave it out"]),
        ("unknown law", collision, key(contact_law="herz"), ["/solver/bonded_particles/contact_law", "hertz"]),
        ("contacts without contact", grains, lambda s: (s.update(contact={}), s.update(boundary_conditions={})), ["/output/contacts"]),
        ("porosity of a lattice", grains, packing(packing="hcp", radius=0.003), ["/particles/porosity", "random"]),
        ("tolerance of no bonds", grains, packing(bond_tolerance=0.01), ["/particles/bond_tolerance", "keep one of them"]),
        ("friction of a random packing", grains, packing(friction=0.5), ["/particles/friction", "deposited"]),
        ("no direction", grains, lambda s: (s["geometry"][0]["particles"].pop("porosity"), packing(packing="deposited", down=[0, 0, 0])(s)), ["/particles/down", "direction"]),
        ("a negative friction", grains, packing(packing="deposited", friction=-1), ["/particles/friction"]),
        ("rotation of deposited spheres", grains, packing(packing="deposited", rotation=[0, 0, 5]), ["/geometry/0/particles", "lattices"]),
        ("too loose for friction", grains, packing(packing="deposited", porosity=0.8), ["/geometry/0/particles", "is looser", "`friction`"]),
        ("too dense to be deposited", grains, packing(packing="deposited", porosity=0.3), ["/geometry/0/particles", "jam at a porosity of", "take at least that"]),
        ("too dense", grains, packing(porosity=0.3, radius=[0.006, 0.007]), ["jam", "larger"]),
        ("normal without sd", grains, packing(distribution={"type": "normal", "mean": 0.003}), ["/particles/distribution", "`sd` is missing"]),
        ("bounds away from the mean", grains, packing(distribution={"type": "normal", "mean": 0.02, "sd": 1e-4}), ["between the bounds"]),
        ("radius beside sieves", grains, packing(distribution={"type": "sieves", "openings": [0.004, 0.006], "passing": [0, 1]}),
         ["/particles/radius", "leave it out"]),
        ("sieves that let all pass", grains, lambda s: (s["geometry"][0]["particles"].pop("radius"), packing(
            distribution={"type": "sieves", "openings": [0.004, 0.006], "passing": [0.2, 1]})(s)), ["/distribution/passing", "ascend from 0"]),
    ]
    for name, base, change, parts in wrong:
        recoil.refuses(base, change, *parts, what=name, command="simulate")


with runs.Recoil() as recoil:
    check_restitution(recoil)
    check_restarts(recoil)
    check_hertz(recoil)
    check_impulses(recoil)
    check_packings(recoil)
    check_network(recoil)
    check_deposit(recoil)
    check_rest(recoil)
    check_wrong(recoil)
