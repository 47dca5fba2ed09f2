#!/usr/bin/env python3
"""Draws states of a run: the deformed bodies coloured by |u| or another field, their shape at rest as a faint outline,
planes, polylines and the edges of obstacles in grey; particles as spheres or, for a field of bonds, the bonds as sticks.

  render.py run                         the last state, to run/picture.png
  render.py run --times 4               four states from first to last, side by side
  render.py run --step 20 --field von_mises -o stress.png
  render.py run --animate run/movie.gif
  render.py run --field sigma           stresses of bonds
  render.py run --field broken_at       where and when bonds broke; those that hold are grey
"""

import argparse
import io
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection, PolyCollection

sys.path.insert(0, str(Path(__file__).resolve().parent))
import own_files
from drawing import obstacles, raster, spheres, surface
from drawing.text import plain
from drawing.trajectory import Trajectory
from recoil_run import FolderError, unit_name

GREY = (0.35, 0.38, 0.42)
OF_OBSTACLES = (0.8, 0.82, 0.84)
NO_VALUE = (0.72, 0.74, 0.76)
OF_BREAKING = ("broken", "broken_at", "broken_by")  # fields that tell nothing of bonds that hold
STICK = 0.25  # radius of a drawn bond over the mean radius of its ends


def parse_arguments(given=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="run folder")
    parser.add_argument("-o", "--output", type=Path, help="picture (default: picture.png in the run folder)")
    parser.add_argument("--field", default="u", help="field to colour by; vectors by their length (default: u)")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--step", type=int, help="stored state, counted from 0; negative from the end (default: -1)")
    which.add_argument("--time", type=float, help="stored state nearest to this time, in the unit of the scene")
    which.add_argument("--times", type=int, help="number of states side by side, evenly from first to last")
    which.add_argument("--animate", type=Path, help="all stored states, to this GIF")
    parser.add_argument("--scale", type=float, default=1.0, help="factor on the displacement (default: 1)")
    parser.add_argument("--range", type=float, nargs=2, metavar=("MIN", "MAX"), help="ends of the colour bar")
    parser.add_argument("--cmap", default="Spectral_r", help="matplotlib colour map")
    parser.add_argument("--view", type=float, nargs=2, default=(-60, 22), metavar=("AZIMUTH", "ELEVATION"), help="degrees")
    parser.add_argument("--up", choices=("y", "z"), help="vertical axis (default: against gravity, else z)")
    parser.add_argument("--width", type=int, default=1600, help="of the picture [pixels]")
    parser.add_argument("--no-rest", action="store_true", help="without the outline of the shape at rest")
    parser.add_argument("--broken", action="store_true", help="with a field of bonds: also those that are broken (always with broken, broken_at, broken_by)")
    parser.add_argument("--summary", action="store_true", help="print the main figures of the run")
    return parser.parse_args(given)


def chosen_states(arguments, states):
    last = len(states) - 1
    if arguments.animate:
        return list(range(len(states)))
    if arguments.times:
        return sorted({round(i) for i in np.linspace(0, last, arguments.times)}) if arguments.times > 1 else [last]
    if arguments.time is not None:
        return [int(np.argmin([abs(state.time - arguments.time) for state in states]))]
    step = -1 if arguments.step is None else arguments.step
    if not -len(states) <= step <= last:
        sys.exit(f"--step {step}: the run stores the states 0 to {last}")
    return [step % len(states)]


def vertical_axis(arguments, trajectory):
    if arguments.up:
        return {"y": 1, "z": 2}[arguments.up]
    scene = trajectory.scene
    rhs = (scene.get("boundary_conditions") or {}).get("rhs")
    for direction in (scene.get("gravity"), rhs):
        if isinstance(direction, list) and len(direction) == 3 and all(isinstance(g, (int, float)) for g in direction):
            if abs(direction[1]) > abs(direction[2]):
                return 1
    return 2


