"""`recoil gradient` and `recoil optimize` on scenes of bonded particles: every parameter against differences of whole runs, the same
gradient on any ranks and for any way of storing the run; E and nu of a cantilever found again from the path of its tip, also when
the fit is killed, and of every bond of a chain; then wrong studies with place and cure."""
import copy
import csv
import glob
import os
import shutil
import signal
import time

import h5py
import numpy as np

import runs
from studies import distance, fields, fit, gradient, logged_evaluations, result, start, wait_for

STEPS, DT = 8, 1e-3
RADIUS = 0.002
STRENGTH = {"be_reflect": 6e3, "mid_reflectT": 6e3, "quasistatic": 4.5e4}  # of beams that soften [Pa]
TORN_STRENGTH = 4e3  # of bodies that hit each other and tear [Pa]
SOFT = 2e5  # Young's modulus of a beam that bends enough for differences to tell E and nu from rounding


def scene(integrator="be_reflect", E=SOFT, nu=0.3, **more):
    """A cantilever whose grip moves and turns, and a block that spins beside it."""
    kind = {"quasistatic": True} if integrator == "quasistatic" else {}
    settings = {"tolerance": 1e-12}
    if not kind:
        settings["integrator"] = integrator
    bodies = [("beam", [0.032, 0.012, 0.012], [0, 0, 0]), ("block", [0.0121, 0.0121, 0.0121], [0, 0.03, 0])]
    return dict({
        "geometry": [{"name": name, "generator": {"type": "box", "size": size, "divisions": [1, 1, 1]}, "transformation": {"translation": at},
                      "particles": {"radius": RADIUS}} for name, size, at in bodies],
        "materials": {"type": "BondedParticles", "E": E, "nu": nu, "rho": 1000},
        "gravity": [0, 20, -40],
        "boundary_conditions": {"dirichlet_boundary": [
            {"id": 1, "value": [0, 0, 0.3], "interpolation": [{"type": "linear"}], "rotation": [0, 4, 0],
             "rotation_interpolation": [{"type": "linear"}]}],
            "particle_forces": [{"id": 2, "value": [0, 0, 0]}]},
        "initial_conditions": {} if kind else {
            "velocity": [{"body": "block", "value": [0.5, 0, 0.2]}],
            "angular_velocity": [{"body": "block", "value": [20, 0, 40]}]},
        "time": dict({"dt": DT, "time_steps": STEPS}, **kind),
        "solver": {"type": "bonded_particles", "bonded_particles": settings},
    }, **more)


def held(document, block):
    """Ids on the grip of the beam and, at rest, on a side of the block."""
    document["geometry"][0]["point_selection"] = [{"id": 1, "axis": "-x", "position": -0.0115}, {"id": 2, "axis": "x", "position": 0.0115}]
    if block:
        document["geometry"][1]["point_selection"] = [{"id": 1, "axis": "-x", "position": -0.0035}]
    return document


def observed(recoil, name, rows):
    path = recoil.path(name + ".csv")
    with open(path, "w") as file:
        file.write("\n".join(rows) + "\n")
    return path


MARKERS = [{"name": "tip", "body": "beam", "rest": [0.0155, 0.001, 0.002]}, {"name": "corner", "body": "beam", "rest": [0.014, -0.004, -0.004]}]
END = {"name": "end", "body": "beam", "id": 2}
THROWN = {"name": "thrown", "body": "block", "rest": [0.004, 0.034, -0.004]}
SEEN = MARKERS + [END, THROWN]


def study(recoil, path, dynamic):
    """All parameters and objectives that bonded particles have, compared with places that they are not at."""
    tracks = ["time,marker,x,y,z,sd"]
    for marker in SEEN:
        for t in (0, STEPS * DT):
            x, y, z = marker.get("rest", [0.012, 0, 0])
            tracks.append("%r,%s,%r,%r,%r,1e-2" % (t, marker["name"], x + 0.3 * t, y - 0.7 * t, z + 0.001))
    centre = ["time,x,y,z,sd_x,sd_y,sd_z", "0,0.001,0.01,0,0.01,0.02,0.01", "%r,0.003,0.02,0.001,0.01,0.02,0.01" % (STEPS * DT)]
    parameters = [{"name": "E", "quantity": "young_modulus", "per": "bond", "body": "beam", "initial": SOFT, "scale": "log"},
                  {"name": "nu", "quantity": "poisson_ratio", "per": "bond", "initial": 0.3},
                  {"name": "rho", "quantity": "density", "per": "body", "initial": 1000},
                  {"name": "g", "quantity": "body_force", "initial": [3, 20, -40]},
                  {"name": "grip", "quantity": "dirichlet_value", "boundary": 1, "initial": [0.1, 0.05, 0.3]},
                  {"name": "turn", "quantity": "dirichlet_rotation", "boundary": 1, "initial": [3, 4, -2]},
                  {"name": "pull", "quantity": "particle_force", "boundary": 2, "initial": [0.2, 0.05, -0.1]}]
    if dynamic:
        parameters += [{"name": "u0", "quantity": "initial_displacement", "initial": [1e-4, 5e-5, -1e-4]},
                       {"name": "v0", "quantity": "initial_velocity", "initial": [0.5, 0.1, 0.2]},
                       {"name": "w0", "quantity": "initial_angular_velocity", "body": "block", "initial": [20, 10, 40]}]
    return {"experiments": [{"name": "run", "scene": path}], "parameters": parameters, "markers": SEEN,
            "objectives": [{"name": "path", "type": "markers", "target": observed(recoil, "tracks", tracks)},
                           {"name": "centre", "type": "center_of_mass", "target": observed(recoil, "centre", centre), "weight": 3},
                           {"name": "grip", "type": "reaction_force", "boundary": 1, "direction": [1, 0, -2], "time": "final",
                            "target": observed(recoil, "force", ["time,force,sd", "0,0.1,0.5", "%r,0.2,0.5" % (STEPS * DT)])}],
            "sweep": {"tolerance": 1e-13}, "check": {"directions": 1, "steps": [1e-2, 1e-3, 1e-4, 1e-5]}}


