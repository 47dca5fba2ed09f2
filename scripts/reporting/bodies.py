"""Pictures of runs for the page, drawn by scripts/render.py."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import Normalize

import render
from drawing.trajectory import Trajectory
from reporting.elements import elements_of
from reporting.plots import as_uri

WIDTH = 900
NOT_AT_WORK = "#d5d9de"  # where a parameter has no value


def _drawn(trajectory, arguments, panels, low, high, room=()):
    """`room`: positions of other pictures that are to have the same limits."""
    high = high if high > low else low + max(1e-12, abs(low) * 1e-6)
    norm = Normalize(low, high)
    panels = [(time, positions, np.nan_to_num(values, nan=low - 1e3 * (high - low))) for time, positions, values in panels]
    kind = render.Picture3d if trajectory.dim == 3 else render.Picture2d
    picture = kind(trajectory, [positions for _, positions, _ in panels] + list(room), [time for time, _, _ in panels], arguments)
    cmap = plt.get_cmap(arguments.cmap).with_extremes(under=NOT_AT_WORK)
    return as_uri(render.figure_of(picture, arguments, panels, norm, cmap, trajectory.scene.get("units") or {}), "png")


def motion(folders):
    """{name: picture} of runs {name: folder}: four states each, coloured by |u| with one scale and one place for all."""
    panels, trajectories = {}, {name: Trajectory(folder) for name, folder in folders.items()}
    for name, trajectory in trajectories.items():
        chosen = [trajectory.states[i] for i in sorted({round(i) for i in np.linspace(0, len(trajectory.states) - 1, 4)})]
        panels[name] = [(state.time, trajectory.points + state.u, trajectory.nodal(state, "u")) for state in chosen]
    high = max(values.max() for of_run in panels.values() for _, _, values in of_run)
    room = [positions for of_run in panels.values() for _, positions, _ in of_run]
    return {name: _drawn(trajectory, render.parse_arguments([str(folders[name]), "--width", str(WIDTH)]), panels[name], 0, high, room)
            for name, trajectory in trajectories.items()}


def _per_node(trajectory, rows):
    """Rows of a field in file order, one per node, vertex or element, as values per node; None for other numbers of rows."""
    mesh = trajectory.run.mesh
    if len(rows) == len(trajectory.points):
        return rows
    if None in mesh.order:
        return None
    of_bodies = [elements_of(mesh, body) for body in range(len(mesh.bodies))]
    if len(rows) == len(np.unique(np.concatenate([one.vertices.ravel() for one in of_bodies]))):
        values = np.full(len(trajectory.points), np.nan)
        for one in of_bodies:
            one.spread(rows, values)
        return values
    parts = np.array([order ** mesh.dim if order > 2 else 1 for order in mesh.order])[mesh.body]
    # Cells of an element lie one after the other.
    element = np.cumsum(1 / parts) - 1e-9
    if len(rows) == round(element[-1] + 1e-9):
        of_cells = rows[element.astype(int)]
        known = ~np.isnan(of_cells)
        share = trajectory.mean_at_nodes(known.astype(float))
        with np.errstate(invalid="ignore"):
            return trajectory.mean_at_nodes(np.where(known, of_cells, 0)) / share
    return None


def field(folder, rows, label):
    """A picture of a field at rest, or None where its rows belong to neither nodes nor elements. rows: (n,), nan where it has no value: grey."""
    trajectory = Trajectory(folder)
    values = _per_node(trajectory, rows)
    if values is None or np.isnan(values).all():
        return None
    low, high = np.nanmin(values), np.nanmax(values)
    arguments = render.parse_arguments([str(folder), "--width", str(WIDTH), "--no-rest", "--field", label])
    return _drawn(trajectory, arguments, [(trajectory.states[0].time, trajectory.points, values)], low, high)
