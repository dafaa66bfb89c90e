"""A study as one self-contained HTML page: its picture, its cells, and what was left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from forebay.outcome.study import StudyRow, StudyTable
from forebay.report.page import embedded, html_page
from forebay.report.study import cell, title_of, unsettled_line, verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STYLE = """\
body { max-width: 70rem }
th:nth-child(n+2), td:nth-child(n+2) { text-align: left }
"""
_BODY = """\
<h1>{{ table.title }}</h1>
<p>{{ counts.cells }} cells, {{ counts.stored }} of {{ counts.runs }} runs. Values are means over
seeds ± half of the 95 % interval. Forebay {{ version }}.</p>
{% for line in unsettled %}<p><strong>{{ line }}.</strong></p>
{% endfor -%}
{% if picture -%}
<img alt="The study as curves or maps" src="data:image/svg+xml;base64,{{ picture }}">
{% endif -%}
{% for heading, head, rows in tables if rows -%}
<h2>{{ heading }}</h2>
<table>
<tr>{% for name in head %}<th>{{ name }}</th>{% endfor %}</tr>
{% for row in rows -%}
<tr>{% for each in row %}<td>{{ each }}</td>{% endfor %}</tr>
{% endfor -%}
</table>
{% endfor -%}
{% for heading, lines in lists if lines -%}
<h2>{{ heading }}</h2>
<ul>
{% for line in lines -%}
<li>{{ line }}</li>
{% endfor -%}
</ul>
{% endfor -%}
"""


def study_page(
    table: StudyTable, counts: Mapping[str, Any], figure: Figure | None, version: str
) -> str:
    """Return the HTML page of a study; ``counts`` is the document of ``sweep --json``."""
    head = _head(table)
    return html_page(
        _BODY,
        title=f"{table.title}: {counts['runs']} runs",
        style=_STYLE,
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
    head = "".join(f"<th>{escape(each)}</th>" for each in _head(table))
    rows = "".join(
        f"<tr>{''.join(f'<td>{escape(each)}</td>' for each in row)}</tr>"
        for row in _rows(table, table.rows[:most])
    )
    more = len(table.rows) - most
    hidden = f"<p>{more:,} more cells are in .summary()</p>" if more > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{hidden}"


def _head(table: StudyTable) -> list[str]:
    return [*table.names, *(title_of(column).replace("\n", " ") for column in table.columns)]


def _paired(table: StudyTable, head: list[str]) -> tuple[str, list[str], list[list[str]]]:
    """Return title, header and rows of the differences from the first value."""
    first = table.rows[0].values[0] if table.differences else ""
    cells = zip(_rows(table, table.differences), table.differences, strict=True)
    rows = [[*row, verdict(table.columns, each)] for row, each in cells]
    return f"Difference from {first}, paired by seed", [*head, ""], rows


def _rows(table: StudyTable, rows: Sequence[StudyRow]) -> list[list[str]]:
    return [
        [
            *map(str, row.values),
            *(cell(column, m) for column, m in zip(table.columns, row.metrics, strict=True)),
        ]
        for row in rows
    ]