def check_differences(folder, what):
    for name, check in result(folder)["check"].items():
        error = check["relative_error"]
        runs.check(check["verdict"].startswith("agrees") and error <= 1e-6, "%s, %s: off by %.1e" % (what, name, error))


def check_swept_again(recoil, ranks, whole, what):
    """Without the results of its sweep, on other ranks."""
    again = whole + "-again"
    shutil.copytree(whole, again)
    for left in ("gradient.json", "run/sweep.json"):
        os.remove(os.path.join(again, left))
    recoil.run(ranks, "gradient", "--restart", again, "-q")
    runs.check(distance(again, whole) < 1e-8, "%s: %d ranks sweep what one has run" % (what, ranks))


def check_gradients(recoil):
    """Differences by one integrator, or by all: the test `app_experiment` takes those of all, too."""
    for integrator in ("be_reflect", "mid_reflectT", "quasistatic"):
        at_rest = integrator == "quasistatic"
        document = study(recoil, recoil.write_scene(integrator, held(scene(integrator), at_rest)), not at_rest)
        path = recoil.write_scene(integrator + "-study", document)
        is_checked = recoil.arguments.all or integrator == "be_reflect"
        whole = gradient(recoil, 1, path, integrator + "-1", *(["--check"] if is_checked else []))
        if is_checked:
            check_differences(whole, integrator)
            for name, check in result(whole)["check"].items():
                slope = check["slope"]
                runs.check(slope is None or abs(slope - 2) < 0.1, "%s, %s: remainders of order %s" % (integrator, name, slope))
        if not at_rest:
            single = [p["gradient"] for p in result(whole)["parameters"].values() if "gradient" in p]
            of_bonds = [values for name, values in fields(whole).items() if name.endswith("/gradient")]
            runs.check(len(of_bonds) == 2 and all(np.nanmax(np.abs(g)) > 0 for g in single + of_bonds), "%s: no derivative is zero" % integrator)
        for ranks, every, budget in ((2, 3, None), (3, 8, 3)):
            document["sweep"] = {"tolerance": 1e-13, "store_every": every, "state_budget": budget}
            name = "%s-every-%d" % (integrator, every)
            error = distance(gradient(recoil, ranks, recoil.write_scene(name, document), name), whole)
            runs.check(error < 1e-8, "%s on %d ranks: the same gradient to %.1e" % (name, ranks, error))


MU = {"floor": 0.3, "block": 0.5}
PLANE = {"type": "plane", "name": "floor", "is_obstacle": True, "surface_selection": 7, "point": [0, 0, -0.005466], "normal": [0, 0, 1]}


def sliding(recoil, name, integrator="be_reflect", **settings):
    """A block that is thrown onto a beam that lies on a floor, which moves."""
    motion = {"obstacle_displacements": [{"id": 7, "value": ["0.05*t", 0, 0]}]}
    document = scene(integrator, gravity=[0, 0, -40], boundary_conditions=motion, initial_conditions={
        "velocity": [{"body": "block", "value": [0.5, 0.1, -0.3]}], "angular_velocity": [{"body": "block", "value": [0, 20, 5]}]})
    document["geometry"][1]["transformation"]["translation"] = [0.00195, 0.001527, 0.01545]
    document["geometry"].append(PLANE)
    document["contact"] = {"enabled": True, "dhat": 4e-4, "epsv": 0.02,
                           "friction_pairs": [{"bodies": ["beam", other], "coefficient": mu} for other, mu in MU.items()]}
    document["solver"]["contact"] = {"barrier_stiffness": SOFT * RADIUS}
    document["solver"]["bonded_particles"].update(settings)
    document["time"]["time_steps"] = 20
    return document


def forces_of_floor(recoil, folder, name):
    """Objectives that compare them with those of a run, over the time and over its displacement."""
    direction = np.array([0.3, 0, 1])
    with open(os.path.join(folder, "obstacle_forces.csv")) as file:
        rows = list(csv.DictReader(file))
    of = {what: [float(direction.dot([float(row["%s_%s" % (what, axis)]) for axis in "xyz"]) / np.linalg.norm(direction)) for row in rows]
          for what in ("displacement", "force")}
    runs.check(min(of["force"]) < -0.1, "%s: the floor bears up to %.2g N" % (name, -min(of["force"])))
    of["time"] = [float(row["time"]) for row in rows]
    return [{"name": "over-" + over, "type": "reaction_force", "obstacle": "floor", "direction": list(direction), "time": {"steps": list(range(1, 21))},
             "target": observed(recoil, "%s-floor-over-%s" % (name, over), [over + ",force,sd", "0,0,1"] + ["%r,%r,0.01" % (at, -force) for at, force in zip(of[over], of["force"])])}
            for over in ("time", "displacement")]


def check_forces_of_floor(recoil, document, name):
    """Those of a run are those that are compared."""
    true = [{"name": other, "quantity": "friction", "bodies": ["beam", other], "initial": mu} for other, mu in MU.items()]
    document = dict(document, parameters=true, markers=[])
    del document["check"]
    folder = gradient(recoil, 2, recoil.write_scene(name + "-floor-study", document), name + "-floor")
    value = result(folder)["objective"]
    runs.check(value < 1e-10, "%s: forces of the floor are those in obstacle_forces.csv, objective %.1e" % (name, value))


