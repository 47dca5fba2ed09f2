"""Pieces of scenes and the ledger of a run; shared by the tests of whole runs and the studies of bench/physics."""
import csv
import os

import numpy as np


def material(E, nu, rho, **more):
    return dict({"type": "NeoHookean", "E": E, "nu": nu, "rho": rho}, **more)


def box(name, size, divisions, centre, **more):
    kind = "box" if len(size) == 3 else "rectangle"
    return dict({"name": name, "generator": {"type": kind, "size": list(size), "divisions": list(divisions)},
                 "transformation": {"translation": list(centre)}}, **more)


def plane(name, normal):
    """Through the origin."""
    return {"name": name, "type": "plane", "is_obstacle": True, "point": [0] * len(normal), "normal": list(normal)}


SIDES = [{"id": 1, "axis": "-x", "position": -0.499}, {"id": 2, "axis": "x", "position": 0.499}]


def static(geometry, law="LinearElasticity", nu=0.3, **more):
    return dict({"geometry": geometry, "materials": {"type": law, "E": 1e6, "nu": nu, "rho": 1000}}, **more)


def cube(name="b", centre=(0, 0, 0)):
    return box(name, [1, 1, 1], [2, 2, 2], centre, surface_selection=SIDES)


def square(name="b"):
    return box(name, [1, 1], [3, 3], [0, 0], surface_selection=SIDES)


def tractions(left, right):
    return {"neumann_boundary": [{"id": 1, "value": left}, {"id": 2, "value": right}]}


def thrown(**more):
    """A block thrown on another one that is held below: BDF2, contact, friction, damping."""
    return dict({
        "geometry": [box("lower", [1, 0.4], [4, 2], [0, -0.2], surface_selection=[{"id": 1, "axis": "-y", "position": -0.399}]),
                     box("upper", [0.4, 0.3], [2, 2], [0.063, 0.154])],
        "materials": material(1e5, 0.3, 1000, psi=20, phi=10),
        "gravity": [0.5, -9.81],
        "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0]}]},
        "initial_conditions": {"velocity": [{"body": "upper", "value": [0.6, -0.8]}]},
        "contact": {"enabled": True, "dhat": 0.01, "epsv": 0.2, "friction_coefficient": 0.3},
        "time": {"dt": 0.004, "time_steps": 12, "integrator": "BDF2"},
    }, **more)


def ledger(folder):
    """Columns of ledger.csv; nan where a field is empty."""
    with open(os.path.join(folder, "ledger.csv")) as file:
        rows = list(csv.DictReader(file))
    return {key: np.array([float(row[key] or "nan") for row in rows]) for key in rows[0]}
