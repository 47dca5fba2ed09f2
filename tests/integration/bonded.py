"""A bar of bonded particles that is pulled and twisted until it breaks: the same bonds on any ranks, continued in the middle of
the fracture to the same bits, killed and continued; the same of a block that is crushed between a platen and a floor, and with
strengths that scatter; forms of bonds; macroscopic moduli; particles from files; then wrong scenes with place and cure. `--kills 20` is the long form
(run_bonded_killed)."""
import copy
import os
import random
import shutil
import signal
import subprocess
import time

import h5py
import numpy as np
import runs
from pieces import ledger

STEPS, BREAKS_IN = 16, 8
STARTED = 3  # a step that is stored and in which bonds bear something
FIELDS = ("u", "v", "broken", "broken_at", "broken_by")
TABLES = ("ledger.csv", "broken_bonds.csv", "reactions.csv", "obstacle_forces.csv", "fragments.csv")

BAR = {
    "geometry": [{"name": "bar", "generator": {"type": "box", "size": [0.06, 0.012, 0.012], "divisions": [1, 1, 1]},
                  "particles": {"radius": 0.0012},
                  "point_selection": [{"id": 1, "axis": "-x", "position": -0.0265}, {"id": 2, "axis": "x", "position": 0.0265}]}],
    "materials": {"type": "BondedParticles", "E": 1e7, "nu": 0.3, "rho": 1000, "tensile_strength": 3e5, "shear_strength": 3e5},
    "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0, 0]},
                                                   {"id": 2, "value": ["0.2*t", 0, 0], "rotation": ["5*t", 0, 0]}]},
    "time": {"dt": 0.001, "time_steps": STEPS},
    "output": {"every": 3, "chunk": 2},
    "solver": {"type": "bonded_particles", "bonded_particles": {"tolerance": 1e-7}},
}

CRUSHED = {
    "geometry": [{"name": "floor", "is_obstacle": True, "type": "plane", "point": [0, 0, 0], "normal": [0, 0, 1]},
                 {"name": "block", "generator": {"type": "box", "size": [0.02, 0.02, 0.024], "divisions": [1, 1, 1]},
                  "transformation": {"translation": [0, 0, 0.0121]}, "particles": {"radius": 0.002}},
                 {"name": "platen", "is_obstacle": True, "generator": {"type": "box", "size": [0.06, 0.06, 0.004], "divisions": [1, 1, 1]},
                  "transformation": {"translation": [0, 0, 0.0267]}, "surface_selection": 3}],
    "materials": {"type": "BondedParticles", "E": 1e7, "nu": 0.3, "rho": 1000, "tensile_strength": 1e5, "shear_strength": 3e5},
    "boundary_conditions": {"obstacle_displacements": [{"id": 3, "value": [0, 0, "-0.5*t"]}]},
    "contact": {"enabled": True, "dhat": 2e-4, "friction_coefficient": 0.3},
    "time": {"dt": 0.001, "time_steps": 5},
    "solver": {"type": "bonded_particles", "bonded_particles": {"tolerance": 1e-7}},
}
CRUSHED_BREAKS_IN = 3


def broken(folder):
    with open(os.path.join(folder, "broken_bonds.csv")) as file:
        return file.read().splitlines()[1:]


def text(folder, name):
    with open(os.path.join(folder, name)) as file:
        return file.read()


def same_bits(folder, whole):
    return all(np.array_equal(runs.state(folder, field=field), runs.state(whole, field=field), equal_nan=True) for field in FIELDS) and \
        all(text(folder, name) == text(whole, name) for name in TABLES if os.path.exists(os.path.join(whole, name)))


def check_whole(whole, breaks_in):
    rows, energies = broken(whole), ledger(whole)
    first = min(float(row.split(",")[1]) for row in rows)
    runs.check(20 < len(rows) < 500 and first == breaks_in * 0.001, "%d bonds break, the first at t = %g" % (len(rows), first))
    total = energies["kinetic"] + energies["elastic"] + energies["barrier"]
    lost = energies["broken"] + energies["dissipated_friction"] + energies["dissipated_integrator"]
    error = np.abs(total - energies["external_work"] + lost).max()
    runs.check(error < 1e-6 * energies["external_work"].max(), "the ledger closes to %.1e of the work" % (error / energies["external_work"].max()))
    runs.check(energies["broken_bonds"][-1] == len(rows) == runs.state(whole, field="broken").sum(), "every count of broken bonds agrees")
    released = sum(float(row.split(",")[-1]) for row in rows)
    runs.check(abs(released - energies["broken"][-1]) < 1e-8 * released, "energies of the table add up to that of the ledger")


def names(folder):
    return [row.split(",")[0] + " at " + row.split(",")[1] for row in broken(folder)]


def table(folder, name):
    return np.atleast_1d(np.genfromtxt(os.path.join(folder, name), delimiter=",", names=True))


def three(rows, name):
    return np.stack([rows[name + end] for end in ("_x", "_y", "_z")], axis=-1)


