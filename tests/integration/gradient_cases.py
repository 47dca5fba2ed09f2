"""Gradients of what the other tests of `recoil gradient` do not have, against differences of whole runs: friction to convergence,
markers that move with the shape, fields per vertex, loads that grow with time."""
import runs
from pieces import box, material
from studies import distance, exact, gradient, result, slide, slide_study


def agree(recoil, name, study, ranks=(1, 2), tolerance=1e-6):
    """Every direction of --check on the first rank count, the same gradient on the others."""
    study["check"] = dict({"directions": 1, "steps": [1e-3, 1e-4, 1e-5, 1e-6]}, **study.get("check", {}))
    path = recoil.write_scene(name + "-study", study)
    first = gradient(recoil, ranks[0], path, name, "--check", expect=None)
    for direction, found in result(first)["check"].items():
        runs.check(found["relative_error"] < tolerance and found["derivative"] != 0,
                   "%s, %s: %.1e from differences, slope %s" % (name, direction, found["relative_error"], found["slope"]))
    for n in ranks[1:]:
        error = distance(gradient(recoil, n, path, "%s-%d" % (name, n)), first)
        runs.check(error < 1e-8, "%s: the same gradient on %d ranks to %.1e" % (name, n, error))


def converged_friction(recoil):
    scene = slide(steps=6)
    scene["solver"]["contact"].update({"friction_iterations": -1, "friction_convergence_tol": 1e-11})
    study = slide_study("slide", recoil.write_scene("converged", scene))
    agree(recoil, "converged-friction", study)
    study["parameters"] = [{"name": "shape", "quantity": "shape", "body": "lower", "basis": "affine"}]
    study["check"] = {"steps": [1e-5, 1e-6, 1e-7]}
    agree(recoil, "converged-friction-shape", study)


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


with runs.Recoil() as recoil:
    parts = {"friction": converged_friction, "markers": markers, "loads": loads}
    for name in recoil.rest or parts:
        parts[name](recoil)
