"""Scenes in SI and in millimetres, grams and milliseconds: after conversion the same trajectories, ledgers, gradients and fits. Without
options a short sample; `--all 1` runs all of them (run_units_all), `--only NAME` one. Scene keys are converted by the table below."""
import copy
import csv
import json
import os
import re

import numpy as np
import runs
from pieces import box, ledger, material, plane, thrown
from runs import check

TOLERANCE = 1e-6

# Exponents of m, kg and s.
UNITS = {
    "1": (0, 0, 0), "m": (1, 0, 0), "kg": (0, 1, 0), "s": (0, 0, 1), "1/s": (0, 0, -1), "m/s": (1, 0, -1), "m/s2": (1, 0, -2),
    "kg/m3": (-3, 1, 0), "Pa": (-1, 1, -2), "Pa s": (-1, 1, -1), "J": (2, 1, -2), "N/m3": (-2, 1, -2), "kg m/s": (1, 1, -1),
    "kg m2/s": (2, 1, -1), "m2 s": (2, 0, 1),
}
# Of a plane body all masses, forces and energies are per unit of depth.
PER_DEPTH = ("J", "kg m/s", "kg m2/s", "N/m3")
# What a metre, a kilogram and a second are in mm, g and ms.
SIZES = (1e3, 1e3, 1e3)

# Unit by path; a name of digits stands for any entry of a list. Keys that are not here have none.
KEYS = [
    (r"gravity/\d+", "m/s2"),
    (r"geometry/\d+/generator/(size/\d+|radius|height)", "m"),
    (r"geometry/\d+/transformation/translation/\d+", "m"),
    (r"geometry/\d+/point/\d+", "m"),
    (r"geometry/\d+/(surface|point|volume)_selection/\d+/position", "m"),
    (r"geometry/\d+/particles/radius", "m"),
    (r"materials/(E|tensile_strength|shear_strength)", "Pa"),
    (r"materials/rho", "kg/m3"),
    (r"materials/(psi|phi)", "Pa s"),
    (r"boundary_conditions/(dirichlet_boundary|obstacle_displacements)/\d+/value/\d+", "m"),
    (r"boundary_conditions/neumann_boundary/\d+/value/\d+", "Pa"),
    (r"boundary_conditions/(rest_)?pressure_boundary/\d+/value", "Pa"),
    (r"boundary_conditions/dirichlet_boundary/\d+/time_reference/\d+", "s"),
    (r"initial_conditions/velocity/\d+/value/\d+", "m/s"),
    (r"initial_conditions/angular_velocity/\d+/value(/\d+)?", "1/s"),
    (r"contact/dhat", "m"),
    (r"contact/epsv", "m/s"),
    (r"boundary_conditions/dirichlet_boundary/\d+/rotation/\d+", "1"),
    (r"solver/contact/(initial_)?barrier_stiffness", "N/m3"),
    (r"time/(dt|tend|t0)", "s"),
]
KEYS = [(re.compile(pattern), unit) for pattern, unit in KEYS]
# PolyFEM's numbers for keys that a scene with contact leaves out are lengths and stiffnesses in its own units.
DEFAULTS = {("contact", "dhat"): 1e-3, ("contact", "epsv"): 1e-3, ("solver", "contact", "initial_barrier_stiffness"): 1}
QUANTITIES = {"young_modulus": "Pa", "poisson_ratio": "1", "friction": "1", "initial_velocity": "m/s", "density": "kg/m3",
              "damping_shear": "Pa s"}
LEDGER = {"kinetic": "J", "elastic": "J", "barrier": "J", "external_work": "J", "dissipated_friction": "J", "dissipated_damping": "J", "dissipated_bonds": "J",
          "dissipated_integrator": "J", "linear_x": "kg m/s", "linear_y": "kg m/s", "linear_z": "kg m/s", "angular_x": "kg m2/s",
          "angular_y": "kg m2/s", "angular_z": "kg m2/s", "bonds": "J", "loads": "J", "contact": "J"}