def check_contact(recoil):
    """Parameters of bodies that hit each other and slide, coefficients of friction among them, against differences and on any ranks;
    coefficients are found again."""
    for integrator in ("be_reflect", "mid_reflectT"):
        name = "sliding-" + integrator
        path = recoil.write_scene(name, sliding(recoil, name, integrator, rolling_friction=0.05))
        whole = recoil.simulate(1, path, name)
        rest = runs.state(whole, 0)[:, :3]
        markers = [dict(MARKERS[0]), {"name": "thrown", "body": "block", "rest": [0.006, 0.003536, 0.014234]}]
        rows = ["time,marker,x,y,z,sd"]
        for step in range(21):
            u = runs.state(whole, step)
            for marker in markers:
                x = at_rest_marker(u[:, :3], u[:, 3:], rest, np.array(marker["rest"]))
                rows.append("%r,%s,%r,%r,%r,1e-5" % ((step * DT, marker["name"]) + tuple(float(c) for c in x)))
        friction = [{"name": other, "quantity": "friction", "bodies": ["beam", other], "initial": 0.8 * mu, "bounds": [0, 2]} for other, mu in MU.items()]
        document = {"experiments": [{"name": "run", "scene": path}], "markers": markers,
                    "parameters": friction + [{"name": "E", "quantity": "young_modulus", "initial": 1.3 * SOFT, "scale": "log"},
                                              {"name": "rho", "quantity": "density", "per": "body", "initial": 1100},
                                              {"name": "g", "quantity": "body_force", "initial": [1, 0, -40]},
                                              {"name": "v0", "quantity": "initial_velocity", "body": "block", "initial": [0.5, 0.1, -0.3]}],
                    "objectives": [{"name": "path", "type": "markers", "target": observed(recoil, name + "-path", rows), "time": {"steps": list(range(1, 21))}}]
                    + forces_of_floor(recoil, whole, name),
                    "sweep": {"tolerance": 1e-13}, "check": {"directions": 1, "steps": [1e-4, 1e-5, 1e-6, 1e-7]}}
        study_path = recoil.write_scene(name + "-study", document)
        is_checked = recoil.arguments.all or integrator == "be_reflect"
        alone = gradient(recoil, 1, study_path, name + "-1", *(["--check"] if is_checked else []))
        if is_checked:
            check_differences(alone, name)
        runs.check(all(np.abs(p["gradient"]).min() > 0 for p in result(alone)["parameters"].values()), name + ": no derivative is zero")
        error = distance(gradient(recoil, 3, study_path, name + "-3"), alone)
        runs.check(error < 1e-8, "%s on 3 ranks: the same gradient to %.1e" % (name, error))
        check_forces_of_floor(recoil, dict(document, objectives=document["objectives"][1:]), name)
    document["parameters"] = friction
    document["optimizer"] = {"stop_at_noise": False}
    folder = recoil.path("sliding-fit")
    recoil.run(2, "optimize", recoil.write_scene("sliding-fit-study", document), "-o", folder, "-q")
    values = found_in(folder)
    runs.check(all(abs(values[other] / mu - 1) < 1e-4 for other, mu in MU.items()), "coefficients of friction are found again: %s" % values)
    fitted = recoil.simulate(1, os.path.join(folder, "scenes", "run.json"), "sliding-fitted")
    error = runs.difference(runs.state(fitted), runs.state(whole))
    runs.check(error < 1e-5, "the fitted scene has the states of the true one to %.1e" % error)


def softening(document, strength):
    """The same with bonds that soften around a strength."""
    document["materials"].update(tensile_strength=strength, shear_strength=0.8 * strength, weibull_modulus=6)
    document["solver"]["bonded_particles"]["damage_width"] = 0.2
    return document


