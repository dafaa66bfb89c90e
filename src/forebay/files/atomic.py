"""Write files atomically."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import IO


@contextmanager
def replacing(path: str | PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a temporary file next to ``path``; rename it if the block ends without an error.

    If ``path`` is a symbolic link, the file that it points to is replaced.
    """
    with beside(path) as part, open(part, "wb") as file:
        yield file


@contextmanager
def beside(path: str | PathLike[str]) -> Iterator[Path]:
    """Yield the name of a file next to ``path`` to write; it is then renamed or removed."""
    place = Path(os.path.realpath(path))
    try:
        handle, part = tempfile.mkstemp(dir=place.parent, prefix=".forebay-", suffix=".part")
    except OSError as error:  # which names the part
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None
    try:
        os.close(handle)
        yield Path(part)
        os.chmod(part, 0o666 & ~_umask())
        os.replace(part, place)
    except BaseException:
        with suppress(FileNotFoundError):  # interrupted just after it was renamed
            os.unlink(part)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_text(text: str, path: Path) -> None:
    """Write text in UTF-8 to a temporary file and rename it. Raises OSError."""
    with replacing(path) as file:
        file.write(text.encode())
