"""Artefacts are found by where they lie: papers/<key>/<artefact>/artefact.py."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click

import forebay
from forebay.report import Reproduction, load_file

Reproduce = Callable[..., Reproduction]
Measure = Callable[..., list[str]]


class NoPapers(Exception):
    """The papers' values are not here: they are part of the repository, not of the package."""

    code = "no-papers"
    exit_status = 3

    def __init__(self) -> None:
        super().__init__(
            "reproduce cannot run here: the installed package has no artefacts beside it; run the "
            "forebay of a clone of the repository (make setup, then .venv/bin/forebay)"
        )


@dataclass(frozen=True, slots=True)
class Artefact:
    """One table or figure of one paper, such as A.fig15."""

    name: str
    path: Path

    def load(self) -> Reproduce:
        """Import its file and return its ``reproduce(seeds, jobs, progress)``."""
        reproduce: Reproduce = load_file(self.path).reproduce
        return reproduce

    def measure(self) -> Measure | None:
        """Import its file and return its ``measure(seeds, progress, again)``; None without one."""
        measure: Measure | None = getattr(load_file(self.path), "measure", None)
        return measure


def find_all() -> list[Artefact]:
    """Return every artefact that ships with this package, sorted by name.

    Raises
    ------
    NoPapers
            There is no papers folder in the checkout that the package lies in.
    """
    found = [
        Artefact(f"{path.parent.parent.name}.{path.parent.name}", path)
        for path in _papers().glob("*/*/artefact.py")
    ]
    return sorted(found, key=lambda artefact: artefact.name)


def choose(artefacts: list[Artefact], name: str) -> list[Artefact]:
    """Return the one artefact of that name, as a list; the name is bad input if none has it."""
    chosen = [artefact for artefact in artefacts if artefact.name.lower() == name.lower()]
    if not chosen:
        raise click.BadParameter(f"{name!r}: there is no such artefact; {_hint(artefacts, name)}")
    return chosen


def _papers() -> Path:
    # An artefact is Python that is run. Only those of our own checkout are: never what lies in the
    # working directory or above it, which anyone may have put there.
    papers = Path(forebay.__file__).resolve().parents[2] / "papers"
    if not any(papers.glob("*/*/artefact.py")):
        raise NoPapers
    return papers


def _hint(artefacts: list[Artefact], name: str) -> str:
    from difflib import get_close_matches

    names = [artefact.name for artefact in artefacts]
    near = get_close_matches(name, names, n=1)
    return f"did you mean {near[0]}?" if near else f"write one of: {', '.join(names)}"
