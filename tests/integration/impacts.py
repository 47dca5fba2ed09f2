"""`recoil impact` on shapes whose modes recoil has found: folders, their pieces as files, several ranks, signals and kills, scenes of flying
pieces and of bonded particles, wrong inputs, and the same shape from C."""
import json
import os
import shutil
import signal
import subprocess
from collections import Counter

import numpy as np

import runs
from moments import Moments
from runs import check


def cubes(size, is_full):
    """The surface of cubes of an array: vertices and triangles, normals outwards."""
    numbers, triangles = {}, []
    full = lambda at: all(0 <= c < n for c, n in zip(at, size)) and is_full(*at)
    for at in np.ndindex(*size):
        if not full(at):
            continue
        for axis in range(3):
            for side in (0, 1):
                beyond = list(at)
                beyond[axis] += 2 * side - 1
                if full(beyond):
                    continue
                corners = []
                for k in range(4):
                    corner = list(at)
                    corner[axis] += side
                    corner[(axis + 1) % 3] += k in (1, 2)
                    corner[(axis + 2) % 3] += k >= 2
                    corners.append(numbers.setdefault(tuple(corner), len(numbers)))
                if side == 0:
                    corners.reverse()
                triangles += [corners[:3], [corners[0], corners[2], corners[3]]]
    return np.array(list(numbers), float), triangles


def write_surface(path, vertices, triangles):
    """OBJ with a colour that is the place of a vertex, and its first two coordinates as texture."""
    scaled = vertices / vertices.max()
    with open(path, "w") as file:
        for x, color in zip(vertices, scaled):
            file.write("v %g %g %g %.9g %.9g %.9g\n" % (*x, *color))
        for color in scaled:
            file.write("vt %.9g %.9g\n" % (color[0], color[1]))
        for a, b, c in triangles:
            file.write("f %d/%d %d/%d %d/%d\n" % (a + 1, a + 1, b + 1, b + 1, c + 1, c + 1))


def read_obj(path):
    """Vertices with colours, faces or lines with texture, and the group of each."""
    vertices, texture, faces, groups, group = [], [], [], [], None
    with open(path) as file:
        for line in file:
            kind, *words = line.split()
            if kind == "v":
                vertices.append(list(map(float, words)))
            elif kind == "vt":
                texture.append(list(map(float, words)))
            elif kind == "g":
                group = words[0]
            elif kind in "fl":
                faces.append([tuple(int(part) - 1 for part in word.split("/")) for word in words])
                groups.append(group)
    return np.array(vertices), np.array(texture), faces, groups


def files_of(folder, left_out=("log.txt",)):
    found = {}
    for root, _, names in os.walk(folder):
        for name in names:
            if name not in left_out:
                with open(os.path.join(root, name), "rb") as file:
                    found[os.path.relpath(os.path.join(root, name), folder)] = file.read()
    return found


def load(*path):
    with open(os.path.join(*path)) as file:
        return json.load(file)


