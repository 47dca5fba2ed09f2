"""Bodies of particles that fill closed surfaces from files: the particles of the same body of tetrahedra, to the bit, whatever the format,
moved, turned, mirrored and copied; surfaces that cannot be filled are refused with place and cure; and what validate and the log tell of bodies."""
import itertools
import re
import struct

import h5py
import numpy as np
import runs

SIZE = np.array([1.0, 0.75, 0.5])
TETRAHEDRA = {"type": "box", "size": list(SIZE), "divisions": 1}
TURNED = {"rotation": [20, 30, 40], "translation": [1, 2, 3]}
TRANSFORMATIONS = {"as it is": {}, "turned": TURNED, "scaled": dict(TURNED, scale=[2, 1, 1.5]), "mirrored": dict(TURNED, scale=[-1, 1, 1]),
                   "of given size": dict(TURNED, dimensions=[1.5, 1, 0.5])}


def box_surface():
    """Corners and outward triangles of the generated box; every coordinate is exact in single precision."""
    corners = np.array(list(itertools.product((-0.5, 0.5), repeat=3))) * SIZE
    triangles = []
    for axis in range(3):
        for side in (0, 1):
            u, v = 4 >> (axis + 1) % 3, 4 >> (axis + 2) % 3
            start = side * (4 >> axis)
            a, b, c, d = start, start + u, start + u + v, start + v
            triangles += [(a, b, c), (a, c, d)] if side else [(a, c, b), (a, d, c)]
    return corners, np.array(triangles)


def obj_text(corners, triangles):
    return "".join("v %r %r %r\n" % tuple(map(float, p)) for p in corners) + "".join("f %d %d %d\n" % tuple(t + 1) for t in triangles)


def msh_text(corners, triangles):
    return "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%d\n" % len(corners) + \
        "".join("%d %r %r %r\n" % (n + 1, *map(float, p)) for n, p in enumerate(corners)) + "$EndNodes\n$Elements\n%d\n" % len(triangles) + \
        "".join("%d 2 2 0 1 %d %d %d\n" % (n + 1, *(t + 1)) for n, t in enumerate(triangles)) + "$EndElements\n"


def ascii_stl_text(corners, triangles):
    return "solid box\n" + "".join("facet normal 0 0 0\nouter loop\n" + "".join("vertex %r %r %r\n" % tuple(map(float, corners[k])) for k in t) +
                                   "endloop\nendfacet\n" for t in triangles) + "endsolid box\n"


def binary_stl(corners, triangles):
    return bytes(80) + struct.pack("<I", len(triangles)) + b"".join(struct.pack("<12fH", 0, 0, 0, *corners[t].ravel(), 0) for t in triangles)


FORMATS = {"box.obj": obj_text, "box.msh": msh_text, "box.stl": ascii_stl_text, "binary.stl": binary_stl}


