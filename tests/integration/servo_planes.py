"""Planes that hold a force: a ball pressed by Hertz' law, grains in a box, a block at rest; continued to the same bits and on other ranks;
then wrong scenes with place and cure."""
import csv
import os

import numpy as np
import runs

E, NU, RHO, DHAT = 1e6, 0.3, 1000, 3e-4


def forces(folder, name):
    """Force along z on an obstacle and its way, a row per step."""
    with open(os.path.join(folder, "obstacle_forces.csv")) as file:
        rows = [row for row in csv.DictReader(file) if row["obstacle"] == name]
    return np.array([[float(row["force_z"]), float(row["displacement_z"])] for row in rows])


def plane(name, axis, side, distance, **more):
    point, normal = [0, 0, 0], [0, 0, 0]
    point[axis], normal[axis] = side * distance, -side
    return dict(name=name, is_obstacle=True, type="plane", point=point, normal=normal, **more)


def scene(geometry, servos, dt, steps, **keys):
    return {"geometry": geometry, "materials": {"type": "BondedParticles", "E": E, "nu": NU, "rho": RHO},
            "boundary_conditions": {"servo_planes": servos},
            "contact": {"enabled": True, "dhat": DHAT, "friction_coefficient": 0.3, "epsv": 1e-3}, "time": {"dt": dt, "time_steps": steps},
            "output": {"every": 5, "chunk": 2}, "solver": {"type": "bonded_particles", "bonded_particles": dict(tolerance=1e-6, **keys)}}


def ball(recoil, radius=0.01):
    with open(recoil.path("ball.csv"), "w") as file:
        file.write("x,y,z,radius\n0,0,0,%g\n" % radius)
    return scene([{"name": "ball", "particles": {"file": "ball.csv"}}, plane("base", 2, -1, radius + DHAT),
                  plane("platen", 2, 1, radius + 2 * DHAT, surface_selection=3)],
                 {"id": 3, "force": "0.1 + t", "max_speed": 0.1}, 0.02, 20, contact_law="hertz")


def grains():
    """Grains in a box, of which three sides press."""
    half, height = 0.02, 0.04
    geometry = [{"name": "grains", "generator": {"type": "box", "size": [2 * half, 2 * half, height], "divisions": 1},
                 "particles": {"packing": "random", "radius": [0.003, 0.004], "porosity": 0.5, "seed": 3, "bonded": False}}]
    for axis in range(3):
        for side in (-1, 1):
            geometry.append(plane("side %d%s" % (axis, "ab"[side > 0]), axis, side, (half if axis < 2 else height / 2) + DHAT))
            if side > 0:
                geometry[-1]["surface_selection"] = axis + 1
    return scene(geometry, [{"id": 1, "force": 1.5, "max_speed": 0.02}, {"id": 2, "force": 1.5, "max_speed": 0.02},
                            {"id": 3, "force": "2 + t", "max_speed": 0.02}], 0.01, 40)


def block():
    """A bonded block at rest, pressed harder in each step."""
    text = scene([{"name": "block", "generator": {"type": "box", "size": [0.012, 0.012, 0.024], "divisions": 1}, "particles": {"packing": "hcp", "radius": 0.001}},
                  plane("base", 2, -1, 0.012 + DHAT), plane("platen", 2, 1, 0.012 + DHAT, surface_selection=3)],
                 {"id": 3, "force": "t", "max_speed": 0.1}, 0.5, 4)
    text["time"]["quasistatic"] = True
    text["geometry"][0]["point_selection"] = [{"id": 1, "axis": "-z", "position": -0.0105}]
    text["boundary_conditions"]["dirichlet_boundary"] = [{"id": 1, "value": [0, 0, 0]}]
    return text


def check_ball(recoil):
    folder = recoil.simulate(1, recoil.write_scene("ball", ball(recoil)), "ball")
    times, (force, way) = 0.02 * np.arange(1, 21), forces(folder, "platen").T
    modulus = E / (1 - NU**2)  # of a sphere on a rigid plane
    depth = (3 * force / (4 * modulus * np.sqrt(0.01)))**(2 / 3)
    error = abs(-way / (DHAT + 2 * depth) - 1)
    runs.check(np.abs(force[2:] / (0.1 + times[2:]) - 1).max() < 1e-6, "a platen on a ball holds its force to %.2g" % np.abs(force[2:] / (0.1 + times[2:]) - 1).max())
    runs.check(error[-5:].max() < 0.01, "its way follows Hertz' law to %.2g" % error[-5:].max())