def factor(unit, dimension=3):
    value = float(np.prod([size ** power for size, power in zip(SIZES, UNITS[unit])]))
    return value / SIZES[0] if dimension == 2 and unit in PER_DEPTH else value


def converted_formula(text, size):
    """A formula of x, y, z and t, which are in the other units too, and whose value becomes `size` times as large."""
    inner = re.sub(r"\b([xyzt])\b", lambda name: "(%s/%r)" % (name[0], SIZES[2 if name[0] == "t" else 0]), text)
    return "%r*(%s)" % (size, inner)


def converted(value, dimension, path=""):
    if isinstance(value, dict):
        return {key: converted(entry, dimension, path + "/" + key if path else key) for key, entry in value.items()}
    if isinstance(value, list):
        return [converted(entry, dimension, "%s/%d" % (path, i)) for i, entry in enumerate(value)]
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return value
    unit = next((unit for pattern, unit in KEYS if pattern.fullmatch(path)), None)
    if unit is None or value == "adaptive":
        return value
    size = factor(unit, dimension)
    return converted_formula(value, size) if isinstance(value, str) else value * size


def dimension_of(scene):
    first = scene["geometry"][0]
    return 2 if first.get("generator", {}).get("type") in ("rectangle", "disk") or "mesh" in first else 3


def in_millimetres(scene):
    scene = copy.deepcopy(scene)
    if scene.get("contact", {}).get("enabled") and scene.get("solver", {}).get("type") != "bonded_particles":
        for (*parents, last), default in DEFAULTS.items():
            place = scene
            for parent in parents:
                place = place.setdefault(parent, {})
            place.setdefault(last, default)
    other = converted(scene, dimension_of(scene))
    if "time" not in scene and "epsv" in other.get("contact", {}):
        other["contact"]["epsv"] *= factor("m") / factor("m/s") # of a displacement
    return other


def block(size, **contact):
    """That creeps on a slope: gravity is turned."""
    return {
        "geometry": [box("block", [size] * 3, [2] * 3, [0, 0, 0.505 * size]), plane("floor", [0, 0, 1])],
        "materials": material(1e6, 0.3, 1000),
        "gravity": [3.643342535033758, 0, -9.108356337584395],
        "contact": {"enabled": True, "dhat": 0.01 * size, "friction_coefficient": 0.5, "epsv": 1e-3 * size},
        "solver": {"contact": dict({"friction_iterations": -1}, **contact)},
        "time": {"dt": 0.01, "time_steps": 20},
    }


def bar():
    scene = runs.bar([6, 2, 2], 8, integrator="BDF2")
    return dict(scene, geometry=[scene["geometry"]])


def loaded(quasistatic):
    """A beam that its weight and a traction bend; at once or in steps."""
    scene = {
        "geometry": [box("beam", [1, 0.2, 0.2], [6, 2, 2], [0, 0, 0],
                         surface_selection=[{"id": 1, "axis": "-x", "position": -0.499}, {"id": 2, "axis": "x", "position": 0.499},
                                            {"id": 3, "axis": "z", "position": 0.099}])],
        "materials": dict(material(1e6, 0.3, 1000), type="SaintVenant"),
        "gravity": [0, 0, -9.81],
        "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0, 0]}],
                                "neumann_boundary": [{"id": 2, "value": [0, "200*y", -300]}]},
    }
    if quasistatic:
        scene["boundary_conditions"]["neumann_boundary"][0]["value"] = [0, 0, "-300*t"]
        scene["time"] = {"quasistatic": True, "dt": 0.25, "time_steps": 4}
    return scene


def inflated():
    """The same beam under its weight and a pressure on all of it but its clamp."""
    scene = loaded(False)
    scene["geometry"][0]["surface_selection"][1:] = [{"id": 3, "axis": "x", "position": -0.499}]
    scene["boundary_conditions"] = {"dirichlet_boundary": [{"id": 1, "value": [0, 0, 0]}], "pressure_boundary": [{"id": 3, "value": 400}]}
    return scene


