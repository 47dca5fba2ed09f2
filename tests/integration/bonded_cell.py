"""Cells of bonded particles that repeat: random packings and particles of a file that are sheared, at rest and in motion. The same on other ranks,
continued to the same bits, a ledger that closes with the work of the stress, the file as the packing; then wrong scenes with place and cure."""
import copy
import csv
import os

import h5py
import numpy as np
import runs
from pieces import ledger

EDGE = 0.08
PACKING = {
    "geometry": [{"name": "cell", "generator": {"type": "box", "size": [EDGE] * 3, "divisions": 1},
                  "particles": {"packing": "random", "radius": [0.009, 0.011], "seed": 3, "bond_tolerance": 0.1}}],
    "materials": {"type": "BondedParticles", "E": 1e7, "nu": 0.2, "rho": 2000},
    "boundary_conditions": {"periodic_boundary": {"enabled": True, "linear_displacement_offset": [["0.01*t", "0.02*t", 0], [0, "-0.005*t", 0], [0, 0, "0.004*t^2"]]}},
    "time": {"quasistatic": True, "dt": 0.25, "time_steps": 4}, "output": {"every": 2, "chunk": 2},
    "solver": {"type": "bonded_particles", "bonded_particles": {"tolerance": 1e-9}},
}


def text(folder, name):
    with open(os.path.join(folder, name)) as file:
        return file.read()


def table(folder):
    with open(os.path.join(folder, "cell_stress.csv")) as file:
        rows = list(csv.DictReader(file))
    return {key: np.array([float(row[key]) for row in rows]) for key in rows[0]}


def tensor(rows, name):
    return np.array([[rows["%s_%s%s" % (name, i, j)] for j in "xyz"] for i in "xyz"]).transpose(2, 0, 1)


def moving(integrator):
    scene = copy.deepcopy(PACKING)
    scene["time"] = {"dt": 2e-4, "time_steps": 20}
    boundary = scene["boundary_conditions"]["periodic_boundary"]
    boundary["linear_displacement_offset"] = [["2*t", "200*t^2", 0], [0, 0, 0], [0, 0, 0]]
    scene["materials"]["damping_time"] = 1e-4
    scene["solver"]["bonded_particles"]["integrator"] = integrator
    return scene


