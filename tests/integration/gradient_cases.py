"""Gradients of what the other tests of `recoil gradient` do not have, against differences of whole runs: friction to convergence,
markers that move with the shape, fields per vertex, loads that grow with time, spins, regions that meet, references, values at their limits, bodies
in another order from experiment to experiment; and folders whose inputs have changed."""
import json
import os
import shutil

import h5py
import numpy as np

import runs
from pieces import box, material
from studies import agree, distance, exact, gradient, log, result, slide, slide_study


def converged_friction(recoil):
    scene = slide(steps=6)
    scene["solver"]["contact"].update({"friction_iterations": -1, "friction_convergence_tol": 1e-11})
    study = slide_study("slide", recoil.write_scene("converged", scene))
    agree(recoil, "converged-friction", study)
    study["parameters"] = [{"name": "shape", "quantity": "shape", "body": "lower", "basis": "affine"}]
    study["check"] = {"steps": [1e-5, 1e-6, 1e-7]}
    agree(recoil, "converged-friction-shape", study)
    del scene["solver"]["contact"]["friction_convergence_tol"]
    agree(recoil, "converged-friction-by-default", slide_study("slide", recoil.write_scene("converged-by-default", scene)))


def rolling_friction(recoil):
    """A disk of order 3 that meets a ramp: with friction to convergence the derivatives are right to 1e-5 without any key for it."""
    slope = np.radians(12)
    scene = {"geometry": [{"name": "disk", "generator": {"type": "disk", "radius": 0.06, "divisions": 2}, "transformation": {"translation": [0, 0.0625]}},
                          {"name": "ramp", "type": "plane", "point": [0, 0], "normal": [-np.sin(slope), np.cos(slope)], "is_obstacle": True}],
             "space": {"discr_order": 3}, "materials": dict(material(1.2e5, 0.33, 900, phi=25), type="FixedCorotational"), "gravity": [0, -9.81],
             "initial_conditions": {"velocity": [{"body": "disk", "value": [0.6, -0.2]}]},
             "contact": {"enabled": True, "dhat": 0.002, "epsv": 0.002, "friction_coefficient": 0.3},
             "solver": {"nonlinear": exact(), "contact": {"barrier_stiffness": 2e4, "friction_iterations": -1}},
             "time": {"dt": 0.006, "time_steps": 10, "integrator": "BDF2"}}
    with open(recoil.path("rolled.csv"), "w") as file:
        file.write("time,x,y\n0,0,0.0625\n0.06,0.03,0.07\n")
    found = []
    for name, contact in (("default", {}), ("tight", {"friction_convergence_tol": 1e-12})):
        scene["solver"]["contact"].update(contact)
        study = {"experiments": [{"name": "x", "scene": recoil.write_scene("rolling-" + name, scene)}],
                 "parameters": [{"name": quantity, "quantity": quantity, "initial": value}
                                for quantity, value in (("young_modulus", 1.2e5), ("poisson_ratio", 0.33), ("damping_bulk", 25))] +
                               [{"name": "mu", "quantity": "friction", "initial": 0.3, "bodies": ["disk", "ramp"]},
                                {"name": "v0", "quantity": "initial_velocity", "initial": [0.6, -0.2]}],
                 "objectives": [{"name": "c", "type": "center_of_mass", "target": recoil.path("rolled.csv")}]}
        found.append(gradient(recoil, 1, recoil.write_scene("rolled-" + name, study), "rolling-" + name + "-run"))
    for name, of in result(found[1])["parameters"].items():
        error = runs.difference(np.array(result(found[0])["parameters"][name]["gradient"]), np.array(of["gradient"]))
        runs.check(error < 1e-5, "rolling, by %s: %.1e from friction to rounding" % (name, error))


def markers(recoil):
    """Markers of two experiments in one study; those of a body move with its shape."""
    scenes = [recoil.write_scene("seen-0", slide(steps=4)), recoil.write_scene("seen-1", dict(slide(steps=4), geometry=[
        box("bar", [1, 0.3], [4, 2], [0, 0.2], surface_selection=[{"id": 1, "axis": "-x", "position": -0.499}])],
        initial_conditions={}, contact={}))]
    for number, names in enumerate((("left", "right"), ("tip",))):
        rows = ["time,marker,x,y,sd"] + ["%g,%s,%g,%g,0.01" % (t, m, 0.02 * i, 0.15 + 0.01 * i) for t in (0, 0.004, 0.016) for i, m in enumerate(names)]
        with open(recoil.path("seen-%d.csv" % number), "w") as file:
            file.write("\n".join(rows) + "\n")
    study = {
        "experiments": [{"name": "zero", "scene": scenes[0]}, {"name": "one", "scene": scenes[1]}],
        "parameters": [{"name": "E", "quantity": "young_modulus", "initial": 1e5},
                       {"name": "shape", "quantity": "shape", "body": "upper", "experiment": "zero", "basis": {"box": [2, 2]}},
                       {"name": "length", "quantity": "shape", "body": "bar", "experiment": "one", "basis": "affine"}],
        "markers": [{"name": "left", "body": "upper", "rest": [-0.1, 0.2]}, {"name": "right", "body": "upper", "rest": [0.21, 0.11]},
                    {"name": "tip", "body": "bar", "rest": [0.47, 0.31]}],
        "objectives": [{"name": name, "type": "markers", "experiment": name, "target": recoil.path("seen-%d.csv" % number)}
                       for number, name in enumerate(("zero", "one"))],
        "sweep": {"tolerance": 1e-13},
        "check": {"steps": [1e-4, 1e-5, 1e-6, 1e-7]},
    }
    agree(recoil, "markers", study)


