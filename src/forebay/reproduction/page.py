"""One self-contained page: a summary, then each artefact with its figure and table."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup, escape
from matplotlib.figure import Figure

from forebay.files.atomic import replacing
from forebay.outcome import Metric
from forebay.report.figures import style
from forebay.report.figures.picture import draw_picture
from forebay.report.figures.style import INK, VERMILLION
from forebay.report.tables import NOT_MEASURED, duration
from forebay.reproduction.result import CachedResult, Reproduction, cells, count, in_words, row_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
        judged = zip(made.rows, made.reasons, strict=True)
        return [(row_name(made, row), reason) for row, reason in judged if reason]


def write_page(results: Sequence[CachedResult], path: Path, *, version: str) -> None:
    """Write the page atomically, the results in their order, Forebay's version at its foot."""
    every = [cached.made for cached in results]
    verdicts = [verdict for made in every for verdict in made.verdicts]
    text = _template("page").render(
        sections=[_Section(cached.made, inline_svg(cached.made), cached) for cached in results],
        version=version, none=NOT_MEASURED, rows=len(verdicts), inside=sum(verdicts),
        counts=in_words(count(every)), unjudged=sum(len(made.unjudged) for made in every),
        took=duration(sum(cached.wall_s for cached in results)),
        quick=any(cached.quick for cached in results),
    )  # fmt: skip
    with replacing(path) as file:
        file.write(text.encode())


def section(made: Reproduction) -> str:
    """Return title, figure, table and notes as HTML for a notebook."""
    body = _template("section").render(each=_Section(made, inline_svg(made)))
    return f"<h3>{escape(made.title)}</h3>\n<p>{escape(made.summary)}.</p>\n{body}"


def _template(name: str) -> Template:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    return environment.get_template(f"{name}.html.j2")


_DOTS = (
    ("s", style.ORANGE), ("D", style.PURPLE), ("o", style.BLUE), ("^", style.GREEN), ("v", INK),
    ("P", VERMILLION),
)  # fmt: skip


def draw_reproduction(made: Reproduction, path: Path) -> None:
    """Draw its own picture, or all number columns against the rows, to a file."""
    if made.picture is not None:
        draw_picture(made.picture, made.title, path)
        return
    panels: dict[str, list[int]] = {}  # the rows of each unit
    for place, unit in enumerate(made.units or [made.unit] * len(made.rows)):
        panels.setdefault(unit, []).append(place)
    heights = [len(places) for places in panels.values()]
    lines = max(_name(made, place).count("\n") + 1 for place in range(len(made.rows)))
    with style.house_style():
        height = 1.0 + 0.6 * len(panels) + (0.12 + 0.16 * lines) * len(made.rows)
        figure = Figure(figsize=(7.2, height), layout="constrained")
        all_axes = figure.subplots(len(panels), squeeze=False, height_ratios=heights).flat
        for axes, (unit, places) in zip(all_axes, panels.items(), strict=True):
            _panel(axes, made, places)
            axes.set_xlabel(unit)
            axes.set_ylabel(", ".join(made.columns[: made.labels]) if len(panels) == 1 else "")
        figure.suptitle(made.title, fontsize=10, color=INK)
        figure.legend(*all_axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        style.save(figure, path)


def _panel(axes: Axes, made: Reproduction, places: list[int]) -> None:
    drawn = _drawn(made)
    rows = [made.rows[place] for place in places]
    for order, column in enumerate(drawn):
        offset = _APART * (order - (len(drawn) - 1) / 2)
        cells = [(height + offset, row[column]) for height, row in enumerate(rows)]
        _dots(axes, cells, made.columns[column], _DOTS[order % len(_DOTS)])
    values = [value for row in rows for each in drawn if (value := _value(row[each])) is not None]
    if values and min(values) > 0 and max(values) > _WIDE * min(values):
        axes.set_xscale("log")
    axes.set_yticks(range(len(rows)), [_name(made, place) for place in places])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    for label, place in zip(axes.get_yticklabels(), places, strict=True):
        label.set_color(INK if made.verdicts[place] else VERMILLION)
    style.clean(axes)


_APART = 0.13  # of the distance between two rows
_WIDE = 100.0  # largest value over the least, from which the small ones would all lie at 0


def _drawn(made: Reproduction) -> list[int]:
    if made.drawn:
        return [made.columns.index(name) for name in made.drawn]
    rest = range(made.labels, len(made.columns))
    return [place for place in rest if any(_value(row[place]) is not None for row in made.rows)]


def _value(cell: Any) -> float | None:
    if isinstance(cell, Metric):
        return cell.value
    return float(cell) if isinstance(cell, int | float) and not isinstance(cell, bool) else None


def _dots(axes: Axes, cells: list[tuple[float, Any]], label: str, dot: tuple[str, str]) -> None:
    """Draw one column, shifted slightly from the row's line, so that equal values stay visible."""
    marker, colour = dot
    seen = [(place, cell, value) for place, cell in cells if (value := _value(cell)) is not None]
    ours = any(isinstance(cell, Metric) for _, cell, _ in seen)
    for place, cell, _ in seen:
        if isinstance(cell, Metric) and cell.low is not None and cell.high is not None:
            axes.plot([cell.low, cell.high], [place, place], color=colour, linewidth=1.6)
    axes.plot(
        [value for _, _, value in seen], [place for place, _, _ in seen],
        linestyle="none", marker=marker, markersize=5, color=colour,
        markerfacecolor=colour if ours else "none", label=label,
    )  # fmt: skip


def _name(made: Reproduction, place: int) -> str:
    """Return a row's name in lines that leave the dots half of the figure's width."""
    return textwrap.fill(row_name(made, made.rows[place]), 44)


def anchor(made: Reproduction) -> str:
    """Return the artefact's name as an id in a page."""
    return re.sub(r"[^A-Za-z0-9]+", "-", made.artefact)


def inline_svg(made: Reproduction) -> Markup:
    """Return the figure as an <svg> element, whose ids begin with the artefact's name."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "figure.svg"
        draw_reproduction(made, path)
        text = path.read_text(encoding="utf-8")
    element = text[text.index("<svg") :]
    element = re.sub(r"<metadata>.*?</metadata>", "", element, flags=re.DOTALL)
    element = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{anchor(made)}-", element)
    return Markup(element)  # matplotlib escapes all text that it writes
