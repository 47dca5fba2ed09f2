#!/usr/bin/env python3
"""Fracture modes beside Voronoi prefracture: equally many pieces of one shape, the area of the cuts of both, one picture.

  voronoi.py --recoil build/ci/recoil modes/ -o compare/            all pieces of the modes
  voronoi.py --recoil build/ci/recoil modes/ -o compare/ --magnitude 2 --place 0 0 1    those of one impact

Voronoi pieces are those of as many points at random in the volume of the mesh (elements by their nearest point), connected
parts each by themselves, and go through the same smoothing and cutting: `recoil impact` on a copy of the modes in which they stand for
the pieces. Needs numpy, h5py, for the picture matplotlib. 3D.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import h5py
import numpy as np

ROOT = Path(__file__).resolve().parents[2]


def run(*words):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stdout.decode(errors='replace')}")


def impact(recoil, modes, folder, magnitude, place):
    """The folder of the pieces after an impact."""
    shutil.rmtree(folder, ignore_errors=True)
    entry = {"magnitude": magnitude, **({"place": place} if place else {"vertex": surface_vertex(modes)})}
    file = folder.with_suffix(".json")
    file.write_text(json.dumps({"impacts": [entry]}))
    run(recoil, "impact", modes, file, "-o", folder, "-q")
    return folder / "fractured_0"


def surface_vertex(modes):
    with h5py.File(modes / "modes.h5") as file:
        return int(file["impacts/vertices"][0, 0])


def cut_area(folder):
    """Number of pieces, area of the faults, and the share of the volume that the smallest piece has."""
    pieces = json.loads((folder / "pieces.json").read_text())["pieces"]
    volumes = np.array([piece["volume"] for piece in pieces])
    return len(pieces), sum(entry["area"] for piece in pieces for entry in piece["neighbours"]) / 2, volumes.min() / volumes.sum()


def faces_of(cells):
    """Pairs of cells that share a face."""
    faces = np.concatenate([np.sort(np.delete(cells, k, axis=1), axis=1) for k in range(cells.shape[1])])
    owners = np.tile(np.arange(len(cells)), cells.shape[1])
    order = np.lexsort(faces.T)
    same = (faces[order[1:]] == faces[order[:-1]]).all(1)
    return np.stack([owners[order[:-1]][same], owners[order[1:]][same]], 1)


def connected(labels, faces):
    """Labels anew, one per connected part of each."""
    parent = np.arange(len(labels))

    def root(cell):
        while parent[cell] != cell:
            parent[cell] = parent[parent[cell]]
            cell = parent[cell]
        return cell

    for a, b in faces[labels[faces[:, 0]] == labels[faces[:, 1]]]:
        parent[root(a)] = root(b)
    return np.unique([root(cell) for cell in range(len(labels))], return_inverse=True)[1]


def voronoi_modes(modes, folder, count, seed):
    """A copy of the folder `modes` whose pieces are those of `count` random points."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(modes, folder)
    random = np.random.default_rng(seed)
    with h5py.File(modes / "modes.h5") as old, h5py.File(folder / "modes.h5", "w") as new:
        vertices, cells = old["mesh/vertices"][:], old["mesh/cells"][:]
        corners = vertices[cells]
        volumes = np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1])) / 6
        inside = random.dirichlet(np.ones(4), count)
        points = np.einsum("nk,nkd->nd", inside, corners[random.choice(len(cells), count, p=volumes / volumes.sum())])
        labels = ((corners.mean(1)[:, None] - points) ** 2).sum(-1).argmin(1)
        faces = faces_of(cells)
        labels = connected(labels, faces)
        number = labels.max() + 1
        links = np.unique(np.sort(labels[faces], axis=1)[labels[faces[:, 0]] != labels[faces[:, 1]]], axis=0)
        masses = old["mesh/masses"][:].ravel()
        replaced = {"mesh/pieces": labels[:, None].astype(np.int32), "pieces/volumes": np.bincount(labels, volumes)[:, None],
                    "pieces/masses": np.bincount(labels, masses)[:, None], "pieces/links": links.astype(np.int32),
                    "pieces/modes": np.zeros((number, old["pieces/modes"].shape[1])),
                    # Any numbers that are not equal: all pieces part.
                    "impacts/responses": np.tile(np.arange(1.0, number + 1), (len(old["impacts/vertices"]), 1))}

        arrays = []
        old.visititems(lambda name, item: arrays.append(name) if isinstance(item, h5py.Dataset) else None)
        for name in arrays:
            new[name] = replaced.get(name, old[name][:])
    seal(folder)
    return folder