def check_fragments(folder):
    """Against a search over the bonds of the last state."""
    with h5py.File(os.path.join(folder, "trajectory", "mesh.h5"), "r") as file:
        bonds = file["connectivity"][:]
    broken_bonds = runs.state(folder, field="broken").ravel() != 0
    label = np.arange(len(runs.state(folder)))
    for _ in range(len(label)):
        before = label.copy()
        for a, b in bonds[~broken_bonds]:
            label[a] = label[b] = min(label[a], label[b])
        if (label == before).all():
            break
    firsts, sizes = np.unique(label, return_counts=True)
    order = np.lexsort((firsts, -sizes))
    field = runs.state(folder, field="fragment").ravel()
    runs.check(all((field[label == firsts[f]] == number).all() for number, f in enumerate(order)), "the field numbers %d fragments by size" % len(order))
    rows = table(folder, "fragments.csv")
    last = rows[rows["step"] == STEPS]
    larger = [f for f in order if sizes[f] > 1]
    runs.check([(row["fragment"], row["first_particle"], row["particles"]) for row in last if row["fragment"] >= 0] ==
               [(n, firsts[f], sizes[f]) for n, f in enumerate(larger)], "the table has the same")
    place = runs.state(folder)[:, :3]
    error = max(np.abs(place[label == firsts[f]].mean(axis=0) - [last[n][c] for c in "xyz"]).max() for n, f in enumerate(larger))
    runs.check(error < 1e-9 and len(set(rows["step"])) == 7, "centres to %.1e" % error)
    summary = runs.summary(folder)
    runs.check(summary["fragments"] == len(order) > 1 and summary["largest_fragment_share"] == sizes.max() / len(label), "the summary agrees")


def check_many_fragments(recoil):
    """3500 pairs among 500 single particles, so that several ranks have rows of the table: the same on any ranks."""
    pairs, single = 3500, 500
    ids = np.random.default_rng(2).permutation(2 * pairs + single)
    bonds = ids[:2 * pairs].reshape(-1, 2)
    place = np.empty((len(ids), 3), dtype=int)
    cell = np.stack(np.unravel_index(np.arange(pairs + single), (20, 20, 10)), axis=1) * 8
    place[bonds[:, 0]], place[bonds[:, 1]], place[ids[2 * pairs:]] = cell[:pairs], cell[:pairs] + [2, 0, 0], cell[pairs:]
    np.savetxt(recoil.path("many.csv"), place, fmt="%d,%d,%d,1", header="x,y,z,radius", comments="")
    np.savetxt(recoil.path("many_bonds.csv"), bonds, fmt="%d,%d", header="i,j", comments="")
    body = {"name": "dust", "particles": {"file": "many.csv", "bonds": "many_bonds.csv"}}
    path = recoil.write_scene("many", dict(BAR, geometry=[body], boundary_conditions={}, initial_conditions={"velocity": [{"body": "dust", "value": [1, 0, 0]}]}))
    folder, *others = (recoil.simulate(ranks, path, "many on %d" % ranks, "--steps", 0) for ranks in (1, 2, 3))
    rows = table(folder, "fragments.csv")
    firsts = np.sort(bonds.min(axis=1))
    runs.check((rows["first_particle"] == np.append(firsts, ids[2 * pairs:].min())).all() and (rows["particles"] == [2] * pairs + [single]).all() and
               (rows["fragment"] == np.append(np.arange(pairs), -1)).all(), "a row for each of %d pairs, and one for single particles" % pairs)
    runs.check(all(text(other, "fragments.csv") == text(folder, "fragments.csv") for other in others), "the same rows on 2 and 3 ranks")


def check_fields(folder):
    """What ParaView shows, against the tables and the state."""
    with open(os.path.join(folder, "trajectory", "trajectory.xdmf")) as file:
        shown = file.read()
    listed = [name for name in ("radius", "body", "displacement", "orientation", "velocity", "angular_velocity", "fragment", "sigma", "tau",
                                "broken", "broken_at", "broken_by") if 'Attribute Name="%s"' % name not in shown]
    runs.check(not listed, "ParaView lists all fields %s" % listed)
    at, by, flags, sigma = (runs.state(folder, field=name).ravel() for name in ("broken_at", "broken_by", "broken", "sigma"))
    rows = [row.split(",") for row in broken(folder)]
    runs.check(all(at[int(row[0])] == float(row[1]) and by[int(row[0])] == 1 + (row[5] == "shear") for row in rows) and
               (np.isfinite(at) == (flags != 0)).all() and ((by != 0) == (flags != 0)).all(), "times and modes of bonds are those of the table")
    runs.check((sigma[flags != 0] == 0).all() and (sigma[flags == 0] != 0).any(), "broken bonds bear nothing")
    u, v = runs.state(folder), runs.state(folder, field="v")
    runs.check((runs.state(folder, field="velocity") == v[:, :3]).all(), "velocities are those of the state")
    with h5py.File(os.path.join(folder, "trajectory", "mesh.h5"), "r") as file:
        w = v[:, 3:] / file["radius"][:].reshape(-1, 1)
    q, s = u[:, 3:6], u[:, 6:7]
    turned = w + 2 * np.cross(q, np.cross(q, w) + s * w)
    error = np.abs(runs.state(folder, field="angular_velocity") - turned).max() / np.abs(turned).max()
    runs.check(error < 1e-12, "angular velocities are those of the state in space, to %.1e" % error)


