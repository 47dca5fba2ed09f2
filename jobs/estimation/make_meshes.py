#!/usr/bin/env python3
"""Makes the mesh files of the jobs with Gmsh (Debian: python3-gmsh). They are stored, so that a job needs no Gmsh.

    jobs/estimation/make_meshes.py [bridge puzzle tentacles kangaroo microstructure]
"""
import math
import os
import sys

import gmsh

FOLDER = os.path.dirname(os.path.abspath(__file__))


def mesh(build, size, path):
    """Writes the mesh of what build() leaves in the OpenCASCADE model, with edges of about `size`; its number of vertices."""
    gmsh.clear()
    build()
    gmsh.model.occ.synchronize()
    gmsh.option.setNumber("Mesh.MeshSizeMin", size)
    gmsh.option.setNumber("Mesh.MeshSizeMax", size)
    dim = gmsh.model.getDimension()
    gmsh.model.addPhysicalGroup(dim, [tag for _, tag in gmsh.model.getEntities(dim)], 1)
    gmsh.model.mesh.generate(dim)
    if dim == 3:
        gmsh.model.mesh.optimize("")
    gmsh.write(path)
    return len(gmsh.model.mesh.getNodes()[0])


def mesh_of(vertices, build, sizes, path):
    """The mesh whose number of vertices is nearest, found by halving the interval of sizes."""
    small, large = sizes
    found = {}
    for _ in range(14):
        size = 0.5 * (small + large)
        found[size] = mesh(build, size, path)
        small, large = (size, large) if found[size] > vertices else (small, size)
    return mesh(build, min(found, key=lambda size: abs(found[size] - vertices)), path)


def fused(parts):
    occ = gmsh.model.occ
    return occ.fuse(parts[:1], parts[1:])[0] if len(parts) > 1 else parts


def disk(x, y, rx, ry=None, angle=0):
    """An ellipse whose longer axis is turned by the angle [deg]."""
    occ = gmsh.model.occ
    tag = (2, occ.addDisk(x, y, 0, rx, ry or rx))
    occ.rotate([tag], x, y, 0, 0, 0, 1, math.radians(angle))
    return tag


def bar(a, b, thickness):
    """A rectangle along the segment from a to b, longer by half the thickness at both ends."""
    occ = gmsh.model.occ
    length, angle = math.dist(a, b) + thickness, math.atan2(b[1] - a[1], b[0] - a[0])
    tag = (2, occ.addRectangle(-0.5 * thickness, -0.5 * thickness, 0, length, thickness))
    occ.rotate([tag], 0, 0, 0, 0, 0, 1, angle)
    occ.translate([tag], *a, 0)
    return tag


def bridge():
    """A strip of 12 m by 2 m with three arches cut out of its lower side."""
    occ = gmsh.model.occ
    strip = (2, occ.addRectangle(-6, 0, 0, 12, 2))
    occ.cut([strip], [disk(x, 0, 1.6, 1.35, 0) for x in (-3.9, 0, 3.9)])


def puzzle():
    """A jigsaw piece of side 0.2 m: knobs on the right and on top, sockets on the left and below."""
    occ = gmsh.model.occ
    square = (2, occ.addRectangle(-0.1, -0.1, 0, 0.2, 0.2))
    piece = fused([square, disk(0.125, 0.01, 0.034), disk(-0.01, 0.125, 0.034)])
    occ.cut(piece, [disk(-0.075, 0.01, 0.034), disk(-0.01, -0.075, 0.034)])


def kangaroo():
    """A body with a head, two ears, a tail, an arm and two legs, made of ellipses; about 1 m high."""
    fused([disk(0, 0.48, 0.26, 0.16, 62), disk(0.12, 0.72, 0.15, 0.06, 65), disk(0.19, 0.82, 0.13, 0.075, -20),
           disk(0.14, 0.93, 0.1, 0.03, 105), disk(0.21, 0.93, 0.1, 0.03, 75), disk(-0.26, 0.24, 0.24, 0.05, 38),
           disk(0.2, 0.52, 0.13, 0.04, -30),
           disk(-0.07, 0.25, 0.2, 0.075, 80), disk(0.07, 0.25, 0.2, 0.07, 100), disk(-0.03, 0.06, 0.13, 0.045, 0),
           disk(0.12, 0.06, 0.13, 0.045, 0)])


def microstructure():
    """Two plates joined by struts whose knees bend towards each other and touch when the cell is pressed."""
    struts = [bar((0.05, 0.05), (0.95, 0.05), 0.1), bar((0.05, 0.95), (0.95, 0.95), 0.1)]
    for foot, knee in ((0.05, 0.185), (0.5, 0.285), (0.5, 0.715), (0.95, 0.815)):
        struts += [bar((foot, 0.06), (knee, 0.5), 0.05), bar((foot, 0.94), (knee, 0.5), 0.05)]
    fused(struts)


def tentacles():
    """A half ball with six bent tentacles on its flat side, which point along -x."""
    occ = gmsh.model.occ
    parts = [(3, occ.addSphere(0, 0, 0, 0.3, -1, 0, math.pi / 2))]
    for k in range(6):
        arm = (3, occ.addTorus(0, 0, 0, 0.5, 0.05, -1, 1.1))
        # The arc starts at the flat side, goes down and bends outwards.
        occ.rotate([arm], 0, 0, 0, 1, 0, 0, -math.pi / 2)
        occ.translate([arm], -0.5 + 0.02, 0, 0.02)
        occ.mirror([arm], 1, 0, 0, 0)
        occ.translate([arm], 0.2, 0, 0)
        occ.rotate([arm], 0, 0, 0, 0, 0, 1, 2 * math.pi * k / 6)
        parts.append(arm)
    whole = fused(parts)
    occ.rotate(whole, 0, 0, 0, 0, 1, 0, math.pi / 2)


def wavy_floor(path):
    """A polyline as an obstacle, whose rest lies below y = 0.02."""
    points = [(0.04 * k - 0.5, 0.02 * math.sin(2 * math.pi * (0.04 * k - 0.5) / 0.5)) for k in range(64)]
    with open(path, "w") as file:
        file.writelines("v %.17g %.17g 0\n" % point for point in points)
        file.writelines("l %d %d\n" % (k + 1, k + 2) for k in range(len(points) - 1))


MESHES = {"bridge": (1200, bridge, (0.05, 1)), "puzzle": (370, puzzle, (0.005, 0.05)), "kangaroo": (231, kangaroo, (0.02, 0.2)),
          "microstructure": (1300, microstructure, (0.005, 0.05)), "tentacles": (450, tentacles, (0.04, 0.3))}


def main():
    unknown = set(sys.argv[1:]) - set(MESHES)
    if unknown:
        raise SystemExit("no such mesh: " + ", ".join(sorted(unknown)))
    gmsh.initialize()
    gmsh.option.setNumber("General.Verbosity", 1)
    gmsh.option.setNumber("General.NumThreads", 1)
    gmsh.option.setNumber("Mesh.MshFileVersion", 2.2)
    gmsh.option.setNumber("Mesh.RandomSeed", 1)
    for name in sys.argv[1:] or MESHES:
        path = os.path.join(FOLDER, name, name + ".msh")
        print("%s: %d vertices, %d kB" % (name, mesh_of(*MESHES[name], path), os.path.getsize(path) / 1000))
    gmsh.finalize()
    wavy_floor(os.path.join(FOLDER, "puzzle", "floor.obj"))


if __name__ == "__main__":
    main()
