"""Reads a grid from a TOML file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forebay.errors import Words, words
from forebay.scenario import Scenario, ScenarioError, load
from forebay.scenario.errors import show
from forebay.scenario.io import read_toml
from forebay.studies.errors import bad_grid, unknown_key
from forebay.studies.grid import Grid, grid_of

_KEYS = (
    "base", "name", "engine", "seed", "seeds", "ask", "budget", "axes", "together", "leave_out",
    "design",
)  # fmt: skip
_SHIPPED = Path(__file__).resolve().parents[1] / "scenarios" / "grids"


@dataclass(frozen=True, slots=True)
class GridFile:
    """A grid, and what its file says about the runs; None where it says nothing."""

    grid: Grid
    settings: dict[str, Any]
    files: tuple[str, ...]


def shipped_grids() -> list[str]:
    """Return the names of the grids that ship with Forebay."""
    return sorted(path.stem for path in _SHIPPED.glob("*.toml"))


def load_grid(path: str | os.PathLike[str], overrides: Sequence[str] = ()) -> GridFile:
    """Read a grid.

    Parameters
    ----------
    path : a TOML file, or the name of a shipped grid.
    overrides : ``PATH=VALUE`` strings for the base scenario.

    Raises
    ------
    ScenarioError
    """
    source = os.fspath(path)
    if not os.path.exists(source) and source in shipped_grids():
        source = str(_SHIPPED / f"{source}.toml")
    with words(Words.FILE):
        tree = read_toml(source, "grid", shipped_grids())
        try:
            return _read(tree, source, overrides)
        except ScenarioError as error:
            raise error if error.file else error.at(source) from None


def _read(tree: dict[str, Any], source: str, overrides: Sequence[str]) -> GridFile:
    for key in tree:
        if key not in _KEYS:
            raise unknown_key("", key, _KEYS)
    base, file = _base(tree.get("base"), os.path.dirname(source), overrides)
    if not isinstance(tree.get("axes"), dict) or not tree["axes"]:
        hint = 'write [axes] and below it "queue.size" = ["64 packets", "129 packets"]'
        raise bad_grid("axes", "is not written", hint)
    grid = grid_of(
        base, tree["axes"], groups=tree.get("together", ()),
        leave_out=tree.get("leave_out", ()), design=tree.get("design"),
    )  # fmt: skip
    settings: dict[str, Any] = {
        name: tree[name] for name in ("engine", "seed", "seeds", "ask", "budget") if name in tree
    }
    return GridFile(grid, settings, (source, file, *base.files))


def _base(base: object, folder: str, overrides: Sequence[str]) -> tuple[Scenario, str]:
    """Return the base scenario and its file: a path from the grid's folder, or a shipped name."""
    if not isinstance(base, str) or not base:
        wrong = "is not written" if base is None else f"{show(base)} is no path"
        hint = 'write the path of a scenario, or a shipped one, such as base = "oc3-gsr"'
        raise bad_grid("base", wrong, hint)
    beside = os.path.join(folder, base)
    found = beside if os.path.exists(beside) else base
    return load(found, overrides), found
