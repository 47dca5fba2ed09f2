#!/usr/bin/env python3
"""Wrong derivatives that `recoil gradient --check` has to find: each product of the gradient scaled by 1.001 in turn.

    bench/gradients/seeded.py --folder build/seeded [--only damping/previous ..]

Copies the sources, puts a factor before every product listed below, which is 1.001 for the one that the environment names, and builds that once
(where ccache knows most of it). Each is then checked, with default settings, by the study of table.py that has it: the verdict along some direction
has to be "wrong derivative" and the exit code 3; without any factor, all have to be without alarm. The exit code is 1 if not.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys

import table

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
HEADER = """#pragma once
#include <cstdlib>
#include <string>
#include <string_view>
/// 1.001 for the product that RECOIL_SEEDED names.
inline double seeded(std::string_view product) {
  static const std::string chosen = std::getenv("RECOIL_SEEDED") ? std::getenv("RECOIL_SEEDED") : "";
  return product == chosen ? 1.001 : 1;
}
"""
STATIC, DYNAMIC, CONTACT = "static-free-2D-P1", "BDF2-free-2D-P1", "BDF2-friction-2D-P1"
DAMPED = "BDF1-contact-2D-P2"  # solved to rounding, beside which damping makes a small difference
BALLOON = "balloon"  # the study of the shape, but of this body
MARKERS = {"objective": {"type": "markers", "target": "markers.csv"}}
CENTRE = {"objective": {"type": "center_of_mass", "target": "centre.csv"}}
FORCE = {"objective": {"type": "contact_force_norm", "weight": 1e-3}}
VOLUME = {"objective": {"type": "volume_bound", "limit": 1e-3, "weight": 10}}
BOUNDARY = {"objective": {"type": "boundary_smoothing", "p": 2}}
PRESSED = "static-contact-2D-P1"
# Product, file, expression, what takes its place (S is the factor), column, study; an objective in place of those of the study, or a law for
# the lower body
PRODUCTS = [
    *[(law + "/" + str(i), "src/potentials/elastic_derivatives.cpp", "+= weight * inner_product<dim>(stresses[i], Gp);",
       '+= seeded(std::string(Law::name) + "/" + std::to_string(i)) * weight * inner_product<dim>(stresses[i], Gp);', column, "values")
      for law, i, column in (("NeoHookean", 0, STATIC), ("NeoHookean", 1, STATIC), ("SaintVenant", 0, STATIC), ("SaintVenant", 1, STATIC),
                             ("MooneyRivlin", 0, STATIC), ("MooneyRivlin", 1, "static-free-3D-P1"), ("MooneyRivlin", 2, STATIC))],
    *[(law + "/" + str(i), None, None, None, STATIC, "values", {"law": law}) for law in ("LinearElasticity", "FixedCorotational") for i in (0, 1)],
    ("elastic/shape", "src/potentials/elastic_derivatives.cpp", "shape += weight * virtual_work_shape_term", "shape += S * weight * virtual_work_shape_term", STATIC, "shape"),
    ("stress/constants", "src/potentials/elastic_derivatives.cpp", "weight * (inner_product<dim>(derivatives.by_P", "S * weight * (inner_product<dim>(derivatives.by_P", STATIC, "values"),
    ("stress/shape", "src/potentials/elastic_derivatives.cpp", "shape += weight * (j.value(point)", "shape += S * weight * (j.value(point)", STATIC, "shape"),
    ("stress/du", "src/potentials/elastic_derivatives.cpp", "factor * points.weight(cell, q) * by_F, g)", "S * factor * points.weight(cell, q) * by_F, g)", STATIC, "values"),
    *[("damping/%d" % i, "src/potentials/damping.cpp", "+= weight * inner_product<dim>(stresses[i], Gp);",
       '+= seeded("damping/" + std::to_string(i)) * weight * inner_product<dim>(stresses[i], Gp);', DAMPED, "values") for i in (0, 1)],
    ("damping/shape", "src/potentials/damping.cpp", "shape += weight * virtual_work_shape_term", "shape += S * weight * virtual_work_shape_term", DYNAMIC, "shape"),
    ("damping/shape before", "src/potentials/damping.cpp", "shape -= weight *", "shape -= S * weight *", DYNAMIC, "shape"),
    ("friction/coefficient", "src/potentials/contact/contact_potentials.cpp", "factor * friction.stiffness() * pairs[k].weight * forces[k];", "S * factor * friction.stiffness() * pairs[k].weight * forces[k];", CONTACT, "values"),
    ("contact/shape", "src/potentials/contact/contact_potentials.cpp", "add_field(state_->sum_at_owners(vertices, std::move(field)), 1, shape.rest);",
     "add_field(state_->sum_at_owners(vertices, std::move(field)), S, shape.rest);", CONTACT, "shape"),
    ("friction/start", "src/potentials/contact/contact_potentials.cpp", "add_field(product(&Friction<dim>::hessian_product, p), -1, result);",
     "add_field(product(&Friction<dim>::hessian_product, p), -S, result);", CONTACT, "values"),
    ("traction", "src/potentials/tractions.cpp", "tractions[at.index] += by_traction;", "tractions[at.index] += S * by_traction;", STATIC, "values"),
    ("traction/shape", "src/potentials/tractions.cpp", "factors.cwiseProduct(traction_.value(at.position)).dot(by_traction)", "S * factors.cwiseProduct(traction_.value(at.position)).dot(by_traction)", STATIC, "shape"),
    ("pressure", "src/potentials/pressure.cpp", "pressures[facets_[k]] -= factor", "pressures[facets_[k]] -= S * factor", STATIC, "values"),
    ("pressure/shape", "src/potentials/pressure.cpp", "-factor * magnitude_ * product,", "-S * factor * magnitude_ * product,", DYNAMIC, BALLOON),
    ("body force", "src/potentials/dead_loads.cpp", "+= factor * weight * density * p_point;", "+= S * factor * weight * density * p_point;", STATIC, "values"),
    ("body force/density", "src/potentials/dead_loads.cpp", "by_density[cell] += work;", "by_density[cell] += S * work;", STATIC, "values"),
    ("body force/shape", "src/potentials/dead_loads.cpp", "density * work * Eigen", "S * density * work * Eigen", STATIC, "shape"),
    ("inertia/density", "src/potentials/mass.cpp", "densities[cell] += product;", "densities[cell] += S * product;", DYNAMIC, "values"),
    ("inertia/shape", "src/potentials/mass.cpp", "density * product * Eigen", "S * density * product * Eigen", DYNAMIC, BALLOON),
    ("target/du", "src/objectives/target.cpp", "point.add_to_nodes(2 * factor", 'point.add_to_nodes((sees_velocity() ? seeded("velocity/dv") : S) * 2 * factor', STATIC, "values"),
    ("velocity/dv", "src/objectives/target.cpp", None, None, DYNAMIC, "values"),
    ("target/shape", "src/objectives/target.cpp", "point.add_to_vertices(factor, f", "point.add_to_vertices(S * factor, f", STATIC, "shape"),
    ("young/jacobian", "src/app/study/kinds/material.cpp", "take(value, cell, weight * jacobian(row, column));", "take(value, cell, S * weight * jacobian(row, column));", STATIC, "values"),
    ("prescribed", "src/app/study/kinds/prescribed_motion.cpp", "slot_of(node), node, component, take);",
     "slot_of(node), node, component, [&](std::size_t value, std::size_t at, double weight) { take(value, at, S * weight); });", STATIC, "values"),
    ("obstacles", "src/app/study/kinds/prescribed_motion.cpp", "slot, v, i, take);",
     "slot, v, i, [&](std::size_t value, std::size_t at, double weight) { take(value, at, S * weight); });", PRESSED, "values"),
    *[(name, "src/app/study/kinds/initial_state.cpp", "take(slot * dim + i, node * dim + i, weight);",
       'take(slot * dim + i, node * dim + i, seeded(field.spec->kind->name == std::string("initial_velocity") ? "initial velocity" : "initial displacement") * weight);',
       DYNAMIC, "values") for name in ("initial velocity", "initial displacement")],
    ("initial spin", "src/app/study/kinds/initial_state.cpp", "node * dim + i, velocity[i]);", "node * dim + i, S * velocity[i]);", DYNAMIC, "spin"),
    ("markers/du", "src/objectives/material_points.cpp", "point.basis[a] * by_vector;", "S * point.basis[a] * by_vector;", STATIC, "values", MARKERS),
    ("markers/shape", "src/objectives/material_points.cpp", "point.barycentric[b] * by_vector;", "S * point.barycentric[b] * by_vector;", STATIC, "shape", MARKERS),
    ("centre/du", "src/objectives/moments.cpp", "point.add_to_nodes(point.weight * rho", "point.add_to_nodes(S * point.weight * rho", STATIC, "values", CENTRE),
    ("centre/density", "src/objectives/moments.cpp", "+= point.weight * share;", "+= S * point.weight * share;", STATIC, "values", CENTRE),
    ("centre/shape", "src/objectives/moments.cpp", "point.add_to_vertices(1, rho", "point.add_to_vertices(S, rho", STATIC, "shape", CENTRE),
    ("contact force/du", "src/objectives/forces.cpp", "barrier_.add_hessian_product(state.u, p.local(), stiffness_, du);", "barrier_.add_hessian_product(state.u, p.local(), S * stiffness_, du);", PRESSED, "values", FORCE),
    ("contact force/obstacles", "src/potentials/contact/contact_potentials.cpp", "(vertices, field), 1, by::obstacle_positions, g);",
     "(vertices, field), S, by::obstacle_positions, g);", PRESSED, "values", FORCE),
    ("contact force/shape", "src/objectives/forces.cpp", "barrier_.add_parameter_products(state.u, p.local(), stiffness_, g);",
     "barrier_.add_parameter_products(state.u, p.local(), S * stiffness_, g);", PRESSED, "shape", FORCE),
    ("volume", "src/objectives/shape.cpp", "+= by_volume * share;", "+= S * by_volume * share;", STATIC, "shape", VOLUME),
    ("boundary smoothing", "src/objectives/shape.cpp", "const Point y = power_derivative(", "const Point y = S * power_derivative(", STATIC, "shape", BOUNDARY),
    ("friction/lag", "src/potentials/contact/contact_potentials.cpp", "if (!has_unsymmetric_part()) result = product(&Friction<dim>::lag_product, p);",
     "if (!has_unsymmetric_part()) result = product(&Friction<dim>::lag_product, p);\n  for (auto& entry : result) entry *= S;", CONTACT, "values"),
    ("sweep/stiffness", "src/adjoint/sweeps.cpp", "multiplier.scale(B);", "multiplier.scale(S * B);", STATIC, "values"),
    ("sweep/du", "src/adjoint/sweeps.cpp", "rhs.add(B, column.by.u);", "rhs.add(S * B, column.by.u);", DYNAMIC, "values"),
    ("sweep/dv", "src/adjoint/sweeps.cpp", "rhs.add(1, column.by.v);", "rhs.add(S, column.by.v);", DYNAMIC, "values"),
    ("sweep/previous", "src/adjoint/sweeps.cpp", "waiting.previous.add(record.coefficients.scaled_dt(record.dt), product);",
     "waiting.previous.add(S * record.coefficients.scaled_dt(record.dt), product);", CONTACT, "values"),
    ("sweep/inertia", "src/adjoint/sweeps.cpp", "step.multiply_mass(column.pending.weighted_p, rhs);", "step.multiply_mass(column.pending.weighted_p, rhs);\n      rhs.scale(S);", DYNAMIC, "values"),
]


def put_factors(folder):
    """A copy of the sources with all factors in them."""
    source = os.path.join(folder, "source")
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns("build", ".*", "__pycache__"))
    with open(os.path.join(source, "src", "seeded.hpp"), "w") as file:
        file.write(HEADER)
    for product, path, before, after, *_ in PRODUCTS:
        if before is None:
            continue
        path = os.path.join(source, path)
        with open(path) as file:
            text = file.read()
        after = re.sub(r"\bS\b", 'seeded("%s")' % product, after)
        if before not in text:
            if after in text:  # constants of one loop
                continue
            raise SystemExit("%s: '%s' is no longer in %s" % (product, before, path))
        text = text.replace(before, after)
        if '#include "seeded.hpp"' not in text:
            text = '#include "seeded.hpp"\n' + text
        with open(path, "w") as file:
            file.write(text)
    return source


def prepare(folder):
    """Builds the sources with all factors in them."""
    source = put_factors(folder)
    subprocess.run(["cmake", "--preset", "ci", "-Wno-dev", "-DRECOIL_BUILD_TESTS=OFF", "-DRECOIL_BUILD_BENCHES=OFF"], cwd=source, check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", "--preset", "ci", "--target", "recoil", "--", "-j2"], cwd=source, check=True, stdout=subprocess.DEVNULL)


def write_tracks(folder, scene):
    """Where the objectives of MARKERS and CENTRE would have a point of the lower body, and the centre of mass; the point."""
    body = next(body for body in scene["geometry"] if body["name"] == "lower")
    point = [c + 0.13 * s for c, s in zip(body["transformation"]["translation"], body["generator"]["size"])]
    for name, label, place in (("markers", "m", point), ("centre", None, [0.1 for _ in point])):
        with open(os.path.join(folder, name + ".csv"), "w") as file:
            axes = ",".join("xyz"[:len(point)])
            file.write("time,%s%s,sd\n" % ("marker," if label else "", axes))
            for time in (0, 1):
                shifted = ["%.9g" % (x + 0.02 * (i + 1)) for i, x in enumerate(place)]
                file.write(",".join([str(time), *([label] if label else []), *shifted, "0.01"]) + "\n")
    return {"name": "m", "body": "lower", "rest": point}


def override(cell, scene, study, objective=None, law=None):
    """Puts an objective in place of all, a law in place of the lower body's."""
    if law:
        scene["materials"][0]["type"] = law
    if objective:
        study["objectives"] = [dict(objective, name="o")]
        marker = write_tracks(cell.folder, scene)
        if objective["type"] == "markers":
            study["markers"] = [marker]


