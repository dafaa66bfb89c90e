"""Self-contained HTML pages, with their pictures inside: of a measurement, a sizing, a study."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import tomli_w

from forebay.outcome import SizeResult
from forebay.outcome.study import StudyRow, StudyTable
from forebay.packages import import_package
from forebay.report.documents import html_table
from forebay.report.measurement import headline, remarks, rows
from forebay.report.size import evidence_tables, price_cells, reasons, sentence
from forebay.report.study import cell, title_of, unsettled_line, verdict
from forebay.scenario.io import without_empty

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table


_STYLE = """\
body { font: 15px/1.5 sans-serif; color: #222; padding: 0 1rem;
  max-width: 60rem; margin: 2rem auto }
h1 { font-size: 1.3rem; overflow-wrap: anywhere }
h2 { font-size: 1.05rem; margin-top: 1.8rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; padding: .2rem .6rem .2rem 0; border-bottom: 1px solid #ddd }
th:nth-child(n+2), td:nth-child(n+2) { text-align: right; font-variant-numeric: tabular-nums }
img { width: 100% }
"""
_FRAME = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ title }}</title>
<style>
%(style)s</style>
</head>
<body>
%(body)s</body>
</html>
"""


def html_page(body: str, *, title: str, style: str = "", **values: Any) -> str:
    """Return a page; ``body`` is a Jinja template that ``values`` fill, ``style`` its own CSS."""
    Environment = import_package("an HTML page", "jinja2").Environment

    frame = _FRAME % {"style": _STYLE + style, "body": body}
    page = Environment(autoescape=True).from_string(frame).render(title=title, **values)
    return str(page)


def embedded(figure: Figure) -> str:
    """Return a picture as base64 of SVG."""
    from forebay.report.figures.style import rendered

    return base64.b64encode(rendered(figure, "svg")).decode()


_LISTS = """\
{% for heading, lines in lists if lines -%}
<h2>{{ heading }}</h2>
<ul>
{% for line in lines -%}
<li>{{ line }}</li>
{% endfor -%}
</ul>
{% endfor -%}
"""
_TABLES = """\
{% for heading, head, rows in tables if rows -%}
<h2>{{ heading }}</h2>
<table>
<tr>{% for cell in head %}<th>{{ cell }}</th>{% endfor %}</tr>
{% for row in rows -%}
<tr>{% for cell in row %}<td>{{ cell }}</td>{% endfor %}</tr>
{% endfor -%}
</table>
{% endfor -%}
"""

_MEASURED = (
    """\
<h1>{{ sources }}</h1>
<p>{{ headline }}.
Flows: {{ document.flows_mean }}.</p>
<table>
<tr><th>estimate</th><th>value</th><th>95 % interval</th><th>of</th></tr>
{% for row in rows -%}
<tr>{% for cell in row %}<td>{{ cell }}</td>{% endfor %}</tr>
{% endfor -%}
</table>
"""
    + _LISTS
    + """\
{% if picture -%}
<h2>Pictures</h2>
<img alt="The curves that the estimates are read off" src="data:image/svg+xml;base64,{{ picture }}">
{% endif -%}
"""
)


def measurement_page(document: Mapping[str, Any]) -> str:
    """Return the HTML page for the document of ``measure --json``."""
    estimates, sources = document["estimates"].items(), ", ".join(document["sources"])
    picture = ""
    if document["curves"]:
        from forebay.report.figures.measurement import measurement_figure

        picture = embedded(measurement_figure(document))
    return html_page(
        _MEASURED,
        title=f"{sources}: what was measured",
        document=document,
        headline=headline(document),
        sources=sources,
        rows=[row for name, estimate in estimates for row in rows(name, estimate)],
        lists=remarks(document),
        picture=picture,
    )


_SIZING_STYLE = """\
.answer { font-size: 1.15rem; font-weight: bold }
pre { background: #f4f4f4; padding: .8rem; overflow-x: auto }
"""
_SIZING = (
    """\
<h1>{{ answer.scenario }}</h1>
<p class="answer">{{ sentence }}</p>
{% if picture -%}
<img alt="Goals against the size of the buffer" src="data:image/svg+xml;base64,{{ picture }}">
{% endif -%}
{% if configuration -%}
<h2>Configuration for {{ answer.configuration.platform }}</h2>
{% for note in answer.configuration.notes %}<p>{{ note.kind }}: {{ note.text }}</p>
{% endfor -%}
<pre>{{ configuration }}</pre>
{% endif -%}
<h2>Why</h2>
<ul>
{% for line in reasons %}<li>{{ line }}</li>
{% endfor -%}
</ul>
"""
    + _TABLES
    + """\
{% if scenario -%}
<h2>Scenario</h2>
<pre>{{ scenario }}</pre>
{% endif -%}
"""
)


def size_page(answer: SizeResult) -> str:
    """Return the HTML page of a sizing, with the scenario that was asked."""
    lines = (answer.configuration or {}).get("configuration", [])
    return html_page(
        _SIZING,
        title=f"{answer.scenario}: buffer size",
        style=_SIZING_STYLE,
        answer=answer,
        sentence=sentence(answer),
        picture=embedded(answer.figure()) if answer.curve else "",
        configuration="\n".join(lines),
        reasons=reasons(answer),
        tables=[
            *([("Half the size, and its double", *price_cells(answer))] if answer.price else []),
            *((title, *_cells(table)) for title, table in evidence_tables(answer)),
        ],
        scenario=tomli_w.dumps(without_empty(answer.asked)),
    )


def _cells(table: Table) -> tuple[list[str], list[tuple[str, ...]]]:
    """Return the header and the rows of a table."""
    columns = [[str(cell) for cell in column.cells] for column in table.columns]
    return [str(column.header) for column in table.columns], list(zip(*columns, strict=True))


_STUDY_STYLE = """\
body { max-width: 70rem }
th:nth-child(n+2), td:nth-child(n+2) { text-align: left }
"""
_STUDY = (
    """\
<h1>{{ table.title }}</h1>
<p>{{ counts.cells }} cells, {{ counts.stored }} of {{ counts.runs }} runs. Values are means over
seeds ± half of the 95 % interval. Forebay {{ version }}.</p>
{% for line in unsettled %}<p><strong>{{ line }}.</strong></p>
{% endfor -%}
{% if picture -%}
<img alt="The study as curves or maps" src="data:image/svg+xml;base64,{{ picture }}">
{% endif -%}
"""
    + _TABLES
    + _LISTS
)


def study_page(
    table: StudyTable, counts: Mapping[str, Any], figure: Figure | None, version: str
) -> str:
    """Return the HTML page of a study; ``counts`` is the document of ``sweep --json``."""
    head = _head(table)
    return html_page(
        _STUDY,
        title=f"{table.title}: {counts['runs']} runs",
        style=_STUDY_STYLE,
        table=table,
        counts=counts,
        version=version,
        unsettled=unsettled_line(table),
        picture="" if figure is None else embedded(figure),
        tables=[("Cells", head, _rows(table, table.rows)), _paired(table, head)],
        lists=[
            ("Left out, because they cannot be run", counts["refused"]),
            ("Failed", counts["failures"]),
        ],
    )


def study_table(table: StudyTable, most: int) -> str:
    """Return the first cells of a study as a table for a notebook."""
    more = len(table.rows) - most
    hidden = f"<p>{more:,} more cells are in .summary()</p>" if more > 0 else ""
    return html_table(_head(table), _rows(table, table.rows[:most])) + hidden


def _head(table: StudyTable) -> list[str]:
    return [*table.names, *(title_of(column).replace("\n", " ") for column in table.columns)]


def _paired(table: StudyTable, head: list[str]) -> tuple[str, list[str], list[list[str]]]:
    """Return title, header and rows of the differences from the first value."""
    first = table.rows[0].values[0] if table.differences else ""
    cells = zip(_rows(table, table.differences), table.differences, strict=True)
    rows = [[*row, verdict(table.columns, difference)] for row, difference in cells]
    return f"Difference from {first}, paired by seed", [*head, ""], rows


def _rows(table: StudyTable, rows: Sequence[StudyRow]) -> list[list[str]]:
    return [
        [
            *map(str, row.values),
            *(cell(column, m) for column, m in zip(table.columns, row.metrics, strict=True)),
        ]
        for row in rows
    ]
