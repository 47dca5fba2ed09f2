"""Optimisation files of PolyFEM and the states that they name, as convert_polyfem.py reads them."""
import json
import math
import os

import h5py
import numpy as np
from scipy.interpolate import BSpline

import recoil_run


class Unusable(Exception):
    """What cannot be converted; `reasons` are lines for the user."""

    def __init__(self, text, reasons):
        super().__init__(text)
        self.reasons = reasons


as_list = recoil_run.as_list


def read_json(path):
    try:
        with open(path) as file:
            return json.load(file)
    except OSError as error:
        raise Unusable("cannot read %s: %s; paths start from the folder of the file that names it" % (path, error.strerror), [])
    except json.JSONDecodeError as error:
        raise Unusable("%s:%d: no JSON: %s" % (path, error.lineno, error.msg), [])


def merged(below, above):
    """JSON merge patch: `above` over what it has in common."""
    if not isinstance(below, dict) or not isinstance(above, dict):
        return above
    result = dict(below)
    for key, value in above.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(below.get(key), value)
    return result


NAMES = {name: getattr(math, name) for name in ("sin", "cos", "tan", "exp", "sqrt", "log", "pi", "fabs", "floor", "ceil")}


def formula_at(text, t):
    """The value of a formula of t. @throws ValueError for one of other things."""
    try:
        return float(eval(compile(text.replace("^", "**"), "formula", "eval"), {"__builtins__": {}}, dict(NAMES, t=t, abs=abs, min=min, max=max)))
    except Exception as error:
        raise ValueError("the formula '%s' is not one of t alone: %s" % (text, error))


