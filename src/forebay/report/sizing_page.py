"""A sizing as one self-contained HTML page: answer, curve, evidence, configuration, assumptions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.report.page import embedded, html_page
from forebay.report.size import brief, evidence_tables, explained, sentence

if TYPE_CHECKING:
    from rich.table import Table

    from forebay.outcome import SizeResult

_STYLE = """\
.answer { font-size: 1.15rem; font-weight: bold }
pre { background: #f4f4f4; padding: .8rem; overflow-x: auto }
"""
_BODY = """\
<h1>{{ answer.scenario }}</h1>
<p class="answer">{{ sentence }}</p>
<pre>{{ first }}</pre>
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
{% for title, header, rows in tables -%}
<h2>{{ title }}</h2>
<table>
<tr>{% for cell in header %}<th>{{ cell }}</th>{% endfor %}</tr>
{% for row in rows -%}
<tr>{% for cell in row %}<td>{{ cell }}</td>{% endfor %}</tr>
{% endfor -%}
</table>
{% endfor -%}
{% if answer.assumptions -%}
<h2>What nobody wrote, and is assumed</h2>
<ul>
{% for line in answer.assumptions %}<li>{{ line }}</li>
{% endfor -%}
</ul>
{% endif -%}
{% if scenario -%}
<h2>Scenario</h2>
<pre>{{ scenario }}</pre>
{% endif -%}
"""


def size_page(answer: SizeResult, scenario: str = "") -> str:
    """Return the HTML page of a sizing; ``scenario`` is its text as TOML."""
    lines = (answer.configuration or {}).get("configuration", [])
    return html_page(
        _BODY,
        title=f"{answer.scenario}: buffer size",
        style=_STYLE,
        answer=answer,
        sentence=sentence(answer),
        first="\n".join(brief(answer)[2:]),
        picture=_picture(answer) if answer.curve else "",
        configuration="\n".join(lines),
        reasons=explained(answer),
        tables=[(title, *_cells(made)) for title, made in evidence_tables(answer)],
        scenario=scenario,
    )


def _cells(made: Table) -> tuple[list[str], list[tuple[str, ...]]]:
    """Return the header and the rows of a table."""
    columns = [[str(cell) for cell in column.cells] for column in made.columns]
    return [str(column.header) for column in made.columns], list(zip(*columns, strict=True))


def _picture(answer: SizeResult) -> str:
    from forebay.report.figures.size import size_figure

    return embedded(size_figure(answer))
