"""The frame of the self-contained HTML pages: head, style, and pictures inside them."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from forebay.packages import import_package

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