def check_softening(recoil):
    """All parameters and the strengths of a beam that softens, also where states are found again, read on other ranks, and where a
    sweep is killed."""
    for integrator in ("be_reflect", "mid_reflectT", "quasistatic"):
        at_rest = integrator == "quasistatic"
        scene_path = recoil.write_scene(integrator + "-soft", softening(held(scene(integrator), at_rest), STRENGTH[integrator]))
        document = study(recoil, scene_path, not at_rest)
        document["parameters"] += [{"name": "tensile", "quantity": "tensile_strength", "body": "beam",
                                    "per": "body" if at_rest else "bond", "initial": STRENGTH[integrator], "scale": "log"},
                                   {"name": "shear", "quantity": "shear_strength", "initial": (0.4 if at_rest else 0.8) * STRENGTH[integrator]}]
        if not at_rest:
            document["check"]["steps"] = [1e-3, 1e-4, 1e-5, 1e-6]  # larger ones cross kinks
        path = recoil.write_scene(integrator + "-soft-study", document)
        is_checked = recoil.arguments.all or integrator == "mid_reflectT"
        whole = gradient(recoil, 1, path, integrator + "-soft-1", *(["--check"] if is_checked else []))
        simulated = recoil.simulate(1, scene_path, integrator + "-soft-run")
        broken = len(open(os.path.join(simulated, "broken_bonds.csv")).readlines()) - 1
        # At rest there is no balance under dead loads beyond the peak: bonds soften before it.
        runs.check(at_rest or broken >= 3, "%s: %d bonds have softened past their peak" % (integrator, broken))
        if is_checked:
            check_differences(whole, integrator + " that softens")
        document["sweep"] = {"tolerance": 1e-13, "store_every": 3}
        error = distance(gradient(recoil, 2, recoil.write_scene("soft-every", document), integrator + "-soft-every"), whole)
        runs.check(error < 1e-8, "%s that softens, found again on 2 ranks: the same gradient to %.1e" % (integrator, error))
        check_swept_again(recoil, 3, whole, integrator + " that softens")
    folder = recoil.path("soft-killed")
    path = recoil.path("be_reflect-soft-study.json")
    process = start(recoil, 1, path, "-o", folder)
    wait_for(os.path.join(folder, "run/sweep.json"), process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    recoil.run(1, "gradient", "--restart", folder, "-q")
    runs.check(distance(folder, recoil.path("be_reflect-soft-1")) < 1e-12, "killed as it sweeps through softening: the same gradient")


GRIP = -0.0075


def torn_contacts(folder, dhat):
    """How often particles whose bond has broken press on each other, over all states, and how often on those of the grip."""
    with h5py.File(os.path.join(folder, "trajectory", "mesh.h5"), "r") as file:
        a, b = file["connectivity"][:].reshape(-1, 2).T
    is_held = runs.state(folder, 0)[:, 0] < GRIP
    count = np.zeros(2, int)
    for step in range(21):
        x, is_broken = runs.state(folder, step)[:, :3], runs.state(folder, step, "broken").ravel() != 0
        gap = np.linalg.norm(x[a] - x[b], axis=1) - runs.state(folder, step, "least_distance").ravel()
        presses = is_broken & (gap < 0.9 * dhat)
        count += presses.sum(), (presses & (is_held[a] != is_held[b])).sum()
    return count


def check_torn(recoil):
    """The bodies that hit each other, soft enough to tear, the end of one held: particles whose bonds have broken touch from the distance
    on that they had then, those that are held too."""
    for integrator in ("be_reflect", "mid_reflectT"):
        name, strength = "torn-" + integrator, TORN_STRENGTH
        document = softening(sliding(recoil, name, integrator, rolling_friction=0.05), strength)
        document["geometry"][0]["point_selection"] = [{"id": 1, "axis": "-x", "position": GRIP}]
        document["boundary_conditions"]["dirichlet_boundary"] = [{"id": 1, "value": [0, 0, 0]}]
        path = recoil.write_scene(name, document)
        count, of_grip = torn_contacts(recoil.simulate(1, path, name), 4e-4)
        runs.check(count >= 10 and of_grip >= 2, "%s: particles whose bonds have broken press on each other %d times, %d times on held ones" % (name, count, of_grip))
        force = observed(recoil, name + "-force", ["time,force,sd", "0,0.1,0.05", "%r,0.2,0.05" % (20 * DT)])
        markers = [dict(MARKERS[0]), {"name": "thrown", "body": "block", "rest": [0.006, 0.003536, 0.014234]}]
        rows = ["time,marker,x,y,z,sd"]
        for t in (0, 20 * DT):
            rows += ["%r,%s,%r,%r,%r,1e-3" % (t, marker["name"], *(c + shift for c, shift in zip(marker["rest"], (0.3 * t, -0.7 * t, 0.001)))) for marker in markers]
        document = {"experiments": [{"name": "run", "scene": path}], "markers": markers,
                    "parameters": [{"name": "floor", "quantity": "friction", "bodies": ["beam", "floor"], "initial": MU["floor"]},
                                   {"name": "tensile", "quantity": "tensile_strength", "initial": strength, "scale": "log"},
                                   {"name": "shear", "quantity": "shear_strength", "initial": 0.8 * strength},
                                   {"name": "E", "quantity": "young_modulus", "initial": SOFT, "scale": "log"},
                                   {"name": "v0", "quantity": "initial_velocity", "body": "block", "initial": [0.5, 0.1, -0.3]}],
                    "objectives": [{"name": "path", "type": "markers", "target": observed(recoil, name + "-path", rows)},
                                   {"name": "grip", "type": "reaction_force", "boundary": 1, "direction": [1, 0, -2], "target": force},
                                   {"name": "ground", "type": "reaction_force", "obstacle": "floor", "direction": [1, 0, 2], "target": force}],
                    "sweep": {"tolerance": 1e-13}, "check": {"directions": 1, "steps": [1e-4, 1e-5, 1e-6, 1e-7]}}
        whole = gradient(recoil, 1, recoil.write_scene(name + "-study", document), name + "-1", "--check")
        check_differences(whole, name)
        document["sweep"]["store_every"] = 3
        error = distance(gradient(recoil, 3, recoil.write_scene(name + "-study", document), name + "-3"), whole)
        runs.check(error < 1e-8, "%s, found again on 3 ranks: the same gradient to %.1e" % (name, error))
        check_swept_again(recoil, 2, whole, name)


def check_steps(recoil):
    """A grip that moves and turns by values per step, against differences."""
    document = study(recoil, recoil.write_scene("steps", held(scene("mid_reflectT"), False)), True)
    document["parameters"] = [{"name": "grip", "quantity": "dirichlet_value", "boundary": 1, "per_step": True, "initial": [2e-4, 1e-4, 3e-4]},
                              {"name": "turn", "quantity": "dirichlet_rotation", "boundary": 1, "per_step": True, "initial": [0.1, 0.2, -0.1]},
                              {"name": "E", "quantity": "young_modulus", "body": "beam", "initial": SOFT}]
    path = recoil.write_scene("steps-study", document)
    whole = gradient(recoil, 1, path, "steps-1", "--check")
    check_differences(whole, "per step")
    runs.check(distance(gradient(recoil, 2, path, "steps-2"), whole) < 1e-8, "per step, on 2 ranks: the same gradient")


def check_continued(recoil):
    """Without the results of a sweep, and killed in the middle of run and sweep: the same gradient."""
    path, whole = recoil.path("be_reflect-study.json"), recoil.path("be_reflect-1")
    check_swept_again(recoil, 3, whole, "a finished run")
    for number, file in enumerate(("run/trajectory/manifest.json", "run/sweep.json")):
        folder = recoil.path("continued-%d" % number)
        process = start(recoil, 1, path, "-o", folder)
        wait_for(os.path.join(folder, file), process)
        process.send_signal(signal.SIGKILL)
        process.wait()
        recoil.run(1, "gradient", "--restart", folder, "-q")
        runs.check(distance(folder, whole) < 1e-12, "killed at %s and continued: the same gradient" % file)


TRUE, START = {"E": 1e7, "nu": 0.3}, {"E": 1.6e7, "nu": 0.15}


def bent(**constants):
    """The cantilever alone, bent and twisted by gravity that sets in at once."""
    document = held(scene("be_reflect", gravity=[0, 300, -500], **constants), False)
    document["geometry"] = document["geometry"][:1]
    document["boundary_conditions"] = {"dirichlet_boundary": [{"id": 1, "value": [0, 0, 0], "rotation": ["15*t", 0, 0]}]}
    document["initial_conditions"] = {}
    return document


def at_rest_marker(place, quaternion, rest, marker):
    """Where a marker is that moves rigidly with the particle nearest to it."""
    k = np.linalg.norm(rest - marker, axis=1).argmin()
    (x, y, z, w), arm = quaternion[k], marker - rest[k]
    v = np.array([x, y, z])
    return place[k] + arm + 2 * np.cross(v, np.cross(v, arm) + w * arm)


def cantilever(recoil, **optimizer):
    folder = recoil.simulate(1, recoil.write_scene("true", bent(**TRUE)), "true")
    rest = runs.state(folder, 0)[:, :3]
    rows = ["time,marker,x,y,z,sd"]
    for step in range(STEPS + 1):
        u = runs.state(folder, step)
        for marker in MARKERS:
            x = at_rest_marker(u[:, :3], u[:, 3:], rest, np.array(marker["rest"]))
            rows.append("%r,%s,%r,%r,%r,1e-5" % ((step * DT, marker["name"]) + tuple(float(c) for c in x)))
    return {"experiments": [{"name": "bent", "scene": recoil.write_scene("bent", bent(**START))}], "markers": MARKERS,
            "parameters": [{"name": "E", "quantity": "young_modulus", "initial": START["E"], "bounds": [1e6, 1e8], "scale": "log"},
                           {"name": "nu", "quantity": "poisson_ratio", "initial": START["nu"], "bounds": [-0.2, 0.45]}],
            "objectives": [{"name": "path", "type": "markers", "target": observed(recoil, "path", rows),
                            "time": {"steps": list(range(1, STEPS + 1))}}],
            "sweep": {"tolerance": 1e-12}, "optimizer": dict({"gradient_tolerance": 1e-10, "stop_at_noise": False, "starts": 1}, **optimizer)}


def lines_of_logs(folder):
    """How many evaluations a fit that is running has logged."""
    count = 0
    for path in glob.glob(os.path.join(folder, "evaluations", "*.jsonl")):
        with open(path, "rb") as file:
            count += file.read().count(b"\n")
    return count


def found_in(folder):
    return {name: parameter["value"] for name, parameter in fit(folder)["parameters"].items()}


def check_fits(recoil):
    document = cantilever(recoil)
    path = recoil.write_scene("fit-study", document)
    whole = recoil.path("fit")
    recoil.run(1, "optimize", path, "-o", whole, "-q")
    values = found_in(whole)
    runs.check(all(abs(values[name] / TRUE[name] - 1) < 1e-5 for name in TRUE), "found %s in %d evaluations" % (values, len(logged_evaluations(whole))))
    simulated = recoil.simulate(1, os.path.join(whole, "scenes", "bent.json"), "fitted")
    error = runs.difference(runs.state(simulated), runs.state(recoil.path("true")))
    runs.check(error < 1e-5, "the fitted scene has the states of the true one to %.1e" % error)
    quasi = cantilever(recoil, method="quasi_newton")
    for name, ranks, study_path in (("fit-2", 2, path), ("fit-quasi", 1, recoil.write_scene("quasi-study", quasi))):
        folder = recoil.path(name)
        recoil.run(ranks, "optimize", study_path, "-o", folder, "-q")
        values = found_in(folder)
        runs.check(all(abs(values[key] / TRUE[key] - 1) < 1e-3 for key in TRUE), "%s: found %s" % (name, values))
    killed = recoil.path("fit-killed")
    process = start(recoil, 1, path, "-o", killed, command="optimize")
    wait_for(os.path.join(killed, "evaluations"), process)
    while process.poll() is None and lines_of_logs(killed) < 2:
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    recoil.run(1, "optimize", "--restart", killed, "-q")
    runs.check(found_in(killed) == found_in(whole), "a fit that was killed and continued has the same bits")


CHAIN = {"E": [2e6, 2e6, 5e5, 5e5, 5e5], "nu": [0.1, 0.1, 0.3, 0.3, 0.3]}


def chain(recoil, **moduli):
    """Particles in a row of which the first is held and the last is pulled along and aside; moduli of each bond."""
    count = len(CHAIN["E"])
    points = observed(recoil, "points", ["x,y,z,radius"] + ["%r,0,0,%r" % (2 * RADIUS * k, RADIUS) for k in range(count + 1)])
    columns = list(zip(*moduli.values())) or [()] * count
    bonds = observed(recoil, "bonds" + "".join(moduli), [",".join(["i,j", *moduli])] +
                     [",".join(map(str, (k, k + 1, *values))) for k, values in enumerate(columns)])
    return {"geometry": [{"name": "chain", "particles": {"file": points, "bonds": bonds},
                          "point_selection": [{"id": 1, "axis": "-x", "position": RADIUS}, {"id": 2, "axis": "x", "position": (2 * count - 1) * RADIUS}]}],
            "materials": {"type": "BondedParticles", "E": 1e6, "nu": 0.2, "rho": 1000},
            "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0, 0]}],
                                    "particle_forces": [{"id": 2, "value": ["0.1*t", "0.005*t", "0.003*t"]}]},
            "time": {"dt": 1, "time_steps": 2, "quasistatic": True},
            "solver": {"type": "bonded_particles", "bonded_particles": {"tolerance": 1e-12}}}


