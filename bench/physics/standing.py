"""Structures that stand by friction alone: a house of cards of two storeys and a round arch of voussoirs.

Pieces start half of dhat apart, and the very first lagged friction is that of a piece's weight at this gap: with PolyFEM's
default of the first barrier stiffness, 1, all feet would slip freely in the first step. Most of the friction cone is used, so that pieces creep at a share of epsv; a low epsv keeps
that below what is allowed. With little friction both must fall: else standing would show nothing.
"""
import os

import numpy as np
from tools import G, barrier_force, box, largest_motion, material, plane

DHAT, EPSV = 2e-4, 1e-5
STANDS = 0.01
VERTICES = 5  # that carry a piece, as an order of magnitude


def stands(study, label, scene, names):
    folder = study.done(label, scene)
    moved = largest_motion(folder)
    for name, share in zip(names, moved):
        print("      %-10s %.2e" % (name, share))
    study.expect(moved.max() < STANDS, "%s: %d pieces stand for 5 s; none moved by more than %.2e of its size" %
                 (label, len(names), moved.max()), **{label + " largest motion over size": moved.max()})
    study.picture(folder)


def falls(study, label, scene):
    """The same for a moment with too little friction."""
    folder = study.done(label, scene)
    moved = largest_motion(folder).max()
    study.expect(moved > 5 * STANDS, "%s: falls, as it should: moved by %.2f of a piece's size" % (label, moved),
                 **{label + " motion over size": moved})
    study.picture(folder)


def setting(geometry, materials, volume, friction, seconds, dt=0.02):
    first = materials["rho"] * volume * G / VERTICES / barrier_force(DHAT / 2, DHAT)
    return {
        "geometry": geometry + [plane("floor", [0, 0, 1])], "materials": materials, "gravity": [0, 0, -G],
        "contact": {"enabled": True, "dhat": DHAT, "friction_coefficient": friction, "epsv": EPSV},
        "solver": {"contact": {"initial_barrier_stiffness": first}},
        "time": {"dt": dt, "time_steps": round(seconds / dt)},
        "output": {"every": max(1, round(seconds / dt / 20))},
    }


def leaning_pair(name, x, floor, gap, length, width, thick):
    """Two cards that lean against each other at 70 degrees above `floor`, and the height they reach."""
    angle = np.radians(70)
    half = [(length * np.cos(angle) + thick * np.sin(angle)) / 2, (length * np.sin(angle) + thick * np.cos(angle)) / 2]
    pair = []
    for side, turn, sign in (("left", -70, -1), ("right", 250, 1)):
        card = box("%s_%s" % (name, side), [length, width, thick], [6, 4, 1],
                   [x + sign * (half[0] + gap / 2), 0, floor + gap + half[1]])
        card["transformation"]["rotation"] = [0, turn, 0]
        pair.append(card)
    return pair, floor + gap + 2 * half[1]


def house():
    length, width, thick, gap = 0.09, 0.06, 0.002, DHAT / 2
    cards, top = [], 0
    for name, x in (("a", -0.035), ("b", 0.035)):
        pair, top = leaning_pair(name, x, 0, gap, length, width, thick)
        cards += pair
    roof = top + gap + thick / 2
    cards.append(box("roof", [0.12, width, thick], [8, 4, 1], [0, 0, roof]))
    pair, _ = leaning_pair("c", 0, roof + thick / 2, gap, length, width, thick)
    return cards + pair


def cards(study):
    pieces, paper = house(), material(1e9, 0.3, 700)
    volume = 0.09 * 0.06 * 0.002
    stands(study, "house", setting(pieces, paper, volume, 0.6, 5), [p["name"] for p in pieces])
    falls(study, "house-slippery", setting(pieces, paper, volume, 0.1, 0.24))


def write_voussoir(path, inner, outer, begin, end, width, gap):
    """A block of six tetrahedra per cell between two joints through the centre, half a gap off each."""
    cells = (2, 1, 2)
    nodes, cubes = [], []
    for i in range(cells[0] + 1):
        for j in range(cells[1] + 1):
            for k in range(cells[2] + 1):
                r = inner + (outer - inner) * i / cells[0]
                angle = begin + (end - begin) * j / cells[1]
                inward = gap / 2 * (1 - 2 * j / cells[1])
                nodes.append((r * np.cos(angle) - inward * np.sin(angle), width * (k / cells[2] - 0.5),
                              r * np.sin(angle) + inward * np.cos(angle)))
    number = lambda i, j, k: 1 + (i * (cells[1] + 1) + j) * (cells[2] + 1) + k
    for i, j, k in np.ndindex(*cells):
        for order in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)):
            at, tet = [i, j, k], [number(i, j, k)]
            for axis in order:
                at[axis] += 1
                tet.append(number(*at))
            cubes.append(oriented(tet, nodes))
    with open(path, "w") as file:
        file.write("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%d\n" % len(nodes))
        file.writelines("%d %.17g %.17g %.17g\n" % (n + 1, *p) for n, p in enumerate(nodes))
        file.write("$EndNodes\n$Elements\n%d\n" % len(cubes))
        file.writelines("%d 4 2 1 1 %d %d %d %d\n" % (n + 1, *tet) for n, tet in enumerate(cubes))
        file.write("$EndElements\n")


def oriented(tet, nodes):
    p = np.array([nodes[v - 1] for v in tet])
    return tet if np.linalg.det(p[1:] - p[0]) > 0 else [tet[0], tet[1], tet[3], tet[2]]


def round_arch(study, label, inner, outer, count):
    """Voussoirs of a half circle whose lowest two stand on the floor."""
    gap, pieces = DHAT / 2, []
    for n in range(count):
        path = os.path.join(study.folder, "%s-%d.msh" % (label, n))
        write_voussoir(path, inner, outer, np.pi * n / count, np.pi * (n + 1) / count, 0.4, gap)
        pieces.append({"name": "v%d" % n, "mesh": path, "transformation": {"translation": [0, 0, gap / 2]}})
    return pieces


def arch(study):
    pieces, stone = round_arch(study, "arch", 0.8, 1.2, 9), material(1e9, 0.2, 2500)
    volume = np.pi * (1.2**2 - 0.8**2) / 2 * 0.4 / 9
    stands(study, "arch", setting(pieces, stone, volume, 0.6, 5), [p["name"] for p in pieces])
    falls(study, "arch-slippery", setting(pieces, stone, volume, 0.1, 0.3))