def check_scatter(recoil, whole):
    """Strengths of their own for all bonds are the same on any ranks and after a restart, and another seed breaks others."""
    path = recoil.write_scene("scatter", with_material(weibull_modulus=5, strength_seed=3))
    scattered = recoil.simulate(1, path, "scatter")
    rows, first = broken(scattered), {}
    for row in rows:
        first.setdefault(row.split(",")[1], []).append(row)
    steps = sorted(round(float(time) / 0.001) for time in first)
    runs.check(len(rows) > 20 and steps[0] < BREAKS_IN, "%d bonds break, the first in step %d" % (len(rows), steps[0]))
    check_other_ranks(recoil, path, scattered, BREAKS_IN)
    seed = recoil.write_scene("seed", with_material(weibull_modulus=5, strength_seed=4))
    other = set(names(recoil.simulate(1, seed, "seed", "--steps", BREAKS_IN)))
    until = {name for name in names(scattered) if float(name.split(" at ")[1]) < (BREAKS_IN + 0.5) * 0.001}
    runs.check(other != until and until - set(names(whole)), "another seed breaks other bonds")


def check_separate(recoil, whole):
    """Terms that are compared one by one leave bonds intact whose sums are above their strength."""
    folder = recoil.simulate(1, recoil.write_scene("separate", with_material(strength_terms="separate")), "separate")
    check_whole(folder, BREAKS_IN)
    largest = [max(runs.state(run, field=field)[runs.state(run, field="broken") == 0].max() for field in ("sigma", "tau")) for run in (whole, folder)]
    runs.check(largest[0] <= 3e5 < 1.05 * 3e5 < largest[1] < 2 * 3e5, "the largest sums that bonds hold: %.3g Pa, with separate terms %.3g Pa" % tuple(largest))


def check_forms(recoil, whole):
    """Keys that say what is the case anyway change no bit, the others change the run; and strengths of a radius."""
    same = with_material(shear_correction=1, shear_energy="smooth", bend_twist="full", strength_radius=0.0012)
    runs.check(same_bits(recoil.simulate(1, recoil.write_scene("same form", same), "same form"), whole), "the form of bonds that is the default: the same bits")
    wider = with_material(tensile_strength=1.5e5, shear_strength=1.5e5, strength_radius=4 * 0.0012)
    runs.check(same_bits(recoil.simulate(1, recoil.write_scene("wider", wider), "wider"), whole), "half of the strength, of bonds four times as wide: the same bits")

    def at_rest(label, **more):
        scene = changed(time={"dt": 0.02, "time_steps": 1, "quasistatic": True}, materials=dict(BAR["materials"], tensile_strength=1e9, **more),
                        solver={"type": "bonded_particles", "bonded_particles": {"tolerance": 1e-9}})
        return runs.state(recoil.simulate(1, recoil.write_scene(label, scene), label))

    plain = at_rest("plain form")
    for key, value, least in (("shear_correction", 0.5, 1e-3), ("shear_energy", "angle", 1e-6), ("bend_twist", "paper_half_angle", 1e-3)):
        found = runs.difference(at_rest(key, **{key: value}), plain)
        runs.check(least < found < 0.1, "%s %s: differs by %.1e" % (key, value, found))


def check_macroscopic(recoil):
    """The modulus of a lattice that is given is that which is reported, and makes the bonds that have it."""
    quasistatic = {"dt": 0.001, "time_steps": 1, "quasistatic": True}
    bonds = changed(time=quasistatic)
    folder = recoil.simulate(1, recoil.write_scene("bonds", bonds), "moduli bonds")
    told = runs.summary(folder)
    runs.check(abs(told["E_x of bar"] / 1.633e7 - 1) < 5e-3 and abs(told["E_z of bar"] / 1.714e7 - 1) < 5e-3 and abs(told["nu_xy of bar"] - 0.156) < 1e-3,
               "moduli of the lattice: %g Pa, %g Pa, %g" % (told["E_x of bar"], told["E_z of bar"], told["nu_xy of bar"]))
    for section, kappa in ((1, 1), (0.8, 1), (1, 0.5)):
        given, label = dict(BAR["materials"], section=section, shear_correction=kappa), "%g %g" % (section, kappa)
        plain = recoil.simulate(1, recoil.write_scene("plain", changed(time=quasistatic, materials=given)), "plain " + label)
        modulus = runs.summary(plain)["E_x of bar"]
        softer = modulus / section ** 2 / told["E_x of bar"]
        runs.check(abs(softer - 1) < 1e-12 if kappa == 1 else 0.8 < softer < 0.95, "a shear correction of %g: %.3f of E_x" % (kappa, softer))
        material = dict(given, E=modulus, moduli="macro")
        macro = recoil.simulate(1, recoil.write_scene("macro", changed(time=quasistatic, materials=material)), "macro " + label)
        runs.check(abs(runs.summary(macro)["E_x of bar"] / modulus - 1) < 1e-12, "the reported modulus is the given one")
        error = runs.difference(runs.state(macro), runs.state(plain))
        runs.check(error < 1e-10, "bonds of section %g and shear correction %g that make it: the same state to %.1e" % (section, kappa, error))
    for command in ("validate", "info"):
        output = recoil.run(1, command, recoil.path("bonds.json") if command == "validate" else folder)[1]
        runs.check("E_x" in output, "recoil %s tells the moduli" % command)


def write_csv(path, head, rows):
    with open(path, "w") as file:
        file.write(head + "\n" + "".join(",".join(repr(value.item()) for value in row) + "\n" for row in rows))


def same_start(recoil, path, name, whole):
    """Whether a scene has the particles, the bonds and the first steps of another one, to the bit."""
    folder = recoil.simulate(1, path, name, "--steps", STARTED)
    with h5py.File(os.path.join(folder, "trajectory", "mesh.h5"), "r") as a, h5py.File(os.path.join(whole, "trajectory", "mesh.h5"), "r") as b:
        return all(np.array_equal(a[array][:], b[array][:]) for array in ("coordinates", "radius", "connectivity")) and \
            all(np.array_equal(runs.state(folder, field=field), runs.state(whole, STARTED, field)) for field in ("u", "v", "sigma", "tau"))


