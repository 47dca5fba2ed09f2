"""MPI and PETSc as the package has them: from the first call to the end of the interpreter."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import shutil
import socket
import sys
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Union

from . import _core
from ._errors import Error

#: A scene or study: a dictionary, or the path of a JSON file.
Document = Union[Mapping[str, Any], str, "os.PathLike[str]"]


def start(petsc: str = "") -> None:
    """Starts MPI and PETSc, unless they run; ``petsc`` are options for PETSc, as ``"-recoil_pc_type hypre -log_view"``.

    Collective over MPI_COMM_WORLD. The first call of anything that computes does it; call it yourself where not all ranks take part in that,
    or to give options. If mpi4py is imported before, recoil uses its MPI and leaves the end of MPI to it.
    """
    is_first = not _core.is_started()
    _core.start(petsc)
    if is_first:
        # Before the handlers that were registered earlier, and long before mpi4py ends MPI.
        atexit.register(_core.finish)


def address_of(comm: Any) -> int:
    """The place of an mpi4py communicator in memory, 0 for MPI_COMM_WORLD. Starts MPI and PETSc."""
    if comm is None:
        start()
        return 0
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is None or not isinstance(comm, mpi.Comm):
        raise TypeError(f"comm must be a communicator of mpi4py or None, is {type(comm).__name__}")
    if mpi._sizeof(mpi.Comm) != _core.size_of_communicator or not mpi.get_vendor()[0].startswith("Open MPI"):
        raise Error(f"mpi4py uses {mpi.get_vendor()[0]}, recoil another MPI; install an mpi4py that is built with recoil's "
                    "(Debian: python3-mpi4py)")
    start()
    return mpi._addressof(comm)


def _plain(value: Any) -> Any:
    """What JSON knows in place of arrays and numbers of numpy, and of paths."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"{type(value).__name__} has no place in JSON")


def text_of(document: Mapping[str, Any]) -> str:
    """A document as JSON on one line: what messages say of lines then means nothing and is left out."""
    return json.dumps(document, default=_plain)


def source_of(document: Document, name: str) -> tuple[str, str]:
    """Path and text of a document as _core takes them: a path alone, or for a dictionary ``<name>`` and its JSON."""
    if isinstance(document, Mapping):
        return f"<{name}>", text_of(document)
    return os.fspath(document), ""


class TemporaryFolder:
    """A folder for temporary files that all ranks know; the last rank that removes it does so, as the others may still read. Collective."""

    def __init__(self, comm: int) -> None:
        path = _core.make_temporary_folder(comm)
        self.path = Path(path)
        self._mark = self.path / f"used-by-{socket.gethostname()}-{os.getpid()}"
        with contextlib.suppress(OSError):  # ranks on other machines need not see it
            self._mark.touch()

    def remove(self) -> None:
        """Not collective."""
        with contextlib.suppress(OSError):
            self._mark.unlink()
        if not any(self.path.glob("used-by-*")):
            shutil.rmtree(self.path, ignore_errors=True)

    def remove_with(self, owner: object) -> None:
        """Removes it once nothing refers to ``owner`` any more."""
        weakref.finalize(owner, self.remove)
