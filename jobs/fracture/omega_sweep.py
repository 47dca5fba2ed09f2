"""Full fracture modes over a range of omega: strain energy, energy of the jumps, and how the first mode moves.

`sweep()` runs `recoil fracture` once per omega, and draws both energies against omega / omega* above a row of modes, whose
elements are coloured by their strain. `run.py` calls it.
"""
import io
import json
import sys
from pathlib import Path

import h5py
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import brentq
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import own_files
import render_modes
from drawing import raster, surface

FACTORS = (0.05, 0.25, 0.5, 0.75, 1.0, 1.15, 1.3, 1.45, 1.6, 1.8, 2.0, 2.4)
DRAWN = (0.05, 0.75, 1.3, 1.6, 2.0)
SIZE = 360  # of a picture of a mode [pixels]


class FullMode:
    """The first full mode of a folder: energies, corners before and after (cells, 4, 3)."""

    def __init__(self, folder):
        content = json.loads((folder / "modes.json").read_text())["content"]
        with h5py.File(folder / "modes.h5", "r") as file:
            vertices, self.cells = file["mesh/vertices"][:], file["mesh/cells"][:]
            self.strain = float(file["modes/strain_energies"][:].ravel()[0])
            self.motion = file["modes/corners_1"][:].reshape(len(self.cells), -1, 3)
        if self.cells.shape[1] != 4:
            sys.exit(f"{folder}: omega sweeps are drawn of tetrahedra")
        self.jump = content["energies"][0] - self.strain
        self.omega, self.omega_star = content["omega"], content["omega_star"]
        self.places = vertices[self.cells]

    def strain_of_cells(self):
        """Norm of the symmetric gradient of each cell."""
        gradients = np.linalg.solve(self.places[:, 1:] - self.places[:, :1], self.motion[:, 1:] - self.motion[:, :1])
        return np.linalg.norm(gradients + gradients.transpose(0, 2, 1), axis=(1, 2)) / 2

    def parts(self, share=1e-3):
        """Number of each cell's part; between parts the motion jumps by more than a share of its largest value."""
        count, least = len(self.cells), share * np.abs(self.motion).max()
        faces = np.concatenate([np.delete(self.cells, k, 1) for k in range(4)])
        corners = np.concatenate([np.delete(self.motion, k, 1) for k in range(4)])
        order = np.argsort(faces, axis=1)
        faces, corners = np.take_along_axis(faces, order, 1), np.take_along_axis(corners, order[:, :, None], 1)
        owners, by_face = np.tile(np.arange(count), 4), np.lexsort(faces.T)
        shared = (faces[by_face][1:] == faces[by_face][:-1]).all(1)
        a, b = by_face[:-1][shared], by_face[1:][shared]
        glued = np.linalg.norm(corners[a] - corners[b], axis=2).max(1) <= least
        a, b = owners[a][glued], owners[b][glued]
        return connected_components(coo_matrix((np.ones(len(a)), (a, b)), shape=(count, count)), directed=False)[1]

    def moved(self, scale):
        """Points and cells (cells, 4): the corners of one part that are one vertex are one point."""
        keys = self.parts()[:, None] * (self.cells.max() + 1) + self.cells
        _, numbers = np.unique(keys, return_inverse=True)
        points = np.zeros((numbers.max() + 1, 3))
        np.add.at(points, numbers.ravel(), (self.places + scale * self.motion).reshape(-1, 3))
        return points / np.bincount(numbers.ravel())[:, None], numbers.reshape(-1, 4)

    def turned(self):
        """Its sign, so that one end of the shape moves the same way in all pictures."""
        first = self.motion[self.places[:, :, 0].mean(1).argmin()].mean(0)
        self.motion = self.motion * (1 if first[np.abs(first).argmax()] > 0 else -1)
        return self


def of_thin_bar(length, factor):
    """Strain and jump energy of the first mode of a thin bar of unit section, modulus and density at omega = factor * omega*,
    omega* = pi^2 / (4 L^(3/2)): u = A cos(k x) up to the break in its middle, A k sin(t) = omega with t = k L / 2,
    A^2 = 2 / (L (1 + sin(2 t) / (2 t)))."""
    def amplitude(t):
        return np.sqrt(2 / (length * (1 + np.sin(2 * t) / (2 * t))))

    def traction(t):
        return amplitude(t) * 2 * t / length * np.sin(t)
    omega, whole = factor * np.pi**2 / (4 * length**1.5), np.pi / 2
    t = whole if omega >= traction(whole) else brentq(lambda t: traction(t) - omega, 1e-9, whole)
    square, k, part = amplitude(t)**2, 2 * t / length, np.sin(2 * t) / (2 * t)
    return square * k**2 * length / 4 * (1 - part), square * k * np.sin(2 * t)