def check_bonds(recoil):
    """E and nu of each bond of a chain from markers on its particles; the values are read again, and the fitted scene has the true states."""
    truth = recoil.simulate(1, recoil.write_scene("chain-true", chain(recoil, **CHAIN)), "chain-true")
    rest = runs.state(truth, 0)[:, :3]
    markers = [{"name": "m%d" % k, "body": "chain", "rest": [2 * RADIUS * k, 0.0015, 0.001]} for k in range(1, len(rest))]
    rows = ["time,marker,x,y,z,sd"]
    for step in (1, 2):
        u = runs.state(truth, step)
        for marker in markers:
            x = at_rest_marker(u[:, :3], u[:, 3:], rest, np.array(marker["rest"]))
            rows.append("%d,%s,%r,%r,%r,1e-6" % ((step, marker["name"]) + tuple(float(c) for c in x)))
    document = {"experiments": [{"name": "chain", "scene": recoil.write_scene("chain", chain(recoil))}], "markers": markers,
                "parameters": [{"name": "E", "quantity": "young_modulus", "per": "bond", "initial": 1e6, "scale": "log"},
                               {"name": "nu", "quantity": "poisson_ratio", "per": "bond", "initial": 0.2, "bounds": [-0.4, 0.45]}],
                "objectives": [{"name": "path", "type": "markers", "target": observed(recoil, "chain-path", rows), "time": {"steps": [1, 2]}}],
                "sweep": {"tolerance": 1e-12}, "optimizer": {"stop_at_noise": False}}
    folder = recoil.path("chain-fit")
    recoil.run(2, "optimize", recoil.write_scene("chain-study", document), "-o", folder, "-q")
    with h5py.File(os.path.join(folder, "fit.h5"), "r") as file:
        found = {name: file[name][:, 0] for name in CHAIN}
    error = max(runs.difference(found[name], np.array(CHAIN[name])) for name in CHAIN)
    runs.check(error < 1e-4, "E and nu of each bond of a chain are found to %.1e" % error)
    fitted = recoil.simulate(2, os.path.join(folder, "scenes", "chain.json"), "chain-fitted")
    error = runs.difference(runs.state(fitted), runs.state(truth))
    runs.check(error < 1e-6, "the fitted chain has the states of the true one to %.1e" % error)
    for parameter in document["parameters"]:
        parameter["initial"] = {"file": os.path.join(folder, "fit.json")}
    again = gradient(recoil, 2, recoil.write_scene("chain-again", document), "chain-again")
    values = fields(again)
    runs.check(all((values["chain/%s/value" % name][:, 0] == found[name]).all() for name in CHAIN) and
               abs(result(again)["objective"] - fit(folder)["objective"]) < 1e-9, "values of bonds are read again")


