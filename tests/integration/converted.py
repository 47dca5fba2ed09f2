"""Small optimisation files in the form of PolyFEM's, converted and run."""
import json
import os
import subprocess
import sys

import numpy as np

import runs
from studies import exact

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SIDES = [{"id": 1, "axis": "-x", "position": -0.499}, {"id": 2, "axis": "x", "position": 0.499}, {"id": 3, "axis": "y", "position": 0.499}]


def write(recoil, name, content):
    with open(recoil.path(name), "w") as file:
        json.dump(content, file)


def state(recoil, name, **more):
    """A square in the form of PolyFEM's differentiable scenes, with keys that recoil does not need."""
    scene = dict({"geometry": [{"mesh": "square.obj", "volume_selection": 1, "surface_selection": SIDES}],
                  "materials": {"type": "LinearElasticity", "E": 1e4, "nu": 0.3, "rho": 10},
                  "boundary_conditions": {"rhs": [0, 9.81], "dirichlet_boundary": [{"id": 1, "value": [0, 0]}]},
                  "solver": {"nonlinear": dict({"debug_fd": False, "f_delta": 0, "grad_norm": 1e-12}), "linear": {"adjoint_solver": "Eigen::PardisoLDLT"}},
                  "optimization": {"enabled": True}}, **more)
    write(recoil, name, scene)


