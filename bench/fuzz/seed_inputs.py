"""Small sound inputs that mutate_inputs.py damages: scenes, studies, meshes in every format, HDF5 and CSV files, run folders."""
import json
import pathlib
import struct
import subprocess

import h5py
import numpy as np

# Two tetrahedra that share a face, in every format.
POINTS = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)]
TETRAHEDRA = [(0, 1, 2, 3), (1, 2, 3, 4)]
FACES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 4), (2, 3, 4), (3, 1, 4)]


def gmsh2(binary):
    head = b"$MeshFormat\n2.2 %d 8\n" % binary + (struct.pack("<i", 1) + b"\n" if binary else b"") + b"$EndMeshFormat\n"
    nodes = b"$Nodes\n%d\n" % len(POINTS)
    for i, p in enumerate(POINTS):
        nodes += struct.pack("<i3d", i + 1, *p) if binary else b"%d %g %g %g\n" % (i + 1, *p)
    cells = b"$Elements\n%d\n" % len(TETRAHEDRA)
    if binary:
        cells += struct.pack("<3i", 4, len(TETRAHEDRA), 2)
    for i, t in enumerate(TETRAHEDRA):
        row = (i + 1, 1, 1, *(v + 1 for v in t))
        cells += struct.pack("<7i", *row) if binary else b"%d 4 2 %d %d %d %d %d %d\n" % row
    return head + nodes + b"$EndNodes\n" + cells + b"$EndElements\n"


def gmsh4(binary):
    n, cells = len(POINTS), len(TETRAHEDRA)
    text = b"$MeshFormat\n4.1 %d 8\n" % binary + (struct.pack("<i", 1) + b"\n" if binary else b"") + b"$EndMeshFormat\n"
    if binary:
        text += b"$Entities\n" + struct.pack("<4Q", 0, 0, 0, 1) + struct.pack("<i6dQiQ", 1, 0, 0, 0, 1, 1, 1, 1, 1, 0) + b"\n$EndEntities\n"
        text += b"$Nodes\n" + struct.pack("<4Q", 1, n, 1, n) + struct.pack("<3iQ", 3, 1, 0, n)
        text += b"".join(struct.pack("<Q", i + 1) for i in range(n)) + b"".join(struct.pack("<3d", *p) for p in POINTS)
        text += b"\n$EndNodes\n$Elements\n" + struct.pack("<4Q", 1, cells, 1, cells) + struct.pack("<3iQ", 3, 1, 4, cells)
        text += b"".join(struct.pack("<5Q", i + 1, *(v + 1 for v in t)) for i, t in enumerate(TETRAHEDRA))
        return text + b"\n$EndElements\n"
    text += b"$Entities\n0 0 0 1\n1 0 0 0 1 1 1 1 1 0\n$EndEntities\n$Nodes\n1 %d 1 %d\n3 1 0 %d\n" % (n, n, n)
    text += b"".join(b"%d\n" % (i + 1) for i in range(n)) + b"".join(b"%g %g %g\n" % p for p in POINTS)
    text += b"$EndNodes\n$Elements\n1 %d 1 %d\n3 1 4 %d\n" % (cells, cells, cells)
    text += b"".join(b"%d %d %d %d %d\n" % (i + 1, *(v + 1 for v in t)) for i, t in enumerate(TETRAHEDRA))
    return text + b"$EndElements\n"


def medit():
    text = "MeshVersionFormatted 2\nDimension 3\nVertices\n%d\n" % len(POINTS)
    text += "".join("%g %g %g 0\n" % p for p in POINTS)
    text += "Tetrahedra\n%d\n" % len(TETRAHEDRA) + "".join("%d %d %d %d 1\n" % tuple(v + 1 for v in t) for t in TETRAHEDRA)
    return (text + "End\n").encode()


def obj():
    text = "".join("v %g %g %g\n" % p for p in POINTS) + "".join("f %d %d %d\n" % tuple(v + 1 for v in f) for f in FACES)
    return (text + "l 1 2\n").encode()