BAR = {"E": 1e7, "strength": 5e4}


def bar(E, strength, steps=20):
    """A bar that is pulled at rest until it tears."""
    return {"geometry": [{"name": "bar", "generator": {"type": "box", "size": [0.03, 0.0081, 0.0081], "divisions": 1},
                          "particles": {"radius": RADIUS},
                          "point_selection": [{"id": 1, "axis": "-x", "position": -0.0105}, {"id": 2, "axis": "x", "position": 0.0105}]}],
            "materials": {"type": "BondedParticles", "E": E, "nu": 0.2, "rho": 1000, "tensile_strength": strength, "shear_strength": strength},
            "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0, 0]}, {"id": 2, "value": ["1e-5*t", 0, 0]}]},
            "time": {"dt": 1, "time_steps": steps, "quasistatic": True},
            "solver": {"type": "bonded_particles", "bonded_particles": {"damage_width": 0.15, "tolerance": 1e-9}}}


def check_strength(recoil):
    """E and strength of a bar from its load curve beyond the peak, found from a start at which it would hold."""
    truth = recoil.simulate(2, recoil.write_scene("bar-true", bar(**BAR)), "bar-true")
    with open(os.path.join(truth, "reactions.csv")) as file:
        rows = [row for row in csv.DictReader(file) if row["entry"] == "1"]
    force = [float(row["force_x"]) for row in rows]
    runs.check(force.index(max(force)) < 16 and force[-1] < 0.9 * max(force), "the load has a peak, in step %d" % (force.index(max(force)) + 1))
    target = observed(recoil, "bar", ["displacement,force,sd"] + ["%s,%r,1e-3" % (row["displacement_x"], f) for row, f in zip(rows, force)])
    document = {"experiments": [{"name": "bar", "scene": recoil.write_scene("bar", bar(8e6, 3e4))}],
                "parameters": [{"name": "E", "quantity": "young_modulus", "initial": 8e6, "bounds": [1e6, 1e8], "scale": "log"},
                               {"name": "strength", "quantity": "tensile_strength", "initial": 3e4, "bounds": [1e3, 1e6], "scale": "log"},
                               {"name": "shear", "quantity": "shear_strength", "tie": "strength"}],
                "objectives": [{"name": "pull", "type": "reaction_force", "boundary": 2, "direction": [1, 0, 0], "target": target,
                                "time": {"steps": list(range(1, len(rows) + 1))}}],
                "sweep": {"tolerance": 1e-12}, "optimizer": {"match_peaks": True, "stop_at_noise": False, "starts": 1}}
    folder = recoil.path("bar-fit")
    recoil.run(2, "optimize", recoil.write_scene("bar-study", document), "-o", folder, "-q")
    values = found_in(folder)
    runs.check(all(abs(values[name] / BAR[name] - 1) < 1e-3 for name in BAR), "found %s" % values)
    matched = fit(folder)["matched_peaks"]
    peak, factor = matched["peaks"]["pull"], matched["factors"]["strength"]
    runs.check(abs(peak["observed"] - max(force)) < 1e-6 * max(force) and abs(factor - peak["observed"] / peak["simulated"]) < 1e-12 * factor,
               "peaks of %s give the factor %g" % (peak, factor))