def enclosed(vertices, faces):
    corners = vertices[:, :3][np.array([[corner[0] for corner in face] for face in faces])]
    return np.einsum("ni,ni->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6


def check_pieces(folder, volume):
    """Every piece is closed and oriented, attributes are interpolated, volumes add up; returns what pieces.json says."""
    told, total, sound, colored = load(folder, "pieces.json"), 0, True, True
    for number, piece in enumerate(told["pieces"]):
        vertices, texture, faces, groups = read_obj(os.path.join(folder, piece["file"]))
        edges = Counter((face[k][0], face[(k + 1) % 3][0]) for face in faces for k in range(3))
        sound = sound and all(count == 1 and edges[b, a] == 1 for (a, b), count in edges.items())
        own = enclosed(vertices, faces)
        sound = sound and abs(own - piece["volume"]) < 1e-9 * own
        total += own
        beyond = {entry["piece"] for entry in piece["neighbours"]}
        sound = sound and set(groups) <= {"surface"} | {"fault_%d" % n for n in beyond} and number not in beyond
        for face, group in zip(faces, groups):
            if group != "surface":
                continue
            for v, t in face:
                # Colours are places over the largest coordinate, and texture the first two of them.
                colored = colored and np.allclose(vertices[v, 3:], vertices[v, :3] / SCALE, atol=1e-5) and np.allclose(texture[t], vertices[v, :2] / SCALE, atol=1e-5)
    check(sound, "%s: %d closed, oriented pieces" % (os.path.basename(folder), len(told["pieces"])))
    check(colored, "%s: colours and texture of the input" % os.path.basename(folder))
    check(abs(total - volume) < 1e-6 * volume, "%s: volumes add up to %.1e" % (os.path.basename(folder), abs(total / volume - 1)))
    return told


SCALE = 11.0
# Two blocks and a thin bar between them.
DUMBBELL = cubes((11, 3, 3), lambda x, y, z: not 3 <= x < 8 or y == z == 1)
VOLUME = 2 * 27 + 5
IMPACTS = {"impacts": [{"place": [0, 1.5, 1.5], "direction": [1, 0, 0], "speed": 4}, {"place": [5.5, 1.5, 2], "magnitude": 2, "projection": "modes"}],
           "random": {"count": 2, "seed": 3, "magnitude": 4}, "bodies": {"E": 1e6, "tend": 4e-3}, "bonds": {"radius": 0.3}}


def prepare(recoil):
    """Modes of the dumbbell in a cage, and of a bar of triangles."""
    write_surface(recoil.path("dumbbell.obj"), *DUMBBELL)
    shape = {"geometry": {"mesh": "dumbbell.obj", "cage": {"elements": 1200}}, "modes": {"count": 3}}
    recoil.run(1, "fracture", recoil.write_scene("dumbbell", shape), "-o", recoil.path("modes"), "-q")
    bar = {"geometry": {"generator": {"type": "rectangle", "size": [4, 1], "divisions": [24, 6]}}, "modes": {"count": 3}}
    recoil.run(1, "fracture", recoil.write_scene("bar", bar), "-o", recoil.path("modes2"), "-q")
    recoil.write_scene("impacts", IMPACTS)
    return recoil.path("modes"), recoil.path("impacts.json")


def pieces_in_3d(recoil, modes, impacts):
    folder = recoil.path("pieces")
    recoil.run(1, "impact", modes, impacts, "-o", folder, "-q")
    told = [check_pieces(os.path.join(folder, "fractured_%d" % k), VOLUME) for k in range(4)]
    first = told[0]
    check(first["sums"]["pieces"] >= 2, "the block that is hit comes off")
    mass = sum(piece["mass"] for piece in first["fragments"][0]["pieces"] and first["pieces"])
    check(abs(mass - VOLUME) < 1e-6 * VOLUME, "masses with the density 1 of the shape")
    momentum = sum(fragment["cell_volume"] * np.array(fragment["velocity"]) for fragment in first["fragments"])
    whole = sum(fragment["cell_volume"] for fragment in first["fragments"])
    check(np.allclose(momentum, [4 * whole, 0, 0], atol=1e-6 * whole), "momentum %s of the impact" % (momentum / whole))
    check(any(face["parted"] for face in first["faces"]), "faces that opened are told")
    listed = load(folder, "manifest.json")
    check([entry["pieces"] for entry in listed["impacts"]] == [entry["sums"]["pieces"] for entry in told], "manifest")
    text = recoil.run(1, "info", folder)[1]
    check(text.count("sound") == 4 and "4 impacts in 3D" in text, "recoil info")
    parallel = recoil.path("pieces-2")
    recoil.run(2, "impact", modes, impacts, "-o", parallel, "-q")
    check(files_of(folder) == files_of(parallel), "two ranks write the same files to the bit")
    with open(os.path.join(parallel, "fractured_1", "piece_0.obj"), "a") as file:
        file.write("#\n")
    check("DAMAGED: piece_0.obj is damaged" in recoil.run(1, "info", parallel, expect=4)[1], "recoil info finds a damaged piece")
    ply = recoil.path("pieces-ply")
    recoil.run(1, "impact", modes, recoil.write_scene("ply", {"impacts": IMPACTS["impacts"][0], "output": {"format": "ply", "smoothing_length": 0}}), "-o", ply, "-q")
    with open(os.path.join(ply, "fractured_0", "piece_0.ply"), "rb") as file:
        check(file.read(4) == b"ply\n", "PLY")
    return folder


def flying(recoil, folder):
    scene = os.path.join(folder, "fractured_0", "scene.json")
    text = recoil.run(1, "validate", scene)[1]
    bodies = [entry["name"] for entry in load(scene)["geometry"] if "mesh" in entry]
    check(len(bodies) >= 2 and all(name in text for name in bodies), "the scene of flying pieces is valid")
    run = recoil.simulate(1, scene, "flight")
    told = runs.summary(run)
    check(told["status"] == "done", "pieces fly: %s" % told["status"])
    check(told["intersections"] == 0, "no intersections")
    bonded = os.path.join(folder, "bonded", "scene.json")
    text = recoil.run(1, "validate", bonded)[1]
    check("bonds" in text, "the scene of bonded particles is valid")
    with open(os.path.join(folder, "bonded", "bonds.csv")) as file:
        header, *rows = file.read().split()
    column = header.split(",").index("tensile_strength")
    strengths = Counter(float(row.split(",")[column]) for row in rows)
    check(abs(min(strengths) - 2e4) < 1e-9 * 2e4 and max(strengths) == 1e5 and strengths[1e5] > sum(strengths.values()) / 2, "bonds are weak across the first mode: %s" % dict(strengths))


def outlines(recoil):
    folder = recoil.path("outlines")
    impacts = recoil.write_scene("impacts2", {"impacts": {"place": [2, 0]}, "bodies": {"tend": 2e-3, "floor": False}})
    recoil.run(1, "impact", recoil.path("modes2"), impacts, "-o", folder, "-q")
    told = load(folder, "fractured_0", "pieces.json")
    check(told["sums"]["pieces"] >= 2 and abs(told["sums"]["volume"] - 4) < 1e-12, "a bar of triangles breaks")
    for piece in told["pieces"]:
        vertices, _, lines, _ = read_obj(os.path.join(folder, "fractured_0", piece["file"]))
        begins, ends = [line[0][0] for line in lines], [line[1][0] for line in lines]
        check(sorted(begins) == sorted(ends) == list(range(len(vertices))), "%s is closed" % piece["file"])
        check(isinstance(piece["inertia"], float), "polar moment")
    recoil.simulate(1, os.path.join(folder, "fractured_0", "scene.json"), "flight2")
    check(True, "pieces in 2D fly")


def disturbed(recoil, modes, impacts, whole, library):
    """Signals and kills while files become whole, then --restart: the same files."""
    moments, expected = Moments(recoil, library), files_of(whole, ("log.txt", "inputs.json"))
    folder = recoil.path("disturbed")
    for number, file, count, ranks in ((signal.SIGTERM, "pieces.json", 2, 1), (signal.SIGTERM, "bonds.csv", 1, 2), (signal.SIGKILL, "impacts.json", 1, 1),
                                       (signal.SIGKILL, "piece_0.obj", 3, 2), (signal.SIGKILL, "pieces.json", 4, 1)):
        shutil.rmtree(folder, ignore_errors=True)
        ended = moments.run(folder, 1, "file:" + file, number, "impact", modes, impacts, "-o", folder, "-q", count=count)
        name = "%s at %s %d" % (signal.Signals(number).name, file, count)
        check(ended.sent and ended.code == (75 if number == signal.SIGTERM else 9), "%s: ends with %d" % (name, ended.code))
        check(not os.path.exists(os.path.join(folder, "manifest.json")), name + ": no manifest yet")
        check("interrupted after" in recoil.run(1, "info", folder)[1], name + ": recoil info")
        recoil.run(ranks, "impact", "--restart", folder, "-q")
        check(files_of(folder, ("log.txt", "inputs.json")) == expected, name + ": the same after --restart")


def refused(recoil, modes, impacts, folder):
    def says(text, *arguments, code=2):
        got, message = recoil.run(1, *arguments, expect=None)
        check(got == code and text in message, "refused: %s" % text if got == code and text in message else "exit %d: %s" % (got, message))

    out = recoil.path("refused")
    far = recoil.write_scene("far", {"impacts": [{"place": [1500, 1, 1]}]})
    says("m from the shape, which lies between", "impact", modes, far, "-o", out)
    says("needs modes, impacts and a folder", "impact", modes)
    says("is no folder of recoil fracture", "impact", folder, impacts, "-o", out)
    says("no such file", "impact", modes, recoil.path("none.json"), "-o", out)
    says("is not empty", "impact", modes, impacts, "-o", folder)
    says("is no folder of recoil impact", "impact", "--restart", modes)
    says("no particle fits", "impact", modes, recoil.write_scene("thick", {"random": {"count": 1}, "bonds": {"radius": 30}}), "-o", out)
    check(not os.path.exists(out), "nothing is left of refused impacts")
    changed = recoil.path("changed")
    shutil.copytree(modes, recoil.path("modes-changed"))
    recoil.run(1, "impact", recoil.path("modes-changed"), impacts, "-o", changed, "-q")
    with open(os.path.join(recoil.path("modes-changed"), "modes.json"), "a") as file:
        file.write("\n")
    says("has changed", "impact", "--restart", changed)


def from_c(recoil, modes, folder, example):
    done = subprocess.run([example, modes, "0", "1.5", "1.5", "2"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    text = done.stdout.decode()
    check(done.returncode == 0, "C example: " + text.splitlines()[0])
    # Twice the magnitude with twice the sigma is the same.
    same = recoil.path("like-c")
    recoil.run(1, "impact", modes, recoil.write_scene("like-c", {"impacts": {"place": [0, 1.5, 1.5], "magnitude": 4, "sigma": 2}}), "-o", same, "-q")
    told = load(same, "fractured_0", "pieces.json")
    volumes = [float(line.split("volume ")[1].split(",")[0]) for line in text.splitlines()[1:]]
    check(volumes == [piece["volume"] for piece in told["pieces"]], "C gives the pieces of the command to the bit")
    done = subprocess.run([example, folder, "0", "0", "0", "1"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    check(done.returncode == 2 and b"is no folder of recoil fracture" in done.stdout, "C example refuses another folder")


with runs.Recoil(("--moments", str), ("--example", str)) as recoil:
    modes, impacts = prepare(recoil)
    folder = pieces_in_3d(recoil, modes, impacts)
    flying(recoil, folder)
    outlines(recoil)
    disturbed(recoil, modes, impacts, folder, recoil.arguments.moments)
    refused(recoil, modes, impacts, folder)
    from_c(recoil, modes, folder, os.path.abspath(recoil.arguments.example))
