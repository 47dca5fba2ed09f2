"""Meshes so large that ranks share their making: files hold what one rank makes of them, runs agree and go on."""
import shutil

import numpy as np

import runs

# 258 048 cells after refinement, above what the first rank makes alone, and a body from a file beside them.
FILE = """$MeshFormat
2.2 0 8
$EndMeshFormat
$Nodes
5
1 0 0 0
2 1 0 0
3 9 9 9
4 0 1 0
5 0 0 1
$EndNodes
$Elements
1
1 4 2 7 1 1 2 4 5
$EndElements
"""


def scene(recoil):
    with open(recoil.path("tetrahedron.msh"), "w") as file:
        file.write(FILE)
    return {
        "geometry": [
            {"name": "box", "generator": {"type": "box", "size": [1, 1, 1.3125], "divisions": [16, 16, 21]}, "n_refs": 1,
             "surface_selection": [{"id": 1, "axis": "-z", "position": -0.65}],
             "volume_selection": [{"id": 3, "box": [[-1, -1, -1], [0, 1, 1]]}, {"id": 4, "box": [[-1, -1, -1], [1, 1, 1]]}],
             "point_selection": [{"id": 2, "center": [0.5, 0.5, 0.65625], "radius": 0.1}]},
            {"name": "tetrahedron", "mesh": "tetrahedron.msh", "n_refs": 3, "volume_selection": 3,
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
