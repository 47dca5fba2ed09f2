"""Targets of every kind for a scene, and shapes of every basis; shared by the tests of references and bench/gradients/references.py."""
import copy
import os

import h5py
import numpy as np

import runs

BASES = ("vertices", "boundary_vertices", "affine", "box", "modes")


def aim_of(scene):
    """A scene that does not end where `scene` does, with states between those of it."""
    aim = copy.deepcopy(scene)
    materials = aim["materials"]
    for material in materials if isinstance(materials, list) else [materials]:
        if "E" in material:
            material["E"] *= 1.3
    aim["gravity"][0] += 3
    if "time" in aim:
        aim["time"]["dt"] *= 0.75
        aim["time"]["time_steps"] = -(-aim["time"]["time_steps"] * 4 // 3)
    return aim


def reshaped(scene):
    """The same elements elsewhere: every box is a little shorter."""
    other = copy.deepcopy(scene)
    for body in other["geometry"]:
        if body.get("is_obstacle"):
            continue
        body["generator"]["size"][0] *= 0.97
        centre = body["transformation"]["translation"][0]
        for selection in body.get("surface_selection", []):
            if selection["axis"].strip("+-") == "x":
                selection["position"] = centre + (selection["position"] - centre) * 0.97
    return other


def write_references(recoil, scene, name):
    """References of a scene by kind: a run, one with its bodies in another order, one of another shape, an HDF5 file."""
    aim = aim_of(scene)
    found = {"run": recoil.simulate(1, recoil.write_scene(name + "-aim", aim), name + "-aim")}
    found["permuted"] = recoil.simulate(1, recoil.write_scene(name + "-permuted", dict(aim, geometry=aim["geometry"][::-1])), name + "-permuted")
    found["reshaped"] = recoil.simulate(1, recoil.write_scene(name + "-reshaped", reshaped(aim)), name + "-reshaped")
    found["file"] = recoil.path(name + "-aim.h5")
    with h5py.File(found["file"], "w") as file:
        file["u"] = runs.state(found["run"])[:, :len(scene["gravity"])]
    return found


def write_modes(recoil, reference, num_vertices, name):
    """Two smooth modes over the vertices, whose positions are the first coordinates of a run."""
    x = runs.coordinates(reference)[:num_vertices]
    path = recoil.path(name + "-modes.h5")
    with h5py.File(path, "w") as file:
        file["bend"] = np.stack([np.sin(2 * x[:, i - 1]) for i in range(x.shape[1])], axis=1)
        file["stretch"] = x * np.cos(x[:, :1])
    return path


def basis(name, dim, modes):
    return {"box": {"box": [3] * dim}, "modes": {"modes": modes}}.get(name, name)


def write_track(recoil, name, dim, times, markers=None):
    """A CSV file of the centre of mass, or of markers with their start positions."""
    path = recoil.path(name + ".csv")
    with open(path, "w") as file:
        axes = ",".join("xyz"[:dim])
        file.write("time,%s%s,sd\n" % ("marker," if markers else "", axes))
        for time in times:
            for label, start in (markers or {"": [0.1] * dim}).items():
                position = ",".join("%.9g" % (x + 0.03 * np.sin(20 * time + i)) for i, x in enumerate(start))
                file.write("%.9g,%s%s,0.01\n" % (time, label + "," if markers else "", position))
    return path


def vertices_of(run):
    """Number of vertices of the scene of a run."""
    return runs.summary(run)["vertices"]


def check_study(scene, objective, parameters, markers=(), steps=(1e-4, 1e-5, 1e-6)):
    return {"experiments": [{"name": "run", "scene": scene}], "parameters": parameters, "objectives": [dict(objective, name="o")],
            "markers": list(markers), "sweep": {"tolerance": 1e-13}, "check": {"directions": 1, "steps": list(steps)}}