def stl(binary):
    corners = [[POINTS[v] for v in f] for f in FACES]
    if binary:
        return b"\0" * 80 + struct.pack("<I", len(FACES)) + b"".join(
            struct.pack("<12fH", 0, 0, 1, *[x for p in c for x in p], 0) for c in corners)
    text = "solid s\n"
    for c in corners:
        text += "facet normal 0 0 1\nouter loop\n" + "".join("vertex %g %g %g\n" % p for p in c) + "endloop\nendfacet\n"
    return (text + "endsolid s\n").encode()


BODIES = {"ascii22.msh": gmsh2(False), "binary22.msh": gmsh2(True), "ascii41.msh": gmsh4(False), "binary41.msh": gmsh4(True),
          "tets.mesh": medit()}
OBSTACLES = {"faces.obj": obj(), "ascii.stl": stl(False), "binary.stl": stl(True)}
SELECTION = b"3\n4\n"  # a volume id for each cell


def block(**more):
    return dict({
        "geometry": [
            {"name": "lower", "generator": {"type": "box", "size": [1, 1, 1], "divisions": [2, 2, 1]}, "n_refs": 0,
             "surface_selection": [{"id": 1, "axis": "-z", "position": -0.499}, {"id": 2, "box": [[-1, -1, 0.4], [1, 1, 1]]}]},
            {"name": "upper", "generator": {"type": "ball", "radius": 0.4, "divisions": 1},
             "transformation": {"translation": [0.1, 0, 0.95], "rotation": [10, 20, 30], "rotation_mode": "xyz", "scale": 1},
             "volume_selection": 3},
            {"name": "floor", "type": "plane", "is_obstacle": True, "point": [0, 0, -0.6], "normal": [0, 0, 1]}],
        "materials": [{"id": 0, "type": "NeoHookean", "E": 1e5, "nu": 0.3, "rho": 1000, "psi": 1, "phi": 1},
                      {"id": 3, "type": "MooneyRivlin", "c1": 1e4, "c2": 1e3, "k": 1e5, "rho": "1000+x"}],
        "gravity": [0, 0, -9.81],
        "boundary_conditions": {
            "rhs": [0, 0, "0.1*t"],
            "dirichlet_boundary": [{"id": 1, "value": [0, 0, "0.01*sin(t)"], "dimension": [True, True, True]}],
            "neumann_boundary": [{"id": 2, "value": [0, 0, 1]}]},
        "initial_conditions": {"velocity": [{"id": 3, "value": [0, 0, -1]}], "angular_velocity": [{"body": "upper", "value": [0, 0, 1]}]},
        "contact": {"enabled": True, "dhat": 0.02, "friction_coefficient": 0.3, "epsv": 0.01},
        "solver": {"nonlinear": {"grad_norm_tol": 1e-8, "max_iterations": 50}, "contact": {"friction_iterations": 1}},
        "time": {"dt": 0.01, "time_steps": 2, "integrator": "BDF2", "max_retries": 2},
        "space": {"discr_order": 1},
        "output": {"every": 1, "chunk": 4, "fields": ["von_mises"]},
    }, **more)


def flat():
    return {
        "geometry": [{"name": "sheet", "generator": {"type": "rectangle", "size": [1, 0.5], "divisions": [3, 2]}, "n_refs": 1,
                      "type": "mesh_array", "array": {"size": [2, 1], "offset": 1.5, "relative": True},
                      "surface_selection": [{"id": 1, "threshold": 1e-6}]},
                     {"name": "rod", "mesh": "faces.obj", "is_obstacle": True, "extract": "edges", "surface_selection": 5,
                      "transformation": {"translation": [0, -3, 0], "scale": [1, 1, 1]}}],
        "materials": {"type": "SaintVenant", "E": 1e4, "nu": 0.3, "rho": 10, "plane": "strain"},
        "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [["0", 0.01], 0], "time_reference": [0.1, 0.2]}],
                                "neumann_boundary": [{"id": 4, "value": [0, "0.1*x"]}],
                                "obstacle_displacements": [{"id": 5, "value": [0, "0.1*t"]}]},
        "contact": {"enabled": True, "dhat_relative": 0.01, "use_convergent_formulation": True},
        "time": {"tend": 0.2, "dt": 0.1, "quasistatic": True},
    }