def gauges(recoil):
    """Strain gauges move with the shape of their body; contact, friction and damping act around them."""
    scene = recoil.write_scene("gauged", slide(steps=4))
    for name, rows in (("upper", "time,strain,sd\n0,0,0.01\n0.1,0.05,0.02\n"), ("lower", "time,strain\n0,0\n0.1,-0.02\n")):
        with open(recoil.path("strain-%s.csv" % name), "w") as file:
            file.write(rows)
    gauge = lambda name, **more: dict({"name": name, "type": "strain_at", "body": name, "target": recoil.path("strain-%s.csv" % name)}, **more)
    study = {
        "experiments": [{"name": "run", "scene": scene}],
        "parameters": [{"name": "E", "quantity": "young_modulus", "initial": 1e5},
                       {"name": "shape", "quantity": "shape", "body": "upper", "basis": {"box": [2, 2]}}],
        "objectives": [gauge("upper", rest=[0.03, 0.12], direction=[1, 0.2]),
                       gauge("lower", rest=[0.1, -0.05], direction=[0, -2], time={"steps": [2, 4]}, weight=30)],
        "sweep": {"tolerance": 1e-13},
        "check": {"steps": [1e-4, 1e-5, 1e-6, 1e-7]},
    }
    agree(recoil, "gauges", study, ranks=(1, 3))


def loads(recoil):
    """Fields per vertex and element, a traction and a pressure that grow with time."""
    bodies = [box("left", [1, 0.4], [4, 2], [0, 0], surface_selection=[{"id": 1, "axis": "-x", "position": -0.499}, {"id": 2, "axis": "x", "position": 0.499}]),
              box("right", [0.6, 0.4], [3, 2], [2, 0], surface_selection=[{"id": 3, "axis": "-x", "position": 1.701},
                                                                        {"id": 4, "axis": "x", "position": 1.701}, {"id": 4, "axis": "y", "position": -1}])]
    scene = {
        "geometry": bodies, "materials": material(1e5, 0.3, 1000, psi=20, phi=10), "gravity": [0, -9.81],
        "boundary_conditions": {
            "dirichlet_boundary": [{"id": 1, "value": [0, 0]}],
            "neumann_boundary": [{"id": 2, "value": [3000, 1000], "interpolation": [{"type": "linear_ramp", "from": 0, "to": 0.02}, {"type": "linear"}]}],
            "pressure_boundary": [{"id": [3, 4], "value": 20000, "interpolation": {"type": "piecewise_linear", "points": [0, 0.01, 0.03], "values": [0, 1, 0.2]}}]},
        "solver": {"nonlinear": exact()}, "time": {"dt": 0.005, "time_steps": 5, "integrator": "BDF2"},
    }
    study = {
        "experiments": [{"name": "loaded", "scene": recoil.write_scene("loaded", scene)}],
        "parameters": [{"name": "E", "quantity": "young_modulus", "body": "left", "per": "vertex", "initial": 1e5},
                       {"name": "rho", "quantity": "density", "per": "vertex", "initial": 1000},
                       {"name": "traction", "quantity": "traction", "initial": [3000, 1000]},
                       {"name": "pressure", "quantity": "pressure", "initial": 20000},
                       {"name": "gravity", "quantity": "body_force", "body": "left", "per": "element", "initial": [0, -9.81]},
                       {"name": "push", "quantity": "body_force", "body": "right", "initial": [1, -9.81]}],
        "objectives": [{"name": "stress", "type": "stress_norm", "p": 4, "weight": 1e-4, "time": "integral"},
                       {"name": "velocity", "type": "velocity", "target": [0.1, -0.1], "weight": 2}],
        "sweep": {"tolerance": 1e-13},
    }
    agree(recoil, "loads", study, ranks=(1, 3))
    for parameter in study["parameters"][2:4]:
        parameter["per_step"] = True
    agree(recoil, "loads-per-step", study, ranks=(1, 3))