def squeezed():
    """A block between its clamp and an obstacle that has come down and aside, at once."""
    return {
        "geometry": [box("block", [0.1, 0.1, 0.1], [2, 2, 2], [0, 0, 0], surface_selection=[{"id": 1, "axis": "-z", "position": -0.0499}]),
                     box("platen", [0.2, 0.2, 0.01], [1, 1, 1], [0, 0, 0.056], is_obstacle=True, surface_selection=3)],
        "materials": material(1e6, 0.3, 1000),
        "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0, 0]}], "obstacle_displacements": [{"id": 3, "value": [0.001, 0, -0.006]}]},
        "contact": {"enabled": True, "dhat": 0.001, "friction_coefficient": 0.3, "epsv": 1e-4},
        "solver": {"contact": {"barrier_stiffness": 1e9, "friction_iterations": -1}},
    }


# Without pairs at its start a step takes PolyFEM's adaptive stiffness 1, in whatever units: such scenes give it.
def falling(dt):
    """Ball on a plane in steps of microseconds: forces times dt^2 are tiny."""
    return {
        "geometry": [{"name": "ball", "generator": {"type": "disk", "radius": 0.01, "divisions": 2},
                      "transformation": {"translation": [0, 0.01002]}}, plane("floor", [0, 1])],
        "materials": material(1e7, 0.3, 1000),
        "gravity": [0, -9.81],
        "initial_conditions": {"velocity": [{"body": "ball", "value": [0, -1]}]},
        "contact": {"enabled": True, "dhat": 1e-4},
        "solver": {"contact": {"barrier_stiffness": 1e14}},
        "time": {"dt": dt, "time_steps": 40},
    }


def pressed():
    """A ball between a plane and an obstacle that comes down, in load steps."""
    return {
        "geometry": [{"name": "ball", "generator": {"type": "ball", "radius": 0.05, "divisions": 2},
                      "transformation": {"translation": [0, 0, 0.0507]}}, plane("floor", [0, 0, 1]),
                     {"name": "platen", "is_obstacle": True, "surface_selection": 3,
                      "generator": {"type": "box", "size": [0.2, 0.2, 0.01], "divisions": [1, 1, 1]},
                      "transformation": {"translation": [0, 0, 0.1064]}}],
        "materials": material(1e6, 0.3, 1000),
        "boundary_conditions": {"obstacle_displacements": [{"id": 3, "value": [0, 0, "-0.05*t"]}]},
        "contact": {"enabled": True, "dhat": 0.001, "friction_coefficient": 0.2},
        "time": {"dt": 0.02, "time_steps": 8},
    }


def folded():
    """A strip whose ends swing together."""
    return {
        "geometry": [{"name": "strip", "mesh": "strip.obj"}],
        "materials": material(1e6, 0.3, 1000, psi=10, phi=10),
        "initial_conditions": {"velocity": [{"body": "strip", "value": ["30*(y-0.02)", "10*x*if(y-0.02,-1,1)"]}]},
        "contact": {"enabled": True, "dhat": 0.001, "friction_coefficient": 0.2},
        "solver": {"contact": {"barrier_stiffness": 1e12}},
        "time": {"dt": 0.002, "time_steps": 15, "integrator": "BDF2"},
    }


def write_strip(path, scale):
    """A U of rectangles, open at its right end."""
    columns, gap, thick = 10, 0.02, 0.01
    cells = [(i, j) for i in range(columns) for j in range(4) if i == 0 or j in (0, 3)]
    heights = [0, thick, thick + gap / 2, thick + gap, 2 * thick + gap]
    corners, faces = {}, []
    for i, j in cells:
        a, b, c, d = [corners.setdefault(corner, len(corners) + 1) for corner in ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1))]
        faces += [(a, b, c), (a, c, d)]
    with open(path, "w") as file:
        for i, j in corners:
            file.write("v %r %r 0\n" % (scale * 0.01 * i, scale * heights[j]))
        for face in faces:
            file.write("f %d %d %d\n" % face)


