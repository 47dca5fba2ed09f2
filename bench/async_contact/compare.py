#!/usr/bin/env python3
"""A thin block of tetrahedra falls on a ball, by finite elements with barrier contact (BDF2) and by asynchronous contact.

    bench/async_contact/compare.py --recoil build/release/recoil            # two minutes on a free core
    bench/async_contact/compare.py --recoil build/release/recoil --quick 1  # a look

Both have the same mesh, law, lumped masses and gap of contact, and no friction. Each is run with steps from coarse to fine; the
finest of each is not in the table. A row has processor seconds, the largest distance between the paths of the centre of mass of this
run and of the finest one of its own kind and of the other kind, over the drop in units of its height, and what became of the energy:
for finite elements what the integrator dissipates, for asynchronous contact what its ledger does not account for, each
as a share of the kinetic energy at the impact. The last lines give the distance between the two finest, below which nothing can be said.
"""
import os
import resource
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "integration"), str(ROOT / "scripts")]
import recoil_run  # noqa: E402
import runs  # noqa: E402

SIZE, HEIGHT, DENSITY, G = (0.1, 0.1, 0.004), 0.03, 500, 9.81
TEND, EVERY = 0.16, 4e-3
IMPACT = DENSITY * np.prod(SIZE) * G * HEIGHT


def scene(time, solver, contact, every):
    return {
        "geometry": [{"name": "sheet", "generator": {"type": "box", "size": list(SIZE), "divisions": [8, 8, 1]},
                      "transformation": {"translation": [0.004, 0.003, 0.05 + HEIGHT + 0.003]}},
                     {"name": "ball", "generator": {"type": "ball", "radius": 0.05, "divisions": 8}, "is_obstacle": True}],
        "materials": {"type": "NeoHookean", "E": 1e5, "nu": 0.3, "rho": DENSITY},
        "gravity": [0, 0, -G],
        "contact": dict({"enabled": True, "dhat": 1e-3}, **contact),
        "time": time, "solver": solver, "output": {"every": every, "chunk": 100}}


def elements(dt):
    return scene({"tend": TEND, "dt": dt, "integrator": "BDF2"}, {"advanced": {"lump_mass_matrix": True}, "contact": {"barrier_stiffness": 1e4}}, {},
                 round(EVERY / dt))


def asynchronous(share):
    return scene({"tend": TEND, "dt": EVERY}, {"type": "asynchronous", "asynchronous": {"element_share": share, "layer_share": share / 5,
                                                                                      "gravity_step": 5e-3 * share}}, {"layer_stiffness": 500}, 1)


def centre(run):
    """Heights of the centre of mass [m], with a quarter of the volume of each tetrahedron at its corners."""
    rest, cells = run.mesh.points, run.mesh.cells["Tetrahedron"]
    a, b, c, d = (rest[cells[:, i]] for i in range(4))
    volumes = np.abs(np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a)) / 6
    weights = np.bincount(cells.ravel(), np.repeat(volumes, 4), len(rest))
    return {round(state.time / EVERY): ((rest + state.u)[:, 2] @ weights) / weights.sum() for state in run}


def work(recoil, name, given):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    folder = recoil.simulate(1, recoil.write_scene(name, given), name)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = recoil_run.Run(Path(folder))
    ledger = {key: values[-1] for key, values in run.ledger.items()}
    lost = ledger["dissipated_integrator"] / IMPACT if "dissipated_integrator" in ledger else None
    if lost is None:
        energies = [sum(run.ledger[key][row] for key in ("kinetic", "elastic", "contact", "gravity")) for row in (0, -1)]
        lost = (energies[0] - energies[1]) / IMPACT
    return after.ru_utime - before.ru_utime, centre(run), lost


def distance(one, other):
    return max(abs(one[k] - other[k]) for k in one if k in other) / HEIGHT


with runs.Recoil(("--quick", int, 0)) as recoil:
    quick = recoil.arguments.quick
    series = {"finite elements, dt": (elements, [4e-3, 2e-3, 1e-3] if quick else [4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4]),
              "asynchronous, share": (asynchronous, [0.4, 0.2, 0.1] if quick else [0.3, 0.2, 0.1, 0.05])}
    done = {kind: [(step, *work(recoil, f"{make.__name__} {step}", make(step))) for step in steps] for kind, (make, steps) in series.items()}
    finest = {kind: rows[-1][2] for kind, rows in done.items()}
    for kind, rows in done.items():
        (other,) = [path for name, path in finest.items() if name != kind]
        for step, seconds, path, lost in rows:
            print("%-20s %9g %8.1f s   to own finest %.2e   to the other's finest %.2e   energy lost %9.2e" % (
                kind, step, seconds, distance(path, finest[kind]), distance(path, other), lost))
    print("between the two finest: %.2e of the height of the fall" % distance(*finest.values()))
