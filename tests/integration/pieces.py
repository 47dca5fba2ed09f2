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


def ledger(folder):
    """Columns of ledger.csv; nan where a field is empty."""
    with open(os.path.join(folder, "ledger.csv")) as file:
        rows = list(csv.DictReader(file))
    return {key: np.array([float(row[key] or "nan") for row in rows]) for key in rows[0]}
