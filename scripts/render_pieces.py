#!/usr/bin/env python3
"""Draws the pieces of a fracture, drawn apart: a folder with piece_0.obj, piece_1.obj, .. A colour per piece, faults in a
darker shade of it.

  render_pieces.py pieces/fractured_0                    to pieces/fractured_0/picture.png
  render_pieces.py pieces/fractured_0 --apart 0.6 -o a.png
"""

import argparse
import io
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
import own_files
from drawing import raster, surface
from recoil_run import FolderError
from reporting.pieces import piece_files, read_piece


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder with piece_<k>.obj")
    parser.add_argument("-o", "--output", type=Path, help="picture (default: picture.png in the folder)")
    parser.add_argument("--apart", type=float, default=0.35, help="how far pieces move from the middle, over their distance (default: 0.35)")
    parser.add_argument("--view", type=float, nargs=2, default=(-60, 22), metavar=("AZIMUTH", "ELEVATION"), help="degrees")
    parser.add_argument("--up", choices=("y", "z"), default="z", help="vertical axis (default: z)")
    parser.add_argument("--width", type=int, default=1200, help="of the picture [pixels]")
    arguments = parser.parse_args()
    try:
        pieces = [read_piece(path) for path in piece_files(arguments.folder)]
    except FolderError as error:
        sys.exit(f"render_pieces: {error}")
    if any(len(triangles) == 0 for _, triangles, _ in pieces):
        sys.exit(f"{arguments.folder}: pieces in 2D have no triangles; only those of bodies in 3D are drawn")
    middle = np.concatenate([points for points, _, _ in pieces]).mean(0)
    hues = plt.get_cmap("Spectral")(np.linspace(0.05, 0.95, len(pieces)))[:, :3]
    hues = hues[np.random.default_rng(1).permutation(len(pieces))]  # neighbours differ
    points, triangles, colours, first = [], [], [], 0
    for (own, corners, faults), hue in zip(pieces, hues):
        points.append(own + arguments.apart * (own.mean(0) - middle))
        triangles.append(corners + first)
        colours.append(np.where(faults[:, None], 0.55 * hue, hue))
        first += len(own)
    points, triangles, colours = np.concatenate(points), np.concatenate(triangles), np.concatenate(colours)
    axes = raster.view_axes(*arguments.view, 2 if arguments.up == "z" else 1)
    camera = raster.fit(axes, [points], arguments.width, arguments.width * 3 // 4)
    normals = surface.corner_normals(points, triangles, surface.corner_groups(points, triangles))
    image = raster.render(points, triangles, np.ones((len(triangles), 3), bool), normals, lambda t, w: colours[t], camera, grid=0.1)
    image[..., :3] = image[..., :3] * image[..., 3:] + 1 - image[..., 3:]
    image[..., 3] = 1
    png = io.BytesIO()
    plt.imsave(png, image)
    own_files.write_file(arguments.output or arguments.folder / "picture.png", png.getvalue())


if __name__ == "__main__":
    main()
