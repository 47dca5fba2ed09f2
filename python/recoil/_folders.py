"""What runs, gradients and fits leave in their folders, as numpy arrays: recoil_run with what the package adds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Union

import numpy as np

from . import recoil_run
from .recoil_run import FolderError

__all__ = ["Fit", "FolderError", "Gradient", "Run", "Trajectory"]

Folder = Union[str, "os.PathLike[str]"]


class Trajectory:
    """The stored states of a run as arrays, read when asked for; rows are nodes or particles in the order of ``coordinates``."""

    def __init__(self, run: "Run") -> None:
        self._run = run

    @property
    def times(self) -> np.ndarray:
        """Times [s] of the states, shape (states,)."""
        return self._run.times

    @property
    def steps(self) -> np.ndarray:
        """Numbers of their time steps, shape (states,); -1 inside of a repeated step."""
        return self._run.steps

    @property
    def coordinates(self) -> np.ndarray:
        """Positions at rest [m], shape (rows, d)."""
        return self._run.mesh.points

    @property
    def u(self) -> np.ndarray:
        """Displacements [m], shape (states, rows, d)."""
        return self.field("u")

    @property
    def v(self) -> np.ndarray:
        """Velocities [m/s], shape (states, rows, d)."""
        return self.field("v")

    @property
    def positions(self) -> np.ndarray:
        """Positions [m], shape (states, rows, d)."""
        return self.coordinates + self.u

    def field(self, name: str) -> np.ndarray:
        """A field of all states, shape (states, rows) or (states, rows, components). Raises FolderError where a state does not have it."""
        return np.stack([state[name] for state in self._run])

    def __len__(self) -> int:
        return len(self._run)


class Run(recoil_run.Run):
    """A run folder. ``folder``: of ``simulate()`` or of the program; ``unfinished=True`` takes one that was interrupted or goes on.

    scene, summary: dictionaries. mesh: points, cells, bodies. trajectory: states as arrays. ledger, tables: CSV files by column. Iterating
    gives the stored states one after the other: ``state.time``, ``state.u``, ``state["von_mises"]``. Raises FolderError where files are
    damaged or missing.
    """

    folder: Path
    scene: dict[str, Any]
    summary: dict[str, Any]

    def __init__(self, folder: Folder, unfinished: bool = False) -> None:
        super().__init__(folder, unfinished)

    @property
    def files(self) -> object:
        """What the states read from; it lives as long as the last of them."""
        return self.states[0]._trajectory

    @property
    def status(self) -> str:
        """"done", "interrupted" or "failed"; "running" where there is no summary."""
        return self.summary.get("status", "running")

    @property
    def trajectory(self) -> Trajectory:
        return Trajectory(self)

    @property
    def ledger(self) -> dict[str, np.ndarray]:
        """Energies, works, counts per nominal step: columns of ledger.csv, nan where a field is empty."""
        return super().ledger

    @property
    def tables(self) -> dict[str, dict[str, Any]]:
        """Columns of all CSV files, by name without .csv: "ledger", of bonded particles also "broken_bonds", "reactions", .. ."""
        return {path.stem: recoil_run.read_table(path) for path in sorted(self.folder.glob("*.csv"))}


class Gradient(recoil_run.Gradient):
    """A folder of ``gradient()``: result (gradient.json), fields (arrays of gradient.h5), run(experiment)."""

    result: dict[str, Any]

    def run(self, experiment: str) -> Run:
        return Run(super().run(experiment).folder)


class Fit(recoil_run.Fit):
    """A folder of ``optimize()``: result (fit.json), history (columns of history.csv), fields (arrays of fit.h5), observed."""

    result: dict[str, Any]