def wrong_studies(recoil):
    """name, scene, changes of the study, parts of the message."""
    def with_settings(**more):
        document = held(scene(), False)
        document["solver"]["bonded_particles"].update(more)
        return document

    strengths = {"type": "BondedParticles", "E": 1e7, "nu": 0.3, "rho": 1000, "tensile_strength": 1e3, "shear_strength": 1e3}
    E = {"name": "E", "quantity": "young_modulus", "initial": 1e7}
    tensile = {"name": "s", "quantity": "tensile_strength", "initial": 1e3}
    soft = dict(with_settings(damage_width=0.1), materials=strengths)
    plain = held(scene(), False)
    friction = {"name": "mu", "quantity": "friction", "bodies": ["beam", "block"], "initial": 0.2}

    def touching(**of_contact):
        document = held(scene(), False)
        document["contact"] = {"enabled": True, "dhat": 1e-4, "friction_coefficient": 0.1}
        document["solver"]["contact"] = dict({"friction_iterations": 1}, **of_contact)
        return document

    at_wall = touching(barrier_stiffness=SOFT * RADIUS)
    at_wall["contact"]["dhat"] = 4e-4
    at_wall["geometry"].append(dict(PLANE, name="wall", point=[-0.0162, 0, 0], normal=[1, 0, 0]))
    wall = {"name": "o", "type": "reaction_force", "obstacle": "wall", "direction": [1, 0, 0], "target": observed(recoil, "of-wall", ["time,force", "0,1", "1,1"])}
    beyond = observed(recoil, "beyond", ["displacement,force", "1,1", "2,1"])
    single = copy.deepcopy(plain)
    single["geometry"][1]["generator"]["size"] = [0.0041, 0.0041, 0.0041]
    turn = {"name": "turn", "quantity": "dirichlet_rotation", "boundary": 1, "initial": [0, 0, 0]}
    free, formula = copy.deepcopy(plain), copy.deepcopy(plain)
    for document, rotation in ((free, "free"), (formula, [0, "4*t", 0])):
        held_entry = document["boundary_conditions"]["dirichlet_boundary"][0]
        held_entry.update(rotation=rotation)
        del held_entry["rotation_interpolation"]
    between = observed(recoil, "between", ["time,marker,x,y,z"] + ["%g,%s,0,0,0" % (t, marker["name"]) for marker in SEEN for t in (0.003, 0.0035)])
    u0 = {"name": "u0", "quantity": "initial_displacement", "initial": [0, 0, 0]}
    bent_start = dict(plain, initial_conditions={"solution": [{"body": "beam", "value": [0, 0, "0.1*x"]}]})
    own_strengths = dict(chain(recoil, tensile_strength=[1e3] * len(CHAIN["E"])), materials=strengths)
    own_strengths["solver"]["bonded_particles"]["damage_width"] = 0.1
    return [
        ("contact as stiff as bonds", touching(), {}, ["/experiments/0/scene", "barrier_stiffness", "give it"]),
        ("friction that is lagged again", touching(barrier_stiffness=1e4, friction_iterations=-1), {}, ["/experiments/0/scene", "friction_iterations", "need 1"]),
        ("a force without contact", plain, {"objectives": [dict(wall, obstacle="floor")]}, ["/objectives/0/obstacle", "contact/enabled"]),
        ("a force of no obstacle", at_wall, {"objectives": [dict(wall, obstacle="roof")]}, ["/objectives/0/obstacle", "'roof'", "wall"]),
        ("a force beyond the curve", at_wall, {"objectives": [dict(wall, target=beyond)]}, ["/objectives/0/target", "support is there"]),
        ("friction without contact", plain, {"parameters": [friction]}, ["/parameters/0/quantity", "contact is off"]),
        ("friction with nobody", touching(barrier_stiffness=1e4), {"parameters": [dict(friction, bodies=["beam", "wall"])]}, ["/parameters/0/bodies", "'wall'"]),
        ("leapfrog", with_settings(integrator="leapfrog"), {}, ["/experiments/0/scene", "leapfrog", "mid_reflectT"]),
        ("paper_literal", with_settings(integrator="paper_literal"), {}, ["/experiments/0/scene", "paper_literal", "mid_reflectT"]),
        ("del_exact", with_settings(integrator="del_exact"), {}, ["/experiments/0/scene", "del_exact", "mid_reflectT"]),
        ("a bond that breaks", dict(plain, materials=strengths), {}, ["/materials", "bond ", "has broken by t = ", "`tensile_strength`", "time/time_steps"]),
        ("pressure", plain, {"parameters": [{"name": "p", "quantity": "pressure", "boundary": 1, "initial": 0.3}]},
         ["/parameters/0/quantity", "finite elements", "young_modulus"]),
        ("E per element", plain, {"parameters": [dict(E, per="element")]}, ["/parameters/0/per", "\"global\", \"body\" or \"bond\""]),
        ("density per bond", plain, {"parameters": [{"name": "rho", "quantity": "density", "per": "bond", "initial": 1e3}]},
         ["/parameters/0/per", "not per bond"]),
        ("E per bond of a macroscopic lattice", dict(plain, materials=dict(plain["materials"], moduli="macro")), {"parameters": [dict(E, per="bond")]},
         ["/parameters/0/per", "'beam'", "macro", "/materials"]),
        ("tied bonds", plain, {"parameters": [dict(E, per="bond", body="beam"), {"name": "F", "quantity": "young_modulus", "body": "block", "per": "bond", "tie": "E"}]},
         ["/parameters/1/tie", "or bond", "cannot be tied"]),
        ("one value twice", plain, {"parameters": [E, dict(E, name="F", per="bond", body="beam")]}, ["/parameters/1", "sets the same young_modulus", "keep one"]),
        ("bonds of single particles", single, {"parameters": [dict(E, per="bond", body="block")]}, ["/parameters/0/per", "no bonds", "`body`"]),
        ("a region", plain, {"parameters": [dict(E, region=[1])]}, ["/parameters/0/region", "`body`"]),
        ("another body", plain, {"parameters": [dict(E, body="rod")]}, ["/parameters/0/body", "'rod'"]),
        ("no such boundary", plain, {"parameters": [{"name": "u", "quantity": "dirichlet_value", "boundary": 7, "initial": [0, 0, 0]}]},
         ["/parameters/0/boundary", "7"]),
        ("no such force", plain, {"parameters": [{"name": "F", "quantity": "particle_force", "boundary": 1, "initial": [0, 0, 0]}]},
         ["/parameters/0/boundary", "the id 1", "ids there: 2"]),
        ("no such rotation", plain, {"parameters": [dict(turn, boundary=7)]}, ["/parameters/0/boundary", "7", "ids there: 1"]),
        ("a rotation that is free", free, {"parameters": [turn]}, ["/parameters/0/boundary", "\"free\"", "three numbers"]),
        ("a rotation by a formula", formula, {"parameters": [turn]}, ["/parameters/0/quantity", "per_step", "`rotation_interpolation`"]),
        ("two rotations", plain, {"parameters": [turn, dict(turn, name="again")]}, ["/parameters/1", "sets the same dirichlet_rotation", "keep one"]),
        ("velocities at rest", held(scene("quasistatic"), True), {"parameters": [{"name": "v", "quantity": "initial_velocity", "initial": [0, 0, 0]}]},
         ["/parameters/0/quantity", "no inertia"]),
        ("displacements at rest", held(scene("quasistatic"), True), {"parameters": [u0]}, ["/parameters/0/quantity", "initial_displacement", "no inertia"]),
        ("a displacement of another body", plain, {"parameters": [dict(u0, body="rod")]}, ["/parameters/0/body", "'rod'"]),
        ("a displacement that varies", bent_start, {"parameters": [u0]}, ["/parameters/0/quantity", "would replace", "/initial_conditions/solution", "write numbers"]),
        ("a stress", plain, {"objectives": [{"name": "o", "type": "stress_norm", "p": 4}]},
         ["/objectives/0/type", "the stress in elements, which bonded particles do not have", "center_of_mass", "or reaction_force"]),
        ("facets", plain, {"objectives": [{"name": "o", "type": "target_position", "reference": recoil.path("centre.csv"), "over": "boundary"}]},
         ["/objectives/0/over", "facets of the boundary", "leave it out"]),
        ("a marker outside", plain, {"markers": [MARKERS[1], dict(MARKERS[0], rest=[0.05, 0, 0]), END, THROWN]}, ["/markers/1/rest", "nearest particle", "'beam'"]),
        ("a marker with place and id", plain, {"markers": [dict(END, rest=[0, 0, 0])]}, ["/markers/0", "one of `rest`"]),
        ("a marker of no particle", plain, {"markers": MARKERS + [dict(END, id=9), THROWN]}, ["/markers/2/id", "no particle has this id"]),
        ("a strength without softening", dict(plain, materials=strengths), {"parameters": [tensile]},
         ["/parameters/0/quantity", "damage_width", "0.1"]),
        ("a strength that is not there", dict(soft, materials={k: v for k, v in strengths.items() if k != "tensile_strength"}),
         {"parameters": [tensile]}, ["/parameters/0/quantity", "no `tensile_strength`"]),
        ("a negative strength", soft, {"parameters": [dict(tensile, initial=-1)]}, ["/parameters/0/initial", "tensile_strength"]),
        ("a strength of another body", soft, {"parameters": [dict(tensile, body="rod")]}, ["/parameters/0/body", "'rod'"]),
        ("strengths of bonds that do not soften", dict(plain, materials=strengths), {"parameters": [dict(tensile, per="bond")]},
         ["/parameters/0/quantity", "damage_width", "0.1"]),
        ("strengths of bonds of single particles", dict(single, materials=strengths, solver=soft["solver"]),
         {"parameters": [dict(tensile, per="bond", body="block")]}, ["/parameters/0/per", "no bonds", "`body`"]),
        ("one strength twice", soft, {"parameters": [tensile, dict(tensile, name="t", per="bond", body="beam")]},
         ["/parameters/1", "sets the same tensile_strength", "keep one"]),
        ("a negative strength of bonds", soft, {"parameters": [dict(tensile, per="bond", initial=-1)]}, ["/parameters/0/initial", "tensile_strength"]),
        ("a strength that the file of bonds has", own_strengths,
         {"parameters": [tensile], "markers": [], "objectives": [{"name": "o", "type": "center_of_mass", "target": recoil.path("centre.csv")}]},
         ["/parameters/0/quantity", "'chain'", "column `tensile_strength`", "per"]),
        ("a strength per element", soft, {"parameters": [dict(tensile, per="element")]}, ["/parameters/0/per"]),
        ("softening without strengths", with_settings(damage_width=0.1), {}, ["damage_width", "`tensile_strength`"]),
        ("softening by leapfrog", dict(with_settings(damage_width=0.1, integrator="leapfrog"), materials=strengths), {}, ["damage_width", "leapfrog"]),
        ("a negative width", dict(with_settings(damage_width=-0.1), materials=strengths), {}, ["damage_width", "0 to 1", "-0.1"]),
        ("peaks without strengths", soft, {"parameters": [E], "optimizer": {"match_peaks": True}}, ["/optimizer/match_peaks", "no parameter is one"]),
        ("peaks without forces", soft, {"parameters": [tensile], "optimizer": {"match_peaks": True},
                                        "objectives": [{"name": "o", "type": "center_of_mass", "target": recoil.path("centre.csv")}]},
         ["/optimizer/match_peaks", "reaction_force"]),
        ("observations between states", plain, {"objectives": [{"name": "path", "type": "markers", "target": between, "time": {"times": "data"}}]},
         ["/objectives/0/target", "at 0.0035 s, between the states", "end at the observations"]),
    ]