def check_moduli_of_bonds(recoil, whole, body, bonds):
    """Columns E and nu count in place of the material's: the same bits; and the same on any ranks where each bond has its own."""
    scene = changed(geometry=[dict(body, particles={"file": "bar.csv", "bonds": "moduli.csv"})], materials=dict(BAR["materials"], E=3e6, nu=0.1))
    path = recoil.write_scene("moduli", scene)
    alike = np.array([[1e7, 0.3]] * len(bonds))
    with open(recoil.path("moduli.csv"), "w") as file:
        file.write("i,j,E,nu\n" + "".join("%d,%d,%r,%r\n" % (*bond, E, nu) for bond, (E, nu) in zip(bonds.tolist(), alike.tolist())))
    runs.check(same_start(recoil, path, "moduli alike", whole), "E and nu of bonds from a file: the same bits")
    with open(recoil.path("moduli.csv"), "w") as file:
        file.write("i,j,E\n" + "".join("%d,%d,%r\n" % (*bond, 1e7 * (1 + 0.5 * np.sin(k))) for k, bond in enumerate(bonds.tolist())))
    first, other = (recoil.simulate(ranks, path, "moduli %d" % ranks, "--steps", STARTED) for ranks in (1, 3))
    error = runs.difference(runs.state(other), runs.state(first))
    runs.check(error < 1e-8 and runs.difference(runs.state(first), runs.state(whole, STARTED)) > 1e-4, "a modulus of each bond: 3 ranks as 1, to %.1e" % error)


def check_strengths_of_bonds(recoil, whole, body, bonds):
    """Columns of strengths count in place of the material's, without its scatter and its size effect: the same bonds break."""
    given = dict(BAR["materials"], tensile_strength=1e4, shear_strength=1e4, weibull_modulus=3, strength_radius=5e-4)
    with open(recoil.path("strengths.csv"), "w") as file:
        file.write("i,j,tensile_strength,shear_strength\n" + "".join("%d,%d,3e5,3e5\n" % tuple(bond) for bond in bonds.tolist()))
    for ranks, ignored in ((1, ()), (2, ("tensile_strength", "shear_strength", "weibull_modulus", "strength_radius"))):
        for name in ignored:
            given.pop(name)
        path = recoil.write_scene("strengths", changed(geometry=[dict(body, particles={"file": "bar.csv", "bonds": "strengths.csv"})], materials=given))
        folder = recoil.simulate(ranks, path, "strengths %d" % ranks)
        runs.check(names(folder) == names(whole), "strengths of bonds from a file on %d ranks: the same %d bonds break" % (ranks, len(names(whole))))


def check_files(recoil, whole):
    """The particles and bonds of a run, written to files at half the size: the same bits from there."""
    with h5py.File(os.path.join(whole, "trajectory", "mesh.h5"), "r") as file:
        places, bonds = file["coordinates"][:], file["connectivity"][:].reshape(-1, 2)
        radii = file["radius"][:].reshape(-1, 1)
    volumes = 4 * np.sqrt(2.0) * radii * radii * radii  # rounded as recoil does
    write_csv(recoil.path("bar.csv"), "x,y,z,radius,volume", np.hstack([places / 2, radii / 2, volumes / 8]))
    write_csv(recoil.path("bonds.csv"), "i,j", bonds)
    with open(recoil.path("bar.vtk"), "w") as file:
        file.write("# vtk DataFile Version 3.0\nbar\nASCII\nDATASET POLYDATA\nPOINTS %d double\n" % len(places))
        file.writelines(" ".join(repr(float(x)) for x in place / 2) + "\n" for place in places)
        file.write("LINES %d %d\n" % (len(bonds), 3 * len(bonds)))
        file.writelines("2 %d %d\n" % tuple(bond) for bond in bonds)
        file.write("POINT_DATA %d\n" % len(places))
        for name, values in (("radius", radii / 2), ("volume", volumes / 8)):
            file.write("SCALARS %s double 1\nLOOKUP_TABLE default\n" % name)
            file.writelines(repr(float(value)) + "\n" for value in values.ravel())
    with open(recoil.path("soft.csv"), "w") as file:
        file.write("i,j,E\n0,1,-1e7\n")
    body = {"name": "bar", "point_selection": BAR["geometry"][0]["point_selection"], "transformation": {"scale": 2}}
    for name, given in (("csv with bonds", {"file": "bar.csv", "bonds": "bonds.csv"}), ("csv", {"file": "bar.csv"}), ("vtk", {"file": "bar.vtk"})):
        path = recoil.write_scene(name, changed(geometry=[dict(body, particles=given)]))
        runs.check(same_start(recoil, path, "from " + name, whole), "particles from %s: the same bits" % name)
    check_moduli_of_bonds(recoil, whole, body, bonds)
    check_strengths_of_bonds(recoil, whole, body, bonds)
    output = recoil.run(1, "validate", path)[1]
    runs.check("%d particles, %d bonds" % (len(places), len(bonds)) in output, "recoil validate reads them, too")
    folder = recoil.simulate(2, path, "from vtk on 2", "--steps", STARTED)
    runs.check(runs.difference(runs.state(folder), runs.state(whole, STARTED)) < 1e-8, "on 2 ranks: the same")
    turned = changed(geometry=[dict(body, particles={"file": "bar.csv"}, transformation={"scale": 2, "rotation": [0, 0, 90], "translation": [1, 2, 3]})],
                     boundary_conditions={"dirichlet_boundary": [{"id": 3, "value": [0, 0, 0]}]})
    turned["geometry"][0]["point_selection"] = 3
    folder = recoil.simulate(1, recoil.write_scene("turned", turned), "turned", "--steps", 0)
    expected = places @ np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1]]) + [1, 2, 3]
    runs.check(np.abs(runs.coordinates(folder) - expected).max() < 1e-14, "turned and shifted")
    folder = recoil.simulate(1, recoil.path("csv.json"), "changed", "--steps", 1)
    with open(recoil.path("bar.csv"), "a") as file:
        file.write("1,1,1,1,1\n")
    code, output = recoil.run(1, "simulate", "--restart", folder, expect=None)
    runs.check(code == 2 and "bar.csv" in output and "has changed" in output, "not continued with another file: " + output.strip())
    return [
        ("bonds twice over", changed(geometry=[dict(body, particles={"file": "bar.vtk", "bond_tolerance": 0.1})]),
         ["/geometry/0/particles", "bar.vtk", "`bond_tolerance`", "leave it out"]),
        ("bonds beside VTK", changed(geometry=[dict(body, particles={"file": "bar.vtk", "bonds": "bonds.csv"})]), ["/geometry/0/particles", "bar.vtk", "bonds.csv"]),
        ("a file of another kind", changed(geometry=[dict(body, particles={"file": "csv.json"})]), ["/geometry/0/particles", "csv.json", ".lmp"]),
        ("a modulus of nothing", changed(geometry=[dict(body, particles={"file": "bar.csv", "bonds": "soft.csv"})]), ["/geometry/0/particles", "soft.csv:2", "modulus E is -1e7"]),
        ("bonds as particles", changed(geometry=[dict(body, particles={"file": "bonds.csv"})]), ["/geometry/0/particles", "bonds.csv:1", "'i'"]),
        ("a selection of nothing in a file", changed(geometry=[dict(body, particles={"file": "bar.vtk"}, point_selection=[{"id": 1, "axis": "x", "position": 5}])]),
         ["/geometry/0/point_selection/0", "selects no particle"]),
    ]