class State:
    """A scene of PolyFEM."""

    def __init__(self, path, output, name, content=None):
        self.path, self.output, self.name = path, output, name
        self.scene = content if content is not None else self.read(path)
        self.left_out = []
        self.bodies = [self.body(k, entry) for k, entry in enumerate(as_list(self.scene.get("geometry")))]
        self.dim = self.dimension()
        self.dt, self.steps = self.times()

    def read(self, path):
        scene = read_json(path)
        if not isinstance(scene, dict) or not ({"geometry", "common"} & set(scene)):
            raise Unusable("%s is no scene: it has no `geometry`" % path, [])
        if "common" in scene:
            scene = merged(self.read(os.path.join(os.path.dirname(path), scene["common"])), scene)
            scene.pop("common")
        return scene

    @staticmethod
    def body(k, entry):
        volume = as_list(entry.get("volume_selection"))
        ids = [v if isinstance(v, int) else v.get("id") for v in volume if isinstance(v, (int, dict))]
        surface = []
        for selection in as_list(entry.get("surface_selection")):
            if isinstance(selection, dict) and "threshold" in selection and "id" not in selection:
                surface += [1, 2, 3, 4, 5, 6]
            else:
                surface.append(selection if isinstance(selection, int) else selection.get("id") if isinstance(selection, dict) else None)
        return {"name": entry.get("name", "body%d" % k), "volume_ids": ids or [0], "surface_ids": [i for i in surface if i is not None],
                "is_obstacle": entry.get("is_obstacle", False)}

    def dimension(self):
        """From the first vector of the scene."""
        conditions = self.scene.get("boundary_conditions", {})
        vectors = [conditions.get("rhs"), self.scene.get("gravity")]
        for section in ("dirichlet_boundary", "neumann_boundary"):
            vectors += [c.get("value") for c in as_list(conditions.get(section)) if isinstance(c, dict)]
        for entry in as_list(self.scene.get("geometry")):
            vectors += [entry.get("transformation", {}).get("translation"), entry.get("generator", {}).get("size")]
        vectors += as_list(self.macro_strain_of(conditions))[:1]
        for vector in vectors:
            if isinstance(vector, list) and len(vector) in (2, 3):
                return len(vector)
        return 3 if any(str(e.get("mesh", "")).find("3D") >= 0 for e in as_list(self.scene.get("geometry"))) else 2

    @staticmethod
    def macro_strain_of(conditions):
        cell = conditions.get("periodic_boundary")
        return (cell if isinstance(cell, dict) else conditions).get("linear_displacement_offset") or []

    def macro_strain(self):
        """Rows of the macro strain that the scene prescribes."""
        return self.macro_strain_of(self.scene.get("boundary_conditions", {})) or [[0.0] * self.dim for _ in range(self.dim)]

    def periodic_axes(self):
        """Axes along which the scene is a periodic cell; [] for none."""
        cell = self.scene.get("boundary_conditions", {}).get("periodic_boundary")
        if isinstance(cell, dict) and cell.get("enabled"):
            return cell.get("axes") or list("xyz"[:self.dim])
        return ["xyz"[k] for k, flag in enumerate(cell) if flag] if isinstance(cell, list) else []

    def times(self):
        time = self.scene.get("time")
        if not time:
            return 0.0, 0
        length = time.get("tend", 0) - time.get("t0", 0)
        if "time_steps" in time:
            return time.get("dt", length / max(time["time_steps"], 1)), time["time_steps"]
        return time["dt"], int(round(length / time["dt"]))

    def materials(self):
        """Entries of `materials`, one per volume id; without `id` for one of all bodies."""
        found = self.scene.get("materials")
        if isinstance(found, dict):
            return [{k: v for k, v in found.items() if k != "id"}]
        present = {i for b in self.bodies if not b["is_obstacle"] for i in b["volume_ids"]}
        return [m for m in as_list(found) if not present or set(as_list(m.get("id", 0))) & present]

    def bodies_of(self, form):
        """Names of the bodies with the volume ids of a functional; None for all."""
        wanted = as_list(form.get("volume_selection"))
        deformable = [b for b in self.bodies if not b["is_obstacle"]]
        names = [b["name"] for b in deformable if set(b["volume_ids"]) & set(i for i in wanted if isinstance(i, int))]
        return names if wanted and names and len(names) < len(deformable) else None

    def bodies_with_surfaces(self, ids):
        deformable = [b for b in self.bodies if not b["is_obstacle"]]
        names = [b["name"] for b in deformable if set(b["surface_ids"]) & set(ids)]
        return names if len(names) < len(deformable) else []

    def surface_ids(self):
        return sorted({i for b in self.bodies if not b["is_obstacle"] for i in b["surface_ids"]})

    def held_surfaces(self):
        """Ids with a condition or load."""
        conditions = self.scene.get("boundary_conditions", {})
        return {c["id"] for section in ("dirichlet_boundary", "neumann_boundary", "normal_aligned_neumann_boundary", "rest_pressure_boundary", "pressure_boundary")
                for c in as_list(conditions.get(section)) if isinstance(c, dict) and "id" in c}

    def value_at(self, condition, step, width):
        """The value of a condition at the end of a step, `width` numbers. @throws ValueError where none is known."""
        t = self.scene.get("time", {}).get("t0", 0) + step * self.dt if self.steps else 0
        value = condition["value"]
        components = value if width > 1 or (isinstance(value, list) and len(value) == 1) else [value]
        if len(components) != width:
            raise ValueError("its value has %d components, the scene is in %dD" % (len(components), width))
        result = []
        for component in components:
            if isinstance(component, list):
                times = condition.get("time_reference", [])
                match = [k for k, at in enumerate(times) if abs(at - t) < 1e-6 * max(self.dt, 1e-12)]
                if not match:
                    raise ValueError("its `time_reference` has no time %g" % t)
                component = component[match[0]]
            result.append(formula_at(component, t) if isinstance(component, str) else float(component))
        return result

    def write(self):
        """Writes the scene as recoil reads it; returns its path below the folder of the study."""
        scene = json.loads(json.dumps(self.scene))
        scene.pop("optimization", None)
        scene["conventions"] = "polyfem"
        solver = scene.get("solver", {})
        nonlinear = solver.get("nonlinear", {})
        for key in ("debug_fd", "debug_fd_eps", "f_delta", "x_delta", "x_delta_tol", "verify_hessian", "advanced"):
            nonlinear.pop(key, None)
        if "grad_norm" in nonlinear:
            nonlinear["grad_norm_tol"] = nonlinear.pop("grad_norm")
        solver.get("linear", {}).pop("adjoint_solver", None)
        solver.pop("adjoint_linear", None)
        folder = os.path.join(self.output, "scenes")
        os.makedirs(folder, exist_ok=True)
        moved = lambda path: os.path.relpath(os.path.join(os.path.dirname(os.path.abspath(self.path)), path), folder)
        for entry in as_list(scene.get("geometry")):
            if isinstance(entry.get("mesh"), str):
                entry["mesh"] = moved(entry["mesh"])
        conditions = scene.get("boundary_conditions", {})
        if isinstance(conditions.get("dirichlet_boundary"), list):
            conditions["dirichlet_boundary"] = [moved(c) if isinstance(c, str) else c for c in conditions["dirichlet_boundary"]]
        with open(os.path.join(folder, self.name + ".json"), "w") as file:
            json.dump(scene, file, indent=1)
        return os.path.join("scenes", self.name + ".json")


