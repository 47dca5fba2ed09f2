#!/usr/bin/env python3
"""Draws what `recoil fracture` has found: the pieces of all modes, drawn apart, and modes, the elements coloured by their
amplitude and the parts between which a mode jumps drawn apart.

  render_modes.py modes/                    pieces and all modes, to modes/picture.png
  render_modes.py modes/ --modes 1 2 5      some modes
  render_modes.py modes/ --apart 0.5 -o a.png
"""

import argparse
import io
import sys
from pathlib import Path

import h5py
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import PolyCollection

sys.path.insert(0, str(Path(__file__).resolve().parent))
import own_files
from drawing import raster, surface
from recoil_run import FolderError


class Modes:
    """vertices (n, 3), cells (m, dim + 1), piece of each cell, energies, amplitudes (modes, m)."""

    def __init__(self, folder):
        path = Path(folder) / "modes.h5"
        try:
            with h5py.File(path, "r") as file:
                self.vertices, self.cells = file["mesh/vertices"][:], file["mesh/cells"][:]
                self.pieces = file["mesh/pieces"][:].ravel()
                self.energies = file["modes/energies"][:].ravel() if "modes/energies" in file else np.zeros(0)
                self.amplitudes = [file[f"modes/u_{k + 1}"][:] for k in range(len(self.energies))]
        except (OSError, KeyError) as error:
            raise FolderError(f"{path}: cannot be read ({error}); give a folder in which `recoil fracture` has come to its end") from None
        self.dim = self.cells.shape[1] - 1

    def scalar(self, k):
        """Amplitude of each cell; of vectors along the direction in which they are largest."""
        field = self.amplitudes[k].reshape(len(self.cells), -1)
        if field.shape[1] == 1:
            return field[:, 0]
        direction = np.linalg.svd(field - field.mean(0), full_matrices=False)[2][0]
        return field @ direction

    def parts(self, k, share=0.02):
        """A number of each cell: that of the level between the jumps that are larger than a share of the largest one."""
        values = self.scalar(k)
        order = np.argsort(values, kind="stable")
        gaps = np.diff(values[order])
        labels = np.zeros(len(values), int)
        labels[order[1:]] = np.cumsum(gaps > share * max(gaps.max(initial=0), 1e-300))
        return labels


def apart(modes, labels, factor):
    """Points and cells of the parts with a label each, moved away from the middle."""
    middle = modes.vertices[modes.cells].mean((0, 1))
    points, cells, first = [], np.empty_like(modes.cells), 0
    for label in np.unique(labels):
        inside = labels == label
        used, corners = np.unique(modes.cells[inside], return_inverse=True)
        own = modes.vertices[used]
        points.append(own + factor * (modes.vertices[modes.cells[inside]].mean((0, 1)) - middle))
        cells[inside] = corners.reshape(-1, modes.cells.shape[1]) + first
        first += len(used)
    return np.concatenate(points), cells


def facets_of(points, cells, labels):
    """Boundary triangles of each part, and the cell that each belongs to."""
    faces = np.concatenate([cells[:, face] for face in surface.FACES])
    owners = np.tile(np.arange(len(cells)), len(surface.FACES))
    _, first, count = np.unique(np.sort(faces[:, :3], axis=1), axis=0, return_index=True, return_counts=True)
    kept = first[count == 1]
    triangles, opposite = faces[kept, :3].copy(), faces[kept, 3]
    a, b, c = (points[triangles[:, i]] for i in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), points[opposite] - a) > 0
    triangles[inward] = triangles[inward][:, [0, 2, 1]]
    return triangles, owners[kept]


def panel(axes, modes, labels, colours, arguments):
    points, cells = apart(modes, labels, arguments.apart)
    if modes.dim == 2:
        axes.add_collection(PolyCollection(points[cells][:, :, :2], facecolors=colours, edgecolors=(0, 0, 0, 0.25), linewidths=0.2))
        axes.autoscale_view()
        axes.set_aspect("equal")
    else:
        triangles, owners = facets_of(points, cells, labels)
        view = raster.view_axes(*arguments.view, 2 if arguments.up == "z" else 1)
        camera = raster.fit(view, [points], arguments.width, arguments.width * 3 // 4)
        normals = surface.corner_normals(points, triangles, surface.corner_groups(points, triangles))
        axes.imshow(raster.render(points, triangles, np.ones((len(triangles), 3), bool), normals, lambda t, w: colours[owners[t]], camera, grid=0.1))
    axes.set_axis_off()


def piece_colours(pieces):
    count = pieces.max() + 1
    hues = plt.get_cmap("Spectral")(np.linspace(0.05, 0.95, count))[:, :3]
    return hues[np.random.default_rng(1).permutation(count)][pieces]


def mode_colours(values):
    """Symmetric about 0."""
    return plt.get_cmap("RdYlBu_r")(0.5 + 0.5 * values / max(np.abs(values).max(), 1e-300))[:, :3]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of recoil fracture")
    parser.add_argument("-o", "--output", type=Path, help="picture (default: picture.png in the folder)")
    parser.add_argument("--modes", type=int, nargs="*", help="numbers of the modes, from 1; none: the pieces alone (default: all)")
    parser.add_argument("--apart", type=float, default=0.25, help="how far parts move from the middle, over their distance (default: 0.25)")
    parser.add_argument("--view", type=float, nargs=2, default=(-60, 22), metavar=("AZIMUTH", "ELEVATION"), help="degrees")
    parser.add_argument("--up", choices=("y", "z"), default="z", help="vertical axis (default: z)")
    parser.add_argument("--width", type=int, default=560, help="of a panel [pixels]")
    arguments = parser.parse_args()
    try:
        modes = Modes(arguments.folder)
    except FolderError as error:
        sys.exit(str(error))
    count = len(modes.energies)
    chosen = range(1, count + 1) if arguments.modes is None else arguments.modes
    for number in chosen:
        if not 1 <= number <= count:
            sys.exit(f"--modes {number}: the folder has the modes 1 to {count}")
    panels = [(f"{modes.pieces.max() + 1} pieces", modes.pieces, piece_colours(modes.pieces))]
    panels += [(f"mode {k}: E = {modes.energies[k - 1]:.4g}", modes.parts(k - 1), mode_colours(modes.scalar(k - 1))) for k in chosen]
    columns = min(4, len(panels))
    rows = -(-len(panels) // columns)
    figure, grid = plt.subplots(rows, columns, figsize=(columns * arguments.width / 100, rows * (0.75 * arguments.width / 100 + 0.3)), squeeze=False,
                                layout="constrained")
    for axes in grid.flat[len(panels):]:
        axes.set_axis_off()
    for axes, (title, labels, colours) in zip(grid.flat, panels):
        panel(axes, modes, labels, colours, arguments)
        axes.set_title(title, fontsize=11)
    png = io.BytesIO()
    figure.savefig(png, dpi=100, format="png")
    own_files.write_file(arguments.output or arguments.folder / "picture.png", png.getvalue())


if __name__ == "__main__":
    main()