def bonded(**more):
    return dict({
        "geometry": [{"name": "bar", "generator": {"type": "box", "size": [0.06, 0.012, 0.012], "divisions": [1, 1, 1]},
                      "particles": {"radius": 0.002},
                      "point_selection": [{"id": 1, "axis": "-x", "position": -0.025}, {"id": 2, "axis": "x", "position": 0.025}]}],
        "materials": {"type": "BondedParticles", "E": 1e7, "nu": 0.3, "rho": 1000, "tensile_strength": 3e5, "shear_strength": 3e5},
        "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0, 0]},
                                                       {"id": 2, "value": ["0.2*t", 0, 0], "rotation": ["5*t", 0, 0]}]},
        "time": {"dt": 0.001, "time_steps": 12},
        "solver": {"type": "bonded_particles", "bonded_particles": {"tolerance": 1e-8}},
    }, **more)


def bent():
    scene = bonded(gravity=[0, 0, -9.81])
    scene["materials"].update(tensile_strength=1e9, shear_strength=1e9)
    scene["boundary_conditions"]["dirichlet_boundary"][1] = {"id": 2, "value": [0, "0.3*t", 0]}
    return scene


def crushed():
    return {
        "geometry": [plane("floor", [0, 0, 1]),
                     {"name": "block", "generator": {"type": "box", "size": [0.02, 0.02, 0.024], "divisions": [1, 1, 1]},
                      "transformation": {"translation": [0, 0, 0.0123]}, "particles": {"radius": 0.003}}],
        "materials": {"type": "BondedParticles", "E": 1e7, "nu": 0.3, "rho": 1000, "tensile_strength": 1e9, "shear_strength": 1e9},
        "gravity": [3, 0, -9.81],
        "initial_conditions": {"velocity": [{"body": "block", "value": [0.2, 0, -0.3]}]},
        "contact": {"enabled": True, "dhat": 2e-4, "epsv": 1e-3, "friction_coefficient": 0.3},
        "time": {"dt": 0.001, "time_steps": 10},
        "solver": {"type": "bonded_particles", "bonded_particles": {"tolerance": 1e-8}},
    }


SCENES = {
    "block_10mm": lambda: block(0.01),
    "block_1mm": lambda: block(0.001),
    "microseconds": lambda: falling(2e-6),
    "thrown": thrown,
    "swinging_bar": bar,
    "static": lambda: loaded(False),
    "quasistatic": lambda: loaded(True),
    "pressure": inflated,
    "static_contact": squeezed,
    "pressed": pressed,
    "folded": folded,
    "bonded_bent": bent,
    "bonded_breaking": bonded,
    "bonded_sliding": crushed,
}
SAMPLE = ("block_10mm", "block_1mm", "microseconds", "thrown", "pressure", "static_contact", "bonded_sliding", "gradient")


def states(folder, field):
    steps = sorted({record["step"] for entry in runs.manifest(folder)["files"] for record in entry["states"]
                    if record["kept"] == "stored" and record.get("step")})
    return np.array([runs.state(folder, step, field) for step in steps])


def compare_runs(name, si, mm, dimension):
    speed, size = (np.abs(states(si, "v")).max(), np.abs(runs.coordinates(si)).max())
    for field, unit in (("u", "m"), ("v", "m/s")):
        a, b = states(si, field)[..., :dimension], states(mm, field)[..., :dimension] / factor(unit)
        worst = np.abs(a - b).max() / max(np.abs(a).max(), 1e-300)
        check(a.shape == b.shape and worst < TOLERANCE, "%s: %s of all steps agree to %.1e" % (name, field, worst))
    compare_ledgers(name, ledger(si), ledger(mm), dimension, speed, size)


