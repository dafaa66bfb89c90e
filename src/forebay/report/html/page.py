"""One self-contained page: a summary on top, then each artefact with its figure and table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from forebay.outcome.replacing import replacing
from forebay.report.counting import count, in_words
from forebay.report.html.drawing import inline_svg
from forebay.report.numbers import NOT_MEASURED, duration
from forebay.report.reproduction import cells, row_name
from forebay.report.stored import Kept

_HERE = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True)
class _Section:
    """What the template shows of one artefact."""

    kept: Kept
    svg: Markup

    @property
    def anchor(self) -> str:
        return self.kept.made.artefact.replace(".", "-")

    @property
    def took(self) -> str:
        return duration(self.kept.wall_s)

    @property
    def inside(self) -> int:
        return sum(self.kept.made.verdicts)

    @property
    def rows(self) -> list[tuple[list[str], bool, str]]:
        made = self.kept.made
        return list(zip(cells(made), made.verdicts, made.reasons, strict=True))

    @property
    def out(self) -> list[tuple[str, str]]:
        """Rows out of their band: name and reason."""
        made = self.kept.made
        judged = zip(made.rows, made.verdicts, made.reasons, strict=True)
        return [(row_name(made, row), reason) for row, good, reason in judged if not good]


def write_page(results: Sequence[Kept], path: Path, *, version: str) -> None:
    """Write the page beside its place and rename it there: never half a page.

    Parameters
    ----------
    results : in the order in which they shall stand.
    path : the page's; its folder must exist.
    version : Forebay's, for the foot of the page.
    """
    text = _render(results, version)
    with replacing(path) as file:
        file.write(text.encode())


def _render(results: Sequence[Kept], version: str) -> str:
    environment = Environment(
        loader=FileSystemLoader(_HERE), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    sections = [_Section(kept, inline_svg(kept.made)) for kept in results]
    return environment.get_template("page.html.j2").render(
        sections=sections, version=version, none=NOT_MEASURED, **_totals(sections)
    )


def _totals(sections: Sequence[_Section]) -> dict[str, Any]:
    rows = [verdict for section in sections for verdict in section.kept.made.verdicts]
    return {
        "rows": len(rows),
        "inside": sum(rows),
        "counts": in_words(count(section.kept.made for section in sections)),
        "unjudged": sum(len(section.kept.made.unjudged) for section in sections),
        "took": duration(sum(section.kept.wall_s for section in sections)),
        "quick": any(section.kept.quick for section in sections),
    }