def convert(recoil, name, content, *options, expect=0):
    write(recoil, name + "-run.json", content)
    done = subprocess.run([sys.executable, os.path.join(ROOT, "scripts", "convert_polyfem.py"), recoil.path(name + "-run.json"), "-o", recoil.path(name),
                           "--recoil", recoil.program, *options], env=runs.ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    text = done.stdout.decode()
    runs.check(done.returncode == expect, "%s ends with %d%s" % (name, expect, "" if done.returncode == expect else ": " + text))
    if expect or done.returncode:
        return None, text
    with open(recoil.path(name) + "/study.json") as file:
        return json.load(file), text


def gradient(recoil, name):
    folder = recoil.path(name + "-gradient")
    recoil.run(1, "gradient", recoil.path(name) + "/study.json", "-o", folder, "-q")
    with open(folder + "/gradient.json") as file:
        return json.load(file)


def has(text, *parts):
    for part in parts:
        runs.check(part in text, part if part in text else "not said: %s in %s" % (part, text))


def shapes(recoil):
    """Rest shapes: a boundary that moves, its volume, and a surface that is aimed at."""
    state(recoil, "shape.json")
    curve = {"type": "sdf-target", "state": 0, "surface_selection": [2], "delta": 0.1, "knots": [0, 0, 0, 0, 1, 1, 1, 1],
             "control_points": [[0.6, -1], [0.6, -0.3], [0.6, 0.3], [0.6, 1]]}
    study, text = convert(recoil, "shape", {
        "variable_to_simulation": [
            {"type": "shape", "state": 0, "composite_map_type": "boundary", "surface_selection": [2], "composition": [{"type": "slice", "parameter_index": 0}]},
            {"type": "shape", "state": 0, "composite_map_type": "interior", "volume_selection": [1], "composition": []}],
        "parameters": [{"number": 10}], "states": [{"path": "shape.json"}], "solver": {"nonlinear": {"max_iterations": 2, "grad_norm": 1e-8}},
        "functionals": [{"type": "compliance", "state": 0, "weight": 3}, {"type": "elastic_energy", "state": 0},
                        {"type": "power", "power": 0.5, "weight": 2, "objective": {"type": "stress_norm", "power": 4, "state": 0, "weight": 4}},
                        {"type": "soft_constraint", "weight": 10, "soft_bound": [0, 0.9], "objective": {"type": "volume", "state": 0}},
                        curve, {"type": "position", "dim": 1, "state": 0},
                        {"type": "displacement-target", "state": 0, "target_displacement": [0.1, 0], "active_dimension": [True, False], "surface_selection": [2]},
                        {"type": "boundary_smoothing", "state": 0, "power": 4}, {"type": "AMIPS", "state": 0, "weight": 1e-8}]})
    has(text, "left out  /functionals/8: `AMIPS`", "/variable_to_simulation/1: no parameter: vertices inside follow the boundary")
    runs.check([p["basis"] for p in study["parameters"]] == [{"extension": "harmonic", "boundary": [2]}], "the shape is that of the surface")
    runs.check(study["optimizer"] == {"max_iterations": 2}, "iterations are taken over")
    found = gradient(recoil, "shape")["per_objective"]
    runs.check(abs(found["compliance"] / (6 * found["elastic_energy"]) - 1) < 1e-9, "the compliance is twice the energy, times its weight")
    # Displacements of the mesh as PolyFEM would integrate them.
    run = recoil.simulate(1, recoil.path("shape") + "/scenes/shape.json", "shape-run")
    x, u = runs.coordinates(run)[:, :2], runs.state(run)[:, :2]
    right = np.argsort(np.where(x[:, 0] > 0.499, x[:, 1], np.inf))[:5]
    sides = list(zip(right[:-1], right[1:]))
    segment = lambda a, b: (a * a + a * b + b * b) / 3
    misfit = sum(segment(u[i, 0] - 0.1, u[j, 0] - 0.1) * abs(x[i, 1] - x[j, 1]) for i, j in sides)
    runs.check(abs(found["target_displacement"] / misfit - 1) < 1e-9, "int (u_x - 0.1)^2 over the side: %.10g" % found["target_displacement"])
    distance = sum(segment(x[i, 0] + u[i, 0] - 0.6, x[j, 0] + u[j, 0] - 0.6) * abs(x[i, 1] - x[j, 1]) for i, j in sides)
    runs.check(abs(found["polygon_target"] / distance - 1) < 1e-9, "the squared distance from the spline: %.10g" % found["polygon_target"])
    stress = stress_integral(recoil, run)
    runs.check(abs(found["stress_norm"] / (2 * np.sqrt(4 * stress)) - 1) < 1e-9, "2 (4 int |P|^4)^(1/2): %.10g" % found["stress_norm"])
    runs.check(abs(found["volume"] - 10 * 0.1 ** 2) < 1e-9, "10 max(V - 0.9, 0)^2")
    recoil.run(1, "optimize", recoil.path("shape") + "/study.json", "-o", recoil.path("shape-fit"), "-q", expect=None)
    runs.check(os.path.exists(recoil.path("shape-fit") + "/fit.json"), "the study is optimised")


def stress_integral(recoil, run):
    """int |P|^4 of linear elasticity with the Lame constants of PolyFEM in 2D, on triangles."""
    import h5py
    with h5py.File(os.path.join(run, "trajectory", "mesh.h5"), "r") as mesh:
        cells = mesh["connectivity"][:].reshape(-1, 3)
    x, u = runs.coordinates(run)[:, :2], runs.state(run)[:, :2]
    E, nu = 1e4, 0.3
    lam, mu, total = E * nu / (1 - nu ** 2), E / (2 + 2 * nu), 0
    for a, b, c in cells:
        D = np.column_stack([x[b] - x[a], x[c] - x[a]])
        G = np.column_stack([u[b] - u[a], u[c] - u[a]]) @ np.linalg.inv(D)
        P = mu * (G + G.T) + lam * np.trace(G) * np.eye(2)
        total += np.linalg.norm(P) ** 4 * abs(np.linalg.det(D)) / 2
    return total


def constants(recoil):
    """Constants and loads over time; a state that is aimed at, which the true values reach."""
    time = {"tend": 0.08, "dt": 0.02, "integrator": {"type": "BDF", "steps": 2}}
    nodal = {"rhs": [0, 9.81], "dirichlet_boundary": [{"id": 1, "value": [0, 0]}],
             "neumann_boundary": [{"id": 2, "value": [30, 10]}]}
    for name, E in (("soft.json", 1e4), ("aim.json", 1.5e4)):
        state(recoil, name, time=time, boundary_conditions=nodal, materials={"type": "NeoHookean", "E": E, "nu": 0.3, "rho": 10, "phi": 1, "psi": 1},
              initial_conditions={"velocity": [{"id": 1, "value": [0.5, 0]}]})
    target = {"type": "target", "state": 0, "target_state": 1, "surface_selection": [2]}
    file = {"variable_to_simulation": [{"type": "elastic", "state": 0, "composition": [
        {"type": "scale", "value": 100}, {"type": "append-const", "size": 1, "value": 0.3}, {"type": "per-body-to-per-elem", "state": 0},
        {"type": "E-nu-to-lambda-mu", "is_volume": False}]}],
        "parameters": [{"number": 1, "initial": 120}], "states": [{"path": "soft.json"}, {"path": "aim.json"}],
        "solver": {"nonlinear": {"box_constraints": {"bounds": [50, 300]}, "max_iterations": 40}},
        "functionals": [{"type": "transient_integral", "state": 0, "integral_type": "uniform", "weight": 1e6, "static_objective": target},
                        {"type": "transient_integral", "state": 0, "integral_type": "steps", "steps": [2, 4], "static_objective":
                            {"type": "center-target", "state": 0, "target_state": 1}}]}
    study, _ = convert(recoil, "constants", file)
    runs.check(study["parameters"] == [{"name": "E", "quantity": "young_modulus", "experiment": "soft", "per": "body", "initial": 12000.0,
                                        "bounds": [5000.0, 30000.0]}], "E starts at 100 times 120, between its bounds: %s" % study["parameters"])
    runs.check([o["time"] for o in study["objectives"]] == [{"steps": [1, 2, 3, 4]}, {"steps": [2, 4]}] and
               abs(study["objectives"][0]["weight"] - 2e4) < 1e-9 and study["objectives"][1]["weight"] == 0.5, "sums over steps with dt, or their mean")
    recoil.run(1, "optimize", recoil.path("constants") + "/study.json", "-o", recoil.path("constants-fit"), "-q")
    with open(recoil.path("constants-fit") + "/fit.json") as fit:
        E = json.load(fit)["parameters"]["E"]["value"]
    E = E[0] if isinstance(E, list) else E
    runs.check(abs(E / 1.5e4 - 1) < 1e-3, "the state that is aimed at has E = 1.5e4, found: %g" % E)
    file["variable_to_simulation"] = [{"type": "initial", "state": 0, "composition": [{"type": "per-body-to-per-node", "state": 0},
                                                                                      {"type": "append-const", "value": 0, "size": 50, "start": 0}]},
                                      {"type": "damping", "state": 0, "composition": []}]
    file["parameters"] = [{"number": 2, "initial": [0.4, 0.1]}]
    file["solver"] = {}
    study, _ = convert(recoil, "started", file)
    runs.check({p["quantity"] for p in study["parameters"]} == {"initial_velocity", "damping_shear", "damping_bulk"} and
               study["parameters"][0]["initial"] == [0.4, 0.1], "initial velocities, and the two constants of damping")
    runs.check([p["initial"] for p in study["parameters"] if p["quantity"].startswith("damping")] == [0.4, 0.1], "psi, then phi")
    runs.check(gradient(recoil, "started")["objective"] > 0, "and they have a gradient")


def contact(recoil):
    """Two squares: forces of contact, friction, and loads by steps."""
    def square(k, y):
        return {"mesh": "square.obj", "volume_selection": k, "transformation": {"translation": [0, y]},
                "surface_selection": [{"id": 2 * k, "axis": "y", "position": y + 0.499}, {"id": 2 * k + 1, "axis": "-y", "position": y - 0.499}]}
    scene = {"geometry": [square(1, 0), square(2, 1.01)], "contact": {"enabled": True, "dhat": 0.02, "friction_coefficient": 0.3},
             "time": {"t0": 0, "tend": 0.2, "time_steps": 2}, "materials": {"type": "NeoHookean", "E": 1e4, "nu": 0.3, "rho": 10},
             "solver": {"contact": {"barrier_stiffness": 1e4}, "nonlinear": exact()},
             "boundary_conditions": {"rhs": [0, 9.81], "dirichlet_boundary": [{"id": 3, "value": [0, 0]}],
                                     "pressure_boundary": [{"id": 4, "value": [-1, -2, -3], "time_reference": [0, 0.1, 0.2]}]}}
    scene["boundary_conditions"]["neumann_boundary"] = [{"id": 4, "value": ["5*t", "-20*t"]}]
    scene["boundary_conditions"]["dirichlet_boundary"].append({"id": 4, "value": ["0.01*t", "-0.02*t"]})
    del scene["boundary_conditions"]["pressure_boundary"], scene["boundary_conditions"]["neumann_boundary"]
    write(recoil, "touching.json", scene)
    forces = lambda kind, **more: {"type": "transient_integral", "integral_type": "final", "state": 0, "static_objective": dict({"type": kind, "state": 0}, **more)}
    convergent = dict(scene, contact=dict(scene["contact"], use_convergent_formulation=True))
    write(recoil, "convergent.json", convergent)
    convert(recoil, "convergent", {"variable_to_simulation": [{"type": "friction", "state": 0, "composition": []}], "parameters": [], "states": [{"path": "convergent.json"}],
                                   "functionals": [forces("contact_force_norm")]})
    converted = runs.state(recoil.simulate(1, recoil.path("convergent") + "/scenes/convergent.json", "converted"))
    write(recoil, "convergent.json", dict(convergent, conventions="polyfem"))
    error = runs.difference(converted, runs.state(recoil.simulate(1, recoil.path("convergent.json"), "itself")))
    runs.check(error < 1e-12, "the converted scene has the barrier of the file: %.1e" % error)
    study, text = convert(recoil, "touching", {
        "variable_to_simulation": [{"type": "friction", "state": 0, "composition": []}, {"type": "dirichlet", "state": 0, "surface_selection": [4], "composition": []}],
        "parameters": [], "states": [{"path": "touching.json"}],
        "functionals": [forces("contact_force_norm", surface_selection=[2]), forces("contact_force_norm"),
                        forces("log_contact_force_norm", dhat=0.1, surface_selection=[2, 5]), forces("quadratic_contact_force_norm", dhat=0.1),
                        {"type": "collision_barrier", "state": 0, "dhat": 0.005}, {"type": "min-dist-target", "state": 0, "target": [0, 0]},
                        {"type": "transient_integral", "integral_type": "final", "state": 0, "weight": 3,
                         "static_objective": {"type": "deformed_collision_barrier", "state": 0, "dhat": 0.05}}]},
        "--functional", json.dumps(forces("smooth_contact_force_norm", surface_selection=[2])))
    has(text, "left out  /functionals/5: `min-dist-target`", "with the logarithmic barrier", "in place of the barrier of all pairs")
    runs.check(study["parameters"][1]["per_step"] is True and "file" in study["parameters"][1]["initial"], "a displacement for each step, from a file")
    found = gradient(recoil, "touching")["per_objective"]
    runs.check(0 < found["contact_force_norm"] and abs(found["contact_force_norm_2"] / (2 * found["contact_force_norm"]) - 1) < 0.05,
               "forces on one side are half of all: %.6g of %.6g" % (found["contact_force_norm"], found["contact_force_norm_2"]))
    run = recoil.simulate(1, recoil.path("touching") + "/scenes/touching.json", "touching-run")
    y, u = runs.coordinates(run)[:, 1], runs.state(run)[:, 1]
    gap = (y + u)[abs(y - 0.51) < 1e-9].min() - (y + u)[abs(y - 0.5) < 1e-9].max()
    ratio = found["min_distance"] / (3 * (0.05 - gap) ** 2)
    runs.check(1 <= ratio < 1.6, "3 max(dhat - d, 0)^2 of the gap %.4g, smoothed upwards: ratio %.3f" % (gap, ratio))
    runs.check(abs(found["contact_force_norm_5"] / found["contact_force_norm"] - 1) < 1e-9, "a functional of the command line counts like those of the file")
    runs.check(found["contact_force_norm_3"] > 0 and found["contact_force_norm_4"] > 0, "a barrier of its own is felt from further away")


def cell(recoil):
    """Stress of a periodic cell by its macro strain, with nu = 1/2 in the plane, and its shape."""
    periodic = {"periodic_boundary": {"enabled": True, "linear_displacement_offset": [[0, 0], [0, -0.2]]}}
    state(recoil, "cell.json", boundary_conditions=periodic, materials={"type": "LinearElasticity", "E": 1000, "nu": 0.5},
          contact={"enabled": False, "periodic": True}, geometry=[{"mesh": "square.obj", "volume_selection": 1}])
    file = {"variable_to_simulation": [{"type": "macro-strain", "state": 0, "composition": []}], "parameters": [], "states": [{"path": "cell.json"}],
            "functionals": [{"type": "stress", "dimensions": [1, 1], "state": 0, "weight": 2}]}
    study, text = convert(recoil, "strained", file)
    has(text, "per volume of the cell")
    found = gradient(recoil, "strained")
    # lambda = E nu / (1 - nu^2) and mu = E / (2 + 2 nu) are 2000/3 and 1000/3, and so P = 2 (lambda + 2 mu) H on the unit square.
    runs.check(abs(found["objective"] / (-0.4 * 4000 / 3) - 1) < 1e-9, "twice the stress of the cell: %.10g" % found["objective"])
    slope = np.array(found["parameters"]["macro_strain"]["gradient"], dtype=float).reshape(-1)
    runs.check(np.allclose(slope, [4000 / 3, 0, 0, 8000 / 3], rtol=1e-7, atol=1e-4), "its derivative by the macro strain: %s" % slope)
    for name, kind in (("periodic-shape", "periodic-shape"), ("free-shape", "shape")):
        study, text = convert(recoil, name, dict(file, variable_to_simulation=[{"type": kind, "state": 0, "composition": []}]))
        runs.check(study["parameters"][0]["basis"] == {"extension": "harmonic", "periodic": ["x", "y"]}, "%s: sides of a cell stay alike" % kind)
        has(text, "opposite sides of the cell move as one")
        gradient(recoil, name)
    state(recoil, "block.json")
    has(convert(recoil, "no-cell", dict(file, states=[{"path": "block.json"}], variable_to_simulation=[{"type": "shape", "state": 0, "composition": []}]),
                expect=2)[1], "a component of the stress is built for periodic cells")
    two = [{"type": "shape", "state": 0, "composite_map_type": "boundary", "surface_selection": [i], "composition": []} for i in (3, 2)]
    study, _ = convert(recoil, "sides", dict(file, states=[{"path": "block.json"}], variable_to_simulation=two, functionals=[{"type": "compliance", "state": 0}]))
    runs.check([p["basis"] for p in study["parameters"]] == [{"extension": "harmonic", "boundary": [2, 3]}], "two shapes of a state are one")


def elements(recoil):
    """Start values of each element; jumps between two triangles."""
    runs.write_obj(recoil.path("halves.obj"), ([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [(0, 1, 2), (0, 2, 3)]))
    state(recoil, "halves.json", geometry=[{"mesh": "halves.obj", "surface_selection": {"id": 1, "axis": "-x", "position": 0.01}}])
    study, _ = convert(recoil, "halves", {
        "variable_to_simulation": [{"type": "elastic", "state": 0, "composition": [{"type": "scale", "value": 10}, {"type": "append-const", "value": 0.3, "size": 2},
                                                                                   {"type": "E-nu-to-lambda-mu", "is_volume": False}]}],
        "parameters": [{"number": 2, "initial": [1, 2]}], "states": [{"path": "halves.json"}],
        "functionals": [{"type": "elastic_material_smoothing", "state": 0, "weight": 4}]})
    # Both constants, both ways: (1 - 2)^2 and (1 - 1/2)^2.
    found = gradient(recoil, "halves")["objective"]
    runs.check(abs(found / (4 * 2 * (1 + 0.25)) - 1) < 1e-12, "jumps of E = 10 and 20: %.12g" % found)


def as_it_is(recoil):
    """Tolerances and linear solvers of PolyFEM's scenes, which need no conversion."""
    state(recoil, "present.json", solver={
        "linear": {"solver": ["Eigen::PardisoLDLT", "Eigen::SimplicialLDLT"]}, "adjoint_linear": {"solver": "Eigen::SimplicialLDLT"},
        "nonlinear": {"norm_type": "Euclidean", "first_grad_norm_tol": 1e-10, "grad_norm_tol": 1e-8, "x_delta_tol": 0,
                      "advanced": {"f_delta_tol": 0, "derivative_along_delta_x_tol": 0}, "line_search": {"use_grad_norm_tol": 1e-6}},
        "advanced": {"characteristic_force_density": 1, "characteristic_length": 1}})
    code, said = recoil.run(1, "validate", recoil.path("present.json"), expect=None)
    runs.check(code == 0, "a scene with PolyFEM's present keys of `solver`%s" % (": " + said[-400:] if code else ""))


def wrong(recoil):
    state(recoil, "shape.json")
    free = {"variable_to_simulation": [], "parameters": [], "states": [{"path": "shape.json"}], "functionals": [{"type": "compliance", "state": 0}]}
    has(convert(recoil, "no-variable", free, expect=2)[1], "no variable is left; the file leaves them to a program: name them, as --variable shape")
    study, _ = convert(recoil, "named", free, "--variable", "elastic")
    runs.check([p["quantity"] for p in study["parameters"]] == ["young_modulus", "poisson_ratio"], "variables that the file leaves open")
    has(convert(recoil, "kind", dict(free, variable_to_simulation=[{"type": "macro-strain", "state": 0, "composition": []}]), expect=2)[1],
        "/variable_to_simulation/0: the variable `macro-strain`")
    has(convert(recoil, "text", free, "--variable", "elastic", "--functional", "stress", expect=2)[1], "--functional stress: no JSON")
    has(convert(recoil, "typeless", free, "--variable", "elastic", "--functional", "[]", expect=2)[1], "no object with a `type`")
    has(convert(recoil, "none", dict(free, functionals=[]), "--variable", "elastic", expect=2)[1], "name them by --functional")
    shape = [{"type": "shape", "state": 0, "composition": []}]
    has(convert(recoil, "functional", dict(free, variable_to_simulation=shape, functionals=[{"type": "kinetic", "state": 0}]), expect=2)[1],
        "no functional is left", "/functionals/0: `kinetic`: not built")
    has(convert(recoil, "lost", dict(free, states=[{"path": "lost.json"}]), expect=2)[1], "cannot read", "lost.json")
    has(convert(recoil, "number", dict(free, variable_to_simulation=[{"type": "shape", "state": 3, "composition": []}]), expect=2)[1],
        "there is no state 3; the file has 1")
    has(convert(recoil, "scene", {"geometry": []}, expect=2)[1], "this is no optimisation file: it has no `states`")
    with open(recoil.path("broken-run.json"), "w") as file:
        file.write("{\n\"states\": [}")
    done = subprocess.run([sys.executable, os.path.join(ROOT, "scripts", "convert_polyfem.py"), recoil.path("broken-run.json"), "-o", recoil.path("broken")],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    has(done.stdout.decode(), "broken-run.json:2: no JSON")


with runs.Recoil() as recoil:
    points, faces = runs.sheet(4, 1, 0)
    runs.write_obj(recoil.path("square.obj"), (points, faces))
    for part in (shapes, constants, contact, cell, elements, as_it_is, wrong):
        part(recoil)