def pressures(recoil):
    """A pressure on a side whose end moves and one of the rest shape, per step, at nu = 1/2 in plane stress, by all that they depend on."""
    sides = [{"id": 1, "axis": "-x", "position": -0.499}, {"id": 2, "axis": "y", "position": 0.199}, {"id": 3, "axis": "-y", "position": -0.199}]
    scene = {
        "geometry": box("bar", [1, 0.4], [4, 2], [0, 0], surface_selection=sides), "materials": material(1e5, 0.5, 1000),
        "space": {"discr_order": 2}, "time": {"dt": 0.01, "time_steps": 4}, "solver": {"nonlinear": exact()},
        "boundary_conditions": {
            "dirichlet_boundary": [{"id": 1, "value": [0, 0]}], "pressure_boundary": {"id": 2, "value": -9000},
            "rest_pressure_boundary": {"id": 3, "value": 4000}}}
    study = {
        "parameters": [{"name": "nu", "quantity": "poisson_ratio", "initial": 0.5}, {"name": "E", "quantity": "young_modulus", "initial": 1e5},
                       {"name": "pressure", "quantity": "pressure", "initial": -9000, "per_step": True},
                       {"name": "rest", "quantity": "rest_pressure", "initial": 4000, "per_step": True},
                       {"name": "start", "quantity": "initial_velocity", "per": "node", "initial": [0.1, 0.2]}],
        "objectives": [{"name": "stress", "type": "stress_norm", "p": 4, "weight": 1e-4, "time": "integral"},
                       {"name": "velocity", "type": "velocity", "target": [0.1, -0.1], "weight": 2}],
        "sweep": {"tolerance": 1e-13}}
    for name, nu in (("half", 0.5), ("near-half", 0.4999)):
        scene["materials"]["nu"] = study["parameters"][0]["initial"] = nu
        study["experiments"] = [{"name": "bar", "scene": recoil.write_scene("pressed", scene)}]
        agree(recoil, name, study, ranks=(1, 3) if nu == 0.5 else (1,))
    study["parameters"] = [{"name": "shape", "quantity": "shape", "basis": "affine"}]
    study["check"] = {"steps": [1e-4, 1e-5, 1e-6]}
    agree(recoil, "pressed-shape", study, ranks=(1, 3))
    scene["geometry"] = box("bar", [1, 0.4, 0.4], [2, 1, 1], [0, 0, 0], surface_selection=sides)
    scene["materials"]["nu"] = 0.3
    scene["time"]["quasistatic"] = True
    scene["boundary_conditions"]["dirichlet_boundary"][0]["value"].append(0)
    scene["boundary_conditions"]["pressure_boundary"]["value"] = scene["boundary_conditions"]["rest_pressure_boundary"]["value"] = -2000
    study["experiments"] = [{"name": "bar", "scene": recoil.write_scene("pressed-3d", scene)}]
    study["parameters"] += [{"name": "start", "quantity": "initial_displacement", "initial": [0, 0, 0.01]}, {"name": "pressure", "quantity": "pressure", "initial": -2000}]
    study["objectives"][1:] = []
    agree(recoil, "pressed-3d", study, ranks=(1, 2))


def turning(**more):
    """Two free bodies side by side that move and turn."""
    return dict({
        "geometry": [box("left", [0.4, 0.3], [3, 2], [0, 0]), box("right", [0.3, 0.3], [2, 2], [1, 0.1])],
        "materials": material(1e5, 0.3, 1000, psi=20), "solver": {"nonlinear": exact()},
        "initial_conditions": {"velocity": [{"body": "left", "value": [1, -1]}],
                               "angular_velocity": [{"body": "left", "value": 3}, {"body": "right", "value": -2, "center": [1, 0]}]},
        "time": {"dt": 0.01, "time_steps": 4, "integrator": "BDF2"}}, **more)


def spins(recoil):
    """A velocity takes the place of the velocity of the scene and leaves the spin; a spin keeps its centre."""
    scene = recoil.write_scene("turning", turning())
    study = {
        "experiments": [{"name": "turning", "scene": scene}],
        "parameters": [{"name": "E", "quantity": "young_modulus", "initial": 1e5}],
        "objectives": [{"name": "left", "type": "velocity", "body": "left", "target": [0, 0], "weight": 10},
                       {"name": "right", "type": "velocity", "body": "right", "target": [0, 0], "weight": 10}],
        "sweep": {"tolerance": 1e-13},
    }
    plain = result(gradient(recoil, 1, recoil.write_scene("spin-plain", study), "spin-plain"))["per_objective"]
    study["parameters"] = [{"name": "v", "quantity": "initial_velocity", "body": "left", "initial": [1, -1]},
                           {"name": "w", "quantity": "initial_angular_velocity", "body": "left", "initial": 3},
                           {"name": "u", "quantity": "initial_angular_velocity", "body": "right", "initial": -2}]
    agree(recoil, "spins", study)
    found = result(recoil.path("spins"))["per_objective"]
    error = max(abs(found[name] / plain[name] - 1) for name in plain)
    runs.check(error < 1e-12, "parameters with the values of the scene change nothing: %.1e" % error)


def neighbours(recoil):
    """Two regions of one body meet at nodes that only the later parameter moves."""
    scene = turning(initial_conditions={})
    scene["geometry"] = box("bar", [1, 0.3], [4, 2], [0, 0], volume_selection=[{"id": 1, "axis": "x", "position": 0}, {"id": 2}])
    scene["materials"] = dict(scene["materials"], id=[1, 2])
    for order in (1, 2):
        study = {
            "experiments": [{"name": "bar", "scene": recoil.write_scene("neighbours-%d" % order, dict(scene, space={"discr_order": order}))}],
            "parameters": [{"name": "v%d" % i, "quantity": "initial_velocity", "region": i, "initial": [0.5 * i, -0.2]} for i in (1, 2)]
                        + [{"name": "u%d" % i, "quantity": "initial_displacement", "region": i, "initial": [0.02 * i, 0.01]} for i in (2, 1)],
            "objectives": [{"name": "v", "type": "velocity", "target": [0, 0.3]}], "sweep": {"tolerance": 1e-13},
        }
        agree(recoil, "neighbours-%d" % order, study)


