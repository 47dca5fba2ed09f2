"""A scene and a study that read every kind of file: mesh, selection, material data; modes, observations, a reference."""
import h5py
import numpy as np

from pieces import material, plane
from studies import exact

COLUMNS, ROWS = 4, 2


def vertex(i, j):
    return i * (ROWS + 1) + j


def write_mesh(path):
    """A plate of triangles; those of the right half have the volume id 2."""
    points = [(0.25 * i, 0.25 * j + 0.06, 0) for i in range(COLUMNS + 1) for j in range(ROWS + 1)]
    triangles = []
    for i in range(COLUMNS):
        for j in range(ROWS):
            a, b, c, d = vertex(i, j), vertex(i + 1, j), vertex(i + 1, j + 1), vertex(i, j + 1)
            triangles += [(a, b, c, 1 + (2 * i >= COLUMNS)), (a, c, d, 1 + (2 * i >= COLUMNS))]
    with open(path, "w") as file:
        file.write("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%d\n" % len(points))
        file.writelines("%d %.6f %.6f %.6f\n" % (n + 1, *p) for n, p in enumerate(points))
        file.write("$EndNodes\n$Elements\n%d\n" % len(triangles))
        file.writelines("%d 2 2 %d 1 %d %d %d\n" % (n + 1, t[3], t[0] + 1, t[1] + 1, t[2] + 1) for n, t in enumerate(triangles))
        file.write("$EndElements\n")


def write_selection(path):
    """The left side has the surface id 1."""
    with open(path, "w") as file:
        file.writelines("1 %d %d\n" % (vertex(0, j), vertex(0, j + 1)) for j in range(ROWS))


def write_field(path):
    """Young's modulus and density per element."""
    with h5py.File(path, "w") as file:
        file["E"] = np.linspace(1e5, 2e5, 2 * COLUMNS * ROWS)
        file["rho"] = np.linspace(1000, 1200, 2 * COLUMNS * ROWS)


def scene(recoil, steps=6, **more):
    """A plate that is held on its left side and falls on a plane; its files are plate.msh, sides.txt and young.h5."""
    mesh, sides, young = recoil.path("plate.msh"), recoil.path("sides.txt"), recoil.path("young.h5")
    write_mesh(mesh)
    write_selection(sides)
    write_field(young)
    soft = material({"file": young, "dataset": "E"}, 0.3, 1000, id=1, psi=20)
    return dict({
        "geometry": [{"name": "plate", "mesh": mesh, "surface_selection": sides}, plane("floor", [0, 1])],
        "materials": [soft, material(1e5, 0.35, {"file": young, "dataset": "rho"}, id=2, phi=10)],
        "gravity": [0, -9.81],
        "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, "-0.1*t"]}]},
        "initial_conditions": {"velocity": [{"body": "plate", "value": [0.4, -3]}]},
        "contact": {"enabled": True, "dhat": 0.01, "epsv": 0.2, "friction_coefficient": 0.3},
        "solver": {"contact": {"barrier_stiffness": 1e7}, "nonlinear": exact()},
        "time": {"dt": 0.005, "time_steps": steps, "integrator": "BDF2"},
        "output": {"chunk": 2, "fields": ["von_mises"]},
    }, **more)


def study(recoil, scenes, reference):
    """Parameters and objectives for the experiments {name: path of its scene}; its files are modes.h5, seen.csv and `reference`,
    a run folder on the same mesh."""
    modes, seen = recoil.path("modes.h5"), recoil.path("seen.csv")
    with h5py.File(modes, "w") as file:
        file["a"] = np.full(((COLUMNS + 1) * (ROWS + 1), 2), [0.0, 1.0])
        file["b"] = np.linspace(0, 0.1, 2 * (COLUMNS + 1) * (ROWS + 1)).reshape(-1, 2)
    with open(seen, "w") as file:
        file.write("time,x,y\n0,0.5,0.35\n0.1,0.52,0.2\n")
    name = next(iter(scenes))
    return {
        "experiments": [{"name": e, "scene": path} for e, path in scenes.items()],
        "parameters": [{"name": "rho", "quantity": "density", "per": "element", "initial": 1000},
                       {"name": "mu", "quantity": "friction", "bodies": ["plate", "floor"], "initial": 0.3},
                       {"name": "form", "quantity": "shape", "basis": {"modes": modes}, "experiment": name}],
        "objectives": [{"name": "path", "type": "center_of_mass", "target": seen, "experiment": name},
                       {"name": "there", "type": "target_displacement", "reference": reference, "experiment": name},
                       *({"name": "stress-" + e, "type": "stress_norm", "p": 2, "weight": 1e-6, "experiment": e} for e in scenes)],
        "sweep": {"tolerance": 1e-13}, "check": {"directions": 1, "steps": [1e-4, 1e-5, 1e-6]},
    }