def check_reference(recoil):
    """The states of a run as those aimed at: the run itself has no deviation from them, a softer beam has."""
    path = recoil.write_scene("aimed-at", held(scene(), False))
    run = recoil.path("aimed-at")
    recoil.run(2, "simulate", path, "-o", run, "-q")
    values = []
    for ranks, E in ((1, SOFT), (3, 0.9 * SOFT)):
        document = {"experiments": [{"name": "run", "scene": path}], "parameters": [{"name": "E", "quantity": "young_modulus", "initial": E}],
                    "objectives": [{"name": "aim", "type": "target_position", "reference": run}]}
        name = "aim-%d" % ranks
        values.append(result(gradient(recoil, ranks, recoil.write_scene(name, document), name))["objective"])
    runs.check(values[0] < 1e-18 * values[1], "the states of another run: %.1e, of a softer beam %.1e" % tuple(values))


def check_wrong(recoil):
    for number, (name, document, changes, parts) in enumerate(wrong_studies(recoil)):
        path = recoil.write_scene("wrong", document)
        wrong = dict(study(recoil, path, "quasistatic" not in document["time"]))
        wrong.update(copy.deepcopy(changes))
        folder = recoil.path("wrong")
        shutil.rmtree(folder, ignore_errors=True)
        code, output = recoil.run(1 + number % 2, "gradient", recoil.write_scene("wrong-study", wrong), "-o", folder, expect=None)
        message = output[output.find("recoil: "):].strip()
        missing = [part for part in parts if part not in message]
        runs.check(code == 2 and not missing, "%s: %d, %s%s" % (name, code, message, " MISSING %s" % missing if missing else ""))


with runs.Recoil(("--all", int, 0)) as recoil:
    check_gradients(recoil)
    check_softening(recoil)
    check_contact(recoil)
    if recoil.arguments.all:
        check_torn(recoil)
    check_steps(recoil)
    check_reference(recoil)
    check_continued(recoil)
    check_fits(recoil)
    check_bonds(recoil)
    check_strength(recoil)
    check_wrong(recoil)