def references(recoil):
    """Targets over a boundary without ids, from a run and from a file, which say the same; refused where they end too early."""
    scene = turning(initial_conditions={"velocity": [{"body": "left", "value": [1, -1]}]})
    path = recoil.write_scene("aimed-at", scene)
    run = recoil.simulate(1, path, "aimed-at")
    with h5py.File(recoil.path("aimed.h5"), "w") as file:
        file["u"] = runs.state(run)[:, :2]
    scene["materials"]["E"] = 2e5
    study = {
        "experiments": [{"name": "turning", "scene": recoil.write_scene("turning-stiff", scene)}],
        "parameters": [{"name": "v", "quantity": "initial_velocity", "body": "left", "initial": [1.2, -1]}],
        "objectives": [{"name": name, "type": "target_position", "over": "boundary", "reference": reference, "time": "final", "weight": 1e3}
                       for name, reference in (("run", run), ("file", recoil.path("aimed.h5")))],
        "sweep": {"tolerance": 1e-13},
    }
    agree(recoil, "references", study)
    found = result(recoil.path("references"))["per_objective"]
    runs.check(found["run"] > 0 and abs(found["run"] / found["file"] - 1) < 1e-12, "a run and a file say the same: %g, %g" % (found["run"], found["file"]))
    finer = turning()
    finer["geometry"][0]["n_refs"] = 1
    for name, objective in zip(("run", "file"), study["objectives"]):
        other = dict(study, experiments=[{"name": "turning", "scene": recoil.write_scene("turning-finer", finer)}], objectives=[objective])
        refused = recoil.run(1, "gradient", recoil.write_scene("other-mesh", other), "-o", recoil.path("other-mesh"), expect=2)[1]
        runs.check("(/objectives/0/reference)" in refused and "mesh of the experiment" in refused, "a %s of another mesh is refused:\n%s" % (name, refused))
    scene["time"]["time_steps"] = 6
    study["experiments"][0]["scene"] = recoil.write_scene("turning-long", scene)
    study["objectives"] = study["objectives"][:1]
    refused = recoil.run(1, "gradient", recoil.write_scene("ends-early", study), "-o", recoil.path("ends-early"), expect=2)[1]
    runs.check("(/objectives/0/reference)" in refused and "ends at t = 0.04" in refused, "a reference that ends too early is refused:\n" + refused)
    runs.check(not os.path.exists(recoil.path("ends-early")), "... before anything has run")


def pushed(recoil, **contact):
    """An obstacle pushes a block, with friction, on one that is held below."""
    scene = slide(steps=4)
    scene["solver"]["contact"].update(contact)
    scene["geometry"].append(box("pusher", [0.1, 0.2], [1, 1], [-0.193, 0.16], is_obstacle=True, surface_selection=7))
    scene["boundary_conditions"]["obstacle_displacements"] = [
        {"id": 7, "value": [0.006, 0.002], "interpolation": {"type": "linear_ramp", "from": 0, "to": 0.016}}]
    scene["initial_conditions"]["velocity"][0]["value"] = [-0.2, -0.3]
    return {
        "experiments": [{"name": "pushed", "scene": recoil.write_scene("pushed", scene)}],
        "parameters": [{"name": "motion", "quantity": "obstacle_motion", "body": "pusher", "initial": [0.006, 0.002]},
                       {"name": "E", "quantity": "young_modulus", "body": "upper", "initial": 1e5}],
        "sweep": {"tolerance": 1e-13},
    }


def forces(recoil):
    """Contact forces by where an obstacle is."""
    study = dict(pushed(recoil), objectives=[{"name": "force", "type": "contact_force_norm", "weight": 1e-3, "time": {"steps": [0, 2, 4]}}])
    agree(recoil, "forces", study, ranks=(1, 3))
    study["parameters"][0].update({"per_step": True, "initial": [0.004, 0.001]})
    agree(recoil, "forces-per-step", study)


def supports(recoil):
    """Forces of a clamp and of an obstacle, in both kinds of friction."""
    with open(recoil.path("support.csv"), "w") as file:
        file.write("time,force\n0,30\n0.016,50\n")
    for name, contact in (("lagged", {}), ("converged", {"friction_iterations": -1, "friction_convergence_tol": 1e-11})):
        study = pushed(recoil, **contact)
        study["parameters"] += [{"name": "mu", "quantity": "friction", "bodies": ["upper", "pusher"], "initial": 0.3},
                                {"name": "shape", "quantity": "shape", "body": "upper", "basis": "affine"}]
        study["objectives"] = [dict(support, name="f%d" % i, type="reaction_force", target=recoil.path("support.csv"), weight=1e-3)
                               for i, support in enumerate(({"boundary": 1, "direction": [1, 2], "time": {"steps": [0, 1, 4]}},
                                                            {"obstacle": "pusher", "direction": [0.3, 1], "time": {"times": "data"}}))]
        study["check"] = {"steps": [1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7]}
        agree(recoil, "supports-" + name, study, ranks=(1, 3))