def check_reactions(recoil, whole):
    """Reactions are all that changes the momentum; at rest they balance and their work is that of the ledger."""
    rows = table(whole, "reactions.csv")
    force = three(rows, "force").reshape(STEPS, 2, 3).sum(axis=1)
    momentum = three(ledger(whole), "linear")
    change = np.diff(momentum, axis=0) / 0.001
    error = np.abs(change - force[1:]).max() / np.abs(force).max()
    runs.check(error < 1e-5, "reactions change the momentum, to %.1e" % error)
    bar = changed(time={"dt": 0.001, "time_steps": 5, "quasistatic": True}, boundary_conditions__dirichlet_boundary__1__rotation=[0, 0, 0])
    folder = recoil.simulate(2, recoil.write_scene("still", bar), "still")
    rows = table(folder, "reactions.csv")
    force, moment, way = (three(rows, name).reshape(5, 2, 3) for name in ("force", "moment", "displacement"))
    place = runs.state(folder, 0)[:, :3]
    ends = [place[place[:, 0] < -0.0265], place[place[:, 0] > 0.0265]]
    centre = np.stack([end.mean(axis=0) for end in ends]) + way
    left = (moment + np.cross(centre, force)).sum(axis=1)
    runs.check(np.abs(force.sum(axis=1)).max() < 1e-5 * force.max() and np.abs(left).max() < 1e-5 * 0.03 * force.max(), "at rest reactions and their moments balance")
    work = (force[:, 1, 0] * np.diff(np.append(0, way[:, 1, 0]))).sum()
    expected = ledger(folder)["external_work"][-1]
    runs.check(abs(work - expected) < 1e-7 * expected and (way[:, 1, 0] > 0).all(), "force times displacement is the external work")


def check_repeats(recoil, path, on_3, on_4):
    for ranks, first in ((3, on_3), (4, on_4)):
        runs.check(same_bits(recoil.simulate(ranks, path, "repeated on %d" % ranks), first), "%d ranks: the same bits twice" % ranks)


def check_tight(recoil):
    """With Newton's method at rounding: states of bonds that hold, and which bonds break, on one rank and on several."""
    tight = {"type": "bonded_particles", "bonded_particles": {"tolerance": 1e-12}}
    strong = {name: value for name, value in BAR["materials"].items() if not name.endswith("strength")}
    for name, scene in (("intact", changed(solver=tight, materials=strong)), ("tight", changed(solver=tight))):
        path = recoil.write_scene(name, scene)
        whole = recoil.simulate(1, path, name + "1")
        for ranks in (2, 4):
            folder = recoil.simulate(ranks, path, "%s%d" % (name, ranks))
            error = max(runs.difference(runs.state(folder, field=field), runs.state(whole, field=field)) for field in ("u", "v"))
            if name == "intact":
                runs.check(error < 1e-8, "intact, %d ranks against 1: positions and velocities to %.1e" % (ranks, error))
            else:
                runs.check(len(names(whole)) > 20 and sorted(names(folder)) == sorted(names(whole)),
                           "tight, %d ranks against 1: the same %d bonds at the same times, states to %.1e" % (ranks, len(names(whole)), error))


