"""The scenarios that ship with the package, by name."""

from __future__ import annotations

import os
from pathlib import Path

_FOLDER = Path(__file__).resolve().parents[1] / "scenarios"


def shipped() -> list[str]:
    """Return the names of the scenarios that ship with Forebay, such as "oc3-gsr".

    `forebay.load` and every verb of the command line take such a name in place of a path.
    """
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))


def find_file(source: str) -> str:
    """Return the path of the shipped scenario of that name; a file of that name goes before it."""
    if os.path.exists(source) or source not in shipped():
        return source
    return str(_FOLDER / f"{source}.toml")
