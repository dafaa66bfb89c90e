"""Write files atomically."""

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import IO

from forebay.words import Fact


@contextmanager
def replacing(path: str | PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a temporary file next to ``path``; rename it if the block ends without an error.

    If ``path`` is a symbolic link, the file that it points to is replaced.
    """
    with beside(path) as part, open(part, "wb") as file:
        yield file


@contextmanager
def beside(path: str | PathLike[str]) -> Iterator[Path]:
    """Yield the name of a file next to ``path`` to write; it is then renamed or removed.

    A device or a pipe is itself written to: a file in its place would be the end of it.
    """
    place = Path(os.path.realpath(path))
    if place.exists() and not (place.is_file() or place.is_dir()):
        yield place
        return
    try:
        _remove_abandoned(place.parent)
        handle, part = tempfile.mkstemp(dir=place.parent, prefix=_BEGINS, suffix=_ENDS)
    except OSError as error:  # which names the part
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None
    try:
        _lock(handle)
        yield Path(part)
        mask = os.umask(0)  # which only setting it tells
        os.umask(mask)
        os.chmod(part, 0o666 & ~mask)
        os.replace(part, place)
    except BaseException:
        with suppress(FileNotFoundError):  # interrupted just after it was renamed
            os.unlink(part)
        raise
    finally:
        os.close(handle)


_BEGINS, _ENDS = ".forebay-", ".part"
_NEW_S = 0.5
"""Age at which a part without a lock was abandoned; its process locks it at once."""


def _remove_abandoned(folder: Path) -> None:
    """Remove parts of processes that were killed: a live one holds a lock on its part."""
    for part in folder.glob(f"{_BEGINS}*{_ENDS}"):
        with suppress(OSError):  # another's, or just removed
            if time.time() - part.stat().st_mtime < _NEW_S:
                continue
            with part.open("rb") as file:
                if _lock(file.fileno()):
                    part.unlink()


def _lock(handle: int) -> bool:
    """Lock a file until it is closed; return whether no other process has. False on Windows."""
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock
    except ImportError:
        return False
    try:
        flock(handle, LOCK_EX | LOCK_NB)
    except OSError:
        return False
    return True


def write_text(text: str, path: Path) -> None:
    """Write text in UTF-8 to a temporary file and rename it. Raises OSError."""
    with replacing(path) as file:
        file.write(text.encode())


def fault(path: Path) -> Fact | None:
    """Return why a file cannot be written there, with what to do as its hint; None if it can."""
    if not path.parent.is_dir():
        return Fact("files.no-folder", folder=path.parent)
    if (path.exists() and not path.is_file()) or not _takes_files(path.parent):
        return Fact("files.unwritable")
    return None


def _takes_files(folder: Path) -> bool:
    """Return whether a file can be made there; permissions alone do not show this."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
