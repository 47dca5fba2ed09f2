"""What drawing needs of a run beside its arrays: displacements as wide as the points, and one number per node of any field."""

import numpy as np

from recoil_run import Run


class Trajectory:
    """`folder` is a run folder (or the trajectory folder in it), finished or not.

    points: rest positions, shape (n, dim). cells: {shape name: connectivity of shape (m, nodes)}. states: of recoil_run.
    """

    def __init__(self, folder):
        self.run = Run(folder, unfinished=True)
        self.root, self.states = self.run.folder, self.run.states
        self.points, self.cells, self.dim = self.run.mesh.points, self.run.mesh.cells, self.run.mesh.dim
        self.scene, self.summary = self.run.scene, self.run.summary

    def displacement(self, state):
        """Also of bonded particles, whose u are positions and orientations."""
        return state["displacement"] if "displacement" in state.fields() else state.u

    def of_bonds(self, state, name):
        """Whether a field belongs to the bonds of particles."""
        return self.run.mesh.radius is not None and name != "u" and state.centre(name) == "cell"

    def nodal(self, state, name):
        """A scalar per node: the field, the length of a vector field, the mean of a cell field around a node."""
        if name == "u" and "displacement" in state.fields():
            name = "displacement"
        values = np.asarray(state[name], dtype=float)
        values = values if values.ndim == 1 else np.linalg.norm(values, axis=1)
        return values if state.centre(name) == "node" else self.mean_at_nodes(values)

    def mean_at_nodes(self, values):
        """values: one per cell."""
        total, count = np.zeros(len(self.points)), np.zeros(len(self.points))
        for shape, cells in self.cells.items():
            of_cells = np.repeat(values[self.run.mesh.rows[shape]], cells.shape[1])
            total += np.bincount(cells.ravel(), of_cells, len(self.points))
            count += np.bincount(cells.ravel(), minlength=len(self.points))
        return total / np.maximum(count, 1)