def check_same(folder, whole, what):
    """The same to rounding: of runs on other ranks."""
    error = runs.difference(runs.state(folder), runs.state(whole))
    same = (runs.state(folder, field="fragment") == runs.state(whole, field="fragment")).all()
    near = not os.path.exists(os.path.join(whole, "reactions.csv")) or \
        np.allclose(three(table(folder, "reactions.csv"), "force"), three(table(whole, "reactions.csv"), "force"), rtol=1e-5, atol=1e-5)
    runs.check(same and near, "%s: the same fragments and reactions" % what)
    runs.check(sorted(names(folder)) == sorted(names(whole)) and error < 1e-8, "%s: the same bonds at the same times, positions to %.1e" % (what, error))


def check_ranks(recoil, path, whole):
    """Runs on several ranks; their folders."""
    folders = [recoil.simulate(ranks, path, "on %d" % ranks) for ranks in (2, 3)]
    for ranks, folder in enumerate(folders, 2):
        check_same(folder, whole, "%d ranks" % ranks)
    return folders


def check_other_ranks(recoil, path, whole, stop):
    """Begun on 2 ranks and continued on 3, against one rank."""
    folder = recoil.simulate(2, path, "others", "--steps", stop)
    recoil.run(3, "simulate", "--restart", folder, "-q")
    check_same(folder, whole, "%s, begun on 2 ranks and continued on 3" % os.path.basename(whole))


def check_obstacle_forces(whole, energies):
    """They are all that changes the momentum, and the platen does all work."""
    rows = table(whole, "obstacle_forces.csv")
    force = three(rows, "force").reshape(-1, 2, 3)
    change = np.diff(three(energies, "linear"), axis=0) / 0.001
    error = np.abs(change + force[1:].sum(axis=1)).max() / np.abs(force).max()
    runs.check(error < 1e-4, "forces on obstacles change the momentum, to %.1e" % error)
    way = three(rows, "displacement").reshape(-1, 2, 3)
    work = (-force[:, 0] * np.diff(way[:, 0], axis=0, prepend=0)).sum()
    runs.check(abs(work - energies["external_work"][-1]) < 1e-6 * work and (way[:, 1] == 0).all(), "the platen does %.3g J of work" % work)


def check_crushed(recoil):
    path = recoil.write_scene("crushed", CRUSHED)
    whole = recoil.simulate(1, path, "crushed")
    check_whole(whole, CRUSHED_BREAKS_IN)
    energies = ledger(whole)
    runs.check(np.nanmin(energies["min_distance"]) > 0 and energies["dissipated_friction"][-1] > 0,
               "least gap %.2g m, friction has dissipated %.2g J" % (np.nanmin(energies["min_distance"]), energies["dissipated_friction"][-1]))
    check_obstacle_forces(whole, energies)
    folder = recoil.simulate(1, path, "crushed restart", "--steps", CRUSHED_BREAKS_IN)
    recoil.run(1, "simulate", "--restart", folder, "-q")
    runs.check(same_bits(folder, whole), "crushed, and continued after step %d: the same bits" % CRUSHED_BREAKS_IN)
    check_other_ranks(recoil, path, whole, CRUSHED_BREAKS_IN)
    check_planes(recoil)


def check_planes(recoil):
    """The block crushed by a plane."""
    plane = {"name": "platen", "is_obstacle": True, "type": "plane", "point": [0, 0, 0.0247], "normal": [0, 0, -1], "surface_selection": 3}
    folder = recoil.simulate(1, recoil.write_scene("planes", dict(CRUSHED, geometry=[plane, CRUSHED["geometry"][1], CRUSHED["geometry"][0]])), "planes")
    energies = ledger(folder)
    runs.check(len(broken(folder)) > 20 and np.nanmin(energies["min_distance"]) > 0, "a plane as platen: %d bonds break" % len(broken(folder)))
    check_obstacle_forces(folder, energies)
    rows = table(folder, "obstacle_forces.csv")[::2]
    runs.check(np.allclose(rows["displacement_z"], -0.5 * rows["time"], atol=1e-15), "the plane moves as the scene says")


def check_explicit(recoil):
    """The block crushed in explicit sub-steps: the ledger, the work of the platen, and the same bits after a restart."""
    explicit = {"type": "bonded_particles", "bonded_particles": {"integrator": "leapfrog", "rolling_friction": 0.1}}
    path = recoil.write_scene("explicit", dict(CRUSHED, solver=explicit))
    whole = recoil.simulate(1, path, "explicit")
    energies = ledger(whole)
    total = energies["kinetic"] + energies["elastic"] + energies["barrier"]
    left = total + energies["broken"] + energies["dissipated_friction"] + energies["dissipated_integrator"] - energies["external_work"]
    work = energies["external_work"][-1]
    runs.check(len(broken(whole)) > 20 and np.abs(left).max() < 1e-10 * work and abs(energies["dissipated_integrator"][-1]) < 1e-2 * work,
               "leapfrog: %d bonds break, the ledger closes to %.0e of the work, leapfrog loses %.1e of it" %
               (len(broken(whole)), np.abs(left).max() / work, energies["dissipated_integrator"][-1] / work))
    force = three(table(whole, "obstacle_forces.csv"), "force").reshape(-1, 2, 3)
    change = np.diff(three(energies, "linear"), axis=0) / 0.001
    error = np.abs(change + force[1:].sum(axis=1)).max() / np.abs(force).max()
    runs.check(error < 1e-6, "leapfrog: forces on obstacles change the momentum, to %.1e" % error)
    for ranks in (1, 2):
        folder = recoil.simulate(ranks, path, "explicit restart", "--steps", 3)
        recoil.run(1, "simulate", "--restart", folder, "-q")
        error = runs.difference(runs.state(folder), runs.state(whole))
        runs.check(same_bits(folder, whole) if ranks == 1 else error < 1e-6, "leapfrog, on %d rank(s) and continued on one: off by %.0e" % (ranks, error))


