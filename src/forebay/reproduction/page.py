"""One self-contained page: a summary, then each artefact with its figure and table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from forebay.files.atomic import replacing
from forebay.report.tables import NOT_MEASURED, duration
from forebay.reproduction.figure import anchor, inline_svg
from forebay.reproduction.result import CachedResult, Reproduction, row_name
from forebay.reproduction.table import cells, count, in_words

_TEMPLATES = Path(__file__).resolve().parent / "html"


@dataclass(frozen=True, slots=True)
class _Section:
    """Data of one artefact for the templates; ``kept`` has its arguments, for a page."""

    made: Reproduction
    svg: Markup
    cached: CachedResult | None = None

    @property
    def anchor(self) -> str:
        return anchor(self.made)

    @property
    def took(self) -> str:
        return "" if self.cached is None else duration(self.cached.wall_s)

    @property
    def inside(self) -> int:
        return sum(self.made.verdicts)

    @property
    def rows(self) -> list[tuple[list[str], bool, str]]:
        made = self.made
        return list(zip(cells(made), made.verdicts, made.reasons, strict=True))

    @property
    def out(self) -> list[tuple[str, str]]:
        """Rows out of their band: name and reason."""
        made = self.made
        judged = zip(made.rows, made.verdicts, made.reasons, strict=True)
        return [(row_name(made, row), reason) for row, good, reason in judged if not good]


def write_page(results: Sequence[CachedResult], path: Path, *, version: str) -> None:
    """Write the page to a temporary file and rename it.

    Parameters
    ----------
    results : in the order of the page.
    path : path of the page; its folder must exist.
    version : Forebay's version, for the foot of the page.
    """
    text = _render(results, version)
    with replacing(path) as file:
        file.write(text.encode())


def section(made: Reproduction) -> str:
    """Return title, figure, table and notes as HTML for a notebook."""
    shown = _Section(made, inline_svg(made))
    body = _environment().get_template("section.html.j2").render(each=shown)
    return f"<h3>{escape(made.title)}</h3>\n<p>{escape(made.summary)}.</p>\n{body}"


def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip


def _render(results: Sequence[CachedResult], version: str) -> str:
    sections = [_Section(cached.made, inline_svg(cached.made), cached) for cached in results]
    return (
        _environment()
        .get_template("page.html.j2")
        .render(sections=sections, version=version, none=NOT_MEASURED, **_totals(results))
    )


def _totals(results: Sequence[CachedResult]) -> dict[str, Any]:
    every = [cached.made for cached in results]
    rows = [verdict for made in every for verdict in made.verdicts]
    return {
        "rows": len(rows),
        "inside": sum(rows),
        "counts": in_words(count(every)),
        "unjudged": sum(len(made.unjudged) for made in every),
        "took": duration(sum(cached.wall_s for cached in results)),
        "quick": any(cached.quick for cached in results),
    }