def impact(dim, static):
    """Two blocks of order 1 and 2 in contact with friction, the upper one thrown on, or pressed against, the lower one."""
    cut = lambda *values: list(values[:dim])
    lower = box("lower", cut(1, 0.4, 0.4), cut(3, 2, 1), cut(0, -0.2, 0), surface_selection=[{"id": 1, "axis": "-y", "position": -0.399},
                                                                                           {"id": 3, "axis": "x", "position": 0.499}])
    upper = box("upper", cut(0.4, 0.3, 0.3), cut(2, 2, 1), cut(0.063, 0.154, 0.017), surface_selection=[{"id": 2, "axis": "y", "position": 0.303}])
    scene = {
        "geometry": [lower, upper], "space": {"discr_order": [{"body": "lower", "order": 1}, {"body": "upper", "order": 2}]},
        "materials": material(1e5, 0.3, 1000), "gravity": cut(0.5, -9.81, 0.2),
        "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": cut(0, 0, 0)}]},
        "contact": {"enabled": True, "dhat": 0.01, "epsv": 0.002 if static else 0.2, "friction_coefficient": 0.3},
        "solver": {"contact": {"barrier_stiffness": 1e7 if dim == 2 else 1e8}, "nonlinear": exact()},
    }
    if static:
        scene["boundary_conditions"]["dirichlet_boundary"].append({"id": 2, "value": cut(0.003, -0.006, 0.001)})
    else:
        scene["initial_conditions"] = {"velocity": [{"body": "upper", "value": cut(0.6, -0.8, 0.1)}]}
        scene["time"] = {"dt": 0.004, "time_steps": 3, "integrator": "BDF2"}
    return scene


def write_distance(recoil, dim):
    """The signed distance to a ball in the midst of the blocks, on a grid that does not hold all of them."""
    origin, spacing, centre = np.full(dim, -0.3), 0.05 + 0.01 * np.arange(dim), np.array([0.1, -0.1, 0.05][:dim])
    points = np.stack(np.meshgrid(*(o + s * np.arange(12) for o, s in zip(origin, spacing)), indexing="ij"), axis=-1)
    path = recoil.path("distance-%dD.h5" % dim)
    with h5py.File(path, "w") as file:
        file["distance"] = np.linalg.norm(points - centre, axis=-1) - 0.4
        file["origin"], file["spacing"] = origin, spacing
    return path


def write_polygon(recoil, dim):
    """A bent line beside the blocks, or two triangles."""
    corners = ((-0.7, 0.3, 0.3), (0.11, 0.05, -0.9), (0.4, -0.37, 0.8), (0.9, -0.2, -0.1))
    path = recoil.path("polygon" + (".csv" if dim == 2 else ".obj"))
    with open(path, "w") as file:
        if dim == 2:
            file.write("x,y\n" + "".join("%g,%g\n" % corner[:2] for corner in corners))
        else:
            file.write("".join("v %g %g %g\n" % corner for corner in corners) + "f 1 2 3\nf 2 3 4\n")
    return path


def wrong_distances(recoil):
    """Grids that are none are refused by name, before any run."""
    for dim in (2, 3):
        scene = recoil.write_scene("undistant-%dD" % dim, impact(dim, True))
        study = {"experiments": [{"name": "run", "scene": scene}], "parameters": [{"name": "E", "quantity": "young_modulus", "body": "lower", "initial": 1e5}]}
        for said, changes in (("holds no array 'origin'", {"origin": None}), ("'spacing'", {"spacing": [0.1] * (dim - 1)}),
                              ("must be positive", {"spacing": [0.1] * (dim - 1) + [0]}), ("needs %d dimensions in %dD" % (dim, dim), {"distance": np.zeros([4] * (5 - dim))}),
                              ("2 to", {"distance": np.zeros([1] * dim)}), ("entry 3 of 'distance'", {"distance": np.where(np.arange(3**dim) == 3, np.nan, 1).reshape([3] * dim)})):
            path = write_distance(recoil, dim)
            with h5py.File(path, "a") as file:
                for name, value in changes.items():
                    del file[name]
                    if value is not None:
                        file[name] = value
            study["objectives"] = [{"name": "o", "type": "signed_distance_target", "target": path}]
            folder = recoil.path("undistant")
            text = recoil.run(2, "gradient", recoil.write_scene("undistant-study", study), "-o", folder, expect=2)[1]
            runs.check("(/objectives/0/target)" in text and said in text and not os.path.exists(folder), "refused: " + next(line for line in text.splitlines() if "/objectives" in line))
    grid = write_distance(recoil, 3)
    with h5py.File(grid, "a") as file:
        file["origin"][:] = 1e3
    study["objectives"][0]["target"] = grid
    text = recoil.run(1, "gradient", recoil.write_scene("distant", study), "-o", recoil.path("distant"))[1]
    runs.check("all bodies lie at rest outside of the grid" in text, "a grid somewhere else is warned of")