def check_restarts(recoil, path, whole):
    stops = (0, BREAKS_IN - 1, BREAKS_IN, BREAKS_IN + 1, STEPS - 2)
    folder = recoil.simulate(1, path, "restart", "--steps", stops[0])
    for step in (*stops[1:], STEPS):
        recoil.run(1, "simulate", "--restart", folder, "-q", "--steps", step)
    runs.check(same_bits(folder, whole), "continued after steps %s: the same bits" % (stops,))
    folder = recoil.simulate(2, path, "others", "--steps", BREAKS_IN)
    recoil.run(3, "simulate", "--restart", folder, "-q", "--steps", BREAKS_IN + 2)
    recoil.run(1, "simulate", "--restart", folder, "-q")
    check_same(folder, whole, "continued on 3 and on 1 rank")


def killed(recoil, ranks, path, folder, delay):
    """kill -9 of the last rank of a run, whereupon mpirun ends the others; false where the run was done before."""
    shutil.rmtree(folder, ignore_errors=True)
    run = subprocess.Popen(recoil.command(ranks, "simulate", path, "-o", folder, "-q"), env=runs.ENVIRONMENT, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
    pids = []
    while run.poll() is None and len(pids) < ranks:
        pids = runs.ranks_of(run, recoil.program)
    time.sleep(delay)
    try:
        os.kill(pids[-1], signal.SIGKILL)
    except ProcessLookupError:
        pass
    return run.wait() != 0


def check_kills(recoil, path, seconds, undisturbed):
    """At random moments of the `seconds` that a run takes, as many on one rank as on two."""
    moments = random.Random(20261)
    for ranks, whole in enumerate(undisturbed, 1):
        continued, reached = 0, set()
        for number in range(recoil.arguments.kills):
            folder = recoil.path("killed")
            while not killed(recoil, ranks, path, folder, moments.uniform(0, 1) * seconds):
                pass
            if os.path.exists(os.path.join(folder, "trajectory", "manifest.json")):
                continued += 1
                reached.add(max(r["step"] for file in runs.manifest(folder)["files"] for r in file["states"] if "step" in r))
            recoil.run(ranks, "simulate", *(["--restart", folder] if os.path.exists(os.path.join(folder, "scene.json")) else [path, "-o", folder]), "-q")
            runs.check(same_bits(folder, whole), "%d rank(s), kill %d: the same bits" % (ranks, number))
        print("      %d rank(s): %d of %d kills after the first manifest, with the last states of steps %s" %
              (ranks, continued, recoil.arguments.kills, sorted(reached)), flush=True)


def changed(**parts):
    """The scene with some members replaced, by paths with __ between names."""
    scene = copy.deepcopy(BAR)
    for name, value in parts.items():
        *parents, last = name.split("__")
        target = scene
        for parent in parents:
            target = target[int(parent) if parent.isdigit() else parent]
        target[int(last) if last.isdigit() else last] = value
    return scene


def with_body(**more):
    return changed(geometry__0__particles=dict({"radius": 0.0012}, **more))


def with_material(**more):
    return changed(materials=dict(BAR["materials"], **more))


WRONG = [
    ("no radius", changed(geometry__0__particles={}), ["/geometry/0/particles", "radius"]),
    ("no particles", changed(geometry__0={key: BAR["geometry"][0][key] for key in ("name", "generator")}), ["/geometry/0", "needs `particles`"]),
    ("unknown packing", with_body(packing="bcc"), ["/geometry/0/particles/packing", "hcp", "random"]),
    ("two radii in a lattice", with_body(radius=[0.001, 0.002]), ["/geometry/0/particles/radius", "random"]),
    ("radii in the wrong order", with_body(radius=[0.002, 0.001], packing="random"), ["/geometry/0/particles/radius", "smaller radius first"]),
    ("too large", with_body(radius=0.02), ["/geometry/0/particles", "0.02"]),
    ("a law of finite elements", with_material(type="NeoHookean"), ["/materials/type", "BondedParticles"]),
    ("no modulus", changed(materials={"type": "BondedParticles", "nu": 0.3, "rho": 1000}), ["/materials", "`E` is missing"]),
    ("modulus in space", with_material(E="1e7*x"), ["/materials/E", "must be a number"]),
    ("a scatter of nothing", changed(materials={"type": "BondedParticles", "E": 1e7, "nu": 0.3, "rho": 1000, "weibull_modulus": 5}),
     ["/materials/weibull_modulus", "`tensile_strength`"]),
    ("too wide a scatter", with_material(weibull_modulus=0.5), ["/materials/weibull_modulus", "0.5"]),
    ("moduli of a random packing", dict(with_material(moduli="macro"), geometry=with_body(packing="random")["geometry"]), ["/materials/moduli", "random", "hcp"]),
    ("friction without cohesion", changed(materials={"type": "BondedParticles", "E": 1e7, "nu": 0.3, "rho": 1000, "friction_angle": 30}),
     ["/materials/friction_angle", "`shear_strength`"]),
    ("material of nobody", with_material(body="rod"), ["/materials/body", "'rod'"]),
    ("id of no particle", changed(boundary_conditions__dirichlet_boundary__0__id=7), ["/boundary_conditions/dirichlet_boundary/0", "`point_selection`"]),
    ("a selection of nothing", changed(geometry__0__point_selection__0__position=-3), ["/geometry/0/point_selection/0", "selects no particle"]),
    ("a turn in space", changed(boundary_conditions__dirichlet_boundary__1__rotation=["x", 0, 0]), ["/rotation", "formulas of t"]),
    ("a displacement that is not finite", changed(boundary_conditions__dirichlet_boundary__1__value=["1/(x-x)", 0, 0]),
     ["/boundary_conditions/dirichlet_boundary/1", "prescribed displacement"]),
    ("a velocity that is not finite", dict(BAR, initial_conditions={"velocity": [{"body": "bar", "value": [0, "1/(y-y)", 0]}]}),
     ["/initial_conditions/velocity/0", "initial velocity"]),
    ("a turn of two numbers", changed(boundary_conditions__dirichlet_boundary__1__rotation=[0, 0]), ["/rotation", "3"]),
    ("a traction", changed(boundary_conditions__neumann_boundary=[{"id": 1, "value": [1, 0, 0]}]), ["/neumann_boundary", "`particle_forces`"]),
    ("contact without inertia of its own", changed(contact={"enabled": True, "dhat": 1e-4}, solver={"type": "bonded_particles", "bonded_particles": {"integrator": "del_exact"}}),
     ["/solver/bonded_particles/integrator", "be_reflect"]),
    ("rolling friction without contact", changed(solver={"type": "bonded_particles", "bonded_particles": {"rolling_friction": 0.1}}),
     ["/solver/bonded_particles/rolling_friction", "contact/enabled"]),
    ("too large a dhat", changed(contact={"enabled": True, "dhat": 2e-3}), ["/contact/dhat", "smallest radius"]),
    ("contact of finite elements", changed(contact={"enabled": True, "dhat": 1e-4, "use_convergent_formulation": True}), ["/contact/use_convergent_formulation", "leave it out"]),
    ("overlapping bodies", changed(contact={"enabled": True, "dhat": 1e-4}, geometry=[BAR["geometry"][0], dict(BAR["geometry"][0], name="other", transformation={"translation": [0, 0.006, 0]})]),
     ["/geometry", "overlap in the initial state", "'other'"]),
    ("an obstacle that no id moves", dict(CRUSHED, boundary_conditions={"obstacle_displacements": [{"id": 5, "value": [0, 0, "-t"]}]}),
     ["/boundary_conditions/obstacle_displacements/0", "surface_selection"]),
    ("particles of an obstacle", dict(CRUSHED, geometry=CRUSHED["geometry"][:2] + [dict(CRUSHED["geometry"][2], particles={"radius": 0.001})]),
     ["/geometry/2/particles", "leave out `is_obstacle` or `particles`"]),
    ("an obstacle of edges", dict(CRUSHED, geometry=CRUSHED["geometry"][:2] + [dict(CRUSHED["geometry"][2], extract="edges")]),
     ["wrong.json", "/geometry", "'platen'", "leave out `extract`"]),
    ("moving obstacles without contact", dict(CRUSHED, contact={"enabled": False}), ["/boundary_conditions/obstacle_displacements", "contact/enabled"]),
    ("statics", {key: value for key, value in BAR.items() if key != "time"}, ["needs `time`", "quasistatic"]),
    ("unknown integrator", changed(solver={"type": "bonded_particles", "bonded_particles": {"integrator": "verlet"}}), ["/solver/bonded_particles/integrator", "be_reflect"]),
    ("particles of finite elements", changed(solver={"type": "elastodynamics"}, materials={"type": "NeoHookean", "E": 1, "nu": 0.3}),
     ["/geometry/0/particles", "bonded_particles"]),
]


def check_wrong(recoil, more):
    for name, scene, parts in WRONG + more:
        folder = recoil.path("wrong")
        code, output = recoil.run(1, "simulate", recoil.write_scene("wrong", scene), "-o", folder, expect=None)
        message = output[output.find("recoil: "):].strip()
        missing = [part for part in parts if part not in message]
        runs.check(code == 2 and not missing and not os.path.exists(folder), "%s: %d, %s%s" % (name, code, message, " MISSING %s" % missing if missing else ""))


with runs.Recoil(("--kills", int, 1)) as recoil:
    path = recoil.write_scene("bar", BAR)
    started = time.time()
    whole = recoil.simulate(1, path, "whole")
    seconds = time.time() - started
    check_whole(whole, BREAKS_IN)
    check_fragments(whole)
    check_many_fragments(recoil)
    check_fields(whole)
    check_reactions(recoil, whole)
    on_2, on_3 = check_ranks(recoil, path, whole)
    check_repeats(recoil, path, on_3, recoil.simulate(4, path, "on 4"))
    check_restarts(recoil, path, whole)
    check_tight(recoil)
    check_kills(recoil, path, seconds, [whole, on_2])
    check_crushed(recoil)
    check_explicit(recoil)
    check_scatter(recoil, whole)
    check_separate(recoil, whole)
    check_forms(recoil, whole)
    check_macroscopic(recoil)
    check_wrong(recoil, check_files(recoil, whole))