def of_file(name, is_obstacle):
    """A scene whose body or obstacle comes from the mesh file `name`."""
    entry = {"name": "from file", "mesh": name, "is_obstacle": is_obstacle}
    scene = {"geometry": [entry], "materials": [{"id": [0, 1], "type": "NeoHookean", "E": 1e5, "nu": 0.3}],
             "time": {"dt": 0.01, "time_steps": 1}, "contact": {"enabled": True, "dhat": 0.01}}
    if is_obstacle:
        scene["geometry"].append({"name": "cube", "generator": {"type": "box", "size": [1, 1, 1], "divisions": [1, 1, 1]},
                                  "transformation": {"translation": [3, 0, 0]}})
    return scene


def heterogeneous():
    scene = of_file("ascii22.msh", False)
    scene["materials"][0]["E"] = {"file": "field.h5", "dataset": "/E"}
    scene["geometry"][0]["volume_selection"] = "volumes.txt"
    scene["materials"][0]["id"] = [3, 4]
    return scene


def drop():
    return {
        "geometry": [{"name": "drop", "generator": {"type": "box", "size": [1, 1, 1], "divisions": [1, 1, 1]},
                      "surface_selection": [{"id": 1, "axis": "-z", "position": -0.499}]}],
        "materials": {"type": "NeoHookean", "E": 1e4, "nu": 0.3, "rho": 1000},
        "gravity": [0, 0, -9.81],
        "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0, 0]}]},
        "time": {"dt": 0.02, "time_steps": 2}}


def study():
    return {
        "experiments": [{"name": "drop", "scene": "drop.json"}],
        "parameters": [{"name": "E", "quantity": "young_modulus", "body": "drop", "initial": {"value": 1e4, "unit": "Pa"},
                        "bounds": [1e3, 1e6], "scale": "log"},
                       {"name": "v0", "quantity": "initial_velocity", "body": "drop", "initial": [0, 0, 1]},
                       {"name": "form", "quantity": "shape", "body": "drop", "basis": {"box": [2, 2, 2]}, "bounds": [-0.1, 0.1]}],
        "objectives": [{"name": "up", "type": "center_of_mass", "experiment": "drop", "body": "drop", "target": "observed.csv"},
                       {"name": "seen", "type": "markers", "experiment": "drop", "target": "markers.csv", "weight": 2},
                       {"name": "there", "type": "target_position", "experiment": "drop", "reference": "reference.h5", "time": "final"},
                       {"name": "stress", "type": "stress_norm", "experiment": "drop", "p": 4, "weight": 1e-6, "power": 0.5}],
        "markers": [{"name": "top", "body": "drop", "rest": [0.1, 0, 0.5]}],
        "sweep": {"store_every": 1, "state_budget": 8, "tolerance": 1e-8},
        "check": {"directions": 1, "steps": [1e-2, 1e-3]}}


OBSERVED = b"time,x,y,z\n0,0,0,0\n0.02,0,0,0.01\n0.04,0,0,0.02\n"
MARKERS = b"time,marker,x,y,z\n0,top,0.1,0,0.5\n0.02,top,0.1,0,0.5\n0.04,top,0.1,0,0.49\n"


def write_inputs(folder):
    """Fills `folder` with every sound input."""
    folder = pathlib.Path(folder)
    for name, content in {**BODIES, **OBSTACLES, "volumes.txt": SELECTION, "observed.csv": OBSERVED, "markers.csv": MARKERS}.items():
        (folder / name).write_bytes(content)
    with h5py.File(folder / "field.h5", "w") as file:
        file["E"] = np.array([1e5, 2e5])
    with h5py.File(folder / "reference.h5", "w") as file:
        file["u"] = np.zeros((8, 3))
    scenes = {"block": block(), "flat": flat(), "fields": heterogeneous(), "drop": drop(), "study": study()}
    for name in BODIES:
        scenes["body " + name] = of_file(name, False)
    for name in OBSTACLES:
        scenes["obstacle " + name] = of_file(name, True)
    for name, scene in scenes.items():
        (folder / (name + ".json")).write_text(json.dumps(scene, indent=1))
    return scenes


def write_folders(recoil, folder, environment):
    """A run folder and a gradient folder, made by the program itself."""
    for command in (["simulate", "drop.json", "-o", "run", "-q"], ["gradient", "study.json", "-o", "grad", "-q"]):
        done = subprocess.run([recoil, *command], cwd=folder, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit("the sound input fails: %s\n%s%s" % (command, done.stdout, done.stderr))
