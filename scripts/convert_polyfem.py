#!/usr/bin/env python3
"""Turns an optimisation file of PolyFEM into a study of recoil.

    scripts/convert_polyfem.py run.json -o study --recoil build/release/recoil
    recoil optimize study/study.json -o fit

The folder gets study.json, the scenes of the states in `scenes`, start values and targets in files of their own. States that are
aimed at are run by `--recoil` into `references`; without it the commands are printed. What is left out of the file, or taken
otherwise, is printed with its place and the reason. docs/polyfem.md says how variables and functionals are taken.

Files that leave their variables to a program get them by --variable, as `damping` or `shape:0`, the state after the colon, and
functionals by --functional, as an entry of `functionals`: '{"type": "compliance", "state": 0}'.
The exit code is 2 where nothing is left to optimise, or a file cannot be read.
"""
import argparse
import json
import math
import os
import re
import subprocess
import sys

import polyfem_files


def scaled(steps, value):
    """What the maps exp, scale and power of a composition make of a number."""
    for step in steps:
        if step["type"] == "exp":
            value = math.exp(value)
        elif step["type"] == "scale":
            value *= step["value"]
        elif step["type"] == "power":
            value **= step["power"]
    return value


class Variables:
    """Parameters of a study by entries of `variable_to_simulation`."""

    def __init__(self, file, bounds):
        self.file, self.bounds = file, bounds
        self.parameters = []

    def add(self, place, entry):
        kind = entry.get("type")
        make = {"shape": self.shape, "elastic": self.elastic, "friction": self.friction, "damping": self.damping,
                "initial": self.initial, "dirichlet": self.dirichlet, "pressure": self.pressure, "periodic-shape": self.periodic_shape,
                "macro-strain": self.macro_strain, "macro_strain": self.macro_strain}.get(kind)
        if make is None:
            self.file.leave_out(place, "the variable `%s`" % kind, "recoil has no parameter of this kind"
                                if kind != "dirichlet-nodes" else "recoil moves the nodes of a boundary by its id, not nodes of a file")
            return
        states = self.file.states_of(entry)
        before = len(self.parameters)
        make(place, entry, states[0])
        if len(states) > 1:
            for parameter in self.parameters[before:]:
                parameter["experiment"] = [state.name for state in states]

    def put(self, name, quantity, state, steps=(), initial=None, **keys):
        names = [p["name"] for p in self.parameters]
        unique = next(n for n in [name] + ["%s_%d" % (name, k) for k in range(2, 1000)] if n not in names)
        parameter = dict({"name": unique, "quantity": quantity, "experiment": state.name}, **keys)
        if initial is not None:
            parameter["initial"] = initial
        if self.bounds and quantity != "shape":
            low, high = sorted(scaled(steps, b) for b in self.bounds)
            parameter["bounds"] = [low, high]
            if isinstance(initial, (int, float)) and not low <= initial <= high:
                parameter["initial"] = min(max(initial, low), high)
                self.file.note(unique, "starts at its bound: the start value %g is outside of [%g, %g]" % (initial, low, high))
        self.parameters.append(parameter)

    def start(self, entry, steps, default):
        """The start value of the optimisation file, else that of the scene."""
        values = self.file.start_values(entry)
        if values is None:
            return default
        if any(v != values[0] for v in values):
            self.file.note(entry["type"], "starts at the first of %d start values" % len(values))
        return scaled(steps, values[0])

    def shape(self, place, entry, state):
        how = entry.get("composite_map_type", "none")
        composition = [step["type"] for step in entry.get("composition", [])]
        ids = entry.get("surface_selection", [])
        if how == "interior":
            self.file.note(place, "no parameter: vertices inside follow the boundary, as a harmonic extension")
            return
        for name in composition:
            if name != "slice":
                self.file.note(place, "without the map `%s`: vertices move by themselves" % name)
        if how == "none" and state.periodic_axes():
            self.periodic_shape(place, entry, state)
            return
        if how == "none":
            basis = "vertices"
        else:
            if how in ("boundary_excluding_surface", "indices"):
                held = ids if how != "indices" else state.held_surfaces()
                ids = [i for i in state.surface_ids() if i not in held]
                if how == "indices":
                    self.file.note(place, "the surfaces without conditions move, in place of the listed vertices")
            elif how != "boundary":
                self.file.leave_out(place, "`composite_map_type` %s" % how, "recoil has no such choice of vertices")
                return
            if not ids:
                self.file.leave_out(place, "the shape", "no surface is left that moves")
                return
            basis = {"extension": "harmonic", "boundary": ids}
            with_surfaces = [p for p in self.parameters if p["experiment"] == state.name and isinstance(p.get("basis"), dict)
                             and "boundary" in p["basis"]]
            if with_surfaces:
                ids = with_surfaces[0]["basis"]["boundary"] = sorted(set(with_surfaces[0]["basis"]["boundary"]) | set(ids))
                bodies = state.bodies_with_surfaces(ids)
                with_surfaces[0].pop("body", None)
                with_surfaces[0].update({"body": bodies} if bodies else {})
                return
        bodies = state.bodies_with_surfaces(ids) if how != "none" else []
        self.put("shape", "shape", state, basis=basis, **({"body": bodies} if bodies else {}))

    def periodic_shape(self, place, entry, state):
        axes = state.periodic_axes()
        if not axes:
            self.file.leave_out(place, "the variable `%s`" % entry["type"], "the scene has no `periodic_boundary`")
            return
        self.file.note(place, "opposite sides of the cell move as one, its size stays, and vertices inside follow the boundary")
        self.put("shape", "shape", state, basis={"extension": "harmonic", "periodic": axes})

    def macro_strain(self, place, entry, state):
        if not state.periodic_axes():
            self.file.leave_out(place, "the variable `%s`" % entry["type"], "the scene has no `periodic_boundary`")
            return
        rows = state.macro_strain()
        if not all(isinstance(v, (int, float)) for row in rows for v in row):
            self.file.leave_out(place, "the macro strain", "the scene gives it by a formula")
            return
        start = self.file.start_values(entry)
        start = [v for row in rows for v in row] if start is None else start
        if len(start) != state.dim ** 2:
            self.file.leave_out(place, "the macro strain", "it has %d start values, %d are needed" % (len(start), state.dim ** 2))
            return
        self.file.note(place, "all entries of the macro strain vary")
        self.put("macro_strain", "macro_strain", state, (), start)

    def elastic(self, place, entry, state):
        steps = entry.get("composition", [])
        kinds = [step["type"] for step in steps]
        if "linear-filter" in kinds:
            self.file.note(place, "without the filter of radius %g: a `prior` with a correlation_length smooths"
                           % steps[kinds.index("linear-filter")]["radius"])
        fixed_nu = bool({"append-const", "append-values"} & set(kinds))
        per = "body" if "per-body-to-per-elem" in kinds else "element"
        for material in state.materials():
            region = {"region": material["id"]} if "id" in material else {}
            if "lambda" in material and "E-nu-to-lambda-mu" not in kinds:
                wanted = [("lambda", "lambda", material["lambda"]), ("mu", "mu_lame", material["mu"])]
            else:
                wanted = [("E", "young_modulus", material.get("E"))]
                if not fixed_nu:
                    wanted.append(("nu", "poisson_ratio", material.get("nu")))
                if "E-nu-to-lambda-mu" not in kinds:
                    self.file.note(place, "E and nu vary, as the scene gives them, in place of lambda and mu")
            for name, quantity, value in wanted:
                if not isinstance(value, (int, float)):
                    self.file.leave_out(place, "`%s`" % name, "the scene gives it by a formula, or not at all: %r" % value)
                    continue
                unique = "%s%s" % (name, material.get("id", ""))
                start = self.start_of_elements(unique, entry, steps) if per == "element" and not region and len(wanted) == 1 else None
                self.put(unique, quantity, state, steps, self.start(entry, steps, value) if start is None else start, per=per, **region)

    def start_of_elements(self, name, entry, steps):
        """Start values that differ from element to element, in a file; None for others."""
        values = self.file.start_values(entry)
        if values is None or all(v == values[0] for v in values):
            return None
        return self.file.write_rows(name, [scaled(steps, v) for v in values])

    def friction(self, place, entry, state):
        coefficient = state.scene.get("contact", {}).get("friction_coefficient", 0)
        start = self.start(entry, entry.get("composition", []), coefficient)
        first = None
        deformable = [b["name"] for b in state.bodies if not b["is_obstacle"]]
        names = deformable + [b["name"] for b in state.bodies if b["is_obstacle"]]
        for i, a in enumerate(names):
            for b in names[i + 1:]:
                if a not in deformable:
                    continue
                self.put("friction", "friction", state, (), None if first else start, bodies=[a, b], **({"tie": first} if first else {}))
                if first:
                    self.parameters[-1].pop("bounds", None)
                first = first or self.parameters[-1]["name"]
        if first is None:
            self.file.leave_out(place, "the friction", "there is no pair of bodies")

    def damping(self, place, entry, state):
        values = self.file.start_values(entry)
        for material in state.materials():
            region = {"region": material["id"]} if "id" in material else {}
            for k, (key, quantity) in enumerate((("psi", "damping_shear"), ("phi", "damping_bulk"))):
                if isinstance(material.get(key), (int, float)):
                    start = values[k] if values and len(values) == 2 else self.start(entry, (), material[key])
                    self.put("%s%s" % (key, material.get("id", "")), quantity, state, (), start, **region)
                else:
                    self.file.leave_out(place, "`%s`" % key, "the scene gives no number for it")

    def initial(self, place, entry, state):
        steps = entry.get("composition", [])
        kinds = [step["type"] for step in steps]
        per = "body" if "per-body-to-per-node" in kinds else "node"
        holds_start = any(step["type"] == "append-const" and step.get("start", -1) == 0 for step in steps)
        values = self.file.start_values(entry)
        known = {v["id"]: v["value"] for v in polyfem_files.as_list(state.scene.get("initial_conditions", {}).get("velocity"))}
        moving = [b for b in state.bodies if not b["is_obstacle"]]
        if per == "body" and values is not None:
            moving = moving[-(len(values) // state.dim):] if any(k == "append-values" for k in kinds) and \
                steps[0]["type"] == "append-values" and steps[0].get("start", -1) == 0 else moving[:len(values) // state.dim]
        for k, body in enumerate(moving):
            start = values[k * state.dim:(k + 1) * state.dim] if per == "body" and values is not None else \
                next((known[i] for i in body["volume_ids"] if i in known), [0.0] * state.dim)
            if not all(isinstance(v, (int, float)) for v in start):
                self.file.leave_out(place, "the initial velocity of %s" % body["name"], "the scene gives it by a formula")
                continue
            self.put("velocity_" + body["name"], "initial_velocity", state, (), start, body=body["name"], per=per)
            if not holds_start:
                self.put("displacement_" + body["name"], "initial_displacement", state, (), [0.0] * state.dim, body=body["name"], per=per)

    def per_step(self, state, name, values):
        """Start values by steps, a row each, in a file where they differ."""
        if all(row == values[0] for row in values):
            return values[0] if len(values[0]) > 1 else values[0][0]
        return self.file.write_rows(name, values)

    def prescribed(self, place, entry, state, section, quantity, width):
        conditions = polyfem_files.as_list(state.scene.get("boundary_conditions", {}).get(section))
        wanted = entry.get("surface_selection", [])
        conditions = [c for c in conditions if isinstance(c, dict) and (not wanted or c["id"] in wanted)]
        if not conditions:
            self.file.leave_out(place, "the variable `%s`" % entry["type"], "the scene has no `%s` with such an id" % section)
        start = self.file.start_values(entry)
        for condition in conditions:
            try:
                rows = [state.value_at(condition, k, width) for k in range(1, state.steps + 1)] if state.steps else \
                    [state.value_at(condition, 0, width)]
            except ValueError as error:
                self.file.leave_out(place, "id %s" % condition["id"], str(error))
                continue
            if start is not None:
                rows = [[start[min(k, len(start) - 1)]] * width for k in range(len(rows))]
            name = "%s_%s" % (entry["type"], condition["id"])
            keys = {"per_step": True} if state.steps else {}
            self.put(name, quantity, state, (), self.per_step(state, name, rows), boundary=condition["id"], **keys)

    def dirichlet(self, place, entry, state):
        self.prescribed(place, entry, state, "dirichlet_boundary", "dirichlet_value", state.dim)

    def pressure(self, place, entry, state):
        self.prescribed(place, entry, state, "pressure_boundary", "pressure", 1)


class Functionals:
    """Objectives of a study by entries of `functionals`."""

    ABSENT = {
        "AMIPS": "no objective: optimizer/min_quality and renew_quality keep the elements of a shape good",
        "min-dist-target": "not built: recoil has no distance of a body from a point; `min_distance` is that of two bodies",
        "homogenized_stress": "the form of earlier files has no component; write `stress` with `dimensions`",
        "control_smoothing": "use a `prior` with the values of the scene",
        "node-target": "the file has no positions; give `markers` with a CSV file",
        "homo_disp_grad": "the macro strain is a parameter (`macro_strain`), no objective", "disp_grad": "not built",
        "acceleration": "not built", "kinetic": "not built", "divide": "quotients are not built", "function-target": "not built",
        "traction_norm": "not built", "contact_force_match": "not built", "weighted_solution": "not built", "strain_norm": "not built",
        "parametrized_product": "not built", "layer_thickness_log": "not built"}

    def __init__(self, file):
        self.file = file
        self.objectives = []

    def add(self, place, form):
        for objective in self.convert(place, form, None):
            base = objective.pop("name")
            names = [o["name"] for o in self.objectives]
            name = next(n for n in [base] + ["%s_%d" % (base, k) for k in range(2, 100000)] if n not in names)
            self.objectives.append(dict({"name": name}, **{k: v for k, v in objective.items() if v is not None}))

    def convert(self, place, form, time):
        """Objectives whose sum it is; `time` is (what `time` of the study says, a weight)."""
        kind = form.get("type")
        weight = form.get("weight", 1)
        if kind == "transient_integral":
            return self.weighted(weight, self.convert(place + "/static_objective", form["static_objective"], self.time_of(place, form)))
        if kind == "plus-const":
            return self.weighted(weight, self.convert(place + "/objective", form["objective"], time))
        if kind == "power":
            inner = self.convert(place + "/objective", form["objective"], time)
            if len(inner) != 1:
                return self.absent(place, kind, "the power of a sum of several terms is not built")
            inner[0]["power"] = inner[0].get("power", 1) * form.get("power", 2)
            inner[0]["weight"] = weight * inner[0].get("weight", 1) ** form.get("power", 2)
            return inner
        if kind == "soft_constraint":
            return self.soft_constraint(place, form, weight)
        if kind == "deformed_collision_barrier":
            return self.weighted(weight, self.deformed_barrier(place, form, time))
        make = getattr(self, "make_" + re.sub("[^a-z]", "_", str(kind).lower()), None)
        if make is None:
            return self.absent(place, kind, self.ABSENT.get(kind, "recoil has no such objective"))
        if kind in ("volume",):
            return self.absent(place, kind, "the volume alone is no objective; a `soft_constraint` of it is")
        state = self.file.state_of(form)
        made = make(place, form, state)
        if made is None:
            return []
        made = dict({"name": made["type"], "experiment": state.name}, **made)
        return self.weighted(weight, self.over_time(made, state, time))

    def absent(self, place, kind, reason):
        self.file.leave_out(place, "`%s`" % kind, reason)
        return []

    @staticmethod
    def weighted(weight, objectives):
        for objective in objectives:
            objective["weight"] = weight * objective.get("weight", 1)
        return objectives

    def time_of(self, place, form):
        state = self.file.state_of(form)
        how = form.get("integral_type", "uniform")
        if state.steps == 0:
            return None
        if how == "final":
            return "final", 1.0
        if how == "steps":
            return {"steps": sorted(set(form["steps"]))}, 1.0 / len(form["steps"])
        if how == "uniform":
            return {"steps": list(range(1, state.steps + 1))}, state.dt
        if how == "simpson":
            self.file.note(place, "the trapezoid in place of Simpson's rule")
        return "integral", 1.0

    @staticmethod
    def over_time(objective, state, time):
        """With the states that count; a power that PolyFEM takes in each state is an objective per state."""
        if "time" in objective:  # of rest shapes
            objective.pop("time")
            return [objective]
        if state.steps == 0:
            return [objective]
        chosen, weight = time or ("final", 1.0)
        if objective.get("power", 1) != 1 and isinstance(chosen, dict) and len(chosen["steps"]) > 1:
            return [dict(objective, time={"steps": [k]}, weight=weight) for k in chosen["steps"]]
        return [dict(objective, time=chosen, weight=weight)]

    def soft_constraint(self, place, form, weight):
        inner, (low, high), power = form["objective"], form["soft_bound"], form.get("power", 2)
        if inner.get("type") != "volume" or power != 2:
            return self.absent(place, "soft_constraint", "only that of a volume with the power 2 is built")
        if low > 0:
            self.file.note(place, "without the lower bound of the volume")
        state = self.file.state_of(inner)
        return [{"name": "volume", "experiment": state.name, "type": "volume_bound", "limit": high, "weight": weight,
                 "body": state.bodies_of(inner)}]

    def deformed_barrier(self, place, form, time):
        """The least distance of each two bodies, as soon as it is below that of the barrier."""
        state = self.file.state_of(form)
        names = [b["name"] for b in sorted(state.bodies, key=lambda b: b["is_obstacle"])]
        movable = [b["name"] for b in state.bodies if not b["is_obstacle"]]
        pairs = [[a, b] for i, a in enumerate(names) for b in names[i + 1:] if a in movable]
        if not pairs:
            return self.absent(place, form["type"], "the scene has one body: contact of a body with itself has no least distance")
        self.file.note(place, "max(dhat - d, 0)^2 of the least distances d of two bodies, in place of the barrier of all pairs")
        made = {"name": "min_distance", "experiment": state.name, "type": "min_distance", "p": 16, "limit": form.get("dhat", 1e-3)}
        return [o for pair in pairs for o in self.over_time(dict(made, bodies=pair), state, time)]

    def make_stress(self, place, form, state):
        if not state.periodic_axes():
            return self.absent(place, "stress", "a component of the stress is built for periodic cells (`homogenized_stress`)") or None
        self.file.note(place, "P_ij per volume of the cell, with the part of contact; PolyFEM integrates that of the material over the bodies")
        return {"type": "homogenized_stress", "component": form["dimensions"]}

    def make_stress_norm(self, place, form, state):
        p = form.get("power", 2)
        return {"type": "stress_norm", "p": p, "power": p, "body": state.bodies_of(form)}

    def make_max_stress(self, place, form, state):
        self.file.note(place, "a smooth maximum with p = 20")
        return {"type": "max_stress", "p": 20, "body": state.bodies_of(form)}

    def make_elastic_energy(self, place, form, state):
        return {"type": "elastic_energy", "body": state.bodies_of(form)}

    def make_compliance(self, place, form, state):
        return {"type": "compliance", "body": state.bodies_of(form)}

    def make_position(self, place, form, state):
        return {"type": "position_integral", "axis": "xyz"[form["dim"]], "body": state.bodies_of(form)}

    def make_target(self, place, form, state):
        if form.get("target_state", -1) < 0:
            return self.absent(place, "target", "the file names no `target_state`") or None
        target = self.file.target(form["target_state"])
        ids = form.get("surface_selection", [])
        return dict({"type": "target_position", "reference": "references/" + target.name},
                    **({"boundary": ids} if ids else {"over": "boundary"}))

    def make_displacement_target(self, place, form, state):
        ids = form.get("surface_selection", [])
        active = form.get("active_dimension") or [True] * state.dim
        return dict({"type": "target_displacement", "reference": form["target_displacement"],
                     "components": ["xyz"[i] for i in range(state.dim) if active[i]]},
                    **({"boundary": ids} if ids else {"over": "boundary"}))

    def make_center_target(self, place, form, state):
        target = self.file.target(form["target_state"])
        self.file.centres.append((target, state.bodies_of(form), "center_%s.csv" % target.name))
        return {"type": "center_of_mass", "target": "center_%s.csv" % target.name, "body": state.bodies_of(form)}

    def make_sdf_target(self, place, form, state):
        if "control_points" in form:
            file = self.file.write_curve(form["control_points"], form["knots"])
        elif "control_points_grid" in form:
            file = self.file.write_surface(form["control_points_grid"], form["knots_u"], form["knots_v"])
        else:
            return self.absent(place, "sdf-target", "the file has no `control_points`") or None
        return self.polygon(form, file)

    def make_mesh_target(self, place, form, state):
        path = self.file.find(form["mesh_path"])
        if path is None:
            return self.absent(place, "mesh-target", "there is no file %s" % form["mesh_path"]) or None
        return self.polygon(form, path)

    @staticmethod
    def polygon(form, file):
        ids = form.get("surface_selection", [])
        return dict({"type": "polygon_target", "target": file}, **({"boundary": ids} if ids else {}))

    def make_contact_force_norm(self, place, form, state, distance=None):
        if form.get("power", 2) != 2:
            return self.absent(place, form["type"], "only the power 2 is built") or None
        ids = form.get("surface_selection", [])
        return {"type": "contact_force_norm", "boundary": ids or None, "distance": distance}

    def make_log_contact_force_norm(self, place, form, state):
        self.file.note(place, "of all pairs, also those of one surface with itself")
        return self.make_contact_force_norm(place, form, state, form["dhat"])

    def make_quadratic_contact_force_norm(self, place, form, state):
        self.file.note(place, "with the logarithmic barrier, which grows faster than PolyFEM's quadratic one")
        return self.make_log_contact_force_norm(place, form, state)

    def make_smooth_contact_force_norm(self, place, form, state):
        self.file.note(place, "of the contact that the scene has; PolyFEM takes its smooth contact potential")
        return self.make_contact_force_norm(place, form, state)

    def make_collision_barrier(self, place, form, state):
        return {"type": "rest_separation", "distance": form.get("dhat", 1e-3), "time": None}

    def make_layer_thickness(self, place, form, state):
        self.file.note(place, "of the whole surface, not of the listed ids alone")
        return {"type": "rest_separation", "distance": form["dhat"], "time": None}

    def make_boundary_smoothing(self, place, form, state):
        if not form.get("scale_invariant", True):
            return self.absent(place, "boundary_smoothing", "only the form that does not depend on the scale is built") or None
        if form.get("surface_selection"):
            self.file.note(place, "of the whole boundary, not of the listed surfaces alone")
        return {"type": "boundary_smoothing", "p": form.get("power", 2), "time": None}

    def make_material_smoothing(self, place, form, state):
        return {"type": "material_smoothing", "time": None}

    make_elastic_material_smoothing = make_material_smoothing


def optimizer_of(file, solver):
    """`optimizer` of the study by the nonlinear solver of the file."""
    settings = {}
    if "max_iterations" in solver:
        settings["max_iterations"] = solver["max_iterations"]
    for key in ("grad_norm", "grad_norm_tol", "f_delta", "x_delta", "first_grad_norm_tol", "rel_grad_norm_tol"):
        if solver.get(key):
            file.note("/solver/nonlinear/" + key, "not taken: tolerances of `optimizer` are relative")
            break
    return settings


def bounds_of(file, solver):
    box = solver.get("bounds") or solver.get("box_constraints", {}).get("bounds")
    if not box:
        return None
    if all(isinstance(b, (int, float)) for b in box):
        return box
    file.leave_out("/solver/nonlinear/box_constraints", "bounds of single values", "bounds of a parameter are one pair")
    return None


def functional_of(text):
    """An entry of `functionals` from the command line."""
    try:
        form = json.loads(text)
    except json.JSONDecodeError as error:
        raise polyfem_files.Unusable("--functional %s: no JSON: %s" % (text, error.msg), [])
    if not isinstance(form, dict) or "type" not in form:
        raise polyfem_files.Unusable("--functional %s: no object with a `type`, as {\"type\": \"compliance\", \"state\": 0}" % text, [])
    return form


def convert(arguments):
    file = polyfem_files.OptimizationFile(arguments.file, arguments.output)
    solver = file.content.get("solver", {}).get("nonlinear", {})
    variables = Variables(file, bounds_of(file, solver))
    entries = file.content.get("variable_to_simulation", [])
    for text in arguments.variable:
        kind, _, state = text.partition(":")
        entries = entries + [{"type": kind, "state": int(state or 0), "composition": []}]
    for k, entry in enumerate(entries):
        own = entry.get("bound")
        variables.bounds, kept = own or variables.bounds, variables.bounds
        variables.add("/variable_to_simulation/%d" % k, entry)
        variables.bounds = kept
    functionals = Functionals(file)
    forms = polyfem_files.as_list(file.content.get("functionals"))
    for k, form in enumerate(forms + [functional_of(text) for text in arguments.functional]):
        functionals.add("/functionals/%d" % k, form)
    if file.content.get("stopping_conditions"):
        file.leave_out("/stopping_conditions", "stopping conditions", "use optimizer/objective_tolerance")
    if not variables.parameters:
        raise polyfem_files.Unusable("no variable is left%s" % ("; the file leaves them to a program: name them, as --variable shape"
                                                                if not entries else ""), file.reasons())
    if not functionals.objectives:
        raise polyfem_files.Unusable("no functional is left%s" % ("; the file leaves them to a program: name them by --functional"
                                                                  if not forms else ""), file.reasons())
    seen = {o["experiment"] for o in functionals.objectives}
    for parameter in variables.parameters:
        if not set(polyfem_files.as_list(parameter["experiment"])) <= seen:
            raise polyfem_files.Unusable("%s acts in %s, and functionals look at %s" % (
                parameter["name"], parameter["experiment"], ", ".join(sorted(seen))), file.reasons())
    study = {"experiments": [{"name": s.name, "scene": s.write()} for s in file.states if s.name in seen],
             "parameters": variables.parameters, "objectives": functionals.objectives}
    settings = optimizer_of(file, solver)
    if settings:
        study["optimizer"] = settings
    return file, study


def run_targets(file, recoil):
    """Runs the states that are aimed at, and writes what is compared with them."""
    for target in file.targets:
        folder = os.path.join(file.output, "references", target.name)
        command = [recoil or "recoil", "simulate", os.path.join(file.output, target.write()), "-o", folder, "-q"]
        if not recoil:
            print("run first: %s" % " ".join(command))
        elif not os.path.isdir(folder) and subprocess.run(command).returncode != 0:
            raise polyfem_files.Unusable("the state %s that is aimed at does not run" % target.name, [])
    for target, bodies, name in file.centres:
        if recoil:
            polyfem_files.write_centres(os.path.join(file.output, "references", target.name), bodies, os.path.join(file.output, name))
        else:
            print("then this program again with --recoil, which writes %s" % name)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="optimisation file of PolyFEM")
    parser.add_argument("-o", "--output", required=True, help="folder of the study")
    parser.add_argument("--recoil", help="the program, to run the states that are aimed at")
    parser.add_argument("--variable", action="append", default=[], metavar="KIND[:STATE]",
                        help="a variable that the file leaves to a program")
    parser.add_argument("--functional", action="append", default=[], metavar="JSON", help="a functional that the file leaves to a program")
    arguments = parser.parse_args()
    try:
        file, study = convert(arguments)
        run_targets(file, arguments.recoil)
    except polyfem_files.Unusable as error:
        print("\n".join(["error: %s: %s" % (arguments.file, error)] + error.reasons), file=sys.stderr)
        return 2
    with open(os.path.join(arguments.output, "study.json"), "w") as out:
        json.dump(study, out, indent=1)
    print("%s: %d parameters, %d objectives" % (os.path.join(arguments.output, "study.json"), len(study["parameters"]),
                                                len(study["objectives"])))
    print("\n".join(file.reasons()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