def compare_bonds(name, si, mm):
    """Which bonds have broken, in their order."""
    lists = []
    for folder in (si, mm):
        with open(os.path.join(folder, "broken_bonds.csv")) as file:
            lists.append([(row["bond"], row["mode"]) for row in csv.DictReader(file)])
    check(lists[0] == lists[1] and lists[0], "%s: the same %d bonds break" % (name, len(lists[0])))


def compare_ledgers(name, a, b, dimension, speed, size):
    """Energies by their own size, differences of large numbers by the largest of their unit, momenta by that of the motion."""
    largest = {unit: max(np.nanmax(np.abs(a[key]), initial=0) for key in a if LEDGER.get(key) == unit) or 1e-300
               for unit in set(LEDGER[key] for key in a if key in LEDGER)}
    if speed > 0:
        momentum = 2 * np.abs(a["kinetic"]).max() / speed
        largest["kg m/s"], largest["kg m2/s"] = max(largest["kg m/s"], momentum), max(largest["kg m2/s"], momentum * size)
    worst, where = 0, ""
    for key in (key for key in a if key in LEDGER):
        own = key in ("dissipated_friction", "dissipated_damping", "kinetic", "elastic") and np.abs(a[key]).max() > 1e-9 * largest[LEDGER[key]]
        scale = np.abs(a[key]).max() if own else largest[LEDGER[key]]
        off = np.abs(a[key] - b[key] / factor(LEDGER[key], dimension)).max() / scale
        if not off <= worst:
            worst, where = off, key
    check(worst < TOLERANCE, "%s: ledgers agree to %.1e (%s)" % (name, worst, where))


def run_pair(recoil, name):
    scene = SCENES[name]()
    folders = []
    for label, text, scale in (("si", scene, 1), ("mm", in_millimetres(scene), SIZES[0])):
        if name == "folded":
            text["geometry"][0]["mesh"] = "strip_%s.obj" % label
            write_strip(recoil.path("strip_%s.obj" % label), scale)
        folders.append(recoil.simulate(1, recoil.write_scene("%s_%s" % (name, label), text), "%s_%s_run" % (name, label)))
    compare_runs(name, *folders, dimension_of(scene))
    return folders


def check_creep(name, folder, size, way):
    """A block that sticks creeps by 0.553 epsv, after a start in which friction is built up; `way`: of solves of friction to 1e-10."""
    speed, moved = (states(folder, field)[-1][:, 0].mean() for field in ("v", "u"))
    check(abs(speed / (0.553e-3 * size) - 1) < 0.02, "%s: creeps with %.3f epsv, 0.553 are right" % (name, speed / (1e-3 * size)))
    check(abs(moved / way - 1) < 0.02, "%s: has moved by %.3e m, %.3e are right" % (name, moved, way))


STUDY = {
    "parameters": [{"name": "E", "quantity": "young_modulus", "body": "upper", "initial": 1e5, "scale": "log"},
                   {"name": "nu", "quantity": "poisson_ratio", "body": "upper", "initial": 0.3},
                   {"name": "mu", "quantity": "friction", "bodies": ["lower", "upper"], "initial": 0.3},
                   {"name": "v0", "quantity": "initial_velocity", "body": "upper", "initial": [0.6, -0.8]}],
    "objectives": [{"name": "path", "type": "center_of_mass", "body": "upper", "target": "path.csv"}],
}


def write_study(recoil, label, scene, rows, study, scale):
    """`rows`: time and place of the centre of mass in SI."""
    study = copy.deepcopy(study)
    study["experiments"] = [{"name": "x", "scene": recoil.write_scene("scene_" + label, scene)}]
    study["objectives"][0]["target"] = "path_%s.csv" % label
    for parameter in study["parameters"]:
        size = factor(QUANTITIES[parameter["quantity"]]) if scale else 1
        for key in ("initial", "bounds"):
            if key in parameter:
                values = parameter[key]
                parameter[key] = [size * value for value in values] if isinstance(values, list) else size * values
    with open(recoil.path("path_%s.csv" % label), "w") as file:
        writer = csv.writer(file)
        writer.writerow(["time", "x", "y"])
        for row in rows:
            writer.writerow([repr(float(value * (SIZES[2] if scale and i == 0 else SIZES[0] if scale else 1))) for i, value in enumerate(row)])
    return recoil.write_scene("study_" + label, study)


