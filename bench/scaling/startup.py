#!/usr/bin/env python3
"""Processor seconds and memory of each rank until the first step: reading or making, partitioning and distributing a mesh, its checks.

    bench/scaling/startup.py --recoil build/release/recoil --ranks 1 2 4 8 --divisions 100
    bench/scaling/startup.py --recoil build/release/recoil --ranks 1 2 4 8 --divisions 55 --file 4.1
    bench/scaling/startup.py --recoil build/release/recoil --ranks 1 2 4 8 --particles 1e6

Runs `recoil validate` on a box of divisions^3 cubes of six tetrahedra, made by recoil or with `--file` read from a Gmsh file of that version, in
text or `--binary`, or on a bar of about so many bonded `--particles`; `--scene` takes a scene instead. Ranks that wait use processor time where
there are more of them than cores: the figures are upper bounds there.
"""
import argparse
import itertools
import json
import pathlib
import struct
import sys
import tempfile

import boxes

# Reports itself the usage of the program, of one rank.
WRAPPER = """import json, os, resource, subprocess, sys
code = subprocess.run(sys.argv[2:]).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
name = os.path.join(sys.argv[1], os.environ["OMPI_COMM_WORLD_RANK"] + ".json")
open(name, "w").write(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))
sys.exit(code)
"""


def measure(options, scene, ranks):
    """Processor seconds and peak megabytes per rank."""
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        command = options.mpirun.split() + ["-n", str(ranks), sys.executable, "-c", WRAPPER, folder, options.recoil, "validate", str(scene)]
        boxes.run(command)
        return zip(*(json.loads((pathlib.Path(folder) / f"{rank}.json").read_text()) for rank in range(ranks)))


class Numbers:
    """Numbers of a Gmsh file, as lines of text or in binary: i, z and d are int, size_t and double."""

    def __init__(self, out, binary):
        self.out, self.binary = out, binary

    def add(self, kinds, *numbers):
        self.out.write(struct.pack("=" + kinds.replace("z", "Q"), *numbers) if self.binary else (" ".join(map(repr, numbers)) + "\n").encode())

    def text(self, text):
        self.out.write(text.encode())


def write_box(path, divisions, version, binary):
    """The box as a Gmsh file, with the physical groups 1 of its side x = -0.5 and 2 of its cells."""
    n, m = divisions, divisions + 1
    places = [k / n - 0.5 for k in range(m)]
    nodes = [(x, y, z) for z in places for y in places for x in places]
    corners = [1 + i + m * (j + m * k) for k in range(n) for j in range(n) for i in range(n)]
    steps = [(a, a + b, a + b + c) for a, b, c in itertools.permutations((1, m, m * m))]
    cells = [(v, v + a, v + b, v + c) for v in corners for a, b, c in steps]
    side = [v for v in corners if (v - 1) % m == 0]
    facets = [t for v in side for t in ((v, v + m, v + m + m * m), (v, v + m + m * m, v + m * m))]
    with open(path, "wb") as out:
        numbers = Numbers(out, binary)
        numbers.text(f"$MeshFormat\n{version} {int(binary)} 8\n")
        if binary:
            numbers.add("i", 1)
            numbers.text("\n")
        numbers.text("$EndMeshFormat\n")
        (write_blocks if version == "4.1" else write_lines)(numbers, nodes, facets, cells)
        numbers.text("\n$EndElements\n")


def write_lines(numbers, nodes, facets, cells):
    numbers.text(f"$Nodes\n{len(nodes)}\n")
    for tag, place in enumerate(nodes, 1):
        numbers.add("iddd", tag, *place)
    numbers.text(f"\n$EndNodes\n$Elements\n{len(facets) + len(cells)}\n")
    for kind, group, elements in (2, 1, facets), (4, 2, cells):
        for tag, element in enumerate(elements, 1):
            head = (kind, 1, 2, tag) if numbers.binary else (tag, kind, 2)
            numbers.add("i" * (len(head) + 2 + len(element)), *head, group, 1, *element)