def aims(recoil):
    """What designs aim at, one by one, by shapes and constants through contact with friction."""
    for dim, static in ((2, False), (2, True), (3, False), (3, True)):
        name = "aims-%dD-%s" % (dim, "static" if static else "dynamic")
        scene = recoil.write_scene(name, impact(dim, static))
        with h5py.File(recoil.path(name + ".h5"), "w") as file:
            size = len(runs.coordinates(recoil.simulate(1, scene, name + "-run")))
            file["u"] = 0.01 * np.sin(np.arange(size * dim)).reshape(size, dim)
        rows = {
            "max_stress": {"p": 12, "stress": "cauchy", "weight": 1e-4},
            "target_position": {"reference": recoil.path(name + ".h5"), "boundary": [2, 3], "components": ["x"], "weight": 1e4},
            "position_integral": {"axis": "y", "weight": 10},
            "polygon_target": {"target": write_polygon(recoil, dim), "boundary": [2, 3], "weight": 100},
            "signed_distance_target": {"target": write_distance(recoil, dim), "boundary": [2, 3], "weight": 100},
        }
        for kind, keys in rows.items():
            study = {
                "experiments": [{"name": "run", "scene": scene}],
                "parameters": [{"name": "E", "quantity": "young_modulus", "body": "lower", "initial": 1e5},
                               {"name": "shape", "quantity": "shape", "body": "lower", "basis": {"box": [2] * dim}}],
                "objectives": [dict(keys, name="o", type=kind)],
                "sweep": {"tolerance": 1e-13}, "check": {"steps": [1e-3, 1e-4, 1e-5, 1e-6]},
            }
            agree(recoil, name + "-" + kind, study, ranks=(1, 2, 3))


def limits(recoil):
    """Start values that have one side only."""
    scene = turning()
    scene["materials"]["phi"] = 0
    study = {
        "experiments": [{"name": "turning", "scene": recoil.write_scene("limited", scene)}],
        "parameters": [{"name": "phi", "quantity": "damping_bulk", "initial": 0}],
        "objectives": [{"name": "stress", "type": "stress_norm", "p": 60, "time": "integral"}],
        "sweep": {"tolerance": 1e-13},
        "check": {"steps": [1, 0.1, 0.01]},
    }
    agree(recoil, "limits", study)


def orders(recoil):
    """Values per body belong to names, in whatever order the scenes have the bodies."""
    scenes = [turning(), turning(geometry=turning()["geometry"][::-1])]
    paths = [recoil.write_scene("order-%d" % i, scene) for i, scene in enumerate(scenes)]
    study = {
        "experiments": [{"name": "e%d" % i, "scene": path} for i, path in enumerate(paths)],
        "parameters": [{"name": "E", "quantity": "young_modulus", "per": "body", "initial": 1e5}],
        "objectives": [{"name": "o%d" % i, "type": "stress_norm", "p": 2, "experiment": "e%d" % i, "weight": 1 - 0.75 * i} for i in range(2)],
        "sweep": {"tolerance": 1e-13},
    }
    found = result(gradient(recoil, 1, recoil.write_scene("orders", study), "orders"))["parameters"]["E"]
    study["experiments"], study["objectives"] = study["experiments"][:1], [dict(study["objectives"][0], weight=1.25)]
    one = result(gradient(recoil, 1, recoil.write_scene("one-order", study), "one-order"))["parameters"]["E"]
    runs.check(found["bodies"] == one["bodies"] == ["left", "right"], "values per body come with their names")
    error = runs.difference(np.array(found["gradient"]), np.array(one["gradient"]))
    runs.check(error < 1e-8, "two experiments with other orders add up by name: %.1e" % error)

    # Tied to a value that acts in another experiment, on a body with another name.
    study["experiments"].append({"name": "e1", "scene": paths[1]})
    study["parameters"] = [{"name": "E", "quantity": "young_modulus", "per": "body", "body": ["left"], "experiment": "e0", "initial": 1e5},
                           {"name": "F", "quantity": "young_modulus", "per": "body", "body": ["right"], "experiment": "e1", "initial": 1e5}]
    study["objectives"].append(dict(study["objectives"][0], name="o1", experiment="e1"))
    apart = result(gradient(recoil, 1, recoil.write_scene("untied", study), "untied"))["parameters"]
    del study["parameters"][1]["initial"]
    study["parameters"][1]["tie"] = "E"
    tied = result(gradient(recoil, 1, recoil.write_scene("tied", study), "tied"))["parameters"]
    error = abs(tied["E"]["gradient"] / (apart["E"]["gradient"] + apart["F"]["gradient"]) - 1)
    runs.check(error < 1e-12 and tied["F"]["gradient"] == tied["E"]["gradient"] and tied["E"]["bodies"] == ["left"],
               "tied values show the sum of their derivatives: %.1e" % error)
    del study["parameters"][1]["body"]
    refused = recoil.run(1, "gradient", recoil.write_scene("mistied", study), "-o", recoil.path("mistied"), expect=2)[1]
    runs.check("/parameters/1/tie" in refused and "2 values" in refused, "values of other numbers cannot be tied:\n" + refused)
    runs.check(not os.path.exists(recoil.path("mistied")), "... and no folder is left")