def seal(folder):
    """Puts size and checksum of modes.h5 into modes.json, and its own checksum."""
    data = (folder / "modes.h5").read_bytes()
    path = folder / "modes.json"
    text = path.read_text()
    pattern = r'("modes.h5": \{\s*"bytes": )\d+(,\s*"crc32": )\d+'
    text, found = re.subn(pattern, lambda match: f"{match[1]}{len(data)}{match[2]}{zlib.crc32(data)}", text)
    if found != 1:
        sys.exit(f"{path}: does not tell size and checksum of modes.h5")
    content = text[text.index('"content": ') + len('"content": '):text.rindex("}")]
    # The checksum is that of the content without blanks outside of texts.
    compact = "".join(part if k % 2 else re.sub(r"\s", "", part) for k, part in enumerate(re.split(r'("(?:[^"\\]|\\.)*")', content)))
    path.write_text(re.sub(r'"crc32": \d+', f'"crc32": {zlib.crc32(compact.encode())}', text, count=1))


def picture(folders, titles, path):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(1, len(folders), figsize=(8 * len(folders), 7))
    for axis, folder, title in zip(axes, folders, titles):
        file = path.parent / (folder.parent.name + ".png")
        run(sys.executable, ROOT / "scripts" / "render_pieces.py", folder, "-o", file)
        axis.imshow(plt.imread(file))
        axis.set_title(title)
        axis.axis("off")
    figure.tight_layout()
    figure.savefig(path, dpi=100)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modes", type=Path, help="folder of recoil fracture")
    parser.add_argument("--recoil", required=True, type=lambda path: Path(path).resolve())
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder to make")
    parser.add_argument("--magnitude", type=float, default=1e9, help="of the impact (default: parts all pieces)")
    parser.add_argument("--place", type=float, nargs=3, help="of the impact [m]")
    parser.add_argument("--seeds", type=int, default=5, help="Voronoi diagrams (default: 5)")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    of_modes = impact(arguments.recoil, arguments.modes, arguments.output / "modes", arguments.magnitude, arguments.place)
    count, area, smallest = cut_area(of_modes)
    print(f"modes:    {count:3d} pieces, cuts {area:.4g} m^2, the smallest {smallest:.1e} of the volume")
    areas = []
    for seed in range(arguments.seeds):
        copy = voronoi_modes(arguments.modes, arguments.output / f"voronoi-modes-{seed}", count, seed)
        folder = impact(arguments.recoil, copy, arguments.output / f"voronoi-{seed}", 1e9, None)
        number, other, least = cut_area(folder)
        areas.append(other)
        print(f"Voronoi:  {number:3d} pieces, cuts {other:.4g} m^2, the smallest {least:.1e} of the volume")
    print(f"cuts of modes over those of Voronoi pieces: {area / np.mean(areas):.2f} (from {area / max(areas):.2f} to {area / min(areas):.2f})")
    picture([of_modes, arguments.output / "voronoi-0" / "fractured_0"],
            [f"fracture modes: {count} pieces, cuts {area:.3g} m²", f"Voronoi: cuts {areas[0]:.3g} m²"], arguments.output / "compare.png")


if __name__ == "__main__":
    main()
