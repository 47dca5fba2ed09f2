"""Meshes so large that ranks share their making: files hold what one rank makes of them, runs agree and go on."""
import itertools
import shutil

import numpy as np

import runs

N = 4  # divisions of the box in the file, padded to a size from which on ranks share the reading


def file_of_box():
    m = N + 1
    nodes = ["%d %g %g %g" % (1 + i + m * (j + m * k), i / N, j / N, k / N) for k in range(m) for j in range(m) for i in range(m)]
    nodes.append("%d 9 9 9" % (m**3 + 7))
    corners = [1 + i + m * (j + m * k) for k in range(N) for j in range(N) for i in range(N)]
    steps = [(a, a + b, a + b + c) for a, b, c in itertools.permutations((1, m, m * m))]
    cells = ["%d 4 2 7 1 %d %d %d %d" % (1, v, v + a, v + b, v + c) for v in corners for a, b, c in steps]
    padding = "\n".join(["what is here does not matter " * 4] * 40000)
    return "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Comments\n%s\n$EndComments\n$Nodes\n%d\n%s\n$EndNodes\n$Elements\n%d\n%s\n$EndElements\n" % (
        padding, len(nodes), "\n".join(nodes), len(cells), "\n".join(cells))


def scene(recoil):
    with open(recoil.path("cube.msh"), "w") as file:
        file.write(file_of_box())
    # 261 120 cells after refinement, above what the first rank makes alone.
    return {
        "geometry": [
            {"name": "box", "generator": {"type": "box", "size": [1, 1, 1.3125], "divisions": [16, 16, 21]}, "n_refs": 1,
             "surface_selection": [{"id": 1, "axis": "-z", "position": -0.65}],
             "volume_selection": [{"id": 3, "box": [[-1, -1, -1], [0, 1, 1]]}, {"id": 4, "box": [[-1, -1, -1], [1, 1, 1]]}],
             "point_selection": [{"id": 2, "center": [0.5, 0.5, 0.65625], "radius": 0.1}]},
            {"name": "cube", "mesh": "cube.msh", "n_refs": 1, "volume_selection": 3,
             "transformation": {"translation": [2, 0, 0]}},
            {"name": "floor", "is_obstacle": True, "surface_selection": 9,
             "generator": {"type": "box", "size": [8, 8, 1], "divisions": [1, 1, 1]},
             "transformation": {"translation": [0, 0, -3]}}],
        "materials": [{"id": 3, "type": "NeoHookean", "E": 1e5, "nu": 0.3, "rho": 1000},
                      {"id": 4, "type": "NeoHookean", "E": 2e5, "nu": 0.3, "rho": 1000}],
        "gravity": [0, 0, -9.81],
        "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0, 0]}, {"id": 2, "value": ["0.1*t", 0, 0]}]},
        "time": {"dt": 0.001, "time_steps": 2},
        "output": {"chunk": 1},
    }


with runs.Recoil() as recoil:
    path = recoil.write_scene("large", scene(recoil))
    alone = recoil.simulate(1, path, "alone")
    shared = recoil.simulate(3, path, "shared")
    runs.check((runs.coordinates(shared) == runs.coordinates(alone)).all(), "3 ranks: the vertices of one rank, bitwise")
    error = runs.difference(runs.state(shared), runs.state(alone))
    runs.check(error < 1e-7, "3 ranks differ from one by %.1e" % error)
    half = recoil.simulate(3, path, "half", "--steps", "1")
    shutil.copytree(half, recoil.path("other"))
    recoil.run(3, "simulate", "--restart", half, "-q")
    runs.check((runs.state(half) == runs.state(shared)).all(), "3 ranks go on bitwise from a restart")
    recoil.run(2, "simulate", "--restart", recoil.path("other"), "-q")
    error = runs.difference(runs.state(recoil.path("other")), runs.state(alone))
    runs.check(error < 1e-7, "2 ranks go on from 3, %.1e from one" % error)

    told = [recoil.run(n, "validate", path)[1].splitlines() for n in (1, 3)]
    same = [a == b for a, b in zip(*told)]
    runs.check(len(told[0]) == len(told[1]) and np.all(same), "validate tells the same on 3 ranks: %s" % told[1])
    wrong = scene(recoil)
    wrong["geometry"][0]["point_selection"][0]["radius"] = 1e-6
    wrong["geometry"][0]["point_selection"][0]["center"] = [3, 3, 3]
    path = recoil.write_scene("wrong", wrong)
    texts = [recoil.run(n, "simulate", path, "-o", recoil.path("wrong"), "-q", expect=2)[1] for n in (1, 3)]
    for text in texts:
        runs.check("selects no boundary vertex" in text and "uses its id 2" in text, "an empty selection is refused: %s" % text.strip()[:90])

    # A damaged file is refused in the same words, whoever reads it.
    text = file_of_box()
    place = recoil.path("cube.msh")
    for wrong, what in ((text[:-3000], "ends"), (text.replace(" 4 2 7 1 1 2 ", " 4 2 7 1 999 2 ", 1), "node 999"),
                        (text.replace("\n9 ", "\n8 ", 1), "two nodes have the tag 8")):
        with open(place, "w") as file:
            file.write(wrong)
        texts = [recoil.run(n, "validate", recoil.path("large.json"), expect=2)[1] for n in (1, 3)]
        runs.check(texts[0].strip() in texts[1] and "cube.msh:" in texts[0], "on 1 and 3 ranks, %s: %s" % (what, texts[1].strip()[-150:]))