def draw_energies(axes, modes, length):
    factors = [mode.omega / mode.omega_star for mode in modes]
    if length:
        fine = np.linspace(1e-3, max(factors), 200)
        exact = np.array([of_thin_bar(length, factor) for factor in fine])
        axes.plot(fine, exact[:, 0], "--", color="tab:blue", linewidth=1, label="of a thin bar")
        axes.plot(fine, exact[:, 1], "--", color="tab:red", linewidth=1)
    axes.plot(factors, [mode.strain for mode in modes], "o-", color="tab:blue", label="strain energy")
    axes.plot(factors, [mode.jump for mode in modes], "s-", color="tab:red", label="omega times energy of the jumps")
    axes.set_xlabel("omega / omega*")
    axes.set_ylabel("energy of the first mode")
    axes.set_xlim(0, None)
    axes.set_ylim(0, None)
    axes.legend(frameon=False)


def draw_mode(axes, mode, strongest):
    extent = np.ptp(mode.places.reshape(-1, 3), axis=0).max()
    points, cells = mode.moved(0.12 * extent / np.abs(mode.motion).max())
    triangles, owners = render_modes.facets_of(points, cells, None)
    colours = plt.get_cmap("YlOrRd")(mode.strain_of_cells() / strongest)[:, :3]
    camera = raster.fit(raster.view_axes(-60, 22, 2), [points], SIZE, SIZE * 3 // 4)
    normals = surface.corner_normals(points, triangles, surface.corner_groups(points, triangles))
    axes.imshow(raster.render(points, triangles, np.ones((len(triangles), 3), bool), normals, lambda t, w: colours[owners[t]], camera, grid=0.1))
    axes.set_axis_off()
    axes.set_title(f"{mode.omega / mode.omega_star:.3g} omega*: {100 * mode.strain / (mode.strain + mode.jump):.0f} % strain", fontsize=10)


def draw(modes, length, path):
    drawn = [min(modes, key=lambda mode: abs(mode.omega / mode.omega_star - factor)).turned() for factor in DRAWN]
    strongest = max(mode.strain_of_cells().max() for mode in drawn)
    figure = plt.figure(figsize=(len(drawn) * SIZE / 100, 6), layout="constrained")
    grid = figure.add_gridspec(2, len(drawn), height_ratios=(1.2, 1))
    draw_energies(figure.add_subplot(grid[0, :]), modes, length)
    for column, mode in enumerate(drawn):
        draw_mode(figure.add_subplot(grid[1, column]), mode, strongest)
    png = io.BytesIO()
    figure.savefig(png, dpi=100, format="png")
    plt.close(figure)
    own_files.write_file(path, png.getvalue())


def failures_of(name, modes, length):
    """Strain sets in with omega and replaces the jumps: its part of the energy grows, and what holds of a thin bar."""
    parts = [mode.strain / (mode.strain + mode.jump) for mode in modes]
    failures = []
    if any(later < earlier - 1e-3 for earlier, later in zip(parts, parts[1:])):
        failures.append(f"{name}: the part of the strain falls somewhere: {[round(part, 4) for part in parts]}")
    if parts[0] > 0.05 or parts[-1] < 1 - 1e-6:
        failures.append(f"{name}: the strain has {parts[0]:.3g} of the energy where omega is smallest, {parts[-1]:.9g} where it is largest; 0 and 1 were expected")
    for mode in modes if length else []:
        wanted = sum(of_thin_bar(length, mode.omega / mode.omega_star))
        if abs((mode.strain + mode.jump) / wanted - 1) > 0.05:
            failures.append(f"{name}: energy {mode.strain + mode.jump:.6g} at {mode.omega / mode.omega_star:.3g} omega*; a thin bar has {wanted:.6g}")
    return failures


def sweep(run, shape_path, folder):
    """Runs the shape for every omega with `run(shape, modes)`; returns what is wrong."""
    shape, modes = json.loads(shape_path.read_text()), []
    if "mesh" in shape["geometry"]:
        shape["geometry"]["mesh"] = str(shape_path.parent / shape["geometry"]["mesh"])
    for factor in FACTORS:
        shape["modes"]["relative_omega"] = factor
        path = folder / f"omega_{factor}.json"
        path.write_text(json.dumps(shape, indent=1))
        run(path, folder / f"modes_{factor}")
        modes.append(FullMode(folder / f"modes_{factor}"))
    length = shape["geometry"]["generator"]["size"][0] if shape["modes"].get("strain") == "gradient" else None
    draw(modes, length, folder / "omega.png")
    return failures_of(shape_path.stem, modes, length)