# Functionals of earlier files, by `matching`.
MATCHING = {"exact": "target", "sdf": "sdf-target", "exact-center": "center-target", "center-data": "center-target"}


def renewed(path, content):
    """A file of the earlier form, with types of parameters and one scene of its own, as one of today."""
    if "geometry" in content and "optimization" in content:
        scene = {k: v for k, v in content.items() if k != "optimization"}
        content = dict(content["optimization"])
        content["states"] = [{"path": os.path.basename(path), "scene": scene}]
        for form in content.get("functionals", []):
            if "path" in form:
                content["states"].append({"path": form.pop("path")})
                form["target_state"] = len(content["states"]) - 1
    content = dict(content)
    renamed = {"control": "dirichlet", "material": "elastic"}
    if any("type" in p for p in as_list(content.get("parameters"))):
        content["variable_to_simulation"] = [
            {"type": renamed.get(p["type"], p["type"]), "state": p.get("states", [0]), "composition": [], "bound": p.get("bound"),
             "surface_selection": p.get("surface_selection", []),
             "composite_map_type": "boundary" if p["type"] == "shape" and p.get("surface_selection") else "none"}
            for p in content["parameters"] if "type" in p]
        content["parameters"] = []
    forms = []
    for form in as_list(content.get("functionals")):
        kind = MATCHING.get(form.get("matching")) if form.get("type") in ("trajectory", "target") and form.get("type") != "target" else None
        if kind:
            inner = dict(form, type=kind, state=form.get("state", 0), weight=1)
            form = {"type": "transient_integral", "state": inner["state"], "static_objective": inner, "weight": form.get("weight", 1),
                    "integral_type": form.get("transient_integral_type", "uniform"), "steps": form.get("steps", [])}
        forms.append(form)
    content["functionals"] = forms
    return content


