"""What the program's commands do, as functions. All are collective over ``comm``."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import contextmanager
from typing import Any, Callable, Iterator, Optional

from . import _core
from ._errors import DONE, INTERRUPTED, NoSolution
from ._folders import Fit, Folder, Gradient, Run
from ._session import Document, TemporaryFolder, address_of, source_of, text_of


def validate(scene: Document, *, comm: Any = None) -> str:
    """Checks a scene with its meshes, up to the initial state, and tells what it is, a line per body. Solves and writes nothing.

    scene: a dictionary, whose relative paths start from the current folder, or the path of a JSON file. comm: of mpi4py; None is
    MPI_COMM_WORLD. Raises SceneError with the place and the cure.
    """
    address = address_of(comm)
    path, text = source_of(scene, "scene")
    return _core.validate(path, text, address)


def simulate(scene: Document, output: Optional[Folder] = None, *, steps: Optional[int] = None, comm: Any = None,
             quiet: bool = True, verbose: bool = False) -> Run:
    """Runs a scene forward in time; gives the run folder.

    scene: as for validate(). output: the folder to make; None is a temporary one, which goes with the Run and its states. steps: stop when
    so many are done in all; restart() goes on. quiet=False shows the log. Raises SceneError, FileError; NoSolution where a step does not
    converge, with the run until there as ``result``; KeyboardInterrupt and Interrupted after signals, when all is written that restart()
    needs.
    """
    address = address_of(comm)
    path, text = source_of(scene, "scene")
    temporary = None
    if output is None:
        temporary = TemporaryFolder(address)
        output = temporary.path / "run"
    folder = os.fspath(output)
    try:
        code = _core.simulate(path, text, folder, "", steps, quiet, verbose, address)
        run = _finished(Run, folder, code)
    except BaseException:
        if temporary is not None:
            temporary.remove()
        raise
    if temporary is not None:
        temporary.remove_with(run.files)
    return run


def restart(folder: Folder, *, steps: Optional[int] = None, comm: Any = None, quiet: bool = True, verbose: bool = False) -> Run:
    """Continues a run from its last complete state, on any number of ranks. Arguments and errors as for simulate()."""
    address = address_of(comm)
    code = _core.simulate("", "", "", os.fspath(folder), steps, quiet, verbose, address)
    return _finished(Run, folder, code)


def gradient(study: Document, output: Folder, *, check: bool = False, comm: Any = None, quiet: bool = True,
             verbose: bool = False) -> Gradient:
    """Objective of a study and its gradient by all parameters, once, at the start values; gives the folder that is made.

    study: a dictionary or the path of a JSON file; in a dictionary the scenes of experiments may be dictionaries, too. check: compare with
    differences of whole runs. Raises StudyError, SceneError, FileError; NoSolution where a run, a sweep or the check fails.
    """
    return _work_on_study(_core.gradient, Gradient, study, output, check, comm, quiet, verbose)


def optimize(study: Document, output: Folder, *, comm: Any = None, quiet: bool = True, verbose: bool = False) -> Fit:
    """Estimates the parameters of a study by recoil's own optimiser, with intervals and verdict; gives the folder that is made.

    Arguments and errors as for gradient(); NoSolution where it does not converge.
    """
    return _work_on_study(_core.optimize, Fit, study, output, False, comm, quiet, verbose)


def info(folder: Folder, *, comm: Any = None) -> tuple[str, bool]:
    """What is in a run folder, and whether all of its files are sound."""
    return _core.info(os.fspath(folder), address_of(comm))


def schema(kind: str) -> dict[str, Any]:
    """The JSON Schema of "scene" or "study"."""
    return json.loads(_core.schema(kind))


def _work_on_study(command: Callable[..., int], kind: Any, study: Document, output: Folder, check: bool, comm: Any, quiet: bool,
                   verbose: bool) -> Any:
    address = address_of(comm)
    with files_of_scenes(study, address) as (path, text):
        code = command(path, text, os.fspath(output), "", check, quiet, verbose, address)
    return _finished(kind, output, code)


def _finished(kind: Any, folder: Folder, code: int) -> Any:
    """The folder of a command that has ended with a code."""
    result = kind(folder, unfinished=True)
    if code in (DONE, INTERRUPTED):  # as many steps as were asked for
        return result
    about = result.summary if kind is Run else result.result
    error = NoSolution(f"{folder}: {about.get('message') or about.get('failure') or about.get('reason') or 'no solution'}; {folder}/log.txt tells more")
    error.result = result
    raise error


@contextmanager
def files_of_scenes(study: Document, comm: int, folder: Optional[TemporaryFolder] = None) -> Iterator[tuple[str, str]]:
    """Path and text of a study as _core takes them, with files in place of scenes that are dictionaries. Collective."""
    if not isinstance(study, Mapping):
        yield source_of(study, "study")
        return
    experiments = study.get("experiments")
    entries = [experiments] if isinstance(experiments, Mapping) else list(experiments) if isinstance(experiments, (list, tuple)) else []
    given = [isinstance(entry, Mapping) and isinstance(entry.get("scene"), Mapping) for entry in entries]
    own = TemporaryFolder(comm) if folder is None and any(given) else None
    try:
        for i, entry in enumerate(entries):
            if given[i]:
                path = os.path.join((own or folder).path, f"scene{i}.json")  # type: ignore[union-attr]
                _core.write_resolved_scene(text_of(entry["scene"]), f"<scene of experiment {i}>", path, comm)
                entries[i] = {**entry, "scene": path}
        yield source_of({**study, "experiments": entries} if any(given) else study, "study")
    finally:
        if own is not None:
            own.remove()