def write_blocks(numbers, nodes, facets, cells):
    numbers.text("$Entities\n")
    numbers.add("zzzz", 0, 0, 1, 1)
    for group in 1, 2:
        numbers.add("idddddd" + "ziz", 1, *[0.0] * 6, 1, group, 0)
    numbers.text("\n$EndEntities\n$Nodes\n")
    numbers.add("zzzz", 1, len(nodes), 1, len(nodes))
    numbers.add("iiiz", 3, 1, 0, len(nodes))
    for tag in range(1, len(nodes) + 1):
        numbers.add("z", tag)
    for place in nodes:
        numbers.add("ddd", *place)
    count = len(facets) + len(cells)
    numbers.text("\n$EndNodes\n$Elements\n")
    numbers.add("zzzz", 2, count, 1, count)
    for dim, kind, elements in (2, 2, facets), (3, 4, cells):
        numbers.add("iiiz", dim, 1, kind, len(elements))
        for tag, element in enumerate(elements, 1):
            numbers.add("z" * (1 + len(element)), tag, *element)


def of_file(path):
    scene = boxes.box(1)
    scene["geometry"] = {"mesh": str(path)}
    return scene


def bar_of_particles(count):
    """A bar four times as long as wide, in an hcp lattice of about so many bonded particles, clamped at its low end, under its own weight."""
    length = 4.0
    return {
        "solver": {"type": "bonded_particles"},
        "geometry": [{"name": "bar", "generator": {"type": "box", "size": [length, 1.0, 1.0], "divisions": 1},
                      "particles": {"packing": "hcp", "radius": (length / (count * 2**2.5)) ** (1 / 3), "inside": "centre"},
                      "point_selection": [{"id": 1, "axis": "-x", "position": -0.49 * length}]}],
        "materials": {"type": "BondedParticles", "E": 1e7, "nu": 0.3, "rho": 1000, "tensile_strength": 3e5, "shear_strength": 3e5,
                      "weibull_modulus": 5},
        "gravity": [0, 0, -9.81],
        "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0, 0]}]},
        "time": {"dt": 0.001, "time_steps": 1},
    }


def make_scene(options, folder):
    """The file of the scene that the options ask for."""
    if options.scene:
        return options.scene
    if options.particles:
        scene = bar_of_particles(options.particles)
    elif options.file:
        write_box(folder / "box.msh", options.divisions, options.file, options.binary)
        scene = of_file(folder / "box.msh")
    else:
        scene = boxes.box(options.divisions)
    path = folder / "scene.json"
    path.write_text(json.dumps(scene))
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recoil", default="build/release/recoil")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--divisions", type=int, default=44)
    parser.add_argument("--file", choices=["2.2", "4.1"], help="version of a Gmsh file to read the box from")
    parser.add_argument("--binary", action="store_true", help="file")
    parser.add_argument("--particles", type=float, help="how many there are, in place of the box")
    parser.add_argument("--scene", type=pathlib.Path, help="in place of the box")
    parser.add_argument("--mpirun", default="mpirun --oversubscribe --bind-to none")
    parser.add_argument("--scratch", help="folder for the runs")
    options = parser.parse_args()
    options.recoil = str(pathlib.Path(options.recoil).resolve())
    print("| ranks | processor s, most of a rank | times ranks | peak MB, most of a rank | times ranks | over the mean |")
    print("|---" * 6 + "|")
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        scene = make_scene(options, pathlib.Path(folder))
        for ranks in options.ranks:
            seconds, peaks = measure(options, scene, ranks)
            print(f"| {ranks} | {max(seconds):.1f} | {ranks * max(seconds):.1f} | {max(peaks):.0f} | {ranks * max(peaks):.0f} "
                  f"| {max(peaks) * ranks / sum(peaks):.2f} |", flush=True)


if __name__ == "__main__":
    main()