class Surroundings:
    """Obstacles of a 3D run: planes that do not hide the bodies as patches, others by their edges."""

    def __init__(self, scene, clouds, times, axes):
        self.obstacles = obstacles.meshes(scene)
        everything = np.concatenate(clouds + [obstacle.at(time) for obstacle in self.obstacles for time in times])
        self.planes = [plane for plane in obstacles.planes(scene, everything.min(0), everything.max(0)) if plane.normal @ axes[2] > 0]
        self.clouds = [everything] + [plane.at(time) for plane in self.planes for time in times]

    def added_to(self, time, points, triangles, sides, normals):
        """The last four with the patches at this time behind them."""
        first = len(points) + 4 * np.arange(len(self.planes))
        corners = np.array([(0, 1, 2), (0, 2, 3)])
        return (np.concatenate([points] + [plane.at(time) for plane in self.planes]),
                np.concatenate([triangles] + [i + corners for i in first]),
                np.concatenate([sides] + [np.zeros((2, 3), bool)] * len(self.planes)),
                np.concatenate([normals] + [np.tile(plane.normal, (2, 3, 1)) for plane in self.planes]))

    def lines(self, time):
        return [(obstacle.at(time), surface.feature_edges(obstacle.rest, obstacle.elements, 10), GREY, 0.9) for obstacle in self.obstacles]


def aspect_of(clouds, axes):
    extent = np.ptp(np.concatenate([cloud @ axes[:2].T for cloud in clouds]), axis=0)
    return float(np.clip(1.1 * extent[1] / max(extent[0], 1e-300), 0.3, 1.25))


class Picture3d:
    """Draws states of a 3D run with one camera for all of them."""

    def __init__(self, trajectory, positions, times, arguments):
        self.trajectory, self.rest_shown = trajectory, not arguments.no_rest
        rest = trajectory.points
        self.triangles, self.sides = surface.boundary(rest, trajectory.cells)
        if not len(self.triangles):
            sys.exit("the trajectory holds no triangles or tetrahedra")
        self.groups = surface.corner_groups(rest, self.triangles)
        self.edges = surface.feature_edges(rest, self.triangles)
        used = np.unique(self.triangles)
        self.axes = raster.view_axes(*arguments.view, vertical_axis(arguments, trajectory))
        clouds = [p[used] for p in positions] + ([rest[used]] if self.rest_shown else [])
        self.surroundings, self.camera = Surroundings(trajectory.scene, clouds, times, self.axes), None
        self.aspect = aspect_of(self.surroundings.clouds, self.axes)

    def set_width(self, pixels):
        self.camera = raster.fit(self.axes, self.surroundings.clouds, pixels, int(pixels * self.aspect))

    def draw(self, axes, time, position, values, norm, cmap):
        normals = surface.corner_normals(position, self.triangles, self.groups)
        points, triangles, sides, normals = self.surroundings.added_to(time, position, self.triangles, self.sides, normals)
        values = np.concatenate([values, np.full(len(points) - len(position), norm.vmin)])

        def colours(t, w):
            of_bodies = cmap(norm(np.einsum("pk,pk->p", w, values[triangles[t]])))[:, :3]
            return np.where((t < len(self.triangles))[:, None], of_bodies, OF_OBSTACLES)

        lines = [(self.trajectory.points, self.edges, GREY, 0.55)] if self.rest_shown else []
        image = raster.render(points, triangles, sides, normals, colours, self.camera, lines + self.surroundings.lines(time))
        axes.imshow(image, interpolation="antialiased")
        axes.set_axis_off()


def broken_in(state, count):
    """Which of `count` bonds are broken; springs never are."""
    return state["broken"] > 0 if "broken" in state.fields() else np.zeros(count, bool)


