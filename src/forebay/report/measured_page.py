"""A measurement as one self-contained HTML page with embedded pictures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from forebay.report.figures.measurement import measurement_figure
from forebay.report.measurement import biases, headline, rows
from forebay.report.page import embedded, html_page

_BODY = """\
<h1>{{ sources }}</h1>
<p>{{ headline }}.
Flows: {{ document.flows_mean }}.</p>
<table>
<tr><th>estimate</th><th>value</th><th>95 % interval</th><th>of</th></tr>
{% for row in rows -%}
<tr>{% for cell in row %}<td>{{ cell }}</td>{% endfor %}</tr>
{% endfor -%}
</table>
{% for title, lines in lists if lines -%}
<h2>{{ title }}</h2>
<ul>
{% for line in lines -%}
<li>{{ line }}</li>
{% endfor -%}
</ul>
{% endfor -%}
{% if picture -%}
<h2>Pictures</h2>
<img alt="The curves that the estimates are read off" src="data:image/svg+xml;base64,{{ picture }}">
{% endif -%}
"""


def measurement_page(document: Mapping[str, Any]) -> str:
    """Return the HTML page for the document of ``measure --json``."""
    estimates = document["estimates"].items()
    wrong = [f"{name}: {bias}" for name, bias in biases(document).items()]
    refused = [f"{one['name']}: {one['why']}" for one in document["refused"]]
    sources = ", ".join(document["sources"])
    return html_page(
        _BODY,
        title=f"{sources}: what was measured",
        document=document,
        headline=headline(document),
        sources=sources,
        rows=[row for name, estimate in estimates for row in rows(name, estimate)],
        lists=[
            ("What makes them wrong", wrong),
            ("Refused: the records do not contain it", refused),
            ("To know", document["notes"]),
        ],
        picture=_picture(document) if document["curves"] else "",
    )


def _picture(document: Mapping[str, Any]) -> str:
    return embedded(measurement_figure(document))
