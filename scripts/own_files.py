"""Files and folders that scripts write into a folder which somebody else may have made: never elsewhere, through no link."""

import os
import shutil
import tempfile
from pathlib import Path

from recoil_run import FolderError


def make_folder(root, *names):
    """The folder root/names[0]/.., made where it is missing. @raises FolderError where one of the names stands for a link or a file."""
    path = Path(root)
    for name in names:
        path = path / name
        try:
            path.mkdir(exist_ok=True)
        except OSError as error:
            raise FolderError(f"{path}: cannot be made: {error.strerror.lower()}") from None
        if path.is_symlink():
            raise FolderError(f"{path}: is a link, through which files elsewhere would be written; remove it")
    return path


def remove_folder(path):
    """Removes a folder and what is in it, or a link or file in its place, but nothing that a link points to."""
    path = Path(path)
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.exists():
        shutil.rmtree(path)


def write_file(path, content):
    """Replaces the file; where a link has its name, that goes and its target stays."""
    path = Path(path)
    content = content.encode() if isinstance(content, str) else content
    try:
        handle, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise FolderError(f"{path}: cannot be written: {error.strerror.lower()}") from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(part, 0o666 & ~mask)
        os.replace(part, path)
    except OSError as error:
        os.unlink(part)
        raise FolderError(f"{path}: cannot be written: {error.strerror.lower()}") from None