class PictureOfParticles:
    """Draws states of particles or spheres."""

    def __init__(self, trajectory, positions, times, arguments):
        self.radius, self.bonds = trajectory.run.mesh.radius, trajectory.cells.get("Polyline", np.zeros((0, 2), int))
        self.broken = {state.time: broken_in(state, len(self.bonds)) for state in trajectory.states if state.time in times}
        self.axes = raster.view_axes(*arguments.view, vertical_axis(arguments, trajectory))
        clouds = [p + sign * self.radius[:, None] * side for p in positions for side in self.axes for sign in (-1, 1)]
        self.surroundings, self.camera = Surroundings(trajectory.scene, clouds, times, self.axes), None
        self.aspect = aspect_of(self.surroundings.clouds, self.axes)

    def set_width(self, pixels):
        self.camera = raster.fit(self.axes, self.surroundings.clouds, pixels, int(pixels * self.aspect))

    def seen(self, time):
        return spheres.visible(len(self.radius), self.bonds, ~self.broken[time])

    def draw(self, axes, time, position, values, norm, cmap):
        seen = self.seen(time)
        self.draw_shapes(axes, time, [(spheres.balls(position[seen], self.radius[seen]), cmap(norm(values[seen]))[:, :3])])

    def draw_shapes(self, axes, time, shapes):
        """shapes: list of ((points, triangles, normals), one colour for each group of as many triangles)."""
        first = np.cumsum([0] + [len(points) for (points, _, _), _ in shapes])
        points, triangles, normals = (np.concatenate(parts) for parts in zip(
            *((points, start + triangles, normals) for start, ((points, triangles, normals), _) in zip(first, shapes))))
        of_triangle = np.concatenate([np.repeat(colours, len(triangles) // max(len(colours), 1), axis=0)
                                      for (_, triangles, _), colours in shapes] + [[OF_OBSTACLES]])
        own = len(triangles)
        points, triangles, sides, normals = self.surroundings.added_to(time, points, triangles, np.zeros(triangles.shape, bool), normals)
        image = raster.render(points, triangles, sides, normals, lambda t, w: of_triangle[np.minimum(t, own)], self.camera,
                              self.surroundings.lines(time), grid=0)
        axes.imshow(image, interpolation="antialiased")
        axes.set_axis_off()


class PictureOfBonds(PictureOfParticles):
    """Draws bonds as sticks between grey knobs; `values` are of bonds."""

    def __init__(self, trajectory, positions, times, arguments):
        super().__init__(trajectory, positions, times, arguments)
        self.with_broken = arguments.broken or arguments.field in OF_BREAKING

    def draw(self, axes, time, position, values, norm, cmap):
        seen = self.seen(time)
        inside = self.bonds[:, 0] != self.bonds[:, 1]  # not across a face of a cell that repeats
        shown = np.isin(self.bonds, seen).all(1) & (self.with_broken | ~self.broken[time]) & inside
        a, b = self.bonds[shown].T
        radii = STICK * (self.radius[a] + self.radius[b]) / 2
        knobs = spheres.balls(position[seen], 1.4 * STICK * self.radius[seen])
        sticks = spheres.cylinders(position[a], position[b], radii)
        self.draw_shapes(axes, time, [(sticks, cmap(norm(values[shown]))[:, :3]), (knobs, np.tile(NO_VALUE, (len(seen), 1)))])


class Picture2d:
    """The same in the plane, drawn by matplotlib."""

    def __init__(self, trajectory, positions, times, arguments):
        self.rest, self.rest_shown = trajectory.points[:, :2], not arguments.no_rest
        self.triangles, self.sides = surface.boundary(np.pad(self.rest, ((0, 0), (0, 1))), trajectory.cells)
        self.outline = surface.outline_2d(self.triangles)
        scene = trajectory.scene
        self.obstacles, self.polylines = obstacles.meshes(scene), obstacles.polylines(scene)
        clouds = np.concatenate([p[:, :2] for p in positions] + ([self.rest] if self.rest_shown else [])
                                + [obstacle.at(time)[:, :2] for obstacle in self.obstacles for time in times])
        self.low, self.high = clouds.min(0), clouds.max(0)
        self.planes = obstacles.planes(scene, self.low, self.high)
        margin = 0.05 * (self.high - self.low).max()
        self.low, self.high = self.low - margin, self.high + margin
        extent = self.high - self.low
        self.aspect = float(np.clip(extent[1] / extent[0], 0.2, 2.5))

    def set_width(self, pixels):
        pass

    def draw(self, axes, time, position, values, norm, cmap):
        axes.add_collection(LineCollection([plane.at(time) for plane in self.planes], colors=[GREY], linewidths=1.5))
        for obstacle in self.obstacles:
            polygons = obstacle.at(time)[:, :2][obstacle.elements]
            axes.add_collection(PolyCollection(polygons, facecolors=[OF_OBSTACLES], edgecolors=[OF_OBSTACLES]))
        for obstacle in self.polylines:
            axes.add_collection(LineCollection(obstacle.at(time)[:, :2][obstacle.elements], colors=[GREY], linewidths=1.5))
        x, y = position[:, 0], position[:, 1]
        axes.tripcolor(x, y, self.triangles, values, shading="gouraud", norm=norm, cmap=cmap, rasterized=True)
        if len(self.triangles) < 20000:
            sides = np.concatenate([self.triangles[self.sides[:, i]][:, [i, (i + 1) % 3]] for i in range(3)])
            axes.add_collection(LineCollection(position[:, :2][sides], colors="k", linewidths=0.25, alpha=0.25))
        axes.add_collection(LineCollection(position[:, :2][self.outline], colors="k", linewidths=0.7))
        if self.rest_shown:
            axes.add_collection(LineCollection(self.rest[self.outline], colors=[GREY], linewidths=0.8, linestyles=(0, (3, 3))))
        axes.set_xlim(self.low[0], self.high[0])
        axes.set_ylim(self.low[1], self.high[1])
        axes.set_aspect("equal")
        axes.set_axis_off()


# What a field is, and the kind of its unit.
LABELS = {"u": ("|u|", "length"), "v": ("|v|", "speed"), "von_mises": ("von Mises stress", "stress"), "stress": ("|stress|", "stress"),
          "strain_energy": ("strain energy density", "stress"), "sigma": ("normal stress of bonds", "stress"),
          "tau": ("shear stress of bonds", "stress"), "damage": ("damage of bonds", None), "broken_at": ("time at which bonds broke", "time"),
          "broken_by": ("bonds broken by tension (1), shear (2)", None)}


def label_of(field, units):
    text, kind = LABELS.get(field, (field, None))
    if kind is None:
        return text
    return f"{text} [{'J/m³' if field == 'strain_energy' and unit_name(kind, units) == 'Pa' else unit_name(kind, units)}]"


def columns_for(count, aspect):
    """Columns of a table of panels that comes nearest to a picture of 16 by 9."""
    def cost(n):
        rows = -(-count // n)
        return abs(np.log(rows * aspect / n / (9 / 16))) + (rows * n - count) / count

    return min(range(1, count + 1), key=cost)


def figure_of(picture, arguments, panels, norm, cmap, units):
    """panels: list of (time, positions, values)."""
    dpi = 100
    columns = columns_for(len(panels), picture.aspect)
    rows = -(-len(panels) // columns)
    width = arguments.width / dpi
    panel, title, bottom = width / columns, 0.4, 0.85
    picture.set_width(arguments.width // columns)
    row = panel * picture.aspect + title
    height = rows * row + bottom
    figure = plt.figure(figsize=(width, height), dpi=dpi, facecolor="white")
    for i, (time, position, values) in enumerate(panels):
        column, above = i % columns, height - (i // columns) * row
        axes = figure.add_axes([column / columns, (above - row) / height, 1 / columns, panel * picture.aspect / height])
        picture.draw(axes, time, position, values, norm, cmap)
        figure.text((column + 0.5) / columns, (above - 0.65 * title) / height, f"t = {time:.4g} {unit_name('time', units)}", ha="center", fontsize=12,
                    color=GREY)
    bar = figure.add_axes([0.3, 0.5 / height, 0.4, 0.16 / height])
    figure.colorbar(matplotlib.cm.ScalarMappable(norm, cmap), cax=bar, orientation="horizontal", ticks=matplotlib.ticker.MaxNLocator(5))
    bar.set_title(plain(label_of(arguments.field, units)), fontsize=11, color=GREY, pad=4)
    bar.tick_params(labelsize=9, colors=GREY)
    bar.spines[:].set_visible(False)
    return figure


def animate(figures, file):
    from PIL import Image

    frames = []
    for figure in figures:
        figure.canvas.draw()
        frames.append(Image.fromarray(np.asarray(figure.canvas.buffer_rgba())[:, :, :3]).quantize(128))
        plt.close(figure)
    frames[0].save(file, save_all=True, append_images=frames[1:], duration=60, loop=0)


def print_summary(summary):
    def show(label, *keys, form="{}"):
        values = [summary.get(key) for key in keys]
        if all(value is not None for value in values):
            print(f"  {label:<18}" + form.format(*values))

    show("status", "status")
    show("steps, time", "steps", "time", form="{}, {:.4g} s")
    show("size", "elements", "vertices", "dofs", form="{} elements, {} vertices, {} dofs")
    show("ranks", "ranks")
    show("wall time", "wall_s", form="{:.1f} s")
    show("assembly, solve", "assembly_s", "linear_solve_s", form="{:.1f} s, {:.1f} s")
    show("iterations", "newton_iterations", "linear_iterations", form="{} Newton, {} linear")
    show("contact", "max_active_pairs", "min_distance", "intersections",
         form="{} pairs at most, {:.2g} m apart at least, {} intersections")
    memory = summary.get("peak_memory_mb") or {}
    if "sum" in memory:
        print(f"  {'memory':<18}{memory['sum']:.0f} MB over all ranks")


def values_of(trajectory, state, field):
    """What colours tell in a state: one number per node or, for fields of bonds, per bond, NaN where there is none."""
    if not trajectory.of_bonds(state, field):
        return trajectory.nodal(state, field)
    values = np.asarray(state[field], dtype=float)
    return np.where(state["broken"] > 0, values, np.nan) if field in OF_BREAKING else values


def range_of(values):
    found = np.concatenate(values)
    found = found[np.isfinite(found)]
    return (found.min(), found.max()) if len(found) else (0.0, 1.0)


def kind_of(trajectory, state, field):
    if trajectory.run.mesh.radius is None:
        return Picture3d if trajectory.dim == 3 else Picture2d
    return PictureOfBonds if trajectory.of_bonds(state, field) else PictureOfParticles


def main():
    arguments = parse_arguments()
    trajectory = Trajectory(arguments.run)
    chosen = [trajectory.states[i] for i in chosen_states(arguments, trajectory.states)]
    positions = [trajectory.points + arguments.scale * trajectory.displacement(state) for state in chosen]
    values = [values_of(trajectory, state, arguments.field) for state in chosen]
    low, high = arguments.range or range_of(values)
    norm = matplotlib.colors.Normalize(low, high if high > low else low + max(1e-12, abs(low) * 1e-6))
    cmap = plt.get_cmap(arguments.cmap).with_extremes(bad=NO_VALUE)

    picture = kind_of(trajectory, chosen[0], arguments.field)(trajectory, positions, [state.time for state in chosen], arguments)
    panels = [(state.time, position, value) for state, position, value in zip(chosen, positions, values)]
    units = trajectory.scene.get("units") or {}
    if arguments.animate:
        animate((figure_of(picture, arguments, [panel], norm, cmap, units) for panel in panels), arguments.animate)
        output = arguments.animate
    else:
        output, drawn = arguments.output or trajectory.root / "picture.png", figure_of(picture, arguments, panels, norm, cmap, units)
        if arguments.output:
            drawn.savefig(output)
        else:
            content = io.BytesIO()
            drawn.savefig(content, format="png")
            own_files.write_file(output, content.getvalue())
    plt.close("all")
    print(f"drawn: {output}")
    if arguments.summary:
        print_summary(trajectory.summary)


if __name__ == "__main__":
    try:
        main()
    except FolderError as error:
        sys.exit(str(error))