def check(recoil, name, scene):
    path = recoil.write_scene(name, scene)
    whole, parts = recoil.simulate(1, path, name), recoil.path(name + " in parts")
    recoil.run(1, "simulate", path, "-o", parts, "-q", "--steps", scene["time"]["time_steps"] // 2)
    recoil.run(1, "simulate", "--restart", parts, "-q")
    runs.check(np.array_equal(runs.state(parts, field="u"), runs.state(whole, field="u")) and
               all(text(parts, table) == text(whole, table) for table in ("ledger.csv", "cell_stress.csv")), name + ": continued to the same bits")
    rows, energies = table(whole), ledger(whole)
    held = energies["kinetic"] + energies["elastic"] + energies["dissipated_bonds"] + energies["dissipated_integrator"]
    defect = np.abs(held - energies["external_work"]).max() / energies["external_work"].max()
    runs.check(defect < 1e-6, "%s: the ledger closes to %.2g" % (name, defect))
    two = table(recoil.simulate(2, path, name + " on two"))
    scale = np.abs(tensor(rows, "sigma")).max()
    off = np.abs(tensor(two, "sigma") - tensor(rows, "sigma")).max() / scale
    runs.check(off < 1e-7, "%s: stress on two ranks to %.2g" % (name, off))
    other = recoil.path(name + " goes on")
    recoil.run(1, "simulate", path, "-o", other, "-q", "--steps", scene["time"]["time_steps"] // 2)
    recoil.run(2, "simulate", "--restart", other, "-q")
    off = np.abs(tensor(table(other), "sigma") - tensor(rows, "sigma")).max() / scale
    runs.check(off < 1e-7, "%s: continued on two ranks to %.2g" % (name, off))
    return whole, rows, energies


def check_rest(recoil):
    whole, rows, energies = check(recoil, "at rest", PACKING)
    sigma, H, P = tensor(rows, "sigma"), tensor(rows, "H"), tensor(rows, "P")
    off = np.abs(sigma - sigma.transpose(0, 2, 1)).max() / np.abs(sigma).max()
    runs.check(off < 1e-8, "at rest: the stress is symmetric to %.2g" % off)
    F = H + np.eye(3)
    off = np.abs(rows["volume"] / EDGE**3 - np.linalg.det(F)).max()
    runs.check(off < 1e-12, "at rest: volumes are those of F to %.2g" % off)
    # A rate of energy from the whole history: P is nearly linear in H, of which each step has the mean.
    ways = np.diff(np.concatenate([[np.zeros((3, 3))], H]), axis=0)
    means = (np.concatenate([[np.zeros((3, 3))], P[:-1]]) + P) / 2
    work = EDGE**3 * (ways * means).sum()
    off = abs(work / energies["elastic"][-1] - 1)
    runs.check(off < 5e-3, "at rest: P does the work of the elastic energy to %.2g" % off)
    check_drawing(whole)
    return whole


def check_drawing(folder):
    """No drawn bond is longer than its ends are far apart, and those across faces keep both ends and a shift."""
    with h5py.File(os.path.join(folder, "trajectory", "mesh.h5")) as mesh:
        names = []
        mesh.visit(names.append)
        find = lambda end: mesh[next(name for name in names if name.split("/")[-1] == end)][:]
        points, ends, shifts = find("coordinates"), find("ends"), find("shift")
    across = np.any(shifts != 0, axis=1)
    lines = points[ends[:, 1]] + EDGE * shifts - points[ends[:, 0]]
    runs.check(20 < across.sum() < len(ends) and np.linalg.norm(lines, axis=1).max() < 0.025, "%d of %d bonds lead across faces" % (across.sum(), len(ends)))


def check_free(recoil):
    """A pull along x, of which the other entries of H follow."""
    scene = copy.deepcopy(PACKING)
    scene["boundary_conditions"]["periodic_boundary"].update(fixed_macro_strain=[0], linear_displacement_offset=[["0.01*t", 0, 0], [0, 0, 0], [0, 0, 0]])
    _, rows, _ = check(recoil, "pulled", scene)
    H, P = tensor(rows, "H"), tensor(rows, "P")
    # H_ij and H_ji are one unknown.
    free = np.abs((P + P.transpose(0, 2, 1)).reshape(-1, 9)[:, 1:]).max() / P[-1, 0, 0]
    runs.check(free < 1e-7 and P[-1, 0, 0] > 0, "pulled: stress where H is free %.2g of that along x" % free)
    ratio = -H[-1, 1, 1] / H[-1, 0, 0]
    runs.check(0 < ratio < 0.5 and np.array_equal(H, H.transpose(0, 2, 1)), "pulled: contracts by %.3f of its extension, and does not turn" % ratio)


def check_file(recoil, folder):
    """The particles of the packing, moved, in a cell that is given: bonds are found, the stress is the same."""
    with h5py.File(os.path.join(folder, "trajectory", "mesh.h5")) as mesh:
        names = []
        mesh.visit(names.append)
        find = lambda end: mesh[next(name for name in names if name.split("/")[-1] == end)][:]
        points, radii = find("coordinates"), find("radius").ravel()
    with open(recoil.path("moved.csv"), "w") as file:
        file.write("x,y,z,radius\n" + "".join("%.17g,%.17g,%.17g,%.17g\n" % (*(point + [0.31, -0.027, 0.013]), r) for point, r in zip(points, radii)))
    scene = copy.deepcopy(PACKING)
    scene["geometry"] = [{"name": "cell", "particles": {"file": "moved.csv", "bond_tolerance": 0.1}}]
    scene["boundary_conditions"]["periodic_boundary"]["correspondence"] = (EDGE * np.eye(3)).tolist()
    moved = table(recoil.simulate(1, recoil.write_scene("moved", scene), "moved"))
    expected = tensor(table(folder), "sigma")
    off = np.abs(tensor(moved, "sigma") - expected).max() / np.abs(expected).max()
    runs.check(off < 1e-8, "from a file, cut elsewhere: the same stress to %.2g" % off)
    del scene["boundary_conditions"]["periodic_boundary"]["correspondence"]
    recoil.refuses(scene, lambda scene: None, "periodic_boundary", "does not say how large the cell is", "`correspondence`")


def check_studies(recoil):
    """Gradients of the stress and the energy against differences of whole runs, at rest, in motion and as bonds soften."""
    softening = copy.deepcopy(PACKING)
    softening["materials"].update(tensile_strength=5e4, shear_strength=5e4)
    softening["solver"]["bonded_particles"]["damage_width"] = 0.8
    for name, scene in (("at rest", PACKING), ("be_reflect", moving("be_reflect")), ("mid_reflectT", moving("mid_reflectT")), ("softening", softening)):
        scene = copy.deepcopy(scene)
        scene["solver"]["bonded_particles"]["tolerance"] = 1e-12
        scene["time"]["time_steps"] = min(6, scene["time"]["time_steps"])
        study = {"experiments": [{"name": "cell", "scene": recoil.write_scene("seen", scene)}],
                 "parameters": [{"name": "E", "quantity": "young_modulus", "initial": 1e7}, {"name": "nu", "quantity": "poisson_ratio", "initial": 0.2}],
                 "objectives": [{"name": "P", "type": "homogenized_stress", "component": [0, 1]}, {"name": "W", "type": "elastic_energy"},
                                {"name": "fit", "type": "homogenized_stress", "component": [2, 2], "value": 1e3, "sd": 1e4}]}
        path = recoil.write_scene("study", study)
        for ranks in (1, 2) if name == "softening" else (1,):
            code, said = recoil.run(ranks, "gradient", path, "-o", recoil.path("gradient %s %d" % (name, ranks)), "--check", expect=None)
            runs.check(code == 0, "%s: gradients on %d ranks: %s" % (name, ranks, said[-600:] if code else "differences agree"))
    for change, *words in ((lambda study: study["parameters"][0].update(per="bond"), "parameters", "hold no cell", "\"body\" or \"global\""),
                           (lambda study: study["parameters"].append({"name": "H", "quantity": "macro_strain", "initial": [0] * 9}), "macro_strain")):
        wrong = copy.deepcopy(study)
        change(wrong)
        code, said = recoil.run(1, "gradient", recoil.write_scene("wrong", wrong), "-o", recoil.path("refused"), "-q", expect=None)
        runs.check(code == 2 and all(word in said for word in words), "refused: " + said.strip()[-300:])


def check_wrong(recoil):
    def boundary(**keys):
        return lambda scene: scene["boundary_conditions"]["periodic_boundary"].update(keys)

    def body(**keys):
        return lambda scene: scene["geometry"][0]["particles"].update(keys)

    def lattice(scene):
        scene["geometry"][0]["particles"] = {"packing": "hcp", "radius": 0.01}

    def plane(scene):
        scene["geometry"].append({"name": "floor", "is_obstacle": True, "type": "plane", "point": [0, 0, -0.1], "normal": [0, 0, 1]})

    def forces(scene):
        scene["geometry"][0]["point_selection"] = [{"id": 1, "axis": "-x", "position": 0}]
        scene["boundary_conditions"]["particle_forces"] = [{"id": 1, "value": [1, 0, 0]}]

    def offset(scene):
        conditions = scene["boundary_conditions"]
        conditions["linear_displacement_offset"] = conditions["periodic_boundary"].pop("linear_displacement_offset")

    zero = [[0, 0, 0]] * 3
    for change, *words in (
            (boundary(axes=["x", "x"]), "axes", "names x twice"),
            (boundary(axes=["x", "y"]), "column 2", "does not repeat along that axis"),
            (lambda scene: scene["boundary_conditions"]["periodic_boundary"].pop("enabled"), "add \"enabled\": true"),
            (offset, "linear_displacement_offset", "write it in `periodic_boundary`"),
            (boundary(linear_displacement_offset=[[0, 0], [0, 0]]), "3 rows of 3 numbers"),
            (boundary(linear_displacement_offset=[["-1.1*t", 0, 0], *zero[1:]]), "leaves the cell no volume at t = 1", "deform it less"),
            (boundary(fixed_macro_strain=[0, 9]), "fixed_macro_strain", "0 to 8"),
            (boundary(fixed_macro_strain=[0, 0]), "fixed_macro_strain", "names entry 0 twice"),
            (boundary(tolerance=1e-6), "tolerance", "leave it out: it is of nodes of meshes"),
            (boundary(correspondence=np.eye(3).tolist()), "`correspondence` is of particles from a file"),
            (body(packing="deposited"), "deposited between walls", "\"random\""),
            (body(radius=[0.02, 0.02]), "at least three times as wide", "smaller particles"),
            (lattice, "holds no whole number of these", "m long"),
            (lambda scene: scene["geometry"][0].update(generator={"type": "ball", "radius": 0.1, "divisions": 4}), "fills a cell that repeats, which is a box"),
            (plane, "the plane 'floor' cuts through", "`axes`"),
            (lambda scene: scene.update(gravity=[0, 0, -9.81]), "nothing bears weight", "`gravity`"),
            (forces, "particle_forces", "no state at rest")):
        recoil.refuses(PACKING, change, *words)
    recoil.refuses(moving("be_reflect"), boundary(fixed_macro_strain=[0]), "fixed_macro_strain", "have no inertia", "time/quasistatic")


with runs.Recoil() as recoil:
    check_file(recoil, check_rest(recoil))
    check_free(recoil)
    check(recoil, "be_reflect", moving("be_reflect"))
    check(recoil, "leapfrog", moving("leapfrog"))
    check_studies(recoil)
    check_wrong(recoil)