def check(recoil, folder, column, wanted, product, others):
    """Exit code and verdicts of the study `wanted` of a column, with a factor at `product`."""
    cell = table.Cell(recoil, folder, tuple(column.split("-")))
    if not os.path.exists(os.path.join(cell.folder, "reference", "summary.json")):
        failure = cell.make_references()
        if failure is not None:
            raise SystemExit(failure)
    for name, parameters, scene, study in cell.studies():
        if name != ("shape" if wanted == BALLOON else wanted):
            continue
        if wanted == BALLOON:
            parameters[0]["body"] = "balloon"
        override(cell, scene, study, **others)
        cell.write("scene.json", scene)
        study["experiments"][0]["scene"] = "scene.json"
        cell.write(wanted + ".json", study)
        output = os.path.join(cell.folder, "out")
        shutil.rmtree(output, ignore_errors=True)
        table.ENVIRONMENT["RECOIL_SEEDED"] = product
        done = cell.call("gradient", wanted + ".json", "-o", "out", "--check", "-q")
        with open(os.path.join(output, "gradient.json")) as file:
            return done.returncode, json.load(file)["check"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", required=True, help="for sources, build and runs")
    parser.add_argument("--only", nargs="+", default=[], help="products")
    parser.add_argument("--sources", action="store_true", help="put the factors into the sources, and stop there")
    parser.add_argument("--built", action="store_true", help="take what an earlier call has built")
    arguments = parser.parse_args()
    folder = os.path.abspath(arguments.folder)
    if arguments.sources:
        put_factors(folder)
        return 0
    if not arguments.built:
        prepare(folder)
    recoil = os.path.join(folder, "source", "build", "ci", "recoil")
    missed, sound = [], {}
    chosen = [row for row in PRODUCTS if not arguments.only or row[0] in arguments.only]
    for product, _, _, _, column, study, *others in chosen:
        others = others[0] if others else {}
        case = (column, study, json.dumps(others))
        if case not in sound:
            code, verdicts = check(recoil, folder, column, study, "", others)
            sound[case] = code == 0
            print("%-22s %s, %s: exit code %d" % ("nothing", column, study, code), flush=True)
        code, verdicts = check(recoil, folder, column, study, product, others)
        found = [name for name, verdict in verdicts.items() if verdict["verdict"].startswith("wrong derivative")]
        if code != 3 or not found:
            missed.append(product)
        print("%-22s %s, %s: exit code %d, wrong along %s" % (product, column, study, code, ", ".join(found) or "no direction"), flush=True)
    print("%d of %d found%s" % (len(chosen) - len(missed), len(chosen), "; missed: " + ", ".join(missed) if missed else ""))
    return 1 if missed or not all(sound.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