def changed_inputs(recoil):
    """A folder is not continued with other values; other observations are swept anew."""
    observed = recoil.path("observed.csv")

    def observe(shift):
        with open(observed, "w") as file:
            file.write("time,x,y\n0,%g,0\n0.04,%g,-0.02\n" % (shift, shift))

    observe(0)
    study = {
        "experiments": [{"name": "turning", "scene": recoil.write_scene("watched", turning())}],
        "parameters": [{"name": "v", "quantity": "initial_velocity", "body": "left", "initial": [1.2, -1]}],
        "objectives": [{"name": "path", "type": "center_of_mass", "target": observed}],
    }
    path = recoil.write_scene("watch", study)
    folder = gradient(recoil, 1, path, "watch")
    observe(0.5)
    fresh = gradient(recoil, 1, path, "watch-fresh")
    recoil.run(1, "gradient", "--restart", folder, "-q")
    runs.check("the forward run is complete" in log(folder), "the run is not repeated for other observations")
    runs.check("was written with another " + observed in log(folder), "... and the log names them")
    runs.check(abs(result(folder)["objective"] / result(fresh)["objective"] - 1) < 1e-12, "... but the objective is")
    runs.check(distance(folder, fresh) < 1e-8, "... and the gradient")
    other = recoil.path("watch-other")
    shutil.copytree(folder, other)
    with open(os.path.join(other, "study.json")) as file:
        resolved = json.load(file)
    resolved["parameters"][0]["initial"] = [1.3, -1]
    with open(os.path.join(other, "study.json"), "w") as file:
        json.dump(resolved, file)
    refused = recoil.run(1, "gradient", "--restart", other, expect=4)[1]
    runs.check(os.path.join(other, "study.json") in refused, "a changed study is refused:\n" + refused)
    os.remove(os.path.join(other, "inputs.json"))
    refused = recoil.run(1, "gradient", "--restart", other, expect=2)[1]
    runs.check("no longer those" in refused, "... and other start values also where it was changed on purpose:\n" + refused)
    refused = recoil.run(1, "simulate", "--restart", os.path.join(folder, "turning"), expect=2)[1]
    runs.check("recoil gradient --restart" in refused, "simulate does not go on with the run of a study:\n" + refused)


def write_mesh(path, height):
    """Two triangles."""
    with open(path, "w") as file:
        file.write("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 1 %g 0\n4 0 1 0\n$EndNodes\n"
                   "$Elements\n2\n1 2 2 1 1 1 2 3\n2 2 2 1 1 1 3 4\n$EndElements\n" % height)


def changed_mesh(recoil):
    """A mesh file that has changed since a run began with it: neither the run nor its gradient goes on."""
    mesh = recoil.path("two.msh")
    write_mesh(mesh, 1)
    scene = recoil.write_scene("two", {"geometry": {"name": "two", "mesh": mesh}, "materials": material(1e5, 0.3, 1000),
                                       "initial_conditions": {"velocity": [{"body": "two", "value": [1, 0]}]}, "time": {"dt": 0.01, "time_steps": 6}})
    study = recoil.write_scene("two-study", {
        "experiments": [{"name": "two", "scene": scene}], "parameters": [{"name": "v", "quantity": "initial_velocity", "initial": [1, 0]}],
        "objectives": [{"name": "v", "type": "velocity", "target": [0, 1]}]})
    folder, run = gradient(recoil, 1, study, "two-gradient"), recoil.simulate(1, scene, "two-run", "--steps", 3)
    write_mesh(mesh, 1.01)
    for command, root in (("gradient", folder), ("simulate", run)):
        refused = recoil.run(2, command, "--restart", root, expect=2)[1]
        runs.check("begun with" in refused and "put the" in refused, command + " --restart with another mesh is refused:\n" + refused)
    write_mesh(mesh, 1)
    finer = recoil.path("finer")
    shutil.copytree(run, finer)
    with open(os.path.join(finer, "scene.json")) as file:
        scene = json.load(file)
    scene["geometry"][0]["n_refs"] = 1
    with open(os.path.join(finer, "scene.json"), "w") as file:
        json.dump(scene, file)
    refused = recoil.run(1, "simulate", "--restart", finer, expect=4)[1]
    runs.check(os.path.join(finer, "scene.json") in refused, "simulate --restart with a changed scene is refused:\n" + refused)
    for command, root in (("gradient", folder), ("simulate", run)):
        recoil.run(2, command, "--restart", root)