def write(recoil, name, content):
    with open(recoil.path(name), "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())
    return name


def scene(body, **particles):
    return {"geometry": [dict(dict({"name": "body"}, **body), particles=dict({"radius": 0.06}, **particles))],
            "materials": {"type": "BondedParticles", "E": 1e7, "nu": 0.3, "rho": 1000}, "boundary_conditions": {},
            "time": {"dt": 0.001, "time_steps": 1}, "solver": {"type": "bonded_particles"}}


def bits(recoil, what):
    """Particles and bonds that a scene starts with."""
    folder = recoil.simulate(1, recoil.write_scene("filled", what), "filled", "--steps", 0)
    with h5py.File(folder + "/trajectory/mesh.h5", "r") as file:
        return [file[name][:] for name in ("coordinates", "radius", "connectivity")]


def check_same(found, expected, text):
    same = all(a.shape == b.shape and (a == b).all() for a, b in zip(found, expected))
    runs.check(same, "%s: %d particles, %d bonds, those of the tetrahedra" % (text, len(found[0]), len(found[2])))


def check_formats(recoil):
    for name, form in FORMATS.items():
        write(recoil, name, form(*box_surface()))
    for (how, transformation), name in zip(TRANSFORMATIONS.items(), itertools.cycle(FORMATS)):
        expected = bits(recoil, scene({"generator": TETRAHEDRA, "transformation": transformation}))
        runs.check(len(expected[0]) > 100, "%s: %d particles" % (how, len(expected[0])))
        for name in [name] if transformation else FORMATS:
            check_same(bits(recoil, scene({"mesh": name, "transformation": transformation})), expected, "%s, %s" % (name, how))
    for particles in ({"packing": "fcc", "inside": "centre", "rotation": [10, 0, 0]}, {"packing": "random", "radius": [0.06, 0.08], "seed": 3}):
        check_same(bits(recoil, scene({"mesh": "box.stl"}, **particles)), bits(recoil, scene({"generator": TETRAHEDRA}, **particles)), str(particles))
    copies = {"type": "mesh_array", "array": {"size": [2, 1, 2], "offset": 1}}
    check_same(bits(recoil, scene(dict(copies, mesh="box.obj"))), bits(recoil, scene(dict(copies, generator=TETRAHEDRA))), "copies")


def check_ball(recoil):
    """The boundary of a mesh of tetrahedra, written as a surface."""
    n = 8
    polar, around = np.pi * np.arange(1, n) / n, np.pi * np.arange(2 * n) / n
    ring = np.array([[np.sin(p) * np.cos(a), np.sin(p) * np.sin(a), np.cos(p)] for p in polar for a in around])
    corners = np.vstack([ring, [[0, 0, 1], [0, 0, -1], [0, 0, 0]]]).astype(np.float32).astype(float)
    top, bottom, centre = len(ring), len(ring) + 1, len(ring) + 2
    at = lambda i, j: i * 2 * n + j % (2 * n)  # noqa: E731
    triangles = [(at(i, j), at(i + 1, j), at(i + 1, j + 1)) for i in range(n - 2) for j in range(2 * n)]
    triangles += [(at(i, j), at(i + 1, j + 1), at(i, j + 1)) for i in range(n - 2) for j in range(2 * n)]
    triangles = np.array(triangles + [(top, at(0, j), at(0, j + 1)) for j in range(2 * n)] + [(bottom, at(n - 2, j + 1), at(n - 2, j)) for j in range(2 * n)])
    solid = msh_text(corners, triangles).replace(" 2 2 0 1 ", " 4 2 0 1 %d " % (centre + 1))
    expected = bits(recoil, scene({"mesh": write(recoil, "ball.msh", solid)}, radius=0.09))
    for name, form in (("ball.obj", obj_text), ("surface.msh", msh_text), ("ball.stl", binary_stl)):
        check_same(bits(recoil, scene({"mesh": write(recoil, name, form(corners, triangles))}, radius=0.09)), expected, name)
    folder = recoil.simulate(2, recoil.path("filled.json"), "on 2")
    runs.check((runs.coordinates(folder) == expected[0]).all(), "on 2 ranks: the same")


def check_mixed(recoil):
    """Tetrahedra and surfaces in one scene, and a surface as an obstacle: each is what its entry says."""
    boxes = [{"name": name, "transformation": {"translation": [x, 0, 0]}, "particles": {"radius": 0.06}} for name, x in (("a", 0), ("b", 2), ("c", 4))]
    with_surfaces = dict(scene({}), geometry=[dict(boxes[0], mesh="box.stl"), dict(boxes[1], generator=TETRAHEDRA), dict(boxes[2], mesh="box.obj")])
    solid = dict(scene({}), geometry=[dict(body, generator=TETRAHEDRA) for body in boxes])
    check_same(bits(recoil, with_surfaces), bits(recoil, solid), "three bodies")
    floor = dict({"name": "floor", "mesh": "box.stl", "is_obstacle": True, "transformation": {"translation": [0, 0, -1]}})
    with_floor = dict(scene({"mesh": "box.stl"}), contact={"enabled": True, "dhat": 0.005})
    with_floor["geometry"].append(floor)
    check_same(bits(recoil, with_floor), bits(recoil, scene({"generator": TETRAHEDRA})), "beside an obstacle from the same file")


def check_wrong(recoil):
    corners, triangles = box_surface()
    turned = triangles.copy()
    turned[3] = turned[3][::-1]
    flat = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 1 3 2\n"
    where = "/geometry/0"
    wrong = [
        ("an open surface", "open.stl", ascii_stl_text(corners, triangles[1:]), {}, ["open.stl", "not closed: 3 edges", "close holes"]),
        ("one without a lid", "lid.msh", msh_text(corners, triangles[:-2]), {}, ["lid.msh", "not closed: 4 edges", "close holes"]),
        ("a triangle turned round", "turned.obj", obj_text(corners, turned), {}, ["turned.obj", "3 edges are not oriented alike", "normals point outwards"]),
        ("a surface without volume", "flat.obj", flat, {}, ["flat.obj", "encloses no volume"]),
        ("a file of vertices", "points.obj", obj_text(corners, triangles[:0]), {}, ["points.obj", "neither tetrahedra nor triangles", "closed surface"]),
        ("a mesh without elements", "nothing.msh", msh_text(corners, triangles[:0]), {}, ["nothing.msh"]),
        ("an empty STL file", "empty.stl", "", {}, ["empty.stl"]),
        ("an empty OBJ file", "empty.obj", "", {}, ["empty.obj", "is empty"]),
        ("an empty MSH file", "empty.msh", "", {}, ["empty.msh"]),
        ("a refined surface", "refined.obj", obj_text(corners, triangles), {"n_refs": 1}, [where + "/n_refs", "leave it out"]),
    ]
    for name, file, content, more, parts in wrong:
        path = recoil.write_scene("wrong", scene(dict({"mesh": write(recoil, file, content)}, **more)))
        code, text = recoil.run(1, "validate", path, expect=None)
        missing = [part for part in [where] + parts if part not in text]
        runs.check(code == 2 and not missing, "%s: %d, %s%s" % (name, code, text.strip(), " MISSING %s" % missing if missing else ""))
    path = recoil.write_scene("wrong", scene({"mesh": "open.stl"}))
    code, text = recoil.run(2, "simulate", path, "-o", recoil.path("wrong"), expect=None)
    runs.check(code == 2 and "not closed" in text, "simulate says so on 2 ranks")
    elastic = {"geometry": [{"mesh": "box.stl"}], "materials": {"type": "NeoHookean", "E": 1e7, "nu": 0.3, "rho": 1000}, "time": {"dt": 1, "time_steps": 1}}
    code, text = recoil.run(1, "validate", recoil.write_scene("elastic", elastic), expect=None)
    runs.check(code == 2 and "tetrahedra" in text, "finite elements refuse a surface as before")


def number(text, name):
    """The number behind a name, which stands once in a text."""
    found = re.findall(r"\b%s (-?[0-9.e+-]*[0-9])" % re.escape(name), text)
    runs.check(len(found) == 1, "%s is told once: %s" % (name, found))
    return float(found[0]) if found else np.nan


def near(text, name, expected, digits):
    found = number(text, name)
    runs.check(abs(found / expected - 1) < 10.0 ** (1 - digits), "%s %g, expected %.6g" % (name, found, expected))


def check_lattice(text, young, poisson):
    """Against sums over the bonds of an fcc lattice, in which every particle has the same ones."""
    pairs = [(i, j, s) for i in range(3) for j in range(i) for s in (1, -1)]
    directions = np.array([np.eye(3)[i] + s * np.eye(3)[j] for i, j, s in pairs]) / np.sqrt(2)
    k_n, k_t, volume = young * np.pi / 2, young * np.pi / 4 / (1 + poisson), 4 * np.sqrt(2)  # of radius 1
    along = sum(4 * np.einsum("i,j,k,l", n, n, n, n) for n in directions) / volume
    across = sum(np.einsum("i,j,kl", n, n, np.eye(3)) for n in directions) / volume * 4
    across = sum(np.transpose(across, order) for order in ((0, 2, 1, 3), (0, 2, 3, 1), (2, 0, 1, 3), (2, 0, 3, 1))) / 4
    tensor = (k_n - k_t) * along + k_t * across
    voigt = [(0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1)]
    C = np.array([[tensor[a + b] for b in voigt] for a in voigt])
    for name in ("11", "12", "13", "33", "44", "66"):
        near(text, "C_" + name, C[int(name[0]) - 1, int(name[1]) - 1], 4)
    S = np.linalg.inv(C)
    for name, expected, digits in (("E_x", 1 / S[0, 0], 4), ("E_z", 1 / S[2, 2], 4), ("nu_xy", -S[0, 1] / S[0, 0], 3), ("nu_zx", -S[2, 0] / S[2, 2], 3),
                                   ("K", C[:3, :3].sum() / 9, 4)):
        near(text, name, expected, digits)
    bounds = 1 / (2 * (S[0, 0] - S[0, 1]) * 2 / 5 + S[3, 3] * 3 / 5), 2 / 5 * (C[0, 0] - C[0, 1]) / 2 + 3 / 5 * C[3, 3]
    near(text, "G", np.mean(bounds), 4)


def check_report(recoil):
    radius, young, poisson, dt = 0.06, 1e7, 0.2, 0.01
    what = dict(scene({"generator": TETRAHEDRA}, radius=radius, packing="fcc"), time={"dt": dt, "time_steps": 1})
    what["materials"]["nu"] = poisson
    coordinates, _, bonds = bits(recoil, what)
    path = recoil.write_scene("report", what)
    text = recoil.run(1, "validate", path)[1]
    print(text)
    runs.check("valid, 3D, %d particles, %d bonds, 0 obstacle(s)" % (len(coordinates), len(bonds)) in text and
               not any(word in text for word in ("Jacobian", "order", "cells", "vertices")), "validate counts particles and bonds, and no elements")
    volume, sphere = 4 * np.sqrt(2) * radius ** 3, 4 / 3 * np.pi * radius ** 3
    step = 2 / np.sqrt(17.9 * young * np.pi * radius / 2 / (1000 * volume))
    runs.check("  body: %d particles, %d bonds" % (len(coordinates), len(bonds)) in text and "radius 0.06 m" in text and
               "%.6g kg/m^3 of the bulk, %.6g kg/m^3 of the spheres" % (1000, 1000 * volume / sphere) in text, "counts, radius, densities")
    for name, expected, digits in (("coordination number", 2 * len(bonds) / len(coordinates), 3), ("mass", 1000 * volume * len(coordinates), 6),
                                   ("E", young, 6), ("nu", poisson, 6), ("time step T", step, 4), ("dt", dt / step, 4)):
        near(text, name, expected, digits)
    check_lattice(text, young, poisson)
    lines = [line.strip() for line in text.splitlines()[1:] if line.strip()]
    runs.check(len(lines) == 6 and recoil.run(3, "validate", path)[1].count(lines[-1]) == 1, "six lines, the same on 3 ranks")
    folder = recoil.simulate(1, path, "report")
    with open(folder + "/log.txt") as file:
        log = file.read()
    runs.check(all(line in log for line in lines), "the log tells them, too")
    still = dict(scene({"generator": TETRAHEDRA}, packing="random", radius=[0.07, 0.09]), time={"dt": 1, "time_steps": 1, "quasistatic": True})
    text = recoil.run(1, "validate", recoil.write_scene("report", still))[1]
    runs.check(re.search(r"radius 0\.07\d+ to 0\.0[89]\d* m", text) and "dt" not in text and "lattice" not in text, "a random packing at rest: " + text)
    write(recoil, "free.csv", "x,y,z,radius\n0,0,0,0.1\n1,0,0,0.2\n")
    free = dict(scene({}), geometry=[{"name": "free", "particles": {"file": "free.csv"}}])
    text = recoil.run(1, "validate", recoil.write_scene("report", free))[1]
    runs.check("2 particles, 0 bonds" in text and "no bonds" in text and "1000 kg/m^3 of the spheres" in text and "nan" not in text, "free spheres: " + text)


def check_slices(recoil):
    """So many particles that all ranks make them: numbers, strengths and states are those of one rank, also of a run that goes on."""
    what = scene({"generator": {"type": "box", "size": [2.0, 1.0, 0.9], "divisions": 1}}, radius=0.018)
    what["geometry"] += [dict(what["geometry"][0], name=name, transformation={"translation": [0, 3 * (k + 1), 0]}, particles=particles)
                         for k, (name, particles) in enumerate((("turned", {"radius": 0.03, "packing": "fcc", "rotation": [20, 0, 10]}),
                                                                ("random", {"radius": 0.15, "packing": "random", "bond_tolerance": 0.01})))]
    what["materials"].update(tensile_strength=1e4, weibull_modulus=5)
    what["initial_conditions"] = {"velocity": [{"body": "body", "value": ["2000*x", "y", 0]}]}
    what["solver"]["bonded_particles"] = {"integrator": "leapfrog", "max_imbalance": 100}
    what["time"] = {"dt": 1.5e-7, "time_steps": 2}
    path = recoil.write_scene("slices", what)
    whole, slices = (recoil.simulate(ranks, path, "slices%d" % ranks) for ranks in (1, 3))
    broken = runs.state(whole, field="broken")
    runs.check(len(runs.coordinates(whole)) > 50000 and 0.001 < broken.mean() < 0.5, "%d particles, %.3f of their bonds break" % (len(runs.coordinates(whole)), broken.mean()))
    with h5py.File(whole + "/trajectory/mesh.h5", "r") as a, h5py.File(slices + "/trajectory/mesh.h5", "r") as b:
        for name in ("coordinates", "radius", "body", "connectivity"):
            runs.check((a[name][:] == b[name][:]).all(), "made by three ranks: %s to the bit" % name)
    same = lambda a, b, *more: all((runs.state(a, field=field) == runs.state(b, field=field)).all() for field in ("u", "v", "broken", *more))  # noqa: E731
    runs.check(same(slices, whole), "the same states to the bit")
    owners = np.bincount(runs.state(slices, field="rank").ravel().astype(int))
    runs.check(owners.max() < 1.05 * owners.mean(), "particles of the ranks: %s" % owners)
    folder = recoil.simulate(3, path, "slices again", "--steps", 1)
    recoil.run(3, "simulate", "--restart", folder, "-q", "--steps", 2)
    runs.check(same(folder, slices, "rank"), "continued on three ranks: the same bits and owners")


with runs.Recoil() as recoil:
    check_report(recoil)
    check_formats(recoil)
    check_ball(recoil)
    check_mixed(recoil)
    check_wrong(recoil)
    check_slices(recoil)
