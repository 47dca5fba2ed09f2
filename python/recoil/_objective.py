"""The objective of a study as a function of its parameters."""

from __future__ import annotations

import os
import weakref
from collections.abc import Mapping
from typing import Any, Union

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from ._commands import files_of_scenes
from ._errors import InputError
from ._folders import Folder
from ._session import Document, TemporaryFolder, address_of


class ReducedObjective:
    """J(x), the sum of the objectives of a study over its experiments and its priors, with exact derivatives.

    x are the variables of the study's parameters, one number after the other: values in the units of the study, or what their ``scale``
    makes of them, the logarithm of a value for "log". Every value() is a run of all experiments at x, every gradient() a sweep backward
    through these runs; calls at the x of the last one do not run again, and the same x gives the same bits. All methods are collective over
    ``comm``: every rank calls them with the same x.

    study: a dictionary or the path of a JSON file; in a dictionary the scenes of experiments may be dictionaries, too. comm: of mpi4py;
    None is MPI_COMM_WORLD. Raises StudyError or SceneError with the place and the cure.

    Ranks and memory are held until close(), the end of a ``with`` block, or the last reference is gone.
    """

    def __init__(self, study: Document, *, comm: Any = None) -> None:
        address = address_of(comm)
        folder = TemporaryFolder(address)
        # After an error, too.
        self._remove_folder = weakref.finalize(self, folder.remove)
        with files_of_scenes(study, address, folder) as (path, text):
            self._function = _core.StudyFunction(path, text, str(folder.path / "study"), address)

    @property
    def parameters(self) -> dict[str, list[str]]:
        """Labels of the variables by parameter: {"E": ["E"], "force": ["force[0]", "force[1]"]}. Tied parameters have none."""
        return self._function.parameters

    @property
    def names(self) -> list[str]:
        """Labels of the variables, in the order of x."""
        return [label for labels in self.parameters.values() for label in labels]

    @property
    def x0(self) -> np.ndarray:
        """The start of the study."""
        return self._function.start

    @property
    def lower(self) -> np.ndarray:
        """Lower bounds of x, -inf where there are none."""
        return self._function.lower

    @property
    def upper(self) -> np.ndarray:
        return self._function.upper

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """(lower, upper) of each variable, as scipy.optimize.minimize takes them."""
        return list(zip(self.lower.tolist(), self.upper.tolist()))

    @property
    def is_least_squares(self) -> bool:
        """Whether J is the sum of squares of residuals()."""
        return not self._function.why_not_least_squares

    @property
    def is_chi_squared(self) -> bool:
        """Whether J is chi^2: residuals in standard deviations of data. Then -J/2 is the logarithm of the posterior density of x."""
        return self._function.is_chi_squared

    @property
    def warnings(self) -> list[str]:
        """What is accepted in the study, but probably not meant."""
        return self._function.warnings

    @property
    def failure(self) -> str:
        """Why the last value() was infinite; empty if it was not."""
        return self._function.failure

    def value(self, x: ArrayLike) -> float:
        """J(x); inf where an experiment has no solution there, with the reason in ``failure``."""
        return self._function.value(np.asarray(x, float))

    def gradient(self, x: ArrayLike) -> np.ndarray:
        """dJ/dx, shape (n,), by the adjoint. Raises NoSolution where there is no value."""
        return self._function.gradient(np.asarray(x, float))

    def value_and_gradient(self, x: ArrayLike) -> tuple[float, np.ndarray]:
        """Both, for scipy.optimize.minimize(.., jac=True)."""
        return self.value(x), self.gradient(x)

    def residuals(self, x: ArrayLike) -> np.ndarray:
        """r(x) with J = r.r, shape (m,): experiments in the order of the study, in each by rising time; then the priors.
        Where nothing was observed - a gap of a file - an entry is 0.

        Raises StudyError where J is no sum of squares, NoSolution where there is no value.
        """
        return self._function.residuals(np.asarray(x, float))

    def jacobian(self, x: ArrayLike) -> np.ndarray:
        """dr/dx, shape (m, n), exact, by a tangent-linear sweep per variable. Raises as residuals()."""
        return self._function.jacobian(np.asarray(x, float))

    def values(self, x: ArrayLike) -> dict[str, Union[float, np.ndarray]]:
        """The values of the parameters at x, in the units of the study: a number, or an array where a parameter has several."""
        x, size = np.asarray(x, float), len(self.x0)
        if x.shape != (size,):
            raise InputError(f"x has the shape {x.shape}, the study has {size} variables")
        values, first = self._function.values(x), 0
        result: dict[str, Union[float, np.ndarray]] = {}
        for name, labels in self.parameters.items():
            part = values[first:first + len(labels)]
            result[name] = float(part[0]) if len(part) == 1 else part
            first += len(labels)
        return result

    def variables(self, values: Mapping[str, ArrayLike]) -> np.ndarray:
        """The x with these values: the inverse of values()."""
        if set(values) != set(self.parameters):
            raise InputError(f"values are needed of {', '.join(self.parameters)}; given are {', '.join(values) or 'none'}")
        parts = [np.ravel(np.asarray(values[name], float)) for name in self.parameters]
        for part, (name, labels) in zip(parts, self.parameters.items()):
            if len(part) != len(labels):
                raise InputError(f"'{name}' has {len(labels)} values, given are {len(part)}")
        return self._function.variables(np.concatenate(parts))

    def write_scenes(self, x: ArrayLike, folder: Folder) -> None:
        """Writes the scenes of all experiments with the values at x into ``folder``: <experiment>.json, ready for simulate()."""
        self._function.write_scenes(np.asarray(x, float), os.fspath(folder))

    def close(self) -> None:
        """Frees runs, meshes and communicator. Every rank calls it."""
        self._function.close()
        self._remove_folder()

    def __enter__(self) -> "ReducedObjective":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