def conventions_of_polyfem(recoil):
    """Its damping, its convergent barrier with friction, another quadrature; lists per time, a node file, the Euclidean norm."""
    scene = slide(steps=5, conventions="polyfem", space={"advanced": {"quadrature_order": 5}, "discr_order": [{"body": "upper", "order": 2}]},
                  materials=material(1e5, 0.3, 1000, psi=0.4, phi=0.2))
    scene["contact"]["use_convergent_formulation"] = True
    scene["solver"]["contact"]["barrier_stiffness"] = 1e5
    scene["solver"]["nonlinear"].update({"norm_type": "Euclidean", "grad_norm_tol": 1e-15})
    study = slide_study("slide", recoil.write_scene("polyfem", scene))
    study["parameters"] += [{"name": "psi", "quantity": "damping_shear", "initial": 0.4}, {"name": "phi", "quantity": "damping_bulk", "initial": 0.2}]
    study["objectives"].append({"name": "force", "type": "contact_force_norm", "weight": 1e-6})
    study["check"] = {"steps": [1e-2, 1e-3, 1e-4, 1e-5]}
    agree(recoil, "polyfem", study)
    study["parameters"] = [{"name": "shape", "quantity": "shape", "basis": "affine"}]
    study["check"] = {"steps": [1e-5, 1e-6, 1e-7]}
    agree(recoil, "polyfem-shape", study)
    times = [0.01, 0.02, 0.03, 0.04]
    scene = {
        "conventions": "polyfem", "space": {"discr_order": 2, "advanced": {"quadrature_order": 5}}, "materials": material(1e5, 0.3, 1000, psi=0.2, phi=0.2),
        "geometry": box("bar", [1, 0.4], [3, 2], [0, 0], surface_selection=[{"id": 1, "axis": "-x", "position": -0.499}, {"id": 2, "axis": "x", "position": 0.499},
                                                                           {"id": 2, "axis": "y", "position": -1}]),
        "boundary_conditions": {
            "dirichlet_boundary": [{"id": 1, "value": [[0, 0.01, 0.02, 0.01], 0], "time_reference": times}, "tip.txt"],
            "pressure_boundary": {"id": [1, 2], "value": [-1000, -3000, -2000, 500], "time_reference": times}},
        "solver": {"nonlinear": exact(norm_type="Euclidean")}, "time": {"dt": 0.01, "time_steps": 4}}
    with open(recoil.path("tip.txt"), "w") as file:
        file.write("3 nan -0.02\n11 0.01 nan\n")
    study = {
        "experiments": [{"name": "bar", "scene": recoil.write_scene("listed", scene)}],
        "parameters": [{"name": "pull", "quantity": "dirichlet_value", "boundary": 1, "per_step": True, "initial": [0.01, 0]},
                       {"name": "E", "quantity": "young_modulus", "per": "element", "initial": 1e5}, {"name": "psi", "quantity": "damping_shear", "initial": 0.2},
                       {"name": "shape", "quantity": "shape", "basis": {"box": [2, 2]}}],
        "objectives": [{"name": "stress", "type": "stress_norm", "p": 4, "weight": 1e-4, "time": "integral"}],
        "sweep": {"tolerance": 1e-13}, "check": {"steps": [1e-4, 1e-5, 1e-6]}}
    agree(recoil, "listed", study, ranks=(1, 3))
    study["parameters"] = [{"name": "pressure", "quantity": "pressure", "initial": -1000}]
    text = recoil.run(1, "gradient", recoil.write_scene("replaced", study), "-o", recoil.path("replaced"), expect=2)[1]
    runs.check("a list of values per time" in text, "one pressure does not stand for a list: " + text.splitlines()[-1])


def not_finite(recoil):
    """Objectives beyond double precision, or without a derivative, give no gradient."""
    scene = recoil.write_scene("plain", turning())
    study = {"experiments": [{"name": "plain", "scene": scene}], "parameters": [{"name": "E", "quantity": "young_modulus", "initial": 1e5}]}
    for name, code, said, objective in (
            ("infinite", 3, "(/objectives/0): the objective is not finite", {"type": "velocity", "target": [1e200, 0]}),
            ("too-steep", 3, "not finite", {"type": "velocity", "target": [1e10, 0], "weight": 1e290}),
            ("no-power", 2, "(/objectives/0/power): the sum over time is -", {"type": "height", "axis": "y", "power": 0.5}),
            ("no-slope", 2, "(/objectives/0/power): the sum over time is zero", {"type": "volume_bound", "limit": 100, "power": 0.5})):
        study["objectives"] = [dict(objective, name="o")]
        folder = recoil.path(name)
        text = recoil.run(1, "gradient", recoil.write_scene(name, study), "-o", folder, "--check", expect=code)[1]
        runs.check(said in text and not os.path.exists(os.path.join(folder, "gradient.json")), name + ":\n" + text.splitlines()[-1])


with runs.Recoil() as recoil:
    parts = {"friction": converged_friction, "rolling": rolling_friction, "markers": markers, "gauges": gauges, "loads": loads, "pressures": pressures, "spins": spins, "neighbours": neighbours, "references": references, "forces": forces, "supports": supports, "aims": aims, "distances": wrong_distances,
             "limits": limits, "orders": orders, "changed": changed_inputs, "mesh": changed_mesh, "finite": not_finite, "polyfem": conventions_of_polyfem}
    for name in recoil.rest or parts:
        parts[name](recoil)
