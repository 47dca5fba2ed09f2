"""scripts/fracture_page.py: what the page holds breaks shapes as `recoil impact` does, in 3D with smooth pieces and in 2D."""
import base64
import json
import os
import re
import subprocess
import sys

import numpy as np

import runs

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "fracture_page.py")


def unpacked(text, kind, width):
    return np.frombuffer(base64.b64decode(text), kind).reshape(-1, width)


def data_of(page):
    with open(page) as file:
        return json.loads(re.search(r"^const data = (.*);$", file.read(), re.MULTILINE).group(1))


def felt(data, place, projection):
    """By the page: of an impact at the vertex of any mesh that is nearest to the place."""
    count = len(data["volumes"])
    points = np.concatenate([unpacked(mesh["points"], "<f4", 3) for mesh in data["meshes"]])
    responses = np.concatenate([unpacked(mesh["responses"], "<f4", count) for mesh in data["meshes"]])
    x = responses[np.argmin(np.linalg.norm(points - place, axis=1))].astype(float)
    if projection == "modes":
        modes = unpacked(data["modes"], "<f4", len(unpacked(data["modes"], "<f4", 1)) // count)
        x = modes @ (modes.T @ (np.array(data["masses"]) * x))
    return x


def fragments(data, x, magnitude):
    number = list(range(len(x)))
    for _ in number:
        for a, b in data["links"]:
            if magnitude * abs(x[a] - x[b]) < data["sigma"]:
                number[a] = number[b] = min(number[a], number[b])
    return sorted(sorted(p for p in range(len(x)) if number[p] == n) for n in set(number))


def check_shape(recoil, name, shape, impacts, smooth):
    modes, pieces = recoil.path(name + "-modes"), recoil.path(name + "-pieces")
    recoil.run(1, "fracture", recoil.write_scene(name, shape), "-o", modes)
    recoil.run(1, "impact", modes, recoil.write_scene(name + "-impacts", {"impacts": impacts}), "-o", pieces)
    page = recoil.path(name + ".html")
    words = ["--pieces", os.path.join(pieces, "fractured_0")] if smooth else []
    subprocess.run([sys.executable, SCRIPT, modes, "-o", page, *words], check=True, stdout=subprocess.DEVNULL)
    data = data_of(page)
    for k, impact in enumerate(impacts):
        with open(os.path.join(pieces, "fractured_%d" % k, "pieces.json")) as file:
            wanted = sorted(fragment["mesh_pieces"] for fragment in json.load(file)["fragments"])
        place = np.array([*impact["place"], 0, 0][:3])
        found = fragments(data, felt(data, place, impact.get("projection", "pieces")), impact["magnitude"])
        runs.check(found == wanted, "%s, impact %d: %d fragments: %s, %s" % (name, k, len(wanted), found, wanted))
    return modes, pieces


def refused(recoil, words, text):
    done = subprocess.run([sys.executable, SCRIPT, *words], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    runs.check(done.returncode == 1 and text in done.stderr and "Traceback" not in done.stderr, "refused: %s" % done.stderr.strip())


def main():
    with runs.Recoil() as recoil:
        bar = {"geometry": {"generator": {"type": "box", "size": [4, 1, 1], "divisions": [12, 3, 3]}}, "modes": {"count": 3}}
        corner = {"place": [-2, -0.5, -0.5]}
        modes, pieces = check_shape(recoil, "bar", bar, [dict(corner, magnitude=1e6), dict(corner, magnitude=0.5), dict(corner, magnitude=2),
                                                         dict(corner, magnitude=1, projection="modes")], smooth=True)
        plate = {"geometry": {"generator": {"type": "rectangle", "size": [3, 1], "divisions": [12, 4]}}, "modes": {"count": 3}}
        flat, outlines = check_shape(recoil, "plate", plate, [{"place": [1.5, 0.5], "magnitude": 1e6}, {"place": [1.5, 0.5], "magnitude": 1}], smooth=False)
        refused(recoil, [recoil.path("nothing")], "recoil fracture")
        refused(recoil, [modes, "--pieces", os.path.join(pieces, "fractured_1")], "an impact of a magnitude like 1e6")
        refused(recoil, [flat, "--pieces", os.path.join(outlines, "fractured_0")], "in 2D pieces are outlines")


main()
