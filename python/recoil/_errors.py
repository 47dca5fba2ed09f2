"""Errors of recoil as exceptions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Optional

DONE, INTERNAL, BAD_INPUT, NO_SOLUTION, FILE_ERROR, INTERRUPTED = 0, 1, 2, 3, 4, 75

_LINE = re.compile(r"(?P<file>[^\n]*?)(?::(?P<line>\d+))?(?::\d+)?(?: \((?P<pointer>/[^)\n]*|the whole file)\))?: (?P<text>.*)", re.DOTALL)


@dataclass(frozen=True)
class Finding:
    """Something wrong in an input: where, and what with how to fix it."""

    text: str
    file: Optional[str] = None
    line: Optional[int] = None  #: None for dictionaries
    pointer: Optional[str] = None  #: JSON pointer, as "/materials/E"


class Error(Exception):
    """Base of all that recoil raises. ``code`` is the exit code that the program has for it."""

    code = INTERNAL


class InputError(Error, ValueError):
    """Wrong input: ``findings`` says what is wrong, where, and how to fix it; ``pointer``, ``file`` and ``line`` are those of the first."""

    code = BAD_INPUT

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.findings = [_finding(line) for line in re.split(r"\n(?=\S)", message)]

    @property
    def pointer(self) -> Optional[str]:
        return self.findings[0].pointer

    @property
    def file(self) -> Optional[str]:
        return self.findings[0].file

    @property
    def line(self) -> Optional[int]:
        return self.findings[0].line


class SceneError(InputError):
    """A scene that is wrong, or does not fit its meshes."""


class StudyError(InputError):
    """A study that is wrong, does not fit its scenes, or cannot do what is asked."""


class FileError(Error, OSError):
    """A file that cannot be written or read, or is damaged."""

    code = FILE_ERROR


class NoSolution(Error):
    """A run, a sweep or a fit that does not converge. ``result``: the Run, Gradient or Fit as far as it came, or None."""

    code = NO_SOLUTION
    result = None


class Interrupted(Error):
    """SIGTERM or SIGUSR1 has ended a call (Ctrl-C raises KeyboardInterrupt). Run folders can be continued with restart()."""

    code = INTERRUPTED


class InternalError(Error):
    """A failure inside recoil or a library; please report it."""


def _finding(line: str) -> Finding:
    match = _LINE.fullmatch(line)
    if match is None:
        return Finding(line)
    number, pointer = match["line"], match["pointer"]
    return Finding(match["text"], match["file"], int(number) if number and not match["file"].startswith("<") else None, pointer)


def make(code: int, message: str, subject: str) -> Error:
    """The exception for an exit code; called by _core. Dictionaries are written on one line, which nobody has seen."""
    message = re.sub(r"(<(?:scene|study)[^>\n]*>):1(?::\d+)?(?=[ :])", r"\1", message)
    if code == BAD_INPUT:
        return {"scene": SceneError, "study": StudyError}.get(subject, InputError)(message)
    return {NO_SOLUTION: NoSolution, FILE_ERROR: FileError, INTERRUPTED: Interrupted}.get(code, InternalError)(message)
