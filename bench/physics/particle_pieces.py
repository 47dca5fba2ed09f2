"""Pieces of scenes of bonded particles, and measures of what such a run stored."""
import os

import h5py
import numpy as np
import runs

CELL = 4 * np.sqrt(2)  # volume of a cell of hcp and fcc lattices over r^3
LAYER = np.sqrt(8 / 3)  # distance of hcp layers over r
ROW = np.sqrt(3)  # distance of the rows of a layer over r
E_X, E_Z = 1.633, 1.714  # of hcp lattices over the modulus of their bonds, at nu = 0.3


def critical_step(E, rho, r):
    """T = 2 / sqrt(17.9 k_n / m) of a lattice of equal spheres: about the critical step of explicit integration."""
    return 2 / np.sqrt(17.9 * (np.pi / 2) * E * r / (rho * CELL * r**3))


def hcp(cells, r):
    """Centres of nx x ny x nz particles: rows along x, layers along z, around the origin."""
    i, j, k = np.meshgrid(*map(np.arange, cells), indexing="ij")
    x = 2 * i + (j + k) % 2
    y = ROW * (j + (k % 2) / 3)
    places = r * np.stack([x, y, LAYER * k], axis=-1).reshape(-1, 3)
    return places - (places.min(axis=0) + places.max(axis=0)) / 2


def bonds_of(places, r):
    """Pairs of touching particles."""
    found = []
    for i, place in enumerate(places):
        near = np.nonzero(((places[i + 1:] - place) ** 2).sum(axis=1) < (2 * r * (1 + 1e-6)) ** 2)[0]
        found.append(np.column_stack([np.full(len(near), i), near + i + 1]))
    return np.concatenate(found)


def body(study, name, places, r, bonds=None, volume=CELL, **more):
    """An entry of `geometry` with these particles; its files lie beside the scene."""
    table = np.column_stack([places, np.full(len(places), r), np.full(len(places), volume * r**3)])
    np.savetxt(os.path.join(study.folder, name + ".csv"), table, "%.17g", ",", header="x,y,z,radius,volume", comments="")
    particles = {"file": name + ".csv", "bond_tolerance": 1e-6}
    if bonds is not None:
        np.savetxt(os.path.join(study.folder, name + "-bonds.csv"), bonds, "%d", ",", header="i,j", comments="")
        particles = {"file": name + ".csv", "bonds": name + "-bonds.csv"}
    return dict({"name": name, "particles": particles}, **more)


def above(axis, position, number):
    """Gives an id to the particles with centres beyond a plane, e.g. "-x" for those below."""
    return {"id": number, "axis": axis, "position": position}


def material(E, rho=1000, nu=0.3, **more):
    return dict({"type": "BondedParticles", "E": E, "nu": nu, "rho": rho}, **more)


def solver(**keys):
    return {"type": "bonded_particles", "bonded_particles": keys}


def done(study, label, scene, ranks=None):
    """The folder of a run that ended."""
    folder = study.simulate(ranks or study.ranks, study.write_scene(label, scene), label)
    found = runs.summary(folder)
    study.expect(found["status"] == "done", "%s: %d steps of %d particles in %.1f s, %d retried" %
                 (label, found["steps"], len(runs.coordinates(folder)), found["wall_s"], found.get("retried_steps", 0)))
    study.figures[label + " wall_s"] = found["wall_s"]
    return folder


def table(folder, name):
    return np.atleast_1d(np.genfromtxt(os.path.join(folder, name), delimiter=",", names=True, dtype=None, encoding="utf-8"))


def column(rows, name, entry):
    """Values of one entry of `dirichlet_boundary`, by its number, or one obstacle, by its name, by steps."""
    which = "entry" if "entry" in rows.dtype.names else "obstacle"
    return rows[name][rows[which] == entry]


def mesh_field(folder, name):
    with h5py.File(os.path.join(folder, "trajectory", "mesh.h5"), "r") as file:
        return file[name][:]


def places_of(folder, step=None):
    return runs.state(folder, step)[:, :3]


def broken(folder):
    """Rows of broken_bonds.csv, in the order of the numbers of bonds."""
    with open(os.path.join(folder, "broken_bonds.csv")) as file:
        return sorted((row.strip().split(",") for row in file.readlines()[1:]), key=lambda row: int(row[0]))


def overlaps(folder, dhat):
    """Pairs without a bond that are nearer than they may be, over all stored states: the sum of their radii, or, where they
    were near each other at the start in one body, their distance then less dhat; where their bond broke, the distance that
    they have kept since. And the number of states."""
    rest, r = mesh_field(folder, "coordinates"), mesh_field(folder, "radius").ravel()
    of, bonds = mesh_field(folder, "body").ravel(), mesh_field(folder, "connectivity").reshape(-1, 2)
    bonded = np.zeros((len(rest), len(rest)), bool)
    first, second = np.triu_indices(len(rest), 1)
    allowed = r[first] + r[second]
    at_rest = np.linalg.norm(rest[first] - rest[second], axis=1)
    near = (of[first] == of[second]) & (at_rest < allowed + dhat)
    allowed = np.where(near, np.minimum(allowed, at_rest - dhat), allowed)
    found = count = 0
    for step in sorted({record["step"] for file in runs.manifest(folder)["files"] for record in file["states"]
                      if record["kept"] == "stored" and "step" in record}):
        place, flags = places_of(folder, step), runs.state(folder, step, "broken").ravel() != 0
        kept = np.zeros_like(bonded, float)
        for i, j in ((0, 1), (1, 0)):
            kept[bonds[flags, i], bonds[flags, j]] = runs.state(folder, step, "least_distance").ravel()[flags]
        least = kept[first, second]
        bonded[:] = False
        bonded[bonds[~flags, 0], bonds[~flags, 1]] = bonded[bonds[~flags, 1], bonds[~flags, 0]] = True
        distance = np.linalg.norm(place[first] - place[second], axis=1)
        found += ((distance <= np.where(least > 0, least, allowed)) & ~bonded[first, second]).sum()
        count += 1
    return found, count
