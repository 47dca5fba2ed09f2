#!/usr/bin/env python3
"""One self-contained HTML page that breaks a shape: click or drag on it in a browser, see the pieces. Needs no server.

  fracture_page.py modes/                                   to modes/fracture.html, pieces of whole elements
  fracture_page.py modes/ --pieces pieces/fractured_0       smooth pieces: an impact that parts all of them
  fracture_page.py modes/ -o bowl.html --title bowl

An address like fracture.html#hit=0.1,0.2,0.3&magnitude=2 opens the page with an impact. Needs numpy and h5py.
"""

import argparse
import base64
import json
import sys
from html import escape
from pathlib import Path

import h5py
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
import own_files
from recoil_run import FolderError
from reporting import pieces

TEMPLATE = Path(__file__).resolve().parent / "reporting" / "fracture.html"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modes", type=Path, help="folder that recoil fracture wrote")
    parser.add_argument("-o", "--output", type=Path, help="page (default: fracture.html in the folder)")
    parser.add_argument("--pieces", type=Path, help="folder fractured_<i> of recoil impact with every piece by itself")
    parser.add_argument("--sigma", type=float, default=1, help="jump at which pieces part (default: 1, as recoil impact)")
    parser.add_argument("--title", help="of the page (default: name of the folder)")
    return parser.parse_args()


def packed(array, kind):
    return base64.b64encode(np.ascontiguousarray(array, dtype=kind).tobytes()).decode()


def mesh_data(points, triangles, piece, responses):
    """`points` may be in 2D."""
    points = np.hstack([points, np.zeros((len(points), 3 - points.shape[1]))])
    return {"piece": int(piece), "points": packed(points, "<f4"), "triangles": packed(triangles, "<u4"), "responses": packed(responses, "<f4")}


def page_data(model, meshes, sigma):
    extent = float(np.linalg.norm(np.ptp(model.vertices, axis=0)))
    centres = np.zeros((len(model.volumes), 3))
    centres[:, :model.dim] = model.centres
    return {
        "dim": model.dim, "sigma": sigma, "extent": extent, "num_modes": len(model.energies), "num_elements": len(model.cells),
        "energies": model.energies.tolist(), "volumes": model.volumes.tolist(), "masses": model.masses.tolist(), "centres": centres.tolist(),
        "links": model.links.tolist(), "modes": packed(model.modes, "<f4"),
        "meshes": [mesh_data(points, triangles, piece, model.responses_at(points)) for points, triangles, piece in meshes],
    }


def main():
    arguments = parse_arguments()
    try:
        model = pieces.Model(arguments.modes)
        meshes = pieces.meshes_of_impact(arguments.pieces, model) if arguments.pieces else pieces.meshes_of_elements(model)
        data = json.dumps(page_data(model, meshes, arguments.sigma)).replace("</", "<\\/")
        title = escape(arguments.title or arguments.modes.resolve().name)
        page = TEMPLATE.read_text().replace("@TITLE@", title).replace("@DATA@", data)
        output = arguments.output or arguments.modes / "fracture.html"
        own_files.write_file(output, page)
    except (FolderError, OSError, KeyError) as error:
        sys.exit(f"fracture_page: {error}")
    print(f"{output}: {len(model.volumes)} pieces, {len(page) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