class OptimizationFile:
    """The file with its states, what has been noted of it, and the files beside the study."""

    def __init__(self, path, output):
        self.path, self.output = path, output
        content = read_json(path)
        if not isinstance(content, dict) or not ({"states", "optimization"} & set(content)):
            raise Unusable("this is no optimisation file: it has no `states`; a scene is run by `recoil simulate` as it is", [])
        self.content = renewed(path, content)
        os.makedirs(output, exist_ok=True)
        self.states, names = [], set()
        for k, entry in enumerate(self.content["states"]):
            name = os.path.splitext(os.path.basename(entry["path"]))[0]
            name = name if name not in names else "%s_%d" % (name, k)
            names.add(name)
            self.states.append(State(os.path.join(os.path.dirname(path), entry["path"]), output, name, entry.get("scene")))
        self.targets, self.centres, self.lines = [], [], []

    def leave_out(self, place, what, reason):
        self.lines.append("left out  %s: %s: %s" % (place, what, reason))

    def note(self, place, text):
        self.lines.append("note      %s: %s" % (place, text))

    def reasons(self):
        scenes = ["left out  %s%s: %s: %s" % (state.name, *what) for state in self.states for what in state.left_out]
        return list(dict.fromkeys(self.lines + scenes))

    def state(self, number):
        if not isinstance(number, int) or not 0 <= number < len(self.states):
            raise Unusable("there is no state %r; the file has %d" % (number, len(self.states)), [])
        return self.states[number]

    def state_of(self, form):
        return self.state(form.get("state", 0))

    def states_of(self, entry):
        return [self.state(k) for k in as_list(entry.get("state", 0))]

    def target(self, number):
        state = self.state(number)
        if state not in self.targets:
            self.targets.append(state)
        return state

    def start_values(self, entry):
        """`initial` of the parameter that an entry takes; None where the scene has it."""
        parameters = [p for p in as_list(self.content.get("parameters")) if "number" in p]
        index = next((s["parameter_index"] for s in entry.get("composition", []) if s["type"] == "slice" and "parameter_index" in s), 0)
        if index >= len(parameters) or "initial" not in parameters[index]:
            return None
        initial, number = parameters[index]["initial"], parameters[index]["number"]
        values = initial if isinstance(initial, list) else [initial] * (number if isinstance(number, int) else 1)
        return values if values and all(isinstance(v, (int, float)) for v in values) else None

    def find(self, name):
        """A file that is named from the folder of the file, or of one above."""
        folder = os.path.dirname(os.path.abspath(self.path))
        while True:
            if os.path.exists(os.path.join(folder, name)):
                return os.path.relpath(os.path.join(folder, name), self.output)
            if os.path.dirname(folder) == folder:
                return None
            folder = os.path.dirname(folder)

    def write_rows(self, name, rows):
        with h5py.File(os.path.join(self.output, "start.h5"), "a") as file:
            if name in file:
                del file[name]
            file[name] = np.array(rows, dtype=float)
        return {"file": "start.h5", "dataset": name}

    def unused(self, stem, ending):
        """A name in the folder that no functional of this file has taken yet."""
        self.count = getattr(self, "count", 0) + 1
        return "%s_%d%s" % (stem, self.count, ending)

    def write_curve(self, points, knots, pieces=400):
        """The polygon of a cubic spline; of its pieces 1/400 of the parameter each."""
        points, knots = np.array(points, dtype=float), np.array(knots, dtype=float)
        degree = len(knots) - len(points) - 1
        curve = BSpline(knots, points, degree)(np.linspace(knots[degree], knots[-degree - 1], pieces + 1))
        name = self.unused("curve", ".csv")
        with open(os.path.join(self.output, name), "w") as file:
            file.write("x,y\n" + "".join("%.17g,%.17g\n" % tuple(p) for p in curve))
        return name

    def write_surface(self, grid, knots_u, knots_v, pieces=40):
        """The triangles of a spline surface; its control points have the index of u last."""
        ku, kv = np.array(knots_u, dtype=float), np.array(knots_v, dtype=float)
        points = np.array(grid, dtype=float)
        # Degrees are those of clamped knots.
        du, dv = (int(np.sum(k == k[0])) - 1 for k in (ku, kv))
        nu, nv = len(ku) - du - 1, len(kv) - dv - 1
        if nu * nv != len(points):
            raise Unusable("the %d control points do not fit %d x %d of the knots" % (len(points), nu, nv), [])
        net = points.reshape(nv, nu, 3)
        at = lambda k, d: np.linspace(k[d], k[-d - 1], pieces + 1)
        by_u = BSpline(ku, np.swapaxes(net, 0, 1), du)(at(ku, du))
        surface = BSpline(kv, np.swapaxes(by_u, 0, 1), dv)(at(kv, dv)).reshape(-1, 3)
        name = self.unused("surface", ".obj")
        with open(os.path.join(self.output, name), "w") as file:
            file.write("".join("v %.17g %.17g %.17g\n" % tuple(p) for p in surface))
            for i in range(pieces):
                for j in range(pieces):
                    a = i * (pieces + 1) + j + 1
                    b, c, d = a + 1, a + pieces + 2, a + pieces + 1
                    file.write("f %d %d %d\nf %d %d %d\n" % (a, b, c, a, c, d))
        return name


def write_centres(folder, bodies, path):
    """The centres of volume of bodies in all states of a run, elements of order 1."""
    run = recoil_run.Run(folder)
    mesh = run.mesh
    wanted = bodies or mesh.bodies
    if any(mesh.order[mesh.bodies.index(name)] != 1 for name in wanted):
        raise Unusable("centres of the run %s are read from elements of order 1 only" % folder, [])
    (shape, cells), = mesh.cells.items()
    cells = cells[np.isin(mesh.body[mesh.rows[shape]], [mesh.bodies.index(name) for name in wanted])]
    corners = mesh.points[cells]
    volume = np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1]))
    with open(path, "w") as file:
        file.write(",".join(["time", *"xyz"[:mesh.dim]]) + "\n")
        for state in run:
            centres = (mesh.points + state.u)[cells].mean(axis=1)
            file.write(",".join("%.17g" % v for v in [state.time, *(volume @ centres / volume.sum())]) + "\n")