def check_grains(recoil):
    path = recoil.write_scene("grains", grains())
    folder = recoil.simulate(1, path, "grains")
    wanted = 2 + 0.01 * np.arange(1, 41)
    force, way = forces(folder, "side 2b").T
    held = np.abs(force / wanted - 1)
    runs.check(held[-20:].max() < 1e-3 and way[-1] < -DHAT, "a platen on grains holds its force to %.2g in the last 20 steps, way %.3g m" % (held[-20:].max(), way[-1]))
    other = recoil.path("grains in parts")
    recoil.run(1, "simulate", path, "-o", other, "-q", "--steps", 20)
    recoil.run(1, "simulate", "--restart", other, "-q")
    runs.check(np.array_equal(runs.state(other), runs.state(folder)) and np.array_equal(forces(other, "side 2b"), forces(folder, "side 2b")),
               "grains are continued to the same bits")
    three = forces(recoil.simulate(3, path, "grains on three"), "side 2b").T
    runs.check(np.abs(three[0] / wanted - 1)[-20:].max() < 1e-3 and np.abs(three[1] - way)[:20].max() < 0.01 * abs(way[-1]),
               "on three ranks to %.2g, way off by %.2g m" % (np.abs(three[0] / wanted - 1)[-20:].max(), np.abs(three[1] - way)[:20].max()))


def check_block(recoil):
    for ranks in (1, 3):
        folder = recoil.simulate(ranks, recoil.write_scene("block", block()), "block")
        force, way = forces(folder, "platen").T
        error = np.abs(force / (0.5 * np.arange(1, 5)) - 1).max()
        runs.check(error < 1e-6 and (np.diff(way) < 0).all(), "a platen on a block at rest holds its force to %.2g on %d ranks, ways %s m" % (error, ranks, way))


def check_wrong(recoil):
    base = ball(recoil)
    servo = lambda **more: lambda s: s["boundary_conditions"]["servo_planes"].update(more)
    key = lambda **more: lambda s: s["solver"]["bonded_particles"].update(more)
    at = "/boundary_conditions/servo_planes"
    wrong = [
        ("nobody's id", servo(id=9), [at, "id", "surface_selection"]),
        ("id of two planes", lambda s: s["geometry"][1].update(surface_selection=3), [at, "id", "different ids"]),
        ("force of place", servo(force="2*x"), [at, "force", "formula of t"]),
        ("no force", servo(force=0), [at, "above 0"]),
        ("force that turns", servo(force="1 - 10*t"), [at, "above 0", "t = 0.1"]),
        ("force of a wrong type", servo(force=[0, 0, 1]), [at, "force"]),
        ("speed of 0", servo(max_speed=0), [at, "max_speed"]),
        ("no speed", lambda s: s["boundary_conditions"]["servo_planes"].pop("max_speed"), [at, "max_speed"]),
        ("unknown key", servo(direction=[0, 0, 1]), [at, "direction"]),
        ("force and way", lambda s: s["boundary_conditions"].update(obstacle_displacements=[{"id": 3, "value": [0, 0, 0]}]), [at, "id", "leave one of both out"]),
        ("two forces", lambda s: s["boundary_conditions"].update(servo_planes=[s["boundary_conditions"]["servo_planes"]] * 2), [at, "id", "leave one of both out"]),
        ("force without contact", lambda s: s.update(contact={}), [at, "contact/enabled"]),
        ("leapfrog", key(integrator="leapfrog"), ["/solver/bonded_particles/integrator", "obstacle_displacements"]),
        ("restitution", key(restitution=0.5), ["/solver/bonded_particles/restitution", "leave it out"]),
    ]
    for name, change, parts in wrong:
        recoil.refuses(base, change, *parts, what=name, command="simulate")


with runs.Recoil() as recoil:
    check_ball(recoil)
    check_grains(recoil)
    check_block(recoil)
    check_wrong(recoil)