def drop_path():
    times = 0.004 * np.arange(13)
    return np.column_stack([times, 0.063 + 0.5 * times, 0.154 - 0.3 * times])


def check_gradient(recoil):
    scene = thrown(solver={"contact": {"barrier_stiffness": 1e7, "friction_iterations": -1}})
    results = []
    for label, text, scale in (("si", scene, False), ("mm", in_millimetres(scene), True)):
        study = write_study(recoil, "gradient_" + label, text, drop_path(), STUDY, scale)
        folder = recoil.path("gradient_run_" + label)
        recoil.run(1, "gradient", study, "-o", folder, "-q")
        with open(os.path.join(folder, "gradient.json")) as file:
            results.append(json.load(file))
    si, mm = results
    check(abs(mm["objective"] / factor("m2 s") / si["objective"] - 1) < TOLERANCE, "gradient: objectives agree")
    for parameter in STUDY["parameters"]:
        unit = factor("m2 s") / factor(QUANTITIES[parameter["quantity"]])
        a, b = (np.atleast_1d(result["parameters"][parameter["name"]]["gradient"]) for result in results)
        worst = np.abs(a - b / unit).max() / np.abs(a).max()
        check(worst < TOLERANCE, "gradient: that by %s agrees to %.1e" % (parameter["name"], worst))


def check_fit(recoil):
    truth = thrown(solver={"contact": {"barrier_stiffness": 1e7}})
    truth["materials"]["E"] = 1.2e5
    folder = recoil.simulate(1, recoil.write_scene("truth", truth), "truth_run")
    places = runs.coordinates(folder)[:, :2]
    upper = places[:, 1] > 0.001
    weights = np.where(upper, 1.0, 0.0) / upper.sum()
    moved = [weights @ (places + runs.state(folder, step)[:, :2]) for step in range(1, 13)]
    rows = np.column_stack([0.004 * np.arange(13), np.vstack([weights @ places, *moved])])
    study = {"parameters": [dict(STUDY["parameters"][0], bounds=[3e4, 3e5]), STUDY["parameters"][3]], "objectives": STUDY["objectives"]}
    scene = thrown(solver={"contact": {"barrier_stiffness": 1e7}})
    fits = []
    for label, text, scale in (("si", scene, False), ("mm", in_millimetres(scene), True)):
        path = write_study(recoil, "fit_" + label, text, rows, study, scale)
        folder = recoil.path("fit_run_" + label)
        recoil.run(1, "optimize", path, "-o", folder, "-q")
        with open(os.path.join(folder, "fit.json")) as file:
            fits.append(json.load(file))
    for parameter in study["parameters"]:
        a, b = (np.atleast_1d(fit["parameters"][parameter["name"]]["value"]) for fit in fits)
        worst = np.abs(a - b / factor(QUANTITIES[parameter["quantity"]])).max() / np.abs(a).max()
        check(worst < TOLERANCE, "fit: values of %s agree to %.1e" % (parameter["name"], worst))


def main():
    with runs.Recoil(("--all", int, 0), ("--only", str, "")) as recoil:
        chosen = [*SCENES, "gradient", "fit"] if recoil.arguments.all else SAMPLE
        for name in [recoil.arguments.only] if recoil.arguments.only else chosen:
            if name == "gradient":
                check_gradient(recoil)
            elif name == "fit":
                check_fit(recoil)
            else:
                si, mm = run_pair(recoil, name)
                if name == "bonded_breaking":
                    compare_bonds(name, si, mm)
                if name.startswith("block"):
                    check_creep(name, si, *((0.01, 1.2e-5) if name == "block_10mm" else (0.001, 5.4e-7)))


main()
