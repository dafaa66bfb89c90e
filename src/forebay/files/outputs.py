"""Whether a file can be written, known before the work whose result it is to hold."""

from __future__ import annotations

import tempfile
from pathlib import Path


def fault(path: Path) -> tuple[str, str] | None:
    """Return why a file cannot be written there and what to do instead; None if it can."""
    if not path.parent.is_dir():
        return f"there is no folder {path.parent}", "make it first"
    if (path.exists() and not path.is_file()) or not _takes_files(path.parent):
        return "cannot be written", "name another path"
    return None


def _takes_files(folder: Path) -> bool:
    """Return whether a file can be made there; permissions alone do not show this."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
